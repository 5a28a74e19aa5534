//! REST, JSON and OpenAPI for SOAP services, by their WSDL alone.
//!
//! A [`Gateway`] is a [`tower::Service`] that calls SOAP services for clients that know only JSON.
//! Of each service it has
//!
//! | | |
//! |---|---|
//! | `POST /operations/NAME` | an operation: its request as JSON, its response as JSON |
//! | paths of one's own | operations by `GET` and others, with parameters in path and query |
//! | `/openapi.json` | an OpenAPI 3.1 document of all this |
//! | `/` | a page to try it, which loads nothing from elsewhere |
//!
//! The JSON is that of [`deltasoap_dynamic::json`], and of the command `deltasoap call`. Errors are
//! problems (RFC 9457). Behind the gateway are the [dynamic
//! clients](deltasoap_dynamic::DynamicClient): requests are written against earlier ones, and
//! responses are compared with earlier ones.
//!
//! ```
//! # use deltasoap_dynamic::{Contract, Mock};
//! use deltasoap_gateway::{Backend, Config, Gateway, ServiceConfig};
//! use http::Request;
//! use http_body_util::{BodyExt, Full};
//! use tower::ServiceExt;
//!
//! # const WSDL: &str = include_str!("../../deltasoap-dynamic/tests/data/shop.wsdl");
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), deltasoap_http::BoxError> {
//! # let contract = Contract::from_text(WSDL)?;
//! # let service = Mock::new(contract.clone()).service()?;
//! let config = Config::new(vec![ServiceConfig::new("shop.wsdl")]);
//! let gateway = Gateway::new(&config, vec![Backend::new(contract).transport(service)])?;
//!
//! let order = r#"{"customer": "Ada", "item": [{"code": "A-1", "count": 2}]}"#;
//! let request = Request::post("/operations/Order").header("content-type", "application/json");
//! let response = gateway.oneshot(request.body(Full::from(order))?).await?;
//! assert_eq!(response.status(), 200);
//! let placed: serde_json::Value = serde_json::from_slice(&response.into_body().collect().await?.to_bytes())?;
//! assert!(placed["number"].is_number());
//! # Ok(())
//! # }
//! ```
//!
//! A [`GatewayLayer`] adds a gateway to a SOAP service of the same program. A [`Reverse`] serves SOAP, and
//! calls a JSON service by the same mapping.
//!
//! A [`Config`] comes from a TOML file or is built. A gateway [replaces](Gateway::replace) its
//! configuration while it runs. Health and metrics are those of
//! [`Monitor`](deltasoap_http::Monitor), which wraps the gateway.

#![forbid(unsafe_code)]

mod accept;
mod backend;
mod body;
mod coding;
mod config;
mod cookies;
mod gateway;
mod incoming;
mod layer;
mod multipart;
mod openapi;
mod page;
mod parameters;
mod problem;
mod reverse;
mod targets;

pub use backend::Backend;
pub use body::ResponseBody;
pub use config::{
    Compression, Config, ConfigError, Cors, CredentialsConfig, DecimalForm, Limits, RouteConfig, RouteMethod, Secret,
    ServiceConfig, Tls, ToleranceMode, ValidationMode,
};
pub use gateway::Gateway;
pub use layer::{GatewayLayer, WithGateway};
pub use reverse::Reverse;
