//! Enums of unit variants: enumerated texts. One more variant may hold all other texts.

use crate::attributes::{Local, Mark};
use crate::member::only_type;
use crate::names::xml_name;
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::HashSet;
use syn::{DataEnum, Error, Fields, Ident, Result, Variant};

/// Returns true if all variants are units, except for those of other texts.
pub(crate) fn is_one(data: &DataEnum) -> Result<bool> {
    for variant in data.variants.iter().filter(|variant| !matches!(variant.fields, Fields::Unit)) {
        if !Local::parse(&variant.attrs)?.has(Mark::Other) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The values of an enumeration.
struct Values<'v> {
    listed: Vec<Value<'v>>,
    /// The variant for other texts.
    other: Option<&'v Ident>,
}

/// A variant and its text.
struct Value<'v> {
    ident: &'v Ident,
    text: String,
}

/// Returns the implementations for an enumeration of these variants.
pub(crate) fn expand<'v>(target: &Target, variants: impl Iterator<Item = &'v Variant>) -> Result<TokenStream> {
    target.container.allow(&[], "an enumeration")?;
    target.forbid_generics("an enumeration")?;
    let values = Values::parse(target, variants)?;
    let description = target.describe(&values.element(target), false);
    let (lexical, content) = match target.is_compact() {
        true => (values.lists(target), target.listed_content()),
        false => (values.lexical(target), target.simple_content()),
    };
    let runtime = target.runtime();
    let base = quote!(const BASE: #runtime::schema::Builtin = #runtime::schema::Builtin::String;);
    let simple_type = target.implement(&quote!(#runtime::SimpleType), &base);
    Ok(quote!(#description #lexical #simple_type #content))
}

impl<'v> Values<'v> {
    fn parse(target: &Target, variants: impl Iterator<Item = &'v Variant>) -> Result<Self> {
        let mut values = Values { listed: Vec::new(), other: None };
        for variant in variants {
            let local = Local::parse(&variant.attrs)?;
            if !local.has(Mark::Other) {
                values.listed.push(value(variant, local, target)?);
            } else if values.other.is_some() || only_type(&variant.fields).is_none() {
                return Err(Error::new_spanned(variant, "other texts are in one variant, which holds a `String`"));
            } else {
                check_other(variant, &local)?;
                values.other = Some(&variant.ident);
            }
        }
        if values.listed.is_empty() {
            return Err(Error::new_spanned(&target.ident, "an enumeration has at least one value of its own"));
        }
        check_distinct(&values.listed)?;
        Ok(values)
    }

    /// Returns the schema. If there are other texts, it allows every text.
    fn element(&self, target: &Target) -> TokenStream {
        let (runtime, name, ident) = (target.runtime(), target.type_qname(), &target.ident);
        let texts = self.listed.iter().map(|value| &value.text);
        let texts = match (target.is_compact(), self.other) {
            (_, Some(_)) => quote!(&[]),
            (true, None) => quote!(<#ident as #runtime::enumeration::Enumeration>::TEXTS),
            (false, None) => quote!(const { &[#(::std::borrow::Cow::Borrowed(#texts)),*] }),
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

    /// Implements `Lexical` with a `match` over the texts.
    fn lexical(&self, target: &Target) -> TokenStream {
        let (runtime, name) = (target.runtime(), target.type_name());
        let longest = self.listed.iter().map(|value| value.text.len()).max().unwrap_or_default();
        let (idents, texts): (Vec<_>, Vec<_>) = self.listed.iter().map(|value| (value.ident, &value.text)).unzip();
        let plain = self.listed.iter().filter(|value| is_plain(&value.text)).map(|Value { ident, text }| {
            let bytes = proc_macro2::Literal::byte_string(text.as_bytes());
            quote!(#bytes => ::core::option::Option::Some(Self::#ident),)
        });
        let find = quote! {
            |text| match text {
                #(#texts => ::core::option::Option::Some(Self::#idents),)*
                _ => ::core::option::Option::None,
            }
        };
        let parse = match self.other {
            None => quote!(#runtime::enumeration::parse(text, #name, #find)),
            Some(other) => quote! {
                ::core::result::Result::Ok(#runtime::enumeration::parse_or(
                    text,
                    |text| Self::#other(::core::convert::From::from(text)),
                    #find,
                ))
            },
        };
        let max_width = match self.other {
            None => quote!(::core::option::Option::Some(#longest)),
            Some(_) => quote!(::core::option::Option::None),
        };
        let other = self.other.map(|other| quote!(Self::#other(text) => ::core::convert::AsRef::<str>::as_ref(text),));
        let bodies = Bodies {
            max_width,
            parse,
            scan: quote! {
                #runtime::enumeration::scan(bytes, #longest, |text| match text {
                    #(#plain)*
                    _ => ::core::option::Option::None,
                })
            },
            text: quote!(match self { #(Self::#idents => #texts,)* #other }),
        };
        self.implement_lexical(target, &bodies)
    }

    /// Implements `Lexical` with lists of values and texts.
    fn lists(&self, target: &Target) -> TokenStream {
        let runtime = target.runtime();
        let (idents, texts): (Vec<_>, Vec<_>) = self.listed.iter().map(|value| (value.ident, &value.text)).unzip();
        let rest = match self.other {
            None => quote! {
                #[inline]
                fn place(&self) -> usize {
                    *self as usize
                }
            },
            Some(other) => open_list(&idents, other),
        };
        let enumeration = target.implement(
            &quote!(#runtime::enumeration::Enumeration),
            &quote! {
                const VALUES: &'static [Self] = &[#(Self::#idents),*];
                const TEXTS: &'static [::std::borrow::Cow<'static, str>] =
                    &[#(::std::borrow::Cow::Borrowed(#texts)),*];
                #rest
            },
        );
        let bodies = Bodies {
            max_width: quote!(#runtime::enumeration::max_width::<Self>()),
            parse: quote!(#runtime::enumeration::parse_listed(text)),
            scan: quote!(#runtime::enumeration::scan_listed(bytes)),
            text: quote!(#runtime::enumeration::text(self)),
        };
        let lexical = self.implement_lexical(target, &bodies);
        quote!(#enumeration #lexical)
    }

    fn implement_lexical(&self, target: &Target, bodies: &Bodies) -> TokenStream {
        let (runtime, name) = (target.runtime(), target.type_name());
        let first = self.listed.first().map(|value| value.ident);
        let Bodies { max_width, parse, scan, text } = bodies;
        target.implement(
            &quote!(#runtime::Lexical),
            &quote! {
                const XSD_NAME: &'static str = #name;
                const WHITE_SPACE: #runtime::lexical::WhiteSpace = #runtime::lexical::WhiteSpace::Collapse;
                const MAX_WIDTH: ::core::option::Option<usize> = #max_width;

                #[inline]
                fn vacant() -> Self {
                    Self::#first
                }

                #[inline]
                fn parse(text: &str) -> ::core::result::Result<Self, #runtime::lexical::LexicalError> {
                    #parse
                }

                #[inline]
                fn scan(bytes: &[u8]) -> ::core::option::Option<(Self, usize)> {
                    #scan
                }

                #[inline]
                fn format(&self, out: &mut #runtime::Buffer, escape: #runtime::Escape) {
                    out.push_text(#text, escape);
                }
            },
        )
    }
}

fn check_other(variant: &Variant, local: &Local) -> Result<()> {
    local.allow(&[Mark::Other])?;
    local.forbid_defaults("the variant of other texts has no `default`")?;
    match local.name.is_some() || local.namespace.is_some() || local.qualified.is_some() {
        true => Err(Error::new_spanned(variant, "the variant of other texts has no name in XML")),
        false => Ok(()),
    }
}

fn value<'v>(variant: &'v Variant, local: Local, target: &Target) -> Result<Value<'v>> {
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

/// The bodies of `Lexical`.
struct Bodies {
    max_width: TokenStream,
    /// Uses `text`.
    parse: TokenStream,
    /// Uses `bytes`.
    scan: TokenStream,
    /// The text of `self`.
    text: TokenStream,
}

/// Returns the rest of `Enumeration` for values of which one holds other texts.
fn open_list(idents: &[&Ident], other: &Ident) -> TokenStream {
    let places = 0..idents.len();
    quote! {
        const IS_OPEN: bool = true;

        fn place(&self) -> usize {
            match self {
                #(Self::#idents => #places,)*
                Self::#other(_) => usize::MAX,
            }
        }

        fn other(&self) -> ::core::option::Option<&str> {
            match self {
                Self::#other(text) => ::core::option::Option::Some(::core::convert::AsRef::as_ref(text)),
                _ => ::core::option::Option::None,
            }
        }

        fn from_other(text: &str) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(Self::#other(::core::convert::From::from(text)))
        }
    }
}

/// Returns true if the text in a document equals the value: no character is escaped or changed.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>'))
}
