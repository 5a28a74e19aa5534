//! Flows of mitmproxy, as `mitmdump -w` writes them: dictionaries in tnetstrings, one after the other.
//! A tnetstring is the number of its bytes in decimal, a colon, the bytes, and a letter for the type.
//!
//! Versions of the format differ in the names that are not read here, and in whether names are bytes
//! or text.

use super::http1::{Method, content_of, is_wanted};
use super::{Input, Limits, Visit, broken, too_large};
use crate::Reason;
use crate::capture::{Capture, Direction, Item};
use crate::error::ArchiveError;
use bytes::Bytes;
use std::io::{self, BufReader, Read};

/// What a flow has besides its two messages, in bytes, at most: heads, certificates, what was edited.
const BESIDES: u64 = 16 << 20;
/// Maximum number of digits of a length.
const DIGITS: usize = 12;

/// Reads the requests and responses that may hold messages.
pub(super) fn read(input: Input<'_>, limits: Limits, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
    let mut reader = match input.open_plain() {
        Ok(reader) => BufReader::new(reader),
        Err(error) => return broken(input.path, &error, visit),
    };
    // A flow that was edited holds its messages twice.
    let most = limits.message.saturating_mul(4).saturating_add(BESIDES);
    for number in 0_u64.. {
        let place = format!("{}!{number}", input.display());
        match next_flow(&mut reader, most) {
            Ok(None) => break,
            Ok(Some(Ok(content))) => match flow(&place, Value { tag: b'}', content: &content }, limits) {
                Ok(items) => items.into_iter().flatten().try_for_each(&mut *visit)?,
                Err(reason) => visit(Item::Unreadable { place, reason: format!("not a valid flow: {reason}").into() })?,
            },
            Ok(Some(Err(reason))) => visit(Item::Unreadable { place, reason })?,
            // Where the next flow is, is unknown.
            Err(error) => return broken(input.path, &format!("flow {number}: {error}"), visit),
        }
    }
    Ok(())
}

/// Reads the content of the next dictionary; `None` at the end, and a reason for one that is too large.
///
/// # Errors
/// If there is none.
fn next_flow(reader: &mut impl Read, most: u64) -> io::Result<Option<Result<Vec<u8>, Reason>>> {
    let mut length = Vec::new();
    loop {
        let mut byte = [0];
        match reader.read(&mut byte) {
            Ok(0) if length.is_empty() => return Ok(None),
            Ok(0) => return Err(io::Error::other("the file ends within it")),
            Ok(_) if byte[0] == b':' => break,
            Ok(_) if byte[0].is_ascii_digit() && length.len() < DIGITS => length.push(byte[0]),
            Ok(_) => return Err(io::Error::other("not a tnetstring")),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let length = number(&length).ok_or_else(|| io::Error::other("not a tnetstring"))?;
    let mut whole = reader.take(length.saturating_add(1));
    if length > most {
        let skipped = io::copy(&mut whole, &mut io::sink())?;
        return match skipped == length + 1 {
            true => Ok(Some(Err(too_large(most).into()))),
            false => Err(io::Error::other("the file ends within it")),
        };
    }
    let mut content = Vec::new();
    whole.read_to_end(&mut content)?;
    match (content.len() as u64 == length + 1).then(|| content.pop()).flatten() {
        Some(b'}') => Ok(Some(Ok(content))),
        Some(_) => Err(io::Error::other("not a dictionary")),
        None => Err(io::Error::other("the file ends within it")),
    }
}

/// A value, whose content is parsed when it is asked for: nothing nests here, however deep it is.
#[derive(Debug, Clone, Copy)]
struct Value<'v> {
    tag: u8,
    content: &'v [u8],
}

type Parsed<T> = Result<T, &'static str>;

impl<'v> Value<'v> {
    /// Splits the first value off.
    fn first(from: &'v [u8]) -> Parsed<(Self, &'v [u8])> {
        const WRONG: &str = "not a tnetstring";
        let colon = from.iter().take(DIGITS + 1).position(|&byte| byte == b':').ok_or(WRONG)?;
        let length = number(&from[..colon]).and_then(|length| usize::try_from(length).ok()).ok_or(WRONG)?;
        let rest = &from[colon + 1..];
        let (content, rest) = rest.split_at_checked(length).ok_or("longer than what it is in")?;
        let (&tag, rest) = rest.split_first().ok_or(WRONG)?;
        Ok((Value { tag, content }, rest))
    }

    /// Returns the values of a list, or the names and values of a dictionary.
    fn each(self) -> impl Iterator<Item = Parsed<Value<'v>>> {
        let mut rest = self.content;
        std::iter::from_fn(move || {
            let first = (!rest.is_empty()).then(|| Value::first(rest))?;
            rest = first.map_or(&[], |(_, after)| after);
            Some(first.map(|(value, _)| value))
        })
    }

    /// Returns a property of a dictionary; `None` if it is missing or null.
    fn get(self, name: &str) -> Parsed<Option<Value<'v>>> {
        if self.tag != b'}' {
            return Err("not a dictionary");
        }
        let mut rest = self.content;
        while !rest.is_empty() {
            let (key, after) = Value::first(rest)?;
            let (value, after) = Value::first(after)?;
            if key.content == name.as_bytes() {
                return Ok(Some(value).filter(|value| value.tag != b'~'));
            }
            rest = after;
        }
        Ok(None)
    }

    fn text(self) -> Option<&'v str> {
        std::str::from_utf8(self.content).ok().filter(|_| matches!(self.tag, b',' | b';'))
    }

    fn parsed<T: std::str::FromStr>(self) -> Option<T> {
        std::str::from_utf8(self.content).ok()?.parse().ok().filter(|_| matches!(self.tag, b'#' | b'^'))
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|_| is_number)
}

/// Returns the messages of a flow.
fn flow(place: &str, flow: Value<'_>, limits: Limits) -> Parsed<[Option<Item>; 2]> {
    // There are flows of TCP, UDP and DNS as well.
    if flow.get("type")?.and_then(Value::text) != Some("http") {
        return Ok([None, None]);
    }
    let Some(request) = flow.get("request")? else { return Ok([None, None]) };
    let method = Method::named(request.get("method")?.and_then(Value::text).unwrap_or_default());
    let known = Capture {
        place: format!("{place}.request"),
        sender: client_of(flow)?,
        direction: Some(Direction::Request),
        ..Capture::default()
    };
    let asked = message(request, method, known, limits)?;
    // A response that cannot be read leaves its request.
    let answered = response(place, flow, method, matches!(asked, Some(Item::Capture(_))), limits);
    let answered = answered.unwrap_or_else(|reason| {
        let place = format!("{place}.response");
        Some(Item::Unreadable { place, reason: format!("not a valid response: {reason}").into() })
    });
    Ok([asked, answered])
}

/// Returns the response of a flow, if there is one and it is a SOAP message.
fn response(place: &str, flow: Value<'_>, method: Method, is_answer: bool, limits: Limits) -> Parsed<Option<Item>> {
    let (Some(request), Some(response)) = (flow.get("request")?, flow.get("response")?) else { return Ok(None) };
    let host = request.get("host")?.and_then(Value::text);
    let port = request.get("port")?.and_then(Value::parsed::<u16>);
    let known = Capture {
        place: format!("{place}.response"),
        sender: host.zip(port).map(|(host, port)| format!("{host}:{port}")),
        direction: Some(Direction::Response),
        status: Some(response.get("status_code")?.and_then(Value::parsed).ok_or("no status")?),
        is_answer,
        ..Capture::default()
    };
    message(response, method, known, limits)
}

/// Returns the host of the client: the first part of the address, whose name differs between versions.
fn client_of(flow: Value<'_>) -> Parsed<Option<String>> {
    let Some(connection) = flow.get("client_conn")? else { return Ok(None) };
    for name in ["peername", "address"] {
        let Some(mut address) = connection.get(name)? else { continue };
        // In files of old versions the pair is a property of the address.
        if address.tag == b'}' {
            match address.get("address")? {
                Some(pair) => address = pair,
                None => continue,
            }
        }
        if let Some(host) = address.each().next().transpose()?.and_then(Value::text) {
            return Ok(Some(host.to_owned()));
        }
    }
    Ok(None)
}

/// Returns a request or response as an item; `None` if it is no SOAP message.
fn message(http: Value<'_>, method: Method, known: Capture, limits: Limits) -> Parsed<Option<Item>> {
    let (mut media_type, mut coding, mut is_empty) = (None, None, false);
    for field in http.get("headers")?.into_iter().flat_map(Value::each) {
        let mut pair = field?.each();
        let (Some(name), Some(value)) = (pair.next().transpose()?, pair.next().transpose()?) else {
            return Err("a header field without a name or a value");
        };
        let name = name.content;
        if name.eq_ignore_ascii_case(b"content-type") {
            media_type.get_or_insert(value.content);
        } else if name.eq_ignore_ascii_case(b"content-encoding") {
            coding.get_or_insert(value.content);
        } else if name.eq_ignore_ascii_case(b"content-length") {
            is_empty = value.content == b"0";
        }
    }
    if !is_wanted(Some(method), media_type) {
        return Ok(None);
    }
    let time = http.get("timestamp_start")?.and_then(Value::parsed::<f64>);
    let time = time.filter(|time| time.abs() < 1e12).map(|time| (time * 1e6).round() as i64);
    let Some(body) = http.get("content")? else {
        let reason = "its body was not recorded: mitmproxy does not keep bodies that it streams";
        let is_streamed = !is_empty && media_type.is_some() && !matches!(known.status, Some(204 | 304));
        return Ok(is_streamed.then(|| Item::Unreadable { place: known.place, reason: reason.into() }));
    };
    if body.content.len() as u64 > limits.message {
        return Ok(Some(Item::Unreadable { place: known.place, reason: too_large(limits.message).into() }));
    }
    let content: Option<Bytes> = content_of(known.status, media_type, coding, body.content);
    Ok(content.map(|content| Item::Capture(Capture { time, content, ..known })))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{body, collected};
    use super::*;
    use deltasoap_test_support::Chance;
    use deltasoap_test_support::files::in_repository;
    use std::fs;
    use std::path::Path;

    fn items(path: &Path, limits: Limits) -> (Vec<Capture>, Vec<(String, String)>) {
        collected(|visit| read(Input::from(path), limits, visit))
    }

    fn net(tag: char, content: &str) -> String {
        format!("{}:{content}{tag}", content.len())
    }

    fn dictionary(pairs: &[(&str, String)]) -> String {
        let all: Vec<_> = pairs.iter().map(|(name, value)| net(';', name) + value).collect();
        net('}', &all.concat())
    }

    #[test]
    fn flows_of_mitmdump_hold_all_exchanges() {
        let (captures, problems) = items(&in_repository("testdata/captures/shop.mitm"), Limits::default());
        assert_eq!(problems, []);
        // The last exchange is one of HTTP/2.
        assert_eq!(captures.len(), 20);
        for (number, pair) in captures.chunks(2).enumerate() {
            let [request, response] = pair else { panic!("a pair") };
            assert!(body(request).contains(&format!("<customer>c{number}</customer>")));
            assert!(body(response).contains(&format!("<number>{number}</number>")) || number == 6);
            assert_eq!((request.direction, request.is_answer), (Some(Direction::Request), false));
            assert_eq!((response.direction, response.is_answer), (Some(Direction::Response), true));
            assert_eq!(response.status, Some(if number == 6 { 500 } else { 200 }));
            assert_eq!(request.sender.as_deref(), Some("127.0.0.1"));
            let server = if number == 9 { "127.0.0.1:18084" } else { "127.0.0.1:18083" };
            assert_eq!(response.sender.as_deref(), Some(server));
            assert!(request.time < response.time && request.time.is_some_and(|time| time / 86_400_000_000 == 20_786));
        }
        assert!(captures[0].place.ends_with("shop.mitm!0.request"), "{}", captures[0].place);
    }

    /// Names were bytes in old versions, and the address of the client was nested.
    #[test]
    fn old_versions_and_what_is_missing() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("a.flow");
        let message = |content: String, more: &[(&str, String)]| {
            let header = net(']', &(net(',', "content-type") + &net(',', "text/xml")));
            let known = [("content", content), ("headers", net(']', &header)), ("method", net(',', "POST"))];
            dictionary(&[&known[..], more].concat())
        };
        let pair = net(']', &(net(',', "10.0.0.9") + &net('#', "80")));
        let client = dictionary(&[("address", dictionary(&[("address", pair)]))]);
        let status = ("status_code", net('#', "200"));
        let flow = |request: String, response: String| {
            let all = [("type", net(',', "http")), ("request", request), ("response", response)];
            dictionary(&[&all[..], &[("client_conn", client.clone())]].concat())
        };
        let text = [
            flow(message(net(',', "<x/>"), &[]), message(net('~', ""), std::slice::from_ref(&status)))
                .replace(';', ","),
            dictionary(&[("type", net(';', "tcp"))]),
            flow(message(net(',', "<y/>"), &[]), message(net(',', &"z".repeat(99)), std::slice::from_ref(&status))),
            flow(message(net(',', "<z/>"), &[]), message(net(',', "<z/>"), &[])),
            "3:abc}".to_owned(),
        ];
        fs::write(&path, text.concat()).expect("a file");
        let (captures, problems) = items(&path, Limits { message: 50 });
        assert_eq!(captures.iter().map(body).collect::<Vec<_>>(), ["<x/>", "<y/>", "<z/>"]);
        assert_eq!(captures[0].sender.as_deref(), Some("10.0.0.9"));
        let problems: Vec<_> =
            problems.iter().map(|(place, it)| (place.rsplit('!').next().unwrap_or(""), &**it)).collect();
        assert_eq!(
            problems,
            [
                ("0.response", "its body was not recorded: mitmproxy does not keep bodies that it streams"),
                ("2.response", "more than 50 bytes; a higher limit for messages takes it"),
                ("3.response", "not a valid response: no status"),
                ("4", "not a valid flow: not a tnetstring"),
            ]
        );
        for (text, reason) in [
            ("5:abc", "flow 0: the file ends within it"),
            ("abc", "flow 0: not a tnetstring"),
            ("999999999999:a", "flow 0: the file ends within it"),
            ("0:]", "flow 0: not a dictionary"),
        ] {
            fs::write(&path, text).expect("a file");
            let (_, problems) = items(&path, Limits::default());
            assert!(problems.len() == 1 && problems[0].1.ends_with(reason), "{problems:?}");
        }
    }

    #[test]
    fn flows_that_are_too_large_are_skipped() {
        let content = vec![b'a'; 100];
        let mut file = format!("{}:", content.len()).into_bytes();
        file.extend_from_slice(&content);
        file.extend_from_slice(b"}0:}");
        let mut reader = &file[..];
        assert!(matches!(next_flow(&mut reader, 50), Ok(Some(Err(_)))));
        assert!(matches!(next_flow(&mut reader, 50), Ok(Some(Ok(_)))));
        assert!(matches!(next_flow(&mut reader, 50), Ok(None)));
        assert!(next_flow(&mut &file[..90], 50).is_err());
    }

    /// Whatever a file holds, reading it ends, and what is wrong is an item.
    #[test]
    fn damaged_flows_are_read_to_an_end() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("a.mitm");
        let content = fs::read(in_repository("testdata/captures/shop.mitm")).expect("flows");
        let mut chance = Chance::seeded(7);
        let mut whole = 0;
        for _ in 0..500 {
            let mut content = content.clone();
            for _ in 0..1 + chance.below(20) {
                let at = chance.below(content.len());
                content[at] = chance.below(256) as u8;
            }
            content.truncate(content.len() - chance.below(content.len() / 4));
            fs::write(&path, content).expect("a file");
            let (captures, problems) = items(&path, Limits { message: 1 << 20 });
            assert!(captures.len() <= 24 && problems.len() <= 24 && !problems.is_empty());
            whole += captures.len();
        }
        assert!(whole > 500, "{whole}");
    }
}
