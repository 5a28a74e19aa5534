//! Differences from the original schema: counted, with one example each.

use crate::xsd::{Schemas, TypeId};
use deltasoap_core::QName;
use std::collections::BTreeSet;

/// Types by kind of difference.
#[derive(Debug, Default)]
pub(super) struct Notes {
    mixed: Vec<TypeId>,
    flattened: Vec<TypeId>,
    any_attribute: Vec<TypeId>,
    lists: Vec<TypeId>,
    typed_parts: BTreeSet<String>,
}

impl Notes {
    pub(super) fn mixed(&mut self, id: TypeId) {
        self.mixed.push(id);
    }

    pub(super) fn flattened(&mut self, id: TypeId) {
        self.flattened.push(id);
    }

    pub(super) fn any_attribute(&mut self, id: TypeId) {
        self.any_attribute.push(id);
    }

    pub(super) fn list_type(&mut self, id: TypeId) {
        self.lists.push(id);
    }

    pub(super) fn typed_part(&mut self, message: &QName) {
        self.typed_parts.insert(message.to_string());
    }

    /// Returns the notes as sentences.
    pub(super) fn list(&mut self, schemas: &Schemas) -> Vec<String> {
        let all = [
            (&mut self.mixed, "kept as trees, since their content is mixed"),
            (
                &mut self.flattened,
                "repeated groups of elements: read as lists of single elements, in any order and number, since messages do not \
                 show at once where an occurrence ends",
            ),
            (&mut self.any_attribute, "undeclared attributes (`xsd:anyAttribute`) are ignored in SOAP encoding"),
            (&mut self.lists, "lists (`xsd:list`): read as one text"),
        ];
        let parts = self.typed_parts.first().map(|first| {
            format!(
                "{} message(s), such as {first}: in document style, a part with a type is an element of the part's name in the \
                 message's namespace (WS-I Basic Profile, R2204, requires a part with an element)",
                self.typed_parts.len()
            )
        });
        all.into_iter().filter_map(|(types, what)| sentence(types, what, schemas)).chain(parts).collect()
    }
}

fn sentence(types: &mut Vec<TypeId>, what: &str, schemas: &Schemas) -> Option<String> {
    types.sort_unstable();
    types.dedup();
    let first = types.first()?;
    let name = schemas[*first].name.as_ref().map_or_else(|| "one without a name".to_owned(), ToString::to_string);
    Some(match types.len() {
        1 => format!("1 type, {name}: {what}"),
        count => format!("{count} types, such as {name}: {what}"),
    })
}
