//! Signed messages with edits, and any bytes: verification never fails otherwise than with an
//! error, gives the same result in pieces, and accepts a message only if what it signs has the
//! canonical form that was signed.
//!
//! An input that begins with `<` is a message. Any other holds edits of a signed message: six bytes
//! each, for a place, a number of bytes to remove, and up to three to insert.

#![no_main]

use deltasoap::Soap;
use deltasoap_core::soap::{Envelope, Version};
use deltasoap_core::{Template, Templating};
use deltasoap_security::{
    Identity, KeyReference, Protection, Requirements, SecurityError, SigningKey, Trust, UsernameToken,
};
use deltasoap_xml::c14n::{Canonicalizer, Method};
use deltasoap_xml::{Event, Instructions, Limits, Reader, Window};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

const SECRET: &[u8] = b"a secret";
/// The elements that are signed.
const SIGNED: [&str; 3] = ["Timestamp", "UsernameToken", "Body"];

static MESSAGES: LazyLock<Vec<Signed>> = LazyLock::new(|| [Version::Soap11, Version::Soap12].map(Signed::new).into());

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:bank", qualified)]
struct Transfer {
    to: String,
    lines: Vec<i32>,
}

/// A valid message, and the canonical forms of what is signed.
struct Signed {
    message: Vec<u8>,
    forms: [Vec<u8>; 3],
}

static REQUIREMENTS: LazyLock<Arc<Requirements>> = LazyLock::new(|| {
    let trust = Trust::nobody().secret("key", SECRET);
    let users = |user: &str| (user == "ada").then_some("password");
    let requirements = Requirements::new().trust(trust).users(users);
    Arc::new(requirements.signed_body().signed_timestamp().signed_tokens().at(now()))
});

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

impl Signed {
    fn new(version: Version) -> Self {
        let protection = Protection::new()
            .timestamp(Duration::from_secs(300))
            .user(UsernameToken::text("ada", "password"))
            .sign(Identity::new(SigningKey::hmac(SECRET), Vec::new()))
            .key_reference(KeyReference::Name("key".to_owned()))
            .at(now());
        let body = Transfer { to: "Ada & <Bob>\r\n".to_owned(), lines: vec![1, 20, 300] };
        let envelope = Envelope::new(&body).version(version);
        let envelope = envelope.canonical(protection.body_id().expect("a signed body"));
        let message = Template::new(Templating::default()).encode(&envelope).expect("a message");
        let message = protection.secure(version, &[], message, &[]).expect("a signed message").to_vec();
        verify(&message).expect("a valid message");
        let forms = SIGNED.map(|name| form(&message, name).expect("a signed element"));
        Signed { message, forms }
    }
}

fuzz_target!(|input: &[u8]| {
    if input.starts_with(b"<") {
        let _ = verify(input);
        return;
    }
    let Some((&which, edits)) = input.split_first() else { return };
    let signed = &MESSAGES[usize::from(which) % 2];
    let mut message = signed.message.clone();
    for edit in edits.chunks_exact(6).take(8) {
        apply(&mut message, edit);
    }
    if verify(&message).is_ok() {
        for (name, form_then) in SIGNED.iter().zip(&signed.forms) {
            let form_now = form(&message, name).expect("a signed element");
            assert_eq!(String::from_utf8_lossy(&form_now), String::from_utf8_lossy(form_then), "{name} was changed");
        }
    }
});

/// Removes bytes at a place, and inserts others.
fn apply(message: &mut Vec<u8>, edit: &[u8]) {
    let [high, low, count, new @ ..] = edit else { return };
    let at = usize::from(u16::from_be_bytes([*high, *low])) % (message.len() + 1);
    let end = (at + usize::from(count % 16)).min(message.len());
    let inserted = usize::from(count >> 4) % 4;
    message.splice(at..end, new[..inserted].iter().copied());
}

/// Verifies a message in one piece and in pieces.
fn verify(message: &[u8]) -> Result<(), SecurityError> {
    let whole = in_pieces(message, message.len().max(1));
    assert_eq!(in_pieces(message, 1 + message.len() % 17), whole, "in pieces");
    whole
}

fn in_pieces(message: &[u8], len: usize) -> Result<(), SecurityError> {
    let mut verification = REQUIREMENTS.begin(Limits::default());
    for piece in message.chunks(len) {
        verification.push(piece.to_vec())?;
    }
    verification.finish().map(|_| ())
}

/// Returns the exclusive form of the element that a receiver reads: the body, or a token in the
/// security header.
fn form(message: &[u8], name: &str) -> Option<Vec<u8>> {
    let mut reader = Reader::new(Limits::default(), Instructions::Refuse);
    let mut canonicalizer = Canonicalizer::new(Method::exclusive());
    let (mut window, mut out, mut is_begun) = (Window::whole(message), Vec::new(), false);
    let depth = if name == "Body" { 2 } else { 4 };
    while !canonicalizer.is_done() {
        let event = reader.next(&mut window).ok().filter(|event| *event != Event::Done)?;
        is_begun |= event == Event::Start
            && reader.depth() == depth
            && reader.names().local(reader.name()) == name
            && !reader.names().namespace(reader.name()).starts_with("urn:");
        if is_begun {
            canonicalizer.event(event, &reader, &mut |piece| out.extend_from_slice(piece)).ok()?;
        }
    }
    Some(out)
}
