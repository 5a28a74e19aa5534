//! The engine of the Python package `deltasoap`: contracts, messages and calls.
//!
//! The pure Python part of the package is what people use; this module does the work that must be
//! fast. Values are converted between Python and the engine by the schema, in one pass, and nothing
//! else of a message is seen from Python.
//!
//! ```text
//! arguments ── from_python ──> Value ── templates ──> HTTP, or a transport in Python
//! CompoundValue, arrays <── to_python ── Value <── leaf checkpoints ──┘
//! ```

mod arguments;
mod arrow;
mod awaiting;
mod batches;
mod columns;
#[cfg(feature = "command")]
mod command;
mod contract;
mod definitions;
mod describe;
mod engine;
mod errors;
mod from_python;
mod gate;
mod http;
mod lenient;
mod names;
mod operation;
mod run;
mod scalars;
mod server;
mod to_python;
mod transport;

use pyo3::prelude::*;

/// The engine of the package `deltasoap`.
#[pymodule]
#[pyo3(name = "_engine")]
mod engine_module {
    #[pymodule_export]
    use crate::batches::{BatchDecoder, RecordBatches};
    #[pymodule_export]
    use crate::columns::{ColumnView, Rows};
    #[cfg(feature = "command")]
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::contract::PyContract;
    #[pymodule_export]
    use crate::engine::{Engine, Reply};
    #[pymodule_export]
    use crate::http::Http;
    #[pymodule_export]
    use crate::operation::{PyOperation, body};
    #[pymodule_export]
    use crate::server::{Listener, Server, files, served};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::columns::register(module.py())?;
        crate::gate::register(module)
    }
}
