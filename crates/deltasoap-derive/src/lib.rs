//! `#[derive(Soap)]`: gives a Rust type its schema, and typed decoding and encoding.
//!
//! The macro emits data (a `static` schema of the type) and thin calls into the routines of
//! `deltasoap-core`, which do all the work. It never looks at the name of a field's type: the
//! type's `Occurs` implementation determines how often an element occurs.
//!
//! Each kind of type has its own module: `structs`, `choice`, `enumeration`, `union`, `derived`,
//! `newtype`. The implementations that structs and choices share are in `complex`, and those that
//! all kinds share in `target`.

#![forbid(unsafe_code)]

mod attributes;
mod choice;
mod complex;
mod derived;
mod enumeration;
mod faults;
mod group;
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

#[doc = include_str!("../docs/soap.md")]
#[proc_macro_derive(Soap, attributes(soap))]
pub fn derive_soap(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Derives the traits of an enum of an operation's faults: conversions from and to `Fault`,
/// `Display`, `Error`, and `IntoFault`, by which WSDLs made from code declare them. Each variant
/// holds the `TypedFault` of a detail entry of its own; the last one is for all other faults.
/// `deltasoap::Faults` has an example.
#[proc_macro_derive(Faults)]
pub fn derive_faults(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    faults::expand(&input).unwrap_or_else(Error::into_compile_error).into()
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
    let is_enumeration = enumeration::is_one(data)?;
    if data.variants.is_empty() {
        Err(Error::new_spanned(&target.ident, "an enum without variants has no values"))
    } else if container.has(Flag::Union) {
        union::expand(target, variants)
    } else if container.has(Flag::Derived) {
        derived::expand(target, variants)
    } else if container.has(Flag::Group) {
        group::expand(target, variants)
    } else if is_enumeration && !container.has(Flag::Choice) {
        enumeration::expand(target, variants)
    } else {
        choice::expand(target, variants)
    }
}
