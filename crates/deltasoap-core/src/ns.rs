//! Namespace URIs used by SOAP.

/// SOAP 1.1 envelope.
pub const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
/// SOAP 1.2 envelope.
pub const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";
/// SOAP 1.1 encoding (section 5).
pub const SOAP11_ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";
/// SOAP 1.2 encoding (part 2, section 3).
pub const SOAP12_ENCODING: &str = "http://www.w3.org/2003/05/soap-encoding";
/// The namespace of the name of an RPC's result (SOAP 1.2 part 2, section 4.2.1).
pub const SOAP12_RPC: &str = "http://www.w3.org/2003/05/soap-rpc";
/// XML Schema.
pub const XSD: &str = "http://www.w3.org/2001/XMLSchema";
/// XML Schema instance: `xsi:type`, `xsi:nil`.
pub const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// The `xml` prefix.
pub const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// The `xmlns` prefix.
pub const XMLNS: &str = "http://www.w3.org/2000/xmlns/";
/// XML-binary Optimized Packaging: `xop:Include`.
pub const XOP: &str = "http://www.w3.org/2004/08/xop/include";
/// The annotation that describes how numbers are packed (`docs/packed.md`).
pub const PACKED: &str = "urn:deltasoap:packed";
/// WS-Security utilities: `wsu:Id`, `wsu:Timestamp` (SOAP Message Security 1.1, section 2.4).
pub const WSU: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
/// Media types of binary data (Describing Media Content of Binary Data in XML).
pub const XMIME: &str = "http://www.w3.org/2005/05/xmlmime";
/// The namespace of an earlier draft, used by some WSDLs.
pub const XMIME_2004: &str = "http://www.w3.org/2004/11/xmlmime";
