//! Values that depend on others: keys must differ, and references to keys and to `xsd:ID`s must
//! have targets (XSD 1.0 part 1, 3.11; part 2, 3.3.8 and 3.3.9).
//!
//! A sample is built first, and then walked with the types of its elements. Violations are
//! corrected if the types have other values.

use super::Sampler;
use super::simple::{MAX_CANDIDATES, candidates};
use crate::facets;
use crate::identity::{Tree, reached, selected};
use deltasoap_core::schema::Builtin;
use deltasoap_core::{Child, Node, QName, ns};
use deltasoap_wsdl::NormalizedContent;
use deltasoap_wsdl::xsd::{
    ConstraintKind, Element, ElementId, IdentityConstraint, Particle, Path, Term, TypeId, Variety,
};
use std::collections::{HashMap, HashSet};

/// Maximum number of values tried for one place, in addition to those already taken.
const TRIES: usize = 200;
/// Maximum number of passes over keys, where elements belong to several.
const PASSES: usize = 4;

/// An element of a sample with its declaration in the schema.
struct Spot<'t> {
    name: QName,
    /// The index of the child at each level.
    path: Vec<usize>,
    type_id: TypeId,
    declaration: Option<&'t Element>,
    children: Vec<Spot<'t>>,
}

impl Tree for Spot<'_> {
    fn name(&self) -> &QName {
        &self.name
    }

    fn children(&self) -> &[Self] {
        &self.children
    }

    fn id(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }
}

/// A text of a simple type: that of an element, or of one of its attributes.
#[derive(Clone)]
struct Slot {
    path: Vec<usize>,
    attribute: Option<QName>,
    type_id: TypeId,
    is_fixed: bool,
    is_optional: bool,
}

/// The texts of the rows of each constraint.
type Tables = HashMap<QName, Vec<Vec<String>>>;

impl<'t> Sampler<'t> {
    /// Corrects the values of a sample that depend on each other. Returns false if a reference has
    /// no target.
    pub(super) fn settle(&mut self, node: &mut Node, type_id: TypeId, declaration: Option<&'t Element>) -> bool {
        if !self.has_constraints && !self.has_ids {
            return true;
        }
        let spot = self.spot(node, Vec::new(), type_id, declaration);
        let refers = self.identify(node, &spot);
        self.constrain(node, &spot);
        refers
    }

    /// Walks an element and everything in it. Recursive: samples are at most as deep as types are
    /// followed.
    fn spot(&self, node: &Node, path: Vec<usize>, type_id: TypeId, declaration: Option<&'t Element>) -> Spot<'t> {
        let named = node.attribute(ns::XSI, "type").and_then(|text| self.types.named(&node.resolve(text)?));
        let type_id = named.unwrap_or(type_id);
        let known = self.known_children(type_id);
        let child = |(index, child): (usize, &Child)| {
            let Child::Element(child) = child else { return None };
            let global = || self.schemas().element_named(&child.name);
            let declaration = known.get(&child.name).copied().or_else(global).map(|id| &self.schemas()[id]);
            let path = path.iter().copied().chain([index]).collect();
            Some(self.spot(child, path, declaration.map_or(TypeId::ANY, |it| it.type_id), declaration))
        };
        let children = node.children.iter().enumerate().filter_map(child).collect();
        Spot { name: node.name.clone(), path, type_id, declaration, children }
    }

    /// Returns the elements of a type's content, where one name has one type (XSD 1.0 part 1,
    /// 3.8.6).
    fn known_children(&self, type_id: TypeId) -> HashMap<&'t QName, ElementId> {
        let mut known = HashMap::new();
        if let Some(NormalizedContent::Elements(particle)) =
            self.schemas().content(type_id).map(|normal| &normal.content)
        {
            self.add_known(particle, &mut known);
        }
        known
    }

    fn add_known(&self, particle: &'t Particle, known: &mut HashMap<&'t QName, ElementId>) {
        match &particle.term {
            Term::Element(id) => {
                for id in [*id].iter().chain(self.schemas().substitutes(*id)) {
                    known.entry(&self.schemas()[*id].name).or_insert(*id);
                }
            }
            Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => {
                parts.iter().for_each(|part| self.add_known(part, known));
            }
            Term::Any(_) | Term::Group(_) => {}
        }
    }

    /// Makes the values of type `xsd:ID` differ, and those of `xsd:IDREF` refer to one of them.
    /// Returns false if there is none to refer to.
    fn identify(&mut self, node: &mut Node, spot: &Spot<'t>) -> bool {
        let mut slots = Vec::new();
        self.slots(node, spot, &mut slots);
        let ids: Vec<_> = slots.iter().filter(|slot| self.is_of(slot.type_id, &[Builtin::Id])).collect();
        for slot in ids {
            let Some(mut text) = slot.text(node) else { continue };
            if self.ids.contains(&text) && !slot.is_fixed {
                let mut others = (1..TRIES).filter_map(|number| self.variant(slot.type_id, &text, number));
                if let Some(other) = others.find(|other| !self.ids.contains(other)) {
                    slot.set(node, &other);
                    text = other;
                }
            }
            self.ids.insert(text);
        }
        let mut refers = true;
        for slot in slots.iter().filter(|slot| self.refers(slot.type_id)) {
            let Some(text) = slot.text(node).filter(|_| !slot.is_fixed) else { continue };
            let count = text.split_ascii_whitespace().count();
            if text.split_ascii_whitespace().all(|id| self.ids.contains(id)) {
                continue;
            }
            let mut others = self.ids.iter().take(TRIES).map(|id| vec![id.as_str(); count].join(" "));
            match others.find(|other| facets::violation(self.schemas(), slot.type_id, other).is_none()) {
                Some(other) => slot.set(node, &other),
                None => refers = false,
            }
        }
        refers
    }

    /// Returns true if the values of a type refer to `xsd:ID`s.
    pub(super) fn refers(&self, type_id: TypeId) -> bool {
        self.is_of(type_id, &[Builtin::IdRef, Builtin::IdRefs])
    }

    /// Returns true if the values of a type, or the items of its lists, are of one of these types.
    fn is_of(&self, type_id: TypeId, expected: &[Builtin]) -> bool {
        let variety = match self.schemas().variety(type_id) {
            Some(Variety::List(item)) => self.schemas().variety(*item),
            variety => variety,
        };
        matches!(variety, Some(Variety::Builtin(builtin)) if expected.contains(builtin))
    }

    /// Collects all texts of simple types, in document order.
    fn slots(&self, node: &Node, spot: &Spot<'t>, slots: &mut Vec<Slot>) {
        let own = at(node, &spot.path);
        slots.extend(own.attributes.iter().filter_map(|(name, _)| self.attribute_slot(spot, name)));
        slots.extend(self.text_slot(spot));
        spot.children.iter().for_each(|child| self.slots(node, child, slots));
    }

    fn text_slot(&self, spot: &Spot<'t>) -> Option<Slot> {
        let type_id = match self.schemas().content(spot.type_id).map(|normal| &normal.content) {
            None => spot.type_id,
            Some(NormalizedContent::Text(text)) => *text,
            Some(_) => return None,
        };
        let is_fixed = spot.declaration.is_some_and(|it| it.fixed.is_some());
        Some(Slot { path: spot.path.clone(), attribute: None, type_id, is_fixed, is_optional: false })
    }

    fn attribute_slot(&self, spot: &Spot<'t>, name: &QName) -> Option<Slot> {
        let schemas = self.schemas();
        let uses = schemas.content(spot.type_id).map_or(&[][..], |normal| &normal.attributes);
        let own = uses.iter().find(|it| schemas[it.attribute].name == *name);
        let declaration = &schemas[own.map(|it| it.attribute).or_else(|| schemas.attribute_named(name))?];
        Some(Slot {
            path: spot.path.clone(),
            attribute: Some(name.clone()),
            type_id: declaration.type_id,
            is_fixed: declaration.fixed.is_some() || own.is_some_and(|it| it.fixed.is_some()),
            is_optional: own.is_none_or(|it| !it.is_required),
        })
    }

    /// Settles the constraints of an element and of everything in it: the keys first, since
    /// changing one key may affect another.
    fn constrain(&self, node: &mut Node, spot: &Spot<'t>) {
        for _ in 0..PASSES {
            if !self.distinguish_all(node, spot) {
                break;
            }
        }
        self.refer_all(node, spot);
    }

    /// Settles the keys, inner ones first. Returns true if a value was changed.
    fn distinguish_all(&self, node: &mut Node, spot: &Spot<'t>) -> bool {
        let mut has_changed = false;
        for child in &spot.children {
            has_changed |= self.distinguish_all(node, child);
        }
        for constraint in keys(spot) {
            has_changed |= self.distinguish(node, spot, constraint);
        }
        has_changed
    }

    /// Settles the references, inner ones first. Returns the keys that are known around the
    /// element.
    fn refer_all(&self, node: &mut Node, spot: &Spot<'t>) -> Tables {
        let mut tables = Tables::new();
        for child in &spot.children {
            for (name, rows) in self.refer_all(node, child) {
                tables.entry(name).or_default().extend(rows);
            }
        }
        for constraint in keys(spot) {
            tables.insert(constraint.name.clone(), self.rows(node, spot, constraint));
        }
        for constraint in constraints(spot) {
            if let ConstraintKind::KeyRef(key) = &constraint.kind {
                self.refer(node, spot, constraint, tables.get(key).map_or(&[], Vec::as_slice));
            }
        }
        tables
    }

    /// Returns the texts of the elements of a key.
    fn rows(&self, node: &Node, spot: &Spot<'t>, constraint: &IdentityConstraint) -> Vec<Vec<String>> {
        let rows = selected(spot, &constraint.selector).into_iter().filter_map(|it| self.row(node, it, constraint));
        rows.map(|slots| slots.iter().filter_map(|slot| slot.text(node)).collect()).collect()
    }

    /// Gives each element of a key its own values. Returns true if one was changed.
    fn distinguish(&self, node: &mut Node, spot: &Spot<'t>, constraint: &IdentityConstraint) -> bool {
        let (mut has_changed, mut seen, mut number) = (false, HashSet::new(), 0);
        for element in selected(spot, &constraint.selector) {
            self.leave_one(node, element, constraint);
            let Some(slots) = self.row(node, element, constraint) else { continue };
            if !seen.insert(self.values(node, &slots)) {
                has_changed = true;
                for _ in 0..TRIES {
                    number += 1;
                    if self.vary(node, &slots, number) && seen.insert(self.values(node, &slots)) {
                        break;
                    }
                }
            }
        }
        has_changed
    }

    /// Gives one of the texts another value; returns false if none can have another.
    fn vary(&self, node: &mut Node, slots: &[Slot], number: usize) -> bool {
        let is_free = |slot: &&Slot| !slot.is_fixed && !self.refers(slot.type_id);
        // Each text in turn, with all of its values: some may have few.
        let count = slots.len().max(1);
        let (start, number) = (number % count, number.div_ceil(count));
        let other = slots[start..].iter().chain(&slots[..start]).filter(is_free).find_map(|slot| {
            let text = slot.text(node)?;
            Some((slot, self.variant(slot.type_id, &text, number)?))
        });
        other.is_some_and(|(slot, text)| {
            slot.set(node, &text);
            true
        })
    }

    /// Makes references to keys refer to an existing key. If there is none, optional references are
    /// removed.
    fn refer(&self, node: &mut Node, spot: &Spot<'t>, constraint: &IdentityConstraint, keys: &[Vec<String>]) {
        for element in selected(spot, &constraint.selector) {
            self.leave_one(node, element, constraint);
            let Some(slots) = self.row(node, element, constraint) else { continue };
            let own = self.values(node, &slots);
            let value = |(slot, text): (&Slot, &String)| self.meaning(slot, text);
            let is_own = |row: &&Vec<String>| slots.iter().zip(*row).map(value).eq(own.iter().cloned());
            if keys.iter().any(|row| is_own(&row)) {
                continue;
            }
            let is_good =
                |(slot, text): (&Slot, &String)| facets::violation(self.schemas(), slot.type_id, text).is_none();
            let fits = |row: &&Vec<String>| row.len() == slots.len() && slots.iter().zip(*row).all(is_good);
            match keys.iter().take(TRIES).find(fits) {
                Some(row) => slots.iter().zip(row).for_each(|(slot, text)| slot.set(node, text)),
                None => slots.iter().filter(|slot| slot.is_optional).for_each(|slot| slot.remove(node)),
            }
        }
    }

    /// Removes all but one of the optional attributes that a field selects: a field selects at most
    /// one text (XSD 1.0 part 1, 3.11.4).
    fn leave_one(&self, node: &mut Node, element: &Spot<'t>, constraint: &IdentityConstraint) {
        for paths in constraint.fields.iter().filter(|paths| paths.len() > 1) {
            let mut slots: Vec<Slot> = paths.iter().filter_map(|path| self.key_field(node, element, path)).collect();
            if slots.len() > 1 {
                let kept = slots.iter().position(|slot| !slot.is_optional).unwrap_or(0);
                let kept = slots.swap_remove(kept);
                let is_other = |slot: &&Slot| (&slot.path, &slot.attribute) != (&kept.path, &kept.attribute);
                slots.iter().filter(is_other).filter(|slot| slot.is_optional).for_each(|slot| slot.remove(node));
            }
        }
    }

    /// Returns the texts that a constraint's fields select; `None` if one is missing.
    fn row(&self, node: &Node, element: &Spot<'t>, constraint: &IdentityConstraint) -> Option<Vec<Slot>> {
        let field = |paths: &Vec<Path>| paths.iter().find_map(|path| self.key_field(node, element, path));
        constraint.fields.iter().map(field).collect()
    }

    fn key_field(&self, node: &Node, element: &Spot<'t>, path: &Path) -> Option<Slot> {
        let found = reached(element, path);
        found.into_iter().find_map(|owner| match &path.attribute {
            None => self.text_slot(owner),
            Some(test) => {
                let mut names = at(node, &owner.path).attributes.iter().map(|(name, _)| name);
                names.find(|name| test.takes(name)).and_then(|name| self.attribute_slot(owner, name))
            }
        })
    }

    fn values(&self, node: &Node, slots: &[Slot]) -> Vec<String> {
        slots.iter().map(|slot| self.meaning(slot, &slot.text(node).unwrap_or_default())).collect()
    }

    fn meaning(&self, slot: &Slot, text: &str) -> String {
        facets::canonical(self.schemas(), slot.type_id, text, &|name| Some(QName::owned("", name.to_owned())))
    }

    /// Returns another value of a type, usually a different one for each number. `text` is a value
    /// of it.
    fn variant(&self, id: TypeId, text: &str, number: usize) -> Option<String> {
        let schemas = self.schemas();
        let steps = facets::steps(schemas, id);
        let lengths = || steps.iter().filter_map(|it| it.length.or(it.max_length).or(it.min_length)).min();
        let width = lengths().unwrap_or_default().min(64) as usize;
        let is_enumerated = steps.iter().any(|it| !it.enumeration.is_empty());
        let by = i64::try_from(number).unwrap_or_default();
        let shifted = |builtin: Builtin| {
            let base = if is_enumerated { None } else { Some(text) };
            base.into_iter().flat_map(move |text| [by, -by].map(|by| facets::shifted(builtin, text, by)))
        };
        let mut others: Vec<Option<String>> = match schemas.variety(id) {
            Some(Variety::Builtin(builtin)) => shifted(*builtin).collect(),
            Some(Variety::List(item)) => vec![self.variant(*item, text.split_ascii_whitespace().next()?, number)],
            Some(Variety::Union(members)) => {
                let of = members.iter().filter(|it| facets::violation(schemas, **it, text).is_none());
                of.map(|member| self.variant(*member, text, number)).collect()
            }
            _ => Vec::new(),
        };
        let patterns = steps.iter().flat_map(|it| &it.patterns).take(MAX_CANDIDATES);
        others.extend(patterns.flat_map(|it| [0, 1, 4].map(|extra| facets::pattern_sample(it, extra, number))));
        others.extend([format!("{text}{number}"), format!("{number:0width$}"), format!("x{number}")].map(Some));
        others.push(Some(format!("{number:0width$}", width = width * 2)));
        let usual = candidates(schemas, id, 4);
        others.push(usual.get(number % usual.len().max(1)).cloned());
        let is_good = |other: &String| other != text && facets::violation(schemas, id, other).is_none();
        others.into_iter().flatten().find(is_good)
    }
}

impl Slot {
    fn text(&self, node: &Node) -> Option<String> {
        let owner = at(node, &self.path);
        match &self.attribute {
            Some(name) => owner.attribute(&name.namespace, &name.local).map(ToOwned::to_owned),
            None => Some(owner.children.iter().fold(String::new(), |text, child| match child {
                Child::Text(more) => text + more,
                Child::Element(_) => text,
            })),
        }
    }

    fn set(&self, node: &mut Node, text: &str) {
        let owner = at_mut(node, &self.path);
        match &self.attribute {
            Some(name) => {
                let mut known = owner.attributes.iter_mut().filter(|(other, _)| other == name);
                known.next().into_iter().for_each(|(_, value)| *value = text.into());
            }
            None => owner.children = vec![Child::Text(text.into())],
        }
    }

    fn remove(&self, node: &mut Node) {
        let owner = at_mut(node, &self.path);
        owner.attributes.retain(|(other, _)| Some(other) != self.attribute.as_ref());
    }
}

fn constraints<'t>(spot: &Spot<'t>) -> &'t [IdentityConstraint] {
    spot.declaration.map_or(&[], |it| &it.constraints)
}

fn keys<'t>(spot: &Spot<'t>) -> impl Iterator<Item = &'t IdentityConstraint> + use<'t> {
    constraints(spot).iter().filter(|it| !matches!(it.kind, ConstraintKind::KeyRef(_)))
}

/// Returns the element at a path.
fn at<'n>(node: &'n Node, path: &[usize]) -> &'n Node {
    path.iter().fold(node, |node, &index| match &node.children[index] {
        Child::Element(child) => child,
        Child::Text(_) => node,
    })
}

fn at_mut<'n>(node: &'n mut Node, path: &[usize]) -> &'n mut Node {
    let Some((&index, rest)) = path.split_first() else { return node };
    match &mut node.children[index] {
        Child::Element(child) => at_mut(child, rest),
        Child::Text(_) => unreachable!("a path leads to elements"),
    }
}
