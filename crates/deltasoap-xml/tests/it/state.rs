//! The reader's state between events: names, scopes, open elements; and what a caller may do
//! meanwhile.

use deltasoap_xml::{Encoding, Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError, nodes};

fn reader() -> Reader {
    Reader::new(Limits::default(), Instructions::Refuse)
}

/// Reads through the `n`th start tag.
fn start(reader: &mut Reader, window: &mut Window<'_>, n: usize) {
    let mut seen = 0;
    while seen < n {
        seen += usize::from(reader.next(window).unwrap() == Event::Start);
    }
}

/// Returns the scopes of all start tags of a document.
fn scopes(reader: &mut Reader, document: &str) -> Vec<deltasoap_xml::ScopeId> {
    reader.reset();
    let mut window = Window::whole(document.as_bytes());
    let mut scopes = Vec::new();
    loop {
        match reader.next(&mut window).unwrap() {
            Event::Start => scopes.push(reader.scope()),
            Event::Done => return scopes,
            _ => {}
        }
    }
}

#[test]
fn equal_declarations_under_one_parent_are_one_scope() {
    let mut reader = reader();
    let document = "<a xmlns='u'><b xmlns:p='v'/><c/><b xmlns:p='v'/><b xmlns:p='w'/></a>";
    let first = scopes(&mut reader, document);
    assert_eq!(first[1], first[3]);
    assert_eq!(first[0], first[2]);
    assert_ne!(first[1], first[4]);
    assert_ne!(first[0], first[1]);
    assert_eq!(scopes(&mut reader, document), first, "in the next document, too");
    assert_ne!(scopes(&mut reader, "<a xmlns='other'/>")[0], first[0]);
}

#[test]
fn scopes_beyond_the_table_are_never_equal() {
    let mut reader = reader();
    let many: String = (0..20_000).map(|i| format!("<b xmlns:p='urn:{i}'/>")).collect();
    let all = scopes(&mut reader, &format!("<a>{many}{many}</a>"));
    let (first, second) = all[1..].split_at(20_000);
    assert_eq!(first[..1000], second[..1000]);
    assert!(!second.contains(&first[19_999]));
    let distinct: std::collections::HashSet<_> = first.iter().collect();
    assert_eq!(distinct.len(), first.len());
    let later = scopes(&mut reader, "<a xmlns='u'/>");
    assert!(!all.contains(&later[0]), "ids are not given again after the table is cleared");
    assert_eq!(scopes(&mut reader, "<a xmlns='u'/>"), later);
}

#[test]
fn names_interned_before_a_document_outlive_it() {
    let mut reader = reader();
    let known = reader.names_mut().intern("u", "a");
    for document in ["<p:a xmlns:p='u' x='1'/>", "<other xmlns='v'/>", "<a xmlns='u'/>"] {
        reader.reset();
        let mut window = Window::whole(document.as_bytes());
        start(&mut reader, &mut window, 1);
        assert_eq!(reader.name() == known, document.contains("'u'"), "{document}");
    }
    reader.reset();
    assert!(reader.names().is(known, "u", "a"));
    let next = reader.names_mut().intern("u", "b");
    assert!(reader.names().is(next, "u", "b"));
}

#[test]
fn names_are_kept_until_there_are_many() {
    let mut reader = reader();
    let mut name = |document: &str| {
        reader.reset();
        let mut window = Window::whole(document.as_bytes());
        start(&mut reader, &mut window, 1);
        let name = reader.name();
        assert!(document.contains(reader.names().local(name)));
        while reader.next(&mut window).unwrap() != Event::Done {}
        name
    };
    let first = name("<first/>");
    let second = name("<second/>");
    assert_ne!(first, second);
    assert_eq!(name("<first/>"), first);
    let many: String = (0..5000).map(|i| format!("<n{i}/>")).collect();
    assert_eq!(name(&format!("<first>{many}</first>")), first);
    assert_eq!(name("<third/>"), first, "all was forgotten, so the first id is given again");
}

/// Everything kept to the end of a document counts, but not what earlier documents introduced.
#[test]
fn new_names_of_a_document_are_counted() {
    let mut reader = reader();
    let mut read = |item: &dyn Fn(usize) -> String, count: usize| {
        reader.reset();
        let document = format!("<r>{}</r>", (0..count).map(item).collect::<String>());
        let mut window = Window::whole(document.as_bytes());
        while reader.next(&mut window).unwrap() != Event::Done {}
        reader.has_few_new_names()
    };
    for (index, kind) in
        ["<eN/>", "<r aN=''/>", "<r xmlns:pN='u'/>", "<r xmlns:p='uN'/>", "<r xmlns='N'/>"].into_iter().enumerate()
    {
        let item = |n: usize| kind.replace('N', &format!("{}", 10_000 * index + n));
        assert!(read(&item, 1200), "{kind}");
        assert!(read(&item, 2400), "half of them are known: {kind}");
        assert!(!read(&|n| item(5000 + n), 4200), "{kind}");
    }
    let long = "x".repeat(1000);
    assert!(!read(&|n| format!("<r xmlns:p='{long}{n}'/>"), 300));
    assert!(read(&|_| "<r xmlns:p='u'><p:e/></r>".to_owned(), 300));
}

#[test]
fn bindings_end_with_their_document_even_where_it_breaks_off() {
    let mut reader = reader();
    let mut window = Window::whole(b"<a xmlns='u' xmlns:p='v'><b");
    start(&mut reader, &mut window, 1);
    reader.reset();
    let mut window = Window::whole(b"<a/>");
    start(&mut reader, &mut window, 1);
    assert_eq!((reader.namespace_of(""), reader.namespace_of("p")), (Some(""), None));
    assert!(reader.names().is(reader.name(), "", "a"));
}

#[test]
fn qnames_in_content_resolve_against_the_declarations_in_scope() {
    let mut reader = reader();
    let mut window = Window::whole(b"<a xmlns='u' xmlns:p='v'><b xmlns='' xmlns:p='w'></b></a>");
    start(&mut reader, &mut window, 2);
    assert_eq!(reader.resolve("p:x"), Some(("w", "x".into())));
    assert_eq!(reader.resolve("x"), Some(("", "x".into())));
    assert_eq!(reader.resolve("xml:x").unwrap().0, "http://www.w3.org/XML/1998/namespace");
    for bad in ["q:x", "xmlns:x", "", ":", "p:", ":x", "p:x:y", "1", "p:1", " x", "x y"] {
        assert_eq!(reader.resolve(bad), None, "{bad}");
    }
    assert_eq!(reader.next(&mut window), Ok(Event::End));
    assert_eq!(reader.resolve("p:x"), Some(("v", "x".into())));
    assert_eq!(reader.resolve("x"), Some(("u", "x".into())));
}

#[test]
fn open_elements_and_declarations_can_be_asked_for() {
    let mut reader = reader();
    let mut window = Window::whole(b"<p:a xmlns:p='u'><b xmlns='v' x='' xmlns:q='w'/></p:a>");
    start(&mut reader, &mut window, 2);
    assert_eq!((reader.depth(), reader.open_name(0), reader.open_name(1)), (2, "p:a", "b"));
    assert!(reader.names().is(reader.open_name_id(0), "u", "a"));
    assert_eq!(reader.declarations().collect::<Vec<_>>(), [("", "v"), ("q", "w")]);
    assert_eq!((reader.attribute_count(), reader.tag_has_declarations(), reader.tag_offset()), (1, true, 17));
    assert!(reader.tag_is_empty() && !reader.is_between_tokens());
    assert_eq!(reader.next(&mut window), Ok(Event::End));
    assert_eq!((reader.depth(), reader.tag_offset()), (1, 17));
    assert!(reader.names().is(reader.closed_name(), "v", "b") && reader.names().is(reader.name(), "u", "a"));
    assert!(!reader.tag_is_empty() && reader.is_between_tokens());
}

#[test]
fn a_caller_may_move_over_whole_elements() {
    let document = b"<a><b>1</b><b a='a long attribute value'>2</b><c/></a>";
    let mut reader = reader();
    let mut window = Window { last: false, bytes: &document[..30], ..Window::whole(document) };
    start(&mut reader, &mut window, 1);
    assert!(reader.is_between_tokens());
    window.pos = 11;
    // Inside the second element's tag: the reader has recorded how far it searched, which must not
    // restrict the caller.
    assert_eq!(reader.next(&mut window), Err(Stop::Pending));
    let mut window = Window { pos: 46, ..Window::whole(document) };
    assert_eq!(&document[46..], b"<c/></a>");
    assert_eq!(reader.next(&mut window), Ok(Event::Start));
    assert_eq!(reader.next(&mut window), Ok(Event::End));
    assert_eq!(reader.next(&mut window), Ok(Event::End));
    assert_eq!(reader.next(&mut window), Ok(Event::Done));
    assert_eq!(reader.next(&mut window), Ok(Event::Done));
}

#[test]
fn inside_comments_and_cdata_the_bytes_are_not_markup() {
    let mut reader = reader();
    let mut window = Window { last: false, ..Window::whole(b"<a><![CDATA[<b>") };
    start(&mut reader, &mut window, 1);
    assert_eq!(reader.next(&mut window), Ok(Event::Text("<b>")));
    assert!(!reader.is_between_tokens());
}

#[test]
fn text_is_delivered_as_soon_as_it_can_be() {
    let mut reader = reader();
    let mut window = Window { last: false, ..Window::whole("<a>x]é]]".as_bytes()) };
    start(&mut reader, &mut window, 1);
    assert_eq!(reader.next(&mut window), Ok(Event::Text("x]é")));
    assert_eq!(reader.next(&mut window), Err(Stop::Pending));
    assert_eq!(&window.bytes[window.pos..], b"]]");
}

#[test]
fn a_chunk_is_not_copied_when_it_can_be_read_at_once() {
    let chunk = b"<a>text";
    let mut feed = Feed::new(Limits::default());
    let mut reader = reader();
    let mut step = |window: &mut Window<'_>| {
        if window.base == 0 && window.pos == 0 {
            assert_eq!(window.bytes.as_ptr(), chunk.as_ptr());
        }
        while reader.next(window).is_ok() {}
        Err(None)
    };
    feed.push::<Box<XmlError>>(chunk, &mut step).unwrap();
    assert_eq!((feed.unread(), feed.received(), feed.encoding()), (0, 7, Some(Encoding::Utf8)));
}

#[test]
fn utf16_needs_a_mark_or_a_declaration() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let read = |bytes: &[u8]| nodes(bytes, Limits::default(), Instructions::Skip).map(|nodes| nodes.len());
    assert_eq!(read(&utf16("<?xml version='1.0' encoding='UTF-16'?><a/>")), Ok(2));
    assert_eq!(read(&utf16("\u{FEFF}<a/>")), Ok(2));
    let offset = |text: &str| read(&utf16(text)).unwrap_err().offset;
    assert_eq!(offset("<?xml version='1.0'?><a/>"), 38);
    assert_eq!(offset("<?pi?><a/>"), 0);
    assert_eq!(offset("<?xml version='1.0' encoding='UTF-8'?><a/>"), 60);
    assert_eq!(offset("<a/>"), 0);
}

#[test]
fn messages_read_well() {
    let message =
        |document: &str| nodes(document.as_bytes(), Limits::default(), Instructions::Refuse).unwrap_err().to_string();
    assert_eq!(message("<a></b>"), "expected end tag `</a>`, found `</b>` at byte 5");
    assert_eq!(message("<a x=1/>"), "expected a quoted attribute value, found `1` at byte 5");
    assert_eq!(message("<a>\u{0}</a>"), "U+0000 is not allowed in XML at byte 3");
    assert_eq!(message("<!DOCTYPE a>"), "a document type declaration is not allowed in SOAP at byte 0");
    assert_eq!(message("t<a/>"), "expected the root element, found `t` at byte 0");
    assert_eq!(message("<a/>t"), "only white space and comments may follow the root element, found `t` at byte 4");
    let deep = "<a>".repeat(101);
    assert_eq!(message(&deep), "the limit `depth` of 100 is exceeded at byte 300");
}
