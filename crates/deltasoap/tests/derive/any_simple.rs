//! Arrays of values that name their types: with the shortcut for flat items and without it.

use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{Buffer, DecodeOptions};
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, EnvelopeReader, RequestReceiver};
use deltasoap::types::{AnySimple, Simple};
use deltasoap::{Error, Soap, SoapArray};

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:t", item_name = "pair")]
struct Pair {
    name: String,
    value: AnySimple,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:t", message)]
struct Pairs {
    list: SoapArray<Pair>,
    item: Vec<Pair>,
}

fn read(mut decoder: Decoder, message: &[u8], chunk: usize) -> Result<(Pairs, u64), Error> {
    let mut reader = EnvelopeReader::new(RequestReceiver::<Pairs>::default());
    for chunk in message.chunks(chunk) {
        decoder.push(&mut reader, chunk)?;
    }
    decoder.finish(&mut reader)?;
    Ok((reader.into_parts().1.into_memory().into_value(), decoder.stats().flat_items))
}

/// Reads a message in every way; returns the value and the number of items that used the shortcut.
fn read_all(message: &[u8]) -> Result<(Pairs, u64), Error> {
    let decoder = || Decoder::new(DecodeOptions::default());
    let whole = read(decoder(), message, message.len());
    let plain = read(Decoder::without_shortcuts(DecodeOptions::default()), message, message.len());
    assert_eq!(whole.as_ref().map(|(value, _)| value), plain.as_ref().map(|(value, _)| value));
    for chunk in [1, 7, 100] {
        let cut = read(decoder(), message, chunk);
        assert_eq!(whole.as_ref().map(|(value, _)| value), cut.as_ref().map(|(value, _)| value), "chunks of {chunk}");
    }
    whole
}

fn pair(value: Simple) -> Pair {
    Pair { name: "n".to_owned(), value: AnySimple(value) }
}

fn message(pairs: &Pairs) -> Vec<u8> {
    let buffer = Envelope::new(pairs).encoding(Use::Encoded).write(Buffer::new());
    buffer.expect("writable").into_vec()
}

#[test]
fn a_change_of_type_is_a_change_of_markup() {
    let value = |i: i32| match i {
        10..20 => Simple::Int(i),
        20 => Simple::Boolean(true),
        30.. => Simple::Double(f64::from(i)),
        _ => Simple::String(i.to_string()),
    };
    let pairs = || (0..50).map(|i| pair(value(i)));
    let sent = Pairs { list: pairs().collect(), item: pairs().collect() };
    let (received, flat) = read_all(&message(&sent)).expect("valid");
    assert_eq!(received, sent);
    assert!(flat > 60, "only {flat} items took the shortcut");
}

#[test]
fn values_of_the_wrong_form_are_refused_where_they_stand() {
    let sent = Pairs { list: SoapArray(Vec::new()), item: (0..30).map(|i| pair(Simple::Int(i))).collect() };
    let text = String::from_utf8(message(&sent)).expect("UTF-8");
    let broken = text.replace(">17<", ">seventeen<");
    let error = read_all(broken.as_bytes()).expect_err("no int");
    assert_eq!(error.path(), "/Envelope/Body/Pairs/item[18]/value");
    assert_eq!(error.offset() as usize, broken.find("seventeen").expect("there"));
}

#[test]
fn prefixes_are_resolved_where_they_are_declared() {
    let item = |declared: &str, text: &str| {
        format!(
            "<item {declared}><name>n</name><value xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
             xsi:type='p:int'>{text}</value></item>"
        )
    };
    let xsd = "xmlns:p='http://www.w3.org/2001/XMLSchema'";
    let items = [item(xsd, "1"), item(xsd, "2"), item("xmlns:p='urn:other'", "3"), item(xsd, "4")].concat();
    let body = format!("<t:Pairs xmlns:t='urn:t'><list></list>{items}</t:Pairs>");
    let envelope = "http://schemas.xmlsoap.org/soap/envelope/";
    let text = format!("<e:Envelope xmlns:e='{envelope}'><e:Body>{body}</e:Body></e:Envelope>");
    let (received, _) = read_all(text.as_bytes()).expect("valid");
    let values: Vec<&Simple> = received.item.iter().map(|pair| &pair.value.0).collect();
    assert_eq!(values, [&Simple::Int(1), &Simple::Int(2), &Simple::String("3".to_owned()), &Simple::Int(4)]);
}
