//! Services that require WS-Security without a policy, for toolkits that follow none:
//!
//! | path | requires | answers |
//! |---|---|---|
//! | `users` | a user name with a password | plainly |
//! | `signed` | body and timestamp signed | signed |
//! | `tokens` | the same, and a user name, signed too | signed |
//! | `encrypted` | body and timestamp signed, body encrypted | signed and encrypted |

use super::bank::{Bank, refuse, refuse_replay, reject};
use super::policy::{PASSWORD, Policy, USER, password_of};
use super::wire::{Change, Wire};
use super::{Keys, Transfer, transfer};
use crate::Failure;
use crate::report::Report;
use deltasoap::SoapService;
use deltasoap::client::Client;
use deltasoap::security::{KeyTransport, Protection, Requirements, UsernameToken};
use deltasoap::server::SoapServiceBuilder;
use deltasoap::soap::Version;
use std::sync::Arc;
use std::time::Duration;

/// Returns the services with their paths.
pub fn services(
    builder: impl Fn() -> SoapServiceBuilder,
    keys: &Keys,
) -> Result<[(&'static str, SoapService); 4], Failure> {
    let build = |requirements: Requirements, protection: &Protection| {
        let builder = builder().name("Bank").requirements(requirements).protection(protection.clone());
        builder.operation(transfer).build()
    };
    let signed = sign(keys, "server")?;
    let decrypting = required(keys)?.decrypt_with(keys.identity("server")?)?;
    Ok([
        ("users", build(Requirements::new().users(password_of), &Protection::new())?),
        ("signed", build(required(keys)?, &signed)?),
        ("tokens", build(required(keys)?.users(password_of).signed_tokens(), &signed)?),
        ("encrypted", build(decrypting.encrypted_body(), &encrypt(signed.clone(), keys, "client")?)?),
    ])
}

/// Tests all services in one version of SOAP, and prints a line for each test. `url` is that below
/// which they are.
pub async fn test(url: &str, keys: &Keys, version: Version, report: &Report) -> Result<(), Failure> {
    let services = Services { url, keys, version };
    Box::pin(test_users(&services, report)).await?;
    Box::pin(test_signatures(&services, report)).await?;
    Box::pin(test_encryption(&services, report)).await
}

async fn test_users(services: &Services<'_>, report: &Report) -> Result<(), Failure> {
    let user = |token| services.caller("users", Protection::new().user(token));
    let (text, digest) = (user(UsernameToken::text(USER, PASSWORD))?, user(UsernameToken::digest(USER, PASSWORD))?);
    let (wrong_text, wrong_digest) = (UsernameToken::text(USER, "guess"), UsernameToken::digest(USER, "guess"));
    let feature = Policy::User.feature();
    report.test(feature, "passwords as text", text.succeed(USER)).await;
    report.test(feature, "passwords as digests", digest.succeed(USER)).await;
    report.test(feature, "a wrong password is refused", refuse(user(wrong_text)?.sending(Change::None))).await;
    report.test(feature, "a wrong digest is refused", refuse(user(wrong_digest)?.sending(Change::None))).await;
    report.test(feature, "a replayed request is refused", refuse_replay(|change| digest.sending(change))).await;
    Ok(())
}

async fn test_signatures(services: &Services<'_>, report: &Report) -> Result<(), Failure> {
    let keys = services.keys;
    let signed = services.caller("signed", sign(keys, "client")?)?;
    let both_ways = signed.requiring(required(keys)?);
    let stranger = services.caller("signed", sign(keys, "stranger")?)?;
    let digest = UsernameToken::digest(USER, PASSWORD);
    let tokens = services.caller("tokens", sign(keys, "client")?.user(digest))?;
    let feature = Policy::Signed.feature();
    report.test(feature, "signed requests", signed.succeed(CLIENT)).await;
    report.test(feature, "signed both ways", both_ways.succeed(CLIENT)).await;
    report.test(feature, "signed user names", tokens.succeed(USER)).await;
    report.test(feature, "a changed user name is refused", refuse(tokens.sending(Change::User))).await;
    report.test(feature, "a changed request is refused", refuse(signed.sending(Change::Content))).await;
    report.test(feature, "a request of a stranger is refused", refuse(stranger.sending(Change::None))).await;
    report.test(feature, "a replayed request is refused", refuse_replay(|change| signed.sending(change))).await;
    report.test(feature, "a changed response is refused", reject(both_ways.receiving(Change::Content))).await;
    Ok(())
}

async fn test_encryption(services: &Services<'_>, report: &Report) -> Result<(), Failure> {
    let keys = services.keys;
    let encrypted = services.caller("encrypted", encrypt(sign(keys, "client")?, keys, "server")?)?;
    let decrypting = required(keys)?.decrypt_with(keys.identity("client")?)?.encrypted_body();
    let feature = Policy::Encrypted.feature();
    report.test(feature, "encrypted both ways", encrypted.requiring(decrypting).succeed(CLIENT)).await;
    report.test(feature, "a changed request is refused", refuse(encrypted.sending(Change::Content))).await;
    Ok(())
}

/// The name of our client in its certificate.
const CLIENT: &str = "CN=client";

struct Services<'s> {
    url: &'s str,
    keys: &'s Keys,
    version: Version,
}

impl Services<'_> {
    /// Returns a client that verifies and decrypts responses if they are signed and encrypted.
    fn caller(&self, service: &str, protection: Protection) -> Result<Caller, Failure> {
        let requirements = Requirements::new().trust(self.keys.trust("authority")?);
        let requirements = Arc::new(requirements.decrypt_with(self.keys.identity("client")?)?);
        Ok(Caller { url: format!("{}/{service}", self.url), version: self.version, protection, requirements })
    }
}

/// A client of a service, to be configured.
#[derive(Clone)]
struct Caller {
    url: String,
    version: Version,
    protection: Protection,
    requirements: Arc<Requirements>,
}

impl Caller {
    fn requiring(&self, requirements: Requirements) -> Self {
        Caller { requirements: Arc::new(requirements), ..self.clone() }
    }

    /// Succeeds if the service accepts requests, and knows their sender.
    async fn succeed(&self, from: &str) -> Result<(), Failure> {
        let bank = self.sending(Change::None)?;
        // The later requests are written against the first. The last is longer than a buffer.
        for (times, amount) in [(1, 150), (2, 250), (2, 123_456_789), (3000, 250)] {
            let note = Some("<Ada> & \"Ä\", 漢🦀\t".repeat(times));
            bank.transfer(&Transfer { to: "Bob".to_owned(), amount, note }, from).await?;
        }
        Ok(())
    }

    fn sending(&self, requests: Change) -> Result<Bank, Failure> {
        self.bank(Wire::new(requests, Change::None))
    }

    fn receiving(&self, responses: Change) -> Result<Bank, Failure> {
        self.bank(Wire::new(Change::None, responses))
    }

    fn bank(&self, wire: Wire) -> Result<Bank, Failure> {
        let builder = Client::builder(self.url.clone()).version(self.version);
        Bank::new(builder.protection(self.protection.clone()).requirements(Arc::clone(&self.requirements)), wire)
    }
}

fn sign(keys: &Keys, own: &str) -> Result<Protection, Failure> {
    Ok(Protection::new().timestamp(Duration::from_secs(300)).sign(keys.identity(own)?))
}

/// Encrypts in the way that the largest number of toolkits reads.
fn encrypt(protection: Protection, keys: &Keys, recipient: &str) -> Result<Protection, Failure> {
    Ok(protection.encrypt(keys.certificate(recipient)?).key_transport(KeyTransport::RsaOaepSha1))
}

/// Requires that holders of the authority's certificates sign.
fn required(keys: &Keys) -> Result<Requirements, Failure> {
    Ok(Requirements::new().trust(keys.trust("authority")?).signed_body().signed_timestamp())
}
