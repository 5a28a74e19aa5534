//! `wsse:BinarySecurityToken` of other kinds than certificates: Kerberos tickets, for instance
//! (Kerberos Token Profile 1.1). What is in them is up to the hooks of the program.

use crate::error::SecurityError;
use crate::ns;
use crate::received::Tree;
use crate::signature::decode_base64;
use crate::xml::attribute;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::fmt;
use std::sync::Arc;

/// Makes a token for each message: asks the system for a Kerberos ticket, for instance.
///
/// Implemented for functions. It is called while the message is written, so it should not block for
/// long.
pub trait TokenSource: Send + Sync {
    /// Returns the bytes of a token.
    ///
    /// # Errors
    /// Returns an error if there is none now: the message is not sent.
    fn token(&self) -> Result<Vec<u8>, SecurityError>;
}

impl<F: Fn() -> Result<Vec<u8>, SecurityError> + Send + Sync> TokenSource for F {
    fn token(&self) -> Result<Vec<u8>, SecurityError> {
        self()
    }
}

/// Verifies received tokens.
///
/// Implemented for functions. A token that can be used once must be refused here when it comes
/// again.
pub trait TokenVerifier: Send + Sync {
    /// Returns the name of whom a token identifies.
    ///
    /// # Errors
    /// Returns an error if it is not valid: the message is refused.
    fn verify(&self, token: &[u8]) -> Result<String, SecurityError>;
}

impl<F: Fn(&[u8]) -> Result<String, SecurityError> + Send + Sync> TokenVerifier for F {
    fn verify(&self, token: &[u8]) -> Result<String, SecurityError> {
        self(token)
    }
}

/// A kind of token, and where it comes from.
pub(crate) struct TokenHook<T: ?Sized> {
    pub(crate) value_type: String,
    pub(crate) hook: Arc<T>,
}

impl<T: ?Sized> Clone for TokenHook<T> {
    fn clone(&self) -> Self {
        TokenHook { value_type: self.value_type.clone(), hook: Arc::clone(&self.hook) }
    }
}

impl<T: ?Sized> fmt::Debug for TokenHook<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenHook").field("value_type", &self.value_type).finish_non_exhaustive()
    }
}

/// Writes a token in canonical form.
pub(crate) fn write(id: &str, value_type: &str, token: &[u8]) -> String {
    format!(
        "<wsse:BinarySecurityToken xmlns:wsse=\"{wsse}\" xmlns:wsu=\"{wsu}\" EncodingType=\"{base64}\" \
         ValueType=\"{kind}\" wsu:Id=\"{id}\">{token}</wsse:BinarySecurityToken>",
        wsse = ns::WSSE,
        wsu = ns::WSU,
        base64 = ns::BASE64,
        kind = attribute(value_type),
        token = BASE64_STANDARD.encode(token),
    )
}

/// Verifies the token at an element. Returns whom it identifies.
///
/// # Errors
/// Returns an error if it is not in base64, or refused.
pub(crate) fn verify(tree: &Tree, token: usize, verifier: &dyn TokenVerifier) -> Result<String, SecurityError> {
    verifier.verify(&decode_base64(tree, token)?)
}
