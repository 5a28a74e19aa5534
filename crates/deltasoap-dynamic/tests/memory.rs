//! How much memory trees take: alone in its process, since it is all counted.

use deltasoap_core::decode::value_from_slice;
use deltasoap_core::{QName, Value};
use deltasoap_dynamic::Contract;
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use std::alloc::System;
use std::sync::{Mutex, PoisonError};

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One after the other.
static TURN: Mutex<()> = Mutex::new(());

/// References are as many as a message's length allows.
#[test]
fn lists_take_no_more_room_to_validate_than_they_need() {
    const COUNT: usize = 200_000;
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let schema = |item: &str| {
        format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'><xs:element name='r' type='{item}'/>\
             </xs:schema>"
        )
    };
    for (list, lost) in [("xs:IDREFS", 1), ("xs:NMTOKENS", 0)] {
        let contract = Contract::from_text(&schema(list)).expect("a schema");
        let message = format!("<r xmlns='urn:t'>{}</r>", "ab ".repeat(COUNT));
        ALLOCATOR.reset_peak_memory();
        let findings = contract.validate(message.as_bytes());
        let each = ALLOCATOR.get_peak_memory() / COUNT;
        assert_eq!(findings.len(), lost, "{list}: {:?}", findings.first());
        assert!(each <= 48, "{list}: {each} bytes");
    }
}

#[test]
fn trees_take_no_more_room_than_they_need() {
    const COUNT: usize = 20_000;
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let contract = Contract::from_text(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'><xs:element name='r'><xs:complexType>\
         <xs:sequence><xs:element name='a' maxOccurs='unbounded' form='qualified'/></xs:sequence></xs:complexType></xs:element></xs:schema>",
    )
    .expect("a schema");
    let name = QName::new("urn:t", "r");
    let id = contract.description().schemas().element_named(&name).expect("an element");
    let content = contract.lowered().element(id).expect("its content");
    // Bytes an element: of its value, and of its JSON.
    for (element, of_value, of_json) in [("<a/>", 200, 600), ("<a><b>text</b><c>text</c></a>", 950, 1500)] {
        let message = format!("<r xmlns='urn:t'>{}</r>", element.repeat(COUNT));
        ALLOCATOR.reset_peak_memory();
        let value: Value = value_from_slice(message.as_bytes(), &name, contract.view(content)).expect("valid");
        let read = ALLOCATOR.get_peak_memory();
        ALLOCATOR.reset_peak_memory();
        let json = contract.to_json(&name, content, &value).expect("JSON");
        let written = ALLOCATOR.get_peak_memory();
        assert_eq!(json["a"].as_array().map(Vec::len), Some(COUNT));
        let each = (read / COUNT, written / COUNT);
        assert!(each.0 <= of_value && each.1 <= of_json, "{element}: {each:?}");
    }
}
