//! Values that several places share: `$id` at the first place, `$ref` at the others.
//!
//! Which values are shared is found by walking over all of them once, before they are written: so only those have an id that are
//! referred to. Places are read in the order in which they are written, that of the schema, and a reference leads back to what was
//! begun before. So nothing is read twice, and a reference does not make anything deeper.

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
/// The property that stands for a value.
pub(super) const REF: &str = "$ref";

/// Most shared values within each other, when they are written: no message that is read has more.
const DEEPEST: usize = 256;

/// The numbers of the values that several places share.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// By the value's address; 0 until it has been met.
    numbers: RefCell<HashMap<usize, usize>>,
    last: Cell<usize>,
    depth: Cell<usize>,
}

/// A place of a value that several share.
pub(super) enum Place {
    /// The first one.
    First(usize),
    /// Another one.
    Other(usize),
}

impl Numbers {
    /// For a value and all that is in it.
    pub(super) fn of(value: &Value) -> Self {
        let (mut once, mut often) = (HashSet::new(), HashMap::new());
        let mut held = Vec::new();
        note(value, &mut once, &mut often, &mut held);
        while let Some(shared) = held.pop() {
            note(&shared, &mut once, &mut often, &mut held);
        }
        Numbers { numbers: RefCell::new(often), ..Numbers::default() }
    }

    /// What the next place of a value is; `None` for a value that has no other place.
    pub(super) fn next(&self, shared: &Shared<Value>) -> Option<Place> {
        let mut numbers = self.numbers.borrow_mut();
        let number = numbers.get_mut(&shared.address())?;
        if *number > 0 {
            return Some(Place::Other(*number));
        }
        *number = self.fresh();
        Some(Place::First(*number))
    }

    /// A number that no value has.
    pub(super) fn fresh(&self) -> usize {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }

    /// Goes into a shared value, until what comes back is dropped.
    ///
    /// # Errors
    /// When that is too deep.
    pub(super) fn enter(&self, path: &Path<'_>) -> Result<Within<'_>, JsonError> {
        if self.depth.get() >= DEEPEST {
            return Err(JsonError::new(path, format!("at most {DEEPEST} shared values within each other"), "more"));
        }
        self.depth.set(self.depth.get() + 1);
        Ok(Within(&self.depth))
    }
}

/// Counts the places of the shared values in a value, those in shared values left out: `held` gets the ones that are new.
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

/// What one goes into and comes out of.
pub(super) struct Within<'n>(&'n Cell<usize>);

impl Drop for Within<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// What stands at the other places.
pub(super) fn reference(number: usize) -> Json {
    Json::Object(Map::from_iter([(REF.to_owned(), Json::String(number.to_string()))]))
}

/// What stands at the first place.
pub(super) fn identified(number: usize, json: Json) -> Json {
    let mut object = Map::from_iter([(ID.to_owned(), Json::String(number.to_string()))]);
    match json {
        Json::Object(properties) => object.extend(properties),
        json => _ = object.insert("$".to_owned(), json),
    }
    Json::Object(object)
}

/// The values that have ids, of what is being read.
#[derive(Debug, Default)]
pub(super) struct Known(RefCell<HashMap<String, Identity>>);

/// A value with an id.
#[derive(Debug)]
struct Identity {
    /// Weak while the value is read: what is within it closes a cycle.
    handle: Shared<Value>,
    content: ElementRef,
}

impl Known {
    /// The value that an object refers to; `None` if it is no reference.
    ///
    /// # Errors
    /// When there is no such value yet, or one of another type.
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
            return Err(JsonError::new(path, "nothing beside $ref", "more properties"));
        }
        let (id, path) = (text_of(id, &path.key(REF))?, path.key(REF));
        match self.0.borrow().get(&id) {
            Some(known) if known.content == content => Ok(Some(known.handle.clone())),
            Some(_) => Err(JsonError::new(&path, "an id of a value of this type", format!("{id:?}, of another type"))),
            None => {
                Err(JsonError::new(&path, "an $id that stands before, in the order of the schema", format!("{id:?}")))
            }
        }
    }

    /// Reads a value that may have an id.
    ///
    /// # Errors
    /// Those of `read`, and when there is another value of this id.
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
            return Err(JsonError::new(&path, "an id of its own", format!("{id:?}, which stands before")));
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
