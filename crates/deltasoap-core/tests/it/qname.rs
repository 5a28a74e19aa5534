//! `xsd:QName` as content.

use crate::streams::Stream;
use deltasoap_core::decode::from_slice;
use deltasoap_core::encode::Encoder;
use deltasoap_core::{AnySimple, Content, DecodeOptions, Differential, Error, ErrorKind, QName, SoapArray, Typed, ns};

fn read(text: &str) -> Result<QName, Error> {
    from_slice(text.as_bytes(), &QName::new("", "q"))
}

#[test]
fn prefixes_are_resolved_where_the_element_stands() {
    for (text, namespace, local) in [
        ("<q xmlns:p='urn:p'>p:x</q>", "urn:p", "x"),
        ("<q xmlns:p='urn:p'> p:x\n</q>", "urn:p", "x"),
        ("<q xmlns:p='urn:p'>p<!-- -->:<![CDATA[x]]></q>", "urn:p", "x"),
        ("<q>x</q>", "", "x"),
        ("<q>xml:lang</q>", "http://www.w3.org/XML/1998/namespace", "lang"),
    ] {
        assert_eq!(read(text), Ok(QName::owned(namespace, local)), "{text}");
    }
    for bad in ["<q>p:x</q>", "<q></q>", "<q>a b</q>", "<q xmlns:p='urn:p'>p:</q>"] {
        assert_eq!(read(bad).expect_err(bad).path(), "/q", "{bad}");
    }
}

#[test]
fn a_name_is_written_with_a_prefix_that_is_declared() {
    for name in [QName::new("urn:p", "x"), QName::new("", "x")] {
        let mut encoder = Encoder::new();
        encoder.start(&QName::new("", "q"));
        name.encode(&mut encoder, QName::view());
        encoder.end();
        let text = encoder.finish().expect("writable").into_vec();
        assert_eq!(read(&String::from_utf8(text).expect("UTF-8")), Ok(name));
    }
}

const XSI_XSD: &str =
    "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:xsd='http://www.w3.org/2001/XMLSchema'";

/// A prefix of one message means nothing in another.
#[test]
fn a_name_of_any_simple_type_keeps_its_namespace() {
    let read = |text: &str| from_slice::<AnySimple>(text.as_bytes(), &QName::new("", "v"));
    for (builtin, value, expanded) in [
        ("QName", "p:x", "{urn:p}x"),
        ("QName", " o:x ", "{urn:o}x"),
        ("NOTATION", "p:x", "{urn:p}x"),
        ("QName", "x", "x"),
    ] {
        let text = format!("<v {XSI_XSD} xmlns:o='urn:o' xsi:type='xsd:{builtin}' xmlns:p='urn:p'>{value}</v>");
        let found = read(&text).expect(&text);
        assert_eq!((found.0.builtin().local(), found.text()), (builtin, expanded.to_owned()), "{text}");
        let mut encoder = Encoder::new();
        encoder.start(&QName::new("", "v"));
        found.encode(&mut encoder, AnySimple::view());
        encoder.end();
        let written = String::from_utf8(encoder.finish().expect("writable").into_vec()).expect("UTF-8");
        assert_eq!(read(&written), Ok(found), "{written}");
    }
    let unknown = read(&format!("<v {XSI_XSD} xsi:type='xsd:QName'>p:x</v>")).expect_err("no declaration");
    assert!(matches!(unknown.kind(), ErrorKind::UnexpectedValue { found, .. } if found == "p:x"), "{unknown}");
}

/// Compared with an earlier message, and in lists of like items, the declarations still count.
#[test]
fn names_of_any_simple_type_change_with_their_declarations() {
    let exact = Differential { adaptive: false, ..Differential::default() };
    let options = DecodeOptions { differential: exact, ..DecodeOptions::default() };
    for chunk in [1, 5, usize::MAX] {
        let mut stream = Stream::<SoapArray<AnySimple>>::new(SoapArray::<AnySimple>::view(), options);
        for (prefix, items) in [
            ("p", "<item xsi:type='xsd:QName'>p:a</item><item xsi:type='xsd:QName'>p:b</item>"),
            ("p", "<item xsi:type='xsd:QName'>p:a</item><item xsi:type='xsd:QName'>p:c</item>"),
            ("q", "<item xsi:type='xsd:QName'>q:a</item><item xsi:type='xsd:QName'>q:c</item>"),
            ("q", "<item xsi:type='xsd:int'>1</item><item xsi:type='xsd:QName'>q:c</item>"),
            ("q", "<item xsi:type='xsd:QName'>q:c</item><item xsi:type='xsd:QName' xmlns:q='urn:own'>q:c</item>"),
            ("q", "<item xsi:type='xsd:QName'>p:a</item>"),
        ] {
            let text = format!(
                "<v {XSI_XSD} xmlns:e='{}' e:arrayType='xsd:anySimpleType[]' xmlns:{prefix}='urn:p'>{items}</v>",
                ns::SOAP11_ENCODING
            );
            let _ = stream.next(text.as_bytes(), chunk);
        }
        let moved = |urn: &str| {
            let item = "<item xsi:type='xsd:QName'>p:a</item>";
            format!("<v {XSI_XSD} xmlns:p='{urn}'>{item}</v>")
        };
        let [one, other] = ["urn:p", "urn:q"].map(|urn| stream.next(moved(urn).as_bytes(), chunk).expect("a name"));
        assert_ne!(one, other);
    }
}
