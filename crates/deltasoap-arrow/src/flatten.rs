//! Plain tables from nested record batches: one for each list.
//!
//! Structs become columns with dotted names. The items of a list become the rows of a table of their
//! own. Arrow holds the items of all lists of a column one after the other, so a table's columns are
//! the nested columns themselves; only the keys are new:
//!
//! - `_id`: the number of the row, in the first table that of the message
//! - `_parent`: the row of the table around it
//! - `_index`: the position in its list, from 0

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, Int64Array, RecordBatch, StructArray};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use std::collections::HashSet;
use std::sync::Arc;

/// A table of flattened messages.
#[derive(Debug, Clone)]
pub struct TableSchema {
    /// The dotted path of the list; empty for the messages themselves.
    pub path: String,
    /// The columns, the keys first.
    pub schema: SchemaRef,
}

/// Turns nested record batches of one schema into tables.
#[derive(Debug)]
pub struct Flattener {
    root: Vec<Column>,
    tables: Vec<TableSchema>,
}

/// What becomes of a nested column.
#[derive(Debug)]
enum Column {
    /// A column of the table.
    Plain,
    /// Columns of the table.
    Struct(Vec<Column>),
    /// A table with this number.
    List(usize, Box<Column>),
}

impl Flattener {
    /// Creates a flattener for record batches of this schema.
    pub fn new(nested: &Schema) -> Self {
        let mut tables = Vec::new();
        let mut planned = Planned::new(String::new(), &["_id"]);
        tables.push(None);
        let root = planned.fields(nested.fields(), "", &mut tables);
        tables[0] = Some(planned.finish());
        Flattener { root, tables: tables.into_iter().flatten().collect() }
    }

    /// Returns the tables: that of the messages, then one for each list.
    pub fn tables(&self) -> &[TableSchema] {
        &self.tables
    }

    /// Flattens messages with these numbers. `next` holds the number of the next row for each table
    /// but the first, which is not used, and is advanced.
    ///
    /// # Errors
    /// If the batch has another schema, or there are not as many numbers as rows.
    pub fn flatten(&self, batch: &RecordBatch, ids: &[i64], next: &mut [i64]) -> Result<Vec<RecordBatch>, ArrowError> {
        if ids.len() != batch.num_rows() || next.len() != self.tables.len() {
            return Err(ArrowError::InvalidArgumentError("a number for each row and for each table".to_owned()));
        }
        let mut rows = vec![Vec::new(); self.tables.len()];
        rows[0].push(Arc::new(Int64Array::from(ids.to_vec())) as ArrayRef);
        for (column, array) in self.root.iter().zip(batch.columns()) {
            column.flatten(array, 0, ids, &mut rows, next)?;
        }
        let table =
            |(table, columns): (&TableSchema, Vec<ArrayRef>)| RecordBatch::try_new(Arc::clone(&table.schema), columns);
        self.tables.iter().zip(rows).map(table).collect()
    }
}

impl Column {
    /// Adds the column to the rows of its table, and to those of other tables.
    fn flatten(
        &self,
        array: &ArrayRef,
        table: usize,
        ids: &[i64],
        rows: &mut [Vec<ArrayRef>],
        next: &mut [i64],
    ) -> Result<(), ArrowError> {
        match self {
            Column::Plain => rows[table].push(Arc::clone(array)),
            Column::Struct(columns) => {
                let members = array.as_any().downcast_ref::<StructArray>().ok_or_else(other_schema)?;
                for (column, member) in columns.iter().zip(members.columns()) {
                    column.flatten(member, table, ids, rows, next)?;
                }
            }
            Column::List(inner, column) => {
                let list = array.as_list_opt::<i32>().ok_or_else(other_schema)?;
                let (mut parents, mut indices) = (Vec::new(), Vec::new());
                for (id, bounds) in ids.iter().zip(list.value_offsets().windows(2)) {
                    let count = i64::from(bounds[1] - bounds[0]);
                    parents.extend(std::iter::repeat_n(*id, count as usize));
                    indices.extend(0..count);
                }
                let first = next[*inner];
                next[*inner] += parents.len() as i64;
                let own: Vec<i64> = (first..next[*inner]).collect();
                let start = list.value_offsets()[0] as usize;
                let items = list.values().slice(start, own.len());
                for keys in [own.clone(), parents, indices] {
                    rows[*inner].push(Arc::new(Int64Array::from(keys)));
                }
                column.flatten(&items, *inner, &own, rows, next)?;
            }
        }
        Ok(())
    }
}

fn other_schema() -> ArrowError {
    ArrowError::SchemaError("a record batch of another schema".to_owned())
}

/// The columns of a table, in the order in which arrays are added.
struct Planned {
    path: String,
    fields: Vec<Field>,
    taken: HashSet<String>,
}

impl Planned {
    fn new(path: String, keys: &[&str]) -> Self {
        let mut planned = Planned { path, fields: Vec::new(), taken: HashSet::new() };
        for key in keys {
            planned.add(key, DataType::Int64, false);
        }
        planned
    }

    /// Adds a column. A name of XML may contain a dot, so two paths can be alike.
    fn add(&mut self, name: &str, data_type: DataType, is_nullable: bool) {
        let mut distinct = name.to_owned();
        let mut number = 1;
        while !self.taken.insert(distinct.clone()) {
            number += 1;
            distinct = format!("{name}#{number}");
        }
        self.fields.push(Field::new(distinct, data_type, is_nullable));
    }

    fn fields(&mut self, fields: &Fields, prefix: &str, tables: &mut Vec<Option<TableSchema>>) -> Vec<Column> {
        let named = |field: &Arc<Field>| {
            if prefix.is_empty() { field.name().clone() } else { format!("{prefix}.{}", field.name()) }
        };
        fields.iter().map(|field| self.column(field.data_type(), named(field), tables)).collect()
    }

    fn column(&mut self, data_type: &DataType, name: String, tables: &mut Vec<Option<TableSchema>>) -> Column {
        match data_type {
            DataType::Struct(fields) => Column::Struct(self.fields(fields, &name, tables)),
            DataType::List(item) => {
                let path = if self.path.is_empty() { name } else { format!("{}.{name}", self.path) };
                let mut inner = Planned::new(path, &["_id", "_parent", "_index"]);
                let number = tables.len();
                tables.push(None);
                let column = match item.data_type() {
                    DataType::Struct(fields) => Column::Struct(inner.fields(fields, "", tables)),
                    other => inner.column(other, "value".to_owned(), tables),
                };
                tables[number] = Some(inner.finish());
                Column::List(number, Box::new(column))
            }
            plain => {
                self.add(&name, plain.clone(), true);
                Column::Plain
            }
        }
    }

    fn finish(self) -> TableSchema {
        TableSchema { path: self.path, schema: Arc::new(Schema::new(self.fields)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MessageSchema, NoParts};
    use arrow_array::types::{Float64Type, Int64Type};
    use deltasoap_dynamic::Contract;
    use serde_json::json;

    #[test]
    fn items_become_rows_with_keys_to_their_parents() {
        let contract = Contract::from_text(include_str!("../tests/data/shop.wsdl")).expect("a description");
        let operation = contract.operation("Order").expect("an operation");
        let (name, content) = operation.request().expect("a request");
        let schema = MessageSchema::of(&contract, name, content);
        let mut builder = schema.builder();
        for codes in [&["A-1", "A-2"][..], &["A-3"]] {
            let items: Vec<_> = codes.iter().map(|code| json!({ "code": code, "count": 1 })).collect();
            let value = operation.request_from_json(&json!({ "customer": "Ada", "item": items })).expect("a request");
            builder.append(&value, &NoParts).expect("a row");
        }
        let flattener = Flattener::new(schema.arrow());
        let mut next = vec![100; flattener.tables().len()];
        let batch = builder.finish().expect("a batch");
        let tables = flattener.flatten(&batch, &[7, 8], &mut next).expect("tables");
        let paths: Vec<_> = flattener.tables().iter().map(|table| table.path.as_str()).collect();
        assert_eq!(paths, ["", "item", "$choice"]);
        assert_eq!((tables[0].num_rows(), tables[1].num_rows(), tables[2].num_rows()), (2, 3, 0));
        let numbers = |name: &str| {
            let column = tables[1].column_by_name(name).expect("a column");
            column.as_primitive::<Int64Type>().values().to_vec()
        };
        assert_eq!(numbers("_id"), [100, 101, 102]);
        assert_eq!(numbers("_parent"), [7, 7, 8]);
        assert_eq!(numbers("_index"), [0, 1, 0]);
        assert_eq!(next, [100, 103, 100]);
        assert!(tables[1].column_by_name("price.$").is_some() && tables[1].column_by_name("price.@currency").is_some());
    }

    #[test]
    fn the_values_of_a_list_of_numbers_are_one_column() {
        let contract = Contract::from_text(include_str!("../tests/data/shop.wsdl")).expect("a description");
        let operation = contract.operation("Catalogue").expect("an operation");
        let (name, content) = operation.response().expect("a response");
        let schema = MessageSchema::of(&contract, name, content);
        let mut builder = schema.builder();
        let json = json!({ "root": { "name": "x" }, "weight": [1.5, 2.5] });
        builder.append(&operation.response_from_json(&json).expect("a response"), &NoParts).expect("a row");
        let flattener = Flattener::new(schema.arrow());
        let at = flattener.tables().iter().position(|table| table.path == "weight").expect("a table");
        let mut next = vec![0; flattener.tables().len()];
        let tables = flattener.flatten(&builder.finish().expect("a batch"), &[0], &mut next).expect("tables");
        let values = tables[at].column_by_name("value").expect("a column");
        assert_eq!(values.as_primitive::<Float64Type>().values().to_vec(), [1.5, 2.5]);
    }

    #[test]
    fn paths_that_look_alike_are_told_apart() {
        let inner = Field::new("b", DataType::Utf8, true);
        let fields = vec![
            Field::new("a.b", DataType::Utf8, true),
            Field::new("a", DataType::Struct([inner].into_iter().collect()), true),
        ];
        let flattener = Flattener::new(&Schema::new(fields));
        let names: Vec<_> = flattener.tables()[0].schema.fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["_id", "a.b", "a.b#2"]);
    }
}
