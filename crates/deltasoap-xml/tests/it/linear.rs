//! Work grows linearly with the document, whatever its shape and however it is split: twice the
//! size may take no more than about twice the time. Each shape would take minutes if some step were
//! quadratic.

use crate::common::Recorder;
use deltasoap_xml::{Instructions, Limits};
use std::fmt::Write;
use std::time::Duration;

const LIMITS: Limits = Limits { message: 1 << 30, ..Limits::NONE };

/// Returns the processor time that this thread has used: other work on the machine does not count.
#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the wall-clock time.
#[cfg(not(unix))]
fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// Returns the time that it takes to read a document in chunks.
fn time(document: &str, chunk: usize) -> Duration {
    let mut recorder = Recorder::new(LIMITS, Instructions::Skip);
    let start = now();
    let (_, error) = recorder.record(document.as_bytes().chunks(chunk));
    assert_eq!(error, None);
    now() - start
}

/// Asserts that documents made for `n` and `2 * n` take proportional time, in small and in large
/// chunks. The best of several runs counts: caches and the processor's clock disturb the others.
fn assert_linear(n: usize, make: impl Fn(usize) -> String) {
    let (small, large) = (make(n), make(2 * n));
    for chunk in [1, 1000, usize::MAX] {
        let mut best = (Duration::MAX, Duration::MAX);
        let is_linear = (0..10).any(|_| {
            best = (best.0.min(time(&small, chunk)), best.1.min(time(&large, chunk)));
            best.1 < best.0 * 3 + Duration::from_millis(5)
        });
        assert!(is_linear, "chunks of {chunk}: {:?}, twice as much: {:?}", best.0, best.1);
        assert!(best.1 < Duration::from_secs(10), "{best:?}");
    }
}

/// Builds a document of `n` numbered pieces between a head and a tail.
fn numbered(head: &str, n: usize, piece: impl Fn(&mut String, usize), tail: &str) -> String {
    let mut text = head.to_owned();
    (0..n).for_each(|i| piece(&mut text, i));
    text + tail
}

macro_rules! add {
    ($($format:tt)*) => { |text: &mut String, i: usize| { let _ = write!(text, $($format)*, i = i); } };
}

#[test]
fn attributes_on_one_tag() {
    assert_linear(40_000, |n| numbered("<a", n, add!(" x{i}=''"), "/>"));
}

#[test]
fn prefixed_attributes_on_one_tag() {
    assert_linear(40_000, |n| numbered("<a xmlns:p='u'", n, add!(" p:x{i}=''"), "/>"));
}

#[test]
fn declarations_on_one_tag() {
    assert_linear(50_000, |n| numbered("<a", n, add!(" xmlns:p{i}='urn:{i}'"), "/>"));
}

#[test]
fn declarations_used_by_many_children() {
    assert_linear(20_000, |n| {
        let head = numbered("<a", n, add!(" xmlns:p{i}='urn:{i}'"), ">");
        numbered(&head, n, add!("<p{i}:c/>"), "</a>")
    });
}

#[test]
fn declarations_nested_and_shadowed() {
    assert_linear(20_000, |n| {
        let head = numbered("", n, add!("<p:a xmlns:p='urn:{i}'>"), "");
        numbered(&head, n, |text, _| text.push_str("</p:a>"), "")
    });
}

#[test]
fn deep_nesting() {
    assert_linear(50_000, |n| "<a>".repeat(n) + &"</a>".repeat(n));
}

#[test]
fn a_million_open_elements() {
    let document = "<a>".repeat(1_000_000) + &"</a>".repeat(1_000_000);
    assert!(time(&document, usize::MAX) < Duration::from_secs(10));
}

#[test]
fn one_long_name() {
    assert_linear(50_000, |n| format!("<{0}></{0}>", "n".repeat(n)));
}

#[test]
fn one_long_name_beyond_ascii() {
    assert_linear(30_000, |n| format!("<{0}></{0}>", "é".repeat(n)));
}

#[test]
fn one_long_attribute() {
    assert_linear(500_000, |n| format!("<a b='{}'/>", "v > ".repeat(n / 4)));
}

#[test]
fn one_long_attribute_of_references() {
    assert_linear(50_000, |n| format!("<a b='{}'/>", "&lt;".repeat(n / 4)));
}

#[test]
fn much_white_space_in_tags() {
    assert_linear(50_000, |n| format!("<a{0}b{0}={0}''{0}></a{0}>", " ".repeat(n)));
}

#[test]
fn a_long_declaration() {
    assert_linear(50_000, |n| format!("<?xml version='1.0'{}?><a/>", " ".repeat(n)));
}

#[test]
fn one_long_reference() {
    assert_linear(50_000, |n| format!("<a>&#{}65;</a>", "0".repeat(n)));
}

#[test]
fn one_long_instruction() {
    assert_linear(50_000, |n| format!("<?{0} {1}?><a/>", "t".repeat(n), "? > ?".repeat(n)));
}

#[test]
fn one_long_comment() {
    assert_linear(50_000, |n| format!("<a><!--{}--></a>", " - >".repeat(n)));
}

#[test]
fn one_long_cdata_section() {
    assert_linear(50_000, |n| format!("<a><![CDATA[{}]]></a>", "]] ]\r\n>".repeat(n)));
}

#[test]
fn text_of_brackets_and_references() {
    assert_linear(50_000, |n| format!("<a>{}</a>", "]] &amp; \r".repeat(n / 4)));
}

#[test]
fn many_names() {
    assert_linear(50_000, |n| numbered("<a>", n, add!("<n{i}/>"), "</a>"));
}

#[test]
fn many_scopes() {
    assert_linear(50_000, |n| numbered("<a>", n, add!("<p:b xmlns:p='urn:{i}'/>"), "</a>"));
}
