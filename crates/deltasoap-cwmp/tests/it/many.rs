//! Many devices at the same time.

use crate::common::*;
use deltasoap_cwmp::{Acs, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_sessions_at_once() {
    const DEVICES: usize = 1000;
    let (together, most) = (Arc::new(tokio::sync::Barrier::new(DEVICES)), Arc::new(AtomicUsize::new(0)));
    let barrier = Arc::clone(&together);
    let acs = Acs::new(move |session: Session| {
        let barrier = Arc::clone(&barrier);
        async move {
            let values = session.get_parameter_values(["Device."]).await.expect("values");
            assert_eq!(values.len(), 5);
            // All devices wait here until the last has arrived.
            barrier.wait().await;
            session.reboot(&session.device().id.serial_number).await.expect("a restart");
        }
    });
    let mut devices = JoinSet::new();
    for number in 0..DEVICES {
        let (acs, most) = (acs.clone(), Arc::clone(&most));
        devices.spawn(async move {
            let mut cpe = device(&acs, &number.to_string());
            let report = cpe.session().await.expect("a session");
            most.fetch_max(acs.sessions(), Relaxed);
            assert_eq!(report.answered, ["GetParameterValues", "Reboot"]);
            assert_eq!(cpe.events()[1].command_key, number.to_string(), "another device's request");
        });
    }
    while let Some(done) = devices.join_next().await {
        done.expect("a device");
    }
    assert_eq!(acs.sessions(), 0);
}
