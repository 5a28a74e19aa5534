//! The namespaces of WSDL documents.

/// Namespace URIs.
pub(crate) mod ns {
    pub(crate) use deltasoap_core::ns::{PACKED, SOAP11_ENCODING, SOAP12_ENCODING, XSD};

    pub(crate) const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
    pub(crate) const WSDL20: &str = "http://www.w3.org/ns/wsdl";
    pub(crate) const WSDL_SOAP11: &str = "http://schemas.xmlsoap.org/wsdl/soap/";
    pub(crate) const WSDL_SOAP12: &str = "http://schemas.xmlsoap.org/wsdl/soap12/";
    pub(crate) const WSDL_HTTP: &str = "http://schemas.xmlsoap.org/wsdl/http/";
    pub(crate) const WSDL_MIME: &str = "http://schemas.xmlsoap.org/wsdl/mime/";
    /// WS-Addressing in WSDL: 1.0, its drafts, and the submission of 2004, by preference.
    pub(crate) const WSDL_ADDRESSING: [&str; 5] = [
        "http://www.w3.org/2007/05/addressing/metadata",
        "http://www.w3.org/2006/05/addressing/wsdl",
        "http://www.w3.org/2006/02/addressing/wsdl",
        "http://www.w3.org/2005/08/addressing",
        "http://schemas.xmlsoap.org/ws/2004/08/addressing",
    ];
    /// Drafts of XML Schema that early toolkits used.
    pub(crate) const XSD_DRAFTS: [&str; 2] =
        ["http://www.w3.org/1999/XMLSchema", "http://www.w3.org/2000/10/XMLSchema"];
}

/// Vocabulary of an element, by its namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vocabulary {
    Xsd,
    Wsdl,
    /// SOAP 1.1 and 1.2 extensions of WSDL.
    Soap11,
    Soap12,
    Http,
    Mime,
    Other,
}

impl Vocabulary {
    pub(crate) fn of(namespace: &str) -> Self {
        match namespace {
            ns::XSD => Vocabulary::Xsd,
            ns::WSDL => Vocabulary::Wsdl,
            ns::WSDL_SOAP11 => Vocabulary::Soap11,
            ns::WSDL_SOAP12 => Vocabulary::Soap12,
            ns::WSDL_HTTP => Vocabulary::Http,
            ns::WSDL_MIME => Vocabulary::Mime,
            _ => Vocabulary::Other,
        }
    }
}

/// Maps the drafts of XML Schema to the standard's namespace; returns other namespaces unchanged.
pub(crate) fn standard_namespace(namespace: &str) -> &str {
    if ns::XSD_DRAFTS.contains(&namespace) { ns::XSD } else { namespace }
}

/// Returns true for attributes whose value is one or more qualified names.
pub(super) fn holds_names(local: &str) -> bool {
    matches!(
        local,
        "type"
            | "ref"
            | "base"
            | "itemType"
            | "memberTypes"
            | "substitutionGroup"
            | "element"
            | "message"
            | "binding"
            | "refer"
            | "arrayType"
    )
}
