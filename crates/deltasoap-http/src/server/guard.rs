//! Panics of handlers and of their types, caught: they end one call and nothing else.

use futures_util::FutureExt;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A handler or a type panicked, with this message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Panicked(pub(crate) String);

/// Runs a future whose panics are caught. Nothing that it touched is used again, unless the handler shares it, in which
/// case it is the handler's to keep it sound, as for a panic in a task of its own.
pub(crate) async fn guard<F: Future>(future: F) -> Result<F::Output, Panicked> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(|payload| Panicked(message(payload.as_ref())))
}

/// Runs a function whose panics are caught. What it owns is dropped with them; what it borrows must not be used to go on.
pub(crate) fn guard_call<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| Panicked(message(payload.as_ref())))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a payload that is not text").to_owned()
}
