//! Trees read by a decoder that predicts their tags, compared with one that predicts nothing.

use deltasoap_core::decode::{Decoder, ElementRoot};
use deltasoap_core::{DecodeOptions, Differential, Error, Limits, Node, Typed};
use deltasoap_test_support::Chance;
use std::fmt::Write;

/// A document whose elements repeat a few shapes, and sometimes deviate from them in every way.
fn document(chance: &mut Chance) -> String {
    let mut out = String::from(chance.word(&["<r xmlns='u' xmlns:p='v'>", "<r xmlns:p='v'>", "<r xmlns:p='w' a='1'>"]));
    let rare = 5 + chance.below(40);
    let rows = chance.below(30);
    (0..rows).for_each(|_| element(chance, rare, 3, &mut out));
    out + "</r>"
}

fn element(chance: &mut Chance, rare: usize, depth: usize, out: &mut String) {
    let deviates = |chance: &mut Chance| chance.below(rare) == 0;
    let name = chance.word(&["a", "b", "p:a", "p:long-name-of-an-element-that-fills-more-than-a-block"]);
    let plain = ["", "", " k='1'", " p:t='x y'", " k='1' p:t='2'"];
    let odd = [" xmlns='w'", " xmlns:p='q'", " id='i1'", " href='#i1'", " k='&amp;'", " ", "\n k = \"1\""];
    let attributes = if deviates(chance) { chance.word(&odd) } else { chance.word(&plain) };
    if deviates(chance) {
        let _ = write!(out, "<{name}{attributes}/>");
        return;
    }
    let _ = write!(out, "<{name}{attributes}>");
    if depth > 0 && chance.below(3) > 0 {
        (0..chance.below(4)).for_each(|_| {
            element(chance, rare, depth - 1, out);
            if deviates(chance) {
                out.push_str(chance.word(&[" ", "\n\t", "text", "<!-- c -->", "&lt;"]));
            }
        });
    } else {
        let texts = ["1", "22", "a longer text, of more than thirty-two bytes as they say", "x]]y", "e\u{301}"];
        let odd = ["", " ", "&#65;", "<![CDATA[<a>]]>", "1<!-- -->2", "\r\n", "]]>", "a\u{1}b", "<a"];
        out.push_str(if deviates(chance) { chance.word(&odd) } else { chance.word(&texts) });
    }
    let end = if deviates(chance) { chance.word(&[" ", "x", "\n"]) } else { "" };
    let _ = write!(out, "</{name}{end}>");
}

fn read(decoder: &mut Decoder, document: &[u8], chunk: usize) -> Result<Node, Error> {
    let mut root = ElementRoot::<Node>::new(Node::view());
    decoder.reset();
    document.chunks(chunk.clamp(1, document.len())).try_for_each(|piece| decoder.push(&mut root, piece))?;
    decoder.finish(&mut root)?;
    Ok(root.value)
}

#[test]
fn what_is_predicted_is_what_is_read() {
    let (mut good, mut bad) = (0, 0);
    for seed in 0..800 {
        let mut chance = Chance::seeded(seed);
        let default = Limits::default();
        let limits = match chance.below(6) {
            0 => Limits { depth: 4, ..default },
            1 => Limits { text: 20, ..default },
            2 => Limits { markup: 40, ..default },
            3 => Limits { attributes: 1, ..default },
            _ => default,
        };
        let options = DecodeOptions { limits, differential: Differential::OFF, ..DecodeOptions::default() };
        let mut decoder = Decoder::new(options);
        let mut before = document(&mut chance);
        for _ in 0..4 {
            let chunk = [usize::MAX, usize::MAX, 1, 5, 64][chance.below(5)];
            let found = read(&mut decoder, before.as_bytes(), chunk);
            let expected = read(&mut Decoder::without_shortcuts(options), before.as_bytes(), usize::MAX);
            assert_eq!(found, expected, "seed {seed}, chunks of {chunk}, {limits:?}: {before}");
            *if found.is_ok() { &mut good } else { &mut bad } += 1;
            if chance.below(2) == 0 {
                before = document(&mut chance);
            }
        }
    }
    assert!(good > 500 && bad > 500, "{good} {bad}");
}

/// Tags with attributes contain values of one client: another client's message is read as if they
/// had never occurred.
#[test]
fn many_different_attributes_do_not_pile_up() {
    let rows =
        |from: usize| (from..from + 3000).map(|row| format!("<a k='{row}'><b>{row}</b></a>")).collect::<String>();
    let mut decoder = Decoder::new(DecodeOptions::default());
    for message in 0..3 {
        let document = format!("<r>{}</r>", rows(message * 3000));
        let node = read(&mut decoder, document.as_bytes(), usize::MAX).unwrap();
        let last = node.elements().last().unwrap();
        assert_eq!(last.attribute("", "k"), Some((message * 3000 + 2999).to_string().as_str()));
    }
}
