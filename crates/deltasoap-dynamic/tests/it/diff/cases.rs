//! Single changes with what they are called, and what the checker does not know.

use super::{contract, proved};
use crate::support::SHOP;
use deltasoap_dynamic::Contract;
use deltasoap_dynamic::diff::{Change, Diff};

/// Returns a WSDL of an operation whose request is the element `Op`. The schema is for `urn:t`,
/// qualified.
pub(super) fn wsdl(schema: &str) -> String {
    let soap = "http://schemas.xmlsoap.org/wsdl/soap/";
    format!(
        "<definitions targetNamespace='urn:t' xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:t='urn:t' xmlns:soap='{soap}' \
         xmlns:xs='http://www.w3.org/2001/XMLSchema'><types><xs:schema targetNamespace='urn:t' \
         elementFormDefault='qualified'>{schema}</xs:schema></types><message name='In'><part name='p' element='t:Op'/></message>\
         <portType name='P'><operation name='Op'><input message='t:In'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='Op'>\
         <soap:operation soapAction=''/><input><soap:body use='literal'/></input></operation></binding>\
         <service name='S'><port name='Main' binding='t:B'><soap:address location='http://localhost/'/></port></service></definitions>"
    )
}

/// Returns the changes between two schemas with an element `Op`, each as `path: change, clients,
/// servers`.
fn between(old: &str, new: &str) -> Vec<String> {
    changes(&wsdl(old), &wsdl(new))
}

fn changes(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (contract(old), contract(new));
    let diff = old.diff(&new);
    proved(&diff, &old, &new, &format!("{diff:#?}"));
    diff.changes.iter().map(line).collect()
}

fn line(change: &Change) -> String {
    let Change { place, what, clients, servers, .. } = change;
    format!("{}: {what}, {clients}, {servers}", place.path)
}

/// Returns a schema whose element `Op` has this content.
pub(super) fn op(content: &str) -> String {
    format!("<xs:element name='Op'><xs:complexType>{content}</xs:complexType></xs:element>")
}

fn sequence(content: &str) -> String {
    op(&format!("<xs:sequence>{content}</xs:sequence>"))
}

#[test]
fn changes_are_named_by_what_is_different() {
    let a = "<xs:element name='a' type='xs:string'/>";
    let optional = "<xs:element name='b' type='xs:string' minOccurs='0'/>";
    for (old, new, expected) in [
        (a.to_owned(), format!("{a}{optional}"), "Op/b: added, optional, safe, breaking"),
        (format!("{a}{optional}"), a.to_owned(), "Op/b: removed, breaking, safe"),
        (optional.to_owned(), optional.replace(" minOccurs='0'", ""), "Op/b: optional → required, breaking, safe"),
        (
            optional.to_owned(),
            optional.replace("'0'", "'0' maxOccurs='unbounded'"),
            "Op/b: occurs 0..1 → 0..*, safe, breaking",
        ),
        (a.to_owned(), a.replace("xs:string", "xs:int"), "Op/a: xsd:string → xsd:int, breaking, safe"),
        (a.to_owned(), a.replace("/>", " nillable='true'/>"), "Op/a: nil not allowed → allowed, safe, breaking"),
        (a.to_owned(), a.replace("/>", " fixed='x'/>"), "Op/a: fixed value \"x\" added, breaking, safe"),
        (a.to_owned(), a.replace("/>", " default='x'/>"), "Op/a: default \"x\" added, unknown, unknown"),
    ] {
        assert_eq!(between(&sequence(&old), &sequence(&new)), [expected], "{old} {new}");
    }
}

#[test]
fn facets_are_named_alone() {
    let of = |facets: &str| {
        sequence(&format!(
            "<xs:element name='a'><xs:simpleType><xs:restriction base='xs:string'>{facets}</xs:restriction></xs:simpleType></xs:element>"
        ))
    };
    let values = |values: &str| values.chars().map(|it| format!("<xs:enumeration value='{it}'/>")).collect::<String>();
    let lengths = "<xs:minLength value='2'/>";
    for (old, new, expected) in [
        (values("AB"), values("BC"), "Op/a: values removed: \"A\"; values added: \"C\", breaking, breaking"),
        (values("AB"), values("BA"), ""),
        (String::new(), values("A"), "Op/a: only the values \"A\", breaking, safe"),
        (lengths.to_owned(), String::new(), "Op/a: length at least 2 removed, safe, breaking"),
        (lengths.to_owned(), lengths.replace('2', "3"), "Op/a: length at least 2 → length at least 3, breaking, safe"),
        (
            "<xs:pattern value='[a-c]+'/>".to_owned(),
            "<xs:pattern value='[a-d]+'/>".to_owned(),
            "Op/a: pattern [a-c]+ → pattern [a-d]+, unknown, breaking",
        ),
    ] {
        let expected: Vec<_> = Some(expected).filter(|it| !it.is_empty()).into_iter().collect();
        assert_eq!(between(&of(&old), &of(&new)), expected, "{old} {new}");
    }
}

#[test]
fn whole_types_are_compared_by_what_they_hold() {
    let text = op("<xs:simpleContent><xs:extension base='xs:string'/></xs:simpleContent>");
    let elements = sequence("<xs:element name='a' type='xs:string'/>");
    assert_eq!(between(&text, &elements), ["Op: text (xsd:string) → elements, breaking, breaking"]);
    // A type of its own, a type with a name, and a simple type are the same to a reader.
    assert_eq!(between(&text, "<xs:element name='Op' type='xs:string'/>"), [""; 0]);
    let named = "<xs:element name='Op' type='t:T'/><xs:complexType name='T'><xs:sequence><xs:element name='a' \
                 type='xs:string'/></xs:sequence></xs:complexType>";
    assert_eq!(between(&elements, named), [""; 0]);
    let any = "<xs:element name='Op' type='xs:anyType'/>";
    assert_eq!(between(any, any), [""; 0]);
    let found = between(any, &elements);
    assert!(found.iter().any(|it| it.ends_with("breaking, safe")), "{found:?}");
}

#[test]
fn order_and_choices_are_compared_as_languages() {
    let [a, b, c] = ["a", "b", "c"].map(|name| format!("<xs:element name='{name}' type='xs:int'/>"));
    let choice = |content: &str| format!("<xs:choice>{content}</xs:choice>");
    let sequence = |content: &str| format!("<xs:sequence>{content}</xs:sequence>");
    let optional = |it: &str| it.replace("/>", " minOccurs='0'/>");
    for (old, new, expected) in [
        (sequence(&format!("{a}{b}")), sequence(&format!("{b}{a}")), "Op: content (a, b) → (b, a), breaking, breaking"),
        (
            choice(&format!("{a}{b}")),
            sequence(&format!("{}{}", optional(&a), optional(&b))),
            "Op: content (a | b) → (a?, b?), safe, breaking",
        ),
        (
            format!("<xs:all>{a}{b}</xs:all>"),
            sequence(&format!("{a}{b}")),
            "Op: content (a & b) → (a, b), breaking, safe",
        ),
        // Written otherwise, but the same.
        (format!("<xs:all>{a}{b}</xs:all>"), format!("<xs:all>{b}{a}</xs:all>"), ""),
        (choice(&format!("{a}{b}")), choice(&format!("{b}{a}")), ""),
        (
            choice(&format!("{}{}", sequence(&format!("{a}{c}")), sequence(&format!("{b}{c}")))),
            sequence(&format!("{}{c}", choice(&format!("{a}{b}")))),
            "",
        ),
        (
            sequence(&a.replace("/>", " maxOccurs='3'/>")),
            sequence(&format!("{}{}", a, "")).replace("<xs:sequence>", "<xs:sequence maxOccurs='3'>"),
            "",
        ),
    ] {
        let expected: Vec<_> = Some(expected).filter(|it| !it.is_empty()).into_iter().collect();
        assert_eq!(between(&op(&old), &op(&new)), expected, "{old} {new}");
    }
}

#[test]
fn large_numbers_of_elements_need_no_large_models() {
    let of = |max: &str| sequence(&format!("<xs:element name='a' type='xs:int' maxOccurs='{max}'/>"));
    assert_eq!(between(&of("1500"), &of("1499")), ["Op/a: occurs 1..1500 → 1..1499, breaking, safe"]);
    assert_eq!(
        between(&of("2000000000"), &of("1000000000")),
        ["Op/a: occurs 1..2000000000 → 1..1000000000, unknown, safe"]
    );
}

#[test]
fn derived_types_and_substitutes_count_by_name() {
    let of = |derived: &str| {
        sequence("<xs:element name='a' type='t:Base'/>")
            + "<xs:complexType name='Base'><xs:sequence/></xs:complexType>"
            + &format!(
                "<xs:complexType name='{derived}'><xs:complexContent><xs:extension base='t:Base'><xs:sequence>\
                 <xs:element name='x' type='xs:int'/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>"
            )
    };
    let mut found = between(&of("One"), &of("Two"));
    found.sort();
    assert_eq!(found, ["Op/a: type One no longer allowed, breaking, safe", "Op/a: type Two added, safe, breaking"]);
    let changed = of("One").replace("type='xs:int'", "type='xs:long'");
    assert_eq!(between(&of("One"), &changed), ["Op/a/x: xsd:int → xsd:long, safe, breaking"]);
    let group = |members: &str| {
        let members = members
            .split(' ')
            .map(|name| format!("<xs:element name='{name}' type='xs:string' substitutionGroup='t:head'/>"));
        sequence("<xs:element ref='t:head'/>")
            + "<xs:element name='head' type='xs:string' abstract='true'/>"
            + &members.collect::<String>()
    };
    assert_eq!(between(&group("x"), &group("x y")), ["Op/y: added, optional, safe, breaking"]);
}

#[test]
fn wildcards_are_compared_by_namespace_and_by_what_they_require() {
    let of = |attributes: &str| sequence(&format!("<xs:any minOccurs='0' {attributes}/>"));
    for (old, new, expected) in [
        ("namespace='##other'", "namespace='##any'", "safe, breaking"),
        ("processContents='lax'", "processContents='strict'", "breaking, safe"),
        ("processContents='skip'", "processContents='lax'", "unknown, safe"),
        ("maxOccurs='2'", "maxOccurs='3'", "safe, breaking"),
    ] {
        let found = between(&of(old), &of(new));
        assert!(found.len() == 1 && found[0].ends_with(expected), "{old} {new}: {found:?}");
    }
    let attribute = |rest: &str| op(&format!("<xs:sequence/><xs:anyAttribute {rest}/>"));
    let found = between(&op("<xs:sequence/>"), &attribute("processContents='lax'"));
    assert_eq!(found, ["Op: other attributes, safe, breaking"]);
}

#[test]
fn what_only_wildcards_allow_is_compared() {
    let of = |process: &str, rest: &str| sequence(&format!("<xs:any processContents='{process}'/>")) + rest;
    let note = |text: &str| format!("<xs:element name='Note' type='{text}'/>");
    let nested = |text: &str| {
        format!(
            "<xs:element name='Note'><xs:complexType><xs:sequence><xs:element name='a' type='{text}'/></xs:sequence>\
             </xs:complexType></xs:element>"
        )
    };
    for process in ["strict", "lax"] {
        let found = between(&of(process, &note("xs:int")), &of(process, &note("xs:short")));
        assert_eq!(found, ["Op/Note: xsd:int → xsd:short, breaking, safe"], "{process}");
        let found = between(&of(process, &nested("xs:short")), &of(process, &nested("xs:int")));
        assert_eq!(found, ["Op/Note/a: xsd:short → xsd:int, safe, breaking"], "{process}");
    }
    assert_eq!(between(&of("skip", &note("xs:int")), &of("skip", &note("xs:short"))), [""; 0]);
    // A strict wildcard needs the declaration.
    let found = between(&of("strict", &note("xs:int")), &of("strict", ""));
    assert_eq!(found, ["Op/Note: no longer declared, breaking, safe"]);
    assert_eq!(between(&of("lax", &note("xs:int")), &of("lax", "")), [""; 0]);
}

#[test]
fn what_only_any_type_allows_is_compared() {
    let of = |rest: &str| sequence("<xs:element name='value' type='xs:anyType'/>") + rest;
    let complex = |text: &str| {
        of(&format!(
            "<xs:complexType name='Inner'><xs:sequence><xs:element name='a' type='{text}'/></xs:sequence></xs:complexType>"
        ))
    };
    let found = between(&complex("xs:int"), &complex("xs:short"));
    assert_eq!(found, ["Op/value/a: xsd:int → xsd:short, breaking, safe"]);
    let simple = |most: u32| {
        let facet = format!("<xs:maxLength value='{most}'/>");
        of(&format!(
            "<xs:simpleType name='Code'><xs:restriction base='xs:string'>{facet}</xs:restriction></xs:simpleType>"
        ))
    };
    let found = between(&simple(3), &simple(4));
    assert!(found.len() == 1 && found[0].ends_with("safe, breaking"), "{found:?}");
    let found = between(&complex("xs:int"), &of(""));
    assert!(found.len() == 1 && found[0].ends_with("breaking, safe"), "{found:?}");
}

/// The cases are by a reader of the comparison, who found them missing.
#[test]
fn ways_through_wildcards_are_not_mistaken_for_others() {
    let any = "<xs:any processContents='lax'/>";
    let op = |content: &str, rest: &str| sequence(content) + rest;
    let note = |text: &str| format!("<xs:element name='Note' type='{text}'/>");
    let value = |block: &str| format!("<xs:element name='value' type='xs:anyType' {block}/>");
    let inner = |name: &str, text: &str| {
        let a = format!("<xs:sequence><xs:element name='a' type='{text}'/></xs:sequence>");
        format!("<xs:complexType name='{name}'>{a}</xs:complexType>")
    };
    let r = |name: &str| format!("<xs:element name='r' type='t:{name}'/>");
    let any_attribute =
        |process: &str| self::op(&format!("<xs:sequence/><xs:anyAttribute processContents='{process}'/>"));
    let g = |text: &str| format!("<xs:attribute name='g' type='{text}'/>");
    for (old, new, expected) in [
        // A type is in the message anyway, but its name is not.
        (
            op(&(r("T") + &value("")), &inner("T", "xs:int")),
            op(&(r("T2") + &value("")), &inner("T2", "xs:int")),
            &["Op/value: type T no longer allowed, breaking, safe", "Op/value: type T2 added, safe, breaking"][..],
        ),
        // An element in `xsd:anyType`.
        (
            op(&value(""), &note("xs:int")),
            op(&value(""), &note("xs:short")),
            &["Op/value/Note: xsd:int → xsd:short, breaking, safe"][..],
        ),
        (
            any_attribute("lax") + &g("xs:int"),
            any_attribute("lax") + &g("xs:short"),
            &["Op/@g: xsd:int → xsd:short, breaking, safe"][..],
        ),
        (
            any_attribute("strict") + &g("xs:int"),
            any_attribute("strict"),
            &["Op/@g: no longer declared, breaking, safe"][..],
        ),
        (
            op(any, &note("xs:int")),
            op(any, &note("xs:int").replace("/>", " abstract='true'/>")),
            &["Op/Note: allowed in one of the two, breaking, safe"][..],
        ),
        (
            op(&value(""), &inner("T", "xs:int")),
            op(&value("block='extension restriction'"), &inner("T", "xs:int")),
            &["Op/value: type T allowed in one of the two, breaking, safe"][..],
        ),
        // Two elements of the same built-in type are two places.
        (
            op("<xs:element name='q' type='xs:int'/><xs:element name='r' type='xs:int'/>", ""),
            op("<xs:element name='q' type='xs:short'/><xs:element name='r' type='xs:short'/>", ""),
            &["Op/q: xsd:int → xsd:short, breaking, safe"][..],
        ),
    ] {
        assert_eq!(between(&old, &new), expected);
    }
    let two = |text: &str| op(&format!("<xs:element name='q' type='{text}'/><xs:element name='r' type='{text}'/>"), "");
    let diff = contract(&wsdl(&two("xs:int"))).diff(&contract(&wsdl(&two("xs:short"))));
    assert_eq!(diff.changes[0].others.iter().map(|place| &*place.path).collect::<Vec<_>>(), ["Op/r"]);
}

#[test]
fn what_messages_have_anyway_is_not_listed_for_wildcards() {
    let of = |text: &str| {
        let inner = format!("<xs:element name='a' type='{text}'/><xs:any minOccurs='0' processContents='lax'/>");
        sequence(&inner)
    };
    assert_eq!(between(&of("xs:int"), &of("xs:short")), ["Op/a: xsd:int → xsd:short, breaking, safe"]);
}

#[test]
fn constraints_are_not_compared() {
    let of = |key: &str| {
        format!(
            "<xs:element name='Op'><xs:complexType><xs:sequence><xs:element name='a' type='xs:int' maxOccurs='9'/></xs:sequence>\
             </xs:complexType>{key}</xs:element>"
        )
    };
    let key = "<xs:unique name='u'><xs:selector xpath='t:a'/><xs:field xpath='.'/></xs:unique>";
    assert_eq!(between(&of(""), &of(key)), ["Op: identity constraints, unknown, safe"]);
    assert_eq!(between(&of(key), &of(&key.replace("'u'", "'v'"))), [""; 0]);
}

#[test]
fn recursive_types_end() {
    let of = |text: &str| {
        format!(
            "<xs:element name='Op' type='t:T'/><xs:complexType name='T'><xs:sequence><xs:element name='a' type='{text}'/>\
             <xs:element name='t' type='t:T' minOccurs='0' maxOccurs='unbounded'/></xs:sequence></xs:complexType>"
        )
    };
    assert_eq!(between(&of("xs:int"), &of("xs:short")), ["Op/a: xsd:int → xsd:short, breaking, safe"]);
}

#[test]
fn one_change_of_a_shared_type_is_listed_once_for_each_sender() {
    let new = SHOP.replace("<xs:maxLength value=\"12\"/>", "");
    let diff = contract(SHOP).diff(&contract(&new));
    let places: Vec<_> = diff.changes.iter().map(|it| it.place.to_string()).collect();
    assert_eq!(places, ["Order request Order/item/code", "Order fault SoldOut SoldOut/code"]);
    assert!(diff.changes[1].clients.is_breaking() && !diff.changes[1].servers.is_breaking());
}

#[test]
fn what_wsdls_say_around_their_messages_is_compared() {
    for (from, to, expected) in [
        ("http://localhost:8080/shop", "http://localhost:8081/shop", "address"),
        ("<soap:header message=\"tns:SessionHeader\" part=\"session\" use=\"literal\"/>", "", "removed"),
        (
            "soapAction=\"urn:shop#Ping\"",
            "soapAction=\"urn:shop#Pong\"",
            "SOAPAction \"urn:shop#Ping\" → \"urn:shop#Pong\"",
        ),
        ("style=\"document\"", "style=\"rpc\"", "document/literal → rpc/literal"),
        ("<fault name=\"SoldOut\" message=\"tns:SoldOutFault\"/>", "", "removed"),
        ("<output message=\"tns:CatalogueOut\"/>", "", "removed"),
        (
            "<xs:element name=\"token\" type=\"xs:string\"/>",
            "<xs:element name=\"token\" type=\"xs:int\"/>",
            "xsd:string → xsd:int",
        ),
    ] {
        assert!(SHOP.contains(from), "{from}");
        let (old, new) = (contract(SHOP), contract(&SHOP.replace(from, to)));
        let diff = old.diff(&new);
        assert!(!diff.changes.is_empty(), "{from}");
        proved(&diff, &old, &new, from);
        let has_it = |change: &Change| change.what.starts_with(expected);
        assert!(diff.changes.iter().all(has_it), "{from}: {diff:#?}");
        let reverse = new.diff(&old);
        assert_eq!(reverse.changes.len(), diff.changes.len(), "{from}: {reverse:#?}");
    }
}

#[test]
fn an_action_is_shown_by_an_http_request() {
    let new = SHOP.replace("urn:shop#Ping", "urn:shop#Pong");
    let diff = contract(SHOP).diff(&contract(&new));
    let witness = diff.changes[0].clients.witness().expect("a message");
    assert!(witness.is_http() && witness.message.contains("SOAPAction: \"urn:shop#Ping\"\r\n"), "{}", witness.message);
    assert!(witness.message.starts_with("POST /shop HTTP/1.1\r\nHost: localhost:8080\r\n"), "{}", witness.message);
}

#[test]
fn ports_are_paired_by_what_messages_show() {
    let [old, new] =
        [SHOP.to_owned(), SHOP.replace("<port name=\"Soap11\"", "<port name=\"Main\"")].map(|it| contract(&it));
    assert_eq!(old.diff(&new).changes, []);
    let only_11 = SHOP.replace(
        "<port name=\"Soap12\" binding=\"tns:Shop12\"><soap12:address location=\"http://localhost:8080/shop\"/></port>",
        "",
    );
    let start = only_11.find("<binding name=\"Shop12\"").expect("a binding");
    let end = only_11.find("<service").expect("a service");
    let only_11 = [&only_11[..start], &only_11[end..]].concat();
    assert_eq!(changes(SHOP, &only_11), [": port removed, breaking, safe"]);
    assert_eq!(changes(&only_11, SHOP), [": port added, safe, breaking"]);
}

#[test]
fn rpc_messages_are_compared_part_by_part() {
    let of = |parts: &str, encoding: &str| {
        wsdl("")
            .replace("<part name='p' element='t:Op'/>", parts)
            .replace("use='literal'", &format!("use='{encoding}' namespace='urn:t'"))
            .replace("<soap:binding ", "<soap:binding style='rpc' ")
    };
    let (a, b) = ("<part name='a' type='xs:int'/>", "<part name='b' type='xs:string'/>");
    let literal = |parts: &str| of(parts, "literal");
    assert_eq!(changes(&literal(a), &literal(&a.replace("int", "long"))), ["a: xsd:int → xsd:long, safe, breaking"]);
    assert_eq!(changes(&literal(a), &literal(&format!("{a}{b}"))), [": part b added, breaking, breaking"]);
    assert_eq!(
        changes(&literal(&format!("{a}{b}")), &literal(&format!("{b}{a}"))),
        [": order of the parts, breaking, breaking"]
    );
    assert_eq!(changes(&of(a, "encoded"), &of(a, "encoded")), [""; 0]);
    let found = changes(&of(a, "encoded"), &of(&a.replace("int", "date"), "encoded"));
    assert_eq!(found, ["a: xsd:int → xsd:date, breaking, breaking"]);
    let found = changes(&literal(a), &of(a, "encoded"));
    assert!(found.len() == 1 && found[0].starts_with(": rpc/literal → rpc/encoded"), "{found:?}");
}

#[test]
fn a_wsdl_has_no_changes_to_itself() {
    for path in
        deltasoap_test_support::files::below(&deltasoap_test_support::files::in_repository("testdata/wsdl"), &["wsdl"])
    {
        // Not all of them can be imported.
        let Ok(import) = deltasoap_wsdl::Importer::new().trust_tree().offline().import(&path.to_string_lossy()) else {
            continue;
        };
        let bytes = std::fs::metadata(&path).map_or(0, |it| it.len());
        if bytes > 300_000 {
            continue;
        }
        let [one, other] = [Contract::from(import), again(&path)];
        let Diff { changes, is_cut } = one.diff(&other);
        assert!(changes.is_empty() && !is_cut, "{}: {changes:#?}", path.display());
    }
}

fn again(path: &std::path::Path) -> Contract {
    let import = deltasoap_wsdl::Importer::new().trust_tree().offline().import(&path.to_string_lossy());
    import.map(Contract::from).expect("it was imported before")
}
