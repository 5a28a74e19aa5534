//! References of SOAP encoding: graphs of every shape, written in every way; arrays with items left
//! out; hostile messages.

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
