//! The service of the benchmarks and of the interoperability tests: `testdata/wsdl/bench.wsdl` in
//! Rust.

use anyhow::Result;
use deltasoap::lexical::{Base64, Date, DateTime, Decimal};
use deltasoap::soap::HeaderBlock;
use deltasoap::{Binary, Fault, Lease, Message, Nillable, Soap};
use deltasoap_http::{AttachmentError, Context, Operation, Reply, SoapService, SoapServiceBuilder, TypedFault};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The WSDL that the service serves.
const WSDL: &str = include_str!("../../data/bench.wsdl");

/// Builds the service.
pub fn service(builder: SoapServiceBuilder) -> Result<SoapService> {
    let builder = echoes(builder.name("Bench").wsdl(WSDL)).operation(echo_void).operation(echo_struct);
    let builder = notifications(attachments(sends(builder)));
    Ok(builder.add_operation(Operation::new(trace).understands(Trace::ELEMENT)).operation(fail).build()?)
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:bench")]
pub struct Mio {
    pub x: i32,
    pub y: i32,
    pub v: f64,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:bench")]
pub struct Person {
    pub name: String,
    pub nickname: Option<String>,
    pub score: Nillable<f64>,
    pub born: Option<Nillable<Date>>,
    pub role: Role,
    pub address: Option<Address>,
    pub tag: Vec<String>,
    #[soap(attribute)]
    pub id: i64,
    #[soap(attribute)]
    pub active: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:bench")]
pub struct Address {
    pub street: String,
    pub city: String,
    pub zip: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", rename_all = "lowercase")]
pub enum Role {
    Admin,
    Member,
    Guest,
}

/// Messages that hold a list of items.
macro_rules! lists {
    ($($name:ident = $element:literal of $item:ty),* $(,)?) => {$(
        #[derive(Debug, Clone, PartialEq, Soap)]
        #[soap(namespace = "urn:bench", element = $element)]
        pub struct $name {
            pub item: Vec<$item>,
        }
    )*};
}

lists! {
    EchoBooleans = "echoBooleans" of bool, EchoBooleansResponse = "echoBooleansResponse" of bool,
    EchoInts = "echoInts" of i32, EchoIntsResponse = "echoIntsResponse" of i32,
    EchoLongs = "echoLongs" of i64, EchoLongsResponse = "echoLongsResponse" of i64,
    EchoFloats = "echoFloats" of f32, EchoFloatsResponse = "echoFloatsResponse" of f32,
    EchoDoubles = "echoDoubles" of f64, EchoDoublesResponse = "echoDoublesResponse" of f64,
    EchoDecimals = "echoDecimals" of Decimal, EchoDecimalsResponse = "echoDecimalsResponse" of Decimal,
    EchoDateTimes = "echoDateTimes" of DateTime, EchoDateTimesResponse = "echoDateTimesResponse" of DateTime,
    EchoStrings = "echoStrings" of String, EchoStringsResponse = "echoStringsResponse" of String,
    EchoMios = "echoMios" of Mio, EchoMiosResponse = "echoMiosResponse" of Mio,
    SendInts = "sendInts" of i32, SendDoubles = "sendDoubles" of f64,
    SendStrings = "sendStrings" of String, SendMios = "sendMios" of Mio,
}

/// Operations that return what they receive: a copy, so that the request stays with the service and
/// the next one can be compared with it.
macro_rules! echo_lists {
    ($builder:ident: $($request:ident => $response:ident),* $(,)?) => {
        $builder$(.operation(async |request: Lease<$request>| {
            Ok::<_, Fault>($response { item: request.item.clone() })
        }))*
    };
}

/// Operations that count the items that they receive.
macro_rules! count_lists {
    ($builder:ident: $($request:ident => $response:ident = $element:literal),* $(,)?) => {
        $(#[derive(Debug, Clone, PartialEq, Eq, Soap)]
        #[soap(namespace = "urn:bench", element = $element)]
        pub struct $response {
            pub count: i32,
        })*

        fn count_lists($builder: SoapServiceBuilder) -> SoapServiceBuilder {
            $builder$(.operation(async |request: Lease<$request>| {
                Ok::<_, Fault>($response { count: count(request.item.len()) })
            }))*
        }
    };
}

fn echoes(builder: SoapServiceBuilder) -> SoapServiceBuilder {
    let builder = echo_lists! { builder:
        EchoBooleans => EchoBooleansResponse, EchoInts => EchoIntsResponse, EchoLongs => EchoLongsResponse,
        EchoFloats => EchoFloatsResponse, EchoDoubles => EchoDoublesResponse,
        EchoDecimals => EchoDecimalsResponse, EchoDateTimes => EchoDateTimesResponse,
        EchoStrings => EchoStringsResponse, EchoMios => EchoMiosResponse,
    };
    builder
        .operation(async |request: Lease<EchoBase64>| Ok::<_, Fault>(EchoBase64Response { data: request.data.clone() }))
}

count_lists! { builder:
    SendInts => SendIntsResponse = "sendIntsResponse", SendDoubles => SendDoublesResponse = "sendDoublesResponse",
    SendStrings => SendStringsResponse = "sendStringsResponse", SendMios => SendMiosResponse = "sendMiosResponse",
}

fn sends(builder: SoapServiceBuilder) -> SoapServiceBuilder {
    count_lists(builder).operation(async |request: Lease<SendBase64>| {
        Ok::<_, Fault>(SendBase64Response { count: count(request.data.0.len()) })
    })
}

/// Converts a number of items to the type of the WSDL.
fn count(items: usize) -> i32 {
    i32::try_from(items).unwrap_or(i32::MAX)
}

/// Messages that hold base64.
macro_rules! binaries {
    ($($name:ident = $element:literal),* $(,)?) => {$(
        #[derive(Debug, Clone, PartialEq, Eq, Soap)]
        #[soap(namespace = "urn:bench", element = $element)]
        pub struct $name {
            pub data: Base64,
        }
    )*};
}

binaries! { EchoBase64 = "echoBase64", EchoBase64Response = "echoBase64Response", SendBase64 = "sendBase64" }

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "sendBase64Response")]
pub struct SendBase64Response {
    pub count: i32,
}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "echoVoid")]
pub struct EchoVoid {}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "echoVoidResponse")]
pub struct EchoVoidResponse {}

async fn echo_void(_: Lease<EchoVoid>) -> Result<EchoVoidResponse, Fault> {
    Ok(EchoVoidResponse {})
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:bench", element = "echoStruct")]
pub struct EchoStruct {
    pub person: Person,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:bench", element = "echoStructResponse")]
pub struct EchoStructResponse {
    pub person: Person,
}

async fn echo_struct(request: Lease<EchoStruct>) -> Result<EchoStructResponse, Fault> {
    Ok(EchoStructResponse { person: request.person.clone() })
}

/// The header block.
#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "Trace")]
pub struct Trace {
    pub id: String,
    pub hops: i32,
}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "trace")]
pub struct TraceRequest {}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "traceResponse")]
pub struct TraceResponse {}

async fn trace(context: Context, _: Lease<TraceRequest>) -> Result<Reply<TraceResponse>, Fault> {
    let answer = Reply::new(TraceResponse {});
    let Some(trace) = context.header::<Trace>() else { return Ok(answer) };
    let Trace { id, hops } = trace.map_err(|error| Fault::sender(error.to_string()))?;
    let trace = Trace { id, hops: hops.saturating_add(1) };
    let block = HeaderBlock::from_message(&trace).map_err(|error| Fault::receiver(error.to_string()))?;
    Ok(answer.with_header(block))
}

/// Messages with a binary value that may be in a part of its own.
macro_rules! attachments {
    ($($name:ident = $element:literal),* $(,)?) => {$(
        #[derive(Debug, Clone, PartialEq, Eq, Soap)]
        #[soap(namespace = "urn:bench", element = $element)]
        pub struct $name {
            pub name: String,
            pub data: Binary,
        }
    )*};
}

attachments! {
    EchoAttachment = "echoAttachment", EchoAttachmentResponse = "echoAttachmentResponse",
    SendAttachment = "sendAttachment",
}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "sendAttachmentResponse")]
pub struct SendAttachmentResponse {
    pub count: i32,
}

fn attachments(builder: SoapServiceBuilder) -> SoapServiceBuilder {
    builder.operation(echo_attachment).operation(send_attachment)
}

async fn echo_attachment(
    mut context: Context,
    request: Lease<EchoAttachment>,
) -> Result<EchoAttachmentResponse, AttachmentError> {
    let data = context.attachments().bytes(&request.data).await?.into();
    Ok(EchoAttachmentResponse { name: request.name.clone(), data })
}

/// Counts the data as it arrives, without keeping it.
async fn send_attachment(
    mut context: Context,
    request: Lease<SendAttachment>,
) -> Result<SendAttachmentResponse, AttachmentError> {
    let octets = match &request.data {
        Binary::Bytes(bytes) => bytes.len(),
        Binary::Part(uri) => {
            let (mut part, mut octets) = (context.attachments().find(uri).await?, 0);
            while let Some(chunk) = part.chunk().await? {
                octets += chunk.len();
            }
            octets
        }
    };
    Ok(SendAttachmentResponse { count: count(octets) })
}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "notify")]
pub struct Notify {
    pub topic: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "notified")]
pub struct Notified {
    pub topic: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "notifiedResponse")]
pub struct NotifiedResponse {
    pub count: i32,
}

fn notifications(builder: SoapServiceBuilder) -> SoapServiceBuilder {
    let arrived = Arc::new(Arrived::default());
    let counted = Arc::clone(&arrived);
    builder
        .operation(move |notify: Lease<Notify>| {
            arrived.add(&notify.topic);
            std::future::ready(Ok::<_, Fault>(()))
        })
        .operation(move |notified: Lease<Notified>| {
            let count = counted.count(&notified.topic);
            std::future::ready(Ok::<_, Fault>(NotifiedResponse { count }))
        })
}

/// Topics with the number of their notifications. The oldest are forgotten, so that no sender can
/// fill the memory.
#[derive(Debug, Default)]
struct Arrived(Mutex<VecDeque<(String, i32)>>);

/// Maximum number of topics.
const TOPICS: usize = 1000;
/// Maximum length of a topic in bytes.
const TOPIC: usize = 1000;

impl Arrived {
    fn add(&self, topic: &str) {
        let mut topics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, count)) = topics.iter_mut().find(|(known, _)| known == topic) {
            *count = count.saturating_add(1);
        } else if topic.len() <= TOPIC {
            topics.truncate(TOPICS - 1);
            topics.push_front((topic.to_owned(), 1));
        }
    }

    fn count(&self, topic: &str) -> i32 {
        let topics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        topics.iter().find(|(known, _)| known == topic).map_or(0, |(_, count)| *count)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "fail")]
pub struct Fail {
    pub code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "failResponse")]
pub struct FailResponse {}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:bench", element = "BenchFault")]
pub struct BenchFault {
    pub code: String,
    pub limit: i32,
}

async fn fail(request: Lease<Fail>) -> Result<FailResponse, TypedFault<BenchFault>> {
    let code = request.code.clone();
    let limit = count(code.chars().count());
    Err(TypedFault::receiver("this operation always fails", BenchFault { code, limit }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_are_counted_by_topic() {
        let arrived = Arrived::default();
        ["a", "b", "a"].iter().for_each(|topic| arrived.add(topic));
        assert_eq!(["a", "b", "c"].map(|topic| arrived.count(topic)), [2, 1, 0]);
    }

    #[test]
    fn what_is_remembered_of_notifications_is_bounded() {
        let arrived = Arrived::default();
        (0..=TOPICS).for_each(|n| arrived.add(&n.to_string()));
        arrived.add(&"x".repeat(TOPIC + 1));
        assert_eq!(["0", "1"].map(|topic| arrived.count(topic)), [0, 1]);
        assert_eq!(arrived.0.lock().expect("no panic").len(), TOPICS);
    }
}
