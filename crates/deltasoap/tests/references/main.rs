//! References of SOAP encoding: graphs of every shape, written in every way; arrays with omitted
//! items; hostile messages.

mod around;
mod arrays;
mod captured;
mod dynamic;
mod graph;
mod graphs;
mod hostile;
mod repeats;
mod support;
mod trees;
mod writing;
