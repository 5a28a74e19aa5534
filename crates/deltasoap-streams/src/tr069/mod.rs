//! Derived TR-069 `Inform` streams: what a management server receives from its modems and routers.
//!
//! **The streams are derived, not recorded.** A real sample of each device is public, but its
//! successors are not. So a generator takes the sample and changes from message to message what
//! changes in practice. Everything else, including white space, prefixes and the order of
//! attributes, remains that of the sample, byte for byte.
//! `testdata/sequences/tr069-inform/README.md` lists the sources of the samples.
//!
//! # The first message of a device
//!
//! Device `d` sends messages like sample `d` modulo [`SAMPLES`]. Its first message differs from the
//! sample in:
//!
//! - **SerialNumber**: the last six characters are `d` in decimal; likewise wherever else the
//!   serial occurs (a URL), and the last three octets of a MAC address (in hexadecimal);
//! - **the external address**, there and in the ConnectionRequestURL: a random one of 198.18.0.0/15
//!   or 2001:db8::/32, ranges that are assigned to nobody;
//! - **`cwmp:ID`**: the sample's number plus a random one below 900; a random number of nine digits
//!   where the sample has nine (one sample has no Header, and so no ID);
//! - **CurrentTime**: the sample's time plus the arrival; the offset from UTC does not change. (One
//!   sample's time, `11:54::14`, is not an xsd:dateTime; its stream has `11:54:14`.)
//! - **UpTime**: every other device on average appends a parameter `DeviceInfo.UpTime`, an
//!   `xsd:unsignedInt` (a parameter on which the server has set passive notification).
//!
//! # The next messages
//!
//! A device sends an `Inform` every 300, 600, 900 or 1800 seconds. Each message differs from the
//! one before it in:
//!
//! - `cwmp:ID`: always: plus 1, or random (see above)
//! - CurrentTime: always: plus the interval and a jitter of -2 to +5 seconds
//! - UpTime: always, if the device has it: advances like CurrentTime
//! - RetryCount: 0; in 1 message of 48 a session has failed: the count goes up by 1, the message
//!   comes after 5 to 10 seconds (doubled for each further retry), its events stay. 1 retry of 4
//!   fails again
//! - Event: `2 PERIODIC`. 1 message of 64 comes early, within the interval, with `6 CONNECTION
//!   REQUEST` alone
//! - address: 1 message of 16 has a new one, with the event `4 VALUE CHANGE` appended: two events,
//!   `EventStruct[2]`
//! - ParameterList: 1 message of 20 has one parameter more,
//!   `ManagementServer.PeriodicInformInterval`; the next has one less again
//!
//! The numbers in `arrayType` always agree with the items and keep the sample's form (`[0008]`).

mod clock;
mod device;
mod sample;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use device::Device;
pub use sample::{SAMPLES, Sample, samples};

/// An `Inform` message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Number of the device, from 0.
    pub device: u32,
    /// Number of the message among its device's, from 0.
    pub index: u32,
    /// Name of the sample that it derives from: a file of `testdata/sequences/tr069-inform` without
    /// `.xml`.
    pub sample: &'static str,
    /// The arrival time: seconds since the stream began.
    pub arrival: u64,
    /// The message as the device sends it, in UTF-8.
    pub xml: String,
}

/// Returns the messages of `devices` devices, `per_device` of each, in the order of their arrival.
///
/// The same arguments give the same stream. A device's messages depend on `seed` and its number
/// alone, so [`device_stream`] gives the same ones. Memory is proportional to `devices`.
pub fn inform_stream(seed: u64, devices: u32, per_device: u32) -> impl Iterator<Item = Message> {
    let mut fleet: Vec<Device> = (0..devices).map(|number| Device::new(seed, number)).collect();
    let first = fleet.iter().map(|device| Reverse((device.arrival(), device.number())));
    let mut queue: BinaryHeap<_> = if per_device == 0 { BinaryHeap::new() } else { first.collect() };
    std::iter::from_fn(move || {
        let Reverse((_, number)) = queue.pop()?;
        let device = fleet.get_mut(number as usize)?;
        let message = device.inform();
        if message.index + 1 < per_device {
            queue.push(Reverse((device.arrival(), number)));
        }
        Some(message)
    })
}

/// Returns the messages of device number `device` alone, without end: its part of any
/// [`inform_stream`] with the same seed.
pub fn device_stream(seed: u64, device: u32) -> impl Iterator<Item = Message> {
    let mut device = Device::new(seed, device);
    std::iter::repeat_with(move || device.inform())
}
