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

/// Creates a root with the fields `content`, among the types.
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

/// Names in attributes of nil elements keep their namespaces, whatever their prefixes.
#[test]
fn nil_elements_keep_names_in_attributes() {
    let types = "
        <xs:simpleType name='names'><xs:list itemType='xs:QName'/></xs:simpleType>
        <xs:complexType name='Plain'><xs:sequence/><xs:attribute name='q' type='xs:QName'/><xs:attribute name='n' type='xs:decimal'/></xs:complexType>
        <xs:complexType name='First'><xs:sequence/><xs:attribute name='q' type='xs:QName'/></xs:complexType>
        <xs:complexType name='Second'><xs:complexContent><xs:extension base='t:First'>
          <xs:attribute name='l' type='t:names'/></xs:extension></xs:complexContent></xs:complexType>";
    let contract = support::schema(&format!(
        "{types}<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='plain' type='t:Plain' nillable='true'/>
         <xs:element name='first' type='t:First' nillable='true' maxOccurs='2'/></xs:sequence></xs:complexType></xs:element>"
    ));
    let codec = Codec::of_element(&contract, "r");
    let content = "<plain xsi:nil='true' xmlns:p='urn:p' q='p:name' n='1.0'/><first xsi:nil='1' q='none'/>\
                   <first xsi:nil='true' xmlns:p='urn:p' xmlns:o='urn:o' l='o:a p:b' q='p:name' xsi:type='t:Second'/>";
    let expected = json!({
        "plain": { "$nil": true, "@q": "{urn:p}name", "@n": "1.0" },
        "first": [
            { "$nil": true, "@q": "{urn:t}none" },
            { "$nil": true, "@q": "{urn:p}name", "@l": "{urn:o}a {urn:p}b", "$type": "Second" },
        ],
    });
    there_and_back(&codec, content, &expected);
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
    // The declared type needs no `$type`.
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

/// Messages that leave out elements, repeat them, or change their order, without loss.
#[test]
fn what_is_of_a_known_type_is_no_tree() {
    let contract = support::schema(
        "<xs:simpleType name='Code'><xs:restriction base='xs:string'/></xs:simpleType>
         <xs:complexType name='Base'><xs:all>
           <xs:element name='x' type='xs:int' minOccurs='0' default='3'/><xs:element name='y' type='xs:string' minOccurs='0'/>
           <xs:element name='z' type='t:Inner' minOccurs='0'/></xs:all>
           <xs:attribute name='a' type='xs:int' default='7'/></xs:complexType>
         <xs:complexType name='Inner'><xs:sequence><xs:element name='i' type='t:Code'/></xs:sequence>
           <xs:attribute name='f' type='xs:string' fixed='F'/></xs:complexType>
         <xs:complexType name='Derived'><xs:complexContent><xs:restriction base='t:Base'><xs:all>
           <xs:element name='x' type='xs:int' minOccurs='0'/></xs:all></xs:restriction></xs:complexContent></xs:complexType>
         <xs:element name='r'><xs:complexType><xs:sequence>
           <xs:element name='e' type='t:Base'/></xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let json = |content: &str| codec.to_json(&codec.read(content))["e"].clone();
    for (content, expected) in [
        ("<e/>", json!({ "@a": 7 })),
        ("<e a='7'><x/></e>", json!({ "@a": 7, "x": 3 })),
        ("<e a='1'><x xsi:type='xs:int'>5</x></e>", json!({ "@a": 1, "x": 5 })),
        ("<e><y>s</y><x>5</x></e>", json!({ "@a": 7, "x": 5, "y": "s" })),
        ("<e><z xsi:type='t:Inner'><i xsi:type='t:Code'/></z></e>", json!({ "@a": 7, "z": { "@f": "F", "i": "" } })),
        ("<e xmlns:p='urn:t'><z xsi:type='p:Inner'><i/></z></e>", json!({ "@a": 7, "z": { "@f": "F", "i": "" } })),
        ("<e xsi:type='t:Derived' a='2'/>", json!({ "$type": "Derived", "@a": 2 })),
        ("<e xsi:type='t:Derived'/>", json!({ "$type": "Derived", "@a": 7 })),
    ] {
        assert_eq!(json(content), expected, "{content}");
        let value = codec.read_json(&json!({ "e": expected })).expect("a value");
        assert_eq!(codec.to_json(&value)["e"], expected);
    }
    // Types that are not allowed here, and types of elements that cannot be chosen.
    assert!(json("<e xsi:type='t:Inner'><i>x</i></e>").get("$content").is_some());
    assert!(json("<e xsi:type='t:Nope'>text</e>").get("$content").is_some());
    assert_eq!(json("<e><y xsi:type='t:Code'>s</y></e>"), json!({ "@a": 7, "y": "s" }));
}

/// `<enc:int>` is an `xsd:int` where any type is allowed (SOAP 1.1, 5.4.2).
#[test]
fn elements_of_the_encoding_name_their_type() {
    let contract = support::schema(
        "<xs:import namespace='http://schemas.xmlsoap.org/soap/encoding/'/>
         <xs:element name='r' xmlns:c='http://schemas.xmlsoap.org/soap/encoding/'><xs:complexType><xs:sequence>
         <xs:element name='v' type='c:Array'/></xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let array = |items: &str| {
        format!("<v xmlns:c='http://schemas.xmlsoap.org/soap/encoding/' c:arrayType='xs:ur-type[2]'>{items}</v>")
    };
    let json = codec.to_json(&codec.read(&array("<c:int>5</c:int><c:string>x</c:string>")));
    assert_eq!(json, json!({ "v": [{ "$type": "xsd:int", "$": 5 }, { "$type": "xsd:string", "$": "x" }] }));
    let written = codec.write(&codec.read_json(&json).expect("a value"));
    let read = value_from_slice(written.as_bytes(), &QName::new("urn:t", "r"), codec.view()).expect(&written);
    assert_eq!(codec.to_json(&read), json, "{written}");
    assert_eq!(codec.to_json(&codec.read(&array("<i xsi:type='xs:int'>5</i>")))["v"][0]["$"], 5);
}

/// A tree keeps the attribute that names its type, which is written once.
#[test]
fn mixed_content_of_a_named_type_names_it_once() {
    let contract = support::schema(
        "<xs:complexType name='B' abstract='true' mixed='true'/>
         <xs:complexType name='X' mixed='true'><xs:complexContent mixed='true'><xs:extension base='t:B'><xs:sequence>
           <xs:element name='e' type='xs:string' minOccurs='0'/></xs:sequence><xs:attribute name='at' type='xs:string'/></xs:extension>
           </xs:complexContent></xs:complexType>
         <xs:element name='r'><xs:complexType><xs:sequence><xs:element name='h' type='t:B'/></xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let value = codec.read("<h xsi:type='t:X' at='1'>text<e>x</e></h>");
    let written = codec.write(&value);
    assert_eq!(written.matches("type=").count(), 1, "{written}");
    let json = codec.to_json(&value);
    assert_eq!(json["h"]["$type"], "X", "{json}");
    let again = codec.write(&codec.read_json(&json).expect("a value"));
    assert_eq!(again.matches("type=").count(), 1, "{again}");
    for written in [&written, &again] {
        let read = value_from_slice(written.as_bytes(), &QName::new("urn:t", "r"), codec.view()).expect(written);
        assert_eq!(codec.to_json(&read), json);
    }
}

/// In content of any type, the declaration cannot give the number of dimensions of an array. An
/// array of several dimensions is a tree.
#[test]
fn arrays_of_several_dimensions_may_be_of_any_type() {
    let contract = support::schema(
        "<xs:import namespace='http://schemas.xmlsoap.org/soap/encoding/'/>
         <xs:element name='r'><xs:complexType><xs:sequence><xs:element name='any' maxOccurs='2'/></xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let soapenc = "xmlns:c='http://schemas.xmlsoap.org/soap/encoding/' xsi:type='c:Array'";
    let content = format!(
        "<any {soapenc} c:arrayType='xs:int[2,1]'><i>1</i><i>2</i></any><any {soapenc} c:arrayType='xs:int[2]'><i>1</i><i>2</i></any>"
    );
    let value = codec.read(&content);
    let json = codec.to_json(&value);
    assert_eq!(json["any"][0]["$content"][0]["$content"], json!(["1"]), "{json}");
    let again = codec.read_json(&json).expect("a value");
    assert_eq!(codec.to_json(&again), json);
    let written = codec.write(&again);
    let read = value_from_slice(written.as_bytes(), &QName::new("urn:t", "r"), codec.view()).expect(&written);
    assert_eq!(codec.to_json(&read), json);
}
