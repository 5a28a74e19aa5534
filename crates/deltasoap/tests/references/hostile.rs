//! References that lead nowhere, in circles, or to far too much data.

use crate::graph::Put;
use crate::support::{decode, decode_next, envelope};
use deltasoap::engine::decode::{DecodeOptions, Decoder};
use deltasoap::engine::{ErrorKind, Limits, Memory};
use deltasoap::types::Shared;
use deltasoap::{Soap, SoapArray};
use std::fmt::Write as _;

#[derive(Debug, PartialEq, Soap)]
struct Pair {
    a: Option<Box<Pair>>,
    b: Option<Box<Pair>>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "pairs", namespace = "urn:g")]
struct Pairs {
    pair: Option<Pair>,
    ints: Option<SoapArray<i32>>,
    texts: Option<SoapArray<String>>,
    shared: Option<SoapArray<Shared<String>>>,
}

fn pairs(content: &str, behind: &str) -> Result<Pairs, deltasoap::Error> {
    let message = envelope(&format!("<g:pairs xmlns:g='urn:g'>{content}</g:pairs>{behind}"));
    let results = [usize::MAX, 1000, 13].map(|chunk| decode::<Pairs>(message.as_bytes(), chunk));
    let [one, two, three] = results;
    assert_eq!((&one, &one), (&two, &three));
    one
}

#[track_caller]
fn refused(content: &str, behind: &str, why: &str) {
    let error = pairs(content, behind).expect_err(content);
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn references_to_nothing() {
    refused("<pair href='#no'/>", "", "#no: no element has this id");
    refused("<pair href='#'/>", "", "#: no element has this id");
    refused("<pair href='http://a/#b'/>", "", "only elements of the message");
    refused("<pair href='#x'><a/></pair>", "<m id='x'/>", "content in an element that refers to another");
    refused("<pair href='#x'/>", "<m id='x'/><m id='x'/>", "#x: several elements have this id");
}

#[test]
fn circles() {
    refused("<pair id='x' href='#x'/>", "", "#x: it leads back to itself");
    refused("<pair href='#x'/>", "<m id='x' href='#y'/><m id='y' href='#x'/>", "#x: it leads back to itself");
    refused("<pair id='x'><a href='#x'/></pair>", "", "#x: the element is within the one that it refers to");
    let ring = "<m id='x'><a><b href='#y'/></a></m><m id='y'><a href='#x'/></m>";
    refused("<pair href='#x'/>", ring, "#x: the element is within the one that it refers to");
}

#[test]
fn a_fault_behind_wins_where_the_element_could_have_been() {
    refused("<pair href='#x'/>", "<m id='y'/><m id='x'></n>", "expected end tag `</m>`");
    refused("<pair href='#x'/><ints><item>x</item></ints>", "<m id='x'/><m></n>", "not a valid int");
}

/// Elements that were read in the search for ids are skipped if no text in them can exceed the
/// limit: errors are the same as when they are read again.
#[test]
fn faults_after_skipped_elements_have_their_positions() {
    const PASSED: &str = "<m id='x'><a/></m><m id='y'><a id='z'><b>te &amp; xt</b></a>\n</m><m id='w'/><m id='u' xmlns:p='urn:p'><p:a/></m>";
    let read = |behind: &str, text| {
        let message = envelope(&format!("<g:pairs xmlns:g='urn:g'><pair href='#x'/></g:pairs>{PASSED}{behind}"));
        let limits = Limits { text, ..Limits::default() };
        let mut decoder = Decoder::new(DecodeOptions { limits, ..DecodeOptions::default() });
        let read = decode_next::<Pairs>(&mut decoder, message.as_bytes(), usize::MAX, Box::default());
        read.map(Memory::into_value)
    };
    let (passing, reading) = (Limits::default().text, 8);
    assert!(read("", passing).expect("no fault").pair.is_some_and(|pair| pair.a.is_some()));
    assert_eq!(read("", passing), read("", reading));
    for behind in
        ["<m id='v'><a></b></m>", "<m id='v'>&no;</m>", "<m id='v'><p:a/></m>", "</m>", "<m/>", "<m id='v'", "x"]
    {
        assert_eq!(read(behind, passing).expect_err(behind), read(behind, reading).expect_err(behind));
    }
    let long = "<m id='v'>nine byte<a/></m>";
    assert!(read(long, passing).is_ok() && read(long, 9).is_ok());
    let error = read(long, reading).expect_err("a long text");
    assert!(format!("{:?}", error.kind()).contains("Limit { name: \"text\", limit: 8 }"), "{error:?}");
}

/// Each element refers twice to the next one.
#[test]
fn bombs() {
    let mut levels = String::new();
    for level in 0..60 {
        let _ = write!(levels, "<m id='l{level}'><a href='#l{0}'/><b href='#l{0}'/></m>", level + 1);
    }
    let error = pairs("<pair href='#l0'/>", &format!("{levels}<m id='l60'/>")).expect_err("2^60 pairs");
    assert_eq!(error.kind(), &ErrorKind::Limit { name: "referred", limit: 16 << 20 });
    let text = "x".repeat(100_000);
    let many = format!("<texts>{}</texts>", "<item href='#t'/>".repeat(1000));
    let error = pairs(&many, &format!("<m id='t'>{text}</m>")).expect_err("100 MB");
    assert_eq!(error.kind(), &ErrorKind::Limit { name: "referred", limit: 16 << 20 });
    let shared = many.replace("texts>", "shared>");
    let shared = pairs(&shared, &format!("<m id='t'>{text}</m>")).expect("one text").shared.expect("an array");
    assert_eq!(shared.len(), 1000);
    assert!(shared.iter().all(|item| Shared::ptr_eq(item, &shared[0])));
}

#[test]
fn chains_take_linear_time() {
    let mut chain = String::new();
    for link in 0..100_000 {
        let _ = write!(chain, "<m id='c{link}' href='#c{}'/>", link + 1);
    }
    chain.push_str("<m id='c100000'>7</m>");
    let many = format!("<ints>{}</ints>", "<item href='#c0'/>".repeat(1000));
    let message = envelope(&format!("<g:pairs xmlns:g='urn:g'>{many}</g:pairs>{chain}"));
    let read = decode::<Pairs>(message.as_bytes(), usize::MAX).expect("a chain");
    assert_eq!(read.ints, Some(SoapArray(vec![7; 1000])));
}

/// A list linked by references is as deep as one linked by nesting.
#[test]
fn long_lists_of_references_are_too_deep() {
    let mut list = String::new();
    for link in 0..100_000 {
        let _ = write!(list, "<m id='c{link}'><name/><value>1</value><next href='#c{}'/></m>", link + 1);
    }
    list.push_str("<m id='c100000'><name/><value>1</value></m>");
    let message = envelope(&format!("<g:put xmlns:g='urn:g'><first href='#c0'/></g:put>{list}"));
    let error = decode::<Put>(message.as_bytes(), usize::MAX).expect_err("too deep");
    assert!(error.to_string().contains("depth"), "{error}");
}

#[test]
fn declarations_around_targets_are_bounded() {
    let mut around = String::new();
    for outer in 0..2 {
        let _ = write!(around, "<o");
        (0..400).for_each(|inner| _ = write!(around, " xmlns:p{outer}-{inner}='urn:{inner}'"));
        around.push('>');
    }
    let behind = format!("<m id='o'>{around}<x id='x'/></o></o></m>");
    let error = pairs("<pair href='#x'/>", &behind).expect_err("too many declarations");
    assert_eq!(error.kind(), &ErrorKind::Limit { name: "bindings_in_scope", limit: 512 });
}

#[test]
fn what_is_not_referred_to_is_passed_over() {
    let read = pairs("<pair id='x'><a/></pair>", "<m id='y'><a href='#nowhere'/></m>").expect("only passed over");
    assert!(read.pair.is_some_and(|pair| pair.a.is_some()));
    assert!(matches!(pairs("", "<m/>").expect_err("no id").kind(), ErrorKind::Envelope(_)));
}
