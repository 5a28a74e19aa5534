//! Streams of small messages of real services, and their types.

use anyhow::{Context, Result};
use bytes::Bytes;
use deltasoap::lexical::DateTime;
use deltasoap::soap::decode_request;
use deltasoap::{AnySimple, Node, Soap, SoapArray};
use deltasoap_streams::{prng, tr069, vsphere};

use super::{Sent, Stream, fixed};
use crate::messages::Same;

/// Messages of each device in [`informs`].
const INFORMS: usize = 40;

/// TR-069 `Inform`.
#[derive(Debug, PartialEq, Soap)]
#[soap(element = "Inform", namespace = "urn:dslforum-org:cwmp-1-0", rename_all = "PascalCase")]
pub struct Inform {
    device_id: DeviceId,
    event: SoapArray<EventStruct>,
    max_envelopes: u32,
    current_time: DateTime,
    retry_count: u32,
    parameter_list: SoapArray<ParameterValueStruct>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(rename_all = "PascalCase")]
struct DeviceId {
    manufacturer: String,
    #[soap(name = "OUI")]
    oui: String,
    product_class: String,
    serial_number: String,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(item_name = "EventStruct", rename_all = "PascalCase")]
struct EventStruct {
    event_code: String,
    command_key: String,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(item_name = "ParameterValueStruct", rename_all = "PascalCase")]
struct ParameterValueStruct {
    name: String,
    value: AnySimple,
}

/// vSphere `Fetch`.
#[derive(Debug, PartialEq, Soap)]
#[soap(element = "Fetch", namespace = "urn:vim25", qualified)]
pub struct Fetch {
    #[soap(name = "_this")]
    this: ManagedObjectReference,
    prop: Prop,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25")]
struct ManagedObjectReference {
    #[soap(attribute, name = "versionId")]
    version_id: Option<String>,
    #[soap(attribute, name = "type")]
    kind: String,
    #[soap(text)]
    value: String,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:vim25")]
struct Prop {
    #[soap(attribute, name = "versionId")]
    version_id: String,
    #[soap(text)]
    value: String,
}

/// The response of vSphere's `Fetch`, as a tree.
#[derive(Debug, PartialEq, Soap)]
#[soap(element = "FetchResponse", namespace = "urn:vim25", qualified)]
pub struct FetchTree {
    returnval: Option<Node>,
}

impl Same for FetchTree {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Same for Inform {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Same for Fetch {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

/// Messages of one device of each sample, in the order of their arrival; without the one that speaks another version of
/// CWMP, which is a message of another type. Each device is a sender.
pub(super) fn informs() -> Result<Stream<Inform>> {
    let devices = tr069::SAMPLES as u32;
    let is_of_the_version = |message: &tr069::Message| message.xml.contains("urn:dslforum-org:cwmp-1-0");
    let stream = tr069::inform_stream(prng::SEED, devices, INFORMS as u32).filter(is_of_the_version);
    let sent = stream.map(|message| decoded(fixed(message.xml.into_bytes()), message.device as usize));
    Ok(Stream { messages: sent.collect::<Result<_>>()?, senders: tr069::SAMPLES })
}

/// All recorded requests, in recorded order, of one sender.
pub(super) fn fetches() -> Result<Stream<Fetch>> {
    let sent = vsphere::fetch_pairs().map(|(request, _)| decoded(fixed(request.to_vec()), 0));
    Ok(Stream { messages: sent.collect::<Result<_>>()?, senders: 1 })
}

/// All recorded responses, in recorded order, of one sender.
pub(super) fn trees() -> Result<Stream<FetchTree>> {
    let sent = vsphere::fetch_pairs().map(|(_, response)| decoded(fixed(response.to_vec()), 0));
    Ok(Stream { messages: sent.collect::<Result<_>>()?, senders: 1 })
}

/// A message with the value that a decoder finds in it that has seen no other.
fn decoded<T: Same>(bytes: Bytes, sender: usize) -> Result<Sent<T>> {
    let (_, value) = decode_request(&bytes).context("a recorded message is at fault")?;
    Ok(Sent { bytes, value, sender })
}
