//! Simple, complex, array and union elements.

use super::{Builtin, Choice, ElementRef, List, QName};
use crate::ns;
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// Text of a simple type: the papers' *SimpleElement*.
#[derive(Debug, Clone, PartialEq)]
pub struct SimpleElement {
    /// The type's name, as written in `xsi:type`.
    pub name: QName,
    /// The built-in type it is, or restricts.
    pub base: Builtin,
    /// The allowed values (`xsd:enumeration`); empty for no restriction.
    pub enumeration: Texts,
    /// The text that an empty element stands for (`default` and `fixed`, XSD 1.0 part 1, 3.3.1). It
    /// belongs to an element's declaration, not to its type: elements with different defaults have
    /// different descriptions.
    pub default: Option<Cow<'static, str>>,
    /// What the bytes stand for, where they are those of numbers; only of [`Builtin::Base64Binary`]
    /// without an enumeration.
    pub packed: Option<Packing>,
}

/// How numbers are packed: the type of all of them, and the order of their bytes
/// ([`Packed`](crate::Packed)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Packing {
    /// An integer of two, four or eight bytes, or [`Builtin::Float`] or [`Builtin::Double`]: see
    /// [`new`](Self::new).
    pub items: Builtin,
    /// True if the most significant byte comes first.
    pub is_big_endian: bool,
}

impl Packing {
    /// Returns the packing of a type's numbers; `None` for types whose values are not packed.
    pub fn new(items: Builtin, is_big_endian: bool) -> Option<Self> {
        let packing = Packing { items, is_big_endian };
        (packing.size() > 0).then_some(packing)
    }

    /// Bytes of a number: 2, 4 or 8; 0 for a type whose values are not packed.
    pub fn size(self) -> usize {
        match self.items {
            Builtin::Short | Builtin::UnsignedShort => 2,
            Builtin::Int | Builtin::UnsignedInt | Builtin::Float => 4,
            Builtin::Long | Builtin::UnsignedLong | Builtin::Double => 8,
            _ => 0,
        }
    }
}

/// The values of an enumeration. Descriptions that are built at run time share one list among all
/// types that restrict the same values: a WSDL of a megabyte can have thousands of such types, and
/// tens of thousands of values.
#[derive(Debug, Clone)]
pub enum Texts {
    /// Of a static schema.
    Static(&'static [Cow<'static, str>]),
    /// Of a schema built at run time.
    Shared(Arc<[Cow<'static, str>]>),
}

impl Texts {
    /// No restriction.
    pub const ANY: Texts = Texts::Static(&[]);
}

impl Default for Texts {
    fn default() -> Self {
        Texts::ANY
    }
}

impl Deref for Texts {
    type Target = [Cow<'static, str>];

    fn deref(&self) -> &Self::Target {
        match self {
            Texts::Static(texts) => texts,
            Texts::Shared(texts) => texts,
        }
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.as_ptr_range() == other.as_ptr_range() || **self == **other
    }
}

impl From<Vec<Cow<'static, str>>> for Texts {
    fn from(texts: Vec<Cow<'static, str>>) -> Self {
        Texts::Shared(texts.into())
    }
}

impl FromIterator<Cow<'static, str>> for Texts {
    fn from_iter<I: IntoIterator<Item = Cow<'static, str>>>(texts: I) -> Self {
        Texts::Shared(texts.into_iter().collect())
    }
}

impl SimpleElement {
    /// What an error says was expected: the enumerated values, where the type has any.
    pub fn expected(&self) -> String {
        match &self.enumeration[..] {
            [] => format!("a value of {}", self.name),
            values => format!("one of {} ({})", shown_values(values.iter().map(AsRef::as_ref)), self.name),
        }
    }
}

/// Returns a text as errors show it: of a long one the first 60 characters.
pub fn shortened(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Enumerated values as errors show them: the first ten, in quotes, and how many more there are.
/// Long ones are cut.
pub fn shown_values<'v>(values: impl ExactSizeIterator<Item = &'v str>) -> String {
    const MOST: usize = 10;
    let more = values.len().saturating_sub(MOST);
    let shown = |value: &str| format!("{:?}", shortened(value));
    let mut text = values.take(MOST).map(shown).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text += &format!(" and {more} more");
    }
    text
}

/// Child elements and attributes, or text and attributes: the papers' *ComplexElement*.
#[derive(Debug, Clone, PartialEq)]
pub struct ComplexElement {
    /// The type's name, as written in `xsi:type`.
    pub name: QName,
    /// How the fields may follow each other.
    pub compositor: Compositor,
    /// Child elements.
    pub fields: List<Field>,
    /// Attributes.
    pub attributes: List<Attribute>,
    /// Simple content: the type of the text. Then `fields` is empty.
    pub text: Option<ElementRef>,
    /// True if elements that are not named in `fields` may appear (`xsd:any`); they are passed
    /// over.
    pub open: bool,
    /// True if attributes that are not named in `attributes` may appear (`xsd:anyAttribute`):
    /// dynamic values keep them.
    pub any_attribute: bool,
    /// Which of the fields exclude each other, where they stand in a sequence. In the order of the
    /// fields.
    pub choices: List<Choice>,
}

impl ComplexElement {
    /// Returns true if it [takes any attribute](Self::any_attribute), and one of this name is
    /// neither named by the schema nor markup: what says how an element is read (`xsi:type`,
    /// `mustUnderstand`, `xmlns`) is no part of its value.
    pub fn takes_other(&self, name: &QName) -> bool {
        self.any_attribute && !is_part_of_markup(name) && !self.names_attribute(name)
    }

    /// Returns true if all that an element of the type holds is its fields, each once as an element
    /// of its own.
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

    /// Returns true if the schema names an attribute of this name.
    pub(super) fn names_attribute(&self, name: &QName) -> bool {
        self.attributes.iter().any(|attribute| attribute.name == *name)
    }
}

/// Returns true for attributes that say how an element is read, and for declarations of namespaces.
pub(super) fn is_part_of_markup(name: &QName) -> bool {
    is_markup(&name.namespace) || name.namespace == ns::XMLNS || name.is("", "xmlns")
}

/// Returns true for the namespaces of attributes that say how an element is read.
pub(crate) fn is_markup(namespace: &str) -> bool {
    [ns::XSI, ns::SOAP11, ns::SOAP12, ns::SOAP11_ENCODING, ns::SOAP12_ENCODING].contains(&namespace)
}

/// How the child elements of a complex element may follow each other (XSD 1.0 part 1, 3.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compositor {
    /// In the order of the fields.
    Sequence,
    /// In any order; also the rule for structs in SOAP encoding, whose accessors are told apart by
    /// name alone. A field that is required must be there, one that cannot be repeated only once;
    /// other bounds are not checked.
    All,
    /// One of the fields.
    Choice,
}

/// A child element of a complex element.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The element's name. For an inline group (see `inline`) only a label; for a wildcard, the
    /// label's namespace says which elements [it takes](Self::takes).
    pub name: QName,
    /// Its content.
    pub element: ElementRef,
    /// `minOccurs`.
    pub min: u32,
    /// `maxOccurs`; `None` for `unbounded`.
    pub max: Option<u32>,
    /// True if `xsi:nil` may stand in place of content.
    pub nillable: bool,
    /// True if what `element` describes appears here directly, without an element of this name
    /// around it: one of the fields of a choice; the fields of a *group*, which is any other
    /// complex element, one after the other; or, where it is [`Element::Any`](super::Element::Any),
    /// any element that no other field is (`xsd:any`), kept as a tree. An occurrence of a group
    /// ends where an element stands that is none of its next fields.
    pub inline: bool,
}

impl Field {
    /// Returns true if the field can occur more than once.
    #[inline]
    pub fn is_repeated(&self) -> bool {
        self.max != Some(1)
    }

    /// Returns true if a wildcard takes elements of this namespace. Its label's namespace is what
    /// the attribute `namespace` of `xsd:any` says (XSD 1.0 part 1, 3.10.2): a list of namespaces,
    /// among them `##local` for none; or `##other` and the namespace that it does not take. It is
    /// empty for `##any`.
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
    /// The attribute's name; mostly without a namespace.
    pub name: QName,
    /// Its simple type.
    pub element: ElementRef,
    /// True for `use="required"`.
    pub required: bool,
    /// The text that stands for the attribute where it is absent (`default` and `fixed`, XSD 1.0
    /// part 1, 3.2.1).
    pub default: Option<Cow<'static, str>>,
}

/// A SOAP array (SOAP 1.1 section 5.4.2): the papers' *ArrayElement*. Items are told by position;
/// their names carry no meaning when read.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayElement {
    /// The array type's name, `soapenc:Array` if it has none of its own.
    pub name: QName,
    /// The name that items are written with.
    pub item_name: QName,
    /// Content of an item.
    pub item: ElementRef,
    /// The item type's name as written in `arrayType`.
    pub item_type: QName,
    /// True if items may be nil.
    pub nillable: bool,
    /// Number of dimensions, at least 1. An array of arrays has one, as have its items.
    pub dimensions: u32,
}

/// Text of one of several simple types (`xsd:union`): the papers' *UnionElement*. The first member
/// that accepts the text gives the value (XSD 1.0 part 2, 2.5.1.3). Dynamic values of it are
/// written with the text that they came with ([`Simple::Given`](crate::Simple::Given)), so that a
/// type of one member is one whose texts are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct UnionElement {
    /// The type's name.
    pub name: QName,
    /// Member types in order.
    pub members: List<ElementRef>,
    /// True for any number of values, with spaces between (`xsd:list`): one whose items may be
    /// names, which other places cannot keep. Another union may have it as a member.
    pub list: bool,
    /// The text that an empty element stands for; see [`SimpleElement::default`].
    pub default: Option<Cow<'static, str>>,
}
