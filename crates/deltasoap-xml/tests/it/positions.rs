//! Positions of errors in documents that are not in UTF-8: exact in received bytes, even long after
//! the bytes were read.

use deltasoap_test_support::utf16;
use deltasoap_xml::{Encoding, Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError, XmlErrorKind};

/// A little more than 128 KiB of UTF-8, with characters of all lengths.
fn long_text() -> String {
    "a é 漢 😀\t".repeat(10_000)
}

/// Reads a document and reports an error at the start of the text that ends in `!`.
fn fault(document: &[u8], size: usize) -> XmlError {
    let (mut reader, mut feed) = (Reader::new(Limits::NONE, Instructions::Refuse), Feed::new(Limits::NONE));
    let mut mark = None;
    let mut step = |window: &mut Window<'_>| find_exclamation(&mut reader, window, &mut mark);
    for chunk in document.chunks(size) {
        if let Err(error) = feed.push::<Box<XmlError>>(chunk, &mut step) {
            return *error;
        }
    }
    *feed.finish::<Box<XmlError>>(&mut step).unwrap_err()
}

fn find_exclamation(
    reader: &mut Reader,
    window: &mut Window<'_>,
    mark: &mut Option<u64>,
) -> Result<(), Option<Box<XmlError>>> {
    loop {
        match reader.next(window) {
            Ok(Event::Start) => *mark = Some(window.base + window.pos as u64),
            Ok(Event::Text(text)) if text.contains('!') => {
                let (kind, offset) = (XmlErrorKind::ForbiddenCharacter('!'), mark.unwrap());
                return Err(Some(Box::new(XmlError { kind, offset })));
            }
            Ok(Event::Done) => return Ok(()),
            Ok(_) => {}
            Err(Stop::Pending) => {
                window.mark = *mark;
                return Err(None);
            }
            Err(Stop::Error(error)) => return Err(Some(error)),
        }
    }
}

/// Asserts that the position is that of `|`, which is removed, in any chunks.
fn check(marked: &str) {
    let (before, after) = marked.split_once('|').unwrap();
    let text = [before, after].concat();
    let wanted = 2 + 2 * before.encode_utf16().count() as u64;
    for size in [5, 1000, (16 << 10) + 1, usize::MAX] {
        assert_eq!(fault(&utf16(&text, true), size).offset, wanted, "big end first, by {size}");
        assert_eq!(fault(&utf16(&text, false), size).offset, wanted, "little end first, by {size}");
        assert_eq!(fault(text.as_bytes(), size).offset, before.len() as u64, "UTF-8, by {size}");
    }
}

#[test]
fn a_mark_is_exact_at_any_distance() {
    let long = long_text();
    assert!(long.len() > 128 << 10);
    check(&format!("<é x='😀'>|{long}!</é>"));
    check(&format!("<a><b>{long}</b><é x='😀'>|{long}!</é></a>"));
    check("<a><b>x</b><b>|!</b></a>");
}

#[test]
fn a_fault_behind_long_text_or_in_a_long_tag_is_exact() {
    let long = long_text();
    check(&format!("<a>{long}|&x;</a>"));
    check(&format!("<a x='{long}'>é</a>|é"));
    check(&format!("<a><b>{long}</b></|c></a>"));
    check(&format!("<a x='{long}|<'/>"));
    check(&format!("<a x='{long}' |x=''/>"));
    check(&format!("<a><!-- {long}|-- --></a>"));
}

/// Like [`fault`], for a document in ISO-8859-1, by its declaration or by the feed's setting.
fn latin_fault(text: &str, is_external: bool, size: usize) -> XmlError {
    let declaration = if is_external { "" } else { "<?xml version='1.0' encoding='latin1'?>" };
    let document: Vec<u8> = declaration.chars().chain(text.chars()).map(|c| c as u8).collect();
    let (mut reader, mut feed) = (Reader::new(Limits::NONE, Instructions::Refuse), Feed::new(Limits::NONE));
    if is_external {
        feed.set_encoding(Encoding::Latin1);
    }
    let mut mark = None;
    let mut step = |window: &mut Window<'_>| find_exclamation(&mut reader, window, &mut mark);
    let pushed = document.chunks(size).try_for_each(|chunk| feed.push::<Box<XmlError>>(chunk, &mut step));
    let mut error = *pushed.and_then(|()| feed.finish::<Box<XmlError>>(&mut step)).unwrap_err();
    error.offset -= declaration.len() as u64;
    error
}

#[test]
fn a_byte_a_character_is_counted_as_one() {
    let long = "a \u{e9}\t\u{80}".repeat(10_000);
    for marked in [
        "<a>\u{e9}\u{e9}|&x;</a>".to_owned(),
        "<\u{e9} \u{fc}='\u{ff}'></|\u{fc}>".to_owned(),
        format!("<a>{long}|&x;</a>"),
        format!("<a><b>{long}</b><\u{e9} x='\u{80}'>|{long}!</\u{e9}></a>"),
        format!("<a x='{long}' |x=''/>"),
        format!("<a x='{long}'>\u{e9}</a>|\u{e9}"),
    ] {
        let (before, after) = marked.split_once('|').unwrap();
        let wanted = before.chars().count() as u64;
        for size in [1, 2, 5, 1000, (16 << 10) + 1, usize::MAX] {
            for is_external in [true, false] {
                let error = latin_fault(&[before, after].concat(), is_external, size);
                assert_eq!(error.offset, wanted, "by {size}, external {is_external}: {:?}", error.kind);
            }
        }
    }
}
