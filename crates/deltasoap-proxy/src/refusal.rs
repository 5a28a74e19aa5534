//! Answers that the proxy makes itself.
//!
//! What is wrong with HTTP or with the target is text; what is wrong with a message is a SOAP
//! fault.

use crate::stream::{ReadError, ResponseBody, full};
use deltasoap_core::soap::{Envelope, Fault, Version};
use deltasoap_http::transport::HangUp;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};

/// Why a request has no answer of the target.
#[derive(Debug)]
pub(crate) enum Refusal {
    Text(StatusCode, String),
    Fault(Box<Fault>),
    /// The connection is closed.
    HangUp,
}

impl Refusal {
    pub(crate) fn busy() -> Self {
        Refusal::Text(StatusCode::SERVICE_UNAVAILABLE, "too many exchanges at one time; try again".to_owned())
    }

    pub(crate) fn fault(fault: Fault) -> Self {
        Refusal::Fault(Box::new(fault))
    }

    /// Returns the refusal of a request whose body was not read.
    pub(crate) fn unread(error: &ReadError, limit: usize) -> Self {
        match error {
            ReadError::TooLarge => {
                Refusal::Text(StatusCode::PAYLOAD_TOO_LARGE, format!("the request has more than {limit} bytes"))
            }
            ReadError::Slow => Refusal::slow(),
            ReadError::Broken(error) => {
                Refusal::Text(StatusCode::BAD_REQUEST, format!("the request broke off: {error}"))
            }
        }
    }

    pub(crate) fn slow() -> Self {
        Refusal::Text(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time".to_owned())
    }

    /// Returns the refusal of an answer that was not read.
    pub(crate) fn bad_answer(reason: impl std::fmt::Display) -> Self {
        Refusal::Text(StatusCode::BAD_GATEWAY, format!("the answer of the service cannot be passed on: {reason}"))
    }

    /// Returns the answer, in a version of SOAP.
    pub(crate) fn response(self, version: Version) -> Response<ResponseBody> {
        match self {
            Refusal::Text(status, text) => {
                let mut response = Response::new(full(format!("{text}\n")));
                *response.status_mut() = status;
                let headers = response.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
                if status == StatusCode::SERVICE_UNAVAILABLE {
                    headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
                }
                response
            }
            Refusal::Fault(fault) => fault_response(&fault, version),
            Refusal::HangUp => {
                let mut response = Response::new(full(""));
                response.extensions_mut().insert(HangUp);
                response
            }
        }
    }
}

fn fault_response(fault: &Fault, version: Version) -> Response<ResponseBody> {
    let written = Envelope::fault(fault).version(version).to_vec();
    // Text that XML cannot carry is in no reason of ours: messages do not have it either.
    let message = written
        .or_else(|_| Envelope::fault(&Fault::receiver("the fault could not be written")).version(version).to_vec());
    let mut response = Response::new(full(message.unwrap_or_default()));
    *response.status_mut() =
        StatusCode::from_u16(fault.http_status(version)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let media = match version {
        Version::Soap11 => "text/xml; charset=utf-8",
        Version::Soap12 => "application/soap+xml; charset=utf-8",
    };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}
