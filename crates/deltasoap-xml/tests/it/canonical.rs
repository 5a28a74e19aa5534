//! Canonical forms that other implementations made, of `testdata/signatures/c14n`.

use deltasoap_xml::c14n::{Canonicalizer, Method, canonicalize};
use deltasoap_xml::{Event, Instructions, Limits, Reader, Window};
use std::path::Path;

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/signatures/c14n");
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the form of the first element with a local name.
fn element(document: &[u8], name: &str, method: &Method) -> Vec<u8> {
    let mut reader = Reader::new(Limits::default(), Instructions::Skip);
    let mut canonical = Canonicalizer::new(method.clone());
    canonical.prepare(&mut reader);
    let (mut window, mut out, mut is_inside) = (Window::whole(document), Vec::new(), false);
    let mut sink = |piece: &[u8]| out.extend_from_slice(piece);
    while !canonical.is_done() {
        canonical.pass(&mut reader, &mut window, &mut sink);
        let event = reader.next(&mut window).expect("well-formed");
        is_inside |= event == Event::Start && reader.names().local(reader.name()) == name;
        match event {
            event if is_inside => canonical.event(event, &reader, &mut sink).expect("a form"),
            Event::Start => canonical.around(&reader),
            _ => {}
        }
    }
    out
}

#[track_caller]
fn assert_form(document: &str, name: &str, method: &Method, form: &str) {
    let ours = element(&file(document), name, method);
    let (ours, theirs) = (String::from_utf8(ours), String::from_utf8(file(form)));
    assert_eq!(ours, theirs, "{document}, {name}: {form}");
}

/// Merlin Hughes's vectors: exclusive forms with and without listed prefixes and comments, and
/// subtrees in each method. The others of `Y4` and `Y5` need XPath.
#[test]
fn merlin() {
    let (exclusive, inclusive) = (Method::exclusive, Method::inclusive);
    let listed = || exclusive().inclusive_prefixes(["bar", "#default"]);
    assert_form("Y1-exc-signature.xml", "Object", &exclusive(), "Y1-c14n-0.txt");
    assert_form("Y1-exc-signature.xml", "Object", &listed(), "Y1-c14n-1.txt");
    assert_form("Y1-exc-signature.xml", "Object", &exclusive().with_comments(), "Y1-c14n-2.txt");
    assert_form("Y1-exc-signature.xml", "Object", &listed().with_comments(), "Y1-c14n-3.txt");
    assert_form("Y1-exc-signature.xml", "SignedInfo", &exclusive(), "Y1-c14n-4.txt");
    for folder in ["Y4", "Y5"] {
        let form = |number: u32| format!("{folder}-c14n-{number}.txt");
        let document = format!("{folder}-signature.xml");
        let default = exclusive().inclusive_prefixes(["#default"]);
        assert_form(&document, "Something", &inclusive(), &form(0));
        assert_form(&document, "Something", &exclusive(), &form(9));
        assert_form(&document, "Something", &default, &form(18));
        assert_form(&document, "SignedInfo", &inclusive(), &form(27));
    }
}

/// The examples of Exclusive XML Canonicalization, and a SOAP message, as Apache Santuario tests
/// them.
#[test]
fn examples_of_exclusive_canonicalization() {
    assert_form("example2_2_1.xml", "elem2", &Method::inclusive(), "example2_2_1_c14nized.xml");
    assert_form("example2_2_2.xml", "elem2", &Method::inclusive(), "example2_2_2_c14nized.xml");
    for document in ["example2_2_1.xml", "example2_2_2.xml"] {
        assert_form(document, "elem2", &Method::exclusive(), "example2_2_c14nized_exclusive.xml");
    }
    assert_form("example2_2_3.xml", "p", &Method::exclusive(), "example2_2_3_c14nized_exclusive.xml");
    assert_form("example2_4.xml", "elem2", &Method::exclusive(), "example2_4_c14nized.xml");
    assert_form("plain-soap-1.1.xml", "Body", &Method::exclusive(), "plain-soap-c14nized.xml");
}

/// Whole documents of Santuario: those without a document type declaration.
#[test]
fn documents() {
    for name in ["32", "36"] {
        let form = canonicalize(&file(&format!("{name}_input.xml")), Limits::default(), &Method::inclusive());
        let theirs = file(&format!("{name}_c14n.xml"));
        assert_eq!(form.map(String::from_utf8), Ok(String::from_utf8(theirs)), "{name}");
    }
    let document = "default_ns_redefinition_input.xml";
    assert_form(document, "Object", &Method::inclusive(), "default_ns_redefinition_c14n.xml");
}

/// The W3C's interoperability tests of Canonical XML 1.1, except those about `xml:base`.
#[test]
fn canonical_xml_1_1() {
    for attribute in ["xmllang", "xmlspace", "xmlid"] {
        let input = file(&format!("{attribute}-input.xml"));
        let cases: &[&[&str]] = match attribute {
            "xmlid" => &[&["e1"], &["e11", "e12"]],
            _ => &[&["e1"], &["e2"], &["e11"], &["e11", "e12"]],
        };
        for (number, names) in (1..).zip(cases) {
            let form = names.iter().flat_map(|name| element(&input, name, &Method::inclusive_11())).collect();
            let theirs = file(&format!("{attribute}-{number}.output"));
            assert_eq!(String::from_utf8(form), String::from_utf8(theirs), "{attribute}-{number}");
        }
    }
}
