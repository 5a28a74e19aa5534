//! Enums whose variants hold values: choices between elements.

use crate::attributes::Flag;
use crate::complex::{ContentBodies, DecodeBodies, Description, EncodeBodies};
use crate::member::{Member, check_distinct};
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Result, Variant};

/// Returns the implementations for a choice of these variants.
pub(crate) fn expand<'v>(target: &Target, variants: impl Iterator<Item = &'v Variant>) -> Result<TokenStream> {
    target.container.allow(&[Flag::Message, Flag::Qualified, Flag::Choice], "a choice")?;
    let variants = variants.map(|variant| Member::from_variant(variant, target)).collect::<Result<Vec<_>>>()?;
    check_distinct(&variants, "variant")?;
    let choice = Choice { target, variants };
    let description = target.describe(&choice.description().element(target), true);
    let content = ContentBodies::inline(target, choice.vacant()).implement(target);
    let decode = choice.decode().implement(target);
    let encode = choice.encode().implement(target);
    Ok(quote!(#description #content #decode #encode))
}

struct Choice<'t> {
    target: &'t Target,
    variants: Vec<Member>,
}

impl Choice<'_> {
    fn description(&self) -> Description {
        let fields = self.variants.iter().map(|variant| variant.field(self.target));
        Description {
            compositor: quote!(Choice),
            fields: quote!(&[#(#fields),*]),
            attributes: Vec::new(),
            text: quote!(::core::option::Option::None),
            open: false,
            choices: Vec::new(),
        }
    }

    /// Returns the first optional variant, since an element without children means that one;
    /// otherwise the first variant.
    fn vacant(&self) -> TokenStream {
        let optional = self.variants.iter().map(|variant| {
            let (occurs, value) = (variant.occurs(self.target), self.vacant_variant(variant));
            quote! {
                if #occurs::MIN == 0 {
                    return #value;
                }
            }
        });
        let first = self.variants.first().map(|variant| self.vacant_variant(variant));
        quote!(#(#optional)* #first)
    }

    fn vacant_variant(&self, variant: &Member) -> TokenStream {
        let (ident, value) = (&variant.ident, variant.vacant_element(self.target));
        if variant.is_unit { quote!(Self::#ident) } else { quote!(Self::#ident(#value)) }
    }

    fn decode(&self) -> DecodeBodies {
        let open = self.variants.iter().enumerate().map(|(index, variant)| {
            let (pattern, value) = (pattern(variant), self.vacant_variant(variant));
            let occurs = variant.occurs(self.target);
            let ident = &variant.ident;
            let open = if variant.is_unit {
                quote!(0)
            } else {
                quote!(if let #pattern = self { #occurs::open(value, place, view) } else { 0 })
            };
            quote! {
                #index => {
                    if !::core::matches!(self, Self::#ident { .. }) {
                        *self = #value;
                    }
                    #open
                }
            }
        });
        DecodeBodies {
            is_absent: None,
            open: quote!(match field { #(#open)* _ => 0 }),
            keep: self.keep(),
            splice: self.select(&quote!(splice), &quote!(, place, removed, inserted, view)),
            decode_field: self.select(&quote!(decode), &quote!(, cursor, view)),
            run: self.select(&quote!(run), &quote!(, cursor, decl, view)),
            patch: self.select(&quote!(patch), &quote!(, cursor, view)),
            item_leaves: self.item_leaves(),
            scan_leaf: quote!(::core::option::Option::None),
            attribute: quote!(::core::result::Result::Ok(())),
            vacant: self.vacant_by_content(),
            vacate_attributes: TokenStream::new(),
        }
    }

    fn vacant_by_content(&self) -> TokenStream {
        let runtime = self.target.runtime();
        quote!(<Self as #runtime::Content>::vacant(view))
    }

    /// Keeps some occurrences of the chosen variant; without any, the value becomes vacant.
    fn keep(&self) -> TokenStream {
        let runtime = self.target.runtime();
        let arms = self.variants.iter().enumerate().map(|(index, variant)| {
            let (pattern, occurs) = (pattern(variant), variant.occurs(self.target));
            let keep = if variant.is_unit { quote!({}) } else { quote!(#occurs::keep(value, count, view)) };
            quote! {
                (#index, #pattern) if count == 0 => *self = <Self as #runtime::Content>::vacant(view),
                (#index, #pattern) => #keep,
            }
        });
        quote!(match (field, &mut *self) { #(#arms)* _ => {} })
    }

    /// Calls a method of the chosen variant's value.
    fn select(&self, method: &TokenStream, arguments: &TokenStream) -> TokenStream {
        let runtime = self.target.runtime();
        let arms = self.variants.iter().map(|variant| {
            let (pattern, occurs) = (pattern(variant), variant.with_method(method, self.target));
            let value = if variant.is_unit { quote!(&mut #runtime::Empty) } else { quote!(value) };
            quote!(#pattern => #occurs::#method(#value #arguments),)
        });
        quote!(match self { #(#arms)* })
    }

    fn item_leaves(&self) -> TokenStream {
        let arms = self.variants.iter().enumerate().map(|(index, variant)| {
            let shortcuts = variant.shortcuts(self.target);
            quote!(#index => #shortcuts::item_leaves(view),)
        });
        quote!(match field { #(#arms)* _ => ::core::option::Option::None })
    }

    /// Writes the chosen variant when its field is due.
    fn encode(&self) -> EncodeBodies {
        let runtime = self.target.runtime();
        let arms = self.variants.iter().enumerate().map(|(index, variant)| {
            let (pattern, occurs) = (pattern(variant), variant.occurs(self.target));
            let value = if variant.is_unit { quote!(&#runtime::Empty) } else { quote!(value) };
            quote!((#index, #pattern) => #occurs::encode(#value, encoder, field, view),)
        });
        EncodeBodies {
            encode_field: quote!(match (index, self) { #(#arms)* _ => {} }),
            encode_attribute: TokenStream::new(),
        }
    }
}

/// Returns the pattern that binds a variant's value, if it has one.
pub(crate) fn pattern(variant: &Member) -> TokenStream {
    let ident = &variant.ident;
    if variant.is_unit { quote!(Self::#ident) } else { quote!(Self::#ident(value)) }
}
