//! Interceptors: functions that see each request before it is written, and each response after it
//! is decoded.

use super::call::Response;
use super::options::CallOptions;
use crate::error::BoxError;
use deltasoap_core::QName;
use deltasoap_core::soap::{Head, HeaderBlock};
use http::HeaderMap;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A request that was not written yet, as an [interceptor](crate::ClientBuilder::intercept) sees
/// it.
pub struct OutgoingRequest<'a> {
    name: &'a QName,
    options: &'a mut CallOptions,
    body: &'a dyn Any,
}

impl<'a> OutgoingRequest<'a> {
    /// Returns the name of the body's element.
    pub fn name(&self) -> &QName {
        self.name
    }

    /// Returns the SOAP header blocks, which may be changed.
    pub fn headers(&mut self) -> &mut Vec<HeaderBlock> {
        &mut self.options.headers
    }

    /// Returns the HTTP headers of the call, which replace those of the client. They may be
    /// changed.
    pub fn http_headers(&mut self) -> &mut HeaderMap {
        &mut self.options.http_headers
    }

    /// Returns the body's element, if it is of this type; for calls without generated types a
    /// [`Value`](deltasoap_core::Value).
    pub fn body<T: 'static>(&self) -> Option<&'a T> {
        self.body.downcast_ref()
    }
}

impl fmt::Debug for OutgoingRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingRequest").field("name", self.name).finish_non_exhaustive()
    }
}

/// A decoded response, as an [interceptor](crate::ClientBuilder::intercept_response) sees it.
pub struct IncomingResponse<'a> {
    head: &'a Head,
    http_headers: &'a HeaderMap,
    body: &'a dyn Any,
}

impl<'a> IncomingResponse<'a> {
    /// Returns the SOAP header blocks, and the version.
    pub fn head(&self) -> &Head {
        self.head
    }

    /// Returns the HTTP headers.
    pub fn http_headers(&self) -> &HeaderMap {
        self.http_headers
    }

    /// Returns the body's element, if it is of this type.
    pub fn body<T: 'static>(&self) -> Option<&'a T> {
        self.body.downcast_ref()
    }
}

impl fmt::Debug for IncomingResponse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IncomingResponse").field("head", self.head).finish_non_exhaustive()
    }
}

type OnRequest = dyn Fn(&mut OutgoingRequest<'_>) -> Result<(), BoxError> + Send + Sync;
type OnResponse = dyn Fn(&IncomingResponse<'_>) -> Result<(), BoxError> + Send + Sync;

/// The interceptors of a client, in the order in which they were added.
#[derive(Clone, Default)]
pub(super) struct Interceptors {
    pub(super) requests: Vec<Arc<OnRequest>>,
    pub(super) responses: Vec<Arc<OnResponse>>,
}

impl Interceptors {
    /// Shows a request to all interceptors.
    ///
    /// # Errors
    /// Returns the first error.
    pub(super) fn request(&self, name: &QName, options: &mut CallOptions, body: &dyn Any) -> Result<(), BoxError> {
        let mut request = OutgoingRequest { name, options, body };
        self.requests.iter().try_for_each(|intercept| intercept(&mut request))
    }

    /// Shows the body of a response to all interceptors, the last one first.
    ///
    /// # Errors
    /// Returns the first error.
    pub(super) fn response<T>(&self, response: &Response<T>, body: &dyn Any) -> Result<(), BoxError> {
        let response = IncomingResponse { head: &response.head, http_headers: &response.http_headers, body };
        self.responses.iter().rev().try_for_each(|intercept| intercept(&response))
    }
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (requests, responses) = (self.requests.len(), self.responses.len());
        f.debug_struct("Interceptors").field("requests", &requests).field("responses", &responses).finish()
    }
}
