//! Which properties of an object exclude or require each other: choices, as `oneOf`.
//!
//! The elements of a choice are properties among others, so a branch is described by the properties
//! that it requires: `{"oneOf": [{"required": ["card"]}, {"required": ["cash"]}]}`.

use crate::json::keys::{Layout, Slot};
use deltasoap_core::schema::{Choice, ComplexElement, Compositor, Element, Field, Schema};
use serde_json::{Value as Json, json};

/// Maximum depth of nested choices that are described.
const MAX_DEPTH: usize = 16;

/// Returns the properties that an object always has, among those of the fields.
pub(super) fn required(complex: &ComplexElement, layout: &Layout) -> Vec<String> {
    let is_choice = complex.compositor == Compositor::Choice;
    let fields = complex.fields.iter().zip(&layout.slots).filter(|(field, _)| !is_choice && field.min > 0);
    let key = |(_, slot): (&Field, &Slot)| match slot {
        Slot::Property(key) | Slot::Choices(key, _) => Some(key.clone()),
        Slot::Among(_) | Slot::Nowhere => None,
    };
    fields.filter_map(key).collect()
}

/// Returns what the choices of an object require.
pub(super) fn constraints(complex: &ComplexElement, layout: &Layout, schema: &Schema) -> Vec<Json> {
    Constraints { schema }.of(complex, layout, MAX_DEPTH)
}

struct Constraints<'s> {
    schema: &'s Schema,
}

impl Constraints<'_> {
    fn of(&self, complex: &ComplexElement, layout: &Layout, depth: usize) -> Vec<Json> {
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        if complex.compositor == Compositor::Choice {
            return self.choice(complex, layout, false, depth).into_iter().collect();
        }
        let fields = complex.fields.iter().zip(&layout.slots);
        let mut all: Vec<_> = fields.filter_map(|(field, slot)| self.group(field, slot, depth)).collect();
        all.extend(complex.choices.iter().filter_map(|choice| branches(choice, 0, &layout.slots, depth)));
        all
    }

    /// Describes a choice of single elements.
    fn choice(&self, complex: &ComplexElement, layout: &Layout, is_optional: bool, depth: usize) -> Option<Json> {
        let fields = complex.fields.iter().zip(&layout.slots);
        let alternatives = fields.filter_map(|(field, slot)| {
            let mut all = vec![any_of(&properties(slot))?];
            all.extend(self.within(field, slot, depth));
            Some(both(all))
        });
        let can_be_empty = is_optional || complex.fields.iter().any(|field| field.min == 0);
        one_of(alternatives.collect(), &all_properties(&layout.slots), can_be_empty)
    }

    /// Describes a choice or a group among the other properties: it is absent, or complete.
    fn group(&self, field: &Field, slot: &Slot, depth: usize) -> Option<Json> {
        let Slot::Among(layout) = slot else { return None };
        match self.schema.view(field.element).element {
            Element::Complex(choice) if choice.compositor == Compositor::Choice => {
                return self.choice(choice, layout, field.min == 0, depth);
            }
            _ => {}
        }
        let own = properties(slot);
        let is_there = any_of(&own)?;
        let within = self.within(field, slot, depth);
        match (field.min, within.is_empty()) {
            (0, true) => None,
            (0, false) => {
                let there = both(std::iter::once(is_there.clone()).chain(within).collect());
                Some(json!({ "oneOf": [there, { "not": is_there }] }))
            }
            (_, _) => Some(both(std::iter::once(is_there).chain(within).collect())),
        }
    }

    /// Returns what the content of a choice or a group requires, once it is there.
    fn within(&self, field: &Field, slot: &Slot, depth: usize) -> Vec<Json> {
        let (Slot::Among(layout), Element::Complex(complex)) = (slot, self.schema.view(field.element).element) else {
            return Vec::new();
        };
        let mut all = self.of(complex, layout, depth);
        let required = required(complex, layout);
        if !required.is_empty() {
            all.push(json!({ "required": required }));
        }
        all
    }
}

/// Describes a choice between groups of fields. `base` is the first field of what contains it.
fn branches(choice: &Choice, base: usize, slots: &[Slot], depth: usize) -> Option<Json> {
    let depth = depth.checked_sub(1)?;
    let first = base + choice.first as usize;
    let (mut start, mut alternatives) = (first, Vec::new());
    for branch in choice.branches.iter() {
        let end = start + branch.fields as usize;
        let own = slots.get(start..end)?;
        if let Some(is_there) = any_of(&all_properties(own)) {
            let mut all = vec![is_there];
            let required = branch.required.iter().filter_map(|it| own.get(it.field as usize));
            let required: Vec<_> = required.filter_map(|slot| properties(slot).first().copied()).collect();
            if !required.is_empty() {
                all.push(json!({ "required": required }));
            }
            all.extend(branch.choices.iter().filter_map(|inner| branches(inner, start, slots, depth)));
            alternatives.push(both(all));
        }
        start = end;
    }
    one_of(alternatives, &all_properties(slots.get(first..start)?), choice.is_optional)
}

/// Returns the schema of exactly one of several alternatives, or of none of them.
fn one_of(mut alternatives: Vec<Json>, all: &[&str], can_be_none: bool) -> Option<Json> {
    let any = any_of(all)?;
    if can_be_none {
        alternatives.push(json!({ "not": any }));
    }
    Some(json!({ "oneOf": alternatives }))
}

/// Returns the schema of objects with at least one of these properties; `None` without properties.
fn any_of(properties: &[&str]) -> Option<Json> {
    match properties {
        [] => None,
        [one] => Some(json!({ "required": [one] })),
        several => Some(json!({ "anyOf": several.iter().map(|it| json!({ "required": [it] })).collect::<Vec<_>>() })),
    }
}

fn both(mut all: Vec<Json>) -> Json {
    if all.len() == 1 { all.remove(0) } else { json!({ "allOf": all }) }
}

fn properties(slot: &Slot) -> Vec<&str> {
    all_properties(std::slice::from_ref(slot))
}

fn all_properties(slots: &[Slot]) -> Vec<&str> {
    let mut all = Vec::new();
    slots.iter().for_each(|slot| slot.properties(&mut all));
    all
}
