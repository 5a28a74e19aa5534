//! `xsd:QName` as content.

use deltasoap_core::decode::from_slice;
use deltasoap_core::encode::Encoder;
use deltasoap_core::{Content, Error, QName, Typed};

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
