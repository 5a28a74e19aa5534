//! Nanoseconds per value for reading and writing the types that fill large messages.
//!
//! Run with `cargo run --release --example lexical_speed -p deltasoap-xml`, optionally with a word
//! that selects rows. Each row is the best of several passes over the same values. Before they are
//! timed, the values are checked to survive a round trip. The MB/s count the characters of the text
//! form.

use deltasoap_xml::lexical::{AnyUri, Base64, Date, DateTime, Decimal, Hex, Lexical, PackedText, QName};
use deltasoap_xml::{Buffer, Escape};
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    let row = std::env::args().nth(1).unwrap_or_default();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    println!("{:<26} {:>7} {:>9} {:>9} {:>9} {:>9}", "values", "bytes", "scan ns", "MB/s", "write ns", "MB/s");
    let mut all = Rows { selected: row };
    all.integers(&mut random);
    all.floats(&mut random);
    all.texts(&mut random);
    all.others(&mut random);
}

const COUNT: usize = 20_000;
const PASSES: usize = 40;

struct Rows {
    selected: String,
}

impl Rows {
    fn integers(&mut self, random: &mut Random) {
        self.time("int 5 digits", || (10_000 + random.below(90_000)) as i32);
        self.time("int 1-10 digits", || random.next() as i32 >> (random.next() % 31));
        self.time("int any bits", || random.next() as i32);
        self.time("long any bits", || random.next().cast_signed());
        self.time("long 1-19 digits", || random.next().cast_signed() >> (random.next() % 63));
        self.time("unsignedByte", || random.next() as u8);
        self.time("boolean", || random.next() & 1 == 0);
    }

    fn floats(&mut self, random: &mut Random) {
        self.time("double any bits", || random.double());
        self.time("double 0..1", || (random.next() >> 11) as f64 / (1u64 << 53) as f64);
        self.time("double 12345", || (10_000 + random.below(90_000)) as f64);
        self.time("double 123.45", || (10_000 + random.below(90_000)) as f64 / 100.0);
        self.time("double 1-15 digits", || (random.below(1 << 49) >> (random.next() % 49)) as f64);
        self.time("float any bits", || random.float());
    }

    fn texts(&mut self, random: &mut Random) {
        self.time("string 10", || random.text(10));
        self.time("string 100", || random.text(100));
        self.time("string 10000", || random.text(10_000));
        self.time("string 100 with umlauts", || random.text(90) + "\u{e4}\u{f6}\u{fc}\u{df}\u{e9}");
        self.time("string 100 Chinese", || "\u{4e2d}\u{6587}".repeat(16) + &random.text(4));
        self.time("QName", || QName::parse("xsd:string").expect("valid"));
        self.time("anyURI", || AnyUri::parse("http://schemas.xmlsoap.org/soap/envelope/").expect("valid"));
    }

    fn others(&mut self, random: &mut Random) {
        let now = DateTime::parse("2024-05-06T07:08:09.123Z").expect("valid");
        self.time("dateTime", || now);
        self.time("date", || Date::new(2024, 1 + random.below(12) as u8, 1).expect("valid"));
        self.time("decimal 12345.67", || Decimal::parse(&format!("{}.67", random.below(100_000))).expect("valid"));
        self.time("base64Binary 30", || Base64(random.bytes(30)));
        self.time("base64Binary 10000", || Base64(random.bytes(10_000)));
        self.time("hexBinary 10000", || Hex(random.bytes(10_000)));
        self.time("1000 doubles as base64", || {
            PackedText::<f64>::from((0..1000).map(|_| random.double()).collect::<Vec<_>>())
        });
    }

    fn time<T: Lexical + PartialEq>(&mut self, name: &str, mut make: impl FnMut() -> T) {
        if !name.contains(&self.selected) {
            return;
        }
        let mut size = Buffer::new();
        make().format(&mut size, Escape::Text);
        let count = (COUNT * 10 / size.len().max(10)).max(200);
        let values = (0..count).map(|_| make()).collect::<Vec<_>>();
        report(name, &values);
    }
}

fn report<T: Lexical + PartialEq>(name: &str, values: &[T]) {
    let mut out = Buffer::new();
    write_all(values, &mut out);
    let text = out.as_slice().to_vec();
    let mut read = values.iter().map(|_| T::vacant()).collect::<Vec<_>>();
    read_all(&text, &mut read);
    assert!(read.as_slice() == values, "{name} does not come back");
    let scan = best(|| read_all(black_box(&text), black_box(&mut read)));
    let write = best(|| {
        out.clear();
        write_all(black_box(values), &mut out);
        black_box(out.as_slice());
    });
    let (count, bytes) = (values.len() as f64, (text.len() - values.len()) as f64);
    let columns = |time: Duration| (time.as_nanos() as f64 / count, bytes * 1e3 / time.as_nanos() as f64);
    let ((scan, scan_rate), (write, write_rate)) = (columns(scan), columns(write));
    println!("{name:<26} {:>7.1} {scan:>9.2} {scan_rate:>9.0} {write:>9.2} {write_rate:>9.0}", bytes / count);
}

fn write_all<T: Lexical>(values: &[T], out: &mut Buffer) {
    for value in values {
        value.format(out, Escape::Text);
        out.push_block(b"<", 1);
    }
}

fn read_all<T: Lexical>(text: &[u8], into: &mut [T]) {
    let mut at = 0;
    for value in into {
        at += 1 + value.scan_into(&text[at..]).expect("a form that scan takes");
    }
}

fn best(mut pass: impl FnMut()) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        pass();
        start.elapsed()
    };
    (0..PASSES).map(timed).min().unwrap_or_default()
}

/// Xorshift: the same values on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn double(&mut self) -> f64 {
        std::iter::repeat_with(|| f64::from_bits(self.next())).find(|value| value.is_finite()).unwrap_or_default()
    }

    fn float(&mut self) -> f32 {
        std::iter::repeat_with(|| f32::from_bits(self.next() as u32))
            .find(|value| value.is_finite())
            .unwrap_or_default()
    }

    fn text(&mut self, len: usize) -> String {
        (0..len).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}
