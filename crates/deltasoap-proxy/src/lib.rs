//! A reverse proxy in front of a SOAP service, for those who run or test it.
//!
//! A [`Proxy`] is a [`tower::Service`] that passes requests on to a target, and on the way
//!
//! - records exchanges, as files and as HAR, and answers with a recording;
//! - validates messages by a WSDL, and reports or refuses invalid ones;
//! - secures messages by WS-Security on one side, for peers on the other side that have none;
//! - keeps answers of operations that are safe;
//! - makes trouble on purpose, the same in each run;
//! - counts and logs exchanges by operation.
//!
//! Without any of these, bodies pass while they arrive. WSDLs that pass get the address of the
//! proxy.
//!
//! ```
//! # use deltasoap_dynamic::{Contract, Mock};
//! use deltasoap_proxy::{Config, Proxy, ValidationMode};
//! use http::{Request, StatusCode};
//! use http_body_util::Full;
//! use tower::ServiceExt;
//!
//! # const WSDL: &str = include_str!("../../deltasoap-dynamic/tests/data/shop.wsdl");
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), deltasoap_http::BoxError> {
//! # let contract = Contract::from_text(WSDL)?;
//! # let service = Mock::new(contract.clone()).service()?;
//! let mut config = Config::default();
//! config.target = Some("http://shop.example/".to_owned());
//! config.validation = ValidationMode::Refuse;
//! let proxy = Proxy::new(&config, Some(contract), service)?;
//!
//! let order = "<e:Envelope xmlns:e='http://www.w3.org/2003/05/soap-envelope'><e:Body>\
//!     <Order xmlns='urn:shop'><customer>Ada</customer></Order></e:Body></e:Envelope>";
//! let request = Request::post("/").header("content-type", "application/soap+xml");
//! let response = proxy.oneshot(request.body(Full::from(order))?).await?;
//! assert_eq!(response.status(), StatusCode::BAD_REQUEST, "it has no item");
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod cache;
mod canonical;
mod config;
mod document;
mod exchange;
mod forward;
mod message;
mod names;
mod offload;
mod proxy;
mod record;
mod refusal;
mod replay;
mod secrets;
mod stream;
mod trouble;
mod wsdl;

pub use cache::CacheRule;
pub use config::{
    AccessConfig, CacheConfig, Config, ConfigError, Limits, RecordConfig, Secret, SecurityConfig, Side, Tls,
    ValidationMode,
};
pub use proxy::Proxy;
pub use stream::ResponseBody;
pub use trouble::{Latency, Rate, Rule, Speed, TroubleConfig};
