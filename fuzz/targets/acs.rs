//! Any bytes as the messages of a CWMP session: the server answers each of them, holds at most one
//! session for the only device, and accepts the next Inform as if nothing had happened.

#![no_main]

use bytes::Bytes;
use deltasoap_cwmp::{Acs, Limits, Session};
use http::header::{COOKIE, SET_COOKIE};
use http::{Request, StatusCode};
use http_body_util::Full;
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

/// Ends one message of the input; the byte does not occur in UTF-8.
const END: u8 = 0xFF;

/// The possible statuses of an answer: a message, nothing, or a refusal.
const STATUSES: [u16; 7] = [200, 204, 400, 408, 413, 415, 500];

fuzz_target!(|input: &[u8]| {
    runtime().block_on(async {
        let acs = acs();
        let mut cookie = None;
        for message in input.split(|byte| *byte == END).take(8) {
            let (status, set) = post(&acs, Bytes::copy_from_slice(message), cookie.as_deref()).await;
            assert!(STATUSES.contains(&status.as_u16()), "{status}");
            cookie = set.or(cookie);
            assert!(acs.sessions() <= 2, "{} sessions", acs.sessions());
        }
        let inform = Bytes::from_static(include_bytes!("../seeds/acs/inform.xml"));
        let (status, _) = post(&acs, inform, None).await;
        assert!(matches!(status.as_u16(), 200 | 500), "{status}");
    });
});

fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Builder::new_current_thread().enable_time().build().expect("a runtime"))
}

/// Creates a server that asks for values, and then for a restart.
fn acs() -> Acs {
    let handler = async |session: Session| {
        if session.get_parameter_values(["Device."]).await.is_ok() {
            let _ = session.reboot("now").await;
        }
    };
    let limits = Limits { sessions: 2, idle: Duration::from_millis(50), ..Limits::default() };
    Acs::builder(handler).limits(limits).build().expect("a server")
}

async fn post(acs: &Acs, body: Bytes, cookie: Option<&str>) -> (StatusCode, Option<String>) {
    let mut request = Request::post("/").header("content-type", "text/xml");
    if let Some(cookie) = cookie {
        request = request.header(COOKIE, cookie);
    }
    let request = request.body(Full::new(body)).expect("a request");
    let response = acs.clone().oneshot(request).await.expect("an answer");
    let cookie = response.headers().get(SET_COOKIE).and_then(|value| value.to_str().ok());
    let cookie = cookie.and_then(|cookie| cookie.split(';').next()).map(str::to_owned);
    (response.status(), cookie)
}
