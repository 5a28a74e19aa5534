//! Errors of invalid messages as users see them: exact text, paths and positions.

use crate::support::read;
use deltasoap::types::AnySimple;
use deltasoap::{Nillable, Soap, SoapArray};

#[derive(Debug, PartialEq, Soap)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Debug, PartialEq, Soap)]
struct Link {
    #[soap(attribute)]
    href: String,
    #[soap(text)]
    title: String,
}

#[derive(Debug, PartialEq, Soap)]
struct Doc {
    #[soap(attribute)]
    id: u8,
    a: Option<Point>,
    p: Vec<Point>,
    n: Option<Nillable<i32>>,
    any: Option<AnySimple>,
    array: Option<SoapArray<i32>>,
    link: Option<Link>,
    z: Option<bool>,
}

/// Asserts the text of the error; the byte of `|` in the document is its position.
#[track_caller]
fn fails(document: &str, expected: &str) {
    const ROOT: &str = "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:q='urn:q' id='1'>";
    let marked = document.replace("<r>", ROOT);
    let at = marked.find('|').expect("a mark");
    let error = read::<Doc>(&marked.replace('|', "")).expect_err(document);
    assert_eq!(error.to_string(), format!("{expected}, at byte {at}"), "{document}");
    assert_eq!(error.offset() as usize, at);
}

#[test]
fn elements() {
    fails(
        "<r>|<q:x/></r>",
        "unexpected element <{urn:q}x>, expected <a> or <p> or <n> or <any> or <array> or 2 more, in /r/x",
    );
    fails("<r><z>true</z>|<a/></r>", "unexpected element <a>, expected the end of the element, in /r/a");
    fails("<r><a><x>1</x>|</a></r>", "missing element <y>, in /r/a");
    fails("<r><p><x>1</x><y>2</y></p><p>|<y>1</y></p></r>", "unexpected element <y>, expected <x>, in /r/p[2]/y");
    fails("<r><a>|t<x>1</x></a></r>", "character data where only elements are allowed, in /r/a");
    fails("<r><a><x>1</x>  |&#65;<y/></a></r>", "character data where only elements are allowed, in /r/a");
    fails("<r><z>tr|<ue/></z></r>", "unexpected element <ue>, expected text, in /r/z/ue");
}

#[test]
fn values() {
    fails("<r><a><x>|1 2</x></a></r>", "not a valid int: not a digit, in /r/a/x");
    fails("<r><a><x>|</x></a></r>", "not a valid int: no digits, in /r/a/x");
    fails("<r><z>|yes</z></r>", "not a valid boolean: neither true, false, 1 nor 0, in /r/z");
    fails("|<r id='300'/>", "not a valid unsignedByte: above 255, in /r");
    fails("|<r />", "missing attribute id, in /r");
}

#[test]
fn attributes_of_schema_instance() {
    fails("<r>|<a xsi:nil='true'/></r>", "xsi:nil: this element cannot be nil, in /r/a");
    fails("<r>|<n xsi:nil='maybe'/></r>", "xsi:nil: neither true nor false, in /r/n");
    fails("<r><n xsi:nil='1'>|<b/></n></r>", "xsi:nil: content in a nil element, in /r/n/b");
    let expected = "expected a name whose prefix is declared";
    for element in ["a", "p", "any", "array", "link href=''", "z", "n"] {
        let name = element.split(' ').next().expect("a name");
        let index = if name == "p" { "[1]" } else { "" };
        let path = format!("in /r/{name}{index}");
        fails(&format!("<r>|<{element} xsi:type='no:T'/></r>"), &format!("xsi:type \"no:T\", {expected}, {path}"));
    }
}

#[test]
fn a_type_that_differs_is_no_fault() {
    let xsi = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:d='http://www.w3.org/2001/XMLSchema'";
    let doc = read::<Doc>(&format!("<r {xsi} id='1'><a xsi:type='d:other'><x xsi:type='d:long'>1</x><y>2</y></a></r>"));
    assert_eq!(doc.map(|doc| doc.a), Ok(Some(Point { x: 1, y: 2 })));
}

#[test]
fn references() {
    for element in ["a", "z", "array"] {
        fails(
            &format!("<r>|<{element} href='#1'/></r>"),
            &format!("reference #1: no element has this id, in /r/{element}"),
        );
    }
    let outside = "reference u#1: only elements of the message can be referred to, in /r/a";
    fails("<r>|<a href='u#1'/></r>", outside);
    fails("<r>|<a id='1' href='#1'/></r>", "reference #1: it leads back to itself, in /r/a");
    fails("<r>|<z href='#2'/><array id='2'/><x id='2'/></r>", "reference #2: several elements have this id, in /r/z");
    let doc = read::<Doc>("<r id='1'><link href='#1'>t</link></r>").expect("an href that the schema names");
    assert_eq!(doc.link, Some(Link { href: "#1".to_owned(), title: "t".to_owned() }));
}

#[test]
fn xml() {
    fails("<r><a></|b></r>", "expected end tag `</a>`, found `</b>`, in /r/a");
    fails("<r><z>&|</z></r>".replace("&|", "|&no;").as_str(), "undeclared entity `&no;`, in /r/z");
    fails("<r><z>tr|", "the document ends too early, in /r/z");
    fails("<r>|<!DOCTYPE r></r>", "a document type declaration is not allowed in SOAP, in /r");
    fails("|<?go?><r></r>", "processing instruction `go`: none is allowed in SOAP");
}
