//! The runtime that calls run on, and interruption by Ctrl-C.

use pyo3::prelude::*;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How often a call that waits looks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// Returns the runtime of the process: one thread drives the connections of all clients.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("deltasoap").enable_all();
        builder.build().expect("the operating system starts a thread")
    })
}

/// Waits for a future without the GIL. Signals are handled meanwhile: a `KeyboardInterrupt` ends
/// the wait, and the future is dropped.
///
/// # Errors
/// What a signal handler raised.
pub(crate) fn wait<F>(py: Python<'_>, future: F) -> PyResult<F::Output>
where
    F: Future + Send,
    F::Output: Send,
{
    py.detach(|| {
        runtime().block_on(async {
            let mut future = std::pin::pin!(future);
            loop {
                match tokio::time::timeout(SIGNALS, &mut future).await {
                    Ok(output) => return Ok(output),
                    Err(_) => Python::attach(check_signals)?,
                }
            }
        })
    })
}

fn check_signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}
