//! Structs with named fields or none: complex elements.

use crate::attributes::{Flag, Role};
use crate::complex::{self, ContentBodies, DecodeBodies, Description, EncodeBodies, encode_inline};
use crate::group::{self, select};
use crate::member::{Member, check_distinct};
use crate::target::Target;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Error, Fields, Result};

/// Maximum number of fields of a struct whose leaves are written without a call.
const INLINED: usize = 4;

/// Returns the implementations for a struct with these fields.
pub(crate) fn expand(target: &Target, fields: &Fields) -> Result<TokenStream> {
    let flags = [Flag::Message, Flag::Qualified, Flag::All, Flag::Open, Flag::Nillable, Flag::Group];
    target.container.allow(&flags, "a struct")?;
    let parsed = Struct::parse(target, fields)?;
    if parsed.is_compact() {
        return Ok(parsed.compact());
    }
    let is_group = target.container.has(Flag::Group);
    let description = target.describe(&parsed.description().element(target), is_group);
    let content = parsed.content().implement(target);
    let decode = parsed.decode().implement(target);
    let encode = parsed.encode().implement(target);
    let group = parsed.group()?;
    Ok(quote!(#description #content #decode #encode #group))
}

/// A struct with its fields sorted by role.
struct Struct<'t> {
    target: &'t Target,
    /// Child elements, including inline choices.
    elements: Vec<Member>,
    attributes: Vec<Member>,
    text: Option<Member>,
}

impl<'t> Struct<'t> {
    fn parse(target: &'t Target, fields: &Fields) -> Result<Self> {
        let mut parsed = Struct { target, elements: Vec::new(), attributes: Vec::new(), text: None };
        for field in fields {
            let member = Member::from_field(field, target)?;
            match member.role {
                Role::Element | Role::Inline | Role::Group => parsed.elements.push(member),
                Role::Attribute => parsed.attributes.push(member),
                Role::Text => parsed.set_text(member)?,
            }
        }
        parsed.check_text()?;
        parsed.check_groups()?;
        parsed.check_nothing()?;
        check_distinct(&parsed.elements, "child element")?;
        check_distinct(&parsed.attributes, "attribute")?;
        Ok(parsed)
    }

    fn set_text(&mut self, member: Member) -> Result<()> {
        if let Some(default) = &member.default {
            return Err(Error::new_spanned(default, "text has no default: an empty text is a value"));
        }
        if self.text.is_some() {
            return Err(Error::new_spanned(&member.ident, "an element has only one text"));
        }
        self.text = Some(member);
        Ok(())
    }

    fn check_text(&self) -> Result<()> {
        match (&self.text, self.elements.first()) {
            (Some(_), Some(element)) => {
                let why = "a type with a `text` field has no child elements: is this an `attribute`?";
                Err(Error::new_spanned(&element.ident, why))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a struct without an element of its own is empty or is a group of elements.
    fn check_nothing(&self) -> Result<()> {
        let is_bare = self.target.container.element.as_deref() == Some("");
        let is_group = self.target.container.has(Flag::Group);
        let is_part = |member: &&Member| is_group && member.role == Role::Element;
        let mut members = self.elements.iter().chain(&self.attributes).chain(&self.text);
        match members.find(|member| !is_part(member)).filter(|_| is_bare) {
            Some(member) => Err(Error::new_spanned(
                &member.ident,
                "a message without an element, `element = \"\"`, has no fields, or is a `group` of elements",
            )),
            None => Ok(()),
        }
    }

    /// Checks that a struct with groups has its elements in order.
    fn check_groups(&self) -> Result<()> {
        let Some(group) = self.elements.iter().find(|member| member.is_group()) else { return Ok(()) };
        self.target.forbid_generics("a type with groups")?;
        match self.target.container.has(Flag::All) {
            true => Err(Error::new_spanned(&group.ident, "elements in any order cannot have groups among them")),
            false => Ok(()),
        }
    }

    /// Implements `Group` if the struct is one.
    fn group(&self) -> Result<TokenStream> {
        if !self.target.container.has(Flag::Group) {
            return Ok(TokenStream::new());
        }
        self.target.forbid_generics("a group")?;
        if let Some(member) = self.attributes.first().or(self.text.as_ref()) {
            return Err(Error::new_spanned(&member.ident, "a group has only elements"));
        }
        if let Some(member) = self.elements.iter().find(|member| member.is_nillable) {
            return Err(Error::new_spanned(&member.ident, "an element of a group is not `nillable`; use `Nillable`"));
        }
        if self.target.container.has(Flag::All) {
            let first = self.elements.first().map_or(&self.target.ident, |member| &member.ident);
            return Err(Error::new_spanned(first, "the elements of a group come in order, not as in `all`"));
        }
        let fields = group::fields(&self.elements, false, self.target);
        let choices = group::choices(&self.elements, self.target);
        let (group, parts) = (group::implement(self.target, &fields, &choices, &self.vacant()), self.parts());
        Ok(quote!(#group #parts))
    }

    /// Checks the fields of a message without an element of its own: each is an element of the
    /// body. The first identifies the operation, so it must be present.
    fn parts(&self) -> TokenStream {
        let is_bare = self.target.container.element.as_deref() == Some("");
        let checks = self.elements.iter().enumerate().filter(|_| is_bare).map(|(index, member)| {
            let (occurs, least) = (member.occurs(self.target), u32::from(index == 0));
            quote_spanned! {member.ty.span()=>
                const _: () = ::core::assert!(
                    #occurs::MIN >= #least && ::core::matches!(#occurs::MAX, ::core::option::Option::Some(1)),
                    "each element of a body occurs once, and the first is required: no field is a list, and the first is not an `Option`"
                );
            }
        });
        quote!(#(#checks)*)
    }

    /// Returns the fields of the elements.
    fn fields(&self) -> TokenStream {
        if self.elements.iter().any(Member::is_group) {
            let fields = group::fields(&self.elements, false, self.target);
            return quote!(&#fields);
        }
        let fields = self.elements.iter().map(|member| member.field(self.target));
        quote!(&[#(#fields),*])
    }

    fn description(&self) -> Description {
        let has = |flag| self.target.container.has(flag);
        let text = self.text.as_ref().map(|text| text.typed(self.target));
        Description {
            compositor: if has(Flag::All) { quote!(All) } else { quote!(Sequence) },
            fields: self.fields(),
            attributes: self.attributes.iter().map(|member| member.attribute(self.target)).collect(),
            text: match text {
                None => quote!(::core::option::Option::None),
                Some(typed) => quote!(::core::option::Option::Some(#typed::REFERENCE)),
            },
            open: has(Flag::Open),
            choices: group::choices(&self.elements, self.target),
        }
    }

    fn content(&self) -> ContentBodies {
        let runtime = self.target.runtime();
        let (decode, encode) = match &self.text {
            None => (complex::decode(self.target), complex::encode(self.target)),
            Some(Member { ident, .. }) => (
                quote!(#runtime::decode::text::decode(self, cursor, view)),
                quote!(#runtime::encode::complex::encode_text(self, &self.#ident, encoder, view)),
            ),
        };
        let is_group = self.target.container.has(Flag::Group);
        let more = if is_group { encode_inline(self.target) } else { TokenStream::new() };
        let is_flat = !is_group && !self.target.is_compact() && self.can_be_flat();
        let shortcuts = if is_flat { self.flat() } else { complex::shortcuts(self.target) };
        ContentBodies { vacant: self.vacant(), decode, encode, more, shortcuts }
    }

    /// Returns true if the fields are passed as objects. Groups and fields with a default are
    /// called through their types even in a compact type. The same holds for text with attributes:
    /// such types are few, and are used in place of leaves.
    fn is_compact(&self) -> bool {
        let is_asked = |member: &Member| member.is_group() || member.default.is_some();
        let members = || self.elements.iter().chain(&self.attributes);
        let is_element = self.text.is_none() && !self.target.container.has(Flag::Group);
        self.target.is_compact() && is_element && !members().any(is_asked)
    }

    /// Returns the implementations of a type that passes its fields as objects.
    fn compact(&self) -> TokenStream {
        let target = self.target;
        let compact = target.compact();
        let (name, vacant, message) = (target.type_qname(), self.vacant(), target.message());
        let item_name = target.container.item_name.iter();
        let description = target.description(&self.compact_description());
        let runtime = target.runtime();
        let (cursor, encoder) = (quote!(#runtime::decode::Cursor<'_>), quote!(#runtime::encode::Encoder));
        let view = quote!(#runtime::schema::View<'_>);
        let fields = target.implement_plainly(&quote!(#compact::Fields), &self.objects());
        let typed = target.implement_plainly(
            &quote!(#runtime::Typed),
            &quote! {
                const TYPE_NAME: #runtime::QName = #name;
                #(const ITEM_NAME: &'static str = #item_name;)*

                fn element() -> &'static #runtime::schema::Element {
                    #description
                }
            },
        );
        let content = target.implement_plainly(
            &quote!(#runtime::Content),
            &quote! {
                fn vacant(_: #view) -> Self {
                    #vacant
                }

                fn decode(&mut self, cursor: &mut #cursor, view: #view) -> #runtime::decode::Step {
                    #compact::decode(self, cursor, view)
                }

                fn encode(&self, encoder: &mut #encoder, view: #view) {
                    #compact::encode(self, encoder, view);
                }
            },
        );
        let shortcuts = target.implement_plainly(&quote!(#runtime::content::Shortcuts), &complex::shortcuts(target));
        quote!(#fields #typed #content #shortcuts #message)
    }

    /// Returns the schema of a compact type. Most are only a list of fields.
    fn compact_description(&self) -> TokenStream {
        let Description { compositor, fields, attributes, open, .. } = self.description();
        if open {
            return self.description().element(self.target);
        }
        let (compact, runtime, name) = (self.target.compact(), self.target.runtime(), self.target.type_qname());
        let list = |is_empty: bool, list: TokenStream| if is_empty { quote!(&[]) } else { quote!(const { #list }) };
        let fields = list(self.elements.is_empty(), fields);
        let attributes = list(attributes.is_empty(), quote!(&[#(#attributes),*]));
        quote!(#compact::complex(#name, #runtime::schema::Compositor::#compositor, #fields, #attributes))
    }

    /// Returns the methods of `Fields`: the values by place.
    fn objects(&self) -> TokenStream {
        let compact = self.target.compact();
        let elements: Vec<_> = self.elements.iter().map(|member| &member.ident).collect();
        let attributes: Vec<_> = self.attributes.iter().map(|member| &member.ident).collect();
        let element = object(&quote!(element), &quote!(element_mut), &quote!(#compact::Slot), &elements);
        let attribute = (!attributes.is_empty())
            .then(|| object(&quote!(attribute), &quote!(attribute_mut), &quote!(#compact::AttributeSlot), &attributes));
        quote!(#element #attribute)
    }

    fn vacant(&self) -> TokenStream {
        let members = self.elements.iter().chain(&self.attributes).chain(&self.text);
        let values = members.map(|member| {
            let (ident, value) = (&member.ident, member.vacant(self.target));
            quote!(#ident: #value)
        });
        quote!(Self { #(#values),* })
    }

    /// Returns true if all values have the same leaves in the same order, as far as the struct
    /// shows. The rest depends on the fields' types.
    fn can_be_flat(&self) -> bool {
        let has_default = |member: &Member| member.default.is_some() || member.default_text.is_some();
        let is_plain = |member: &Member| member.role == Role::Element && !has_default(member);
        let has = |flag| self.target.container.has(flag);
        let only_elements = self.text.is_none() && self.attributes.is_empty();
        only_elements && self.elements.iter().all(is_plain) && !has(Flag::All) && !has(Flag::Open)
    }

    fn flat(&self) -> TokenStream {
        let runtime = self.target.runtime();
        let idents: Vec<_> = self.elements.iter().map(|member| &member.ident).collect();
        let occurs: Vec<_> = self.elements.iter().map(|member| member.occurs(self.target)).collect();
        let shortcuts: Vec<_> = self.elements.iter().map(|member| member.shortcuts(self.target)).collect();
        // Keeps the sink in registers for small structs.
        let inline = if idents.len() <= INLINED { quote!(#[inline(always)]) } else { quote!(#[inline]) };
        quote! {
            #[inline]
            fn flat_leaves(_: #runtime::schema::View<'_>) -> ::core::option::Option<usize> {
                ::core::option::Option::Some(0 #(+ #shortcuts::flat_leaves(#occurs::content_view())?)*)
            }

            #[inline]
            fn is_flat(&self, _: #runtime::schema::View<'_>) -> bool {
                true #(&& #shortcuts::is_flat(&self.#idents, #occurs::content_view()))*
            }

            #[inline]
            fn scan_flat<S: #runtime::decode::FlatSource>(
                &mut self,
                scan: &mut S,
                _: #runtime::schema::View<'_>,
            ) -> ::core::option::Option<()> {
                #(#shortcuts::scan_flat(&mut self.#idents, scan, #occurs::content_view())?;)*
                ::core::option::Option::Some(())
            }

            #inline
            fn write_flat<S: #runtime::encode::FlatSink>(&self, sink: &mut S, _: #runtime::schema::View<'_>) {
                #(#shortcuts::write_flat(&self.#idents, sink, #occurs::content_view());)*
            }
        }
    }

    fn decode(&self) -> DecodeBodies {
        let (target, runtime) = (self.target, self.target.runtime());
        let none = quote!(::core::option::Option::None);
        let items = quote!(#runtime::decode::flat::Run::Items(0));
        let other = quote!(#runtime::decode::flat::Patch::Other { field: 0, count: 0 });
        let done = quote!(::core::result::Result::Ok(()));
        DecodeBodies {
            open: self.select(&quote!(0), |member, place| open(member, place, target)),
            splice: self.call_member(
                &quote!(splice),
                &quote!(splice),
                &quote!(0),
                &quote!(place, removed, inserted, view),
            ),
            keep: self.select(&quote!({}), |member, place| keep(member, place, target)),
            is_absent: self
                .elements
                .iter()
                .any(|member| member.is_nillable)
                .then(|| self.select(&none, |member, _| is_absent(member, target))),
            decode_field: match &self.text {
                Some(Member { ident, ty, .. }) => {
                    quote!(<#ty as #runtime::Content>::decode(&mut self.#ident, cursor, view))
                }
                None => self.call_member(&quote!(decode_field), &quote!(decode), &done, &quote!(cursor, view)),
            },
            run: self.call_member(&quote!(run), &quote!(run), &items, &quote!(cursor, decl, view)),
            patch: self.call_member(&quote!(patch), &quote!(patch), &other, &quote!(cursor, view)),
            item_leaves: self.select(&none, |member, place| {
                let (ident, fields, shortcuts) = (&member.ident, member.fields(target), member.shortcuts(target));
                match member.is_group() {
                    true => quote!(#fields::item_leaves(&self.#ident, #place, view)),
                    false => quote!(#shortcuts::item_leaves(view)),
                }
            }),
            scan_leaf: self.select(&none, |member, _| {
                let (ident, shortcuts) = (&member.ident, member.shortcuts(target));
                match member.is_group() || member.default.is_some() {
                    true => none.clone(),
                    false => quote!(#shortcuts::scan_leaf(&mut self.#ident, scan, view)),
                }
            }),
            attribute: select(&quote!(index), &self.attributes, target, &done, |member, _| {
                let (ident, value) = (&member.ident, member.attribute_value(target));
                quote!(#value::read(&mut self.#ident, text, names))
            }),
            vacant: quote!(<Self as #runtime::Content>::vacant(view)),
            vacate_attributes: self
                .attributes
                .iter()
                .map(|member| {
                    let (ident, vacant) = (&member.ident, member.vacant(target));
                    quote!(self.#ident = #vacant;)
                })
                .collect(),
        }
    }

    /// Selects the element at the place `field`.
    fn select(&self, otherwise: &TokenStream, body: impl Fn(&Member, &TokenStream) -> TokenStream) -> TokenStream {
        select(&quote!(field), &self.elements, self.target, otherwise, body)
    }

    /// Like [`select`](Self::select), with a method call on the member's value: `group` for a
    /// group, `element` otherwise.
    fn call_member(
        &self,
        group: &TokenStream,
        element: &TokenStream,
        otherwise: &TokenStream,
        arguments: &TokenStream,
    ) -> TokenStream {
        self.select(otherwise, |member, place| {
            let (ident, fields) = (&member.ident, member.fields(self.target));
            let occurs = member.with_method(element, self.target);
            match member.is_group() {
                true => quote!(#fields::#group(&mut self.#ident, #place, #arguments)),
                false => quote!(#occurs::#element(&mut self.#ident, #arguments)),
            }
        })
    }

    fn encode(&self) -> EncodeBodies {
        let (target, runtime) = (self.target, self.target.runtime());
        EncodeBodies {
            encode_field: select(&quote!(index), &self.elements, target, &quote!({}), |member, place| {
                let (ident, ty, occurs) = (&member.ident, &member.ty, member.occurs(target));
                match member.is_group() {
                    true => quote! {
                        <#ty as #runtime::encode::EncodeFields>::encode_field(&self.#ident, #place, encoder, field, view)
                    },
                    false => quote!(#occurs::encode(&self.#ident, encoder, field, view)),
                }
            }),
            encode_attribute: select(&quote!(index), &self.attributes, target, &quote!({}), |member, _| {
                let (ident, value) = (&member.ident, member.attribute_value(target));
                quote!(#value::write(&self.#ident, encoder, &complex.attributes[index].name))
            }),
        }
    }
}

/// Returns the methods that return a field as an object.
fn object(name: &TokenStream, name_mut: &TokenStream, object: &TokenStream, idents: &[&Ident]) -> TokenStream {
    if idents.is_empty() {
        // Without fields, a `match` would make the code after it unreachable.
        return quote! {
            fn #name(&self, _: usize) -> ::core::option::Option<&dyn #object> {
                ::core::option::Option::None
            }

            fn #name_mut(&mut self, _: usize) -> ::core::option::Option<&mut dyn #object> {
                ::core::option::Option::None
            }
        };
    }
    let places: Vec<_> = (0..idents.len()).map(Literal::usize_unsuffixed).collect();
    quote! {
        fn #name(&self, place: usize) -> ::core::option::Option<&dyn #object> {
            ::core::option::Option::Some(match place {
                #(#places => &self.#idents,)*
                _ => return ::core::option::Option::None,
            })
        }

        fn #name_mut(&mut self, place: usize) -> ::core::option::Option<&mut dyn #object> {
            ::core::option::Option::Some(match place {
                #(#places => &mut self.#idents,)*
                _ => return ::core::option::Option::None,
            })
        }
    }
}

/// Makes room for an occurrence; a default is replaced by the decoded value.
fn open(member: &Member, place: &TokenStream, target: &Target) -> TokenStream {
    let (ident, fields, occurs) = (&member.ident, member.fields(target), member.occurs(target));
    if member.is_group() {
        return quote!(#fields::open(&mut self.#ident, #place, place, view));
    }
    let reset = member.default.as_ref().map(|_| {
        let vacant = member.vacant_element(target);
        let runtime = target.runtime();
        quote!(if place == #runtime::content::APPENDED { self.#ident = #vacant; })
    });
    quote!({
        #reset
        #occurs::open(&mut self.#ident, place, view)
    })
}

/// Returns whether a field that is absent where its element is nil is absent.
fn is_absent(member: &Member, target: &Target) -> TokenStream {
    let (ident, occurs) = (&member.ident, member.occurs(target));
    match member.is_nillable {
        true => quote!(#occurs::is_absent(&self.#ident)),
        false => quote!(::core::option::Option::None),
    }
}

/// Keeps some occurrences; without any, a field with a default gets the default.
fn keep(member: &Member, place: &TokenStream, target: &Target) -> TokenStream {
    let (ident, fields, occurs) = (&member.ident, member.fields(target), member.occurs(target));
    match &member.default {
        _ if member.is_group() => quote!(#fields::keep(&mut self.#ident, #place, count, view)),
        None => quote!(#occurs::keep(&mut self.#ident, count, view)),
        Some(default) => quote!(if count == 0 { self.#ident = #default; }),
    }
}
