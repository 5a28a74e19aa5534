//! The schema classes as plain data: descriptions of elements, for typed and dynamic values alike.
//!
//! The classes and their names are those of Abu-Ghazaleh and Lewis, *Differential Deserialization
//! for Optimized SOAP Performance* (SC 2005), section 2.2: [`SimpleElement`], [`ComplexElement`],
//! [`ArrayElement`], [`UnionElement`] and [`MethodElement`]. Schemas come from two sources: the
//! derive macro emits `static` data for Rust types, and a WSDL importer builds the same data at run
//! time. One engine reads both. Therefore every text is a `Cow` and every list a [`List`]: borrowed
//! if static, owned if built.

mod bindings;
mod builtin;
mod choice;
mod complex;
mod method;
mod name;
mod open;
mod summary;
mod view;

pub use bindings::Bindings;
pub(crate) use bindings::owned;
pub use builtin::Builtin;
pub use choice::{Branch, Choice, ChoiceFault, Required, count_required, join, required};
pub(crate) use complex::is_markup;
pub use complex::{
    ArrayElement, Attribute, ComplexElement, Compositor, EnumerationValues, Field, Packing, SimpleElement,
    UnionElement, shortened, shown_values,
};
pub use method::{MethodElement, Style, Use};
pub use name::{NamePart, QName};
pub use open::OpenElement;
pub(crate) use view::Identity;
pub use view::{ElementRef, Schema, View};

use std::borrow::Cow;

/// A list that is borrowed in static schemas and owned in schemas built at run time.
pub type List<T> = Cow<'static, [T]>;

/// The description of an element's content: one of the schema classes.
#[derive(Debug, Clone, PartialEq)]
pub enum Element {
    /// Text of a simple type.
    Simple(SimpleElement),
    /// Child elements and attributes.
    Complex(ComplexElement),
    /// A SOAP array (SOAP 1.1 section 5.4.2): any number of items of one kind.
    Array(ArrayElement),
    /// Text of one of several simple types (`xsd:union`).
    Union(UnionElement),
    /// Content of any type, kept as a tree (`xsd:anyType`).
    Any,
    /// Content whose type is chosen by the message.
    Open(OpenElement),
    /// Content described by another element, whose value several places of a message may share
    /// ([`Shared`](crate::Shared)).
    Shared(ElementRef),
}

impl Element {
    /// Returns the name of the content's type, if it has one. For a shared value, the name is in
    /// the element that it refers to.
    pub fn type_name(&self) -> Option<&QName> {
        match self {
            Element::Simple(simple) => Some(&simple.name),
            Element::Complex(complex) => Some(&complex.name),
            Element::Array(array) => Some(&array.name),
            Element::Union(union) => Some(&union.name),
            Element::Any | Element::Open(_) | Element::Shared(_) => None,
        }
    }

    /// Returns the text that an empty element stands for, if any: only elements of simple types
    /// have such a default. The default of text beside attributes is in the description of the
    /// [text](ComplexElement::text).
    #[inline]
    pub fn default_text(&self) -> Option<&str> {
        match self {
            Element::Simple(simple) => simple.default.as_deref(),
            Element::Union(union) => union.default.as_deref(),
            _ => None,
        }
    }

    /// Returns the same description with another [`default_text`](Self::default_text). Elements
    /// that are not of a simple type are unchanged.
    #[must_use]
    pub fn with_default(self, text: impl Into<Cow<'static, str>>) -> Self {
        let default = Some(text.into());
        match self {
            Element::Simple(simple) => Element::Simple(SimpleElement { default, ..simple }),
            Element::Union(union) => Element::Union(UnionElement { default, ..union }),
            other => other,
        }
    }

    /// Like [`with_default`](Self::with_default), but also for an element with text beside
    /// attributes: `text` describes that text with the default; [`View::text`] returns it without.
    #[must_use]
    pub fn with_text_default(self, default: impl Into<Cow<'static, str>>, text: ElementRef) -> Self {
        match self {
            Element::Complex(complex) if complex.text.is_some() => {
                Element::Complex(ComplexElement { text: Some(text), ..complex })
            }
            other => other.with_default(default),
        }
    }

    /// Returns true if an attribute of this name is allowed beside `xsi:nil`: one that a complex
    /// type declares or allows, or any attribute on content without a schema. Markup attributes are
    /// not.
    pub fn takes_beside_nil(&self, name: &QName) -> bool {
        match self {
            Element::Complex(complex) => complex.names_attribute(name) || complex.takes_other(name),
            Element::Any | Element::Open(_) => !complex::is_part_of_markup(name),
            Element::Simple(_) | Element::Union(_) | Element::Array(_) | Element::Shared(_) => false,
        }
    }

    /// Returns true for text that is a name: its prefix has a meaning only at its position.
    pub fn is_name(&self) -> bool {
        matches!(self, Element::Simple(SimpleElement { base: Builtin::QName | Builtin::Notation, .. }))
    }

    /// Returns the same description with another [`type_name`](Self::type_name). Descriptions
    /// without a type name are unchanged.
    #[must_use]
    pub fn with_name(self, name: QName) -> Self {
        match self {
            Element::Simple(simple) => Element::Simple(SimpleElement { name, ..simple }),
            Element::Complex(complex) => Element::Complex(ComplexElement { name, ..complex }),
            Element::Array(array) => Element::Array(ArrayElement { name, ..array }),
            Element::Union(union) => Element::Union(UnionElement { name, ..union }),
            Element::Any | Element::Open(_) | Element::Shared(_) => self,
        }
    }
}
