//! Responses that repeat what was sent: the client takes their numbers from the request, and only
//! as long as that is useful.

use deltasoap::client::ClientBuilder;
use deltasoap::engine::{Differential, Templating};
use deltasoap::schema::Use;
use deltasoap::{Client, Lease, Soap, SoapService};
use std::convert::Infallible;

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:levels", message)]
struct Scale {
    by: f64,
    levels: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:levels", message, qualified)]
struct ScaleResponse {
    scaled: Vec<f64>,
}

async fn scale(request: Lease<Scale>) -> Result<ScaleResponse, Infallible> {
    Ok(scaled(&request))
}

fn scaled(request: &Scale) -> ScaleResponse {
    ScaleResponse { scaled: request.levels.iter().map(|level| level * request.by).collect() }
}

fn service() -> SoapService {
    SoapService::builder().name("Levels").operation(scale).build().expect("a service")
}

fn client(builder: ClientBuilder) -> Client<SoapService> {
    builder.build_with(service()).expect("a client")
}

/// Not adaptive, so that the result does not depend on the time that writing and reading take.
fn builder() -> ClientBuilder {
    let differential = Differential { adaptive: false, ..Differential::default() };
    let templating = Templating { adaptive: false, ..Templating::default() };
    Client::builder("http://levels.example/").templating(templating).differential(differential)
}

/// Returns a request with levels similar to those of other turns.
fn request(by: f64, turn: usize) -> Scale {
    Scale { by, levels: (0..1000).map(|n| (n + turn / 2 * usize::from(n % 10 == 0)) as f64 / 7.0).collect() }
}

/// Makes a number of calls; returns the number of leaves that were found in requests.
async fn found(client: &Client<SoapService>, by: f64, turns: usize) -> u64 {
    let before = client.hinted_leaves();
    for turn in 0..turns {
        let request = request(by, turn);
        let response: ScaleResponse = client.call_as(&request).await.expect("a response");
        let expected = scaled(&request);
        assert_eq!(response, expected);
        let leased: Lease<ScaleResponse> = client.call_leased_as(&request).await.expect("a response");
        assert_eq!(*leased, expected);
    }
    client.hinted_leaves() - before
}

#[tokio::test]
async fn what_comes_back_is_found() {
    for encoding in [Use::Literal, Use::Encoded] {
        let client = client(builder().encoding(encoding));
        // Only the first of the leased responses is read in full.
        let found = found(&client, 1.0, 10).await;
        assert!(found >= 10 * 950, "{found}");
        assert_eq!(client.encode_stats().copies, 0, "what was sent is let go once it has been answered");
    }
}

#[tokio::test]
async fn what_differs_is_not_looked_for_any_more() {
    let client = client(builder());
    assert!(found(&client, 3.0, 100).await < 1000);
    assert!(found(&client, 1.0, 300).await > 100_000, "it comes back");
}

#[tokio::test]
async fn hints_can_be_switched_off() {
    for builder in [builder().hints(false), builder().templating(Templating::OFF)] {
        assert_eq!(found(&client(builder), 1.0, 5).await, 0);
    }
}
