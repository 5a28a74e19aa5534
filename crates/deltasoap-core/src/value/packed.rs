//! Packed numbers as dynamic values: the counterpart of [`Packed`], a column of the type that the
//! description names.

use super::{Column, OTHER_SHAPE, Value};
use crate::Packed;
use crate::content::Content;
use crate::decode::{Cursor, Step};
use crate::encode::Encoder;
use crate::encode::complex::Text;
use crate::schema::{Builtin, Element, Packing, SimpleElement, View};
use deltasoap_xml::lexical::{BigEndian, ByteOrder, LexicalError, LittleEndian, PackedNumber};

/// A type of packed numbers, and its column.
trait Item: PackedNumber {
    fn column(values: Vec<Self>) -> Column;

    /// Returns the numbers of a column; `None` if it has another type.
    fn values(column: &Column) -> Option<&Vec<Self>>;

    /// Takes the numbers of a column without a copy; empty if it has another type.
    fn take(column: Column) -> Vec<Self>;
}

macro_rules! items {
    ($($type:ident = $variant:ident),*) => {
        $(impl Item for $type {
            fn column(values: Vec<Self>) -> Column {
                Column::$variant(values)
            }

            fn values(column: &Column) -> Option<&Vec<Self>> {
                match column {
                    Column::$variant(values) => Some(values),
                    _ => None,
                }
            }

            fn take(column: Column) -> Vec<Self> {
                match column {
                    Column::$variant(values) => values,
                    _ => Vec::new(),
                }
            }
        })*
    };
}

items!(
    i16 = Short,
    u16 = UnsignedShort,
    i32 = Int,
    u32 = UnsignedInt,
    i64 = Long,
    u64 = UnsignedLong,
    f32 = Float,
    f64 = Double
);

/// Calls a routine for the number type and byte order of a packing.
macro_rules! with_types {
    ($packing:expr, $routine:ident $arguments:tt, $otherwise:expr) => {
        match $packing.items {
            Builtin::Short => in_order!($packing, $routine, i16, $arguments),
            Builtin::UnsignedShort => in_order!($packing, $routine, u16, $arguments),
            Builtin::Int => in_order!($packing, $routine, i32, $arguments),
            Builtin::UnsignedInt => in_order!($packing, $routine, u32, $arguments),
            Builtin::Long => in_order!($packing, $routine, i64, $arguments),
            Builtin::UnsignedLong => in_order!($packing, $routine, u64, $arguments),
            Builtin::Float => in_order!($packing, $routine, f32, $arguments),
            Builtin::Double => in_order!($packing, $routine, f64, $arguments),
            _ => $otherwise,
        }
    };
}

macro_rules! in_order {
    ($packing:expr, $routine:ident, $type:ident, ($($argument:expr),*)) => {
        if $packing.is_big_endian {
            $routine::<$type, BigEndian>($($argument),*)
        } else {
            $routine::<$type, LittleEndian>($($argument),*)
        }
    };
}

/// Returns the packing of an element's numbers, if they are packed.
pub(super) fn packing_of(element: &Element) -> Option<Packing> {
    match element {
        Element::Simple(SimpleElement { packed, enumeration, .. }) if enumeration.is_empty() => {
            packed.filter(|packing| packing.size() > 0)
        }
        _ => None,
    }
}

impl Column {
    /// Converts bytes, such as those of a part that a [`Value::Part`] refers to, to numbers.
    ///
    /// # Errors
    /// Returns an error if the length is not a multiple of the size of a number, or the type cannot
    /// be packed.
    pub fn from_packed(bytes: &[u8], packing: Packing) -> Result<Self, LexicalError> {
        fn read<T: Item, O: ByteOrder>(bytes: &[u8]) -> Result<Column, LexicalError> {
            Packed::<T, O>::from_bytes(bytes).map(|packed| T::column(packed.into_values().unwrap_or_default()))
        }
        let other = LexicalError { expected: "base64Binary", reason: "not a type whose values are packed" };
        with_types!(packing, read(bytes), Err(other))
    }

    /// Returns true for numbers of this packing.
    pub(super) fn is_of(&self, packing: Packing) -> bool {
        self.builtin() == packing.items
    }
}

/// Reads numbers over earlier ones, reusing their memory.
pub(super) fn decode(value: &mut Value, packing: Packing, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    fn read<T: Item, O: ByteOrder>(value: &mut Value, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let mut packed = match value {
            Value::Packed(column) => {
                let column = std::mem::replace(column, T::column(Vec::new()));
                Packed::<T, O>::from(T::take(column))
            }
            Value::Part(uri) => Packed::Part(uri.clone()),
            _ => Packed::default(),
        };
        let step = packed.decode(cursor, view);
        *value = match packed {
            Packed::Values(text) => Value::Packed(T::column(text.values)),
            Packed::Part(uri) => Value::Part(uri),
        };
        step
    }
    with_types!(packing, read(value, cursor, view), unreachable!("a packing of no numbers"))
}

/// Writes numbers as an element's content.
pub(super) fn encode(column: &Column, packing: Packing, encoder: &mut Encoder, view: View<'_>) {
    fn write<T: Item, O: ByteOrder>(column: &Column, encoder: &mut Encoder, view: View<'_>) {
        match T::values(column) {
            Some(values) => Packed::<T, O>::from(values.clone()).encode(encoder, view),
            None => encoder.fail(OTHER_SHAPE),
        }
    }
    with_types!(packing, write(column, encoder, view), encoder.fail(OTHER_SHAPE));
}

/// Writes numbers as text beside attributes.
pub(super) fn encode_text(column: &Column, packing: Packing, encoder: &mut Encoder) {
    fn write<T: Item, O: ByteOrder>(column: &Column, encoder: &mut Encoder) {
        match T::values(column) {
            Some(values) => Packed::<T, O>::from(values.clone()).encode_text(encoder),
            None => encoder.fail(OTHER_SHAPE),
        }
    }
    with_types!(packing, write(column, encoder), encoder.fail(OTHER_SHAPE));
}
