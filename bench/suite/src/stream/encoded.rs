//! Streams in SOAP encoding, the papers' setting. Struct members may come in any order, and arrays
//! have their length, and values their type, as attributes.

use std::fmt::Write;

use deltasoap::{Soap, SoapArray};
use deltasoap_streams::arrays;
use deltasoap_streams::prng::SplitMix64;
use deltasoap_streams::similar;

use super::{Bound, Recipe, Sent, Stream, by_turns, fixed};
use crate::payload::Same;

/// `sendDoubles`, rpc/encoded.
#[derive(Debug, Soap)]
#[soap(element = "sendDoubles", namespace = "urn:bench", all)]
pub struct EncodedDoubles {
    item: SoapArray<f64>,
}

/// `sendInts`, rpc/encoded.
#[derive(Debug, Soap)]
#[soap(element = "sendInts", namespace = "urn:bench", all)]
pub struct EncodedInts {
    item: SoapArray<i32>,
}

/// `sendStrings`, rpc/encoded.
#[derive(Debug, Soap)]
#[soap(element = "sendStrings", namespace = "urn:bench", all)]
pub struct EncodedStrings {
    item: SoapArray<String>,
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

impl Same for EncodedInts {
    fn is_same(&self, other: &Self) -> bool {
        self.item.0 == other.item.0
    }
}

impl Same for EncodedStrings {
    fn is_same(&self, other: &Self) -> bool {
        self.item.0 == other.item.0
    }
}

impl Same for EncodedMios {
    fn is_same(&self, other: &Self) -> bool {
        let bits = |it: &Self| it.item.iter().map(|mio| (mio.x, mio.y, mio.v.to_bits())).collect::<Vec<_>>();
        bits(self) == bits(other)
    }
}

/// Returns arrays of ints.
pub(super) fn ints(recipe: Recipe, bound: Bound) -> Stream<EncodedInts> {
    let kind = Items { operation: "sendInts", kind: "xsd:int", text: i32::to_string };
    let value = |items: Vec<i32>| EncodedInts { item: SoapArray(items) };
    changing(kind, (recipe, bound), arrays::ints(recipe.n), similar::int(recipe.n), value)
}

/// Returns arrays of doubles.
pub(super) fn doubles(recipe: Recipe, bound: Bound) -> Stream<EncodedDoubles> {
    doubles_from(recipe, bound, arrays::hard_doubles(recipe.n))
}

/// Returns two arrays of doubles, alternating.
pub(super) fn turns(recipe: Recipe, bound: Bound) -> Stream<EncodedDoubles> {
    let both = arrays::hard_doubles(2 * recipe.n);
    let (one, other) = both.split_at(recipe.n);
    let ring = |first: &[f64]| doubles_from(recipe, bound, first.to_vec()).messages;
    Stream { messages: by_turns(ring(one), ring(other)).collect(), senders: 1 }
}

fn doubles_from(recipe: Recipe, bound: Bound, first: Vec<f64>) -> Stream<EncodedDoubles> {
    let kind = Items { operation: "sendDoubles", kind: "xsd:double", text: |value: &f64| format!("{value:e}") };
    let value = |items: Vec<f64>| EncodedDoubles { item: SoapArray(items) };
    changing(kind, (recipe, bound), first, similar::hard_double, value)
}

/// Returns arrays of strings.
pub(super) fn strings(recipe: Recipe, bound: Bound) -> Stream<EncodedStrings> {
    let kind = Items { operation: "sendStrings", kind: "xsd:string", text: String::clone };
    let value = |items: Vec<String>| EncodedStrings { item: SoapArray(items) };
    changing(kind, (recipe, bound), arrays::strings(recipe.n), similar::string, value)
}

/// Returns arrays of structs.
pub(super) fn structs(recipe: Recipe, bound: Bound) -> Stream<EncodedMios> {
    let kind = Items { operation: "sendMios", kind: "b:Mio", text: fields };
    let value = |items: Vec<arrays::Mio>| mios(&items);
    changing(kind, (recipe, bound), arrays::mios(recipe.n), similar::mio(recipe.n), value)
}

/// The functions that write items.
struct Items<E> {
    operation: &'static str,
    kind: &'static str,
    text: fn(&E) -> String,
}

fn changing<T, E: Clone + PartialEq>(
    Items { operation, kind, text }: Items<E>,
    (recipe, bound): (Recipe, Bound),
    first: Vec<E>,
    draw: impl FnMut(&mut SplitMix64) -> E,
    value: impl Fn(Vec<E>) -> T,
) -> Stream<T> {
    let written = |of: &[E]| message(operation, kind, recipe.n, &items(kind, of.iter().map(text)));
    let count = bound.messages(written(&first).len());
    let ring = similar::changed(&first, recipe.changes(), count, draw);
    let sent = |of: Vec<E>| Sent { bytes: fixed(written(&of).into_bytes()), value: value(of), sender: 0 };
    Stream { messages: ring.into_iter().map(sent).collect(), senders: 1 }
}

/// Returns arrays of structs as written by Axis 1.x: items refer to structs that follow the
/// operation.
pub(super) fn references(recipe: Recipe, bound: Bound) -> Stream<EncodedMios> {
    let first = arrays::mios(recipe.n);
    let count = bound.messages(by_reference(&first).len());
    let ring = similar::changed(&first, recipe.changes(), count, similar::mio(recipe.n));
    let sent =
        |of: Vec<arrays::Mio>| Sent { bytes: fixed(by_reference(&of).into_bytes()), value: mios(&of), sender: 0 };
    Stream { messages: ring.into_iter().map(sent).collect(), senders: 1 }
}

fn by_reference(values: &[arrays::Mio]) -> String {
    let (mut items, mut structs) = (String::new(), String::new());
    for (id, value) in values.iter().enumerate() {
        let _ = write!(items, r##"<item href="#id{id}"/>"##);
        let content = fields(value);
        let _ = write!(structs, r#"<multiRef id="id{id}" soapenc:root="0" xsi:type="b:Mio">{content}</multiRef>"#);
    }
    let body = structs + "</soapenv:Body>";
    message("sendMios", "b:Mio", values.len(), &items).replace("</soapenv:Body>", &body)
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
