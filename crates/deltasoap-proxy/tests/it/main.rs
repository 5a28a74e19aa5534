//! Tests of the proxy through its public interface.

mod cached;
mod passing;
mod recorded;
mod secured;
mod troubled;
mod validated;

use bytes::Bytes;
use deltasoap_dynamic::{Contract, Mock};
use deltasoap_http::{Body, BoxError};
use deltasoap_proxy::{Config, Proxy, ResponseBody};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tower::{ServiceExt, service_fn};

pub(crate) const SHOP: &str = include_str!("../../../deltasoap-dynamic/tests/data/shop.wsdl");

pub(crate) fn shop() -> Contract {
    Contract::from_text(SHOP).expect("a description")
}

/// Returns an envelope of SOAP 1.1.
pub(crate) fn envelope(header: &str, body: &str) -> String {
    format!(
        "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\">{header}<e:Body>{body}</e:Body></e:Envelope>"
    )
}

pub(crate) fn order(customer: &str) -> String {
    envelope(
        "",
        &format!(
            "<Order xmlns=\"urn:shop\"><customer>{customer}</customer><item><code>A-1</code><count>2</count></item></Order>"
        ),
    )
}

/// A request and its body.
type Arrived = (Request<()>, String);

/// A target that answers by a function, and what it got.
#[derive(Clone, Default)]
pub(crate) struct Target {
    got: Arc<Mutex<Vec<Arrived>>>,
}

impl Target {
    pub(crate) fn count(&self) -> usize {
        self.got.lock().expect("not poisoned").len()
    }

    pub(crate) fn last(&self) -> Arrived {
        self.got.lock().expect("not poisoned").pop().expect("a request")
    }

    /// Returns a proxy in front of the target.
    pub(crate) fn proxy(
        &self,
        config: &str,
        contract: Option<Contract>,
        answer: impl Fn(&Request<()>, &str) -> Response<String> + Send + Sync + 'static,
    ) -> Proxy {
        let (target, answer) = (self.clone(), Arc::new(answer));
        let transport = service_fn(move |request: Request<Body>| {
            let (target, answer) = (target.clone(), Arc::clone(&answer));
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.map_err(BoxError::from)?.to_bytes();
                let body = String::from_utf8_lossy(&body).into_owned();
                let request = Request::from_parts(parts, ());
                let answer = answer(&request, &body);
                target.got.lock().expect("not poisoned").push((request, body));
                Ok::<_, BoxError>(answer.map(|text| Full::new(Bytes::from(text))))
            }
        });
        Proxy::new(&configured(config), contract, transport).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Returns a configuration with a target.
pub(crate) fn configured(text: &str) -> Config {
    Config::parse(&format!("target = \"http://target.example/soap\"\n{text}")).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a proxy in front of a mock of the shop.
pub(crate) fn before_shop(config: &str) -> Proxy {
    let service = Mock::new(shop()).service().expect("a service");
    Proxy::new(&configured(config), Some(shop()), service).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn xml(text: impl Into<String>) -> Response<String> {
    let response = Response::builder().header("content-type", "text/xml; charset=utf-8");
    response.body(text.into()).expect("a response")
}

/// What a client gets.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Got {
    /// Returns the text of an element that is there once.
    #[track_caller]
    pub(crate) fn element(&self, name: &str) -> &str {
        let tag = self.text.split_once(&format!("<{name}")).unwrap_or_else(|| panic!("no {name} in {self:?}")).1;
        tag.split_once('>').and_then(|(_, content)| content.split_once("</")).expect("its end").0
    }
}

pub(crate) async fn got(response: Response<ResponseBody>) -> Got {
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes();
    Got { status: head.status, headers: head.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
}

pub(crate) async fn send<B>(proxy: &Proxy, request: Request<B>) -> Got
where
    B: http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let Ok(response) = proxy.clone().oneshot(request).await;
    got(response).await
}

pub(crate) fn post(text: &str) -> Request<Full<Bytes>> {
    let request = Request::post("/").header("content-type", "text/xml; charset=utf-8").header("host", "proxy:1");
    request.body(Full::from(text.to_owned())).expect("a request")
}

pub(crate) fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(path).header("host", "proxy:1").body(Full::default()).expect("a request")
}
