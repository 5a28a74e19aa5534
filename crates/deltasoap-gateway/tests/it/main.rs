//! Tests of the gateway through its public interface.

mod calls;
mod configured;
mod documents;
mod hostile;
mod layered;
mod lines_sent;
mod lossless;
mod reversed;
mod streamed;

use deltasoap_dynamic::{Contract, Mock};
use deltasoap_gateway::{Backend, Config, Gateway, ResponseBody};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::Value as Json;
use tower::ServiceExt;

pub(crate) const SHOP: &str = include_str!("../../../deltasoap-dynamic/tests/data/shop.wsdl");

pub(crate) fn shop() -> Contract {
    Contract::from_text(SHOP).expect("a description")
}

/// Returns a gateway of shops, with the rest of the first one's configuration, and one mock for
/// each.
pub(crate) fn gateway(config: &str) -> Gateway {
    with(config, Mock::new)
}

/// Like [`gateway`], with mocks that a function makes.
pub(crate) fn with(config: &str, mock: impl Fn(Contract) -> Mock) -> Gateway {
    let config = Config::parse(config).unwrap_or_else(|error| panic!("{error}"));
    let backend = |_| Backend::new(shop()).transport(mock(shop()).service().expect("a service"));
    Gateway::new(&config, config.services.iter().map(backend).collect()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn plain() -> Gateway {
    gateway("[[service]]\nwsdl = \"shop.wsdl\"\n")
}

/// What a client gets.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Got {
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn problem(&self, status: u16, kind: &str) -> Json {
        let json = self.json();
        assert_eq!(self.headers["content-type"], "application/problem+json", "{json}");
        assert_eq!((self.status.as_u16(), &json["status"]), (status, &Json::from(status)), "{json}");
        assert_eq!(json["type"], format!("urn:deltasoap:problem:{kind}"), "{json}");
        json
    }
}

pub(crate) async fn got(response: Response<ResponseBody>) -> Got {
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes();
    Got { status: head.status, headers: head.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
}

pub(crate) async fn send(gateway: &Gateway, request: Request<Full<bytes::Bytes>>) -> Got {
    let Ok(response) = gateway.clone().oneshot(request).await;
    got(response).await
}

pub(crate) async fn get(gateway: &Gateway, path: &str) -> Got {
    send(gateway, Request::get(path).body(Full::default()).expect("a request")).await
}

pub(crate) async fn post(gateway: &Gateway, path: &str, json: &str) -> Got {
    with_method(gateway, Method::POST, path, json).await
}

pub(crate) async fn with_method(gateway: &Gateway, method: Method, path: &str, json: &str) -> Got {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    send(gateway, request.body(Full::from(json.to_owned())).expect("a request")).await
}
