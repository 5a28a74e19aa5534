//! Qualified names as values: their prefixes are declared in the sample, whatever the schema calls their namespaces.

use super::Sampler;
use crate::facets;
use deltasoap_core::schema::Builtin;
use deltasoap_core::{Node, QName};
use deltasoap_wsdl::xsd::{TypeId, Variety};

impl<'t> Sampler<'t> {
    /// The first name that a type enumerates.
    pub(super) fn enumerated_name(&self, id: TypeId) -> Option<&'t QName> {
        let schemas = self.types.import.schemas();
        let is_name = self.is_name(id);
        facets::steps(schemas, id)
            .into_iter()
            .filter(|_| is_name)
            .find_map(|facets| facets.enumeration.iter().find_map(|it| it.name.as_ref()))
    }

    /// True for types whose values are names.
    pub(super) fn is_name(&self, id: TypeId) -> bool {
        let variety = self.types.import.schemas().variety(id);
        matches!(variety, Some(Variety::Builtin(Builtin::QName | Builtin::Notation)))
    }

    /// A name as a text in an element, which declares its prefix.
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
