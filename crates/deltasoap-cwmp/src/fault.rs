//! CWMP faults: a code, a text, and for `SetParameterValues` the error of each parameter (section
//! 3.5, annex A.5).

use crate::Version;
use deltasoap::Fault;
use deltasoap::schema::QName;
use deltasoap::soap::FaultCode;
use deltasoap::types::Node;
use std::fmt;

/// Declares fault codes.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$doc])* pub const $name: u32 = $code;)*
    };
}

codes! {
    /// CPE: method not supported.
    METHOD_NOT_SUPPORTED = 9000;
    /// CPE: request denied.
    REQUEST_DENIED = 9001;
    /// CPE: internal error.
    INTERNAL_ERROR = 9002;
    /// CPE: invalid arguments.
    INVALID_ARGUMENTS = 9003;
    /// CPE: resources exceeded.
    RESOURCES_EXCEEDED = 9004;
    /// CPE: invalid parameter name.
    INVALID_PARAMETER_NAME = 9005;
    /// CPE: invalid parameter type.
    INVALID_PARAMETER_TYPE = 9006;
    /// CPE: invalid parameter value.
    INVALID_PARAMETER_VALUE = 9007;
    /// CPE: the parameter cannot be set.
    NON_WRITABLE_PARAMETER = 9008;
    /// CPE: notification request rejected.
    NOTIFICATION_REJECTED = 9009;
    /// CPE: file transfer failure.
    TRANSFER_FAILURE = 9010;
    /// CPE: upload failure.
    UPLOAD_FAILURE = 9011;
    /// CPE: file transfer server authentication failure.
    TRANSFER_AUTHENTICATION = 9012;
    /// CPE: unsupported protocol for file transfer.
    TRANSFER_PROTOCOL = 9013;
    /// ACS: method not supported.
    ACS_METHOD_NOT_SUPPORTED = 8000;
    /// ACS: request denied.
    ACS_REQUEST_DENIED = 8001;
    /// ACS: internal error.
    ACS_INTERNAL_ERROR = 8002;
    /// ACS: invalid arguments.
    ACS_INVALID_ARGUMENTS = 8003;
    /// ACS: resources exceeded.
    ACS_RESOURCES_EXCEEDED = 8004;
    /// ACS: the CPE should send the request again.
    ACS_RETRY_REQUEST = 8005;
    /// ACS: the versions of CWMP are incompatible.
    ACS_VERSION_INCOMPATIBLE = 8006;
}

/// The `faultstring` of all CWMP faults (section 3.5).
const FAULT_STRING: &str = "CWMP fault";

/// A CWMP fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CwmpFault {
    /// The code: 9000 to 9899 from CPEs, 8000 to 8899 from ACSs.
    pub code: u32,
    /// A human-readable explanation.
    pub string: String,
    /// The errors of single parameters, in answers to `SetParameterValues`.
    pub parameters: Vec<ParameterFault>,
}

/// The error of a parameter (`SetParameterValuesFault`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterFault {
    /// The parameter's full path.
    pub name: String,
    /// The code.
    pub code: u32,
    /// A human-readable explanation.
    pub string: String,
}

impl CwmpFault {
    /// Creates a fault with a text.
    pub fn new(code: u32, string: impl Into<String>) -> Self {
        CwmpFault { code, string: string.into(), parameters: Vec::new() }
    }

    /// Creates a fault with the text that annex A.5 gives for its code.
    pub fn from_code(code: u32) -> Self {
        Self::new(code, description(code))
    }

    /// Adds the error of a parameter.
    #[must_use]
    pub fn with_parameter(mut self, name: impl Into<String>, code: u32) -> Self {
        self.parameters.push(ParameterFault { name: name.into(), code, string: description(code).to_owned() });
        self
    }

    /// Converts to a SOAP fault, in a version.
    pub fn to_soap(&self, version: Version) -> Fault {
        let code = if is_of_sender(self.code) { FaultCode::Sender } else { FaultCode::Receiver };
        let mut detail = Node::new(version.name("Fault"));
        push_code(&mut detail, self.code, &self.string);
        for parameter in &self.parameters {
            let mut inner = Node::new(QName::new("", "SetParameterValuesFault"));
            push_text(&mut inner, "ParameterName", &parameter.name);
            push_code(&mut inner, parameter.code, &parameter.string);
            detail.children.push(deltasoap::types::Child::Element(inner));
        }
        let mut fault = Fault::new(code, FAULT_STRING);
        fault.detail.push(detail);
        fault
    }

    /// Returns the CWMP fault in the detail of a SOAP fault, of any version; `None` if there is
    /// none with a code.
    pub fn from_soap(fault: &Fault) -> Option<Self> {
        let detail = fault.detail.iter().find(|node| node.name.local == "Fault")?;
        let parameters = detail.elements().filter(|child| child.name.local == "SetParameterValuesFault");
        Some(CwmpFault {
            code: number_in(detail)?,
            string: text_in(detail, "FaultString"),
            parameters: parameters.filter_map(parameter_of).collect(),
        })
    }
}

fn parameter_of(node: &Node) -> Option<ParameterFault> {
    let (name, string) = (text_in(node, "ParameterName"), text_in(node, "FaultString"));
    Some(ParameterFault { name, code: number_in(node)?, string })
}

fn number_in(node: &Node) -> Option<u32> {
    text_in(node, "FaultCode").parse().ok()
}

/// Returns the text of a child, in any namespace.
fn text_in(node: &Node, local: &str) -> String {
    let child = node.elements().find(|child| child.name.local == local);
    child.map(|child| child.text().trim().to_owned()).unwrap_or_default()
}

fn push_code(node: &mut Node, code: u32, string: &str) {
    push_text(node, "FaultCode", &code.to_string());
    push_text(node, "FaultString", string);
}

fn push_text(node: &mut Node, local: &'static str, text: &str) {
    let name = QName::new("", local);
    // An empty text adds no child node.
    let child = if text.is_empty() { Node::new(name) } else { Node::with_text(name, text) };
    node.children.push(deltasoap::types::Child::Element(child));
}

/// Returns true for faults caused by the sender of the request: SOAP's `Client` (annex A.5).
fn is_of_sender(code: u32) -> bool {
    matches!(code, 9003 | 9005..=9008 | 8003 | 8005)
}

fn description(code: u32) -> &'static str {
    match code {
        9000 | 8000 => "Method not supported",
        9001 | 8001 => "Request denied",
        9002 | 8002 => "Internal error",
        9003 | 8003 => "Invalid arguments",
        9004 | 8004 => "Resources exceeded",
        9005 => "Invalid parameter name",
        9006 => "Invalid parameter type",
        9007 => "Invalid parameter value",
        9008 => "Attempt to set a non-writable parameter",
        9009 => "Notification request rejected",
        9010 => "File transfer failure",
        9011 => "Upload failure",
        9012 => "File transfer server authentication failure",
        9013 => "Unsupported protocol for file transfer",
        8005 => "Retry request",
        8006 => "ACS version incompatible with CPE",
        _ => "Fault",
    }
}

impl fmt::Display for CwmpFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CWMP fault {}: {}", self.code, self.string)?;
        for parameter in &self.parameters {
            write!(f, "; {}: {} {}", parameter.name, parameter.code, parameter.string)?;
        }
        Ok(())
    }
}

impl std::error::Error for CwmpFault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_come_through() {
        let bare = CwmpFault::new(METHOD_NOT_SUPPORTED, "");
        let rich = CwmpFault::from_code(INVALID_ARGUMENTS).with_parameter("A.B", INVALID_PARAMETER_NAME);
        for fault in [bare, rich] {
            for version in Version::ALL {
                let soap = fault.to_soap(version);
                assert_eq!(soap.reason, "CWMP fault");
                assert_eq!(CwmpFault::from_soap(&soap), Some(fault.clone()));
            }
        }
        assert_eq!(CwmpFault::from_soap(&Fault::sender("no detail")), None);
    }
}
