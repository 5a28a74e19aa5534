//! WSDL 1.1 and XML Schema 1.0, in four stages, each with a model of its own.
//!
//! 1. **load**: documents, each once, and all that they import;
//! 2. **resolve**: components, with every reference looked up ([`Schemas`], [`Definitions`]);
//! 3. **normalize**: what content types have in the end ([`Normal`]);
//! 4. **lower**: the schema that deltasoap's engine reads.
//!
//! What comes out can be kept as a file that loads at once: [`Import::compile`].

#![forbid(unsafe_code)]

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
pub use normalize::{Normal, NormalContent, Repeated};
pub use wsdl::Definitions;
pub use xsd::Schemas;
