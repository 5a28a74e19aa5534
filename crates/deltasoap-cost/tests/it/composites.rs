//! The WSDL that peers are built with contains exactly the measured composite types.
//!
//! `DELTASOAP_BLESS=1` rewrites it.

use deltasoap_cost::workload::compiled;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/definitions/composites.wsdl");

const BEGIN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!--
  Composite types for the cost model: IiDdSs has i fields of type int, then d of type double, then s of type string. They are the types
  that `deltasoap cost measure` measures: a fixed sample of the 1330 types of Imre et al. (0 to 10 fields of each kind), and types of 11
  fields or more of one kind. Written by a test of deltasoap-cost.
-->
<wsdl:definitions name="Composites" targetNamespace="urn:bench" xmlns:tns="urn:bench"
    xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <wsdl:types>
    <xs:schema targetNamespace="urn:bench" elementFormDefault="unqualified" attributeFormDefault="unqualified">
      <xs:complexType name="Count">
        <xs:sequence>
          <xs:element name="count" type="xs:int"/>
        </xs:sequence>
      </xs:complexType>
"#;

#[test]
fn the_description_has_the_types_that_are_measured() {
    let written = description(&compiled());
    if std::env::var_os("DELTASOAP_BLESS").is_some() {
        std::fs::write(PATH, &written).expect("written");
    }
    assert_eq!(std::fs::read_to_string(PATH).expect("the description"), written);
}

fn name([ints, doubles, texts]: &[u32; 3]) -> String {
    format!("I{ints}D{doubles}S{texts}")
}

fn description(types: &BTreeSet<[u32; 3]>) -> String {
    let mut text = BEGIN.to_owned();
    let names: Vec<_> = types.iter().map(name).collect();
    types.iter().for_each(|counts| complex_type(&mut text, counts));
    for name in &names {
        element(&mut text, &format!("send{name}"), name);
        element(&mut text, &format!("send{name}Response"), "Count");
    }
    text += "    </xs:schema>\n  </wsdl:types>\n";
    for name in &names {
        message(&mut text, &format!("send{name}"));
        message(&mut text, &format!("send{name}Response"));
    }
    text += "  <wsdl:portType name=\"Composites\">\n";
    names.iter().for_each(|name| operation(&mut text, name));
    text += "  </wsdl:portType>\n  <wsdl:binding name=\"Composites\" type=\"tns:Composites\">\n";
    text += "    <soap:binding transport=\"http://schemas.xmlsoap.org/soap/http\" style=\"document\"/>\n";
    names.iter().for_each(|name| bound(&mut text, name));
    text += "  </wsdl:binding>\n  <wsdl:service name=\"Composites\">\n";
    text += "    <wsdl:port name=\"Composites\" binding=\"tns:Composites\">\n";
    text += "      <soap:address location=\"http://127.0.0.1/bench\"/>\n    </wsdl:port>\n  </wsdl:service>\n</wsdl:definitions>\n";
    text
}

fn complex_type(text: &mut String, counts: &[u32; 3]) {
    add(text, format_args!("      <xs:complexType name=\"{}\">\n        <xs:sequence>\n", name(counts)));
    for (count, (letter, simple)) in counts.iter().zip([("i", "int"), ("d", "double"), ("s", "string")]) {
        for at in 0..*count {
            add(text, format_args!("          <xs:element name=\"{letter}{at}\" type=\"xs:{simple}\"/>\n"));
        }
    }
    text.push_str("        </xs:sequence>\n      </xs:complexType>\n");
}

fn element(text: &mut String, name: &str, content: &str) {
    add(text, format_args!("      <xs:element name=\"{name}\" type=\"tns:{content}\"/>\n"));
}

fn message(text: &mut String, name: &str) {
    let part = format_args!("    <wsdl:part name=\"parameters\" element=\"tns:{name}\"/>\n");
    add(text, format_args!("  <wsdl:message name=\"{name}\">\n{part}  </wsdl:message>\n"));
}

fn operation(text: &mut String, name: &str) {
    let (input, output) = (format_args!("tns:send{name}"), format_args!("tns:send{name}Response"));
    add(text, format_args!("    <wsdl:operation name=\"send{name}\">\n      <wsdl:input message=\"{input}\"/>\n"));
    add(text, format_args!("      <wsdl:output message=\"{output}\"/>\n    </wsdl:operation>\n"));
}

fn bound(text: &mut String, name: &str) {
    add(text, format_args!("    <wsdl:operation name=\"send{name}\">\n"));
    add(text, format_args!("      <soap:operation soapAction=\"urn:bench#send{name}\" style=\"document\"/>\n"));
    text.push_str("      <wsdl:input><soap:body use=\"literal\"/></wsdl:input>\n");
    text.push_str("      <wsdl:output><soap:body use=\"literal\"/></wsdl:output>\n    </wsdl:operation>\n");
}

fn add(text: &mut String, more: std::fmt::Arguments<'_>) {
    // Writing to a string never fails.
    let _ = text.write_fmt(more);
}
