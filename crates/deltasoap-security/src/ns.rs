//! Namespaces and identifiers of the specifications.

pub(crate) use deltasoap_core::ns::WSU;

/// SOAP Message Security 1.0.
pub(crate) const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
/// SOAP Message Security 1.1.
pub(crate) const WSSE11: &str = "http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd";
/// XML Signature.
pub(crate) const DS: &str = "http://www.w3.org/2000/09/xmldsig#";
/// XML Signature 1.1.
pub(crate) const DSIG11: &str = "http://www.w3.org/2009/xmldsig11#";
/// Exclusive canonicalization: `InclusiveNamespaces`.
pub(crate) const EXC_C14N: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";

/// The types of the values of tokens and references (X.509 Token Profile 1.1).
pub(crate) const X509_V3: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509v3";
pub(crate) const X509_PKI_PATH: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509PKIPathv1";
pub(crate) const X509_SKI: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509SubjectKeyIdentifier";
/// The thumbprint of a certificate: its SHA-1 digest (SOAP Message Security 1.1, section 7.3).
pub(crate) const THUMBPRINT: &str = "http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#ThumbprintSHA1";
pub(crate) const BASE64: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary";
/// The transform that stands for the token that a reference points to.
pub(crate) const STR_TRANSFORM: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#STR-Transform";
/// The transform that leaves out the signature itself.
pub(crate) const ENVELOPED: &str = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";

/// XML Encryption.
pub(crate) const XENC: &str = "http://www.w3.org/2001/04/xmlenc#";
/// XML Encryption 1.1.
pub(crate) const XENC11: &str = "http://www.w3.org/2009/xmlenc11#";
/// What encrypted data replaces: an element, or the content of one.
pub(crate) const ENCRYPTED_ELEMENT: &str = "http://www.w3.org/2001/04/xmlenc#Element";
pub(crate) const ENCRYPTED_CONTENT: &str = "http://www.w3.org/2001/04/xmlenc#Content";

/// The types of passwords (UsernameToken Profile 1.1).
pub(crate) const PASSWORD_TEXT: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText";
pub(crate) const PASSWORD_DIGEST: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordDigest";

/// The types of references to assertions (SAML Token Profile 1.1).
pub(crate) const SAML11_ID: &str = "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.0#SAMLAssertionID";
pub(crate) const SAML2_ID: &str = "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.1#SAMLID";
/// Kerberos tickets (Kerberos Token Profile 1.1, section 3.2).
pub(crate) const GSS_KERBEROS: &str =
    "http://docs.oasis-open.org/wss/oasis-wss-kerberos-token-profile-1.1#GSS_Kerberosv5_AP_REQ";
pub(crate) const KERBEROS: &str =
    "http://docs.oasis-open.org/wss/oasis-wss-kerberos-token-profile-1.1#Kerberosv5_AP_REQ";
/// SAML 1.1 and 2.0 assertions.
pub(crate) const SAML1: &str = "urn:oasis:names:tc:SAML:1.0:assertion";
pub(crate) const SAML2: &str = "urn:oasis:names:tc:SAML:2.0:assertion";
