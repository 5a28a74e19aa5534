//! `#[derive(Soap)]`.

#![forbid(unsafe_code)]

mod attributes;
mod choice;
mod complex;
mod enumeration;
mod member;
mod names;
mod newtype;
mod structs;
mod target;
mod union;

use attributes::Flag;
use proc_macro2::TokenStream;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Result, parse_macro_input};
use target::Target;

#[proc_macro_derive(Soap, attributes(soap))]
pub fn derive_soap(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let target = Target::parse(input)?;
    match &input.data {
        Data::Struct(data) => match &data.fields {
            fields @ Fields::Unnamed(_) => newtype::expand(&target, fields),
            fields => structs::expand(&target, fields),
        },
        Data::Enum(data) => expand_enum(&target, data),
        Data::Union(_) => Err(Error::new_spanned(&input.ident, "a Rust union has no schema; use an enum")),
    }
}

fn expand_enum(target: &Target, data: &DataEnum) -> Result<TokenStream> {
    let variants = data.variants.iter();
    let container = &target.container;
    let is_enumeration = data.variants.iter().all(|variant| matches!(variant.fields, Fields::Unit));
    if data.variants.is_empty() {
        Err(Error::new_spanned(&target.ident, "an enum without variants has no values"))
    } else if container.has(Flag::Union) {
        union::expand(target, variants)
    } else if is_enumeration && !container.has(Flag::Choice) {
        enumeration::expand(target, variants)
    } else {
        choice::expand(target, variants)
    }
}
