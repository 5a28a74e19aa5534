//! The built-in simple types of XSD 1.0, as codes.

use super::QName;
use crate::ns;

macro_rules! builtins {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// A built-in simple type of XSD 1.0 (part 2, section 3).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Builtin {
            $(#[doc = concat!("`xsd:", $name, "`")] $variant,)*
        }

        impl Builtin {
            /// All built-in types.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$variant),*];

            /// Returns the local name in the XSD namespace.
            pub const fn local(self) -> &'static str {
                match self { $(Builtin::$variant => $name,)* }
            }

            /// Returns the type with this local name.
            pub fn from_local(local: &str) -> Option<Builtin> {
                match local { $($name => Some(Builtin::$variant),)* _ => None }
            }
        }
    };
}

builtins! {
    String = "string", NormalizedString = "normalizedString", Token = "token", Language = "language",
    Name = "Name", NcName = "NCName", NmToken = "NMTOKEN", NmTokens = "NMTOKENS", Id = "ID", IdRef = "IDREF",
    IdRefs = "IDREFS", Entity = "ENTITY", Entities = "ENTITIES", Boolean = "boolean", Byte = "byte",
    Short = "short", Int = "int", Long = "long", UnsignedByte = "unsignedByte", UnsignedShort = "unsignedShort",
    UnsignedInt = "unsignedInt", UnsignedLong = "unsignedLong", Integer = "integer",
    NonNegativeInteger = "nonNegativeInteger", PositiveInteger = "positiveInteger",
    NonPositiveInteger = "nonPositiveInteger", NegativeInteger = "negativeInteger", Decimal = "decimal",
    Float = "float", Double = "double", Date = "date", Time = "time", DateTime = "dateTime",
    Duration = "duration", GYear = "gYear", GYearMonth = "gYearMonth", GMonth = "gMonth",
    GMonthDay = "gMonthDay", GDay = "gDay", Base64Binary = "base64Binary", HexBinary = "hexBinary",
    AnyUri = "anyURI", QName = "QName", Notation = "NOTATION",
}

impl Builtin {
    /// Returns the expanded name.
    pub const fn name(self) -> QName {
        QName::new(ns::XSD, self.local())
    }

    /// Returns true if one value can have several texts that differ in more than white space, such
    /// as `1` and `01`: numbers, booleans, dates, hexadecimal octets.
    pub fn has_several_texts(self) -> bool {
        use Builtin as B;
        let primitive = std::iter::successors(Some(self), |it| it.base()).last();
        let is_one = |of: &[Builtin]| primitive.is_some_and(|it| of.contains(&it));
        is_one(&[B::Boolean, B::Decimal, B::Float, B::Double, B::HexBinary])
            || is_one(&[
                B::Date,
                B::Time,
                B::DateTime,
                B::Duration,
                B::GYear,
                B::GYearMonth,
                B::GMonth,
                B::GMonthDay,
                B::GDay,
            ])
    }

    /// Returns the built-in type that this type restricts (XSD 1.0 part 2, section 3); `None` for
    /// primitive types and for lists.
    pub const fn base(self) -> Option<Builtin> {
        use Builtin as B;
        Some(match self {
            B::NormalizedString => B::String,
            B::Token => B::NormalizedString,
            B::Language | B::Name | B::NmToken => B::Token,
            B::NcName => B::Name,
            B::Id | B::IdRef | B::Entity => B::NcName,
            B::Integer => B::Decimal,
            B::NonPositiveInteger | B::NonNegativeInteger | B::Long => B::Integer,
            B::NegativeInteger => B::NonPositiveInteger,
            B::PositiveInteger | B::UnsignedLong => B::NonNegativeInteger,
            B::Int => B::Long,
            B::Short => B::Int,
            B::Byte => B::Short,
            B::UnsignedInt => B::UnsignedLong,
            B::UnsignedShort => B::UnsignedInt,
            B::UnsignedByte => B::UnsignedShort,
            _ => return None,
        })
    }
}
