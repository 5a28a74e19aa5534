//! Interceptors: functions that see each decoded request before its handler, and each response
//! before it is written.

use super::context::Context;
use deltasoap_core::QName;
use deltasoap_core::soap::{Fault, HeaderBlock};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A decoded request, as an [interceptor](crate::SoapServiceBuilder::intercept) sees it.
pub struct InterceptedRequest<'a> {
    operation: &'a QName,
    context: &'a mut Context,
    body: Option<&'a dyn Any>,
}

impl<'a> InterceptedRequest<'a> {
    /// Returns the name of the body element that the operation takes.
    pub fn operation(&self) -> &QName {
        self.operation
    }

    /// Returns the context: header blocks, HTTP headers, the principal. An interceptor may attach
    /// [extensions](Context::insert_extension) to it, which the handler then takes.
    pub fn context(&mut self) -> &mut Context {
        self.context
    }

    /// Returns the body's element, if it is of this type; for operations described at run time a
    /// [`Value`](deltasoap_core::Value). `None` for operations that [take items while they
    /// arrive](crate::Operation::with_items): their requests are not decoded yet.
    pub fn body<T: 'static>(&self) -> Option<&'a T> {
        self.body?.downcast_ref()
    }
}

impl fmt::Debug for InterceptedRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterceptedRequest").field("operation", self.operation).finish_non_exhaustive()
    }
}

/// A response that was not written yet, as an
/// [interceptor](crate::SoapServiceBuilder::intercept_response) sees it.
pub struct InterceptedResponse<'a> {
    operation: &'a QName,
    headers: &'a mut Vec<HeaderBlock>,
    body: &'a dyn Any,
}

impl<'a> InterceptedResponse<'a> {
    /// Returns the name of the body element that the operation takes.
    pub fn operation(&self) -> &QName {
        self.operation
    }

    /// Returns the header blocks, which may be changed.
    pub fn headers(&mut self) -> &mut Vec<HeaderBlock> {
        self.headers
    }

    /// Returns the body's element, if it is of this type; for operations described at run time a
    /// [`Value`](deltasoap_core::Value).
    pub fn body<T: 'static>(&self) -> Option<&'a T> {
        self.body.downcast_ref()
    }
}

impl fmt::Debug for InterceptedResponse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterceptedResponse").field("operation", self.operation).finish_non_exhaustive()
    }
}

type OnRequest = dyn Fn(&mut InterceptedRequest<'_>) -> Result<(), Fault> + Send + Sync;
type OnResponse = dyn Fn(&mut InterceptedResponse<'_>) -> Result<(), Fault> + Send + Sync;

/// The interceptors of a service, in the order in which they were added.
#[derive(Clone, Default)]
pub(crate) struct Interceptors {
    requests: Vec<Arc<OnRequest>>,
    responses: Vec<Arc<OnResponse>>,
}

impl Interceptors {
    pub(crate) fn add(
        &mut self,
        intercept: impl Fn(&mut InterceptedRequest<'_>) -> Result<(), Fault> + Send + Sync + 'static,
    ) {
        self.requests.push(Arc::new(intercept));
    }

    pub(crate) fn add_for_responses(
        &mut self,
        intercept: impl Fn(&mut InterceptedResponse<'_>) -> Result<(), Fault> + Send + Sync + 'static,
    ) {
        self.responses.push(Arc::new(intercept));
    }

    /// Shows a request to all interceptors.
    ///
    /// # Errors
    /// Returns the first fault.
    pub(crate) fn request(
        &self,
        operation: &QName,
        context: &mut Context,
        body: Option<&dyn Any>,
    ) -> Result<(), Fault> {
        let mut request = InterceptedRequest { operation, context, body };
        self.requests.iter().try_for_each(|intercept| intercept(&mut request))
    }

    /// Shows a response to all interceptors, the last one first.
    ///
    /// # Errors
    /// Returns the first fault.
    pub(crate) fn response(
        &self,
        operation: &QName,
        headers: &mut Vec<HeaderBlock>,
        body: &dyn Any,
    ) -> Result<(), Fault> {
        let mut response = InterceptedResponse { operation, headers, body };
        self.responses.iter().rev().try_for_each(|intercept| intercept(&mut response))
    }
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (requests, responses) = (self.requests.len(), self.responses.len());
        f.debug_struct("Interceptors").field("requests", &requests).field("responses", &responses).finish()
    }
}
