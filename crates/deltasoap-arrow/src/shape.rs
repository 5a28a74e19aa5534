//! The shape of the columns: a tree that follows the description of content.
//!
//! It is computed once for an element; Arrow's types and the builder both follow from it. Content
//! that contains itself would be infinite, and schemas that expand to thousands of columns are of
//! no use: both are cut, and what is below a cut is one column of JSON text.

use arrow_schema::{DataType, Field as ArrowField, Fields, TimeUnit};
use deltasoap_core::QName;
use deltasoap_core::schema::{
    Builtin, ComplexElement, Element, ElementRef, Field, OpenElement, Packing, SimpleElement, View,
};
use deltasoap_dynamic::Contract;
use deltasoap_dynamic::json::{Layout, Slot};
use deltasoap_wsdl::xsd::{TypeDefinition, Variety};
use std::sync::Arc;

/// Maximum number of columns, of which lists and structs are not counted.
const MAX_COLUMNS: usize = 2048;
/// Maximum depth of structs.
const MAX_DEPTH: usize = 24;

/// The shape of some content.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Leaf(Leaf),
    /// Packed numbers: one text in XML.
    Packed(Leaf, Packing),
    /// JSON text of an occurrence of a field.
    Json(Box<Field>),
    Struct(Arc<Members>),
    List(Box<Shape>),
    /// The attributes that no schema names.
    Others,
}

/// A column of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaf {
    Boolean,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float32,
    Float64,
    Timestamp,
    Date,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Binary,
    Text,
    /// True for an element of an empty type.
    Present,
}

/// The columns of a struct.
#[derive(Debug)]
pub(crate) struct Members {
    pub(crate) names: Vec<String>,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Record(Group),
    Open(Open),
}

/// Where the values of a record go: indices among the columns of the struct.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) attributes: Vec<usize>,
    pub(crate) others: Option<usize>,
    pub(crate) text: Option<usize>,
    pub(crate) fields: Vec<Place>,
}

/// Where the value of a field goes.
#[derive(Debug)]
pub(crate) enum Place {
    Column(usize),
    /// A choice that occurs once: its fields are among those around it.
    Among(Group),
    /// An empty choice.
    Nowhere,
}

/// Where content goes whose type the message can choose.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) content: ElementRef,
    /// The declared type, and the columns of its records.
    pub(crate) base: Option<(ElementRef, Group)>,
    pub(crate) type_name: usize,
    /// The text of a simple value.
    pub(crate) text: Option<usize>,
    pub(crate) json: usize,
}

impl Shape {
    /// Returns the shape of an element's content.
    pub(crate) fn of(contract: &Contract, name: &QName, content: ElementRef) -> Shape {
        let field = Field { name: name.clone(), element: content, min: 1, max: Some(1), nillable: true, inline: false };
        // The deepest shape that has few enough columns: all branches are cut at the same depth.
        for depth in (1..=MAX_DEPTH).rev() {
            let mut shaping = Shaping { contract, path: Vec::new(), depth, columns: 0 };
            let shape = shaping.content(&field);
            if shaping.columns <= MAX_COLUMNS {
                return shape;
            }
        }
        Shape::Json(Box::new(field))
    }

    /// Returns the type of the column.
    pub(crate) fn data_type(&self) -> DataType {
        match self {
            Shape::Leaf(leaf) => leaf.data_type(),
            Shape::Packed(leaf, _) => list_of(leaf.data_type()),
            Shape::Json(_) => DataType::Utf8,
            Shape::Struct(members) => DataType::Struct(members.fields()),
            Shape::List(item) => list_of(item.data_type()),
            Shape::Others => DataType::Map(Arc::new(others_entry()), false),
        }
    }
}

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(ArrowField::new("item", item, true)))
}

/// Returns the field of the entries of a map.
fn others_entry() -> ArrowField {
    ArrowField::new("entries", DataType::Struct(others_fields()), false)
}

pub(crate) fn others_fields() -> Fields {
    [ArrowField::new("key", DataType::Utf8, false), ArrowField::new("value", DataType::Utf8, true)]
        .into_iter()
        .collect()
}

impl Members {
    pub(crate) fn fields(&self) -> Fields {
        let columns = self.names.iter().zip(&self.shapes);
        columns.map(|(name, shape)| ArrowField::new(name, shape.data_type(), true)).collect()
    }
}

impl Leaf {
    fn data_type(self) -> DataType {
        match self {
            Leaf::Boolean | Leaf::Present => DataType::Boolean,
            Leaf::Int8 => DataType::Int8,
            Leaf::Int16 => DataType::Int16,
            Leaf::Int32 => DataType::Int32,
            Leaf::Int64 => DataType::Int64,
            Leaf::UInt8 => DataType::UInt8,
            Leaf::UInt16 => DataType::UInt16,
            Leaf::UInt32 => DataType::UInt32,
            Leaf::UInt64 => DataType::UInt64,
            Leaf::Float32 => DataType::Float32,
            Leaf::Float64 => DataType::Float64,
            Leaf::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Leaf::Date => DataType::Date32,
            Leaf::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
            Leaf::Binary => DataType::Binary,
            Leaf::Text => DataType::Utf8,
        }
    }
}

/// Shapes one element.
struct Shaping<'c> {
    contract: &'c Contract,
    /// The content from the root to here.
    path: Vec<ElementRef>,
    depth: usize,
    columns: usize,
}

impl Shaping<'_> {
    /// Returns the shape of one occurrence of a field.
    fn content(&mut self, field: &Field) -> Shape {
        let view = self.contract.view(field.element);
        match view.element {
            Element::Simple(simple) => self.simple(simple, field.element),
            Element::Union(_) => self.leaf(Leaf::Text),
            Element::Any | Element::Shared(_) => self.json(field),
            _ if self.path.len() >= self.depth || self.path.contains(&field.element) => self.json(field),
            _ if self.columns > MAX_COLUMNS => self.json(field),
            element => {
                self.path.push(field.element);
                let shape = match element {
                    Element::Complex(complex) => self.record(complex, view, &Layout::of(complex, view)),
                    Element::Array(array) => {
                        let item = Field {
                            name: array.item_name.clone(),
                            element: array.item,
                            min: 1,
                            max: Some(1),
                            nillable: array.nillable,
                            inline: false,
                        };
                        let item = self.content(&item);
                        (0..array.dimensions.max(1)).fold(item, |item, _| Shape::List(Box::new(item)))
                    }
                    Element::Open(open) => self.open(open, field, view),
                    _ => self.json(field),
                };
                self.path.pop();
                shape
            }
        }
    }

    fn leaf(&mut self, leaf: Leaf) -> Shape {
        self.columns += 1;
        Shape::Leaf(leaf)
    }

    fn json(&mut self, field: &Field) -> Shape {
        self.columns += 1;
        Shape::Json(Box::new(field.clone()))
    }

    fn simple(&mut self, simple: &SimpleElement, content: ElementRef) -> Shape {
        self.columns += 1;
        match simple.packed {
            Some(packing) => Shape::Packed(leaf_of(packing.items), packing),
            None if simple.base == Builtin::Decimal => Shape::Leaf(self.decimal(content)),
            None => Shape::Leaf(leaf_of(simple.base)),
        }
    }

    /// Returns the column of a decimal: a number if its facets bound the digits.
    fn decimal(&self, content: ElementRef) -> Leaf {
        const MAX_DIGITS: u64 = 38;
        let schemas = self.contract.description().schemas();
        let (mut total, mut fraction) = (None::<u64>, None::<u64>);
        let mut at = self.contract.lowered().origin(content).map(|origin| origin.type_id);
        while let Some(id) = at
            && let TypeDefinition::Simple(simple) = &schemas[id].definition
        {
            // The nearest type has the narrowest bounds.
            total = total.or(simple.facets.as_ref().and_then(|facets| facets.total_digits));
            fraction = fraction.or(simple.facets.as_ref().and_then(|facets| facets.fraction_digits));
            at = match simple.variety {
                Variety::Restriction(base) => Some(base),
                _ => None,
            };
        }
        match (total, fraction) {
            (Some(total @ 1..=MAX_DIGITS), Some(fraction)) if fraction <= total => {
                Leaf::Decimal { precision: total as u8, scale: fraction as u8 }
            }
            _ => Leaf::Text,
        }
    }

    fn record(&mut self, complex: &ComplexElement, view: View<'_>, layout: &Layout) -> Shape {
        let mut columns = Columns::default();
        let group = self.group(complex, view, layout, &mut columns);
        if columns.names.is_empty() {
            return self.leaf(Leaf::Present);
        }
        columns.into_struct(Kind::Record(group))
    }

    /// Adds the columns of a record.
    fn group(&mut self, complex: &ComplexElement, view: View<'_>, layout: &Layout, columns: &mut Columns) -> Group {
        let mut group = Group::default();
        for (attribute, name) in complex.attributes.iter().zip(&layout.attributes) {
            let shape = match view.follow(attribute.element).element {
                Element::Simple(simple) if simple.packed.is_none() => self.simple(simple, attribute.element),
                _ => self.leaf(Leaf::Text),
            };
            group.attributes.push(columns.add(name.clone(), shape));
        }
        if complex.any_attribute {
            self.columns += 2;
            group.others = Some(columns.add("@*".to_owned(), Shape::Others));
        }
        if let Some(text) = complex.text {
            let shape = self.content(&plain_field(&complex.name, text));
            group.text = Some(columns.add("$".to_owned(), shape));
        }
        for (field, slot) in complex.fields.iter().zip(&layout.slots) {
            group.fields.push(self.place(field, slot, view, columns));
        }
        group
    }

    fn place(&mut self, field: &Field, slot: &Slot, around: View<'_>, columns: &mut Columns) -> Place {
        let view = around.follow(field.element);
        match (slot, view.element) {
            (Slot::Property(name), _) => {
                let item = self.content(field);
                let shape = if field.is_repeated() { Shape::List(Box::new(item)) } else { item };
                Place::Column(columns.add(name.clone(), shape))
            }
            (Slot::Choices(name, layout), Element::Complex(choice)) => {
                let item = self.record(choice, view, layout);
                Place::Column(columns.add(name.clone(), Shape::List(Box::new(item))))
            }
            (Slot::Among(layout), Element::Complex(choice)) => Place::Among(self.group(choice, view, layout, columns)),
            _ => Place::Nowhere,
        }
    }

    fn open(&mut self, open: &OpenElement, field: &Field, view: View<'_>) -> Shape {
        let mut columns = Columns::default();
        self.columns += 2;
        let type_name = columns.add("$type".to_owned(), Shape::Leaf(Leaf::Text));
        let base = open.base.and_then(|base| {
            let complex = view.follow(base).complex()?;
            if self.path.contains(&base) {
                return None;
            }
            self.path.push(base);
            let group = self.group(complex, view, &Layout::of(complex, view), &mut columns);
            self.path.pop();
            Some((base, group))
        });
        let is_simple =
            |content: ElementRef| matches!(view.follow(content).element, Element::Simple(_) | Element::Union(_));
        let mut known = open.types.iter().map(|(_, content)| *content).chain(open.base);
        let takes_text = base.is_none() && known.any(is_simple);
        let text = takes_text.then(|| columns.add("$".to_owned(), Shape::Leaf(Leaf::Text)));
        self.columns += usize::from(takes_text);
        let json = columns.add("$json".to_owned(), Shape::Json(Box::new(Field { inline: false, ..field.clone() })));
        columns.into_struct(Kind::Open(Open { content: field.element, base, type_name, text, json }))
    }
}

/// Returns a field that occurs once.
fn plain_field(name: &QName, element: ElementRef) -> Field {
    Field { name: name.clone(), element, min: 1, max: Some(1), nillable: false, inline: false }
}

#[derive(Default)]
struct Columns {
    names: Vec<String>,
    shapes: Vec<Shape>,
}

impl Columns {
    fn add(&mut self, name: String, shape: Shape) -> usize {
        self.names.push(name);
        self.shapes.push(shape);
        self.names.len() - 1
    }

    fn into_struct(self, kind: Kind) -> Shape {
        Shape::Struct(Arc::new(Members { names: self.names, shapes: self.shapes, kind }))
    }
}

/// Returns the column of a built-in type.
pub(crate) fn leaf_of(builtin: Builtin) -> Leaf {
    match builtin {
        Builtin::Boolean => Leaf::Boolean,
        Builtin::Byte => Leaf::Int8,
        Builtin::Short => Leaf::Int16,
        Builtin::Int => Leaf::Int32,
        Builtin::Long => Leaf::Int64,
        Builtin::UnsignedByte => Leaf::UInt8,
        Builtin::UnsignedShort => Leaf::UInt16,
        Builtin::UnsignedInt => Leaf::UInt32,
        Builtin::UnsignedLong => Leaf::UInt64,
        Builtin::Float => Leaf::Float32,
        Builtin::Double => Leaf::Float64,
        Builtin::DateTime => Leaf::Timestamp,
        Builtin::Date => Leaf::Date,
        Builtin::Base64Binary | Builtin::HexBinary => Leaf::Binary,
        Builtin::Integer
        | Builtin::NonNegativeInteger
        | Builtin::PositiveInteger
        | Builtin::NonPositiveInteger
        | Builtin::NegativeInteger => Leaf::Decimal { precision: 38, scale: 0 },
        _ => Leaf::Text,
    }
}
