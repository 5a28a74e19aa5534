//! The interface that generated clients need from a client, whatever its transport.

use super::{CallError, CallOptions, Client, Response};
use crate::body::Body;
use crate::error::BoxError;
use bytes::Bytes;
use deltasoap_core::soap::Fault;
use deltasoap_core::{Lease, Message};
use http::Request;
use std::fmt;
use tower::Service;

/// Calls operations. A [`Client`] implements it over any transport; generated clients are built on
/// it.
pub trait Caller {
    /// The result of calls: the element of the response's body, a lease on it, or the [`Response`]
    /// around it.
    type Response<T>;

    /// Calls an operation; see [`Client::call_with`].
    ///
    /// # Errors
    /// Returns a fault, or another reason why there is no response.
    fn call<Req, Resp>(
        &self,
        request: &Req,
        options: CallOptions,
    ) -> impl Future<Output = Result<Self::Response<Resp>, CallError>> + Send
    where
        Req: Message + Sync,
        Resp: Message + Send + 'static;

    /// Sends a one-way message; see [`Client::send_with`].
    ///
    /// # Errors
    /// Returns the same errors as [`call`](Self::call).
    fn send<Req>(&self, request: &Req, options: CallOptions) -> impl Future<Output = Result<(), CallError>> + Send
    where
        Req: Message + Sync;
}

impl<S, B> Caller for Client<S>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone + Send + Sync,
    S::Future: Send,
    S::Error: Into<BoxError> + Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response<T> = T;

    async fn call<Req, Resp>(&self, request: &Req, options: CallOptions) -> Result<Resp, CallError>
    where
        Req: Message + Sync,
        Resp: Message + Send + 'static,
    {
        self.call_to_end(request, options).await
    }

    async fn send<Req>(&self, request: &Req, options: CallOptions) -> Result<(), CallError>
    where
        Req: Message + Sync,
    {
        self.send_with(request, options).await
    }
}

/// A client that returns whole responses: header blocks, parts, HTTP headers.
#[derive(Debug, Clone)]
pub struct Whole<C>(pub C);

impl<S, B> Caller for Whole<Client<S>>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone + Send + Sync,
    S::Future: Send,
    S::Error: Into<BoxError> + Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response<T> = Response<T>;

    async fn call<Req, Resp>(&self, request: &Req, options: CallOptions) -> Result<Response<Resp>, CallError>
    where
        Req: Message + Sync,
        Resp: Message + Send + 'static,
    {
        self.0.call_as_with(request, options).await
    }

    async fn send<Req>(&self, request: &Req, options: CallOptions) -> Result<(), CallError>
    where
        Req: Message + Sync,
    {
        self.0.send_with(request, options).await
    }
}

/// A client that leases responses, and so reads only what differs from the previous response; see
/// [`Client::call_leased`].
#[derive(Debug, Clone)]
pub struct Leased<C>(pub C);

impl<S, B> Caller for Leased<Client<S>>
where
    S: Service<Request<Body>, Response = http::Response<B>> + Clone + Send + Sync,
    S::Future: Send,
    S::Error: Into<BoxError> + Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response<T> = Lease<T>;

    async fn call<Req, Resp>(&self, request: &Req, options: CallOptions) -> Result<Lease<Resp>, CallError>
    where
        Req: Message + Sync,
        Resp: Message + Send + 'static,
    {
        self.0.call_leased_to_end(request, options).await
    }

    async fn send<Req>(&self, request: &Req, options: CallOptions) -> Result<(), CallError>
    where
        Req: Message + Sync,
    {
        self.0.send_with(request, options).await
    }
}

/// An error of an operation with declared faults.
#[derive(Debug)]
pub enum Failure<F> {
    /// The server answered with a fault; `F` distinguishes the declared ones.
    Fault(Box<F>),
    /// The call failed for another reason.
    Call(CallError),
}

impl<F: From<Fault>> From<CallError> for Failure<F> {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Fault(fault) => Failure::Fault(Box::new(F::from(*fault))),
            other => Failure::Call(other),
        }
    }
}

impl<F: fmt::Display> fmt::Display for Failure<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Fault(fault) => fault.fmt(f),
            Failure::Call(error) => error.fmt(f),
        }
    }
}

/// The text is that of the error inside, and so is the source.
impl<F: std::error::Error + 'static> std::error::Error for Failure<F> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failure::Fault(fault) => fault.source(),
            Failure::Call(error) => error.source(),
        }
    }
}
