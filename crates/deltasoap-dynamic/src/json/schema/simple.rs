//! JSON Schemas of simple types.

use super::pattern::ecma;
use super::{IN_PART, JsonSchemas, Key, anything, described};
use crate::facets;
use crate::json::scalar::{self, Decimals};
use deltasoap_core::Simple;
use deltasoap_core::schema::{Builtin, Element, ElementRef, SimpleElement, UnionElement};
use deltasoap_wsdl::xsd::{Facets, TypeId, Variety};
use serde_json::{Map, Number, Value as Json, json};
use std::collections::HashSet;

/// Maximum depth of nested unions.
const MAX_DEPTH: usize = 16;
/// The greatest bound that is exact in every reader of JSON.
const SAFE: f64 = ((1_u64 << 53) - 1) as f64;

impl JsonSchemas<'_> {
    /// Returns the schema of a simple type: in place for built-in types, else of its definition.
    pub(super) fn simple(&mut self, content: ElementRef, number: u32) -> Json {
        let origin = self.contract.types.lowered.origin(content).map(|origin| origin.type_id);
        let named = origin.filter(|id| id.builtin().is_none() && *id != TypeId::ANY_SIMPLE);
        let name = named.and_then(|id| Some((id, self.name_of(id)?)));
        let schema = match name {
            Some((id, name)) => {
                // Elements with different defaults have different content of the same type.
                self.contents.entry(id).or_insert(number);
                self.refer(Key::Simple(id), &name)
            }
            None => self.simple_in_place(content, origin),
        };
        let default = self.layouts.schema.view(content).element.default_text();
        match default.and_then(|text| self.value(content, text)) {
            Some(default) => with(schema, "default", default),
            None => schema,
        }
    }

    pub(super) fn simple_definition(&mut self, id: TypeId) -> Json {
        let Some(&number) = self.contents.get(&id) else { return anything() };
        let schema = self.simple_in_place(ElementRef::Index(number), Some(id));
        described(schema, self.contract.types.import.schemas()[id].documentation.as_deref())
    }

    fn simple_in_place(&mut self, content: ElementRef, origin: Option<TypeId>) -> Json {
        let mut schema = match self.layouts.schema.view(content).element {
            Element::Simple(simple) => self.base(simple),
            Element::Union(union) => self.union(content, union),
            _ => Map::new(),
        };
        let values = self.enumeration(content, origin);
        if !values.is_empty() {
            schema.insert("enum".to_owned(), Json::Array(values));
        }
        if let Some(id) = origin {
            self.facets(id, &mut schema);
        }
        // Bytes may be in another part of the message.
        match self.layouts.schema.view(content).element {
            Element::Simple(SimpleElement { base: Builtin::Base64Binary, packed: None, .. }) => {
                json!({ "anyOf": [Json::Object(schema), self.common(IN_PART)] })
            }
            _ => Json::Object(schema),
        }
    }

    /// Describes the values of a built-in type.
    fn base(&self, simple: &SimpleElement) -> Map<String, Json> {
        let decimals = self.contract.decimals;
        if let Some(packing) = simple.packed {
            let items = SimpleElement { base: packing.items, packed: None, ..simple.clone() };
            return map(json!({ "type": "array", "items": self.base(&items) }));
        }
        let exact = |number: &str, pattern: &str| match decimals {
            Decimals::Numbers => json!({ "type": number }),
            Decimals::Strings => json!({ "type": "string", "pattern": pattern }),
            Decimals::Auto => json!({ "type": [number, "string"], "pattern": pattern }),
        };
        map(match simple.base {
            Builtin::Boolean => json!({ "type": "boolean" }),
            Builtin::Float => floats("float"),
            Builtin::Double => floats("double"),
            Builtin::Decimal => {
                with(exact("number", r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$"), "format", json!("decimal"))
            }
            Builtin::Long => with(exact("integer", "^[+-]?[0-9]+$"), "format", json!("int64")),
            base if scalar::is_exact(base) => exact("integer", "^[+-]?[0-9]+$"),
            base if scalar::is_integer(base) => small_integer(base),
            Builtin::Base64Binary => json!({ "type": "string", "contentEncoding": "base64" }),
            Builtin::HexBinary => json!({ "type": "string", "pattern": "^([0-9A-Fa-f]{2})*$" }),
            Builtin::AnyUri => json!({ "type": "string", "format": "uri-reference" }),
            Builtin::String | Builtin::NormalizedString | Builtin::Token => json!({ "type": "string" }),
            // Not `date` or `date-time`: these require, or exclude, a time zone.
            base => json!({ "type": "string", "x-xsd-type": base.local() }),
        })
    }

    /// Describes a union: all types of JSON that its members have. A text in another form than the
    /// usual one is a string.
    fn union(&self, content: ElementRef, union: &UnionElement) -> Map<String, Json> {
        let mut types = Vec::new();
        if !union.list {
            self.members(content, &mut types, MAX_DEPTH);
        }
        if !types.contains(&"string") {
            types.push("string");
        }
        types.retain({
            let has_numbers = types.contains(&"number");
            move |it| *it != "integer" || !has_numbers
        });
        map(json!({ "type": if types.len() == 1 { json!(types[0]) } else { json!(types) } }))
    }

    fn members(&self, content: ElementRef, types: &mut Vec<&'static str>, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let kind = match self.layouts.schema.view(content).element {
            Element::Union(union) if !union.list => {
                union.members.iter().for_each(|&member| self.members(member, types, depth));
                return;
            }
            Element::Simple(simple) => match simple.base {
                Builtin::Boolean => "boolean",
                Builtin::Decimal | Builtin::Float | Builtin::Double => "number",
                base if scalar::is_integer(base) => "integer",
                _ => "string",
            },
            _ => "string",
        };
        if !types.contains(&kind) {
            types.push(kind);
        }
    }

    /// Returns the values of an enumeration; none if there is no enumeration, or if its values can
    /// have several texts.
    fn enumeration(&self, content: ElementRef, origin: Option<TypeId>) -> Vec<Json> {
        let view = self.layouts.schema.view(content);
        let value = |text: &str| self.value(content, text);
        let all: Option<Vec<_>> = match view.element {
            element if element.is_name() => None,
            Element::Simple(simple) => simple.enumeration.iter().map(|text| value(text)).collect(),
            Element::Union(union) => {
                let mut kinds = Vec::new();
                self.members(content, &mut kinds, MAX_DEPTH);
                let schemas = self.contract.types.import.schemas();
                let own = origin.into_iter().flat_map(|id| facets::steps(schemas, id));
                let texts = own.map(|it| &it.enumeration).find(|it| !it.is_empty());
                let is_text = kinds == ["string"] && !union.list;
                texts.filter(|_| is_text).map(|texts| texts.iter().map(|it| Json::from(&*it.value)).collect())
            }
            _ => None,
        };
        let mut seen = HashSet::new();
        let mut all = all.unwrap_or_default();
        all.retain(|value| seen.insert(value.to_string()));
        all
    }

    /// Returns a text of the type as JSON.
    fn value(&self, content: ElementRef, text: &str) -> Option<Json> {
        let view = self.layouts.schema.view(content);
        let simple = match view.element {
            Element::Simple(simple) if !view.element.is_name() => Simple::parse(simple.base, text).ok()?,
            Element::Union(union) => Simple::parse_union(union, view, text)?,
            _ => return None,
        };
        Some(scalar::to_json(&simple, view, self.contract.decimals))
    }

    /// Adds the facets of a type and of those that it restricts.
    fn facets(&self, id: TypeId, schema: &mut Map<String, Json>) {
        let schemas = self.contract.types.import.schemas();
        let has_numbers = has_type(schema, "number") || has_type(schema, "integer");
        let is_text = !has_numbers && counts_characters(schemas.variety(id));
        let (mut patterns, mut own) = (Vec::new(), Map::new());
        for facets in facets::steps(schemas, id) {
            if is_text {
                lengths(facets, &mut own);
            }
            if has_numbers && !matches!(schemas.variety(id), Some(Variety::List(_) | Variety::Union(_))) {
                bounds(facets, &mut own);
            }
            patterns.extend(pattern_of(facets));
        }
        schema.extend(own);
        // Several steps must all match, and a pattern beside them already excludes other texts.
        let of_base = schema.remove("pattern").filter(|_| patterns.is_empty());
        let mut all: Vec<_> = of_base.into_iter().chain(patterns.into_iter().map(Json::String)).collect();
        match all.len() {
            0 => {}
            1 => _ = schema.insert("pattern".to_owned(), all.remove(0)),
            _ => {
                let all = all.into_iter().map(|pattern| json!({ "pattern": pattern })).collect();
                schema.insert("allOf".to_owned(), all);
            }
        }
    }
}

/// Returns true for types whose length is that of their JSON string.
fn counts_characters(variety: Option<&Variety>) -> bool {
    use Builtin::{Base64Binary, Entities, HexBinary, IdRefs, NmTokens, Notation, QName};
    match variety {
        Some(Variety::Builtin(builtin)) => {
            !matches!(builtin, Base64Binary | HexBinary | QName | Notation | NmTokens | IdRefs | Entities)
        }
        _ => false,
    }
}

/// Adds lengths; the facets of derived types come first, and are at least as narrow.
fn lengths(facets: &Facets, schema: &mut Map<String, Json>) {
    let least = facets.length.or(facets.min_length);
    let most = facets.length.or(facets.max_length);
    for (key, length) in [("minLength", least), ("maxLength", most)] {
        if let Some(length) = length {
            schema.entry(key).or_insert(json!(length));
        }
    }
}

/// Adds bounds, as for lengths.
fn bounds(facets: &Facets, schema: &mut Map<String, Json>) {
    let all = [
        ("minimum", &facets.min_inclusive),
        ("maximum", &facets.max_inclusive),
        ("exclusiveMinimum", &facets.min_exclusive),
        ("exclusiveMaximum", &facets.max_exclusive),
    ];
    for (key, bound) in all {
        // A bound that is not exact could exclude a value that the facet allows.
        let text = bound.as_deref().map(|text| text.trim().trim_start_matches('+'));
        let number = text.and_then(|text| text.parse::<Number>().ok());
        let number = number.filter(|it| it.as_f64().is_some_and(|it| it.abs() <= SAFE));
        if let Some(number) = number {
            schema.entry(key).or_insert(Json::Number(number));
        }
    }
}

/// Returns the patterns of one step, of which a text must match one.
fn pattern_of(facets: &Facets) -> Option<String> {
    let mut all = facets.patterns.iter().map(|pattern| ecma(pattern)).collect::<Option<Vec<_>>>()?;
    match all.len() {
        0 => None,
        1 => all.pop(),
        _ => Some(all.join("|")),
    }
}

fn has_type(schema: &Map<String, Json>, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(one)) => one == wanted,
        Some(Json::Array(all)) => all.iter().any(|it| it == wanted),
        _ => false,
    }
}

/// Describes floating point numbers; those that are not numbers in JSON are strings.
fn floats(format: &str) -> Json {
    json!({ "type": ["number", "string"], "format": format, "pattern": "^(INF|-INF|NaN)$" })
}

/// Describes an integer of up to 32 bits.
fn small_integer(base: Builtin) -> Json {
    let (least, most): (i64, i64) = match base {
        Builtin::Byte => (i8::MIN.into(), i8::MAX.into()),
        Builtin::Short => (i16::MIN.into(), i16::MAX.into()),
        Builtin::Int => return json!({ "type": "integer", "format": "int32" }),
        Builtin::UnsignedByte => (0, u8::MAX.into()),
        Builtin::UnsignedShort => (0, u16::MAX.into()),
        _ => (0, u32::MAX.into()),
    };
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

fn with(mut schema: Json, key: &str, value: Json) -> Json {
    if let Json::Object(object) = &mut schema {
        object.insert(key.to_owned(), value);
    }
    schema
}

fn map(schema: Json) -> Map<String, Json> {
    match schema {
        Json::Object(object) => object,
        _ => Map::new(),
    }
}
