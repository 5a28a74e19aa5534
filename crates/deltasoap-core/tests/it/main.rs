//! The tests of the crate's interface, one module per subject. They are one program, because
//! linking each of them takes longer than running it.

#[path = "../support/dynamic.rs"]
mod dynamic;
#[path = "../support/edits.rs"]
mod edits;
#[path = "../support/gaps.rs"]
mod gaps;
#[path = "../support/generate.rs"]
mod generate;
#[path = "../support/kinds.rs"]
mod kinds;
#[path = "../support/laws.rs"]
mod laws;
#[path = "../support/repeats.rs"]
mod repeats;
#[path = "../support/sender.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod sender;
#[path = "../support/streams.rs"]
mod streams;
#[path = "../support/template_streams.rs"]
mod template_streams;
#[path = "../support/updates.rs"]
mod updates;

mod addressing;
mod any_order;
mod bounded;
mod columns;
mod default_namespace;
mod described_overlay;
mod differential;
mod differential_shapes;
mod encode_differential;
mod encode_shapes;
mod envelope;
mod fault;
mod memories;
mod mending;
mod mixed_streams;
mod node;
mod positions;
mod predicted;
mod qname;
mod reuse;
mod roots;
mod round_trips;
mod sample;
mod tables;
mod tolerance;
mod trees;
mod values;
mod white_space;
