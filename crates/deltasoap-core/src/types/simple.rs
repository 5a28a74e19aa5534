//! The built-in simple types as content.

use crate::schema::{Builtin, Element, EnumerationValues, QName, SimpleElement};
use crate::{Lexical, SimpleType, Typed, lexical};

/// Implements [`Content`](crate::Content) for a type by its text form. For types with the
/// [`Lexical`](crate::Lexical) trait that are element content: the built-in types here,
/// enumerations by the derive macro.
#[macro_export]
macro_rules! simple_content {
    ($type:ty $(, $parameter:ident: $bound:path)?) => {
        $crate::simple_content!(@with false, $crate::decode::simple::decode, $crate::encode::leaf, $crate::decode::flat::leaf, $type $(, $parameter: $bound)?);
    };
    // A type that compiles small.
    (compact $type:ty) => {
        $crate::simple_content!(@with true, $crate::enumeration::decode, $crate::enumeration::encode, $crate::enumeration::scan_flat, $type);
    };
    (@with $compact:literal, $decode:path, $encode:path, $scan:path, $type:ty $(, $parameter:ident: $bound:path)?) => {
        impl$(<$parameter: $bound + 'static>)? $crate::Content for $type {
            const REPLACES: bool = true;

            #[inline(always)]
            fn vacant(_: $crate::schema::View<'_>) -> Self {
                <$type as $crate::Lexical>::vacant()
            }

            fn decode(
                &mut self,
                cursor: &mut $crate::decode::Cursor<'_>,
                view: $crate::schema::View<'_>,
            ) -> $crate::decode::Step {
                $decode(self, cursor, view)
            }

            fn encode(&self, encoder: &mut $crate::encode::Encoder, view: $crate::schema::View<'_>) {
                $encode(self, encoder, view);
            }
        }

        impl$(<$parameter: $bound + 'static>)? $crate::content::Shortcuts for $type {
            const COMPACT: bool = $compact;

            #[inline(always)]
            fn flat_leaves(_: $crate::schema::View<'_>) -> ::core::option::Option<usize> {
                ::core::option::Option::Some(1)
            }

            #[inline(always)]
            fn scan_flat<S: $crate::decode::FlatSource>(
                &mut self,
                scan: &mut S,
                _: $crate::schema::View<'_>,
            ) -> ::core::option::Option<()> {
                $scan(self, scan)
            }

            #[inline]
            fn count_same(items: &[Self], images: &[u8]) -> usize {
                <$type as $crate::Lexical>::count_same(items, images)
            }

            #[inline(always)]
            fn write_flat<S: $crate::encode::FlatSink>(&self, sink: &mut S, _: $crate::schema::View<'_>) {
                sink.leaf(self);
            }
        }
    };
}

macro_rules! builtin_content {
    ($($type:ty = $builtin:ident),* $(,)?) => {$(
        simple_content!($type);

        impl Typed for $type {
            const TYPE_NAME: QName = Builtin::$builtin.name();

            fn element() -> &'static Element {
                static ELEMENT: Element = Element::Simple(SimpleElement {
                    name: Builtin::$builtin.name(),
                    base: Builtin::$builtin,
                    enumeration: EnumerationValues::ANY,
                    default: None,
                    packed: None,
                });
                &ELEMENT
            }
        }

        impl SimpleType for $type {
            const BASE: Builtin = Builtin::$builtin;
        }
    )*};
}

builtin_content! {
    i8 = Byte, i16 = Short, i32 = Int, i64 = Long,
    u8 = UnsignedByte, u16 = UnsignedShort, u32 = UnsignedInt, u64 = UnsignedLong,
    f32 = Float, f64 = Double, bool = Boolean, String = String,
    lexical::BigInt = Integer, lexical::NonNegativeInteger = NonNegativeInteger,
    lexical::PositiveInteger = PositiveInteger, lexical::NonPositiveInteger = NonPositiveInteger,
    lexical::NegativeInteger = NegativeInteger, lexical::Decimal = Decimal,
    lexical::Date = Date, lexical::Time = Time, lexical::DateTime = DateTime, lexical::Duration = Duration,
    lexical::GYear = GYear, lexical::GYearMonth = GYearMonth, lexical::GMonth = GMonth,
    lexical::GMonthDay = GMonthDay, lexical::GDay = GDay,
    lexical::Base64 = Base64Binary, lexical::Hex = HexBinary,
    lexical::NormalizedString = NormalizedString, lexical::Token = Token, lexical::Language = Language,
    lexical::Name = Name, lexical::NcName = NcName, lexical::NmToken = NmToken, lexical::NmTokens = NmTokens,
    lexical::Id = Id, lexical::IdRef = IdRef, lexical::IdRefs = IdRefs, lexical::Entity = Entity,
    lexical::Entities = Entities, lexical::AnyUri = AnyUri, lexical::QName = QName,
    lexical::Notation = Notation,
}

simple_content!(lexical::List<T>, T: Lexical);

/// The list has no name: in SOAP encoding no `xsi:type` is written.
impl<T: Lexical + 'static> Typed for lexical::List<T> {
    const TYPE_NAME: QName = QName::new("", "");

    fn element() -> &'static Element {
        static ELEMENT: Element = Element::Simple(SimpleElement {
            name: QName::new("", ""),
            base: Builtin::Token,
            enumeration: EnumerationValues::ANY,
            default: None,
            packed: None,
        });
        &ELEMENT
    }
}

impl<T: Lexical + 'static> SimpleType for lexical::List<T> {
    const BASE: Builtin = Builtin::Token;
}
