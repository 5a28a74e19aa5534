//! Content that is passed by comparing bytes has the form that events give it.

use super::*;
use proptest::prelude::*;

/// Canonicalizes by events alone.
fn by_events(document: &[u8], method: &Method) -> Result<Vec<u8>, C14nError> {
    let mut whole = Whole::new(method.clone(), Limits::default());
    let mut window = Window::whole(document);
    loop {
        match whole.reader.next(&mut window) {
            Ok(Event::Done) => break,
            Ok(event) => whole.event(event),
            Err(Stop::Pending) => unreachable!("the window is whole"),
            Err(Stop::Error(error)) => return Err(error.into()),
        }
    }
    whole.epilog();
    whole.error.map_or(Ok(whole.out), Err)
}

/// Canonicalizes a document that arrives in pieces.
fn in_pieces(document: &[u8], len: usize, method: &Method) -> Result<Vec<u8>, C14nError> {
    let mut whole = Whole::new(method.clone(), Limits::default());
    let mut feed = Feed::new(Limits::default());
    for piece in document.chunks(len.max(1)) {
        feed.push(piece, |window| whole.step(window))?;
    }
    feed.finish(|window| whole.step(window))?;
    whole.error.map_or(Ok(whole.out), Err)
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "<a>",
        "</a>",
        "<b>",
        "</b>",
        "<p:a>",
        "</p:a>",
        "<a/>",
        "<a >",
        "</a >",
        "<b x='1'>",
        "<a xmlns:p='urn:q'>",
        "<a xmlns='urn:e'>",
        "<a xmlns=''>",
        "<b q:y='2' p:x=\"1\">",
        "1.5",
        "x > y",
        "&amp;",
        "&#xD;",
        "\r\n",
        "\t",
        "]]",
        "\u{e4}",
        "<![CDATA[<&]]>",
        "<!-- c -->",
        "<?pi d?>",
        "<item>1</item>",
        "<item>22</item>",
        "<p:item>3</p:item>",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn is_what_events_give(pieces in prop::collection::vec(piece(), 0..40), len in 1..200usize) {
        let mut open = Vec::new();
        let mut document = String::from("<r xmlns:p='urn:p' xmlns:q='urn:q'>");
        for piece in pieces {
            // End tags close what is open, so that most documents are well-formed.
            if piece.starts_with("</") {
                if let Some(name) = open.pop() {
                    document += &format!("</{name}>");
                }
                continue;
            }
            document += piece;
            let is_start = piece.starts_with('<') && !piece.starts_with("<!") && !piece.starts_with("<?");
            if is_start && !piece.contains("</") && !piece.ends_with("/>") {
                open.push(piece[1..piece.len() - 1].split(' ').next().unwrap_or_default().to_owned());
            }
        }
        open.iter().rev().for_each(|name| document += &format!("</{name}>"));
        document += "</r>";
        for method in [Method::exclusive(), Method::inclusive(), Method::exclusive().with_comments()] {
            let expected = by_events(document.as_bytes(), &method);
            prop_assert_eq!(&canonicalize(document.as_bytes(), Limits::default(), &method), &expected);
            prop_assert_eq!(&in_pieces(document.as_bytes(), len, &method), &expected);
            // The canonical form is its own canonical form.
            if let Ok(bytes) = expected {
                prop_assert_eq!(canonicalize(&bytes, Limits::default(), &method), Ok(bytes));
            }
        }
    }
}
