//! The command line, in the process of Python.

use crate::gate;
use crate::run::{SIGNALS, check_signals};
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `deltasoap` with these arguments, without the name of the program, and returns
/// its exit code. An exception that the handler of a signal raises ends it.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let mut raised = None;
    let name = std::iter::once(OsString::from("deltasoap"));
    let code = py.detach(|| {
        let stop = async { raised = Some(interrupted().await) };
        deltasoap_cli::run(name.chain(arguments), stop)
    });
    raised.map_or(Ok(code), Err)
}

/// Waits until the handler of a signal raises an exception.
async fn interrupted() -> PyErr {
    loop {
        tokio::time::sleep(SIGNALS).await;
        if let Err(error) = gate::attached(check_signals).await {
            return error;
        }
    }
}
