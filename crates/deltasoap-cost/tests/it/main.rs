//! Tests of the model: whole WSDLs, and queues compared with known results.

mod composites;
mod queueing;
