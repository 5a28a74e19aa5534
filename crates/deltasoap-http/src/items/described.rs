//! Lists of messages whose types are known only at run time.

use super::Listed;
use deltasoap_core::decode::{Cursor, Step};
use deltasoap_core::schema::{ElementRef, Schema, View};
use deltasoap_core::{Content, FromList, ListPath, ListPathError, Value};
use std::sync::Arc;

/// A list in messages whose types are known only at run time, whose items are used while they
/// arrive: for [`Client::call_element_items`](crate::Client::call_element_items).
#[derive(Debug, Clone)]
pub struct DescribedList {
    schema: Arc<Schema>,
    content: ElementRef,
    path: ListPath,
}

impl DescribedList {
    /// Finds the list at a path in the content of a body's element; without a path, the only list.
    ///
    /// # Errors
    /// Returns an error if there is no such list, or there are several.
    pub fn new(schema: Arc<Schema>, content: ElementRef, path: Option<&str>) -> Result<Self, ListPathError> {
        let view = schema.view(content);
        let path = path.map_or_else(|| ListPath::only(view), |path| ListPath::find(view, path))?;
        Ok(DescribedList { schema, content, path })
    }

    /// Returns the path of the list.
    pub fn path(&self) -> &ListPath {
        &self.path
    }

    fn view(&self) -> View<'_> {
        self.schema.view(self.content)
    }
}

impl<T: FromList> Listed<Value, T> for DescribedList {
    fn vacant(&self) -> Value {
        Value::vacant(self.view())
    }

    fn decode(&self, message: &mut Value, cursor: &mut Cursor<'_>) -> Step {
        message.decode(cursor, self.view())
    }

    fn take_finished(&self, message: &mut Value) -> Vec<T> {
        self.path.take_finished(message, self.view())
    }

    fn take_all(&self, message: &mut Value) -> Vec<T> {
        self.path.take_all(message, self.view())
    }
}
