//! Malicious WSDLs: they give clear errors in bounded time and memory.

use crate::support::{self, Codec, import, import_schema, schema};
use deltasoap_core::schema::Element;
use deltasoap_wsdl::fetch::{Fetch, FetchError, Fetched, Location, Request};
use deltasoap_wsdl::{ErrorKind, Importer, Limits};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Far above what any of these takes, and far below the time of exponential growth.
const PATIENCE: Duration = Duration::from_secs(20);

#[track_caller]
fn limited(text: &str, wanted: &str) {
    let start = Instant::now();
    let error = import(text).expect_err("a limit");
    assert!(matches!(error.kind(), ErrorKind::Limit { name, .. } if *name == wanted), "{error}");
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn document_types_are_passed_over_and_entities_refused() {
    let document = |declarations: &str, text: &str| {
        let schema = schema(&format!(
            "<xs:element name='e'><xs:annotation><xs:documentation>{text}</xs:documentation></xs:annotation></xs:element>"
        ));
        import(&format!("<?xml version='1.0'?>\n<!DOCTYPE s {declarations}>\n{schema}"))
    };
    let import =
        document("PUBLIC '-//W3C//DTD' 'file:///etc/passwd' [<!ENTITY a 'ha'> %a; ]", "none").expect("a schema");
    assert_eq!(import.notes().len(), 1);
    assert!(import.notes()[0].to_string().contains(":2:1: the document type declaration is ignored"));
    assert_eq!(import.documents().count(), 1);
    for declarations in ["[<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]", "[<!ENTITY b SYSTEM 'file:///etc/passwd'>]"] {
        let error = document(declarations, "&b;").expect_err("an entity").to_string();
        assert!(error.contains("undeclared entity `&b;`"), "{error}");
    }
    let page = support::import("<!DOCTYPE html><html/>").expect_err("a page").to_string();
    assert!(page.contains("document type declaration"), "{page}");
}

#[test]
fn deep_nesting_is_refused() {
    let deep = |open: &str, close: &str, count| format!("{}{}", open.repeat(count), close.repeat(count));
    let content = deep("<xs:sequence>", "</xs:sequence>", 5000);
    let error = import(&schema(&format!("<xs:complexType name='T'>{content}</xs:complexType>"))).unwrap_err();
    assert!(error.to_string().contains("depth"), "{error}");
}

#[test]
fn wide_documents_are_counted() {
    let elements = "<xs:element name='x'/>".repeat(2000);
    let text = schema(&format!("<xs:complexType name='T'><xs:choice>{elements}</xs:choice></xs:complexType>"));
    for (name, limits) in [
        ("components", Limits { components: 1000, ..Limits::default() }),
        ("particles", Limits { particles: 1000, ..Limits::default() }),
    ] {
        let error = Importer::new().offline().limits(limits).text(&text).expect_err("a limit");
        assert!(matches!(error.kind(), ErrorKind::Limit { name: found, .. } if *found == name), "{error}");
    }
}

#[test]
fn groups_that_double_are_refused() {
    let mut content = "<xs:group name='g0'><xs:sequence><xs:element name='x'/></xs:sequence></xs:group>".to_owned();
    for n in 1..60 {
        let inner = n - 1;
        write!(content, "<xs:group name='g{n}'><xs:sequence><xs:group ref='t:g{inner}'/><xs:group ref='t:g{inner}'/></xs:sequence></xs:group>").unwrap();
    }
    content.push_str("<xs:complexType name='T'><xs:group ref='t:g59'/></xs:complexType>");
    limited(&schema(&content), "particles");
}

#[test]
fn groups_of_themselves_are_refused() {
    let group = "<xs:group name='g'><xs:sequence><xs:group ref='t:g'/></xs:sequence></xs:group>\
        <xs:complexType name='T'><xs:group ref='t:g'/></xs:complexType>";
    let said = support::refusal(group);
    assert!(said.contains(":2:") && said.ends_with(": group {urn:t}g contains itself"), "{said}");
    let around = "<xs:group name='g'><xs:choice><xs:element name='a'/><xs:group ref='t:h'/></xs:choice></xs:group>\
        <xs:group name='h'><xs:sequence><xs:group ref='t:g' minOccurs='0'/></xs:sequence></xs:group>\
        <xs:complexType name='T'><xs:sequence><xs:group ref='t:h'/></xs:sequence></xs:complexType>";
    assert!(support::refusal(around).ends_with(": group {urn:t}h contains itself"));
    // A group that occurs several times side by side is not a cycle.
    let twice = "<xs:group name='g'><xs:sequence><xs:element name='a'/></xs:sequence></xs:group>\
        <xs:complexType name='T'><xs:sequence><xs:group ref='t:g'/><xs:group ref='t:g'/></xs:sequence></xs:complexType>";
    import_schema(twice);
    let attributes = "<xs:attributeGroup name='g'><xs:attributeGroup ref='t:g'/></xs:attributeGroup>\
        <xs:complexType name='T'><xs:attributeGroup ref='t:g'/></xs:complexType>";
    assert!(support::refusal(attributes).ends_with(": attribute group {urn:t}g contains itself"));
}

#[test]
fn unions_of_themselves_are_refused() {
    let union = |name: &str, members: &str| {
        format!("<xs:simpleType name='{name}'><xs:union memberTypes='{members}'/></xs:simpleType>")
    };
    let restriction = |name: &str, base: &str| {
        format!("<xs:simpleType name='{name}'><xs:restriction base='t:{base}'/></xs:simpleType>")
    };
    let list =
        |name: &str, item: &str| format!("<xs:simpleType name='{name}'><xs:list itemType='t:{item}'/></xs:simpleType>");
    let inner = "<xs:simpleType name='a'><xs:union><xs:simpleType><xs:list itemType='t:a'/></xs:simpleType></xs:union></xs:simpleType>";
    for (content, name) in [
        (union("a", "xs:int t:a"), "union {urn:t}a"),
        (union("a", "t:b t:b") + &union("b", "t:a t:a"), "union {urn:t}a"),
        (restriction("r", "u") + &union("u", "xs:int t:r"), "union {urn:t}u"),
        (list("l", "u") + &union("u", "xs:int t:l"), "union {urn:t}u"),
        (inner.to_owned(), "union {urn:t}a"),
    ] {
        let said = support::refusal(&content);
        assert!(said.contains(":2:") && said.ends_with(&format!(": {name} contains itself")), "{content}: {said}");
    }
    import_schema(&(union("a", "t:b t:b xs:int") + &union("b", "xs:int xs:string")));
    // Each union has the members of the previous one twice.
    let doubling: String = (1..60).map(|n| union(&format!("u{n}"), &format!("t:u{0} t:u{0}", n - 1))).collect();
    limited(&schema(&(union("u0", "xs:int xs:int") + &doubling)), "particles");
    let chain: String = (1..20_000).map(|n| union(&format!("u{n}"), &format!("t:u{}", n - 1))).collect();
    import_schema(&(union("u0", "xs:int") + &chain));
}

#[test]
fn long_chains_of_groups_are_refused() {
    let mut content = String::new();
    for n in 0..50_000 {
        write!(content, "<xs:group name='g{n}'><xs:sequence><xs:group ref='t:g{}'/></xs:sequence></xs:group>", n + 1)
            .unwrap();
    }
    content.push_str("<xs:group name='g50000'><xs:sequence/></xs:group><xs:complexType name='T'><xs:group ref='t:g0'/></xs:complexType>");
    limited(&schema(&content), "depth");
}

#[test]
fn long_chains_of_types_end() {
    let mut content = "<xs:complexType name='t0'/>".to_owned();
    for n in 1..5_000 {
        let base = n - 1;
        write!(
            content,
            "<xs:complexType name='t{n}'><xs:complexContent><xs:extension base='t:t{base}'><xs:sequence>\
            <xs:element name='x{n}'/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>"
        )
        .unwrap();
    }
    limited(&schema(&content), "particles");
    let mut simple = "<xs:simpleType name='t0'><xs:restriction base='xs:int'/></xs:simpleType>".to_owned();
    for n in 1..20_000 {
        write!(simple, "<xs:simpleType name='t{n}'><xs:restriction base='t:t{}'/></xs:simpleType>", n - 1).unwrap();
    }
    import_schema(&simple);
}

#[test]
fn types_of_each_other_are_refused() {
    let derived = |name: &str, base: &str| {
        format!(
            "<xs:complexType name='{name}'><xs:complexContent><xs:extension base='t:{base}'/></xs:complexContent></xs:complexType>"
        )
    };
    let message = support::refusal(&(derived("a", "b") + &derived("b", "a")));
    assert!(message.contains("derived from itself"), "{message}");
}

#[test]
fn substitution_groups_do_not_grow_without_bound() {
    let mut content = "<xs:element name='e0'/>".to_owned();
    for n in 1..5_000 {
        write!(content, "<xs:element name='e{n}' substitutionGroup='t:e{}'/>", n - 1).unwrap();
    }
    limited(&schema(&content), "particles");
}

#[test]
fn long_chains_of_heads_are_followed_once() {
    let mut content = "<xs:element name='e0'/>".to_owned();
    for n in 1..100_000 {
        write!(content, "<xs:element name='e{n}' substitutionGroup='t:e{}'/>", n - 1).unwrap();
    }
    limited(&schema(&content), "particles");
}

#[test]
fn long_namespaces_are_refused() {
    let long = format!("urn:{}", "x".repeat(5000));
    limited(&schema("<xs:element name='e'/>").replace("urn:t", &long), "namespace");
    limited(&format!("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='{long}'/>"), "namespace");
    limited(&schema(&format!("<xs:element xmlns:l='{long}' name='e' type='l:x'/>")), "namespace");
}

#[test]
fn schemas_in_many_namespaces_count_for_each() {
    let part = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='a'/></xs:schema>";
    let including = |n| {
        format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:{n}'>\
            <xs:include schemaLocation='part.xsd'/></xs:schema>"
        )
    };
    let whole = support::description(&(0..10).map(including).collect::<String>(), "");
    let with = |components| {
        let importer = Importer::new().limits(Limits { components, ..Limits::default() }).fetch_with(Same(part));
        importer.bytes(Location::Web("http://h/a".parse().unwrap()), whole.clone().into_bytes())
    };
    // Two elements around twenty, two in the part, and again for each of ten namespaces.
    assert!(with(44).is_ok());
    assert!(matches!(with(43).unwrap_err().kind(), ErrorKind::Limit { name: "components", .. }));
}

/// A network that has the same document at every URL.
struct Same(&'static str);

impl Fetch for Same {
    fn fetch(&self, _: &Request<'_>) -> Result<Fetched, FetchError> {
        Ok(Fetched { bytes: self.0.as_bytes().to_vec(), ..Fetched::default() })
    }
}

#[test]
fn numbers_of_occurrences_cost_nothing() {
    let codec = Codec::new(
        "<xs:element name='e'><xs:complexType><xs:sequence><xs:element name='x' minOccurs='0' \
         maxOccurs='99999999999999999999999999'/><xs:element name='y' minOccurs='0' maxOccurs='4000000000'/>\
         </xs:sequence></xs:complexType></xs:element>",
    );
    codec.round_trip("e", "<x/><x/><y/>");
    let codec = Codec::new(
        "<xs:element name='e'><xs:complexType><xs:sequence><xs:element name='x' type='xs:int' minOccurs='4000000000' \
         maxOccurs='unbounded'/></xs:sequence></xs:complexType></xs:element>",
    );
    codec.refuses("e", "<x>1</x>");
}

#[test]
fn names_that_are_code_are_names_or_refused() {
    // A name in a schema is a string and stays one. No message can contain an element of that name.
    let evil = "<xs:element name='a&quot;); drop(x); (&quot;'/>";
    let import = import_schema(evil);
    let (id, _) = import.schemas().elements().find(|(_, it)| it.name.local.contains("drop")).expect("an element");
    assert_eq!(import.lower().element(id), None);
    let [note] = import.notes() else { panic!("{:?}", import.notes()) };
    assert!(note.text.starts_with(r#""a\"); drop(x); (\"" is not an XML name"#), "{}", note.text);
}

#[test]
fn cut_and_broken_documents_are_errors() {
    let whole = schema("<xs:element name='e' type='xs:int'/>");
    for end in 0..whole.len() {
        let bytes = whole.as_bytes()[..end].to_vec();
        assert!(Importer::new().offline().bytes(Location::Text("cut".to_owned()), bytes).is_err(), "{end}");
    }
    for bytes in [&b"\xFF\xFE<\0"[..], b"\xFF\xFF\xFF", b"<?xml version='1.0' encoding='utf-7'?><a/>", b"\0"] {
        assert!(Importer::new().offline().bytes(Location::Text("bytes".to_owned()), bytes.to_vec()).is_err());
    }
}

#[test]
fn long_chains_of_restrictions_are_followed_once() {
    let count = 20_000;
    let mut types = String::new();
    for number in 0..count {
        let base = if number + 1 == count { "xs:string".to_owned() } else { format!("t:T{}", number + 1) };
        let _ = write!(types, "<xs:simpleType name='T{number}'><xs:restriction base='{base}'/></xs:simpleType>");
    }
    let start = Instant::now();
    let import = import_schema(&types);
    import.lower();
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn types_that_restrict_one_share_its_values() {
    let mut content = "<xs:simpleType name='Base'><xs:restriction base='xs:string'>".to_owned();
    content.extend((0..2000).map(|value| format!("<xs:enumeration value='value {value}'/>")));
    content += "</xs:restriction></xs:simpleType>";
    for number in 0..2000 {
        let _ = write!(content, "<xs:simpleType name='T{number}'><xs:restriction base='t:Base'/></xs:simpleType>");
        let _ = write!(content, "<xs:element name='e{number}' type='t:T{number}'/>");
    }
    let import = import_schema(&content);
    let compiled = import.compile();
    assert!(compiled.len() < 500_000, "{}", compiled.len());
    let read = Importer::new().offline().bytes(Location::Text("compiled".to_owned()), compiled).expect("a description");
    for codec in [Codec::of(import), Codec::of(read)] {
        let lists: HashSet<_> = (0..2000).map(|number| values_of(&codec, &format!("e{number}"))).collect();
        assert_eq!(lists.len(), 1);
    }
}

/// Returns the address of an element's values.
fn values_of(codec: &Codec, local: &str) -> usize {
    let element = codec.view(local).element;
    let Element::Simple(simple) = element else { panic!("{element:?}") };
    assert_eq!(simple.enumeration.len(), 2000);
    simple.enumeration.as_ptr().addr()
}
