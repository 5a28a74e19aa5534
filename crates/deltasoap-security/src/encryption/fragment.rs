//! The syntax of decrypted content.

use deltasoap_xml::{Event, Feed, Instructions, Limits, Reader, Stop, Window, XmlError};
use std::fmt::Write;

/// Returns the number of elements at the top of some content, and whether there is text beside
/// them.
///
/// # Errors
/// Returns an error if the content is not complete by itself. If it ended an element around it, or
/// left one open, it would move what follows it in the message.
pub(super) fn shape(
    content: &[u8],
    bindings: &[(String, String)],
    limits: Limits,
) -> Result<(usize, bool), Box<XmlError>> {
    let mut start = String::from("<f");
    for (prefix, namespace) in bindings.iter().filter(|(prefix, _)| prefix != "xml") {
        let colon = if prefix.is_empty() { "" } else { ":" };
        // Writing into a string cannot fail.
        let _ = write!(start, " xmlns{colon}{prefix}=\"{}\"", crate::xml::attribute(namespace));
    }
    start.push('>');
    let mut reader = Reader::new(limits, Instructions::Refuse);
    let mut feed = Feed::new(limits);
    let (mut elements, mut has_text) = (0, false);
    let mut step = |window: &mut Window<'_>| {
        loop {
            match reader.next(window) {
                Ok(Event::Start) => elements += usize::from(reader.depth() == 2),
                Ok(Event::Text(text)) if reader.depth() == 1 => has_text |= !text.trim().is_empty(),
                Ok(Event::Char(c)) if reader.depth() == 1 => has_text |= !c.is_whitespace(),
                Ok(Event::Done) => return Ok(()),
                Ok(_) => {}
                Err(Stop::Pending) => return Err(None),
                Err(Stop::Error(error)) => return Err(Some(error)),
            }
        }
    };
    feed.push(start.as_bytes(), &mut step)?;
    feed.push(content, &mut step)?;
    feed.push(b"</f>", &mut step)?;
    feed.finish(&mut step)?;
    Ok((elements, has_text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_must_be_complete_by_itself() {
        let bindings = [("", "urn:a"), ("p", "urn:<\"b\">"), ("xml", "http://www.w3.org/XML/1998/namespace")];
        let bindings = bindings.map(|(prefix, namespace)| (prefix.to_owned(), namespace.to_owned()));
        let shape = |content: &str| shape(content.as_bytes(), &bindings, Limits::default()).ok();
        for (content, expected) in [
            ("", (0, false)),
            (" \r\n", (0, false)),
            ("text", (0, true)),
            ("<a/><p:b>x</p:b>", (2, false)),
            ("<a><b/></a>&lt;", (1, true)),
            ("<!-- x --><a/>", (1, false)),
        ] {
            assert_eq!(shape(content), Some(expected), "{content}");
        }
        for content in [
            "</f><f>",
            "</f>",
            "<a>",
            "</a>",
            "<a></b>",
            "<!-- ",
            "<![CDATA[",
            "<a b='",
            "<",
            "&amp",
            "<q:a/>",
            "</",
            "</f><!--",
            "<?x?>",
            "<!DOCTYPE f>",
            "<?xml version='1.0'?>",
            "\u{feff}<a/>\0",
            "</f >\n<f",
        ] {
            assert_eq!(shape(content), None, "{content}");
        }
    }
}
