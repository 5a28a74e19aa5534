//! What a model must not see: passwords and the values of headers, wherever a service or an error
//! repeats them.

use super::super::access;
use crate::cli::Access;
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use deltasoap_wsdl::fetch::credentials_in;
use url::Url;

/// Texts that are replaced.
#[derive(Default)]
pub struct Secrets(Vec<String>);

/// Bytes of the shortest text that is replaced: a shorter one would be found everywhere.
const SHORTEST: usize = 4;

impl Secrets {
    /// Collects the secrets of the arguments.
    pub fn of(access: &Access, endpoint: Option<&str>) -> Result<Self> {
        let mut secrets = Secrets::default();
        if let Some((user, password)) = access::user(access)? {
            secrets.add(&STANDARD.encode(format!("{user}:{password}")));
            secrets.add(&password);
        }
        for (_, value) in &access.headers {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            // The token after `Bearer`, too.
            value.split_whitespace().next_back().into_iter().for_each(|last| secrets.add(last));
            secrets.add(&value);
        }
        if let Some(url) = endpoint.and_then(|url| Url::parse(url).ok()).filter(|it| credentials_in(it).is_some()) {
            url.password().into_iter().for_each(|password| secrets.add(password));
        }
        // The longest first: one may be part of another.
        secrets.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Ok(secrets)
    }

    fn add(&mut self, secret: &str) {
        if secret.len() >= SHORTEST {
            self.0.push(secret.to_owned());
        }
    }

    /// Returns a text without the secrets.
    pub fn hidden(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};

    #[test]
    fn secrets_are_hidden_in_every_form() {
        let access = Access {
            user: Some("ada:letmein".to_owned()),
            headers: vec![(HeaderName::from_static("authorization"), HeaderValue::from_static("Bearer tok-123"))],
            ..Access::default()
        };
        let secrets = Secrets::of(&access, Some("http://u:pass-word@host/")).unwrap();
        let shown = secrets.hidden("letmein tok-123 YWRhOmxldG1laW4= pass-word; ada stays");
        assert_eq!(shown, "*** *** *** ***; ada stays");
    }

    #[test]
    fn a_text_of_few_letters_hides_nothing() {
        let access = Access { user: Some("ada:a".to_owned()), ..Access::default() };
        let secrets = Secrets::of(&access, None).unwrap();
        assert_eq!(secrets.hidden("a banana"), "a banana");
    }
}
