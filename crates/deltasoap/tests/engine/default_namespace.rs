//! Default namespaces in typed messages: bodies, header blocks, fault details, packages of parts,
//! templates.

use crate::sender::Sender;
use deltasoap::engine::{Buffer, Templating, Typed};
use deltasoap::soap::{Envelope, HeaderBlock, Reply, Version, decode_reply, decode_request};
use deltasoap::types::Node;
use deltasoap::{Binary, Fault, Nillable, Soap};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:v", qualified)]
struct Pool {
    #[soap(attribute)]
    id: Option<u8>,
    name: String,
    shares: Vec<Share>,
    limit: Option<Nillable<i64>>,
    picture: Option<Binary>,
    foreign: Option<Foreign>,
    child: Vec<Pool>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:v", qualified)]
struct Share {
    level: i32,
    weight: f64,
}

/// A type in a different namespace, with an element of the first namespace.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:other", qualified)]
struct Foreign {
    text: String,
    #[soap(namespace = "urn:v")]
    ours: i32,
}

/// A pool and an element of any type.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(message, namespace = "urn:v", qualified)]
struct Answer {
    pool: Vec<Pool>,
    any: Option<Node>,
}

fn pool(name: &str) -> Pool {
    let (shares, child) = Default::default();
    Pool { id: None, name: name.to_owned(), shares, limit: None, picture: None, foreign: None, child }
}

fn text(message: Buffer) -> String {
    String::from_utf8(message.into_vec()).expect("UTF-8")
}

fn written(pool: &Pool, headers: &[HeaderBlock]) -> String {
    text(Envelope::new(pool).headers(headers).write(Buffer::new()).expect("writable"))
}

#[test]
fn one_declaration_serves_all() {
    let shares = vec![Share { level: 1, weight: 0.5 }, Share { level: 2, weight: 0.25 }];
    let foreign = Some(Foreign { text: "x".to_owned(), ours: 3 });
    let child = Pool { id: Some(7), shares, limit: Some(Nillable::Nil), foreign, ..pool("b") };
    let value = Pool { child: vec![child], ..pool("a") };
    let message = written(&value, &[]);
    let expected = r#"<Pool xmlns="urn:v"><name>a</name><child id="7"><name>b</name><shares><level>1</level><weight>0.5</weight></shares><shares><level>2</level><weight>0.25</weight></shares><limit xsi:nil="true"/><foreign><ns:text xmlns:ns="urn:other">x</ns:text><ours>3</ours></foreign></child></Pool>"#;
    assert!(message.contains(&format!("<soap:Body>{expected}</soap:Body>")), "{message}");
    assert_eq!(decode_request::<Pool>(message.as_bytes()).expect("readable").1, value);
}

/// Elements of any type may have no namespace, and names in them no prefix.
#[test]
fn beside_trees_prefixes_stay() {
    let value = Answer { pool: vec![pool("a")], any: None };
    let message = text(Envelope::new(&value).write(Buffer::new()).expect("writable"));
    let expected = r#"<ns:Answer xmlns:ns="urn:v"><ns:pool><ns:name>a</ns:name></ns:pool></ns:Answer>"#;
    assert!(message.contains(expected), "{message}");
}

#[test]
fn header_blocks_and_details_have_their_own() {
    let block = HeaderBlock::from_message(&pool("h")).expect("plain text").must_understand(Version::Soap11);
    let message = written(&pool("b"), &[block]);
    let expected = "<soap:Header><Pool xmlns=\"urn:v\" soap:mustUnderstand=\"1\"><name>h</name></Pool></soap:Header>";
    assert!(message.contains(expected), "{message}");
    let (head, value) = decode_request::<Pool>(message.as_bytes()).expect("readable");
    assert_eq!(head.headers[0].to_typed(), Some(Ok(pool("h"))));
    assert_eq!(value, pool("b"));

    let fault = Fault::sender("no").with_detail(&pool("d")).expect("plain text");
    for version in [Version::Soap11, Version::Soap12] {
        let message = text(Envelope::fault(&fault).version(version).write(Buffer::new()).expect("writable"));
        assert!(message.contains("etail><Pool xmlns=\"urn:v\"><name>d</name></Pool></"), "{message}");
        let Reply::<Pool>::Fault(read) = decode_reply(message.as_bytes()).expect("readable").1 else { panic!() };
        assert_eq!(read.detail(), Some(Ok(pool("d"))));
    }
}

#[test]
fn references_to_parts_keep_their_prefix() {
    let value = Pool { picture: Some(vec![1; 100].into()), ..pool("p") };
    let written = Envelope::new(&value).version(Version::Soap12).write_optimized(10, Buffer::new()).expect("writable");
    let message = text(written.message);
    assert_eq!(written.parts.len(), 1);
    assert!(message.contains("<picture><xop:Include xmlns:xop=\"http://www.w3.org/2004/08/xop/include\""), "{message}");
    let read = decode_request::<Pool>(message.as_bytes()).expect("readable").1;
    assert!(matches!(read.picture, Some(Binary::Part(_))), "{read:?}");
}

fn shares() -> impl Strategy<Value = Vec<Share>> {
    let share = (any::<i32>(), -1e3..1e3).prop_map(|(level, weight)| Share { level, weight });
    prop::collection::vec(share, 0..40)
}

fn pools() -> impl Strategy<Value = Pool> {
    let foreign = ("[a-z<&]{0,5}", any::<i32>()).prop_map(|(text, ours)| Foreign { text, ours });
    let limit = prop::option::of(prop_oneof![Just(Nillable::Nil), any::<i64>().prop_map(Nillable::Value)]);
    let leaf = (any::<Option<u8>>(), "[a-z]{0,6}", shares(), limit, prop::option::of(foreign))
        .prop_map(|(id, name, shares, limit, foreign)| Pool { id, shares, limit, foreign, ..pool(&name) });
    leaf.prop_recursive(3, 12, 3, |inner| {
        (inner.clone(), prop::collection::vec(inner, 0..3)).prop_map(|(pool, child)| Pool { child, ..pool })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The bytes are the same by template and in full, and they are read as the sent value, alone
    /// and compared with earlier messages.
    #[test]
    fn templates_write_what_is_written_in_full(pools in prop::collection::vec(pools(), 1..6)) {
        let mut sender = Sender::new(Pool::view(), Templating::default());
        sender.style.name = <Pool as deltasoap::Message>::ELEMENT;
        for pool in pools.iter().flat_map(|pool| [pool, pool]) {
            sender.send(pool);
            let message = written(pool, &[]);
            prop_assert_eq!(message.matches("\"urn:v\"").count(), 1, "{}", message);
            prop_assert_eq!(&decode_request::<Pool>(message.as_bytes()).expect("readable").1, pool);
        }
    }
}
