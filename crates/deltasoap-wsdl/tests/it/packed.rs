//! The annotation of packed numbers.

use crate::support::import_schema;
use deltasoap_core::QName;
use deltasoap_core::schema::{Builtin, Element, Packing};
use deltasoap_wsdl::fetch::Location;
use deltasoap_wsdl::{Import, Importer, NoteKind};

fn note(attributes: &str) -> String {
    format!(
        "<xs:annotation><xs:documentation>of numbers</xs:documentation><xs:appinfo>for <b>others</b>\
         <p:packed xmlns:p='urn:deltasoap:packed' {attributes}><p:packed items='int'/></p:packed></xs:appinfo></xs:annotation>"
    )
}

/// Returns the packing of the global element `e`, in the schema and in the lowered schema.
fn packing(import: &Import) -> Option<Packing> {
    let element = import.schemas().element_named(&QName::new("urn:t", "e")).expect("an element");
    let of_type = import.schemas().packing(import.schemas()[element].type_id);
    let lowered = import.lower();
    let content = lowered.element(element).expect("lowered");
    let of_content = match lowered.schema.view(content).element {
        Element::Simple(simple) => simple.packed,
        _ => None,
    };
    assert_eq!(of_type, of_content);
    of_type
}

fn element(type_name: &str, attributes: &str) -> String {
    format!("<xs:element name='e' type='{type_name}'>{}</xs:element>", note(attributes))
}

fn simple(name: &str, base: &str, note: &str) -> String {
    format!("<xs:simpleType name='{name}'>{note}<xs:restriction base='{base}'/></xs:simpleType>")
}

const PLAIN: &str = "<xs:element name='e' type='t:T'/>";

#[test]
fn elements_and_types_say_how_numbers_are_packed() {
    let double = Packing::new(Builtin::Double, false);
    let int = Packing::new(Builtin::Int, true);
    let double_type = simple("D", "xs:base64Binary", &note("items='double'"));
    for (schema, expected) in [
        (element("xs:base64Binary", "items='double'"), double),
        (element("xs:base64Binary", "items=' double ' order='little-endian'"), double),
        (element("xs:base64Binary", "items='int' order='big-endian'"), int),
        (PLAIN.to_owned() + &simple("T", "xs:base64Binary", &note("items='double'")), double),
        (PLAIN.to_owned() + &simple("T", "t:D", "") + &double_type, double),
        // The nearest annotation counts.
        (PLAIN.to_owned() + &simple("T", "t:D", &note("items='int' order='big-endian'")) + &double_type, int),
        (element("t:D", "items='int' order='big-endian'") + &double_type, int),
        (PLAIN.to_owned() + &simple("T", "xs:base64Binary", ""), None),
    ] {
        let import = import_schema(&schema);
        assert_eq!(packing(&import), expected, "{schema}");
        assert!(import.notes().is_empty(), "{schema}: {:?}", import.notes());
        let compiled = Importer::new().bytes(Location::Text("a file".into()), import.compile());
        let again = compiled.expect("a compiled import");
        assert_eq!(packing(&again), expected, "compiled, {schema}");
    }
}

#[test]
fn annotations_without_a_meaning_are_noted() {
    for (schema, expected) in [
        (element("xs:base64Binary", ""), "`items`"),
        (element("xs:base64Binary", "items='byte'"), "`items`"),
        (element("xs:base64Binary", "items='xs:double'"), "`items`"),
        (element("xs:base64Binary", "items='double' order='middle'"), "`order`"),
        (element("xs:string", "items='double'"), "not of `xsd:base64Binary`"),
        (element("t:C", "items='double'") + "<xs:complexType name='C'/>", "not of `xsd:base64Binary`"),
    ] {
        let import = import_schema(&schema);
        let notes = import.notes();
        let is_noted = |kind, text: &str| kind == NoteKind::Tolerated && text.contains(expected);
        assert!(notes.iter().any(|note| is_noted(note.kind, &note.text)), "{schema}: {notes:?}");
        assert_eq!(packing(&import), None, "{schema}");
    }
}
