//! Operations: the content of message bodies.

use super::{ElementRef, Field, List, QName};
use std::borrow::Cow;

/// The layout of an operation's body (WSDL 1.1, section 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The body holds the message part's element itself; the wrapped convention is a special case.
    Document,
    /// The body holds an element named after the operation, with one unqualified accessor per
    /// parameter.
    Rpc,
}

/// The encoding of types in the message (WSDL 1.1, section 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// As defined by the schema.
    Literal,
    /// By SOAP section 5: `xsi:type` on every accessor, SOAP arrays.
    Encoded,
}

/// An operation: *MethodElement* in the papers. Holds everything needed to read and write its
/// messages.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodElement {
    /// Name of the request's body element, used for dispatch. With an empty local name the content
    /// has no element of its own: its fields, none or several, are direct children of the body
    /// ([`BodyParts`](crate::soap::BodyParts)).
    pub request_name: QName,
    /// The content of the request.
    pub request: ElementRef,
    /// Name of the response's body element, which may be empty as for requests; `None` for a
    /// one-way operation.
    pub response_name: Option<QName>,
    /// The content of the response.
    pub response: Option<ElementRef>,
    /// Elements that may appear in a fault's detail.
    pub faults: List<Field>,
    /// Names of the header blocks that the operation understands.
    pub headers: List<QName>,
    /// The `SOAPAction` of the request.
    pub action: Cow<'static, str>,
    /// Document or rpc.
    pub style: Style,
    /// Literal or encoded.
    pub encoding: Use,
}
