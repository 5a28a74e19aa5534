//! TR-069 `Inform`: messages of devices to their server.

use std::sync::LazyLock;

use anyhow::Result;
use deltasoap::lexical::DateTime;
use deltasoap::types::AnySimple;
use deltasoap::{Soap, SoapArray};
use deltasoap_streams::{prng, tr069};

use super::recorded::decoded;
use super::{Stream, fixed};
use crate::payload::Same;

/// Number of messages of each device in a [`stream`].
const EACH: usize = 40;
/// Approximate size of a typical message in bytes.
const USUAL: usize = 3 << 10;

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

impl Same for Inform {
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

fn is_of_the_version(message: &tr069::Message) -> bool {
    message.xml.contains("urn:dslforum-org:cwmp-1-0")
}

/// Returns the first message of the device whose messages are closest to the typical size.
pub fn one() -> &'static [u8] {
    static ONE: LazyLock<String> = LazyLock::new(|| {
        let first = tr069::inform_stream(prng::SEED, tr069::SAMPLES as u32, 1).filter(is_of_the_version);
        first.map(|message| message.xml).min_by_key(|xml| xml.len().abs_diff(USUAL)).unwrap_or_default()
    });
    ONE.as_bytes()
}

/// Returns messages of one device of each sample, in order of arrival, except the one with another
/// version of CWMP, whose message type differs. Each device is a sender.
pub(super) fn stream() -> Result<Stream<Inform>> {
    let devices = tr069::SAMPLES as u32;
    let stream = tr069::inform_stream(prng::SEED, devices, EACH as u32).filter(is_of_the_version);
    let sent = stream.map(|message| decoded(fixed(message.xml.into_bytes()), message.device as usize));
    Ok(Stream { messages: sent.collect::<Result<_>>()?, senders: tr069::SAMPLES })
}
