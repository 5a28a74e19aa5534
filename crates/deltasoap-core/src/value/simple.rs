//! Simple values: one variant a built-in type.

use super::Value;
use crate::decode::Names;
use crate::decode::{self, Cursor, FlatSource, Step};
use crate::encode::{Encoder, FlatSink};
use crate::schema::{Builtin, Element, QName, SimpleElement, UnionElement, View};
use deltasoap_xml::lexical::{self, Lexical, LexicalError};
use deltasoap_xml::{Buffer, Escape};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

macro_rules! simple {
    ($($variant:ident($type:ty)),* $(,)?) => {
        /// A value of a built-in simple type.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Simple {
            $(#[doc = concat!("See [`Builtin::", stringify!($variant), "`].")] $variant($type),)*
            /// A value of a [union](UnionElement) that is written with the text that it came with.
            Given(Box<Given>),
            /// The values of a [list](UnionElement::list), names among them.
            List(Box<[Simple]>),
        }

        impl Simple {
            /// Zero, empty.
            pub fn vacant(builtin: Builtin) -> Self {
                match builtin { $(Builtin::$variant => Simple::$variant(<$type as Lexical>::vacant()),)* }
            }

            /// Reads a text.
            ///
            /// # Errors
            /// When the text is not of the type.
            pub fn parse(builtin: Builtin, text: &str) -> Result<Self, LexicalError> {
                Ok(match builtin { $(Builtin::$variant => Simple::$variant(<$type as Lexical>::parse(text)?),)* })
            }

            /// The type.
            pub fn builtin(&self) -> Builtin {
                match self {
                    $(Simple::$variant(_) => Builtin::$variant,)*
                    Simple::Given(given) => given.value.builtin(),
                    Simple::List(_) => Builtin::Token,
                }
            }

            pub(crate) fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
                match self {
                    $(Simple::$variant(value) => decode::simple::decode(value, cursor, view),)*
                    Simple::Given(given) => given.value.decode(cursor, view),
                    Simple::List(_) => {
                        *self = Simple::Token(lexical::Token::vacant());
                        self.decode(cursor, view)
                    }
                }
            }

            #[inline]
            pub(crate) fn scan_flat<S: FlatSource>(&mut self, scan: &mut S) -> Option<()> {
                match self {
                    $(Simple::$variant(value) => scan.leaf(value),)*
                    Simple::Given(_) | Simple::List(_) => None,
                }
            }

            /// As [`scan_flat`](Self::scan_flat), made where it stays.
            #[inline]
            pub(super) fn fill_flat<S: FlatSource>(place: &mut Value, scan: &mut S, builtin: Builtin) -> Option<()> {
                match builtin {
                    $(Builtin::$variant => {
                        let mut value = <$type as Lexical>::vacant();
                        scan.leaf(&mut value)?;
                        *place = Value::Simple(Simple::$variant(value));
                    })*
                }
                Some(())
            }

            #[inline]
            pub(super) fn write_flat<S: FlatSink>(&self, sink: &mut S) {
                match self {
                    $(Simple::$variant(value) => sink.leaf(value),)*
                    Simple::Given(given) => given.value.write_flat(sink),
                    Simple::List(_) => sink.leaf(&self.to_string()),
                }
            }

            pub(crate) fn leaf(&self, encoder: &mut Encoder) {
                match self {
                    $(Simple::$variant(value) => encoder.leaf(value),)*
                    Simple::Given(given) => encoder.leaf(&given.text),
                    Simple::List(_) => encoder.leaf(&self.to_string()),
                }
            }

            fn attribute_text(&self, encoder: &mut Encoder, name: &QName) {
                match self {
                    $(Simple::$variant(value) => encoder.attribute_value(name, value),)*
                    Simple::Given(given) => encoder.attribute(name, &given.text),
                    Simple::List(_) => encoder.attribute(name, &self.to_string()),
                }
            }

            fn format(&self, out: &mut Buffer) {
                match self {
                    $(Simple::$variant(value) => value.format(out, Escape::Text),)*
                    Simple::Given(given) => given.text.format(out, Escape::Text),
                    Simple::List(items) => {
                        let texts: Vec<_> = items.iter().map(Simple::to_string).collect();
                        texts.join(" ").format(out, Escape::Text);
                    }
                }
            }
        }
    };
}

simple! {
    String(String), NormalizedString(lexical::NormalizedString), Token(lexical::Token),
    Language(lexical::Language), Name(lexical::Name), NcName(lexical::NcName), NmToken(lexical::NmToken),
    NmTokens(lexical::NmTokens), Id(lexical::Id), IdRef(lexical::IdRef), IdRefs(lexical::IdRefs),
    Entity(lexical::Entity), Entities(lexical::Entities), Boolean(bool), Byte(i8), Short(i16), Int(i32),
    Long(i64), UnsignedByte(u8), UnsignedShort(u16), UnsignedInt(u32), UnsignedLong(u64),
    Integer(Box<lexical::BigInt>), NonNegativeInteger(Box<lexical::NonNegativeInteger>),
    PositiveInteger(Box<lexical::PositiveInteger>), NonPositiveInteger(Box<lexical::NonPositiveInteger>),
    NegativeInteger(Box<lexical::NegativeInteger>), Decimal(Box<lexical::Decimal>), Float(f32), Double(f64),
    Date(lexical::Date), Time(lexical::Time), DateTime(lexical::DateTime), Duration(lexical::Duration),
    GYear(lexical::GYear), GYearMonth(lexical::GYearMonth), GMonth(lexical::GMonth),
    GMonthDay(lexical::GMonthDay), GDay(lexical::GDay), Base64Binary(lexical::Base64),
    HexBinary(lexical::Hex), AnyUri(lexical::AnyUri), QName(lexical::QName), Notation(lexical::Notation),
}

/// A value with a text that is not its canonical one.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The value.
    pub value: Simple,
    /// The text, without white space around it.
    pub text: String,
}

impl Simple {
    /// Reads a text of a type that may enumerate its values.
    ///
    /// # Errors
    /// When the text is not of the type, or not one of those values.
    pub fn parse_as(element: &SimpleElement, text: &str) -> Result<Self, LexicalError> {
        let value = Simple::parse(element.base, text)?;
        if value.is_one_of(element) {
            return Ok(value);
        }
        Err(LexicalError { expected: element.base.local(), reason: "not one of the enumerated values" })
    }

    /// Reads a text of a union: its value is that of the first member that accepts it (XSD 1.0 part 2, 2.5.1.3), with the text where
    /// it would be written with another one. Names are `{namespace}local`, as [`named`](Self::named) takes them. `None` if no member
    /// accepts the text. The view is the union's.
    pub fn parse_union(union: &UnionElement, view: View<'_>, text: &str) -> Option<Self> {
        Self::parse_union_in(union, view, text, &QName::from_expanded)
    }

    /// The same where names are what their place says that they are.
    pub(super) fn parse_union_in(union: &UnionElement, view: View<'_>, text: &str, names: Names<'_>) -> Option<Self> {
        if !union.list {
            return Self::parse_member(union, view, text, names);
        }
        let items = text.split_ascii_whitespace().map(|text| Self::parse_member(union, view, text, names));
        items.collect::<Option<_>>().map(Simple::List)
    }

    fn parse_member(union: &UnionElement, view: View<'_>, text: &str, names: Names<'_>) -> Option<Self> {
        let value = union.members.iter().find_map(|&member| match view.follow(member).element {
            Element::Union(list) if list.list => Simple::parse_union_in(list, view.follow(member), text, names),
            Element::Simple(simple) if is_name(simple.base) => Simple::named_in(simple.base, text, names).ok(),
            Element::Simple(simple) => Simple::parse_as(simple, text).ok(),
            _ => None,
        })?;
        let given = text.trim_ascii();
        match value.builtin().has_several_texts() && value.to_string() != given {
            true => Some(Simple::Given(Box::new(Given { value, text: given.to_owned() }))),
            false => Some(value),
        }
    }

    /// True for a value that an element of this type is written with.
    pub(super) fn is_of(&self, base: Builtin) -> bool {
        self.builtin() == base && !matches!(self, Simple::Given(_) | Simple::List(_))
    }

    /// A value of `xsd:QName` or `xsd:NOTATION` as [`QName`] shows it: `{namespace}local`, or `local` for one in no namespace.
    ///
    /// # Errors
    /// When the text is not that.
    pub fn named(builtin: Builtin, text: &str) -> Result<Self, LexicalError> {
        let (namespace, local) = text.strip_prefix('{').and_then(|rest| rest.rsplit_once('}')).unwrap_or(("", text));
        let name = match builtin {
            Builtin::Notation => lexical::Notation::expanded(namespace, local).map(Simple::Notation),
            _ => lexical::QName::expanded(namespace, local).map(Simple::QName),
        };
        name.ok_or(LexicalError { expected: builtin.local(), reason: "not a name" })
    }

    /// The same for a text whose prefixes `names` knows.
    pub(super) fn named_in(builtin: Builtin, text: &str, names: Names<'_>) -> Result<Self, LexicalError> {
        let name = names(text.trim_ascii()).ok_or(LexicalError { expected: builtin.local(), reason: "not a name" })?;
        Simple::named(builtin, &name.to_string())
    }

    /// Writes the value as an attribute.
    pub(super) fn attribute(&self, encoder: &mut Encoder, name: &QName) {
        match self.text_of_names(encoder) {
            Some(text) => encoder.attribute(name, &text),
            None => self.attribute_text(encoder, name),
        }
    }

    /// Writes the value as the text of the element just opened.
    pub(super) fn text(&self, encoder: &mut Encoder) {
        match self.text_of_names(encoder) {
            Some(text) => encoder.text(&text),
            None => self.leaf(encoder),
        }
    }

    /// An attribute's text that holds names, which are what `names` says; `None` for other text. The view is the attribute's.
    pub(super) fn holding_names(view: View<'_>, text: &str, names: Names<'_>) -> Option<Self> {
        let value = match view.element {
            Element::Simple(simple) if is_name(simple.base) => Simple::named_in(simple.base, text, names).ok(),
            Element::Union(union) => Simple::parse_union_in(union, view, text, names),
            _ => None,
        };
        value.filter(Simple::holds_names)
    }

    fn holds_names(&self) -> bool {
        match self {
            Simple::List(items) => items.iter().any(Simple::holds_names),
            value => is_name(value.builtin()),
        }
    }

    /// The text of names whose prefixes are yet to be chosen, with prefixes that are then declared.
    fn text_of_names(&self, encoder: &mut Encoder) -> Option<String> {
        let (namespace, local) = match self {
            Simple::QName(name) => name.parts(),
            Simple::Notation(name) => name.parts(),
            Simple::List(items) => {
                let text = |item: &Simple| item.text_of_names(encoder).unwrap_or_else(|| item.to_string());
                return Some(items.iter().map(text).collect::<Vec<_>>().join(" "));
            }
            _ => None,
        }?;
        Some(encoder.qname_text(&QName::owned(namespace, local)))
    }

    /// True if both are the same value (XSD 1.0 part 2, 4.2.1), whatever their texts: not-a-number is itself, and a moment is the same in
    /// all time zones.
    fn is_same_value(&self, other: &Simple) -> bool {
        let is_same = match (self, other) {
            (Simple::Double(one), Simple::Double(other)) => one.is_nan() && other.is_nan(),
            (Simple::Float(one), Simple::Float(other)) => one.is_nan() && other.is_nan(),
            (Simple::DateTime(one), Simple::DateTime(other)) => one.compare(other) == Some(Ordering::Equal),
            (Simple::Date(one), Simple::Date(other)) => one.compare(other) == Some(Ordering::Equal),
            (Simple::Time(one), Simple::Time(other)) => one.compare(other) == Some(Ordering::Equal),
            (Simple::Duration(one), Simple::Duration(other)) => one.compare(other) == Some(Ordering::Equal),
            _ => false,
        };
        is_same || self == other
    }

    /// True if the value is one of the type's enumerated ones, or the type has none. Values are compared, not texts:
    /// `1.0` and `1` are one decimal (XSD 1.0 part 2, 4.3.5).
    pub(super) fn is_one_of(&self, element: &SimpleElement) -> bool {
        if element.enumeration.is_empty() {
            return true;
        }
        // Most values stand there as they are written. Only the others are compared one by one, which takes a parsing each.
        let text = match self {
            Simple::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        };
        if element.enumeration.contains(&text) {
            return true;
        }
        if element.base == Builtin::String {
            return false;
        }
        let is_this =
            |allowed: &Cow<'_, str>| Simple::parse(element.base, allowed).is_ok_and(|it| self.is_same_value(&it));
        element.enumeration.iter().any(is_this)
    }
}

impl fmt::Display for Simple {
    /// The text as it is before it is escaped for a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Simple::String(text) = self {
            return f.write_str(text);
        }
        let mut out = Buffer::new();
        self.format(&mut out);
        f.write_str(&unescaped(&String::from_utf8_lossy(out.as_slice())))
    }
}

/// True for names: their prefixes are declared around them.
pub(super) fn is_name(base: Builtin) -> bool {
    matches!(base, Builtin::QName | Builtin::Notation)
}

/// Takes back what [`Escape::Text`] does.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&#13;", "\r").replace("&#xD;", "\r");
    Cow::Owned(plain.replace("&amp;", "&"))
}
