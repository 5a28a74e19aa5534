//! Documents derived from others by mutations that concern an XML reader. A document depends only
//! on the run's seed and its number.

use fastrand::Rng;

/// Initial documents, and the seed of the mutations.
pub struct Mutator {
    messages: Vec<Vec<u8>>,
    others: Vec<Vec<u8>>,
    seed: u64,
}

/// Maximum number of mutations of one document.
const MUTATIONS: usize = 4;
/// Maximum size of initial documents in bytes: a mutation changes a larger share of a small
/// document, and small documents take less time.
const MAX_SIZE: usize = 8 << 10;

impl Mutator {
    /// Takes the documents that are small enough: messages for three of four documents, others for
    /// the fourth.
    pub fn new(mut messages: Vec<Vec<u8>>, mut others: Vec<Vec<u8>>, seed: u64) -> Self {
        for documents in [&mut messages, &mut others] {
            documents.retain(|document| !document.is_empty() && document.len() <= MAX_SIZE);
        }
        Mutator { messages, others, seed }
    }

    /// Returns the number of initial documents.
    pub fn seeds(&self) -> usize {
        self.messages.len() + self.others.len()
    }

    /// Returns the document with a number.
    pub fn document(&self, number: u64) -> Vec<u8> {
        let mut random = Rng::with_seed(self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number));
        let seeds = if random.u8(..4) == 0 { &self.others } else { &self.messages };
        let mut document = random.choice(seeds).cloned().unwrap_or_default();
        // Most documents have a single mutation: others are rarely well-formed.
        let mutations = if random.u8(..3) > 0 { 1 } else { random.usize(1..=MUTATIONS) };
        for _ in 0..mutations {
            let mutation = random.choice(ALL).copied().unwrap_or(replace_byte);
            mutation(&mut document, &mut random, seeds);
        }
        if random.u8(..) < 24 {
            document = encoded(&document, &mut random);
        }
        document
    }
}

type Mutation = fn(&mut Vec<u8>, &mut Rng, &[Vec<u8>]);

/// All mutations; each has the same probability.
const ALL: &[Mutation] = &[
    replace_byte,
    insert_byte,
    remove_bytes,
    repeat_bytes,
    truncate,
    splice,
    rename,
    remove_tag,
    repeat_tag,
    insert_attribute,
    insert_attribute,
    insert_declaration,
    insert_declaration,
    insert_reference,
    insert_section,
    insert_comment,
    insert_instruction,
    declare,
    insert_doctype,
    change_line_ends,
    insert_character,
    insert_character,
];

/// Valid and invalid names, of the third to the fifth edition of XML.
const NAMES: &[&str] = &[
    "a",
    "b:a",
    ":a",
    "a:",
    "a:b:c",
    "a:1",
    "1",
    "_",
    "-a",
    ".a",
    "a.b-c_d",
    "é",
    "a·",
    "·a",
    "漢字",
    "ＡＢ",
    "𐀀",
    "a𐀀",
    "a\u{300}",
    "\u{300}a",
    "×",
    "a÷",
    "\u{37E}",
    "\u{2160}",
    "\u{3007}",
    "\u{E000}",
    "\u{FDD0}",
    "a\u{200C}",
    "\u{132}",
    "\u{F900}",
    "xml",
    "XmL",
    "xmlns",
    "xml:a",
    "xmlns:a",
    "xmlns:",
    "soap:a",
    "xsi:type",
    "a\u{FFFD}",
    "\u{EFFFF}",
    "\u{F0000}",
    "Q\u{387}",
    "\u{2070}",
    "\u{2C00}",
];

const ATTRIBUTES: &[&str] = &[
    " a='1'",
    " a=\"1\" a=\"2\"",
    "a='1'",
    " a",
    " a=",
    " a=1",
    " a='",
    " a='<'",
    " a='&lt;'",
    " a='>'",
    " a='\"'",
    " a='a\tb\nc\r\nd\re'",
    " a='&#9;&#10;&#13;&#32;'",
    " a='&#0;'",
    " a='&#xFFFE;'",
    " a = '1'",
    "\ta\n=\r'1'",
    " a='1'b='2'",
    " a='&amp;lt;'",
    " a='&'",
    " a='&x;'",
    " xml:lang='en'",
    " xml:space='preserve'",
    " xml:space='x'",
    " xml:id='a'",
    " xml:id=' a  b '",
    " xml:base='x'",
    " soap:a='1'",
    " p:a='1'",
    " a='é'",
    " é='1'",
    " a='\u{85}\u{2028}'",
    " a=']]>'",
    " a='<!-- -->'",
    " a:b:c='1'",
    " :a='1'",
    " a:='1'",
    " a='  x  '",
    " a=\"it's\"",
    " xmlns:p='u' xmlns:q='u' p:a='1' q:a='2'",
    " xmlns:p='u' p:a='1' a='2'",
    " xmlns='u' xmlns:p='u' a='1' p:a='2'",
    " / a='1'",
    " a='1' /",
];

const DECLARATIONS: &[&str] = &[
    " xmlns='u'",
    " xmlns=''",
    " xmlns:p='u'",
    " xmlns:p=''",
    " xmlns:p='u' xmlns:p='v'",
    " xmlns='u' xmlns='u'",
    " xmlns:xml='u'",
    " xmlns:xml='http://www.w3.org/XML/1998/namespace'",
    " xmlns:p='http://www.w3.org/XML/1998/namespace'",
    " xmlns:xmlns='u'",
    " xmlns:xmlns='http://www.w3.org/2000/xmlns/'",
    " xmlns:p='http://www.w3.org/2000/xmlns/'",
    " xmlns='http://www.w3.org/2000/xmlns/'",
    " xmlns='http://www.w3.org/XML/1998/namespace'",
    " xmlns:soap='v'",
    " xmlns:soap=''",
    " xmlns:p='not a uri'",
    " xmlns:p='u&amp;v'",
    " xmlns:p=' u '",
    " xmlns:p='&#117;'",
    " xmlns:XML='u'",
    " xmlns:xmlfoo='u'",
    " xmlns:1='u'",
    " xmlns:='u'",
    " xmlns:a:b='u'",
    " xmlns:é='é'",
    " xmlns:p='u\n'",
    " xmlns:p='&#10;'",
    " xmlns:p='%'",
    " xmlns:p='http://['",
    " xmlns:p='é'",
    " xmlns:p='u}v'",
    " xmlns:p='{'",
];

const REFERENCES: &[&str] = &[
    "&lt;",
    "&gt;",
    "&amp;",
    "&quot;",
    "&apos;",
    "&nbsp;",
    "&lt",
    "&;",
    "& ",
    "&",
    "&#",
    "&#;",
    "&#x;",
    "&#65;",
    "&#x41;",
    "&#X41;",
    "&#065;",
    "&#x0041;",
    "&#0;",
    "&#1;",
    "&#9;",
    "&#10;",
    "&#13;",
    "&#13;&#10;",
    "&#xD;",
    "&#x1F;",
    "&#x7F;",
    "&#x85;",
    "&#xD7FF;",
    "&#xD800;",
    "&#xDFFF;",
    "&#xE000;",
    "&#xFFFD;",
    "&#xFFFE;",
    "&#xFFFF;",
    "&#x10000;",
    "&#x10FFFF;",
    "&#x110000;",
    "&#99999999999;",
    "&#4294967361;",
    "&#x100000041;",
    "&#-65;",
    "&#6 5;",
    "&#xd83d;&#xde00;",
    "&a:b;",
    "&é;",
    "&amp;lt;",
    "&LT;",
    "&lt;&#x3c;",
];

const SECTIONS: &[&str] = &[
    "<![CDATA[]]>",
    "<![CDATA[a]]>",
    "<![CDATA[<&>]]>",
    "<![CDATA[]]]]>",
    "<![CDATA[]]]]><![CDATA[>]]>",
    "<![CDATA[",
    "]]>",
    "]]",
    "]]]>",
    "]>",
    "<![cdata[a]]>",
    "<![CDATA [a]]>",
    "<![CDATA[a]] >",
    "<![CDATA[a\r\nb\rc]]>",
    "<![CDATA[\u{FFFF}]]>",
    "<![CDATA[\u{FEFF}]]>",
    "<![CDATA[<![CDATA[]]>]]>",
    "<![INCLUDE[a]]>",
    "a]]&gt;b",
    "]]\r>",
];

const COMMENTS: &[&str] = &[
    "<!---->",
    "<!-- a -->",
    "<!-- a -- b -->",
    "<!--->",
    "<!-- a --->",
    "<!-- <a> & ]]> -->",
    "<!-- a",
    "<!- a -->",
    "<! -- a -->",
    "<!-- é\u{10000} -->",
    "<!--\u{1}-->",
    "<!--\u{FFFE}-->",
    "-->",
    "<!-->-->",
    "<!-- a --",
    "<!---a-->",
];

const INSTRUCTIONS: &[&str] = &[
    "<?a?>",
    "<?a b?>",
    "<?a  b ? c ?>",
    "<?a b??>",
    "<??>",
    "<? a?>",
    "<?xml version='1.0'?>",
    "<?XML?>",
    "<?xMl a?>",
    "<?xml-stylesheet href='a'?>",
    "<?xml:a?>",
    "<?a:b c?>",
    "<?a",
    "<?a b",
    "<?a>",
    "<?é?>",
    "<?a\u{1}?>",
    "<?a\tb?>",
    "<?a?b?>",
    "?>",
    "<?xmls?>",
];

const DOCTYPES: &[&str] = &[
    "<!DOCTYPE a>",
    "<!DOCTYPE a SYSTEM 'a.dtd'>",
    "<!DOCTYPE a [<!ENTITY e 'x'>]>",
    "<!DOCTYPE a [<!ATTLIST a b CDATA 'c'>]>",
    "<!DOCTYPE",
    "<!doctype a>",
    "<!DOCTYPE a",
    "<!ELEMENT a ANY>",
    "<!>",
    "<!a>",
];

const VERSIONS: &[&str] = &["1.0", "1.1", "1.2", "2.0", "1.", "1", "1.0 ", "", "1.0a", "01.0", "1.00"];

const LABELS: &[&str] = &[
    "UTF-8",
    "utf-8",
    "UTF8",
    "Utf-8",
    "US-ASCII",
    "ascii",
    "UTF-16",
    "utf-16",
    "UTF-16BE",
    "UTF-16LE",
    "ISO-10646-UCS-2",
    "ISO-8859-1",
    "windows-1252",
    "latin1",
    "Shift_JIS",
    "x",
    "",
    "8",
    "UTF-8 ",
    "UTF-32",
    "ISO-10646-UCS-4",
    "EUC-JP",
    "UTF_8",
    "unicode",
];

const STANDALONE: &[&str] = &["yes", "no", "YES", "", "maybe", "true", " yes"];

const CHARACTERS: &[&str] = &[
    "\0",
    "\u{1}",
    "\u{8}",
    "\t",
    "\n",
    "\u{B}",
    "\r",
    "\r\n",
    "\n\r",
    "\u{1F}",
    " ",
    "\u{7F}",
    "\u{80}",
    "\u{85}",
    "\u{A0}",
    "\u{2028}",
    "\u{D7FF}",
    "\u{E000}",
    "\u{FEFF}",
    "\u{FFFD}",
    "\u{FFFE}",
    "\u{FFFF}",
    "\u{10000}",
    "\u{1FFFE}",
    "\u{10FFFF}",
    "é",
    "漢",
    "😀",
    "<",
    ">",
    "&",
    "\"",
    "'",
    "=",
    "/",
    ":",
    "]",
    "-",
    "?",
    "!",
    "\u{EFBF}",
    "ï¿",
];

/// Invalid UTF-8: truncated, overlong, surrogates, beyond Unicode, stray bytes.
const BROKEN: &[&[u8]] = &[
    b"\x80",
    b"\xBF",
    b"\xC0\x80",
    b"\xC1\xBF",
    b"\xC2",
    b"\xE0\x80\x80",
    b"\xE0\x9F\xBF",
    b"\xE2\x82",
    b"\xED\xA0\x80",
    b"\xED\xBF\xBF",
    b"\xEF\xBF",
    b"\xF0\x80\x80\x80",
    b"\xF0\x8F\xBF\xBF",
    b"\xF0\x90\x80",
    b"\xF4\x90\x80\x80",
    b"\xF5\x80\x80\x80",
    b"\xF8\x88\x80\x80\x80",
    b"\xFC",
    b"\xFE",
    b"\xFF",
    b"\xED\xA0\xBD\xED\xB8\x80",
];

#[expect(clippy::ptr_arg, reason = "it is one of several functions of one type")]
fn replace_byte(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    let at = place(document, random);
    if let Some(byte) = document.get_mut(at) {
        *byte = any_byte(random, *byte);
    }
}

fn insert_byte(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    let byte = any_byte(random, b'a');
    insert(document, place(document, random), &[byte]);
}

fn any_byte(random: &mut Rng, byte: u8) -> u8 {
    match random.u8(..3) {
        0 => byte ^ 1 << random.u8(..8),
        1 => random.u8(..),
        _ => random.choice(b"<>&;\"'=/:![]-?# \t\n\rax1.xmlns").copied().unwrap_or(byte),
    }
}

fn remove_bytes(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    document.drain(some_bytes(document, random));
}

fn repeat_bytes(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    let bytes = document[some_bytes(document, random)].to_vec();
    insert(document, place(document, random), &bytes);
}

fn some_bytes(document: &[u8], random: &mut Rng) -> std::ops::Range<usize> {
    let begin = place(document, random);
    let most = if random.bool() { 4 } else { 64 };
    begin..document.len().min(begin + random.usize(1..=most))
}

fn truncate(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    let at = place(document, random);
    if random.u8(..4) == 0 {
        document.drain(..at);
    } else {
        document.truncate(at);
    }
}

/// Inserts a tag of another document, or what follows it.
fn splice(document: &mut Vec<u8>, random: &mut Rng, seeds: &[Vec<u8>]) {
    let Some(other) = random.choice(seeds) else { return };
    let Some(tag) = tag(other, random) else { return };
    let end = if random.bool() { tag.end } else { other.len().min(tag.end + random.usize(..64)) };
    insert(document, boundary(document, random), &other[tag.start..end]);
}

/// Changes the spelling of the name of a tag or an attribute.
fn rename(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    let Some(tag) = tag(document, random) else { return };
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b':' | b'-' | b'_' | b'.' | 0x80..);
    let begin = if random.bool() { tag.start } else { random.usize(tag) };
    let Some(start) = document[begin..].iter().position(is_name).map(|at| begin + at) else { return };
    let end = document[start..].iter().position(|b| !is_name(b)).map_or(document.len(), |at| start + at);
    document.splice(start..end, chosen(NAMES, random).bytes());
}

fn remove_tag(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    if let Some(tag) = tag(document, random) {
        document.drain(tag);
    }
}

fn repeat_tag(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    if let Some(tag) = tag(document, random) {
        let bytes = document[tag].to_vec();
        insert(document, boundary(document, random), &bytes);
    }
}

fn insert_attribute(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    insert_into_tag(document, random, ATTRIBUTES);
}

fn insert_declaration(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    insert_into_tag(document, random, DECLARATIONS);
}

/// Inserts text after the name of a tag, or before the tag's end.
fn insert_into_tag(document: &mut Vec<u8>, random: &mut Rng, texts: &[&str]) {
    let Some(tag) = tag(document, random) else { return };
    let bytes = &document[tag.clone()];
    let name_end = bytes.iter().position(|b| b" \t\r\n/>".contains(b)).filter(|&at| at > 1);
    let end = bytes.len() - 1 - usize::from(bytes.ends_with(b"/>"));
    let at = tag.start + name_end.filter(|_| random.bool()).unwrap_or(end);
    insert(document, at, chosen(texts, random).as_bytes());
}

fn insert_reference(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    insert(document, place(document, random), chosen(REFERENCES, random).as_bytes());
}

fn insert_section(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    insert(document, boundary(document, random), chosen(SECTIONS, random).as_bytes());
}

fn insert_comment(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    insert(document, boundary(document, random), chosen(COMMENTS, random).as_bytes());
}

fn insert_instruction(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    insert(document, boundary(document, random), chosen(INSTRUCTIONS, random).as_bytes());
}

fn insert_doctype(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    insert(document, boundary(document, random), chosen(DOCTYPES, random).as_bytes());
}

/// Gives the document another XML declaration, or one that is slightly wrong.
fn declare(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    let old = if document.starts_with(b"<?xml ") { find(document, b"?>").map_or(0, |at| at + 2) } else { 0 };
    document.splice(..old, declaration(random).into_bytes());
}

fn declaration(random: &mut Rng) -> String {
    let mut text = "<?xml".to_owned();
    let spaces = [" ", " ", " ", " ", "\n", "  ", ""];
    if random.u8(..16) > 0 {
        let version = if random.bool() { "1.0" } else { chosen(VERSIONS, random) };
        text += &format!("{}version='{version}'", chosen(&spaces, random));
    }
    if random.u8(..4) > 0 {
        text += &format!("{}encoding={:?}", chosen(&spaces, random), chosen(LABELS, random));
    }
    if random.u8(..4) == 0 {
        text += &format!("{}standalone = '{}'", chosen(&spaces, random), chosen(STANDALONE, random));
    }
    text + chosen(&["?>", "?>", "?>", "?>\n", " ?>", "? >", ">"], random)
}

fn change_line_ends(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    let end = chosen(&["\r\n", "\r", "\r\r\n", "\u{85}", "\t", "\u{2028}"], random).as_bytes();
    let is_changed = |random: &mut Rng, byte: u8| byte == b'\n' && random.bool();
    *document =
        document.iter().flat_map(|&b| if is_changed(random, b) { end.to_vec() } else { vec![b] }).collect::<Vec<_>>();
}

fn insert_character(document: &mut Vec<u8>, random: &mut Rng, _: &[Vec<u8>]) {
    let at = if random.u8(..16) == 0 { 0 } else { place(document, random) };
    let bytes = match random.u8(..3) {
        0 => random.choice(BROKEN).copied().unwrap_or_default().to_vec(),
        1 => random.char(..).to_string().into_bytes(),
        _ => chosen(CHARACTERS, random).as_bytes().to_vec(),
    };
    insert(document, at, &bytes);
}

/// Encodes the document in UTF-8 or UTF-16, with or without a byte order mark, sometimes damaged;
/// or in an encoding with one byte per character.
fn encoded(document: &[u8], random: &mut Rng) -> Vec<u8> {
    if random.u8(..4) == 0 {
        return in_single_bytes(document, random);
    }
    let mut text = String::from_utf8_lossy(document).into_owned();
    if random.bool() {
        let old = if text.starts_with("<?xml ") { text.find("?>").map_or(0, |at| at + 2) } else { 0 };
        text.replace_range(..old, "<?xml version='1.0' encoding='UTF-16'?>");
    }
    if random.u8(..4) > 0 {
        text.insert(0, '\u{FEFF}');
    }
    let mut units: Vec<u16> = text.encode_utf16().collect();
    if random.u8(..4) == 0 && !units.is_empty() {
        let at = random.usize(..units.len());
        units.insert(at, random.choice([0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xFFFE, 0xFFFF, 0, 0x3C00]).unwrap_or(0));
    }
    let mut bytes: Vec<u8> = match random.u8(..3) {
        0 => text.into_bytes(),
        1 => units.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
        _ => units.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
    };
    if random.u8(..8) == 0 {
        bytes.truncate(place(&bytes, random));
    }
    bytes
}

/// Encodes the document in ISO-8859-1 or windows-1252, usually with a matching declaration, and
/// with some bytes beyond ASCII.
fn in_single_bytes(document: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        String::from_utf8_lossy(document).chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(0xFF)).collect();
    for _ in 0..random.usize(..3) {
        let at = place(&bytes, random);
        insert(&mut bytes, at, &[random.u8(0x80..)]);
    }
    let label = chosen(&["ISO-8859-1", "iso-8859-1", "latin1", "windows-1252", "Windows-1252", "UTF-8"], random);
    let old = if bytes.starts_with(b"<?xml ") { find(&bytes, b"?>").map_or(0, |at| at + 2) } else { 0 };
    bytes.splice(..old, format!("<?xml version='1.0' encoding='{label}'?>").into_bytes());
    bytes
}

/// Returns a position in the document, the end only if it is empty.
fn place(document: &[u8], random: &mut Rng) -> usize {
    random.usize(..document.len().max(1))
}

/// Returns a position between two tokens if there is one: before a `<`, after a `>`, or at the end.
fn boundary(document: &[u8], random: &mut Rng) -> usize {
    let from = place(document, random);
    let found = document[from..].iter().position(|b| matches!(b, b'<' | b'>')).map(|at| from + at);
    found.map_or(document.len(), |at| if document[at] == b'<' { at } else { at + 1 })
}

/// Returns the range of a tag, or of what looks like one.
fn tag(document: &[u8], random: &mut Rng) -> Option<std::ops::Range<usize>> {
    let from = place(document, random);
    let start = from + document.get(from..)?.iter().position(|&b| b == b'<')?;
    let end = start + document[start..].iter().position(|&b| b == b'>')? + 1;
    (end - start > 2).then_some(start..end)
}

fn insert(document: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let at = at.min(document.len());
    document.splice(at..at, bytes.iter().copied());
}

fn chosen<'a>(texts: &[&'a str], random: &mut Rng) -> &'a str {
    random.choice(texts).copied().unwrap_or_default()
}

fn find(document: &[u8], text: &[u8]) -> Option<usize> {
    document.windows(text.len()).position(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &[u8] = b"<?xml version='1.0'?>\n<a xmlns='u'>\n<b c='d'>e</b></a>";

    #[test]
    fn a_document_depends_on_seed_and_number_alone() {
        let mutator = |seed| Mutator::new(vec![DOCUMENT.to_vec()], vec![b"<x/>".to_vec()], seed);
        let documents = |seed| (0..200).map(|number| mutator(seed).document(number)).collect::<Vec<_>>();
        assert_eq!(documents(1), documents(1));
        assert_ne!(documents(1), documents(2));
    }

    #[test]
    fn every_mutation_changes_documents_and_takes_any() {
        for (index, mutation) in ALL.iter().enumerate() {
            let mut random = Rng::with_seed(index as u64);
            let changed = (0..50).filter(|_| {
                let mut document = DOCUMENT.to_vec();
                mutation(&mut document, &mut random, &[b"<x/>".to_vec()]);
                document != DOCUMENT
            });
            assert!(changed.count() > 10, "mutation {index}");
            for small in [&b""[..], b"<", b"<a>", b"\xFF"] {
                (0..50).for_each(|_| mutation(&mut small.to_vec(), &mut random, &[]));
            }
        }
    }

    #[test]
    fn large_documents_are_left_out() {
        let documents = || vec![vec![b'a'; MAX_SIZE + 1], vec![], vec![b'a']];
        assert_eq!(Mutator::new(documents(), documents(), 1).seeds(), 2);
    }
}
