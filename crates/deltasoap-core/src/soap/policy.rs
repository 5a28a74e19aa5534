//! Policies of an operation, as a WSDL attaches them.

use std::borrow::Cow;

/// The policies of an operation that concern security, in WS-Policy's XML.
///
/// Each document is a `wsp:Policy` element that holds all policies for these messages, with
/// assertions of WS-SecurityPolicy; empty if there are none. Generated code has them as constants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PolicyDocuments {
    /// Local names of the assertions that are not optional, separated by commas.
    pub required: Cow<'static, str>,
    /// For requests.
    pub request: Cow<'static, str>,
    /// For responses.
    pub response: Cow<'static, str>,
}

impl PolicyDocuments {
    /// Creates the policies of generated code.
    pub const fn new(required: &'static str, request: &'static str, response: &'static str) -> Self {
        PolicyDocuments {
            required: Cow::Borrowed(required),
            request: Cow::Borrowed(request),
            response: Cow::Borrowed(response),
        }
    }

    /// Returns true if there are no policies about security.
    pub fn is_empty(&self) -> bool {
        self.required.is_empty() && self.request.is_empty() && self.response.is_empty()
    }

    /// Returns true for the namespaces of WS-SecurityPolicy 1.1 to 1.3, and of its forerunner of
    /// 2002.
    pub fn is_assertion_namespace(namespace: &str) -> bool {
        namespace == "http://schemas.xmlsoap.org/ws/2005/07/securitypolicy"
            || namespace == "http://schemas.xmlsoap.org/ws/2002/12/secext"
            || namespace.starts_with("http://docs.oasis-open.org/ws-sx/ws-securitypolicy/")
    }

    /// Returns true if TLS is all that is required.
    pub fn is_met_by_tls(&self) -> bool {
        self.required.is_empty() || self.required == "TransportBinding"
    }
}
