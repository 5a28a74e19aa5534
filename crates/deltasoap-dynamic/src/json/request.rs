//! A builder of requests.

use super::JsonError;
use super::path::Path;
use crate::Operation;
use deltasoap_core::Value;
use serde_json::{Map, Value as Json};

/// Builds a request's value: properties are set by their path, and all are checked when the request
/// is built.
///
/// ```
/// # use deltasoap_dynamic::Contract;
/// # const WSDL: &str = include_str!("../../tests/data/shop.wsdl");
/// # let contract = Contract::from_text(WSDL)?;
/// let order = contract.operation("Order")?;
/// let request = order.build().set("customer", "Ada").set("item/0/code", "A-1").set("item/0/count", 2).finish()?;
/// # assert_eq!(order.request_to_json(&request)?["customer"], "Ada");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Request<'o> {
    operation: &'o Operation,
    json: Json,
    /// The error of the first invalid path.
    error: Option<JsonError>,
}

impl<'o> Request<'o> {
    pub(crate) fn new(operation: &'o Operation) -> Self {
        Request { operation, json: Json::Object(Map::new()), error: None }
    }

    /// Starts from this JSON, in place of what was set before.
    #[must_use]
    pub fn with_json(mut self, json: Json) -> Self {
        self.json = json;
        self
    }

    /// Sets the value at a path of properties and indices separated by `/`. Missing values on the
    /// path are created: objects, and arrays extended by one item at a time.
    #[must_use]
    pub fn set(mut self, path: &str, value: impl Into<Json>) -> Self {
        let mut place = &mut self.json;
        for step in path.split('/') {
            place = match enter(place, step) {
                Some(next) => next,
                None => {
                    let error = JsonError::new(&Path::Root.key(path), "a path to a property", format!("{step:?}"));
                    self.error.get_or_insert(error);
                    return self;
                }
            };
        }
        *place = value.into();
        self
    }

    /// Makes the element at a path nil.
    #[must_use]
    pub fn nil(self, path: &str) -> Self {
        self.set(path, Json::Null)
    }

    /// Returns the request as JSON, so far.
    pub fn json(&self) -> &Json {
        &self.json
    }

    /// Builds the request.
    ///
    /// # Errors
    /// If it does not match the operation's request.
    pub fn finish(self) -> Result<Value, JsonError> {
        match self.error {
            Some(error) => Err(error),
            None => self.operation.request_from_json(&self.json),
        }
    }
}

/// Goes one step down. A number is an index, unless the value is an object.
fn enter<'j>(place: &'j mut Json, step: &str) -> Option<&'j mut Json> {
    let index = step.parse::<usize>().ok();
    if place.is_null() {
        *place = if index.is_some() { Json::Array(Vec::new()) } else { Json::Object(Map::new()) };
    }
    match place {
        Json::Object(object) => Some(object.entry(step).or_insert(Json::Null)),
        Json::Array(items) => {
            let index = index.filter(|&index| index <= items.len())?;
            if index == items.len() {
                items.push(Json::Null);
            }
            items.get_mut(index)
        }
        _ => None,
    }
}
