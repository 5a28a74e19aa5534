//! WSDL 1.1 and XML Schema 1.0 in four stages, each with its own model.
//!
//! 1. **load**: loads the documents and everything that they import, each once;
//! 2. **resolve**: builds the components and resolves every reference ([`Schemas`],
//!    [`Definitions`]);
//! 3. **normalize**: computes the effective content of complex types ([`NormalizedType`]);
//! 4. **lower**: builds the schema that deltasoap's engine uses.
//!
//! The result can be stored in a file that loads at once: [`Import::compile`].

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builtin;
mod compiled;
mod document;
mod error;
pub mod fetch;
mod importer;
mod limits;
mod load;
pub mod lower;
mod normalize;
mod resolve;
pub mod wsdl;
pub mod xsd;

pub use compiled::Fault as CompiledFault;
pub use document::Place;
pub use error::{Error, ErrorKind, Note, NoteKind, Position};
pub use importer::{Import, Importer};
pub use limits::Limits;
pub use lower::Lowered;
pub use normalize::{NormalizedContent, NormalizedType, Repetitions};
pub use wsdl::Definitions;
pub use xsd::Schemas;
