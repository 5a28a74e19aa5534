//! Services: the modules `client` and `server`, and the faults of operations.

use super::docs::{code, docs, rustdoc};
use super::{Layout, Options};
use crate::model::{ItemId, Model, Operation, Paragraph, Service};
use crate::names::{Scope, ident};
use deltasoap_core::schema::{Style, Use};
use deltasoap_core::soap::addressing::Addressing;
use deltasoap_core::soap::{PolicyDocuments, Version};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::HashMap;

/// Renders all services. `wsdl` holds the names and texts of the WSDL and the documents that it
/// imports, to be embedded in servers.
pub(super) fn services(model: &Model, layout: &Layout, options: Options, wsdl: &[(String, String)]) -> TokenStream {
    let mut render = Render {
        model,
        layout,
        options,
        top: layout.top.clone(),
        clients: Scope::without(&["C"]),
        servers: Scope::without(&["T", "Send", "Sync"]),
        faults: HashMap::new(),
        top_items: Vec::new(),
        client_items: Vec::new(),
        server_items: Vec::new(),
    };
    for service in model.services.iter().filter(|_| options.client || options.server) {
        render.service(service);
    }
    let Render { top_items: faults, client_items, server_items, .. } = render;
    let client = (!client_items.is_empty()).then(|| {
        quote! {
            #[doc = " Clients."]
            pub mod client { #(#client_items)* }
        }
    });
    let server = (!server_items.is_empty()).then(|| {
        let description = description(wsdl);
        quote! {
            #[doc = " Servers."]
            pub mod server { #(#server_items)* #description }
        }
    });
    quote!(#client #server #(#faults)*)
}

/// Renders the function that gives a service its WSDL.
fn description(wsdl: &[(String, String)]) -> TokenStream {
    let body = match wsdl.split_first() {
        None => quote!(service),
        Some(((name, text), documents)) => {
            let documents = documents.iter().map(|(name, text)| quote!(.wsdl_document(#name, #text)));
            quote!(service.wsdl_named(#name, #text) #(#documents)*)
        }
    };
    quote! {
        fn described(service: deltasoap::server::SoapServiceBuilder) -> deltasoap::server::SoapServiceBuilder {
            #body
        }
    }
}

struct Render<'m> {
    model: &'m Model,
    layout: &'m Layout,
    options: Options,
    /// Names at the top level.
    top: Scope,
    /// Names in the module of clients.
    clients: Scope,
    /// Names in the module of servers.
    servers: Scope,
    /// Names of the fault enums by their faults: operations with the same faults share one.
    faults: HashMap<Vec<ItemId>, Ident>,
    top_items: Vec<TokenStream>,
    client_items: Vec<TokenStream>,
    server_items: Vec<TokenStream>,
}

/// Methods of clients that are not operations.
const METHODS: [&str; 7] = ["new", "builder", "with_client", "with_options", "with_header", "whole", "leased"];

/// An operation with all its Rust names.
struct Named<'m> {
    operation: &'m Operation,
    method: Ident,
    request: TokenStream,
    response: Option<TokenStream>,
    fault: Option<Ident>,
    headers: Vec<String>,
    response_headers: Vec<String>,
    /// The types of the response's header blocks.
    understood: Vec<TokenStream>,
}

impl<'m> Render<'m> {
    fn service(&mut self, service: &'m Service) {
        let base = service.base_name();
        let mut methods = Scope::without(&METHODS);
        let operations: Vec<Named<'m>> =
            service.operations.iter().map(|operation| self.named(operation, &mut methods)).collect();
        if self.options.client {
            let name = ident(&self.clients.type_name(&format!("{base} client")));
            self.client_items.push(client_of(service, &name, &operations));
        }
        if self.options.server && !operations.is_empty() {
            let implemented = ident(&self.servers.type_name(base));
            let name = ident(&self.servers.type_name(&format!("{base} server")));
            let server = self.server(service, (&implemented, &name), &operations);
            self.server_items.push(server);
        }
    }

    fn named(&mut self, operation: &'m Operation, methods: &mut Scope) -> Named<'m> {
        Named {
            operation,
            method: ident(&methods.value_name(&operation.name)),
            request: self.path(operation.request),
            response: operation.response.map(|response| self.path(response)),
            fault: self.fault(operation),
            headers: self.names(&operation.headers),
            response_headers: self.names(&operation.response_headers),
            understood: operation.response_headers.iter().map(|header| self.path(*header)).collect(),
        }
    }

    /// Returns the names of items for documentation.
    fn names(&self, items: &[ItemId]) -> Vec<String> {
        items.iter().map(|item| format!("[`{}`]", self.path(*item).to_string().replace(' ', ""))).collect()
    }

    /// Returns the path of an item as seen from the modules of clients and servers.
    fn path(&self, id: ItemId) -> TokenStream {
        let path = self.layout.path(self.model, id, None);
        quote!(super::#path)
    }

    /// Renders the enum of an operation's faults, if it declares any.
    fn fault(&mut self, operation: &Operation) -> Option<Ident> {
        let key: Vec<ItemId> = operation.faults.iter().map(|(_, detail)| *detail).collect();
        if key.is_empty() {
            return None;
        }
        if let Some(known) = self.faults.get(&key) {
            return Some(known.clone());
        }
        let name = ident(&self.top.type_name(&format!("{} fault", operation.name)));
        let mut scope = Scope::default();
        let other = ident(&scope.variant_name("Other"));
        let variants = operation.faults.iter().map(|(preferred_name, detail)| {
            let detail = self.layout.path(self.model, *detail, None);
            let variant = ident(&scope.variant_name(preferred_name));
            quote!(#variant(deltasoap::soap::TypedFault<#detail>))
        });
        let variants: Vec<_> = variants.collect();
        let words = rustdoc(format!("A fault of {}.", code(&operation.name)));
        self.top_items.push(quote! {
            #words
            #[derive(Debug, Clone, PartialEq, deltasoap::Faults)]
            pub enum #name {
                #(#variants,)*
                #[doc = " Any other fault."]
                #other(deltasoap::Fault),
            }
        });
        self.faults.insert(key, name.clone());
        Some(name)
    }

    fn server(&self, service: &Service, names: (&Ident, &Ident), operations: &[Named<'_>]) -> TokenStream {
        let (implemented, name) = names;
        let label = &service.preferred_name;
        let words = rustdoc(format!("The operations of `{label}`, implemented by a server: see [`{name}`]."));
        let methods = operations.iter().map(|named| {
            let Named { method, request, .. } = named;
            let (answer, failure) = (named.server_return_type(), named.server_failure());
            let words = docs(&named.server_docs());
            quote! {
                #words
                fn #method(
                    &self,
                    context: deltasoap::Context,
                    request: deltasoap::Lease<#request>,
                ) -> impl std::future::Future<Output = Result<#answer, #failure>> + Send;
            }
        });
        let about =
            rustdoc(format!("Serves the operations of `{label}`: a [`tower::Service`](deltasoap::SoapService)."));
        let added = operations.iter().map(|named| self.added(implemented, named));
        let (policies, with_policies) = policies(service);
        let panics = match service.policies.is_empty() {
            true => " Panics if two operations have the same request and the same action.",
            false => {
                " Panics if two operations have the same request and the same action, or if the policies require more than TLS."
            }
        };
        quote! {
            #words
            pub trait #implemented: Send + Sync + 'static { #(#methods)* }

            #about
            #[derive(Debug, Clone)]
            pub struct #name {
                service: deltasoap::SoapService,
            }

            impl #name {
                #policies

                #[doc = " Creates the service from an implementation, with default settings."]
                #[doc = ""]
                #[doc = " # Panics"]
                #[doc = #panics]
                pub fn new<T: #implemented>(implementation: T) -> Self {
                    let service = Self::builder(implementation).build();
                    Self { service: service.unwrap_or_else(|error| panic!("{error}")) }
                }

                #[doc = " Creates a builder for the service, to change its settings."]
                pub fn builder<T: #implemented>(implementation: T) -> deltasoap::server::SoapServiceBuilder {
                    let implementation = std::sync::Arc::new(implementation);
                    let service = described(deltasoap::SoapService::builder().name(#label)) #with_policies;
                    #(#added)*
                    service
                }
            }

            deltasoap::generated_service!(#name);
        }
    }

    /// Returns the statement that adds an operation to a service.
    fn added(&self, server: &Ident, named: &Named<'_>) -> TokenStream {
        let Named { operation, method, request, .. } = named;
        let action = Some(&operation.action).filter(|it| !it.is_empty()).map(|action| quote!(.action(#action)));
        let encoding = (operation.encoding == Use::Encoded).then(|| quote!(.encoding(deltasoap::schema::Use::Encoded)));
        let style = (operation.style == Style::Rpc).then(|| quote!(.style(deltasoap::schema::Style::Rpc)));
        let headers = operation.headers.iter().map(|header| {
            let header = self.path(*header);
            quote!(.understands(<#header as deltasoap::Message>::ELEMENT))
        });
        quote! {
            let it = std::sync::Arc::clone(&implementation);
            let handler = move |context: deltasoap::Context, request: deltasoap::Lease<#request>| {
                let it = std::sync::Arc::clone(&it);
                // Called through its trait: an operation may be named `clone`.
                async move { <T as #server>::#method(&it, context, request).await }
            };
            let operation = deltasoap::server::Operation::new(handler);
            let service = service.add_operation(operation #action #encoding #style #(#headers)*);
        }
    }
}

impl Named<'_> {
    /// Returns the return type of a client's method.
    fn client_return_type(&self) -> TokenStream {
        self.response.as_ref().map_or_else(|| quote!(()), |response| quote!(C::Response<#response>))
    }

    /// Returns the return type of a server's method, with header blocks if the WSDL declares any.
    fn server_return_type(&self) -> TokenStream {
        match &self.response {
            None => quote!(()),
            Some(response) if self.response_headers.is_empty() => response.clone(),
            Some(response) => quote!(deltasoap::server::Reply<#response>),
        }
    }

    fn client_docs(&self) -> Vec<Paragraph> {
        let mut words = self.operation.docs.clone();
        if words.is_empty() {
            words.push(Paragraph::Rustdoc(format!("Calls {}.", code(&self.operation.name))));
        }
        words.extend(blocks("Header blocks", &self.headers));
        words.extend(blocks(
            "Header blocks of the response, returned by [`whole`](Self::whole)",
            &self.response_headers,
        ));
        words
    }

    fn server_docs(&self) -> Vec<Paragraph> {
        let mut words = self.operation.docs.clone();
        words.extend(blocks("Header blocks, available in the context", &self.headers));
        words.extend(blocks("Header blocks of the answer", &self.response_headers));
        words
    }

    fn server_failure(&self) -> TokenStream {
        match &self.fault {
            Some(fault) => quote!(super::#fault),
            None => quote!(deltasoap::Fault),
        }
    }

    fn client_failure(&self) -> TokenStream {
        match &self.fault {
            Some(fault) => quote!(deltasoap::client::Failure<super::#fault>),
            None => quote!(deltasoap::client::CallError),
        }
    }
}

fn client_of(service: &Service, name: &Ident, operations: &[Named<'_>]) -> TokenStream {
    let mut words = service.docs.clone();
    words.insert(0, Paragraph::Rustdoc(format!("Calls the operations of `{}`.", service.preferred_name)));
    words.extend(service.omitted.iter().map(|(name, why)| Paragraph::Text(format!("Without {name}: {why}."))));
    let words = docs(&words);
    let address = service.address.as_ref().map(|address| {
        quote! {
            #[doc = " The URL in the WSDL."]
            pub const ADDRESS: &'static str = #address;
        }
    });
    let version = match service.version {
        Version::Soap11 => quote!(Soap11),
        Version::Soap12 => quote!(Soap12),
    };
    let mtom = service.mtom.then(|| quote!(.mtom(deltasoap::attachments::Mtom::On)));
    let addressing = service.addressing.map(|version| {
        let version = match version {
            Addressing::V10 => quote!(V10),
            Addressing::V2004 => quote!(V2004),
        };
        quote!(.addressing(deltasoap::soap::addressing::Addressing::#version))
    });
    let (policies, with_policies) = policies(service);
    let errors = match service.policies.is_empty() {
        true => " Returns an error if the URL is malformed or has no host.",
        false => " Returns an error if the URL is malformed or has no host, or if the policies require more than TLS.",
    };
    let methods = operations.iter().map(call);
    let settings = settings(name);
    quote! {
        #words
        #[derive(Debug, Clone)]
        pub struct #name<C = deltasoap::Client> {
            caller: C,
            options: deltasoap::client::CallOptions,
        }

        impl #name {
            #address

            #policies

            #[doc = " Creates a client of the service at a URL."]
            #[doc = ""]
            #[doc = " # Errors"]
            #[doc = #errors]
            pub fn new(url: impl Into<String>) -> Result<Self, deltasoap::client::ClientBuildError> {
                Ok(Self::with_client(Self::builder(url).build()?))
            }

            #[doc = " Creates a builder for the client that [`with_client`](Self::with_client) takes, with the settings that the WSDL requires."]
            pub fn builder(url: impl Into<String>) -> deltasoap::client::ClientBuilder {
                deltasoap::Client::builder(url).version(deltasoap::soap::Version::#version) #mtom #addressing #with_policies
            }
        }

        impl<C: deltasoap::client::Caller> #name<C> {
            #settings

            #(#methods)*
        }
    }
}

/// Renders what the policies say about security: a constant, and the setting of a builder. Both are
/// empty if there are none.
fn policies(service: &Service) -> (Option<TokenStream>, Option<TokenStream>) {
    let PolicyDocuments { required, request, response } = &service.policies;
    if service.policies.is_empty() {
        return (None, None);
    }
    let constant = quote! {
        #[doc = " What the policies of the service say about security."]
        pub const POLICIES: deltasoap::soap::PolicyDocuments =
            deltasoap::soap::PolicyDocuments::new(#required, #request, #response);
    };
    (Some(constant), Some(quote!(.policies(Self::POLICIES))))
}

/// Renders the methods of a client that are not operations.
fn settings(name: &Ident) -> TokenStream {
    quote! {
        #[doc = " Creates a client that calls through another one, which has its own settings."]
        pub fn with_client(caller: C) -> Self {
            Self { caller, options: deltasoap::client::CallOptions::new() }
        }

        #[doc = " Returns the client with options for its calls, in addition to those that it has. See [`CallOptions::and`](deltasoap::client::CallOptions::and)."]
        #[must_use]
        pub fn with_options(mut self, options: deltasoap::client::CallOptions) -> Self {
            self.options = self.options.and(options);
            self
        }

        #[doc = " Returns the client with an additional header block in its requests."]
        #[doc = ""]
        #[doc = " # Errors"]
        #[doc = " Returns an error if the block has text that XML does not allow."]
        pub fn with_header(mut self, block: &impl deltasoap::Message) -> Result<Self, deltasoap::Error> {
            self.options = self.options.header(deltasoap::soap::HeaderBlock::from_message(block)?);
            Ok(self)
        }

        #[doc = " Returns a client whose methods return whole responses, with header blocks, parts and HTTP headers."]
        pub fn whole(self) -> #name<deltasoap::client::Whole<C>> {
            #name { caller: deltasoap::client::Whole(self.caller), options: self.options }
        }

        #[doc = " Returns a client whose methods lease responses: if a response resembles the last one, only the differences are read."]
        pub fn leased(self) -> #name<deltasoap::client::Leased<C>> {
            #name { caller: deltasoap::client::Leased(self.caller), options: self.options }
        }
    }
}

/// Returns a sentence about header blocks, if there are any.
fn blocks(what: &str, names: &[String]) -> Option<Paragraph> {
    (!names.is_empty()).then(|| Paragraph::Rustdoc(format!("{what}: {}.", names.join(", "))))
}

/// Renders the method that calls an operation.
fn call(named: &Named<'_>) -> TokenStream {
    let Named { operation, method, request, .. } = named;
    let understood =
        named.understood.iter().map(|header| quote!(.understands(<#header as deltasoap::Message>::ELEMENT)));
    let (answer, failure) = (named.client_return_type(), named.client_failure());
    let words = docs(&named.client_docs());
    let action = Some(&operation.action).filter(|it| !it.is_empty()).map(|action| quote!(.action(#action)));
    let addressed = operation.addressing_action.as_ref().map(|action| quote!(.addressing_action(#action)));
    let encoding = (operation.encoding == Use::Encoded).then(|| quote!(.encoding(deltasoap::schema::Use::Encoded)));
    let call = if named.response.is_some() { quote!(call) } else { quote!(send) };
    let called =
        quote!(self.caller.#call(request, self.options.clone() #action #addressed #encoding #(#understood)*).await);
    let body = if named.fault.is_some() { quote!(Ok(#called?)) } else { called };
    quote! {
        #words
        #[doc = ""]
        #[doc = " # Errors"]
        #[doc = " Returns a fault, or another error if there is no response."]
        pub async fn #method(&self, request: &#request) -> Result<#answer, #failure> {
            #body
        }
    }
}
