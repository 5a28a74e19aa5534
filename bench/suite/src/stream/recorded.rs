//! Streams of vSphere's messages, and their types.

use anyhow::{Context, Result};
use bytes::Bytes;
use deltasoap::Soap;
use deltasoap::soap::decode_request;
use deltasoap::types::Node;
use deltasoap_streams::vsphere;

use super::{Sent, Stream, fixed};
use crate::payload::Same;

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

impl Same for Fetch {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

/// Returns all recorded requests, in recorded order, of one sender.
pub(super) fn fetches() -> Result<Stream<Fetch>> {
    let sent = vsphere::fetch_pairs().map(|(request, _)| decoded(fixed(request.to_vec()), 0));
    Ok(Stream { messages: sent.collect::<Result<_>>()?, senders: 1 })
}

/// Returns all recorded responses, in recorded order, of one sender.
pub(super) fn trees() -> Result<Stream<FetchTree>> {
    let sent = vsphere::fetch_pairs().map(|(_, response)| decoded(fixed(response.to_vec()), 0));
    Ok(Stream { messages: sent.collect::<Result<_>>()?, senders: 1 })
}

/// Returns a message with the value that a new decoder reads from it.
pub(super) fn decoded<T: Same>(bytes: Bytes, sender: usize) -> Result<Sent<T>> {
    let (_, value) = decode_request(&bytes).context("a recorded message is invalid")?;
    Ok(Sent { bytes, value, sender })
}
