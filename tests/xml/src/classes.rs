//! The known differences, each recognised by the two results and by the document's content.
//!
//! If only we refuse a document, for its declaration or its encoding, it is read again without what
//! we refuse, and must then give the other parser's tree. `docs/reliability.md` explains each
//! class.

use deltasoap_xml::{Detected, Encoding, XmlErrorKind};
use fastrand::Rng;

use crate::parser::{Answer, Kind};
use crate::reading::{Outcome, Reading};

/// A document on which the two sides disagree.
pub struct Case<'a> {
    document: &'a [u8],
    ours: &'a Outcome,
    theirs: &'a Answer,
    kind: Kind,
}

/// Returns the name of the class of a difference, if it is known.
pub fn of(case: &Case<'_>) -> Option<&'static str> {
    CLASSES.iter().find(|class| class.kinds.contains(&case.kind) && (class.is_case)(case)).map(|class| class.name)
}

struct Class {
    name: &'static str,
    kinds: &'static [Kind],
    is_case: fn(&Case<'_>) -> bool,
}

const CLASSES: &[Class] = &[
    Class {
        name: "DTD",
        kinds: &Kind::ALL,
        is_case: |case| matches!(case.only_we_refuse(), Some(XmlErrorKind::Doctype)),
    },
    Class { name: "version", kinds: &Kind::ALL, is_case: is_version },
    Class { name: "unsupported encoding", kinds: &Kind::ALL, is_case: is_unsupported_encoding },
    Class { name: "contradicted encoding", kinds: &Kind::ALL, is_case: is_contradicted_encoding },
    Class { name: "UTF-16 without mark", kinds: &Kind::ALL, is_case: is_unmarked },
    Class { name: "non-ASCII in ASCII", kinds: &Kind::ALL, is_case: is_beyond_ascii },
    Class { name: "no character in windows-1252", kinds: &Kind::ALL, is_case: is_no_character },
    Class { name: "label unknown to Python", kinds: &[Kind::Expat], is_case: is_unknown_label },
    Class { name: "surrogate without partner", kinds: &[Kind::Expat], is_case: is_unpaired },
    Class { name: "half a character at the end", kinds: &[Kind::Expat], is_case: is_half_a_character },
    Class { name: "names of the fifth edition", kinds: &[Kind::Expat], is_case: is_later_name },
    Class { name: "namespace that is no URI", kinds: &[Kind::LibXml2], is_case: is_no_uri },
    Class { name: "xml declared twice", kinds: &[Kind::LibXml2], is_case: is_xml_declared_twice },
];

/// libxml2's code for a namespace that is not a URI (`XML_WAR_NS_URI`).
const NOT_A_URI: i32 = 99;
/// The code in `parsers.py` for an error of Python itself.
const PYTHON: i32 = -1;
/// expat's code for a token that is not well-formed (`XML_ERROR_INVALID_TOKEN`).
const INVALID_TOKEN: i32 = 4;

fn is_version(case: &Case<'_>) -> bool {
    matches!(case.only_we_refuse(), Some(XmlErrorKind::Version { .. })) && case.is_same_as_far_as_declared()
}

fn is_unsupported_encoding(case: &Case<'_>) -> bool {
    match case.only_we_refuse() {
        Some(XmlErrorKind::DeclaredEncoding { declared, .. }) => {
            !is_ours(declared) && case.is_same_as_far_as_declared()
        }
        _ => false,
    }
}

fn is_contradicted_encoding(case: &Case<'_>) -> bool {
    match case.only_we_refuse() {
        Some(XmlErrorKind::DeclaredEncoding { declared, .. }) => {
            is_ours(declared) && case.is_same_without_declaration()
        }
        _ => false,
    }
}

/// Returns true for the labels of encodings that we support, if the document is in one of them.
fn is_ours(label: &str) -> bool {
    let labels = ["UTF-8", "UTF8", "US-ASCII", "ASCII", "UTF-16", "UTF-16BE", "UTF-16LE", "ISO-10646-UCS-2"];
    let is_single_byte = Encoding::single_byte(label.as_bytes()).is_some();
    is_single_byte || labels.iter().any(|known| known.eq_ignore_ascii_case(label))
}

fn is_unmarked(case: &Case<'_>) -> bool {
    case.is_refused_unmarked() && case.is_same_without_declaration()
}

fn is_beyond_ascii(case: &Case<'_>) -> bool {
    case.only_they_refuse().is_some() && case.is_labelled(&["US-ASCII", "ASCII"]) && !case.document.is_ascii()
}

fn is_no_character(case: &Case<'_>) -> bool {
    let is_hole = |&byte: &u8| matches!(byte, 0x81 | 0x8D | 0x8F | 0x90 | 0x9D);
    case.only_they_refuse().is_some() && case.encoding() == Encoding::Windows1252 && case.document.iter().any(is_hole)
}

/// The parser accepts only ASCII with the label UTF8, which is not registered.
fn is_unknown_label(case: &Case<'_>) -> bool {
    case.only_they_refuse().is_some_and(|codes| {
        codes == [PYTHON] && case.is_labelled(&["ISO-10646-UCS-2"])
            || case.is_labelled(&["UTF8"]) && !case.document.is_ascii()
    })
}

fn is_half_a_character(case: &Case<'_>) -> bool {
    let (length, is_encoding) = (case.document.len(), case.only_we_refuse() == Some(&XmlErrorKind::Encoding));
    is_encoding && is_utf_16(case.encoding()) && length % 2 == 1 && case.offset() == length - 1
}

fn is_xml_declared_twice(case: &Case<'_>) -> bool {
    matches!(case.only_we_refuse(), Some(XmlErrorKind::DuplicateAttribute { name }) if name == "xmlns:xml")
}

fn is_unpaired(case: &Case<'_>) -> bool {
    match case.only_we_refuse() {
        Some(XmlErrorKind::Encoding) => case.first_unpaired() == Some(case.offset()),
        // Our reason occurs before it.
        Some(XmlErrorKind::Version { .. } | XmlErrorKind::DeclaredEncoding { .. }) => case.first_unpaired().is_some(),
        _ => case.is_refused_unmarked() && case.first_unpaired().is_some(),
    }
}

fn is_later_name(case: &Case<'_>) -> bool {
    let Some(&[INVALID_TOKEN]) = case.only_they_refuse() else { return false };
    let Some((before, c)) = case.refused_character() else { return false };
    !c.is_ascii() && is_name_char(c) && ends_in_tag(&before)
}

fn is_no_uri(case: &Case<'_>) -> bool {
    case.only_they_refuse().is_some_and(|codes| codes.iter().all(|&code| code == NOT_A_URI))
}

/// Returns true if our reader accepts the character in a name: it is one of the fifth edition.
fn is_name_char(c: char) -> bool {
    Reading::new().read(format!("<a{c}/>").as_bytes(), &mut Rng::with_seed(0)).is_ok_and(|outcome| outcome.is_ok())
}

impl<'a> Case<'a> {
    pub fn new(document: &'a [u8], ours: &'a Outcome, theirs: &'a Answer, kind: Kind) -> Self {
        Case { document, ours, theirs, kind }
    }

    /// Returns our reader's error, if the parser accepts the document.
    fn only_we_refuse(&self) -> Option<&XmlErrorKind> {
        match (self.ours, self.theirs) {
            (Err(error), Answer::Tree(_)) => Some(&error.kind),
            _ => None,
        }
    }

    /// Returns the parser's error codes, if our reader accepts the document.
    fn only_they_refuse(&self) -> Option<&[i32]> {
        match (self.ours, self.theirs) {
            (Ok(_), Answer::Refused { codes, .. }) => Some(codes),
            _ => None,
        }
    }

    /// Returns true if we read the parser's tree once the document has no XML declaration and is in
    /// UTF-8; or if we then refuse it for its DTD.
    fn is_same_without_declaration(&self) -> bool {
        let Some(text) = self.text() else { return false };
        let rest = declaration(&text).map_or(&*text, |declaration| &text[declaration.len()..]);
        match (Reading::new().read(rest.as_bytes(), &mut Rng::with_seed(0)), self.theirs) {
            (Ok(Ok(tree)), Answer::Tree(other)) => tree == *other,
            (Ok(Err(error)), _) => error.kind == XmlErrorKind::Doctype,
            _ => false,
        }
    }

    /// Like [`Self::is_same_without_declaration`], unless the document declares an encoding that we
    /// do not support and has bytes that mean something else there: any beyond ASCII, and two that
    /// Japanese encodings use for other characters.
    fn is_same_as_far_as_declared(&self) -> bool {
        let is_plain = self.document.iter().all(|&b| b.is_ascii() && b != b'\\' && b != b'~');
        let is_of_ours = self.label().is_none_or(|label| is_ours(&label));
        !is_plain && !is_of_ours || self.is_same_without_declaration()
    }

    /// Returns the encoding that the document declares.
    fn label(&self) -> Option<String> {
        let text = self.text().unwrap_or_else(|| String::from_utf8_lossy(self.document).into_owned());
        let (_, rest) = declaration(&text)?.split_once("encoding")?;
        rest.split(['"', '\'']).nth(1).map(str::to_owned)
    }

    fn is_labelled(&self, labels: &[&str]) -> bool {
        self.label().is_some_and(|label| labels.iter().any(|known| known.eq_ignore_ascii_case(&label)))
    }

    /// Returns the text before the character that the parser refuses, and that character.
    fn refused_character(&self) -> Option<(String, char)> {
        let Answer::Refused { offset, .. } = self.theirs else { return None };
        let (before, rest) = self.document.split_at_checked(*offset)?;
        let text = |bytes: &[u8]| match self.encoding() {
            Encoding::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Encoding::Latin1 | Encoding::Windows1252 => single_bytes(bytes, self.encoding()),
            encoding => String::from_utf16_lossy(&units(bytes, encoding).collect::<Vec<_>>()),
        };
        Some((text(before), text(rest).chars().next()?))
    }

    /// Returns true if we refuse the document because it is in UTF-16 without a byte order mark or
    /// a declaration of it.
    fn is_refused_unmarked(&self) -> bool {
        let is_refused = match self.only_we_refuse() {
            Some(XmlErrorKind::MissingByteOrderMark) => true,
            // Without `<?` it is not recognised as UTF-16.
            Some(XmlErrorKind::ForbiddenCharacter('\0')) => self.offset() < 2,
            _ => false,
        };
        is_refused && is_utf_16(self.encoding())
    }

    /// Returns the position at which we refuse the document.
    fn offset(&self) -> usize {
        self.ours.as_ref().map_or_else(|error| error.offset as usize, |_| usize::MAX)
    }

    /// Returns the position of the first unpaired surrogate in UTF-16, if it is a high one.
    fn first_unpaired(&self) -> Option<usize> {
        let encoding = self.encoding();
        if !is_utf_16(encoding) {
            return None;
        }
        let mut offset = 0;
        for decoded in char::decode_utf16(units(self.document, encoding)) {
            match decoded {
                Ok(c) => offset += 2 * c.len_utf16(),
                Err(error) => return (error.unpaired_surrogate() < 0xDC00).then_some(offset),
            }
        }
        None
    }

    /// Returns the document without its byte order mark.
    fn text(&self) -> Option<String> {
        let text = match self.encoding() {
            Encoding::Utf8 => String::from_utf8(self.document.to_vec()).ok()?,
            Encoding::Latin1 | Encoding::Windows1252 => single_bytes(self.document, self.encoding()),
            encoding => String::from_utf16(&units(self.document, encoding).collect::<Vec<_>>()).ok()?,
        };
        Some(text.strip_prefix('\u{FEFF}').map_or(text.clone(), str::to_owned))
    }

    /// Detects the encoding as other parsers do: also from the first character, if it is ASCII.
    fn encoding(&self) -> Encoding {
        match self.document {
            [0xFE, 0xFF, ..] | [0, 1..0x80, ..] => Encoding::Utf16Be,
            [0xFF, 0xFE, ..] | [1..0x80, 0, ..] => Encoding::Utf16Le,
            _ => Detected::at_start(self.document, Encoding::Utf8).unwrap_or_default().encoding,
        }
    }
}

fn is_utf_16(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::Utf16Be | Encoding::Utf16Le)
}

/// Decodes an encoding with one byte per character, by Windows' own table.
fn single_bytes(bytes: &[u8], encoding: Encoding) -> String {
    const WINDOWS: [char; 32] = [
        '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2C6}',
        '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}', '\u{90}', '\u{2018}', '\u{2019}',
        '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}',
        '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
    ];
    let character = |&byte: &u8| match byte {
        0x80..0xA0 if encoding == Encoding::Windows1252 => WINDOWS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    };
    bytes.iter().map(character).collect()
}

/// Returns true if a text ends inside a tag or an instruction, and not in a quoted value.
fn ends_in_tag(text: &str) -> bool {
    let Some((_, rest)) = text.rsplit_once('<') else { return false };
    let mut quote = None;
    for c in rest.chars() {
        match (quote, c) {
            (None, '>') => return false,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    quote.is_none()
}

/// Returns the XML declaration at the start of a text.
fn declaration(text: &str) -> Option<&str> {
    let text_after = text.strip_prefix("<?xml").filter(|rest| rest.starts_with([' ', '\t', '\r', '\n']))?;
    Some(&text[..text.len() - text_after.len() + text_after.find("?>")? + 2])
}

fn units(bytes: &[u8], encoding: Encoding) -> impl Iterator<Item = u16> {
    bytes.chunks_exact(2).map(move |pair| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes([pair[0], pair[1]]),
        _ => u16::from_le_bytes([pair[0], pair[1]]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Returns the class of a document for which a parser returns a tree, or errors at an offset.
    fn class(document: &[u8], kind: Kind, theirs: Result<&str, (&[i32], usize)>) -> Option<&'static str> {
        let ours = Reading::new().read(document, &mut Rng::with_seed(0)).unwrap();
        let theirs = match theirs {
            Ok(tree) => Answer::Tree(tree.to_owned()),
            Err((codes, offset)) => Answer::Refused { codes: codes.to_vec(), offset, message: String::new() },
        };
        of(&Case::new(document, &ours, &theirs, kind))
    }

    fn utf_16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    /// The tree of the document `<a/>`.
    const TREE: Result<&str, (&[i32], usize)> = Ok("\u{1}a\u{4}\u{5}");

    #[test]
    fn what_only_we_refuse_is_of_a_class_if_the_rest_is_read_alike() {
        let accepted = |document: &[u8], kind| class(document, kind, TREE);
        let cases: [(&[u8], &str); 7] = [
            (b"<!DOCTYPE a><a/>", "DTD"),
            (b"<?xml version='2.0'?><a/>", "version"),
            (b"<?xml version='1.0' encoding='koi8-r'?><a/>", "unsupported encoding"),
            (b"\xEF\xBB\xBF<?xml version='1.0' encoding='latin1'?><a/>", "contradicted encoding"),
            (b"<?xml version='1.0' encoding='UTF-16'?><a/>", "contradicted encoding"),
            (&utf_16("<a/>"), "UTF-16 without mark"),
            (&utf_16("<?xml version='1.0'?><a/>"), "UTF-16 without mark"),
        ];
        for (document, name) in cases {
            assert_eq!(accepted(document, Kind::Expat), Some(name));
            assert_eq!(accepted(document, Kind::LibXml2), Some(name));
        }
        let others: [&[u8]; 4] = [
            b"<?xml version='2.0'?><b/>",
            b"<?xml version='1.0' encoding='koi8-r'?><b/>",
            b"<?xml version='1.0' encoding='UTF-16'?><b/>",
            &utf_16("<b/>"),
        ];
        for document in others.into_iter().chain([&b"<a>"[..], b"<b/>", b"<p:a/>", b"<a>\x01</a>", b"<a>\xFF</a>"]) {
            assert_eq!(accepted(document, Kind::Expat), None, "{}", String::from_utf8_lossy(document));
        }
    }

    #[test]
    fn what_expat_passes_on_is_looked_for_in_the_document() {
        let mut unpaired = utf_16("\u{FEFF}<a>b</a>");
        unpaired[9] = 0xD8;
        assert_eq!(class(&unpaired, Kind::Expat, TREE), Some("surrogate without partner"));
        assert_eq!(class(&unpaired, Kind::LibXml2, TREE), None);
        unpaired[9] = 0xDC;
        assert_eq!(class(&unpaired, Kind::Expat, TREE), None, "a low surrogate");
        let half = [utf_16("\u{FEFF}<a/>"), vec![b'\n']].concat();
        assert_eq!(class(&half, Kind::Expat, TREE), Some("half a character at the end"));
        assert_eq!(
            class(b"<a xmlns:xml='http://www.w3.org/XML/1998/namespace' xmlns:xml='u'/>", Kind::Expat, TREE),
            None
        );
    }

    #[test]
    fn what_only_they_refuse_is_known_by_their_code() {
        let refused =
            |document: &str, kind, codes: &[i32], offset| class(document.as_bytes(), kind, Err((codes, offset)));
        let (expat, libxml2) = (Kind::Expat, Kind::LibXml2);
        assert_eq!(refused("<\u{2070}/>", expat, &[INVALID_TOKEN], 1), Some("names of the fifth edition"));
        assert_eq!(refused("<a>\u{2028}</a>", expat, &[INVALID_TOKEN], 3), None, "no character of a name");
        assert_eq!(refused("<a/>", expat, &[INVALID_TOKEN], 1), None, "expat knows this name");
        assert_eq!(refused("<a b='\u{2070}'/>", expat, &[INVALID_TOKEN], 6), None, "no name");
        assert_eq!(refused("<a>\u{2070}</a>", expat, &[INVALID_TOKEN], 3), None, "no name");
        assert_eq!(refused("<a xmlns=' '/>", libxml2, &[NOT_A_URI, NOT_A_URI], 0), Some("namespace that is no URI"));
        assert_eq!(refused("<a xmlns=' '/>", libxml2, &[NOT_A_URI, 201], 0), None);
        let ascii = "<?xml version='1.0' encoding='ascii'?><a>é</a>";
        assert_eq!(refused(ascii, libxml2, &[81], 0), Some("non-ASCII in ASCII"));
        assert_eq!(refused(&ascii.replace('é', "e"), libxml2, &[81], 0), None);
        assert_eq!(refused(&ascii.replace("ascii", "utf8"), expat, &[4], 41), Some("label unknown to Python"));
        assert_eq!(refused("<a>é</a>", expat, &[4], 3), None);
        let windows = |label: &str, byte: u8| {
            let declaration = format!("<?xml version='1.0' encoding='{label}'?><a>");
            [declaration.as_bytes(), &[byte], b"</a>"].concat()
        };
        for kind in Kind::ALL {
            let refused = |document: &[u8]| class(document, kind, Err((&[INVALID_TOKEN], 46)));
            assert_eq!(refused(&windows("windows-1252", 0x81)), Some("no character in windows-1252"));
            assert_eq!(refused(&windows("windows-1252", 0x80)), None);
            assert_eq!(refused(&windows("latin1", 0x81)), None);
        }
        let twice =
            b"<a xmlns:xml='http://www.w3.org/XML/1998/namespace' xmlns:xml='http://www.w3.org/XML/1998/namespace'/>";
        assert_eq!(class(twice, libxml2, TREE), Some("xml declared twice"));
        assert_eq!(class(b"<a b='' b=''/>", libxml2, TREE), None);
    }

    #[test]
    fn trees_that_differ_are_of_no_class() {
        for kind in Kind::ALL {
            assert_eq!(class(b"<a>x</a>", kind, TREE), None);
            assert_eq!(class(b"<a>x</a>", kind, Err((&[2], 0))), None);
        }
    }

    #[test]
    fn every_class_is_explained() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reliability.md");
        let text = std::fs::read_to_string(path).unwrap();
        for Class { name, .. } in CLASSES {
            assert!(text.contains(&format!("\n| {name} |")), "{name}");
        }
    }
}
