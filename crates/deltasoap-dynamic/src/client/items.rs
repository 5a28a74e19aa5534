//! Replies with a list whose items are used as they arrive.

use crate::{JsonError, Operation};
use deltasoap_core::soap::Head;
use deltasoap_core::{Batch, ListPath, Value};
use deltasoap_http::{CallError, Items, Response};
use http::StatusCode;
use serde_json::Value as Json;

/// A response of which one list is still arriving: its items are [`Value`]s, or [batches](Batch) of
/// them.
///
/// ```
/// # use deltasoap_dynamic::{Contract, DynamicClient, Mock};
/// # use serde_json::json;
/// # const WSDL: &str = include_str!("../../tests/data/lab.wsdl");
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let contract = Contract::from_text(WSDL)?;
/// # let measured = json!({ "station": "north", "level": [0.5, 2.0] });
/// # let service = Mock::new(contract.clone()).answer("Measure", &measured)?.service()?;
/// # let client = DynamicClient::with_transport(contract, service);
/// let mut reply = client.prepare("Measure")?.send_json_items(&json!({ "count": 2 }), Some("level")).await?;
/// let mut levels = Vec::new();
/// while let Some(batch) = reply.items.next_batch().await {
///     levels.extend(reply.items_to_json(&batch?)?);
/// }
/// assert_eq!(levels, [json!(0.5), json!(2.0)]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ItemsReply<T> {
    /// The operation that was called.
    pub operation: Operation,
    /// Header blocks, and the version of SOAP.
    pub head: Head,
    /// The HTTP status.
    pub status: StatusCode,
    /// The path of the list in the response.
    pub list: ListPath,
    /// The items. Nothing is read ahead: between items the server has to wait, which it may not do
    /// for long; see [`Client::call_items`](deltasoap_http::Client::call_items). Parts that came
    /// with the message are not kept.
    pub items: Items<Value, T, CallError>,
}

impl<T> ItemsReply<T> {
    pub(super) fn new(operation: Operation, list: ListPath, response: Response<Items<Value, T, CallError>>) -> Self {
        let Response { head, body, status, .. } = response;
        ItemsReply { operation, head, status, list, items: body }
    }

    /// Converts items to JSON, each by itself: a value that several items share is written with
    /// each. An item that refers to a part of a package is written as the reference, since parts
    /// are not kept.
    ///
    /// # Errors
    /// None are known for received items.
    pub fn items_to_json(&self, items: &[Value]) -> Result<Vec<Json>, JsonError> {
        self.operation.items_to_json(&self.list, items)
    }
}

impl ItemsReply<Batch> {
    /// Converts a batch to JSON, item by item.
    ///
    /// # Errors
    /// As for [`items_to_json`](Self::items_to_json).
    pub fn batch_to_json(&self, batch: Batch) -> Result<Vec<Json>, JsonError> {
        self.items_to_json(&batch.into_values())
    }
}
