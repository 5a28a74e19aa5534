//! The check of answers. Most answers of a load are alike, so one that equals a good one is good; and
//! if only faults matter, an answer in which the word does not occur is none.

use crate::cli::Check;
use crate::output::one_line;
use bytes::Bytes;
use deltasoap::schema::QName;
use deltasoap::soap::Version;
use deltasoap::types::Node;
use deltasoap_archive::message_in;
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_load::{Answer, Failed, Failure};
use flate2::bufread::MultiGzDecoder;
use memchr::memmem;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Read as _;
use std::sync::{Mutex, PoisonError};

/// The first bytes of gzip (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Maximum number of good answers of a kind that are remembered.
const MAX_KNOWN: usize = 256;
/// Maximum number of their bytes.
const MAX_KNOWN_BYTES: usize = 4 << 20;
/// Maximum number of characters of a text of the service in reports.
const MAX_TEXT: usize = 300;

/// Checks answers.
#[derive(Debug)]
pub struct Checker {
    level: Check,
    accepts_faults: bool,
    /// Maximum number of bytes of a body after decompression.
    max: usize,
    contract: Option<Contract>,
    kinds: Vec<Kind>,
}

/// What is known of the answers of an operation.
#[derive(Debug, Default)]
struct Kind {
    /// The name of the element in its response, if the WSDL says so.
    response: Option<QName>,
    is_one_way: bool,
    known: Mutex<Known>,
}

/// Answers that are good.
#[derive(Debug, Default)]
struct Known {
    last: Vec<u8>,
    all: HashSet<Box<[u8]>>,
    bytes: usize,
}

impl Known {
    fn has(&mut self, body: &[u8]) -> bool {
        if self.last == body {
            return true;
        }
        let is_known = self.all.contains(body);
        if is_known {
            body.clone_into(&mut self.last);
        }
        is_known
    }

    fn add(&mut self, body: &[u8]) {
        if self.all.len() < MAX_KNOWN && self.bytes + body.len() <= MAX_KNOWN_BYTES {
            self.bytes += body.len();
            self.all.insert(body.into());
        }
        body.clone_into(&mut self.last);
    }
}

impl Checker {
    /// Creates a check of the answers of operations, in this order; `None` is one that no WSDL
    /// describes.
    pub fn new<'o>(
        level: Check,
        accepts_faults: bool,
        max: usize,
        contract: Option<Contract>,
        operations: impl Iterator<Item = Option<&'o Operation>>,
    ) -> Self {
        let kind = |operation: Option<&Operation>| Kind {
            response: operation.and_then(|it| it.response()).map(|(name, _)| name.clone()),
            is_one_way: operation.is_some_and(Operation::is_one_way),
            known: Mutex::default(),
        };
        Checker { level, accepts_faults, max, contract, kinds: operations.map(kind).collect() }
    }

    /// Checks an answer of a kind.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, kind: usize, answer: &Answer<'_>) -> Result<(), Failed> {
        let is_good = (200..300).contains(&answer.status);
        let kind = &self.kinds[kind];
        if self.level == Check::Off {
            let is_accepted = is_good || self.accepts_faults && matches!(answer.status, 400 | 500);
            return if is_accepted { Ok(()) } else { Err(status(answer)) };
        }
        if answer.body.is_empty() {
            return kind.empty(answer.status);
        }
        if is_good && self.level == Check::Fault && is_plainly_no_fault(answer.body) {
            return Ok(());
        }
        // A status that is an error must not pass for a good answer with the same body.
        if !is_good && !self.accepts_faults {
            return self.examine(kind, answer);
        }
        if kind.known.lock().unwrap_or_else(PoisonError::into_inner).has(answer.body) {
            return Ok(());
        }
        self.examine(kind, answer)?;
        kind.known.lock().unwrap_or_else(PoisonError::into_inner).add(answer.body);
        Ok(())
    }

    fn examine(&self, kind: &Kind, answer: &Answer<'_>) -> Result<(), Failed> {
        let is_good = (200..300).contains(&answer.status);
        let invalid = |why: String| if is_good { Failed::new(Failure::Invalid, why) } else { status(answer) };
        let body = self.inflated(answer.body)?;
        let raw = Bytes::from([answer.head(), &body].concat());
        let message = message_in(raw).map_err(|why| invalid(why.into_owned()))?;
        let envelope = Node::parse(&message.bytes).map_err(|error| invalid(error.to_string()))?;
        let (version, content) =
            content(&envelope).ok_or_else(|| invalid(format!("<{}> is no SOAP message", envelope.name.local)))?;
        match content {
            Some(fault) if is_fault(fault, &envelope) && !self.accepts_faults => return Err(failed(fault, version)),
            Some(fault) if is_fault(fault, &envelope) => {}
            _ if !is_good => return Err(status(answer)),
            content if self.level == Check::Schema => kind.expects(content).map_err(invalid)?,
            _ => {}
        }
        match &self.contract {
            Some(contract) if self.level == Check::Schema => {
                let findings = contract.validate_with_parts(&message.bytes, &|uri| message.part(uri).cloned());
                findings.first().map_or(Ok(()), |finding| Err(invalid(one_line(&finding.to_string()))))
            }
            _ => Ok(()),
        }
    }
}

impl Checker {
    /// Decompresses a body in gzip, up to the limit. What is no valid gzip is left as it is, to be
    /// explained as no message.
    fn inflated<'b>(&self, body: &'b [u8]) -> Result<Cow<'b, [u8]>, Failed> {
        if !body.starts_with(&GZIP) {
            return Ok(Cow::Borrowed(body));
        }
        let mut inflated = Vec::new();
        let read = MultiGzDecoder::new(body).take(self.max as u64 + 1).read_to_end(&mut inflated);
        match read {
            _ if inflated.len() > self.max => {
                let why = format!("the answer has more than {} bytes after decompression", self.max);
                Err(Failed::new(Failure::TooLarge, why))
            }
            Ok(_) if inflated.starts_with(&GZIP) => {
                Err(Failed::new(Failure::Invalid, "the answer is compressed several times"))
            }
            Ok(_) => Ok(Cow::Owned(inflated)),
            Err(_) => Ok(Cow::Borrowed(body)),
        }
    }
}

impl Kind {
    /// Checks that the element in a body is that of the response.
    fn expects(&self, content: Option<&Node>) -> Result<(), String> {
        let expected = self.response.as_ref().filter(|name| !name.local.is_empty());
        match (expected, content) {
            (Some(expected), Some(content)) if content.name != *expected => {
                Err(format!("the answer holds <{}>, the response is <{expected}>", content.name))
            }
            (Some(expected), None) => Err(format!("the answer is empty, the response is <{expected}>")),
            _ => Ok(()),
        }
    }

    /// Checks an answer without a body.
    fn empty(&self, status: u16) -> Result<(), Failed> {
        match status {
            202 | 204 => Ok(()),
            200..300 if self.is_one_way => Ok(()),
            200..300 => Err(Failed::new(Failure::Invalid, "the answer is empty")),
            _ => Err(Failure::Status(status).into()),
        }
    }
}

/// Returns true if a body is an envelope without a fault, as far as its bytes tell; false if that
/// must be found out by reading it.
fn is_plainly_no_fault(body: &[u8]) -> bool {
    let starts = body.trim_ascii_start().starts_with(b"<");
    starts && memmem::find(body, b"Envelope").is_some() && memmem::find(body, b"Fault").is_none()
}

/// Returns the version of an envelope, and the first element in its body; `None` if it is no
/// envelope.
fn content(envelope: &Node) -> Option<(Version, Option<&Node>)> {
    let version = Version::from_namespace(&envelope.name.namespace).filter(|_| *envelope.name.local == *"Envelope")?;
    Some((version, envelope.element(&envelope.name.namespace, "Body")?.elements().next()))
}

fn is_fault(node: &Node, envelope: &Node) -> bool {
    *node.name.local == *"Fault" && node.name.namespace == envelope.name.namespace
}

/// Returns the failure that a fault is: its code without prefixes, and its reason.
fn failed(fault: &Node, version: Version) -> Failed {
    let text = |path: &[&str], namespace: &str| {
        let node = path.iter().try_fold(fault, |node, name| node.element(namespace, name))?;
        Some(node.text().trim().to_owned())
    };
    let local = |code: String| code.rsplit(':').next().unwrap_or_default().to_owned();
    let namespace = &fault.name.namespace;
    let (code, reason) = match version {
        Version::Soap11 => (text(&["faultcode"], "").map(local), text(&["faultstring"], "")),
        _ => {
            let codes = [text(&["Code", "Value"], namespace), text(&["Code", "Subcode", "Value"], namespace)];
            let codes: Vec<String> = codes.into_iter().flatten().map(local).collect();
            (Some(codes.join(".")), text(&["Reason", "Text"], namespace))
        }
    };
    let code: String = code.unwrap_or_default().chars().take(MAX_TEXT).collect();
    Failed::new(Failure::Fault(code.into()), shortened(&reason.unwrap_or_default()))
}

fn status(answer: &Answer<'_>) -> Failed {
    Failed::new(Failure::Status(answer.status), shortened(&String::from_utf8_lossy(answer.body)))
}

/// Returns the beginning of a text of the service, as one line.
fn shortened(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = words.chars().take(MAX_TEXT).collect();
    if short.len() < words.len() {
        short.push('\u{2026}');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const WSDL: &str = include_str!("../../../../deltasoap-dynamic/tests/data/shop.wsdl");
    const NS: &str = "http://schemas.xmlsoap.org/soap/envelope/";
    const PLACED: &str = "<o:OrderResponse xmlns:o='urn:shop'><o:number>7</o:number><o:total currency='EUR'>1</o:total>\
                          <o:placed>2026-01-02T03:04:05Z</o:placed></o:OrderResponse>";
    const FAULT: &str =
        "<s:Fault><faultcode>s:Server.Busy</faultcode><faultstring>later\n please</faultstring></s:Fault>";

    fn envelope(body: &str) -> String {
        format!("<s:Envelope xmlns:s='{NS}'><s:Body>{body}</s:Body></s:Envelope>")
    }

    /// Returns how an answer with a status is judged.
    fn judged(level: Check, accepts_faults: bool, status: u16, body: &str) -> Result<(), Failed> {
        let contract = Contract::from_text(WSDL).expect("a contract");
        let order = contract.operation("Order").expect("an operation");
        let checker = Checker::new(level, accepts_faults, 1 << 20, Some(contract), std::iter::once(Some(&order)));
        let head = format!("HTTP/1.1 {status} X\r\nContent-Type: text/xml\r\n\r\n");
        let answer = Answer::new(status, head.as_bytes(), body.as_bytes());
        let first = checker.check(0, &answer);
        assert_eq!(checker.check(0, &answer), first, "the same again");
        first
    }

    fn name(judged: Result<(), Failed>) -> String {
        judged.map_or_else(|failed| failed.failure.name(), |()| "good".to_owned())
    }

    #[test]
    fn faults_are_errors_with_their_codes() {
        let fault = envelope(FAULT);
        let failed = judged(Check::Fault, false, 500, &fault).expect_err("a fault");
        assert_eq!((failed.failure.name().as_str(), failed.detail.as_str()), ("fault Server.Busy", "later please"));
        assert_eq!(name(judged(Check::Fault, false, 200, &fault)), "fault Server.Busy");
        assert_eq!(name(judged(Check::Fault, true, 500, &fault)), "good");
        assert_eq!(name(judged(Check::Off, false, 200, &fault)), "good");
        assert_eq!(name(judged(Check::Off, false, 500, &fault)), "status 500");
        let new = fault.replace(NS, "http://www.w3.org/2003/05/soap-envelope").replace(
            FAULT,
            "<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>x:Bad</s:Value></s:Subcode></s:Code>\
             <s:Reason><s:Text xml:lang='en'>no</s:Text></s:Reason></s:Fault>",
        );
        assert_eq!(name(judged(Check::Fault, false, 400, &new)), "fault Sender.Bad");
    }

    #[test]
    fn compressed_answers_have_the_same_limit() {
        let zipped = |bytes: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(bytes).expect("memory");
            encoder.finish().expect("gzip")
        };
        let judged = |body: &[u8]| {
            let checker = Checker::new(Check::Fault, false, 10_000, None, std::iter::once(None));
            let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Encoding: gzip\r\n\r\n";
            name(checker.check(0, &Answer::new(200, head, body)))
        };
        let good = envelope(PLACED);
        assert_eq!(judged(&zipped(good.as_bytes())), "good");
        assert_eq!(judged(&zipped(envelope(&" ".repeat(10_000)).as_bytes())), "too-large");
        assert_eq!(judged(&zipped(&zipped(good.as_bytes()))), "invalid answer");
        let mut torn = zipped(good.as_bytes());
        torn.truncate(60);
        assert_eq!(judged(&torn), "invalid answer");
    }

    #[test]
    fn answers_must_be_messages() {
        for (status, body, expected) in [
            (200, envelope(PLACED), "good"),
            (200, envelope("<Fault xmlns='urn:mine'/>"), "good"),
            (200, "<html>Envelope</html>".to_owned(), "good"),
            (200, "<html>Fault</html>".to_owned(), "invalid answer"),
            (200, "Log in".to_owned(), "invalid answer"),
            (200, String::new(), "invalid answer"),
            (202, String::new(), "good"),
            (503, "busy".to_owned(), "status 503"),
            (500, envelope(PLACED), "status 500"),
        ] {
            assert_eq!(name(judged(Check::Fault, false, status, &body)), expected, "{status} {body}");
        }
    }

    #[test]
    fn answers_must_be_those_of_the_operation() {
        let schema = |body: &str| judged(Check::Schema, false, 200, &envelope(body));
        assert_eq!(name(schema(PLACED)), "good");
        let why = |body: &str| schema(body).expect_err("invalid").detail;
        assert!(why(&PLACED.replace("number", "nummer")).contains("nummer"));
        let request = "<o:Order xmlns:o='urn:shop'/>";
        assert!(why(request).contains("OrderResponse"), "{}", why(request));
        assert!(why("").contains("empty"));
    }
}
