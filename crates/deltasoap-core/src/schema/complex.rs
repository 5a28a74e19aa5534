//! Simple, complex, array and union elements.

use super::{Builtin, Choice, ElementRef, List, QName};
use crate::ns;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// Text of a simple type: *SimpleElement* in the papers.
#[derive(Debug, Clone, PartialEq)]
pub struct SimpleElement {
    /// The type's name, as written in `xsi:type`.
    pub name: QName,
    /// The built-in type that it is or restricts.
    pub base: Builtin,
    /// The allowed values (`xsd:enumeration`); empty if unrestricted.
    pub enumeration: EnumerationValues,
    /// The text that an empty element stands for (`default` and `fixed`, XSD 1.0 part 1, 3.3.1). It
    /// belongs to an element's declaration, not to its type: elements with different defaults have
    /// different descriptions.
    pub default: Option<Cow<'static, str>>,
    /// The packing, if the bytes are packed numbers; only for [`Builtin::Base64Binary`] without an
    /// enumeration.
    pub packed: Option<Packing>,
}

/// The format of packed numbers: their type and byte order ([`Packed`](crate::Packed)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Packing {
    /// An integer of two, four or eight bytes, or [`Builtin::Float`] or [`Builtin::Double`]: see
    /// [`new`](Self::new).
    pub items: Builtin,
    /// True if the most significant byte comes first.
    pub is_big_endian: bool,
}

impl Packing {
    /// Creates the packing for numbers of a type; `None` for types whose values are not packed.
    pub fn new(items: Builtin, is_big_endian: bool) -> Option<Self> {
        let packing = Packing { items, is_big_endian };
        (packing.size() > 0).then_some(packing)
    }

    /// Returns the size of a number in bytes: 2, 4 or 8; 0 for a type whose values are not packed.
    pub fn size(self) -> usize {
        match self.items {
            Builtin::Short | Builtin::UnsignedShort => 2,
            Builtin::Int | Builtin::UnsignedInt | Builtin::Float => 4,
            Builtin::Long | Builtin::UnsignedLong | Builtin::Double => 8,
            _ => 0,
        }
    }
}

/// The values of an enumeration. In schemas built at run time, all types that restrict the same
/// values share one list: a WSDL of a megabyte can have thousands of such types, and tens of
/// thousands of values.
#[derive(Debug, Clone)]
pub enum EnumerationValues {
    /// The list of a static schema.
    Static(&'static [Cow<'static, str>]),
    /// The list of a schema built at run time.
    Shared(Arc<[Cow<'static, str>]>),
}

impl EnumerationValues {
    /// No restriction.
    pub const ANY: EnumerationValues = EnumerationValues::Static(&[]);
}

impl Default for EnumerationValues {
    fn default() -> Self {
        EnumerationValues::ANY
    }
}

impl Deref for EnumerationValues {
    type Target = [Cow<'static, str>];

    fn deref(&self) -> &Self::Target {
        match self {
            EnumerationValues::Static(texts) => texts,
            EnumerationValues::Shared(texts) => texts,
        }
    }
}

impl PartialEq for EnumerationValues {
    fn eq(&self, other: &Self) -> bool {
        self.as_ptr_range() == other.as_ptr_range() || **self == **other
    }
}

impl From<Vec<Cow<'static, str>>> for EnumerationValues {
    fn from(texts: Vec<Cow<'static, str>>) -> Self {
        EnumerationValues::Shared(texts.into())
    }
}

impl FromIterator<Cow<'static, str>> for EnumerationValues {
    fn from_iter<I: IntoIterator<Item = Cow<'static, str>>>(texts: I) -> Self {
        EnumerationValues::Shared(texts.into_iter().collect())
    }
}

impl SimpleElement {
    /// Returns the expected content for error messages: the enumerated values, if the type has any.
    pub fn expected(&self) -> String {
        match &self.enumeration[..] {
            [] => format!("a value of {}", self.name),
            values => format!("one of {} ({})", shown_values(values.iter().map(AsRef::as_ref)), self.name),
        }
    }
}

/// Shortens a text for error messages to the first 60 characters.
pub fn shortened(text: &str) -> Cow<'_, str> {
    const MAX_CHARS: usize = 60;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Formats enumerated values for error messages: the first ten, in quotes, and the number of
/// others. Long values are cut.
pub fn shown_values<'v>(values: impl ExactSizeIterator<Item = &'v str>) -> String {
    const MAX_SHOWN: usize = 10;
    let more = values.len().saturating_sub(MAX_SHOWN);
    let shown = |value: &str| format!("{:?}", shortened(value));
    let mut text = values.take(MAX_SHOWN).map(shown).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += &format!(" and {more} more");
    }
    text
}

/// Child elements and attributes, or text and attributes: *ComplexElement* in the papers.
#[derive(Debug, Clone, PartialEq)]
pub struct ComplexElement {
    /// The type's name, as written in `xsi:type`.
    pub name: QName,
    /// The allowed order of the fields.
    pub compositor: Compositor,
    /// Child elements.
    pub fields: List<Field>,
    /// Attributes.
    pub attributes: List<Attribute>,
    /// For simple content, the type of the text; `fields` is then empty.
    pub text: Option<ElementRef>,
    /// True if elements not listed in `fields` may appear (`xsd:any`); they are skipped.
    pub open: bool,
    /// True if attributes not listed in `attributes` may appear (`xsd:anyAttribute`): dynamic
    /// values keep them.
    pub any_attribute: bool,
    /// Fields of a sequence that exclude each other, in the order of the fields.
    pub choices: List<Choice>,
}

impl ComplexElement {
    /// Returns true if the element [takes any attribute](Self::any_attribute), and an attribute of
    /// this name is neither listed in the schema nor part of the markup. Attributes that control
    /// how an element is read (`xsi:type`, `mustUnderstand`, `xmlns`) are not part of its value.
    pub fn takes_other(&self, name: &QName) -> bool {
        self.any_attribute && !is_part_of_markup(name) && !self.names_attribute(name)
    }

    /// Returns true if an element of the type holds exactly its fields, each once as an element of
    /// its own.
    #[cfg(feature = "values")]
    pub(crate) fn has_required_fields_alone(&self) -> bool {
        let is_once = |field: &Field| field.min == 1 && field.max == Some(1) && !field.nillable && !field.inline;
        self.attributes.is_empty()
            && !self.any_attribute
            && self.text.is_none()
            && !self.open
            && self.fields.iter().all(is_once)
    }

    /// Returns true if an element of the type needs no child element.
    pub(crate) fn can_be_empty(&self) -> bool {
        self.text.is_none()
            && self.choices.is_empty()
            && (self.compositor != Compositor::Choice || self.fields.is_empty())
            && self.fields.iter().all(|field| field.min == 0)
    }

    /// Returns true if the schema lists an attribute of this name.
    pub(super) fn names_attribute(&self, name: &QName) -> bool {
        self.attributes.iter().any(|attribute| attribute.name == *name)
    }
}

/// Returns true for attributes that control how an element is read, and for namespace declarations.
pub(super) fn is_part_of_markup(name: &QName) -> bool {
    is_markup(&name.namespace) || name.namespace == ns::XMLNS || name.is("", "xmlns")
}

/// Returns true for the namespaces of attributes that control how an element is read.
pub(crate) fn is_markup(namespace: &str) -> bool {
    [ns::XSI, ns::SOAP11, ns::SOAP12, ns::SOAP11_ENCODING, ns::SOAP12_ENCODING].contains(&namespace)
}

/// The allowed order of the child elements of a complex element (XSD 1.0 part 1, 3.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compositor {
    /// In the order of the fields.
    Sequence,
    /// In any order. Also used for structs in SOAP encoding, whose accessors are identified by name
    /// only. A required field must be present, and a field that cannot be repeated may occur only
    /// once; other bounds are not checked.
    All,
    /// One of the fields.
    Choice,
}

/// A child element of a complex element.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The element's name. For an inline group (see `inline`) it is only a label. For a wildcard,
    /// the label's namespace specifies which elements [it takes](Self::takes).
    pub name: QName,
    /// The element's content.
    pub element: ElementRef,
    /// `minOccurs`.
    pub min: u32,
    /// `maxOccurs`; `None` for `unbounded`.
    pub max: Option<u32>,
    /// True if `xsi:nil` is allowed in place of content.
    pub nillable: bool,
    /// True if the content of `element` appears here directly, without an element of this name
    /// around it. The content is one of the fields of a choice; the fields of a *group*, which is
    /// any other complex element, one after the other; or, for
    /// [`Element::Any`](super::Element::Any), any element that matches no other field (`xsd:any`),
    /// kept as a tree. An occurrence of a group ends at an element that is none of its next fields.
    pub inline: bool,
}

impl Field {
    /// Returns true if the field can occur more than once.
    #[inline]
    pub fn is_repeated(&self) -> bool {
        self.max != Some(1)
    }

    /// Returns true if a wildcard takes elements of this namespace. The namespace of its label is
    /// the value of the attribute `namespace` of `xsd:any` (XSD 1.0 part 1, 3.10.2): a list of
    /// namespaces, with `##local` for none; or `##other` and the excluded namespace. It is empty
    /// for `##any`.
    pub fn takes(&self, namespace: &str) -> bool {
        let mut label = self.name.namespace.split_ascii_whitespace().peekable();
        match label.next_if_eq(&"##other") {
            Some(_) => !namespace.is_empty() && label.next() != Some(namespace),
            None if label.peek().is_none() => true,
            None => label.any(|it| it == namespace || it == "##local" && namespace.is_empty()),
        }
    }
}

/// An attribute of a complex element.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The attribute's name, usually without a namespace.
    pub name: QName,
    /// The attribute's simple type.
    pub element: ElementRef,
    /// True for `use="required"`.
    pub required: bool,
    /// The value of the attribute if it is absent (`default` and `fixed`, XSD 1.0 part 1, 3.2.1).
    pub default: Option<Cow<'static, str>>,
}

/// A SOAP array (SOAP 1.1 section 5.4.2): *ArrayElement* in the papers. Items are identified by
/// position; their names are ignored when read.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayElement {
    /// The array type's name; `soapenc:Array` if it has no name of its own.
    pub name: QName,
    /// The element name for writing items.
    pub item_name: QName,
    /// The content of an item.
    pub item: ElementRef,
    /// The name of the item type, as written in `arrayType`.
    pub item_type: QName,
    /// True if items may be nil.
    pub nillable: bool,
    /// Number of dimensions, at least 1. An array of arrays has one dimension, and so do its items.
    pub dimensions: u32,
}

/// Text of one of several simple types (`xsd:union`): *UnionElement* in the papers. The first
/// member that accepts the text determines the value (XSD 1.0 part 2, 2.5.1.3). Dynamic values of
/// it are written with their original text ([`Simple::NonCanonical`](crate::Simple::NonCanonical)),
/// so a union with one member is a type whose texts are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct UnionElement {
    /// The type's name.
    pub name: QName,
    /// The member types in order.
    pub members: List<ElementRef>,
    /// True for a list of values separated by spaces (`xsd:list`). Used for lists whose items may
    /// be names, which other representations cannot keep. Another union may have it as a member.
    pub list: bool,
    /// The text that an empty element stands for; see [`SimpleElement::default`].
    pub default: Option<Cow<'static, str>>,
}
