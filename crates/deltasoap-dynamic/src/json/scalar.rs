//! Simple values as JSON.

use super::error::kind;
use super::{JsonError, path::Path};
use bigdecimal::BigDecimal;
use deltasoap_core::schema::{Builtin, Element, SimpleElement, View, shown_values};
use deltasoap_core::{Lexical, NonCanonical, QName, Simple, lexical, ns};
use serde_json::{Number, Value as Json};

/// The greatest integer that is exact in every reader of JSON.
const SAFE: i64 = (1 << 53) - 1;
/// Number of decimal digits that a double always keeps.
const DIGITS: usize = 15;

/// The form of decimals and large integers in JSON that is written: numbers of the types
/// `xsd:decimal`, `xsd:integer` and those derived from it, `xsd:long` and `xsd:unsignedLong`.
/// Either form is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Decimals {
    /// Numbers if every reader of JSON gets them exactly, otherwise strings.
    #[default]
    Auto,
    /// Always strings. The form then depends on the type alone.
    Strings,
    /// Always numbers, with all their digits. Readers that take every number for a double lose
    /// digits.
    Numbers,
}

/// Converts a simple value: to a boolean, a number if that is exact, or otherwise a string. Numbers
/// of a union, or of a type with a pattern, keep the text of the message, since another text may be
/// invalid: `5`, not `5.0`.
pub(crate) fn to_json(simple: &Simple, view: View<'_>, decimals: Decimals) -> Json {
    let number = match simple {
        _ if decimals != Decimals::Auto && is_exact(simple.builtin()) => return exact(&simple.to_string(), decimals),
        Simple::NonCanonical(given) => given_number(given),
        Simple::Boolean(it) => return Json::Bool(*it),
        Simple::Double(_) | Simple::Float(_) if matches!(view.element, Element::Union(_)) => {
            simple.to_string().parse().ok()
        }
        Simple::Double(it) => Number::from_f64(*it),
        Simple::Float(it) => single(*it),
        Simple::Decimal(_) => decimal(&simple.to_string()),
        other if is_integer(other.builtin()) => integer(&other.to_string()),
        _ => None,
    };
    number.map_or_else(|| Json::String(simple.to_string()), Json::Number)
}

/// Reads a qualified name: `{namespace}local`, or `local` for one in no namespace.
///
/// # Errors
/// If it has another form. A prefix would have no meaning in JSON.
pub(crate) fn name_from_json(json: &Json, path: &Path<'_>) -> Result<Box<QName>, JsonError> {
    let text = json.as_str().map(str::trim);
    let parts = text.and_then(|text| text.strip_prefix('{').map_or(Some(("", text)), |rest| rest.split_once('}')));
    let parts = parts.filter(|(_, local)| lexical::NcName::parse(local).is_ok());
    let wrong = || JsonError::new(path, "a qualified name as `{namespace}local`", kind(json));
    parts.map(|(namespace, local)| Box::new(QName::owned(namespace, local))).ok_or_else(wrong)
}

/// Returns true for the types whose values [`Decimals`] is about.
pub(super) fn is_exact(builtin: Builtin) -> bool {
    use Builtin::{
        Decimal, Integer, Long, NegativeInteger, NonNegativeInteger, NonPositiveInteger, PositiveInteger, UnsignedLong,
    };
    let is_large_integer = matches!(
        builtin,
        Integer | Long | NegativeInteger | NonNegativeInteger | NonPositiveInteger | PositiveInteger | UnsignedLong
    );
    is_large_integer || builtin == Decimal
}

/// Returns a number as a string, or as a number if its text is one in JSON.
fn exact(text: &str, decimals: Decimals) -> Json {
    let number = Some(text).filter(|_| decimals == Decimals::Numbers).and_then(|text| text.parse::<Number>().ok());
    // A number that has another text in JSON is not of this text: `007`.
    let number = number.filter(|number| number.to_string() == text);
    number.map_or_else(|| Json::String(text.to_owned()), Json::Number)
}

fn integer(text: &str) -> Option<Number> {
    text.parse::<i64>().ok().filter(|it| (-SAFE..=SAFE).contains(it)).map(Number::from)
}

/// Returns a JSON number with the given text.
fn given_number(given: &NonCanonical) -> Option<Number> {
    let is_number = is_number(given.value.builtin()) && !given.text.contains(['e', 'E']);
    decimal(&given.text).filter(|number| is_number && number.to_string() == given.text)
}

/// Returns a decimal as a number with its trailing zeros, which indicate its precision.
fn decimal(text: &str) -> Option<Number> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    text.parse().ok().filter(|_| digits <= DIGITS)
}

/// Returns the shortest text of a single, as a double that reads back as the same single.
fn single(value: f32) -> Option<Number> {
    let short = format!("{value:e}").parse::<f64>().ok().filter(|short| (*short as f32).to_bits() == value.to_bits());
    Number::from_f64(short.unwrap_or_else(|| f64::from(value)))
}

pub(super) fn is_integer(builtin: Builtin) -> bool {
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
/// If the JSON is not such a value.
pub(crate) fn from_json(json: &Json, view: View<'_>, path: &Path<'_>) -> Result<Simple, JsonError> {
    let refuse = || JsonError::new(path, expected(view), kind(json));
    if let (Element::Simple(simple), true) = (view.element, view.element.is_name()) {
        return Simple::named(simple.base, &name_from_json(json, path)?.to_string()).map_err(|_| refuse());
    }
    let text = text_for(json, view).ok_or_else(refuse)?;
    if json.is_number() && is_beyond_floats(&text, view) {
        return Err(refuse());
    }
    let text = checked(&text, path)?;
    match view.element {
        Element::Simple(simple) => Simple::parse_as(simple, &text).map_err(|error| {
            let is_long = json.is_number() && text.contains(['e', 'E']);
            match simple.enumeration.is_empty() {
                // A number that still has its exponent would be too long without it.
                true if is_long => refuse().because(format!("more than {} digits", lexical::MAX_DIGITS)),
                true => refuse().because(error.reason),
                false => refuse(),
            }
        }),
        Element::Union(union) => {
            // A number with an exponent is a double; without the exponent, an earlier decimal
            // member would accept it.
            let given = json.as_number().map(ToString::to_string).filter(|it| it.contains(['e', 'E']));
            let given = given.and_then(|text| Simple::parse_union(union, view, &text));
            // A text member accepts it too, but that text is not intended.
            let given = given.filter(|it| matches!(it.builtin(), Builtin::Double | Builtin::Float));
            given.or_else(|| Simple::parse_union(union, view, &text)).ok_or_else(refuse)
        }
        _ => Err(refuse()),
    }
}

/// Checks that XML can represent a text.
pub(super) fn checked(text: &str, path: &Path<'_>) -> Result<String, JsonError> {
    match text.chars().find(|&it| !lexical::is_xml_char(it)) {
        None => Ok(text.to_owned()),
        Some(it) => Err(JsonError::new(path, "characters that XML allows", format!("U+{:04X}", u32::from(it)))),
    }
}

/// Returns the text of a JSON value where this type is expected.
fn text_for(json: &Json, view: View<'_>) -> Option<String> {
    let (takes_numbers, takes_booleans, is_whole) = match only_type(view) {
        Some(it) => (is_number(it.base), it.base == Builtin::Boolean, is_integer(it.base)),
        None => (true, true, false),
    };
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Bool(it) if takes_booleans => Some(it.to_string()),
        Json::Number(it) if takes_numbers => Some(number_text(&it.to_string(), is_whole)),
        _ => None,
    }
}

/// Returns a JSON number in a form that every numeric type of XSD can read: without an exponent,
/// and without a point if whole numbers are required and it is one. No digit is lost. A number that
/// would be longer than the longest allowed decimal is unchanged.
fn number_text(json: &str, is_whole: bool) -> String {
    let plain = if json.contains(['e', 'E']) { without_exponent(json) } else { None };
    let text = plain.as_deref().unwrap_or(json);
    match text.split_once('.') {
        Some((whole, fraction)) if is_whole && fraction.bytes().all(|digit| digit == b'0') => whole.to_owned(),
        _ => text.to_owned(),
    }
}

fn without_exponent(json: &str) -> Option<String> {
    const MAX_LENGTH: usize = 2 * lexical::MAX_DIGITS;
    let value = json.parse::<BigDecimal>().ok().filter(|_| json.len() <= MAX_LENGTH)?;
    let sign = if json.starts_with("-0") && value.sign() != bigdecimal::num_bigint::Sign::Minus { "-" } else { "" };
    let plain = Simple::Decimal(Box::new(lexical::Decimal::try_from(value).ok()?)).to_string();
    Some(format!("{sign}{plain}"))
}

/// Returns true for a number that a floating point type would turn into infinity.
fn is_beyond_floats(text: &str, view: View<'_>) -> bool {
    match only_type(view).map(|it| it.base) {
        Some(Builtin::Double) => f64::parse(text).is_ok_and(f64::is_infinite),
        Some(Builtin::Float) => f32::parse(text).is_ok_and(f32::is_infinite),
        _ => false,
    }
}

/// Returns the built-in type of a number where any type is allowed: the narrowest of the usual ones
/// that keeps all its digits. The trailing zeros of a fraction are digits too, which a double would
/// lose; a decimal would lose the sign of zero.
pub(super) fn natural_type(number: &Number) -> Builtin {
    let text = number.to_string();
    let is_integer = !text.contains(['.', 'e', 'E']) && text != "-0";
    match number.as_i64().filter(|_| is_integer) {
        Some(it) if i32::try_from(it).is_ok() => Builtin::Int,
        Some(_) => Builtin::Long,
        None if is_integer && number.is_u64() => Builtin::UnsignedLong,
        None if is_integer => Builtin::Integer,
        None if is_negative_zero(&text) || text.contains(['e', 'E']) && is_double(&text) => Builtin::Double,
        None => Builtin::Decimal,
    }
}

fn is_negative_zero(text: &str) -> bool {
    text.starts_with('-') && !text.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// Returns true if a double keeps all digits: its shortest text represents the same number.
fn is_double(text: &str) -> bool {
    let exact = |text: &str| text.parse::<BigDecimal>().ok();
    let is_same = |value: f64| exact(&format!("{value:e}")) == exact(text);
    without_exponent(text).is_none() || text.parse::<f64>().is_ok_and(is_same)
}

/// Returns the simple type of a place that has only one.
fn only_type(view: View<'_>) -> Option<&SimpleElement> {
    match view.element {
        Element::Simple(simple) => Some(simple),
        Element::Union(union) if !union.list => match &union.members[..] {
            &[member] => only_type(view.follow(member)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true for names, and for unions and lists of such.
fn has_names(view: View<'_>) -> bool {
    match view.element {
        Element::Union(union) => union.members.iter().any(|&member| has_names(view.follow(member))),
        element => element.is_name(),
    }
}

/// Returns the values that a simple type accepts, as a readable text.
pub(crate) fn expected(view: View<'_>) -> String {
    match (only_type(view), view.element) {
        (Some(simple), _) if simple.enumeration.is_empty() => {
            let form = match simple.base {
                Builtin::Boolean => "true or false",
                base if is_number(base) => "a number",
                _ => "a string",
            };
            format!("{form} of {}", type_name(&simple.name))
        }
        (Some(simple), _) => {
            let values = shown_values(simple.enumeration.iter().map(AsRef::as_ref));
            format!("one of {values} ({})", type_name(&simple.name))
        }
        (None, Element::Union(union)) if has_names(view) => {
            format!("a value of {}, with names as `{{namespace}}local`", type_name(&union.name))
        }
        (None, Element::Union(union)) if union.name.namespace == ns::XSD => {
            let members = union.members.iter().filter_map(|&member| match view.follow(member).element {
                Element::Simple(simple) => Some(type_name(&simple.name)),
                Element::Union(union) => Some(type_name(&union.name)),
                _ => None,
            });
            format!("a value of one of {}", members.collect::<Vec<_>>().join(", "))
        }
        (None, Element::Union(union)) => format!("a value of {}", type_name(&union.name)),
        _ => "a simple value".to_owned(),
    }
}

/// Returns the readable name of a type: without its namespace, built-in ones with the usual prefix.
pub(crate) fn type_name(name: &deltasoap_core::QName) -> String {
    if name.namespace == deltasoap_core::ns::XSD { format!("xsd:{}", name.local) } else { name.local.to_string() }
}
