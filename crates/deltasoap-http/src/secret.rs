//! HTTP headers that are hidden from traces.

use http::HeaderName;
use http::header::{COOKIE, SET_COOKIE};

/// Words in the names of headers that carry secrets: `Authorization`, `X-Api-Key`,
/// `X-Amz-Security-Token`.
const WORDS: [&str; 11] =
    ["auth", "bearer", "credential", "jwt", "key", "pass", "pwd", "secret", "session", "signature", "token"];

/// Returns true for a header whose name indicates a secret value.
///
/// These are `Authorization`, `Proxy-Authorization`, `Cookie`, `Set-Cookie`, and every header whose
/// name contains auth, bearer, credential, jwt, key, pass, pwd, secret, session, signature or
/// token. It is better to hide too much than too little.
pub fn is_secret_header(name: &HeaderName) -> bool {
    // Header names are in lower case here.
    [COOKIE, SET_COOKIE].contains(name) || WORDS.iter().any(|word| name.as_str().contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognized_by_the_names_of_headers() {
        let is_secret = |name: &str| is_secret_header(&name.parse().expect("a name"));
        for name in ["Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-API-KEY", "apikey", "X-Auth"] {
            assert!(is_secret(name), "{name}");
        }
        for name in
            ["X-Session-Id", "X-CSRF-Token", "Client-Secret", "x-password", "x-passwd", "X-PWD", "x-jwt", "X-Signature"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["Content-Type", "SOAPAction", "Host", "Date", "Accept-Encoding", "Server"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
