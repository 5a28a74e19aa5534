//! `wsse:UsernameToken`: a name with a password, as text or as a digest (UsernameToken Profile
//! 1.1).

use super::timestamp::{Freshness, date_time, parse_date_time};
use crate::algorithms::Hasher;
use crate::encryption::random;
use crate::error::SecurityError;
use crate::ns;
use crate::received::Tree;
use crate::replay::Once;
use crate::xml::text;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

/// Knows the passwords of users.
///
/// Implemented for functions from a name to a password. A store that has only hashes of passwords
/// implements [`check`](Self::check) itself and returns `None` for the password: then digests are
/// refused, since they are computed from the password.
pub trait Users: Send + Sync {
    /// Returns the password of a user; `None` if there is no such user.
    fn password(&self, user: &str) -> Option<Cow<'_, str>>;

    /// Returns true if a password that was sent as text is that of the user.
    fn check(&self, user: &str, password: &str) -> bool {
        // An unknown user takes as long as a wrong password.
        let expected = self.password(user);
        let is_equal = is_same(expected.as_deref().unwrap_or_default(), password);
        expected.is_some() && is_equal
    }
}

impl<F, P> Users for F
where
    F: Fn(&str) -> Option<P> + Send + Sync,
    P: Into<String>,
{
    fn password(&self, user: &str) -> Option<Cow<'_, str>> {
        self(user).map(|password| Cow::Owned(password.into()))
    }
}

/// Compares texts in a time that depends on neither.
fn is_same(one: &str, other: &str) -> bool {
    let hash = |text: &str| digest::digest(&digest::SHA256, text.as_bytes());
    verify_slices_are_equal(hash(one).as_ref(), hash(other).as_ref()).is_ok()
}

/// A user name with a password, to be sent.
#[derive(Clone, PartialEq, Eq)]
pub struct UsernameToken {
    pub(crate) user: String,
    password: Option<(String, PasswordForm)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PasswordForm {
    Text,
    Digest,
}

impl UsernameToken {
    /// A name with its password as text. Anyone who can read the message learns the password, so
    /// use it with TLS only.
    pub fn text(user: impl Into<String>, password: impl Into<String>) -> Self {
        UsernameToken { user: user.into(), password: Some((password.into(), PasswordForm::Text)) }
    }

    /// A name with the SHA-1 digest of a random nonce, the time and the password, as ONVIF devices
    /// require it. The clocks of both sides must agree.
    pub fn digest(user: impl Into<String>, password: impl Into<String>) -> Self {
        UsernameToken { user: user.into(), password: Some((password.into(), PasswordForm::Digest)) }
    }

    /// A name alone.
    pub fn without_password(user: impl Into<String>) -> Self {
        UsernameToken { user: user.into(), password: None }
    }

    /// Returns the token in canonical form.
    pub(crate) fn write(&self, id: &str, now: SystemTime) -> Result<String, SecurityError> {
        let password = match &self.password {
            None => String::new(),
            Some((password, PasswordForm::Text)) => {
                format!("<wsse:Password Type=\"{}\">{}</wsse:Password>", ns::PASSWORD_TEXT, text(password))
            }
            Some((password, PasswordForm::Digest)) => {
                let nonce = random(16)?;
                let created = date_time(now)?;
                format!(
                    "<wsse:Password Type=\"{kind}\">{digest}</wsse:Password>\
                     <wsse:Nonce EncodingType=\"{base64}\">{nonce}</wsse:Nonce><wsu:Created>{created}</wsu:Created>",
                    kind = ns::PASSWORD_DIGEST,
                    digest = BASE64_STANDARD.encode(password_digest(&nonce, &created, password)),
                    base64 = ns::BASE64,
                    nonce = BASE64_STANDARD.encode(nonce),
                )
            }
        };
        Ok(format!(
            "<wsse:UsernameToken xmlns:wsse=\"{wsse}\" xmlns:wsu=\"{wsu}\" wsu:Id=\"{id}\">\
             <wsse:Username>{user}</wsse:Username>{password}</wsse:UsernameToken>",
            wsse = ns::WSSE,
            wsu = ns::WSU,
            user = text(&self.user),
        ))
    }
}

/// Omits the password.
impl fmt::Debug for UsernameToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsernameToken").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Returns the digest of a password (UsernameToken Profile 1.1, section 3.1).
fn password_digest(nonce: &[u8], created: &str, password: &str) -> Vec<u8> {
    let mut hasher = Hasher::new(&digest::SHA1_FOR_LEGACY_USE_ONLY);
    [nonce, created.as_bytes(), password.as_bytes()].iter().for_each(|part| hasher.update(part));
    hasher.finish()
}

/// Returns true if the password of a token is a digest.
pub(crate) fn has_digest(tree: &Tree, token: usize) -> bool {
    let password = tree.find(token, ns::WSSE, "Password");
    password.is_some_and(|password| tree.get(password).attribute("", "Type") == Some(ns::PASSWORD_DIGEST))
}

/// Checks a received token. Returns the name of the user, and the nonce, which is accepted once.
///
/// # Errors
/// Returns an error if the password is wrong, or the token too old.
pub(crate) fn check(
    tree: &Tree,
    token: usize,
    users: &dyn Users,
    freshness: Freshness,
    now: SystemTime,
) -> Result<(String, Option<Once>), SecurityError> {
    let failed = || SecurityError::Authentication("the user name or the password is wrong".to_owned());
    let user = tree.text_of(token, ns::WSSE, "Username").unwrap_or_default();
    let password = tree.find(token, ns::WSSE, "Password").ok_or_else(failed)?;
    let password = tree.get(password);
    match password.attribute("", "Type").unwrap_or(ns::PASSWORD_TEXT) {
        ns::PASSWORD_TEXT if users.check(user, password.whole_text()) => Ok((user.to_owned(), None)),
        ns::PASSWORD_TEXT => Err(failed()),
        ns::PASSWORD_DIGEST => {
            let nonce = tree.text_of(token, ns::WSSE, "Nonce").unwrap_or_default();
            let nonce = BASE64_STANDARD.decode(nonce).map_err(|_| failed())?;
            let created = tree.text_of(token, ns::WSU, "Created").unwrap_or_default();
            let expected = users.password(user);
            let digest = password_digest(&nonce, created, expected.as_deref().unwrap_or_default());
            let given = BASE64_STANDARD.decode(password.text()).unwrap_or_default();
            if verify_slices_are_equal(&digest, &given).is_err() || expected.is_none() {
                return Err(failed());
            }
            // What is checked from here on is known to come from the user.
            if nonce.is_empty() || created.is_empty() {
                return Err(SecurityError::Authentication("a password digest needs a nonce and a time".to_owned()));
            }
            let until = freshness.check_created(parse_date_time(created)?, now)?;
            Ok((user.to_owned(), Some(Once::new(&[b"nonce", &nonce, created.as_bytes()], until))))
        }
        other => Err(SecurityError::Unsupported(format!("passwords of the type {other:?} are not supported"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the ONVIF Application Programmer's Guide 1.0, section 6.1.1.3.
    #[test]
    fn digests_are_those_of_the_profile() {
        let nonce = BASE64_STANDARD.decode("LKqI6G/AikKCQrN0zqZFlg==").expect("base64");
        let digest = password_digest(&nonce, "2010-09-16T07:50:45Z", "userpassword");
        assert_eq!(BASE64_STANDARD.encode(digest), "tuOSpGlFlIXsozq4HFNeeGeFLEI=");
    }

    #[test]
    fn passwords_are_not_shown() {
        for token in [UsernameToken::text("ada", "secret"), UsernameToken::digest("ada", "secret")] {
            assert!(!format!("{token:?}").contains("secret"));
        }
    }
}
