//! Identity constraints: unique values within an element, and references to them (XSD 1.0 part 1,
//! 3.11.4).

use super::item::Item;
use crate::identity::{reached, selected};
use deltasoap_core::QName;
use deltasoap_core::schema::shortened;
use deltasoap_wsdl::Schemas;
use deltasoap_wsdl::xsd::{ConstraintKind, IdentityConstraint, Path};
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

/// A value of a field. Values are equal if their canonical forms are.
#[derive(Debug, Clone)]
struct Value {
    canonical: String,
    /// The text as written in the message.
    text: String,
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.canonical.hash(state);
    }
}

/// A violation, and the element that contains it.
pub(super) type Violation<'i> = (&'i Item, String);

/// The values of one element that a constraint selects, by its fields.
type Row = Vec<Value>;

/// Values collected while walking a message.
pub(super) struct Keys {
    /// False if the schemas have no constraints: then nothing is kept.
    has_constraints: bool,
    /// Values of elements with text of a simple type, by their position.
    texts: HashMap<u64, Value>,
    /// Elements of other types.
    complex: HashSet<u64>,
    attributes: HashMap<u64, Vec<(QName, Value)>>,
    /// The keys in each open element.
    tables: Vec<Tables>,
}

/// Rows by their constraint, each with the position of its element; `None` for several elements.
type Tables = HashMap<QName, HashMap<Row, Option<u64>>>;

/// Maximum number of rows of one constraint.
const MAX_ROWS: usize = 1_000_000;

impl Keys {
    pub(super) fn new(schemas: &Schemas) -> Self {
        Keys::empty(schemas.elements().any(|(_, element)| !element.constraints.is_empty()))
    }

    /// Creates an empty collection for a part of the message that is in no element with
    /// constraints.
    pub(super) fn fresh(&self) -> Self {
        Keys::empty(self.has_constraints)
    }

    fn empty(has_constraints: bool) -> Self {
        let (texts, complex, attributes) = (HashMap::new(), HashSet::new(), HashMap::new());
        Keys { has_constraints, texts, complex, attributes, tables: Vec::new() }
    }

    /// Records the value of an element.
    pub(super) fn text(&mut self, item: &Item, canonical: String, text: &str) {
        if self.has_constraints {
            self.texts.insert(item.offset, Value { canonical, text: text.to_owned() });
        }
    }

    /// Records that an element is neither of a simple type nor has simple content.
    pub(super) fn complex(&mut self, item: &Item) {
        if self.has_constraints {
            self.complex.insert(item.offset);
        }
    }

    /// Records the value of an attribute.
    pub(super) fn attribute(&mut self, item: &Item, name: &QName, canonical: String, text: &str) {
        if self.has_constraints {
            let value = Value { canonical, text: text.to_owned() };
            self.attributes.entry(item.offset).or_default().push((name.clone(), value));
        }
    }

    /// Enters an element.
    pub(super) fn open(&mut self) {
        if self.has_constraints {
            self.tables.push(Tables::new());
        }
    }

    /// Leaves an element; returns the violations of its constraints.
    pub(super) fn close<'i>(&mut self, item: &'i Item, constraints: &[IdentityConstraint]) -> Vec<Violation<'i>> {
        let Some(mut inner) = self.tables.pop() else { return Vec::new() };
        let mut faults = Vec::new();
        for constraint in constraints.iter().filter(|it| !matches!(it.kind, ConstraintKind::KeyRef(_))) {
            let rows = self.keys(item, constraint, &mut faults);
            // Rows of this element take precedence over those of inner elements.
            inner.entry(constraint.name.clone()).or_default().extend(rows);
        }
        for constraint in constraints {
            if let ConstraintKind::KeyRef(key) = &constraint.kind {
                self.references(item, constraint, inner.get(key), &mut faults);
            }
        }
        if let Some(outer) = self.tables.last_mut() {
            merge(outer, inner);
        }
        faults
    }

    fn keys<'i>(
        &self,
        item: &'i Item,
        constraint: &IdentityConstraint,
        faults: &mut Vec<Violation<'i>>,
    ) -> HashMap<Row, Option<u64>> {
        let local = &constraint.name.local;
        let mut rows = HashMap::new();
        for element in selected(item, &constraint.selector).into_iter().take(MAX_ROWS) {
            match self.row(element, constraint, faults) {
                Some(row) => {
                    let shown = shown(&row);
                    if rows.insert(row, Some(element.offset)).is_some() {
                        faults.push((element, format!("{local}: duplicate key {shown}")));
                    }
                }
                None if constraint.kind == ConstraintKind::Key => {
                    let why = format!("{local}: <{}> lacks a value of the key", element.name.local);
                    faults.push((element, why));
                }
                None => {}
            }
        }
        rows
    }

    fn references<'i>(
        &self,
        item: &'i Item,
        constraint: &IdentityConstraint,
        keys: Option<&HashMap<Row, Option<u64>>>,
        faults: &mut Vec<Violation<'i>>,
    ) {
        for element in selected(item, &constraint.selector).into_iter().take(MAX_ROWS) {
            let Some(row) = self.row(element, constraint, faults) else { continue };
            let who = match keys.and_then(|keys| keys.get(&row)) {
                Some(Some(_)) => continue,
                // Two of this element's children have it, so it belongs to neither (XSD 1.0 part 1,
                // 3.11.5).
                Some(None) => "more than one element has",
                None => "no element has",
            };
            faults.push((element, format!("{}: {who} the key {}", constraint.name.local, shown(&row))));
        }
    }

    /// Returns the values of an element; `None` if one is missing.
    fn row<'i>(
        &self,
        element: &'i Item,
        constraint: &IdentityConstraint,
        faults: &mut Vec<Violation<'i>>,
    ) -> Option<Row> {
        let mut row = Vec::with_capacity(constraint.fields.len());
        for field in &constraint.fields {
            let (mut nodes, mut values) = (HashSet::new(), Vec::new());
            for path in field {
                self.evaluate(element, path, &mut nodes, &mut values);
            }
            if nodes.len() > 1 {
                let local = &constraint.name.local;
                faults.push((element, format!("{local}: a field of <{}> has several values", element.name.local)));
            }
            if nodes.iter().any(|(owner, attribute)| attribute.is_none() && self.complex.contains(owner)) {
                let local = &constraint.name.local;
                faults.push((element, format!("{local}: a field of <{}> has no simple content", element.name.local)));
            }
            row.push(values.into_iter().next());
        }
        row.into_iter().collect()
    }

    /// Collects the nodes that a path selects, and their values, if they have one.
    fn evaluate<'k>(
        &'k self,
        element: &'k Item,
        path: &Path,
        nodes: &mut HashSet<(u64, Option<&'k QName>)>,
        values: &mut Vec<Value>,
    ) {
        for owner in reached(element, path) {
            match &path.attribute {
                None => {
                    if nodes.insert((owner.offset, None)) {
                        values.extend(self.texts.get(&owner.offset).cloned());
                    }
                }
                Some(test) => {
                    let attributes = self.attributes.get(&owner.offset).into_iter().flatten();
                    for (name, value) in attributes.filter(|(name, _)| test.takes(name)) {
                        if nodes.insert((owner.offset, Some(name))) {
                            values.push(value.clone());
                        }
                    }
                }
            }
        }
    }
}

/// Merges the keys of an element with those of one in it: a key that two of its children have
/// belongs to neither.
fn merge(outer: &mut Tables, inner: Tables) {
    for (name, rows) in inner {
        let table = outer.entry(name).or_default();
        for (row, place) in rows {
            table.entry(row).and_modify(|known| *known = None).or_insert(place);
        }
    }
}

/// Formats values as the message writes them.
fn shown(row: &Row) -> String {
    row.iter().map(|value| shortened(value.text.trim_ascii())).collect::<Vec<_>>().join(", ")
}
