//! Generated code: its content for a WSDL, whether it compiles, and the messages that it reads.

mod builder;
mod corpus;
mod goldens;
mod hostile;
mod messages;
mod python;
mod support;
mod wsdl_macro;
