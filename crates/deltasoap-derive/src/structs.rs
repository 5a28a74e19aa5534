//! Structs with named fields, or none: complex elements.

use crate::attributes::{Flag, Role};
use crate::complex::{ContentBodies, DecodeBodies, Description, EncodeBodies};
use crate::member::{Member, check_distinct};
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Fields, Result};

/// The implementations for a struct with these fields.
pub(crate) fn expand(target: &Target, fields: &Fields) -> Result<TokenStream> {
    target.container.allow(&[Flag::Message, Flag::Qualified, Flag::All, Flag::Open], "a struct")?;
    let parsed = Struct::parse(target, fields)?;
    let description = target.describe(&parsed.description().element(target), false);
    let content = parsed.content().implement(target);
    let decode = parsed.decode().implement(target);
    let encode = parsed.encode().implement(target);
    Ok(quote!(#description #content #decode #encode))
}

/// A struct, its fields sorted by role.
struct Struct<'t> {
    target: &'t Target,
    /// Child elements, inline choices among them.
    elements: Vec<Member>,
    attributes: Vec<Member>,
    text: Option<Member>,
}

impl<'t> Struct<'t> {
    fn parse(target: &'t Target, fields: &Fields) -> Result<Self> {
        let mut parsed = Struct { target, elements: Vec::new(), attributes: Vec::new(), text: None };
        for field in fields {
            let member = Member::of_field(field, target)?;
            match member.role {
                Role::Element | Role::Inline => parsed.elements.push(member),
                Role::Attribute => parsed.attributes.push(member),
                Role::Text => parsed.set_text(member)?,
            }
        }
        parsed.check_text()?;
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
                let why = "beside a `text` field there are no child elements: is this an `attribute`?";
                Err(Error::new_spanned(&element.ident, why))
            }
            _ => Ok(()),
        }
    }

    fn description(&self) -> Description {
        let has = |flag| self.target.container.has(flag);
        let text = self.text.as_ref().map(|text| text.typed(self.target));
        Description {
            compositor: if has(Flag::All) { quote!(All) } else { quote!(Sequence) },
            fields: self.elements.iter().map(|member| member.field(self.target)).collect(),
            attributes: self.attributes.iter().map(|member| member.attribute(self.target)).collect(),
            text: match text {
                None => quote!(::core::option::Option::None),
                Some(typed) => quote!(::core::option::Option::Some(#typed::REFERENCE)),
            },
            open: has(Flag::Open),
        }
    }

    fn content(&self) -> ContentBodies {
        let runtime = self.target.runtime();
        let (routine, encode) = match &self.text {
            None => (quote!(complex), quote!(#runtime::encode::complex::encode(self, encoder, view))),
            Some(Member { ident, .. }) => {
                (quote!(text), quote!(#runtime::encode::complex::encode_text(self, &self.#ident, encoder, view)))
            }
        };
        let more = if self.can_be_flat() { self.flat() } else { TokenStream::new() };
        ContentBodies { vacant: self.vacant(), routine, encode, more }
    }

    fn vacant(&self) -> TokenStream {
        let members = self.elements.iter().chain(&self.attributes).chain(&self.text);
        let values = members.map(|member| {
            let (ident, value) = (&member.ident, member.vacant(self.target));
            quote!(#ident: #value)
        });
        quote!(Self { #(#values),* })
    }

    /// True if all values have the same leaves in the same order as far as the struct can tell. Whether they do
    /// depends on the fields' types.
    fn can_be_flat(&self) -> bool {
        let is_plain = |member: &Member| member.role == Role::Element && member.default.is_none();
        let has = |flag| self.target.container.has(flag);
        let only_elements = self.text.is_none() && self.attributes.is_empty();
        only_elements && self.elements.iter().all(is_plain) && !has(Flag::All) && !has(Flag::Open)
    }

    fn flat(&self) -> TokenStream {
        let runtime = self.target.runtime();
        let idents: Vec<_> = self.elements.iter().map(|member| &member.ident).collect();
        let occurs: Vec<_> = self.elements.iter().map(|member| member.occurs(self.target)).collect();
        quote! {
            #[inline]
            fn flat_leaves(_: #runtime::schema::View<'_>) -> ::core::option::Option<usize> {
                ::core::option::Option::Some(0 #(+ #occurs::flat_leaves(#occurs::content_view())?)*)
            }

            #[inline]
            fn is_flat(&self, _: #runtime::schema::View<'_>) -> bool {
                true #(&& #occurs::is_flat(&self.#idents, #occurs::content_view()))*
            }

            #[inline]
            fn scan_flat<S: #runtime::decode::FlatSource>(
                &mut self,
                scan: &mut S,
                _: #runtime::schema::View<'_>,
            ) -> ::core::option::Option<()> {
                #(#occurs::scan_flat(&mut self.#idents, scan, #occurs::content_view())?;)*
                ::core::option::Option::Some(())
            }

            #[inline]
            fn write_flat<S: #runtime::encode::FlatSink>(&self, sink: &mut S, _: #runtime::schema::View<'_>) {
                #(#occurs::write_flat(&self.#idents, sink, #occurs::content_view());)*
            }
        }
    }

    fn decode(&self) -> DecodeBodies {
        let (target, runtime) = (self.target, self.target.runtime());
        let none = quote!(_ => ::core::option::Option::None);
        let items = quote!(_ => #runtime::decode::flat::Run::Items(0));
        let other = quote!(_ => #runtime::decode::flat::Patch::Other { field: 0, count: 0 });
        let done = quote!(_ => ::core::result::Result::Ok(()));
        DecodeBodies {
            open: select(&quote!(field), &self.elements, &quote!(_ => 0), |member| open(member, target)),
            splice: select(&quote!(field), &self.elements, &quote!(_ => 0), |member| {
                let (ident, occurs) = (&member.ident, member.occurs(target));
                quote!(#occurs::splice(&mut self.#ident, place, removed, inserted, view))
            }),
            keep: select(&quote!(field), &self.elements, &quote!(_ => {}), |member| keep(member, target)),
            decode_field: match &self.text {
                Some(Member { ident, ty, .. }) => {
                    quote!(<#ty as #runtime::Content>::decode(&mut self.#ident, cursor, view))
                }
                None => select(&quote!(field), &self.elements, &done, |member| {
                    let (ident, occurs) = (&member.ident, member.occurs(target));
                    quote!(#occurs::decode(&mut self.#ident, cursor, view))
                }),
            },
            run: select(&quote!(field), &self.elements, &items, |member| {
                let (ident, occurs) = (&member.ident, member.occurs(target));
                quote!(#occurs::run(&mut self.#ident, cursor, decl, view))
            }),
            patch: select(&quote!(field), &self.elements, &other, |member| {
                let (ident, occurs) = (&member.ident, member.occurs(target));
                quote!(#occurs::patch(&mut self.#ident, cursor, view))
            }),
            item_leaves: select(&quote!(field), &self.elements, &none, |member| {
                let occurs = member.occurs(target);
                quote!(#occurs::item_leaves(view))
            }),
            attribute: select(&quote!(index), &self.attributes, &done, |member| {
                let (ident, value) = (&member.ident, member.attribute_value(target));
                quote!(#value::read(&mut self.#ident, text))
            }),
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

    fn encode(&self) -> EncodeBodies {
        let nothing = quote!(_ => {});
        EncodeBodies {
            encode_field: select(&quote!(index), &self.elements, &nothing, |member| {
                let (ident, occurs) = (&member.ident, member.occurs(self.target));
                quote!(#occurs::encode(&self.#ident, encoder, field, view))
            }),
            encode_attribute: select(&quote!(index), &self.attributes, &nothing, |member| {
                let (ident, value) = (&member.ident, member.attribute_value(self.target));
                quote!(#value::write(&self.#ident, encoder, &complex.attributes[index].name))
            }),
        }
    }
}

/// Makes room for an occurrence; a default gives way to what is read.
fn open(member: &Member, target: &Target) -> TokenStream {
    let (ident, occurs) = (&member.ident, member.occurs(target));
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

/// Keeps some occurrences; a field with a default has it without any.
fn keep(member: &Member, target: &Target) -> TokenStream {
    let (ident, occurs) = (&member.ident, member.occurs(target));
    match &member.default {
        None => quote!(#occurs::keep(&mut self.#ident, count, view)),
        Some(default) => quote!(if count == 0 { self.#ident = #default; }),
    }
}

/// A `match` on the place of a member in the schema.
fn select(
    place: &TokenStream,
    members: &[Member],
    otherwise: &TokenStream,
    body: impl Fn(&Member) -> TokenStream,
) -> TokenStream {
    let arms = members.iter().enumerate().map(|(index, member)| {
        let body = body(member);
        quote!(#index => #body,)
    });
    quote! {
        match #place {
            #(#arms)*
            #otherwise,
        }
    }
}
