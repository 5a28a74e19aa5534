//! The runtimes that calls run on, and interruption by Ctrl-C.

use crate::gate;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// How often a call that waits looks for signals.
pub(crate) const SIGNALS: Duration = Duration::from_millis(50);

/// Calls that a thread waits for: one thread drives the connections of all clients.
static CALLS: PerProcess = PerProcess::new(|builder| builder.worker_threads(1).thread_name("deltasoap"));

/// Calls that an event loop waits for, which read and write their messages on these threads.
static AWAITED: PerProcess = PerProcess::new(|builder| builder.thread_name("deltasoap-async"));

/// The runtime for what an event loop waits for. The caller has the GIL.
pub(crate) fn awaited(_: Python<'_>) -> &'static Runtime {
    AWAITED.get()
}

/// A runtime of the process.
///
/// A process that was forked gets a runtime of its own, since the threads are in its parent only. That
/// of the parent is not dropped, which would wait for the threads.
struct PerProcess {
    configure: fn(&mut Builder) -> &mut Builder,
    current: Mutex<Option<(u32, &'static Runtime)>>,
}

impl PerProcess {
    const fn new(configure: fn(&mut Builder) -> &mut Builder) -> Self {
        PerProcess { configure, current: Mutex::new(None) }
    }

    /// Called with the GIL, so that no thread of Python forks while the lock is held.
    fn get(&self) -> &'static Runtime {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        match *current {
            Some((owner, runtime)) if owner == process => runtime,
            _ => {
                let mut builder = Builder::new_multi_thread();
                let built = (self.configure)(&mut builder).enable_all().build();
                let made: &'static Runtime = Box::leak(Box::new(built.expect("the operating system starts a thread")));
                *current = Some((process, made));
                made
            }
        }
    }
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
    let runtime = CALLS.get();
    let waiting = || {
        runtime.block_on(async {
            let mut future = std::pin::pin!(future);
            loop {
                match tokio::time::timeout(SIGNALS, &mut future).await {
                    Ok(output) => return Ok(output),
                    Err(_) => gate::attached(check_signals).await?,
                }
            }
        })
    };
    gate::leave(py, || match Handle::try_current() {
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
