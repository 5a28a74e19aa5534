//! The recorded and derived streams: their senders' own bytes, and the check of each reply.

use super::meter::Meter;
use super::per_mode::{Mode, PerMode};
use super::reply_recorder::Pieces;
use super::server::DemoServer;
use super::wire::Wire;
use crate::services::{tr069, vsphere};
use anyhow::{Result, ensure};
use bytes::Bytes;
use deltasoap::Message;
use deltasoap::soap::{Head, Reply, decode_reply};
use deltasoap::types::Node;
use deltasoap_streams::tr069::{Message as Inform, device_stream};
use deltasoap_streams::{prng, vsphere as recorded};

/// Number of messages of one TR-069 device.
pub const MESSAGES_PER_DEVICE: u32 = 20;
/// Number of devices that are connected at one time: each takes four of the process's file handles.
const CONNECTED: u32 = 100;
/// `User-Agent` of senders that need no name of their own.
const AGENT: &str = concat!("deltasoap/", env!("CARGO_PKG_VERSION"));
/// `SOAPAction` of the recorded vSphere clients.
const VSPHERE_ACTION: &str = "urn:vim25/8.0.2.0";

/// Sends the Informs of TR-069 devices that stay connected, in turn.
pub async fn inform(devices: u32, servers: &PerMode<DemoServer>, meter: &mut Meter) -> Result<()> {
    for first in (0..devices).step_by(CONNECTED as usize) {
        let fleet = first..devices.min(first + CONNECTED);
        let mut fleet: Vec<_> =
            fleet.map(|device| (wires(servers, "/tr069", AGENT), device_stream(prng::SEED, device))).collect();
        for _ in 0..MESSAGES_PER_DEVICE {
            for (wires, messages) in &mut fleet {
                let Some(message) = messages.next() else { continue };
                meter.both(async |mode| inform_once(&wires[mode], &message).await).await?;
            }
        }
    }
    Ok(())
}

/// Sends the Informs of TR-069 devices that reconnect for each message, in the order of their
/// arrival. Each identifies its model, so that the server compares with the last message of the
/// same model.
pub async fn inform_reconnecting(devices: u32, servers: &PerMode<DemoServer>, meter: &mut Meter) -> Result<()> {
    for message in deltasoap_streams::tr069::inform_stream(prng::SEED, devices, MESSAGES_PER_DEVICE) {
        let exchange =
            async |mode| inform_once(&Wire::new(servers[mode].url("/tr069"), message.sample), &message).await;
        meter.both(exchange).await?;
    }
    Ok(())
}

fn wires(servers: &PerMode<DemoServer>, path: &str, agent: &'static str) -> PerMode<Wire> {
    servers.map(|server| Wire::new(server.url(path), agent))
}

/// Sends one message and returns the reply, which must carry the request's ID and accept one
/// envelope.
async fn inform_once(wire: &Wire, message: &Inform) -> Result<Pieces> {
    let id = sent_id(&message.xml);
    let reply = wire.post(Bytes::from(message.xml.clone()), "").await?;
    let is_1_4 = message.xml.contains("urn:dslforum-org:cwmp-1-4");
    let (envelopes, reply_id) = if is_1_4 { accepted_1_4(&reply)? } else { accepted_1_0(&reply)? };
    ensure!(envelopes == 1, "the server accepts {envelopes} envelopes");
    ensure!(reply_id == id, "the reply has ID {reply_id:?}, the request had {id:?}");
    Ok(vec![reply])
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

/// Returns the ID in the text of a request, found without the decoder under demonstration.
fn sent_id(message: &str) -> Option<String> {
    let tag = message.find("<cwmp:ID")?;
    let begin = tag + message[tag..].find('>')? + 1;
    let end = begin + message[begin..].find('<')?;
    Some(message[begin..end].to_owned())
}

/// Sends the recorded vSphere clients' requests, over one connection.
pub async fn fetch(sessions: u32, servers: &PerMode<DemoServer>, meter: &mut Meter) -> Result<()> {
    let wires = wires(servers, "/vsphere", AGENT);
    for _ in 0..sessions {
        for (request, response) in recorded::fetch_pairs() {
            meter.both(async |mode: Mode| fetch_once(&wires[mode], request, response).await).await?;
        }
    }
    Ok(())
}

/// Sends one request and returns the reply, which must equal the recorded one.
async fn fetch_once(wire: &Wire, request: &'static [u8], recorded: &[u8]) -> Result<Pieces> {
    let bytes = wire.post(Bytes::from_static(request), VSPHERE_ACTION).await?;
    let reply = vsphere::recorded_response(&bytes)?;
    let recorded = vsphere::recorded_response(recorded)?;
    ensure!(is_same(reply.returnval.as_ref(), recorded.returnval.as_ref()), "the reply is not the recorded one");
    Ok(vec![bytes])
}

fn is_same(a: Option<&Node>, b: Option<&Node>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.is_equivalent(b),
        _ => false,
    }
}
