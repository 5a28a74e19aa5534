//! Our client calls services that require WS-Security, and changes messages on their way.

use super::{Keys, PASSWORD, Receipt, Transfer, USER, VALID, for_recipient, required};
use crate::Failure;
use crate::report::{Report, same};
use bytes::Bytes;
use deltasoap::Client;
use deltasoap::client::{CallError, ClientBuilder, HttpTransport};
use deltasoap::security::{Protection, Requirements, UsernameToken};
use deltasoap::soap::Version;
use deltasoap::transport::{Body, BoxError};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use std::sync::{Arc, OnceLock};
use tower::{Service, ServiceExt, service_fn};

const USERS: &str = "security users";
const SIGNATURES: &str = "security signatures";
const ENCRYPTION: &str = "security encryption";

/// Tests the services below a URL in one version of SOAP, and prints a line for each test.
///
/// # Errors
/// Returns an error if a key cannot be read.
pub async fn test(url: &str, keys: &Keys, version: Version, report: &Report) -> Result<(), Failure> {
    let peer = Peer { url, keys, version };
    Box::pin(users(&peer, report)).await;
    Box::pin(signatures(&peer, report)).await?;
    Box::pin(encryption(&peer, report)).await
}

async fn users(peer: &Peer<'_>, report: &Report) {
    let by = |token| Protection::new().user(token);
    let text = by(UsernameToken::text(USER, PASSWORD));
    let digest = by(UsernameToken::digest(USER, PASSWORD));
    report.test(USERS, "passwords as text", peer.accepts("/users", text, peer.optional(), USER)).await;
    report.test(USERS, "passwords as digests", peer.accepts("/users", digest.clone(), peer.optional(), USER)).await;
    for (name, token) in [
        ("a wrong password is refused", UsernameToken::text(USER, "guess")),
        ("a wrong digest is refused", UsernameToken::digest(USER, "guess")),
    ] {
        report.test(USERS, name, peer.refuses("/users", by(token), unchanged())).await;
    }
    report.test(USERS, "a nonce is accepted once", peer.refuses_again("/users", digest)).await;
}

async fn signatures(peer: &Peer<'_>, report: &Report) -> Result<(), Failure> {
    let (signed, strange) = (peer.signed("client")?, peer.signed("stranger")?);
    let tokens = signed.clone().user(UsernameToken::digest(USER, PASSWORD));
    let requests = peer.accepts("/signed", signed.clone(), peer.optional(), CLIENT);
    report.test(SIGNATURES, "signed requests", requests).await;
    report
        .test(SIGNATURES, "signed both ways", peer.accepts("/signed", signed.clone(), required(peer.keys), CLIENT))
        .await;
    report.test(SIGNATURES, "signed user names", peer.accepts("/tokens", tokens.clone(), peer.optional(), USER)).await;
    let renamed = peer.refuses("/tokens", tokens, change(">ada<", ">bob<"));
    report.test(SIGNATURES, "a changed user name is refused", renamed).await;
    let changed = peer.refuses("/signed", signed.clone(), change(">1.5<", ">2.5<"));
    report.test(SIGNATURES, "a changed request is refused", changed).await;
    report.test(SIGNATURES, "the key of a stranger is refused", peer.refuses("/signed", strange, unchanged())).await;
    report.test(SIGNATURES, "a request is accepted once", peer.refuses_again("/signed", signed.clone())).await;
    report.test(SIGNATURES, "our client refuses a changed response", peer.is_refused("/signed", signed)).await;
    Ok(())
}

async fn encryption(peer: &Peer<'_>, report: &Report) -> Result<(), Failure> {
    let encrypted = for_recipient(peer.signed("client")?, peer.keys, "server")?;
    let required = required(peer.keys).and_then(|required| peer.decrypting(required));
    let both = peer.accepts("/encrypted", encrypted.clone(), required.map(Requirements::encrypted_body), CLIENT);
    report.test(ENCRYPTION, "encrypted both ways", both).await;
    let changed = peer.refuses("/encrypted", encrypted, spoil_content());
    report.test(ENCRYPTION, "changed ciphertext is refused", changed).await;
    Ok(())
}

/// The name of our client in its certificate.
const CLIENT: &str = "CN=client";

struct Peer<'a> {
    url: &'a str,
    keys: &'a Keys,
    version: Version,
}

impl Peer<'_> {
    /// Signs with one of the keys.
    fn signed(&self, name: &str) -> Result<Protection, Failure> {
        Ok(Protection::new().timestamp(VALID).sign(self.keys.identity(name)?))
    }

    /// Verifies and decrypts responses if they are signed and encrypted.
    fn optional(&self) -> Result<Requirements, Failure> {
        self.decrypting(Requirements::new().trust(self.keys.trust()?))
    }

    fn decrypting(&self, requirements: Requirements) -> Result<Requirements, Failure> {
        Ok(requirements.decrypt_with(self.keys.identity("client")?)?)
    }

    /// Responses are not compressed, so that they can be changed.
    fn builder(&self, path: &str, protection: Protection, requirements: Requirements) -> ClientBuilder {
        let builder = Client::builder(format!("{}{path}", self.url)).version(self.version);
        builder.accept_gzip(false).protection(protection).requirements(requirements)
    }

    /// Succeeds if the peer accepts requests, knows their sender, and answers as required.
    async fn accepts(
        &self,
        path: &str,
        protection: Protection,
        requirements: Result<Requirements, Failure>,
        from: &str,
    ) -> Result<(), Failure> {
        let client = self.builder(path, protection, requirements?).build()?;
        // The later requests are written against the first. The last is longer than a buffer.
        for (times, amount) in [(1, 1.5), (2, -1e-300), (2, 1.5), (3000, 0.1)] {
            let transfer = Transfer { to: "<Ada> & \"Ä\", 漢🦀\t".repeat(times), amount };
            let receipt = client.call(&transfer).await?;
            same(&receipt, &Receipt { from: from.to_owned(), to: transfer.to, amount }, "the receipt")?;
        }
        Ok(())
    }

    /// Succeeds if the peer refuses a request that is changed on its way.
    async fn refuses(&self, path: &str, protection: Protection, change: Change) -> Result<(), Failure> {
        let builder = self.builder(path, protection, self.optional()?);
        refused(builder.build_with(meddler(change, unchanged()))?.call(&transfer()).await)
    }

    /// Succeeds if the peer accepts a request, and refuses the same bytes afterwards.
    async fn refuses_again(&self, path: &str, protection: Protection) -> Result<(), Failure> {
        let first = OnceLock::new();
        let change: Change = Arc::new(move |request| Ok(first.get_or_init(|| request).clone()));
        let builder = self.builder(path, protection, self.optional()?);
        let client = builder.build_with(meddler(change, unchanged()))?;
        client.call(&transfer()).await?;
        refused(client.call(&transfer()).await)
    }

    /// Succeeds if our client refuses a response that is changed on its way.
    async fn is_refused(&self, path: &str, protection: Protection) -> Result<(), Failure> {
        let builder = self.builder(path, protection, required(self.keys)?);
        let client = builder.build_with(meddler(unchanged(), change(">1.5<", ">2.5<")))?;
        match client.call(&transfer()).await {
            Err(CallError::Insecure(_)) => Ok(()),
            other => Err(format!("expected an insecure response, got {other:?}").into()),
        }
    }
}

fn transfer() -> Transfer {
    Transfer { to: "Bob".to_owned(), amount: 1.5 }
}

fn refused(result: Result<Receipt, CallError>) -> Result<(), Failure> {
    match result {
        Err(CallError::Fault(_)) => Ok(()),
        other => Err(format!("expected a fault, got {other:?}").into()),
    }
}

/// What becomes of a message on its way; an error if it lacks what is to be changed.
type Change = Arc<dyn Fn(Bytes) -> Result<Bytes, BoxError> + Send + Sync>;

fn unchanged() -> Change {
    Arc::new(Ok)
}

/// Replaces a text.
fn change(from: &'static str, to: &'static str) -> Change {
    Arc::new(move |message| {
        let text = std::str::from_utf8(&message)?;
        if !text.contains(from) {
            return Err(format!("the message lacks {from}: {text}").into());
        }
        Ok(text.replacen(from, to, 1).into())
    })
}

/// Changes a character in the middle of the last encrypted value.
fn spoil_content() -> Change {
    Arc::new(|message| {
        let mut bytes = message.to_vec();
        let end = std::str::from_utf8(&message)?.rfind("CipherValue>");
        let at = end.and_then(|end| end.checked_sub(60)).ok_or("the message has no encrypted value")?;
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        Ok(bytes.into())
    })
}

/// Returns a transport that changes requests and responses.
fn meddler(
    request: Change,
    response: Change,
) -> impl Service<Request<Body>, Response = Response<Full<Bytes>>, Error = BoxError, Future: Send> + Clone {
    let transport = HttpTransport::new();
    service_fn(move |sent: Request<Body>| {
        let (transport, request, response) = (transport.clone(), request.clone(), response.clone());
        async move {
            let (mut head, body) = sent.into_parts();
            head.headers.remove(http::header::CONTENT_LENGTH);
            let body = request(body.collect().await?.to_bytes())?;
            let (mut head, body) = transport.oneshot(Request::from_parts(head, body.into())).await?.into_parts();
            head.headers.remove(http::header::CONTENT_LENGTH);
            Ok(Response::from_parts(head, Full::new(response(body.collect().await?.to_bytes())?)))
        }
    })
}
