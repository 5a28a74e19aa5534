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
            /// Every built-in type.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$variant),*];

            /// The local name in XSD's namespace.
            pub const fn local(self) -> &'static str {
                match self { $(Builtin::$variant => $name,)* }
            }

            /// The type with this local name.
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
    /// The expanded name.
    pub const fn name(self) -> QName {
        QName::new(ns::XSD, self.local())
    }
}
