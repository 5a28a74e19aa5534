//! What XML Schema does not allow in schemas: each case is noted with its place and with how it is
//! read.

use crate::support::import_schema;
use deltasoap_wsdl::NoteKind;

/// Returns the texts of the notes about invalid parts.
fn invalid(content: &str) -> Vec<String> {
    let import = import_schema(content);
    let notes = import.notes().iter().filter(|note| note.kind == NoteKind::Invalid);
    notes.map(|note| note.text.clone()).collect()
}

fn in_type(content: &str) -> String {
    format!("<xs:complexType name='T'>{content}</xs:complexType>")
}

#[test]
fn words_that_an_attribute_cannot_have() {
    for (content, expected) in [
        (
            in_type("<xs:attribute name='a' use='mandatory'/>"),
            "`use=\"mandatory\"` of <attribute> is not one of optional",
        ),
        (
            in_type("<xs:attribute name='a' form='x'/>"),
            "`form=\"x\"` of <attribute> is not one of qualified, unqualified",
        ),
        (
            "<xs:element name='e' nillable='yes'/>".to_owned(),
            "`nillable=\"yes\"` of <element> is not one of true, false",
        ),
        ("<xs:element name='e' abstract='TRUE'/>".to_owned(), "`abstract=\"TRUE\"` of <element>"),
        (
            "<xs:element name='e' block='all'/>".to_owned(),
            "`block` of <element> has `all`, which is not one of #all, ext",
        ),
        ("<xs:element name='e' final='#all list'/>".to_owned(), "`final` of <element> has `#all`"),
        ("<xs:complexType name='T' mixed='maybe'/>".to_owned(), "`mixed=\"maybe\"` of <complexType>"),
        (in_type("<xs:sequence><xs:any processContents='maybe'/></xs:sequence>"), "it is read as strict"),
        (
            in_type("<xs:sequence><xs:any namespace='##foo'/></xs:sequence>"),
            "`##foo` in `namespace=\"##foo\"` of <any>",
        ),
        (
            "<xs:simpleType name='S' final='extension'><xs:restriction base='xs:int'/></xs:simpleType>".to_owned(),
            "`final` of <simpleType> has `extension`",
        ),
    ] {
        let notes = invalid(&content);
        assert!(notes.iter().any(|note| note.contains(expected)), "{content}: {notes:?}");
    }
}

#[test]
fn what_excludes_each_other() {
    let facet = |facets: &str| {
        format!("<xs:simpleType name='S'><xs:restriction base='xs:int'>{facets}</xs:restriction></xs:simpleType>")
    };
    let e = "<xs:element name='e' type='xs:int'/>";
    for (content, expected) in [
        (
            e.to_owned() + &in_type("<xs:sequence><xs:element ref='t:e' name='f' nillable='true'/></xs:sequence>"),
            vec!["`ref` of <element> counts; its `name` is ignored", "`ref` of <element> counts; its `nillable`"],
        ),
        (in_type("<xs:attribute name='a' default='1' fixed='1'/>"), vec!["<attribute> has both `default` and `fixed`"]),
        (in_type("<xs:attribute name='a' default='1' use='required'/>"), vec!["an attribute with `use=\"required\"`"]),
        (
            facet("<xs:minInclusive value='1'/><xs:minInclusive value='2'/>"),
            vec!["the facet minInclusive occurs twice"],
        ),
        (facet("<xs:maxInclusive value='3'/><xs:maxExclusive value='4'/>"), vec!["maxInclusive and maxExclusive"]),
    ] {
        let notes = invalid(&content);
        assert_eq!(notes.len(), expected.len(), "{content}: {notes:?}");
        assert!(notes.iter().zip(expected).all(|(note, expected)| note.starts_with(expected)), "{notes:?}");
    }
}

#[test]
fn attributes_that_a_type_gets_twice() {
    let group = "<xs:attributeGroup name='G'><xs:attribute name='a'/></xs:attributeGroup>";
    let base = "<xs:complexType name='B'><xs:attribute name='a' type='xs:int'/></xs:complexType>";
    let derived = |by: &str| {
        format!(
            "{base}<xs:complexType name='T'><xs:complexContent><xs:{by} base='t:B'><xs:attribute name='a' type='xs:int'/>\
             </xs:{by}></xs:complexContent></xs:complexType>"
        )
    };
    let twice = "type {urn:t}T has attribute a twice, directly and from its base type; the first counts";
    assert_eq!(invalid(&derived("extension")), [twice]);
    assert_eq!(invalid(&derived("restriction")), [""; 0]);
    let notes = invalid(&(group.to_owned() + &in_type("<xs:attribute name='a'/><xs:attributeGroup ref='t:G'/>")));
    assert!(notes.len() == 1 && notes[0].contains("attribute a twice, directly or from a group"), "{notes:?}");
}

#[test]
fn what_is_valid_is_not_noted() {
    let content = "<xs:element name='e' nillable=' true ' abstract='0' block='#all' final='extension restriction' type='xs:int'/>\
        <xs:element name='f' block='substitution  extension' fixed='maybe' type='xs:string'/>\
        <xs:complexType name='T' mixed='1' final='#all'><xs:sequence><xs:any namespace='##targetNamespace ##local urn:x'/>\
        <xs:any namespace='##other' processContents='skip'/></xs:sequence><xs:attribute name='a' use='prohibited'/>\
        <xs:attribute name='b' use='optional' default='x' form='qualified'/></xs:complexType>\
        <xs:simpleType name='S' final='list union'><xs:restriction base='xs:string'><xs:minLength value='1' fixed='true'/>\
        <xs:maxLength value='1'/><xs:pattern value='a'/><xs:pattern value='b'/></xs:restriction></xs:simpleType>";
    let import = import_schema(content);
    assert_eq!(import.notes(), [], "{:?}", import.notes());
}

/// The next element must determine which particle it belongs to (XSD 1.0 part 1, 3.8.6).
#[test]
fn content_models_that_are_not_deterministic() {
    let e = |name: &str, more: &str| format!("<xs:element name='{name}' {more}/>");
    let group = |kind: &str, more: &str, parts: &[&str]| format!("<xs:{kind} {more}>{}</xs:{kind}>", parts.concat());
    let (a, b, maybe, many) = (e("a", ""), e("b", ""), e("a", "minOccurs='0'"), e("a", "maxOccurs='unbounded'"));
    let (two, some) = (e("a", "minOccurs='2' maxOccurs='2'"), e("a", "maxOccurs='2'"));
    let any = "<xs:any namespace='##any' minOccurs='0'/>";
    let other = "<xs:any namespace='##other' minOccurs='0' maxOccurs='unbounded'/>";
    let local = "<xs:any namespace='##local' minOccurs='0'/>";
    let seq = |parts: &[&str]| group("sequence", "", parts);
    let repeated = |parts: &[&str]| group("sequence", "maxOccurs='unbounded'", parts);
    for good in [
        seq(&[&a, &a]),
        seq(&[&a, &maybe]),
        seq(&[&two, &a]),
        seq(&[&many, &b, &a]),
        seq(&[&many, other]),
        seq(&[&many, local]),
        seq(&[other, &a, other]),
        repeated(&[&a, &maybe, &b]),
        repeated(&[&many, &b]),
        repeated(&[&maybe, &e("b", "minOccurs='0'")]),
        seq(&[&group("choice", "", &[&seq(&[&a, &b]), &e("c", "")]), &a]),
        group("choice", "", &[&a, other]),
        group("all", "", &[&a, &b]),
    ] {
        assert_eq!(invalid(&in_type(&good)), [""; 0], "{good}");
    }
    for bad in [
        seq(&[&maybe, &a]),
        seq(&[&some, &a]),
        seq(&[&many, &maybe]),
        seq(&[any, &a]),
        seq(&[&many, &local.replace("local", "targetNamespace")]),
        seq(&[any, any]),
        seq(&[&group("choice", "", &[&seq(&[&b, &maybe]), &e("c", "")]), &a]),
        group("choice", "", &[&a, &seq(&[&a, &b])]),
        repeated(&[&a, &b, &maybe]),
        seq(&[&repeated(&[&a, &b]), &a]),
        group("all", "", &[&a, &a]),
    ] {
        let notes = invalid(&in_type(&bad));
        assert!(notes.len() == 1 && notes[0].contains("type {urn:t}T is not deterministic"), "{bad}: {notes:?}");
    }
    // A conflict between a base type and its extension counts, and is noted once.
    let types = in_type(&seq(&[&a, any]))
        + &format!("<xs:complexType name='U'><xs:complexContent><xs:extension base='t:T'>{}", seq(&[&b]))
        + "</xs:extension></xs:complexContent></xs:complexType><xs:complexType name='V'><xs:complexContent>"
        + "<xs:extension base='t:U'/></xs:complexContent></xs:complexType>";
    let notes = invalid(&types);
    assert!(notes.len() == 1 && notes[0].contains("}U is not"), "{notes:?}");
    assert!(notes[0].contains("a wildcard and the element {urn:t}b can take the same next element"), "{notes:?}");
    // Members of a substitution group count wherever their head does.
    let head = "<xs:element name='h' abstract='true'/><xs:element name='m' substitutionGroup='t:h' type='xs:int'/>";
    let model = seq(&["<xs:element ref='t:h' minOccurs='0'/>", "<xs:element ref='t:m'/>"]);
    assert_eq!(invalid(&(head.to_owned() + &in_type(&model))).len(), 1);
}

/// Nothing satisfies a choice without alternatives (XSD 1.0 part 1, 3.8.4).
#[test]
fn types_that_no_content_satisfies() {
    let text =
        |name| format!("type {{urn:t}}{name} requires a choice without alternatives: no content satisfies it; it is");
    let e = "<xs:element name='e'/>";
    let extended = in_type("<xs:choice/>")
        + &format!("<xs:complexType name='U'><xs:complexContent><xs:extension base='t:T'><xs:sequence>{e}")
        + "</xs:sequence></xs:extension></xs:complexContent></xs:complexType>";
    for bad in [
        in_type("<xs:choice/>"),
        in_type(&format!("<xs:sequence>{e}<xs:choice maxOccurs='unbounded'/></xs:sequence>")),
        in_type("<xs:choice><xs:element name='e' minOccurs='0' maxOccurs='0'/></xs:choice>"),
        extended,
    ] {
        let notes = invalid(&bad);
        assert!(notes.len() == 1 && notes[0].starts_with(&text("T")), "{bad}: {notes:?}");
    }
    for good in [
        in_type("<xs:choice minOccurs='0'/>"),
        in_type("<xs:sequence/>"),
        in_type(&format!("<xs:choice>{e}<xs:choice/></xs:choice>")),
    ] {
        assert_eq!(invalid(&good), [""; 0], "{good}");
    }
}

#[test]
fn large_models_take_no_time() {
    let wildcards: String = (0..5000).map(|n| format!("<xs:any namespace='urn:n{n}' minOccurs='0'/>")).collect();
    let elements: String = (0..5000).map(|n| format!("<xs:element name='e{n}' minOccurs='0'/>")).collect();
    let start = std::time::Instant::now();
    assert_eq!(invalid(&in_type(&format!("<xs:sequence>{elements}{wildcards}</xs:sequence>"))), [""; 0]);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
