//! Values of types whose patterns require a particular form.

use crate::support::{self, Codec};
use serde_json::{Value as Json, json};

/// Returns simple types: a name, a base, and a facet each.
fn types(types: &[(&str, &str, &str)]) -> String {
    let one = |(name, base, facet): &(&str, &str, &str)| {
        format!("<xs:simpleType name='{name}'><xs:restriction base='{base}'>{facet}</xs:restriction></xs:simpleType>")
    };
    types.iter().map(one).collect()
}

#[test]
fn values_are_written_in_the_form_that_a_pattern_takes() {
    let pattern = |pattern: &str| format!("<xs:pattern value='{pattern}'/>");
    let schema = types(&[
        ("Zip", "xs:integer", &pattern("\\d{5}")),
        ("Swiss", "t:Zip", "<xs:minInclusive value='1000'/>"),
        ("Hours", "xs:duration", &pattern("PT\\d+H")),
        ("Bit", "xs:boolean", &pattern("[01]")),
        ("Price", "xs:decimal", &pattern("\\d+\\.\\d\\d")),
        ("Hash", "xs:hexBinary", &pattern("[0-9a-f]*")),
        ("Two", "xs:int", &(pattern("0\\d") + "<xs:enumeration value='1'/><xs:enumeration value='02'/>")),
    ]);
    let field = |name: &str| format!("<xs:element name='{}' type='t:{name}'/>", name.to_lowercase());
    let names = ["Zip", "Swiss", "Hours", "Bit", "Price", "Hash", "Two"];
    let contract = support::schema(&format!(
        "{schema}<xs:element name='r'><xs:complexType><xs:sequence>{}
          <xs:element name='s' type='t:Zip' default='00001'/></xs:sequence>
          <xs:attribute name='zip' type='t:Zip'/></xs:complexType></xs:element>",
        names.map(field).concat()
    ));
    let codec = Codec::of_element(&contract, "r");
    let content = "<zip>00501</zip><swiss>08001</swiss><hours>PT36H</hours><bit>1</bit><price>12.50</price><hash>0a</hash><two>01</two><s/>";
    let expected = json!({
        "@zip": "00502", "zip": "00501", "swiss": "08001", "hours": "PT36H", "bit": "1",
        "price": serde_json::from_str::<Json>("12.50").expect("a number"), "hash": "0a", "two": "01", "s": "00001",
    });
    let value = codec.read_with("zip='00502'", content);
    assert_eq!(codec.to_json(&value), expected);
    let again = codec.read_json(&expected).expect("a value");
    assert_eq!(again, value);
    let written = codec.write(&again).replace("ns:", "");
    assert!(written.contains("zip=\"00502\""), "{written}");
    assert!(written.contains(&content.replace("<s/>", "<s>00001</s>")), "{written}");
    // Usual forms, with numbers.
    let usual = json!({
        "@zip": 10502, "zip": 10501, "swiss": 10000, "hours": "PT5H", "bit": false, "price": 1, "hash": "", "two": "02", "s": 5.0,
    });
    let value = codec.read_json(&usual).expect("a value");
    let json = codec.to_json(&value);
    assert_eq!(
        (&json["@zip"], &json["bit"], &json["price"], &json["s"]),
        (&json!(10502), &json!("0"), &json!(1), &json!(5))
    );
    for (place, wrong, expected) in [
        ("zip", json!("x"), ".zip: expected a number of Zip, found the string \"x\""),
        ("bit", json!(2), ".bit: expected true or false of Bit, found the number 2"),
        ("two", json!("03"), ".two: expected one of \"1\", \"02\" (Two), found the string \"03\""),
        ("@zip", json!("x"), "[\"@zip\"]: expected a number of Zip, found the string \"x\""),
    ] {
        let mut json = usual.clone();
        json[place] = wrong;
        assert_eq!(codec.read_json(&json).expect_err("wrong").to_string(), expected);
    }
}
