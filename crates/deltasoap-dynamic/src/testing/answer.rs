//! Answers, and the checks that each of them is put to by itself.

use super::checks::Check;
use super::draft::Draft;
use super::kinds::{Breach, Kind};
use crate::Operation;
use crate::diff::{MessageKind, kinds, shape};
use bytes::Bytes;
use deltasoap_core::schema::shortened;
use deltasoap_core::soap::{Fault, FaultCode, Version};
use deltasoap_core::{Node, PartUri, ns};
use deltasoap_http::PartHeaders;
use std::sync::LazyLock;
use std::time::Duration;

/// What came back for a request.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// An HTTP response.
    Answer(Answer),
    /// The connection failed or was closed: the reason.
    Lost(String),
    /// An answer came that cannot be read as HTTP: the reason.
    Broken(String),
    /// There was no complete answer within the timeout.
    TimedOut(Duration),
}

/// An HTTP response.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// `Content-Type`; empty if there is none.
    pub content_type: String,
    /// `Content-Encoding`; empty if there is none.
    pub content_encoding: String,
    /// `Location`: where a redirect leads; empty if there is none.
    pub location: String,
    /// The body; of a package, the root part.
    pub body: Bytes,
    /// The other parts of a package.
    pub(super) parts: Vec<(PartHeaders, Bytes)>,
    /// The time until the whole answer was there.
    pub time: Duration,
}

impl Answer {
    /// Returns the envelope; `None` if the body is none.
    pub(super) fn envelope(&self) -> Option<Node> {
        let node = Node::parse(&self.body).ok()?;
        (&*node.name.local == "Envelope" && Version::from_namespace(&node.name.namespace).is_some()).then_some(node)
    }
}

/// The result of a check.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub(super) check: Check,
    /// `None` if the check is passed.
    pub(super) problem: Option<Problem>,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// In words.
    pub(super) reason: String,
    /// What is the same if a smaller request fails in the same way.
    pub(super) way: String,
}

impl Problem {
    fn new(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Problem { way: reason.clone(), reason }
    }

    fn in_way(reason: impl Into<String>, way: impl Into<String>) -> Self {
        Problem { reason: reason.into(), way: way.into() }
    }
}

/// What an answer says.
#[derive(Debug)]
pub(super) enum Reply {
    /// Nothing: as one-way operations answer.
    Nothing,
    /// A response.
    Response(Box<Node>),
    /// A fault.
    Fault(Box<Fault>),
    /// Something else.
    Other,
}

impl Reply {
    pub(super) fn of(answer: &Answer) -> Self {
        if answer.body.trim_ascii().is_empty() {
            return if (200..300).contains(&answer.status) { Reply::Nothing } else { Reply::Other };
        }
        let Some(envelope) = answer.envelope() else { return Reply::Other };
        match fault_in(&envelope) {
            Some(node) => match Fault::from_node(node) {
                Ok(fault) => Reply::Fault(Box::new(fault)),
                Err(_) => Reply::Response(Box::new(envelope)),
            },
            None => Reply::Response(Box::new(envelope)),
        }
    }

    /// Returns words that are the same for answers that mean the same.
    pub(super) fn class(&self) -> String {
        match self {
            Reply::Nothing => "nothing".to_owned(),
            Reply::Response(_) => "a response".to_owned(),
            Reply::Fault(fault) => format!("a fault with the code {}", code(fault)),
            Reply::Other => "no SOAP message".to_owned(),
        }
    }
}

fn body(envelope: &Node) -> Option<&Node> {
    envelope.element(&envelope.name.namespace, "Body")
}

fn fault_in(envelope: &Node) -> Option<&Node> {
    body(envelope)?.element(&envelope.name.namespace, "Fault")
}

/// Returns true for a fault in another namespace than that of the envelope.
fn has_alien_fault(envelope: &Node) -> bool {
    body(envelope).is_some_and(|body| body.elements().any(|node| &*node.name.local == "Fault"))
}

/// Returns the code of a fault as it was received.
fn code(fault: &Fault) -> String {
    fault.wording.code().map(|code| code.local.to_string()).unwrap_or_default()
}

/// Returns true for a fault that blames the server.
fn blames_server(fault: &Fault) -> bool {
    match &fault.code {
        FaultCode::Receiver => true,
        FaultCode::Other(name) => ["Server", "Receiver"].iter().any(|it| name.local.starts_with(it)),
        _ => false,
    }
}

/// A request, as far as its answer depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) operation: &'a Operation,
    pub(super) kind: Kind,
    pub(super) draft: &'a Draft,
    /// Why an invalid request is not valid.
    pub(super) refusals: &'a [String],
    /// The time within which an answer has to come.
    pub(super) max_time: Option<Duration>,
}

/// Puts an answer to all checks that concern it alone.
pub(super) fn judge(asked: Asked<'_>, outcome: &Outcome) -> Vec<Verdict> {
    let mut verdicts = Verdicts(Vec::new());
    let answer = match outcome {
        Outcome::Answer(answer) => answer,
        Outcome::Lost(reason) => {
            verdicts.add(Check::Answered, Some(Problem::in_way(format!("no answer: {reason}"), "lost")));
            return verdicts.0;
        }
        Outcome::Broken(reason) => {
            let reason = format!("the answer cannot be read: {reason}");
            verdicts.add(Check::Answered, Some(Problem::in_way(reason, "broken")));
            return verdicts.0;
        }
        Outcome::TimedOut(time) => {
            let reason = format!("no answer within {} s", time.as_secs_f32());
            verdicts.add(Check::Answered, Some(Problem::in_way(reason, "time")));
            return verdicts.0;
        }
    };
    verdicts.add(Check::Answered, None);
    if let Some(most) = asked.max_time {
        let reason = format!("the answer took {} ms, and {} ms are allowed", answer.time.as_millis(), most.as_millis());
        verdicts.add(Check::Time, (answer.time > most).then(|| Problem::in_way(reason, "time")));
    }
    verdicts.add(Check::StackTrace, stack_trace(answer).map(Problem::new));
    let reply = Reply::of(answer);
    match &reply {
        Reply::Nothing => verdicts.nothing(asked),
        Reply::Other => verdicts.other(asked, answer),
        Reply::Response(envelope) if has_alien_fault(envelope) => {
            verdicts.envelope(asked, answer, envelope);
            verdicts.schema(asked, answer);
        }
        Reply::Response(envelope) => {
            verdicts.envelope(asked, answer, envelope);
            let is_good = (200..300).contains(&answer.status);
            let reason = format!("a response with HTTP status {}", answer.status);
            verdicts.add(Check::Status, (!is_good).then(|| Problem::new(reason)));
            // What is wrong with a request that should have been refused may come back.
            if asked.kind.is_valid() {
                verdicts.add(Check::ServerFault, None);
                verdicts.add(Check::Accepted, None);
                verdicts.response(asked, answer, envelope);
            }
            verdicts.accepted(asked, "a response");
        }
        Reply::Fault(fault) => {
            if let Some(envelope) = answer.envelope() {
                verdicts.envelope(asked, answer, &envelope);
                verdicts.schema(asked, answer);
                verdicts.fault_status(asked, answer, &envelope);
            }
            verdicts.fault(asked, fault);
        }
    }
    verdicts.0
}

struct Verdicts(Vec<Verdict>);

impl Verdicts {
    fn add(&mut self, check: Check, problem: Option<Problem>) {
        self.0.push(Verdict { check, problem });
    }

    /// Judges an answer without a body.
    fn nothing(&mut self, asked: Asked<'_>) {
        let is_expected = asked.operation.is_one_way();
        let problem = (!is_expected).then(|| Problem::new("an empty answer, and the operation has a response"));
        self.add(Check::Envelope, problem);
        if is_expected && asked.kind.is_valid() {
            self.add(Check::ServerFault, None);
            self.add(Check::Accepted, None);
        }
    }

    /// Judges an answer that is no SOAP message.
    fn other(&mut self, asked: Asked<'_>, answer: &Answer) {
        let is_clients = (400..500).contains(&answer.status);
        // Where HTTP can tell what is wrong, a status is a refusal (SOAP 1.2 part 2, table 20).
        let may_be_http = match asked.kind {
            Kind::Invalid(breach) => matches!(breach, Breach::Malformed | Breach::Version | Breach::OtherVersion),
            Kind::Valid(_) => asked.draft.form == super::form::Form::Utf16,
        };
        if is_clients && may_be_http {
            if let Kind::Invalid(breach) = asked.kind {
                self.add(Check::Refused(breach), None);
            }
            return;
        }
        let what = match Node::parse(&answer.body) {
            Err(error) if answer.body.starts_with(b"<") => format!("no well-formed XML: {error}"),
            Ok(node) => format!("<{}> in the place of a SOAP envelope", shortened(&node.name.to_string())),
            Err(_) if answer.body.is_empty() => "no SOAP message: the body is empty".to_owned(),
            Err(_) => "no SOAP message".to_owned(),
        };
        let mut kind = String::new();
        for (name, value) in [("", &answer.content_type), ("Content-Encoding: ", &answer.content_encoding)] {
            if !value.is_empty() {
                kind.push_str(&format!(", {name}{value}"));
            }
        }
        if !answer.location.is_empty() {
            // What a query holds may be secret.
            let (path, query) = answer.location.split_once('?').unwrap_or((&answer.location, ""));
            kind.push_str(&format!(", Location: {path}{}", if query.is_empty() { "" } else { "?..." }));
        }
        let way = format!("other {}", answer.status);
        self.add(Check::Envelope, Some(Problem::in_way(format!("{what} (HTTP status {}{kind})", answer.status), way)));
    }

    fn envelope(&mut self, asked: Asked<'_>, answer: &Answer, envelope: &Node) {
        let version = Version::from_namespace(&envelope.name.namespace);
        let own = asked.operation.version();
        // A fault about the version is in a version that the sender may not know.
        let is_free = matches!(asked.kind, Kind::Invalid(Breach::Version | Breach::OtherVersion | Breach::Malformed));
        let shown = |version: Version| if version == Version::Soap11 { "1.1" } else { "1.2" };
        let problem = version.filter(|&it| it != own && !is_free).map(|it| {
            Problem::new(format!("the answer is an envelope of SOAP {}, and the request of {}", shown(it), shown(own)))
        });
        self.add(Check::Envelope, problem);
        let essence = answer.content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let expected = if version == Some(Version::Soap12) { "application/soap+xml" } else { "text/xml" };
        let is_good = essence == expected || essence == "multipart/related";
        let found = if essence.is_empty() { "no content type".to_owned() } else { essence };
        self.add(Check::ContentType, (!is_good).then(|| Problem::new(format!("{found} in the place of {expected}"))));
    }

    /// Validates the answer by the contract.
    fn schema(&mut self, asked: Asked<'_>, answer: &Answer) {
        let part =
            |uri: &PartUri| answer.parts.iter().find(|(headers, _)| headers.is_at(uri)).map(|(_, bytes)| bytes.clone());
        let mut findings = asked.operation.contract().validate_with_parts(&answer.body, &part);
        if matches!(asked.kind, Kind::Invalid(Breach::Version | Breach::OtherVersion)) {
            findings.retain(|it| !it.message.starts_with("the envelope is SOAP"));
        }
        let problem = findings.first().map(|first| {
            let reason = format!("line {}: {}: {}", first.line, first.path, first.message);
            Problem::in_way(reason, format!("{} {}", without_numbers(&first.path), without_texts(&first.message)))
        });
        self.add(Check::Response, problem);
    }

    fn response(&mut self, asked: Asked<'_>, answer: &Answer, envelope: &Node) {
        let expected = asked.operation.response().map(|(name, _)| name).filter(|name| !name.local.is_empty());
        let found = body(envelope).and_then(|body| body.elements().next()).map(|node| &node.name);
        match (expected, found) {
            (Some(expected), Some(found)) if expected != found => {
                let reason = format!("<{found}> in the body, and the response of the operation is <{expected}>");
                self.add(Check::Response, Some(Problem::in_way(reason, "another element")));
            }
            // Some services confirm one-way messages with an empty envelope.
            (_, None) if asked.operation.is_one_way() => self.add(Check::Response, None),
            _ => self.schema(asked, answer),
        }
    }

    /// Judges the status of a fault (SOAP 1.1, section 6.2; SOAP 1.2 part 2, table 20).
    fn fault_status(&mut self, asked: Asked<'_>, answer: &Answer, envelope: &Node) {
        let is_clients = (400..500).contains(&answer.status);
        let is_good = match envelope.name.namespace == ns::SOAP12 {
            true => matches!(answer.status, 400 | 500),
            false => answer.status == 500,
        };
        // HTTP's own words for a message that cannot be read are as good.
        let is_http = is_clients && asked.draft.damage.is_some();
        let reason = format!("a fault with HTTP status {}", answer.status);
        self.add(Check::Status, (!is_good && !is_http).then(|| Problem::new(reason)));
    }

    fn fault(&mut self, asked: Asked<'_>, fault: &Fault) {
        let (code, reason) = (code(fault), shortened(fault.reason.trim()).to_string());
        let is_declared = is_declared(asked.operation, fault);
        match asked.kind {
            Kind::Valid(_) => {
                let is_servers = blames_server(fault) && !is_declared;
                let said = format!("a fault with the code {code}: {reason}");
                let way = format!("{code} {}", without_texts(&reason));
                self.add(Check::ServerFault, is_servers.then(|| Problem::in_way(said.clone(), way.clone())));
                let refused = !is_servers && !is_declared && !matches!(fault.code, FaultCode::Other(_));
                self.add(Check::Accepted, refused.then(|| Problem::in_way(said, way)));
            }
            Kind::Invalid(breach) => {
                let expected = match breach {
                    Breach::Version => Some(FaultCode::VersionMismatch),
                    Breach::MustUnderstand => Some(FaultCode::MustUnderstand),
                    _ => None,
                };
                let wrong = expected.filter(|expected| fault.code != *expected).map(|expected| {
                    let expected = expected.name(Version::Soap11).local;
                    Problem::in_way(
                        format!("the code of the fault is {code} instead of {expected}: {reason}"),
                        code.clone(),
                    )
                });
                let is_special = wrong.is_some() || matches!(breach, Breach::Version | Breach::MustUnderstand);
                self.add(Check::Refused(breach), wrong);
                if !is_special {
                    let is_servers = blames_server(fault) && !is_declared;
                    let said = format!("the fault blames the server ({code}) for an invalid request: {reason}");
                    let way = format!("{code} {}", without_texts(&reason));
                    self.add(Check::FaultCode, is_servers.then(|| Problem::in_way(said, way)));
                }
            }
        }
    }

    /// Judges that an invalid request was not refused. One-way messages may be read later.
    fn accepted(&mut self, asked: Asked<'_>, what: &str) {
        let Kind::Invalid(breach) = asked.kind else { return };
        if asked.operation.is_one_way() {
            return;
        }
        let why = asked.refusals.first().map(String::as_str).unwrap_or_default();
        self.add(
            Check::Refused(breach),
            Some(Problem::in_way(format!("{what} to an invalid request: {why}"), "accepted")),
        );
    }
}

/// Returns true for a fault with a detail that the operation declares.
fn is_declared(operation: &Operation, fault: &Fault) -> bool {
    let declared = kinds(operation).into_iter().filter(|kind| matches!(kind, MessageKind::Fault(_)));
    let mut roots = declared.filter_map(|kind| shape(operation, &kind)).flat_map(|shape| shape.roots);
    roots.any(|(name, _)| fault.detail.iter().any(|entry| entry.name == name))
}

/// Returns the line of a stack trace, if there is one in the answer.
fn stack_trace(answer: &Answer) -> Option<String> {
    /// Lines of stack traces of common platforms.
    const PATTERNS: &str = r#"(?x)
        \bat\s[\w$.<>]+\([\w$]+\.(?:java|kt|scala|groovy):\d+\)     # Java
        | \bat\s[\w.`<>+]+\([^)\n]*\)\sin\s[^\n]+:line\s\d+         # .NET
        | Traceback\s\(most\srecent\scall\slast\)                   # Python
        | File\s(?:"|&quot;)[^"\n&]+(?:"|&quot;),\sline\s\d+        # Python
        | \#\d+\s/[^\s(]+\.php\(\d+\)                               # PHP
        | \bin\s/[^\s]+\.php\son\sline\s\d+                         # PHP
        | \bat\s[^\n(]*\((?:/|file://|node:)[^\n)]*:\d+:\d+\)       # Node
        | goroutine\s\d+\s\[                                        # Go
        | thread\s'[^']*'\spanicked\sat                             # Rust
        | \.rb:\d+:in\s[`']                                         # Ruby
    "#;
    static FOUND: LazyLock<Option<regex::Regex>> = LazyLock::new(|| regex::Regex::new(PATTERNS).ok());
    let text = String::from_utf8_lossy(&answer.body);
    let found = FOUND.as_ref()?.find(&text)?;
    Some(format!("the answer holds a stack trace: {}", shortened(found.as_str())))
}

/// Returns a path without the numbers of its elements.
fn without_numbers(path: &str) -> String {
    let mut is_number = false;
    path.chars()
        .filter(|c| {
            is_number = (is_number || *c == '[') && *c != ']';
            !is_number && *c != ']'
        })
        .collect()
}

/// Returns a message without what is in quotation marks and without digits: what differs between
/// values.
pub(super) fn without_texts(message: &str) -> String {
    let outside = message.split('"').step_by(2).collect::<Vec<_>>().join("\"");
    outside.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &str) -> Answer {
        let body = Bytes::copy_from_slice(body.as_bytes());
        Answer {
            status: 500,
            content_type: String::new(),
            content_encoding: String::new(),
            location: String::new(),
            body,
            parts: Vec::new(),
            time: Duration::ZERO,
        }
    }

    #[test]
    fn stack_traces_are_known_and_texts_are_none() {
        for text in [
            "x\n\tat org.example.Shop.order(Shop.java:17)\n",
            "   at Shop.Order(String id) in C:\\x\\Shop.cs:line 12",
            "Traceback (most recent call last):\n  File \"x.py\", line 3",
            "File &quot;/srv/x.py&quot;, line 3, in order",
            "#0 /srv/x.php(12): order()",
            "at order (/srv/x.js:3:14)",
            "goroutine 1 [running]:",
            "thread 'main' panicked at src/x.rs:3:5",
            "x.rb:3:in `order'",
        ] {
            assert!(stack_trace(&answer(text)).is_some(), "{text}");
        }
        for text in
            ["look at the file (1) at line 3", "at noon (12:00)", "order 7 is at shop.example (open)", "File, line"]
        {
            assert_eq!(stack_trace(&answer(text)), None, "{text}");
        }
    }

    #[test]
    fn ways_do_not_depend_on_values() {
        assert_eq!(without_numbers("/a/item[12]/b"), "/a/item/b");
        assert_eq!(without_texts("\"x1\" is none of 7"), "\" is none of ");
    }
}
