//! Errors of calls.

use super::reply::by_name;
use crate::{JsonError, LookupError, Operation};
use deltasoap_core::soap::FaultFields;
use deltasoap_core::soap::{Fault, HeaderBlock, Version};
use deltasoap_core::{ListPathError, Node, QName};
use deltasoap_http::{AttachmentError, CallError, ClientBuildError};
use serde_json::{Value as Json, json};
use std::fmt;

/// A call that returned no response.
#[derive(Debug)]
#[non_exhaustive]
pub enum DynamicError {
    /// The WSDL cannot be loaded, or is invalid.
    Import(deltasoap_wsdl::Error),
    /// There is no such operation, or it cannot be used.
    Lookup(LookupError),
    /// The JSON does not match the operation's request.
    Json(JsonError),
    /// The response has no such list.
    List(ListPathError),
    /// The request has no such list, or no place for its items.
    RequestList(ListPathError),
    /// Neither the WSDL nor the client has a URL for this operation.
    NoEndpoint(String),
    /// The endpoint's URL is malformed, or the client does not meet the policies of the operation.
    Endpoint(ClientBuildError),
    /// The response is a fault.
    Fault(Box<DynamicFault>),
    /// There is no response, or it cannot be read.
    Call(CallError),
    /// A part of the response is missing, or its package is malformed.
    Part(AttachmentError),
}

/// A fault, with its detail decoded by the contract.
#[derive(Debug, Clone)]
pub struct DynamicFault {
    /// The fault.
    pub fault: Fault,
    /// The name of each entry of the detail, and its content as JSON.
    pub detail: Vec<(QName, Json)>,
    /// The name of each header block that came with the fault, and its content as JSON. Errors
    /// about header blocks of the request are reported there (SOAP 1.1, 4.4).
    pub headers: Vec<(QName, Json)>,
    /// The version of the operation.
    version: Version,
}

impl DynamicFault {
    pub(super) fn new(operation: &Operation, fault: Fault, headers: &[HeaderBlock]) -> Self {
        let contract = operation.contract();
        let entry = |node: &Node| (node.name.clone(), contract.element_to_json(node));
        // In SOAP encoding, an entry has the name of a part and is not a declared element.
        let faults = operation.method().map_or(&[][..], |method| &method.element.faults);
        let detail = |node: &Node| match faults.iter().find(|fault| fault.name == node.name) {
            Some(fault) => (node.name.clone(), contract.node_to_json(node, Some(fault.element))),
            None => entry(node),
        };
        let (detail, headers) =
            (fault.detail.iter().map(detail).collect(), headers.iter().map(|block| entry(&block.node)).collect());
        DynamicFault { detail, headers, version: operation.version(), fault }
    }

    /// Returns the code as received: `Client.Authentication` or `Server` in 1.1, `Sender` in 1.2.
    /// SOAP's own namespace is left out.
    pub fn code(&self) -> String {
        let name = self.fault.wording.code().cloned().unwrap_or_else(|| self.fault.code.name(self.version));
        let is_soap = name.namespace.is_empty() || Version::from_namespace(&name.namespace).is_some();
        if is_soap { name.local.to_string() } else { name.to_string() }
    }

    /// Returns the fault as JSON.
    ///
    /// It has `code`, `reason`, and `detail` with a property for each entry name; several entries
    /// of one name form an array. If present, it has `subcodes`, `role`, `node`, and in
    /// `not_understood` the names of header blocks. `reasons` has the texts of SOAP 1.2 in all
    /// languages (each with `lang` and `text`), if there are others than one in English; `headers`
    /// has header blocks in the same form as `detail`.
    pub fn to_json(&self) -> Json {
        let FaultFields { subcodes, reason, role, node, not_understood, .. } = &*self.fault;
        let names = |names: &[QName]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let detail = by_name(self.detail.iter().map(|(name, json)| (name, json.clone())));
        let mut json = json!({ "code": self.code(), "reason": reason });
        if let Json::Object(object) = &mut json {
            for (key, all) in [("subcodes", subcodes), ("not_understood", not_understood)] {
                if !all.is_empty() {
                    object.insert(key.to_owned(), json!(names(all)));
                }
            }
            let reasons = self.fault.wording.reasons();
            if reasons.len() > 1 || reasons.iter().any(|(lang, _)| lang != "en") {
                let all: Vec<_> = reasons.iter().map(|(lang, text)| json!({ "lang": lang, "text": text })).collect();
                object.insert("reasons".to_owned(), json!(all));
            }
            for (key, uri) in [("role", role), ("node", node)] {
                object.extend(uri.as_ref().map(|uri| (key.to_owned(), json!(uri))));
            }
            object.insert("detail".to_owned(), detail);
            if !self.headers.is_empty() {
                let headers = by_name(self.headers.iter().map(|(name, json)| (name, json.clone())));
                object.insert("headers".to_owned(), headers);
            }
        }
        json
    }
}

impl fmt::Display for DynamicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DynamicError::Import(error) => error.fmt(f),
            DynamicError::Lookup(error) => error.fmt(f),
            DynamicError::Json(error) => error.fmt(f),
            DynamicError::List(error) => write!(f, "the items of the response: {error}"),
            DynamicError::RequestList(error) => write!(f, "the items of the request: {error}"),
            DynamicError::NoEndpoint(name) => write!(f, "the WSDL has no URL for {name}"),
            DynamicError::Endpoint(error) => error.fmt(f),
            DynamicError::Fault(fault) => fault.fault.fmt(f),
            DynamicError::Call(error) => error.fmt(f),
            DynamicError::Part(error) => error.fmt(f),
        }
    }
}

/// The text contains that of the error inside, so the source is what that error was caused by.
impl std::error::Error for DynamicError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DynamicError::Call(error) => error.source(),
            DynamicError::Part(error) => error.source(),
            DynamicError::Import(_)
            | DynamicError::Lookup(_)
            | DynamicError::Json(_)
            | DynamicError::List(_)
            | DynamicError::RequestList(_)
            | DynamicError::NoEndpoint(_)
            | DynamicError::Endpoint(_)
            | DynamicError::Fault(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_print_their_source_or_return_it() {
        let unreadable = deltasoap_core::Error::at(deltasoap_core::ErrorKind::Envelope("the Body is empty"), 7);
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let unsent = deltasoap_http::transport::Unsent(Box::new(refused));
        for error in [
            DynamicError::Call(CallError::Http(Box::new(unsent))),
            DynamicError::Call(CallError::Decode(unreadable)),
            DynamicError::NoEndpoint("Order".to_owned()),
        ] {
            assert_says_each_once(&error);
        }
    }

    /// Asserts that no error of a chain has the text of its source.
    #[track_caller]
    fn assert_says_each_once(error: &(dyn std::error::Error + 'static)) {
        let chain: Vec<_> =
            std::iter::successors(Some(error), |&error| error.source()).map(ToString::to_string).collect();
        for texts in chain.windows(2) {
            assert!(!texts[0].contains(&texts[1]), "{chain:?}");
        }
    }
}
