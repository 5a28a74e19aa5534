//! Positions of errors in messages that are not in UTF-8: exact in received bytes, for any chunks
//! and any length of text.

use deltasoap_core::Content;
use deltasoap_core::decode::{Cursor, DecodeOptions, Decoder, Root, Step};
use deltasoap_core::schema::{
    Builtin, ComplexElement, Compositor, Element, ElementRef, Field, Schema, SimpleElement, View,
};
use deltasoap_core::{Error, QName, Value};
use deltasoap_test_support::{latin_1, utf16};

struct Document<'a> {
    view: View<'a>,
    value: Value,
}

impl Root for Document<'_> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        let (me, _) = cursor.enter();
        if cursor.frame(me).state == 0 {
            cursor.next_tag()?;
            cursor.frame(me).state = 1;
        }
        self.value.decode(cursor, self.view)
    }
}

/// `<r>` with any number of `<b>`, `<i>` and `<n>`: base64, an int, and a nillable int.
fn schema() -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    let mut field = |name, base: Builtin, nillable| {
        let element =
            SimpleElement { name: base.name(), base, enumeration: Default::default(), default: None, packed: None };
        let element = schema.add(Element::Simple(element));
        Field { name: QName::new("", name), element, min: 0, max: None, nillable, inline: false }
    };
    let fields =
        vec![field("b", Builtin::Base64Binary, false), field("i", Builtin::Int, false), field("n", Builtin::Int, true)];
    let root = ComplexElement {
        name: QName::new("", "R"),
        compositor: Compositor::Sequence,
        fields: fields.into(),
        attributes: Vec::new().into(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    };
    let root = schema.add(Element::Complex(root));
    (schema, root)
}

fn fault(view: View<'_>, message: &[u8], size: usize) -> Error {
    let mut root = Document { view, value: Value::vacant(view) };
    let mut decoder = Decoder::new(DecodeOptions::default());
    let pushed = message.chunks(size).try_for_each(|chunk| decoder.push(&mut root, chunk));
    pushed.and_then(|()| decoder.finish(&mut root)).expect_err("the message is invalid")
}

/// Encodes in ISO-8859-1, with a declaration.
fn latin(text: &str) -> Vec<u8> {
    [b"<?xml version='1.0' encoding='latin1'?>", &latin_1(text)[..]].concat()
}

/// Checks that the error's position is that of `|`, which is removed, in any chunks.
fn check(marked: &str) {
    let (schema, root) = schema();
    let view = schema.view(root);
    let (before, after) = marked.split_once('|').expect("a mark");
    let text = [before, after].concat();
    let wanted = 2 + 2 * before.encode_utf16().count() as u64;
    for size in [50, 1000, (16 << 10) + 1, usize::MAX] {
        for is_big in [true, false] {
            let error = fault(view, &utf16(&text, is_big), size);
            assert_eq!(error.offset(), wanted, "{error}, by {size}");
        }
        let error = fault(view, text.as_bytes(), size);
        assert_eq!(error.offset(), before.len() as u64, "{error}, by {size}");
        let error = fault(view, &latin(&text), size);
        assert_eq!(error.offset(), latin(before).len() as u64, "{error}, by {size}");
    }
}

#[test]
fn a_leaf_of_any_length_is_named_by_its_start() {
    let (space, base64) = (" ".repeat(140_000), "AAAA".repeat(35_000));
    check(&format!("<r><!-- é😀 --><i>1</i><i>|{space}x</i></r>"));
    check(&format!("<r><!-- é😀 --><b>|{base64}!</b></r>"));
    check(&format!("<r><!-- é😀 --><b>{base64}</b><b>|{base64}A</b></r>"));
    check(&format!("<r><!-- é😀 --><b>{base64}</b><n>|x</n></r>"));
    check(&format!("<r><n a='é'>|<!-- {space} -->x</n></r>"));
}

#[test]
fn faults_of_tags_and_characters_are_exact() {
    let base64 = "AAAA".repeat(35_000);
    let start = format!("<r><!-- é😀 --><b>{base64}</b>");
    let nil = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:nil";
    check(&format!("{start}|<x/></r>"));
    check(&format!("{start}|<i {nil}='é'/></r>"));
    check(&format!("{start}|<n {nil}='é'/></r>"));
    check(&format!("{start}<n {nil}='1'> <!-- {base64} -->|<x/></n></r>"));
    check(&format!("{start}<i>1|<x/></i></r>"));
    check(&format!("{start}  |x</r>"));
    check(&format!("{start}  |&#120;</r>"));
    check(&format!("{start}<i>1</|b></r>"));
}
