//! Errors in messages.

use crate::support::{Codec, SHOP, schema, shop};
use deltasoap_dynamic::Contract;

/// Returns the findings of an order with this content, each as `path: message`.
fn findings(content: &str) -> Vec<String> {
    findings_of(&format!(
        "<Order xmlns='urn:shop' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>{content}</Order>"
    ))
}

fn findings_of(message: &str) -> Vec<String> {
    shop().validate(message.as_bytes()).into_iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
}

const START: &str = "<customer>A</customer><item><code>A-1</code><count>2</count></item>";

#[test]
fn what_is_right_has_no_findings() {
    for more in [
        "",
        "<pickup>2026-01-01</pickup>",
        "<payment xsi:type='Invoice'><days>5</days></payment><note>a<b xmlns=''/>c</note>",
        "<gift>a</gift><coupon>1</coupon><gift>b</gift><extra xsi:nil='true'/><x xmlns='urn:x'><y/></x>",
    ] {
        assert_eq!(findings(&format!("{START}{more}")), [""; 0], "{more}");
    }
}

#[test]
fn every_fault_is_found_at_its_place() {
    for (content, expected) in [
        ("", vec!["/Order: <customer> is missing"]),
        ("<customer>A</customer>", vec!["/Order: <item> is missing"]),
        ("<item/>", vec!["/Order/item: expected <customer>, found <item>"]),
        (
            "<customer>A</customer><item><code>a</code><count>0</count></item><item><code>A-1</code><count>x</count></item>",
            vec![
                "/Order/item[1]/code: \"a\" does not match the pattern [A-Z]{1,3}-\\d+",
                "/Order/item[1]/count: 0 is not at least 1",
                "/Order/item[2]/count: \"x\" is not of xsd:int: not a digit",
            ],
        ),
    ] {
        let found = findings(content);
        let is_same =
            found.iter().zip(&expected).all(|(one, other)| one.starts_with(other.trim_end_matches("not a digit")));
        assert!(found.len() == expected.len() && is_same, "{content}: {found:#?}");
    }
    for (more, expected) in [
        (
            "<price currency='EUR'>1</price>",
            "/Order/price: expected <item> or <pickup> or <address> or <payment> or <note> or <gift> or <coupon> or <extra>, or the end, found <price>",
        ),
        (
            "<pickup>2026-01-01</pickup><address>x</address>",
            "/Order/address: expected <payment> or <note> or <gift> or <coupon> or <extra>, or the end, found <address>",
        ),
        ("<payment/>", "/Order/payment: Payment is abstract: xsi:type has to name a type derived from it"),
        ("<payment xsi:type='Item'/>", "/Order/payment: xsi:type Item is not derived from Payment"),
        ("<payment xsi:type='z:Item'/>", "/Order/payment: xsi:type \"z:Item\" has a prefix that is not declared"),
        (
            "<payment xsi:type='Invoice'><days>500</days></payment>",
            "/Order/payment/days: \"500\" is not of xsd:unsignedByte",
        ),
        ("<gift xsi:nil='true'/>", "/Order/gift: nil, and the element is not nillable"),
        ("<gift a='1'/>", "/Order/gift: the attribute a is not allowed here"),
        ("<gift><a/></gift>", "/Order/gift/a: no elements are allowed here"),
        ("text", "/Order: no text is allowed here"),
    ] {
        let found = findings(&format!("{START}{more}"));
        assert!(found.len() == 1 && found[0].starts_with(expected), "{more}: {found:#?}");
    }
    let price = "<customer>A</customer><item><code>A-1</code><count>2</count><price>1</price></item>";
    assert_eq!(findings(price), ["/Order/item/price: the attribute currency is missing"]);
}

#[test]
fn envelopes_headers_and_faults() {
    let envelope = |content: &str| {
        format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns='urn:shop'>{content}</s:Envelope>"
        )
    };
    let body = |content: &str| envelope(&format!("<s:Body>{content}</s:Body>"));
    assert_eq!(findings_of(&body("<Ping><text>x</text></Ping>")), [""; 0]);
    assert_eq!(findings_of(&body("<Ping/>")), ["/Envelope/Body/Ping: <text> is missing"]);
    assert_eq!(
        findings_of(&body("<Pong/>")),
        ["/Envelope/Body/Pong: no operation has <{urn:shop}Pong>; available: Catalogue, Order, Ping"]
    );
    assert_eq!(
        findings_of(&body("<Ping xmlns='urn:x'/>")),
        [
            "/Envelope/Body/Ping: no operation has <{urn:x}Ping>; available: {urn:shop}Catalogue, {urn:shop}Order, {urn:shop}Ping"
        ]
    );
    assert_eq!(
        findings_of(&body("<Ping><text xmlns=''/></Ping>")),
        ["/Envelope/Body/Ping/text: expected <{urn:shop}text>, found <text>"]
    );
    assert_eq!(findings_of(&body("")), ["/Envelope/Body: the Body is empty"]);
    let header = envelope("<s:Header><Session/></s:Header><s:Body><Ping><text/></Ping></s:Body>");
    assert_eq!(findings_of(&header), ["/Envelope/Header/Session: <token> is missing"]);
    let fault = "<s:Fault><faultcode xmlns=''>s:Client</faultcode><faultstring xmlns=''/>\
        <detail xmlns=''><SoldOut xmlns='urn:shop'><code>?</code></SoldOut></detail></s:Fault>";
    let found = findings_of(&body(fault));
    assert!(found.len() == 1 && found[0].starts_with("/Envelope/Body/Fault/detail/SoldOut/code: "), "{found:?}");
    assert_eq!(findings_of("<other/>"), ["/other: neither a SOAP envelope nor an element that the contract declares"]);
    assert_eq!(shop().validate(b"<a><b></a>").len(), 1);
}

const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";
const PING: &str = "<Ping xmlns='urn:shop'><text/></Ping>";

/// Returns the findings of an envelope with this content, in which the prefix `s` is that of SOAP.
fn findings_in(contract: &Contract, namespace: &str, content: &str) -> Vec<String> {
    let message = format!("<s:Envelope xmlns:s='{namespace}'>{content}</s:Envelope>");
    contract.validate(message.as_bytes()).into_iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
}

#[test]
fn envelopes_are_of_a_version_that_the_operation_is_bound_to() {
    let contract = |removed: &str| {
        let start = SHOP.find(&format!("<binding name=\"{removed}\"")).expect("a binding");
        let end = start + SHOP[start..].find("</binding>").expect("its end") + "</binding>".len();
        let port = format!("<port name=\"{}\"", removed.replace("Shop", "Soap"));
        let text = SHOP[..start].to_owned() + &SHOP[end..];
        let port = text.find(&port).expect("a port");
        let end = port + text[port..].find("</port>").expect("its end") + "</port>".len();
        let text = text[..port].to_owned() + &text[end..];
        deltasoap_dynamic::Contract::from_text(&text).expect("a description")
    };
    let body = format!("<s:Body>{PING}</s:Body>");
    let code = "<s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text xml:lang='en'/></s:Reason>";
    let fault = format!("<s:Body><s:Fault>{code}</s:Fault></s:Body>");
    let (only_11, only_12) = (contract("Shop12"), contract("Shop11"));
    assert_eq!(findings_in(&only_11, SOAP11, &body), [""; 0]);
    assert_eq!(
        findings_in(&only_11, SOAP12, &body),
        ["/Envelope: the envelope is SOAP 1.2, and the operation Ping is bound to SOAP 1.1 only"]
    );
    assert_eq!(
        findings_in(&only_11, SOAP12, &fault),
        ["/Envelope: the envelope is SOAP 1.2, and all operations are bound to SOAP 1.1 only"]
    );
    assert_eq!(findings_in(&only_12, SOAP12, &body), [""; 0]);
    assert_eq!(findings_in(&only_12, SOAP12, &fault), [""; 0]);
    assert_eq!(
        findings_in(&only_12, SOAP11, &body),
        ["/Envelope: the envelope is SOAP 1.1, and the operation Ping is bound to SOAP 1.2 only"]
    );
    assert_eq!(findings_in(&shop(), SOAP11, &body), [""; 0]);
    assert_eq!(findings_in(&shop(), SOAP12, &body), [""; 0]);
}

#[test]
fn what_stands_around_a_body_is_as_its_version_says() {
    let (shop, body) = (shop(), format!("<s:Body>{PING}</s:Body>"));
    let twice = format!("{body}{body}");
    let late = format!("{body}<s:Header/>");
    let order = "an envelope has at most one Header, and then one Body";
    for namespace in [SOAP11, SOAP12] {
        assert_eq!(findings_in(&shop, namespace, &twice), [format!("/Envelope/Body[2]: {order}")]);
        assert_eq!(findings_in(&shop, namespace, &late), [format!("/Envelope/Header: {order}")]);
        assert_eq!(findings_in(&shop, namespace, "<s:Header/>"), ["/Envelope: the envelope has no Body"]);
        assert_eq!(findings_in(&shop, namespace, &format!("<x/>{body}")), [format!("/Envelope/x: {order}")]);
        assert_eq!(findings_in(&shop, namespace, &format!("text{body}")), ["/Envelope: no text is allowed here"]);
    }
    let (bare, named) = (format!("{body}<trailer/>"), format!("{body}<t:trailer xmlns:t='urn:t'/>"));
    assert_eq!(
        findings_in(&shop, SOAP11, &bare),
        ["/Envelope/trailer: an element after the Body has to be in a namespace (SOAP 1.1, section 4)"]
    );
    assert_eq!(findings_in(&shop, SOAP11, &named), [""; 0]);
    for content in [&bare, &named] {
        let expected = "/Envelope/trailer: nothing is allowed after the Body (SOAP 1.2 part 1, section 5.1)";
        assert_eq!(findings_in(&shop, SOAP12, content), [expected]);
    }
}

#[test]
fn envelope_header_and_body_have_the_attributes_of_their_version() {
    let findings = |namespace: &str, attributes: [&str; 3]| {
        let [envelope, header, body] = attributes;
        let message = format!(
            "<s:Envelope xmlns:s='{namespace}' {envelope}><s:Header {header}/><s:Body {body}>{PING}</s:Body></s:Envelope>"
        );
        findings_of(&message)
    };
    let style = "s:encodingStyle='urn:e'";
    assert_eq!(findings(SOAP11, [style, style, style]), [""; 0]);
    let not_here = "the attribute encodingStyle is not allowed here (SOAP 1.2 part 1, section 5.1.1)";
    let expected = ["", "/Header", "/Body"].map(|place| format!("/Envelope{place}: {not_here}"));
    assert_eq!(findings(SOAP12, [style, style, style]), expected);
    let bare = "a='b' x:a='b' xmlns:x='urn:x'";
    let expected = [("", "5.1"), ("/Header", "5.2"), ("/Body", "5.3")].map(|(place, section)| {
        format!("/Envelope{place}: the attribute a has to be in a namespace (SOAP 1.2 part 1, section {section})")
    });
    assert_eq!(findings(SOAP12, [bare, bare, bare]), expected);
    assert_eq!(
        findings(SOAP11, [bare, bare, bare]),
        ["/Envelope: the attribute a has to be in a namespace (SOAP 1.1, section 4)"]
    );
    assert_eq!(findings(SOAP12, ["s:zip='1'", "", ""]), ["/Envelope: SOAP 1.2 has no attribute zip"]);
    assert_eq!(findings(SOAP11, ["", "", "s:zip='1'"]), ["/Envelope/Body: SOAP 1.1 has no attribute zip"]);
}

#[test]
fn elements_of_the_envelopes_namespace_are_those_that_soap_has() {
    let (shop, body) = (shop(), format!("<s:Body>{PING}</s:Body>"));
    for (namespace, content, expected) in [
        (SOAP11, format!("{body}<s:zip/>"), &["/Envelope/zip: SOAP has no <zip> (SOAP 1.1, section 4)"][..]),
        (
            SOAP11,
            format!("<s:Header><s:Upgrade/></s:Header>{body}"),
            &["/Envelope/Header/Upgrade: SOAP has no header block <Upgrade> (SOAP 1.1, section 4.2)"],
        ),
        (
            SOAP12,
            format!("<s:Header><s:zip/></s:Header>{body}"),
            &["/Envelope/Header/zip: SOAP has no header block <zip> (SOAP 1.2 part 1, section 5.4)"],
        ),
        (SOAP12, format!("<s:Header><s:Upgrade/><s:NotUnderstood/></s:Header>{body}"), &[]),
    ] {
        assert_eq!(findings_in(&shop, namespace, &content), expected, "{content}");
    }
}

#[test]
fn a_node_type_is_one_of_three() {
    let attribute = |value: &str| {
        let ping = "<Ping xmlns='urn:shop'><text/></Ping>".replace(
            "<text/>",
            &format!("<text c:nodeType='{value}' xmlns:c='http://www.w3.org/2003/05/soap-encoding'/>"),
        );
        findings_in(&shop(), SOAP12, &format!("<s:Body>{ping}</s:Body>"))
    };
    let expected = "/Envelope/Body/Ping/text: attribute nodeType: \"zip\" is not simple, struct or array \
                    (SOAP 1.2 part 2, section 3.1.7)";
    assert!(attribute("zip").contains(&expected.to_owned()), "{:?}", attribute("zip"));
    for known in ["simple", "struct", " array "] {
        assert!(!attribute(known).iter().any(|finding| finding.contains("nodeType:")), "{known}");
    }
}

#[test]
fn values_of_any_length_are_shown_cut() {
    let long = "9".repeat(100_000);
    let findings = |facets: &str| {
        let content = format!(
            "<xs:element name='Op'><xs:simpleType><xs:restriction base='xs:integer'>{facets}</xs:restriction></xs:simpleType>\
             </xs:element>"
        );
        schema(&content).validate(format!("<Op xmlns='urn:t'>{long}</Op>").as_bytes())
    };
    for facets in ["", "<xs:maxInclusive value='1'/>", "<xs:pattern value='1'/>", "<xs:enumeration value='1'/>"] {
        let findings = findings(facets);
        assert!(findings.len() == 1 && findings[0].message.len() < 300, "{facets}: {}", findings.len());
        assert!(findings[0].message.contains("999…"), "{}", findings[0].message);
    }
}

#[test]
fn whether_a_block_must_be_understood_is_said_as_its_version_has_it() {
    let findings = |namespace, value| {
        let block = format!("<h:h xmlns:h='urn:h' s:mustUnderstand='{value}'/>");
        findings_in(&shop(), namespace, &format!("<s:Header>{block}</s:Header><s:Body>{PING}</s:Body>"))
    };
    for (namespace, good, bad) in [
        (SOAP11, &["0", "1"][..], &["yes", "true", "false", "", "2"][..]),
        (SOAP12, &["0", "1", "true", "false", " true "], &["yes", "TRUE", ""]),
    ] {
        for value in good {
            assert_eq!(findings(namespace, value), [""; 0], "{namespace} {value}");
        }
        for value in bad {
            let found = findings(namespace, value);
            let expected = format!("/Envelope/Header/h: attribute mustUnderstand: {value:?} is not ");
            assert!(found.len() == 1 && found[0].starts_with(&expected), "{namespace} {value}: {found:?}");
        }
    }
}

#[test]
fn faults_have_what_their_version_asks_for() {
    let findings = |namespace, content: &str| {
        findings_in(&shop(), namespace, &format!("<s:Body><s:Fault>{content}</s:Fault></s:Body>"))
    };
    let (code, text) = ("<faultcode>s:Client</faultcode>", "<faultstring>x</faultstring>");
    for (content, expected) in [
        (format!("{code}{text}"), &[][..]),
        (format!("{text}{code}<faultactor>urn:a</faultactor><detail/><x:more xmlns:x='urn:x'/>"), &[]),
        (code.to_owned(), &["/Envelope/Body/Fault: <faultstring> is missing (SOAP 1.1, section 4.4)"]),
        (text.to_owned(), &["/Envelope/Body/Fault: <faultcode> is missing (SOAP 1.1, section 4.4)"]),
        (
            format!("{code}<s:faultstring/>"),
            &["/Envelope/Body/Fault/faultstring: <faultstring> has to be in no namespace (SOAP 1.1, section 4.4)"],
        ),
        (
            format!("{code}{text}{text}"),
            &["/Envelope/Body/Fault/faultstring[2]: a fault has at most one <faultstring>"],
        ),
        (
            format!("{code}{text}<more/>"),
            &["/Envelope/Body/Fault/more: other elements of a fault have to be in a namespace (SOAP 1.1, section 4.4)"],
        ),
        (
            format!("{code}<faultstring><b/>x</faultstring>"),
            &["/Envelope/Body/Fault/faultstring/b: no elements are allowed here"],
        ),
        (
            format!("<faultcode>q:Client</faultcode>{text}"),
            &["/Envelope/Body/Fault/faultcode: \"q:Client\" has a prefix that is not declared"],
        ),
        (format!("<faultcode/>{text}"), &["/Envelope/Body/Fault/faultcode: \"\" is not a qualified name"]),
        (
            format!("<faultcode>1st</faultcode>{text}"),
            &["/Envelope/Body/Fault/faultcode: \"1st\" is not a qualified name"],
        ),
    ] {
        assert_eq!(findings(SOAP11, &content), expected, "{content}");
    }
    let code = "<s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>s:x</s:Value></s:Subcode></s:Code>";
    let reason = "<s:Reason><s:Text xml:lang='en'>x</s:Text></s:Reason>";
    for (content, expected) in [
        (format!("{code}{reason}<s:Node>urn:n</s:Node><s:Role>urn:r</s:Role><s:Detail/>"), &[][..]),
        (code.to_owned(), &["/Envelope/Body/Fault: <Reason> is missing (SOAP 1.2 part 1, section 5.4)"]),
        (reason.to_owned(), &["/Envelope/Body/Fault: <Code> is missing (SOAP 1.2 part 1, section 5.4)"]),
        (
            format!("{reason}{code}"),
            &[
                "/Envelope/Body/Fault/Code: <Code> is not allowed here: Fault holds Code, Reason, Node, Role, Detail, in this order",
            ],
        ),
        (
            format!("{}{reason}", code.replace("s:Sender", "s:Client")),
            &[
                "/Envelope/Body/Fault/Code/Value: \"s:Client\" is not a code of SOAP 1.2; the codes are VersionMismatch, MustUnderstand, \
               DataEncodingUnknown, Sender, Receiver",
            ],
        ),
        (
            format!("{}{reason}", code.replace("s:x", "q:x")),
            &["/Envelope/Body/Fault/Code/Subcode/Value: \"q:x\" has a prefix that is not declared"],
        ),
        (
            format!("{}{reason}", code.replace("s:x", "s:x<b/>")),
            &["/Envelope/Body/Fault/Code/Subcode/Value/b: no elements are allowed here"],
        ),
        (
            format!(
                "{code}{}<s:Detail><d s:encodingStyle='urn:e'/></s:Detail>",
                reason.replace("lang", "lang='en' s:encodingStyle").replace("'urn:e''", "'")
            ),
            &["/Envelope/Body/Fault/Reason/Text: the attribute encodingStyle is not allowed here \
                 (SOAP 1.2 part 1, section 5.1.1)"],
        ),
        (
            format!("{code}<s:Reason/>"),
            &["/Envelope/Body/Fault/Reason: <Text> is missing (SOAP 1.2 part 1, section 5.4.2)"],
        ),
        (
            format!("{code}{}", reason.replace(" xml:lang='en'", "")),
            &["/Envelope/Body/Fault/Reason/Text: the attribute xml:lang is missing (SOAP 1.2 part 1, section 5.4.2)"],
        ),
    ] {
        assert_eq!(findings(SOAP12, &content), expected, "{content}");
    }
    let beside = format!("<s:Body><s:Fault>{code}{reason}</s:Fault>{PING}</s:Body>");
    assert_eq!(
        findings_in(&shop(), SOAP12, &beside),
        ["/Envelope/Body/Ping: nothing else is allowed in the Body with a fault"]
    );
}

#[test]
fn positions_are_lines_and_columns_of_characters() {
    let message =
        "<?xml version='1.0'?>\n<Order xmlns='urn:shop'><customer>\u{e4}</customer><item>\n \u{e4}</item></Order>";
    let found = shop().validate(message.as_bytes());
    assert_eq!((found[0].line, found[0].column), (2, 47));
    let wide: Vec<u8> = "\u{feff}"
        .encode_utf16()
        .chain(message.replace("<?xml version='1.0'?>", "").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(shop().validate(&wide)[0].line, 2);
}

/// Checks which contents of `<Op>` are valid by a schema.
pub(super) fn check(content: &str, good: &[&str], bad: &[(&str, &str)]) {
    let contract = schema(content);
    let findings = |message: &str| {
        let xsi = "http://www.w3.org/2001/XMLSchema-instance";
        let message = message.replacen("<Op", &format!("<Op xmlns='urn:t' xmlns:t='urn:t' xmlns:xsi='{xsi}'"), 1);
        contract.validate(message.as_bytes())
    };
    for message in good {
        assert_eq!(findings(message), [], "{message}");
    }
    for (message, expected) in bad {
        let found = findings(message);
        assert!(found.iter().any(|it| it.message.contains(expected)), "{message}: {found:#?}");
    }
}

pub(super) fn op(content: &str) -> String {
    format!("<xs:element name='Op'><xs:complexType>{content}</xs:complexType></xs:element>")
}

#[test]
fn values_are_compared_and_not_their_texts() {
    check(
        &op(
            "<xs:sequence><xs:element name='d' type='xs:boolean' fixed='1'/><xs:element name='n' type='xs:decimal' fixed='1.0'/>\
             <xs:element name='e' minOccurs='0'><xs:simpleType><xs:restriction base='xs:dateTime'>\
             <xs:enumeration value='2026-01-01T00:00:00Z'/></xs:restriction></xs:simpleType></xs:element></xs:sequence>\
             <xs:attribute name='a' type='xs:int' fixed='7'/>",
        ),
        &[
            "<Op><d>true</d><n>1</n></Op>",
            "<Op a='+07'><d/><n/></Op>",
            "<Op><d>1</d><n>1.00</n><e>2026-01-01T01:00:00+01:00</e></Op>",
        ],
        &[
            ("<Op><d>false</d><n>1</n></Op>", "instead of the fixed value"),
            ("<Op><d>1</d><n>1.1</n></Op>", "instead of the fixed value"),
            ("<Op a='8'><d/><n/></Op>", "attribute a: \"8\" instead of the fixed value"),
            ("<Op><d/><n/><e>2026-01-01T00:00:00</e></Op>", "is none of"),
        ],
    );
}

/// The default of an empty element has the schema's prefixes.
#[test]
fn an_empty_element_is_its_default_name() {
    let default = "<xs:sequence><xs:element name='e' type='xs:QName' default='d:e' xmlns:d='urn:d'/></xs:sequence>";
    check(&op(default), &["<Op><e/></Op>", "<Op><e>t:e</e></Op>"], &[("<Op><e>d:e</e></Op>", "is not of xsd:QName")]);
}

#[test]
fn times_and_durations_have_bounds_and_lexical_forms() {
    let restricted = |base: &str, facet: &str| {
        format!("<xs:simpleType><xs:restriction base='xs:{base}'><xs:{facet}/></xs:restriction></xs:simpleType>")
    };
    let (span, time) =
        (restricted("duration", "maxInclusive value='P1D'"), restricted("time", "minInclusive value='12:00:00'"));
    check(
        &op(&format!(
            "<xs:choice><xs:element name='d'>{span}</xs:element><xs:element name='t'>{time}</xs:element>\
             <xs:element name='m' type='xs:gMonthDay'/><xs:element name='i' type='xs:dateTime'/></xs:choice>"
        )),
        &["<Op><d>PT24H</d></Op>", "<Op><t>12:00:00</t></Op>", "<Op><m>--02-29</m></Op>"],
        &[
            ("<Op><d>P400D</d></Op>", "P400D is not at most P1D"),
            ("<Op><d>P1M</d></Op>", "P1M is not at most P1D"),
            ("<Op><d>P</d></Op>", "is not of xsd:duration"),
            ("<Op><t>01:00:00</t></Op>", "01:00:00 is not at least 12:00:00"),
            ("<Op><m>--02-31</m></Op>", "is not of xsd:gMonthDay"),
            ("<Op><i>+2001-07-11T12:23:45</i></Op>", "is not of xsd:dateTime"),
        ],
    );
}

#[test]
fn types_may_be_those_of_unions_and_not_those_that_are_blocked() {
    check(
        &("<xs:simpleType name='A'><xs:restriction base='xs:int'/></xs:simpleType><xs:simpleType name='U'>\
           <xs:union memberTypes='t:A xs:date'/></xs:simpleType><xs:complexType name='B'><xs:sequence/></xs:complexType>\
           <xs:complexType name='E'><xs:complexContent><xs:extension base='t:B'><xs:attribute name='x'/></xs:extension>\
           </xs:complexContent></xs:complexType><xs:element name='h' type='xs:int' block='substitution'/>\
           <xs:element name='s' type='xs:int' substitutionGroup='t:h'/>"
            .to_owned()
            + &op("<xs:choice><xs:element name='u' type='t:U'/><xs:element name='b' type='t:B' block='extension'/>\
                   <xs:element name='c' type='t:B'/><xs:element ref='t:h'/></xs:choice>")),
        &["<Op><u xsi:type='t:A'>5</u></Op>", "<Op><c xsi:type='t:E' x='1'/></Op>", "<Op><h>1</h></Op>"],
        &[
            ("<Op><u xsi:type='xs:string' xmlns:xs='http://www.w3.org/2001/XMLSchema'>5</u></Op>", "is not derived from U"),
            ("<Op><b xsi:type='t:E' x='1'/></Op>", "E is blocked as a replacement of B"),
            ("<Op><s>1</s></Op>", "expected <u>"),
        ],
    );
}

/// XSD 1.0 part 1, 3.3.6, Substitution Group OK (Transitive): a type between those of member and
/// head may exclude the member.
#[test]
fn types_between_a_head_and_its_substitute_may_keep_it_out() {
    let extension = |name: &str, base: &str, block: &str| {
        format!(
            "<xs:complexType name='{name}' {block}><xs:complexContent><xs:extension base='t:{base}'><xs:attribute name='{name}'/>\
             </xs:extension></xs:complexContent></xs:complexType>"
        )
    };
    let types = |block: &str| {
        "<xs:complexType name='A'><xs:sequence/></xs:complexType>".to_owned()
            + &extension("B", "A", block)
            + &extension("C", "B", "")
            + "<xs:element name='h' type='t:A'/><xs:element name='b' type='t:B' substitutionGroup='t:h'/>\
               <xs:element name='c' type='t:C' substitutionGroup='t:h'/>"
            + &op("<xs:sequence><xs:element ref='t:h'/></xs:sequence>")
    };
    let (b, c) = ("<Op><b/></Op>", "<Op><c/></Op>");
    check(&types(""), &[b, c], &[]);
    check(&types("block='restriction'"), &[b, c], &[]);
    check(&types("block='extension'"), &[b], &[(c, "expected <")]);
}

#[test]
fn abstract_elements_are_told_as_such_with_what_may_stand_for_them() {
    let elements = "<xs:element name='h' type='xs:int' abstract='true'/><xs:element name='a' type='xs:int' substitutionGroup='t:h'/>
        <xs:element name='b' type='xs:int' substitutionGroup='t:a'/><xs:element name='none' type='xs:int' abstract='true'/>
        <xs:element name='e'><xs:complexType><xs:sequence><xs:element ref='t:h'/><xs:element ref='t:none' minOccurs='0'/></xs:sequence>
        </xs:complexType></xs:element>";
    let contract = schema(elements);
    for (content, expected) in [
        ("<a>1</a>", &[][..]),
        ("<h>1</h>", &["/e/h: the element is abstract: an element that can replace it is needed: <a> or <b>"]),
        ("<x/>", &["/e/x: expected <a> or <b>, found <x>"]),
        ("", &["/e: <a> or <b> is missing"]),
        ("<b>1</b><x/>", &["/e/x: expected an element that can replace the abstract <none>, or the end, found <x>"]),
        (
            "<b>x</b><none>1</none>",
            &[
                "/e/b: \"x\" is not of xsd:int: not a digit",
                "/e/none: the element is abstract: the contract declares nothing that can replace it",
            ],
        ),
    ] {
        let found = contract.validate(format!("<e xmlns='urn:t'>{content}</e>").as_bytes());
        let found: Vec<_> = found.iter().map(|it| format!("{}: {}", it.path, it.message)).collect();
        assert_eq!(found, expected, "{content}");
    }
}

#[test]
fn wildcards_ask_for_what_they_say() {
    let any = |process: &str| {
        let content = format!(
            "<xs:sequence><xs:any processContents='{process}'/></xs:sequence><xs:anyAttribute processContents='{process}'/>"
        );
        op(&content) + "<xs:element name='known' type='xs:int'/><xs:attribute name='a' type='xs:int'/>"
    };
    let (unknown, wrong) = ("<Op><other xmlns=''/></Op>", "<Op><known>x</known></Op>");
    check(
        &any("strict"),
        &["<Op t:a='1'><known>1</known></Op>"],
        &[
            (unknown, "<other> is not declared"),
            (wrong, "is not of xsd:int"),
            ("<Op/>", "an element is missing"),
            ("<Op t:a='x'><known>1</known></Op>", "attribute a: \"x\" is not of xsd:int"),
            ("<Op b='1'><known>1</known></Op>", "b is not declared"),
        ],
    );
    check(&any("lax"), &[unknown, "<Op b='1'><known>1</known></Op>"], &[(wrong, "is not of xsd:int")]);
    check(&any("skip"), &[unknown, wrong, "<Op t:a='x'><known/></Op>"], &[("<Op/>", "an element is missing")]);
}

#[test]
fn attributes_that_are_prohibited_and_counts_within_counts_are_as_they_are_written() {
    check(
        &op("<xs:sequence minOccurs='2' maxOccurs='10'><xs:element name='e' maxOccurs='2'/></xs:sequence>\
             <xs:attribute name='a' use='prohibited'/>"),
        &["<Op><e/><e/></Op>"],
        &[("<Op><e/></Op>", "<e> is missing"), ("<Op a='1'><e/><e/></Op>", "the attribute a is not allowed here")],
    );
    check(
        &op(
            "<xs:attribute name='a'><xs:simpleType><xs:restriction base='xs:string'><xs:pattern value='a*?'/></xs:restriction>\
             </xs:simpleType></xs:attribute>",
        ),
        &[],
        &[("<Op a='a'/>", "the pattern a*? is not valid in XML Schema")],
    );
}

#[test]
fn patterns_that_are_none_are_noted_once_with_their_place() {
    let of = |pattern: &str| {
        format!(
            "<xs:simpleType><xs:restriction base='xs:string'><xs:pattern value='{pattern}'/></xs:restriction></xs:simpleType>"
        )
    };
    let schema = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>\n<xs:element name='a'>{}</xs:element>\n\
         <xs:element name='b'>{}</xs:element>\n<xs:element name='c'><xs:complexType><xs:attribute name='x'>\n{}</xs:attribute>\
         </xs:complexType></xs:element></xs:schema>",
        of("a*?"),
        of("a*?"),
        of("(")
    );
    let contract = deltasoap_dynamic::Contract::from_text(&schema).expect("a schema");
    let notes: Vec<_> = contract.notes().into_iter().map(|note| (note.position.line, note.text)).collect();
    let text = |pattern| format!("the pattern {pattern} is not valid in XML Schema: no value matches it");
    assert_eq!(notes, [(2, text("a*?")), (5, text("("))]);
    assert_eq!(contract.validate(b"<a>a</a>").len(), 1);
}

/// Returns the notes of a schema for `urn:t`, whose content begins in line 2.
fn notes(content: &str) -> Vec<(u32, String)> {
    let schema = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'>\n{content}</xs:schema>"
    );
    let contract = deltasoap_dynamic::Contract::from_text(&schema).expect("a schema");
    contract.notes().into_iter().map(|note| (note.position.line, note.text)).collect()
}

#[test]
fn defaults_and_enumerated_values_that_are_not_of_their_types_are_noted() {
    let code = "<xs:simpleType name='Code'><xs:restriction base='xs:string'><xs:pattern value='[A-Z]'/></xs:restriction></xs:simpleType>";
    let text = "<xs:complexType name='Text'><xs:simpleContent><xs:extension base='xs:int'><xs:attribute name='n' type='xs:int' \
                default='many'/></xs:extension></xs:simpleContent></xs:complexType>";
    let few = |name: &str, base: &str, values: &[&str]| {
        let values: String = values.iter().map(|it| format!("<xs:enumeration value='{it}'/>")).collect();
        format!(
            "<xs:simpleType name='{name}'><xs:restriction base='{base}'>{values}</xs:restriction></xs:simpleType>\n"
        )
    };
    let types = format!("{code}{}{}", few("Few", "xs:string", &["a", "b"]), few("Names", "xs:QName", &["t:a", "b"]));
    for (content, expected) in [
        ("<xs:element name='e' type='xs:int' default='x'/>".to_owned(), "the default of element {urn:t}e is not of its type: \"x\" is not of xsd:int"),
        ("<xs:element name='e' type='xs:int' fixed=''/>".to_owned(), "the fixed value of element {urn:t}e is not of its type: \"\" is not of"),
        ("<xs:element name='e' type='t:Code' default='a'/>".to_owned(), "the default of element {urn:t}e is not of its type: \"a\" does not match"),
        ("<xs:element name='e' type='t:Few' default='c'/>".to_owned(), "the default of element {urn:t}e is not of its type: \"c\" is none of"),
        (format!("{text}<xs:element name='e' type='t:Text' default='1'/>"), "the default of attribute n is not of its type: \"many\" is not of xsd:int"),
        (text.replace("many", "1") + "<xs:element name='e' type='t:Text' default='x'/>", "the default of element {urn:t}e is not of its type"),
        ("<xs:element name='e' type='xs:QName' fixed='no:a'/>".to_owned(), "the fixed value of element {urn:t}e is not of its type: \"no:a\" is not of xsd:QName: its prefix is not"),
        ("<xs:element name='e' type='t:Names' default='t:b'/>".to_owned(), "the default of element {urn:t}e is not of its type: \"t:b\" is none of"),
        ("<xs:complexType name='T'><xs:attribute name='n' type='xs:QName' default='no:a'/></xs:complexType>".to_owned(), "the default of attribute n is not of its type: \"no:a\""),
        (few("E", "xs:int", &["1", "one"]), "type {urn:t}E enumerates a value that is not of its base type: \"one\" is not of xsd:int"),
        (few("E", "t:Few", &["a", "c"]), "type {urn:t}E enumerates a value that is not of its base type: \"c\" is none of"),
        (few("E", "xs:QName", &["t:a", "no:a"]), "type {urn:t}E enumerates a value that is not of its base type: \"no:a\" is not of"),
        (few("E", "t:Names", &["t:a", "t:b"]), "type {urn:t}E enumerates a value that is not of its base type: \"t:b\" is none of"),
        (
            "<xs:element name='e'><xs:simpleType><xs:restriction base='xs:boolean'><xs:enumeration value='yes'/></xs:restriction></xs:simpleType></xs:element>".to_owned(),
            "a type without a name enumerates a value that is not of its base type: \"yes\" is not of xsd:boolean",
        ),
    ] {
        let found: Vec<_> = notes(&format!("{types}{content}")).into_iter().filter(|(_, it)| it.contains("not of its")).collect();
        let [(line, note)] = &found[..] else { panic!("{content}: {found:?}") };
        assert!(*line == 4 && note.starts_with(expected), "{content}: {line} {note}");
    }
    let union = "<xs:simpleType name='U'><xs:union memberTypes='xs:int t:Few'/></xs:simpleType>";
    let list = "<xs:simpleType name='L'><xs:list itemType='t:U'/></xs:simpleType>";
    let good = format!(
        "{types}{union}{list}{}{}{}<xs:element name='a' type='t:L' default=' 1 a '/><xs:element name='b' type='xs:anyType' default='x'/>\
         <xs:element name='c' type='xs:int' default=' 7 '/><xs:element name='d' type='t:Names' default='t:a'/>\
         <xs:element name='e' type='xs:QName' fixed='a'/>",
        few("F", "t:U", &["1", "b"]),
        few("G", "t:Names", &["t:a", "b"]),
        few("H", "xs:decimal", &["1.0", " 2 "])
    );
    assert_eq!(notes(&good), []);
}

/// A few lines can require any number of comparisons.
#[test]
fn values_are_looked_at_within_bounds() {
    let begin = std::time::Instant::now();
    let values: String = (0..20_000).map(|n| format!("<xs:enumeration value='v{n}'/>")).collect();
    let mut content = String::new();
    for (name, base) in [("a", "xs:string"), ("b", "t:a"), ("c", "t:b"), ("d", "t:c")] {
        content += &format!(
            "<xs:simpleType name='{name}'><xs:restriction base='{base}'>{values}</xs:restriction></xs:simpleType>"
        );
    }
    assert_eq!(notes(&content), []);
    let wrong: String = (0..1000).map(|n| format!("<xs:element name='e{n}' type='xs:int' default='x'/>")).collect();
    assert_eq!(notes(&wrong).len(), 100);
    assert!(begin.elapsed() < std::time::Duration::from_secs(60), "{:?}", begin.elapsed());
}

/// White space of a union's text is that of the member that accepts it (XSD 1.0 part 2, 4.3.6).
#[test]
fn white_space_of_a_union_is_that_of_its_member() {
    let restricted = |base: &str, values: &[&str]| {
        let values: String = values.iter().map(|value| format!("<xs:enumeration value='{value}'/>")).collect();
        format!("<xs:restriction base='{base}'>{values}</xs:restriction>")
    };
    let simple = |name: &str, content: &str| format!("<xs:simpleType name='{name}'>{content}</xs:simpleType>");
    let types = simple("Words", &restricted("xs:string", &["a  b", " c "]))
        + &simple("U", "<xs:union memberTypes='t:Words xs:int'/>")
        + &simple("V", "<xs:union memberTypes='xs:int xs:string'/>")
        + &simple("Some", &restricted("t:V", &["1", "d  e"]))
        + &simple("Spaced", "<xs:restriction base='t:V'><xs:pattern value='[0-9]|f  g'/></xs:restriction>");
    let element = |name: &str, ty: &str| format!("<xs:element name='{name}' type='t:{ty}'/>");
    let choice = element("u", "U") + &element("some", "Some") + &element("spaced", "Spaced");
    check(
        &(types + &op(&format!("<xs:choice>{choice}</xs:choice>"))),
        &[
            "<Op><u>a  b</u></Op>",
            "<Op><u> c </u></Op>",
            "<Op><u> 7 </u></Op>",
            "<Op><some> 1 </some></Op>",
            "<Op><some>d  e</some></Op>",
            "<Op><spaced> 5\n</spaced></Op>",
            "<Op><spaced>f  g</spaced></Op>",
        ],
        &[
            ("<Op><u>a b</u></Op>", "matches none of the union's types"),
            ("<Op><u>c</u></Op>", "matches none of the union's types"),
            ("<Op><some>d e</some></Op>", "is none of \"1\", \"d  e\""),
            ("<Op><some> d  e</some></Op>", "is none of \"1\", \"d  e\""),
            ("<Op><spaced>f g</spaced></Op>", "does not match the pattern"),
            ("<Op><spaced> f  g</spaced></Op>", "does not match the pattern"),
        ],
    );
}

/// Nothing matches a choice without alternatives; an optional one is absent (XSD 1.0 part 1,
/// 3.8.4).
#[test]
fn nothing_meets_a_choice_without_alternatives() {
    let impossible = "nothing can be valid here: the schema requires a choice that has no alternatives";
    for (model, content, expected) in [
        ("<xs:choice/>", "", vec![impossible]),
        ("<xs:choice/>", "<a xmlns='urn:t'/>", vec!["nothing more is allowed here, found <a>"]),
        ("<xs:choice><xs:element name='a' minOccurs='0' maxOccurs='0'/></xs:choice>", "", vec![impossible]),
        ("<xs:choice minOccurs='0'/>", "", vec![]),
        ("<xs:sequence><xs:choice minOccurs='0'/></xs:sequence>", "", vec![]),
        ("<xs:sequence><xs:element name='a'/><xs:choice/></xs:sequence>", "<a xmlns='urn:t'/>", vec![impossible]),
        ("<xs:choice><xs:element name='a'/><xs:choice/></xs:choice>", "<a xmlns='urn:t'/>", vec![]),
        ("<xs:choice><xs:element name='a'/><xs:choice/></xs:choice>", "", vec!["<a> is missing"]),
        ("<xs:choice><xs:sequence/><xs:choice/></xs:choice>", "", vec![]),
    ] {
        let contract = schema(&format!("<xs:element name='r'><xs:complexType>{model}</xs:complexType></xs:element>"));
        let message = format!("<r xmlns='urn:t'>{content}</r>");
        let found: Vec<_> = contract.validate(message.as_bytes()).into_iter().map(|it| it.message).collect();
        assert_eq!(found, expected, "{model} {content}");
        // Reading is as lenient as before.
        if content.is_empty() && !model.contains("name='a'/>") {
            assert_eq!(
                Codec::of_element(&contract, "r").write(&Codec::of_element(&contract, "r").read("")),
                "<ns:r xmlns:ns=\"urn:t\"/>"
            );
        }
    }
}

/// By text and by name: comparing each value with each other one would take longer.
#[test]
fn large_enumerations_and_choices_take_little_time() {
    let count = 6_000;
    let each = |one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    let values = each(&|number| format!("<xs:enumeration value='{number}.5'/>"));
    let enumerated = schema(&format!(
        "<xs:simpleType name='E'><xs:restriction base='xs:decimal'>{values}</xs:restriction></xs:simpleType>{}",
        op("<xs:sequence><xs:element name='e' type='t:E' maxOccurs='unbounded'/></xs:sequence>")
    ));
    let alternatives = each(&|number| format!("<xs:element name='a{number}' type='xs:int'/>"));
    let chosen = schema(&op(&format!("<xs:choice maxOccurs='unbounded'>{alternatives}</xs:choice>")));
    let start = std::time::Instant::now();
    let findings = |contract: &Contract, content: String| {
        let found = contract.validate(format!("<Op xmlns='urn:t'>{content}</Op>").as_bytes());
        found.into_iter().map(|it| it.message).collect::<Vec<_>>()
    };
    assert_eq!(findings(&enumerated, each(&|number| format!("<e>{number}.5</e>"))), [""; 0]);
    assert_eq!(findings(&chosen, each(&|number| format!("<a{number}>1</a{number}>"))), [""; 0]);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    assert_eq!(findings(&enumerated, "<e>01.50</e>".to_owned()), [""; 0]);
    let wrong = findings(&chosen, "<a5>1</a5><b/>".to_owned());
    assert!(wrong[0].contains("<a0> or <a1>") && wrong[0].ends_with("or the end, found <b>"), "{wrong:?}");
}

/// The alternatives of a large choice are tried in order, whether they are elements or not.
#[test]
fn the_first_alternative_of_a_large_choice_stands() {
    let some = |from: usize| {
        (from..from + 9).map(|it| format!("<xs:element name='a{it}' type='xs:int'/>")).collect::<String>()
    };
    let group = "<xs:sequence><xs:element name='x' type='xs:int' minOccurs='0'/><xs:element name='y' type='xs:int'/></xs:sequence>";
    let content =
        format!("<xs:choice maxOccurs='2'>{}{group}{}<xs:any namespace='##other'/></xs:choice>", some(0), some(9));
    check(
        &op(&content),
        &["<Op><a1>1</a1><a17>1</a17></Op>", "<Op><x>1</x><y>1</y><a10>1</a10></Op>", "<Op><y>1</y></Op>"],
        &[
            ("<Op><a1>1</a1><y>1</y><a1>1</a1></Op>", "nothing more is allowed here"),
            ("<Op><x>1</x><a1>1</a1></Op>", "expected <y>"),
            ("<Op><z/></Op>", "expected <a0> or <a1>"),
        ],
    );
}

/// Base types that end in a wildcard are extended by elements that the wildcard allows, which
/// violates Unique Particle Attribution: such an element is the declared one.
#[test]
fn a_declared_element_is_not_the_wildcards_before_it() {
    let any = "<xs:any namespace='##any' processContents='lax' minOccurs='0' maxOccurs='unbounded'/>";
    let schema = format!(
        "<xs:complexType name='Base'><xs:sequence><xs:element name='a' type='xs:int'/>{any}</xs:sequence></xs:complexType>\
         <xs:complexType name='More'><xs:complexContent><xs:extension base='t:Base'><xs:sequence>\
         <xs:element name='b' type='xs:int' minOccurs='0'/><xs:element name='c' type='xs:int'/></xs:sequence></xs:extension>\
         </xs:complexContent></xs:complexType><xs:element name='Op' type='t:More'/>"
    );
    check(
        &schema,
        &[
            "<Op><a>1</a><c>2</c></Op>",
            "<Op><a>1</a><b>2</b><c>2</c></Op>",
            "<Op><a>1</a><x/><y/><c>2</c></Op>",
            "<Op><a>1</a><x/><b>3</b><c>2</c></Op>",
        ],
        &[
            ("<Op><a>1</a><x/></Op>", "<c> is missing"),
            ("<Op><a>1</a><c>x</c></Op>", "not of xsd:int"),
            ("<Op><a>1</a><c>2</c><c>2</c></Op>", "nothing more is allowed here"),
        ],
    );
    // A required wildcard takes the element.
    let required = any.replace("minOccurs='0' maxOccurs='unbounded'", "");
    check(
        &op(&format!("<xs:sequence>{required}<xs:element name='c' type='xs:int'/></xs:sequence>")),
        &["<Op><x/><c>2</c></Op>", "<Op><c>1</c><c>2</c></Op>"],
        &[("<Op><c>1</c></Op>", "<c> is missing")],
    );
}

/// Groups without elements are empty content, in which white space is not allowed either (XSD 1.0
/// part 1, 3.4.2).
#[test]
fn groups_without_elements_are_empty_content() {
    for group in ["<xs:sequence/>", "<xs:all/>", ""] {
        check(
            &op(group),
            &["<Op/>", "<Op><!-- --></Op>"],
            &[("<Op> </Op>", "not even white space"), ("<Op><a/></Op>", "")],
        );
    }
    let mixed = "<xs:element name='Op'><xs:complexType mixed='true'><xs:sequence/></xs:complexType></xs:element>";
    check(mixed, &["<Op> </Op>", "<Op>text</Op>"], &[("<Op><a/></Op>", "")]);
}

#[test]
fn header_blocks_are_in_a_namespace() {
    let content = |block: &str| format!("<s:Header>{block}</s:Header><s:Body>{PING}</s:Body>");
    for (namespace, clause) in [(SOAP11, "SOAP 1.1, section 4.2"), (SOAP12, "SOAP 1.2 part 1, section 5.2.1")] {
        assert_eq!(findings_in(&shop(), namespace, &content("<h xmlns='urn:h'/>")), [""; 0]);
        let found = findings_in(&shop(), namespace, &content("<h/>"));
        assert_eq!(found, [format!("/Envelope/Header/h: a header block has to be in a namespace ({clause})")]);
    }
}
