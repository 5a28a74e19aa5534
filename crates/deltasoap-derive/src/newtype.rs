//! Tuple structs with one field: simple types that restrict another one, or an element of another
//! type.

use crate::attributes::Flag;
use crate::member::{changed, default_of, only_type};
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Fields, Result, Type};

/// Returns the implementations for a tuple struct.
pub(crate) fn expand(target: &Target, fields: &Fields) -> Result<TokenStream> {
    let Some(inner) = only_type(fields) else {
        return Err(Error::new_spanned(fields, "a tuple struct has one field, of the simple type that it restricts"));
    };
    target.container.allow(&[Flag::Transparent], "a tuple struct")?;
    if let Some(text) = target.container.default_text.as_ref().filter(|_| !target.container.has(Flag::Transparent)) {
        return Err(Error::new(text.span(), "only an element has a `default_text`: is the struct `transparent`?"));
    }
    target.forbid_generics("a tuple struct")?;
    if let Some(attribute) = fields.iter().flat_map(|field| &field.attrs).find(|attr| attr.path().is_ident("soap")) {
        return Err(Error::new_spanned(attribute, "the field of a tuple struct has no attributes"));
    }
    if target.container.has(Flag::Transparent) {
        return Ok(transparent(target, inner));
    }
    let runtime = target.runtime();
    let simple = quote_spanned!(inner.span()=> <#inner as #runtime::SimpleType>);
    let description = target.describe(&element(target, &simple), false);
    let lexical = lexical(target, inner);
    let base = quote!(const BASE: #runtime::schema::Builtin = #simple::BASE;);
    let simple_type = target.implement(&quote!(#runtime::SimpleType), &base);
    let content = target.simple_content();
    Ok(quote!(#description #lexical #simple_type #content))
}

/// Implements the field's type, possibly with its own element.
fn transparent(target: &Target, inner: &Type) -> TokenStream {
    let runtime = target.runtime();
    let typed = quote_spanned!(inner.span()=> <#inner as #runtime::Typed>);
    let content = quote_spanned!(inner.span()=> <#inner as #runtime::Content>);
    let (element, name) = (quote!(#typed::element()), target.container.name.as_ref().map(|_| target.type_qname()));
    let renames = name.iter().map(|name| quote!(.with_name(#name)));
    let defaults = target.container.default_text.iter().map(|text| default_of(&element, text, target));
    let changes: TokenStream = renames.chain(defaults).collect();
    let element = if changes.is_empty() {
        element
    } else {
        let changed = changed(&element, &changes, target);
        quote!((#changed)())
    };
    let name = name.unwrap_or_else(|| quote!(#typed::TYPE_NAME));
    let item_name = match &target.container.item_name {
        Some(name) => quote!(#name),
        None => quote!(#typed::ITEM_NAME),
    };
    let view = quote!(#runtime::schema::View<'_>);
    let typed = target.implement(
        &quote!(#runtime::Typed),
        &quote! {
            const TYPE_NAME: #runtime::QName = #name;
            const ITEM_NAME: &'static str = #item_name;
            const NILLABLE: bool = #typed::NILLABLE;

            fn element() -> &'static #runtime::schema::Element {
                #element
            }
        },
    );
    let content = target.implement(
        &quote!(#runtime::Content),
        &quote! {
            const REPLACES: bool = #content::REPLACES;

            fn vacant(view: #view) -> Self {
                Self(#content::vacant(view))
            }

            fn decode(&mut self, cursor: &mut #runtime::decode::Cursor<'_>, view: #view) -> #runtime::decode::Step {
                #content::decode(&mut self.0, cursor, view)
            }

            fn encode(&self, encoder: &mut #runtime::encode::Encoder, view: #view) {
                #content::encode(&self.0, encoder, view);
            }
        },
    );
    let shortcuts = target.implement(
        &quote!(#runtime::content::Shortcuts),
        &quote! {
            fn stamp(&self) -> ::core::option::Option<#runtime::encode::differential::Stamp> {
                <#inner as #runtime::content::Shortcuts>::stamp(&self.0)
            }
        },
    );
    let message = target.message();
    quote!(#typed #content #shortcuts #message)
}

fn element(target: &Target, simple: &TokenStream) -> TokenStream {
    let (runtime, name) = (target.runtime(), target.type_qname());
    quote! {
        #runtime::schema::Element::Simple(#runtime::schema::SimpleElement {
            name: #name,
            base: #simple::BASE,
            enumeration: #runtime::schema::EnumerationValues::ANY,
            default: ::core::option::Option::None,
            packed: ::core::option::Option::None,
        })
    }
}

fn lexical(target: &Target, inner: &Type) -> TokenStream {
    let runtime = target.runtime();
    let inner = quote_spanned!(inner.span()=> <#inner as #runtime::Lexical>);
    target.implement(
        &quote!(#runtime::Lexical),
        &quote! {
            const XSD_NAME: &'static str = #inner::XSD_NAME;
            const WHITE_SPACE: #runtime::lexical::WhiteSpace = #inner::WHITE_SPACE;
            const MAX_WIDTH: ::core::option::Option<usize> = #inner::MAX_WIDTH;
            const STREAMED: bool = #inner::STREAMED;

            #[inline]
            fn vacant() -> Self {
                Self(#inner::vacant())
            }

            fn parse(text: &str) -> ::core::result::Result<Self, #runtime::lexical::LexicalError> {
                #inner::parse(text).map(Self)
            }

            #[inline]
            fn scan(bytes: &[u8]) -> ::core::option::Option<(Self, usize)> {
                let (value, used) = #inner::scan(bytes)?;
                ::core::option::Option::Some((Self(value), used))
            }

            #[inline]
            fn scan_into(&mut self, bytes: &[u8]) -> ::core::option::Option<usize> {
                #inner::scan_into(&mut self.0, bytes)
            }

            #[inline]
            fn format(&self, out: &mut #runtime::Buffer, escape: #runtime::Escape) {
                #inner::format(&self.0, out, escape);
            }

            const IMAGE: #runtime::lexical::Image = #inner::IMAGE;

            #[inline]
            fn image(&self) -> [u8; 8] {
                #inner::image(&self.0)
            }

            #[inline]
            fn from_image(image: [u8; 8]) -> ::core::option::Option<Self> {
                #inner::from_image(image).map(Self)
            }

            fn is_text(&self, text: &[u8], scratch: &mut #runtime::Buffer) -> bool {
                #inner::is_text(&self.0, text, scratch)
            }

            fn clear(&mut self) {
                #inner::clear(&mut self.0);
            }

            fn progress(&self) -> usize {
                #inner::progress(&self.0)
            }

            fn keep(&mut self, progress: usize) {
                #inner::keep(&mut self.0, progress);
            }

            fn append(
                &mut self,
                piece: &str,
                partial: &mut #runtime::lexical::Partial,
            ) -> ::core::result::Result<(), #runtime::lexical::LexicalError> {
                #inner::append(&mut self.0, piece, partial)
            }

            fn finish(
                &mut self,
                partial: &mut #runtime::lexical::Partial,
            ) -> ::core::result::Result<(), #runtime::lexical::LexicalError> {
                #inner::finish(&mut self.0, partial)
            }
        },
    )
}
