//! `#[derive(Faults)]`: the faults that an operation declares, as an enum.

use crate::member::only_type;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Ident, Result, Type, Variant};

const SHAPE: &str = "a variant holds one value without a name: a `TypedFault`, or in the last one a `Fault`";
const OTHER: &str = "the last variant holds any fault that is none of the others: `Other(Fault)`";
const AGAIN: &str = "an earlier variant has the same detail element";

/// A variant, and the type that it holds.
type Holder<'i> = (&'i Ident, &'i Type);

/// Returns the implementations for an enum of faults.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(name, "faults are an enum: a variant for each, and one for all others"));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "an enum of faults has no parameters"));
    }
    let mut declared = variants(data.variants.iter())?;
    let other = declared.pop().ok_or_else(|| Error::new_spanned(name, OTHER))?;
    check_distinct(&declared)?;
    let assertions = assertions(&declared);
    let from_fault = from_fault(name, &declared, other);
    let into_fault = into_fault(name, &declared, other);
    let display = display(name, &declared, other);
    Ok(quote! {
        #assertions
        #from_fault
        #into_fault
        #display

        #[automatically_derived]
        impl ::core::error::Error for #name {}
    })
}

/// Returns assertions that no two details have the same element.
fn assertions(declared: &[Holder<'_>]) -> TokenStream {
    let names: Vec<_> = declared.iter().map(|(_, ty)| item(ty, quote!(NAME))).collect();
    let of_variant = |(index, (_, ty)): (usize, &Holder<'_>)| {
        let (name, earlier, again) = (&names[index], &names[..index], AGAIN);
        quote_spanned!(place(ty)=> const _: () = { #(assert!(!#name.equals_static(#earlier), #again);)* };)
    };
    declared.iter().enumerate().skip(1).map(of_variant).collect()
}

fn from_fault(name: &Ident, declared: &[Holder<'_>], (other, other_type): Holder<'_>) -> TokenStream {
    let of_variant = |(ident, ty): &Holder<'_>| {
        let from_fault = item(ty, quote!(from_fault));
        quote! {
            if let ::core::option::Option::Some(::core::result::Result::Ok(typed)) = #from_fault(&fault) {
                return Self::#ident(typed);
            }
        }
    };
    let declared = declared.iter().map(of_variant);
    let other = quote_spanned!(place(other_type)=> Self::#other(fault));
    quote! {
        #[automatically_derived]
        impl ::core::convert::From<::deltasoap::soap::Fault> for #name {
            fn from(fault: ::deltasoap::soap::Fault) -> Self {
                #(#declared)*
                #other
            }
        }
    }
}

fn into_fault(name: &Ident, declared: &[Holder<'_>], (other, other_type): Holder<'_>) -> TokenStream {
    let details = declared.iter().map(|(_, ty)| item(ty, quote!(detail)));
    let of_variant = |(ident, ty): &Holder<'_>| {
        let into_fault = item(ty, quote!(into_fault));
        quote!(#name::#ident(typed) => #into_fault(typed),)
    };
    let declared = declared.iter().map(of_variant);
    let fault = quote_spanned!(place(other_type)=> fault);
    quote! {
        #[automatically_derived]
        impl ::core::convert::From<#name> for ::deltasoap::soap::Fault {
            fn from(fault: #name) -> Self {
                match fault {
                    #(#declared)*
                    #name::#other(fault) => #fault,
                }
            }
        }

        #[automatically_derived]
        impl ::deltasoap::soap::IntoFault for #name {
            fn details() -> ::std::vec::Vec<(::deltasoap::schema::QName, ::deltasoap::schema::ElementRef)> {
                ::std::vec![#(#details()),*]
            }
        }
    }
}

fn display(name: &Ident, declared: &[Holder<'_>], (other, _): Holder<'_>) -> TokenStream {
    let of_variant = |(ident, ty): &Holder<'_>| {
        let reason = item(ty, quote!(reason));
        quote!(Self::#ident(typed) => f.write_str(#reason(typed)),)
    };
    let declared = declared.iter().map(of_variant);
    quote! {
        #[automatically_derived]
        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    #(#declared)*
                    Self::#other(fault) => ::core::fmt::Display::fmt(fault, f),
                }
            }
        }
    }
}

/// Returns the path of an item that the type of a declared fault has. If the type is no such one,
/// the error is at the type.
fn item(ty: &Type, item: TokenStream) -> TokenStream {
    quote_spanned!(place(ty)=> <#ty as ::deltasoap::soap::FaultVariant>::#item)
}

/// Returns a span for errors at a type. Names are those of the macro.
fn place(ty: &Type) -> Span {
    Span::call_site().located_at(ty.span())
}

/// Returns the names and types of the variants.
///
/// # Errors
/// One for each variant of another shape, and one if the last is not for other faults.
fn variants<'i>(all: impl Iterator<Item = &'i Variant>) -> Result<Vec<Holder<'i>>> {
    let (mut variants, mut errors) = (Vec::new(), Vec::new());
    for variant in all {
        match only_type(&variant.fields) {
            Some(ty) => variants.push((&variant.ident, ty)),
            None => errors.push(Error::new_spanned(variant, SHAPE)),
        }
    }
    if let Some(error) = combined(errors) {
        return Err(error);
    }
    match variants.last() {
        Some((_, ty)) if is_typed_fault(ty) => Err(Error::new_spanned(ty, OTHER)),
        _ => Ok(variants),
    }
}

/// Returns true for the type that is not for other faults by its name.
fn is_typed_fault(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "TypedFault"))
}

/// Returns an error if variants have the same type. Types of other names are compared where their
/// elements are known.
fn check_distinct(declared: &[Holder<'_>]) -> Result<()> {
    let mut seen = HashSet::new();
    let again = declared.iter().filter(|(_, ty)| !seen.insert(quote!(#ty).to_string()));
    let errors = again.map(|(_, ty)| Error::new_spanned(ty, AGAIN));
    combined(errors).map_or(Ok(()), Err)
}

fn combined(errors: impl IntoIterator<Item = Error>) -> Option<Error> {
    errors.into_iter().reduce(|mut all, error| {
        all.combine(error);
        all
    })
}
