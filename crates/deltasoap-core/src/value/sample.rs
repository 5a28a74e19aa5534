//! Sample values: an example message of a schema, as a starting point for users.
//!
//! Every optional element and attribute is present once, lists and arrays have one item, and the
//! first possible alternative of a choice is used. A type within itself is omitted as soon as it
//! may be, and so is every optional part once the sample has grown large: otherwise types that
//! contain each other twice would double the sample at each level.
//!
//! Schemas here have no facets except enumerations, and no derived types.
//! `deltasoap-dynamic/src/sample.rs`, which explains why there are two, creates samples of a WSDL's
//! types, which have both.

use super::packed::packing_of;
use super::{Column, Record, Simple, Value};
use crate::schema::{
    ArrayElement, Builtin, ComplexElement, Compositor, Element, ElementRef, Field, OpenElement, QName, SimpleElement,
    View,
};
use crate::{Node, Shared};

/// Number of elements in a sample after which only required ones follow.
const TARGET_ELEMENTS: usize = 400;
/// Maximum number of elements in a sample: schemas that require more get none.
const MAX_ELEMENTS: usize = 4000;

impl Value {
    /// Creates a sample value of this description. It can be written, and reading it back gives the
    /// same value.
    ///
    /// Returns `None` if no value of moderate size matches the description: one that requires
    /// itself, enumerates texts that are not of its type, or requires some thousands of elements.
    pub fn sample(view: View<'_>) -> Option<Value> {
        Sampler::default().content(view)
    }
}

/// Creates one sample.
#[derive(Default)]
struct Sampler<'s> {
    /// The descriptions that contain the current element.
    around: Vec<&'s Element>,
    /// Number of elements so far.
    elements: usize,
}

impl<'s> Sampler<'s> {
    fn content(&mut self, view: View<'s>) -> Option<Value> {
        self.elements += 1;
        if self.elements > MAX_ELEMENTS || self.is_within(view.element) {
            return None;
        }
        self.around.push(view.element);
        let value = match view.element {
            Element::Simple(simple) => match packing_of(view.element).and_then(|packing| Column::new(packing.items)) {
                Some(column) => Some(Value::Packed(column_of_one(column))),
                None => sample_of(simple).map(Value::Simple),
            },
            Element::Complex(complex) => self.record(complex, view).map(|record| Value::Record(Box::new(record))),
            Element::Array(array) => Some(self.array(array, view)),
            Element::Union(union) if union.default.is_some() => {
                let text = union.default.as_deref().unwrap_or_default();
                Simple::parse_union(union, view, text).map(Value::Simple)
            }
            Element::Union(union) => union.members.iter().find_map(|&member| self.content(view.follow(member))),
            Element::Shared(content) => {
                self.content(view.follow(*content)).map(|value| Value::Shared(Shared::new(value)))
            }
            Element::Any => Some(Value::Tree(Box::default())),
            Element::Open(open) => self.chosen(open, view),
        };
        self.around.pop();
        value
    }

    /// Creates a value of the declared type, or else of the first possible type.
    fn chosen(&mut self, open: &'s OpenElement, view: View<'s>) -> Option<Value> {
        let base = open.base.and_then(|base| self.content(view.follow(base)));
        let named = |(name, content): &(QName, ElementRef)| {
            Some(Value::typed(name.clone(), self.content(view.follow(*content))?))
        };
        base.or_else(|| open.types.iter().find_map(named)).or_else(|| Some(Value::Tree(Box::default())))
    }

    fn is_within(&self, element: &Element) -> bool {
        self.around.iter().any(|&around| std::ptr::eq(around, element))
    }

    fn array(&mut self, array: &'s ArrayElement, view: View<'s>) -> Value {
        let item = if self.elements < TARGET_ELEMENTS { self.content(view.follow(array.item)) } else { None };
        let rows = if item.is_some() { array.dimensions.max(1) } else { 1 };
        // One row in each dimension.
        (1..rows).fold(Value::List(item.into_iter().collect()), |row, _| Value::List(vec![row]))
    }

    fn record(&mut self, complex: &'s ComplexElement, view: View<'s>) -> Option<Record> {
        let fields = match complex.text {
            Some(text) => vec![self.content(view.follow(text))?],
            None if complex.compositor == Compositor::Choice => self.alternative(complex, view)?,
            None => self.fields(complex, view)?,
        };
        let attributes = complex.attributes.iter().map(|attribute| match view.follow(attribute.element).element {
            Element::Simple(simple) => parse_default(simple, attribute.default.as_deref())
                .or_else(|| sample_of(simple))
                .map(Some)
                .or((!attribute.required).then_some(None)),
            _ => Some(Some(Simple::String(text_of(Builtin::String).to_owned()))),
        });
        Some(Record { fields, attributes: attributes.collect::<Option<_>>()?, others: Default::default() })
    }

    /// Creates the values of the fields. Of a choice between groups, only the first has values.
    fn fields(&mut self, complex: &'s ComplexElement, view: View<'s>) -> Option<Vec<Value>> {
        let field = |(field, least): (_, Option<u32>)| match least {
            Some(least) => self.field(field, least, view),
            None => Some(absent(field)),
        };
        complex.fields.iter().zip(complex.taken(|_| 0)).map(field).collect()
    }

    /// Creates the values of a choice's fields, one of which is present.
    fn alternative(&mut self, complex: &'s ComplexElement, view: View<'s>) -> Option<Vec<Value>> {
        let mut fields: Vec<Value> = complex.fields.iter().map(absent).collect();
        let alternative = |(index, field)| Some((index, self.occurrences(field, 1.max(field.min), view)?));
        let (index, value) = complex.fields.iter().enumerate().find_map(alternative)?;
        fields[index] = value;
        Some(fields)
    }

    /// Creates the value of a field; `None` if it is required and impossible.
    fn field(&mut self, field: &'s Field, least: u32, view: View<'s>) -> Option<Value> {
        let is_wanted = field.max != Some(0) && self.elements < TARGET_ELEMENTS && !is_any(field, view);
        let count = least.max(u32::from(is_wanted));
        if count == 0 {
            return Some(absent(field));
        }
        self.occurrences(field, count, view).or_else(|| (least == 0).then(|| absent(field)))
    }

    fn occurrences(&mut self, field: &'s Field, count: u32, view: View<'s>) -> Option<Value> {
        if !field.is_repeated() {
            return self.occurrence(field, view);
        }
        (0..count).map(|_| self.occurrence(field, view)).collect::<Option<_>>().map(Value::List)
    }

    fn occurrence(&mut self, field: &'s Field, view: View<'s>) -> Option<Value> {
        if is_any(field, view) {
            return Some(Value::Tree(Box::new(Node::new(field.name.clone()))));
        }
        let value = self.content(view.follow(field.element));
        value.or_else(|| field.nillable.then_some(Value::Nil))
    }
}

/// Creates the value of an absent field.
fn absent(field: &Field) -> Value {
    if field.is_repeated() { Value::List(Vec::new()) } else { Value::Absent }
}

/// Returns true for a field that stands for any element.
fn is_any(field: &Field, view: View<'_>) -> bool {
    field.inline && *view.follow(field.element).element == Element::Any
}

/// Parses a default; if it is fixed, no other value is allowed.
fn parse_default(element: &SimpleElement, text: Option<&str>) -> Option<Simple> {
    match Element::Simple(element.clone()).is_name() {
        true => Simple::named(element.base, text?).ok(),
        false => Simple::parse_as(element, text?).ok(),
    }
}

/// Creates a simple value: the default, the first enumerated value, or some value of the type.
fn sample_of(element: &SimpleElement) -> Option<Simple> {
    if element.default.is_some() {
        return parse_default(element, element.default.as_deref());
    }
    let enumerated = element.enumeration.iter().find_map(|text| Simple::parse_as(element, text).ok());
    enumerated.or_else(|| Simple::parse_as(element, text_of(element.base)).ok())
}

/// Returns a valid text of a type.
fn text_of(builtin: Builtin) -> &'static str {
    use Builtin as B;
    match builtin {
        B::String | B::NormalizedString | B::Token => "text",
        B::Language => "en",
        B::Name | B::NcName | B::NmToken | B::NmTokens | B::QName | B::Notation => "name",
        B::Id | B::IdRef | B::IdRefs | B::Entity | B::Entities => "name",
        B::Boolean => "true",
        B::Byte | B::Short | B::Int | B::Long | B::Integer | B::PositiveInteger | B::NonNegativeInteger => "1",
        B::UnsignedByte | B::UnsignedShort | B::UnsignedInt | B::UnsignedLong => "1",
        B::NonPositiveInteger | B::NegativeInteger => "-1",
        B::Decimal | B::Float | B::Double => "1.5",
        B::Date => "2026-01-31",
        B::Time => "12:00:00Z",
        B::DateTime => "2026-01-31T12:00:00Z",
        B::Duration => "P1D",
        B::GYear => "2026",
        B::GYearMonth => "2026-01",
        B::GMonth => "--01",
        B::GMonthDay => "--01-31",
        B::GDay => "---31",
        B::Base64Binary => "AQID",
        B::HexBinary => "010203",
        B::AnyUri => "http://example.org/",
    }
}

/// Adds the sample of its type to a column.
fn column_of_one(mut column: Column) -> Column {
    if let Ok(item) = Simple::parse(column.builtin(), text_of(column.builtin())) {
        column.push(&item);
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QName;
    use crate::schema::{ElementRef, Schema};
    use std::borrow::Cow;

    fn simple(schema: &mut Schema, base: Builtin, values: &[&'static str]) -> ElementRef {
        let enumeration = values.iter().map(|&value| Cow::Borrowed(value)).collect();
        schema.add(Element::Simple(SimpleElement { name: base.name(), base, enumeration, default: None, packed: None }))
    }

    fn field(element: ElementRef, min: u32, max: Option<u32>) -> Field {
        Field { name: QName::new("", "f"), element, min, max, nillable: false, inline: false }
    }

    fn complex(compositor: Compositor, fields: Vec<Field>) -> Element {
        Element::Complex(ComplexElement {
            name: QName::new("urn:t", "T"),
            compositor,
            fields: fields.into(),
            attributes: Cow::Borrowed(&[]),
            text: None,
            open: false,
            any_attribute: false,
            choices: Default::default(),
        })
    }

    #[test]
    fn every_built_in_type_has_a_sample() {
        for &base in Builtin::ALL {
            let mut schema = Schema::new();
            let element = simple(&mut schema, base, &[]);
            let Some(Value::Simple(value)) = Value::sample(schema.view(element)) else { panic!("{base:?}") };
            assert_eq!((value.builtin(), value.to_string().as_str()), (base, text_of(base)));
        }
    }

    #[test]
    fn the_first_enumerated_value_of_the_type_stands() {
        let mut schema = Schema::new();
        let element = simple(&mut schema, Builtin::Int, &["seven", "7", "8"]);
        assert_eq!(Value::sample(schema.view(element)), Some(Value::Simple(Simple::Int(7))));
        let none = simple(&mut schema, Builtin::Int, &["seven"]);
        assert_eq!(Value::sample(schema.view(none)), None);
    }

    #[test]
    fn a_type_within_itself_is_left_out_where_it_may_be() {
        for (min, max, inner) in [(0, Some(1), Value::Absent), (0, None, Value::List(Vec::new()))] {
            let mut schema = Schema::new();
            let own = schema.next_ref();
            let root = schema.add(complex(Compositor::Sequence, vec![field(own, min, max)]));
            let expected = Record { fields: vec![inner], attributes: Vec::new(), others: Default::default() };
            assert_eq!(Value::sample(schema.view(root)), Some(Value::Record(Box::new(expected))));
        }
        let mut schema = Schema::new();
        let own = schema.next_ref();
        let root = schema.add(complex(Compositor::Sequence, vec![field(own, 1, Some(1))]));
        assert_eq!(Value::sample(schema.view(root)), None);
    }

    #[test]
    fn of_alternatives_the_first_that_can_stands() {
        let mut schema = Schema::new();
        let own = schema.next_ref();
        let int = ElementRef::Index(1);
        let root = schema.add(complex(Compositor::Choice, vec![field(own, 1, Some(1)), field(int, 1, Some(1))]));
        simple(&mut schema, Builtin::Int, &[]);
        let fields = vec![Value::Absent, Value::Simple(Simple::Int(1))];
        let expected = Record { fields, attributes: Vec::new(), others: Default::default() };
        assert_eq!(Value::sample(schema.view(root)), Some(Value::Record(Box::new(expected))));
    }

    #[test]
    fn samples_do_not_double_at_each_level() {
        let mut schema = Schema::new();
        let mut inner = simple(&mut schema, Builtin::Int, &[]);
        for _ in 0..64 {
            inner = schema.add(complex(Compositor::Sequence, vec![field(inner, 0, Some(1)), field(inner, 0, None)]));
        }
        assert!(Value::sample(schema.view(inner)).is_some());
        for _ in 0..64 {
            inner = schema.add(complex(Compositor::Sequence, vec![field(inner, 1, Some(1)), field(inner, 2, None)]));
        }
        assert_eq!(Value::sample(schema.view(inner)), None);
        let many = schema.add(complex(Compositor::Sequence, vec![field(ElementRef::Index(0), u32::MAX, None)]));
        assert_eq!(Value::sample(schema.view(many)), None);
    }
}
