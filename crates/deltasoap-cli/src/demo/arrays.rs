//! The papers' arrays: typed requests through the client; a share of the values changes from one
//! request to the next.

use super::meter::Meter;
use super::per_mode::PerMode;
use super::reply_recorder::ReplyRecorder;
use super::server::DemoServer;
use crate::cli::{Demo, StreamName};
use crate::services::bench::{self, Mio};
use anyhow::{Result, bail, ensure};
use deltasoap::Message;
use deltasoap::engine::Templating;
use deltasoap_http::Client;
use deltasoap_streams::arrays;
use deltasoap_streams::prng::SplitMix64;
use deltasoap_streams::similar::{self, Changes};

/// Number of different messages of one stream: they are sent in a cycle.
const RING: u32 = 4;

/// The stream of an array.
pub struct Arrays<'a> {
    clients: PerMode<Client<ReplyRecorder>>,
    recorders: PerMode<ReplyRecorder>,
    meter: &'a mut Meter,
    size: usize,
    rounds: u32,
    changes: Changes,
}

impl<'a> Arrays<'a> {
    /// Creates clients of both services, each with a connection of its own.
    pub fn new(demo: &Demo, servers: &PerMode<DemoServer>, meter: &'a mut Meter) -> Result<Self> {
        let recorders = PerMode::<ReplyRecorder>::default();
        let client = |server: &DemoServer, templating, recorder: &ReplyRecorder| {
            Client::builder(server.url("/bench")).templating(templating).build_with(recorder.clone())
        };
        let clients = PerMode {
            regular: client(&servers.regular, Templating::OFF, &recorders.regular)?,
            differential: client(&servers.differential, Templating::default(), &recorders.differential)?,
        };
        let changes = Changes { percent: demo.changed, partitions: demo.partitions as usize };
        Ok(Arrays { clients, recorders, meter, size: demo.size, rounds: demo.rounds, changes })
    }

    /// Exchanges a stream's messages. Each echo must equal the request, bit for bit.
    pub async fn run(&mut self, name: StreamName) -> Result<()> {
        let n = self.size;
        match name {
            StreamName::Ints => self.ints().await,
            StreamName::Easy => self.doubles(&arrays::easy_doubles(n), similar::easy_double(n)).await,
            StreamName::Hard => self.doubles(&arrays::hard_doubles(n), similar::hard_double).await,
            StreamName::Structs => self.structs().await,
            StreamName::Strings => self.strings().await,
            _ => bail!("not an array"),
        }
    }

    async fn ints(&mut self) -> Result<()> {
        let ring = self.ring(&arrays::ints(self.size), similar::int(self.size), |item| bench::EchoInts { item });
        self.echo(&ring, |sent, reply: &bench::EchoIntsResponse| sent.item == reply.item).await
    }

    async fn doubles(&mut self, first: &[f64], draw: impl FnMut(&mut SplitMix64) -> f64) -> Result<()> {
        let ring = self.ring(first, draw, |item| bench::EchoDoubles { item });
        let bits = |items: &[f64]| items.iter().map(|item| item.to_bits()).collect::<Vec<_>>();
        self.echo(&ring, |sent, reply: &bench::EchoDoublesResponse| bits(&sent.item) == bits(&reply.item)).await
    }

    async fn structs(&mut self) -> Result<()> {
        let mio = |(x, y, v)| Mio { x, y, v };
        let ring = self.ring(&arrays::mios(self.size), similar::mio(self.size), |items| bench::EchoMios {
            item: items.into_iter().map(mio).collect(),
        });
        self.echo(&ring, |sent, reply: &bench::EchoMiosResponse| sent.item == reply.item).await
    }

    async fn strings(&mut self) -> Result<()> {
        let ring = self.ring(&arrays::strings(self.size), similar::string, |item| bench::EchoStrings { item });
        self.echo(&ring, |sent, reply: &bench::EchoStringsResponse| sent.item == reply.item).await
    }

    /// Creates a cycle of requests: the first follows the last.
    fn ring<T: Clone + PartialEq, R>(
        &self,
        first: &[T],
        draw: impl FnMut(&mut SplitMix64) -> T,
        request: impl Fn(Vec<T>) -> R,
    ) -> Vec<R> {
        let ring = similar::changed(first, self.changes, self.rounds.min(RING) as usize, draw);
        ring.into_iter().map(request).collect()
    }

    async fn echo<Req: Message, Resp: Message>(
        &mut self,
        ring: &[Req],
        is_same: impl Fn(&Req, &Resp) -> bool,
    ) -> Result<()> {
        let (clients, recorders) = (&self.clients, &self.recorders);
        for request in ring.iter().cycle().take(self.rounds as usize) {
            let exchange = async |mode| {
                let reply: Resp = clients[mode].call_as(request).await?;
                ensure!(is_same(request, &reply), "the echo differs from what was sent");
                Ok(recorders[mode].take())
            };
            self.meter.both(exchange).await?;
        }
        Ok(())
    }
}
