//! Groups: elements that are part of another type.
//!
//! The type around a group has the group's fields in its own schema, and numbers them from its
//! first field. It passes calls for such a field to the group, with the field's place in the group.

use crate::attributes::Flag;
use crate::choice::pattern;
use crate::complex::{ContentBodies, DecodeBodies, Description, EncodeBodies};
use crate::member::{Member, check_distinct};
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Result, Variant};

/// Returns an array of the fields of these members.
pub(crate) fn fields(members: &[Member], are_optional: bool, target: &Target) -> TokenStream {
    let runtime = target.runtime();
    let parts = members.iter().map(|member| match member.is_group() {
        true => {
            let group = member.group(target);
            quote!(#group::FIELDS)
        }
        false => {
            let field = member.field(target);
            quote!(const { &[#field] })
        }
    });
    let count = offset(members, members.len(), target);
    quote!(#runtime::schema::join::<{ #count }>(&[#(#parts),*], #are_optional))
}

/// Returns the choices of these members.
pub(crate) fn choices(members: &[Member], target: &Target) -> Vec<TokenStream> {
    let groups = members.iter().enumerate().filter(|(_, member)| member.is_group());
    let at = |(index, member): (usize, &Member)| {
        let (group, offset) = (member.group(target), offset(members, index, target));
        quote!(#group::CHOICES[0].at(#offset))
    };
    groups.map(at).collect()
}

/// Returns the number of fields before a member.
fn offset(members: &[Member], index: usize, target: &Target) -> TokenStream {
    let counts = members[..index].iter().map(|member| match member.is_group() {
        true => {
            let group = member.group(target);
            quote!(#group::FIELDS.len())
        }
        false => quote!(1),
    });
    quote!(0usize #(+ #counts)*)
}

/// Selects the member at a place; some members may be groups. `body` receives a member and, for
/// groups, the place in the group.
pub(crate) fn select(
    place: &TokenStream,
    members: &[Member],
    target: &Target,
    otherwise: &TokenStream,
    body: impl Fn(&Member, &TokenStream) -> TokenStream,
) -> TokenStream {
    if members.iter().any(Member::is_group) {
        let arms = members.iter().enumerate().map(|(index, member)| {
            let (start, end) = (offset(members, index, target), offset(members, index + 1, target));
            let body = body(member, &quote!((#place - (#start))));
            quote!(if #place < #end { #body } else)
        });
        return quote!(#(#arms)* { #otherwise });
    }
    let arms = members.iter().enumerate().map(|(index, member)| {
        let body = body(member, &quote!(0));
        quote!(#index => #body,)
    });
    quote! {
        match #place {
            #(#arms)*
            _ => #otherwise,
        }
    }
}

/// Implements `Group` for a type with these fields and choices.
pub(crate) fn implement(
    target: &Target,
    fields: &TokenStream,
    choices: &[TokenStream],
    vacant: &TokenStream,
) -> TokenStream {
    let runtime = target.runtime();
    target.implement(
        &quote!(#runtime::Group),
        &quote! {
            const FIELDS: &'static [#runtime::schema::Field] = &#fields;
            const CHOICES: &'static [#runtime::schema::Choice] = &[#(#choices),*];

            fn vacant() -> Self {
                #vacant
            }
        },
    )
}

/// Returns the implementations for a choice between groups.
pub(crate) fn expand<'v>(target: &Target, variants: impl Iterator<Item = &'v Variant>) -> Result<TokenStream> {
    target.container.allow(&[Flag::Qualified, Flag::Group], "a choice between groups")?;
    target.forbid_generics("a choice between groups")?;
    let variants = variants.map(|variant| Member::from_variant(variant, target)).collect::<Result<Vec<_>>>()?;
    check_distinct(&variants, "variant")?;
    let choice = Groups { target, variants };
    let (fields, vacant) = (fields(&choice.variants, true, target), choice.vacant());
    let group = implement(target, &fields, &[choice.choice()], &vacant);
    let description = target.describe(&choice.description().element(target), true);
    let content = ContentBodies::inline(target, choice.vacant()).implement(target);
    let decode = choice.decode().implement(target);
    let encode = choice.encode().implement(target);
    Ok(quote!(#group #description #content #decode #encode))
}

struct Groups<'t> {
    target: &'t Target,
    variants: Vec<Member>,
}

impl Groups<'_> {
    /// Returns the schema of the choice as an inline element.
    fn description(&self) -> Description {
        let (runtime, ident) = (self.target.runtime(), &self.target.ident);
        Description {
            compositor: quote!(Sequence),
            fields: quote!(<#ident as #runtime::Group>::FIELDS),
            attributes: Vec::new(),
            text: quote!(::core::option::Option::None),
            open: false,
            choices: vec![quote!(<#ident as #runtime::Group>::CHOICES[0].at(0))],
        }
    }

    fn choice(&self) -> TokenStream {
        let runtime = self.target.runtime();
        let branches = self.variants.iter().map(|variant| {
            let (fields, choices) = match variant.is_group() {
                false => {
                    let field = variant.field(self.target);
                    (quote!(const { &[#field] }), quote!(&[]))
                }
                true => {
                    let group = variant.group(self.target);
                    (quote!(#group::FIELDS), quote!(#group::CHOICES))
                }
            };
            quote! {
                #runtime::schema::Branch {
                    fields: #fields.len() as u32,
                    required: ::std::borrow::Cow::Borrowed(const {
                        &#runtime::schema::required::<{ #runtime::schema::count_required(#fields) }>(#fields)
                    }),
                    choices: ::std::borrow::Cow::Borrowed(#choices),
                }
            }
        });
        quote! {
            #runtime::schema::Choice {
                first: 0,
                branches: ::std::borrow::Cow::Borrowed(const { &[#(#branches),*] }),
                is_optional: false,
            }
        }
    }

    fn vacant(&self) -> TokenStream {
        self.variants.first().map(|variant| self.vacant_variant(variant)).unwrap_or_default()
    }

    fn vacant_variant(&self, variant: &Member) -> TokenStream {
        let (ident, value) = (&variant.ident, variant.vacant_element(self.target));
        if variant.is_unit { quote!(Self::#ident) } else { quote!(Self::#ident(#value)) }
    }

    /// Calls a method of the value, if it is the variant of `field`: `group` for a group, `element`
    /// otherwise.
    fn call_member(
        &self,
        group: &TokenStream,
        element: &TokenStream,
        otherwise: &TokenStream,
        arguments: &TokenStream,
    ) -> TokenStream {
        let runtime = self.target.runtime();
        select(&quote!(field), &self.variants, self.target, otherwise, |variant, place| {
            let pattern = pattern(variant);
            let value = if variant.is_unit { quote!(&mut #runtime::Empty) } else { quote!(value) };
            let (fields, occurs) = (variant.fields(self.target), variant.with_method(element, self.target));
            let call = match variant.is_group() {
                true => quote!(#fields::#group(#value, #place, #arguments)),
                false => quote!(#occurs::#element(#value, #arguments)),
            };
            quote!(if let #pattern = self { #call } else { #otherwise })
        })
    }

    fn decode(&self) -> DecodeBodies {
        let runtime = self.target.runtime();
        let make = select(&quote!(field), &self.variants, self.target, &quote!({}), |variant, _| {
            let (ident, value) = (&variant.ident, self.vacant_variant(variant));
            quote! {{
                if !::core::matches!(self, Self::#ident { .. }) {
                    *self = #value;
                }
            }}
        });
        let open = self.call_member(&quote!(open), &quote!(open), &quote!(0), &quote!(place, view));
        let items = quote!(#runtime::decode::flat::Run::Items(0));
        let other = quote!(#runtime::decode::flat::Patch::Other { field: 0, count: 0 });
        let done = quote!(::core::result::Result::Ok(()));
        let vacant = self.vacant();
        DecodeBodies {
            is_absent: None,
            open: quote!(#make #open),
            keep: self.call_member(&quote!(keep), &quote!(keep), &quote!({}), &quote!(count, view)),
            splice: self.call_member(
                &quote!(splice),
                &quote!(splice),
                &quote!(0),
                &quote!(place, removed, inserted, view),
            ),
            decode_field: self.call_member(&quote!(decode_field), &quote!(decode), &done, &quote!(cursor, view)),
            run: self.call_member(&quote!(run), &quote!(run), &items, &quote!(cursor, decl, view)),
            patch: self.call_member(&quote!(patch), &quote!(patch), &other, &quote!(cursor, view)),
            item_leaves: self.item_leaves(),
            scan_leaf: quote!(::core::option::Option::None),
            attribute: done,
            vacant,
            vacate_attributes: TokenStream::new(),
        }
    }

    fn item_leaves(&self) -> TokenStream {
        let none = quote!(::core::option::Option::None);
        select(&quote!(field), &self.variants, self.target, &none, |variant, place| {
            let pattern = pattern(variant);
            let (fields, shortcuts) = (variant.fields(self.target), variant.shortcuts(self.target));
            match variant.is_group() {
                true => quote!(if let #pattern = self { #fields::item_leaves(value, #place, view) } else { #none }),
                false => quote!(#shortcuts::item_leaves(view)),
            }
        })
    }

    /// Writes the fields of the chosen variant when they are due.
    fn encode(&self) -> EncodeBodies {
        let runtime = self.target.runtime();
        let encode_field = select(&quote!(index), &self.variants, self.target, &quote!({}), |variant, place| {
            let (pattern, ty, occurs) = (pattern(variant), &variant.ty, variant.occurs(self.target));
            let value = if variant.is_unit { quote!(&#runtime::Empty) } else { quote!(value) };
            let call = match variant.is_group() {
                true => {
                    quote!(<#ty as #runtime::encode::EncodeFields>::encode_field(#value, #place, encoder, field, view))
                }
                false => quote!(#occurs::encode(#value, encoder, field, view)),
            };
            quote!(if let #pattern = self { #call })
        });
        EncodeBodies { encode_field, encode_attribute: TokenStream::new() }
    }
}
