//! JSON Schemas of the JSON of a contract: what a message's JSON looks like, for programs that know
//! nothing of XML.
//!
//! The schemas describe the form in which values are *written*, in JSON Schema 2020-12, the dialect
//! of OpenAPI 3.1. More is read than they describe, such as a string for any number. They follow
//! the engine's schema and the [layouts](super::keys), as reader and writer do, and take
//! documentation and facets from the WSDL.
//!
//! Every complex type, and every simple type with a name, is a *definition* of its own, to which
//! the places where it occurs refer. So recursive types need no special care, and the size of all
//! definitions is proportional to that of the WSDL. Types are waiting in a queue, not on the stack.

mod choices;
mod documented;
mod pattern;
mod simple;

use super::keys::{Layout, Slot};
use super::nil::{NIL, TYPE};
use super::{Layouts, PART};
use crate::{Contract, Operation};
use deltasoap_core::QName;
use deltasoap_core::schema::{ArrayElement, ComplexElement, Element, ElementRef, Field, OpenElement};
use deltasoap_wsdl::xsd::TypeId;
use documented::Documented;
use serde_json::{Map, Value as Json, json};
use std::collections::{HashMap, HashSet, VecDeque};

/// Maximum number of derived types that are listed at a place. Where a message may choose among
/// more, the schema allows any object.
const MAX_DERIVED: usize = 200;
/// Maximum depth of arrays and choices that are described in place.
const MAX_DEPTH: usize = 16;

/// What names of definitions of objects with the name of their type begin with.
const TYPED: &str = "Typed";
/// The definition of elements without a schema.
const TREE: &str = "XmlTree";
/// The definition of nil with attributes.
const WITH_NIL: &str = "Nil";
/// The definition of other places of a shared value.
const REFERENCE: &str = "Reference";
/// The definition of bytes in another part of the message.
const IN_PART: &str = "Part";

/// Makes the JSON Schemas of a contract's messages, and collects their definitions.
///
/// ```
/// # use deltasoap_dynamic::Contract;
/// # use deltasoap_dynamic::json::JsonSchemas;
/// # const WSDL: &str = include_str!("../../../tests/data/shop.wsdl");
/// let contract = Contract::from_text(WSDL)?;
/// let mut schemas = JsonSchemas::new(&contract, "#/$defs/");
/// let order = schemas.request(&contract.operation("Order")?).expect("an operation that can be called");
/// assert_eq!(order["$ref"], "#/$defs/Order");
/// let definitions = schemas.finish();
/// assert_eq!(definitions["Currency"]["enum"], serde_json::json!(["EUR", "CHF"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JsonSchemas<'c> {
    contract: &'c Contract,
    layouts: Layouts<'c>,
    /// What comes before the name of a definition in references to it.
    prefix: String,
    /// The names of definitions.
    names: HashMap<Key, String>,
    /// The names of types that messages give, by the numbers of their contents.
    labels: HashMap<u32, String>,
    /// The content of simple types with a name, by its number.
    contents: HashMap<TypeId, u32>,
    /// Names that are taken.
    taken: HashSet<String>,
    /// Definitions that are named and not yet made.
    ahead: VecDeque<(Key, String)>,
    definitions: Map<String, Json>,
}

/// What a definition describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// Content that is an object.
    Complex(u32),
    /// The same with the name of its type.
    Typed(u32),
    /// Content whose type the message chooses.
    Open(u32),
    /// A simple type with a name.
    Simple(TypeId),
    /// One of the definitions that all contracts share.
    Common(&'static str),
}

impl<'c> JsonSchemas<'c> {
    /// Creates an empty collection. References to a definition are the prefix and its name:
    /// `#/components/schemas/` for OpenAPI, `#/$defs/` for a schema of its own.
    pub fn new(contract: &'c Contract, prefix: &str) -> Self {
        JsonSchemas {
            contract,
            layouts: Layouts::new(&contract.types.lowered.schema),
            prefix: prefix.to_owned(),
            names: HashMap::new(),
            labels: HashMap::new(),
            contents: HashMap::new(),
            taken: HashSet::new(),
            ahead: VecDeque::new(),
            definitions: Map::new(),
        }
    }

    /// Keeps a name for a definition of the caller's own.
    ///
    /// Returns false if it is taken.
    pub fn reserve(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_owned())
    }

    /// Returns the schema of an operation's request; `None` if its messages cannot be read and
    /// written.
    pub fn request(&mut self, operation: &Operation) -> Option<Json> {
        let (name, content) = operation.request()?;
        Some(self.body(name, content, &format!("{}Request", operation.name())))
    }

    /// Returns the schema of an operation's response; `None` also for one-way operations.
    pub fn response(&mut self, operation: &Operation) -> Option<Json> {
        let (name, content) = operation.response()?;
        Some(self.body(name, content, &format!("{}Response", operation.name())))
    }

    fn body(&mut self, name: &QName, content: ElementRef, otherwise: &str) -> Json {
        let hint = if name.local.is_empty() { otherwise } else { &name.local };
        let elements = self.contract.types.import.schemas();
        let is_nillable = elements.element_named(name).is_some_and(|id| elements[id].is_nillable);
        self.made(|schemas| {
            let body = schemas.content(content, hint, MAX_DEPTH);
            if is_nillable { schemas.or_nil(body, content) } else { body }
        })
    }

    /// Returns the schema of an element of this name and content, such as a header block or an
    /// entry of a fault's detail.
    pub fn element(&mut self, name: &QName, content: ElementRef) -> Json {
        self.made(|schemas| schemas.content(content, &name.local, MAX_DEPTH))
    }

    /// Returns the definitions, by name, in the order in which they are referred to.
    pub fn finish(self) -> Map<String, Json> {
        self.definitions
    }

    /// Returns what a function makes, once all definitions that it refers to are made.
    fn made(&mut self, make: impl FnOnce(&mut Self) -> Json) -> Json {
        let made = make(self);
        while let Some((key, name)) = self.ahead.pop_front() {
            let definition = match key {
                Key::Complex(number) => self.complex_definition(number, &name),
                Key::Typed(number) => self.typed_definition(number, &name),
                Key::Open(number) => self.open_definition(number, &name),
                Key::Simple(id) => self.simple_definition(id),
                Key::Common(name) => common(name, &self.prefix),
            };
            self.definitions.insert(name, definition);
        }
        made
    }

    /// Returns the schema of content that is not nil.
    fn content(&mut self, content: ElementRef, hint: &str, depth: usize) -> Json {
        let Some(depth) = depth.checked_sub(1) else { return anything() };
        let ElementRef::Index(number) = content else { return anything() };
        match self.layouts.schema.view(content).element {
            Element::Simple(_) | Element::Union(_) => self.simple(content, number),
            Element::Complex(complex) => self.refer(Key::Complex(number), &self.type_name(content, complex, hint)),
            Element::Array(array) => self.array(array, array.dimensions, hint, depth),
            Element::Any => self.common(TREE),
            Element::Open(_) => {
                let name = self.contract.types.lowered.origin(content).map(|origin| origin.type_id);
                let name = match name.filter(|id| *id != TypeId::ANY).and_then(|id| self.name_of(id)) {
                    Some(name) => format!("Any{name}"),
                    None => "AnyType".to_owned(),
                };
                self.refer(Key::Open(number), &name)
            }
            Element::Shared(content) => {
                let shared = self.content(*content, hint, depth);
                json!({ "anyOf": [shared, self.common(REFERENCE)] })
            }
        }
    }

    fn name_of(&self, id: TypeId) -> Option<String> {
        let name = self.contract.types.import.schemas()[id].name.as_ref()?;
        Some(name.local.to_string())
    }

    /// Returns the name for a complex type: its own, or else that of the place where it occurs.
    fn type_name(&self, content: ElementRef, complex: &ComplexElement, hint: &str) -> String {
        let origin = self.contract.types.lowered.origin(content);
        let own = match origin {
            Some(origin) => self.name_of(origin.type_id),
            None => Some(complex.name.local.to_string()).filter(|name| !name.is_empty() && hint.is_empty()),
        };
        own.unwrap_or_else(|| hint.to_owned())
    }

    /// Returns a reference to a definition, which gets this name if it is free.
    fn refer(&mut self, key: Key, wanted: &str) -> Json {
        if let Some(name) = self.names.get(&key) {
            return json!({ "$ref": format!("{}{name}", self.prefix) });
        }
        let name = self.free(&component_name(wanted));
        self.names.insert(key, name.clone());
        let reference = json!({ "$ref": format!("{}{name}", self.prefix) });
        self.ahead.push_back((key, name));
        reference
    }

    fn common(&mut self, name: &'static str) -> Json {
        self.refer(Key::Common(name), name)
    }

    fn free(&mut self, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(|name| self.taken.insert(name.clone())).unwrap_or_default()
    }

    fn array(&mut self, array: &ArrayElement, dimensions: u32, hint: &str, depth: usize) -> Json {
        let Some(depth) = depth.checked_sub(1) else { return json!({ "type": "array" }) };
        let item = match dimensions {
            0 | 1 => {
                let item = self.content(array.item, &format!("{hint}_item"), depth);
                if array.nillable { self.or_nil(item, array.item) } else { item }
            }
            _ => self.array(array, dimensions - 1, hint, depth),
        };
        json!({ "type": "array", "items": item })
    }

    fn complex_definition(&mut self, number: u32, name: &str) -> Json {
        let content = ElementRef::Index(number);
        let Element::Complex(complex) = self.layouts.schema.view(content).element else { return anything() };
        let documented = Documented::of(self.contract, content);
        let object = self.whole_object(number, complex, &documented, name);
        let object = match complex.text.filter(|_| complex.attributes.iter().all(|it| !it.required)) {
            Some(text) => {
                let text = self.content(text, name, MAX_DEPTH);
                json!({ "anyOf": [text, object] })
            }
            None => object,
        };
        described(object, documented.type_text())
    }

    /// Describes an object with the name of its type, as messages have it where they choose the
    /// type.
    fn typed_definition(&mut self, number: u32, name: &str) -> Json {
        let content = ElementRef::Index(number);
        let Element::Complex(complex) = self.layouts.schema.view(content).element else { return anything() };
        let documented = Documented::of(self.contract, content);
        let hint = name.strip_prefix(TYPED).unwrap_or(name);
        let object = self.whole_object(number, complex, &documented, hint);
        let label = self.labels.get(&number).map_or("", String::as_str);
        described(with_type(object, label), documented.type_text())
    }

    /// Returns the schema of an object of a complex type, with what it has beside its content.
    fn whole_object(&mut self, number: u32, complex: &ComplexElement, documented: &Documented<'_>, hint: &str) -> Json {
        let layout = self.layouts.of(ElementRef::Index(number), complex);
        let mut object = self.object(complex, &layout, documented, hint, MAX_DEPTH);
        if self.contract.types.is_shared_content(number) {
            object["properties"]["$id"] = json!({ "type": "string" });
        }
        object
    }

    /// Returns the schema of an object: a complex type, or an occurrence of a repeated choice.
    fn object(
        &mut self,
        complex: &ComplexElement,
        layout: &Layout,
        documented: &Documented<'_>,
        hint: &str,
        depth: usize,
    ) -> Json {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (attribute, key) in complex.attributes.iter().zip(&layout.attributes) {
            let schema = self.content(attribute.element, hint, MAX_DEPTH);
            properties.insert(key.clone(), described(schema, documented.attribute(&attribute.name)));
            required.extend(Some(key.clone()).filter(|_| attribute.required));
        }
        if let Some(text) = complex.text {
            properties.insert("$".to_owned(), self.content(text, hint, MAX_DEPTH));
            required.push("$".to_owned());
        }
        self.fields(complex, layout, documented, hint, depth, &mut properties);
        required.extend(choices::required(complex, layout));
        let constraints = choices::constraints(complex, layout, self.layouts.schema);
        let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            object["required"] = json!(required);
        }
        if !constraints.is_empty() {
            object["allOf"] = Json::Array(constraints);
        }
        if complex.any_attribute {
            object["patternProperties"] = json!({ "^@": {} });
        }
        object
    }

    /// Adds the properties of the fields, with those of the choices among them.
    fn fields(
        &mut self,
        complex: &ComplexElement,
        layout: &Layout,
        documented: &Documented<'_>,
        hint: &str,
        depth: usize,
        properties: &mut Map<String, Json>,
    ) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for (field, slot) in complex.fields.iter().zip(&layout.slots) {
            let view = self.layouts.schema.view(field.element);
            match (slot, view.element) {
                (Slot::Property(key), _) => {
                    let schema = self.property(field, &format!("{hint}_{}", field.name.local), depth);
                    properties.insert(key.clone(), described(schema, documented.element(&field.name)));
                }
                (Slot::Among(layout), Element::Complex(inner)) => {
                    self.fields(inner, layout, documented, hint, depth, properties);
                }
                (Slot::Choices(key, layout), Element::Complex(inner)) => {
                    let item = self.object(inner, layout, documented, hint, depth);
                    properties.insert(key.clone(), several(item, field));
                }
                _ => {}
            }
        }
    }

    fn property(&mut self, field: &Field, hint: &str, depth: usize) -> Json {
        let content = match field.inline {
            true => self.common(TREE),
            false => self.content(field.element, hint, depth),
        };
        let content = if field.nillable { self.or_nil(content, field.element) } else { content };
        if field.is_repeated() { several(content, field) } else { content }
    }

    /// Adds nil to the values of a schema.
    fn or_nil(&mut self, schema: Json, content: ElementRef) -> Json {
        let has_attributes = match self.layouts.schema.view(content).content().element {
            Element::Complex(complex) => !complex.attributes.is_empty() || complex.any_attribute,
            Element::Any | Element::Open(_) => true,
            _ => false,
        };
        let mut all = vec![schema, json!({ "type": "null" })];
        if has_attributes {
            all.push(self.common(WITH_NIL));
        }
        json!({ "anyOf": all })
    }

    /// Describes content whose type the message chooses: that of the declared type, that of each
    /// derived type with its name, or a tree.
    fn open_definition(&mut self, number: u32, name: &str) -> Json {
        let content = ElementRef::Index(number);
        let Element::Open(open) = self.layouts.schema.view(content).element else { return anything() };
        let declared = self.contract.types.lowered.origin(content).map(|origin| origin.type_id);
        let is_any = declared.is_none_or(|id| id == TypeId::ANY || id == TypeId::ANY_SIMPLE);
        if is_any || open.types.len() > MAX_DERIVED {
            return described(anything(), Some(&self.candidates(open, is_any)));
        }
        // Derived types come first, since generated programs take the first that fits.
        let mut all = Vec::new();
        for (type_name, content) in open.types.iter() {
            let label = self.contract.types.label_of(type_name);
            all.push(self.labelled(&label, *content, &type_name.local));
        }
        all.extend(open.base.map(|base| self.content(base, name, MAX_DEPTH)));
        all.push(self.common(TREE));
        let text = Documented::of(self.contract, content).type_text().map(ToOwned::to_owned);
        described(json!({ "anyOf": all }), text.as_deref())
    }

    /// Describes a value with the name of its type. An object has a definition of its own: not all
    /// generators can add a property to another definition.
    fn labelled(&mut self, label: &str, content: ElementRef, hint: &str) -> Json {
        if let (ElementRef::Index(number), Element::Complex(complex)) =
            (content, self.layouts.schema.view(content).element)
        {
            self.labels.entry(number).or_insert_with(|| label.to_owned());
            let name = self.type_name(content, complex, hint);
            return self.refer(Key::Typed(number), &format!("{TYPED}{name}"));
        }
        json!({
            "type": "object",
            "properties": { TYPE: { "const": label }, "$": self.content(content, hint, MAX_DEPTH) },
            "required": [TYPE, "$"],
        })
    }

    /// Says which types are possible where they are not listed.
    fn candidates(&self, open: &OpenElement, is_any: bool) -> String {
        match is_any {
            true => format!("Content of any type; the property {TYPE} names it."),
            false => format!(
                "Content of one of {} types; the property {TYPE} names the type, unless it is the declared one.",
                open.types.len()
            ),
        }
    }
}

/// Adds the name of its type to the schema of an object.
///
/// Some generators name members by the letters of properties, so that they cannot have both `$type`
/// and `type`. There, `$type` is not among the properties, but one more that has a name and a value.
fn with_type(mut object: Json, label: &str) -> Json {
    let named = json!({ TYPE: { "const": label } });
    let mut required = object["required"].as_array().cloned().unwrap_or_default();
    required.push(json!(TYPE));
    object["required"] = Json::Array(required);
    let properties = object["properties"].as_object().cloned().unwrap_or_default();
    if !["type", "@type"].iter().any(|name| properties.contains_key(*name)) {
        object["properties"][TYPE] = named[TYPE].clone();
        return object;
    }
    let names: Vec<_> = properties.keys().map(String::as_str).chain([TYPE]).collect();
    let others = object.get("patternProperties").and_then(Json::as_object);
    let patterns = others.into_iter().flat_map(Map::keys).map(|pattern| json!({ "pattern": pattern }));
    let names: Vec<_> = std::iter::once(json!({ "enum": names })).chain(patterns).collect();
    object["propertyNames"] = json!({ "anyOf": names });
    object["additionalProperties"] = json!(true);
    object["dependentSchemas"] = json!({ TYPE: { "properties": named } });
    object
}

/// Returns a schema that allows anything.
fn anything() -> Json {
    Json::Object(Map::new())
}

/// Returns the schema of a list.
fn several(item: Json, field: &Field) -> Json {
    let mut list = json!({ "type": "array", "items": item });
    if field.min > 0 {
        list["minItems"] = json!(field.min);
    }
    if let Some(max) = field.max {
        list["maxItems"] = json!(max);
    }
    list
}

/// Adds a description, beside a reference too (JSON Schema 2020-12, section 8.2.3.1).
fn described(mut schema: Json, text: Option<&str>) -> Json {
    let text = text.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty());
    if let (Json::Object(object), Some(text)) = (&mut schema, text) {
        object.insert("description".to_owned(), Json::String(text));
    }
    schema
}

/// Returns a name with the characters that OpenAPI allows for components (3.1, section 4.8.7.1).
fn component_name(wanted: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
    let name: String = wanted.chars().map(allowed).collect();
    if name.is_empty() { "Content".to_owned() } else { name }
}

/// Returns a definition that all contracts share.
fn common(name: &str, prefix: &str) -> Json {
    match name {
        TREE => json!({
            "description": "An XML element that no schema describes.",
            "type": "object",
            "properties": {
                "$name": { "type": "string", "description": "Its name: local or {namespace}local." },
                TYPE: { "type": "string", "description": "The name of its type." },
                "$ns": { "type": "object", "additionalProperties": { "type": "string" }, "description": "Prefixes that values use." },
                "$content": {
                    "type": "array",
                    "items": { "anyOf": [{ "type": "string" }, { "$ref": format!("{prefix}{TREE}") }] },
                    "description": "Texts and elements in order."
                },
                "$xml": { "type": "string", "description": "The element as XML, in requests." }
            },
            "patternProperties": { "^@": { "type": "string" } },
            "additionalProperties": false,
            "anyOf": [{ "required": ["$content"] }, { "required": ["$name"] }, { "required": ["$xml"] }]
        }),
        WITH_NIL => json!({
            "description": "A nil element with attributes.",
            "type": "object",
            "properties": { NIL: { "const": true }, TYPE: { "type": "string" } },
            "patternProperties": { "^@": {} },
            "required": [NIL],
            "additionalProperties": false
        }),
        REFERENCE => json!({
            "description": "A value that another place has, with this text as its `$id`.",
            "type": "object",
            "patternProperties": { "^\\$ref$": { "type": "string" } },
            "minProperties": 1,
            "additionalProperties": false
        }),
        IN_PART => json!({
            "description": "Bytes in another part of the message.",
            "type": "object",
            "properties": { PART: { "type": "string", "format": "uri" } },
            "required": [PART],
            "additionalProperties": false
        }),
        _ => anything(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_components_are_plain() {
        assert_eq!(component_name("Größe/α.b-c"), "Gr__e__.b-c");
        assert_eq!(component_name(""), "Content");
    }
}
