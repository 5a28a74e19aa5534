//! Choices between groups of elements: read, written, as JSON, in samples, in compiled WSDL.

use crate::support::{self, Codec};
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::encode::Encoder;
use deltasoap_core::{Content, QName, Value};
use deltasoap_dynamic::Contract;
use deltasoap_dynamic::describe::Component;
use deltasoap_wsdl::Importer;
use deltasoap_wsdl::fetch::Location;
use serde_json::{Value as Json, json};

const WSDL: &str = include_str!("../../../deltasoap-codegen/tests/data/groups.wsdl");

fn contract() -> Contract {
    Contract::from_text(WSDL).expect("a description")
}

fn codec<'c>(contract: &'c Contract, local: &str) -> Codec<'c> {
    Codec::named(contract, QName::owned("urn:groups", local))
}

fn read(codec: &Codec<'_>, local: &str, content: &str) -> Result<Value, String> {
    let document = format!("<{local} xmlns='urn:groups'>{content}</{local}>");
    let name = QName::owned("urn:groups", local);
    value_from_slice(document.as_bytes(), &name, codec.view()).map_err(|error| error.to_string())
}

#[test]
fn each_branch_to_json_and_back() {
    let contract = contract();
    let codec = codec(&contract, "Ask");
    for (content, expected) in [
        ("<id>1</id><from>2026-01-02</from>", json!({ "id": 1, "from": "2026-01-02" })),
        (
            "<id>1</id><from>2026-01-02</from><days>3</days><hours>4</hours><note>n</note>",
            json!({ "id": 1, "from": "2026-01-02", "days": 3, "hours": 4, "note": "n" }),
        ),
        (
            "<id>1</id><from>2026-01-02</from><to>2026-01-03</to>",
            json!({ "id": 1, "from": "2026-01-02", "to": "2026-01-03" }),
        ),
        ("<id>1</id><number>1</number><number>2</number>", json!({ "id": 1, "number": [1, 2] })),
        ("<id>1</id><name>n</name><alias>a</alias>", json!({ "id": 1, "name": "n", "alias": ["a"] })),
        (
            "<id>1</id><name>n</name><key>k</key><value>v</value>",
            json!({ "id": 1, "name": "n", "key": "k", "value": "v" }),
        ),
        (
            "<id>1</id><name>n</name><value>v</value><unit>u</unit>",
            json!({ "id": 1, "name": "n", "{urn:groups}value": "v", "unit": "u" }),
        ),
    ] {
        let value = read(&codec, "Ask", content).unwrap_or_else(|error| panic!("{content}: {error}"));
        let json = codec.to_json(&value);
        assert_eq!(json, expected, "{content}");
        assert_eq!(codec.read_json(&json).expect("a value"), value, "{content}");
        let written = codec.write(&value);
        let name = QName::owned("urn:groups", "Ask");
        assert_eq!(value_from_slice(written.as_bytes(), &name, codec.view()).as_ref(), Ok(&value), "{written}");
    }
}

#[test]
fn other_than_one_branch_is_no_message() {
    let contract = contract();
    let answer = codec(&contract, "AskResponse");
    let leaf = "<Success><leaf>1</leaf></Success>";
    let of_both = "only one of <{urn:groups}Success> or <{urn:groups}Errors>";
    for (content, expected) in [
        (format!("{leaf}<Errors/>"), of_both),
        (String::new(), "one of <{urn:groups}Success> or <{urn:groups}Errors>"),
        ("<Warning/>".to_owned(), "<{urn:groups}Success>"),
        ("<Success><left><leaf>1</leaf></left></Success>".to_owned(), "<{urn:groups}right>"),
    ] {
        let error = read(&answer, "AskResponse", &content).expect_err(&content);
        assert!(error.contains(expected), "{content}: {error}");
    }
    let ask = codec(&contract, "Ask");
    let error = |json: Json| ask.read_json(&json).expect_err("no request").to_string();
    let both = error(json!({ "id": 1, "from": "2026-01-02", "number": [1] }));
    assert!(both.contains("one of the properties from, number, name") && both.contains("several of them"), "{both}");
    let none = error(json!({ "id": 1 }));
    assert!(none.contains("one of the properties from, number, name") && none.contains("none of them"), "{none}");
    let half = error(json!({ "id": 1, "number": [1], "key": "k" }));
    assert!(half.starts_with(".value:"), "{half}");
    let contract = support::schema(
        "<xs:element name='e'><xs:complexType><xs:choice><xs:sequence><xs:element name='a' type='xs:int'/>\
         <xs:element name='b' type='xs:int' maxOccurs='2'/></xs:sequence><xs:element name='c' type='xs:int'/>\
         </xs:choice></xs:complexType></xs:element>",
    );
    let none = Codec::of_element(&contract, "e").read_json(&json!({ "a": 1 })).expect_err("no b").to_string();
    assert_eq!(none, ".b: expected an array of at least 1, found nothing, and it is required");
}

/// Uses the same messages as the test of the generated types.
#[test]
fn lists_have_as_many_elements_as_they_may() {
    let contract = contract();
    let codec = codec(&contract, "Pick");
    let pairs = json!([{ "p": 1, "q": 2 }, { "p": 3, "q": 4 }]);
    for json in [
        json!({ "g": 1, "h": [2, 3], "$sequence": pairs }),
        json!({ "i": [1, 2], "last": [3, 4, 5], "$sequence": pairs, "$choice": [{ "u": 1 }, { "v": 2 }] }),
    ] {
        let value = codec.read_json(&json).expect("a value");
        let written = codec.write(&value);
        let name = QName::owned("urn:groups", "Pick");
        assert_eq!(value_from_slice(written.as_bytes(), &name, codec.view()).as_ref(), Ok(&value), "{written}");
        assert_eq!(codec.to_json(&value), json);
    }
    let of_one = |json: Json| codec.read_json(&json).expect_err("no request").to_string();
    for (json, expected) in [
        (json!({ "g": 1, "h": [1], "$sequence": pairs }), ".h: expected an array of at least 2, found an array of 1"),
        (
            json!({ "g": 1, "$sequence": pairs }),
            ".h: expected an array of at least 2, found nothing, and it is required",
        ),
        (json!({ "i": [1], "$sequence": pairs }), ".i: expected an array of at least 2, found an array of 1"),
        (json!({ "i": [1, 2, 3], "$sequence": pairs }), ".i: expected an array of at most 2, found an array of 3"),
        (json!({ "i": [1, 2] }), "[\"$sequence\"]: expected an array of at least 2"),
    ] {
        let error = of_one(json.clone());
        assert!(error.starts_with(expected), "{json}: {error}");
    }
    let too_many = of_one(json!({ "i": [1, 2], "$sequence": pairs, "$choice": [{ "u": 1 }, { "u": 1 }, { "u": 1 }] }));
    assert!(too_many.contains("at most 2"), "{too_many}");
    let pairs = "<p>1</p><q>2</q><p>3</p><q>4</q>";
    for (content, expected) in [
        (format!("<g>1</g><h>2</h>{pairs}"), "expected <{urn:groups}h>"),
        (format!("<i>1</i>{pairs}"), "expected <{urn:groups}i>"),
        (format!("<i>1</i><i>2</i><i>3</i>{pairs}"), "unexpected element <{urn:groups}i>"),
        (format!("<i>1</i><i>2</i>{pairs}<u>1</u><u>2</u><v>3</v>"), "unexpected element <{urn:groups}v>"),
    ] {
        let error = read(&codec, "Pick", &content).expect_err(&content);
        assert!(error.contains(expected), "{content}: {error}");
    }
    let pick = contract.operation("Pick").expect("an operation");
    let sample = pick.request_to_json(&pick.request_sample().expect("a sample")).expect("JSON");
    assert_eq!((&sample["h"], &sample["$sequence"][1]), (&json!([1, 1]), &json!({ "p": 1, "q": 1 })));
}

/// An optional choice, one of whose elements occurs several times: none or enough.
#[test]
fn a_choice_that_need_not_be_made_counts_what_was_chosen() {
    let contract = support::schema(
        "<xs:element name='e'><xs:complexType><xs:choice minOccurs='0'><xs:element name='a' type='xs:int' minOccurs='2' \
         maxOccurs='3'/><xs:element name='b' type='xs:int'/></xs:choice></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "e");
    for (json, content) in
        [(json!({}), ""), (json!({ "a": [1, 2] }), "<a>1</a><a>2</a>"), (json!({ "b": 1 }), "<b>1</b>")]
    {
        let value = codec.read(content);
        assert_eq!((codec.to_json(&value), codec.read_json(&json).as_ref()), (json, Ok(&value)));
    }
    let name = QName::owned("urn:t", "e");
    let few = value_from_slice(b"<e xmlns='urn:t'><a>1</a></e>", &name, codec.view()).expect_err("one of two");
    assert!(few.to_string().contains("missing element <"), "{few}");
    assert!(codec.read_json(&json!({ "a": [1] })).is_err());
}

#[test]
fn a_value_of_two_branches_is_not_written() {
    let contract = contract();
    let codec = codec(&contract, "AskResponse");
    let mut value = read(&codec, "AskResponse", "<Errors>e</Errors>").expect("an answer");
    let other = read(&codec, "AskResponse", "<Success><leaf>1</leaf></Success>").expect("an answer");
    let (Value::Record(record), Value::Record(other)) = (&mut value, other) else { panic!("no records") };
    record.fields[0] = other.fields[0].clone();
    let mut encoder = Encoder::new();
    encoder.start(&QName::owned("urn:groups", "AskResponse"));
    value.encode(&mut encoder, codec.view());
    encoder.end();
    let error = encoder.finish().expect_err("two branches").to_string();
    assert!(error.contains("several branches"), "{error}");
}

/// An element that one branch accepts by a wildcard is not an element of another; and if the first
/// element does not determine the branch, none is enforced.
#[test]
fn wildcards_and_branches_that_begin_alike() {
    let contract = support::schema(
        "<xs:element name='r'><xs:complexType><xs:choice><xs:sequence><xs:element name='a' type='xs:int'/>\
         <xs:any minOccurs='0' maxOccurs='unbounded' processContents='lax'/></xs:sequence><xs:element name='b' type='xs:int'/>\
         </xs:choice></xs:complexType></xs:element>\
         <xs:element name='s'><xs:complexType><xs:choice>\
         <xs:sequence><xs:element name='a' type='xs:int'/><xs:element name='b' type='xs:int'/></xs:sequence>\
         <xs:sequence><xs:element name='a' type='xs:int'/><xs:element name='c' type='xs:int'/></xs:sequence>\
         </xs:choice></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    for content in ["<a>1</a><b>2</b><c/>", "<a>1</a>", "<b>2</b>"] {
        let value = codec.read(content);
        support::assert_same(&codec.read_json(&codec.to_json(&value)).expect("a value"), &value, content);
    }
    let codec = Codec::of_element(&contract, "s");
    for content in ["<a>1</a><b>2</b>", "<a>1</a><c>2</c>"] {
        codec.read(content);
    }
}

#[test]
fn repeated_groups_to_json_and_back() {
    let contract = contract();
    let codec = codec(&contract, "Log");
    for (content, expected) in [
        ("", json!({})),
        (
            "<a>1</a><b>x</b><c>2026-01-02</c><a>2</a><b></b>",
            json!({ "$choice": [{ "a": 1, "b": "x" }, { "c": "2026-01-02" }, { "a": 2, "b": "" }] }),
        ),
        (
            "<at>2026-01-01</at><from>2026-01-02</from><until>2026-01-03</until>",
            json!({ "$choice#2": [{ "at": "2026-01-01" }, { "from": "2026-01-02", "until": "2026-01-03" }] }),
        ),
        (
            "<day>1</day><hour>2</hour><second>3</second><hour>4</hour><minute>5</minute><second>6</second><remark>r</remark>\
             <day>7</day>",
            json!({ "$sequence": [
                { "day": 1, "$sequence": [{ "hour": 2, "second": 3 }, { "hour": 4, "minute": [5], "second": 6 }], "remark": "r" },
                { "day": 7 },
            ] }),
        ),
        // The first of four x does not determine whether they are two occurrences of two.
        (
            "<x>1</x><x>2</x><x>3</x><x>4</x><y>5</y>",
            json!({ "$choice#3": [{ "x": 1 }, { "x": 2 }, { "x": 3 }, { "x": 4 }, { "y": 5 }] }),
        ),
    ] {
        let value = read(&codec, "Log", content).unwrap_or_else(|error| panic!("{content}: {error}"));
        let json = codec.to_json(&value);
        assert_eq!(json, expected, "{content}");
        assert_eq!(codec.read_json(&json).expect("a value"), value, "{content}");
        let written = codec.write(&value);
        let name = QName::owned("urn:groups", "Log");
        assert_eq!(value_from_slice(written.as_bytes(), &name, codec.view()).as_ref(), Ok(&value), "{written}");
    }
}

#[test]
fn what_is_no_whole_group_is_neither_read_nor_written() {
    let contract = contract();
    let codec = codec(&contract, "Log");
    let date = "2026-01-02";
    for (json, place, expected) in [
        (json!({ "$choice": [{ "a": 1 }] }), "[\"$choice\"][0].b", "it is required"),
        (json!({ "$choice": [{ "a": 1, "b": "x", "c": date }] }), "[\"$choice\"][0]", "several of them"),
        (json!({ "$choice": [{ "c": date }, {}] }), "[\"$choice\"][1]", "none of them"),
        (json!({ "$choice": [{ "d": 1 }] }), "[\"$choice\"][0].d", "an unknown property"),
        (json!({ "$choice#2": [{ "at": date }, { "at": date }, { "at": date }] }), "[\"$choice#2\"]", "at most 2"),
        (json!({ "$sequence": [{ "remark": "r" }] }), "[\"$sequence\"][0].day", "it is required"),
        (json!({ "$sequence": [{ "day": 1, "$sequence": [{ "hour": 1 }] }] }), "[0].second", "it is required"),
    ] {
        let error = codec.read_json(&json).expect_err("half a group").to_string();
        assert!(error.contains(place) && error.contains(expected), "{json}: {error}");
    }
    for (content, expected) in [
        ("<a>1</a>", "missing element <{urn:groups}b>"),
        ("<a>1</a><c>2026-01-02</c>", "expected <{urn:groups}b>"),
        ("<from>2026-01-02</from><until>2026-01-02</until><until>2026-01-02</until>", "expected <{urn:groups}from>"),
        ("<day>1</day><hour>2</hour><remark/>", "expected <{urn:groups}second>"),
    ] {
        let error = read(&codec, "Log", content).expect_err(content);
        assert!(error.contains(expected), "{content}: {error}");
    }
}

/// An object whose properties choose a branch may use the short names of its elements, although
/// they have long names beside other branches.
#[test]
fn elements_of_a_chosen_branch_have_their_short_names_too() {
    let element = |name: &str, least: u32| format!("<xs:element name='{name}' type='xs:string' minOccurs='{least}'/>");
    let branch = |names: &str| {
        let elements: String = names
            .split(' ')
            .map(|it| it.strip_suffix('?').map_or_else(|| element(it, 1), |it| element(it, 0)))
            .collect();
        format!("<xs:sequence>{elements}</xs:sequence>")
    };
    let choice = |branches: &[&str]| {
        format!("<xs:choice>{}</xs:choice>", branches.iter().map(|names| branch(names)).collect::<String>())
    };
    let contract = support::schema(&format!(
        "<xs:element name='one'><xs:complexType>{}</xs:complexType></xs:element>
         <xs:element name='two'><xs:complexType><xs:sequence>{}{}</xs:sequence></xs:complexType></xs:element>
         <xs:element name='some'><xs:complexType><xs:sequence><xs:sequence minOccurs='0'>{}{}</xs:sequence>{}</xs:sequence>
         </xs:complexType></xs:element>
         <xs:element name='any'><xs:complexType><xs:choice><xs:sequence>{}<xs:any namespace='##other' processContents='lax'/>
         </xs:sequence>{}</xs:choice></xs:complexType></xs:element>",
        choice(&["p n?", "r n?", "q s r n? s n"]),
        choice(&["p q", "r q p"]),
        choice(&["a", "c d a", "e? f c a"]),
        element("x", 1),
        choice(&["p n?", "r n?"]),
        element("y", 1),
        element("a", 1),
        branch("b a"),
    ));
    for (name, short, long) in [
        ("one", json!({ "p": "1", "n": "2" }), json!({ "p": "1", "n": "2" })),
        ("one", json!({ "r": "1", "n": "2" }), json!({ "r": "1", "{urn:t}n": "2" })),
        ("one", json!({ "r": "1", "{urn:t}n": "2" }), json!({ "r": "1", "{urn:t}n": "2" })),
        (
            "one",
            json!({ "q": "1", "s": "2", "r": "3", "{urn:t}s": "4", "{urn:t}n": "5" }),
            json!({ "q": "1", "s": "2", "{urn:t}r": "3", "{urn:t}s": "4", "n#3": "5" }),
        ),
        (
            "two",
            json!({ "r": "1", "q": "2", "p": "3", "e": "4", "f": "5", "c": "6", "a": "7" }),
            json!({ "r": "1", "{urn:t}q": "2", "{urn:t}p": "3", "e": "4", "f": "5", "{urn:t}c": "6", "a#2": "7" }),
        ),
        ("two", json!({ "p": "1", "q": "2", "a": "7" }), json!({ "p": "1", "q": "2", "a": "7" })),
        (
            "some",
            json!({ "x": "0", "r": "1", "n": "2", "y": "3" }),
            json!({ "x": "0", "r": "1", "{urn:t}n": "2", "y": "3" }),
        ),
        ("any", json!({ "b": "1", "a": "2" }), json!({ "b": "1", "{urn:t}a": "2" })),
    ] {
        let codec = Codec::of_element(&contract, name);
        let value = codec.read_json(&short).unwrap_or_else(|error| panic!("{short}: {error}"));
        assert_eq!(codec.to_json(&value), long, "{short}");
        assert_eq!(codec.read_json(&long).expect("a value"), value, "{long}");
    }
    for (name, json, expected) in [
        (
            "one",
            json!({ "p": "1", "r": "2", "n": "3" }),
            ".: expected one of the properties p, r, q, and what belongs to it",
        ),
        ("one", json!({ "r": "1", "n": "2", "{urn:t}n": "2" }), ".q: expected a string of xsd:string, found nothing"),
        ("one", json!({ "r": "1", "n": [] }), ".n: expected a string of xsd:string, found an array of 0"),
        (
            "two",
            json!({ "r": "1", "q": "2", "e": "4", "f": "5", "c": "6", "a": "7" }),
            ".p: expected a string of xsd:string, found nothing, and it is required",
        ),
    ] {
        let error = Codec::of_element(&contract, name).read_json(&json).expect_err("no value").to_string();
        assert!(error.starts_with(expected), "{json}: {error}");
    }
}

/// An object that matches several branches is refused.
#[test]
fn short_names_that_do_not_tell_the_branch_are_refused_with_the_long_ones() {
    let element = |name: &str| format!("<xs:element name='{name}' type='xs:int'/>");
    let branch =
        |names: &str| format!("<xs:sequence>{}</xs:sequence>", names.split(' ').map(element).collect::<String>());
    let contract = support::schema(&format!(
        "<xs:element name='e'><xs:complexType><xs:choice>{}{}{}</xs:choice></xs:complexType></xs:element>",
        branch("a x"),
        branch("c d a"),
        branch("d c a")
    ));
    let codec = Codec::of_element(&contract, "e");
    let error = codec.read_json(&json!({ "a": 1, "c": 2, "d": 3 })).expect_err("several branches").to_string();
    assert_eq!(
        error,
        ".: expected the properties c, d, {urn:t}a, or else {urn:t}d, {urn:t}c, a#2, found a, c, d, which match each of these"
    );
    let value = codec.read_json(&json!({ "{urn:t}d": 3, "{urn:t}c": 2, "a#2": 1 })).expect("the last branch");
    assert!(codec.write(&value).replace("ns:", "").contains("<d>3</d><c>2</c><a>1</a>"));
    let half = codec.read_json(&json!({ "c": 2, "a": 3 })).expect_err("half a branch").to_string();
    assert!(half.ends_with("found properties of several of them: a, c"), "{half}");
}

/// The first element of another branch is not read as the end of an absent optional sequence.
#[test]
fn a_choice_with_an_optional_sequence_that_has_what_another_branch_begins_with() {
    let element = |name| format!("<xs:element name='{name}' type='xs:int'/>");
    let [a, b, c] = ["a", "b", "c"].map(element);
    let optional = format!("<xs:sequence minOccurs='0'>{a}{b}</xs:sequence>");
    for first in [optional.clone(), format!("<xs:sequence>{optional}</xs:sequence>")] {
        let choice = format!("<xs:choice>{first}<xs:sequence>{b}{c}</xs:sequence></xs:choice>");
        let contract =
            support::schema(&format!("<xs:element name='r'><xs:complexType>{choice}</xs:complexType></xs:element>"));
        let codec = Codec::of_element(&contract, "r");
        for content in ["<b>1</b><c>2</c>", "<a>1</a><b>2</b>", ""] {
            let value = codec.try_read(content).unwrap_or_else(|error| panic!("{content}: {error}"));
            assert_eq!(inner(&codec.write(&value)), content);
            assert_eq!(codec.read_json(&codec.to_json(&value)).as_ref(), Ok(&value), "{content}");
        }
        for half in ["<a>1</a>", "<b>1</b>", "<a>1</a><b>2</b><c>3</c>"] {
            assert!(codec.try_read(half).is_err(), "{half}");
        }
    }
}

/// An element without the first element of its optional sequence is the one after that sequence.
#[test]
fn an_optional_sequence_with_an_element_that_stands_again_behind_it() {
    let contract = contract();
    let codec = codec(&contract, "Again");
    for (content, expected) in [
        ("<b>1</b><f>2</f>", json!({ "{urn:groups}b": 1, "{urn:groups}f": 2 })),
        ("<b>1</b><d>2</d><f>3</f>", json!({ "{urn:groups}b": 1, "{urn:groups}d": 2, "{urn:groups}f": 3 })),
        ("<a>1</a><b>2</b><b>3</b><f>4</f>", json!({ "a": 1, "b": 2, "{urn:groups}b": 3, "{urn:groups}f": 4 })),
        (
            "<c>1</c><f>2</f><b>3</b><d>4</d><f>5</f>",
            json!({ "c": 1, "f": 2, "{urn:groups}b": 3, "{urn:groups}d": 4, "{urn:groups}f": 5 }),
        ),
        (
            "<c>1</c><d>2</d><e>3</e><f>4</f><b>5</b><f>6</f>",
            json!({ "c": 1, "d": 2, "e": 3, "f": 4, "{urn:groups}b": 5, "{urn:groups}f": 6 }),
        ),
    ] {
        let document = format!("<Again xmlns='urn:groups'>{content}</Again>");
        assert_eq!(contract.validate(document.as_bytes()), [], "{document}");
        let value = read(&codec, "Again", content).unwrap_or_else(|error| panic!("{content}: {error}"));
        assert_eq!(codec.to_json(&value), expected, "{content}");
        assert_eq!(codec.read_json(&expected).expect("a value"), value, "{content}");
        assert_eq!(read(&codec, "Again", &inner(&codec.write(&value))).as_ref(), Ok(&value), "{content}");
    }
    for content in ["<a>1</a><b>2</b><f>3</f>", "<c>1</c><d>2</d><f>3</f><b>4</b><f>5</f>", "<f>1</f>"] {
        assert!(read(&codec, "Again", content).is_err(), "{content}");
    }
    let error = codec.read_json(&json!({ "b": 1, "{urn:groups}b": 2, "{urn:groups}f": 3 })).expect_err("no a");
    assert!(error.to_string().contains("it is required"), "{error}");
}

/// Such a group is read as a list of single elements, which takes the elements after it.
#[test]
fn a_repeated_sequence_with_an_element_that_stands_again_behind_it() {
    let contract = contract();
    let codec = codec(&contract, "Often");
    for (content, expected) in [
        (
            "<x>1</x><y>2</y><y>3</y><w>4</w><y>5</y>",
            json!({ "$choice": [{ "x": 1 }, { "y": 2 }, { "y": 3 }], "w": 4, "{urn:groups}y": 5 }),
        ),
        (
            "<x>1</x><y>2</y><x>3</x><y>4</y><y>5</y><x>6</x><z>7</z><y>8</y>",
            json!({
                "$choice": [{ "x": 1 }, { "y": 2 }, { "x": 3 }, { "y": 4 }, { "y": 5 }, { "x": 6 }],
                "z": 7,
                "{urn:groups}y": 8,
            }),
        ),
    ] {
        let document = format!("<Often xmlns='urn:groups'>{content}</Often>");
        assert_eq!(contract.validate(document.as_bytes()), [], "{document}");
        let value = read(&codec, "Often", content).unwrap_or_else(|error| panic!("{content}: {error}"));
        assert_eq!(codec.to_json(&value), expected, "{content}");
        assert_eq!(codec.read_json(&expected).expect("a value"), value, "{content}");
        assert_eq!(inner(&codec.write(&value)), content);
    }
    // JSON may still say which is which.
    let told = json!({ "$choice": [{ "x": 1 }, { "y": 2 }], "y": 3, "x": 4, "z": 5, "{urn:groups}y": 6 });
    let written = codec.write(&codec.read_json(&told).expect("a value"));
    assert_eq!(inner(&written), "<x>1</x><y>2</y><y>3</y><x>4</x><z>5</z><y>6</y>");
    // Required elements stay required after the list has ended.
    assert!(read(&codec, "Often", "<x>1</x><y>2</y><y>3</y><w>4</w>").is_err());
}

/// The list that one branch begins with contains the first element of the other.
#[test]
fn a_choice_with_a_branch_that_begins_with_a_list_of_what_another_begins_with() {
    let content = "<xs:choice><xs:sequence><xs:sequence minOccurs='0' maxOccurs='unbounded'><xs:element name='a' type='xs:int'/>\
                   <xs:element name='b' type='xs:int'/></xs:sequence><xs:element name='c' type='xs:int'/></xs:sequence>\
                   <xs:sequence><xs:element name='b' type='xs:int'/><xs:element name='d' type='xs:int'/></xs:sequence></xs:choice>";
    let contract =
        support::schema(&format!("<xs:element name='r'><xs:complexType>{content}</xs:complexType></xs:element>"));
    let codec = Codec::of_element(&contract, "r");
    for (content, json) in [
        ("<b>1</b><d>2</d>", json!({ "b": 1, "d": 2 })),
        ("<c>1</c>", json!({ "c": 1 })),
        (
            "<a>1</a><b>2</b><a>3</a><b>4</b><c>5</c>",
            json!({ "$choice": [{ "a": 1 }, { "b": 2 }, { "a": 3 }, { "b": 4 }], "c": 5 }),
        ),
    ] {
        let document = format!("<r xmlns='urn:t'>{content}</r>");
        assert_eq!(contract.validate(document.as_bytes()), [], "{document}");
        let value = codec.try_read(content).unwrap_or_else(|error| panic!("{content}: {error}"));
        assert_eq!(codec.to_json(&value), json, "{content}");
        assert_eq!(codec.read_json(&json).expect("a value"), value, "{content}");
        assert_eq!(inner(&codec.write(&value)), content);
    }
}

/// Returns the content of the outermost element, without prefixes.
fn inner(document: &str) -> String {
    let (start, end) = (document.find('>').map_or(0, |at| at + 1), document.rfind("</").unwrap_or(document.len()));
    document[start..end].replace("ns:", "")
}

/// A note reports choices that are not read as groups: those whose messages are ambiguous, with or
/// without a wildcard. SOAP encoding has no groups.
#[test]
fn groups_are_those_that_messages_tell_apart() {
    let note = |content: &str| {
        let contract =
            support::schema(&format!("<xs:element name='r'><xs:complexType>{content}</xs:complexType></xs:element>"));
        contract.lowered().notes.iter().any(|note| note.contains("repeated groups of elements"))
    };
    let e = |name: &str, occurs: &str| format!("<xs:element name='{name}' type='xs:int' {occurs}/>");
    let (a, b, optional) = (e("a", ""), e("b", ""), e("c", "minOccurs='0'"));
    let often = |content: &str| format!("<xs:sequence minOccurs='0' maxOccurs='unbounded'>{content}</xs:sequence>");
    for (content, is_noted) in [
        (often(&format!("{a}{b}")), false),
        (often(&a), false),
        (often(&format!("{optional}{}", e("d", "minOccurs='0'"))), false),
        (often(&format!("{}{optional}", e("x", "maxOccurs='3'"))), false),
        (often(&format!("{}{optional}", e("x", "minOccurs='2' maxOccurs='3'"))), true),
        (often(&format!("{}{b}", e("x", "minOccurs='2' maxOccurs='3'"))), false),
        (often(&format!("{a}<xs:any namespace='##other' processContents='lax'/>")), true),
        (format!("<xs:sequence>{}{a}</xs:sequence>", often(&format!("{a}{b}"))), true),
        // The list takes three.
        (format!("<xs:sequence><xs:sequence minOccurs='2' maxOccurs='2'>{a}</xs:sequence>{a}</xs:sequence>"), true),
        (often(&often(&often(&often(&format!("{a}{b}"))))), false),
        (often(&often(&often(&often(&often(&often(&format!("{a}{b}"))))))), true),
    ] {
        assert_eq!(note(&content), is_noted, "{content}");
    }
    let described = contract().describe("Log").iter().map(Component::to_text).collect::<String>();
    let is_told = |line: &&str| line.contains("read as a list of single elements");
    // The one with four x, in the operation and in the element.
    assert_eq!(described.lines().filter(is_told).count(), 2, "{described}");
}

/// The sample in a template and the answer of a mock have one branch, and are valid.
#[test]
fn samples_have_one_branch() {
    let contract = contract();
    let ask = contract.operation("Ask").expect("an operation");
    let log = contract.operation("Log").expect("an operation");
    let again = contract.operation("Again").expect("an operation");
    let often = contract.operation("Often").expect("an operation");
    let sample = often.request_to_json(&often.request_sample().expect("a sample")).expect("JSON");
    assert_eq!(sample["$choice"], json!([{ "x": 1 }, { "y": 1 }, { "y": 1 }, { "x": 1 }]));
    let sample = log.request_to_json(&log.request_sample().expect("a sample")).expect("JSON");
    assert_eq!(sample["$choice"], json!([{ "a": 1, "b": "text" }]));
    assert_eq!(sample["$sequence"][0]["$sequence"], json!([{ "hour": 1, "minute": [1], "second": 1 }]));
    let sample = ask.request_to_json(&ask.request_sample().expect("a sample")).expect("JSON");
    let expected = json!({
        "id": 1, "from": "2026-01-02", "days": 1, "hours": 1, "key": "text", "value": "text", "note": "text",
    });
    assert_eq!(sample, expected);
    for seed in 1..200 {
        let values = [
            ("Ask", ask.random_request(seed)),
            ("AskResponse", ask.random_response(seed)),
            ("Log", log.random_request(seed)),
            ("Again", again.random_request(seed)),
            ("Often", often.random_request(seed)),
        ];
        for (local, value) in values {
            let Some(value) = value else { continue };
            let codec = codec(&contract, local);
            let written = codec.write(&value);
            let again: Value = value_from_slice(written.as_bytes(), &QName::owned("urn:groups", local), codec.view())
                .unwrap_or_else(|error| panic!("{written}: {error}"));
            assert_eq!(codec.read_json(&codec.to_json(&again)).as_ref(), Ok(&again), "{written}");
            assert_eq!(contract.validate(written.as_bytes()), [], "{written}");
        }
    }
}

#[test]
fn compiled_descriptions_have_the_same_choices() {
    let import = Importer::new().text(WSDL).expect("a description");
    let again = Importer::new().bytes(Location::Text("a file".to_owned()), import.compile());
    let contract = Contract::from(again.expect("a compiled description"));
    let answer = codec(&contract, "AskResponse");
    assert!(read(&answer, "AskResponse", "<Errors/>").is_ok());
    assert!(read(&answer, "AskResponse", "").is_err());
    let log = codec(&contract, "Log");
    assert!(read(&log, "Log", "<a>1</a><b/>").is_ok());
    assert!(read(&log, "Log", "<a>1</a>").is_err());
}

/// XSD 1.0 part 1, 3.9.6: a choice with a branch that can be empty can be empty.
#[test]
fn a_repeated_choice_with_an_empty_branch_need_not_be_made() {
    let contract = support::schema(
        "<xs:element name='e'><xs:complexType><xs:choice maxOccurs='unbounded'><xs:element name='c' type='xs:int'/>\
         <xs:sequence/></xs:choice></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "e");
    for content in ["", "<c>1</c><c>2</c>"] {
        let value = codec.read(content);
        assert_eq!(codec.read_json(&codec.to_json(&value)).expect("a value"), value, "{content}");
    }
}
