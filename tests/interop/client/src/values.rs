//! Arrays of every type, extreme values, and similar messages.

use crate::messages::*;
use crate::report::{Feature, Report, ensure, same};
use crate::{Endpoint, Failure};
use deltasoap::client::CallOptions;
use deltasoap::lexical::{Base64, Date, DateTime, Decimal, Lexical, Time, Zone};
use deltasoap::{Client, Message};

pub async fn test(endpoint: &Endpoint, report: &Report) {
    arrays(endpoint, report).await;
    edges(endpoint, report).await;
    similar(endpoint, report).await;
}

/// Returns the action of an operation, which some peers dispatch by.
pub fn action<T: Message>() -> String {
    format!("urn:bench#{}", T::ELEMENT.local)
}

/// Returns the settings of a call of an operation.
pub fn options<T: Message>() -> CallOptions {
    CallOptions::new().action(action::<T>())
}

/// Sends a list and expects it back.
pub async fn echo<Req: List, Resp: List<Item = Req::Item>>(
    client: &Client,
    items: Vec<Req::Item>,
) -> Result<(), Failure> {
    let request = Req::new(items);
    let response = client.call_leased_as_with::<Resp>(&request, options::<Req>()).await?;
    let (sent, received) = (request.items(), response.body.items());
    same(&received.len(), &sent.len(), "number of items")?;
    match sent.iter().zip(received).position(|(sent, received)| !sent.is_same(received)) {
        Some(at) => Err(format!("item {at}: expected {:?}, got {:?}", sent[at], received[at]).into()),
        None => Ok(()),
    }
}

/// Sends a list and expects the number of its items.
pub async fn send<Req: List, Resp: Counted>(client: &Client, items: Vec<Req::Item>) -> Result<(), Failure> {
    let count = i32::try_from(items.len())?;
    let response = client.call_as_with::<Resp>(&Req::new(items), options::<Req>()).await?;
    same(&response.body.count(), &count, "count")
}

const SIZES: [usize; 3] = [0, 1, 100];

/// Creates `size` values, each from its index.
fn many<T>(size: usize, make: impl Fn(usize) -> T) -> Vec<T> {
    (0..size).map(make).collect()
}

/// Defines a test for each size: `name: Request => Response, values`.
macro_rules! array_tests {
    ($endpoint:ident, $report:ident, $call:ident: $($request:ident => $response:ident of $make:expr),* $(,)?) => {$(
        for size in SIZES {
            let test = format!("{}, {size} items", $request::ELEMENT.local);
            let running = $call::<$request, $response>(&$endpoint.client, many(size, $make));
            $report.test(Feature::Arrays, &test, running).await;
        }
    )*};
}

async fn arrays(endpoint: &Endpoint, report: &Report) {
    report.test(Feature::Arrays, "echoVoid", void(endpoint)).await;
    array_tests! { endpoint, report, echo:
        EchoBooleans => EchoBooleansResponse of |n| n % 3 == 0,
        EchoInts => EchoIntsResponse of int,
        EchoLongs => EchoLongsResponse of |n| i64::from(int(n)) * 65_537,
        EchoFloats => EchoFloatsResponse of |n| int(n) as f32 / 16.0,
        EchoDoubles => EchoDoublesResponse of double,
        EchoDecimals => EchoDecimalsResponse of |n| decimal(&format!("{}.{}", int(n), n % 10)),
        EchoDateTimes => EchoDateTimesResponse of instant,
        EchoStrings => EchoStringsResponse of |n| format!("<item> & \"{n}\" äß漢🦀"),
        EchoMios => EchoMiosResponse of mio,
    }
    array_tests! { endpoint, report, send:
        SendInts => SendIntsResponse of int, SendDoubles => SendDoublesResponse of double,
        SendStrings => SendStringsResponse of |n| format!("string {n}"), SendMios => SendMiosResponse of mio,
    }
    for size in [0, 1, 2, 3, 1000] {
        report.test(Feature::Arrays, &format!("base64, {size} octets"), base64(endpoint, size)).await;
    }
}

async fn void(endpoint: &Endpoint) -> Result<(), Failure> {
    endpoint.client.call_as_with::<EchoVoidResponse>(&EchoVoid {}, options::<EchoVoid>()).await?;
    Ok(())
}

async fn base64(endpoint: &Endpoint, size: usize) -> Result<(), Failure> {
    let data: Vec<u8> = (0..size).map(|n| (n * 7 + n / 256) as u8).collect();
    let request = EchoBase64 { data: Base64(data.clone()) };
    let response = endpoint.client.call_as_with::<EchoBase64Response>(&request, options::<EchoBase64>()).await?;
    same(&response.body.data.0, &data, "data")?;
    let request = SendBase64 { data: Base64(data) };
    let response = endpoint.client.call_as_with::<SendBase64Response>(&request, options::<SendBase64>()).await?;
    same(&response.body.count(), &i32::try_from(size)?, "count")
}

/// Returns a pseudo-random integer, by multiplication with a large prime.
fn int(n: usize) -> i32 {
    (n as i32).wrapping_mul(1_000_000_007)
}

pub fn double(n: usize) -> f64 {
    f64::from(int(n)) / 7.0 * 10f64.powi(n as i32 % 40 - 20)
}

fn mio(n: usize) -> Mio {
    Mio { x: int(n), y: -(n as i32), v: double(n) }
}

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap_or_default()
}

fn instant(n: usize) -> DateTime {
    let (day, minute) = (n as u8 % 28 + 1, n as u8 % 60);
    let date = Date::new(1970 + n as i32, n as u8 % 12 + 1, day).expect("a date");
    DateTime::new(date, Time::new(n as u8 % 24, minute, 59, 0).expect("a time")).with_zone(Some(Zone::UTC))
}

async fn edges(endpoint: &Endpoint, report: &Report) {
    let client = &endpoint.client;
    let ints = vec![i32::MIN, -1, 0, 1, i32::MAX];
    report.test(Feature::Values, "ints at the limits", echo::<EchoInts, EchoIntsResponse>(client, ints)).await;
    let longs = vec![i64::MIN, -1, 0, 1, i64::MAX];
    report.test(Feature::Values, "longs at the limits", echo::<EchoLongs, EchoLongsResponse>(client, longs)).await;
    let doubles = vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, 5e-324, f64::MIN_POSITIVE, f64::MAX];
    report.test(Feature::Values, "special doubles", echo::<EchoDoubles, EchoDoublesResponse>(client, doubles)).await;
    let floats = vec![f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0, 1.5e-39, f32::MAX];
    report.test(Feature::Values, "special floats", echo::<EchoFloats, EchoFloatsResponse>(client, floats)).await;
    let decimals = ["0", "-0.5", "123456789012345678.123456789012345678"].map(decimal).to_vec();
    report.test(Feature::Values, "long decimals", echo::<EchoDecimals, EchoDecimalsResponse>(client, decimals)).await;
    for (test, items) in TEXTS {
        let items = items.iter().copied().map(str::to_owned).collect();
        report.test(Feature::Values, test, echo::<EchoStrings, EchoStringsResponse>(client, items)).await;
    }
}

const TEXTS: [(&str, &[&str]); 5] = [
    ("strings with markup", &["<item>", "a & b", "]]>", "\"'", "&amp;", "<!-- -->"]),
    ("strings that look like CDATA sections", &["<![CDATA[x]]>", "]]>", "a <![CDATA[]]> b"]),
    ("strings with unicode", &["äöüß", "漢字かな", "🦀🧼", "e\u{301}", "\u{d7ff}\u{e000}\u{fffd}\u{10ffff}"]),
    ("strings with white space inside", &["two  spaces", "a\tb", "a\nb"]),
    ("empty strings among others", &["", "a", "", "", "b", ""]),
];

/// Sends messages that differ in various ways, and checks that each echo is the value that was
/// sent.
async fn similar(endpoint: &Endpoint, report: &Report) {
    report.test(Feature::Similar, "doubles, one changed a message", changing_doubles(endpoint)).await;
    report.test(Feature::Similar, "strings that grow and shrink", changing_strings(endpoint)).await;
    report.test(Feature::Similar, "structs inserted and removed", changing_mios(endpoint)).await;
    report.test(Feature::Similar, "responses were read differentially", read_differentially(endpoint)).await;
    report.test(Feature::Similar, "requests were written over templates", written_differentially(endpoint)).await;
}

const ROUNDS: usize = 20;

async fn changing_doubles(endpoint: &Endpoint) -> Result<(), Failure> {
    let mut items = many(500, double);
    for round in 0..ROUNDS {
        items[round * 23] = double(round + 1000);
        echo::<EchoDoubles, EchoDoublesResponse>(&endpoint.client, items.clone()).await?;
    }
    Ok(())
}

async fn changing_strings(endpoint: &Endpoint) -> Result<(), Failure> {
    let mut items = many(100, |n| format!("string {n}"));
    for round in 0..ROUNDS {
        items[round * 3] = "& long ".repeat(round % 5) + "end";
        echo::<EchoStrings, EchoStringsResponse>(&endpoint.client, items.clone()).await?;
    }
    Ok(())
}

async fn changing_mios(endpoint: &Endpoint) -> Result<(), Failure> {
    let mut items = many(200, mio);
    for round in 0..ROUNDS {
        match round % 2 {
            0 => items.insert(round * 5, mio(round + 1000)),
            _ => _ = items.remove(round),
        }
        echo::<EchoMios, EchoMiosResponse>(&endpoint.client, items.clone()).await?;
    }
    Ok(())
}

/// The number of skipped bytes depends on how the peer writes, and on what saves time; but it must
/// not be zero.
async fn read_differentially(endpoint: &Endpoint) -> Result<(), Failure> {
    ensure(endpoint.client.differential_stats().fast_bytes > 0, "no byte of any response was skipped")
}

/// Requests that differ from the previous one only in some values.
async fn written_differentially(endpoint: &Endpoint) -> Result<(), Failure> {
    let stats = endpoint.client.encode_stats();
    ensure(stats.perfect + stats.partial > 0, "no request was written over the one before it")
}
