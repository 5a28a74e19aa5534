//! A gateway as a layer around a SOAP service of the same program, which serves both then.

use crate::backend::Backend;
use crate::body::ResponseBody;
use crate::config::{Config, ConfigError};
use crate::gateway::Gateway;
use bytes::Bytes;
use deltasoap_dynamic::Contract;
use deltasoap_http::{Body, BoxError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::BodyExt;
use std::task::{Context, Poll};
use tower::{Layer, Service};

/// Adds a [`Gateway`] to a SOAP service. The gateway answers requests to its own paths in JSON, and calls
/// the service in memory for that. All other requests go to the service itself.
///
/// The service keeps its own pages and its WSDL if the gateway has a path of its own
/// ([`ServiceConfig::path`](crate::ServiceConfig::path)).
///
/// ```
/// # use deltasoap_dynamic::{Contract, Mock};
/// # use deltasoap_gateway::{Config, GatewayLayer, ServiceConfig};
/// # use http::Request;
/// # use http_body_util::Full;
/// # use tower::{Layer, ServiceExt};
/// # const WSDL: &str = include_str!("../../deltasoap-dynamic/tests/data/shop.wsdl");
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let contract = Contract::from_text(WSDL)?;
/// # let shop = Mock::new(contract.clone()).service()?;
/// let mut service = ServiceConfig::new("shop.wsdl");
/// service.path = "/api".to_owned();
/// let layer = GatewayLayer::new(Config::new(vec![service]), contract)?;
/// let both = layer.layer(shop);
///
/// let request = Request::post("/api/operations/Catalogue").body(Full::<bytes::Bytes>::default())?;
/// assert_eq!(both.clone().oneshot(request).await?.status(), 200);
/// let request = Request::post("/").header("content-type", "text/xml").body(Full::from("<not-soap/>"))?;
/// assert_eq!(both.oneshot(request).await?.headers()["content-type"], "text/xml; charset=utf-8");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct GatewayLayer {
    config: Config,
    contract: Contract,
}

impl GatewayLayer {
    /// Creates the layer. The configuration has one service.
    ///
    /// # Errors
    /// As for [`Gateway::new`].
    pub fn new(config: Config, contract: Contract) -> Result<Self, ConfigError> {
        Gateway::new(&config, vec![Backend::new(contract.clone())])?;
        Ok(GatewayLayer { config, contract })
    }
}

impl<S, R> Layer<S> for GatewayLayer
where
    S: Service<Request<Body>, Response = Response<R>, Error: Into<BoxError>, Future: Send>,
    S: Clone + Send + Sync + 'static,
    R: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Service = WithGateway<S>;

    fn layer(&self, service: S) -> WithGateway<S> {
        let backend = Backend::new(self.contract.clone()).transport(service.clone());
        match Gateway::new(&self.config, vec![backend]) {
            Ok(gateway) => WithGateway { gateway, service },
            Err(error) => unreachable!("{error}, in a configuration that was checked"),
        }
    }
}

/// A SOAP service with a gateway; see [`GatewayLayer`].
#[derive(Debug, Clone)]
pub struct WithGateway<S> {
    gateway: Gateway,
    service: S,
}

impl<S, B, R> Service<Request<B>> for WithGateway<S>
where
    S: Service<Request<B>, Response = Response<R>, Future: Send + 'static>,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    R: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if self.gateway.serves(request.method(), request.uri().path()) {
            return Box::pin(self.gateway.call(request).map(|answered| answered.map_err(|never| match never {})));
        }
        let unified = |response: Response<R>| response.map(|body| body.map_err(Into::into).boxed_unsync());
        Box::pin(self.service.call(request).map(move |answered| answered.map(unified)))
    }
}
