//! Qualified names as values: their prefixes are declared in the sample, independently of the
//! schema's prefixes.

use super::Sampler;
use crate::facets;
use deltasoap_core::schema::Builtin;
use deltasoap_core::{Node, QName};
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{TypeId, Variety};
use std::collections::HashMap;

/// Maximum depth of nested lists and unions.
const MAX_DEPTH: usize = 4;

impl<'t> Sampler<'t> {
    /// Returns the first name that a type enumerates.
    pub(super) fn enumerated_name(&self, id: TypeId) -> Option<&'t QName> {
        let schemas = self.types.import.schemas();
        let is_name = self.is_name(id);
        facets::steps(schemas, id)
            .into_iter()
            .filter(|_| is_name)
            .find_map(|facets| facets.enumeration.iter().find_map(|it| it.name.as_ref()))
    }

    /// Returns true for types whose values are names.
    pub(super) fn is_name(&self, id: TypeId) -> bool {
        let variety = self.types.import.schemas().variety(id);
        matches!(variety, Some(Variety::Builtin(Builtin::QName | Builtin::Notation)))
    }

    /// Returns a name as text in an element; declares its prefix there.
    pub(super) fn name_text(&mut self, name: &QName, node: &mut Node) -> String {
        if name.namespace.is_empty() {
            return name.local.to_string();
        }
        let known = self.prefixes.iter().position(|it| *it == name.namespace);
        let number = known.unwrap_or_else(|| {
            self.prefixes.push(name.namespace.to_string());
            self.prefixes.len() - 1
        });
        let binding = (format!("q{}", number + 1), name.namespace.to_string());
        let text = format!("{}:{}", binding.0, name.local);
        if !node.bindings.contains(&binding) {
            node.bindings = node.bindings.iter().cloned().chain([binding]).collect();
        }
        text
    }
}

/// Returns a text of a type, in which `written` replaces the names that the type, its items or its
/// members enumerate.
pub(super) fn with_names(
    schemas: &Schemas,
    id: TypeId,
    text: &str,
    mut written: impl FnMut(&QName) -> String,
) -> String {
    let mut names = HashMap::new();
    collect_names(schemas, id, &mut names, MAX_DEPTH);
    if names.is_empty() {
        return text.to_owned();
    }
    let words = text.split_ascii_whitespace();
    let words = words.map(|word| names.get(word).map_or_else(|| word.to_owned(), |name| written(name)));
    words.collect::<Vec<_>>().join(" ")
}

/// Collects the names that a type enumerates, by their texts in the schema.
fn collect_names<'s>(schemas: &'s Schemas, id: TypeId, into: &mut HashMap<&'s str, &'s QName>, depth: usize) {
    match schemas.variety(id) {
        Some(&Variety::List(item)) if depth > 0 => collect_names(schemas, item, into, depth - 1),
        Some(Variety::Union(members)) if depth > 0 => {
            members.iter().for_each(|&member| collect_names(schemas, member, into, depth - 1));
        }
        _ => {}
    }
    let enumerated = facets::steps(schemas, id).into_iter().flat_map(|facets| &facets.enumeration);
    let names = enumerated.filter_map(|it| Some((it.value.trim_ascii(), it.name.as_ref()?)));
    into.extend(names.filter(|(text, _)| takes_as_name(schemas, id, text, depth)));
}

/// Returns true if a text is a name as a value of a type: the value of a union is that of the first
/// member that accepts the text.
fn takes_as_name(schemas: &Schemas, id: TypeId, text: &str, depth: usize) -> bool {
    match schemas.variety(id) {
        Some(Variety::Builtin(builtin)) => matches!(builtin, Builtin::QName | Builtin::Notation),
        Some(&Variety::List(item)) if depth > 0 => takes_as_name(schemas, item, text, depth - 1),
        Some(Variety::Union(members)) if depth > 0 => {
            let taking = members.iter().find(|&&member| facets::violation(schemas, member, text).is_none());
            taking.is_some_and(|&member| takes_as_name(schemas, member, text, depth - 1))
        }
        _ => false,
    }
}
