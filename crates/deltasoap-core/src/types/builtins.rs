//! Simple values: one variant per built-in type.

use crate::decode::{self, Cursor, FlatSource, Step};
use crate::encode::Encoder;
use crate::schema::{Builtin, View};
use deltasoap_xml::lexical::{self, Lexical, LexicalError};
use deltasoap_xml::{Buffer, Escape};
use std::borrow::Cow;
use std::fmt;

macro_rules! simple {
    ($($variant:ident($type:ty)),* $(,)?) => {
        /// A value of a built-in simple type.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Simple {
            $(#[doc = concat!("See [`Builtin::", stringify!($variant), "`].")] $variant($type),)*
            /// A value of a [union](crate::schema::UnionElement) that is written with its original
            /// text.
            NonCanonical(Box<NonCanonical>),
            /// The values of a [list](crate::schema::UnionElement::list), including names.
            List(Box<[Simple]>),
        }

        impl Simple {
            /// Returns the zero or empty value of a type.
            pub fn vacant(builtin: Builtin) -> Self {
                match builtin { $(Builtin::$variant => Simple::$variant(<$type as Lexical>::vacant()),)* }
            }

            /// Parses a text.
            ///
            /// # Errors
            /// Returns an error if the text is not of the type.
            pub fn parse(builtin: Builtin, text: &str) -> Result<Self, LexicalError> {
                Ok(match builtin { $(Builtin::$variant => Simple::$variant(<$type as Lexical>::parse(text)?),)* })
            }

            /// Returns the type.
            pub fn builtin(&self) -> Builtin {
                match self {
                    $(Simple::$variant(_) => Builtin::$variant,)*
                    Simple::NonCanonical(given) => given.value.builtin(),
                    Simple::List(_) => Builtin::Token,
                }
            }

            pub(crate) fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
                match self {
                    $(Simple::$variant(value) => decode::simple::decode(value, cursor, view),)*
                    Simple::NonCanonical(given) => given.value.decode(cursor, view),
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
                    Simple::NonCanonical(_) | Simple::List(_) => None,
                }
            }

            /// Like [`scan_flat`](Self::scan_flat), but creates the value in place.
            #[inline]
            #[cfg(feature = "values")]
            pub(crate) fn fill_flat<S: FlatSource, P: From<Simple>>(place: &mut P, scan: &mut S, builtin: Builtin) -> Option<()> {
                match builtin {
                    $(Builtin::$variant => {
                        let mut value = <$type as Lexical>::vacant();
                        scan.leaf(&mut value)?;
                        *place = P::from(Simple::$variant(value));
                    })*
                }
                Some(())
            }

            #[inline]
            #[cfg(feature = "values")]
            pub(crate) fn write_flat<S: crate::encode::FlatSink>(&self, sink: &mut S) {
                match self {
                    $(Simple::$variant(value) => sink.leaf(value),)*
                    Simple::NonCanonical(given) => given.value.write_flat(sink),
                    Simple::List(_) => sink.leaf(&self.to_string()),
                }
            }

            pub(crate) fn leaf(&self, encoder: &mut Encoder) {
                match self {
                    $(Simple::$variant(value) => encoder.leaf(value),)*
                    Simple::NonCanonical(given) => encoder.leaf(&given.text),
                    Simple::List(_) => encoder.leaf(&self.to_string()),
                }
            }

            #[cfg(feature = "values")]
            pub(crate) fn attribute_text(&self, encoder: &mut Encoder, name: &crate::QName) {
                match self {
                    $(Simple::$variant(value) => encoder.attribute_value(name, value),)*
                    Simple::NonCanonical(given) => encoder.attribute(name, &given.text),
                    Simple::List(_) => encoder.attribute(name, &self.to_string()),
                }
            }

            fn format(&self, out: &mut Buffer) {
                match self {
                    $(Simple::$variant(value) => value.format(out, Escape::Text),)*
                    Simple::NonCanonical(given) => given.text.format(out, Escape::Text),
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

/// A value with a text that is not its canonical form.
#[derive(Debug, Clone, PartialEq)]
pub struct NonCanonical {
    /// The value.
    pub value: Simple,
    /// The text, without surrounding white space.
    pub text: String,
}

impl fmt::Display for Simple {
    /// Writes the text before escaping for a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Simple::String(text) = self {
            return f.write_str(text);
        }
        let mut out = Buffer::new();
        self.format(&mut out);
        f.write_str(&unescaped(&String::from_utf8_lossy(out.as_slice())))
    }
}

/// Reverses [`Escape::Text`].
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&#13;", "\r").replace("&#xD;", "\r");
    Cow::Owned(plain.replace("&amp;", "&"))
}
