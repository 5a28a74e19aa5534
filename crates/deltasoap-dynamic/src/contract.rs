//! A contract: an imported WSDL, ready for use at run time.

mod lookup;
mod notes;
mod operation;
mod served;
mod types;

pub use lookup::{LookupError, Selector};
pub use operation::Operation;
pub(crate) use types::{Types, number};

use crate::JsonError;
use crate::json::{Decimals, JsonReader, JsonWriter, TextError};
use deltasoap_core::schema::{ElementRef, Field, Use, View};
use deltasoap_core::{Node, QName, Value};
use deltasoap_wsdl::{Error, Import, Importer, Lowered, Note};
use serde_json::Value as Json;
use std::sync::Arc;

/// An imported WSDL, ready for use at run time. Clones are cheap.
#[derive(Clone)]
pub struct Contract {
    pub(crate) types: Arc<Types>,
    pub(crate) decimals: Decimals,
}

impl std::fmt::Debug for Contract {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contract").field("import", &self.types.import).finish_non_exhaustive()
    }
}

impl From<Import> for Contract {
    fn from(import: Import) -> Self {
        Contract { types: Arc::new(Types::new(import)), decimals: Decimals::default() }
    }
}

impl Contract {
    /// Imports a WSDL from a URL, a file, a directory or a zip archive, with the defaults of an
    /// [`Importer`].
    ///
    /// # Errors
    /// If it cannot be loaded, or is invalid.
    pub fn import(source: &str) -> Result<Self, Error> {
        Importer::new().import(source).map(Self::from)
    }

    /// Imports a WSDL from text. Relative references in it cannot be resolved.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        Importer::new().text(text).map(Self::from)
    }

    /// Sets the form of decimals and large integers in the JSON that this contract writes, for the
    /// operations that it returns from now on.
    #[must_use]
    pub fn with_decimals(mut self, decimals: Decimals) -> Self {
        self.decimals = decimals;
        self
    }

    /// Returns the imported WSDL.
    pub fn description(&self) -> &Import {
        &self.types.import
    }

    /// Returns the notes of the import, and notes about values.
    ///
    /// The former report what was skipped, or read more leniently than the standards allow. The
    /// latter report malformed patterns, each once, facets that contradict each other, and
    /// defaults, fixed values and enumerated values that do not match their types.
    pub fn notes(&self) -> Vec<Note> {
        let import = &self.types.import;
        let notes = import.notes().iter().cloned().chain(notes::patterns(import)).chain(notes::facets(import));
        notes.chain(notes::values(import)).collect()
    }

    /// Returns the WSDL lowered to the engine's schema.
    pub fn lowered(&self) -> &Lowered {
        &self.types.lowered
    }

    /// Returns the view of some content.
    pub fn view(&self, content: ElementRef) -> View<'_> {
        self.types.lowered.schema.view(content)
    }

    /// Converts the content of the element `name` to JSON; [`json`](crate::json) describes the
    /// mapping.
    ///
    /// # Errors
    /// If the value has another shape than its schema.
    pub fn to_json(&self, name: &QName, content: ElementRef, value: &Value) -> Result<Json, JsonError> {
        let writer = JsonWriter::new(self, value);
        match writer.nil(value, content, self.is_nillable(name)) {
            Some(nil) => Ok(nil),
            None => writer.content(value, content, name, &crate::json::ROOT),
        }
    }

    /// Converts one occurrence of a field to JSON, by itself: a value that other places of the
    /// message share is written with it.
    ///
    /// # Errors
    /// If the value has another shape than its schema.
    pub fn occurrence_to_json(&self, field: &Field, value: &Value) -> Result<Json, JsonError> {
        JsonWriter::new(self, value).item(value, field, &crate::json::ROOT)
    }

    /// Appends the text of what [`occurrence_to_json`](Self::occurrence_to_json) returns. Trees are
    /// written without a JSON value for each element.
    ///
    /// # Errors
    /// If the value has another shape than its schema. Then nothing is appended.
    pub fn write_occurrence(&self, field: &Field, value: &Value, to: &mut Vec<u8>) -> Result<(), JsonError> {
        JsonWriter::write_item(self, value, field, to)
    }

    /// Returns the label of a type, as [`$type`](crate::json) holds it.
    pub fn type_label(&self, name: &QName) -> String {
        self.types.label_of(name)
    }

    /// Creates the content of the element `name` from JSON.
    ///
    /// # Errors
    /// If the JSON does not match the schema. The error gives the position, and what was expected.
    pub fn from_json(&self, name: &QName, content: ElementRef, json: &Json) -> Result<Value, JsonError> {
        match json {
            json if crate::json::is_nil(json, self.is_nillable(name)) => {
                JsonReader::new(&self.types).nil(json, content, &crate::json::ROOT)
            }
            json => JsonReader::new(&self.types).content(json, content, name, &crate::json::ROOT),
        }
    }

    /// Creates the content of the element `name` from the text of its JSON, as
    /// [`from_json`](Self::from_json) does from JSON. Long lists of numbers are read faster so.
    ///
    /// # Errors
    /// If the text is not JSON, or does not match the schema.
    pub fn from_json_text(&self, name: &QName, content: ElementRef, text: &str) -> Result<Value, TextError> {
        let reader = JsonReader::new(&self.types);
        if let Some(value) = crate::json::from_text(&reader, text, content, name, &crate::json::ROOT)? {
            return Ok(value);
        }
        let json = crate::json::parse(text).map_err(TextError::Syntax)?;
        self.from_json(name, content, &json).map_err(TextError::Json)
    }

    /// Wrappers of rpc messages, which no schema declares, may be nil.
    fn is_nillable(&self, name: &QName) -> bool {
        let schemas = self.types.import.schemas();
        schemas.element_named(name).is_none_or(|id| schemas[id].is_nillable)
    }

    /// Converts a standalone element, such as a header block or an entry of a fault's detail, to
    /// JSON: by its type if the contract declares the element, otherwise as a tree.
    pub fn element_to_json(&self, node: &Node) -> Json {
        let declared = self.types.import.schemas().element_named(&node.name);
        self.node_to_json(node, declared.and_then(|id| self.types.lowered.element(id)))
    }

    /// Converts an element to JSON by its content, or as a tree if it does not match.
    pub(crate) fn node_to_json(&self, node: &Node, content: Option<ElementRef>) -> Json {
        let typed = content.and_then(|content| {
            let value = self.types.read_node(node, content).ok()?;
            self.to_json(&node.name, content, &value).ok()
        });
        typed.unwrap_or_else(|| self.types.tree_to_json(node, None))
    }

    /// Creates an element that the contract declares from the JSON of its content.
    ///
    /// # Errors
    /// If no schema declares it, or the JSON does not match the declaration.
    pub fn element_from_json(&self, name: &QName, json: &Json) -> Result<Node, JsonError> {
        let declared = self.types.import.schemas().element_named(name);
        let Some(content) = declared.and_then(|id| self.types.lowered.element(id)) else {
            return match json {
                Json::Object(object) => self.types.tree_from_json(object, Some(name), &crate::json::ROOT),
                _ => Err(crate::json::undeclared(name)),
            };
        };
        self.node_from_json(name, content, Use::Literal, json)
    }

    fn node_from_json(&self, name: &QName, content: ElementRef, encoding: Use, json: &Json) -> Result<Node, JsonError> {
        let value = self.from_json(name, content, json)?;
        let node = self.types.write_node(name, &value, content, encoding);
        node.ok_or_else(|| crate::json::undeclared(name))
    }

    /// Returns all operations of all SOAP ports, those without a port last.
    pub fn operations(&self) -> Vec<Operation> {
        let definitions = self.types.import.definitions();
        let mut all = Vec::new();
        for (service, it) in definitions.services.iter().enumerate() {
            for (port, it) in it.ports.iter().enumerate() {
                all.extend(self.bound(it.binding).map(|index| Operation::new(self, index, Some((service, port)))));
            }
        }
        let has_port = |binding| definitions.services.iter().any(|it| it.ports.iter().any(|it| it.binding == binding));
        let lonely = (0..definitions.bindings.len()).filter(|&binding| !has_port(binding));
        all.extend(lonely.flat_map(|it| self.bound(it)).map(|index| Operation::new(self, index, None)));
        all
    }

    /// Returns the indices of the operations of a binding.
    fn bound(&self, binding: usize) -> impl Iterator<Item = usize> + '_ {
        let operations = self.types.lowered.operations.iter().enumerate();
        operations.filter(move |(_, it)| it.binding == binding).map(|(index, _)| index)
    }
}
