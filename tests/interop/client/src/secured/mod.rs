//! `/secured/...`: services that require WS-Security, each another part of it, and calls of them.
//!
//! All have one operation, and answer with the name of the sender as they know it:
//!
//! | path | requires | answers |
//! |---|---|---|
//! | `/users` | a user name with a password | plainly |
//! | `/signed` | body and timestamp signed | signed |
//! | `/tokens` | the same, and a user name, signed too | signed |
//! | `/encrypted` | body and timestamp signed, body encrypted | signed and encrypted |

mod calls;
mod keys;

pub use calls::test;
pub use keys::Keys;

use crate::Failure;
use deltasoap::security::{KeyTransport, Protection, Requirements, Verified};
use deltasoap::server::{Extension, SoapServiceBuilder};
use deltasoap::{Soap, SoapService};
use std::time::Duration;

const VALID: Duration = Duration::from_secs(300);
const USER: &str = "ada";
const PASSWORD: &str = "analytical & <engine>";

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:secured", message, qualified, element = "transfer", response = Receipt)]
struct Transfer {
    to: String,
    amount: f64,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:secured", message, qualified, element = "transferResponse")]
struct Receipt {
    from: String,
    to: String,
    amount: f64,
}

/// Returns the services with their paths.
///
/// # Errors
/// Returns an error if one cannot be built, or a key not be read.
pub fn services(
    builder: impl Fn() -> SoapServiceBuilder,
    keys: &Keys,
) -> Result<[(&'static str, SoapService); 4], Failure> {
    let signed = || Ok::<_, Failure>(Protection::new().timestamp(VALID).sign(keys.identity("server")?));
    let build = |requirements: Requirements, protection: Protection| {
        builder().name("Bank").requirements(requirements).protection(protection).operation(transfer).build()
    };
    let encrypted = for_recipient(signed()?, keys, "client")?;
    Ok([
        ("/secured/users", build(users(), Protection::new())?),
        ("/secured/signed", build(required(keys)?, signed()?)?),
        ("/secured/tokens", build(required(keys)?.users(password).signed_tokens(), signed()?)?),
        (
            "/secured/encrypted",
            build(required(keys)?.decrypt_with(keys.identity("server")?)?.encrypted_body(), encrypted)?,
        ),
    ])
}

async fn transfer(Extension(verified): Extension<Verified>, transfer: Transfer) -> Receipt {
    let from = verified.sender.name().unwrap_or_default().to_owned();
    Receipt { from, to: transfer.to, amount: transfer.amount }
}

fn password(user: &str) -> Option<&'static str> {
    (user == USER).then_some(PASSWORD)
}

fn users() -> Requirements {
    Requirements::new().users(password)
}

/// Requires that the authority's peers sign.
fn required(keys: &Keys) -> Result<Requirements, Failure> {
    Ok(Requirements::new().trust(keys.trust()?).signed_body().signed_timestamp())
}

/// Encrypts in the way that the largest number of toolkits reads.
fn for_recipient(protection: Protection, keys: &Keys, name: &str) -> Result<Protection, Failure> {
    Ok(protection.encrypt(keys.certificate(name)?).key_transport(KeyTransport::RsaOaepSha1))
}
