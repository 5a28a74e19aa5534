//! Compares a row with the JSON of the message, leaf by leaf.

#![allow(dead_code, reason = "each test program uses a part")]

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef, RecordBatch, StructArray};
use arrow_schema::DataType;
use deltasoap_arrow::microseconds;
use deltasoap_core::Simple;
use deltasoap_core::lexical::{Base64, Hex};
use deltasoap_core::schema::Builtin;
use serde_json::Value as Json;

/// Compares a row with the JSON of its message. Returns the number of leaves that were compared.
///
/// # Errors
/// Returns the place of the first difference.
pub fn compare(json: &Json, batch: &RecordBatch, row: usize) -> Result<usize, String> {
    // Content that is no struct is a column of its own.
    let is_plain = json.as_object().is_none_or(|object| object.get("$").is_none());
    if batch.schema().fields().len() == 1 && batch.schema().field(0).name() == "$" && is_plain {
        return same(Some(json), batch.column(0), row, "$");
    }
    let array = StructArray::from(batch.clone());
    if is_nothing(Some(json)) {
        return match array.columns().iter().all(|column| is_empty(column, row)) {
            true => Ok(0),
            false => Err("a message that is nil has values".to_owned()),
        };
    }
    members(json, &array, row, "")
}

/// Returns true for what a null stands for.
fn is_nothing(json: Option<&Json>) -> bool {
    match json {
        None | Some(Json::Null) => true,
        Some(Json::Object(object)) => object.get("$nil") == Some(&Json::Bool(true)),
        Some(_) => false,
    }
}

/// Returns true for null, and for a list without items.
fn is_empty(array: &ArrayRef, row: usize) -> bool {
    array.is_null(row)
        || match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().value_length(row) == 0,
            DataType::Map(..) => array.as_map().value_length(row) == 0,
            DataType::Struct(_) => array.as_struct().columns().iter().all(|column| is_empty(column, row)),
            _ => false,
        }
}

fn same(json: Option<&Json>, array: &ArrayRef, row: usize, path: &str) -> Result<usize, String> {
    let different = |found: String| Err(format!("{path}: {found} instead of {json:?}"));
    if array.is_null(row) {
        return if is_nothing(json) { Ok(0) } else { different("null".to_owned()) };
    }
    if let DataType::List(_) = array.data_type() {
        let items = array.as_list::<i32>().value(row);
        let expected: &[Json] = match json {
            Some(Json::Array(expected)) => expected,
            None => &[],
            Some(_) => return different("a list".to_owned()),
        };
        if items.len() != expected.len() {
            return different(format!("{} items", items.len()));
        }
        let item = |(index, json)| same(Some(json), &items, index, &format!("{path}[{index}]"));
        return expected.iter().enumerate().map(item).sum();
    }
    let Some(json) = json else { return different("a value".to_owned()) };
    if let DataType::Struct(_) = array.data_type() {
        return members(json, array.as_struct(), row, path);
    }
    let text = match json {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let is_same = match array.data_type() {
        DataType::Boolean => text == array.as_boolean().value(row).to_string() || text == "{}",
        DataType::Int8 => text == array.as_primitive::<Int8Type>().value(row).to_string(),
        DataType::Int16 => text == array.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Int32 => text == array.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => text == array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt8 => text == array.as_primitive::<UInt8Type>().value(row).to_string(),
        DataType::UInt16 => text == array.as_primitive::<UInt16Type>().value(row).to_string(),
        DataType::UInt32 => text == array.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt64 => text == array.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float32 => {
            let found = array.as_primitive::<Float32Type>().value(row);
            matches!(Simple::parse(Builtin::Float, &text), Ok(Simple::Float(it)) if it.to_bits() == found.to_bits() || it.is_nan() && found.is_nan())
        }
        DataType::Float64 => {
            let found = array.as_primitive::<Float64Type>().value(row);
            matches!(Simple::parse(Builtin::Double, &text), Ok(Simple::Double(it)) if it.to_bits() == found.to_bits() || it.is_nan() && found.is_nan())
        }
        DataType::Timestamp(..) => {
            let found = array.as_primitive::<TimestampMicrosecondType>().value(row);
            matches!(Simple::parse(Builtin::DateTime, &text), Ok(Simple::DateTime(it)) if microseconds(&it) == Some(found))
        }
        DataType::Date32 => {
            // The moment at which the day begins, whatever its zone.
            let day = text.trim_end_matches('Z');
            let day = if day.len() > 6 && day.as_bytes()[day.len() - 3] == b':' { &day[..day.len() - 6] } else { day };
            let found = i64::from(array.as_primitive::<Date32Type>().value(row)) * 86_400_000_000;
            matches!(Simple::parse(Builtin::DateTime, &format!("{day}T00:00:00")), Ok(Simple::DateTime(it)) if microseconds(&it) == Some(found))
        }
        DataType::Decimal128(..) => {
            plain_decimal(&array.as_primitive::<Decimal128Type>().value_as_string(row)) == plain_decimal(&text)
        }
        DataType::Binary => {
            let found = array.as_binary::<i32>().value(row).to_vec();
            Simple::parse(Builtin::Base64Binary, &text) == Ok(Simple::Base64Binary(Base64(found.clone())))
                || Simple::parse(Builtin::HexBinary, &text) == Ok(Simple::HexBinary(Hex(found)))
        }
        DataType::Utf8 => {
            let found = array.as_string::<i32>().value(row);
            found == text || is_json(found, json)
        }
        other => return different(format!("a column of {other}")),
    };
    if is_same { Ok(1) } else { different(format!("{array:?} at {row}")) }
}

/// Returns true for the JSON text of a value. Ids of shared values belong to the whole message.
fn is_json(text: &str, expected: &Json) -> bool {
    let has_ids = |text: &str| text.contains("\"$id\"") || text.contains("\"$ref\"");
    match serde_json::from_str::<Json>(text) {
        Ok(found) => found == *expected || has_ids(text) || has_ids(&expected.to_string()),
        Err(_) => false,
    }
}

fn members(json: &Json, array: &StructArray, row: usize, path: &str) -> Result<usize, String> {
    let column = |name: &str| array.column_by_name(name);
    let text_of = |name: &str| {
        column(name).filter(|it| it.is_valid(row)).map(|column| column.as_string::<i32>().value(row).to_owned())
    };
    if let Some(text) = text_of("$json") {
        return if is_json(&text, json) { Ok(1) } else { Err(format!("{path}: {text} instead of {json}")) };
    }
    let Json::Object(object) = json else {
        let others = array.column_names().into_iter().zip(array.columns()).filter(|(name, _)| *name != "$");
        if let Some((name, _)) = others.into_iter().find(|(_, column)| !is_empty(column, row)) {
            return Err(format!("{path}: {name} beside a text"));
        }
        return match column("$") {
            Some(column) => same(Some(json), column, row, path),
            None => Err(format!("{path}: no text for {json}")),
        };
    };
    let mut leaves = 0;
    let mut known = vec!["$json".to_owned()];
    for (name, column) in array.column_names().into_iter().zip(array.columns()) {
        match name {
            "$json" => {}
            "@*" => {
                let entries = column.as_map().value(row);
                for entry in 0..entries.len() {
                    let name = entries.column(0).as_string::<i32>().value(entry);
                    let key =
                        [format!("@{name}"), format!("@{{}}{name}")].into_iter().find(|it| object.contains_key(it));
                    let key = key.ok_or_else(|| format!("{path}: an attribute {name} too many"))?;
                    leaves += same(object.get(&key), entries.column(1), entry, path)?;
                    known.push(key);
                }
            }
            name => {
                leaves += same(object.get(name), column, row, &format!("{path}.{name}"))?;
                known.push(name.to_owned());
            }
        }
    }
    match object.keys().find(|key| !known.contains(key)) {
        Some(key) => Err(format!("{path}: no column for {key}")),
        None => Ok(leaves),
    }
}

/// Returns a decimal without zeros that say nothing.
fn plain_decimal(text: &str) -> String {
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() || digits.starts_with('.') { format!("0{digits}") } else { digits.to_owned() };
    if digits == "0" { digits } else { format!("{sign}{digits}") }
}
