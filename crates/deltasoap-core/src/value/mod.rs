//! Dynamic values: values read and written with a schema that is built at run time.
//!
//! A [`Value`] contains no schema. Its shape follows the [`View`] that it is read or written with:
//! a [`Record`] has its fields in the order of the
//! [`ComplexElement`](crate::schema::ComplexElement). The same routines serve dynamic and typed
//! values; only the types that they are instantiated with differ.
//!
//! So a Rust type and a dynamic value with the same description cannot differ in what they accept.

mod column;
mod list;
mod mend;
mod nil;
mod packed;
mod record;
mod rows;
mod sample;
mod simple;
mod table;

pub use column::Column;
pub use list::{Batch, FromList, ListPath, ListPathError, ListPlace};
pub use record::Record;
pub use table::{Table, UnevenColumns};

use crate::content::Content;
use crate::content::Shortcuts;
use crate::decode::differential::Mend;
use crate::decode::{self, Cursor, FlatSource, Step, array, nil_attribute};
use crate::encode::complex::Text;
use crate::encode::{self, Encoder, FlatSink, overlay};
use crate::schema::{Builtin, Element, OpenElement, Packing, SimpleElement, UnionElement, Use, View};
use crate::{Binary, ErrorKind, Node, PartUri, QName, Shared, Simple, Typed, ns};
use deltasoap_xml::lexical::{self, Base64, Lexical};
use record::Target;
use std::collections::BTreeMap;
use std::fmt;

/// A value whose type is known at run time.
#[derive(Clone, Default)]
pub enum Value {
    /// An absent optional field.
    #[default]
    Absent,
    /// `xsi:nil="true"`.
    Nil,
    /// `xsi:nil="true"` beside attributes that [are allowed then](Element::takes_beside_nil). Their
    /// values are the text of the message. For content kept as a tree, `xsi:type` is among them, as
    /// `{namespace}local`.
    NilWith(Box<BTreeMap<QName, String>>),
    /// A value of a simple type.
    Simple(Simple),
    /// Fields and attributes.
    Record(Box<Record>),
    /// The occurrences of a repeated field, or the items of a SOAP array; lists of lists for arrays
    /// of several dimensions.
    List(Vec<Value>),
    /// The occurrences of a repeated field of numbers, booleans, moments or strings, contiguous in
    /// a typed buffer.
    Column(Column),
    /// The occurrences of a repeated field of plain structs, with a column for each of their
    /// fields.
    Table(Box<Table>),
    /// Packed numbers: one element whose text is the base64 of their bytes, if the description says
    /// so ([`SimpleElement::packed`]). See [`Packed`](crate::Packed).
    Packed(Column),
    /// Content without a schema.
    Tree(Box<Node>),
    /// Content of a type that the message has named, if the schema allows it to choose
    /// ([`Element::Open`]).
    Typed(Box<TypedValue>),
    /// The `xsd:QName` or `xsd:NOTATION` of an element, as an expanded name. In attributes, unions
    /// and lists, names are [`Simple`], as `{namespace}local`.
    Name(Box<QName>),
    /// An `xsd:base64Binary` whose bytes are in another part of the message's package ([`Binary`]).
    Part(PartUri),
    /// A value that several places of a message may share, if the schema allows it
    /// ([`Element::Shared`]).
    Shared(Shared<Value>),
}

impl From<Simple> for Value {
    #[inline]
    fn from(simple: Simple) -> Self {
        Value::Simple(simple)
    }
}

/// A value, and the name of its type.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TypedValue {
    /// The name in `xsi:type`.
    pub name: QName,
    /// A value of that type.
    pub value: Value,
}

const OTHER_SHAPE: &str = "a value that does not match its schema";
const SEVERAL: &str = "a value with fields of several branches of a choice";

/// Reading the content.
const CONTENT: u8 = 1;
/// Nil: only the end tag may follow.
const NIL: u8 = 2;

impl Content for Value {
    const REPLACES: bool = true;

    fn vacant(view: View<'_>) -> Self {
        match view.element {
            Element::Simple(simple) => {
                let column = packed::packing_of(view.element).and_then(|packing| Column::new(packing.items));
                column.map_or_else(|| Value::Simple(Simple::vacant(simple.base)), Value::Packed)
            }
            Element::Complex(complex) => Value::Record(Box::new(Record::vacant(complex, view))),
            Element::Array(_) => Value::List(Vec::new()),
            Element::Union(_) => Value::Simple(Simple::String(String::new())),
            Element::Any => Value::Tree(Box::default()),
            Element::Open(open) => match open.base {
                Some(base) => Value::vacant(view.follow(base)),
                None => Value::Tree(Box::default()),
            },
            Element::Shared(_) => Value::Shared(Shared::empty()),
        }
    }

    fn omitted(view: View<'_>, is_nillable: bool) -> Self {
        match view.element {
            _ if is_nillable => Value::Nil,
            Element::Shared(_) => Value::Shared(Shared::new(Value::vacant(view.content()))),
            _ => Value::vacant(view),
        }
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let (me, fresh) = cursor.enter();
        // An inline choice has no element of its own, so the current attributes belong to its
        // field. An inline tree keeps its attributes.
        let is_inline = fresh && cursor.is_inline();
        if is_inline && *view.element == Element::Any {
            cursor.take_inline();
        }
        if fresh && (cursor.is_seeking() || cursor.is_next_in_row()) {
            if *self == Value::Absent {
                *self = Value::vacant(view);
            }
            cursor.frame(me).state = CONTENT;
        } else if fresh {
            let is_nil = !is_inline && nil_attribute(cursor)?.0;
            let stays = !is_nil && self.can_stay(view) && cursor.go_over(me);
            if !stays {
                *self = if is_nil { nil::read(cursor, view)? } else { Value::opened(cursor, view)? };
            }
            cursor.frame(me).state = if is_nil { NIL } else { CONTENT };
        }
        if cursor.frame(me).state == NIL {
            decode::expect_end(cursor)?;
        } else {
            self.decode_content(cursor, view)?;
        }
        cursor.leave(me);
        Ok(())
    }

    /// A value that does not match its schema cannot be written: [`Encoder::finish`] reports it.
    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        match (self, view.element) {
            (Value::Absent | Value::List(_), Element::Array(_)) if overlay::is_at(encoder, self) => {
                overlay::encode_array(self.items(), encoder, view);
            }
            (Value::Absent, _) if !overlay::is_at(encoder, self) => {}
            (Value::Nil, _) => encoder.nil(),
            (Value::NilWith(attributes), _) => nil::write(attributes, encoder, view),
            (Value::Name(name), Element::Simple(_)) => name.encode(encoder, view),
            (Value::Part(uri), Element::Simple(_)) => Binary::Part(uri.clone()).encode(encoder, view),
            (Value::Simple(Simple::Base64Binary(bytes)), Element::Simple(_)) if encoder.wants_part(bytes.0.len()) => {
                Binary::from(bytes.0.clone()).encode(encoder, view);
            }
            (Value::Packed(column), Element::Simple(SimpleElement { packed: Some(packing), .. })) => {
                packed::encode(column, *packing, encoder, view);
            }
            (Value::Simple(simple), Element::Simple(_) | Element::Union(_)) => {
                encoder.type_attribute(view.element.type_name());
                simple.text(encoder);
            }
            (Value::Record(record), Element::Complex(complex)) if complex.text.is_some() => {
                let text = record.fields.first().unwrap_or(&Value::Absent);
                let packing = packed::packing_of(view.text().element);
                encode::complex::encode_text(&**record, &SimpleContent { text, packing }, encoder, view);
            }
            (Value::Record(record), Element::Complex(complex)) if record.has_several(complex) => encoder.fail(SEVERAL),
            (Value::Record(record), Element::Complex(_)) => encode::complex::encode(&**record, encoder, view),
            (Value::List(items), Element::Array(array)) if array.dimensions > 1 => rows::encode(items, encoder, view),
            (Value::List(items), Element::Array(_)) => encode::array::encode(items, encoder, view),
            (Value::Shared(shared), Element::Shared(_)) => shared.encode(encoder, view),
            (value, Element::Shared(_)) => value.encode(encoder, view.content()),
            (Value::Typed(typed), Element::Open(open)) => typed.encode(encoder, open, view),
            (Value::Tree(node), _) => node.encode(encoder, view),
            (value, Element::Open(OpenElement { base: Some(base), .. })) => value.encode(encoder, view.follow(*base)),
            _ => encoder.fail(OTHER_SHAPE),
        }
    }

    fn encode_inline(&self, encoder: &mut Encoder, view: View<'_>) {
        match (self, view.element) {
            (Value::Record(record), Element::Complex(complex)) if record.has_several(complex) => encoder.fail(SEVERAL),
            (Value::Record(record), Element::Complex(_)) => encode::complex::encode_inline(&**record, encoder, view),
            (Value::List(items), _) => items.iter().for_each(|item| item.encode_inline(encoder, view)),
            (Value::Column(column), _) if column.is_empty() => {}
            (Value::Table(table), _) => Value::List(table.to_values()).encode_inline(encoder, view),
            (Value::Tree(node), Element::Any) => node.write(encoder),
            (Value::Absent, _) => {}
            _ => encoder.fail(OTHER_SHAPE),
        }
    }
}

impl Shortcuts for Value {
    const DYNAMIC: bool = true;

    fn mend(&mut self, view: View<'_>, mend: &Mend<'_>) -> Option<()> {
        mend::mend(self, view, mend)
    }

    fn flat_leaves(view: View<'_>) -> Option<usize> {
        record::flat_leaves(view)
    }

    fn scan_flat<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        match self {
            Value::Simple(simple) => simple.scan_flat(scan),
            Value::Record(record) => record.scan_flat(scan, view),
            _ => None,
        }
    }

    fn blank(_: View<'_>) -> Self {
        Value::Absent
    }

    #[inline]
    fn fill_flat<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        match view.element {
            Element::Simple(simple) => Simple::fill_flat(self, scan, simple.base),
            Element::Complex(complex) => {
                *self = Value::Record(Box::new(Record::read_flat(complex, scan, view)?));
                Some(())
            }
            _ => None,
        }
    }

    fn write_flat<S: FlatSink>(&self, sink: &mut S, view: View<'_>) {
        match self {
            Value::Simple(simple) => simple.write_flat(sink),
            Value::Record(record) => record.write_flat(sink, view),
            _ => {}
        }
    }

    fn is_flat(&self, view: View<'_>) -> bool {
        match (self, view.element) {
            (Value::Simple(simple), Element::Simple(element)) => simple.is_of(element.base),
            (Value::Record(record), Element::Complex(_)) => record.is_flat(view),
            _ => false,
        }
    }
}

/// Text beside attributes; bytes may be in another part.
struct SimpleContent<'v> {
    text: &'v Value,
    packing: Option<Packing>,
}

impl Text for SimpleContent<'_> {
    fn encode_text(&self, encoder: &mut Encoder) {
        match self.text {
            Value::Packed(column) => match self.packing {
                Some(packing) => packed::encode_text(column, packing, encoder),
                None => encoder.fail(OTHER_SHAPE),
            },
            Value::Name(name) => {
                let text = encoder.qname_text(name);
                encoder.text(&text);
            }
            Value::Part(uri) => Binary::Part(uri.clone()).encode_text(encoder),
            Value::Simple(Simple::Base64Binary(bytes)) if encoder.wants_part(bytes.0.len()) => {
                Binary::from(bytes.0.clone()).encode_text(encoder);
            }
            Value::Simple(text) => text.text(encoder),
            _ => {}
        }
    }
}

/// Equal values are shown alike: a column and a table are shown as a list.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = |name, field: &dyn fmt::Debug| f.debug_tuple(name).field(field).finish();
        match self {
            Value::Absent => f.write_str("Absent"),
            Value::Nil => f.write_str("Nil"),
            Value::NilWith(attributes) => shown("NilWith", attributes),
            Value::Simple(simple) => shown("Simple", simple),
            Value::Record(record) => shown("Record", record),
            Value::List(items) => shown("List", items),
            Value::Column(column) => shown("List", &column.to_values()),
            Value::Table(table) => shown("List", &table.to_values()),
            Value::Packed(column) => shown("Packed", column),
            Value::Tree(node) => shown("Tree", node),
            Value::Name(name) => shown("Name", name),
            Value::Part(uri) => shown("Part", uri),
            Value::Shared(shared) => shown("Shared", shared),
            Value::Typed(typed) => shown("Typed", typed),
        }
    }
}

/// A column and a table are equal to a list of the same items.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Absent, Value::Absent) | (Value::Nil, Value::Nil) => true,
            (Value::NilWith(one), Value::NilWith(other)) => one == other,
            (Value::Simple(one), Value::Simple(other)) => one == other,
            (Value::Record(one), Value::Record(other)) => one == other,
            (Value::List(one), Value::List(other)) => one == other,
            (Value::Column(one), Value::Column(other)) if !one.is_empty() => one == other,
            (Value::Table(one), Value::Table(other)) if !one.is_empty() => one.has_rows_of(other),
            (Value::Column(column), Value::List(items)) | (Value::List(items), Value::Column(column)) => {
                let is_same = |(one, other): (Simple, &Value)| matches!(other, Value::Simple(other) if one == *other);
                column.len() == items.len() && column.iter().zip(items).all(is_same)
            }
            (Value::Table(table), Value::List(items)) | (Value::List(items), Value::Table(table)) => {
                table.is_same(items)
            }
            (Value::Column(_) | Value::Table(_), _) => self.occurrences() == Some(0) && other.occurrences() == Some(0),
            (Value::Packed(one), Value::Packed(other)) => one == other,
            (Value::Tree(one), Value::Tree(other)) => one == other,
            (Value::Name(one), Value::Name(other)) => one == other,
            (Value::Part(one), Value::Part(other)) => one == other,
            (Value::Shared(one), Value::Shared(other)) => one == other,
            (Value::Typed(one), Value::Typed(other)) => one == other,
            _ => false,
        }
    }
}

impl Value {
    /// Creates the value that reading starts from if there is no old value.
    fn to_read(view: View<'_>) -> Self {
        match view.element {
            Element::Complex(complex) => Value::Record(Box::new(Record::blank(complex, view))),
            _ => Value::vacant(view),
        }
    }

    /// Like [`to_read`](Self::to_read), at a start tag that may choose the type.
    fn opened(cursor: &Cursor<'_>, view: View<'_>) -> Step<Self> {
        let Element::Open(open) = view.element else { return Ok(Value::to_read(view)) };
        Ok(match (open.chosen(cursor, view)?, open.base) {
            (Some(Some((name, content))), _) => Value::typed(name.clone(), Value::to_read(view.follow(content))),
            (None, Some(base)) => Value::to_read(view.follow(base)),
            _ => Value::Tree(Box::default()),
        })
    }

    /// Returns the items of a list of values; none for other values.
    fn items(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// Creates a value of a named type: see [`Value::Typed`].
    pub fn typed(name: QName, value: Value) -> Self {
        Value::Typed(Box::new(TypedValue { name, value }))
    }

    /// Returns true if the value of the previous message can be replaced piece by piece.
    fn can_stay(&self, view: View<'_>) -> bool {
        match (self, view.element) {
            (Value::Packed(column), element) => {
                packed::packing_of(element).is_some_and(|packing| column.is_of(packing))
            }
            (Value::Simple(simple), Element::Simple(element)) => {
                simple.is_of(element.base) && packed::packing_of(view.element).is_none()
            }
            (Value::Record(_), Element::Complex(_)) | (Value::List(_), Element::Array(_)) => true,
            _ => false,
        }
    }

    /// Reads bytes, which may be in another part.
    fn decode_binary(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let mut binary = match self {
            Value::Part(uri) => Binary::Part(uri.clone()),
            _ => Binary::default(),
        };
        let step = binary.decode(cursor, view);
        match binary {
            Binary::Part(uri) => *self = Value::Part(uri),
            Binary::Bytes(bytes) if step.is_ok() => *self = Value::Simple(Simple::Base64Binary(Base64(bytes.into()))),
            Binary::Bytes(_) => {}
        }
        step
    }

    /// Reads a name, whose prefix has no meaning elsewhere.
    fn decode_name(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let mut name = match self {
            Value::Name(name) => std::mem::take(name),
            _ => Box::default(),
        };
        let step = name.decode(cursor, view);
        *self = Value::Name(name);
        step
    }

    fn decode_content(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        if let Element::Open(open) = view.element {
            return match self {
                Value::Typed(typed) => match open.named(&typed.name) {
                    Some(content) => typed.value.decode_content(cursor, view.follow(content)),
                    None => unreachable!("a value of a type that its schema does not have"),
                },
                Value::Tree(node) => node.decode(cursor, Node::view()),
                value => match open.base {
                    Some(base) => value.decode_content(cursor, view.follow(base)),
                    None => unreachable!("a vacant value has the shape of its view"),
                },
            };
        }
        if view.element.is_name() {
            return self.decode_name(cursor, view);
        }
        if let Some(packing) = packed::packing_of(view.element) {
            return packed::decode(self, packing, cursor, view);
        }
        if let Element::Simple(SimpleElement { base: Builtin::Base64Binary, enumeration, .. }) = view.element
            && enumeration.is_empty()
        {
            return self.decode_binary(cursor, view);
        }
        match (self, view.element) {
            (Value::Simple(simple), Element::Union(union)) => decode_union(simple, cursor, union, view),
            (Value::Simple(simple), Element::Simple(element)) => {
                simple.decode(cursor, view)?;
                if simple.is_one_of(element) {
                    return Ok(());
                }
                let (found, expected) = (simple.to_string(), element.expected());
                Err(cursor.error_at_end(ErrorKind::UnexpectedValue { found, expected }))
            }
            (Value::Record(record), Element::Complex(complex)) => {
                let mut target = Target { record, complex, view };
                let routine = if complex.text.is_some() { decode::text::decode } else { decode::complex::decode };
                routine(&mut target, cursor, view)
            }
            (Value::List(items), _) => {
                let sizes = array::decode_rows(items, cursor, view)?;
                rows::nest(items, &sizes);
                Ok(())
            }
            (Value::Shared(shared), _) => shared.decode(cursor, view),
            (Value::Tree(node), _) => node.decode(cursor, Node::view()),
            _ => unreachable!("a vacant value has the shape of its view"),
        }
    }

    /// Returns true for nil, with or without attributes.
    pub fn is_nil(&self) -> bool {
        matches!(self, Value::Nil | Value::NilWith(_))
    }

    /// Returns a field of a record by local name.
    pub fn field(&self, view: View<'_>, local: &str) -> Option<&Value> {
        let index = view.complex()?.fields.iter().position(|field| field.name.local == local)?;
        match self {
            Value::Record(record) => record.fields.get(index),
            _ => None,
        }
    }
}

impl TypedValue {
    /// Writes the content with its type. In SOAP encoding the content itself writes the type.
    fn encode(&self, encoder: &mut Encoder, open: &OpenElement, view: View<'_>) {
        let Some(content) = open.named(&self.name) else { return encoder.fail(OTHER_SHAPE) };
        let content = view.follow(content);
        let tells = encoder.encoding() == Use::Encoded && content.element.type_name().is_some();
        // A tree keeps the message's attribute.
        let has_type = matches!(&self.value, Value::Tree(tree) if tree.attribute(ns::XSI, "type").is_some());
        if tells {
            // The body's own element needs it too: its name does not identify the type.
            encoder.set_type_written(true);
        } else if !has_type {
            encoder.qname_attribute(&QName::new(ns::XSI, "type"), &self.name, "");
        }
        self.value.encode(encoder, content);
    }
}

/// Reads a union: the first member type that accepts the text determines the value (XSD 1.0 part 2,
/// 2.5.1.3).
fn decode_union(value: &mut Simple, cursor: &mut Cursor<'_>, union: &UnionElement, view: View<'_>) -> Step {
    let (me, fresh) = cursor.enter();
    if fresh {
        cursor.keep_elsewhere();
        cursor.keep_declarations();
    }
    let mut text = match std::mem::replace(value, Simple::Boolean(false)) {
        Simple::String(text) => text,
        _ => String::new(),
    };
    let result = decode::simple::decode(&mut text, cursor, view);
    if result.is_err() {
        *value = Simple::String(text);
        return result;
    }
    let names = |text: &str| lexical::QName::parse(text).ok().and_then(|_| cursor.resolve_kept(text));
    match Simple::parse_union_in(union, view, &text, &names) {
        Some(member) => *value = member,
        None => {
            let expected = format!("a value of {}", union.name);
            return Err(cursor.error_at_end(ErrorKind::UnexpectedValue { found: text, expected }));
        }
    }
    cursor.leave(me);
    Ok(())
}
