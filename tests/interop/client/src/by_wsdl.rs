//! Calls of the services whose WSDLs are made from code, by these WSDLs alone.

use crate::Failure;
use crate::report::{Report, ensure};
use deltasoap::schema::QName;
use deltasoap::soap::Version;
use deltasoap_dynamic::{DynamicClient, DynamicError};
use serde_json::{Value as Json, json};
use std::time::Duration;

/// Tests both services in one version of SOAP, and prints a line for each test.
pub async fn test(orders: &str, sums: &str, version: Version, report: &Report) -> Result<(), Failure> {
    let orders = DynamicClient::from_wsdl(format!("{orders}?wsdl")).await?.version(version);
    let sums = DynamicClient::from_wsdl(format!("{sums}?wsdl")).await?.version(version);
    report.test("coded structs", "an order with everything", order(&orders, "most", 2)).await;
    report.test("coded structs", "an order with only what is required", order(&orders, "least", 0)).await;
    report.test("coded faults", "no fault", reserve(&orders)).await;
    report.test("coded faults", "a typed fault", reserve_too_many(&orders)).await;
    report.test("coded headers", "a header block both ways", renew(&orders)).await;
    report.test("coded headers", "a required block is missing", renew_without_session(&orders)).await;
    report.test("coded one-way", "cancellations arrive", cancel(&orders, version)).await;
    report.test("coded arrays", "arrays of numbers and structs", sum(&sums, 100)).await;
    report.test("coded arrays", "an empty array", sum(&sums, 0)).await;
    Ok(())
}

fn expect(actual: &Json, expected: &Json) -> Result<(), Failure> {
    ensure(actual == expected, &format!("expected {expected}, got {actual}"))
}

async fn order(client: &DynamicClient, case: &str, lines: usize) -> Result<(), Failure> {
    let sampled = client.call("sampleOrder", &json!({ "case": case })).await?;
    let found = sampled["order"]["line"].as_array().map_or(0, Vec::len);
    ensure(found == lines, &format!("expected {lines} lines, got {found}"))?;
    let checked = client.call("checkOrder", &json!({ "case": case, "order": sampled["order"] })).await?;
    expect(&checked["problem"], &json!(""))
}

async fn reserve(client: &DynamicClient) -> Result<(), Failure> {
    expect(&client.call("reserve", &json!({ "sku": "<a>", "count": 3 })).await?["left"], &json!(7))
}

async fn reserve_too_many(client: &DynamicClient) -> Result<(), Failure> {
    match client.call("reserve", &json!({ "sku": "<a>", "count": 11 })).await {
        Err(DynamicError::Fault(fault)) => {
            let fault = fault.to_json();
            expect(&fault["detail"]["OutOfStock"], &json!({ "sku": "<a>", "left": 10 }))
        }
        other => Err(format!("expected a fault, got {other:?}").into()),
    }
}

async fn renew(client: &DynamicClient) -> Result<(), Failure> {
    let session = json!({ "user": "Ada & co", "hops": 41 });
    let call = client.prepare("renew")?.header_json(&QName::new("urn:orders", "Session"), &session)?;
    let reply = call.send_json(&json!({})).await?.ok_or("no reply")?;
    expect(&reply.to_json()?["user"], &json!("Ada & co"))?;
    expect(&reply.headers_to_json(), &json!({ "Session": { "user": "Ada & co", "hops": 42 } }))
}

async fn renew_without_session(client: &DynamicClient) -> Result<(), Failure> {
    match client.call("renew", &json!({})).await {
        Err(DynamicError::Fault(_)) => Ok(()),
        other => Err(format!("expected a fault, got {other:?}").into()),
    }
}

async fn cancel(client: &DynamicClient, version: Version) -> Result<(), Failure> {
    let topic = json!({ "topic": format!("deltasoap over {version:?}, {}", std::process::id()) });
    for _ in 0..3 {
        client.prepare("cancel")?.send_json(&topic).await?;
    }
    let mut count = Json::Null;
    for _ in 0..50 {
        count = client.call("cancelled", &topic).await?["count"].take();
        if count == json!(3) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    expect(&count, &json!(3))
}

async fn sum(client: &DynamicClient, points: i32) -> Result<(), Failure> {
    let sampled = client.call("sample", &json!({ "points": points })).await?;
    let answer = client.call("sum", &sampled).await?;
    let products: f64 = (0..points).map(|n| f64::from(n) * f64::from(n)).sum();
    expect(&answer["total"], &json!(0.5 - 2.25 + 1e10 - products))?;
    let labels: String = (0..points).map(|n| format!("<{n}>")).collect();
    expect(&answer["labels"], &json!(labels))
}
