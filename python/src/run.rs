//! The runtime that calls run on, and interruption by Ctrl-C.

use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// How often a call that waits looks for signals.
pub(crate) const SIGNALS: Duration = Duration::from_millis(50);

/// Returns the runtime of the process: one thread drives the connections of all clients.
///
/// A process that was forked gets a runtime of its own, since the thread is in its parent only. That
/// of the parent is not dropped, which would wait for the thread.
fn runtime() -> &'static Runtime {
    static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);
    let mut current = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match *current {
        Some((owner, runtime)) if owner == process => runtime,
        _ => {
            let made: &'static Runtime = Box::leak(Box::new(started()));
            *current = Some((process, made));
            made
        }
    }
}

fn started() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).thread_name("deltasoap").enable_all();
    builder.build().expect("the operating system starts a thread")
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
    // With the GIL, so that no thread of Python forks while the lock is held.
    let runtime = runtime();
    let waiting = || {
        runtime.block_on(async {
            let mut future = std::pin::pin!(future);
            loop {
                match tokio::time::timeout(SIGNALS, &mut future).await {
                    Ok(output) => return Ok(output),
                    Err(_) => Python::attach(check_signals)?,
                }
            }
        })
    };
    py.detach(|| match Handle::try_current() {
        // A transport in Python makes a call of its own.
        Ok(_) => tokio::task::block_in_place(waiting),
        Err(_) => waiting(),
    })
}

/// Runs the handlers of signals that have arrived.
///
/// # Errors
/// What a handler raised.
pub(crate) fn check_signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}
