//! What to do about an exchange that failed, by what its error says.

/// Signs in the text of an error, and what can be done.
const REMEDIES: [(&str, &str); 17] = [
    ("status 401", "-u NAME:PASSWORD gives credentials, with --digest if the host asks for that"),
    ("status 403", "access is denied; -u, -H or --cert give other credentials"),
    ("status 407", "the proxy requires a login: --proxy http://NAME:PASSWORD@HOST:PORT"),
    ("proxy authorization required", "the proxy requires a login: --proxy http://NAME:PASSWORD@HOST:PORT"),
    (
        "tunnel error: unsuccessful",
        "the proxy makes no tunnel to this host and port; no_proxy lists hosts to go to directly",
    ),
    ("Connection refused", "nothing listens there; is the service running, and the port right?"),
    ("failed to lookup address", "no such host is known; is the name right, or is a proxy needed (--proxy)?"),
    ("UnknownIssuer", "--cacert FILE trusts the certificates of a file, -k any"),
    ("CaUsedAsEndEntity", "--cacert FILE trusts this very certificate, -k any"),
    ("NotValidForName", "the certificate is for another host; use a URL with its name, or -k to take it all the same"),
    ("certificate not valid for name", "use a URL with a name of the certificate, or -k to take it all the same"),
    ("certificate expired", "the server needs a new certificate; -k takes this one all the same"),
    ("CertificateRequired", "the server asks for a certificate: --cert FILE --key FILE"),
    ("InvalidContentType", "the server does not speak TLS at this port; is the URL one with http://?"),
    ("HandshakeFailure", "the server accepts none of the versions and ciphers of TLS 1.2 and 1.3 that are offered"),
    ("no answer within", "the host does not answer; is the address right, or is a proxy needed (--proxy)?"),
    ("deadline has elapsed", "the host does not answer; is the address right, or is a proxy needed (--proxy)?"),
];

/// What can be done about an error of an exchange over HTTP.
pub fn remedy(error: &str) -> Option<&'static str> {
    REMEDIES.iter().find(|(sign, _)| error.contains(sign)).map(|(_, remedy)| *remedy)
}
