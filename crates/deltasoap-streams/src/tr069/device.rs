//! A device: its state, and what changes in it from message to message.
//!
//! The documentation of the parent module gives the rules and their frequencies. All randomness of
//! a device comes from its own stream of numbers, so its behavior does not depend on other devices.

use super::Message;
use super::clock::Clock;
use super::sample::{Event, Inform, Layout, Parameter, SAMPLES, samples};
use crate::prng::SplitMix64;

const PERIODIC: &str = "2 PERIODIC";
const VALUE_CHANGE: &str = "4 VALUE CHANGE";
const CONNECTION_REQUEST: &str = "6 CONNECTION REQUEST";
const UP_TIME: &str = "DeviceInfo.UpTime";
const INTERVAL: &str = "ManagementServer.PeriodicInformInterval";

/// A simulated device that has sent `index` messages.
pub(super) struct Device {
    number: u32,
    random: SplitMix64,
    sample: &'static str,
    layout: Layout,
    /// The message to send next.
    next: Inform,
    index: u32,
    /// The time at which it is sent: seconds since the stream began.
    arrival: u64,
    clock: Clock,
    id: Id,
    /// Seconds between two regular messages.
    interval: u64,
    /// Seconds between the start of the device and that of the stream.
    age: u64,
    address: String,
    retry: u32,
}

/// The way in which a device numbers its messages.
#[derive(Clone, Copy)]
enum Id {
    Counting(u32),
    Random,
}

impl Device {
    /// Creates device `number` of the streams of `seed`.
    pub(super) fn new(seed: u64, number: u32) -> Self {
        let mut random = SplitMix64::stream(seed, u64::from(number));
        let sample = samples()[number as usize % SAMPLES];
        let (layout, inform) = Layout::cut(&sample);
        let interval = [300, 600, 900, 1800][random.below(4) as usize];
        let arrival = u64::from(random.below(interval));
        let age = u64::from(random.below(90 * 86_400));
        let mut device = Self {
            number,
            sample: sample.name,
            layout,
            index: 0,
            arrival,
            clock: Clock::parse(time_of(sample.xml)),
            id: Id::from_inform(&inform, &mut random),
            interval: u64::from(interval),
            age,
            address: external_address(&inform).unwrap_or_default(),
            retry: 0,
            next: inform,
            random,
        };
        device.become_another();
        device
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the arrival time of the next message.
    pub(super) fn arrival(&self) -> u64 {
        self.arrival
    }

    /// Sends the next message and prepares the one after it.
    pub(super) fn inform(&mut self) -> Message {
        let xml = self.layout.render(&self.next);
        let message =
            Message { device: self.number, index: self.index, sample: self.sample, arrival: self.arrival, xml };
        self.index += 1;
        self.advance();
        message
    }

    /// Turns the sample into the first message of this device.
    fn become_another(&mut self) {
        let serial = own_serial(&self.next.serial, self.number);
        for parameter in &mut self.next.parameters {
            parameter.value = parameter.value.replace(&self.next.serial, &serial);
            if parameter.name.ends_with("MACAddress") {
                parameter.value = own_mac(&parameter.value, self.number);
            }
        }
        self.next.serial = serial;
        self.move_to_another_address();
        if self.random.one_in(2) {
            let name = self.full_name(UP_TIME);
            self.next.parameters.push(unsigned_int(name, 0));
        }
        self.stamp();
    }

    fn advance(&mut self) {
        self.drop_interval();
        let failed = self.random.one_in(if self.retry == 0 { 48 } else { 4 });
        if failed {
            self.retry_session();
        } else {
            self.start_session();
        }
        self.next.retry = self.retry.to_string();
        self.stamp();
    }

    /// Repeats the same events soon, since the session failed.
    fn retry_session(&mut self) {
        let wait = 5_u32 << self.retry.min(9);
        self.arrival += u64::from(wait + self.random.below(wait + 1));
        self.retry += 1;
    }

    fn start_session(&mut self) {
        self.retry = 0;
        if self.random.one_in(64) {
            self.arrival += 1 + u64::from(self.random.below(self.interval as u32));
            self.next.events = vec![event(CONNECTION_REQUEST)];
            return;
        }
        self.arrival += self.interval - 2 + u64::from(self.random.below(8));
        self.next.events = vec![event(PERIODIC)];
        if self.random.one_in(16) {
            self.move_to_another_address();
            self.next.events.push(event(VALUE_CHANGE));
        }
        if self.random.one_in(20) {
            let name = self.full_name(INTERVAL);
            self.next.parameters.push(unsigned_int(name, self.interval));
        }
    }

    fn drop_interval(&mut self) {
        self.next.parameters.retain(|parameter| !parameter.name.ends_with(INTERVAL));
    }

    fn move_to_another_address(&mut self) {
        let address = random_address(&self.address, &mut self.random);
        for parameter in &mut self.next.parameters {
            parameter.value = parameter.value.replace(&self.address, &address);
        }
        self.address = address;
    }

    /// Updates what changes in every message.
    fn stamp(&mut self) {
        self.next.time = self.clock.after(self.arrival);
        if self.next.id.is_some() {
            self.next.id = Some(self.id.draw(&mut self.random).to_string());
        }
        let up_time = (self.age + self.arrival).to_string();
        let up_time_parameter = self.next.parameters.iter_mut().find(|parameter| parameter.name.ends_with(UP_TIME));
        if let Some(parameter) = up_time_parameter {
            parameter.value = up_time;
        }
    }

    /// Returns `name` below the root of the device's data model, `Device.` or
    /// `InternetGatewayDevice.`.
    fn full_name(&self, name: &str) -> String {
        let first = self.next.parameters.first().map_or("Device.", |parameter| &parameter.name);
        let root = first.split('.').next().unwrap_or_default();
        format!("{root}.{name}")
    }
}

impl Id {
    fn from_inform(inform: &Inform, random: &mut SplitMix64) -> Self {
        let number = inform.id.as_deref().and_then(|id| id.parse::<u32>().ok()).unwrap_or(0);
        if number >= 100_000_000 { Self::Random } else { Self::Counting(number + random.below(900)) }
    }

    fn draw(&mut self, random: &mut SplitMix64) -> u32 {
        match self {
            Self::Random => 100_000_000 + random.below(900_000_000),
            Self::Counting(next) => {
                *next = next.wrapping_add(1);
                next.wrapping_sub(1)
            }
        }
    }
}

fn event(code: &str) -> Event {
    Event { code: code.into(), key: String::new() }
}

fn unsigned_int(name: String, value: u64) -> Parameter {
    Parameter { name, kind: "xsd:unsignedInt".into(), value: value.to_string() }
}

fn time_of(xml: &'static str) -> &'static str {
    let content = xml.split_once("<CurrentTime>").map_or("", |(_, rest)| rest);
    content.split_once('<').map_or("", |(time, _)| time)
}

/// Replaces the last six characters of the serial by the number of the device (modulo a million).
fn own_serial(serial: &str, number: u32) -> String {
    let kept: String = serial.chars().take(serial.chars().count().saturating_sub(6)).collect();
    format!("{kept}{:06}", number % 1_000_000)
}

/// Replaces the last three octets of the MAC address by the number of the device.
fn own_mac(mac: &str, number: u32) -> String {
    let vendor: Vec<&str> = mac.split(':').take(3).collect();
    let [_, a, b, c] = number.to_be_bytes();
    format!("{}:{a:02X}:{b:02X}:{c:02X}", vendor.join(":"))
}

/// Returns the external address: that in the ConnectionRequestURL.
fn external_address(inform: &Inform) -> Option<String> {
    let url = inform.parameters.iter().find(|parameter| parameter.name.ends_with("ConnectionRequestURL"))?;
    let authority = url.value.strip_prefix("http://")?;
    let address = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next()?,
        None => authority.split(':').next()?,
    };
    Some(address.into())
}

/// Returns a random address of the family of `like`: in 198.18.0.0/15 (benchmarks, RFC 2544) or
/// 2001:db8::/32 (documentation, RFC 3849).
fn random_address(like: &str, random: &mut SplitMix64) -> String {
    if like.contains(':') {
        return format!("2001:db8:{:x}::{:x}", 1 + random.below(0xFFFF), 1 + random.below(0xFFFF));
    }
    let low = random.below(1 << 17);
    format!("198.{}.{}.{}", 18 + (low >> 16), (low >> 8) & 0xFF, low & 0xFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_repeats_its_external_address_in_another_parameter() {
        for sample in samples() {
            let (_, inform) = Layout::cut(&sample);
            let address = external_address(&inform).unwrap();
            let repeated = inform.parameters.iter().filter(|parameter| parameter.value.contains(&address)).count();
            assert_eq!(repeated, 2, "{}: {address}", sample.name);
        }
    }

    #[test]
    fn replaced_texts_keep_their_form() {
        assert_eq!(own_serial("EC43F69AF408", 42), "EC43F6000042");
        assert_eq!(own_mac("30:60:23:06:C6:8E", 0x01_02_FF), "30:60:23:01:02:FF");
        let mut random = SplitMix64::new(1);
        assert!(random_address("2a02:980::1", &mut random).starts_with("2001:db8:"));
        assert!(random_address("2.110.1.1", &mut random).starts_with("198.1"));
    }

    #[test]
    fn retries_wait_longer_each_time() {
        let mut device = Device::new(1, 0);
        for (retry, wait) in [(1, 5..=10), (2, 10..=20), (3, 20..=40)] {
            let before = device.arrival;
            device.retry_session();
            assert_eq!(device.retry, retry);
            assert!(wait.contains(&(device.arrival - before)));
        }
    }
}
