//! The messages of `testdata/wsdl/bench.wsdl`, for a client.

use deltasoap::lexical::{Base64, Date, DateTime, Decimal};
use deltasoap::stream::Streamed;
use deltasoap::{Binary, Message, Nillable, Soap};

/// A message that holds a list.
pub trait List: Message + Send + 'static {
    type Item: Same;

    fn new(item: Vec<Self::Item>) -> Self;
    fn items(&self) -> &[Self::Item];
}

/// Values that can be compared in any form that a peer may write.
pub trait Same: Clone + std::fmt::Debug {
    fn is_same(&self, other: &Self) -> bool;
}

macro_rules! same {
    ($(|$a:ident: &$type:ty, $b:ident| $is_same:expr),* $(,)?) => {$(
        impl Same for $type {
            fn is_same(&self, other: &Self) -> bool {
                let ($a, $b) = (self, other);
                $is_same
            }
        }
    )*};
}

same! {
    |a: &bool, b| a == b, |a: &i32, b| a == b, |a: &i64, b| a == b, |a: &String, b| a == b, |a: &Decimal, b| a == b,
    |a: &f32, b| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
    |a: &f64, b| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
    // The same instant, in any zone; or no zone in both.
    |a: &DateTime, b| a.zone().is_some() == b.zone().is_some() && a.compare(b) == Some(std::cmp::Ordering::Equal),
    |a: &Mio, b| (a.x, a.y) == (b.x, b.y) && a.v.is_same(&b.v),
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:bench")]
pub struct Mio {
    pub x: i32,
    pub y: i32,
    pub v: f64,
}

macro_rules! lists {
    ($($name:ident = $element:literal of $item:ty),* $(,)?) => {$(
        #[derive(Debug, Clone, PartialEq, Soap)]
        #[soap(namespace = "urn:bench", element = $element)]
        pub struct $name {
            pub item: Vec<$item>,
        }

        impl List for $name {
            type Item = $item;

            fn new(item: Vec<$item>) -> Self {
                $name { item }
            }

            fn items(&self) -> &[$item] {
                &self.item
            }
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

/// Doubles that are encoded as they are sent.
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sendDoubles", response = SendDoublesResponse)]
pub struct StreamDoubles {
    pub item: Streamed<f64>,
}

/// A response with a number.
pub trait Counted: Message {
    fn count(&self) -> i32;
}

macro_rules! counts {
    ($($name:ident = $element:literal),* $(,)?) => {$(
        #[derive(Debug, Clone, PartialEq, Eq, Soap)]
        #[soap(namespace = "urn:bench", element = $element)]
        pub struct $name {
            pub count: i32,
        }

        impl Counted for $name {
            fn count(&self) -> i32 {
                self.count
            }
        }
    )*};
}

counts! {
    SendIntsResponse = "sendIntsResponse", SendDoublesResponse = "sendDoublesResponse",
    SendStringsResponse = "sendStringsResponse", SendMiosResponse = "sendMiosResponse",
    SendBase64Response = "sendBase64Response", SendAttachmentResponse = "sendAttachmentResponse",
    NotifiedResponse = "notifiedResponse",
}

macro_rules! messages {
    ($($name:ident = $element:literal { $($field:ident: $type:ty),* }),* $(,)?) => {$(
        #[derive(Debug, Clone, PartialEq, Soap)]
        #[soap(namespace = "urn:bench", element = $element)]
        pub struct $name {
            $(pub $field: $type,)*
        }
    )*};
}

messages! {
    EchoVoid = "echoVoid" {}, EchoVoidResponse = "echoVoidResponse" {},
    EchoBase64 = "echoBase64" { data: Base64 }, EchoBase64Response = "echoBase64Response" { data: Base64 },
    SendBase64 = "sendBase64" { data: Base64 },
    EchoStruct = "echoStruct" { person: Person }, EchoStructResponse = "echoStructResponse" { person: Person },
    Trace = "Trace" { id: String, hops: i32 },
    TraceRequest = "trace" {}, TraceResponse = "traceResponse" {},
    EchoAttachment = "echoAttachment" { name: String, data: Binary },
    EchoAttachmentResponse = "echoAttachmentResponse" { name: String, data: Binary },
    SendAttachment = "sendAttachment" { name: String, data: Binary },
    Notify = "notify" { topic: String }, Notified = "notified" { topic: String },
    Fail = "fail" { code: String }, FailResponse = "failResponse" {},
    BenchFault = "BenchFault" { code: String, limit: i32 },
    NoSuchOperation = "noSuchOperation" {},
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
