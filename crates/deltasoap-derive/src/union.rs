//! Enums marked `union`: text of one of several simple types (XSD 1.0 part 2, 2.5.1.3).

use crate::attributes::{Flag, Local, Role};
use crate::member::only_type;
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Ident, Result, Type, Variant};

/// A variant and the simple type it holds.
struct UnionMember<'v> {
    ident: &'v Ident,
    ty: &'v Type,
}

/// Returns the implementations for a union of these variants.
pub(crate) fn expand<'v>(target: &Target, variants: impl Iterator<Item = &'v Variant>) -> Result<TokenStream> {
    target.container.allow(&[Flag::Union], "a union")?;
    target.forbid_generics("a union")?;
    let members = variants.map(member).collect::<Result<Vec<_>>>()?;
    let description = target.describe(&element(target, &members), false);
    let lexical = lexical(target, &members);
    let content = target.simple_content();
    Ok(quote!(#description #lexical #content))
}

fn member(variant: &Variant) -> Result<UnionMember<'_>> {
    let local = Local::parse(&variant.attrs)?;
    local.allow(&[])?;
    local.forbid_defaults("a variant that stands for a type has no default")?;
    let Local { name, namespace, qualified, role, .. } = local;
    if name.is_some() || namespace.is_some() || qualified.is_some() || role != Role::Element {
        return Err(Error::new_spanned(variant, "a member of a union has no name in XML, only a type"));
    }
    match only_type(&variant.fields) {
        Some(ty) => Ok(UnionMember { ident: &variant.ident, ty }),
        None => Err(Error::new_spanned(variant, "a member of a union holds one value of a simple type")),
    }
}

fn element(target: &Target, members: &[UnionMember<'_>]) -> TokenStream {
    let (runtime, name) = (target.runtime(), target.type_qname());
    let references =
        members.iter().map(|UnionMember { ty, .. }| quote_spanned!(ty.span()=> <#ty as #runtime::Typed>::REFERENCE));
    quote! {
        #runtime::schema::Element::Union(#runtime::schema::UnionElement {
            name: #name,
            members: ::std::borrow::Cow::Borrowed(const { &[#(#references),*] }),
            list: false,
            default: ::core::option::Option::None,
        })
    }
}

/// Implements `Lexical`. The first member that accepts the text gives the value. The fast path
/// tries only the first member: if a member cannot scan a text, it may still accept it.
fn lexical(target: &Target, members: &[UnionMember<'_>]) -> TokenStream {
    let (runtime, name) = (target.runtime(), target.type_name());
    let idents: Vec<_> = members.iter().map(|member| member.ident).collect();
    let types: Vec<_> =
        members.iter().map(|UnionMember { ty, .. }| quote_spanned!(ty.span()=> <#ty as #runtime::Lexical>)).collect();
    let (first, first_type) = (idents.first(), types.first());
    target.implement(
        &quote!(#runtime::Lexical),
        &quote! {
            const XSD_NAME: &'static str = #name;
            const WHITE_SPACE: #runtime::lexical::WhiteSpace = #runtime::lexical::WhiteSpace::Preserve;
            const MAX_WIDTH: ::core::option::Option<usize> =
                #runtime::union::widest(&[#(#types::MAX_WIDTH),*]);

            #[inline]
            fn vacant() -> Self {
                Self::#first(#first_type::vacant())
            }

            fn parse(text: &str) -> ::core::result::Result<Self, #runtime::lexical::LexicalError> {
                #(
                    if let ::core::result::Result::Ok(value) = #types::parse(text) {
                        return ::core::result::Result::Ok(Self::#idents(value));
                    }
                )*
                ::core::result::Result::Err(#runtime::union::refused(#name))
            }

            #[inline]
            fn scan(bytes: &[u8]) -> ::core::option::Option<(Self, usize)> {
                let (value, used) = #first_type::scan(bytes)?;
                ::core::option::Option::Some((Self::#first(value), used))
            }

            #[inline]
            fn format(&self, out: &mut #runtime::Buffer, escape: #runtime::Escape) {
                match self {
                    #(Self::#idents(value) => #types::format(value, out, escape),)*
                }
            }
        },
    )
}
