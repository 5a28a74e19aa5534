//! Calls by deltasoap's own client to a server of the suite.
//!
//! A call is timed from the values that are sent until those of the response are there, the release
//! of the values before included. Connections are kept alive.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use deltasoap::http::{CallError, Client, ClientTls, Compression, HttpTransport, Roots};
use deltasoap::schema::Use;
use deltasoap::soap::{Version, encode_message};
use deltasoap::{Buffer, DecodeOptions, Differential, Lease, Message, Templating};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

use crate::engine::{Session, WrongValues, timed};
use crate::memory;

/// Which directions work differentially, at the client and at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// None: every message is read and written in full.
    Regular,
    /// Decoding.
    Decode,
    /// Encoding.
    Encode,
    /// Both, as it is by default.
    Both,
}

/// All modes, in the order of reports.
pub const MODES: [Mode; 4] = [Mode::Regular, Mode::Decode, Mode::Encode, Mode::Both];

impl Mode {
    /// How messages are read.
    pub fn differential(self) -> Differential {
        if matches!(self, Mode::Decode | Mode::Both) { Differential::default() } else { Differential::OFF }
    }

    /// How messages are written.
    pub fn templating(self) -> Templating {
        if matches!(self, Mode::Encode | Mode::Both) { Templating::default() } else { Templating::OFF }
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Regular => "regular",
            Mode::Decode => "differential decoding",
            Mode::Encode => "differential encoding",
            Mode::Both => "differential, both",
        }
    }
}

/// How the client speaks to the server.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where the server listens.
    pub address: SocketAddr,
    /// What works differentially.
    pub mode: Mode,
    /// True if messages are compressed both ways.
    pub is_gzip: bool,
    /// Who vouches for the server; `None` without TLS.
    pub roots: Option<Roots>,
    /// How requests are laid out.
    pub encoding: Use,
}

impl Setup {
    /// Everything in full, in the clear, literal.
    pub fn new(address: SocketAddr, mode: Mode) -> Self {
        Setup { address, mode, is_gzip: false, roots: None, encoding: Use::Literal }
    }

    fn client(&self) -> Result<Client> {
        let scheme = if self.roots.is_some() { "https" } else { "http" };
        let differential = self.mode.differential();
        let builder = Client::builder(format!("{scheme}://{}/bench", self.address))
            .encoding(self.encoding)
            .options(DecodeOptions { differential, ..DecodeOptions::default() })
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

/// A response whose values can be told.
pub trait Answer: Message + Send + 'static {
    /// The checksum of the peer protocol.
    fn checksum(&self) -> String;
}

/// Calls of an operation, one after the other.
pub struct Calls<Request, Response> {
    runtime: Runtime,
    client: Client,
    is_leased: bool,
    /// What is sent by turns, with the checksum of what must come back.
    ring: Vec<(Request, String)>,
    next: usize,
    /// Which of the ring was sent last, and what came back.
    last: Option<(usize, Got<Response>)>,
    bytes: usize,
}

/// A response.
enum Got<T> {
    Own(T),
    Leased(Lease<T>),
}

impl<T> Got<T> {
    fn value(&self) -> &T {
        match self {
            Got::Own(value) => value,
            Got::Leased(lease) => lease,
        }
    }
}

impl<Request: Message, Response: Answer> Calls<Request, Response> {
    /// Makes the first call. The ring is not empty.
    ///
    /// # Errors
    /// When that fails.
    pub fn open(setup: &Setup, ring: Vec<(Request, String)>) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let first = &ring.first().context("nothing to send")?.0;
        let bytes = encode_message(Version::Soap11, setup.encoding, &[], first, Buffer::new())?.len();
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
) -> Result<Got<Response>, CallError> {
    Ok(if is_leased { Got::Leased(client.call_leased(request).await?) } else { Got::Own(client.call(request).await?) })
}

impl<Request: Message, Response: Answer> Session for Calls<Request, Response> {
    /// Of the first request.
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

    /// Of the client, in one call.
    fn peak_bytes(&mut self) -> Result<u64> {
        let (result, peak) = memory::peak_of(|| self.call_once());
        result?;
        self.check()?;
        Ok(peak)
    }
}
