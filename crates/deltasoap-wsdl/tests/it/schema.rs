//! Features of XML Schema, read and written through the lowered schema.

use crate::support::{Codec, NS, import, import_schema, refusal, schema};
use deltasoap_core::{QName, Simple, Value};
use deltasoap_wsdl::xsd::{TypeDefinition, Variety};
use deltasoap_wsdl::{ErrorKind, NormalizedContent, NoteKind};

/// A complex type `T` and an element `e` of this type.
fn typed(content: &str, more: &str) -> Codec {
    Codec::new(&format!("<xs:element name='e' type='t:T'/><xs:complexType name='T'>{content}</xs:complexType>{more}"))
}

#[test]
fn sequences_with_occurrence_ranges() {
    let codec = typed(
        "<xs:sequence><xs:element name='a' type='xs:int' minOccurs='0'/>\
         <xs:element name='b' type='xs:string' minOccurs='2' maxOccurs='3'/></xs:sequence>",
        "",
    );
    codec.round_trip("e", "<a>1</a><b>x</b><b>y</b>");
    codec.round_trip("e", "<b>x</b><b>y</b><b/>");
    codec.refuses("e", "<b>x</b>");
    codec.refuses("e", "<b>1</b><b>2</b><b>3</b><b>4</b>");
    codec.refuses("e", "<b>x</b><b>y</b><a>1</a>");
}

#[test]
fn elements_are_qualified_as_the_schema_says() {
    let unqualified = schema(
        "<xs:element name='e'><xs:complexType><xs:sequence><xs:element name='q' type='xs:int'/>\
        <xs:element name='u' type='xs:int' form='unqualified'/></xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of(import(&unqualified).unwrap());
    assert_eq!(codec.round_trip("e", "<q>1</q><u xmlns=''>2</u>").matches("urn:t").count(), 1);
    codec.refuses("e", "<q>1</q><u>2</u>");
}

#[test]
fn choices_and_choices_that_are_repeated() {
    let leaf = "<xs:element name='a' type='xs:int'/><xs:element name='b' type='xs:string'/>";
    let once = typed(&format!("<xs:choice>{leaf}</xs:choice>"), "");
    once.round_trip("e", "<a>1</a>");
    once.round_trip("e", "<b>1</b>");
    once.refuses("e", "<a>1</a><b>2</b>");
    once.refuses("e", "");
    let many = typed(&format!("<xs:choice minOccurs='0' maxOccurs='unbounded'>{leaf}</xs:choice>"), "");
    let starts = |text: &str| text.matches('<').count() - text.matches("</").count();
    for content in ["", "<a>1</a><b>x</b><a>2</a>", "<b/><b/>"] {
        assert_eq!(starts(&many.round_trip("e", content)), starts(content) + 1);
    }
}

#[test]
fn groups_within_groups_keep_their_order() {
    let codec = typed(
        "<xs:sequence><xs:sequence minOccurs='0'><xs:element name='a' type='xs:int'/><xs:element name='b' type='xs:int'/>\
         </xs:sequence><xs:choice><xs:sequence><xs:element name='c' type='xs:int'/><xs:element name='d' type='xs:int'/>\
         </xs:sequence><xs:element name='f' type='xs:int'/></xs:choice>\
         <xs:sequence maxOccurs='unbounded'><xs:element name='k' type='xs:int'/><xs:element name='v' type='xs:int'/>\
         </xs:sequence></xs:sequence>",
        "",
    );
    codec.round_trip("e", "<a>1</a><b>2</b><c>3</c><d>4</d><k>1</k><v>2</v><k>3</k><v>4</v>");
    let written = codec.round_trip("e", "<f>5</f><k>1</k><v>2</v><k>3</k><v>4</v>");
    assert!(written.find(">1</").unwrap() < written.find(">2</").unwrap());
    assert!(written.find(">3</").unwrap() < written.find(">4</").unwrap());
}

#[test]
fn all_groups_come_in_any_order() {
    let codec = typed(
        "<xs:all><xs:element name='a' type='xs:int'/><xs:element name='b' type='xs:int' minOccurs='0'/></xs:all>",
        "",
    );
    codec.round_trip("e", "<a>1</a><b>2</b>");
    codec.round_trip("e", "<b>2</b><a>1</a>");
    codec.refuses("e", "<b>2</b>");
}

#[test]
fn named_groups_and_attribute_groups() {
    let codec = typed(
        "<xs:sequence><xs:group ref='t:G' minOccurs='0'/><xs:element name='z' type='xs:int'/></xs:sequence>\
         <xs:attributeGroup ref='t:A'/>",
        "<xs:group name='G'><xs:sequence><xs:element name='x' type='xs:int'/></xs:sequence></xs:group>\
         <xs:attributeGroup name='A'><xs:attribute name='p' type='xs:int'/><xs:attributeGroup ref='t:B'/>\
         </xs:attributeGroup><xs:attributeGroup name='B'><xs:attribute name='q' use='required'/></xs:attributeGroup>",
    );
    let document = format!("<e xmlns='{NS}' p='1' q='x'><x>1</x><z>2</z></e>");
    let value = codec.read_document("e", &document).unwrap();
    assert!(codec.write("e", &value).contains("p=\"1\" q=\"x\""));
    codec.refuses("e", "<z>2</z>");
}

#[test]
fn extensions_and_restrictions() {
    let codec = Codec::new(
        "<xs:element name='e' type='t:Derived'/><xs:element name='r' type='t:Less'/>\
         <xs:complexType name='Base'><xs:sequence><xs:element name='a' type='xs:int'/>\
         <xs:element name='b' type='xs:int' minOccurs='0'/></xs:sequence>\
         <xs:attribute name='p'/><xs:attribute name='q'/></xs:complexType>\
         <xs:complexType name='Derived'><xs:complexContent><xs:extension base='t:Base'><xs:choice>\
         <xs:element name='c' type='xs:int'/><xs:element name='d' type='xs:int'/></xs:choice><xs:attribute name='s'/>\
         </xs:extension></xs:complexContent></xs:complexType>\
         <xs:complexType name='Less'><xs:complexContent><xs:restriction base='t:Base'><xs:sequence>\
         <xs:element name='a' type='xs:int'/></xs:sequence><xs:attribute name='p' use='prohibited'/>\
         <xs:attribute name='q' use='required'/></xs:restriction></xs:complexContent></xs:complexType>",
    );
    codec.round_trip("e", "<a>1</a><b>2</b><d>3</d>");
    codec.refuses("e", "<c>1</c>");
    let id = codec.import.schemas().type_named(&QName::owned(NS, "Less")).unwrap();
    let normal = codec.import.schemas().content(id).unwrap();
    let names = normal.attributes.iter().map(|it| (&*codec.import.schemas()[it.attribute].name.local, it.is_required));
    assert_eq!(names.collect::<Vec<_>>(), [("q", true)]);
    codec.refuses("r", "<a>1</a><b>2</b>");
}

#[test]
fn simple_content_is_text_with_attributes() {
    let codec = Codec::new(
        "<xs:element name='e' type='t:Price'/><xs:element name='f' type='t:Euro'/>\
         <xs:complexType name='Price'><xs:simpleContent><xs:extension base='xs:decimal'>\
         <xs:attribute name='currency' type='xs:string'/></xs:extension></xs:simpleContent></xs:complexType>\
         <xs:complexType name='Euro'><xs:simpleContent><xs:restriction base='t:Price'><xs:enumeration value='1.50'/>\
         </xs:restriction></xs:simpleContent></xs:complexType>",
    );
    codec.round_trip("f", "1.5");
    codec.refuses("f", "2");
    // Other types are derived from it, so it is a tree.
    codec.round_trip("e", "1.5");
    let id = codec.import.schemas().type_named(&QName::owned(NS, "Euro")).unwrap();
    assert!(matches!(codec.import.schemas().content(id).unwrap().content, NormalizedContent::Text(_)));
}

#[test]
fn simple_types_restrict_list_and_unite() {
    let codec = Codec::new(
        "<xs:element name='color' type='t:Color'/><xs:element name='numbers' type='t:Numbers'/>\
         <xs:element name='either' type='t:Either'/>\
         <xs:simpleType name='Color'><xs:restriction base='xs:token'><xs:enumeration value='red'>\
         <xs:annotation><xs:documentation>like blood</xs:documentation></xs:annotation></xs:enumeration>\
         <xs:enumeration value='blue'/></xs:restriction></xs:simpleType>\
         <xs:simpleType name='Numbers'><xs:list itemType='xs:int'/></xs:simpleType>\
         <xs:simpleType name='Either'><xs:union memberTypes='xs:int t:Color'><xs:simpleType>\
         <xs:restriction base='xs:date'/></xs:simpleType></xs:union></xs:simpleType>",
    );
    codec.round_trip("color", "red");
    codec.refuses("color", "green");
    let Value::Simple(numbers) = codec.read("numbers", " 1  2 3").unwrap() else { panic!("simple") };
    assert_eq!(numbers.to_string(), "1 2 3");
    assert_eq!(codec.read("either", "7").unwrap(), Value::Simple(Simple::Int(7)));
    codec.round_trip("either", "blue");
    codec.round_trip("either", "2020-02-29");
    codec.refuses("either", "2020-02-30");
    let schemas = codec.import.schemas();
    let color = &schemas[schemas.type_named(&QName::owned(NS, "Color")).unwrap()];
    let TypeDefinition::Simple(color) = &color.definition else { panic!("simple") };
    let red = &color.facets.as_ref().unwrap().enumeration[0];
    assert_eq!((&*red.value, red.documentation.as_deref()), ("red", Some("like blood")));
    let numbers = schemas.type_named(&QName::owned(NS, "Numbers")).unwrap();
    assert!(matches!(schemas.variety(numbers), Some(Variety::List(_))));
}

#[test]
fn every_facet_is_kept() {
    let import = import_schema(
        "<xs:simpleType name='S'><xs:restriction base='xs:decimal'><xs:totalDigits value='5'/>\
         <xs:fractionDigits value='2'/><xs:minInclusive value='-1'/><xs:maxExclusive value='9'/>\
         <xs:pattern value='[0-9]*'/><xs:pattern value='x|y'/></xs:restriction></xs:simpleType>\
         <xs:simpleType name='L'><xs:restriction base='xs:string'><xs:length value='3'/><xs:minLength value='1'/>\
         <xs:maxLength value='4'/><xs:whiteSpace value='collapse'/></xs:restriction></xs:simpleType>",
    );
    let facets = |local: &str| {
        let id = import.schemas().type_named(&QName::owned(NS, local)).unwrap();
        match &import.schemas()[id].definition {
            TypeDefinition::Simple(simple) => simple.facets.clone().unwrap(),
            TypeDefinition::Complex(_) => panic!("simple"),
        }
    };
    let decimal = facets("S");
    assert_eq!((decimal.total_digits, decimal.fraction_digits), (Some(5), Some(2)));
    assert_eq!((decimal.min_inclusive.as_deref(), decimal.max_exclusive.as_deref()), (Some("-1"), Some("9")));
    assert_eq!(decimal.patterns.len(), 2);
    let length = facets("L");
    assert_eq!((length.length, length.min_length, length.max_length), (Some(3), Some(1), Some(4)));
    assert!(length.white_space.is_some());
}

#[test]
fn substitution_groups_are_choices() {
    let codec = typed(
        "<xs:sequence><xs:element ref='t:shape' maxOccurs='unbounded'/></xs:sequence>",
        "<xs:element name='shape' type='xs:int' abstract='true'/><xs:element name='circle' substitutionGroup='t:shape'/>\
         <xs:element name='disc' substitutionGroup='t:circle'/>",
    );
    codec.round_trip("e", "<circle>1</circle><disc>2</disc><circle>3</circle>");
    codec.refuses("e", "<shape>1</shape>");
    codec.refuses("e", "<circle>x</circle>");
}

#[test]
fn heads_that_block_substitutes_stand_alone() {
    let codec = typed(
        "<xs:sequence><xs:element ref='t:shape' maxOccurs='unbounded'/></xs:sequence>",
        "<xs:element name='shape' type='xs:int'/><xs:element name='disc' substitutionGroup='t:circle'/>\
         <xs:element name='circle' substitutionGroup='t:shape' block='substitution'/>",
    );
    codec.round_trip("e", "<shape>1</shape><disc>2</disc><circle>3</circle>");
    let codec = typed(
        "<xs:sequence><xs:element ref='t:shape' maxOccurs='unbounded'/></xs:sequence>",
        "<xs:element name='shape' type='xs:int' block='substitution'/><xs:element name='circle' substitutionGroup='t:shape'/>",
    );
    codec.round_trip("e", "<shape>1</shape>");
    codec.refuses("e", "<circle>1</circle>");
}

#[test]
fn messages_choose_among_derived_types() {
    let codec = typed(
        "<xs:sequence><xs:element name='animal' type='t:Animal'/></xs:sequence>",
        "<xs:complexType name='Animal' abstract='true'><xs:sequence><xs:element name='name' type='xs:string'/>\
         </xs:sequence></xs:complexType><xs:complexType name='Dog'><xs:complexContent><xs:extension base='t:Animal'>\
         <xs:sequence><xs:element name='breed' type='xs:string'/></xs:sequence></xs:extension></xs:complexContent>\
         </xs:complexType>",
    );
    let xsi = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'";
    let written =
        codec.round_trip("e", &format!("<animal {xsi} xsi:type='t:Dog'><name>x</name><breed>y</breed></animal>"));
    assert!(written.contains("Dog") && written.contains("breed"), "{written}");
    assert_eq!(codec.lowered.notes, Vec::<String>::new());
}

#[test]
fn nil_stands_for_content() {
    let codec = typed("<xs:sequence><xs:element name='a' type='xs:int' nillable='true'/></xs:sequence>", "");
    let nil = "<a xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true'/>";
    assert!(codec.round_trip("e", nil).contains("nil=\"true\""));
    codec.round_trip("e", "<a>1</a>");
}

#[test]
fn mixed_content_is_a_tree() {
    let codec = Codec::new(
        "<xs:element name='e'><xs:complexType mixed='true'><xs:sequence><xs:element name='b' type='xs:string'/>\
         </xs:sequence></xs:complexType></xs:element>",
    );
    assert!(codec.round_trip("e", "some <b>bold</b> words").contains("some "));
}

#[test]
fn wildcards_keep_trees() {
    let codec = typed(
        "<xs:sequence><xs:element name='a' type='xs:int'/><xs:any namespace='##other' minOccurs='0' \
         maxOccurs='unbounded'/></xs:sequence><xs:anyAttribute/>",
        "",
    );
    let written = codec.round_trip("e", "<a>1</a><x xmlns='urn:x'>y</x>");
    assert!(written.contains(">y</"), "{written}");
    for content in ["<x xmlns='urn:x'>y</x>", "<a>1</a><z/>", "<a>1</a><a>2</a>", "<a>1</a><x xmlns=''/>"] {
        codec.refuses("e", content);
    }
    let listed = typed("<xs:sequence><xs:any namespace='urn:x ##local' maxOccurs='2'/></xs:sequence>", "");
    listed.round_trip("e", "<x xmlns='urn:x'/><x xmlns=''/>");
    listed.refuses("e", "<x xmlns='urn:y'/>");
    let choice =
        typed("<xs:choice maxOccurs='unbounded'><xs:element name='a' type='xs:int'/><xs:any/></xs:choice>", "");
    choice.round_trip("e", "<a>1</a><x xmlns='urn:x'/><a>2</a>");
    choice.refuses("e", "<a>x</a>");
}

#[test]
fn recursive_types_are_read_at_any_depth() {
    let codec = typed(
        "<xs:sequence><xs:element name='v' type='xs:int'/><xs:element name='next' type='t:T' minOccurs='0'/></xs:sequence>",
        "",
    );
    codec.round_trip("e", "<v>1</v><next><v>2</v><next><v>3</v></next></next>");
}

#[test]
fn defaults_and_fixed_values_are_kept() {
    let import = import_schema("<xs:element name='d' type='xs:int' default='7'/><xs:element name='f' fixed=' x '/>");
    let element = |local: &str| &import.schemas()[import.schemas().element_named(&QName::owned(NS, local)).unwrap()];
    assert_eq!(element("d").default.as_deref(), Some("7"));
    assert_eq!(element("f").fixed.as_deref(), Some(" x "));
}

#[test]
fn documentation_is_kept() {
    let import = import_schema(
        "<xs:element name='d'><xs:annotation><xs:documentation>First <b>bold</b>.</xs:documentation>\
         <xs:documentation>Second.</xs:documentation></xs:annotation></xs:element>",
    );
    let id = import.schemas().element_named(&QName::owned(NS, "d")).unwrap();
    assert_eq!(import.schemas()[id].documentation.as_deref(), Some("First bold.\nSecond."));
}

#[test]
fn references_to_nothing_are_notes_and_where_strict_errors() {
    let text = schema("<xs:element name='e' type='t:Missing'/>");
    let import = import(&text).unwrap();
    assert_eq!(import.notes().len(), 1);
    assert_eq!(import.notes()[0].kind, NoteKind::Missing);
    let error = deltasoap_wsdl::Importer::new().offline().strict().text(&text).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Undefined { what: "type", .. }), "{error}");
}

#[test]
fn occurrences_are_numbers_in_all_their_forms() {
    let codec =
        |occurs: &str| typed(&format!("<xs:sequence><xs:element name='x' type='xs:int' {occurs}/></xs:sequence>"), "");
    let few = codec("minOccurs='+0' maxOccurs=' +02 '");
    few.round_trip("e", "");
    few.round_trip("e", "<x>1</x><x>2</x>");
    few.refuses("e", "<x>1</x><x>2</x><x>3</x>");
    codec("minOccurs='-0' maxOccurs=' unbounded '").round_trip("e", "<x>1</x><x>2</x><x>3</x>");
    assert!(
        refusal("<xs:element name='e'><xs:complexType><xs:sequence minOccurs='+'/></xs:complexType></xs:element>")
            .contains("not a number")
    );
}

#[test]
fn faults_of_schemas_are_found_with_line_and_column() {
    let cases = [
        (
            "<xs:complexType name='T'>\n <xs:complexContent><xs:extension/></xs:complexContent></xs:complexType>",
            ":3:21: a derivation without a base",
        ),
        ("<xs:element name='a'/>\n<xs:element name='a' type='xs:int'/>", ":3:1: element {urn:t}a is defined twice"),
        ("<xs:element type='xs:int'/>", "a global <element> without a name"),
        ("<xs:element name='a' type=''/>", "`type=\"\"` contains no name"),
        ("<xs:simpleType name='a'/>", "without `restriction`, `list` or `union`"),
        ("<xs:simpleType name='a'><xs:restriction base='t:a'/></xs:simpleType>", "derived from itself"),
        (
            "<xs:complexType name='T'><xs:sequence><xs:element name='x' minOccurs='2'/></xs:sequence></xs:complexType>",
            "`minOccurs` is greater than `maxOccurs`",
        ),
        (
            "<xs:complexType name='T'><xs:sequence><xs:element name='x' maxOccurs='-1'/></xs:sequence></xs:complexType>",
            "`maxOccurs=\"-1\"` is not a number",
        ),
        (
            "<xs:element name='a' substitutionGroup='t:b'/><xs:element name='b' substitutionGroup='t:a'/>",
            "itself as its head",
        ),
        (
            "<xs:simpleType name='a'><xs:restriction base='xs:int'><xs:length value='x'/></xs:restriction></xs:simpleType>",
            "`x` is not a number for <length>",
        ),
    ];
    for (content, expected) in cases {
        let message = refusal(content);
        assert!(message.contains(expected), "{content}: {message}");
    }
}

#[test]
fn what_stands_twice_and_is_passed_over_is_noted() {
    let model = |local: &str| format!("<xs:{local}><xs:element name='{local}' type='xs:int'/></xs:{local}>");
    let (sequence, choice) = (model("sequence"), model("choice"));
    let simple = "<xs:simpleType><xs:restriction base='xs:int'/></xs:simpleType>";
    let complex = format!("<xs:complexType>{sequence}</xs:complexType>");
    let attributes = "<xs:attribute name='a' type='xs:int'/><xs:attribute name='b'/>";
    let derived = "<xs:complexContent><xs:extension base='xs:anyType'/></xs:complexContent>";
    let again = "<xs:attribute name='a' type='xs:date'/>";
    let (e, length) = ("<xs:element name='e' type='xs:int'/>", "<xs:length value='1'/>");
    let by = |content: &str, by: &str, own: &str| {
        let base = if content == "simpleContent" { "t:S" } else { "t:C" };
        format!(
            "<xs:complexType name='T'><xs:{content}><xs:{by} base='{base}'>{own}</xs:{by}></xs:{content}></xs:complexType>\
             <xs:complexType name='S'><xs:simpleContent><xs:extension base='xs:string'/></xs:simpleContent></xs:complexType>\
             <xs:complexType name='C'/>"
        )
    };
    for (content, said) in [
        (format!("<xs:complexType name='T'>{sequence}{choice}</xs:complexType>"), Some("<choice> is ignored")),
        (format!("<xs:complexType name='T'>{sequence}{derived}</xs:complexType>"), Some("<sequence> is ignored")),
        (format!("<xs:complexType name='T'>{sequence}{attributes}</xs:complexType>"), None),
        (
            format!("<xs:complexType name='T'>{attributes}{again}</xs:complexType>"),
            Some("attribute `a` occurs twice in <complexType>; the first counts"),
        ),
        (
            format!("<xs:complexType name='T'>{attributes}<xs:attribute name='a' form='qualified'/></xs:complexType>"),
            None,
        ),
        (
            format!("<xs:attributeGroup name='G'>{attributes}{again}</xs:attributeGroup>"),
            Some("attribute `a` occurs twice in <attributeGroup>; the first counts"),
        ),
        (
            format!("<xs:element name='e' type='xs:int'>{complex}</xs:element>"),
            Some("`type` of <element> counts; the <complexType> in it is ignored"),
        ),
        (
            format!("<xs:element name='e'>{complex}{simple}</xs:element>"),
            Some("another type of <element> counts; the <complexType> in it is ignored"),
        ),
        (
            format!("<xs:attribute name='a' type='xs:int'>{simple}</xs:attribute>"),
            Some("`type` of <attribute> counts; the <simpleType> in it is ignored"),
        ),
        (
            format!("<xs:complexType name='T'>{e}</xs:complexType>"),
            Some("<element> is not allowed in <complexType>; it is ignored"),
        ),
        (
            by("simpleContent", "extension", &sequence),
            Some("<sequence> is not allowed in <extension> of <simpleContent>; it is ignored"),
        ),
        (by("complexContent", "extension", e), Some("<element> is not allowed in <extension> of <complexContent>")),
        (
            by("complexContent", "restriction", length),
            Some("<length> is not allowed in <restriction> of <complexContent>"),
        ),
        (by("simpleContent", "restriction", &format!("{simple}{length}{attributes}")), None),
        (by("simpleContent", "extension", attributes), None),
        (by("complexContent", "extension", &format!("{sequence}{attributes}")), None),
        (
            format!("<xs:complexType name='T'>{derived}<xs:attribute name='a'/></xs:complexType>"),
            Some("<attribute> is not allowed in <complexType>; it is ignored"),
        ),
        (
            format!("<xs:complexType name='T'><xs:sequence>{e}<xs:attribute name='a'/></xs:sequence></xs:complexType>"),
            Some("<attribute> is not allowed in <sequence>"),
        ),
        (
            format!(
                "<xs:complexType name='T'><xs:simpleContent>{sequence}<xs:extension base='xs:int'/></xs:simpleContent></xs:complexType>"
            ),
            Some("<simpleContent> has another content model, which counts; <sequence> is ignored"),
        ),
        (format!("<xs:element name='e'>{length}</xs:element>"), Some("<length> is not allowed in <element>")),
        (format!("<xs:element name='e'>{complex}</xs:element>"), None),
        (format!("<xs:element name='e'>{simple}</xs:element>"), None),
    ] {
        let import = import_schema(&content);
        let notes: Vec<_> = import.notes().iter().map(|note| (note.kind, &*note.text)).collect();
        match said {
            None => assert!(notes.is_empty(), "{content}: {notes:?}"),
            Some(said) => assert!(
                matches!(notes[..], [(NoteKind::Tolerated, text)] if text.contains(said)),
                "{content}: {notes:?}"
            ),
        }
    }
}
