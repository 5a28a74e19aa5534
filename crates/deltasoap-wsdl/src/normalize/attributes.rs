//! Attributes, each once, with their groups replaced.

use super::Normalizer;
use crate::Error;
use crate::xsd::{AttributeGroup, AttributeGroupId, AttributeUse, Attributes, Schemas, TypeId, Wildcard};
use deltasoap_core::QName;
use std::collections::HashSet;
use std::rc::Rc;

impl Normalizer<'_> {
    /// Attributes and what their groups stand for.
    pub(super) fn expanded_attributes(
        &mut self,
        own: &Attributes,
        depth: usize,
        id: TypeId,
    ) -> Result<Attributes, Error> {
        self.check_depth(depth, id)?;
        let mut all = Attributes { uses: own.uses.clone(), groups: Vec::new(), any: own.any.clone() };
        for &group in &own.groups {
            let group = self.attribute_group(group, depth, id)?;
            all.uses.extend(group.uses.iter().cloned());
            all.any = both(all.any, group.any.as_ref());
            self.spend(group.uses.len(), id)?;
        }
        once(self.schemas, &mut all.uses);
        Ok(all)
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

/// The wildcard of a definition and that of a group in it: what is let in is let in by both (XSD 1.0 part 1, 3.4.2).
fn both(own: Option<Wildcard>, group: Option<&Wildcard>) -> Option<Wildcard> {
    match (own, group) {
        (Some(own), Some(group)) => {
            Some(Wildcard { namespaces: own.namespaces.intersection(&group.namespaces), ..own })
        }
        (own, group) => own.or_else(|| group.cloned()),
    }
}

/// The wildcard of an extension: what is let in is let in by it or by its base.
pub(super) fn either(own: Option<Wildcard>, base: Option<&Wildcard>) -> Option<Wildcard> {
    match (own, base) {
        (Some(own), Some(base)) => Some(Wildcard { namespaces: own.namespaces.union(&base.namespaces), ..own }),
        (own, base) => own.or_else(|| base.cloned()),
    }
}

/// Keeps the first of each name.
fn once(schemas: &Schemas, uses: &mut Vec<AttributeUse>) {
    let mut seen = HashSet::<&QName>::new();
    uses.retain(|it| seen.insert(&schemas[it.attribute].name));
}

/// The attributes of a base and those that an extension adds.
pub(super) fn extended(schemas: &Schemas, base: &[AttributeUse], own: Vec<AttributeUse>) -> Vec<AttributeUse> {
    let mut all = base.to_vec();
    all.extend(own.into_iter().filter(|it| !it.is_prohibited));
    once(schemas, &mut all);
    all
}

/// The attributes of a base, as far as a restriction says nothing else, and those that it names.
pub(super) fn restricted(schemas: &Schemas, base: &[AttributeUse], own: Vec<AttributeUse>) -> Vec<AttributeUse> {
    let own_names: HashSet<QName> = own.iter().map(|it| schemas[it.attribute].name.clone()).collect();
    let kept = base.iter().filter(|it| !own_names.contains(&schemas[it.attribute].name)).cloned();
    let mut all: Vec<AttributeUse> = kept.collect();
    all.extend(own.into_iter().filter(|it| !it.is_prohibited));
    once(schemas, &mut all);
    all
}
