//! Single columns as arrays.

use crate::moments::microseconds;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, StringArray};
use arrow_buffer::NullBuffer;
use deltasoap_core::Column;
use std::sync::Arc;

/// Copies a column into an array. `nil` is true where an item is nil, and empty if none can be.
///
/// Moments have a zone, UTC, if one of them has any: unlike in a [`MessageSchema`](crate::MessageSchema),
/// the column alone determines the type.
pub fn column_array(column: &Column, nil: &[bool]) -> ArrayRef {
    let valid = (!nil.is_empty()).then(|| NullBuffer::from_iter(nil.iter().map(|nil| !nil)));
    fn numbers<T: ArrowPrimitiveType>(items: &[T::Native], valid: Option<NullBuffer>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::new(items.to_vec().into(), valid))
    }
    match column {
        Column::Boolean(items) => Arc::new(BooleanArray::new(items.clone().into(), valid)),
        Column::Byte(items) => numbers::<Int8Type>(items, valid),
        Column::Short(items) => numbers::<Int16Type>(items, valid),
        Column::Int(items) => numbers::<Int32Type>(items, valid),
        Column::Long(items) => numbers::<Int64Type>(items, valid),
        Column::UnsignedByte(items) => numbers::<UInt8Type>(items, valid),
        Column::UnsignedShort(items) => numbers::<UInt16Type>(items, valid),
        Column::UnsignedInt(items) => numbers::<UInt32Type>(items, valid),
        Column::UnsignedLong(items) => numbers::<UInt64Type>(items, valid),
        Column::Float(items) => numbers::<Float32Type>(items, valid),
        Column::Double(items) => numbers::<Float64Type>(items, valid),
        Column::DateTime(items) => {
            let moments = items.iter().enumerate().map(|(index, item)| match nil.get(index) {
                Some(true) => None,
                _ => microseconds(item),
            });
            let moments: PrimitiveArray<TimestampMicrosecondType> = moments.collect();
            match items.iter().any(|item| item.zone().is_some()) {
                true => Arc::new(moments.with_timezone("UTC")),
                false => Arc::new(moments),
            }
        }
        Column::String(items) => {
            let texts = items.iter().enumerate().map(|(index, item)| match nil.get(index) {
                Some(true) => None,
                _ => Some(item.as_str()),
            });
            Arc::new(texts.collect::<StringArray>())
        }
        other => Arc::new(other.iter().map(|item| Some(item.to_string())).collect::<StringArray>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array as _;
    use arrow_array::cast::AsArray as _;

    #[test]
    fn numbers_are_copied_with_their_nulls() {
        let array = column_array(&Column::Double(vec![0.5, 0.0, -2.0]), &[false, true, false]);
        let numbers: Vec<_> = array.as_primitive::<Float64Type>().iter().collect();
        assert_eq!(numbers, [Some(0.5), None, Some(-2.0)]);
        assert_eq!(column_array(&Column::String(vec!["a".into()]), &[]).as_string::<i32>().value(0), "a");
        assert_eq!(column_array(&Column::Boolean(vec![true]), &[]).null_count(), 0);
    }
}
