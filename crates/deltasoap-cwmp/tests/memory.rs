//! Memory used by sessions. The test is alone in its process, since all memory of the process is
//! counted.

use bytes::Bytes;
use deltasoap_cwmp::{Acs, Limits, Session};
use http::Request;
use http_body_util::Full;
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use std::alloc::System;
use std::time::Duration;
use tower::ServiceExt;

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

const INFORM: &str = include_str!("../../../testdata/sequences/tr069-inform/zyxel-vmg8924.xml");

async fn begin(acs: &Acs, device: usize) -> u16 {
    let start = INFORM.find("<SerialNumber>").expect("a serial number") + "<SerialNumber>".len();
    let message = format!("{}{device}{}", &INFORM[..start], &INFORM[start..]);
    let request = Request::post("http://acs.example/").body(Full::<Bytes>::from(message)).expect("a request");
    let Ok(response) = acs.clone().oneshot(request).await;
    response.status().as_u16()
}

#[tokio::test]
async fn sessions_take_some_kilobytes_and_give_them_back() {
    const DEVICES: usize = 1000;
    // One-time allocations happen before the measurement.
    let limits = Limits { sessions: DEVICES, idle: Duration::from_secs(2), ..Limits::default() };
    let acs = Acs::builder(async |session: Session| drop(session.get_rpc_methods().await)).limits(limits);
    let acs = acs.build().expect("a server");
    assert_eq!(begin(&acs, 0).await, 200);
    ALLOCATOR.reset_peak_memory();
    for device in 0..2 * DEVICES {
        assert_eq!(begin(&acs, device).await, if device < DEVICES { 200 } else { 500 });
    }
    let each = ALLOCATOR.get_peak_memory() / DEVICES;
    println!("{each} bytes a session");
    assert_eq!(acs.sessions(), DEVICES);
    assert!(each < 8 * INFORM.len(), "{each} bytes a session");
    while acs.sessions() > 0 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // As many new sessions fit into the released memory.
    ALLOCATOR.reset_peak_memory();
    for device in 0..DEVICES {
        assert_eq!(begin(&acs, device).await, 200);
    }
    let again = ALLOCATOR.get_peak_memory() / DEVICES;
    assert!(again <= each + each / 10, "{again} bytes a session, after {each}");
}
