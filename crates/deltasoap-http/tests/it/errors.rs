//! Errors and their sources.

use crate::common::scripted::{Act, Scripted, answer};
use crate::common::{EchoResponse, assert_says_each_once, echo};
#[cfg(feature = "tls")]
use deltasoap::Fault;
use deltasoap::client::{CallError, Failure, Redirects, TimeoutError};
use deltasoap::engine::ErrorKind;
use deltasoap::tls::TlsError;
use deltasoap::transport::{BoxError, FramesError, Unsent};
use http::StatusCode;
use http::header::HeaderValue;
use std::error::Error;
use std::io;

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, "refused by the host")
}

fn unsent() -> BoxError {
    Box::new(Unsent(Box::new(refused())))
}

fn malformed() -> deltasoap::Error {
    deltasoap::Error::at(ErrorKind::Envelope("the Body is empty"), 7)
}

fn calls() -> Vec<CallError> {
    let action = HeaderValue::from_str("\n").expect_err("a control character");
    vec![
        CallError::Http(unsent()),
        CallError::Http(Box::new(FramesError::Body(Box::new(malformed())))),
        CallError::Fault(Box::new(Fault::sender("no such item"))),
        CallError::malformed(StatusCode::OK, malformed()),
        CallError::malformed(StatusCode::BAD_GATEWAY, malformed()),
        CallError::NotUnderstood(malformed()),
        CallError::Refused(unsent()),
        CallError::RefusedRequest(unsent()),
        CallError::Encode(malformed()),
        CallError::Action(action),
        CallError::Timeout(TimeoutError::default()),
    ]
}

#[test]
fn errors_print_their_source_or_return_it() {
    for error in calls() {
        assert_says_each_once(&error);
        assert_says_each_once(&Failure::<Fault>::from(error));
    }
    assert_says_each_once(&FramesError::Io(refused()));
}

#[cfg(feature = "tls")]
#[test]
fn errors_of_tls_print_their_source_or_return_it() {
    let expired = rustls::Error::InvalidCertificate(rustls::CertificateError::Expired);
    for error in [rustls::Error::HandshakeNotComplete, expired] {
        assert_says_each_once(&TlsError::Tls(error));
    }
}

/// An error that is printed with its sources shows the message of the system.
#[test]
fn the_cause_of_a_failed_call_is_found() {
    let error = CallError::Http(unsent());
    assert_eq!(error.to_string(), "the HTTP exchange failed: cannot connect");
    let last = std::iter::successors(error.source(), |&error| error.source()).last().expect("a source");
    assert_eq!(last.to_string(), "refused by the host");
}

/// The message has what is wrong and what to do, not what the layers of HTTP call it.
#[cfg(feature = "client")]
#[tokio::test]
async fn an_unreachable_host_is_named_at_once() {
    #[derive(deltasoap::Soap)]
    #[soap(namespace = "urn:test", message, response = Ping)]
    struct Ping {}
    let client = deltasoap::Client::new("http://127.0.0.1:1/").expect("a URL");
    let error = client.call(&Ping {}).await.err().expect("nothing listens there").to_string();
    assert_eq!(error, "nothing listens at 127.0.0.1:1: start the service, or correct the URL");
}

/// Each error says what happened, at which URL, and what to do. `…` is the server's address.
#[tokio::test]
async fn answers_that_cannot_be_used_are_explained() {
    for (act, expected) in [
        (
            Act::Close,
            "http://…/soap closed the connection without an answer: see the log of the server or of a proxy before it; \
             set CallOptions::idempotent if the call may be repeated",
        ),
        (
            Act::Say("SSH-2.0-OpenSSH_9.2\r\n".to_owned()),
            "http://…/soap does not answer in valid HTTP: is it the port of another protocol, such as https?",
        ),
        (
            answer(202, "", ""),
            "http://…/soap answered with HTTP status 202 Accepted and no SOAP message; the service took the message as \
             one-way: send it with Client::send",
        ),
        (
            answer(302, "location: /there?token=secret\ncontent-type: text/html", "<a>moved"),
            "http://…/soap answered with HTTP status 302 Found and no SOAP message, but text/html; it redirects to \
             /there, which is not followed: use that URL, or set ClientBuilder::redirects",
        ),
    ] {
        let server = Scripted::new(move |_, _| act.clone()).await;
        let url = server.url().replace("http://", "http://ada:secret@") + "?key=secret";
        let client = deltasoap::Client::new(url).expect("a client");
        let error = client.call_as::<EchoResponse>(&echo("x")).await.expect_err("no answer");
        assert_eq!(error.to_string().replace(&server.address.to_string(), "…"), expected);
        assert_says_each_once(&error);
    }
}

#[tokio::test]
async fn redirects_that_are_not_followed_are_explained() {
    for (status, location, redirects, expected) in [
        (
            302,
            "/there",
            Redirects::same_origin(1),
            "/there with status 302, which is not followed: the status does not preserve the request; use that URL, or \
             allow it with Redirects::lenient",
        ),
        (
            307,
            "http://a.example/?key=secret",
            Redirects::same_origin(1),
            "http://a.example/ with status 307, which is not followed: it leads to another origin; use that URL, or \
             allow it with Redirects::any_origin",
        ),
        (
            308,
            "/there",
            Redirects::any_origin(1),
            "/there with status 308, which is not followed: it is one redirect too many; use that URL, or raise the \
             limit of Redirects",
        ),
    ] {
        let server = Scripted::new(move |_, _| answer(status, &format!("location: {location}"), "")).await;
        let client = deltasoap::Client::builder(server.url()).redirects(redirects).build().expect("a client");
        let error = client.call_as::<EchoResponse>(&echo("x")).await.expect_err("no answer").to_string();
        let (url, rest) = error.split_once(" redirects to ").expect("a URL");
        assert!(url.starts_with(&format!("http://{}/", server.address)), "{error}");
        assert_eq!(rest, expected);
    }
}
