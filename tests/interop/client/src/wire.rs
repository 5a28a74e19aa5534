//! Everything around the messages: header blocks, encodings and lengths of bodies, TLS, packages of
//! parts, and one-way messages.

use crate::messages::*;
use crate::report::{Feature, Report, ensure, same};
use crate::values::{double, echo, options};
use crate::{Endpoint, Failure};
use deltasoap::attachments::{AttachmentOptions, Mtom};
use deltasoap::client::{HttpTransport, Response};
use deltasoap::soap::HeaderBlock;
use deltasoap::stream::Streamed;
use deltasoap::tls::{ClientTls, Roots};
use deltasoap::transport::Compression;
use deltasoap::{Binary, Client, Message};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, TRANSFER_ENCODING};
use std::time::Duration;

pub async fn test(endpoint: &Endpoint, report: &Report) {
    report.test(Feature::Headers, "a header block both ways", header(endpoint, false)).await;
    report.test(Feature::Headers, "a mandatory header block", header(endpoint, true)).await;
    report.test(Feature::Headers, "no header block", no_header(endpoint)).await;
    report.test(Feature::Utf16, "a response in UTF-16", utf_16(endpoint)).await;
    report.test(Feature::Chunked, "a chunked request", chunked_request(endpoint)).await;
    report.test(Feature::Chunked, "a chunked response", transfer(endpoint, Feature::Chunked)).await;
    report.test(Feature::Length, "a response with Content-Length", transfer(endpoint, Feature::Length)).await;
    report.test(Feature::Gzip, "requests in gzip", gzip_requests(endpoint)).await;
    report.test(Feature::Gzip, "responses in gzip", gzip_responses(endpoint)).await;
    report.test(Feature::Tls, "calls over TLS", tls(endpoint)).await;
    report.test(Feature::Tls, "an unknown authority is refused", unknown_authority(endpoint)).await;
    for size in [0, 100, 100_000] {
        let test = format!("echoAttachment as a part, {size} octets");
        report.test(Feature::Mtom, &test, attachment(endpoint, Mtom::On, size)).await;
    }
    report.test(Feature::Mtom, "echoAttachment as text", attachment(endpoint, Mtom::Off, 1000)).await;
    report.test(Feature::Mtom, "sendAttachment, 1000000 octets", send_attachment(endpoint)).await;
    report.test(Feature::OneWay, "notifications arrive", one_way(endpoint)).await;
}

async fn header(endpoint: &Endpoint, is_mandatory: bool) -> Result<(), Failure> {
    for hops in 0..3 {
        let block = HeaderBlock::from_message(&Trace { id: "<a> & ä".into(), hops })?;
        let block = if is_mandatory { block.must_understand(endpoint.version) } else { block };
        let response = traced(endpoint, Some(block)).await?;
        let blocks = response.head.headers.iter();
        let traces = blocks.filter_map(HeaderBlock::to_typed::<Trace>).collect::<Result<Vec<_>, _>>()?;
        same(&traces, &vec![Trace { id: "<a> & ä".into(), hops: hops + 1 }], "header blocks")?;
    }
    Ok(())
}

async fn no_header(endpoint: &Endpoint) -> Result<(), Failure> {
    let response = traced(endpoint, None).await?;
    same(&response.head.headers.len(), &0, "number of header blocks")
}

async fn traced(endpoint: &Endpoint, block: Option<HeaderBlock>) -> Result<Response<TraceResponse>, Failure> {
    let options = options::<TraceRequest>().understands(Trace::ELEMENT);
    let options = match block {
        Some(block) => options.header(block),
        None => options,
    };
    Ok(endpoint.client.call_as_with(&TraceRequest {}, options).await?)
}

/// Strings that differ in UTF-16 and UTF-8, several times with changes.
async fn utf_16(endpoint: &Endpoint) -> Result<(), Failure> {
    let client = endpoint.client_for(Feature::Utf16)?;
    for round in 0..5 {
        let request =
            EchoStrings { item: ["ä", "漢字", "🦀", "plain"].map(|text| format!("{text} {round}")).to_vec() };
        let response = client.call_leased_as_with::<EchoStringsResponse>(&request, options::<EchoStrings>()).await?;
        let media_type = header_of(&response, CONTENT_TYPE).to_ascii_lowercase();
        ensure(media_type.contains("utf-16"), &format!("the response is not in UTF-16 but in {media_type}"))?;
        same(&response.body.item, &request.item, "items")?;
    }
    Ok(())
}

/// Returns a header of a response; empty if there is none.
pub fn header_of<T>(response: &Response<T>, name: HeaderName) -> String {
    response.http_headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned()
}

/// Sends a list of unknown length.
async fn chunked_request(endpoint: &Endpoint) -> Result<(), Failure> {
    let request = StreamDoubles { item: Streamed(Vec::new()) };
    let client = endpoint.client_for(Feature::Chunked)?;
    let options = options::<StreamDoubles>();
    let response: Response<SendDoublesResponse> =
        client.call_overlaid_with(&request, (0..20_000).map(double), options).await?;
    same(&response.body.count, &20_000, "count")
}

/// Sends a request with Content-Length, and checks how the response's end is marked.
async fn transfer(endpoint: &Endpoint, feature: Feature) -> Result<(), Failure> {
    // The length of a compressed body is not known in advance.
    let client = endpoint.builder(feature).accept_gzip(false).build()?;
    // Some servers send Content-Length for what fits into their buffer, and chunks for larger
    // bodies.
    let size = if feature == Feature::Chunked { 5000 } else { 100 };
    let request = EchoDoubles { item: (0..size).map(double).collect() };
    for _ in 0..3 {
        let response = client.call_leased_as_with::<EchoDoublesResponse>(&request, options::<EchoDoubles>()).await?;
        same(&response.body.item, &request.item, "items")?;
        let header = if feature == Feature::Chunked { TRANSFER_ENCODING } else { CONTENT_LENGTH };
        ensure(response.http_headers.contains_key(&header), &format!("the response has no {header}"))?;
    }
    Ok(())
}

async fn gzip_requests(endpoint: &Endpoint) -> Result<(), Failure> {
    let client = endpoint.builder(Feature::Gzip).compression(Compression::ALWAYS).build()?;
    for round in 0..3 {
        echo::<EchoStrings, EchoStringsResponse>(&client, repetitive(round)).await?;
    }
    Ok(())
}

async fn gzip_responses(endpoint: &Endpoint) -> Result<(), Failure> {
    let client = endpoint.client_for(Feature::Gzip)?;
    for round in 0..3 {
        let request = EchoStrings { item: repetitive(round) };
        let response = client.call_leased_as_with::<EchoStringsResponse>(&request, options::<EchoStrings>()).await?;
        same(&response.body.item, &request.item, "items")?;
        same(&header_of(&response, CONTENT_ENCODING).as_str(), &"gzip", "content coding of the response")?;
    }
    Ok(())
}

fn repetitive(round: usize) -> Vec<String> {
    (0..1000).map(|n| format!("the same again {}", if n == 500 { round } else { 0 })).collect()
}

async fn tls(endpoint: &Endpoint) -> Result<(), Failure> {
    let roots = Roots::from_pem(std::fs::read(&endpoint.ca)?)?;
    let client = endpoint.builder(Feature::Tls).build_with(HttpTransport::with_tls(ClientTls::new(roots))?)?;
    for round in 0..3 {
        echo::<EchoDoubles, EchoDoublesResponse>(&client, (0..100).map(|n| double(n + round)).collect()).await?;
    }
    Ok(())
}

async fn unknown_authority(endpoint: &Endpoint) -> Result<(), Failure> {
    let client: Client = endpoint.client_for(Feature::Tls)?;
    let outcome = echo::<EchoDoubles, EchoDoublesResponse>(&client, vec![1.0]).await;
    ensure(outcome.is_err(), "a certificate of an untrusted authority was accepted")
}

async fn attachment(endpoint: &Endpoint, mtom: Mtom, size: usize) -> Result<(), Failure> {
    let client = endpoint.builder(Feature::Mtom).attachments(parts_from(0)).build()?;
    let data: Vec<u8> = (0..size).map(|n| (n * 7 + n / 256) as u8).collect();
    let request = EchoAttachment { name: "a & b".into(), data: Binary::from(data.clone()) };
    let options = options::<EchoAttachment>().mtom(mtom);
    let mut response = client.call_as_with::<EchoAttachmentResponse>(&request, options).await?;
    same(&response.body.name, &request.name, "name")?;
    let received = response.attachments.bytes(&response.body.data).await?;
    same(&received.len(), &size, "octets")?;
    ensure(received == data, "other octets came back")
}

/// Returns options that make parts of values of at least this many bytes.
fn parts_from(threshold: usize) -> AttachmentOptions {
    AttachmentOptions { threshold, ..AttachmentOptions::client() }
}

async fn send_attachment(endpoint: &Endpoint) -> Result<(), Failure> {
    let client = endpoint.client_for(Feature::Mtom)?;
    let request = SendAttachment { name: "large".into(), data: Binary::from(vec![7; 1_000_000]) };
    let options = options::<SendAttachment>().mtom(Mtom::Auto);
    let response = client.call_as_with::<SendAttachmentResponse>(&request, options).await?;
    same(&response.body.count, &1_000_000, "count")
}

/// One-way messages may arrive shortly after they were accepted.
async fn one_way(endpoint: &Endpoint) -> Result<(), Failure> {
    let client = endpoint.client_for(Feature::OneWay)?;
    let topic = format!("ours over {:?}, process {}", endpoint.version, std::process::id());
    for _ in 0..3 {
        client.send_with(&Notify { topic: topic.clone() }, options::<Notify>()).await?;
    }
    let mut count = 0;
    for _ in 0..50 {
        let request = Notified { topic: topic.clone() };
        let response = client.call_as_with::<NotifiedResponse>(&request, options::<Notified>()).await?;
        count = response.body.count;
        if count == 3 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(format!("3 notifications were sent, {count} have arrived").into())
}
