//! Values of the built-in types, at their extremes. Toolkits differ in the types that they map
//! these to, so there are several kinds.

use crate::{Case, Kind};
use deltasoap::Soap;
use deltasoap::lexical::{
    AnyUri, Base64, BigInt, Date, DateTime, Decimal, Duration, GDay, GMonth, GMonthDay, GYear, GYearMonth, Hex,
    Lexical, Time, Zone,
};
use deltasoap::schema::QName;
use std::cmp::Ordering;

/// Integers.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Integers {
    pub byte: i8,
    pub unsigned_byte: u8,
    pub short: i16,
    pub unsigned_short: u16,
    pub int: i32,
    pub unsigned_int: u32,
    pub long: i64,
    pub unsigned_long: u64,
    pub integer: BigInt,
}

impl Kind for Integers {
    const NAME: &'static str = "Integers";
    const FEATURE: &'static str = "primitives";
    const CASES: &'static [Case<Self>] =
        &[("smallest integers", smallest_integers), ("largest integers", largest_integers), ("zeros", || integers(0))];
}

fn smallest_integers() -> Integers {
    Integers {
        byte: i8::MIN,
        short: i16::MIN,
        int: i32::MIN,
        long: i64::MIN,
        integer: read("-12345678901234567890123456789"),
        ..integers(0)
    }
}

fn largest_integers() -> Integers {
    Integers {
        byte: i8::MAX,
        unsigned_byte: u8::MAX,
        short: i16::MAX,
        unsigned_short: u16::MAX,
        int: i32::MAX,
        unsigned_int: u32::MAX,
        long: i64::MAX,
        unsigned_long: u64::MAX,
        integer: read("12345678901234567890123456789"),
    }
}

fn integers(n: u8) -> Integers {
    let small = i8::try_from(n).unwrap_or(i8::MAX);
    Integers {
        byte: small,
        unsigned_byte: n,
        short: n.into(),
        unsigned_short: n.into(),
        int: n.into(),
        unsigned_int: n.into(),
        long: n.into(),
        unsigned_long: n.into(),
        integer: n.into(),
    }
}

/// Floating-point and decimal numbers.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Reals {
    pub float: f32,
    pub double: f64,
    pub decimal: Decimal,
}

impl Kind for Reals {
    const NAME: &'static str = "Reals";
    const FEATURE: &'static str = "primitives";
    const CASES: &'static [Case<Self>] = &[
        ("largest numbers", || reals(f32::MAX, f64::MAX, "79228162514264337593543950335")),
        ("lowest numbers", || reals(f32::MIN, f64::MIN, "-79228162514264337593543950335")),
        ("smallest fractions", || reals(1e-45, 5e-324, "0.0000000000000001")),
        ("fractions", || reals(0.1, 0.1, "123456789012345.678901")),
        ("infinity", || reals(f32::INFINITY, f64::INFINITY, "1")),
        ("negative infinity", || reals(f32::NEG_INFINITY, f64::NEG_INFINITY, "-1")),
        ("not a number", || reals(f32::NAN, f64::NAN, "0")),
    ];

    fn is_same(&self, other: &Self) -> bool {
        let float = self.float == other.float || (self.float.is_nan() && other.float.is_nan());
        let double = self.double == other.double || (self.double.is_nan() && other.double.is_nan());
        float && double && self.decimal == other.decimal
    }
}

fn reals(float: f32, double: f64, decimal: &str) -> Reals {
    Reals { float, double, decimal: read(decimal) }
}

/// Times and durations.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Times {
    pub date: Date,
    pub time: Time,
    pub date_time: DateTime,
    pub duration: Duration,
}

impl Kind for Times {
    const NAME: &'static str = "Times";
    const FEATURE: &'static str = "primitives";
    const CASES: &'static [Case<Self>] = &[
        ("a time", || times("2026-11-22", "13:14:15Z", "2026-11-22T13:14:15Z", "P1DT2H3M4S")),
        ("a time with milliseconds", || times("2000-02-29", "23:59:59.125Z", "2000-02-29T23:59:59.125Z", "PT0.5S")),
        ("an early time", || times("0001-01-01", "00:00:00Z", "0001-01-01T00:00:00Z", "PT1S")),
        ("a late time", || times("9999-12-31", "23:59:59Z", "9999-12-31T23:59:59Z", "P365D")),
    ];

    /// Times without a zone are taken to be in UTC: toolkits without zones write them so.
    fn is_same(&self, other: &Self) -> bool {
        let date = |it: &Self| (it.date.year(), it.date.month(), it.date.day());
        let time = |it: &Self| it.time.with_zone(it.time.zone().or(Some(Zone::UTC)));
        let instant = |it: &Self| it.date_time.with_zone(it.date_time.zone().or(Some(Zone::UTC)));
        date(self) == date(other)
            && time(self).compare(&time(other)) == Some(Ordering::Equal)
            && instant(self).compare(&instant(other)) == Some(Ordering::Equal)
            && self.duration == other.duration
    }
}

fn times(date: &str, time: &str, date_time: &str, duration: &str) -> Times {
    Times { date: read(date), time: read(time), date_time: read(date_time), duration: read(duration) }
}

/// Parts of dates.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Calendar {
    pub year: GYear,
    pub year_month: GYearMonth,
    pub month: GMonth,
    pub month_day: GMonthDay,
    pub day: GDay,
}

impl Kind for Calendar {
    const NAME: &'static str = "Calendar";
    const FEATURE: &'static str = "primitives";
    const CASES: &'static [Case<Self>] = &[("parts of a date", || Calendar {
        year: read("2026"),
        year_month: read("2026-11"),
        month: read("--11"),
        month_day: read("--11-22"),
        day: read("---22"),
    })];
}

/// Strings, booleans, and bytes.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Texts {
    pub string: String,
    pub boolean: bool,
    pub uri: AnyUri,
    pub base64: Base64,
    pub hex: Hex,
}

impl Kind for Texts {
    const NAME: &'static str = "Texts";
    const FEATURE: &'static str = "primitives";
    const CASES: &'static [Case<Self>] = &[
        ("texts", || texts("a <b> & \"c\" 'd' ]]> e", true, "http://example.org/?a=1&b=2", b"\0\x01\xfe\xff")),
        ("empty texts", || texts("", false, "urn:x", b"")),
        ("texts of many scripts", || texts("äß漢🦀 a\u{301}", true, "urn:x", &[0xaa; 1000])),
        ("white space", || texts(" a  b\tc\nd ", true, "urn:x", b"x")),
    ];
}

fn texts(string: &str, boolean: bool, uri: &str, octets: &[u8]) -> Texts {
    let (base64, hex) = (Base64(octets.to_vec()), Hex(octets.to_vec()));
    Texts { string: string.to_owned(), boolean, uri: read(uri), base64, hex }
}

/// A qualified name as a value.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Qualified {
    pub name: QName,
}

impl Kind for Qualified {
    const NAME: &'static str = "Qualified";
    const FEATURE: &'static str = "primitives";
    const CASES: &'static [Case<Self>] =
        &[("a qualified name", || Qualified { name: QName::new("urn:other", "local") })];
}

fn read<T: Lexical>(text: &str) -> T {
    match T::parse(text) {
        Ok(value) => value,
        Err(error) => unreachable!("{text}: {error}"),
    }
}
