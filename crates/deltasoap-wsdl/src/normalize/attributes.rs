//! Attributes, each once, with their groups expanded.

use super::Normalizer;
use crate::Error;
use crate::xsd::{AttributeGroup, AttributeGroupId, AttributeUse, Attributes, Schemas, TypeId, Wildcard};
use deltasoap_core::QName;
use std::collections::HashSet;
use std::rc::Rc;

impl Normalizer<'_> {
    /// Returns the attributes, including those of groups.
    pub(super) fn expanded_attributes(
        &mut self,
        own: &Attributes,
        depth: usize,
        id: TypeId,
    ) -> Result<Attributes, Error> {
        self.check_depth(depth, id)?;
        let mut all = Attributes { uses: own.uses.clone(), groups: Vec::new(), any: own.any.clone() };
        // Duplicates within one definition are noted elsewhere.
        once(self.schemas, &mut all.uses);
        for &group in &own.groups {
            let group = self.attribute_group(group, depth, id)?;
            all.uses.extend(group.uses.iter().cloned());
            all.any = both(all.any, group.any.as_ref());
            self.spend(group.uses.len(), id)?;
        }
        let lost = once(self.schemas, &mut all.uses);
        self.note_lost(&lost, "directly or from a group, and again from a group", id);
        Ok(all)
    }

    /// Notes attributes that a type has twice.
    pub(super) fn note_lost(&mut self, lost: &[QName], of: &str, id: TypeId) {
        let Some(place) = self.schemas[id].place else { return };
        for name in lost {
            let owner = self.schemas[id].name.as_ref().map_or("a type".to_owned(), |name| format!("type {name}"));
            let text = format!("{owner} has attribute {name} twice, {of}; the first counts");
            if self.invalid.len() < MAX_NOTES && !self.invalid.iter().any(|(known, _)| *known == text) {
                self.invalid.push((text, place));
            }
        }
    }

    fn attribute_group(&mut self, group: AttributeGroupId, depth: usize, id: TypeId) -> Result<Rc<Attributes>, Error> {
        if let Some(done) = &self.attribute_groups[group.index()] {
            return Ok(done.clone());
        }
        let AttributeGroup { name, attributes, place } = &self.schemas[group];
        if self.open.attribute_groups.contains(&group) {
            return Err(self.sources.invalid(format!("attribute group {name} contains itself"), *place));
        }
        let own = attributes.clone();
        self.open.attribute_groups.push(group);
        let all = self.expanded_attributes(&own, depth + 1, id);
        self.open.attribute_groups.pop();
        let all = Rc::new(all?);
        self.attribute_groups[group.index()] = Some(all.clone());
        Ok(all)
    }
}

/// Combines the wildcard of a definition with that of a group in it: the result allows what both
/// allow (XSD 1.0 part 1, 3.4.2).
fn both(own: Option<Wildcard>, group: Option<&Wildcard>) -> Option<Wildcard> {
    match (own, group) {
        (Some(own), Some(group)) => {
            Some(Wildcard { namespaces: own.namespaces.intersection(&group.namespaces), ..own })
        }
        (own, group) => own.or_else(|| group.cloned()),
    }
}

/// Combines the wildcard of an extension with that of its base: the result allows what either
/// allows.
pub(super) fn either(own: Option<Wildcard>, base: Option<&Wildcard>) -> Option<Wildcard> {
    match (own, base) {
        (Some(own), Some(base)) => Some(Wildcard { namespaces: own.namespaces.union(&base.namespaces), ..own }),
        (own, base) => own.or_else(|| base.cloned()),
    }
}

/// Maximum number of notes per import.
const MAX_NOTES: usize = 100;

/// Keeps the first attribute of each name, and returns the names of the others.
fn once(schemas: &Schemas, uses: &mut Vec<AttributeUse>) -> Vec<QName> {
    let mut seen = HashSet::<&QName>::new();
    let mut is_first = |it: &AttributeUse| seen.insert(&schemas[it.attribute].name);
    uses.extract_if(.., |it| !is_first(it)).map(|it| schemas[it.attribute].name.clone()).collect()
}

/// Returns the attributes of a base type and those that an extension adds, and the names of added
/// attributes that the base has already.
pub(super) fn extended(
    schemas: &Schemas,
    base: &[AttributeUse],
    own: Vec<AttributeUse>,
) -> (Vec<AttributeUse>, Vec<QName>) {
    let mut all = base.to_vec();
    all.extend(own.into_iter().filter(|it| !it.is_prohibited));
    let lost = once(schemas, &mut all);
    (all, lost)
}

/// Returns the attributes of a base type, replaced by those that a restriction names.
pub(super) fn restricted(schemas: &Schemas, base: &[AttributeUse], own: Vec<AttributeUse>) -> Vec<AttributeUse> {
    let own_names: HashSet<QName> = own.iter().map(|it| schemas[it.attribute].name.clone()).collect();
    let kept = base.iter().filter(|it| !own_names.contains(&schemas[it.attribute].name)).cloned();
    let mut all: Vec<AttributeUse> = kept.collect();
    all.extend(own.into_iter().filter(|it| !it.is_prohibited));
    once(schemas, &mut all);
    all
}
