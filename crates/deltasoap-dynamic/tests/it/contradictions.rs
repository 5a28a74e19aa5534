//! Facets that contradict each other, or their type.

use crate::support::schema;
use deltasoap_wsdl::NoteKind;

fn notes(types: &str) -> Vec<String> {
    let notes = schema(types).notes();
    notes.into_iter().filter(|note| note.kind == NoteKind::Invalid).map(|note| note.text).collect()
}

fn simple(name: &str, base: &str, facets: &[(&str, &str)]) -> String {
    let facets: String = facets.iter().map(|(facet, value)| format!("<xs:{facet} value='{value}'/>")).collect();
    format!("<xs:simpleType name='{name}'><xs:restriction base='{base}'>{facets}</xs:restriction></xs:simpleType>")
}

#[test]
fn facets_that_leave_no_value_are_noted() {
    for (base, facets, expected) in [
        ("xs:string", &[("minLength", "3"), ("maxLength", "2")][..], "minLength is 3, and maxLength 2"),
        ("xs:string", &[("length", "3"), ("maxLength", "2")], "length is 3, and maxLength 2"),
        ("xs:string", &[("minLength", "4"), ("length", "3")], "minLength is 4, and length 3"),
        ("xs:decimal", &[("totalDigits", "2"), ("fractionDigits", "3")], "fractionDigits is 3, and totalDigits 2"),
        ("xs:int", &[("minInclusive", "10"), ("maxInclusive", "9")], "minInclusive is 10, and maxInclusive 9"),
        ("xs:int", &[("minInclusive", "9"), ("maxExclusive", "9")], "minInclusive is 9, and maxExclusive 9"),
        ("xs:date", &[("minExclusive", "2020-02-02"), ("maxInclusive", "2020-02-01")], "minExclusive is 2020-02-02"),
        ("xs:int", &[("maxInclusive", "abc")], "the maxInclusive \"abc\" is not of xsd:int"),
        ("xs:int", &[("length", "5")], "length does not apply to xsd:int"),
        ("xs:dateTime", &[("totalDigits", "5")], "totalDigits does not apply to xsd:dateTime"),
        ("xs:boolean", &[("minInclusive", "false")], "minInclusive does not apply to xsd:boolean"),
        ("xs:token", &[("maxExclusive", "5")], "maxExclusive does not apply to xsd:token"),
        ("xs:IDREFS", &[("fractionDigits", "5")], "fractionDigits does not apply to xsd:IDREFS"),
    ] {
        let found = notes(&simple("S", base, facets));
        let is_it = found.len() == 1 && found[0].starts_with("in the facets of type {urn:t}S, ");
        assert!(is_it && found[0].contains(expected), "{found:?}");
    }
    let list = "<xs:simpleType name='L'><xs:list itemType='xs:int'/></xs:simpleType>";
    let union = "<xs:simpleType name='U'><xs:union memberTypes='xs:int xs:date'/></xs:simpleType>";
    let of_list = notes(&(list.to_owned() + &simple("S", "t:L", &[("maxInclusive", "5"), ("maxLength", "2")])));
    assert_eq!(of_list, ["in the facets of type {urn:t}S, maxInclusive does not apply to lists"]);
    let of_union = notes(&(union.to_owned() + &simple("S", "t:U", &[("length", "5"), ("pattern", "[0-9]")])));
    assert_eq!(of_union, ["in the facets of type {urn:t}S, length does not apply to unions"]);
    // Facets of the base count as well, and are reported once.
    let base = simple("B", "xs:int", &[("maxInclusive", "5")]) + &simple("L", "xs:string", &[("maxLength", "5")]);
    let both = simple("C", "t:B", &[("minInclusive", "6")]) + &simple("D", "t:L", &[("minLength", "6")]);
    let found = notes(&(base + &both + &simple("E", "t:C", &[("pattern", "[0-9]")])));
    assert!(
        found.len() == 2 && found[0].contains("}C, minInclusive is 6") && found[1].contains("}D, minLength is 6"),
        "{found:?}"
    );
}

#[test]
fn facets_that_leave_values_are_not() {
    let types = simple("A", "xs:string", &[("minLength", "2"), ("maxLength", "2")])
        + &simple("B", "xs:decimal", &[("totalDigits", "2"), ("fractionDigits", "2"), ("minInclusive", "-0.5")])
        + &simple("C", "xs:int", &[("minInclusive", "9"), ("maxInclusive", "9")])
        + &simple("D", "t:A", &[("length", "2")])
        + &simple("G", "xs:base64Binary", &[("maxLength", "2")])
        + &simple("H", "xs:NMTOKENS", &[("minLength", "2")])
        + &simple("I", "xs:anyURI", &[("length", "2")])
        + &simple("J", "xs:unsignedByte", &[("totalDigits", "2")])
        + &simple("K", "xs:gYear", &[("maxInclusive", "2000")])
        + &simple("E", "xs:double", &[("minExclusive", "-INF"), ("maxExclusive", "INF")])
        + &simple(
            "F",
            "xs:dateTime",
            &[("minInclusive", "2020-01-01T00:00:00"), ("maxInclusive", "2020-01-01T00:00:00Z")],
        );
    assert_eq!(notes(&types), [""; 0]);
}
