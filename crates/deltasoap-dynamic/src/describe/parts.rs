//! Elements and types as parts.

use super::Component;
use crate::contract::Types;
use crate::facets;
use deltasoap_core::schema::Packing;
use deltasoap_wsdl::xsd::{
    AttributeUse, ElementId, Facets, Particle, Schemas, Term, TypeDefinition, TypeId, Variety, WildcardNamespaces,
};
use deltasoap_wsdl::{NormalizedContent, NormalizedType, Repetitions};

/// Maximum depth of types without names that are shown in place.
const MAX_DEPTH: usize = 8;
/// Maximum number of values of an enumeration that are shown.
const VALUES: usize = 12;

/// Describes the components of a contract.
pub(crate) struct Describer<'c> {
    types: &'c Types,
    schemas: &'c Schemas,
}

impl<'c> Describer<'c> {
    pub(crate) fn new(types: &'c Types) -> Self {
        Describer { types, schemas: types.import.schemas() }
    }

    /// Describes a global element with its content.
    pub(super) fn global(&self, id: ElementId) -> Component {
        let element = &self.schemas[id];
        let part = self.declared(id, MAX_DEPTH);
        let parts = if part.parts.is_empty() { self.content(element.type_id, MAX_DEPTH) } else { part.parts };
        Component { kind: "element", namespace: element.name.namespace.to_string(), occurs: None, parts, ..part }
    }

    /// Describes a type with its content.
    pub(super) fn global_type(&self, id: TypeId) -> Component {
        let it = &self.schemas[id];
        let name = it.name.as_ref();
        Component {
            kind: "type",
            name: name.map(|name| name.local.to_string()).unwrap_or_default(),
            namespace: name.map(|name| name.namespace.to_string()).unwrap_or_default(),
            type_name: self.base_name(id),
            facts: self.type_facts(id),
            documentation: it.documentation.as_deref().map(one_line).unwrap_or_default(),
            parts: self.content(id, MAX_DEPTH),
            ..Component::default()
        }
    }

    /// Describes a part of an rpc message.
    pub(super) fn parameter(&self, name: &str, id: TypeId) -> Component {
        let facts = self.simple_facts(id);
        Component {
            kind: "parameter",
            name: name.to_owned(),
            type_name: self.type_name(id),
            facts,
            ..Component::default()
        }
    }

    /// Returns the base of a type, if it is informative.
    fn base_name(&self, id: TypeId) -> String {
        match &self.schemas[id].definition {
            TypeDefinition::Complex(it) if it.base != TypeId::ANY => self.type_name(it.base),
            TypeDefinition::Simple(it) => match &it.variety {
                Variety::Restriction(base) => self.type_name(*base),
                _ => self.type_name_of(&it.variety),
            },
            TypeDefinition::Complex(_) => String::new(),
        }
    }

    fn type_facts(&self, id: TypeId) -> Vec<String> {
        let mut facts = self.simple_facts(id);
        if matches!(&self.schemas[id].definition, TypeDefinition::Complex(it) if it.is_abstract) {
            facts.insert(0, "abstract".to_owned());
        }
        if self.schemas.content(id).is_some_and(|it| it.is_mixed) {
            facts.push("mixed with text".to_owned());
        }
        if self.types.is_shared(id) {
            facts.push("can be shared by several places: $id, $ref".to_owned());
        }
        let derived: Vec<_> =
            self.schemas.derived(id).iter().filter_map(|&it| self.types.label(it)).take(VALUES).collect();
        if !derived.is_empty() && id != TypeId::ANY {
            facts.push(format!("derived: {}", derived.join(", ")));
        }
        facts
    }

    /// Describes an element as declared, without its occurrence.
    fn declared(&self, id: ElementId, depth: usize) -> Component {
        let element = &self.schemas[id];
        let is_named = self.schemas[element.type_id].name.is_some();
        let mut facts = self.simple_facts(element.type_id);
        if element.is_nillable {
            facts.insert(0, "nillable".to_owned());
        }
        facts.extend(element.default.as_ref().map(|it| format!("default {it:?}")));
        facts.extend(element.fixed.as_ref().map(|it| format!("fixed {it:?}")));
        let substitutes: Vec<_> =
            self.schemas.substitutes(id).iter().map(|&it| self.schemas[it].name.local.as_ref()).take(VALUES).collect();
        if !substitutes.is_empty() {
            facts.push(format!("or in its place: {}", substitutes.join(", ")));
        }
        Component {
            kind: "element",
            name: element.name.local.to_string(),
            type_name: self.type_name(element.type_id),
            facts,
            documentation: element.documentation.as_deref().map(one_line).unwrap_or_default(),
            parts: if is_named { Vec::new() } else { self.content(element.type_id, depth) },
            ..Component::default()
        }
    }

    /// Describes the content of an element of a type.
    fn content(&self, id: TypeId, depth: usize) -> Vec<Component> {
        let Some(normal) = self.schemas.content(id).filter(|_| depth > 0 && id != TypeId::ANY) else {
            return Vec::new();
        };
        let mut parts = self.attributes(normal);
        match &normal.content {
            NormalizedContent::Empty => {}
            NormalizedContent::Text(text) => parts.push(Component {
                kind: "text",
                type_name: self.type_name(*text),
                facts: self.simple_facts(*text),
                ..Component::default()
            }),
            NormalizedContent::Elements(particle) => {
                let repeated = Repetitions::new(self.schemas, particle);
                match &particle.term {
                    Term::Sequence(inner) if (particle.min, particle.max) == (1, Some(1)) => {
                        parts.extend(inner.iter().map(|it| self.particle(it, &repeated, depth - 1)));
                    }
                    _ => parts.push(self.particle(particle, &repeated, depth - 1)),
                }
            }
        }
        if let Some(array) = &normal.array {
            let type_name = format!("{}{}", self.type_name(array.item), array.dimensions);
            let facts = array_facts(&array.dimensions);
            parts.push(Component { kind: "items", type_name, facts, ..Component::default() });
        }
        parts
    }

    fn attributes(&self, normal: &NormalizedType) -> Vec<Component> {
        let mut parts: Vec<_> = normal.attributes.iter().map(|it| self.attribute(it)).collect();
        if normal.any_attribute.is_some() {
            parts.push(Component { kind: "attribute", facts: vec!["any others".to_owned()], ..Component::default() });
        }
        parts
    }

    fn attribute(&self, it: &AttributeUse) -> Component {
        let declaration = &self.schemas[it.attribute];
        let mut facts = self.simple_facts(declaration.type_id);
        let default = it.default.as_deref().or(declaration.default.as_deref());
        let fixed = it.fixed.as_deref().or(declaration.fixed.as_deref());
        facts.extend(default.map(|text| format!("default {text:?}")));
        facts.extend(fixed.map(|text| format!("fixed {text:?}")));
        Component {
            kind: "attribute",
            name: format!("@{}", declaration.name.local),
            type_name: self.type_name(declaration.type_id),
            occurs: Some((u32::from(it.is_required), Some(1))),
            facts,
            documentation: declaration.documentation.as_deref().map(one_line).unwrap_or_default(),
            ..Component::default()
        }
    }

    fn particle(&self, particle: &Particle, repeated: &Repetitions<'_>, depth: usize) -> Component {
        let group = |kind, parts: &[Particle]| {
            let parts = if depth > 0 { parts } else { &[] };
            let parts = parts.iter().map(|it| self.particle(it, repeated, depth - 1)).collect();
            let facts = [
                repeated.is_flattened(particle).then_some("read as a list of single elements"),
                (!particle.can_occur()).then_some("no content is valid: a choice without alternatives is required"),
            ];
            Component {
                kind,
                parts,
                facts: facts.into_iter().flatten().map(str::to_owned).collect(),
                ..Component::default()
            }
        };
        let part = match &particle.term {
            Term::Element(id) => self.declared(*id, depth),
            Term::Sequence(parts) => group("sequence", parts),
            Term::Choice(parts) => group("choice", parts),
            Term::All(parts) => group("all", parts),
            Term::Any(wildcard) => {
                let facts = match &wildcard.namespaces {
                    WildcardNamespaces::Any => Vec::new(),
                    WildcardNamespaces::Other(own) => vec![format!("of other namespaces than {own}")],
                    WildcardNamespaces::Only(list) => vec![format!("of {}", list.join(", "))],
                };
                Component { kind: "any", facts, ..Component::default() }
            }
            Term::Group(_) => Component { kind: "group", ..Component::default() },
        };
        Component { occurs: Some((particle.min, particle.max)), ..part }
    }

    /// Returns a type's name; for an anonymous type, what it is made from.
    pub(crate) fn type_name(&self, id: TypeId) -> String {
        if id == TypeId::ANY {
            return "xsd:anyType".to_owned();
        }
        match (self.types.label(id), &self.schemas[id].definition) {
            (Some(label), _) => label,
            (None, TypeDefinition::Simple(it)) => match &it.variety {
                Variety::Restriction(base) => self.type_name(*base),
                variety => self.type_name_of(variety),
            },
            (None, TypeDefinition::Complex(_)) => String::new(),
        }
    }

    pub(crate) fn type_name_of(&self, variety: &Variety) -> String {
        match variety {
            Variety::Any => "xsd:anySimpleType".to_owned(),
            Variety::Builtin(builtin) => format!("xsd:{}", builtin.local()),
            Variety::Restriction(base) => self.type_name(*base),
            Variety::List(item) => format!("list of {}", self.type_name(*item)),
            Variety::Union(members) => {
                let members: Vec<_> = members.iter().take(VALUES).map(|&it| self.type_name(it)).collect();
                members.join(" or ")
            }
        }
    }

    /// Returns the facets of a simple type as readable text; none for other types.
    fn simple_facts(&self, id: TypeId) -> Vec<String> {
        if !matches!(self.schemas[id].definition, TypeDefinition::Simple(_)) {
            return Vec::new();
        }
        let mut facts = Vec::new();
        // The built-in type that a named type is derived from.
        if let Some(Variety::Builtin(builtin)) = self.schemas.variety(id)
            && self.schemas[id].name.is_some()
            && id.builtin().is_none()
        {
            facts.push(format!("xsd:{}", builtin.local()));
        }
        facts.extend(self.facets(id, true));
        facts
    }

    /// Returns the facets of a simple type as readable text, with or without enumerated values.
    pub(crate) fn facets(&self, id: TypeId, with_values: bool) -> Vec<String> {
        let mut facts: Vec<String> = self.schemas.packing(id).map(packing).into_iter().collect();
        for step in facets::steps(self.schemas, id) {
            of_step(step, &mut facts);
            if with_values {
                facts.extend(of_values(step));
            }
        }
        facts
    }
}

/// Describes how numbers are packed.
fn packing(packing: Packing) -> String {
    let order = if packing.is_big_endian { "big-endian" } else { "little-endian" };
    format!("packed xsd:{}, {order}", packing.items.local())
}

/// Returns the form of an array in JSON, if it is not a plain array of its items.
fn array_facts(dimensions: &str) -> Vec<String> {
    let of_last = dimensions.rsplit('[').next().unwrap_or_default().matches(',').count();
    if of_last == 0 { Vec::new() } else { vec![format!("an array of {} dimensions: arrays of arrays", of_last + 1)] }
}

fn of_step(facets: &Facets, facts: &mut Vec<String>) {
    let range = |least: &Option<Box<str>>, most: &Option<Box<str>>| match (least, most) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    };
    facts.extend(range(&facets.min_inclusive, &facets.max_inclusive));
    facts.extend(facets.min_exclusive.as_ref().map(|it| format!("more than {it}")));
    facts.extend(facets.max_exclusive.as_ref().map(|it| format!("less than {it}")));
    facts.extend(facets.length.map(|it| format!("length {it}")));
    let text = |number: Option<u64>| number.map(|it| it.to_string().into_boxed_str());
    let lengths = range(&text(facets.min_length), &text(facets.max_length));
    facts.extend(lengths.map(|lengths| format!("length {lengths}")));
    facts.extend(facets.total_digits.map(|it| format!("{it} digits")));
    facts.extend(facets.fraction_digits.map(|it| format!("{it} digits after the point")));
    facts.extend(facets.patterns.iter().map(|it| format!("pattern {it}")));
}

/// Describes the values that a step allows.
fn of_values(facets: &Facets) -> Option<String> {
    if facets.enumeration.is_empty() {
        return None;
    }
    let values: Vec<_> = facets.enumeration.iter().take(VALUES).map(|it| &*it.value).collect();
    let more = facets.enumeration.len().saturating_sub(VALUES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("one of {}{more}", values.join(", ")))
}

/// Returns documentation without its line ends and indents.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
