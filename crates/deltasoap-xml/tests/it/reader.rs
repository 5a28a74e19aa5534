//! Well-formedness and namespaces, rule by rule: each case is a document and the reader's result.

use crate::common::{Recorder, read, shown};
use deltasoap_xml::{Encoding, Instructions, Limits, XmlErrorKind};

#[test]
fn well_formed_documents_give_their_events() {
    let cases = [
        ("<a/>", "<a|>"),
        ("<a></a >", "<a|>"),
        ("<?xml version='1.0'?><a>x</a>\n<!-- c -->", "<a|x|>"),
        ("<?xml version=\"1.1\" encoding='utf-8' standalone = 'no' ?>\r\n<a/>", "<a|>"),
        ("<a>1&lt;2&#x41;&#66;&amp;</a>", "<a|1<2AB&|>"),
        ("<a>x\r\ny\rz\n</a>", "<a|x\ny\nz\n|>"),
        ("<a>&#13;</a>", "<a|\r|>"),
        ("<a>]] ]>></a>", "<a|]] ]>>|>"),
        ("<a><![CDATA[<b>&amp;]]]]></a>", "<a|<b>&amp;]]|>"),
        ("<a><![CDATA[]]></a>", "<a|>"),
        ("<a><![CDATA[x\r\ny]]>z</a>", "<a|x\nyz|>"),
        ("<a>x<!-- - -> <b> & -->y</a>", "<a|xy|>"),
        ("<a x='1' y = \"'\"/>", "<a x=1 y='|>"),
        ("<a x='\t\r\n\n&#10;&quot;'/>", "<a x=   \n\"|>"),
        ("<a xmlns='u' x='1'><b xmlns=''/></a>", "<{u}a x=1|<b|>|>"),
        ("<p:a xmlns:p='u' p:x='1' x='2'/>", "<{u}a {u}x=1 x=2|>"),
        ("<p:a p:x='1' xmlns:p='u'><p:a xmlns:p='v'/><p:a/></p:a>", "<{u}a {u}x=1|<{v}a|>|<{u}a|>|>"),
        ("<a xml:lang='de'/>", "<a {http://www.w3.org/XML/1998/namespace}lang=de|>"),
        ("<é·>ü</é·>", "<é·|ü|>"),
    ];
    for (document, events) in cases {
        assert_eq!(shown(&read(document.as_bytes(), Limits::default(), Instructions::Refuse)), events, "{document}");
    }
}

#[test]
fn faults_have_a_kind_and_a_place() {
    use XmlErrorKind::*;
    let expected = |expected, found| Expected { expected, found };
    let cases = [
        ("", 0, UnexpectedEnd),
        (" ", 1, UnexpectedEnd),
        ("<a", 2, UnexpectedEnd),
        ("<a>", 3, UnexpectedEnd),
        ("<a>x&am", 7, UnexpectedEnd),
        ("x<a/>", 0, TextOutsideRoot { found: 'x' }),
        ("<a/>x", 4, TextAfterRoot { found: 'x' }),
        ("<a/>&#32;", 4, TextAfterRoot { found: '&' }),
        ("<a/><![CDATA[]]>", 4, TextAfterRoot { found: '<' }),
        ("<a/><b/>", 4, SecondRoot),
        ("</a>", 0, UnopenedEndTag),
        ("<a></b>", 5, EndTag { expected: "a".into(), found: "b".into() }),
        ("<a></ab>", 5, EndTag { expected: "a".into(), found: "ab".into() }),
        ("<a></a x>", 7, expected("`>` at the end of an end tag", 'x')),
        ("<a><1/></a>", 4, expected("a name after `<`", '1')),
        ("< a/>", 1, expected("a name after `<`", ' ')),
        ("<a x='1'y='2'/>", 8, expected("white space, `/>` or `>` in a start tag", 'y')),
        ("<a x/>", 4, expected("`=` after an attribute's name", '/')),
        ("<a x=1/>", 5, expected("a quoted attribute value", '1')),
        ("<a x='<'/>", 6, LessThanInAttribute),
        ("<a x='' x=''/>", 8, DuplicateAttribute { name: "x".into() }),
        ("<a xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>", 34, DuplicateAttribute { name: "q:x".into() }),
        ("<a / >", 4, expected("`>` after `/` in a tag", ' ')),
        ("<a>]]></a>", 3, CdataEnd),
        ("<a>]]]></a>", 4, CdataEnd),
        ("<a><!-- -- --></a>", 8, CommentHyphens),
        ("<a><!---></a>", 13, UnexpectedEnd),
        ("<a>&nbsp;</a>", 3, UndeclaredEntity { name: "nbsp".into() }),
        ("<a>&#1;</a>", 3, CharacterReference { reference: "#1".into() }),
        ("<a>\u{1}</a>", 3, ForbiddenCharacter('\u{1}')),
        ("<a>x\u{FFFE}</a>", 4, ForbiddenCharacter('\u{FFFE}')),
        ("<a b='\u{1}'/>", 6, ForbiddenCharacter('\u{1}')),
        ("<!DOCTYPE a><a/>", 0, Doctype),
        ("<!ELEMENT a><a/>", 2, expected("a comment or a CDATA section after `<!`", 'E')),
        ("<?p x?><a/>", 0, Instruction { target: "p".into() }),
        (" <?xml version='1.0'?><a/>", 1, MisplacedDeclaration),
        ("<?xml version='2.0'?><a/>", 15, Version { found: "2.0".into() }),
        ("<?xml encoding='UTF-8'?><a/>", 6, expected("`version` in the XML declaration", 'e')),
        (
            "<?xml version='1.0' encoding='koi8-r'?><a/>",
            30,
            DeclaredEncoding { declared: "koi8-r".into(), actual: "UTF-8" },
        ),
        (
            "\u{FEFF}<?xml version='1.0' encoding='latin1'?><a/>",
            33,
            DeclaredEncoding { declared: "latin1".into(), actual: "UTF-8" },
        ),
        ("<?xml version='1.0' standalone='x'?><a/>", 32, expected("`yes` or `no`", 'x')),
        ("<?xml version='1.0'encoding='UTF-8'?><a/>", 19, expected("white space in the XML declaration", 'e')),
        ("<p:a/>", 1, UndeclaredPrefix { prefix: "p".into() }),
        ("<a p:x=''/>", 3, UndeclaredPrefix { prefix: "p".into() }),
        ("<a:b:c/>", 1, QualifiedName { name: "a:b:c".into() }),
        ("<a :x=''/>", 3, QualifiedName { name: ":x".into() }),
        ("<a xmlns:p=''/>", 3, EmptyNamespace { prefix: "p".into() }),
        ("<a xmlns:xml='u'/>", 3, ReservedNamespace { prefix: "xml".into() }),
        ("<a xmlns:xmlns='u'/>", 3, ReservedNamespace { prefix: "xmlns".into() }),
        ("<a xmlns='http://www.w3.org/2000/xmlns/'/>", 3, ReservedNamespace { prefix: String::new() }),
        ("<xmlns:a/>", 1, UndeclaredPrefix { prefix: "xmlns".into() }),
    ];
    let mut wrong = Vec::new();
    for (document, offset, kind) in cases {
        let error = read(document.as_bytes(), Limits::default(), Instructions::Refuse).1.expect(document);
        if (error.offset, &error.kind) != (offset, &kind) {
            wrong.push(format!("{document}: {error:?} instead of {kind:?} at {offset}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn malformed_utf8_is_a_fault_at_its_first_byte() {
    let cases: [(&[u8], u64); 7] = [
        (b"<a>ab\xFF</a>", 5),
        (b"<a>\xC3</a>", 3),
        (b"<a>\xED\xA0\x80</a>", 3),
        (b"<a x='\xC0\x80'/>", 6),
        (b"<a\xC3", 2),
        (b"<a>\xE2\x82", 3),
        (b"\xFF", 0),
    ];
    for (document, offset) in cases {
        let error = read(document, Limits::default(), Instructions::Refuse).1.unwrap();
        assert_eq!((error.offset, error.kind), (offset, XmlErrorKind::Encoding), "{document:?}");
    }
}

#[test]
fn every_limit_is_enforced_at_the_first_character_beyond() {
    let default = Limits::default();
    let cases = [
        (Limits { depth: 2, ..default }, "<a><b/><b><c/></b></a>", 10, "depth", 2),
        (Limits { attributes: 2, ..default }, "<a x='' xmlns='' y=''/>", 17, "attributes", 2),
        (Limits { attribute_value: 3, ..default }, "<a x='123' y='1é3'/>", 17, "attribute_value", 3),
        (Limits { attribute_value: 3, ..default }, "<a x='1&lt;'/>", 7, "attribute_value", 3),
        (Limits { name: 3, ..default }, "<abc abcd=''/>", 8, "name", 3),
        (Limits { text: 3, ..default }, "<a>1<b>123</b>2&#51;<!-- -->4</a>", 28, "text", 3),
        (Limits { text: 3, ..default }, "<a>12é</a>", 5, "text", 3),
        (Limits { markup: 8, ..default }, "<a x=''/><a    />", 8, "markup", 8),
        (Limits { message: 8, ..default }, "<a>x</a> ", 8, "message", 8),
    ];
    for (limits, document, offset, name, limit) in cases {
        let error = read(document.as_bytes(), limits, Instructions::Refuse).1.expect(document);
        assert_eq!((error.offset, error.kind), (offset, XmlErrorKind::Limit { name, limit }), "{document}");
    }
}

/// Returns the text of a document whose encoding is given, or declared by a label.
fn text_of(document: &[u8], external: Option<Encoding>) -> String {
    let mut recorder = Recorder::new(Limits::default(), Instructions::Refuse);
    let whole = recorder.record_with_encoding(external, std::iter::once(document));
    assert_eq!(recorder.record_with_encoding(external, document.chunks(1)), whole, "byte by byte");
    shown(&whole)
}

#[test]
fn encodings_of_a_byte_a_character_are_read() {
    let declared = |label: &str, rest: &[u8]| {
        let declaration = format!("<?xml version='1.0' encoding='{label}'?>");
        text_of(&[declaration.as_bytes(), rest].concat(), None)
    };
    assert_eq!(declared("windows-1252", b"<a>\x80\xE9</a>"), "<a|\u{20ac}\u{e9}|>");
    assert_eq!(declared("ISO-8859-1", b"<a>\x80\xE9</a>"), "<a|\u{80}\u{e9}|>");
    assert_eq!(declared("Latin1", b"<\xE9 \xFC='\xC3\xA4'/>"), "<\u{e9} \u{fc}=\u{c3}\u{a4}|>");
    assert_eq!(declared("us-ascii", "<a>\u{e9}</a>".as_bytes()), "<a|\u{e9}|>");
    let fault = declared("latin1", b"<a>\xE9\x01</a>");
    assert_eq!(fault, "<a|\u{e9}|U+0001 is not allowed in XML at byte 43");
    assert_eq!(text_of(b"<a>\x80</a>", Some(Encoding::Windows1252)), "<a|\u{20ac}|>");
    assert_eq!(text_of(b"<?xml version='1.0'?><a>\xE9</a>", Some(Encoding::Latin1)), "<a|\u{e9}|>");
    assert_eq!(text_of("\u{FEFF}<a>\u{e9}</a>".as_bytes(), Some(Encoding::Latin1)), "<a|\u{e9}|>");
    assert_eq!(text_of("<a>\u{e9}</a>".as_bytes(), None), "<a|\u{e9}|>", "an external encoding is forgotten");
}

#[test]
fn an_encoding_that_is_not_read_or_not_true_is_said_so() {
    let read = |document: &str| text_of(document.as_bytes(), None);
    let fault = read("<?xml version='1.0' encoding='koi8-r'?><a/>");
    assert_eq!(fault, "the encoding `koi8-r` is not supported; use UTF-8 or UTF-16 at byte 30");
    let fault = read("\u{FEFF}<?xml version='1.0' encoding='latin1'?><a/>");
    assert_eq!(fault, "the declaration says encoding `latin1`, but the document is in UTF-8 at byte 33");
}
