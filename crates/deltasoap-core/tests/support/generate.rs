//! Schemas, values and documents generated from entropy: for property tests and for the fuzzer.

use deltasoap_core::encode::Encoder;
use deltasoap_core::lexical::{Base64, Decimal, Lexical};
use deltasoap_core::schema::Bindings;
use deltasoap_core::schema::{
    ArrayElement, Attribute, Branch, Builtin, Choice, ComplexElement, Compositor, Element, ElementRef, Field,
    OpenElement, Packing, Required, Schema, SimpleElement, View,
};
use deltasoap_core::{Child, Column, CompactString, Content, Node, QName, Record, Shared, Simple, Value, ns};
use deltasoap_test_support::Entropy;
use std::borrow::Cow;
use std::collections::BTreeMap;

const TYPES: [Builtin; 9] = [
    Builtin::Int,
    Builtin::String,
    Builtin::Double,
    Builtin::Boolean,
    Builtin::Decimal,
    Builtin::Token,
    Builtin::Base64Binary,
    Builtin::DateTime,
    Builtin::UnsignedByte,
];

/// Generates a schema, and its root: usually a complex element with fields.
pub fn schema(entropy: &mut Entropy<'_>) -> (Schema, ElementRef) {
    let mut schema = Schema::new();
    // Not drawn, because there is seldom entropy left at the end.
    let is_qualified = entropy.0.len() % 3 == 2;
    let complex = complex(entropy, &mut schema, 3);
    let root = match entropy.below(8) {
        5 => simple(entropy, &mut schema),
        6 => text(entropy, &mut schema),
        7 => array(entropy, &mut schema, 2),
        _ => complex,
    };
    (if is_qualified { qualified(&schema) } else { schema }, root)
}

/// The namespace of a qualified schema, and of operations.
const NAMESPACE: &str = "urn:op";

/// Returns the same schema, but elements without a namespace get one, attributes have none, and
/// single items replace arrays, whose markup has names in its values. So it takes a default
/// namespace.
fn qualified(schema: &Schema) -> Schema {
    let mut elements: Vec<Element> = Vec::new();
    for element in schema.elements() {
        elements.push(match element {
            Element::Complex(complex) => Element::Complex(ComplexElement {
                fields: complex.fields.iter().map(qualified_field).collect(),
                attributes: complex.attributes.iter().map(unqualified_attribute).collect(),
                ..complex.clone()
            }),
            // The item of an array was added before the array.
            Element::Array(ArrayElement { item: ElementRef::Index(item), .. }) => elements[*item as usize].clone(),
            other => other.clone(),
        });
    }
    elements.into()
}

fn qualified_field(field: &Field) -> Field {
    let namespace = if field.name.namespace.is_empty() { NAMESPACE.into() } else { field.name.namespace.clone() };
    Field { name: QName { namespace, local: field.name.local.clone() }, ..field.clone() }
}

fn unqualified_attribute(attribute: &Attribute) -> Attribute {
    Attribute { name: QName::owned("", &attribute.name.local), ..attribute.clone() }
}

fn element(entropy: &mut Entropy<'_>, schema: &mut Schema, depth: usize) -> ElementRef {
    match entropy.below(if depth == 0 { 2 } else { 8 }) {
        0 | 1 => simple(entropy, schema),
        2 => array(entropy, schema, depth - 1),
        3 => text(entropy, schema),
        4 => open(entropy, schema, depth - 1),
        5 => row(entropy, schema),
        _ => complex(entropy, schema, depth - 1),
    }
}

/// A struct whose lists are tables.
fn row(entropy: &mut Entropy<'_>, schema: &mut Schema) -> ElementRef {
    const PLAIN: [Builtin; 6] =
        [Builtin::Int, Builtin::String, Builtin::Double, Builtin::Boolean, Builtin::DateTime, Builtin::UnsignedByte];
    let compositor = if entropy.once_in(4) { Compositor::All } else { Compositor::Sequence };
    let field = |index| {
        let base = PLAIN[entropy.below(PLAIN.len())];
        let plain =
            SimpleElement { name: base.name(), base, enumeration: Default::default(), default: None, packed: None };
        let element = schema.add(Element::Simple(plain));
        Field { name: name("", "r", index), element, min: 1, max: Some(1), nillable: false, inline: false }
    };
    let fields = (0..3).map(field).collect();
    schema.add(Element::Complex(described(compositor, fields)))
}

/// Content of one of several types. None of them is open itself, and each is listed under its own
/// name.
fn open(entropy: &mut Entropy<'_>, schema: &mut Schema, depth: usize) -> ElementRef {
    let mut named = |entropy: &mut Entropy<'_>, index| {
        let content = match entropy.below(4) {
            0 => simple(entropy, schema),
            1 => text(entropy, schema),
            _ => complex(entropy, schema, depth),
        };
        let name = name("urn:t", "D", index);
        let element = schema.view(content).element.clone().with_name(name.clone());
        (name, schema.add(element))
    };
    let base = if entropy.once_in(3) { None } else { Some(named(entropy, 9)) };
    let types = (0..entropy.below(3) + 1).map(|index| named(entropy, index)).chain(base.clone()).collect();
    schema.add(Element::Open(OpenElement::new(base.map(|(_, content)| content), types)))
}

fn simple(entropy: &mut Entropy<'_>, schema: &mut Schema) -> ElementRef {
    let base = TYPES[entropy.below(TYPES.len())];
    let packed = if base == Builtin::Base64Binary && entropy.once_in(2) { packing(entropy) } else { None };
    let default = if packed.is_none() && entropy.once_in(6) { default(entropy, base) } else { None };
    schema.add(Element::Simple(SimpleElement {
        name: base.name(),
        base,
        enumeration: Default::default(),
        default,
        packed,
    }))
}

/// A packing of integers, since they are equal to themselves.
fn packing(entropy: &mut Entropy<'_>) -> Option<Packing> {
    let items = [Builtin::Short, Builtin::UnsignedInt][entropy.below(2)];
    Packing::new(items, entropy.once_in(2))
}

/// Packed numbers.
fn packed(entropy: &mut Entropy<'_>, packing: Packing) -> Column {
    let mut column = Column::new(packing.items).expect("a type of numbers");
    for _ in 0..entropy.below(20) {
        assert!(column.push(&simple_value(entropy, packing.items)));
    }
    column
}

/// The text of a value. Not for names, which would need a prefix.
fn default(entropy: &mut Entropy<'_>, base: Builtin) -> Option<Cow<'static, str>> {
    (base != Builtin::QName).then(|| simple_value(entropy, base).to_string().into())
}

fn array(entropy: &mut Entropy<'_>, schema: &mut Schema, depth: usize) -> ElementRef {
    let item = element(entropy, schema, depth);
    schema.add(Element::Array(ArrayElement {
        name: QName::new("urn:t", "Items"),
        item_name: QName::new("", "item"),
        item,
        item_type: QName::new("urn:t", "Item"),
        nillable: entropy.once_in(4),
        dimensions: 1,
    }))
}

fn text(entropy: &mut Entropy<'_>, schema: &mut Schema) -> ElementRef {
    let text = Some(simple(entropy, schema));
    let attributes = attributes(entropy, schema).into();
    let any_attribute = entropy.once_in(4);
    let plain = described(Compositor::Sequence, Vec::new());
    schema.add(Element::Complex(ComplexElement { text, attributes, any_attribute, ..plain }))
}

fn complex(entropy: &mut Entropy<'_>, schema: &mut Schema, depth: usize) -> ElementRef {
    let compositor = if entropy.once_in(4) { Compositor::All } else { Compositor::Sequence };
    let count = entropy.below(4) + 1;
    let mut fields: Vec<Field> = (0..count).map(|index| field(entropy, schema, depth, index, compositor)).collect();
    let has_choice = compositor == Compositor::Sequence && entropy.once_in(4);
    let choices = if has_choice { vec![groups(entropy, schema, depth, &mut fields)] } else { Vec::new() };
    let attributes = if entropy.once_in(3) { attributes(entropy, schema) } else { Vec::new() };
    let open = entropy.once_in(5);
    schema.add(Element::Complex(ComplexElement {
        attributes: attributes.into(),
        open,
        any_attribute: entropy.once_in(5),
        choices: choices.into(),
        ..described(compositor, fields)
    }))
}

/// Adds a choice between groups after the existing fields, possibly with others after it.
fn groups(entropy: &mut Entropy<'_>, schema: &mut Schema, depth: usize, fields: &mut Vec<Field>) -> Choice {
    let first = fields.len();
    let choice = choice_of_groups(entropy, schema, depth, 0, first, fields);
    if entropy.once_in(2) {
        fields.push(field(entropy, schema, 0, fields.len(), Compositor::Sequence));
    }
    choice
}

fn choice_of_groups(
    entropy: &mut Entropy<'_>,
    schema: &mut Schema,
    depth: usize,
    base: usize,
    first: usize,
    fields: &mut Vec<Field>,
) -> Choice {
    let mut branches = Vec::new();
    for _ in 0..entropy.below(2) + 2 {
        let (start, mut required) = (fields.len(), Vec::new());
        for _ in 0..entropy.below(3) + 1 {
            let field = field(entropy, schema, 0, fields.len(), Compositor::Sequence);
            if field.min > 0 {
                required.push(Required { field: (fields.len() - start) as u32, min: field.min });
            }
            fields.push(Field { min: 0, ..field });
        }
        let mut choices = Vec::new();
        if depth > 0 && entropy.once_in(4) {
            choices.push(choice_of_groups(entropy, schema, depth - 1, start, fields.len(), fields));
        }
        let count = (fields.len() - start) as u32;
        branches.push(Branch { fields: count, required: required.into(), choices: choices.into() });
    }
    let is_optional = entropy.once_in(3);
    Choice { first: (first - base) as u32, branches: branches.into(), is_optional }
}

fn described(compositor: Compositor, fields: Vec<Field>) -> ComplexElement {
    let (fields, attributes) = (fields.into(), Cow::Borrowed(&[][..]));
    ComplexElement {
        name: QName::new("urn:t", "T"),
        compositor,
        fields,
        attributes,
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    }
}

fn field(entropy: &mut Entropy<'_>, schema: &mut Schema, depth: usize, index: usize, within: Compositor) -> Field {
    if depth > 0 && within == Compositor::Sequence && entropy.once_in(6) {
        return match entropy.once_in(3) {
            true => group(entropy, schema, depth - 1, index),
            false => choice(entropy, schema, depth - 1, index),
        };
    }
    let namespace = if entropy.once_in(4) { "urn:f" } else { "" };
    let element = element(entropy, schema, depth);
    let (min, max) = occurrences(entropy);
    Field { name: name(namespace, "f", index), element, min, max, nillable: entropy.once_in(5), inline: false }
}

/// Number of occurrences of a field.
fn occurrences(entropy: &mut Entropy<'_>) -> (u32, Option<u32>) {
    [(1, Some(1)), (0, None), (0, Some(1)), (0, None), (1, None), (0, Some(3))][entropy.below(6)]
}

fn choice(entropy: &mut Entropy<'_>, schema: &mut Schema, depth: usize, index: usize) -> Field {
    let (mut members, number) = (Vec::new(), schema.elements().len());
    for member in 0..entropy.below(3) + 1 {
        let element = element(entropy, schema, depth);
        let name = QName::owned("", format!("c{number}_{member}"));
        members.push(Field { name, element, min: 1, max: Some(1), nillable: false, inline: false });
    }
    let element = schema.add(Element::Complex(described(Compositor::Choice, members)));
    let (min, max) = occurrences(entropy);
    Field { name: name("", "g", index), element, min, max, nillable: false, inline: true }
}

/// Elements without a surrounding element, any number of times. The first is required, and all
/// names are unique to the group: that determines where an occurrence ends.
fn group(entropy: &mut Entropy<'_>, schema: &mut Schema, depth: usize, index: usize) -> Field {
    let number = schema.elements().len();
    let element = element(entropy, schema, depth);
    let mut fields =
        vec![Field { name: name("", "", 0), element, min: 1, max: Some(1), nillable: false, inline: false }];
    for place in 1..entropy.below(3) + 2 {
        fields.push(field(entropy, schema, depth, place, Compositor::Sequence));
    }
    let has_choice = entropy.once_in(3);
    let choices = if has_choice { vec![groups(entropy, schema, 0, &mut fields)] } else { Vec::new() };
    for (place, field) in fields.iter_mut().enumerate() {
        field.name = QName::owned("", format!("i{number}_{place}"));
    }
    let complex = ComplexElement { choices: choices.into(), ..described(Compositor::Sequence, fields) };
    let element = schema.add(Element::Complex(complex));
    let max = if entropy.once_in(3) { Some(1) } else { None };
    Field { name: name("", "g", index), element, min: 0, max, nillable: false, inline: true }
}

fn attributes(entropy: &mut Entropy<'_>, schema: &mut Schema) -> Vec<Attribute> {
    let attribute = |index| {
        let namespace = if entropy.once_in(4) { "urn:a" } else { "" };
        let base = TYPES[entropy.below(TYPES.len())];
        let plain =
            SimpleElement { name: base.name(), base, enumeration: Default::default(), default: None, packed: None };
        let element = schema.add(Element::Simple(plain));
        let required = entropy.once_in(3);
        let default = if !required && entropy.once_in(3) { default(entropy, base) } else { None };
        Attribute { name: name(namespace, "a", index), element, required, default }
    };
    (0..2).map(attribute).collect()
}

fn name(namespace: &'static str, local: &str, index: usize) -> QName {
    QName::owned(namespace, format!("{local}{index}"))
}

/// A value of an element's type.
pub fn value(entropy: &mut Entropy<'_>, view: View<'_>) -> Value {
    match view.element {
        Element::Simple(SimpleElement { base: Builtin::QName, .. }) => {
            Value::Name(Box::new(name("urn:q", "name", entropy.below(4))))
        }
        Element::Simple(SimpleElement { packed: Some(packing), .. }) => Value::Packed(packed(entropy, *packing)),
        Element::Simple(simple) => {
            let value = simple_value(entropy, simple.base);
            // An empty text is read as the default.
            let default = simple.default.as_deref().filter(|_| value.to_string().is_empty());
            Value::Simple(default.map_or(value, |text| Simple::parse(simple.base, text).expect("valid for the type")))
        }
        Element::Array(array) => {
            // One row in each dimension except the last.
            let items = Value::List(values(entropy, view.follow(array.item), array.nillable));
            (1..array.dimensions).fold(items, |row, _| Value::List(vec![row]))
        }
        Element::Complex(complex) => Value::Record(Box::new(record(entropy, complex, view))),
        Element::Union(union) => match union.members.first() {
            Some(&member) => value(entropy, view.follow(member)),
            None => Value::Simple(Simple::String(string(entropy))),
        },
        Element::Any => Value::Tree(Box::new(Node::with_text(QName::new("urn:t", "any"), string(entropy)))),
        Element::Shared(_) => Value::Shared(Shared::new(value(entropy, view.content()))),
        // An abstract type without derived types.
        Element::Open(open) if open.base.is_none() && open.types.is_empty() => Value::Tree(Box::default()),
        // A derived type may contain its base again, so the base ends the recursion.
        Element::Open(open) if open.base.is_some() && entropy.0.is_empty() => {
            value(entropy, view.follow(open.base.expect("a base")))
        }
        Element::Open(open) => match (open.base, entropy.below(open.types.len() + 1)) {
            (Some(base), index) if index == open.types.len() => value(entropy, view.follow(base)),
            (_, index) => {
                let (name, content) = &open.types[index % open.types.len()];
                Value::typed(name.clone(), value(entropy, view.follow(*content)))
            }
        },
    }
}

fn values(entropy: &mut Entropy<'_>, view: View<'_>, nillable: bool) -> Vec<Value> {
    (0..entropy.below(12)).map(|_| nillable_value(entropy, view, nillable)).collect()
}

fn nillable_value(entropy: &mut Entropy<'_>, view: View<'_>, nillable: bool) -> Value {
    if nillable && (entropy.0.is_empty() || entropy.once_in(3)) { nil(entropy, view) } else { value(entropy, view) }
}

/// Converts lists to columns and tables where possible.
#[allow(dead_code, reason = "not for all tests that share this")]
pub fn gather(value: &mut Value, view: View<'_>) {
    match (value, view.element) {
        (Value::Record(record), Element::Complex(complex)) if complex.text.is_none() => {
            for (value, field) in record.fields.iter_mut().zip(complex.fields.iter()) {
                let content = view.follow(field.element);
                match value {
                    Value::List(items) if field.is_repeated() => items.iter_mut().for_each(|it| gather(it, content)),
                    _ => gather(value, content),
                }
                value.gather(field, content);
            }
        }
        (Value::List(items), Element::Array(array)) => {
            items.iter_mut().for_each(|item| gather(item, view.follow(array.item)));
        }
        _ => {}
    }
}

/// Nil, with attributes where they are allowed.
pub fn nil(entropy: &mut Entropy<'_>, view: View<'_>) -> Value {
    if *view.element == Element::Any && entropy.once_in(2) {
        let name = QName::new("http://www.w3.org/2001/XMLSchema-instance", "type");
        return Value::NilWith(Box::new([(name, format!("{{urn:t{}}}T", entropy.below(2)))].into()));
    }
    let Element::Complex(complex) = view.element else { return Value::Nil };
    let mut attributes = if complex.any_attribute { others(entropy) } else { BTreeMap::new() };
    for attribute in complex.attributes.iter() {
        if entropy.once_in(3) {
            attributes.insert(attribute.name.clone(), string(entropy));
        }
    }
    if attributes.is_empty() { Value::Nil } else { Value::NilWith(Box::new(attributes)) }
}

fn record(entropy: &mut Entropy<'_>, complex: &ComplexElement, view: View<'_>) -> Record {
    let Value::Record(mut record) = Value::vacant(view) else { unreachable!("a complex element") };
    let chosen = (complex.compositor == Compositor::Choice).then(|| entropy.below(complex.fields.len()));
    let taken = complex.taken(|branches| entropy.below(branches.len()));
    for (index, field) in complex.fields.iter().enumerate() {
        if chosen.is_none_or(|chosen| chosen == index)
            && let Some(min) = taken[index]
        {
            let field = &Field { min, ..field.clone() };
            record.fields[index] = field_value(entropy, field, view.follow(field.element));
            if entropy.once_in(2) {
                record.fields[index].gather(field, view.follow(field.element));
            }
        }
    }
    if let Some(text) = complex.text {
        record.fields[0] = value(entropy, view.follow(text));
    }
    for (index, attribute) in complex.attributes.iter().enumerate() {
        let Element::Simple(simple) = view.follow(attribute.element).element else { continue };
        let is_there = attribute.required || attribute.default.is_some() || entropy.once_in(2);
        record.attributes[index] = is_there.then(|| simple_value(entropy, simple.base));
    }
    if complex.any_attribute {
        record.others = others(entropy);
    }
    *record
}

/// Attributes that no schema here names.
pub fn others(entropy: &mut Entropy<'_>) -> BTreeMap<QName, String> {
    let names = if entropy.once_in(2) { 0..0 } else { 0..3 };
    let other = |index| {
        let namespace = if entropy.once_in(2) { "urn:o" } else { "" };
        let other = (name(namespace, "o", index), string(entropy));
        (!entropy.once_in(3)).then_some(other)
    };
    names.filter_map(other).collect()
}

fn field_value(entropy: &mut Entropy<'_>, field: &Field, view: View<'_>) -> Value {
    if field.is_repeated() {
        let mut items = values(entropy, view, field.nillable);
        items.truncate(field.max.map_or(items.len(), |max| max as usize));
        while items.len() < field.min as usize {
            items.push(nillable_value(entropy, view, field.nillable));
        }
        return Value::List(items);
    }
    // Types may contain themselves.
    let is_left_out = field.min == 0 && (entropy.0.is_empty() || entropy.once_in(2));
    if is_left_out { Value::Absent } else { nillable_value(entropy, view, field.nillable) }
}

/// A value of a built-in type.
pub fn simple_value(entropy: &mut Entropy<'_>, base: Builtin) -> Simple {
    let mut number = || (0..4).fold(0, |number: i32, _| number.wrapping_shl(8) | entropy.below(256) as i32);
    match base {
        Builtin::Int => Simple::Int(number()),
        Builtin::Double => Simple::Double(f64::from(number()) / 1024.0),
        Builtin::Short => Simple::Short(number() as i16),
        Builtin::UnsignedInt => Simple::UnsignedInt(number() as u32),
        Builtin::Boolean => Simple::Boolean(number() & 1 == 1),
        Builtin::UnsignedByte => Simple::UnsignedByte(number() as u8),
        Builtin::Base64Binary => Simple::Base64Binary(Base64(number().to_be_bytes()[..entropy.below(5)].to_vec())),
        Builtin::Decimal => {
            let text = format!("{}.{}", number(), entropy.below(100));
            Simple::Decimal(Box::new(Decimal::parse(&text).expect("a decimal")))
        }
        Builtin::DateTime => {
            let text = format!("20{:02}-11-21T10:20:30.5Z", entropy.below(100));
            Simple::parse(base, &text).expect("a date")
        }
        _ => {
            let text = string(entropy);
            Simple::parse(base, &text).unwrap_or_else(|_| other_value(entropy, base))
        }
    }
}

/// A value of a type that accepts few texts.
fn other_value(entropy: &mut Entropy<'_>, base: Builtin) -> Simple {
    const TEXTS: [&str; 13] = [
        "7",
        "-7",
        "word",
        "2026-11-21",
        "10:20:30",
        "P1D",
        "2026",
        "2026-11",
        "--11",
        "--11-21",
        "---21",
        "00FF",
        "12:00:00Z",
    ];
    let number = (entropy.below(256) * 256 + entropy.below(256)).to_string();
    let texts = [&*number, &number[..1]].into_iter().chain(TEXTS);
    texts.into_iter().find_map(|text| Simple::parse(base, text).ok()).expect("a text of each type")
}

/// Text with all characters that are special in markup.
fn string(entropy: &mut Entropy<'_>) -> String {
    const CHARS: &[char] = &[
        'a',
        'b',
        ' ',
        '<',
        '>',
        '&',
        ']',
        '"',
        '\'',
        '\n',
        '\r',
        '\t',
        '-',
        ':',
        ';',
        '#',
        '0',
        '\u{e9}',
        '\u{4e2d}',
        '\u{1f600}',
        '\u{fffd}',
        '\u{a0}',
    ];
    (0..entropy.below(24)).map(|_| CHARS[entropy.below(CHARS.len())]).collect()
}

/// The value as a document, as the encoder writes it.
pub fn encoded(value: &Value, view: View<'_>) -> String {
    let mut encoder = Encoder::new();
    let namespace = if view.takes_default_namespace() { NAMESPACE } else { "" };
    encoder.start_root(&QName::new(namespace, "r"), view);
    value.encode(&mut encoder, view);
    encoder.end();
    String::from_utf8(encoder.finish().expect("writable").into_vec()).expect("UTF-8")
}

/// The same document in a different notation.
pub fn reworded(document: &str, entropy: &mut Entropy<'_>) -> String {
    let mut root = Node::parse(document.as_bytes()).expect("well-formed");
    expand_types(&mut root, &[]);
    let mut writer = Writer { out: String::new(), scope: Vec::new(), prefixes: 0, entropy };
    if writer.entropy.once_in(3) {
        writer.out.push_str("<?xml version=\"1.0\"?>\n");
    }
    writer.element(&root);
    writer.gap();
    writer.out
}

/// Replaces each `xsi:type` with a name that means the same without prefixes. `around` are the
/// bindings of the surrounding elements.
fn expand_types(node: &mut Node, around: &[Bindings]) {
    let scope: Vec<Bindings> = around.iter().cloned().chain([node.bindings.clone()]).collect();
    let namespace = |prefix: &str| scope.iter().rev().find_map(|it| it.iter().find(|(known, _)| known == prefix));
    for (_, text) in node.attributes.iter_mut().filter(|(name, _)| name.is(ns::XSI, "type")) {
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        *text = format!("{{{}}}{local}", namespace(prefix).map_or("", |(_, uri)| uri)).into();
    }
    for child in &mut node.children {
        if let Child::Element(child) = child {
            expand_types(child, &scope);
        }
    }
}

/// Writes a document in as many notations as the entropy provides.
struct Writer<'w, 'a> {
    out: String,
    /// Prefixes and their namespaces.
    scope: Vec<(String, String)>,
    prefixes: usize,
    entropy: &'w mut Entropy<'a>,
}

impl Writer<'_, '_> {
    fn element(&mut self, node: &Node) {
        let outside = self.scope.len();
        let mut declarations = Vec::new();
        if self.entropy.once_in(16) {
            declarations.push(" xmlns:unused='urn:unused'".to_owned());
        }
        let name = self.name(&node.name, &mut declarations);
        let mut tag: Vec<String> = node.attributes.iter().map(|each| self.attribute(each, &mut declarations)).collect();
        tag.extend(declarations);
        if !tag.is_empty() {
            let by = self.entropy.below(tag.len());
            tag.rotate_left(by);
        }
        self.out += &format!("<{name}{}", tag.concat());
        if self.entropy.once_in(12) {
            self.out.push('\n');
        }
        if node.children.is_empty() && self.entropy.once_in(2) {
            self.out.push_str("/>");
        } else {
            self.content(node);
            let space = if self.entropy.once_in(12) { " " } else { "" };
            self.out += &format!("</{name}{space}>");
        }
        self.scope.truncate(outside);
    }

    fn content(&mut self, node: &Node) {
        self.out.push('>');
        for child in &node.children {
            match child {
                Child::Element(child) => {
                    self.gap();
                    self.element(child);
                }
                Child::Text(text) => self.text(text),
            }
        }
        if node.elements().next().is_some() {
            self.gap();
        }
    }

    /// Returns a name with a prefix in scope, or with one declared for it.
    fn name(&mut self, name: &QName, declarations: &mut Vec<String>) -> String {
        if name.namespace.is_empty() {
            return name.local.to_string();
        }
        let known = self.scope.iter().rfind(|(_, namespace)| *namespace == name.namespace);
        let prefix = match known {
            Some((prefix, _)) if !self.entropy.once_in(8) => prefix.clone(),
            _ => self.declare(&name.namespace, declarations),
        };
        format!("{prefix}:{}", name.local)
    }

    fn declare(&mut self, namespace: &str, declarations: &mut Vec<String>) -> String {
        self.prefixes += 1;
        let prefix = format!("p{}", self.prefixes);
        declarations.push(format!(" xmlns:{prefix}=\"{namespace}\""));
        self.scope.push((prefix.clone(), namespace.to_owned()));
        prefix
    }

    fn attribute(&mut self, (name, value): &(QName, CompactString), declarations: &mut Vec<String>) -> String {
        let type_name = value.strip_prefix('{').filter(|_| name.is(ns::XSI, "type")).and_then(|it| it.split_once('}'));
        let type_name = type_name.map(|(namespace, local)| self.name(&QName::owned(namespace, local), declarations));
        let value = type_name.as_deref().unwrap_or(value);
        let name = self.name(name, declarations);
        let quote = if self.entropy.once_in(2) { '\'' } else { '"' };
        let mut text = String::new();
        for c in value.chars() {
            let must = matches!(c, '<' | '&' | '\t' | '\n' | '\r') || c == quote;
            if must || self.entropy.once_in(8) { text += &self.reference(c) } else { text.push(c) }
        }
        format!(" {name}={quote}{text}{quote}")
    }

    fn reference(&mut self, c: char) -> String {
        match (c, self.entropy.below(3)) {
            ('<', 0) => "&lt;".to_owned(),
            ('&', 0) => "&amp;".to_owned(),
            (c, 2) => format!("&#{};", u32::from(c)),
            (c, _) => format!("&#x{:X};", u32::from(c)),
        }
    }

    /// Writes text literally, as references, as CDATA, and with comments in between.
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match self.entropy.below(24) {
                20 => self.out.push_str("<!-- < -->"),
                21 | 22 if c != '\r' => {
                    self.out += &format!("<![CDATA[{c}]]>");
                    continue;
                }
                23 => {
                    let reference = self.reference(c);
                    self.out.push_str(&reference);
                    continue;
                }
                _ => {}
            }
            match c {
                '<' | '&' | '\r' | '>' => {
                    let reference = self.reference(c);
                    self.out.push_str(&reference);
                }
                '\n' if self.entropy.once_in(2) => self.out.push_str("\r\n"),
                c => self.out.push(c),
            }
        }
    }

    /// Writes white space and comments where only elements may stand.
    fn gap(&mut self) {
        const GAPS: [&str; 8] = ["", "", "", "\n  ", " ", "<!-- a comment -->", "\r\n\t", " <!---->\n"];
        let gap = GAPS[self.entropy.below(GAPS.len())];
        self.out.push_str(gap);
    }
}
