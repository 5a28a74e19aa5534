//! What is wrong with messages.

mod support;

use support::shop;

/// Findings of an order with this in it, each as `path: message`.
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
        ("<gift a='1'/>", "/Order/gift: the attribute a may not stand here"),
        ("<gift><a/></gift>", "/Order/gift/a: no elements may stand here"),
        ("text", "/Order: no text may stand here"),
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
        ["/Envelope/Body/Pong: no operation has <{urn:shop}Pong>; there are Catalogue, Order, Ping"]
    );
    assert_eq!(
        findings_of(&body("<Ping xmlns='urn:x'/>")),
        [
            "/Envelope/Body/Ping: no operation has <{urn:x}Ping>; there are {urn:shop}Catalogue, {urn:shop}Order, {urn:shop}Ping"
        ]
    );
    assert_eq!(
        findings_of(&body("<Ping><text xmlns=''/></Ping>")),
        ["/Envelope/Body/Ping/text: expected <{urn:shop}text>, found <text>"]
    );
    assert_eq!(findings_of(&body("")), ["/Envelope/Body: the Body is empty"]);
    let header = envelope("<s:Header><Session/></s:Header><s:Body><Ping><text/></Ping></s:Body>");
    assert_eq!(findings_of(&header), ["/Envelope/Header/Session: <token> is missing"]);
    let fault = "<s:Fault><faultcode>s:Client</faultcode><faultstring/><detail><SoldOut><code>?</code></SoldOut></detail></s:Fault>";
    let found = findings_of(&body(fault));
    assert!(found.len() == 1 && found[0].starts_with("/Envelope/Body/Fault/detail/SoldOut/code: "), "{found:?}");
    assert_eq!(findings_of("<other/>"), ["/other: no SOAP envelope, and no element that the contract declares"]);
    assert_eq!(shop().validate(b"<a><b></a>").len(), 1);
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
