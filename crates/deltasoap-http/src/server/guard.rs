//! Catches panics of handlers and of their types: a panic ends one call and nothing else.

use futures_util::FutureExt;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A handler or a type panicked, with this message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Panicked(pub(crate) String);

/// Runs a future and catches its panics. Nothing that it touched is used again, unless the handler
/// shares it. In that case the handler must keep it consistent, as for a panic in its own task.
pub(crate) async fn guard<F: Future>(future: F) -> Result<F::Output, Panicked> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(|payload| Panicked(message(payload.as_ref())))
}

/// Runs a function and catches its panics. Values that it owns are dropped with them; values that
/// it borrows must not be used further.
pub(crate) fn guard_call<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| Panicked(message(payload.as_ref())))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a payload that is not text").to_owned()
}
