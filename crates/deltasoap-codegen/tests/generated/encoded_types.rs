//! Simple types in SOAP encoding keep the names in the WSDL.

use crate::encoded::*;
use deltasoap::engine::{Buffer, Lexical, ns};
use deltasoap::lexical::{AnyUri, List, Token};
use deltasoap::schema::{QName, Use};
use deltasoap::soap::{Envelope, Version, decode_request};
use deltasoap::{Binary, Nillable, SoapArray};

#[test]
fn declared_types_are_announced() {
    let token = || Token::parse("a b").expect("a token");
    let zip = || Zip("12345".to_owned());
    let label = Label {
        token: Some(token()),
        uri: Some(AnyUri::parse("urn:a").expect("a URI")),
        zip: Some(zip()),
        count: Some(Count(3)),
        zips: Some(SoapArray(vec![Nillable::Value(zip())])),
        tokens: Some(SoapArray(vec![Nillable::Value(token())])),
        counts: Some(Counts(List(vec![1, 2]))),
        digest: Some(Digest(Binary::from(b"abcd".to_vec()))),
        kind: Some(Kind(QName::new("urn:k", "car"))),
        unit: Some(Unit::Ft),
        length: Some(Length(Unit::M)),
        lengths: Some(SoapArray(vec![Nillable::Value(Length(Unit::M))])),
    };
    let written = Envelope::new(&label).encoding(Use::Encoded).write(Buffer::new()).expect("written");
    let text = String::from_utf8_lossy(written.as_slice()).into_owned();
    let simple = [("token", "token"), ("uri", "anyURI"), ("zip", "zip"), ("count", "Count")];
    let others = [("counts", "Counts"), ("digest", "Digest"), ("kind", "Kind"), ("unit", "Unit"), ("length", "Length")];
    for (element, name) in simple.into_iter().chain(others) {
        let tag = text.split(&format!("<{element} ")).nth(1).and_then(|rest| rest.split('>').next()).expect(element);
        assert!(tag.contains(&format!(":{name}\"")), "{element}: {tag}");
    }
    for array in [":zip[1]", ":token[1]", ":Length[1]"] {
        assert!(text.contains(array), "{array}: {text}");
    }
    let (_, again) = decode_request::<Label>(written.as_slice()).expect("good once written");
    assert_eq!(again, label);
}

/// The element `label` with some accessors, in an envelope with the prefixes of this test.
fn label(version: Version, accessors: &str, others: &str) -> Vec<u8> {
    let [envelope, encoding] = match version {
        Version::Soap11 => [ns::SOAP11, ns::SOAP11_ENCODING],
        Version::Soap12 => [ns::SOAP12, ns::SOAP12_ENCODING],
    };
    format!(
        "<s:Envelope xmlns:s='{envelope}' xmlns:e='{encoding}' xmlns:i='{}' xmlns:x='{}'><s:Body>\
         <l:label xmlns:l='urn:encoded' s:encodingStyle='{encoding}'>{accessors}</l:label>{others}</s:Body></s:Envelope>",
        ns::XSI,
        ns::XSD
    )
    .into_bytes()
}

/// Null is the same whether an accessor is absent or nil (SOAP 1.1, section 5.1, rule 9). gSOAP,
/// PHP and Axis write nil, Axis with the type.
#[test]
fn accessors_that_are_nil_are_absent() {
    for version in [Version::Soap11, Version::Soap12] {
        for nil in ["i:nil='true'", "i:nil='1'", "i:type='x:string' i:nil='true'"] {
            let names = ["token", "zip", "count", "counts", "digest", "kind", "unit", "zips"];
            let accessors = names.map(|name| format!("<{name} {nil}/>")).concat();
            let message = label(version, &accessors, "");
            let (_, read) = decode_request::<Label>(&message).expect("good");
            assert_eq!(read, Label::default(), "{}", String::from_utf8_lossy(&message));
        }
        let items = match version {
            Version::Soap11 => "e:arrayType='l:zip[3]'",
            Version::Soap12 => "e:itemType='l:zip' e:arraySize='3'",
        };
        let zips = format!("<zips {items}><item>1</item><item i:nil='true'/><item>3</item></zips>");
        let (_, read) = decode_request::<Label>(&label(version, &zips, "")).expect("good");
        let zip = |text: &str| Nillable::Value(Zip(text.to_owned()));
        assert_eq!(read.zips, Some(SoapArray(vec![zip("1"), Nillable::Nil, zip("3")])));
    }
    let written = Envelope::new(&Label::default()).encoding(Use::Encoded).write(Buffer::new()).expect("written");
    assert!(!String::from_utf8_lossy(written.as_slice()).contains("nil="), "absent");
}

#[test]
fn references_to_nil_are_absent() {
    let target = "<m id='n' i:nil='true'/><m id='z'>12</m>";
    let message = label(Version::Soap11, "<token href='#n'/><zip href='#z'/><uri href='#n'/>", target);
    let (_, read) = decode_request::<Label>(&message).expect("good");
    assert_eq!(read, Label { zip: Some(Zip("12".to_owned())), ..Label::default() });
}
