//! Random schemas, and random messages of them.

use crate::oracle;
use deltasoap_arrow::{MessageSchema, Misfit, NoParts};
use deltasoap_dynamic::Contract;
use proptest::prelude::*;

/// Returns a contract with an operation whose body is the element `Op` of this type.
fn contract(content: &str) -> Contract {
    let text = format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' \
         xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'><types>\
         <xs:schema targetNamespace='urn:t' elementFormDefault='qualified'>\
         <xs:simpleType name='money'><xs:restriction base='xs:decimal'><xs:totalDigits value='12'/>\
         <xs:fractionDigits value='2'/></xs:restriction></xs:simpleType>\
         <xs:simpleType name='either'><xs:union memberTypes='xs:int xs:string'/></xs:simpleType>\
         <xs:simpleType name='several'><xs:list itemType='xs:int'/></xs:simpleType>\
         <xs:simpleType name='padded'><xs:restriction base='xs:int'><xs:pattern value='0[0-9]'/></xs:restriction></xs:simpleType>\
         <xs:simpleType name='color'><xs:restriction base='xs:string'><xs:enumeration value='red'/>\
         <xs:enumeration value='blue'/></xs:restriction></xs:simpleType>\
         <xs:complexType name='point'><xs:sequence><xs:element name='x' type='xs:double'/>\
         <xs:element name='y' type='xs:int'/></xs:sequence></xs:complexType>\
         <xs:complexType name='tree'><xs:sequence><xs:element name='value' type='xs:int'/>\
         <xs:element name='tree' type='t:tree' minOccurs='0' maxOccurs='2'/></xs:sequence></xs:complexType>\
         <xs:complexType name='base'><xs:sequence><xs:element name='b' type='xs:string'/></xs:sequence></xs:complexType>\
         <xs:complexType name='more'><xs:complexContent><xs:extension base='t:base'><xs:sequence>\
         <xs:element name='m' type='xs:int'/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>\
         <xs:complexType name='text'><xs:simpleContent><xs:extension base='xs:decimal'>\
         <xs:attribute name='unit' type='xs:string'/></xs:extension></xs:simpleContent></xs:complexType>\
         <xs:complexType name='empty'><xs:sequence/></xs:complexType>\
         <xs:element name='Op'>{content}</xs:element></xs:schema></types>\
         <message name='I'><part name='p' element='t:Op'/></message>\
         <portType name='P'><operation name='Op'><input message='t:I'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='Op'>\
         <soap:operation soapAction=''/><input><soap:body use='literal'/></input></operation></binding></definitions>"
    );
    Contract::from_text(&text).expect("a description")
}

fn type_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "xs:boolean",
        "xs:byte",
        "xs:short",
        "xs:int",
        "xs:long",
        "xs:unsignedByte",
        "xs:unsignedShort",
        "xs:unsignedInt",
        "xs:unsignedLong",
        "xs:integer",
        "xs:decimal",
        "xs:float",
        "xs:double",
        "xs:string",
        "xs:token",
        "xs:date",
        "xs:time",
        "xs:dateTime",
        "xs:duration",
        "xs:gYear",
        "xs:base64Binary",
        "xs:hexBinary",
        "xs:anyURI",
        "xs:QName",
        "xs:anySimpleType",
        "xs:anyType",
        "t:money",
        "t:either",
        "t:several",
        "t:padded",
        "t:color",
        "t:point",
        "t:tree",
        "t:base",
        "t:text",
        "t:empty",
    ])
}

fn occurrences() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "minOccurs='0'", "maxOccurs='unbounded'", "minOccurs='0' maxOccurs='3'"])
}

/// A particle; the number in the names of its elements is given later, so that they are distinct.
#[derive(Debug, Clone)]
enum Particle {
    Element(&'static str, &'static str, bool),
    Group(&'static str, &'static str, Vec<Particle>),
    Any,
}

fn particle() -> impl Strategy<Value = Particle> {
    let element =
        (type_name(), occurrences(), any::<bool>()).prop_map(|(name, often, nil)| Particle::Element(name, often, nil));
    let leaf = prop_oneof![9 => element, 1 => Just(Particle::Any)];
    leaf.prop_recursive(2, 8, 4, |inner| {
        let kind = prop::sample::select(vec!["sequence", "choice"]);
        (kind, occurrences(), prop::collection::vec(inner, 1..4))
            .prop_map(|(kind, often, inner)| Particle::Group(kind, often, inner))
    })
}

fn written(particle: &Particle, number: &mut usize, out: &mut String) {
    match particle {
        Particle::Element(name, often, nil) => {
            *number += 1;
            let nil = if *nil { "nillable='true'" } else { "" };
            *out += &format!("<xs:element name='e{number}' type='{name}' {often} {nil}/>");
        }
        Particle::Group(kind, often, inner) => {
            *out += &format!("<xs:{kind} {often}>");
            inner.iter().for_each(|particle| written(particle, number, out));
            *out += &format!("</xs:{kind}>");
        }
        Particle::Any => *out += "<xs:any namespace='##other' processContents='lax' minOccurs='0'/>",
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn rows_of_random_schemas_hold_their_messages(
        particles in prop::collection::vec(particle(), 1..6),
        attributes in prop::collection::vec((type_name(), any::<bool>()), 0..3),
        any_attribute: bool,
        seed: u64,
    ) {
        let (mut content, mut number) = (String::new(), 0);
        particles.iter().for_each(|particle| written(particle, &mut number, &mut content));
        let mut declared = String::new();
        for (index, (name, required)) in attributes.iter().enumerate() {
            // Attributes have simple types.
            let name = match name.strip_prefix("t:") {
                Some("point" | "tree" | "base" | "text" | "empty") => "xs:int",
                _ if *name == "xs:anyType" => "xs:string",
                _ => name,
            };
            let usage = if *required { "use='required'" } else { "" };
            declared += &format!("<xs:attribute name='a{index}' type='{name}' {usage}/>");
        }
        if any_attribute {
            declared += "<xs:anyAttribute processContents='lax'/>";
        }
        let contract = contract(&format!("<xs:complexType><xs:sequence>{content}</xs:sequence>{declared}</xs:complexType>"));
        let operation = contract.operation("Op").expect("an operation");
        let Some((name, content)) = operation.request() else { return Ok(()) };
        let schema = MessageSchema::of(&contract, name, content);
        let mut builder = schema.builder();
        let mut kept = Vec::new();
        for seed in (0..4).map(|step| seed.wrapping_add(step)) {
            let Some(value) = operation.random_request(seed) else { continue };
            match builder.append(&value, &NoParts) {
                Ok(()) => kept.push(operation.request_to_json(&value).expect("JSON")),
                Err(error) => prop_assert!(matches!(error.reason, Misfit::Range { .. }), "{error}"),
            }
        }
        let batch = builder.finish().expect("a batch");
        prop_assert_eq!(batch.num_rows(), kept.len());
        for (row, json) in kept.iter().enumerate() {
            if let Err(error) = oracle::compare(json, &batch, row) {
                prop_assert!(false, "{error}\n{json:#}");
            }
        }
    }
}
