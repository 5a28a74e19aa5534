//! Any bytes as a message to validate, in SOAP encoding and literal: a message without findings can
//! be decoded, and one that cannot be decoded has findings.

#![no_main]

use deltasoap::SoapService;
use deltasoap::transport::Body;
use deltasoap_dynamic::{Contract, Mock};
use http::Request;
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

const WSDL: &str = include_str!("../shared/validation.wsdl");

/// Maximum number of findings of a message.
const MAX_FINDINGS: usize = 100;

fuzz_target!(|input: &[u8]| {
    let findings = contract().validate(input);
    assert!(findings.len() <= MAX_FINDINGS);
    assert!(findings.iter().all(|finding| finding.line > 0 && finding.column > 0));
    assert_eq!(contract().validate(input), findings, "not the same twice");
    let is_request = findings.is_empty() && input.windows(3).any(|bytes| bytes == b":Op" || bytes == b"<Op");
    if is_request && input.first() == Some(&b'<') && std::str::from_utf8(input).is_ok() {
        // A response, a fault or an element is valid too, but no service decodes it.
        let is_other =
            input.windows(8).any(|bytes| bytes == b"Response") || input.windows(5).any(|bytes| bytes == b"Fault");
        let status = post(input);
        assert!(is_other || status != 500 || is_mandatory(input), "valid, and refused");
    }
});

/// Header blocks that must be understood are refused, whatever their content.
fn is_mandatory(input: &[u8]) -> bool {
    input.windows(14).any(|bytes| bytes == b"mustUnderstand") || !input.windows(8).any(|bytes| bytes == b"Envelope")
}

fn contract() -> &'static Contract {
    static CONTRACT: OnceLock<Contract> = OnceLock::new();
    CONTRACT.get_or_init(|| Contract::from_text(WSDL).expect("a description"))
}

fn post(message: &[u8]) -> u16 {
    static RUNTIME: OnceLock<(Runtime, SoapService)> = OnceLock::new();
    let (runtime, service) = RUNTIME.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        (runtime, Mock::new(contract().clone()).service().expect("a service"))
    });
    let is_12 = message.windows(4).any(|bytes| bytes == b"2003");
    let media = if is_12 { "application/soap+xml" } else { "text/xml" };
    let request =
        Request::post("/").header("content-type", media).body(Body::from(message.to_vec())).expect("a request");
    runtime.block_on(service.clone().oneshot(request)).expect("an answer").status().as_u16()
}
