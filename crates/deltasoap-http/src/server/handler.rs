//! Handlers: the functions that answer requests.
//!
//! A handler is any function or closure, `async` or not, whose last argument is the request, and
//! whose other arguments are taken from the request's [`Context`]. Rust cannot implement a trait
//! for functions of several shapes without telling them apart, so each trait here has a type
//! parameter that marks the shape. It is always inferred.

use super::context::Context;
use super::extract::FromContext;
use super::operation::Outcome;
use super::reply::{IntoReply, MessageReply};
use super::writing::Writing;
use crate::typed_fault::IntoFault;
use deltasoap_core::schema::ElementRef;
use deltasoap_core::soap::Fault;
use deltasoap_core::{Lease, Message, QName, Typed};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Instant;

/// A function that answers the requests of an operation.
///
/// Implemented for functions and closures, `async` or not, of up to nine arguments:
///
/// - The last argument is the request: a message `T`, or [`Lease<T>`](Lease), which keeps the
///   request with the service, so that the next one is only read where it differs.
/// - The others are taken from the request's [`Context`] by [`FromContext`]: the context itself,
///   [`Header`](crate::Header), [`State`](crate::State), [`Attachments`](crate::Attachments),
///   [`Principal`](crate::Principal), [`Extension`](crate::Extension).
/// - The result is a response (see [`HandlerResult`]), or a `Result` whose error is a [`Fault`] or
///   converts into one ([`IntoFault`]). A handler that returns `()` makes its operation one-way.
///
/// A handler that is not `async` runs on the thread that serves the connection, and must not block.
///
/// ```
/// use deltasoap::{Fault, Lease, Soap, SoapService};
/// use deltasoap::server::{Header, State};
/// use std::sync::Arc;
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:shop", message, response = Price)]
/// struct GetPrice {
///     sku: String,
/// }
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:shop", message)]
/// struct Price {
///     amount: u32,
/// }
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:shop", message)]
/// struct Currency {
///     code: String,
/// }
///
/// #[derive(Clone)]
/// struct Prices(Arc<Vec<(String, u32)>>);
///
/// async fn price(
///     State(prices): State<Prices>,
///     currency: Option<Header<Currency>>,
///     request: Lease<GetPrice>,
/// ) -> Result<Price, Fault> {
///     if currency.is_some_and(|currency| currency.code != "EUR") {
///         return Err(Fault::sender("only EUR"));
///     }
///     let found = prices.0.iter().find(|(sku, _)| *sku == request.sku);
///     found.map(|(_, amount)| Price { amount: *amount }).ok_or_else(|| Fault::sender("unknown sku"))
/// }
///
/// let prices = Prices(Arc::new(vec![("A1".to_owned(), 7)]));
/// let service = SoapService::builder().state(prices).operation(price).build()?;
/// # Ok::<(), deltasoap::server::BuildError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not a handler",
    note = "a handler is a function or closure, `async` or not, of up to nine arguments, whose last argument is the request (`T` or `Lease<T>`, where `T` is a message), and that returns a message, or a `Result` of one whose error is a `Fault` or another type that implements `IntoFault`",
    note = "the future of an `async` handler must be `Send`"
)]
pub trait Handler<Marker>: Send + Sync + 'static {
    /// The arguments before the last, as a tuple.
    type Arguments;
    /// The last argument.
    type Request;
    /// The result.
    type Output;

    /// Calls `extract` for the arguments, the handler, and `finish` with its result.
    #[doc(hidden)]
    fn call<E, F>(self: Arc<Self>, extract: E, request: Self::Request, finish: F) -> Running
    where
        E: FnOnce() -> Result<Self::Arguments, Fault> + Send + 'static,
        F: FnOnce(Self::Output) -> Outcome + Send + 'static;
}

/// The arguments of a [`Handler`] before the request: a tuple of types that implement
/// [`FromContext`] for a service with this state.
pub trait Extract<S>: Sized + Send {
    /// Returns the names of the header blocks that the arguments take.
    #[doc(hidden)]
    fn understood() -> Vec<QName>;

    /// Returns the names and schemas of those that have a type.
    #[doc(hidden)]
    fn headers() -> Vec<(QName, ElementRef)>;

    /// Takes the arguments, in order.
    #[doc(hidden)]
    fn extract(context: &mut Context, state: &S) -> Result<Self, Fault>;
}

/// A call in progress.
pub type Running = BoxFuture<'static, Outcome>;

/// Marks handlers that are `async`.
#[derive(Debug)]
pub struct Async;

/// Marks handlers that are not `async`, with the shape of their result.
#[derive(Debug)]
pub struct Plain<M>(M);

/// Implements `Handler` for functions with this number of arguments before the request, and
/// `Extract` for those.
///
/// Whether the arguments can be taken is no condition of `Handler`: the compiler then finds the
/// only implementation that a function can have, and names the argument that is wrong.
macro_rules! handler {
    ($($extractor:ident)*) => {
        handler!(@ [$($extractor)*] [Async] [Future, Reply] [.await]
            H: Fn($($extractor,)* Request) -> Future + Send + Sync + 'static,
            Future: std::future::Future<Output = Reply> + Send + 'static,
        );
        handler!(@ [$($extractor)*] [Plain<M>] [Reply, M] []
            H: Fn($($extractor,)* Request) -> Reply + Send + Sync + 'static,
            // Otherwise, a future would be a result of this kind.
            Reply: HandlerResult<M>,
        );

        impl<S, $($extractor: FromContext<S> + Send),*> Extract<S> for ($($extractor,)*) {
            fn understood() -> Vec<QName> {
                let names: &[Option<QName>] = &[$($extractor::understood()),*];
                names.iter().flatten().cloned().collect()
            }

            fn headers() -> Vec<(QName, ElementRef)> {
                let headers: &[Option<(QName, ElementRef)>] = &[$($extractor::header()),*];
                headers.iter().flatten().cloned().collect()
            }

            #[allow(unused_variables)]
            fn extract(context: &mut Context, state: &S) -> Result<Self, Fault> {
                Ok(($($extractor::from_context(context, state)?,)*))
            }
        }
    };
    (@ [$($extractor:ident)*] [$marker:ty] [$($parameter:ident),*] [$($await:tt)*] $($bounds:tt)*) => {
        impl<H, $($extractor,)* Request, $($parameter),*> Handler<($marker, fn($($extractor,)* Request))> for H
        where
            Request: Send + 'static,
            $($bounds)*
        {
            type Arguments = ($($extractor,)*);
            type Request = Request;
            type Output = Reply;

            #[allow(non_snake_case)]
            fn call<E, F>(self: Arc<Self>, extract: E, request: Request, finish: F) -> Running
            where
                E: FnOnce() -> Result<Self::Arguments, Fault> + Send + 'static,
                F: FnOnce(Reply) -> Outcome + Send + 'static,
            {
                Box::pin(async move {
                    let ($($extractor,)*) = match extract() {
                        Ok(arguments) => arguments,
                        Err(fault) => return Outcome::Fault(fault),
                    };
                    finish((*self)($($extractor,)* request) $($await)*)
                })
            }
        }
    };
}

handler!();
handler!(A1);
handler!(A1 A2);
handler!(A1 A2 A3);
handler!(A1 A2 A3 A4);
handler!(A1 A2 A3 A4 A5);
handler!(A1 A2 A3 A4 A5 A6);
handler!(A1 A2 A3 A4 A5 A6 A7);
handler!(A1 A2 A3 A4 A5 A6 A7 A8);

/// A request as a handler takes it: the message, or a [`Lease`] on it.
///
/// A lease returns the request to the service when it is dropped. The service compares the next
/// request with it, and reads only the differences. A handler that takes the message itself owns
/// it, and its requests are read in full.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a request",
    note = "the last argument of a handler is a message (`#[derive(Soap)]` with `#[soap(message)]`), or a `Lease` on one"
)]
pub trait FromRequest<Marker>: Send + 'static {
    /// The message.
    type Message: Message + Send + 'static;

    /// Returns the request.
    fn from_request(request: Lease<Self::Message>) -> Self;
}

/// Marks requests that their handler owns.
#[derive(Debug)]
pub struct Owned;

/// Marks requests on lease.
#[derive(Debug)]
pub struct Leased;

impl<T: Message + Send + 'static> FromRequest<Owned> for T {
    type Message = T;

    fn from_request(request: Lease<T>) -> Self {
        request.into_owned()
    }
}

impl<T: Message + Send + 'static> FromRequest<Leased> for Lease<T> {
    type Message = T;

    fn from_request(request: Lease<T>) -> Self {
        request
    }
}

/// A result of a handler.
///
/// | result | meaning |
/// |---|---|
/// | a message, [`Reply`](crate::Reply), [`OverlaidReply`](crate::OverlaidReply) | the response |
/// | `()` | none: the operation is one-way |
/// | [`MessageReply`] | a reply that the handler has written itself |
/// | `Result<T, E>` with one of these, and `E:` [`IntoFault`] | that, or a fault |
///
/// A [WSDL made from the types](crate::SoapService::wsdl) declares the details of a
/// [`TypedFault`](crate::TypedFault), and of an enum that derives `Faults`.
///
/// A one-way request is accepted with HTTP 202 and an empty body as soon as it is read. Its handler
/// runs in a task of its own, which outlives the HTTP exchange; its errors and panics are logged.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a result of a handler",
    note = "a handler returns a message (`#[derive(Soap)]` with `#[soap(message)]`), a `Reply`, `()`, or a `Result` of one of these whose error implements `IntoFault`"
)]
pub trait HandlerResult<Marker>: 'static {
    /// Returns the name and schema of the response; `None` for one-way operations.
    #[doc(hidden)]
    fn response() -> Option<(QName, ElementRef)>;

    /// Returns the detail entries of faults: their names and schemas.
    #[doc(hidden)]
    fn faults() -> Vec<(QName, ElementRef)> {
        Vec::new()
    }

    /// Writes the response.
    #[doc(hidden)]
    fn into_outcome(self, writing: Writing) -> Outcome;
}

/// Marks responses.
#[derive(Debug)]
pub struct Responding;

/// Marks one-way operations.
#[derive(Debug)]
pub struct OneWay;

/// Marks replies that the handler writes.
#[derive(Debug)]
pub struct Written;

/// Marks results that may be faults.
#[derive(Debug)]
pub struct Fallible<M>(M);

impl<T: IntoReply + 'static> HandlerResult<Responding> for T {
    fn response() -> Option<(QName, ElementRef)> {
        Some((T::Body::ELEMENT, <T::Body as Typed>::REFERENCE))
    }

    fn into_outcome(self, writing: Writing) -> Outcome {
        let start = Instant::now();
        let (mut reply, overlaying) = self.into_parts();
        if let Err(fault) = writing.intercept_response(&mut reply) {
            return Outcome::Fault(fault);
        }
        let written = match overlaying {
            Some(overlaying) => writing.begin(reply, overlaying),
            None => writing.write(&reply, &T::Body::ELEMENT, <T::Body as Typed>::view()),
        };
        Outcome::written(written, start)
    }
}

impl HandlerResult<OneWay> for () {
    fn response() -> Option<(QName, ElementRef)> {
        None
    }

    fn into_outcome(self, _: Writing) -> Outcome {
        Outcome::Accepted
    }
}

impl HandlerResult<Written> for MessageReply {
    /// Any message.
    fn response() -> Option<(QName, ElementRef)> {
        Some((QName::default(), <deltasoap_core::Node as Typed>::REFERENCE))
    }

    fn into_outcome(self, _: Writing) -> Outcome {
        Outcome::Reply(self)
    }
}

impl<T: HandlerResult<M>, E: IntoFault + 'static, M> HandlerResult<Fallible<M>> for Result<T, E> {
    fn response() -> Option<(QName, ElementRef)> {
        T::response()
    }

    fn faults() -> Vec<(QName, ElementRef)> {
        E::details()
    }

    fn into_outcome(self, writing: Writing) -> Outcome {
        match self {
            Ok(reply) => reply.into_outcome(writing),
            Err(failure) => Outcome::Fault(failure.into()),
        }
    }
}
