//! Values that several places share: `$id` at the first place, `$ref` at the others.
//!
//! All values are walked once before they are written, to find the shared ones: only values that
//! are referred to get an id. Places are read in the order in which they are written, that of the
//! schema, and a reference leads back to a value that was begun before. Therefore nothing is read
//! twice, and references add no depth.

use super::JsonError;
use super::error::kind;
use super::open::plain;
use super::path::Path;
use deltasoap_core::schema::ElementRef;
use deltasoap_core::{Held, Shared, Value};
use serde_json::{Map, Value as Json};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

/// The property that names a value.
pub(super) const ID: &str = "$id";
/// The property that refers to a value.
pub(super) const REF: &str = "$ref";

/// Maximum depth of nested shared values when writing: no message that can be read has more.
const MAX_DEPTH: usize = 256;

/// The numbers of the values that several places share.
#[derive(Debug, Default)]
pub(super) struct SharedIds {
    /// By the value's address; 0 until it is first reached.
    numbers: RefCell<HashMap<usize, usize>>,
    last: Cell<usize>,
    depth: Cell<usize>,
}

/// A place of a shared value, with the value's number.
pub(super) enum SharedOccurrence {
    /// The first one.
    First(usize),
    /// Another one.
    Other(usize),
}

impl SharedIds {
    /// Finds the shared values in a value.
    pub(super) fn of(value: &Value) -> Self {
        let (mut once, mut often) = (HashSet::new(), HashMap::new());
        let mut held = Vec::new();
        note(value, &mut once, &mut often, &mut held);
        while let Some(shared) = held.pop() {
            note(&shared, &mut once, &mut often, &mut held);
        }
        SharedIds { numbers: RefCell::new(often), ..SharedIds::default() }
    }

    /// Returns the next place of a value; `None` for a value that has no other place.
    pub(super) fn next(&self, shared: &Shared<Value>) -> Option<SharedOccurrence> {
        let mut numbers = self.numbers.borrow_mut();
        let number = numbers.get_mut(&shared.address())?;
        if *number > 0 {
            return Some(SharedOccurrence::Other(*number));
        }
        *number = self.fresh();
        Some(SharedOccurrence::First(*number))
    }

    /// Returns an unused number.
    pub(super) fn fresh(&self) -> usize {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }

    /// Enters a shared value, until the returned guard is dropped.
    ///
    /// # Errors
    /// If it is nested too deeply.
    pub(super) fn enter(&self, path: &Path<'_>) -> Result<DepthGuard<'_>, JsonError> {
        if self.depth.get() >= MAX_DEPTH {
            return Err(JsonError::new(path, format!("at most {MAX_DEPTH} shared values within each other"), "more"));
        }
        self.depth.set(self.depth.get() + 1);
        Ok(DepthGuard(&self.depth))
    }
}

/// Counts the places of the shared values in a value, without entering shared values: new ones are
/// added to `held`.
fn note(value: &Value, once: &mut HashSet<usize>, often: &mut HashMap<usize, usize>, held: &mut Vec<Held<Value>>) {
    let mut ahead = vec![value];
    while let Some(value) = ahead.pop() {
        match value {
            Value::Record(record) => ahead.extend(&record.fields),
            Value::List(items) => ahead.extend(items),
            Value::Typed(typed) => ahead.push(&typed.value),
            Value::Shared(shared) if once.insert(shared.address()) => held.extend(shared.get()),
            Value::Shared(shared) => _ = often.insert(shared.address(), 0),
            _ => {}
        }
    }
}

/// Guard for an entered value.
pub(super) struct DepthGuard<'n>(&'n Cell<usize>);

impl Drop for DepthGuard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Returns the JSON of every place of a value but the first.
pub(super) fn reference(number: usize) -> Json {
    Json::Object(Map::from_iter([(REF.to_owned(), Json::String(number.to_string()))]))
}

/// Returns the JSON of the first place of a value.
pub(super) fn identified(number: usize, json: Json) -> Json {
    let mut object = Map::from_iter([(ID.to_owned(), Json::String(number.to_string()))]);
    match json {
        Json::Object(properties) => object.extend(properties),
        json => _ = object.insert("$".to_owned(), json),
    }
    Json::Object(object)
}

/// The values with ids within the value that is being read.
#[derive(Debug, Default)]
pub(super) struct Known(RefCell<HashMap<String, Identity>>);

/// A value with an id.
#[derive(Debug)]
struct Identity {
    /// Weak while the value is read: a reference within it closes a cycle.
    handle: Shared<Value>,
    content: ElementRef,
}

impl Known {
    /// Returns the value that an object refers to; `None` if the object is not a reference.
    ///
    /// # Errors
    /// If there is no such value yet, or it has another type.
    pub(super) fn referred(
        &self,
        json: &Json,
        content: ElementRef,
        path: &Path<'_>,
    ) -> Result<Option<Shared<Value>>, JsonError> {
        let Some((object, id)) = json.as_object().and_then(|object| Some((object, object.get(REF)?))) else {
            return Ok(None);
        };
        if object.len() > 1 {
            return Err(JsonError::new(path, "no properties other than $ref", "more properties"));
        }
        let (id, path) = (text_of(id, &path.key(REF))?, path.key(REF));
        match self.0.borrow().get(&id) {
            Some(known) if known.content == content => Ok(Some(known.handle.clone())),
            Some(_) => Err(JsonError::new(&path, "an id of a value of this type", format!("{id:?}, of another type"))),
            None => {
                Err(JsonError::new(&path, "an $id that occurs earlier, in the order of the schema", format!("{id:?}")))
            }
        }
    }

    /// Reads a value that may have an id.
    ///
    /// # Errors
    /// Those of `read`, and if another value has this id.
    pub(super) fn identified(
        &self,
        json: &Json,
        content: ElementRef,
        path: &Path<'_>,
        read: impl FnOnce() -> Result<Value, JsonError>,
    ) -> Result<Shared<Value>, JsonError> {
        let Some(id) = json.as_object().and_then(|object| object.get(ID)) else { return read().map(Shared::new) };
        let (id, path) = (text_of(id, &path.key(ID))?, path.key(ID));
        if self.0.borrow().contains_key(&id) {
            return Err(JsonError::new(&path, "a unique id", format!("{id:?}, which occurs earlier")));
        }
        let shared = Shared::try_cyclic(|handle| {
            self.0.borrow_mut().insert(id.clone(), Identity { handle, content });
            read()
        })?;
        self.0.borrow_mut().insert(id, Identity { handle: shared.clone(), content });
        Ok(shared)
    }
}

fn text_of(id: &Json, path: &Path<'_>) -> Result<String, JsonError> {
    plain(id).ok_or_else(|| JsonError::new(path, "an id: a string", kind(id)))
}
