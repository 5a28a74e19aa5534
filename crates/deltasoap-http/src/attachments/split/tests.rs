//! Compares the splitter with a naive one, and tests which input it rejects.

use super::*;
use proptest::prelude::*;

/// The headers and the bytes of each part.
type Parts = Vec<(PartHeaders, Vec<u8>)>;

/// Splits a multipart that arrives in chunks; an error is returned as text.
fn split(multipart: &[u8], chunks: impl IntoIterator<Item = usize>, limits: AttachmentLimits) -> Result<Parts, String> {
    let mut splitter = Splitter::new("b-1", limits);
    let (mut parts, mut rest, mut chunks) = (Parts::new(), multipart, chunks.into_iter());
    let mut is_over = false;
    loop {
        while let Some(event) = splitter.next().map_err(|error| error.to_string())? {
            assert!(!is_over, "an event after the end");
            match event {
                Event::Part(headers) => parts.push((headers, Vec::new())),
                Event::Data(data) => {
                    assert!(!data.is_empty(), "no bytes");
                    parts.last_mut().expect("a part").1.extend_from_slice(&data);
                }
                Event::PartEnd => {}
                Event::End => is_over = true,
            }
        }
        if splitter.input.is_last {
            return Ok(parts);
        }
        let (chunk, behind) = rest.split_at(chunks.next().unwrap_or(usize::MAX).min(rest.len()));
        rest = behind;
        splitter.input.push(Bytes::copy_from_slice(chunk));
        splitter.input.is_last = rest.is_empty();
    }
}

fn whole(multipart: &[u8]) -> Result<Parts, String> {
    let whole = split(multipart, [], AttachmentLimits::default());
    let in_bytes = split(multipart, std::iter::repeat(1), AttachmentLimits::default());
    match (&whole, &in_bytes) {
        (Err(_), Err(_)) => {}
        _ => assert_eq!(whole, in_bytes),
    }
    whole
}

/// Finds the parts by searching the whole multipart for boundaries, line by line.
fn naive(multipart: &[u8], break_: &str) -> Option<Parts> {
    let delimiter = format!("{break_}--b-1");
    let text = [break_.as_bytes(), multipart].concat();
    let mut pieces = Vec::new();
    let mut rest = &text[..];
    while let Some(at) = memmem::find(rest, delimiter.as_bytes()) {
        pieces.push(&rest[..at]);
        rest = &rest[at + delimiter.len()..];
        if rest.starts_with(b"--") {
            let parts = pieces.iter().skip(1).map(|piece| naive_part(piece, break_));
            return parts.collect();
        }
        // The line break after a boundary is searched again as the one before the next boundary.
        rest = &rest[memmem::find(rest, break_.as_bytes())?..];
    }
    None
}

fn naive_part(piece: &[u8], break_: &str) -> Option<(PartHeaders, Vec<u8>)> {
    let empty_line = format!("{break_}{break_}");
    let (head, data) = match memmem::find(piece, empty_line.as_bytes()) {
        Some(at) => (&piece[..at], &piece[at + empty_line.len()..]),
        // The line break of an empty part's empty line belongs to the boundary.
        None => (piece.strip_suffix(break_.as_bytes()).unwrap_or(piece), &[][..]),
    };
    Some((PartHeaders::parse(head.trim_ascii_start()).ok()?, data.to_vec()))
}

/// Generates pieces that resemble boundaries and line breaks more often than random data.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("\r\n"),
        Just("\n"),
        Just("\r"),
        Just("--"),
        Just("b-1"),
        Just("\r\n--b-"),
        Just("\n--b-"),
        Just("\r\n\r\n"),
        Just("--b-1"),
        Just("x"),
        Just("\0\u{ff}"),
        Just("-b-1--"),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
}

fn multipart(parts: &[(String, Vec<u8>)], break_: &str, preamble: &str) -> Vec<u8> {
    let mut text = preamble.as_bytes().to_vec();
    for (id, data) in parts {
        text.extend(format!("--b-1 \t{break_}Content-ID: <{id}>{break_}X: y{break_}{break_}").bytes());
        text.extend_from_slice(data);
        text.extend(break_.bytes());
    }
    text.extend(format!("--b-1--{break_}epilogue").bytes());
    text
}

proptest! {
    #[test]
    fn parts_are_those_of_a_naive_search(
        parts in prop::collection::vec(("[a-z]{1,5}", data()), 0..5),
        is_lf: bool,
        preamble in prop_oneof![Just(""), Just("\r\n"), Just("some\ntext --b-1 here\n")],
        chunks in prop::collection::vec(0..20_usize, 0..100),
    ) {
        let break_ = if is_lf { "\n" } else { "\r\n" };
        let multipart = multipart(&parts, break_, preamble);
        let found = split(&multipart, [], AttachmentLimits::default());
        // The naive search supports only one kind of line break.
        let is_uniform = |data: &[u8]| {
            let of_line_feeds = data.iter().filter(|&&byte| byte == b'\n').count();
            let of_both = memmem::find_iter(data, "\r\n").count();
            if is_lf { of_both == 0 } else { of_both == of_line_feeds }
        };
        if let Ok(found) = &found && parts.iter().all(|(_, data)| is_uniform(data)) {
            let expected = naive(&multipart[preamble.len()..], break_);
            prop_assert_eq!(Some(found), expected.as_ref());
        }
        let delimiter = format!("{break_}--b-1");
        let is_clean = |data: &[u8]| memmem::find(&[break_.as_bytes(), data].concat(), delimiter.as_bytes()).is_none();
        if parts.iter().all(|(_, data)| is_clean(data)) {
            let found = found.as_ref().expect("no boundary in any part");
            let sent = parts.iter().map(|(_, data)| data);
            prop_assert!(found.iter().map(|(_, data)| data).eq(sent));
        }
        let sizes = chunks.iter().copied().chain(std::iter::repeat(3));
        let in_chunks = split(&multipart, sizes, AttachmentLimits::default());
        prop_assert_eq!(found.ok(), in_chunks.ok());
    }

    #[test]
    fn anything_is_split_or_refused(
        text in data(),
        chunks in prop::collection::vec(0..6_usize, 0..50),
    ) {
        let text = [b"--b-1\r\n", &text[..]].concat();
        let found = split(&text, [], AttachmentLimits::default());
        let in_chunks = split(&text, chunks.into_iter().chain(std::iter::repeat(2)), AttachmentLimits::default());
        prop_assert_eq!(found.ok(), in_chunks.ok());
    }
}

#[test]
fn forms_of_parts() {
    let data = |text: &str| {
        let parts = whole(text.as_bytes()).expect(text);
        parts.into_iter().map(|(_, data)| String::from_utf8(data).expect("UTF-8")).collect::<Vec<_>>()
    };
    assert_eq!(data("--b-1\r\n\r\nx\r\n--b-1--"), ["x"]);
    assert_eq!(data("--b-1\r\nA: b\r\n\r\n\r\n--b-1--"), [""]);
    assert_eq!(data("--b-1\r\nA: b\r\n\r\n--b-1--\r\n"), [""], "the empty line's break is the boundary's");
    assert_eq!(data("--b-1\n\n--b-1\n\n\n\n--b-1--"), ["", "\n"]);
    assert_eq!(data("\r\n\r\n--b-1\r\n\r\na\n--b-1\nb\r\n--b-1--"), ["a\n--b-1\nb"], "of another line break");
    assert_eq!(data("--b-1\n\na\r\n--b-1--"), ["a\r"]);
    assert_eq!(data("--b-1--"), [""; 0]);
}

#[test]
fn an_error_names_the_place() {
    let fault = |text: &str| whole(text.as_bytes()).expect_err(text);
    let open = "--b-1\r\nA: b\r\n\r\ndata";
    assert_eq!(fault(open), "the package ended before the last boundary (part 1, byte 19 of the package)");
    let second = format!("{open}\r\n--b-1\r\nA: b\r\n");
    assert_eq!(fault(&second), "the package ended before the end of a part's headers (part 2, byte 28 of the package)");
    assert!(fault("no boundary").contains("before the first boundary (part 0, byte 0"));
    assert!(fault("").contains("before the first boundary"));
    assert!(fault("--b-1").contains("before the end of a boundary's line"));
    assert!(fault("--b-12\r\n\r\nx").contains("unexpected text follows a boundary on its line"));
    assert!(fault(&format!("{open}\r\n--b-1x\r\n")).contains("unexpected text follows a boundary on its line (part 1"));
    assert!(fault("--b-1\r\nA: b\r\n--b-1--").contains("the end of a part's headers"));
    assert!(fault("--b-1\r\nA: b\r\n--b-1\r\n\r\n").contains("a boundary occurs within the headers"));
    assert!(fault("--b-1\r\nno colon\r\n\r\n").contains("has no colon (part 1"));
}

#[test]
fn limits_hold_whatever_the_chunks() {
    let limits = AttachmentLimits { headers: 64, parts: 2, ..AttachmentLimits::default() };
    let fault = |text: &str| {
        for size in [1, 7, usize::MAX] {
            let error = split(text.as_bytes(), std::iter::repeat(size), limits).expect_err(text);
            assert!(error.starts_with("the limit "), "{error}");
        }
        split(text.as_bytes(), [], limits).expect_err(text)
    };
    let many = "--b-1\r\n\r\nx\r\n".repeat(3);
    assert_eq!(fault(&many), "the limit `parts` of 2 is exceeded (part 2, byte 31 of the package)");
    assert!(fault(&format!("--b-1\r\nA: {}\r\n\r\nx", "b".repeat(64))).contains("`headers`"));
    assert!(fault(&format!("--b-1\r\nA: {}", "b".repeat(64))).contains("`headers`"));
    assert!(fault(&format!("--b-1{}", " ".repeat(65))).contains("`headers`"));
    assert!(fault(&"x".repeat(65)).contains("`headers`"));
    assert!(fault(&format!("{}\n--b-1--", "x".repeat(65))).contains("`headers`"));
    assert!(fault(&format!("--b-1{}\r\n\r\n\r\n--b-1--", " ".repeat(65))).contains("`headers`"));
}

/// Near misses of a boundary at every position take linear time.
#[test]
fn near_misses_take_linear_time() {
    let near = "\r\n--b-".repeat(200_000);
    let text = format!("--b-1\r\n\r\n{near}\r\n--b-1--");
    for size in [1, 6, 4096, usize::MAX] {
        let limits = AttachmentLimits::default();
        let parts = split(text.as_bytes(), std::iter::repeat(size), limits).expect("one part");
        assert_eq!(parts[0].1.len(), near.len());
    }
}

#[test]
fn only_white_space_follows_the_last_boundary_on_its_line() {
    let behind = |text: &str| whole(format!("--b-1\r\n\r\nx\r\n--b-1--{text}").as_bytes()).map(|parts| parts.len());
    for valid in ["", " ", "\r\n", "\n", " \t\r\n", "\r\nepilogue\r\n--b-1\r\n", "\r"] {
        assert_eq!(behind(valid), Ok(1), "{valid:?}");
    }
    for junk in ["x", "-", " x\r\n", "\tx", "--b-1"] {
        assert!(behind(junk).is_err_and(|error| error.contains("follows the last boundary")), "{junk:?}");
    }
    let limits = AttachmentLimits { headers: 10, ..AttachmentLimits::default() };
    let long = format!("--b-1--{}", " ".repeat(11));
    assert!(split(long.as_bytes(), std::iter::repeat(1), limits).is_err_and(|error| error.contains("`headers`")));
}
