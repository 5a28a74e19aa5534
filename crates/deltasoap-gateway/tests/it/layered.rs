//! The gateway as a layer: one program serves SOAP and JSON.

use crate::{got, shop};
use deltasoap_dynamic::{DynamicClient, Mock};
use deltasoap_gateway::{Config, GatewayLayer};
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value as Json, json};
use tower::{Layer, ServiceExt};

#[tokio::test]
async fn json_and_soap_are_served_by_one_service() {
    let config = Config::parse("[[service]]\nwsdl = \"s\"\npath = \"/api\"\n").expect("a configuration");
    let layer = GatewayLayer::new(config, shop()).expect("a layer");
    let soap = Mock::new(shop()).service().expect("a service");
    let both = layer.layer(soap.clone());

    let order = json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] });
    let request = Request::post("/api/operations/Order").header("content-type", "application/json");
    let request = request.body(Full::<bytes::Bytes>::from(order.to_string())).expect("a request");
    let in_json: Json = got(both.clone().oneshot(request).await.expect("a response")).await.json();

    let client = DynamicClient::with_transport(shop(), both.clone());
    let reply = client.call("Order", &order).await.expect("a reply");
    assert_eq!(reply, in_json);

    let ask = |path: &str| Request::get(path).body(Full::<bytes::Bytes>::default()).expect("a request");
    let document = got(both.clone().oneshot(ask("/api/openapi.json")).await.expect("a response")).await.json();
    assert_eq!(document["openapi"], "3.1.0");
    // Not the gateway's list of services, and not its refusal of a method.
    for path in ["/", "/api/operations/Order"] {
        let own = soap.clone().oneshot(ask(path)).await.expect("a response");
        let through = both.clone().oneshot(ask(path)).await.expect("a response");
        let own = (own.status(), own.into_body().collect().await.expect("a body").to_bytes());
        let through = (through.status(), through.into_body().collect().await.expect("a body").to_bytes());
        assert_eq!(own, through, "{path}");
    }
}

#[test]
fn a_configuration_is_checked_before_there_is_a_service() {
    for config in
        ["[[service]]\nwsdl = \"s\"\npath = \"api\"\n", "[[service]]\nwsdl = \"s\"\n[[service]]\nwsdl = \"t\"\n"]
    {
        let config = Config::parse(config).expect("TOML");
        assert!(GatewayLayer::new(config, shop()).is_err());
    }
}
