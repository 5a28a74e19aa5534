//! What devices send: an `Inform` of TR-069 with parameters that differ from device to device, and a
//! few values that differ from session to session.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use deltasoap_test_support::Chance;
use std::fmt::Write as _;
use std::net::IpAddr;

/// The fewest and the most parameters of a device, besides those that change.
const PARAMETERS: (usize, usize) = (10, 24);
/// Devices of as many models send different `User-Agent` headers.
const MODELS: usize = 3;
/// Characters of texts: some have to be escaped.
const CHARACTERS: [char; 10] = ['a', 'e', 'R', 'Z', '7', '&', '<', 'é', '"', ' '];

/// A device.
#[derive(Debug)]
pub struct Device {
    number: usize,
    serial: String,
    model: usize,
    authorization: String,
    /// Parameters that stay as they are: names, types and values.
    parameters: Vec<(String, &'static str, String)>,
}

impl Device {
    /// Creates the device with a number. The same number is always the same device.
    pub fn new(seed: u64, number: usize) -> Self {
        let mut chance = Chance::new(seed, number as u64);
        let serial = format!("DS{number:06}");
        let authorization = BASE64.encode(format!("{serial}:secret"));
        let count = chance.between(PARAMETERS.0, PARAMETERS.1);
        let parameters = (0..count).map(|index| parameter(index, &mut chance)).collect();
        Device { number, serial, model: number % MODELS, authorization, parameters }
    }

    /// Returns the address of this machine that the device calls from: a different one for each.
    pub fn address(&self) -> IpAddr {
        let [.., b, c, d] = (self.number as u32 + 1).to_be_bytes();
        IpAddr::from([127, 1 + b, c, d])
    }

    /// Returns the `Inform` of a session, and the key that the server must compute from it.
    /// `attempt` is 0 the first time.
    pub fn inform(&self, session: usize, attempt: usize) -> (String, String) {
        let mut chance = Chance::new(self.number as u64, session as u64);
        let time = format!("2026-11-{:02}T{:02}:{:02}:07Z", 1 + session / 24 % 28, session % 24, self.number % 60);
        let changing = [
            ("Device.DeviceInfo.UpTime", 1000 * self.number + 600 * session),
            ("Device.IP.Interface.1.Stats.BytesSent", chance.below(4_000_000_000)),
            ("Device.IP.Interface.1.Stats.BytesReceived", chance.below(4_000_000_000)),
            ("Device.Hosts.HostNumberOfEntries", chance.below(20)),
        ];
        let changing = changing.map(|(name, value)| (name.to_owned(), "unsignedInt", value.to_string()));
        let all = || self.parameters.iter().chain(&changing);
        let mut list = String::new();
        for (name, kind, value) in all() {
            let value = quick_xml::escape::escape(value);
            // Writing to a string does not fail.
            let _ = write!(
                list,
                "<ParameterValueStruct><Name>{name}</Name><Value xsi:type=\"xsd:{kind}\">{value}</Value></ParameterValueStruct>"
            );
        }
        let attempts = attempt.to_string();
        let (serial, count) = (&self.serial, all().count());
        let body = format!(
            "<cwmp:Inform><DeviceId><Manufacturer>Example</Manufacturer><OUI>0123AB</OUI><ProductClass>Box {model}</ProductClass>\
             <SerialNumber>{serial}</SerialNumber></DeviceId><Event soapenc:arrayType=\"cwmp:EventStruct[1]\"><EventStruct>\
             <EventCode>2 PERIODIC</EventCode><CommandKey></CommandKey></EventStruct></Event><MaxEnvelopes>1</MaxEnvelopes>\
             <CurrentTime>{time}</CurrentTime><RetryCount>{attempts}</RetryCount>\
             <ParameterList soapenc:arrayType=\"cwmp:ParameterValueStruct[{count}]\">{list}</ParameterList></cwmp:Inform>",
            model = self.model,
        );
        let mut key = Key::default();
        [serial, &time, &attempts].into_iter().for_each(|text| key.add(text));
        all().for_each(|(name, _, value)| [name, value].into_iter().for_each(|text| key.add(text)));
        (envelope(&id(session, attempt), &body), format!("{:016x}", key.0))
    }

    /// Returns an HTTP request of the device.
    pub fn request(&self, host: &str, cookies: &str, body: &str) -> Vec<u8> {
        let Device { serial, model, authorization, .. } = self;
        let cookie = if cookies.is_empty() { String::new() } else { format!("Cookie: {cookies}\r\n") };
        let media = if body.is_empty() { "" } else { "Content-Type: text/xml; charset=utf-8\r\nSOAPAction: \"\"\r\n" };
        let head = format!(
            "POST /acs/{serial} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: box/{model}\r\nAuthorization: Basic {authorization}\r\n\
             {cookie}{media}Content-Length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body.as_bytes()].concat()
    }
}

/// Returns the `cwmp:ID` of a session's `Inform`.
pub fn id(session: usize, attempt: usize) -> String {
    format!("{session}-{attempt}")
}

/// Returns the envelope of a message.
pub fn envelope(id: &str, body: &str) -> String {
    format!(
        "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\" \
         xmlns:soapenc=\"http://schemas.xmlsoap.org/soap/encoding/\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:cwmp=\"urn:dslforum-org:cwmp-1-0\"><soap:Header>\
         <cwmp:ID soap:mustUnderstand=\"1\">{id}</cwmp:ID></soap:Header><soap:Body>{body}</soap:Body></soap:Envelope>"
    )
}

fn parameter(index: usize, chance: &mut Chance) -> (String, &'static str, String) {
    let length = chance.between(1, 30);
    let mut text: String = (0..length).map(|_| *chance.pick(&CHARACTERS)).collect();
    // White space at the ends belongs to the value, but is not what this is about.
    text.insert(0, 'x');
    text.push('x');
    match index % 4 {
        0 => (format!("Device.WiFi.SSID.{index}.SSID"), "string", text),
        1 => (format!("Device.WiFi.Radio.{index}.Channel"), "unsignedInt", chance.between(1, 165).to_string()),
        2 => (format!("Device.WiFi.Radio.{index}.Enable"), "boolean", chance.one_in(2).to_string()),
        _ => (format!("Device.Ethernet.Interface.{index}.Alias"), "string", text),
    }
}

/// FNV-1a of texts, each after a line feed: what the server computes of the values that it has read.
struct Key(u64);

impl Default for Key {
    fn default() -> Self {
        Key(0xcbf2_9ce4_8422_2325)
    }
}

impl Key {
    fn add(&mut self, text: &str) {
        for byte in [b'\n'].iter().chain(text.as_bytes()) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn devices_differ_and_so_do_their_sessions() {
        let devices: Vec<Device> = (0..1000).map(|number| Device::new(1, number)).collect();
        assert_eq!(devices.iter().map(Device::address).collect::<HashSet<_>>().len(), 1000);
        assert_eq!(Device::new(1, 65_535).address(), IpAddr::from([127, 2, 0, 0]));
        let keys = devices.iter().flat_map(|device| (0..3).map(|session| device.inform(session, 0).1));
        assert_eq!(keys.collect::<HashSet<_>>().len(), 3000);
        assert_ne!(devices[0].inform(0, 0).1, devices[0].inform(0, 1).1);
        assert_eq!(devices[7].inform(5, 0), Device::new(1, 7).inform(5, 0));
    }

    #[test]
    fn an_inform_is_xml_with_as_many_parameters_as_it_says() {
        let (text, _) = Device::new(1, 3).inform(0, 0);
        let mut reader = quick_xml::Reader::from_str(&text);
        let mut names = 0;
        loop {
            match reader.read_event().expect("XML") {
                quick_xml::events::Event::Start(tag) if tag.name().as_ref() == "ParameterValueStruct" => {
                    names += 1;
                }
                quick_xml::events::Event::Eof => break,
                _ => {}
            }
        }
        assert!(names >= PARAMETERS.0 && text.contains(&format!("ParameterValueStruct[{names}]")));
    }
}
