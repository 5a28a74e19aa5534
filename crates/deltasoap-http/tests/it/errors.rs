//! Errors and their sources.

use crate::common::assert_says_each_once;
#[cfg(feature = "tls")]
use deltasoap::Fault;
use deltasoap::client::{CallError, Failure, TimeoutError};
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

/// Who prints an error with its sources sees what the system said.
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
