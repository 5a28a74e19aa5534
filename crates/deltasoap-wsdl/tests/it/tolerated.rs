//! What the standards do not allow but other toolkits accept: read if the meaning is clear, with a
//! note.

use crate::support::{Codec, description, import, import_schema, schema};
use deltasoap_wsdl::{Import, Importer, NoteKind};

/// Returns the only note of an import.
#[track_caller]
fn only_note(import: &Import) -> (NoteKind, String) {
    let [note] = import.notes() else { panic!("{:?}", import.notes()) };
    (note.kind, note.text.clone())
}

/// A schema whose prefix for XML Schema is `x`, so that the usual prefixes are not declared.
fn without_prefixes(content: &str) -> Import {
    let text = format!(
        "<x:schema xmlns:x='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'>{content}</x:schema>"
    );
    import(&text).expect("a schema")
}

#[test]
fn types_of_xml_schema_are_known_without_a_declared_prefix() {
    for name in ["xs:int", "xsd:int"] {
        let codec = Codec::of(without_prefixes(&format!("<x:element name='e' type='{name}'/>")));
        assert_eq!(only_note(&codec.import).0, NoteKind::Tolerated);
        assert_eq!(codec.round_trip("e", "12"), "<ns:e xmlns:ns=\"urn:t\">12</ns:e>");
        codec.refuses("e", "twelve");
    }
    let bare = without_prefixes(
        "<x:simpleType name='S'><x:restriction base='short'/></x:simpleType><x:element name='e' type='t:S'/>",
    );
    assert_eq!(only_note(&bare).0, NoteKind::Tolerated);
    Codec::of(bare).refuses("e", "100000");
}

#[test]
fn anything_is_taken_where_a_prefix_means_nothing() {
    let content = "<x:element name='e'><x:complexType><x:sequence><x:element name='a' type='no:A'/><x:element ref='no:b'/></x:sequence>\
        <x:attribute ref='no:c'/></x:complexType></x:element>";
    let codec = Codec::of(without_prefixes(content));
    let missing = codec.import.notes().iter().filter(|note| note.kind == NoteKind::Missing);
    assert_eq!(missing.count(), 3, "{:?}", codec.import.notes());
    assert!(codec.import.notes().iter().any(|note| note.text == "the prefix in `type=\"no:A\"` is not declared"));
    let read = codec.read_document("e", "<e xmlns='urn:t'><a xmlns=''><x/></a><y xmlns='urn:y'>1</y></e>");
    assert!(read.is_ok(), "{read:?}");
    assert!(import(&description("", "<message name='m'><part name='p' type='no:T'/></message>")).is_ok());
    let strict =
        Importer::new().offline().strict().text(&schema("<xs:element name='e' type='no:A'/>")).expect_err("a prefix");
    assert!(strict.to_string().ends_with("its prefix is not declared"), "{strict}");
}

#[test]
fn types_go_on_without_bases_and_groups_that_are_not_defined() {
    let own = "<xs:sequence><xs:element name='n' type='xs:int'/></xs:sequence><xs:attribute name='a'/>";
    let complex = |content: &str, by: &str, base: &str, own: &str| {
        format!("<xs:complexType><xs:{content}><xs:{by} base='{base}'>{own}</xs:{by}></xs:{content}></xs:complexType>")
    };
    let simple = |base: &str| {
        format!(
            "<xs:simpleType><xs:restriction base='{base}'><xs:maxLength value='1'/></xs:restriction></xs:simpleType>"
        )
    };
    let facet = "<xs:maxLength value='1'/>";
    let groups = |name: &str| {
        format!(
            "<xs:complexType><xs:sequence><xs:group ref='{name}'/><xs:element name='n' type='xs:int'/></xs:sequence>\
             <xs:attributeGroup ref='{name}'/></xs:complexType>"
        )
    };
    for name in ["no:B", "t:B"] {
        for (content, right, wrong) in [
            (complex("complexContent", "extension", name, own), "<n>1</n>", "<m/><n>1</n>"),
            (complex("complexContent", "restriction", name, own), "<n>1</n>", "<m/>"),
            (complex("simpleContent", "extension", name, "<xs:attribute name='a'/>"), "text", "<m/>"),
            (complex("simpleContent", "restriction", name, facet), "t", "<m/>"),
            (simple(name), "t", "<m/>"),
            (groups(name), "<n>1</n>", "<m/>"),
        ] {
            let schema = format!("<xs:element name='e'>{content}</xs:element>");
            let codec = Codec::new(&schema);
            let notes = codec.import.notes().iter().filter(|note| note.kind == NoteKind::Missing);
            let expected = if content.contains("Group") { 2 } else { 1 };
            assert_eq!(notes.count(), expected, "{content}: {:?}", codec.import.notes());
            codec.round_trip("e", right);
            codec.refuses("e", wrong);
            let strict =
                Importer::new().offline().strict().text(&crate::support::schema(&schema)).expect_err("nothing");
            assert!(strict.to_string().contains("is not defined"), "{strict}");
        }
    }
}

#[test]
fn content_is_read_where_its_derivation_is_written_wrong() {
    let by_extension = "<xs:simpleType name='S'><xs:extension base='xs:int'><xs:attribute name='a'/></xs:extension></xs:simpleType>\
        <xs:element name='e' type='t:S'/>";
    let no_derivation = "<xs:element name='e'><xs:complexType><xs:complexContent><xs:sequence><xs:element name='n' type='xs:int'/>\
        </xs:sequence></xs:complexContent></xs:complexType></xs:element>";
    let no_content = "<xs:complexType name='B'><xs:sequence><xs:element name='n' type='xs:int'/></xs:sequence></xs:complexType>\
        <xs:element name='e'><xs:complexType><xs:extension base='t:B'/></xs:complexType></xs:element>";
    let complex_text = "<xs:element name='e'><xs:complexType><xs:complexContent><xs:extension base='xs:int'>\
        <xs:attribute name='a'/></xs:extension></xs:complexContent></xs:complexType></xs:element>";
    for (content, right, wrong) in [
        (by_extension, "1", "x"),
        (no_derivation, "<n>1</n>", "<n>x</n>"),
        (no_content, "<n>1</n>", "<n>x</n>"),
        (complex_text, "1", "x"),
    ] {
        let codec = Codec::new(content);
        assert_eq!(only_note(&codec.import).0, NoteKind::Tolerated);
        codec.round_trip("e", right);
        codec.refuses("e", wrong);
    }
}

#[test]
fn elements_that_extend_simple_content_make_it_mixed() {
    let text =
        "<xs:complexType name='B'><xs:simpleContent><xs:extension base='xs:int'/></xs:simpleContent></xs:complexType>";
    let own = "<xs:sequence><xs:element name='n' type='xs:int'/></xs:sequence>";
    for base in ["t:B", "xs:int"] {
        let content = format!(
            "{text}<xs:element name='e'><xs:complexType><xs:complexContent><xs:extension base='{base}'>{own}</xs:extension>\
             </xs:complexContent></xs:complexType></xs:element>"
        );
        let codec = Codec::of(import_schema(&content));
        assert!(only_note(&codec.import).1.contains("mixed content"));
        codec.round_trip("e", "1<n>2</n>");
    }
}

#[test]
fn references_to_no_key_are_noted() {
    let of = |constraints: &str| format!("<xs:element name='e'><xs:complexType/>{constraints}</xs:element>");
    let constraint =
        |kind: &str, rest: &str| format!("<xs:{kind} {rest}><xs:selector xpath='a'/><xs:field xpath='b'/></xs:{kind}>");
    let refers = constraint("keyref", "name='r' refer='t:k'");
    let import = import_schema(&of(&(refers.clone() + &constraint("keyref", "name='s' refer='t:k'"))));
    let text = "key {urn:t}k is not defined; the <keyref> to it is not checked";
    assert_eq!(only_note(&import), (NoteKind::Missing, text.to_owned()));
    let strict = Importer::new().offline().strict().text(&schema(&of(&refers))).expect_err("no key").to_string();
    assert!(strict.contains("key {urn:t}k is not defined"), "{strict}");
    for key in [constraint("key", "name='k'"), constraint("unique", "name='k'")] {
        for all in [of(&(refers.clone() + &key)), of(&refers) + &of(&key).replace("'e'", "'f'")] {
            assert!(import_schema(&all).notes().is_empty(), "{all}");
        }
    }
    // A key that cannot be parsed still counts as defined.
    let odd = "<xs:key name='k'><xs:selector xpath='a[1]'/><xs:field xpath='b'/></xs:key>";
    assert!(only_note(&import_schema(&of(&(refers + odd)))).1.starts_with("<key> cannot be parsed"));
}

#[test]
fn references_without_a_prefix_are_to_the_target_namespace_where_the_default_one_has_none() {
    let content = "<message name='M'/><portType name='P'><operation name='O'><input message='M'/></operation></portType>\
        <binding name='B' type='P'><soap:binding/></binding><service name='S'><port name='p' binding='B'/></service>";
    let text = description("", content);
    let import = import(&text).expect("a description");
    let texts: Vec<_> = import.notes().iter().map(|note| note.text.as_str()).collect();
    let note = |attribute: &str, name: &str| {
        format!("{attribute} {{http://schemas.xmlsoap.org/wsdl/}}{name} is not defined; {{urn:t}}{name} is used")
    };
    assert_eq!(texts, [note("message", "M"), note("type", "P"), note("binding", "B")]);
    assert!(import.definitions().services[0].ports[0].name == "p".into());
    assert!(Importer::new().offline().strict().text(&text).is_err());
}

#[test]
fn services_and_ports_without_names_are_called_by_what_they_have() {
    let content = "<portType name='P'/><binding name='B' type='t:P'><soap:binding/></binding>\
        <service><port binding='t:B'><soap:address location='http://h/1'/></port></service>\
        <service><port name='own' binding='t:B'/></service><service name=''/><message/>";
    let import = import(&description("", content)).expect("a description");
    let services = &import.definitions().services;
    assert_eq!(services.iter().map(|it| &*it.name.local).collect::<Vec<_>>(), ["Service", "Service2", "Service3"]);
    assert_eq!(services.iter().flat_map(|it| &it.ports).map(|it| &*it.name).collect::<Vec<_>>(), ["B", "own"]);
    assert_eq!(import.notes().len(), 5, "{:?}", import.notes());
}

#[test]
fn schemas_of_other_namespaces_are_included_as_if_imported() {
    let folder = tempfolder();
    let main = "<xs:include schemaLocation='other.xsd'/><xs:include location='same.xsd'/><xs:include/>\
        <xs:element name='e' type='o:T' xmlns:o='urn:o'/><xs:element name='f' type='t:S'/>";
    let other = "<schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:o'><simpleType name='T'><restriction base='int'/></simpleType></schema>";
    let same = schema("<xs:simpleType name='S'><xs:restriction base='xs:int'/></xs:simpleType>");
    for (name, text) in [("main.xsd", &*schema(main)), ("other.xsd", other), ("same.xsd", &same)] {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let import = Importer::new().offline().file(&folder.join("main.xsd"));
    std::fs::remove_dir_all(&folder).expect("removed");
    let import = import.expect("a schema");
    let notes: Vec<_> = import.notes().iter().map(|note| note.kind).collect();
    assert_eq!(notes, [NoteKind::Tolerated, NoteKind::Tolerated, NoteKind::Skipped]);
    let codec = Codec::of(import);
    codec.refuses("e", "x");
    codec.refuses("f", "x");
}

fn tempfolder() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("deltasoap-tolerated-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Returns why the operation `op` cannot be called.
fn why_not(import: &Import) -> Option<String> {
    let lowered = import.lower();
    let operation = lowered.operations.iter().find(|it| &*it.name != "good").expect("an operation");
    let others = lowered.operations.iter().filter(|it| &*it.name == "good");
    others.for_each(|good| assert!(good.method.is_ok(), "{:?}", good.method));
    operation.method.as_ref().err().cloned()
}

/// An RPC operation with this name and part, next to one called `good`; `how` is the use.
fn rpc(types: &str, name: &str, part: &str, how: &str) -> Import {
    let content = format!(
        "<message name='m'><part {part}/></message><message name='g'><part name='p' type='xs:int'/></message>\
         <portType name='P'><operation name='{name}'><input message='t:m'/></operation>\
         <operation name='good'><input message='t:g'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding style='rpc'/>\
         <operation name='{name}'><input><soap:body use='{how}' namespace='urn:b'/></input></operation>\
         <operation name='good'><input><soap:body use='{how}' namespace='urn:b'/></input></operation></binding>"
    );
    import(&description(&schema(types), &content)).expect("a description")
}

#[test]
fn what_needs_a_name_that_xml_does_not_allow_is_left_out() {
    let element = "<xs:complexType name='T'><xs:sequence><xs:element name='area:Code' type='xs:int' minOccurs='0'/></xs:sequence></xs:complexType>";
    let below =
        "<xs:complexType name='U'><xs:sequence><xs:element name='t' type='t:T'/></xs:sequence></xs:complexType>";
    let deep = element.to_owned() + below;
    let attribute = "<xs:complexType name='T'><xs:attribute name='1st' type='xs:int'/></xs:complexType>";
    let unused =
        "<xs:complexType name='a b'><xs:sequence><xs:element name='n' type='xs:int'/></xs:sequence></xs:complexType>";
    let array =
        "<xs:complexType name='T:2'><xs:sequence><xs:element name='n' type='xs:int'/></xs:sequence></xs:complexType>";
    // A type that others are derived from is kept as a tree, but has the same content.
    let derived = element.to_owned()
        + "<xs:complexType name='D'><xs:complexContent><xs:extension base='t:T'/></xs:complexContent></xs:complexType>";
    for (types, name, part, how, bad, what) in [
        (element, "op", "name='p' type='t:T'", "literal", "area:Code", "an element"),
        (element, "op", "name='p' type='t:T'", "encoded", "area:Code", "an element"),
        (&deep, "op", "name='p' type='t:U'", "literal", "area:Code", "an element"),
        (&derived, "op", "name='p' type='t:T'", "literal", "area:Code", "an element"),
        (attribute, "op", "name='p' type='t:T'", "literal", "1st", "an attribute"),
        (array, "op", "name='p' type='t:T:2'", "encoded", "T:2", "a type"),
        ("", "op", "name='a&lt;b' type='xs:int'", "literal", "a<b", "an element"),
        ("", "o p", "name='p' type='xs:int'", "encoded", "o p", "an element"),
    ] {
        let import = rpc(types, name, part, how);
        let expected = format!("{bad:?} is not an XML name (NCName), so no message can contain {what} of that name");
        assert_eq!(why_not(&import).as_deref(), Some(&*expected), "{types} {name} {part}");
        let said = format!("{bad:?} is not an XML name (NCName): it cannot be the name of ");
        let note = import.notes().iter().find(|it| it.text.starts_with(&said)).expect("a note");
        assert!(note.kind == NoteKind::Tolerated && note.position.line > 1, "{note:?}");
    }
    // Messages do not name the types of literal content.
    assert_eq!(why_not(&rpc(array, "op", "name='p' type='t:T:2'", "literal")), None);
    assert_eq!(why_not(&rpc(unused, "op", "name='p' type='xs:int'", "literal")), None, "nobody uses it");
}

#[test]
fn bad_names_are_elements_of_nothing() {
    let types = "<xs:element name='a:b' type='xs:int'/><xs:element name='good' type='xs:int'/>\
        <xs:element name='holds'><xs:complexType><xs:sequence><xs:element ref='t:a:b'/></xs:sequence></xs:complexType></xs:element>";
    let codec = Codec::new(types);
    let declared = codec.import.schemas().elements().filter(|(_, it)| it.is_global && it.name.namespace == "urn:t");
    let kept = declared.filter(|(id, _)| codec.lowered.element(*id).is_some()).map(|(_, it)| &*it.name.local);
    assert_eq!(kept.collect::<Vec<_>>(), ["good"]);
}

#[test]
fn what_xml_schema_does_not_have_is_noted_at_its_place() {
    let text = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:o='urn:o' zzz='1' o:yyy='1' xml:lang='en' version='1'>\n\
                <junk><xs:inner/></junk><o:other a='1'/>\n\
                <xs:element name='e' type='xs:int' minOccur='0' xs:name='f'/>\n\
                <xs:complexType name='T'><xs:sequence>\n<xs:elment name='f'/></xs:sequence></xs:complexType></xs:schema>";
    let import = Importer::new().offline().text(text).expect("a schema");
    let mut notes: Vec<_> = import.notes().iter().map(|note| (note.position.line, &*note.text)).collect();
    notes.sort_unstable();
    let expected = [
        (1, "<schema> has no attribute `zzz`; it is ignored"),
        (2, "<junk>, in no namespace, is not part of XML Schema; it is ignored"),
        (3, "<element> has no attribute `minOccur`; it is ignored"),
        (3, "<element> has no attribute `name`; it is ignored"),
        (5, "XML Schema 1.0 has no <elment>; it is ignored"),
    ];
    assert_eq!(notes, expected);
    assert!(import.notes().iter().all(|note| note.kind == NoteKind::Tolerated));
    let many =
        format!("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>{}</xs:schema>", "<junk/>".repeat(10_000));
    assert_eq!(Importer::new().offline().text(&many).expect("a schema").notes().len(), 100);
}
