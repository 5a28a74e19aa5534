//! What good clients send: arrays of numbers and texts of several lengths, which come back. Each
//! value of each answer is checked.

use deltasoap_load::{Answer, Failed, Failure, Shares, Traffic, Turn};
use deltasoap_test_support::Chance;
use quick_xml::events::Event;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

/// The seed of all values: whatever is sent is always the same.
const SEED: u64 = 27;
/// Different requests of each kind.
const VARIANTS: usize = 16;
/// The kinds of requests: what the items are, how many, and how often they are sent.
const KINDS: [(Kind, usize, f64); 4] =
    [(Kind::Doubles, 10, 70.0), (Kind::Doubles, 1000, 20.0), (Kind::Texts, 100, 9.0), (Kind::Doubles, 20_000, 1.0)];
/// Characters of texts: some have to be escaped.
const CHARACTERS: [char; 8] = ['a', 'Z', '<', '&', '"', 'é', '🧼', ' '];

/// The form of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// SOAP 1.1.
    Soap,
    /// The gateway's JSON.
    Json,
}

impl Form {
    /// Returns JSON or SOAP.
    pub fn new(is_json: bool) -> Self {
        if is_json { Form::Json } else { Form::Soap }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Doubles,
    Texts,
}

/// Requests, and what must come back. Clones share them.
#[derive(Debug, Clone)]
pub struct Echoes(Arc<Prepared>);

#[derive(Debug)]
struct Prepared {
    form: Form,
    shares: Shares,
    /// For each kind, its variants.
    echoes: Vec<Vec<Echo>>,
}

/// A request, and what must come back.
#[derive(Debug)]
pub struct Echo {
    /// The request, which keeps its connection.
    pub request: Vec<u8>,
    /// The same, as the last one of its connection.
    pub last_request: Vec<u8>,
    items: Items,
}

#[derive(Debug, PartialEq)]
enum Items {
    Doubles(Vec<f64>),
    Texts(Vec<String>),
}

impl Echoes {
    /// Prepares requests to a server.
    pub fn new(form: Form, server: SocketAddr) -> Self {
        let variants = |(number, (kind, count, _)): (usize, &(Kind, usize, f64))| {
            let echo = |variant| {
                let mut chance = Chance::new(SEED, (number * VARIANTS + variant) as u64);
                Echo::new(form, server, Items::random(*kind, *count, &mut chance))
            };
            (0..VARIANTS).map(echo).collect()
        };
        let shares = Shares::new(KINDS.iter().map(|(_, _, weight)| *weight), SEED);
        let echoes = KINDS.iter().enumerate().map(variants).collect();
        Echoes(Arc::new(Prepared { form, shares, echoes }))
    }

    /// Returns the form.
    pub fn form(&self) -> Form {
        self.0.form
    }

    /// Returns a random request.
    pub fn any(&self, chance: &mut Chance) -> &Echo {
        let kind = chance.pick(&self.0.echoes);
        chance.pick(kind)
    }

    /// Returns a random request whose answer does not fit buffers.
    pub fn long(&self, chance: &mut Chance) -> &Echo {
        chance.pick(&self.0.echoes[KINDS.len() - 1])
    }

    /// Returns a random short request.
    pub fn short(&self, chance: &mut Chance) -> &Echo {
        chance.pick(&self.0.echoes[0])
    }

    /// Checks an answer.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, echo: &Echo, status: u16, body: &[u8]) -> Result<(), Failed> {
        if status != 200 {
            let start = String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
            return Err(Failed::new(Failure::Status(status), start));
        }
        let wrong = |detail: String| Failed::new(Failure::Wrong, detail);
        let items = Items::read(self.0.form, &echo.items, body).map_err(wrong)?;
        if items == echo.items { Ok(()) } else { Err(wrong(items.difference(&echo.items))) }
    }
}

impl Traffic for Echoes {
    fn kinds(&self) -> usize {
        KINDS.len()
    }

    fn kind(&self, number: u64) -> usize {
        self.0.shares.draw(number)
    }

    fn request<'a>(&'a self, turn: Turn, _: &'a mut Vec<u8>) -> &'a [u8] {
        &self.0.echoes[turn.kind][turn.position % VARIANTS].request
    }

    fn check(&self, turn: Turn, answer: &Answer<'_>) -> Result<(), Failed> {
        let echo = &self.0.echoes[turn.kind][turn.position % VARIANTS];
        Echoes::check(self, echo, answer.status, answer.body)
    }
}

impl Echo {
    fn new(form: Form, server: SocketAddr, items: Items) -> Self {
        let operation = match items {
            Items::Doubles(_) => "echoDoubles",
            Items::Texts(_) => "echoStrings",
        };
        let (path, media, body) = match form {
            Form::Json => (format!("/operations/{operation}"), "application/json", items.json()),
            Form::Soap => ("/bench".to_owned(), "text/xml; charset=utf-8", items.envelope(operation)),
        };
        let request = |connection: &str| {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: {server}\r\nContent-Type: {media}\r\nSOAPAction: \"\"\r\nContent-Length: {}\r\n{connection}\r\n",
                body.len()
            );
            [head.as_bytes(), body.as_bytes()].concat()
        };
        Echo { request: request(""), last_request: request("Connection: close\r\n"), items }
    }
}

impl Items {
    fn random(kind: Kind, count: usize, chance: &mut Chance) -> Self {
        let double = |chance: &mut Chance| (chance.bits() >> 11) as f64 / (1_u64 << 53) as f64 * 1000.0;
        let text = |chance: &mut Chance| {
            let length = chance.below(40);
            (0..length).map(|_| *chance.pick(&CHARACTERS)).collect()
        };
        match kind {
            Kind::Doubles => Items::Doubles((0..count).map(|_| double(chance)).collect()),
            Kind::Texts => Items::Texts((0..count).map(|_| text(chance)).collect()),
        }
    }

    fn json(&self) -> String {
        match self {
            Items::Doubles(items) => serde_json::json!({ "item": items }).to_string(),
            Items::Texts(items) => serde_json::json!({ "item": items }).to_string(),
        }
    }

    fn envelope(&self, operation: &str) -> String {
        let mut out = "<S:Envelope xmlns:S=\"http://schemas.xmlsoap.org/soap/envelope/\"><S:Body>".to_owned();
        // Writing to a string does not fail.
        let _ = write!(out, "<b:{operation} xmlns:b=\"urn:bench\">");
        match self {
            Items::Doubles(items) => items.iter().for_each(|item| _ = write!(out, "<item>{item}</item>")),
            Items::Texts(items) => {
                items.iter().for_each(|item| _ = write!(out, "<item>{}</item>", quick_xml::escape::escape(item)));
            }
        }
        let _ = write!(out, "</b:{operation}></S:Body></S:Envelope>");
        out
    }

    /// Reads the items of an answer, which are of the same kind as those expected.
    fn read(form: Form, expected: &Items, body: &[u8]) -> Result<Self, String> {
        match (form, expected) {
            (Form::Json, Items::Texts(_)) => from_json(body).map(Items::Texts),
            (Form::Soap, Items::Texts(_)) => from_envelope(body).map(Items::Texts),
            // serde_json rounds numbers wrongly by default; this reads their texts.
            (Form::Json, Items::Doubles(_)) => from_json::<&RawValue>(body)?
                .iter()
                .map(|text| number(text.get()))
                .collect::<Result<_, _>>()
                .map(Items::Doubles),
            (Form::Soap, Items::Doubles(_)) => {
                from_envelope(body)?.iter().map(|text| number(text)).collect::<Result<_, _>>().map(Items::Doubles)
            }
        }
    }

    /// Says where these items differ from those expected.
    fn difference(&self, expected: &Items) -> String {
        fn first<T: PartialEq + std::fmt::Debug>(items: &[T], expected: &[T]) -> String {
            match items.iter().zip(expected).enumerate().find(|(_, (item, expected))| item != expected) {
                Some((index, (item, expected))) => format!("item {index} is {item:?}, not {expected:?}"),
                None => format!("{} items instead of {}", items.len(), expected.len()),
            }
        }
        match (self, expected) {
            (Items::Doubles(items), Items::Doubles(expected)) => first(items, expected),
            (Items::Texts(items), Items::Texts(expected)) => first(items, expected),
            _ => "items of another kind".to_owned(),
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|error| format!("{text:?}: {error}"))
}

#[derive(Deserialize)]
struct Answered<T> {
    item: Vec<T>,
}

fn from_json<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<Vec<T>, String> {
    serde_json::from_slice::<Answered<T>>(body).map(|answered| answered.item).map_err(|error| error.to_string())
}

/// Returns the texts of the elements `item`.
fn from_envelope(body: &[u8]) -> Result<Vec<String>, String> {
    let mut reader = quick_xml::Reader::from_reader(body);
    let (mut items, mut item) = (Vec::new(), None);
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) if tag.local_name().as_ref() == "item" => item = Some(String::new()),
            Event::Empty(tag) if tag.local_name().as_ref() == "item" => items.push(String::new()),
            Event::Text(text) => {
                item.iter_mut().for_each(|item| item.push_str(&text));
            }
            Event::GeneralRef(name) => {
                let reference = format!("&{};", &*name);
                let text = quick_xml::escape::unescape(&reference).map_err(|error| error.to_string())?;
                item.iter_mut().for_each(|item| item.push_str(&text));
            }
            Event::End(_) => items.extend(item.take()),
            Event::Eof => return Ok(items),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 1))
    }

    #[test]
    fn an_echo_is_right_and_any_other_answer_is_wrong() {
        for form in [Form::Soap, Form::Json] {
            let echoes = Echoes::new(form, server());
            let mut chance = Chance::seeded(1);
            for _ in 0..20 {
                let (echo, other) = (echoes.any(&mut chance), echoes.any(&mut chance));
                let body = |echo: &Echo| {
                    let at = echo.request.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head") + 4;
                    echo.request[at..].to_vec()
                };
                assert_eq!(echoes.check(echo, 200, &body(echo)), Ok(()));
                assert!(echoes.check(echo, 500, &body(echo)).is_err());
                if echo.items != other.items {
                    let failed = echoes.check(echo, 200, &body(other)).expect_err("another answer");
                    assert_eq!(failed.failure, Failure::Wrong);
                }
                assert!(echoes.check(echo, 200, &body(echo)[..body(echo).len() / 2]).is_err());
            }
        }
    }
}
