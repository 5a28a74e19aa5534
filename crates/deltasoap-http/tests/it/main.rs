//! The tests of the client and the server, one module per subject. They are one program, because
//! linking each takes longer than running it. Tests that count allocations or set process-wide
//! state are in `tests/alone`.

#[cfg(feature = "tls")]
#[path = "../attack/mod.rs"]
mod attack;
#[path = "../common/mod.rs"]
mod common;

mod action;
mod adaptive;
mod addressing;
mod attachments;
mod attacks;
mod auth;
mod blocking;
mod builders;
mod client;
mod compressed_lists;
mod description;
mod differential;
mod errors;
mod gzip;
mod handlers;
mod hints;
mod http2;
mod inspection;
mod interceptors;
mod items;
mod monitor;
mod multipart;
mod overlaid;
mod page;
mod protocol;
mod proxies;
mod redirects;
mod references;
mod replies;
mod retries;
mod scheduling;
mod security;
mod service;
mod styles;
mod takeover;
mod templates;
mod tls;
mod traces;
mod transports;
mod validation;
mod warm_start;
mod wire;
mod workers;
mod zstd;
