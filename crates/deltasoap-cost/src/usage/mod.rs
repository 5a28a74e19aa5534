//! What a message consists of: the regressors of its cost.
//!
//! A message is walked by its schema, and everything that costs time is counted: leaves by class, attributes, elements with children,
//! characters, markup. It is the same walk for the messages that are measured and for those of a WSDL, so the two cannot count
//! differently.
//!
//! Leaves come in two kinds. Items of a *flat* array share their markup, which is learned at the first of them; what follows costs a
//! fraction of a field. A model of a toolkit without this shortcut has one coefficient for both.

use crate::CostError;
use crate::calibration::Mode;
use crate::place::Place;
use crate::workload::{Body, Class, Message, Workload};
use deltasoap_core::schema::{Attribute, Element, Field, SimpleElement, Use, View};
use deltasoap_core::{Buffer, Child, Content, Node, Record, Simple, Value};
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// Lists of fewer items are written element by element in differential mode.
const SHORT: f64 = 256.0;

/// Something that costs time. Each is a regressor of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// The message itself: envelope, body, buffers.
    Message,
    /// A leaf in an element that is read and written for itself.
    Field(Class),
    /// A leaf of an item of a flat array, the first item left out.
    Item(Class),
    /// An item of a flat array that has fields.
    ItemRecord,
    /// A list of a flat type with items: reading the first one, its markup is learned.
    Repeated,
    /// The same with two items or more: writing the first one, its markup is learned.
    List,
    /// An item of a list that is not flat.
    Row,
    /// A field that is not there.
    Absent,
    /// A description of an element that can be in the message: they are looked through for what is special in them.
    Described,
    /// An attribute.
    Attribute(Class),
    /// An element with fields.
    Record,
    /// A character of text.
    Character,
    /// An octet of binary data.
    Octet,
    /// A character of a name in a tag, of elements that are read and written for themselves.
    Markup,
    /// The same in a flat array.
    ItemMarkup,
    /// An element in a namespace.
    Qualified,
    /// An element with `xsi:type`.
    Typed,
    /// A value of an enumeration that a text is compared with.
    Alternative,
    /// An element that is kept as a tree.
    Node,
    /// A text that is longer than this cut-off point.
    Over(u32),
    /// A character beyond this cut-off point of a text.
    Beyond(u32),
    /// Differential mode: a leaf, changed or not.
    Leaf,
    /// Differential mode: what a leaf costs on top that is no item of a list.
    FieldLeaf,
    /// Differential mode: what a leaf costs on top that is an item of a short list.
    ShortLeaf,
    /// Differential mode: a byte that is compared.
    Compared,
    /// Differential mode: a leaf that changed.
    Changed(Class),
    /// Differential mode: what a change costs on top in a leaf that is no item of a list.
    ChangedField,
    /// Differential mode: what a change costs on top in an item of a short list.
    ChangedShort,
    /// Differential mode: a change beyond a quarter of the leaves. Of messages that are mostly new, much is written at once.
    ChangedMost,
    /// Differential mode: a leaf whose text became longer or shorter, so that what follows moves.
    Shift,
}

impl Feature {
    /// What may stand in where a calibration has no series for a feature; the nearest first.
    pub fn substitutes(self) -> Vec<Feature> {
        use Feature as F;
        let others = |class| match class {
            Class::Token | Class::Boolean | Class::QName | Class::Binary => vec![Class::Text, Class::Int],
            Class::Decimal | Class::Date | Class::Duration => vec![Class::Double, Class::Int],
            Class::Int => vec![Class::Double],
            Class::Double => vec![Class::Int],
            Class::Text => vec![Class::Int],
        };
        match self {
            F::Field(class) => {
                let others = others(class);
                let fields = others.iter().map(|&class| F::Field(class));
                std::iter::once(F::Item(class))
                    .chain(fields)
                    .chain(others.iter().map(|&class| F::Item(class)))
                    .collect()
            }
            F::Item(class) => others(class).into_iter().map(F::Item).chain([F::Field(class)]).collect(),
            F::Attribute(class) => vec![F::Attribute(Class::Int), F::Field(class), F::Item(class), F::Item(Class::Int)],
            F::Changed(class) => others(class).into_iter().map(F::Changed).collect(),
            F::Octet => vec![F::Character],
            F::Record | F::ItemRecord | F::Node => vec![F::Field(Class::Text), F::Item(Class::Int)],
            _ => Vec::new(),
        }
    }

    /// True for what a model can do without: the part of the cost is in other features of toolkits that have no series for it.
    pub fn is_refinement(self) -> bool {
        use Feature as F;
        let is_of_lists = matches!(self, F::Repeated | F::List | F::Row | F::Absent | F::Described);
        let is_of_leaves = matches!(self, F::FieldLeaf | F::ShortLeaf);
        let is_of_changes = matches!(self, F::ChangedField | F::ChangedShort | F::ChangedMost);
        is_of_lists
            || is_of_leaves
            || is_of_changes
            || matches!(self, F::Markup | F::ItemMarkup | F::Qualified | F::Typed | F::Alternative)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Feature::Message => f.write_str("message"),
            Feature::Field(class) => write!(f, "{class} field"),
            Feature::Item(class) => write!(f, "{class} item"),
            Feature::ItemRecord => f.write_str("struct item"),
            Feature::Repeated => f.write_str("list of flat items"),
            Feature::List => f.write_str("list of two or more"),
            Feature::Row => f.write_str("item that is not flat"),
            Feature::Absent => f.write_str("absent field"),
            Feature::Described => f.write_str("description"),
            Feature::Attribute(class) => write!(f, "{class} attribute"),
            Feature::Record => f.write_str("type"),
            Feature::Character => f.write_str("character"),
            Feature::Octet => f.write_str("octet"),
            Feature::Markup => f.write_str("character of a tag"),
            Feature::ItemMarkup => f.write_str("character of an item's tag"),
            Feature::Qualified => f.write_str("element in a namespace"),
            Feature::Typed => f.write_str("xsi:type"),
            Feature::Alternative => f.write_str("enumerated value"),
            Feature::Node => f.write_str("element of a tree"),
            Feature::Over(place) => write!(f, "string longer than {place}"),
            Feature::Beyond(place) => write!(f, "character beyond {place}"),
            Feature::Leaf => f.write_str("leaf"),
            Feature::FieldLeaf => f.write_str("leaf in a field"),
            Feature::ShortLeaf => f.write_str("leaf in a short list"),
            Feature::Compared => f.write_str("byte compared"),
            Feature::Changed(class) => write!(f, "changed {class}"),
            Feature::ChangedField => f.write_str("change in a field"),
            Feature::ChangedShort => f.write_str("change in a short list"),
            Feature::ChangedMost => f.write_str("change beyond a quarter"),
            Feature::Shift => f.write_str("shift"),
        }
    }
}

/// Counts of features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    counts: BTreeMap<Feature, f64>,
    /// How many texts have a length.
    texts: BTreeMap<usize, f64>,
}

impl Usage {
    /// Counts something.
    pub fn add(&mut self, feature: Feature, count: f64) {
        if count != 0.0 {
            *self.counts.entry(feature).or_default() += count;
        }
    }

    fn add_text(&mut self, length: usize) {
        self.add(Feature::Character, length as f64);
        *self.texts.entry(length).or_default() += 1.0;
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Usage) {
        other.counts.iter().for_each(|(&feature, &count)| self.add(feature, count));
        other.texts.iter().for_each(|(&length, &count)| *self.texts.entry(length).or_default() += count);
    }

    /// The count of a feature.
    pub fn count(&self, feature: Feature) -> f64 {
        let texts = |part: &dyn Fn(usize) -> f64| self.texts.iter().map(|(&length, count)| part(length) * count).sum();
        match feature {
            Feature::Over(place) => texts(&|length| f64::from(length > place as usize)),
            Feature::Beyond(place) => texts(&|length| length.saturating_sub(place as usize) as f64),
            feature => self.counts.get(&feature).copied().unwrap_or_default(),
        }
    }

    /// All counts but those of cut-off points.
    pub fn counts(&self) -> impl Iterator<Item = (Feature, f64)> {
        self.counts.iter().map(|(&feature, &count)| (feature, count))
    }

    /// Leaves of all classes and kinds.
    pub fn leaves(&self) -> f64 {
        let is_leaf =
            |feature: &Feature| matches!(feature, Feature::Field(_) | Feature::Item(_) | Feature::Attribute(_));
        self.counts().filter(|(feature, _)| is_leaf(feature)).map(|(_, count)| count).sum()
    }

    /// Of a measured message.
    ///
    /// # Errors
    /// When there is no such message.
    pub fn of_workload(workload: &Workload, mode: Mode) -> Result<Usage, CostError> {
        let message = Message::new(workload)?;
        if mode == Mode::Regular {
            return Ok(Usage::of(&message.body(0)));
        }
        let written = message.body(0).encode(Buffer::new());
        let bytes = written.map_or(0, |written| written.as_slice().len());
        let part = |count: u32, of: u32| f64::from(count) / f64::from(of.max(1));
        let share = match *workload {
            Workload::Changed { length, changed, .. } => part(changed, length),
            Workload::ChangedFields { count, changed, .. } => part(changed, count),
            _ => 0.0,
        };
        let mut usage = Usage::compared(&parts(&message.body(0)), bytes, |_| share);
        if let Workload::Changed { changed, moves: true, .. } = *workload {
            usage.add(Feature::Shift, f64::from(changed));
        }
        Ok(usage)
    }

    /// Of a whole message.
    pub fn of(body: &Body<'_>) -> Usage {
        let mut all = Usage::default();
        parts(body).iter().for_each(|(_, part)| all.merge(part));
        all
    }

    /// Of a message in differential mode, by its parts, of whose leaves a share has changed, by their paths.
    pub fn compared(parts: &[(String, Usage)], bytes: usize, share: impl Fn(&str) -> f64) -> Usage {
        let (mut usage, mut changed) = (Usage::default(), 0.0);
        for (path, part) in parts {
            usage.add(Feature::Message, part.count(Feature::Message));
            let share = share(path);
            for class in Class::ALL {
                usage.add(Feature::Changed(class), part.leaves_of(class) * share);
            }
            let (leaves, items) = (part.leaves(), part.items());
            changed += leaves * share;
            usage.add(Feature::Leaf, leaves);
            match items {
                0.0 => usage.add_both(Feature::FieldLeaf, Feature::ChangedField, leaves, share),
                // The first item of a list is counted as a field elsewhere.
                items if items + 1.0 < SHORT => {
                    usage.add_both(Feature::ShortLeaf, Feature::ChangedShort, leaves, share);
                }
                _ => {}
            }
        }
        usage.add(Feature::Compared, bytes as f64);
        usage.add(Feature::ChangedMost, (changed - usage.count(Feature::Leaf) / 4.0).max(0.0));
        usage
    }

    fn add_both(&mut self, leaf: Feature, change: Feature, leaves: f64, share: f64) {
        self.add(leaf, leaves);
        self.add(change, leaves * share);
    }

    fn leaves_of(&self, class: Class) -> f64 {
        [Feature::Field(class), Feature::Item(class), Feature::Attribute(class)].map(|it| self.count(it)).iter().sum()
    }

    fn items(&self) -> f64 {
        Class::ALL.map(|class| self.count(Feature::Item(class))).iter().sum()
    }
}

/// What each part of a message consists of, in the order of the document: the message itself, its path empty, first. The
/// occurrences of a field are one part.
pub fn parts(body: &Body<'_>) -> Vec<(String, Usage)> {
    let mut walk = Walk {
        parts: Vec::new(),
        places: BTreeMap::new(),
        place: Place::default(),
        encoded: body.encoding == Use::Encoded,
    };
    walk.usage().add(Feature::Message, 1.0);
    walk.usage().add(Feature::Described, described(body.view) as f64);
    walk.content(body.value, body.view);
    walk.parts
}

struct Walk {
    parts: Vec<(String, Usage)>,
    places: BTreeMap<String, usize>,
    place: Place,
    encoded: bool,
}

impl Walk {
    /// The counts of the part at hand.
    fn usage(&mut self) -> &mut Usage {
        let parts = &mut self.parts;
        let at = *self.places.entry(self.place.path().to_owned()).or_insert_with(|| {
            parts.push((self.place.path().to_owned(), Usage::default()));
            parts.len() - 1
        });
        &mut parts[at].1
    }

    fn content(&mut self, value: &Value, view: View<'_>) {
        match (value, view.element) {
            (Value::Simple(simple), element) => self.leaf(simple, simple_of(element), Feature::Field),
            (Value::Name(_), _) => self.usage().add(Feature::Field(Class::QName), 1.0),
            (Value::Record(record), Element::Complex(_)) => self.record(record, view),
            (Value::List(items), Element::Array(array)) => {
                let field = item_field(array.item_name.clone(), array.item);
                self.list(items, &field, view.follow(array.item));
            }
            (Value::Shared(shared), _) => self.shared(shared, view),
            (value, Element::Shared(content)) => self.content(value, view.follow(*content)),
            (Value::Tree(node), _) => self.tree(node),
            (Value::Nil, _) => self.usage().add(Feature::Attribute(Class::Int), 1.0),
            _ => {}
        }
    }

    fn shared(&mut self, shared: &deltasoap_core::Shared<Value>, view: View<'_>) {
        if let Some(value) = shared.get() {
            self.content(&value, view.content());
        }
    }

    fn record(&mut self, record: &Record, view: View<'_>) {
        let Some(complex) = view.complex() else { return };
        self.usage().add(Feature::Record, 1.0);
        for (value, attribute) in record.attributes.iter().zip(complex.attributes.iter()) {
            self.attribute(value.as_ref(), attribute, view);
        }
        if let Some(text) = complex.text {
            return record.fields.iter().for_each(|value| self.content(value, view.follow(text)));
        }
        for (value, field) in record.fields.iter().zip(complex.fields.iter()) {
            self.field(value, field, view.follow(field.element));
        }
    }

    fn attribute(&mut self, value: Option<&Simple>, attribute: &Attribute, view: View<'_>) {
        let Some(value) = value else { return };
        let outside = self.place.enter(&format!("@{}", attribute.name.local));
        self.usage().add(Feature::Markup, attribute.name.local.len() as f64);
        self.leaf(value, simple_of(view.follow(attribute.element).element), Feature::Attribute);
        self.place.leave(outside);
    }

    fn field(&mut self, value: &Value, field: &Field, view: View<'_>) {
        match value {
            Value::Absent => self.usage().add(Feature::Absent, 1.0),
            Value::List(items) if items.is_empty() => self.usage().add(Feature::Absent, 1.0),
            Value::List(items) if field.is_repeated() && field.inline => {
                items.iter().for_each(|item| self.content(item, view));
            }
            value if field.inline => self.content(value, view),
            Value::List(items) if field.is_repeated() => {
                let outside = self.place.enter(&field.name.local);
                self.list(items, field, view);
                self.place.leave(outside);
            }
            value => {
                let outside = self.place.enter(&field.name.local);
                self.element(value, field, view);
                self.place.leave(outside);
            }
        }
    }

    /// An element that is read and written for itself.
    fn element(&mut self, value: &Value, field: &Field, view: View<'_>) {
        let encoded = self.encoded;
        let usage = self.usage();
        usage.add(Feature::Markup, 2.0 * field.name.local.len() as f64);
        usage.add(Feature::Qualified, f64::from(!field.name.namespace.is_empty()));
        usage.add(Feature::Typed, f64::from(encoded));
        self.content(value, view);
    }

    fn list(&mut self, items: &[Value], field: &Field, view: View<'_>) {
        let is_flat_type = Value::flat_leaves(view).is_some();
        self.usage().add(Feature::Repeated, f64::from(is_flat_type && !items.is_empty()));
        let is_flat = is_flat_type && items.len() > 1 && items.iter().all(|item| item.is_flat(view));
        if !is_flat {
            self.usage().add(Feature::Row, if is_flat_type { 0.0 } else { items.len() as f64 });
            return items.iter().for_each(|item| self.element(item, field, view));
        }
        self.usage().add(Feature::List, 1.0);
        self.element(&items[0], field, view);
        let name = field.name.local.len();
        items[1..].iter().for_each(|item| self.flat(item, name, view));
    }

    fn flat(&mut self, item: &Value, name: usize, view: View<'_>) {
        self.usage().add(Feature::ItemMarkup, 2.0 * name as f64);
        match (item, view.complex()) {
            (Value::Simple(simple), _) => self.leaf(simple, simple_of(view.element), Feature::Item),
            (Value::Record(record), Some(complex)) => {
                self.usage().add(Feature::ItemRecord, 1.0);
                for (value, field) in record.fields.iter().zip(complex.fields.iter()) {
                    let outside = self.place.enter(&field.name.local);
                    self.flat(value, field.name.local.len(), view.follow(field.element));
                    self.place.leave(outside);
                }
            }
            _ => {}
        }
    }

    fn leaf(&mut self, value: &Simple, element: Option<&SimpleElement>, feature: fn(Class) -> Feature) {
        let class = Class::of(value.builtin());
        let usage = self.usage();
        usage.add(feature(class), 1.0);
        match class {
            Class::Text | Class::Token => usage.add_text(text_length(value)),
            Class::Binary => usage.add(Feature::Octet, octets(value) as f64),
            _ => {}
        }
        let alternatives = element.map_or(0, |element| element.enumeration.len());
        usage.add(Feature::Alternative, alternatives.div_ceil(2) as f64);
    }

    /// Elements of a tree, one after the other: it may be deep.
    fn tree(&mut self, root: &Node) {
        let usage = self.usage();
        let mut ahead = vec![root];
        while let Some(node) = ahead.pop() {
            usage.add(Feature::Node, 1.0);
            usage.add(Feature::Attribute(Class::Text), node.attributes.len() as f64);
            for child in &node.children {
                match child {
                    Child::Element(child) => ahead.push(child),
                    Child::Text(text) => usage.add_text(text.len()),
                }
            }
        }
    }
}

/// How many descriptions there are in and below one.
fn described(view: View<'_>) -> usize {
    let (mut seen, mut ahead) = (HashSet::new(), vec![view]);
    while let Some(view) = ahead.pop() {
        if !seen.insert(std::ptr::from_ref(view.element)) {
            continue;
        }
        match view.element {
            Element::Complex(complex) => ahead.extend(complex.fields.iter().map(|field| view.follow(field.element))),
            Element::Array(array) => ahead.push(view.follow(array.item)),
            Element::Shared(inner) => ahead.push(view.follow(*inner)),
            _ => {}
        }
    }
    seen.len()
}

fn simple_of(element: &Element) -> Option<&SimpleElement> {
    match element {
        Element::Simple(simple) => Some(simple),
        _ => None,
    }
}

/// An item of a SOAP array as if it were a field.
pub(crate) fn item_field(name: deltasoap_core::QName, element: deltasoap_core::schema::ElementRef) -> Field {
    Field { name, element, min: 0, max: None, nillable: false, inline: false }
}

fn text_length(value: &Simple) -> usize {
    match value {
        Simple::String(text) => text.len(),
        other => other.to_string().len(),
    }
}

fn octets(value: &Simple) -> usize {
    match value {
        Simple::Base64Binary(octets) => octets.0.len(),
        Simple::HexBinary(octets) => octets.0.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Style;

    fn usage(workload: Workload) -> Usage {
        Usage::of_workload(&workload, Mode::Regular).expect("a message")
    }

    #[test]
    fn an_array_has_a_field_and_items() {
        let array = usage(Workload::Array { class: Class::Text, length: 10, text: 30 });
        assert_eq!(array.count(Feature::Field(Class::Text)), 1.0);
        assert_eq!(array.count(Feature::Item(Class::Text)), 9.0);
        assert_eq!(array.count(Feature::Character), 300.0);
        assert_eq!([29, 30].map(|place| array.count(Feature::Over(place))), [10.0, 0.0]);
        assert_eq!(array.count(Feature::Beyond(20)), 100.0);
        assert_eq!(usage(Workload::Text { length: 5 }).count(Feature::List), 0.0);
    }

    #[test]
    fn a_composite_type_has_its_fields() {
        let composite = usage(Workload::Composite { ints: 1, doubles: 2, texts: 3, length: 100 });
        let fields = [Class::Int, Class::Double, Class::Text].map(|class| composite.count(Feature::Field(class)));
        assert_eq!((fields, composite.count(Feature::Record)), ([1.0, 2.0, 3.0], 1.0));
        assert_eq!(composite.leaves(), 6.0);
    }

    #[test]
    fn structs_are_flat_and_records_are_not() {
        let items = |optional| usage(Workload::Structs { length: 5, name: 3, optional });
        assert_eq!(items(false).count(Feature::ItemRecord), 4.0);
        assert_eq!(items(false).count(Feature::Item(Class::Int)), 8.0);
        assert_eq!(items(true).count(Feature::Record), 6.0);
        assert_eq!(items(true).count(Feature::Field(Class::Int)), 10.0);
    }

    #[test]
    fn styles_have_their_features() {
        let fields = |style| usage(Workload::Fields { class: Class::Int, count: 4, text: 0, style });
        assert_eq!(fields(Style::Qualified).count(Feature::Qualified), 4.0);
        assert_eq!(fields(Style::Encoded).count(Feature::Typed), 4.0);
        assert!(fields(Style::Named(20)).count(Feature::Markup) > fields(Style::Plain).count(Feature::Markup));
        assert_eq!(usage(Workload::Tree { nodes: 7 }).count(Feature::Node), 8.0);
        assert_eq!(usage(Workload::Binary { length: 300 }).count(Feature::Octet), 300.0);
    }

    #[test]
    fn changes_are_counted_in_differential_mode() {
        let changed = Workload::Changed { class: Class::Double, length: 50, changed: 5, moves: true };
        let usage = Usage::of_workload(&changed, Mode::Differential).expect("a message");
        let counts = [Feature::Leaf, Feature::Changed(Class::Double), Feature::Shift, Feature::Field(Class::Double)];
        assert_eq!(counts.map(|feature| usage.count(feature)), [50.0, 5.0, 5.0, 0.0]);
    }

    #[test]
    fn changes_are_told_apart_by_where_they_are() {
        let usage = |workload| Usage::of_workload(&workload, Mode::Differential).expect("a message");
        let array = |length, changed| usage(Workload::Changed { class: Class::Int, length, changed, moves: false });
        let fields = usage(Workload::ChangedFields { class: Class::Int, count: 20, changed: 10 });
        let kinds = [Feature::ChangedField, Feature::ChangedShort, Feature::ChangedMost];
        let counts = |usage: &Usage| kinds.map(|feature| usage.count(feature).round());
        assert_eq!(counts(&fields), [10.0, 0.0, 5.0]);
        assert_eq!(counts(&array(100, 10)), [0.0, 10.0, 0.0]);
        assert_eq!(counts(&array(400, 300)), [0.0, 0.0, 200.0]);
    }

    #[test]
    fn parts_add_up_to_the_message() {
        let message = Message::new(&Workload::Structs { length: 3, name: 1, optional: false }).expect("a message");
        let parts = parts(&message.body(0));
        let paths: Vec<_> = parts.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["", "item", "item/x", "item/y", "item/v"]);
        assert_eq!(parts[2].1.leaves(), 3.0);
    }
}
