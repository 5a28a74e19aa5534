//! Generated code: what is written for a description, that it compiles, and what it reads.

mod builder;
mod corpus;
mod goldens;
mod hostile;
mod messages;
mod support;
