//! Seeking in a document: the feed to any position, the reader to any depth.

use deltasoap_xml::{Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError, XmlErrorKind};

fn reader(limits: Limits) -> Reader {
    Reader::new(limits, Instructions::Refuse)
}

#[test]
fn in_front_of_the_root_its_tag_is_read_again() {
    let mut reader = reader(Limits::default());
    let mut window = Window::whole(b"<?xml version='1.0'?><a b='c'><d>");
    assert_eq!((reader.next(&mut window), reader.next(&mut window)), (Ok(Event::Start), Ok(Event::Start)));
    assert_eq!((reader.depth(), reader.attribute_count()), (2, 0));
    reader.cut(0);
    assert_eq!(reader.depth(), 0);
    let mut again = Window::whole(b"<a b='c'></a>");
    assert_eq!(reader.next(&mut again), Ok(Event::Start));
    assert_eq!((reader.depth(), reader.attribute(0).1), (1, "c"));
    assert_eq!((reader.next(&mut again), reader.next(&mut again)), (Ok(Event::End), Ok(Event::Done)));
}

/// Reads until a start tag or the window's end; a start tag halts the feed if `halts`.
fn push(feed: &mut Feed, reader: &mut Reader, bytes: &[u8], halts: bool) -> Result<(), Box<XmlError>> {
    feed.push(bytes, |window| {
        loop {
            match reader.next(window) {
                Ok(Event::Start) if halts && reader.depth() > 1 => {
                    window.halted = true;
                    return Err(None);
                }
                Ok(Event::Done) => return Ok(()),
                Ok(_) => {}
                Err(Stop::Pending) => return Err(None),
                Err(Stop::Error(error)) => return Err(Some(error)),
            }
        }
    })
}

#[test]
fn a_step_that_halts_in_front_of_the_limit_hears_of_it_later() {
    let limits = Limits { message: 10, ..Limits::default() };
    let is_limit = |result: Result<(), Box<XmlError>>| {
        result.is_err_and(|error| matches!(error.kind, XmlErrorKind::Limit { name: "message", .. }))
    };
    let (mut feed, mut reader) = (Feed::new(limits), reader(limits));
    assert_eq!(push(&mut feed, &mut reader, b"<a>text<b>more", true), Ok(()));
    assert!(feed.is_halted());
    feed.seek(10);
    assert!(is_limit(push(&mut feed, &mut reader, b"more", false)));
    // An offset beyond the limit leaves no room at all.
    feed.seek(12);
    assert!(is_limit(push(&mut feed, &mut reader, b"re", false)));
}
