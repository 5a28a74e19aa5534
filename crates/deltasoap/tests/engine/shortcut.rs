//! Cases in which the shortcut for flat items could fail.

use crate::support::{read, read_within};
use deltasoap::engine::Limits;
use deltasoap::{Soap, SoapArray};

#[derive(Debug, Clone, PartialEq, Soap)]
struct Flat {
    x: i32,
    s: String,
}

#[derive(Debug, PartialEq, Soap)]
struct List {
    f: Vec<Flat>,
}

#[derive(Debug, PartialEq, Soap)]
struct Nest {
    inner: Option<Box<Nest>>,
    items: Option<SoapArray<Flat>>,
    next: Option<Box<Nest>>,
}

const ITEM: &str = "<f><x>1</x><s>a</s></f>";

/// Content after the split of a comment or CDATA section is not markup to learn.
#[test]
fn the_second_half_of_a_comment_is_not_learned() {
    for (gap, half) in [("<!-- c -->", " c -->"), ("<![CDATA[ ]]>", " ]]>"), ("<!-- c -->", "-->")] {
        let xml = format!("<r>{ITEM}{gap}{ITEM}{half}{ITEM}</r>");
        assert!(read::<List>(&xml).is_err(), "{xml}");
        let xml = format!("<r>{ITEM}{gap}{ITEM}{gap}{ITEM}{ITEM}</r>");
        assert_eq!(read::<List>(&xml).map(|list| list.f.len()), Ok(4));
    }
}

#[test]
fn what_was_learned_further_up_is_not_deep_enough() {
    let items = "<items><item><x>1</x><s>a</s></item></items>";
    let nested = |levels: usize| {
        let (open, close) = ("<next>".repeat(levels), "</next>".repeat(levels));
        format!("<r>{items}{open}{items}{close}</r>")
    };
    let limits = Limits { depth: 8, ..Limits::default() };
    assert!(read_within::<Nest>(&nested(4), limits).is_ok());
    let error = read_within::<Nest>(&nested(5), limits).expect_err("too deep");
    assert!(error.to_string().contains("depth"), "{error}");
}

#[test]
fn every_leaf_is_bound_by_the_limit_of_text() {
    let limits = Limits { text: 4, ..Limits::default() };
    let xml = |text: &str| format!("<r>{ITEM}{ITEM}<f><x>1</x><s>{text}</s></f>{ITEM}</r>");
    for text in ["abcd", "a&amp;bc", "<![CDATA[ab]]>cd", "\u{e9}\u{e9}"] {
        assert!(read_within::<List>(&xml(text), limits).is_ok(), "{text}");
    }
    for text in ["abcde", "a&amp;bcd", "<![CDATA[abc]]>de", "\u{e9}\u{e9}x", "a<!---->bcde"] {
        let error = read_within::<List>(&xml(text), limits).expect_err(text);
        assert!(error.to_string().contains("`text` of 4"), "{error}");
    }
}

/// White space between items is not text, however much there is, in both ways of reading.
#[test]
fn white_space_between_elements_is_not_text() {
    let limits = Limits { text: 4, ..Limits::default() };
    let xml = format!("<r>\n        {}</r>", format!("{ITEM}\n      &#32; ").repeat(20));
    assert_eq!(read_within::<List>(&xml, limits).map(|list| list.f.len()), Ok(20));
}

#[test]
fn items_that_deviate_halfway() {
    for odd in [
        "<f><x>1</x><s>a</s></f >",
        "<f><x>1</x><s>a</s><!-- --></f>",
        "<f><x>1</x><s/></f>",
        "<f><x>1</x><s>a</s></f>\n",
        "<f><x> 1</x><s>&lt;</s></f>",
        "<f xmlns='' ><x>1</x><s>a]]</s></f>",
    ] {
        let xml = format!("<r>{}{odd}{}</r>", ITEM.repeat(3), ITEM.repeat(3));
        assert_eq!(read::<List>(&xml).map(|list| list.f.len()), Ok(7), "{odd}");
    }
    for bad in ["<f><x>1</x><s>a]]></s></f>", "<f><x>1</x></f>", "<f><x>1</x><s>a</s>x</f>", "<f><x>1</x><s>a</f>"] {
        let xml = format!("<r>{}{bad}{}</r>", ITEM.repeat(3), ITEM.repeat(3));
        assert!(read::<List>(&xml).is_err(), "{bad}");
    }
}
