//! Calls by deltasoap's client to a server of the suite.
//!
//! The time of a call begins with the values to send, and ends with those of the response,
//! including dropping the previous values. Connections are persistent.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use deltasoap::client::{CallError, HttpTransport};
use deltasoap::engine::{Buffer, Differential, Templating};
use deltasoap::schema::Use;
use deltasoap::soap::Envelope;
use deltasoap::tls::{ClientTls, Roots};
use deltasoap::transport::Compression;
use deltasoap::{Client, Lease, Message};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

use crate::allocator;
use crate::engine::{Session, WrongValues, timed};

/// The directions that use differential mode, at the client and at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// None: every message is read and written in full
    Regular,
    /// Decoding
    Decode,
    /// Encoding
    Encode,
    /// Both, the default
    Both,
}

/// All modes, in the order of reports.
pub const MODES: [Mode; 4] = [Mode::Regular, Mode::Decode, Mode::Encode, Mode::Both];

impl Mode {
    /// Returns the options for reading.
    pub fn differential(self) -> Differential {
        if matches!(self, Mode::Decode | Mode::Both) { Differential::default() } else { Differential::OFF }
    }

    /// Returns the options for writing.
    pub fn templating(self) -> Templating {
        if matches!(self, Mode::Encode | Mode::Both) { Templating::default() } else { Templating::OFF }
    }

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Regular => "regular",
            Mode::Decode => "differential decoding",
            Mode::Encode => "differential encoding",
            Mode::Both => "differential, both",
        }
    }
}

/// The client's options for a server.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The server's address.
    pub address: SocketAddr,
    /// The directions that use differential mode.
    pub mode: Mode,
    /// True if messages are compressed in both directions.
    pub is_gzip: bool,
    /// The trusted root certificates; `None` without TLS.
    pub roots: Option<Roots>,
    /// The encoding of requests.
    pub encoding: Use,
}

impl Setup {
    /// Creates options without compression, TLS and SOAP encoding.
    pub fn new(address: SocketAddr, mode: Mode) -> Self {
        Setup { address, mode, is_gzip: false, roots: None, encoding: Use::Literal }
    }

    fn client(&self) -> Result<Client> {
        let scheme = if self.roots.is_some() { "https" } else { "http" };
        let differential = self.mode.differential();
        let builder = Client::builder(format!("{scheme}://{}/bench", self.address))
            .encoding(self.encoding)
            .differential(differential)
            .templating(self.mode.templating())
            .hints(self.mode == Mode::Both)
            .compression(if self.is_gzip { Compression::ALWAYS } else { Compression::OFF })
            .accept_gzip(self.is_gzip);
        let transport = match &self.roots {
            Some(roots) => HttpTransport::with_tls(ClientTls::new(roots.clone()))?,
            None => HttpTransport::new(),
        };
        Ok(builder.build_with(transport)?)
    }
}

/// A response with a checksum.
pub trait Answer: Message + Send + 'static {
    /// Returns the checksum of the peer protocol.
    fn checksum(&self) -> String;
}

/// Consecutive calls of an operation.
pub struct Calls<Request, Response> {
    runtime: Runtime,
    client: Client,
    is_leased: bool,
    /// The alternating requests, each with the checksum of the expected response.
    ring: Vec<(Request, String)>,
    next: usize,
    /// Index of the last request in the ring, and its response.
    last: Option<(usize, CallResponse<Response>)>,
    bytes: usize,
}

/// A response.
enum CallResponse<T> {
    Own(T),
    Leased(Lease<T>),
}

impl<T> CallResponse<T> {
    fn value(&self) -> &T {
        match self {
            CallResponse::Own(value) => value,
            CallResponse::Leased(lease) => lease,
        }
    }
}

impl<Request: Message, Response: Answer> Calls<Request, Response> {
    /// Makes the first call. The ring must not be empty.
    ///
    /// # Errors
    /// When the call fails.
    pub fn open(setup: &Setup, ring: Vec<(Request, String)>) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let first = &ring.first().context("nothing to send")?.0;
        let bytes = Envelope::new(first).encoding(setup.encoding).write(Buffer::new())?.len();
        let is_leased = matches!(setup.mode, Mode::Decode | Mode::Both);
        let mut calls = Calls { runtime, client: setup.client()?, is_leased, ring, next: 0, last: None, bytes };
        calls.run(1)?;
        calls.check()?;
        Ok(calls)
    }

    fn call_once(&mut self) -> Result<u64> {
        let index = self.next % self.ring.len();
        self.next = index + 1;
        let Calls { runtime, client, is_leased, ring, last, .. } = self;
        let (ns, got) = timed(|| {
            drop(last.take());
            runtime.block_on(call(client, &ring[index].0, *is_leased))
        });
        self.last = Some((index, got?));
        Ok(ns)
    }
}

async fn call<Request: Message, Response: Answer>(
    client: &Client,
    request: &Request,
    is_leased: bool,
) -> Result<CallResponse<Response>, CallError> {
    Ok(if is_leased {
        CallResponse::Leased(client.call_leased_as(request).await?)
    } else {
        CallResponse::Own(client.call_as(request).await?)
    })
}

impl<Request: Message, Response: Answer> Session for Calls<Request, Response> {
    /// Returns the size of the first request.
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        (0..count).map(|_| self.call_once()).collect()
    }

    fn check(&mut self) -> Result<()> {
        let (index, got) = self.last.as_ref().context("nothing was called")?;
        let (found, expected) = (got.value().checksum(), &self.ring[*index].1);
        Ok(WrongValues::unless_same(&found, expected)?)
    }

    /// Measures the client during one call.
    fn peak_bytes(&mut self) -> Result<u64> {
        let (result, peak) = allocator::peak_of(|| self.call_once());
        result?;
        self.check()?;
        Ok(peak)
    }
}
