//! Generated types read empty elements and absent attributes with the values in the WSDL.

use crate::body;
use crate::defaults::*;
use deltasoap::engine::Lexical;
use deltasoap::lexical::{Decimal, List};
use deltasoap::schema::QName;
use deltasoap::soap::decode_request;

const EMPTY: &str = "<Measure xmlns='urn:defaults' id='1'><count/><unit></unit><size/><ids/><word/><word></word><Note/>\
    <price/><price currency='CHF'></price><fee currency='CHF'/><Total/><Share of='4'/><left/><name/><bad/></Measure>";

fn price(currency: &str, value: &str) -> Price {
    Price { currency: Some(currency.to_owned()), value: Decimal::parse(value).expect("a decimal") }
}

#[test]
fn empty_elements_and_absent_attributes() {
    let (_, measure) = decode_request::<Measure>(&body(EMPTY)).expect("good");
    let expected = Measure {
        scale: Some(Decimal::parse("1.50").expect("a decimal")),
        version: Some(2),
        empty: Some(String::new()),
        kind: Some(QName::new("urn:defaults", "Size")),
        id: 1,
        count: 7,
        unit: Some(Unit::Ft),
        size: Some(Size::Int(12)),
        ids: Some(List(vec![1, 2])),
        word: vec![" a  b ".to_owned(); 2],
        note: Some("nothing".to_owned()),
        price: vec![price("EUR", "9.50"), price("CHF", "9.50")],
        fee: Some(price("CHF", "1")),
        total: Some(price("EUR", "0")),
        share: Some(Share { of: Some(4), value: 3 }),
        choice: Some(MeasureChoice::Left(1)),
        bad: Some(String::new()),
        worse: None,
        name: Some(QName::new("urn:defaults", "Unit")),
    };
    assert_eq!(measure, expected);
    let (_, note) = decode_request::<Note>(&body("<Note xmlns='urn:defaults'/>")).expect("good");
    assert_eq!(note, Note("nothing".to_owned()));
    let (_, share) = decode_request::<Share2>(&body("<Share xmlns='urn:defaults' of='4'/>")).expect("good");
    assert_eq!(share, Share2(Share { of: Some(4), value: 3 }));
    let (_, share) = decode_request::<Share2>(&body("<Share xmlns='urn:defaults'>5</Share>")).expect("good");
    assert_eq!(share, Share2(Share { of: None, value: 5 }));
    let (_, total) = decode_request::<Total>(&body("<Total xmlns='urn:defaults' currency='CHF'/>")).expect("good");
    assert_eq!(total, Total(price("CHF", "0")));
    for (good, bad) in [
        ("</Measure>", "<worse/></Measure>"),
        // Messages do not contain names in this form.
        ("<name/>", "<name>{urn:defaults}Unit</name>"),
        ("id='1'", "id='1' kind='{urn:defaults}Size'"),
    ] {
        let text = EMPTY.replace(good, bad);
        assert!(decode_request::<Measure>(&body(&text)).is_err(), "{bad}");
    }
    let without = EMPTY.replace(" id='1'", "");
    assert!(decode_request::<Measure>(&body(&without)).is_err(), "a required attribute has no default");
}
