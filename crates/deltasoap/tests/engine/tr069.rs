//! A stream of realistic device messages as typed values, compared with the results of another
//! parser.

use deltasoap::lexical::{DateTime, Lexical};
use deltasoap::soap::decode_request;
use deltasoap::types::AnySimple;
use deltasoap::{Soap, SoapArray};
use deltasoap_streams::prng::SEED;
use deltasoap_streams::tr069::inform_stream;
use roxmltree::{Document, Node};

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

macro_rules! inform {
    ($name:ident, $namespace:literal) => {
        #[derive(Debug, PartialEq, Soap)]
        #[soap(element = "Inform", namespace = $namespace, rename_all = "PascalCase")]
        struct $name {
            device_id: DeviceId,
            event: SoapArray<EventStruct>,
            max_envelopes: u32,
            current_time: DateTime,
            retry_count: u32,
            parameter_list: SoapArray<ParameterValueStruct>,
        }

        impl $name {
            fn check(self, theirs: Node<'_, '_>) {
                let child = |name| child(theirs, name);
                let number = |name| text(child(name)).trim().parse::<u32>().expect("a number");
                let device = ["Manufacturer", "OUI", "ProductClass", "SerialNumber"];
                let device = device.map(|name| text(self::child(child("DeviceId"), name)));
                let DeviceId { manufacturer, oui, product_class, serial_number } = self.device_id;
                assert_eq!([manufacturer, oui, product_class, serial_number], device);
                let events = self.event.0.into_iter().map(|event| (event.event_code, event.command_key));
                assert_eq!(events.collect::<Vec<_>>(), pairs(child("Event"), ["EventCode", "CommandKey"]));
                assert_eq!([self.max_envelopes, self.retry_count], ["MaxEnvelopes", "RetryCount"].map(number));
                assert_eq!(self.current_time, DateTime::parse(&text(child("CurrentTime"))).expect("a date"));
                let parameters = self.parameter_list.0.into_iter().map(|item| (item.name, item.value.text()));
                assert_eq!(parameters.collect::<Vec<_>>(), pairs(child("ParameterList"), ["Name", "Value"]));
            }
        }
    };
}

inform!(Inform0, "urn:dslforum-org:cwmp-1-0");
inform!(Inform4, "urn:dslforum-org:cwmp-1-4");

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Node<'a, 'i> {
    node.children().find(|child| child.tag_name().name() == name).expect("a child")
}

fn text(node: Node<'_, '_>) -> String {
    node.children().filter_map(|child| child.text()).collect()
}

fn pairs(array: Node<'_, '_>, names: [&str; 2]) -> Vec<(String, String)> {
    let items = array.children().filter(Node::is_element);
    items.map(|item| names.map(|name| text(child(item, name))).into()).collect()
}

#[test]
fn every_message_holds_what_another_parser_finds() {
    let mut count = 0;
    for message in inform_stream(SEED, 12, 25) {
        let document = Document::parse(&message.xml).expect("well-formed");
        let inform = document.descendants().find(|node| node.tag_name().name() == "Inform").expect("an Inform");
        let bytes = message.xml.as_bytes();
        match inform.tag_name().namespace() {
            Some("urn:dslforum-org:cwmp-1-0") => decode_request::<Inform0>(bytes).expect("valid").1.check(inform),
            _ => decode_request::<Inform4>(bytes).expect("valid").1.check(inform),
        }
        count += 1;
    }
    assert_eq!(count, 300);
}
