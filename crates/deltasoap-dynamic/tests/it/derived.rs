//! Content of types that others are derived from, as JSON and back.

use crate::support::{self, Codec};
use deltasoap_core::QName;
use deltasoap_core::decode::value_from_slice;
use deltasoap_dynamic::Contract;
use serde_json::{Value as Json, json};

const TYPES: &str = "
    <xs:complexType name='Base'><xs:sequence><xs:element name='x' type='xs:int' minOccurs='0'/></xs:sequence></xs:complexType>
    <xs:complexType name='Derived'><xs:complexContent><xs:extension base='t:Base'>
      <xs:attribute name='b' type='xs:int'/></xs:extension></xs:complexContent></xs:complexType>
    <xs:complexType name='Other'><xs:sequence/></xs:complexType>";

/// A root with the fields `content`, among the types.
fn contract(content: &str) -> Contract {
    support::schema(&format!(
        "{TYPES}<xs:element name='r'><xs:complexType><xs:sequence>{content}</xs:sequence></xs:complexType></xs:element>"
    ))
}

fn there_and_back(codec: &Codec<'_>, content: &str, expected: &Json) {
    let value = codec.read(content);
    assert_eq!(codec.to_json(&value), *expected);
    let again = codec.read_json(expected).expect("a value");
    support::assert_same(&again, &value, content);
    let written = codec.write(&again);
    let view = codec.view();
    let read = value_from_slice(written.as_bytes(), &QName::new("urn:t", "r"), view).expect(&written);
    support::assert_same(&read, &value, content);
}

#[test]
fn nil_elements_keep_their_type() {
    let contract = contract(
        "<xs:element name='e' type='t:Base' nillable='true' maxOccurs='unbounded'/>
         <xs:element name='no' type='t:Base'/><xs:element name='any' nillable='true'/>",
    );
    let codec = Codec::of_element(&contract, "r");
    let content = "<e xsi:nil='true' xsi:type='t:Derived'/><e xsi:nil='true'/><e xsi:nil='1' b='5' xsi:type='t:Derived'/>\
                   <no xsi:nil='true' xsi:type='t:Derived'/><any xsi:nil='true' xsi:type='xs:int'/>";
    let expected = json!({
        "e": [{ "$nil": true, "$type": "Derived" }, null, { "$nil": true, "@b": "5", "$type": "Derived" }],
        "no": { "$nil": true, "$type": "Derived" },
        "any": { "$nil": true, "$type": "xsd:int" },
    });
    there_and_back(&codec, content, &expected);
    // The declared type says nothing.
    let content = "<e xsi:nil='true' xsi:type='t:Base'/><no xsi:nil='true' xsi:type='t:Base'/><any xsi:nil='true'/>";
    let json = codec.to_json(&codec.read(content));
    assert_eq!(json, json!({ "e": [null], "no": { "$nil": true }, "any": null }));
    for (wrong, expected) in [
        (
            json!({ "e": [{ "$nil": true, "$type": "Other" }] }),
            ".e[0][\"$type\"]: expected one of the types Base, Derived",
        ),
        (json!({ "e": [{ "$nil": true, "$type": 5 }] }), ".e[0][\"$type\"]: expected one of the types Base, Derived"),
        (
            json!({ "e": [null], "no": {}, "any": { "$nil": true, "$type": "a b" } }),
            ".any[\"$type\"]: expected the name of a type",
        ),
    ] {
        let error = codec.read_json(&wrong).expect_err("no such type").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
