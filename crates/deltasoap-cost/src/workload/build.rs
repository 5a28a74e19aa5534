//! Builds the schema and value of a workload.

use super::class::letters;
use super::{Class, Items, Style, Workload, typical};
use crate::CostError;
use deltasoap_core::schema::{
    ArrayElement, Attribute, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, QName, Schema,
    SimpleElement, Use, View,
};
use deltasoap_core::soap::{Envelope, Version};
use deltasoap_core::{Buffer, Error, Node, Record, Simple, Value};
use deltasoap_streams::prng::{SEED, SplitMix64};

/// Number of values of the enumeration in lists.
const ALLOWED: u32 = 12;
/// Number of characters of text in records.
const TEXT: u32 = 20;
/// The namespace of measured messages.
pub(crate) const NAMESPACE: &str = "urn:bench";

/// A message's body: a value with everything needed to write it.
#[derive(Debug, Clone, Copy)]
pub struct Body<'a> {
    /// The name of the body's element.
    pub name: &'a QName,
    /// The schema of its content.
    pub view: View<'a>,
    /// The content.
    pub value: &'a Value,
    /// Literal use, or SOAP encoding with types in the message.
    pub encoding: Use,
    /// The SOAP version.
    pub version: Version,
}

impl<'a> Body<'a> {
    /// Returns the message.
    pub fn envelope(&self) -> Envelope<'a> {
        Envelope::element(self.name, self.value, self.view).version(self.version).encoding(self.encoding)
    }

    /// Writes the message.
    ///
    /// # Errors
    /// When the value does not match its schema.
    pub fn encode(&self, buffer: Buffer) -> Result<Buffer, Error> {
        self.envelope().write(buffer)
    }
}

/// A measured message.
#[derive(Debug)]
pub struct Message {
    schema: Schema,
    content: ElementRef,
    name: QName,
    encoding: Use,
    /// The value, followed by those that alternate with it: the next value for similar messages, or
    /// variants.
    pub values: Vec<Value>,
}

/// Maximum number of alternating values of a message.
pub(crate) const VARIANTS: usize = 16;
/// Approximate size of all variants together in bytes: they fit the processor's cache, so that only
/// their values differ, and not the time to load them.
const VARIED: usize = 64 << 10;

/// Returns the number of variants measured for a message of a size. A processor learns a repeated
/// short message by heart, which never happens in a service; it cannot learn a long one.
pub(crate) fn variants_of(bytes: usize) -> usize {
    (VARIED / bytes.max(1)).clamp(1, VARIANTS)
}

impl Message {
    /// Returns the body with one of the values.
    pub fn body(&self, value: usize) -> Body<'_> {
        Body {
            name: &self.name,
            view: self.schema.view(self.content),
            value: &self.values[value % self.values.len()],
            encoding: self.encoding,
            version: Version::Soap11,
        }
    }

    /// Builds the message.
    ///
    /// # Errors
    /// None are known for the existing workloads.
    pub fn new(workload: &Workload) -> Result<Self, CostError> {
        Message::build(workload, false, SEED)
    }

    /// Builds the message for measuring in full: with variants of the same type and size, except
    /// for similar messages. With `is_uncompared`, the schema prevents comparison: it has an absent
    /// field whose values may come in any order.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn varied(workload: &Workload, is_uncompared: bool) -> Result<Self, CostError> {
        let mut message = Message::build(workload, is_uncompared, SEED)?;
        if workload.is_compared() {
            return Ok(message);
        }
        let bytes = message.body(0).encode(Buffer::new()).map_or(usize::MAX, |written| written.len());
        for seed in 1..variants_of(bytes) as u64 {
            message.values.extend(Message::build(workload, is_uncompared, SEED ^ seed)?.values);
        }
        Ok(message)
    }

    fn build(workload: &Workload, has_rows: bool, seed: u64) -> Result<Self, CostError> {
        let mut builder = Builder::new(seed);
        let (name, mut fields, mut values) = builder
            .build(workload)
            .ok_or_else(|| CostError::Engine { what: workload.to_string(), reason: "it has no value".to_owned() })?;
        if has_rows {
            fields.push(builder.rows());
            let records =
                values.iter_mut().filter_map(|value| if let Value::Record(it) = value { Some(it) } else { None });
            records.for_each(|record| record.fields.push(Value::Absent));
        }
        let Builder { mut schema, attributes, encoding, .. } = builder;
        let content = schema.add(complex(fields, attributes));
        Ok(Message { schema, content, name: QName::owned(NAMESPACE, name), encoding, values })
    }
}

/// The state while a message is built.
struct Builder {
    schema: Schema,
    attributes: Vec<Attribute>,
    encoding: Use,
    random: SplitMix64,
}

type Built = (String, Vec<Field>, Vec<Value>);

impl Builder {
    fn new(seed: u64) -> Self {
        Builder { schema: Schema::new(), attributes: Vec::new(), encoding: Use::Literal, random: SplitMix64::new(seed) }
    }

    fn build(&mut self, workload: &Workload) -> Option<Built> {
        match *workload {
            Workload::Array { class, length, text } => self.array(class, length, text),
            Workload::Text { length } => self.array(Class::Text, 1, length),
            Workload::Binary { length } => self.fields(Class::Binary, 1, length, Style::Plain),
            Workload::Fields { class, count, text, style } => match workload.fields() {
                Some(counts) => self.composite(counts, text),
                None => self.fields(class, count, text, style),
            },
            Workload::Composite { ints, doubles, texts, length } => self.composite([ints, doubles, texts], length),
            Workload::Nested { breadth, depth } => self.nested(breadth, depth),
            Workload::Attributes { class, count } => self.attributes(class, count),
            Workload::Structs { length, name, optional } => self.structs(length, name, optional),
            Workload::Lists { items, count, length } => self.lists(items, count, length),
            Workload::Records { length } => self.records(length),
            Workload::Sparse { count, distinct } => self.sparse(count, distinct),
            Workload::Tree { nodes } => self.tree(nodes),
            Workload::Changed { class, length, changed, moves } => self.changed(class, length, changed, moves),
            Workload::ChangedFields { class, count, changed } => self.changed_fields(class, count, changed),
            Workload::ChangedStructs { length, changed, optional } => self.changed_structs(length, changed, optional),
            Workload::Again { ref message } => self.build(message),
        }
    }

    fn array(&mut self, class: Class, length: u32, text: u32) -> Option<Built> {
        let (content, element) = self.simple(class, &[]);
        let items: Option<_> = (0..length).map(|_| self.value(&element, text)).collect();
        let field = repeated("item", content);
        Some((operation(class), vec![field], vec![record(vec![Value::List(items?)])]))
    }

    fn fields(&mut self, class: Class, count: u32, text: u32, style: Style) -> Option<Built> {
        let allowed = match style {
            Style::Enumerated(values) => enumeration(values),
            _ => Vec::new(),
        };
        if style == Style::Encoded {
            self.encoding = Use::Encoded;
        }
        let (content, element) = self.simple(class, &allowed);
        let fields = (0..count).map(|at| styled(field(name_of(at, style), content), style)).collect();
        let values: Option<_> = (0..count).map(|_| self.value(&element, text)).collect();
        Some(("sendFields".to_owned(), fields, vec![record(values?)]))
    }

    /// Returns a type of ints, doubles and strings, named after their numbers.
    fn composite(&mut self, counts: [u32; 3], length: u32) -> Option<Built> {
        let (mut fields, mut values) = (Vec::new(), Vec::new());
        let kinds = [(Class::Int, 'i'), (Class::Double, 'd'), (Class::Text, 's')];
        for (count, (class, letter)) in counts.into_iter().zip(kinds) {
            let (content, element) = self.simple(class, &[]);
            fields.extend((0..count).map(|at| field(format!("{letter}{at}"), content)));
            values.extend((0..count).map(|_| self.value(&element, length)).collect::<Option<Vec<_>>>()?);
        }
        let [ints, doubles, texts] = counts;
        Some((format!("sendI{ints}D{doubles}S{texts}"), fields, vec![record(values)]))
    }

    fn nested(&mut self, breadth: u32, depth: u32) -> Option<Built> {
        let (int, element) = self.simple(Class::Int, &[]);
        let mut content = self.schema.add(complex(vec![field("n".to_owned(), int)], Vec::new()));
        for _ in 1..depth {
            let fields = vec![field("n".to_owned(), int), field("in".to_owned(), content)];
            content = self.schema.add(complex(fields, Vec::new()));
        }
        let fields = (0..breadth).map(|at| field(format!("t{at}"), content)).collect();
        let values: Option<_> = (0..breadth).map(|_| self.nest(&element, depth)).collect();
        Some(("sendNested".to_owned(), fields, vec![record(values?)]))
    }

    fn nest(&mut self, element: &SimpleElement, depth: u32) -> Option<Value> {
        let mut value = record(vec![self.value(element, 0)?]);
        for _ in 1..depth {
            value = record(vec![self.value(element, 0)?, value]);
        }
        Some(value)
    }

    fn attributes(&mut self, class: Class, count: u32) -> Option<Built> {
        const TEXT: u32 = 10;
        let (content, element) = self.simple(class, &[]);
        let attribute = |at| Attribute {
            name: QName::owned("", format!("a{at}")),
            element: content,
            required: true,
            default: None,
        };
        self.attributes = (0..count).map(attribute).collect();
        let values: Option<Vec<_>> = (0..count).map(|_| typical(&element, TEXT as usize, &mut self.random)).collect();
        let record = Record {
            fields: Vec::new(),
            attributes: values?.into_iter().map(Some).collect(),
            others: Default::default(),
        };
        Some(("sendAttributes".to_owned(), Vec::new(), vec![Value::Record(Box::new(record))]))
    }

    fn structs(&mut self, length: u32, name: u32, optional: bool) -> Option<Built> {
        let ((int, int_element), (double, double_element)) =
            (self.simple(Class::Int, &[]), self.simple(Class::Double, &[]));
        let named = |letter: char, content| field(padded(letter, name), content);
        let last = Field { min: u32::from(!optional), ..named('v', double) };
        let item = self.schema.add(complex(vec![named('x', int), named('y', int), last], Vec::new()));
        let mut items = Vec::new();
        for _ in 0..length {
            let (x, y) = (self.value(&int_element, 0)?, self.value(&int_element, 0)?);
            items.push(record(vec![x, y, self.value(&double_element, 0)?]));
        }
        let field = repeated("item", item);
        Some(("sendMios".to_owned(), vec![field], vec![record(vec![Value::List(items)])]))
    }

    fn lists(&mut self, items: Items, count: u32, length: u32) -> Option<Built> {
        let ((int, int_element), (text, text_element)) = (self.simple(Class::Int, &[]), self.simple(Class::Text, &[]));
        let (allowed, allowed_element) = self.simple(Class::Text, &enumeration(ALLOWED));
        let list = match items {
            Items::Ints => repeated("item", int),
            Items::Enumerated => repeated("item", allowed),
            Items::Texts => repeated("item", text),
            Items::ForeignInts => styled(repeated("item", int), Style::Foreign),
            Items::Structs => {
                let fields = vec![field("text".to_owned(), text), field("n".to_owned(), int)];
                repeated("item", self.schema.add(complex(fields, Vec::new())))
            }
        };
        let row = self.schema.add(complex(vec![field("name".to_owned(), text), list], Vec::new()));
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut item = || {
                Some(match items {
                    Items::Ints | Items::ForeignInts => self.value(&int_element, 0)?,
                    Items::Texts => self.value(&text_element, TEXT)?,
                    Items::Enumerated => self.value(&allowed_element, 0)?,
                    Items::Structs => record(vec![self.value(&text_element, TEXT)?, self.value(&int_element, 0)?]),
                })
            };
            let all: Option<_> = (0..length).map(|_| item()).collect();
            rows.push(record(vec![self.value(&text_element, TEXT)?, Value::List(all?)]));
        }
        Some(("sendLists".to_owned(), vec![repeated("row", row)], vec![record(vec![Value::List(rows)])]))
    }

    fn records(&mut self, length: u32) -> Option<Built> {
        let classes = [Class::Int, Class::Text, Class::Boolean, Class::Token, Class::Double, Class::Date, Class::Text];
        let simple = classes.map(|class| self.simple(class, &[]));
        let fields =
            |range: std::ops::Range<usize>| range.map(|at| field(name_of(at as u32, Style::Plain), simple[at].0));
        let within = self.schema.add(complex(fields(4..7).collect(), Vec::new()));
        let optional = Field { min: 0, ..field("absent".to_owned(), simple[1].0) };
        let all = fields(0..4).chain([optional, field("within".to_owned(), within)]).collect();
        let row = self.schema.add(complex(all, Vec::new()));
        let mut rows = Vec::new();
        for _ in 0..length {
            let values: Option<Vec<_>> = simple.iter().map(|(_, element)| self.value(element, TEXT)).collect();
            let mut values = values?;
            let within = record(values.split_off(4));
            values.extend([Value::Absent, within]);
            rows.push(record(values));
        }
        Some(("sendRecords".to_owned(), vec![repeated("row", row)], vec![record(vec![Value::List(rows)])]))
    }

    fn sparse(&mut self, count: u32, distinct: bool) -> Option<Built> {
        let (int, element) = self.simple(Class::Int, &[]);
        let mut fields = vec![field("n".to_owned(), int)];
        for at in 0..count {
            let content = if distinct { self.simple(Class::Int, &[]).0 } else { int };
            fields.push(Field { min: 0, ..field(format!("f{at}"), content) });
        }
        let mut values = vec![self.value(&element, 0)?];
        values.resize(1 + count as usize, Value::Absent);
        Some(("sendFields".to_owned(), fields, vec![record(values)]))
    }

    fn tree(&mut self, nodes: u32) -> Option<Built> {
        let any = self.schema.add(Element::Any);
        let mut root = Node::new(QName::new("", "any"));
        for at in 0..nodes {
            let text = letters(10, &mut self.random);
            root.children
                .push(deltasoap_core::Child::Element(Node::with_text(QName::owned("", format!("n{at}")), text)));
        }
        Some((
            "sendTree".to_owned(),
            vec![field("any".to_owned(), any)],
            vec![record(vec![Value::Tree(Box::new(root))])],
        ))
    }

    fn changed(&mut self, class: Class, length: u32, changed: u32, moves: bool) -> Option<Built> {
        let (content, _) = self.simple(class, &[]);
        let items = |variant: u32| -> Option<Vec<Value>> {
            let variant = |at| if is_changing(at, changed, length, !moves) { variant } else { 0 };
            (0..length).map(|at| sized(class, at, variant(at), moves)).collect()
        };
        let values = vec![record(vec![Value::List(items(0)?)]), record(vec![Value::List(items(1)?)])];
        let field = repeated("item", content);
        Some((operation(class), vec![field], values))
    }

    fn changed_fields(&mut self, class: Class, count: u32, changed: u32) -> Option<Built> {
        let (content, _) = self.simple(class, &[]);
        let fields = (0..count).map(|at| field(name_of(at, Style::Plain), content)).collect();
        let one = |variant: u32| -> Option<Vec<Value>> {
            let variant = |at| if is_changing(at, changed, count, false) { variant } else { 0 };
            (0..count).map(|at| sized(class, at, variant(at), false)).collect()
        };
        Some(("sendFields".to_owned(), fields, vec![record(one(0)?), record(one(1)?)]))
    }

    fn changed_structs(&mut self, length: u32, changed: u32, optional: bool) -> Option<Built> {
        const NAME: u32 = 5;
        let (operation, fields, values) = self.structs(length, NAME, optional)?;
        let mut both = [values.first()?.clone(), values.first()?.clone()];
        for (variant, value) in (0..).zip(&mut both) {
            let Value::Record(body) = value else { return None };
            let Some(Value::List(items)) = body.fields.first_mut() else { return None };
            for (at, item) in (0..length).zip(items) {
                let Value::Record(item) = item else { return None };
                let variant = if is_changing(at, changed, length, has_first(changed)) { variant } else { 0 };
                *item.fields.first_mut()? = sized(Class::Int, at, variant, false)?;
            }
        }
        Some((operation, fields, both.into()))
    }

    /// Returns an optional field with a two-dimensional array.
    fn rows(&mut self) -> Field {
        let (item, element) = self.simple(Class::Int, &[]);
        let rows = self.schema.add(Element::Array(ArrayElement {
            name: QName::new(NAMESPACE, "Rows"),
            item_name: QName::new("", "item"),
            item,
            item_type: element.name,
            nillable: false,
            dimensions: 2,
        }));
        Field { min: 0, ..field("rows".to_owned(), rows) }
    }

    fn simple(&mut self, class: Class, allowed: &[String]) -> (ElementRef, SimpleElement) {
        let base = class.representative();
        let enumeration: Vec<_> = allowed.iter().cloned().map(Into::into).collect();
        let element =
            SimpleElement { name: base.name(), base, enumeration: enumeration.into(), default: None, packed: None };
        (self.schema.add(Element::Simple(element.clone())), element)
    }

    fn value(&mut self, element: &SimpleElement, text: u32) -> Option<Value> {
        typical(element, text as usize, &mut self.random).map(Value::Simple)
    }
}

/// Returns true for `changed` of `all` places, spread evenly, including the first or the last one.
fn is_changing(at: u32, changed: u32, all: u32, is_first: bool) -> bool {
    let before = |at: u64| at * u64::from(changed) / u64::from(all.max(1));
    let at = if is_first { all.saturating_sub(at + 1) } else { at };
    before(u64::from(at)) != before(u64::from(at) + 1)
}

/// Returns true if the first struct changes: it does for odd counts, so that there are series with
/// and without.
pub(crate) fn has_first(changed: u32) -> bool {
    !changed.is_multiple_of(2)
}

/// Returns a value that depends on its place. Both variants have the same width unless `moves` is
/// true.
fn sized(class: Class, at: u32, variant: u32, moves: bool) -> Option<Value> {
    let wide = if moves && variant == 1 { 4 } else { 8 };
    let digits = 10_u64.pow(wide) + u64::from(at % 1000) * 9 + u64::from(variant) * 3;
    let (builtin, text) = match class {
        Class::Int => (Builtin::Int, digits.to_string()),
        Class::Double => (Builtin::Double, format!("0.{digits}7")),
        _ => (Builtin::String, format!("{digits}").repeat(100 / 9)),
    };
    Simple::parse(builtin, &text).ok().map(Value::Simple)
}

/// Returns the values of an enumeration.
fn enumeration(values: u32) -> Vec<String> {
    (0..values).map(|at| format!("value{at:03}")).collect()
}

fn operation(class: Class) -> String {
    let name = match class {
        Class::Int => "sendInts",
        Class::Double => "sendDoubles",
        Class::Text => "sendStrings",
        _ => "sendItems",
    };
    name.to_owned()
}

fn name_of(at: u32, style: Style) -> String {
    match style {
        Style::Named(length) => padded(char::from(b'a' + (at % 26) as u8), length) + &at.to_string(),
        _ => format!("f{at}"),
    }
}

/// Returns a name with this many characters.
fn padded(letter: char, length: u32) -> String {
    std::iter::once(letter).chain((1..length).map(|_| 'm')).collect()
}

fn styled(field: Field, style: Style) -> Field {
    let namespace = match style {
        Style::Qualified => NAMESPACE,
        Style::Foreign => "urn:bench:other",
        _ => "",
    };
    Field { name: QName { namespace: namespace.into(), ..field.name }, ..field }
}

/// Returns a field with any number of occurrences.
fn repeated(name: &str, element: ElementRef) -> Field {
    Field { min: 0, max: None, ..field(name.to_owned(), element) }
}

fn field(name: String, element: ElementRef) -> Field {
    Field { name: QName::owned("", name), element, min: 1, max: Some(1), nillable: false, inline: false }
}

fn complex(fields: Vec<Field>, attributes: Vec<Attribute>) -> Element {
    Element::Complex(ComplexElement {
        name: QName::new(NAMESPACE, "Content"),
        compositor: Compositor::Sequence,
        fields: fields.into(),
        attributes: attributes.into(),
        text: None,
        open: false,
        any_attribute: false,
        choices: Default::default(),
    })
}

fn record(fields: Vec<Value>) -> Value {
    Value::Record(Box::new(Record { fields, attributes: Vec::new(), others: Default::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(workload: &Workload) -> Vec<String> {
        let message = Message::new(workload).expect("a message");
        let write = |at| message.body(at).encode(Buffer::new()).expect("written").as_slice().to_vec();
        (0..message.values.len()).map(|at| String::from_utf8(write(at)).expect("text")).collect()
    }

    #[test]
    fn messages_hold_what_they_should() {
        let count = |workload: Workload, tag: &str| text(&workload)[0].matches(tag).count();
        assert_eq!(count(Workload::Array { class: Class::Int, length: 7, text: 0 }, "<item>"), 7);
        let composite = Workload::Composite { ints: 2, doubles: 3, texts: 4, length: 50 };
        assert_eq!(
            ["<i", "<d", "<s"].map(|tag| count(composite.clone(), tag)),
            [2, 3, 4 + 2],
            "Envelope and Body have the prefix soap"
        );
        assert_eq!(count(Workload::Nested { breadth: 2, depth: 3 }, "<n>"), 6);
        assert_eq!(count(Workload::Attributes { class: Class::Int, count: 5 }, "=\""), 5 + 4, "with the declarations");
        let encoded = Workload::Fields { class: Class::Int, count: 4, text: 0, style: Style::Encoded };
        assert_eq!(count(encoded, "xsi:type=\"xsd:int\""), 4);
        assert_eq!(count(Workload::Tree { nodes: 9 }, "<n"), 9 + 1, "with the body's own");
        assert_eq!(count(Workload::Text { length: 77 }, "<item>"), 1);
    }

    #[test]
    fn short_messages_have_variants_and_no_others() {
        let count = |workload: &Workload| Message::varied(workload, false).expect("a message").values.len();
        let fields = |count| Workload::Fields { class: Class::Int, count, text: 0, style: Style::Plain };
        assert_eq!(count(&fields(12)), VARIANTS);
        assert_eq!(count(&Workload::Text { length: 10_000 }), (64 << 10) / 10_214);
        assert_eq!(count(&Workload::Records { length: 1000 }), 1);
        assert_eq!(count(&Workload::Again { message: Box::new(fields(12)) }), 1, "it is the same again");
        assert_eq!(count(&Workload::ChangedFields { class: Class::Int, count: 4, changed: 1 }), 2);
    }

    #[test]
    fn variants_differ_in_their_values_alone() {
        let workload = Workload::Fields { class: Class::Text, count: 12, text: 30, style: Style::Plain };
        for is_uncompared in [false, true] {
            let message = Message::varied(&workload, is_uncompared).expect("a message");
            let written = |at| message.body(at).encode(Buffer::new()).expect("written").into_vec();
            let all: std::collections::BTreeSet<_> = (0..VARIANTS).map(written).collect();
            assert_eq!(all.len(), VARIANTS, "no two are alike");
            assert!(all.iter().all(|text| text.len() == written(0).len()));
        }
    }

    #[test]
    fn as_many_items_change_as_are_said() {
        for (length, changed) in [(10, 3), (100, 0), (7, 7), (1000, 333)] {
            for moves in [false, true] {
                let both = text(&Workload::Changed { class: Class::Double, length, changed, moves });
                let items = |text: &str| text.split("<item>").map(str::to_owned).collect::<Vec<_>>();
                let differ = items(&both[0]).iter().zip(items(&both[1])).filter(|(a, b)| *a != b).count();
                assert_eq!(differ, changed as usize, "{both:?}");
                assert_eq!(both[0].len() == both[1].len(), !moves || changed == 0);
            }
            let structs = text(&Workload::ChangedStructs { length, changed, optional: false });
            let lines = |text: &str| text.split('<').map(str::to_owned).collect::<Vec<_>>();
            let differ = lines(&structs[0]).iter().zip(lines(&structs[1])).filter(|(a, b)| *a != b).count();
            assert_eq!(differ, changed as usize, "{structs:?}");
        }
    }
}
