//! The type that the macro is applied to, and the implementations that all kinds of types share.

use crate::attributes::{Container, Flag};
use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{
    ConstParam, Data, DeriveInput, Error, Fields, GenericParam, Generics, Ident, LifetimeParam, Result, Type,
    TypeParam, parse_quote, parse2,
};

/// The type that the macro is applied to.
pub(crate) struct Target {
    pub(crate) ident: Ident,
    generics: Generics,
    pub(crate) container: Container,
}

impl Target {
    pub(crate) fn parse(input: &DeriveInput) -> Result<Self> {
        let container = Container::parse(&input.attrs)?;
        let generics = with_bounds(&input.generics, &container)?;
        let has_fields = matches!(&input.data, Data::Struct(data) if !matches!(data.fields, Fields::Unnamed(_)));
        if container.element.as_deref() == Some("") && !has_fields {
            let why =
                "a message without an element, `element = \"\"`, is a struct with a field for each element of its body";
            return Err(Error::new_spanned(&input.ident, why));
        }
        let is_message = container.element.is_some() || container.has(Flag::Message);
        if let Some(response) = container.response.as_ref().filter(|_| !is_message) {
            return Err(Error::new_spanned(response, "a request is a message: add `message`, or `element = \"...\"`"));
        }
        Ok(Target { ident: input.ident.clone(), generics, container })
    }

    pub(crate) fn runtime(&self) -> &syn::Path {
        &self.container.runtime
    }

    /// Returns true if the type uses the shared routines of compact types.
    pub(crate) fn is_compact(&self) -> bool {
        self.container.has(Flag::Compact)
    }

    /// Returns the XSD type's local name.
    pub(crate) fn type_name(&self) -> String {
        self.container.name.clone().unwrap_or_else(|| self.ident.unraw().to_string())
    }

    /// Returns an error if the type has parameters.
    pub(crate) fn forbid_generics(&self, kind: &str) -> Result<()> {
        match self.generics.params.first() {
            None => Ok(()),
            Some(GenericParam::Type(TypeParam { ident, .. }) | GenericParam::Const(ConstParam { ident, .. })) => {
                Err(Error::new_spanned(ident, format!("{kind} cannot have type parameters")))
            }
            Some(GenericParam::Lifetime(lifetime)) => Err(no_lifetimes(lifetime)),
        }
    }

    /// Returns a field's type with `Self` replaced: the `static` schema cannot use `Self`.
    pub(crate) fn without_self(&self, ty: Type) -> Result<Type> {
        if self.generics.params.is_empty() { parse2(replace_self(ty.to_token_stream(), &self.ident)) } else { Ok(ty) }
    }

    /// Returns a name as an expression.
    pub(crate) fn qname(&self, namespace: &str, local: &str) -> TokenStream {
        let runtime = self.runtime();
        quote!(#runtime::QName::new(#namespace, #local))
    }

    /// Returns the type's own name as an expression.
    pub(crate) fn type_qname(&self) -> TokenStream {
        self.qname(&self.container.namespace, &self.type_name())
    }

    /// Returns `impl Trait for Type { body }`.
    pub(crate) fn implement(&self, of: &TokenStream, body: &TokenStream) -> TokenStream {
        let ident = &self.ident;
        let (parameters, arguments, bounds) = self.generics.split_for_impl();
        quote! {
            #[automatically_derived]
            #[allow(unused_variables)]
            impl #parameters #of for #ident #arguments #bounds {
                #body
            }
        }
    }

    /// Returns the runtime's module for compact types.
    pub(crate) fn compact(&self) -> TokenStream {
        let runtime = self.runtime();
        quote!(#runtime::content::compact)
    }

    /// Like [`implement`](Self::implement), for bodies that use all arguments.
    pub(crate) fn implement_plainly(&self, of: &TokenStream, body: &TokenStream) -> TokenStream {
        let ident = &self.ident;
        let (parameters, arguments, bounds) = self.generics.split_for_impl();
        quote! {
            #[automatically_derived]
            impl #parameters #of for #ident #arguments #bounds {
                #body
            }
        }
    }

    /// Implements `Typed` with the given schema, and `Message` if the type is one.
    pub(crate) fn describe(&self, element: &TokenStream, is_choice: bool) -> TokenStream {
        let runtime = self.runtime();
        let name = self.type_qname();
        let item_name = self.container.item_name.iter();
        let description = self.description(element);
        let typed = self.implement(
            &quote!(#runtime::Typed),
            &quote! {
                const TYPE_NAME: #runtime::QName = #name;
                #(const ITEM_NAME: &'static str = #item_name;)*
                const CHOICE: bool = #is_choice;

                fn element() -> &'static #runtime::schema::Element {
                    #description
                }
            },
        );
        let message = self.message();
        quote!(#typed #message)
    }

    /// Returns the schema as data with a `'static` lifetime. A `static` cannot depend on type
    /// parameters.
    pub(crate) fn description(&self, element: &TokenStream) -> TokenStream {
        let runtime = self.runtime();
        if self.generics.params.is_empty() {
            quote! {
                static ELEMENT: #runtime::schema::Element = #element;
                &ELEMENT
            }
        } else {
            quote!(const { &#element })
        }
    }

    /// Implements `Message` if the type is one, and `RequestMessage` if its response is given.
    pub(crate) fn message(&self) -> TokenStream {
        let is_flagged = self.container.has(Flag::Message);
        let response = self.container.response.as_ref();
        let Some(local) = self.container.element.clone().or_else(|| is_flagged.then(|| self.type_name())) else {
            return TokenStream::new();
        };
        let runtime = self.runtime();
        let namespace = if local.is_empty() { "" } else { self.container.namespace.as_str() };
        let name = self.qname(namespace, &local);
        let parts = (local.is_empty() && self.container.has(Flag::Group)).then(|| self.parts());
        let message =
            self.implement(&quote!(#runtime::Message), &quote!(const ELEMENT: #runtime::QName = #name; #parts));
        let request =
            response.map(|ty| self.implement(&quote!(#runtime::RequestMessage), &quote!(type Response = #ty;)));
        quote!(#message #request)
    }

    /// Returns the methods of a message whose fields are directly in the body.
    fn parts(&self) -> TokenStream {
        let runtime = self.runtime();
        let (fields, view) = (quote!(#runtime::decode::DecodeFields), quote!(#runtime::schema::View<'_>));
        quote! {
            const HAS_PARTS: bool = true;

            fn open_part(&mut self, part: usize, content: #view) {
                #fields::open(self, part, 0, content);
            }

            fn decode_part(
                &mut self,
                part: usize,
                cursor: &mut #runtime::decode::Cursor<'_>,
                content: #view,
            ) -> #runtime::decode::Step {
                #fields::decode_field(self, part, cursor, content)
            }
        }
    }

    /// Implements `Content` through the text form, for types that implement `Lexical`.
    pub(crate) fn simple_content(&self) -> TokenStream {
        let (runtime, ident) = (self.runtime(), &self.ident);
        quote_spanned!(ident.span()=> #runtime::simple_content!(#ident);)
    }

    /// Implements `Content` for types that implement `Enumeration`.
    pub(crate) fn listed_content(&self) -> TokenStream {
        let (runtime, ident) = (self.runtime(), &self.ident);
        quote_spanned!(ident.span()=> #runtime::simple_content!(compact #ident);)
    }
}

fn replace_self(tokens: TokenStream, ident: &Ident) -> TokenStream {
    let replace = |tree| match tree {
        TokenTree::Ident(found) if found == "Self" => TokenTree::Ident(Ident::new(&ident.to_string(), found.span())),
        TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), replace_self(group.stream(), ident))),
        other => other,
    };
    tokens.into_iter().map(replace).collect()
}

/// Adds bounds: every type parameter must be the type of some element.
fn with_bounds(generics: &Generics, container: &Container) -> Result<Generics> {
    let runtime = &container.runtime;
    let mut generics = generics.clone();
    for parameter in &mut generics.params {
        match parameter {
            GenericParam::Type(parameter) => parameter.bounds.push(parse_quote!(#runtime::Typed)),
            GenericParam::Lifetime(lifetime) => return Err(no_lifetimes(lifetime)),
            GenericParam::Const(_) => {}
        }
    }
    Ok(generics)
}

fn no_lifetimes(parameter: &LifetimeParam) -> Error {
    Error::new_spanned(parameter, "a value that is read from a message owns its data, without lifetime parameters")
}
