//! Implementations that structs and choices share: thin calls into the runtime's routines for
//! complex elements.

use crate::target::Target;
use proc_macro2::TokenStream;
use quote::quote;

/// The schema of a complex element.
pub(crate) struct Description {
    pub(crate) compositor: TokenStream,
    /// A reference to an array of fields.
    pub(crate) fields: TokenStream,
    pub(crate) attributes: Vec<TokenStream>,
    /// An `Option<ElementRef>`.
    pub(crate) text: TokenStream,
    pub(crate) open: bool,
    pub(crate) choices: Vec<TokenStream>,
}

impl Description {
    pub(crate) fn element(&self, target: &Target) -> TokenStream {
        let (runtime, name) = (target.runtime(), target.type_qname());
        let Description { compositor, fields, attributes, text, open, choices } = self;
        quote! {
            #runtime::schema::Element::Complex(#runtime::schema::ComplexElement {
                name: #name,
                compositor: #runtime::schema::Compositor::#compositor,
                fields: ::std::borrow::Cow::Borrowed(const { #fields }),
                attributes: ::std::borrow::Cow::Borrowed(const { &[#(#attributes),*] }),
                text: #text,
                open: #open,
                any_attribute: false,
                choices: ::std::borrow::Cow::Borrowed(const { &[#(#choices),*] }),
            })
        }
    }
}

/// The parts that differ between implementations of `Content`.
pub(crate) struct ContentBodies {
    /// The value that decoding starts from.
    pub(crate) vacant: TokenStream,
    pub(crate) decode: TokenStream,
    pub(crate) encode: TokenStream,
    /// Other methods.
    pub(crate) more: TokenStream,
    /// Methods of `Shortcuts`.
    pub(crate) shortcuts: TokenStream,
}

impl ContentBodies {
    /// Returns the bodies for a choice, or for other content without an element around it.
    pub(crate) fn inline(target: &Target, vacant: TokenStream) -> Self {
        let (decode, encode) = (decode(target), encode(target));
        ContentBodies { vacant, decode, encode, more: encode_inline(target), shortcuts: shortcuts(target) }
    }

    pub(crate) fn implement(&self, target: &Target) -> TokenStream {
        let runtime = target.runtime();
        let ContentBodies { vacant, decode, encode, more, shortcuts } = self;
        let shortcuts = target.implement(&quote!(#runtime::content::Shortcuts), shortcuts);
        let inline = (!target.is_compact()).then(|| quote!(#[inline]));
        let content = target.implement(
            &quote!(#runtime::Content),
            &quote! {
                const REPLACES: bool = true;

                #inline
                fn vacant(_: #runtime::schema::View<'_>) -> Self {
                    #vacant
                }

                fn decode(
                    &mut self,
                    cursor: &mut #runtime::decode::Cursor<'_>,
                    view: #runtime::schema::View<'_>,
                ) -> #runtime::decode::Step {
                    #decode
                }

                fn encode(&self, encoder: &mut #runtime::encode::Encoder, view: #runtime::schema::View<'_>) {
                    #encode
                }

                #more
            },
        );
        quote!(#content #shortcuts)
    }
}

/// Returns the call that decodes the fields.
pub(crate) fn decode(target: &Target) -> TokenStream {
    let runtime = target.runtime();
    match target.is_compact() {
        true => quote!(#runtime::content::compact::decode_any(self, cursor, view)),
        false => quote!(#runtime::decode::complex::decode(self, cursor, view)),
    }
}

/// Returns the call that encodes the fields.
pub(crate) fn encode(target: &Target) -> TokenStream {
    let runtime = target.runtime();
    match target.is_compact() {
        true => quote!(#runtime::content::compact::encode_any(self, encoder, view)),
        false => quote!(#runtime::encode::complex::encode(self, encoder, view)),
    }
}

/// Returns the body of `Shortcuts` for a type that has none.
pub(crate) fn shortcuts(target: &Target) -> TokenStream {
    match target.is_compact() {
        true => quote!(
            const COMPACT: bool = true;
        ),
        false => TokenStream::new(),
    }
}

/// Returns the method of `Content` for content without an element around it.
pub(crate) fn encode_inline(target: &Target) -> TokenStream {
    let runtime = target.runtime();
    let routine = match target.is_compact() {
        true => quote!(content::compact::encode_any_inline),
        false => quote!(encode::complex::encode_inline),
    };
    quote! {
        fn encode_inline(&self, encoder: &mut #runtime::encode::Encoder, view: #runtime::schema::View<'_>) {
            #runtime::#routine(self, encoder, view);
        }
    }
}

/// The bodies of `DecodeFields`' methods. They use the variables `field` (for attributes `index`),
/// `place`, `count`, `cursor`, `decl`, `view` and `text`.
pub(crate) struct DecodeBodies {
    pub(crate) open: TokenStream,
    pub(crate) keep: TokenStream,
    /// `None` if no field is absent where its element is nil.
    pub(crate) is_absent: Option<TokenStream>,
    pub(crate) splice: TokenStream,
    pub(crate) decode_field: TokenStream,
    pub(crate) run: TokenStream,
    pub(crate) patch: TokenStream,
    pub(crate) item_leaves: TokenStream,
    /// Uses `scan`.
    pub(crate) scan_leaf: TokenStream,
    pub(crate) attribute: TokenStream,
    /// The value that decoding starts from.
    pub(crate) vacant: TokenStream,
    /// Makes all attributes absent.
    pub(crate) vacate_attributes: TokenStream,
}

impl DecodeBodies {
    pub(crate) fn implement(&self, target: &Target) -> TokenStream {
        let runtime = target.runtime();
        let DecodeBodies { open, keep, splice, decode_field, run, patch, item_leaves, scan_leaf, attribute, .. } = self;
        let DecodeBodies { is_absent, vacant, vacate_attributes, .. } = self;
        let is_absent = is_absent.as_ref().map(|body| {
            quote! {
                fn is_absent(&self, field: usize) -> ::core::option::Option<bool> {
                    #body
                }
            }
        });
        let (cursor, view) = (quote!(&mut #runtime::decode::Cursor<'_>), quote!(#runtime::schema::View<'_>));
        target.implement(
            &quote!(#runtime::decode::DecodeFields),
            &quote! {
                fn open(&mut self, field: usize, place: usize, view: #view) -> usize {
                    #open
                }

                fn keep(&mut self, field: usize, count: usize, view: #view) {
                    #keep
                }

                #is_absent

                fn splice(&mut self, field: usize, place: usize, removed: usize, inserted: usize, view: #view) -> usize {
                    #splice
                }

                fn decode_field(&mut self, field: usize, cursor: #cursor, view: #view) -> #runtime::decode::Step {
                    #decode_field
                }

                fn run(
                    &mut self,
                    field: usize,
                    cursor: #cursor,
                    decl: &#runtime::schema::Field,
                    view: #view,
                ) -> #runtime::decode::flat::Run {
                    #run
                }

                fn patch(
                    &mut self,
                    field: usize,
                    cursor: #cursor,
                    view: #view,
                ) -> #runtime::decode::flat::Patch {
                    #patch
                }

                fn item_leaves(&self, field: usize, view: #view) -> ::core::option::Option<usize> {
                    #item_leaves
                }

                #[inline]
                fn scan_leaf(
                    &mut self,
                    field: usize,
                    scan: &mut #runtime::decode::Leaf<'_>,
                    view: #view,
                ) -> ::core::option::Option<()> {
                    #scan_leaf
                }

                fn attribute(
                    &mut self,
                    index: usize,
                    text: &str,
                    names: #runtime::decode::Names<'_>,
                ) -> ::core::result::Result<(), #runtime::lexical::LexicalError> {
                    #attribute
                }

                fn vacate(&mut self, view: #view) {
                    *self = #vacant;
                }

                fn vacate_attributes(&mut self) {
                    #vacate_attributes
                }
            },
        )
    }
}

/// The bodies of `EncodeFields`' methods. They use the variables `index`, `encoder`, `field`,
/// `view` and `complex`.
pub(crate) struct EncodeBodies {
    pub(crate) encode_field: TokenStream,
    pub(crate) encode_attribute: TokenStream,
}

impl EncodeBodies {
    pub(crate) fn implement(&self, target: &Target) -> TokenStream {
        let runtime = target.runtime();
        let EncodeBodies { encode_field, encode_attribute } = self;
        target.implement(
            &quote!(#runtime::encode::EncodeFields),
            &quote! {
                fn encode_field(
                    &self,
                    index: usize,
                    encoder: &mut #runtime::encode::Encoder,
                    field: &#runtime::schema::Field,
                    view: #runtime::schema::View<'_>,
                ) {
                    #encode_field
                }

                fn encode_attribute(
                    &self,
                    index: usize,
                    encoder: &mut #runtime::encode::Encoder,
                    complex: &#runtime::schema::ComplexElement,
                ) {
                    #encode_attribute
                }
            },
        )
    }
}
