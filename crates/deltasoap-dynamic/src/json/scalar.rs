//! Simple values as JSON.

use super::error::kind;
use super::{JsonError, path::Path};
use deltasoap_core::schema::{Builtin, Element, View};
use deltasoap_core::{Lexical, QName, Simple, lexical};
use serde_json::{Number, Value as Json};

/// Integers up to here are exact in every reader of JSON.
const SAFE: i64 = (1 << 53) - 1;
/// Decimal digits that a double always keeps.
const DIGITS: usize = 15;

/// A simple value: a boolean, a number if that is exact, else a string.
pub(crate) fn to_json(simple: &Simple) -> Json {
    let number = match simple {
        Simple::Boolean(it) => return Json::Bool(*it),
        Simple::Double(it) => Number::from_f64(*it),
        Simple::Float(it) => single(*it),
        Simple::Decimal(_) => decimal(&simple.to_string()),
        other if is_integer(other.builtin()) => integer(&other.to_string()),
        _ => None,
    };
    number.map_or_else(|| Json::String(simple.to_string()), Json::Number)
}

/// A qualified name: `{namespace}local`, or `local` for one in no namespace.
///
/// # Errors
/// When it is not that. A prefix would mean nothing in JSON.
pub(crate) fn name_from_json(json: &Json, path: &Path<'_>) -> Result<Box<QName>, JsonError> {
    let text = json.as_str().map(str::trim);
    let parts = text.and_then(|text| text.strip_prefix('{').map_or(Some(("", text)), |rest| rest.split_once('}')));
    let parts = parts.filter(|(_, local)| lexical::NcName::parse(local).is_ok());
    let wrong = || JsonError::new(path, "a qualified name as `{namespace}local`", kind(json));
    parts.map(|(namespace, local)| Box::new(QName::owned(namespace, local))).ok_or_else(wrong)
}

fn integer(text: &str) -> Option<Number> {
    text.parse::<i64>().ok().filter(|it| (-SAFE..=SAFE).contains(it)).map(Number::from)
}

fn decimal(text: &str) -> Option<Number> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let value = text.parse::<f64>().ok().filter(|_| digits <= DIGITS)?;
    integer(text).or_else(|| Number::from_f64(value))
}

/// The shortest text of a single, as a double that reads back as the same single.
fn single(value: f32) -> Option<Number> {
    let short = format!("{value:e}").parse::<f64>().ok().filter(|short| (*short as f32).to_bits() == value.to_bits());
    Number::from_f64(short.unwrap_or_else(|| f64::from(value)))
}

fn is_integer(builtin: Builtin) -> bool {
    use Builtin::{
        Byte, Int, Integer, Long, NegativeInteger, NonNegativeInteger, NonPositiveInteger, PositiveInteger, Short,
        UnsignedByte, UnsignedInt, UnsignedLong, UnsignedShort,
    };
    matches!(
        builtin,
        Byte | Int
            | Integer
            | Long
            | NegativeInteger
            | NonNegativeInteger
            | NonPositiveInteger
            | PositiveInteger
            | Short
            | UnsignedByte
            | UnsignedInt
            | UnsignedLong
            | UnsignedShort
    )
}

fn is_number(builtin: Builtin) -> bool {
    is_integer(builtin) || matches!(builtin, Builtin::Decimal | Builtin::Float | Builtin::Double)
}

/// Reads a value of a simple type or a union.
///
/// # Errors
/// When it is none.
pub(crate) fn from_json(json: &Json, view: View<'_>, path: &Path<'_>) -> Result<Simple, JsonError> {
    let refuse = || JsonError::new(path, expected(view), kind(json));
    let text = text_for(json, view).ok_or_else(refuse)?;
    if !text.chars().all(lexical::is_xml_char) {
        return Err(JsonError::new(path, "characters that XML can carry", "a control character"));
    }
    match view.element {
        Element::Simple(simple) => Simple::parse_as(simple, &text).map_err(|_| refuse()),
        Element::Union(union) => Simple::parse_union(union, view, &text).ok_or_else(refuse),
        _ => Err(refuse()),
    }
}

/// The text that a JSON value stands for where this type is expected.
fn text_for(json: &Json, view: View<'_>) -> Option<String> {
    let (takes_numbers, takes_booleans, is_whole) = match view.element {
        Element::Simple(it) => (is_number(it.base), it.base == Builtin::Boolean, is_integer(it.base)),
        _ => (true, true, false),
    };
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Bool(it) if takes_booleans => Some(it.to_string()),
        Json::Number(it) if takes_numbers => Some(number_text(it, is_whole)),
        _ => None,
    }
}

/// A number as XML has it: no exponents where whole numbers are wanted, none for decimals.
fn number_text(number: &Number, is_whole: bool) -> String {
    match number.as_f64() {
        Some(value) if number.is_f64() && is_whole && value.fract() == 0.0 && value.abs() <= SAFE as f64 => {
            (value as i64).to_string()
        }
        // Rust writes floating point numbers without exponents, which every numeric type reads.
        Some(value) if number.is_f64() => value.to_string(),
        _ => number.to_string(),
    }
}

/// What a simple type takes, for people.
pub(crate) fn expected(view: View<'_>) -> String {
    const MOST: usize = 8;
    match view.element {
        Element::Simple(simple) if simple.enumeration.is_empty() => {
            let form = match simple.base {
                Builtin::Boolean => "true or false",
                base if is_number(base) => "a number",
                _ => "a string",
            };
            format!("{form} of {}", type_name(&simple.name))
        }
        Element::Simple(simple) => {
            let values: Vec<_> = simple.enumeration.iter().take(MOST).map(|it| format!("{it:?}")).collect();
            let more = if simple.enumeration.len() > MOST { ", …" } else { "" };
            format!("one of {}{more} ({})", values.join(", "), type_name(&simple.name))
        }
        Element::Union(union) => format!("a value of {}", type_name(&union.name)),
        _ => "a simple value".to_owned(),
    }
}

/// A type's name for people: without its namespace, built-in ones with the usual prefix.
pub(crate) fn type_name(name: &deltasoap_core::QName) -> String {
    if name.namespace == deltasoap_core::ns::XSD { format!("xsd:{}", name.local) } else { name.local.to_string() }
}
