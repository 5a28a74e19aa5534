//! However a document is split into chunks, the events and the error are the same, and they agree
//! with those of other parsers.

use crate::common::{Outcome, Recorder, oracle};
use deltasoap_test_support::utf16;
use deltasoap_xml::{Instructions, Limits, XmlError};
use proptest::prelude::*;

/// Fragments of documents: many are valid, some are not, some only in the right place.
const FRAGMENTS: [&str; 65] = [
    "<a>",
    "</a>",
    "<a>",
    "</a>",
    "<b x='1'>",
    "</b>",
    "<p:c xmlns:p='urn:p'>",
    "</p:c>",
    "<a/>",
    "<b y=\"2\" x='&lt;'/>",
    "<q:d xmlns:q='urn:p' q:x='1' x='2'/>",
    "<a xmlns='urn:a'>",
    "text",
    " ",
    "\r\n",
    "\r",
    "\n",
    "\t",
    "é",
    "漢字",
    "😀",
    "&amp;",
    "&#65;",
    "&#x1F600;",
    "&nbsp;",
    "&#0;",
    "&",
    ";",
    "]]>",
    "]",
    "]]",
    ">",
    "<",
    "<![CDATA[",
    "<![CDATA[x]]>",
    "<![CDATA[]]]]>",
    "<!-- c -->",
    "<!--",
    "-->",
    "--",
    "-",
    "<?pi data?>",
    "<?pi?>",
    "<?",
    "?>",
    "<!DOCTYPE a>",
    "<!",
    "<?xml version='1.0'?>",
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone='yes'?>",
    "<?xml version='1.0' encoding='windows-1252'?>",
    "\u{FFFE}",
    "\u{1}",
    "'",
    "\"",
    "=",
    "x='1'",
    "xmlns:p='urn:q'",
    "xmlns:xml='u'",
    "/",
    "<a x=\"1'",
    "<é ü='ö'/>",
    "\u{FEFF}",
    "<p:e/>",
    "<a x='\r\n\t&#9;'>",
    "<long-name-here with='a longer value than sixteen bytes' and=\"another one >\"/>",
];

/// Text made of fragments, often well-formed as a whole.
fn document() -> impl Strategy<Value = String> {
    let fragments = || proptest::collection::vec(proptest::sample::select(&FRAGMENTS[..]), 0..20);
    prop_oneof![
        1 => fragments().prop_map(|fragments| fragments.concat()),
        2 => fragments().prop_map(|fragments| format!("<r>{}</r>", fragments.concat())),
        3 => element(),
        1 => element().prop_map(|element| format!("<?xml version='1.0'?>\n<!-- c -->{element}\n<?pi?>")),
    ]
}

/// A well-formed element.
fn element() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec![
        "text",
        "1.5E3",
        "",
        " ",
        "&lt;&#10;",
        "é漢😀",
        "\r\n",
        "]]",
        "<![CDATA[<&]]]>]]>",
        "<!-- -->",
        "a\rb",
        "x]",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(4, 40, 5, |inner| {
            (0..6usize, proptest::collection::vec(inner, 0..5)).prop_map(|(tag, children)| {
                let (open, close) = [
                    ("<a>", "</a>"),
                    ("<b x='1' y = \"a&amp;\r\n'\" >", "</b >"),
                    ("<p:c xmlns:p='urn:p' p:x=''>", "</p:c>"),
                    ("<d xmlns='urn:d'>", "</d>"),
                    ("<é xmlns=''>", "</é\n>"),
                    ("<xs:e xmlns:xs='urn:1' xmlns:p='urn:2' xmlns='urn:3' xs:a='1' p:a='2' a='3'>", "</xs:e>"),
                ][tag];
                format!("{open}{}{close}", children.concat())
            })
        })
        .prop_map(|inner| format!("<r>{inner}</r>"))
}

/// Changes of single bytes, insertions, deletions.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let change = (
        any::<prop::sample::Index>(),
        0..3u8,
        prop_oneof![any::<u8>(), proptest::sample::select(b"<>&;'\"/=-]! \r\n:xa".to_vec())],
    );
    (document(), proptest::collection::vec(change, 0..3)).prop_map(|(document, changes)| {
        let mut bytes = document.into_bytes();
        for (place, kind, byte) in changes {
            let at = place.index(bytes.len() + 1);
            match kind {
                0 => bytes.insert(at, byte),
                _ if at == bytes.len() => {}
                1 => bytes[at] = byte,
                _ => drop(bytes.remove(at)),
            }
        }
        bytes
    })
}

/// Limits, some so small that documents reach them.
fn limits() -> impl Strategy<Value = Limits> {
    let default = Limits::default();
    let tight = (1..6usize, 0..4usize, 0..12usize, 1..9usize, 0..20usize, 1..60usize, 0..200u64).prop_map(
        |(depth, attributes, attribute_value, name, text, markup, message)| Limits {
            depth,
            attributes,
            attribute_value,
            name,
            text,
            markup,
            message,
            ..Limits::default()
        },
    );
    (tight, 0..12usize).prop_map(move |(tight, which)| match which {
        0 => Limits { depth: tight.depth, ..default },
        1 => Limits { attributes: tight.attributes, ..default },
        2 => Limits { attribute_value: tight.attribute_value, ..default },
        3 => Limits { name: tight.name, ..default },
        4 => Limits { text: tight.text, ..default },
        5 => Limits { markup: tight.markup, ..default },
        6 => Limits { message: tight.message, ..default },
        7 => tight,
        _ => default,
    })
}

fn instructions() -> impl Strategy<Value = Instructions> {
    prop_oneof![Just(Instructions::Refuse), Just(Instructions::Skip)]
}

/// Splits a document at the given positions.
fn cut(bytes: &[u8], cuts: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| bytes[pair[0]..pair[1]].to_vec()).collect()
}

/// Reads a document in one piece, byte by byte, and in the given chunks; the results must be equal.
fn read_all(bytes: &[u8], limits: Limits, instructions: Instructions, cuts: &[prop::sample::Index]) -> Outcome {
    let mut recorder = Recorder::new(limits, instructions);
    let whole = recorder.record(std::iter::once(bytes));
    assert_eq!(recorder.record(bytes.chunks(1)), whole, "byte by byte");
    let chunks = cut(bytes, cuts);
    assert_eq!(recorder.record(chunks.iter().map(Vec::as_slice)), whole, "cut into {chunks:?}");
    whole
}

fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    proptest::collection::vec(any::<prop::sample::Index>(), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn utf8_in_any_chunks(bytes in mutated(), limits in limits(), instructions in instructions(), cuts in cuts()) {
        read_all(&bytes, limits, instructions, &cuts);
    }

    #[test]
    fn utf16_in_any_chunks(text in document(), big: bool, damage in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())), limits in limits(), cuts in cuts()) {
        let mut bytes = utf16(&text, big);
        if let Some((place, byte)) = damage {
            let at = place.index(bytes.len());
            bytes[at] = byte;
            bytes.truncate(bytes.len() - usize::from(byte % 4 == 0));
        }
        read_all(&bytes, limits, Instructions::Skip, &cuts);
    }

    #[test]
    fn utf16_and_utf8_agree(text in document(), big: bool) {
        prop_assume!(!text.contains("encoding=") && !text.starts_with('\u{FEFF}'));
        let (pieces, error) = read_all(text.as_bytes(), Limits::default(), Instructions::Skip, &[]);
        let (pieces_16, error_16) = read_all(&utf16(&text, big), Limits::default(), Instructions::Skip, &[]);
        prop_assert_eq!(pieces, pieces_16);
        prop_assert_eq!(error.as_ref().map(|e| &e.kind), error_16.as_ref().map(|e| &e.kind));
        let offset = error.map(|e| 2 + 2 * text[..e.offset as usize].encode_utf16().count() as u64);
        prop_assert_eq!(offset, error_16.map(|e| e.offset));
    }

    #[test]
    fn single_bytes_in_any_chunks(bytes in mutated(), cuts in cuts(), limits in limits(), label in proptest::sample::select(&["latin1", "Windows-1252"][..])) {
        let declaration = format!("<?xml version='1.0' encoding='{label}'?>");
        read_all(&[declaration.as_bytes(), &bytes].concat(), limits, Instructions::Skip, &cuts);
    }

    #[test]
    fn single_bytes_and_utf8_agree(text in document(), bytes in proptest::collection::vec(0xA0..=0xFF_u8, 8), cut: prop::sample::Index) {
        prop_assume!(!text.contains("encoding=") && !text.starts_with('\u{FEFF}'));
        // Maps characters outside Latin-1 to some of it.
        let of_latin = |c: char| if c as u32 > 0xFF { char::from(bytes[c as usize % 8]) } else { c };
        let text: String = text.chars().map(of_latin).collect();
        let text = text.strip_prefix("<?xml version='1.0'?>").unwrap_or(&text);
        let (utf8, latin) = ("<?xml version='1.0' encoding='UTF-8'?>", "<?xml version='1.0' encoding='ISO-8859-1'?>");
        let (pieces, error) = read_all((utf8.to_owned() + text).as_bytes(), Limits::default(), Instructions::Skip, &[cut]);
        let single = |declaration: &str| declaration.chars().chain(text.chars()).map(|c| c as u8).collect::<Vec<u8>>();
        for declaration in [latin, &latin.replace("ISO-8859-1", "cp1252")] {
            let document = single(declaration);
            let (pieces_1, error_1) = read_all(&document, Limits::default(), Instructions::Skip, &[]);
            prop_assert_eq!(&pieces, &pieces_1);
            prop_assert_eq!(error.as_ref().map(|e| &e.kind), error_1.as_ref().map(|e| &e.kind));
            let characters = |e: &XmlError| (utf8.to_owned() + text)[..e.offset as usize].chars().count();
            let offset = error.as_ref().map(|e| characters(e) as u64 + declaration.len() as u64 - utf8.len() as u64);
            prop_assert_eq!(offset, error_1.map(|e| e.offset));
            let mut recorder = Recorder::new(Limits::default(), Instructions::Skip);
            for at in 0..=document.len() {
                let (head, tail) = document.split_at(at);
                prop_assert_eq!(&recorder.record([head, tail].into_iter()).0, &pieces, "cut at {}", at);
            }
        }
    }

    #[test]
    fn another_parser_agrees(bytes in mutated()) {
        // Not `prop_assume`: it gives up after skipping this many documents.
        if let Some(text) = std::str::from_utf8(&bytes).ok().filter(|text| oracle::is_comparable(text)) {
            oracle::compare(text, &read_all(&bytes, Limits::NONE, Instructions::Skip, &[]));
        }
    }
}
