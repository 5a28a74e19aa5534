//! The service of the benchmarks and of the interoperability tests: `testdata/wsdl/bench.wsdl` in Rust.

use anyhow::Result;
use deltasoap::lexical::{Base64, Date, DateTime, Decimal};
use deltasoap::soap::Fault;
use deltasoap::{Lease, Nillable, Soap};
use deltasoap_http::{ServiceBuilder, SoapService, TypedFault};

/// The description that the service serves.
const WSDL: &str = include_str!("../../../../testdata/wsdl/bench.wsdl");

/// Builds the service.
pub fn service(builder: ServiceBuilder) -> Result<SoapService> {
    let builder = echoes(builder.name("Bench").wsdl(WSDL)).operation(echo_void).operation(echo_struct);
    Ok(sends(builder).operation(fail).build()?)
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

/// Operations that give back what they get: a copy, so that the request stays with the service for the next to be compared
/// with.
macro_rules! echo_lists {
    ($builder:ident: $($request:ident => $response:ident),* $(,)?) => {
        $builder$(.operation(async |request: Lease<$request>| {
            Ok::<_, Fault>($response { item: request.item.clone() })
        }))*
    };
}

/// Operations that count what they get.
macro_rules! count_lists {
    ($builder:ident: $($request:ident => $response:ident = $element:literal),* $(,)?) => {
        $(#[derive(Debug, Clone, PartialEq, Eq, Soap)]
        #[soap(namespace = "urn:bench", element = $element)]
        pub struct $response {
            pub count: i32,
        })*

        fn count_lists($builder: ServiceBuilder) -> ServiceBuilder {
            $builder$(.operation(async |request: Lease<$request>| {
                Ok::<_, Fault>($response { count: count(request.item.len()) })
            }))*
        }
    };
}

fn echoes(builder: ServiceBuilder) -> ServiceBuilder {
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

fn sends(builder: ServiceBuilder) -> ServiceBuilder {
    count_lists(builder).operation(async |request: Lease<SendBase64>| {
        Ok::<_, Fault>(SendBase64Response { count: count(request.data.0.len()) })
    })
}

/// A number of items as the description has it.
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
