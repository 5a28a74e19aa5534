//! Who may run Python, while the interpreter ends and after a fork.
//!
//! An interpreter that ends takes no new threads, and ends those that wait for the GIL, also below
//! frames of Rust, which aborts the process. So threads that run Python for the engine are counted.
//! At exit the gate closes, and those inside are waited for; others stay outside for good.

use pyo3::prelude::*;
use pyo3::types::IntoPyDict;
use std::cell::Cell;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// How long functions that have begun are waited for when the interpreter ends.
const PATIENCE: Duration = Duration::from_secs(5);

/// Number of threads inside. No lock, which a thread without the GIL could hold during a fork.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// How many times this thread has entered.
    static DEPTH: Cell<usize> = const { Cell::new(0) };

    /// Whether this thread ends the interpreter, so that the gate is open to it.
    static IS_LAST: Cell<bool> = const { Cell::new(false) };
}

/// A thread that is inside, as long as this lives there.
pub(crate) struct Inside(PhantomData<*const ()>);

impl Inside {
    /// Enters; `None` if the gate is closed. A thread that is inside can always enter again.
    fn enter() -> Option<Self> {
        if DEPTH.get() == 0 {
            INSIDE.fetch_add(1, SeqCst);
            if IS_CLOSED.load(SeqCst) && !IS_LAST.get() {
                INSIDE.fetch_sub(1, SeqCst);
                return None;
            }
        }
        DEPTH.set(DEPTH.get() + 1);
        Some(Inside(PhantomData))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            INSIDE.fetch_sub(1, SeqCst);
        }
    }
}

/// Enters with a thread of Python. While the interpreter ends, the thread sleeps for good, as those
/// of Python do.
pub(crate) fn enter(py: Python<'_>) -> Inside {
    Inside::enter().unwrap_or_else(|| match py.detach(sleep) {})
}

/// Attaches a thread to the interpreter; `None` if the interpreter ends.
pub(crate) fn attach<R>(run: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    let _inside = Inside::enter()?;
    Python::try_attach(run)
}

/// Attaches the thread of a task, which never goes on if the interpreter ends.
pub(crate) async fn attached<R>(run: impl FnOnce(Python<'_>) -> R) -> R {
    if let Some(returned) = attach(run) {
        return returned;
    }
    std::future::pending().await
}

/// Whether the interpreter ends.
pub(crate) fn is_closed() -> bool {
    IS_CLOSED.load(SeqCst)
}

/// Leaves for a while, without the GIL.
pub(crate) fn leave<R: Send>(py: Python<'_>, run: impl FnOnce() -> R + Send) -> R {
    py.detach(|| {
        let _away = Away::new();
        run()
    })
}

/// A thread that is outside, as long as this lives, and how many times it had entered. If it comes back
/// while the interpreter ends, it sleeps for good.
struct Away(usize);

impl Away {
    fn new() -> Self {
        let depth = DEPTH.replace(0);
        if depth > 0 {
            INSIDE.fetch_sub(1, SeqCst);
        }
        Away(depth)
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        let inside = Inside::enter().unwrap_or_else(|| match sleep() {});
        if self.0 > 0 {
            std::mem::forget(inside);
            DEPTH.set(self.0);
        }
    }
}

/// Sleeps for good.
pub(crate) fn sleep() -> Infallible {
    loop {
        thread::park();
    }
}

/// Registers what happens at exit and after a fork.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    py.import("atexit")?.call_method1("register", (wrap_pyfunction!(close, module)?,))?;
    let os = py.import("os")?;
    if os.hasattr("register_at_fork")? {
        let options = [("after_in_child", wrap_pyfunction!(forked, module)?)].into_py_dict(py)?;
        os.call_method("register_at_fork", (), Some(&options))?;
    }
    Ok(())
}

/// Closes the gate to all other threads, and waits for those inside.
#[pyfunction]
fn close(py: Python<'_>) {
    IS_LAST.set(true);
    IS_CLOSED.store(true, SeqCst);
    let own = usize::from(DEPTH.get() > 0);
    let end = Instant::now() + PATIENCE;
    py.detach(|| {
        while INSIDE.load(SeqCst) > own && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Only the thread that forked goes on in the new process.
#[pyfunction]
fn forked() {
    INSIDE.store(usize::from(DEPTH.get() > 0), SeqCst);
}
