//! Values as JSON and back.

use crate::support::{self, Codec, shop};
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::{QName, Value};
use deltasoap_dynamic::Contract;
use serde_json::{Value as Json, json};

/// Returns a JSON number with this text.
fn number(text: &str) -> Json {
    serde_json::from_str(text).expect("a number")
}

/// Reads an order with the engine, converts it to JSON and back, and compares the values and their
/// serialized forms.
fn round_trip(content: &str) -> Json {
    let contract = shop();
    let codec = Codec::new(&contract, "Order");
    let value = codec.read(content);
    let json = codec.to_json(&value);
    let again = codec.read_json(&json).unwrap_or_else(|error| panic!("{json:#}: {error}"));
    support::assert_same(&again, &value, &format!("{json:#}"));
    json
}

const ITEM: &str = "<item><code>A-1</code><count>2</count></item>";

#[test]
fn fields_attributes_lists_and_nil() {
    let json = round_trip(
        "<customer/><item id='i1'><code>A-1</code><count>2</count><price currency='EUR'>1.50</price>\
         <remark xsi:nil='true'/></item><item><code>B-2</code><count>1</count><remark></remark></item>",
    );
    let expected = json!({
        "customer": "",
        "item": [
            { "@id": "i1", "code": "A-1", "count": 2, "price": { "@currency": "EUR", "$": number("1.50") }, "remark": null },
            { "code": "B-2", "count": 1, "remark": "" },
        ],
    });
    assert_eq!(json, expected);
}

#[test]
fn nil_that_the_schema_does_not_allow_is_marked() {
    let json = round_trip(&format!("<customer xsi:nil='true'/>{ITEM}<gift xsi:nil='true'/>"));
    assert_eq!((&json["customer"], &json["$choice"][0]["gift"]), (&json!({ "$nil": true }), &json!({ "$nil": true })));
}

#[test]
fn nil_of_a_whole_element_is_as_its_declaration_says() {
    let contract =
        support::schema("<xs:element name='no' type='xs:int'/><xs:element name='may' type='xs:int' nillable='true'/>");
    let (no, may) = (Codec::of_element(&contract, "no"), Codec::of_element(&contract, "may"));
    let marked = json!({ "$nil": true });
    assert_eq!((no.to_json(&Value::Nil), may.to_json(&Value::Nil)), (marked.clone(), Json::Null));
    for (codec, json) in [(&no, &marked), (&may, &marked), (&may, &Json::Null)] {
        assert!(matches!(codec.read_json(json), Ok(Value::Nil)), "{json}");
    }
    let error = no.read_json(&Json::Null).unwrap_err().to_string();
    assert_eq!(error, ".: expected a number of xsd:int, found null");
}

#[test]
fn choices_once_and_many_times() {
    let json = round_trip(&format!("<customer>A</customer>{ITEM}<pickup>2026-11-22</pickup>"));
    assert_eq!(json["pickup"], "2026-11-22");
    let json = round_trip(&format!(
        "<customer>A</customer>{ITEM}<gift>x</gift><coupon>5</coupon><gift>y</gift><coupon>6</coupon>"
    ));
    assert_eq!(json["$choice"], json!([{ "gift": "x" }, { "coupon": 5 }, { "gift": "y" }, { "coupon": 6 }]));
}

#[test]
fn derived_types_have_a_label() {
    let json = round_trip(&format!(
        "<customer>A</customer>{ITEM}<payment xsi:type='t:Card'><limit>10</limit><number>4</number><until>2027-01</until></payment>"
    ));
    assert_eq!(json["payment"], json!({ "$type": "Card", "limit": 10, "number": "4", "until": "2027-01" }));
    let json = round_trip(&format!("<customer>A</customer>{ITEM}<extra xsi:type='xs:int'>5</extra>"));
    assert_eq!(json["extra"], json!({ "$type": "xsd:int", "$": 5 }));
    let json = round_trip(&format!("<customer>A</customer>{ITEM}<extra xsi:type='t:Price' currency='CHF'>5</extra>"));
    assert_eq!(json["extra"], json!({ "$type": "Price", "@currency": "CHF", "$": 5 }));
}

#[test]
fn what_is_of_no_type_that_may_stand_here_stays_a_tree() {
    for payment in [
        "<payment xsi:type='t:Item'><days>400</days></payment>",
        "<payment xsi:type='t:Unknown'><number>4</number>text<until>2027-01</until></payment>",
    ] {
        let json = round_trip(&format!("<customer>A</customer>{ITEM}{payment}"));
        assert!(json["payment"]["$content"].is_array(), "{json:#}");
    }
}

#[test]
fn what_does_not_fit_the_type_that_it_names_is_an_error() {
    let contract = shop();
    let codec = Codec::new(&contract, "Order");
    for (payment, expected) in [
        ("<payment xsi:type='t:Invoice'><days>400</days></payment>", "unsignedByte"),
        ("<payment xsi:type='t:Card'><number>4</number>text<until>2027-01</until></payment>", "character data"),
        ("<payment xsi:type='t:Card'><number>4</number><zip/></payment>", "unexpected element <{urn:shop}zip>"),
    ] {
        let error = codec.try_read(&format!("<customer>A</customer>{ITEM}{payment}")).expect_err("another content");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.path().starts_with("/Order/payment"), "{}", error.path());
    }
}

#[test]
fn mixed_and_any_content_are_trees() {
    let json = round_trip(&format!(
        "<customer>A</customer>{ITEM}<note>see <b xmlns='urn:x' k='p:v' xmlns:p='urn:p'>this</b>, too</note>\
         <extra xsi:nil='true'/><z:any xmlns:z='urn:z'>free</z:any>"
    ));
    assert_eq!(json["note"]["$content"][0], "see ");
    assert_eq!(json["note"]["$content"][1]["$name"], "{urn:x}b");
    assert_eq!(json["note"]["$content"][1]["$ns"]["p"], "urn:p");
    assert_eq!(json["extra"], Json::Null);
    assert_eq!(json["$any"]["$name"], "{urn:z}any");
}

#[test]
fn plain_values_where_anything_may_stand() {
    let contract = shop();
    let codec = Codec::new(&contract, "Order");
    for (plain, label) in
        [(json!("x"), "xsd:string"), (json!(5), "xsd:int"), (json!(0.5), "xsd:decimal"), (json!(true), "xsd:boolean")]
    {
        let value = codec.read_json(&order(json!({ "extra": plain }))).expect("an order");
        assert_eq!(codec.to_json(&value)["extra"], json!({ "$type": label, "$": plain }));
    }
    let value = codec.read_json(&order(json!({ "note": { "$xml": "<x>a<b/></x>" } }))).expect("an order");
    assert_eq!(codec.to_json(&value)["note"]["$content"], json!(["a", { "$name": "b" }]));
}

/// Returns a small order with additional content.
fn order(more: Json) -> Json {
    let mut order = json!({ "customer": "A", "item": [{ "code": "A-1", "count": 1 }] });
    order.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    order
}

#[test]
fn errors_name_the_place_and_what_was_expected() {
    let contract = shop();
    let operation = contract.operation("Order").expect("an operation");
    for (more, message) in [
        (
            json!({ "item": [{ "code": "A-1", "count": "many" }] }),
            ".item[0].count: expected a number of Count, found the string \"many\": not a digit",
        ),
        (
            json!({ "item": [{ "code": "A-1" }] }),
            ".item[0].count: expected a number of Count, found nothing, and it is required",
        ),
        (json!({ "item": [] }), ".item: expected an array of at least 1, found an array of 0"),
        (json!({ "item": { "code": "A-1" } }), ".item: expected an array of item, found an object"),
        (json!({ "customer": 5 }), ".customer: expected a string of xsd:string, found the number 5"),
        (json!({ "customer": null }), ".customer: expected a string of xsd:string, found null"),
        (json!({ "customer": "\u{1}" }), ".customer: expected characters that XML allows, found U+0001"),
        (
            json!({ "pickup": "2026-01-01", "address": "x" }),
            ".: expected one of the properties pickup, address for the choice, found several of them: pickup, address",
        ),
        (
            json!({ "payment": {} }),
            ".payment: expected a property $type, since the type is abstract: one of the types Invoice, Card, found none",
        ),
        (
            json!({ "payment": { "$type": "Item" } }),
            ".payment[\"$type\"]: expected one of the types Invoice, Card, found the string \"Item\"",
        ),
        (
            json!({ "payment": { "$type": "Invoice", "days": 256 } }),
            ".payment.days: expected a number of xsd:unsignedByte, found the number 256: above 255",
        ),
        (
            json!({ "item": [{ "code": "A-1", "count": 1, "price": { "@currency": "USD", "$": 1 } }] }),
            ".item[0].price[\"@currency\"]: expected one of \"EUR\", \"CHF\" (Currency), found the string \"USD\"",
        ),
        (
            json!({ "$choice": [{ "gift": "a", "coupon": 1 }] }),
            ".[\"$choice\"][0]: expected one of the properties gift, coupon for the choice, found several of them: gift, coupon",
        ),
        (
            json!({ "$choice": { "coupon": 1 } }),
            ".[\"$choice\"]: expected an array of objects with one of the properties gift, coupon, found an object",
        ),
        (
            json!({ "$choice": [7] }),
            ".[\"$choice\"][0]: expected an object with one of the properties gift, coupon, found the number 7",
        ),
        (
            json!({ "$choice": [{}] }),
            ".[\"$choice\"][0]: expected one of the properties gift, coupon, found none of them",
        ),
    ] {
        let error = operation.request_from_json(&order(more)).expect_err(message);
        assert_eq!(error.to_string(), message.replace(".[", "["));
    }
    let error = operation.request_from_json(&order(json!({ "custom": 1 }))).expect_err("an unknown property");
    assert_eq!(error.path(), ".custom");
    assert!(error.expected().contains("customer, item, pickup, address"), "{error}");
}

#[test]
fn numbers_are_exact_or_strings() {
    let contract = shop();
    let codec = Codec::new(&contract, "CatalogueResponse");
    let weights = ["INF", "-INF", "NaN", "-0", "0.1", "1E300", "5e-324", "1.7976931348623157E308"];
    let weights: String = weights.iter().map(|it| format!("<weight>{it}</weight>")).collect();
    let value = codec.read(&format!("<root><name>r</name></root>{weights}"));
    let json = codec.to_json(&value);
    assert_eq!(json["weight"], json!(["INF", "-INF", "NaN", -0.0, 0.1, 1e300, 5e-324, 1.797_693_134_862_315_7e308]));
    let text = serde_json::to_string(&json).expect("JSON");
    let again = codec.read_json(&serde_json::from_str(&text).expect("JSON")).expect("a value");
    assert_eq!(codec.write(&again), codec.write(&value));
    let codec = Codec::new(&contract, "OrderResponse");
    for (number, total, number_json, total_json) in [
        ("9007199254740991", "1.25", json!(9_007_199_254_740_991_i64), json!(1.25)),
        ("9007199254740992", "1.2345678901234567890", json!("9007199254740992"), json!("1.2345678901234567890")),
        ("-9223372036854775808", "100", json!("-9223372036854775808"), json!(100)),
    ] {
        let value = codec.read(&format!(
            "<number>{number}</number><total currency='EUR'>{total}</total><placed>2026-11-22T10:00:00Z</placed>"
        ));
        let json = codec.to_json(&value);
        assert_eq!((&json["number"], &json["total"]["$"]), (&number_json, &total_json));
        assert_eq!(codec.read_json(&json).expect("a value"), value);
    }
}

/// `written` is the message's text for a number of JSON, `json` the JSON that it is read back to.
#[track_caller]
fn assert_kept(codec: &Codec<'_>, element: &str, given: &str, written: &str, json: &str) {
    let given = serde_json::from_str(&format!("{{\"{element}\": {given}}}")).expect("JSON");
    let value = codec.read_json(&given).unwrap_or_else(|error| panic!("{given}: {error}"));
    let message = codec.write(&value);
    assert!(message.contains(&format!("{element}>{written}<")), "{given}: {message}");
    let again = codec.to_json(&codec.read(&format!("<{element}>{written}</{element}>")));
    assert_eq!(serde_json::to_string(&again[element]).expect("JSON"), json, "{given}");
}

#[test]
fn no_digit_of_a_number_is_lost() {
    let elements = ["decimal", "integer", "long", "double", "dateTime", "time", "duration"];
    let elements: String =
        elements.iter().map(|it| format!("<xs:element name='{it}' type='xs:{it}' minOccurs='0'/>")).collect();
    let contract = support::schema(&format!(
        "<xs:element name='r'><xs:complexType><xs:sequence>{elements}</xs:sequence></xs:complexType></xs:element>"
    ));
    let codec = Codec::of_element(&contract, "r");
    let long = "123456789012345678901234567890";
    for (element, given, written, json) in [
        ("decimal", "12345678901234567890.1234", "12345678901234567890.1234", "\"12345678901234567890.1234\""),
        ("decimal", "250.00", "250.00", "250.00"),
        ("decimal", "0.10", "0.10", "0.10"),
        ("decimal", "-7", "-7", "-7"),
        ("decimal", "1.50e1", "15.0", "15.0"),
        ("decimal", "1e-7", "0.0000001", "0.0000001"),
        ("integer", long, long, &format!("\"{long}\"")),
        ("integer", "1.2e3", "1200", "1200"),
        ("integer", "-5.00", "-5", "-5"),
        ("long", "9223372036854775807", "9223372036854775807", "\"9223372036854775807\""),
        ("double", "-0.0", "-0", "-0.0"),
        ("double", "1e300", "1e+300", "1e+300"),
        (
            "dateTime",
            "\"2026-01-02T03:04:05.1234567890123Z\"",
            "2026-01-02T03:04:05.1234567890123Z",
            "\"2026-01-02T03:04:05.1234567890123Z\"",
        ),
        ("time", "\"03:04:05.00000000000001\"", "03:04:05.00000000000001", "\"03:04:05.00000000000001\""),
        ("duration", "\"PT1.1234567890123S\"", "PT1.1234567890123S", "\"PT1.1234567890123S\""),
    ] {
        assert_kept(&codec, element, given, written, json);
    }
    for (element, wrong) in [
        ("integer", "1.5"),
        ("integer", "1e999999999999"),
        ("decimal", "1e5000"),
        ("double", "1e400"),
        ("long", "1e19"),
    ] {
        let json = serde_json::from_str(&format!("{{\"{element}\": {wrong}}}")).expect("JSON");
        let error = codec.read_json(&json).expect_err(wrong);
        assert_eq!(
            (error.path(), error.found()),
            (&*format!(".{element}"), &*format!("the number {json}", json = json[element]))
        );
    }
}

/// If a pattern or a union decides by the text, a number has the text of the message in JSON, too.
#[test]
fn numbers_of_patterns_and_unions_keep_their_texts() {
    let contract = support::schema(
        "<xs:simpleType name='D'><xs:restriction base='xs:double'><xs:pattern value='\\d{1,3}(\\.\\d)?'/></xs:restriction></xs:simpleType>
         <xs:simpleType name='P'><xs:restriction base='xs:double'><xs:minInclusive value='0'/></xs:restriction></xs:simpleType>
         <xs:simpleType name='M'><xs:restriction base='xs:int'><xs:enumeration value='-1'/></xs:restriction></xs:simpleType>
         <xs:simpleType name='U'><xs:union memberTypes='t:P t:M'/></xs:simpleType>
         <xs:element name='r'><xs:complexType><xs:sequence><xs:element name='d' type='t:D' minOccurs='0'/>
         <xs:element name='u' type='t:U' minOccurs='0'/></xs:sequence><xs:attribute name='a' type='t:D'/></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    for (element, text) in [("d", "5"), ("d", "5.0"), ("u", "-1"), ("u", "7"), ("u", "7.5")] {
        assert_kept(&codec, element, text, text, text);
    }
    let value = codec.read_json(&json!({ "@a": 5 })).expect("a value");
    assert!(codec.write(&value).contains("a=\"5\""));
    assert_eq!(codec.to_json(&value).to_string(), r#"{"@a":5}"#);
}

#[test]
fn a_choice_has_an_alternative() {
    let of = |least: u32| {
        support::schema(&format!(
            "<xs:element name='r'><xs:complexType><xs:choice><xs:element name='a' type='xs:int' minOccurs='{least}'/>
             <xs:element name='b' type='xs:int'/></xs:choice></xs:complexType></xs:element>"
        ))
    };
    let contract = of(1);
    let error = Codec::of_element(&contract, "r").read_json(&json!({})).expect_err("neither");
    assert!(error.to_string().contains("a, b") && error.to_string().contains("none of them"), "{error}");
    let contract = of(0);
    assert!(Codec::of_element(&contract, "r").read_json(&json!({})).is_ok(), "the first may be left out");
}

#[test]
fn many_elements_of_one_name_take_linear_time() {
    let contract = support::schema(&format!(
        "<xs:element name='r'><xs:complexType><xs:sequence>{}</xs:sequence></xs:complexType></xs:element>",
        "<xs:element name='e' type='xs:int' minOccurs='0'/><xs:element name='f' type='xs:int' minOccurs='0'/>"
            .repeat(20_000)
    ));
    let codec = Codec::of_element(&contract, "r");
    let start = std::time::Instant::now();
    assert!(codec.read_json(&json!({ "f#19999": 1 })).is_ok());
    // It would take a minute and more if each number were searched for from the start.
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn the_type_of_a_plain_number_keeps_its_digits() {
    let contract = shop();
    let codec = Codec::new(&contract, "Order");
    for (plain, label, again) in [
        ("2147483648", "xsd:long", "2147483648"),
        ("18446744073709551615", "xsd:unsignedLong", "\"18446744073709551615\""),
        ("123456789012345678901", "xsd:integer", "\"123456789012345678901\""),
        ("0.30000000000000004", "xsd:decimal", "\"0.30000000000000004\""),
        ("250.00", "xsd:decimal", "250.00"),
        ("2.5e2", "xsd:double", "250.0"),
        ("1.23456789012345678901e2", "xsd:decimal", "\"123.456789012345678901\""),
        ("12345678901234567890.1234", "xsd:decimal", "\"12345678901234567890.1234\""),
        ("-0", "xsd:double", "-0.0"),
        ("-0.00", "xsd:double", "-0.0"),
        ("-0.01", "xsd:decimal", "-0.01"),
    ] {
        let value = codec.read_json(&order(json!({ "extra": number(plain) }))).expect("an order");
        let extra = codec.to_json(&value)["extra"].clone();
        assert_eq!((extra["$type"].as_str(), extra["$"].to_string()), (Some(label), again.to_owned()));
    }
}

#[test]
fn names_that_are_not_unique() {
    let contract = support::schema(
        "<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='a' type='xs:int'/>\
         <xs:element name='b' type='xs:int'/><xs:element name='a' type='xs:int'/>\
         <xs:element name='a' form='unqualified' type='xs:int'/></xs:sequence><xs:attribute name='a' type='xs:int'/>\
         </xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let value = codec.read_with("a='0'", "<a>1</a><b>2</b><a>3</a><a xmlns=''>4</a>");
    let json = codec.to_json(&value);
    assert_eq!(json, json!({ "@a": 0, "a": 1, "b": 2, "{urn:t}a": 3, "a#2": 4 }));
    assert_eq!(codec.read_json(&json).expect("a value"), value);
}

/// Lists of plain structs are tables in both directions, and lists of objects in JSON; a nil item
/// makes a table a list.
#[test]
fn tables_are_lists_of_objects() {
    let contract = support::schema(
        "<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='row' minOccurs='0' maxOccurs='unbounded'>\
         <xs:complexType><xs:sequence><xs:element name='n' type='xs:long'/><xs:element name='t' type='xs:string'/>\
         <xs:element name='d' type='xs:double'/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let is_table = |value: &Value| matches!(value.field(codec.view(), "row"), Some(Value::Table(_)));
    let row = |n: i64| format!("<row><n>{n}</n><t>a{n}</t><d>{n}.5</d></row>");
    let rows: String = (0..5).map(row).collect();
    let expected: Vec<Json> = (0..5).map(|n| json!({ "n": n, "t": format!("a{n}"), "d": n as f64 + 0.5 })).collect();
    let expected = json!({ "row": expected });
    there_and_back(&codec, "", &rows, &expected);
    assert!(is_table(&codec.read(&rows)) && is_table(&codec.read_json(&expected).expect("a value")));
    there_and_back(&codec, "", "", &json!({}));
    let nil = rows + "<row><n>1</n><t xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true'/><d>1</d></row>";
    let value = codec.read(&nil);
    assert!(!is_table(&value));
    let again = codec.read_json(&codec.to_json(&value)).expect("a value");
    support::assert_same(&value, &again, &nil);
}

/// Prefixes have no meaning outside their message.
#[test]
fn qualified_names_say_their_namespace() {
    let contract = support::schema(
        "<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='one' type='xs:QName'/>\
         <xs:element name='many' maxOccurs='unbounded'><xs:simpleType><xs:restriction base='xs:QName'/></xs:simpleType></xs:element>\
         <xs:element name='with'><xs:complexType><xs:simpleContent><xs:extension base='xs:QName'><xs:attribute name='at' type='xs:QName'/>\
         </xs:extension></xs:simpleContent></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let value = codec.read(
        "<one xmlns:q='urn:other'>q:a</one><many>t:b</many><many>c</many><t:many xmlns=''> d </t:many>\
         <with at='xs:int' xmlns:q='urn:text'>q:e</with>",
    );
    let json = codec.to_json(&value);
    let expected = json!({
        "one": "{urn:other}a",
        "many": ["{urn:t}b", "{urn:t}c", "d"],
        "with": { "@at": "{http://www.w3.org/2001/XMLSchema}int", "$": "{urn:text}e" },
    });
    assert_eq!(json, expected);
    assert_eq!(codec.read_json(&json).expect("a value"), value);
    let written = codec.write(&value);
    let name = QName::new("urn:t", "r");
    let again: Value = value_from_slice(written.as_bytes(), &name, codec.view()).expect("the message");
    assert_eq!(again, value, "{written}");
}

/// Like single names: in elements, in text with attributes, and in attributes.
#[test]
fn names_in_lists_and_unions_say_their_namespace() {
    let contract = support::schema(
        "<xs:simpleType name='names'><xs:list itemType='xs:QName'/></xs:simpleType>\
         <xs:simpleType name='some'><xs:union memberTypes='xs:int xs:QName xs:string'/></xs:simpleType>\
         <xs:simpleType name='mixed'><xs:list itemType='t:some'/></xs:simpleType>\
         <xs:simpleType name='any'><xs:union memberTypes='t:names xs:string'/></xs:simpleType>\
         <xs:element name='r'><xs:complexType><xs:sequence><xs:element name='l' type='t:names'/>\
         <xs:element name='u' type='t:some' maxOccurs='unbounded'/><xs:element name='m' type='t:mixed'/>\
         <xs:element name='a' type='t:any' maxOccurs='unbounded'/><xs:element name='with'><xs:complexType><xs:simpleContent>\
         <xs:extension base='t:names'/></xs:simpleContent></xs:complexType></xs:element></xs:sequence>\
         <xs:attribute name='l' type='t:names'/><xs:attribute name='u' type='t:some'/><xs:attribute name='v' type='t:some'/>\
         <xs:attribute name='d' type='t:some' default='t:d'/><xs:attribute name='e' type='t:some' default='5'/>\
         </xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let value = codec.read_with(
        "l='p:x  y' u='p:u' v='z:u' xmlns:p='urn:p'",
        "<l xmlns:q='urn:q'> q:a <!-- -->p:b\n c</l><u>p:one</u><u> 07 </u><u>z:two</u><u>{urn:x}</u><u xmlns:z='urn:z'>z:three</u>\
         <m>p:a 7 z:b</m><a>p:a t:b</a><a>p:a z:b</a><a/><with>t:w</with>",
    );
    let json = codec.to_json(&value);
    let expected = json!({
        "@l": "{urn:p}x {urn:t}y", "@u": "{urn:p}u", "@v": "z:u", "@e": 5,
        "l": "{urn:q}a {urn:p}b {urn:t}c",
        "u": ["{urn:p}one", "07", "z:two", "{urn:x}", "{urn:z}three"],
        "m": "{urn:p}a 7 z:b",
        "a": ["{urn:p}a {urn:t}b", "p:a z:b", ""],
        "with": { "$": "{urn:t}w" },
    });
    assert_eq!(json, expected);
    assert_eq!(codec.read_json(&json).expect("a value"), value);
    let written = codec.write(&value);
    let read = value_from_slice(written.as_bytes(), &QName::new("urn:t", "r"), codec.view()).expect("the message");
    assert_eq!(read, value, "{written}");
    let mut prefixed = expected;
    prefixed["l"] = json!("p:x");
    let error = codec.read_json(&prefixed).expect_err("a prefix").to_string();
    assert_eq!(error, ".l: expected a value of names, with names as `{namespace}local`, found the string \"p:x\"");
    let undeclared = "<r xmlns='urn:t'><l>z:x</l></r>";
    assert!(value_from_slice(undeclared.as_bytes(), &QName::new("urn:t", "r"), codec.view()).is_err());
}

/// In attributes as in elements; a default has the prefixes of the schema.
#[test]
fn names_in_attributes_and_defaults_say_their_namespace() {
    let contract = support::schema(
        "<xs:element name='r'><xs:complexType><xs:sequence xmlns:d='urn:d'>\
         <xs:element name='e' type='xs:QName' default='d:e' minOccurs='0'/>\
         <xs:element name='f' minOccurs='0' fixed='d:f'><xs:complexType><xs:simpleContent><xs:extension base='xs:QName'/></xs:simpleContent>\
         </xs:complexType></xs:element><xs:element name='n' type='xs:NOTATION' minOccurs='0'/></xs:sequence>\
         <xs:attribute name='q' type='xs:QName'/><xs:attribute name='n' type='xs:NOTATION'/>\
         <xs:attribute name='d' type='xs:QName' default='d:a' xmlns:d='urn:d'/></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let value = codec.read_with("xmlns:q='urn:q' q='q:x' n='y'", "<e/><f></f><n>q:gif</n>");
    let expected = json!({
        "@q": "{urn:q}x", "@n": "{urn:t}y", "@d": "{urn:d}a", "e": "{urn:d}e", "f": { "$": "{urn:d}f" }, "n": "{urn:q}gif",
    });
    assert_eq!(codec.to_json(&value), expected);
    let again = codec.read_json(&expected).expect("a value");
    assert_eq!(again, value);
    let written = codec.write(&again);
    let read = value_from_slice(written.as_bytes(), &QName::new("urn:t", "r"), codec.view()).expect("the message");
    assert_eq!(codec.to_json(&read), expected, "{written}");
    for (attributes, content) in [("q='z:x'", ""), ("q='{urn:q}x'", ""), ("q='a b'", ""), ("", "<e>{urn:d}e</e>")] {
        let message = format!("<r xmlns='urn:t' {attributes}>{content}</r>");
        let read = value_from_slice(message.as_bytes(), &QName::new("urn:t", "r"), codec.view());
        assert!(read.is_err(), "{message}");
    }
    let error = codec.read_json(&json!({ "@q": "q:x" })).expect_err("a prefix").to_string();
    assert_eq!(error, "[\"@q\"]: expected a qualified name as `{namespace}local`, found the string \"q:x\"");
}

#[test]
fn prefixes_are_no_names_in_json() {
    let contract = support::schema("<xs:element name='r' type='xs:QName'/>");
    let codec = Codec::of_element(&contract, "r");
    for wrong in [json!("q:a"), json!("{urn:a"), json!("{urn:a}b:c"), json!("{urn:a}"), json!(""), json!(7)] {
        let error = codec.read_json(&wrong).expect_err("no name").to_string();
        assert!(error.contains("`{namespace}local`"), "{error}");
    }
}

#[test]
fn a_request_is_built_piece_by_piece() {
    let contract = shop();
    let order = contract.operation("Order").expect("an operation");
    let request = order.build().set("customer", "Ada").set("item/0/code", "A-1").set("item/0/count", 2).nil("extra");
    let value = request.finish().expect("a request");
    assert!(matches!(value, Value::Record(_)));
    let json = json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }], "extra": null });
    assert_eq!(order.request_to_json(&value).expect("JSON"), json);
    let error = order.build().set("item/1/code", "A").finish().expect_err("a gap");
    assert_eq!(error.path(), "[\"item/1/code\"]");
}

#[test]
fn operations_are_found_by_the_end_of_their_names() {
    let contract: Contract = shop();
    for name in ["Order", "Soap11.Order", "Shop/Soap11/Order", "Shop.Soap11.Order"] {
        assert_eq!(contract.operation(name).expect("an operation").full_name(), "Shop.Soap11.Order");
    }
    assert_eq!(contract.operation("Soap12.Order").expect("an operation").full_name(), "Shop.Soap12.Order");
    let error = contract.operation("order").expect_err("no operation").to_string();
    assert_eq!(error, "there is no operation order; available: Order");
    assert!(contract.operation("p11.Order").is_err());
}

/// Empty or absent content has the schema's value; unusable defaults are ignored.
#[test]
fn defaults_and_fixed_values() {
    let contract = support::schema(
        "<xs:simpleType name='Size'><xs:union memberTypes='xs:int xs:string'/></xs:simpleType>
        <xs:complexType name='Price'><xs:simpleContent><xs:extension base='xs:decimal'>
          <xs:attribute name='currency' type='xs:string' default='EUR'/>
        </xs:extension></xs:simpleContent></xs:complexType>
        <xs:attribute name='lang' type='xs:string' default='en'/>
        <xs:element name='Note' type='xs:string' fixed='nothing'/>
        <xs:element name='Order'><xs:complexType>
          <xs:sequence>
            <xs:element name='count' type='xs:int' default='7' nillable='true'/>
            <xs:element name='size' type='t:Size' default='12' minOccurs='0'/>
            <xs:element name='price' type='t:Price' default='9.50' minOccurs='0' maxOccurs='unbounded'/>
            <xs:element name='plain' type='t:Price' minOccurs='0'/>
            <xs:element ref='t:Note' minOccurs='0'/>
            <xs:element name='worse' type='xs:string' default='' minOccurs='0'/>
          </xs:sequence>
          <xs:attribute name='version' type='xs:int' fixed='2'/>
          <xs:attribute name='bad' type='xs:int' default='two'/>
          <xs:attribute name='name' type='xs:QName' default='t:Order'/>
          <xs:attribute ref='t:lang' default='fr'/>
        </xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "Order");
    let json = |content: &str| codec.to_json(&codec.read(content));
    let attributes = |mut json: Json| {
        json["@version"] = json!(2);
        json["@lang"] = json!("fr");
        json["@name"] = json!("{urn:t}Order");
        json
    };
    let empty = "<count/><size></size><price/><price currency='CHF'></price><Note/><worse/>";
    let expected = json!({
        "count": 7,
        "size": 12,
        "price": [{ "@currency": "EUR", "$": number("9.50") }, { "@currency": "CHF", "$": number("9.50") }],
        "Note": "nothing",
        "worse": "",
    });
    assert_eq!(json(empty), attributes(expected));
    assert_eq!(json("<count xsi:nil='true'/>"), attributes(json!({ "count": null })));
    let there = "<count>1</count><size> </size><price>2</price><Note>x</Note>";
    let expected = json!({ "count": 1, "size": " ", "price": [{ "@currency": "EUR", "$": 2 }], "Note": "x" });
    assert_eq!(json(there), attributes(expected));
    let note = Codec::of_element(&contract, "Note");
    assert_eq!(note.to_json(&note.read("")), json!("nothing"));
    // JSON without an attribute becomes a message without it: the receiver has the default too.
    assert_eq!(codec.write(&codec.read_json(&json!({ "count": 1 })).expect("valid")).matches("version").count(), 0);
}

/// Converts XML to a value, to JSON, back to a value, and to XML, and compares all of them.
fn there_and_back(codec: &Codec<'_>, attributes: &str, content: &str, expected: &Json) {
    let value = codec.read_with(attributes, content);
    let json = codec.to_json(&value);
    assert_eq!(json, *expected);
    let again = codec.read_json(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
    support::assert_same(&value, &again, content);
    let (one, other) = (codec.write(&value), codec.write(&again));
    let parse = |text: &str| deltasoap_core::Node::parse(text.as_bytes()).expect("well-formed");
    assert!(parse(&one).is_equivalent(&parse(&other)), "{one}\n{other}");
}

#[test]
fn simple_values_of_any_type_keep_the_type_that_they_name() {
    let contract = support::schema(
        "<xs:simpleType name='Code'><xs:restriction base='xs:token'/></xs:simpleType>
        <xs:complexType name='T'><xs:sequence/></xs:complexType>
        <xs:element name='v' type='xs:anySimpleType'/>
        <xs:element name='r'><xs:complexType><xs:sequence>
          <xs:element name='v' type='xs:anySimpleType' minOccurs='0' maxOccurs='unbounded' nillable='true'/>
          <xs:element name='d' type='xs:anySimpleType' minOccurs='0' default='5'/>
        </xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let content = "<v>plain</v><v/><v xsi:type='xs:int'>7</v><v xsi:type='xs:string'>7</v><v xsi:type='t:Code'>A</v>\
                   <v xsi:nil='true'/><v xsi:type='xs:dateTime'>2026-01-31T12:00:00Z</v><d/>";
    let expected = json!({
        "v": [
            "plain",
            "",
            { "$type": "xsd:int", "$": 7 },
            { "$type": "xsd:string", "$": "7" },
            { "$type": "Code", "$": "A" },
            null,
            { "$type": "xsd:dateTime", "$": "2026-01-31T12:00:00Z" },
        ],
        "d": "5",
    });
    there_and_back(&codec, "", content, &expected);
    let written = codec.write(&codec.read(content));
    assert_eq!(written.matches("type=\"xsd:int\">7<").count(), 1, "{written}");
    there_and_back(
        &Codec::of_element(&contract, "v"),
        "xsi:type='xs:boolean'",
        "true",
        &json!({ "$type": "xsd:boolean", "$": true }),
    );
    let name = codec.to_json(&codec.read("<v xsi:type='xs:QName'>t:r</v>"));
    assert_eq!(name, json!({ "v": [{ "$type": "xsd:QName", "$": "{urn:t}r" }] }));
    // Numbers and booleans name their type, as in content of any type.
    let value = codec.read_json(&json!({ "v": [7, true, "x"] })).expect("simple values");
    let expected = json!([{ "$type": "xsd:int", "$": 7 }, { "$type": "xsd:boolean", "$": true }, "x"]);
    assert_eq!(codec.to_json(&value)["v"], expected);
    let error = codec.read_json(&json!({ "v": [{ "$type": "T" }] })).expect_err("no simple type");
    assert_eq!(error.path(), ".v[0][\"$type\"]");
}

#[test]
fn attributes_of_any_name_are_kept() {
    let contract = support::schema(
        "<xs:attribute name='b' type='xs:int'/>
        <xs:complexType name='Text'><xs:simpleContent><xs:extension base='xs:int'>
          <xs:attribute name='a' type='xs:int'/><xs:anyAttribute namespace='##other'/>
        </xs:extension></xs:simpleContent></xs:complexType>
        <xs:element name='r'><xs:complexType>
          <xs:sequence><xs:element name='text' type='t:Text' minOccurs='0' maxOccurs='unbounded'/></xs:sequence>
          <xs:attribute ref='t:b'/><xs:anyAttribute processContents='lax'/>
        </xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let attributes = "t:b='1' b='2' c='&lt;3' xmlns:p='urn:p' p:b='4' xml:lang='en'";
    let expected = json!({
        "@b": 1,
        "@{}b": "2",
        "@c": "<3",
        "@{http://www.w3.org/XML/1998/namespace}lang": "en",
        "@{urn:p}b": "4",
        "text": [{ "@a": 5, "@{urn:p}a": "6", "$": 7 }, { "$": 8 }],
    });
    there_and_back(&codec, attributes, "<text a='5' p:a='6'>7</text><text>8</text>", &expected);
    let others = json!({ "@c": 5, "@d": true, "text": 1 });
    let error = codec.read_json(&others).expect_err("no array");
    assert_eq!(error.path(), ".text");
    let value = codec.read_json(&json!({ "@c": 5, "@d": true })).expect("plain values");
    assert_eq!(codec.to_json(&value), json!({ "@c": "5", "@d": "true" }));
    for (wrong, path) in [
        (json!({ "@{urn:t}b": 1 }), "[\"@{urn:t}b\"]"),
        (json!({ "@c": 1, "@{}c": 2 }), "[\"@{}c\"]"),
        (json!({ "@c d": 1 }), "[\"@c d\"]"),
        (json!({ "@c": [1] }), "[\"@c\"]"),
        (json!({ "@xmlns": "urn:x" }), "[\"@xmlns\"]"),
        (
            json!({ "@{http://www.w3.org/2001/XMLSchema-instance}nil": "true" }),
            "[\"@{http://www.w3.org/2001/XMLSchema-instance}nil\"]",
        ),
        (json!({ "@c": "\u{1}" }), "[\"@c\"]"),
        (json!({ "c": 1 }), ".c"),
    ] {
        assert_eq!(codec.read_json(&wrong).expect_err("no such attribute").path(), path);
    }
}

#[test]
fn nil_elements_keep_their_attributes() {
    let contract = support::schema(
        "<xs:element name='r'><xs:complexType>
          <xs:sequence>
            <xs:element name='e' nillable='true' minOccurs='0' maxOccurs='unbounded'><xs:complexType>
              <xs:simpleContent><xs:extension base='xs:int'><xs:attribute name='a' type='xs:int'/></xs:extension></xs:simpleContent>
            </xs:complexType></xs:element>
            <xs:element name='any' nillable='true' minOccurs='0'/>
          </xs:sequence>
          <xs:anyAttribute/>
        </xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let content =
        "<e xsi:nil='true' a='5'/><e xsi:nil='true'/><e a='5'>1</e><any xsi:nil='true' xmlns:p='urn:p' p:b='6'/>";
    let expected = json!({
        "e": [{ "$nil": true, "@a": "5" }, null, { "@a": 5, "$": 1 }],
        "any": { "$nil": true, "@{urn:p}b": "6" },
    });
    there_and_back(&codec, "", content, &expected);
    there_and_back(&codec, "xsi:nil='true' c='7'", "", &json!({ "$nil": true, "@c": "7" }));
    let value = codec.read_json(&json!({ "e": [{ "$nil": true, "@a": 5 }] })).expect("nil");
    assert_eq!(codec.to_json(&value), json!({ "e": [{ "$nil": true, "@a": "5" }] }));
    for (wrong, path) in [
        (json!({ "e": [{ "$nil": true, "@b": 5 }] }), ".e[0][\"@b\"]"),
        (json!({ "e": [{ "$nil": true, "@a": null }] }), ".e[0][\"@a\"]"),
        (json!({ "e": [{ "$nil": true, "@a": "5", "$": 1 }] }), ".e[0][\"$nil\"]"),
        (json!({ "any": { "$nil": true, "@xmlns": "urn:x" } }), ".any[\"@xmlns\"]"),
    ] {
        assert_eq!(codec.read_json(&wrong).expect_err("no such attribute").path(), path);
    }
}

/// If the message may name another type than the declared one.
#[test]
fn defaults_of_types_that_others_are_derived_from() {
    let contract = support::schema(
        "<xs:complexType name='Price'><xs:simpleContent><xs:extension base='xs:int'>
          <xs:attribute name='a' type='xs:string'/></xs:extension></xs:simpleContent></xs:complexType>
        <xs:complexType name='Net'><xs:simpleContent><xs:extension base='t:Price'>
          <xs:attribute name='b' type='xs:string'/></xs:extension></xs:simpleContent></xs:complexType>
        <xs:element name='r'><xs:complexType><xs:sequence>
          <xs:element name='e' type='t:Price' default='5' maxOccurs='unbounded'/>
          <xs:element name='f' type='t:Price' fixed='6' minOccurs='0'/>
          <xs:element name='g' type='t:Price' minOccurs='0'/>
        </xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let content = "<e a='x'/><e/><e xsi:type='t:Net' b='y'></e><e a='x'>7</e><f a='z'/><g>1</g>";
    let json = codec.to_json(&codec.read(content));
    let expected = json!({
        "e": [{ "@a": "x", "$": 5 }, { "$": 5 }, { "$type": "Net", "@b": "y", "$": 5 }, { "@a": "x", "$": 7 }],
        "f": { "@a": "z", "$": 6 },
        "g": { "$": 1 },
    });
    assert_eq!(json, expected);
    let again = codec.read_json(&json).expect("a value");
    assert_eq!(codec.to_json(&again), json);
    assert!(codec.write(&again).contains(">5</"));
    // A compiled WSDL has them too.
    let file = contract.description().compile();
    let location = deltasoap_wsdl::fetch::Location::Text("a compiled file".to_owned());
    let compiled = deltasoap_wsdl::Importer::new().offline().bytes(location, file.clone()).expect("a description");
    assert!(compiled.compile() == file);
    let contract = Contract::from(compiled);
    let codec = Codec::of_element(&contract, "r");
    assert_eq!(codec.to_json(&codec.read(content)), json);
}

#[test]
fn trees_have_each_attribute_once_and_no_declarations_among_them() {
    let contract = support::schema("<xs:element name='r'/>");
    let codec = Codec::of_element(&contract, "r");
    for (attributes, path) in [
        (json!({ "@a": "1", "@{}a": "2" }), "[\"@{}a\"]"),
        (json!({ "@xmlns": "urn:x" }), "[\"@xmlns\"]"),
        (json!({ "@{http://www.w3.org/2000/xmlns/}p": "urn:x" }), "[\"@{http://www.w3.org/2000/xmlns/}p\"]"),
    ] {
        let mut tree = attributes;
        tree["$content"] = json!([]);
        assert_eq!(codec.read_json(&tree).expect_err("no such tree").path(), path);
    }
}

#[test]
fn what_is_wrong_with_a_text_is_said() {
    let content = "<xs:complexType><xs:attribute name='d' type='xs:duration'/><xs:attribute name='t' type='xs:dateTime'/>\
        <xs:attribute name='i' type='xs:decimal'/><xs:attribute name='n' type='xs:int'/></xs:complexType>";
    let contract = crate::support::schema(&format!("<xs:element name='e'>{content}</xs:element>"));
    let name = deltasoap_core::QName::new("urn:t", "e");
    for (json, expected) in [
        (r#"{"@d": "5"}"#, r#"expected a string of xsd:duration, found the string "5": no P"#),
        (r#"{"@t": "2020-02-30T00:00:00Z"}"#, "xsd:dateTime, found the string \"2020-02-30T00:00:00Z\": no such day"),
        (r#"{"@i": 1e5000}"#, ": more than 4096 digits"),
        (r#"{"@n": 2147483648}"#, "found the number 2147483648: above 2147483647"),
    ] {
        let error = contract.element_from_json(&name, &deltasoap_dynamic::json::parse(json).expect("JSON"));
        let text = error.expect_err("a wrong text").to_string();
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn numbers_with_exponents_in_unions_with_text() {
    let contract = support::schema(
        "<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='u'><xs:simpleType>\
         <xs:union memberTypes='xs:decimal xs:string'/></xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let value = codec.read_json(&json!({ "u": number("1e2") })).expect("a value");
    assert!(codec.write(&value).contains(">100<"), "{}", codec.write(&value));
}

#[test]
fn trees_declare_no_reserved_namespace() {
    let contract = support::schema(
        "<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='any' type='xs:anyType'/></xs:sequence></xs:complexType></xs:element>",
    );
    let codec = Codec::of_element(&contract, "r");
    let xmlns = json!({ "any": { "$content": [{ "$name": "{http://www.w3.org/2000/xmlns/}x" }] } });
    let xml = json!({ "any": { "$ns": { "p": "http://www.w3.org/XML/1998/namespace" }, "$content": ["p:x"] } });
    for refused in [xmlns, xml] {
        assert!(codec.read_json(&refused).is_err(), "{refused}");
    }
}
