//! SOAP services from their WSDL alone, without generated or compiled code.
//!
//! A [`Contract`] is an imported WSDL, ready for use at run time. Values are passed and returned as
//! [`Value`](deltasoap_core::Value) or as JSON, in the mapping described by [`json`].
//!
//! | task | start at |
//! |---|---|
//! | call a service | [`DynamicClient`] |
//! | see what a message looks like | [`Operation::request_sample`] |
//! | serve one that does not exist yet | [`Mock`] |
//! | read or write JSON | [`Operation`], [`Contract::to_json`], [`Contract::from_json`] |
//! | describe that JSON | [`json::JsonSchemas`] |
//! | read a contract | [`Contract::describe`] |
//! | find the errors in a message | [`Contract::validate`] |
//! | compare two contracts | [`Contract::diff`] |
//! | test a service | [`testing`] |
//! | validate all messages | [`SoapServiceBuilder::validate`], [`ClientBuilder::validate`] |
//!
//! ```
//! use deltasoap_dynamic::Contract;
//! use serde_json::json;
//!
//! # const WSDL: &str = include_str!("../tests/data/shop.wsdl");
//! let contract = Contract::from_text(WSDL)?;
//! let order = contract.operation("Order")?;
//! let request = order.request_from_json(&json!({ "customer": "Ada", "item": [{ "code": "A-1", "count": 2 }] }))?;
//! assert_eq!(order.request_to_json(&request)?["item"][0]["count"], 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ClientBuilder::validate`]: deltasoap_http::ClientBuilder::validate
//! [`SoapServiceBuilder::validate`]: deltasoap_http::SoapServiceBuilder::validate

#![forbid(unsafe_code)]

mod client;
mod contract;
pub mod describe;
pub mod diff;
mod facets;
mod identity;
pub mod json;
mod mock;
mod sample;
pub mod testing;
mod validate;

pub use client::{Call, DynamicClient, DynamicError, DynamicFault, ItemsReply, Parts, Reply};
pub use contract::{Contract, LookupError, Operation, Selector};
pub use json::{JsonError, Request};
pub use mock::{Mock, RecordedError};

#[doc(no_inline)]
pub use deltasoap_http::{Finding, Invalid, Validation};
