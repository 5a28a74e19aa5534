//! Operations: what a message body holds.

use super::{ElementRef, Field, List, QName};
use std::borrow::Cow;

/// How an operation's body is laid out (WSDL 1.1, section 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The body holds the message part's element itself; the wrapped convention is a special case.
    Document,
    /// The body holds an element named as the operation, with an unqualified accessor a parameter.
    Rpc,
}

/// Whether types are marked in the message (WSDL 1.1, section 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// As the schema says.
    Literal,
    /// By SOAP section 5: `xsi:type` on every accessor, SOAP arrays.
    Encoded,
}

/// An operation: the papers' *MethodElement*. Holds all that is needed to read and write its
/// messages.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodElement {
    /// Name of the request's body element: what dispatch looks at. With an empty local name the
    /// content has no element of its own: its fields, none or several, stand in the body by
    /// themselves ([`BodyParts`](crate::soap::BodyParts)).
    pub request_name: QName,
    /// Content of the request.
    pub request: ElementRef,
    /// Name of the response's body element, or an empty one as for requests; `None` for a one-way
    /// operation.
    pub response_name: Option<QName>,
    /// Content of the response.
    pub response: Option<ElementRef>,
    /// Elements that may stand in a fault's detail.
    pub faults: List<Field>,
    /// Names of the header blocks that the operation understands.
    pub headers: List<QName>,
    /// The `SOAPAction` that goes with the request.
    pub action: Cow<'static, str>,
    /// Document or rpc.
    pub style: Style,
    /// Literal or encoded.
    pub encoding: Use,
}
