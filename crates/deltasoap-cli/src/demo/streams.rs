//! The streams: where their messages come from, and how each reply is checked.

use super::wire::Wire;
use crate::cli::{Demo, StreamName};
use crate::services::{bench, tr069, vsphere};
use anyhow::{Result, bail, ensure};
use bytes::Bytes;
use deltasoap::soap::{Head, Reply, decode_reply};
use deltasoap::{Message, Node};
use deltasoap_http::Client;
use deltasoap_streams::vsphere::{FETCH_PAIRS, fetch_pairs};
use deltasoap_streams::{arrays, prng};
use indicatif::ProgressBar;
use std::net::SocketAddr;

/// Messages of one TR-069 device.
const MESSAGES_PER_DEVICE: u32 = 20;
/// `SOAPAction` of the recorded vSphere clients.
const VSPHERE_ACTION: &str = "urn:vim25/8.0.2.0";

/// Messages of a stream.
pub fn length(name: StreamName, demo: &Demo) -> u64 {
    match name {
        StreamName::Tr069 => u64::from(demo.devices) * u64::from(MESSAGES_PER_DEVICE),
        StreamName::Vsphere => FETCH_PAIRS as u64 * u64::from(demo.sessions),
        _ => u64::from(demo.rounds),
    }
}

/// Exchanges a stream's messages; every reply is checked.
pub async fn run(name: StreamName, demo: &Demo, address: SocketAddr, bar: &ProgressBar) -> Result<()> {
    match name {
        StreamName::Tr069 => inform(demo, address, bar).await,
        StreamName::Vsphere => fetch(demo, address, bar).await,
        _ => Arrays::new(demo, address, bar)?.run(name).await,
    }
}

/// The devices' own bytes; the reply must carry the request's ID and accept one envelope.
async fn inform(demo: &Demo, address: SocketAddr, bar: &ProgressBar) -> Result<()> {
    let wire = Wire::new(format!("http://{address}/tr069"));
    for message in deltasoap_streams::tr069::inform_stream(prng::SEED, demo.devices, MESSAGES_PER_DEVICE) {
        let id = sent_id(&message.xml);
        let is_1_4 = message.xml.contains("urn:dslforum-org:cwmp-1-4");
        let reply = wire.post(Bytes::from(message.xml.into_bytes()), "").await?;
        let (envelopes, reply_id) = if is_1_4 { accepted_1_4(&reply)? } else { accepted_1_0(&reply)? };
        ensure!(envelopes == 1, "the server accepts {envelopes} envelopes");
        ensure!(reply_id == id, "the reply has ID {reply_id:?}, the request had {id:?}");
        bar.inc(1);
    }
    Ok(())
}

fn accepted_1_0(reply: &[u8]) -> Result<(u32, Option<String>)> {
    let (head, response) = response::<tr069::v1_0::InformResponse>(reply)?;
    Ok((response.max_envelopes, reply_id(&head)))
}

fn accepted_1_4(reply: &[u8]) -> Result<(u32, Option<String>)> {
    let (head, response) = response::<tr069::v1_4::InformResponse>(reply)?;
    Ok((response.max_envelopes, reply_id(&head)))
}

fn response<T: Message>(reply: &[u8]) -> Result<(Head, T)> {
    match decode_reply(reply)? {
        (head, Reply::Response(response)) => Ok((head, response)),
        (_, Reply::Fault(fault)) => Err((*fault).into()),
    }
}

fn reply_id(head: &Head) -> Option<String> {
    head.headers.iter().find(|block| block.node.name.local == "ID").map(|block| block.node.text())
}

/// The ID in the text of a request, found without the decoder that is being shown.
fn sent_id(message: &str) -> Option<String> {
    let tag = message.find("<cwmp:ID")?;
    let begin = tag + message[tag..].find('>')? + 1;
    let end = begin + message[begin..].find('<')?;
    Some(message[begin..end].to_owned())
}

/// The recorded clients' own bytes; the reply must say what the recorded server said.
async fn fetch(demo: &Demo, address: SocketAddr, bar: &ProgressBar) -> Result<()> {
    let wire = Wire::new(format!("http://{address}/vsphere"));
    for _ in 0..demo.sessions {
        for (request, recorded) in fetch_pairs() {
            let reply = wire.post(Bytes::from_static(request), VSPHERE_ACTION).await?;
            let reply = vsphere::recorded_response(&reply)?;
            let recorded = vsphere::recorded_response(recorded)?;
            ensure!(
                is_same(reply.returnval.as_ref(), recorded.returnval.as_ref()),
                "the reply is not the recorded one"
            );
            bar.inc(1);
        }
    }
    Ok(())
}

fn is_same(a: Option<&Node>, b: Option<&Node>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.says_the_same(b),
        _ => false,
    }
}

/// The papers' arrays: typed requests through the client; the echo must be what was sent, bit for bit.
struct Arrays<'a> {
    client: Client,
    size: usize,
    rounds: u32,
    bar: &'a ProgressBar,
}

impl<'a> Arrays<'a> {
    fn new(demo: &Demo, address: SocketAddr, bar: &'a ProgressBar) -> Result<Self> {
        let client = Client::new(format!("http://{address}/bench"))?;
        Ok(Arrays { client, size: demo.size, rounds: demo.rounds, bar })
    }

    async fn run(&self, name: StreamName) -> Result<()> {
        match name {
            StreamName::Ints => {
                let request = bench::EchoInts { item: arrays::ints(self.size) };
                self.echo(&request, |reply: &bench::EchoIntsResponse| reply.item == request.item).await
            }
            StreamName::Easy => self.doubles(arrays::easy_doubles(self.size)).await,
            StreamName::Hard => self.doubles(arrays::hard_doubles(self.size)).await,
            StreamName::Structs => {
                let item = arrays::mios(self.size).into_iter().map(|(x, y, v)| bench::Mio { x, y, v }).collect();
                let request = bench::EchoMios { item };
                self.echo(&request, |reply: &bench::EchoMiosResponse| reply.item == request.item).await
            }
            StreamName::Strings => {
                let request = bench::EchoStrings { item: arrays::strings(self.size) };
                self.echo(&request, |reply: &bench::EchoStringsResponse| reply.item == request.item).await
            }
            StreamName::Tr069 | StreamName::Vsphere => bail!("not an array"),
        }
    }

    async fn doubles(&self, item: Vec<f64>) -> Result<()> {
        let request = bench::EchoDoubles { item };
        let bits = |items: &[f64]| items.iter().map(|item| item.to_bits()).collect::<Vec<_>>();
        self.echo(&request, |reply: &bench::EchoDoublesResponse| bits(&reply.item) == bits(&request.item)).await
    }

    async fn echo<Req: Message, Resp: Message>(&self, request: &Req, is_same: impl Fn(&Resp) -> bool) -> Result<()> {
        for _ in 0..self.rounds {
            let reply: Resp = self.client.call(request).await?;
            ensure!(is_same(&reply), "the echo differs from what was sent");
            self.bar.inc(1);
        }
        Ok(())
    }
}
