//! The derived `Inform` streams have the properties that their documentation promises.

use std::collections::{BTreeMap, BTreeSet};

use deltasoap_streams::checksum::Checksum;
use deltasoap_streams::prng::SEED;
use deltasoap_streams::tr069::{Message, SAMPLES, device_stream, inform_stream, samples};
use roxmltree::{Document, Node};

const DEVICES: u32 = 24;
const PER_DEVICE: u32 = 200;

#[test]
fn the_stream_is_what_it_always_was() {
    let mut sum = Checksum::new();
    for message in stream() {
        sum.int(message.device as i32);
        sum.string(&message.xml);
    }
    assert_eq!(sum.hex(), "c8da67f48dd08ec4");
}

#[test]
fn another_seed_gives_another_stream() {
    assert_ne!(inform_stream(1, 1, 5).last(), inform_stream(2, 1, 5).last());
}

#[test]
fn a_stream_has_all_messages_in_the_order_of_arrival() {
    let messages: Vec<Message> = stream().collect();
    assert_eq!(messages.len(), (DEVICES * PER_DEVICE) as usize);
    assert!(messages.is_sorted_by_key(|message| message.arrival));
    assert_eq!(inform_stream(SEED, 3, 0).count(), 0);
    assert_eq!(inform_stream(SEED, 0, 3).count(), 0);
}

#[test]
fn a_device_behaves_the_same_alone() {
    for (device, messages) in by_device() {
        assert!(device_stream(SEED, device).zip(&messages).all(|(alone, among)| alone == *among));
    }
}

#[test]
fn every_message_is_a_consistent_inform() {
    for message in stream() {
        let document = Document::parse(&message.xml).unwrap();
        for (array, item) in [("Event", "EventStruct"), ("ParameterList", "ParameterValueStruct")] {
            let array = find(&document, array);
            let items = array.children().filter(|child| child.has_tag_name(item)).count();
            let count = array_type_count(array);
            assert_eq!(items, count, "{}", message.xml);
        }
        assert_date_time(find(&document, "CurrentTime").text().unwrap());
    }
}

#[test]
fn the_first_message_differs_from_its_sample_where_documented() {
    for message in stream().filter(|message| message.index == 0) {
        let sample = samples()[message.device as usize % SAMPLES];
        let (mut first, original) = (leaves(&message.xml), leaves(sample.xml));
        first.retain(|path, _| !path.contains("UpTime"));
        let mut changed = differences(&original, &first);
        changed.remove("ParameterList@arrayType");
        let allowed =
            ["ID", "SerialNumber", "CurrentTime", "ConnectionRequestURL", "IPAddress", "MACAddress", "IPv6Address"];
        assert!(changed.iter().all(|path| allowed.iter().any(|end| path.ends_with(end))), "{changed:?}");
        assert!(changed.contains("SerialNumber"));
    }
}

#[test]
fn consecutive_messages_differ_where_documented() {
    for messages in by_device().values() {
        for pair in messages.windows(2) {
            assert_documented_step(&leaves(&pair[0].xml), &leaves(&pair[1].xml));
        }
    }
}

#[test]
fn markup_outside_the_arrays_never_changes() {
    for messages in by_device().values() {
        let skeletons: BTreeSet<String> = messages.iter().map(|message| skeleton(&message.xml)).collect();
        assert_eq!(skeletons.len(), 1);
    }
}

#[test]
fn every_documented_change_happens() {
    let messages: Vec<Message> = stream().collect();
    let share = |mark: &str| {
        messages.iter().filter(|message| message.xml.contains(mark)).count() as f64 / messages.len() as f64
    };
    assert!((0.04..0.09).contains(&share("4 VALUE CHANGE")));
    assert!((0.005..0.03).contains(&share("6 CONNECTION REQUEST")));
    assert!((0.03..0.08).contains(&share("PeriodicInformInterval")));
    assert!((0.3..0.7).contains(&share("DeviceInfo.UpTime")));
    assert!((0.01..0.05).contains(&(1.0 - share("<RetryCount>0<"))));
}

#[test]
fn consecutive_messages_are_alike() {
    let (mut shared, mut total) = (0, 0);
    for messages in by_device().values() {
        for pair in messages.windows(2) {
            let before: BTreeSet<&str> = pair[0].xml.lines().collect();
            let kept = pair[1].xml.lines().filter(|line| before.contains(line));
            shared += kept.map(|line| line.len() + 1).sum::<usize>();
            total += pair[1].xml.len();
        }
    }
    assert!(shared * 100 > total * 93, "{shared} of {total} bytes are in lines that the message before has too");
}

fn stream() -> impl Iterator<Item = Message> {
    inform_stream(SEED, DEVICES, PER_DEVICE)
}

fn by_device() -> BTreeMap<u32, Vec<Message>> {
    let mut devices: BTreeMap<u32, Vec<Message>> = BTreeMap::new();
    for message in stream() {
        devices.entry(message.device).or_default().push(message);
    }
    devices
}

fn find<'a, 'input>(document: &'a Document<'input>, name: &str) -> Node<'a, 'input> {
    document.descendants().find(|node| node.tag_name().name() == name).unwrap()
}

fn array_type_count(array: Node<'_, '_>) -> usize {
    let array_type = array.attributes().find(|attribute| attribute.name() == "arrayType").unwrap().value();
    let (_, count) = array_type.split_once('[').unwrap();
    count.trim_end_matches(']').parse().unwrap()
}

/// Checks for `2015-01-19T23:08:24` with an optional offset.
fn assert_date_time(text: &str) {
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let (local, offset) = form.split_at(19);
    assert_eq!(local, "0000-00-00T00:00:00", "{text}");
    assert!(["", "Z", "+00:00", "-00:00"].contains(&offset), "{text}");
}

type Leaves = BTreeMap<String, String>;

/// Returns the contents by name, parameters by their own `Name`; and the numbers of items.
fn leaves(xml: &str) -> Leaves {
    let document = Document::parse(xml).unwrap();
    let mut leaves = Leaves::new();
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        let text = node.text().unwrap_or_default().to_owned();
        match name {
            "ParameterValueStruct" => {
                let mut texts = node.children().filter(Node::is_element).map(|child| child.text().unwrap_or_default());
                let parameter = texts.next().unwrap();
                leaves.insert(format!("parameter {parameter}"), texts.next().unwrap().to_owned());
            }
            "Name" | "Value" => {}
            "EventCode" => leaves.entry("EventCode".into()).or_default().push_str(&format!("{text}; ")),
            _ => {
                leaves.insert(name.to_owned(), text.trim().to_owned());
            }
        }
        if let Some(count) = node.attributes().find(|attribute| attribute.name() == "arrayType") {
            leaves.insert(format!("{name}@arrayType"), count.value().to_owned());
        }
    }
    leaves
}

/// Returns the names whose content differs, or that occur in only one of both.
fn differences(before: &Leaves, after: &Leaves) -> BTreeSet<String> {
    let names = before.keys().chain(after.keys());
    names.filter(|&name| before.get(name) != after.get(name)).cloned().collect()
}

fn assert_documented_step(before: &Leaves, after: &Leaves) {
    let mut changed = differences(before, after);
    assert!(changed.remove("CurrentTime"));
    assert_eq!(changed.remove("ID"), before.contains_key("ID"));
    let address_changed = after["EventCode"].contains("VALUE CHANGE") && after["RetryCount"] == "0";
    let changed_address = changed.iter().any(|name| name.contains("ConnectionRequestURL"));
    assert_eq!(changed_address, address_changed, "{before:?} {after:?}");
    if after["RetryCount"] != "0" {
        assert!(!changed.contains("EventCode"), "a retry tells the same events");
    }
    let allowed = ["RetryCount", "EventCode", "Event@arrayType", "ParameterList@arrayType"];
    let parameters = ["UpTime", "PeriodicInformInterval", "ConnectionRequestURL", "IPAddress", "IPv6Address"];
    for name in changed {
        let parameter = name.starts_with("parameter ") && parameters.iter().any(|end| name.ends_with(end));
        assert!(
            parameter || allowed.contains(&&*name),
            "{name}: {:?} became {:?}",
            before.get(&name),
            after.get(&name)
        );
    }
}

/// Returns the text without the contents of elements, and without the arrays' items.
fn skeleton(xml: &str) -> String {
    let mut skeleton = String::new();
    for piece in xml.split_inclusive('>') {
        let (_, tag) = piece.split_at(piece.find('<').unwrap_or(0));
        let item = ["EventStruct", "EventCode", "CommandKey", "ParameterValueStruct", "Name", "Value"];
        let name = tag.trim_start_matches(['<', '/']).split([' ', '>']).next().unwrap_or_default();
        if !item.contains(&name) {
            skeleton.push_str(tag.split('[').next().unwrap_or_default());
        }
    }
    skeleton
}
