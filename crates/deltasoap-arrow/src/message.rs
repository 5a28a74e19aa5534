//! The schema of an element's content, and the builder of its record batches.

use crate::builder::{Builder, Context, Parts};
use crate::error::AppendError;
use crate::shape::Shape;
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use deltasoap_core::schema::ElementRef;
use deltasoap_core::{QName, Value};
use deltasoap_dynamic::Contract;
use std::sync::Arc;

/// The Arrow schema of an element's content. The [crate's documentation](crate) lists which content
/// becomes which column.
///
/// If the content is not of a complex type, its value is the column `$`.
#[derive(Clone)]
pub struct MessageSchema {
    contract: Contract,
    shape: Arc<Shape>,
    schema: SchemaRef,
}

impl std::fmt::Debug for MessageSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageSchema").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl MessageSchema {
    /// Returns the schema of the element `name`, such as an operation's
    /// [request](deltasoap_dynamic::Operation::request).
    pub fn of(contract: &Contract, name: &QName, content: ElementRef) -> Self {
        let shape = Shape::of(contract, name, content);
        let fields = match shape.data_type() {
            DataType::Struct(fields) => fields,
            other => Fields::from(vec![Field::new("$", other, true)]),
        };
        MessageSchema { contract: contract.clone(), shape: Arc::new(shape), schema: Arc::new(Schema::new(fields)) }
    }

    /// Returns the schema of the record batches.
    pub fn arrow(&self) -> &SchemaRef {
        &self.schema
    }

    /// Creates a builder without rows.
    pub fn builder(&self) -> MessageBuilder {
        MessageBuilder { schema: self.clone(), column: Builder::new(&self.shape) }
    }
}

/// Collects messages as rows.
pub struct MessageBuilder {
    schema: MessageSchema,
    column: Builder,
}

impl std::fmt::Debug for MessageBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageBuilder").field("rows", &self.len()).finish_non_exhaustive()
    }
}

impl MessageBuilder {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.column.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a message's value as a row. Bytes that the value only refers to come from `parts`.
    ///
    /// # Errors
    /// If a column cannot hold a value of it. Then there is no new row.
    pub fn append(&mut self, value: &Value, parts: &dyn Parts) -> Result<(), AppendError> {
        let rows = self.len();
        let context = Context { contract: &self.schema.contract, parts };
        self.column.append(value, &context).inspect_err(|_| self.column.truncate(rows))
    }

    /// Returns the rows, and starts again without any.
    ///
    /// # Errors
    /// None are known.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let rows = self.len();
        let array: ArrayRef = self.column.finish()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = match array.as_any().downcast_ref::<StructArray>() {
            Some(columns) => columns.columns().to_vec(),
            None => vec![array],
        };
        RecordBatch::try_new_with_options(Arc::clone(&self.schema.schema), columns, &options)
    }
}
