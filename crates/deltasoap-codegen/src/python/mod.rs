//! Stage two for Python: converts a model and the schemas to a module.
//!
//! The model for Rust says which operations and types there are. Their shape in Python is another:
//! see `plan`. As for Rust, the module is data first (`model`), and then text (`render`).

mod fields;
mod model;
mod names;
mod plan;
mod render;
mod services;
mod simple;

use crate::model::Model;
use deltasoap_wsdl::Import;

/// What Python is generated: see [`Builder::python`](crate::Builder::python).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Python {
    /// Dataclasses, and clients.
    Dataclasses,
    /// Models of pydantic 2, and clients.
    Pydantic,
    /// A stub (`.pyi`) for programs that use `client.service` and type factories, which are made at
    /// run time: it describes the operations and the values for editors and type checkers.
    Stub,
}

/// Returns a module, with clients or without. `source` is the location of the WSDL, whose last part
/// is shown.
pub(crate) fn module(model: &Model, import: &Import, (style, has_clients): (Python, bool), source: &str) -> String {
    let name = source.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or("a WSDL");
    let mut module = plan::plan(model, import);
    if !has_clients {
        module.clients.clear();
        module.faults.clear();
    }
    render::text(&module, style, name)
}
