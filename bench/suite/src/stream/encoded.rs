//! Streams in SOAP encoding: the papers' own setting. Structs come in any order, arrays say how long they are, and each value its type.

use std::fmt::Write;

use deltasoap::{Soap, SoapArray};
use deltasoap_streams::arrays;

use super::{Bound, Sent, Stream, fixed};
use crate::messages::Same;

/// `sendDoubles`, rpc/encoded.
#[derive(Debug, Soap)]
#[soap(element = "sendDoubles", namespace = "urn:bench", all)]
pub struct EncodedDoubles {
    item: SoapArray<f64>,
}

/// `sendMios`, rpc/encoded.
#[derive(Debug, Soap)]
#[soap(element = "sendMios", namespace = "urn:bench", all)]
pub struct EncodedMios {
    item: SoapArray<EncodedMio>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", name = "Mio", all)]
struct EncodedMio {
    x: i32,
    y: i32,
    v: f64,
}

impl Same for EncodedDoubles {
    fn is_same(&self, other: &Self) -> bool {
        let bits = |it: &Self| it.item.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        bits(self) == bits(other)
    }
}

impl Same for EncodedMios {
    fn is_same(&self, other: &Self) -> bool {
        let bits = |it: &Self| it.item.iter().map(|mio| (mio.x, mio.y, mio.v.to_bits())).collect::<Vec<_>>();
        bits(self) == bits(other)
    }
}

/// Equal messages with an array of doubles.
pub(super) fn doubles(n: usize, bound: Bound) -> Stream<EncodedDoubles> {
    let values = arrays::hard_doubles(n);
    let items = items("xsd:double", values.iter().map(|value| format!("{value:e}")));
    equal(&message("sendDoubles", "xsd:double", n, &items), bound, || EncodedDoubles {
        item: SoapArray(values.clone()),
    })
}

/// Equal messages with an array of structs.
pub(super) fn structs(n: usize, bound: Bound) -> Stream<EncodedMios> {
    let values = arrays::mios(n);
    let items = items("b:Mio", values.iter().map(fields));
    equal(&message("sendMios", "b:Mio", n, &items), bound, || mios(&values))
}

/// The same as Axis 1.x writes it: items refer to structs that stand after the operation.
pub(super) fn references(n: usize, bound: Bound) -> Stream<EncodedMios> {
    let values = arrays::mios(n);
    let (mut items, mut structs) = (String::new(), String::new());
    for (id, value) in values.iter().enumerate() {
        let _ = write!(items, r##"<item href="#id{id}"/>"##);
        let content = fields(value);
        let _ = write!(structs, r#"<multiRef id="id{id}" soapenc:root="0" xsi:type="b:Mio">{content}</multiRef>"#);
    }
    let message = message("sendMios", "b:Mio", n, &items).replace("</soapenv:Body>", &(structs + "</soapenv:Body>"));
    equal(&message, bound, || mios(&values))
}

fn fields((x, y, v): &arrays::Mio) -> String {
    let int = |name: &str, value: &i32| format!(r#"<{name} xsi:type="xsd:int">{value}</{name}>"#);
    format!(r#"{}{}<v xsi:type="xsd:double">{v}</v>"#, int("x", x), int("y", y))
}

fn mios(values: &[arrays::Mio]) -> EncodedMios {
    EncodedMios { item: SoapArray(values.iter().map(|&(x, y, v)| EncodedMio { x, y, v }).collect()) }
}

fn items(kind: &str, contents: impl Iterator<Item = String>) -> String {
    contents.fold(String::new(), |mut all, content| {
        let _ = write!(all, r#"<item xsi:type="{kind}">{content}</item>"#);
        all
    })
}

fn message(operation: &str, kind: &str, n: usize, items: &str) -> String {
    format!(
        r#"<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/" xmlns:b="urn:bench"><soapenv:Body soapenv:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><b:{operation}><item xsi:type="soapenc:Array" soapenc:arrayType="{kind}[{n}]">{items}</item></b:{operation}></soapenv:Body></soapenv:Envelope>"#
    )
}

fn equal<T>(message: &str, bound: Bound, value: impl Fn() -> T) -> Stream<T> {
    let sent = |_| Sent { bytes: fixed(message.as_bytes().to_vec()), value: value(), sender: 0 };
    Stream { messages: (0..bound.messages(message.len())).map(sent).collect(), senders: 1 }
}
