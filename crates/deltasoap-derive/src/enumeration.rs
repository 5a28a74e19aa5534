//! Enums of unit variants: enumerated texts.

use crate::attributes::Local;
use crate::names::xml_name;
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::HashSet;
use syn::{Error, Ident, Result, Variant};

/// A variant and its text.
struct Value<'v> {
    ident: &'v Ident,
    text: String,
}

/// Returns the implementations for an enumeration of these variants.
pub(crate) fn expand<'v>(target: &Target, variants: impl Iterator<Item = &'v Variant>) -> Result<TokenStream> {
    target.container.allow(&[], "an enumeration")?;
    target.forbid_generics("an enumeration")?;
    let values = variants.map(|variant| value(variant, target)).collect::<Result<Vec<_>>>()?;
    check_distinct(&values)?;
    let description = target.describe(&element(target, &values), false);
    let (lexical, content) = match target.is_compact() {
        true => (listed(target, &values), target.listed_content()),
        false => (lexical(target, &values), target.simple_content()),
    };
    let runtime = target.runtime();
    let base = quote!(const BASE: #runtime::schema::Builtin = #runtime::schema::Builtin::String;);
    let simple_type = target.implement(&quote!(#runtime::SimpleType), &base);
    Ok(quote!(#description #lexical #simple_type #content))
}

fn value<'v>(variant: &'v Variant, target: &Target) -> Result<Value<'v>> {
    let local = Local::parse(&variant.attrs)?;
    if let Some((_, number)) = variant.discriminant.as_ref().filter(|_| target.is_compact()) {
        return Err(Error::new_spanned(
            number,
            "a variant of a `compact` enumeration has no discriminant: it is found by its position",
        ));
    }
    local.allow(&[])?;
    local.forbid_defaults("an enumerated value has only a `name`")?;
    let Local { name, namespace, qualified, .. } = local;
    if namespace.is_some() || qualified.is_some() {
        return Err(Error::new_spanned(variant, "an enumerated value has only a `name`"));
    }
    let text = name.map_or_else(|| xml_name(&variant.ident, target.container.rename_all), |name| name.value());
    Ok(Value { ident: &variant.ident, text })
}

fn check_distinct(values: &[Value<'_>]) -> Result<()> {
    let mut seen = HashSet::new();
    match values.iter().find(|value| !seen.insert(&value.text)) {
        None => Ok(()),
        Some(value) => Err(Error::new_spanned(value.ident, format!("another value is named {:?}", value.text))),
    }
}

fn element(target: &Target, values: &[Value<'_>]) -> TokenStream {
    let (runtime, name, ident) = (target.runtime(), target.type_qname(), &target.ident);
    let texts = values.iter().map(|value| &value.text);
    let texts = match target.is_compact() {
        true => quote!(<#ident as #runtime::enumeration::Enumeration>::TEXTS),
        false => quote!(const { &[#(::std::borrow::Cow::Borrowed(#texts)),*] }),
    };
    quote! {
        #runtime::schema::Element::Simple(#runtime::schema::SimpleElement {
            name: #name,
            base: #runtime::schema::Builtin::String,
            enumeration: #runtime::schema::EnumerationValues::Static(#texts),
            default: ::core::option::Option::None,
            packed: ::core::option::Option::None,
        })
    }
}

fn lexical(target: &Target, values: &[Value<'_>]) -> TokenStream {
    let runtime = target.runtime();
    let name = target.type_name();
    let longest = values.iter().map(|value| value.text.len()).max().unwrap_or_default();
    let first = values.first().map(|value| value.ident);
    let (idents, texts): (Vec<_>, Vec<_>) = values.iter().map(|value| (value.ident, &value.text)).unzip();
    let plain = values.iter().filter(|value| is_plain(&value.text)).map(|Value { ident, text }| {
        let bytes = proc_macro2::Literal::byte_string(text.as_bytes());
        quote!(#bytes => ::core::option::Option::Some(Self::#ident),)
    });
    target.implement(
        &quote!(#runtime::Lexical),
        &quote! {
            const XSD_NAME: &'static str = #name;
            const WHITE_SPACE: #runtime::lexical::WhiteSpace = #runtime::lexical::WhiteSpace::Collapse;
            const MAX_WIDTH: ::core::option::Option<usize> = ::core::option::Option::Some(#longest);

            #[inline]
            fn vacant() -> Self {
                Self::#first
            }

            fn parse(text: &str) -> ::core::result::Result<Self, #runtime::lexical::LexicalError> {
                #runtime::enumeration::parse(text, #name, |text| match text {
                    #(#texts => ::core::option::Option::Some(Self::#idents),)*
                    _ => ::core::option::Option::None,
                })
            }

            #[inline]
            fn scan(bytes: &[u8]) -> ::core::option::Option<(Self, usize)> {
                #runtime::enumeration::scan(bytes, #longest, |text| match text {
                    #(#plain)*
                    _ => ::core::option::Option::None,
                })
            }

            #[inline]
            fn format(&self, out: &mut #runtime::Buffer, escape: #runtime::Escape) {
                out.push_text(match self { #(Self::#idents => #texts,)* }, escape);
            }
        },
    )
}

/// Implements `Lexical` with lists of values and texts.
fn listed(target: &Target, values: &[Value<'_>]) -> TokenStream {
    let (runtime, name) = (target.runtime(), target.type_name());
    let first = values.first().map(|value| value.ident);
    let (idents, texts): (Vec<_>, Vec<_>) = values.iter().map(|value| (value.ident, &value.text)).unzip();
    let enumeration = target.implement(
        &quote!(#runtime::enumeration::Enumeration),
        &quote! {
            const VALUES: &'static [Self] = &[#(Self::#idents),*];
            const TEXTS: &'static [::std::borrow::Cow<'static, str>] =
                &[#(::std::borrow::Cow::Borrowed(#texts)),*];

            #[inline]
            fn place(self) -> usize {
                self as usize
            }
        },
    );
    let lexical = target.implement(
        &quote!(#runtime::Lexical),
        &quote! {
            const XSD_NAME: &'static str = #name;
            const WHITE_SPACE: #runtime::lexical::WhiteSpace = #runtime::lexical::WhiteSpace::Collapse;
            const MAX_WIDTH: ::core::option::Option<usize> = ::core::option::Option::Some(
                <Self as #runtime::enumeration::Enumeration>::MAX_LENGTH,
            );

            #[inline]
            fn vacant() -> Self {
                Self::#first
            }

            #[inline]
            fn parse(text: &str) -> ::core::result::Result<Self, #runtime::lexical::LexicalError> {
                #runtime::enumeration::parse_listed(text)
            }

            #[inline]
            fn scan(bytes: &[u8]) -> ::core::option::Option<(Self, usize)> {
                #runtime::enumeration::scan_listed(bytes)
            }

            #[inline]
            fn format(&self, out: &mut #runtime::Buffer, escape: #runtime::Escape) {
                out.push_text(#runtime::enumeration::text(*self), escape);
            }
        },
    );
    quote!(#enumeration #lexical)
}

/// Returns true if the text in a document equals the value: no character is escaped or changed.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>'))
}
