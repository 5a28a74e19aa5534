//! A load generator for services over HTTP/1.1, made for SOAP: many connections, in a closed or an
//! open loop, and a check of every answer.
//!
//! It knows nothing of messages. A [`Traffic`] has the requests as bytes, prepared beforehand, and
//! checks the answers; a [`Plan`] says how many are sent and when; [`run`] returns what happened.
//! The generator must be light, so that the server is what is measured: a request is one buffer, an
//! answer is checked in the connection's buffer, and a connection has one request in flight.
//!
//! - **Closed loop**: each connection sends its next request after the previous answer.
//! - **Open loop**: requests have fixed times, whether the server keeps up or not. A request that no
//!   connection could send in time is late, and its latency counts from its scheduled time, so that
//!   a server that stalls does not hide the requests it kept from being sent (*coordinated
//!   omission*).
//!
//! Latencies end when the answer is read, before it is checked.
//!
//! ```
//! use deltasoap_load::{Answer, Failed, Failure, Plan, Stop, Target, Traffic, Turn, run};
//! # use std::io::{BufRead, BufReader, Write};
//! # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
//! # let address = listener.local_addr()?;
//! # std::thread::spawn(move || {
//! #     let stream = listener.accept().unwrap().0;
//! #     for line in BufReader::new(stream.try_clone().unwrap()).lines() {
//! #         if line.unwrap().is_empty() {
//! #             (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
//! #         }
//! #     }
//! # });
//!
//! struct Get;
//!
//! impl Traffic for Get {
//!     fn kinds(&self) -> usize {
//!         1
//!     }
//!     fn kind(&self, _: u64) -> usize {
//!         0
//!     }
//!     fn request<'a>(&'a self, _: Turn, _: &'a mut Vec<u8>) -> &'a [u8] {
//!         b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
//!     }
//!     fn check(&self, _: Turn, answer: &Answer<'_>) -> Result<(), Failed> {
//!         if answer.status == 200 { Ok(()) } else { Err(Failure::Status(answer.status).into()) }
//!     }
//! }
//!
//! let plan = Plan { requests: Some(100), ..Plan::default() };
//! let outcome = run(&Target::plain(address), Get, &plan, &Stop::default(), &mut ())?;
//! assert_eq!((outcome.total().latencies.len(), outcome.total().failed()), (100, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod generate;
mod pace;
mod plan;
mod record;
mod series;
mod wire;

pub use generate::{End, LoadError, Outcome, Progress, Stop, Watch, run, runtime};
pub use pace::Arrivals;
pub use plan::{Plan, Shares, Traffic, Turn};
pub use record::{Failed, Failure, Failures, Lateness, Tally};
pub use rustls::ClientConfig;
pub use series::{Series, Stretch};
pub use wire::{Answer, MAX_ANSWER, Target, Wire};
