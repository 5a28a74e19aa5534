//! Hints for an exchange that failed, selected by the text of its error.

use crate::cli::Access;
use deltasoap_wsdl::fetch::credentials_in;
use http::header::AUTHORIZATION;
use url::Url;

/// Pairs of a part of an error's text and a hint.
const REMEDIES: [(&str, &str); 27] = [
    ("must be understood and is not", "--understand NAME accepts the header block, --understand all accepts any"),
    ("status 403", "access is denied; -u, -H or --cert give other credentials"),
    (
        "status 407",
        "the proxy requires a login, or refused the one that was sent: --proxy http://NAME:PASSWORD@HOST:PORT",
    ),
    (
        "proxy authorization required",
        "the proxy requires a login, or refused the one that was sent: --proxy http://NAME:PASSWORD@HOST:PORT",
    ),
    ("user/pass authentication", "the proxy requires another login, or none: --proxy socks5://NAME:PASSWORD@HOST:PORT"),
    ("credentials not accepted", "the proxy requires another login: --proxy socks5://NAME:PASSWORD@HOST:PORT"),
    (
        "cannot connect to the proxy",
        "is the proxy running, and is its URL right? --proxy takes another, no_proxy lists hosts to connect to directly",
    ),
    (
        "does not connect to the host",
        "the proxy may not serve this host or port; --proxy takes another, no_proxy lists hosts to connect to directly",
    ),
    ("Connection refused", "nothing listens there; is the service running, and is the port right?"),
    ("failed to lookup address", "no such host is known; is the name right, or is a proxy needed (--proxy)?"),
    ("authority that is not trusted", "--cacert FILE adds one, -k accepts any certificate"),
    ("is not trusted itself", "--cacert FILE trusts this certificate, -k accepts any"),
    (
        "trusted authority may have the issuer's name",
        "--cacert FILE adds the authority, or the server's own certificate; -k accepts any",
    ),
    ("certificate is for ", "use a URL with a name of the certificate; -k accepts it anyway"),
    ("certificate expired", "the server needs a new certificate; -k accepts this one anyway"),
    ("is not valid before", "is the clock of this machine right? -k accepts the certificate anyway"),
    ("an RSA key of", "the server needs a certificate with a larger key; -k accepts this one anyway"),
    ("X.509 version 1", "the server needs a new certificate; -k accepts this one anyway"),
    ("signed with an unsupported algorithm", "the server needs a new certificate; -k accepts this one anyway"),
    ("neither TLS 1.2 nor TLS 1.3", "the server has to be set up for TLS 1.2 or later"),
    (
        "alert UnknownCA",
        "the server does not know who issued the client's certificate; --cert FILE --key FILE send another",
    ),
    ("requires a client certificate", "--cert FILE --key FILE send one"),
    (
        "no TLS version, cipher suite and key type",
        "--cert FILE --key FILE send a certificate, if the server requires one",
    ),
    (
        "connection closed before message completed",
        "the server closed the connection without an answer; if it expects TLS, the URL begins with https://",
    ),
    ("not loaded within", "--timeout SECONDS waits longer"),
    ("no answer within", "the host does not answer; is the address right, or is a proxy needed (--proxy)?"),
    ("no connection within", "the host does not answer; is the address right, or is a proxy needed (--proxy)?"),
];

/// The credentials that went with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentCredentials {
    Nothing,
    Basic,
    Digest,
    /// A header that the user gave.
    Header,
}

impl SentCredentials {
    /// Returns the kind of credentials that are sent to a URL.
    pub fn to(url: &str, access: &Access) -> Self {
        let has_own = || Url::parse(url).is_ok_and(|url| credentials_in(&url).is_some());
        match access {
            _ if access.headers.iter().any(|(name, _)| name == AUTHORIZATION) => SentCredentials::Header,
            Access { user: Some(_), digest: true, .. } => SentCredentials::Digest,
            Access { user: Some(_), .. } => SentCredentials::Basic,
            _ if has_own() => SentCredentials::Basic,
            _ => SentCredentials::Nothing,
        }
    }
}

/// Returns a hint for an error of an exchange over HTTP.
pub fn remedy(error: &str, sent: SentCredentials) -> Option<String> {
    if error.contains("status 401") {
        return Some(denied(error, sent));
    }
    REMEDIES.iter().find(|(sign, _)| error.contains(sign)).map(|(_, remedy)| (*remedy).to_owned())
}

/// Returns a hint for credentials that are missing or refused.
fn denied(error: &str, sent: SentCredentials) -> String {
    let offered = error.split_once("authentication is offered by ").and_then(|(_, rest)| rest.split_once(')'));
    let offered = offered.map_or("", |(offered, _)| offered);
    let has = |scheme: &str| offered.split(", ").any(|it| it.eq_ignore_ascii_case(scheme));
    let is_unsupported = !offered.is_empty() && !has("Basic") && !has("Digest");
    match sent {
        SentCredentials::Nothing if is_unsupported => {
            format!(
                "the server offers {offered}; -u knows Basic and Digest, -H \"Authorization: ...\" sends anything else"
            )
        }
        SentCredentials::Nothing if has("Digest") && !has("Basic") => {
            "-u NAME:PASSWORD --digest gives credentials".to_owned()
        }
        SentCredentials::Nothing => {
            "-u NAME:PASSWORD gives credentials, with --digest if the host asks for that".to_owned()
        }
        SentCredentials::Basic | SentCredentials::Digest if is_unsupported => {
            format!(
                "the server does not accept the credentials in this form: it offers {offered}; -u knows Basic and Digest"
            )
        }
        SentCredentials::Basic if has("Digest") && !has("Basic") => {
            "the server does not accept Basic authentication and offers Digest: add --digest".to_owned()
        }
        SentCredentials::Digest if has("Basic") && !has("Digest") => {
            "the server does not accept Digest authentication and offers Basic: omit --digest".to_owned()
        }
        SentCredentials::Basic => "the server refused the credentials; are name and password right?".to_owned(),
        SentCredentials::Digest => {
            "the server refused the credentials, or offers no Digest with qop=auth; are name and password right?"
                .to_owned()
        }
        SentCredentials::Header => "the server refused the credentials in the Authorization header".to_owned(),
    }
}
