//! `xsd:base64Binary` whose bytes may be in a separate part: inline text, `xop:Include`, or `href`.
//!
//! A value that is stored elsewhere holds the reference, not the bytes. So decoding needs no other
//! part of the package, and equal bytes of two messages give equal values, as differential decoding
//! requires, even if the parts differ. References are resolved in the package of the message they
//! came with, by the code that holds that package.

use crate::content::Shortcuts;
use crate::content::{Content, Typed};
use crate::decode::simple::{Target, decode_binary};
use crate::decode::{Cursor, OpenText, Step};
use crate::encode::Encoder;
use crate::encode::complex::Text;
use crate::schema::{Builtin, Element, EnumerationValues, QName, SimpleElement, View};
use crate::{Escape, Lexical, ns};
use bytes::Bytes;
use deltasoap_xml::Buffer;
use deltasoap_xml::lexical::{Base64, LexicalError, WhiteSpace};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;
use std::fmt;

/// Bytes in a message (`xsd:base64Binary`): as text, or in another part of its package. Use this
/// type for every element that holds bytes, and for the text of an element that also has attributes
/// (`xmime:contentType`), since any sender may use MTOM. [`Base64`] is text only: it is suitable
/// for attributes and lists, and an element of that type rejects parts.
///
/// The sender chooses between the two forms, and a receiver accepts both (XOP 1.0). Messages are
/// decoded without the other parts: a [`Part`](Self::Part) says where the bytes are, and the
/// package that came with the message holds them. When a message is written, [`Bytes`](Self::Bytes)
/// become text, or with MTOM a part if there are enough of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Bytes inside the message, or bytes to be sent with it.
    Bytes(Bytes),
    /// Bytes in another part.
    Part(PartUri),
}

impl Binary {
    /// Creates a reference to the part with this content ID, which has no angle brackets.
    pub fn part(content_id: &str) -> Self {
        Binary::Part(PartUri::from_content_id(content_id))
    }

    /// Returns the bytes if they are inside the message.
    pub fn inline(&self) -> Option<&Bytes> {
        match self {
            Binary::Bytes(bytes) => Some(bytes),
            Binary::Part(_) => None,
        }
    }
}

impl Default for Binary {
    fn default() -> Self {
        Binary::Bytes(Bytes::new())
    }
}

impl From<Vec<u8>> for Binary {
    fn from(bytes: Vec<u8>) -> Self {
        Binary::Bytes(bytes.into())
    }
}

impl From<Bytes> for Binary {
    fn from(bytes: Bytes) -> Self {
        Binary::Bytes(bytes)
    }
}

/// Characters that must be escaped in a URL's path (RFC 3986, 3.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@')
    .remove(b'/');

/// The URI of a part of the same package, as written: `cid:` and a content ID (RFC 2392), or a
/// location.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartUri(Box<str>);

impl PartUri {
    /// Creates a URI from its written form.
    pub fn new(uri: impl Into<Box<str>>) -> Self {
        PartUri(uri.into())
    }

    /// Creates the `cid:` URL of a content ID without angle brackets. Characters that a URL cannot
    /// hold are percent-encoded.
    pub fn from_content_id(content_id: &str) -> Self {
        PartUri(format!("cid:{}", utf8_percent_encode(content_id, ESCAPED)).into())
    }

    /// Returns the URI as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the content ID in a `cid:` URL, without angle brackets; `None` for other URIs.
    /// Escapes that are not valid UTF-8 are kept.
    pub fn content_id(&self) -> Option<Cow<'_, str>> {
        let (scheme, rest) = self.0.split_once(':')?;
        scheme
            .eq_ignore_ascii_case("cid")
            .then(|| percent_decode_str(rest).decode_utf8().unwrap_or(Cow::Borrowed(rest)))
    }
}

impl fmt::Display for PartUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Content for Binary {
    const REPLACES: bool = true;

    fn vacant(_: View<'_>) -> Self {
        Binary::default()
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        decode_binary(&mut Reading(self), cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        encoder.type_attribute(view.element.type_name());
        match self {
            Binary::Part(uri) if encoder.parts.is_none() => {
                encoder.attribute(&QName::new("", "href"), uri.as_str());
            }
            _ => self.encode_text(encoder),
        }
    }
}

impl Shortcuts for Binary {}

/// If the element has attributes, a part is always written as an `xop:Include`: an `href` would be
/// another attribute of the element's type.
impl Text for Binary {
    fn encode_text(&self, encoder: &mut Encoder) {
        let taken = self.inline().and_then(|bytes| encoder.parts.as_mut()?.take(bytes));
        match (self, taken) {
            (_, Some(uri)) => write_include(encoder, &uri),
            (Binary::Bytes(bytes), None) => encoder.leaf(&Inline(bytes.clone())),
            (Binary::Part(uri), None) => write_include(encoder, uri),
        }
    }
}

impl Typed for Binary {
    const TYPE_NAME: QName = Builtin::Base64Binary.name();

    fn element() -> &'static Element {
        static ELEMENT: Element = Element::Simple(SimpleElement {
            name: Builtin::Base64Binary.name(),
            base: Builtin::Base64Binary,
            enumeration: EnumerationValues::ANY,
            default: None,
            packed: None,
        });
        &ELEMENT
    }
}

/// A value being read: the bytes so far are in the decoder.
struct Reading<'v>(&'v mut Binary);

impl Target for Reading<'_> {
    const STREAMED: bool = true;
    const KEEPS: bool = false;
    const REFERS: bool = true;

    fn scan_into(&mut self, _: &[u8]) -> Option<usize> {
        None
    }

    fn parse_into(&mut self, text: &str) -> Result<(), LexicalError> {
        *self.0 = Base64::parse(text)?.0.into();
        Ok(())
    }

    fn vacate(&mut self, text: &mut OpenText) {
        text.binary = Base64::default();
    }

    fn append(&mut self, piece: &str, text: &mut OpenText) -> Result<(), LexicalError> {
        text.binary.append(piece, &mut text.partial)
    }

    fn finish(&mut self, text: &mut OpenText) -> Result<(), LexicalError> {
        let mut bytes = std::mem::take(&mut text.binary);
        bytes.finish(&mut text.partial)?;
        *self.0 = bytes.0.into();
        Ok(())
    }

    fn refer(&mut self, uri: PartUri) {
        *self.0 = Binary::Part(uri);
    }

    fn is_vacant(&self, text: &OpenText) -> bool {
        text.binary.0.is_empty()
    }
}

pub(super) fn write_include(encoder: &mut Encoder, uri: &PartUri) {
    encoder.start_with_prefix(&QName::new(ns::XOP, "Include"), "xop");
    encoder.attribute(&QName::new("", "href"), uri.as_str());
    encoder.end();
}

/// Bytes as text.
struct Inline(Bytes);

impl Lexical for Inline {
    const XSD_NAME: &'static str = Base64::XSD_NAME;
    const WHITE_SPACE: WhiteSpace = Base64::WHITE_SPACE;
    const MAX_WIDTH: Option<usize> = None;

    fn vacant() -> Self {
        Inline(Bytes::new())
    }

    fn parse(text: &str) -> Result<Self, LexicalError> {
        Base64::parse(text).map(|bytes| Inline(bytes.0.into()))
    }

    fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
        Base64::scan(bytes).map(|(bytes, used)| (Inline(bytes.0.into()), used))
    }

    fn format(&self, out: &mut Buffer, _: Escape) {
        Base64::write(&self.0, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{ElementRoot, from_slice};
    use crate::{DecodeOptions, decode::Decoder};

    fn read(text: &str) -> Result<Binary, String> {
        let whole = from_slice::<Binary>(text.as_bytes(), &QName::new("", "a"));
        let mut decoder = Decoder::new(DecodeOptions::default());
        let mut root = ElementRoot::<Binary>::new(Binary::view());
        let pushed = text.as_bytes().chunks(1).try_for_each(|byte| decoder.push(&mut root, byte));
        let in_bytes = pushed.and_then(|()| decoder.finish(&mut root)).map(|()| root.value);
        assert_eq!(whole, in_bytes, "{text}");
        whole.map_err(|error| error.to_string())
    }

    #[test]
    fn text_and_references_in_all_spellings() {
        let bytes = Binary::Bytes(Bytes::from_static(b"foobar"));
        let part = Ok(Binary::part("a b@c"));
        assert_eq!(read("<a/>"), Ok(Binary::default()));
        assert_eq!(read("<a xmlns:m='urn:m' m:contentType='x/y'>Zm9v\n Ym&#x46;y</a>"), Ok(bytes.clone()));
        assert_eq!(read("<a>Zm<!-- -->9v<![CDATA[YmFy]]></a>"), Ok(bytes));
        let include = "<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:a%20b@c'";
        assert_eq!(read(&format!("<a>{include}/></a>")), part);
        assert_eq!(read(&format!("<a>\n {include} n:o='1' xmlns:n='urn:n'><n:x>y</n:x></x:Include>\n</a>")), part);
        assert_eq!(read("<a href=' cid:a%20b@c '/>"), part);
        assert_eq!(read("<a href='http://x/y'> </a>"), Ok(Binary::Part(PartUri::new("http://x/y"))));
    }

    #[test]
    fn what_is_neither_is_refused() {
        let include = |href: &str| format!("<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' {href}/>");
        let cid = include("href='cid:x'");
        for wrong in [
            "<a>Zm9</a>",
            "<a><b/></a>",
            "<a href='#id'/>",
            "<a href=''/>",
            "<a href='cid:x'>Zm9v</a>",
            &format!("<a>Zm9v{cid}</a>"),
            &format!("<a>Z{cid}</a>"),
            &format!("<a>{cid}Zm9v</a>"),
            &format!("<a>{cid}{cid}</a>"),
            &format!("<a href='cid:y'>{cid}</a>"),
            &format!("<a>{}</a>", include("")),
            &format!("<a>{}</a>", include("href='http://attacker.example/x'")),
            &format!("<a>{}</a>", include("href='file:///etc/passwd'")),
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn content_ids_and_urls() {
        for id in ["a@b", "http://x/y#z", "50%", "grüße <1>", "a+b", "%41"] {
            assert_eq!(PartUri::from_content_id(id).content_id().as_deref(), Some(id));
        }
        assert_eq!(PartUri::new("CID:a%zz%4").content_id().as_deref(), Some("a%zz%4"));
        assert_eq!(PartUri::new("cid:%ff").content_id().as_deref(), Some("%ff"));
        assert_eq!(PartUri::new("http://x").content_id(), None);
        assert_eq!(PartUri::new("x").content_id(), None);
    }
}
