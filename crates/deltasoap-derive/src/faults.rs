//! `#[derive(Faults)]`: the faults that an operation declares, as an enum.

use crate::member::only_type;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Ident, Result, Type, Variant};

/// Returns the implementations for an enum of faults.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "faults are an enum: a variant for each, and one for all others"));
    };
    let variants = data.variants.iter().map(variant).collect::<Result<Vec<_>>>()?;
    let Some(((other, _), declared)) = variants.split_last() else {
        return Err(Error::new_spanned(&input.ident, "the last variant holds any other `Fault`"));
    };
    let name = &input.ident;
    let (idents, types): (Vec<&Ident>, Vec<&Type>) = declared.iter().copied().unzip();
    Ok(quote! {
        #[automatically_derived]
        impl ::core::convert::From<::deltasoap::soap::Fault> for #name {
            fn from(fault: ::deltasoap::soap::Fault) -> Self {
                #(
                    if let ::core::option::Option::Some(::core::result::Result::Ok(typed)) = <#types>::from_fault(&fault) {
                        return Self::#idents(typed);
                    }
                )*
                Self::#other(fault)
            }
        }

        #[automatically_derived]
        impl ::core::convert::From<#name> for ::deltasoap::soap::Fault {
            fn from(fault: #name) -> Self {
                match fault {
                    #(#name::#idents(typed) => ::core::convert::From::from(typed),)*
                    #name::#other(fault) => fault,
                }
            }
        }

        #[automatically_derived]
        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    #(Self::#idents(typed) => f.write_str(&typed.reason),)*
                    Self::#other(fault) => ::core::fmt::Display::fmt(fault, f),
                }
            }
        }

        #[automatically_derived]
        impl ::core::error::Error for #name {}
    })
}

fn variant(variant: &Variant) -> Result<(&Ident, &Type)> {
    match only_type(&variant.fields) {
        Some(ty) => Ok((&variant.ident, ty)),
        None => Err(Error::new_spanned(variant, "a variant holds a `TypedFault`, the last one a `Fault`")),
    }
}
