//! Lists of requests whose items come one by one, each as JSON of its own.
//!
//! The first items are read with the request, as one JSON value. So everything that concerns the
//! list as a whole is checked as for any other request, such as that it belongs to the branch of a
//! choice that the other properties choose.

use super::error::kind;
use super::keys::{Layout, Slot};
use super::path::Path;
use super::{JsonError, JsonReader, ROOT};
use crate::Operation;
use deltasoap_core::schema::{Element, ElementRef, OpenElement, View};
use deltasoap_core::{ListPath, ListPathError, ListPlace, Value};
use serde_json::{Map, Value as Json};
use std::fmt;

/// A list in the requests of an operation whose items come one by one: see
/// [`Operation::request_list`].
///
/// ```
/// # use deltasoap_dynamic::Contract;
/// # use serde_json::json;
/// # const WSDL: &str = include_str!("../../tests/data/lab.wsdl");
/// # let contract = Contract::from_text(WSDL)?;
/// let list = contract.operation("Report")?.request_list(Some("level"))?;
/// let report = list.request_from_json(json!({ "station": "north", "checked": true }), vec![json!(0.5)])?;
/// let mut items = list.items_from(1);
/// items.read(&json!(2.5))?;
/// assert_eq!(items.read(&json!("x")).unwrap_err().pointer(), "/level/2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RequestList {
    operation: Operation,
    content: ElementRef,
    path: ListPath,
    place: JsonPlace,
}

/// The place of a list in the JSON of a message.
#[derive(Debug, Clone)]
struct JsonPlace {
    /// The properties that lead to it.
    keys: Vec<String>,
    /// True for a SOAP array, whose element is there without items too.
    is_array: bool,
}

impl RequestList {
    pub(crate) fn new(operation: &Operation, path: Option<&str>) -> Result<Self, ListPathError> {
        let (_, content) = operation.request().ok_or(ListPathError::NoList)?;
        let view = operation.view(content);
        let path = path.map_or_else(|| ListPath::only(view), |path| ListPath::find(view, path))?;
        let place = JsonPlace::of(&path, view);
        Ok(RequestList { operation: operation.clone(), content, path, place })
    }

    /// Returns the path of the list.
    pub fn path(&self) -> &ListPath {
        &self.path
    }

    /// Returns the number of items that a request needs from its beginning: as many as the schema
    /// requires, and at least one if there are any.
    pub fn first_items(&self) -> usize {
        (self.path.item().min as usize).max(1)
    }

    /// Creates a request from its JSON without the items of the list, and the
    /// [first items](Self::first_items).
    ///
    /// # Errors
    /// If the JSON has items of the list, or does not match the operation's request with the first
    /// items in it.
    pub fn request_from_json(&self, mut request: Json, first: Vec<Json>) -> Result<Value, JsonError> {
        let is_there = self.place.is_array || !first.is_empty();
        self.place.set(&mut request, first, is_there)?;
        self.operation.request_from_json(&request)
    }

    /// Returns a reader of the items from an index on.
    pub fn items_from(&self, index: usize) -> ItemReader<'_> {
        ItemReader { list: self, reader: JsonReader::new(&self.operation.contract().types), index }
    }

    /// Returns the place of the list in a request.
    pub(crate) fn place<'v>(&self, request: &'v Value) -> Result<ListPlace<'v>, ListPathError> {
        self.path.place(request, &self.operation.contract().lowered().schema, self.content)
    }
}

/// Reads items from JSON, each by itself: an `$id` of one means nothing in another.
pub struct ItemReader<'l> {
    list: &'l RequestList,
    reader: JsonReader<'l>,
    /// The index of the next item.
    index: usize,
}

impl ItemReader<'_> {
    /// Reads the next item.
    ///
    /// # Errors
    /// If the JSON does not match the schema, or the list has as many items as it may have. The
    /// error gives the position in the request.
    pub fn read(&mut self, json: &Json) -> Result<Value, JsonError> {
        let ItemReader { list, reader, index } = self;
        let item = list.path.item();
        reader.forget_ids();
        let value = within(&list.place.keys, &ROOT, &mut |path| match item.max {
            Some(max) if *index >= max as usize => {
                Err(JsonError::new(path, format!("an array of at most {max}"), "more items"))
            }
            _ => reader.item(json, item, &path.index(*index)),
        })?;
        *index += 1;
        Ok(value)
    }
}

impl fmt::Debug for ItemReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemReader").field("list", &self.list.path).field("index", &self.index).finish_non_exhaustive()
    }
}

impl JsonPlace {
    /// Returns the place of a list in messages with this description.
    fn of(path: &ListPath, message: View<'_>) -> Self {
        let (mut keys, mut view, mut around, mut is_array) = (Vec::new(), message, None, true);
        for index in path.indices() {
            let content = declared(view);
            let Some(complex) = content.complex() else { break };
            let layout = around.take().unwrap_or_else(|| Layout::of(complex, content));
            let (Some(field), Some(slot)) = (complex.fields.get(index), layout.slots.get(index)) else { break };
            match slot {
                Slot::Property(key) | Slot::Choices(key, _) => keys.push(key.clone()),
                Slot::Among(layout) => around = Some(layout.clone()),
                Slot::Nowhere => {}
            }
            (view, is_array) = (content.follow(field.element), !field.is_repeated());
        }
        JsonPlace { keys, is_array }
    }

    /// Puts items to their place in a message, if they are to be there.
    ///
    /// # Errors
    /// If there are items already, or something else has their place.
    fn set(&self, message: &mut Json, items: Vec<Json>, is_there: bool) -> Result<(), JsonError> {
        let mut place = message;
        for (depth, key) in self.keys.iter().enumerate() {
            let Json::Object(object) = place else {
                let found = kind(place);
                return within(&self.keys[..depth], &ROOT, &mut |path| {
                    Err(JsonError::new(path, "an object", found.clone()))
                });
            };
            if !is_there && !object.contains_key(key) {
                return Ok(());
            }
            let is_last = depth + 1 == self.keys.len();
            let missing = || if is_last { Json::Array(Vec::new()) } else { Json::Object(Map::new()) };
            place = object.entry(key.clone()).or_insert_with(missing);
        }
        let is_free = match place {
            // Of a body that is an array, nothing is left without the items.
            Json::Object(object) => self.keys.is_empty() && object.is_empty(),
            Json::Array(items) => items.is_empty(),
            _ => false,
        };
        if !is_free {
            let found = kind(place);
            return within(&self.keys, &ROOT, &mut |path| {
                Err(JsonError::new(path, "no items, since each comes by itself", found.clone()))
            });
        }
        *place = Json::Array(items);
        Ok(())
    }
}

/// Returns the description of content that names no other type.
fn declared(mut view: View<'_>) -> View<'_> {
    while let Element::Open(OpenElement { base: Some(base), .. }) = view.element {
        view = view.follow(*base);
    }
    view
}

/// Does something at the place that keys lead to.
fn within<T>(keys: &[String], path: &Path<'_>, work: &mut dyn FnMut(&Path<'_>) -> T) -> T {
    match keys {
        [] => work(path),
        [key, keys @ ..] => within(keys, &path.key(key), work),
    }
}
