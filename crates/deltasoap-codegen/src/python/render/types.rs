//! Classes, dictionaries, enumerations and aliases.

use super::text::{Lines, quoted};
use super::{Hiding, MODEL, Writer};
use crate::python::Python;
use crate::python::model::{Class, DeclarationId, Docs, Enumeration, Field, Kind, Presence};
use crate::python::names::{Scope, is_identifier};
use std::collections::HashMap;

/// Names that pydantic's models have.
const PYDANTIC_NAMES: [&str; 15] = [
    "self",
    "construct",
    "copy",
    "dict",
    "from_orm",
    "json",
    "parse_file",
    "parse_obj",
    "parse_raw",
    "register",
    "schema",
    "schema_json",
    "update_forward_refs",
    "validate",
    "model_config",
];

impl Writer<'_> {
    /// Returns the text of a declaration.
    pub(super) fn declaration(&mut self, id: DeclarationId) -> String {
        let module = self.module;
        let declaration = module.declaration(id);
        let name = self.names[id.0 as usize].clone();
        let mut out = Lines::default();
        match &declaration.kind {
            Kind::Alias(of) => {
                let of = self.annotation(of, &Hiding::new());
                let alias = self.name("TypeAlias", &Hiding::new());
                out.add(0, format!("{name}: {alias} = {of}"));
                out.docstring(0, &declaration.docs);
            }
            Kind::Enumeration(of) if self.style == Python::Stub => self.literal(&name, of, &declaration.docs, &mut out),
            Kind::Enumeration(of) => self.enumeration(&name, of, &declaration.docs, &mut out),
            Kind::Class(class) => self.class(id, class, &declaration.docs, &mut out),
            Kind::Group(fields) if self.style == Python::Pydantic => {
                let fields: Vec<Field> = fields.iter().map(optional).collect();
                let own = (0..fields.len()).collect();
                self.class(id, &Class { fields, own, ..Class::default() }, &declaration.docs, &mut out);
            }
            Kind::Group(fields) => self.dictionary(&name, fields, &declaration.docs, &mut out),
        }
        out.text()
    }

    fn enumeration(&mut self, name: &str, of: &Enumeration, docs: &Docs, out: &mut Lines) {
        let base = self.name("Enum", &Hiding::new());
        out.add(0, format!("class {name}({}, {base}):", if of.is_int { "int" } else { "str" }));
        out.docstring(1, docs);
        if !docs.is_empty() {
            out.blank();
        }
        let mut scope = Scope::default();
        for (value, docs) in &of.values {
            let constant = scope.constant_name(value);
            let value = if of.is_int { value.clone() } else { quoted(value) };
            out.add(1, format!("{constant} = {value}"));
            out.docstring(1, docs);
        }
    }

    fn literal(&mut self, name: &str, of: &Enumeration, docs: &Docs, out: &mut Lines) {
        let values = of.values.iter().map(|(value, _)| if of.is_int { value.clone() } else { quoted(value) });
        let values = values.collect::<Vec<_>>().join(", ");
        let (alias, literal) = (self.name("TypeAlias", &Hiding::new()), self.name("Literal", &Hiding::new()));
        out.add(0, format!("{name}: {alias} = {literal}[{values}]"));
        out.docstring(0, docs);
    }

    fn class(&mut self, id: DeclarationId, class: &Class, docs: &Docs, out: &mut Lines) {
        let name = self.names[id.0 as usize].clone();
        let values = self.value_names(id, class);
        let shown: Vec<&Field> = class.own.iter().map(|&index| &class.fields[index]).collect();
        let hiding: Hiding = shown.iter().map(|field| values[&field.name].clone()).collect();
        if self.style == Python::Dataclasses {
            let decorator = self.name("dataclass", &Hiding::new());
            out.add(0, format!("@{decorator}(kw_only=True)"));
        }
        let base = match (class.base, self.style) {
            (Some(base), _) => Some(self.names[base.0 as usize].clone()),
            (None, Python::Dataclasses) => None,
            (None, Python::Pydantic) => Some(MODEL.to_owned()),
            (None, Python::Stub) => Some(self.name("CompoundValue", &Hiding::new())),
        };
        out.add(0, base.map_or_else(|| format!("class {name}:"), |base| format!("class {name}({base}):")));
        let mut docs = docs.clone();
        if class.is_abstract {
            docs.push("Abstract: values are of a derived type.".to_owned());
        }
        out.docstring(1, &docs);
        if self.style == Python::Stub {
            self.stub_values(class, &hiding, out);
            return;
        }
        if !docs.is_empty() {
            out.blank();
        }
        let of_type = class.name.as_ref().map(ToString::to_string).unwrap_or_default();
        out.add(1, format!("__deltasoap__ = {}", quoted(&of_type)));
        if let Some(element) = &class.element {
            out.add(1, format!("__deltasoap_element__ = {}", quoted(&element.to_string())));
        }
        if !shown.is_empty() {
            out.blank();
        }
        for field in shown {
            let line = self.field(field, &values[&field.name], &hiding);
            out.add(1, line);
            out.docstring(1, &field.docs);
        }
    }

    /// Returns the declaration of a value.
    fn field(&mut self, field: &Field, name: &str, hiding: &Hiding) -> String {
        let annotation = self.value_annotation(field, hiding);
        let is_renamed = name != field.name;
        let (function, key) = match self.style {
            Python::Pydantic => {
                ("Field", format!("validation_alias={0}, serialization_alias={0}", quoted(&field.name)))
            }
            _ => ("field", format!("metadata={{\"name\": {}}}", quoted(&field.name))),
        };
        let default = match field.presence {
            Presence::Required if !is_renamed => return format!("{name}: {annotation}"),
            Presence::Optional if !is_renamed => return format!("{name}: {annotation} = None"),
            Presence::Required => None,
            Presence::Optional => Some("default=None".to_owned()),
            Presence::Repeated => Some(format!("default_factory={}", self.name("list", hiding))),
        };
        let arguments: Vec<String> = default.into_iter().chain(is_renamed.then_some(key)).collect();
        format!("{name}: {annotation} = {}({})", self.name(function, hiding), arguments.join(", "))
    }

    /// Returns the annotation of a value, `None` included.
    pub(super) fn value_annotation(&mut self, field: &Field, hiding: &Hiding) -> String {
        match field.presence {
            Presence::Optional => self.annotation(&field.annotation.clone().optional(), hiding),
            Presence::Required | Presence::Repeated => self.annotation(&field.annotation, hiding),
        }
    }

    /// Returns the names of a class's values by their XML names; those of its base stay.
    fn value_names(&mut self, id: DeclarationId, class: &Class) -> HashMap<String, String> {
        let is_model = self.style == Python::Pydantic;
        let mut values = class.base.and_then(|base| self.values.get(&base)).cloned().unwrap_or_default();
        let mut scope = Scope::without(if is_model { &PYDANTIC_NAMES[..] } else { &["self"] }.iter().copied());
        values.values().for_each(|name| scope.take(name));
        for field in &class.fields {
            if !values.contains_key(&field.name) {
                // A model's values cannot begin with an underscore.
                let preferred = if is_model { field.name.trim_start_matches('_') } else { &field.name };
                let name = match is_model && preferred.starts_with("model_") {
                    true => scope.value_name(&format!("{preferred}_")),
                    false => scope.value_name(preferred),
                };
                values.insert(field.name.clone(), name);
            }
        }
        self.values.insert(id, values.clone());
        values
    }

    fn dictionary(&mut self, name: &str, fields: &[Field], docs: &Docs, out: &mut Lines) {
        let base = self.name("TypedDict", &Hiding::new());
        if !fields.iter().all(|field| is_identifier(&field.name)) {
            out.add(0, format!("{name} = {base}("));
            out.add(1, format!("{},", quoted(name)));
            out.add(1, "{");
            for field in fields {
                let annotation = self.value_annotation(field, &Hiding::new());
                out.add(2, format!("{}: {},", quoted(&field.name), quoted(&annotation)));
            }
            out.add(1, "},");
            out.add(1, "total=False,");
            out.add(0, ")");
            out.docstring(0, docs);
            return;
        }
        let hiding: Hiding = fields.iter().map(|field| field.name.clone()).collect();
        out.add(0, format!("class {name}({base}, total=False):"));
        out.docstring(1, docs);
        out.blank();
        for field in fields {
            let annotation = self.value_annotation(field, &hiding);
            out.comment(1, &field.docs);
            out.add(1, format!("{}: {annotation}", field.name));
        }
    }

    /// Declares the attributes of a value, and how it is made. Names that are no identifiers are
    /// items, which stubs cannot declare.
    fn stub_values(&mut self, class: &Class, hiding: &Hiding, out: &mut Lines) {
        for &index in &class.own {
            let field = &class.fields[index];
            if is_identifier(&field.name) {
                let annotation = self.value_annotation(field, hiding);
                out.add(1, format!("{}: {annotation}", field.name));
                out.docstring(1, &field.docs);
            }
        }
        let fields: Vec<&Field> = class.fields.iter().filter(|field| is_identifier(&field.name)).collect();
        if fields.is_empty() {
            out.add(1, "def __init__(self) -> None: ...");
            return;
        }
        out.add(1, "def __init__(");
        out.add(2, "self,");
        out.add(2, "*,");
        for field in fields.into_iter().filter(|field| field.name != "self") {
            let annotation = self.annotation(&field.annotation.clone().optional(), hiding);
            out.add(2, format!("{}: {annotation} = ...,", field.name));
        }
        out.add(1, ") -> None: ...");
    }
}

/// Returns a value that may be absent.
fn optional(field: &Field) -> Field {
    let presence = if field.presence == Presence::Required { Presence::Optional } else { field.presence };
    Field { presence, ..field.clone() }
}
