//! Encoding of values: numbers, texts, lists, and everything made of them.
//!
//! Structs are stored field by field, in the order in which [`stored_struct!`] names the fields,
//! and enums by the number of the variant. Nothing is skipped and nothing is aligned: a file is
//! read once, from front to back.

use super::Fault;
use super::reader::Reader;
use super::writer::Writer;
use deltasoap_core::QName;
use deltasoap_core::schema::{EnumerationValues, NamePart};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::Arc;

/// A value in a compiled WSDL.
pub(super) trait Stored: Sized {
    fn write(&self, to: &mut Writer);

    /// Reads the next value.
    fn read(from: &mut Reader<'_>) -> Result<Self, Fault>;
}

/// Implements [`Stored`] for structs: their fields in order. A missing field is a compile error.
macro_rules! stored_struct {
    ($($type:ty { $($field:ident),* $(,)? })*) => {$(
        impl $crate::compiled::stored::Stored for $type {
            fn write(&self, to: &mut $crate::compiled::writer::Writer) {
                let Self { $($field),* } = self;
                $($crate::compiled::stored::Stored::write($field, to);)*
            }

            fn read(from: &mut $crate::compiled::reader::Reader<'_>) -> Result<Self, $crate::compiled::Fault> {
                Ok(Self { $($field: $crate::compiled::stored::Stored::read(from)?),* })
            }
        }
    )*};
}

/// Implements [`Stored`] for enums: the number of the variant, then its fields.
macro_rules! stored_enum {
    ($($type:ty { $($number:literal = $variant:ident $(($($field:ident),*))?),* $(,)? })*) => {$(
        impl $crate::compiled::stored::Stored for $type {
            fn write(&self, to: &mut $crate::compiled::writer::Writer) {
                match self {
                    $(Self::$variant $(($($field),*))? => {
                        to.byte($number);
                        $($($crate::compiled::stored::Stored::write($field, to);)*)?
                    })*
                }
            }

            fn read(from: &mut $crate::compiled::reader::Reader<'_>) -> Result<Self, $crate::compiled::Fault> {
                match from.byte()? {
                    $($number => Ok(Self::$variant $(($({
                        let $field = $crate::compiled::stored::Stored::read(from)?;
                        $field
                    }),*))?),)*
                    _ => Err($crate::compiled::Fault::Content("an enum has no such variant")),
                }
            }
        }
    )*};
}

pub(super) use {stored_enum, stored_struct};

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Stored for $type {
            fn write(&self, to: &mut Writer) {
                to.number(*self as u64);
            }

            fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
                <$type>::try_from(from.number()?).map_err(|_| Fault::Content("a number is too large"))
            }
        }
    )*};
}

numbers!(u32, u64, usize);

impl Stored for bool {
    fn write(&self, to: &mut Writer) {
        to.byte(u8::from(*self));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        match from.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Fault::Content("a flag is neither 0 nor 1")),
        }
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, to: &mut Writer) {
        self.is_some().write(to);
        self.iter().for_each(|it| it.write(to));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        if bool::read(from)? { T::read(from).map(Some) } else { Ok(None) }
    }
}

impl<T: Stored> Stored for Arc<T> {
    fn write(&self, to: &mut Writer) {
        (**self).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        T::read(from).map(Arc::new)
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, to: &mut Writer) {
        self.len().write(to);
        self.iter().for_each(|it| it.write(to));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        let count = from.count()?;
        from.deeper(|from| from.items(count, T::read))
    }
}

impl<T: Stored> Stored for Box<T> {
    fn write(&self, to: &mut Writer) {
        (**self).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        T::read(from).map(Box::new)
    }
}

impl<T: Stored + Clone> Stored for Cow<'static, [T]> {
    fn write(&self, to: &mut Writer) {
        self.len().write(to);
        self.iter().for_each(|it| it.write(to));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        Vec::read(from).map(Cow::Owned)
    }
}

impl<K: Stored + Ord + Hash, V: Stored> Stored for HashMap<K, V> {
    /// Writes entries in the order of the keys: the same import gives the same bytes.
    fn write(&self, to: &mut Writer) {
        let mut all: Vec<(&K, &V)> = self.iter().collect();
        all.sort_unstable_by_key(|&(key, _)| key);
        all.len().write(to);
        for (key, value) in all {
            key.write(to);
            value.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        let count = from.count()?;
        let pairs = from.deeper(|from| from.items(count, <(K, V)>::read))?;
        Ok(pairs.into_iter().collect())
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn write(&self, to: &mut Writer) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

macro_rules! texts {
    ($($type:ty),*) => {$(
        impl Stored for $type {
            fn write(&self, to: &mut Writer) {
                to.text(self);
            }

            fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
                Ok(from.text()?.into())
            }
        }
    )*};
}

texts!(String, Box<str>, NamePart);

impl Stored for Cow<'static, str> {
    fn write(&self, to: &mut Writer) {
        to.text(self);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(match from.text()? {
            // Most names of attributes and parts have no namespace.
            "" => Cow::Borrowed(""),
            text => Cow::Owned(text.to_owned()),
        })
    }
}

impl Stored for EnumerationValues {
    fn write(&self, to: &mut Writer) {
        to.list(self);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        from.list()
    }
}

stored_struct! {
    QName { namespace, local }
}

impl Stored for PathBuf {
    /// Paths that are not UTF-8 lose their other bytes: they are for messages.
    fn write(&self, to: &mut Writer) {
        to.text(&self.to_string_lossy());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(from.text()?.into())
    }
}

impl Stored for url::Url {
    fn write(&self, to: &mut Writer) {
        to.text(self.as_str());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Fault> {
        url::Url::parse(from.text()?).map_err(|_| Fault::Content("a location is not a URL"))
    }
}
