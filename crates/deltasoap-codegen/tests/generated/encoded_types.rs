//! Simple types in SOAP encoding keep the names in the WSDL.

use crate::encoded::*;
use deltasoap::lexical::{AnyUri, List, Token};
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, decode_request};
use deltasoap::{Binary, Buffer, Lexical, Nillable, QName, SoapArray};

fn some<T>(value: T) -> Option<Nillable<T>> {
    Some(Nillable::Value(value))
}

#[test]
fn declared_types_are_announced() {
    let token = || Token::parse("a b").expect("a token");
    let zip = || Zip("12345".to_owned());
    let label = Label {
        token: some(token()),
        uri: some(AnyUri::parse("urn:a").expect("a URI")),
        zip: some(zip()),
        count: some(Count(3)),
        zips: some(SoapArray(vec![Nillable::Value(zip())])),
        tokens: some(SoapArray(vec![Nillable::Value(token())])),
        counts: some(Counts(List(vec![1, 2]))),
        digest: some(Digest(Binary::from(b"abcd".to_vec()))),
        kind: some(Kind(QName::new("urn:k", "car"))),
        unit: some(Unit::Ft),
        length: some(Length(Unit::M)),
        lengths: some(SoapArray(vec![Nillable::Value(Length(Unit::M))])),
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
