//! Definitions that every importer is expected to know. They are never fetched; they are used if a
//! document refers to a namespace and provides no schema for it.

/// Namespaces and their schemas: our own, with the definitions that WSDLs refer to.
pub(crate) const DEFINITIONS: [(&str, &str); 12] = [
    ("http://www.w3.org/XML/1998/namespace", include_str!("xml.xsd")),
    ("http://www.w3.org/2001/XMLSchema", include_str!("schema.xsd")),
    ("http://schemas.xmlsoap.org/soap/encoding/", include_str!("soap11-encoding.xsd")),
    ("http://www.w3.org/2003/05/soap-encoding", include_str!("soap12-encoding.xsd")),
    ("http://schemas.xmlsoap.org/soap/envelope/", include_str!("soap11-envelope.xsd")),
    ("http://www.w3.org/2003/05/soap-envelope", include_str!("soap12-envelope.xsd")),
    ("http://schemas.xmlsoap.org/wsdl/", include_str!("wsdl.xsd")),
    ("http://www.w3.org/2005/05/xmlmime", include_str!("xmime.xsd")),
    ("http://www.w3.org/2004/11/xmlmime", include_str!("xmime-2004.xsd")),
    ("http://xml.apache.org/xml-soap", include_str!("apache-soap.xsd")),
    ("http://ws-i.org/profiles/basic/1.1/xsd", include_str!("swa-ref.xsd")),
    ("http://www.w3.org/2005/08/addressing", include_str!("addressing.xsd")),
];

/// Returns true if a namespace has built-in definitions.
pub(crate) fn has(namespace: &str) -> bool {
    DEFINITIONS.iter().any(|(known, _)| *known == namespace)
}

/// Returns true for the vocabularies that belong to the language rather than to a WSDL: the types
/// of XML Schema and of SOAP encoding.
pub(crate) fn is_language(namespace: &str) -> bool {
    DEFINITIONS[1..4].iter().any(|(known, _)| *known == namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_schema_and_encoding() {
        let languages = DEFINITIONS.iter().filter(|(namespace, _)| is_language(namespace));
        assert!(languages.map(|it| it.0).eq([
            "http://www.w3.org/2001/XMLSchema",
            "http://schemas.xmlsoap.org/soap/encoding/",
            "http://www.w3.org/2003/05/soap-encoding"
        ]));
    }

    #[test]
    fn each_schema_is_for_its_namespace() {
        for (namespace, text) in DEFINITIONS {
            assert!(text.contains(&format!("targetNamespace=\"{namespace}\"")), "{namespace}");
        }
    }
}
