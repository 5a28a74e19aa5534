//! Growing columns.
//!
//! Arrow's own builders cannot remove rows again. A message can prove impossible to append with its
//! last value, after it has filled many columns: so these can be cut to an earlier length.

use crate::error::Misfit;
use arrow_array::types::{ArrowPrimitiveType, ByteArrayType};
use arrow_array::{ArrayRef, BooleanArray, GenericByteArray, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, BooleanBufferBuilder, Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use std::fmt;
use std::sync::Arc;

/// Values of one size.
pub(crate) struct Numbers<T> {
    values: Vec<T>,
    valid: NullBufferBuilder,
}

impl<T: ArrowNativeType> Numbers<T> {
    pub(crate) fn new() -> Self {
        Numbers { values: Vec::new(), valid: NullBufferBuilder::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        self.values.push(value);
        self.valid.append_non_null();
    }

    pub(crate) fn push_null(&mut self) {
        self.values.push(T::default());
        self.valid.append_null();
    }

    /// Appends many values at once.
    pub(crate) fn extend(&mut self, values: &[T]) {
        self.values.extend_from_slice(values);
        self.valid.append_n_non_nulls(values.len());
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        self.valid.truncate(len);
    }

    pub(crate) fn finish<A: ArrowPrimitiveType<Native = T>>(&mut self) -> PrimitiveArray<A> {
        PrimitiveArray::new(ScalarBuffer::from(std::mem::take(&mut self.values)), self.valid.finish())
    }
}

/// Truth values.
pub(crate) struct Bits {
    values: BooleanBufferBuilder,
    valid: NullBufferBuilder,
}

impl Bits {
    pub(crate) fn new() -> Self {
        Bits { values: BooleanBufferBuilder::new(0), valid: NullBufferBuilder::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn push(&mut self, value: bool) {
        self.values.append(value);
        self.valid.append_non_null();
    }

    pub(crate) fn push_null(&mut self) {
        self.values.append(false);
        self.valid.append_null();
    }

    /// Appends many values at once.
    pub(crate) fn extend(&mut self, values: &[bool]) {
        self.values.append_slice(values);
        self.valid.append_n_non_nulls(values.len());
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        self.valid.truncate(len);
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        Arc::new(BooleanArray::new(self.values.finish(), self.valid.finish()))
    }
}

/// Texts or bytes.
pub(crate) struct Texts {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
    valid: NullBufferBuilder,
}

impl Texts {
    pub(crate) fn new() -> Self {
        Texts { offsets: vec![0], bytes: Vec::new(), valid: NullBufferBuilder::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Appends a value.
    ///
    /// # Errors
    /// If the column is full.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), Misfit> {
        if bytes.len() > i32::MAX as usize - self.bytes.len() {
            return Err(Misfit::Full);
        }
        self.bytes.extend_from_slice(bytes);
        self.end()
    }

    /// Appends what a value is shown as.
    ///
    /// # Errors
    /// If the column is full.
    pub(crate) fn push_shown(&mut self, value: &impl fmt::Display) -> Result<(), Misfit> {
        use std::io::Write as _;
        // Writing to memory does not fail.
        let _ = write!(self.bytes, "{value}");
        self.end()
    }

    /// Appends what `write` writes, or null if it returns false.
    ///
    /// # Errors
    /// Those of `write`, and if the column is full.
    pub(crate) fn push_written(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<bool, Misfit>,
    ) -> Result<(), Misfit> {
        let begin = self.bytes.len();
        match write(&mut self.bytes)? {
            true => self.end(),
            false => {
                self.bytes.truncate(begin);
                self.push_null();
                Ok(())
            }
        }
    }

    /// Appends null. A full column has room for it.
    pub(crate) fn push_null(&mut self) {
        self.offsets.push(self.offsets[self.offsets.len() - 1]);
        self.valid.append_null();
    }

    fn end(&mut self) -> Result<(), Misfit> {
        let end = i32::try_from(self.bytes.len()).map_err(|_| Misfit::Full)?;
        self.offsets.push(end);
        self.valid.append_non_null();
        Ok(())
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.offsets.truncate(len + 1);
        self.bytes.truncate(self.offsets[self.offsets.len() - 1] as usize);
        self.valid.truncate(len);
    }

    pub(crate) fn finish<A: ByteArrayType<Offset = i32>>(&mut self) -> GenericByteArray<A> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.offsets, vec![0])));
        let bytes = Buffer::from_vec(std::mem::take(&mut self.bytes));
        GenericByteArray::new(offsets, bytes, self.valid.finish())
    }
}

/// The ends of lists.
pub(crate) struct Offsets {
    offsets: Vec<i32>,
    valid: NullBufferBuilder,
}

impl Offsets {
    pub(crate) fn new() -> Self {
        Offsets { offsets: vec![0], valid: NullBufferBuilder::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Ends a list, given the number of items in all lists.
    ///
    /// # Errors
    /// If there are too many items.
    pub(crate) fn end(&mut self, items: usize) -> Result<(), Misfit> {
        self.offsets.push(i32::try_from(items).map_err(|_| Misfit::Full)?);
        self.valid.append_non_null();
        Ok(())
    }

    pub(crate) fn push_null(&mut self) {
        self.offsets.push(self.offsets[self.offsets.len() - 1]);
        self.valid.append_null();
    }

    /// Removes lists, and returns the number of items that are left.
    pub(crate) fn truncate(&mut self, len: usize) -> usize {
        self.offsets.truncate(len + 1);
        self.valid.truncate(len);
        self.offsets[self.offsets.len() - 1] as usize
    }

    pub(crate) fn finish(&mut self) -> (OffsetBuffer<i32>, Option<arrow_buffer::NullBuffer>) {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(&mut self.offsets, vec![0])));
        (offsets, self.valid.finish())
    }
}
