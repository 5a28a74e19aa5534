//! Futures of Rust that asyncio awaits, and awaitables of Python that Rust awaits.
//!
//! ```text
//! asyncio ── future ──> task of the runtime ── awaitable ──> task of an event loop
//!     cancelled ──────> aborted ─────────── dropped ───────> cancelled
//! ```
//!
//! The parts that run in an event loop are in `deltasoap._awaiting`.

use crate::{gate, run};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::panic::PanicException;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinError};

/// An event loop, and the context in which functions see their variables.
#[derive(Clone)]
pub(crate) struct Loop(Arc<(Py<PyAny>, Py<PyAny>)>);

tokio::task_local! {
    /// The loop that awaits the task.
    static CURRENT: Loop;
}

impl Loop {
    /// A loop with a copy of the current context.
    pub(crate) fn new(event_loop: Bound<'_, PyAny>) -> PyResult<Self> {
        let context = event_loop.py().import("contextvars")?.call_method0("copy_context")?;
        Ok(Loop(Arc::new((event_loop.unbind(), context.unbind()))))
    }

    /// The loop that runs on this thread.
    pub(crate) fn running(py: Python<'_>) -> PyResult<Self> {
        Self::new(py.import("asyncio")?.call_method0("get_running_loop")?)
    }

    /// The loop that awaits the current task, or runs on this thread.
    fn current(py: Python<'_>) -> PyResult<Self> {
        CURRENT.try_with(Self::clone).or_else(|_| Self::running(py))
    }

    pub(crate) fn context<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.0.1.bind(py).clone()
    }

    /// Returns a future of asyncio for one of Rust and the conversion of its output.
    ///
    /// # Errors
    /// If the interpreter ends.
    pub(crate) fn future<'py, F, R>(
        &self,
        py: Python<'py>,
        future: F,
        convert: impl for<'a> FnOnce(Python<'a>, F::Output) -> PyResult<R> + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        R: for<'a> IntoPyObject<'a>,
    {
        if gate::is_closed() {
            return Err(PyRuntimeError::new_err("no call can be awaited while the interpreter ends"));
        }
        let awaited = self.0.0.bind(py).call_method0("create_future")?;
        let runtime = run::awaited(py);
        let task = runtime.spawn(CURRENT.scope(self.clone(), future));
        awaited.call_method1("add_done_callback", (Aborts(task.abort_handle()),))?;
        let (this, target) = (self.clone(), awaited.clone().unbind());
        runtime.spawn(async move {
            let ended = task.await;
            if ended.as_ref().is_err_and(JoinError::is_cancelled) {
                return;
            }
            // A thread that waits for the GIL is none that drives connections.
            tokio::task::spawn_blocking(move || {
                gate::attach(|py| {
                    let converted = ended.map_err(panicked).and_then(|output| convert(py, output));
                    // A loop that was closed awaits nothing.
                    let _ = this.complete(py, &target, converted);
                })
            });
        });
        Ok(awaited)
    }

    fn complete<R>(&self, py: Python<'_>, future: &Py<PyAny>, result: PyResult<R>) -> PyResult<()>
    where
        R: for<'a> IntoPyObject<'a>,
    {
        let complete = py.import("deltasoap._awaiting")?.getattr("complete")?;
        let converted = result.and_then(|value| value.into_py_any(py));
        let event_loop = self.0.0.bind(py);
        match converted {
            Ok(value) => event_loop.call_method1("call_soon_threadsafe", (complete, future, value, py.None()))?,
            Err(error) => event_loop.call_method1("call_soon_threadsafe", (complete, future, py.None(), error))?,
        };
        Ok(())
    }

    /// Awaits an awaitable in this loop.
    pub(crate) fn awaiting(&self, awaitable: Bound<'_, PyAny>) -> PyResult<Awaiting> {
        let py = awaitable.py();
        let (sender, outcome) = oneshot::channel();
        let class = py.import("deltasoap._awaiting")?.getattr("Awaiting")?;
        let task = class.call1((awaitable, self.0.0.bind(py), Done(Mutex::new(Some(sender)))))?;
        self.context(py).call_method1("run", (task.getattr("begin")?,))?;
        Ok(Awaiting { outcome, task: Some(task.unbind()) })
    }
}

/// Awaits an awaitable in the loop that awaits the current task.
pub(crate) fn awaiting(awaitable: Bound<'_, PyAny>) -> PyResult<Awaiting> {
    Loop::current(awaitable.py())?.awaiting(awaitable)
}

fn panicked(error: JoinError) -> PyErr {
    let payload = error.into_panic();
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(|&text| text.to_owned()));
    PanicException::new_err((text.unwrap_or_default(),))
}

/// Aborts the task of a future that is done: by then it has ended, or nobody waits for it.
#[pyclass(frozen)]
struct Aborts(AbortHandle);

#[pymethods]
impl Aborts {
    fn __call__(&self, _future: &Bound<'_, PyAny>) {
        self.0.abort();
    }
}

/// An awaitable in a loop. It is cancelled if this is dropped before its end.
pub(crate) struct Awaiting {
    outcome: oneshot::Receiver<PyResult<Py<PyAny>>>,
    task: Option<Py<PyAny>>,
}

impl Awaiting {
    /// Returns what the awaitable returned; `None` if its loop ended before.
    pub(crate) async fn outcome(mut self) -> Option<PyResult<Py<PyAny>>> {
        let outcome = (&mut self.outcome).await;
        self.task = None;
        outcome.ok()
    }

    /// Lets the awaitable go on also if nobody waits any more.
    pub(crate) fn finishing(mut self) -> Self {
        self.task = None;
        self
    }
}

impl Drop for Awaiting {
    fn drop(&mut self) {
        let Some(task) = self.task.take() else { return };
        let cancel = move || gate::attach(|py| task.call_method0(py, "cancel").map(drop));
        // The thread may be one that drives connections.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(cancel);
        }
    }
}

/// Gets the outcome of an awaitable.
#[pyclass(frozen)]
struct Done(Mutex<Option<oneshot::Sender<PyResult<Py<PyAny>>>>>);

#[pymethods]
impl Done {
    #[pyo3(signature = (result, error))]
    fn __call__(&self, result: Py<PyAny>, error: Option<Bound<'_, PyAny>>) {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let outcome = error.map_or(Ok(result), |error| Err(PyErr::from_value(error)));
        // Nobody waits any more if the call was cancelled.
        let _ = sender.map(|sender| sender.send(outcome));
    }
}
