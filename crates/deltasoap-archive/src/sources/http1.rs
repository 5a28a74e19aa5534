//! The HTTP/1 messages of a connection, from the bytes of its two directions.
//!
//! Bytes may be missing. Where the framing of a message says how many of them belong to it, the
//! message after it is found; otherwise everything is skipped until a segment begins with the head
//! of a message. A response belongs to the oldest request without one that its sender had
//! acknowledged. After a loss it belongs to the newest one, because clients seldom send a request
//! before they have the response to the last one. If requests and responses were lost, this may be
//! wrong.

use super::{Limits, too_large};
use crate::Reason;
use bytes::Bytes;
use std::collections::VecDeque;

/// Maximum number of bytes of a head, and of the line of a chunk.
const HEAD: usize = 64 << 10;
/// Maximum number of header fields.
const FIELDS: usize = 100;
/// Maximum number of bytes of a media type, and of a content coding.
const VALUE: usize = 4 << 10;
/// Maximum number of exchanges of a connection that wait for a response, or for those before them. The
/// oldest is passed on without one then.
const WAITING: usize = 1024;
/// What an exchange or a message takes in memory besides its body, about.
const OVERHEAD: usize = 256;

/// Where bytes were captured.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    /// The side of the connection that sent them.
    pub(super) side: usize,
    /// The number of the packet, from 1.
    pub(super) packet: u64,
    /// Microseconds since 1970.
    pub(super) time: Option<i64>,
    /// The position of the first byte in the stream of its direction.
    pub(super) offset: u64,
    /// The position up to which the other direction was acknowledged.
    pub(super) ack: Option<u64>,
    /// The position up to which the other direction was passed on.
    pub(super) known: u64,
    /// True for the first byte of a segment.
    pub(super) is_start: bool,
}

/// A message with its body, or what is wrong with it.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) at: At,
    /// The status of a response.
    pub(super) status: Option<u16>,
    media_type: Option<Vec<u8>>,
    coding: Option<Vec<u8>>,
    body: Vec<u8>,
    problem: Option<Reason>,
    /// Number of bytes that are not in the capture.
    missing: u64,
    /// False for one whose head shows that it is no SOAP message. Its body is not kept.
    is_wanted: bool,
}

impl Message {
    /// Returns about how many bytes of memory it takes, besides its overhead.
    fn memory(&self) -> usize {
        let field = |field: &Option<Vec<u8>>| field.as_ref().map_or(0, Vec::len);
        self.body.len() + field(&self.media_type) + field(&self.coding)
    }

    /// Returns the content of a message file; `None` for what is no SOAP message.
    ///
    /// # Errors
    /// If it is not complete.
    pub(super) fn content(&self) -> Option<Result<Bytes, Reason>> {
        match &self.problem {
            _ if !self.is_wanted => None,
            Some(problem) => Some(Err(problem.clone())),
            None if self.missing > 0 => {
                Some(Err(format!("{} of its bytes are missing in the capture", self.missing).into()))
            }
            None => {
                let (media_type, coding) = (self.media_type.as_deref(), self.coding.as_deref());
                content_of(self.status, media_type, coding, &self.body).map(Ok)
            }
        }
    }
}

/// Returns the content of a message file for a message over HTTP whose body is not chunked; `None`
/// if there is no body, or it is no XML and no package.
pub(super) fn content_of(
    status: Option<u16>,
    media_type: Option<&[u8]>,
    coding: Option<&[u8]>,
    body: &[u8],
) -> Option<Bytes> {
    let is_plain = coding.is_none_or(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"));
    let is_xml = body.trim_ascii_start().first() == Some(&b'<');
    match kind_of(media_type) {
        _ if body.trim_ascii().is_empty() => return None,
        Carries::Soap => {}
        Carries::Unknown if is_plain && is_xml => {}
        Carries::Unknown | Carries::Other => return None,
    }
    let mut content = match status {
        Some(status) => format!("HTTP/1.1 {status} -\r\n").into_bytes(),
        None => b"POST / HTTP/1.1\r\n".to_vec(),
    };
    for (name, value) in [("Content-Type", media_type), ("Content-Encoding", coding)] {
        if let Some(value) = value {
            content.extend_from_slice(name.as_bytes());
            content.extend_from_slice(b": ");
            content.extend_from_slice(value);
            content.extend_from_slice(b"\r\n");
        }
    }
    content.extend_from_slice(b"\r\n");
    content.extend_from_slice(body);
    Some(Bytes::from(content))
}

/// What a media type says of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carries {
    /// XML or a package.
    Soap,
    /// Something that has no XML in it, or a page.
    Other,
    Unknown,
}

fn kind_of(media_type: Option<&[u8]>) -> Carries {
    let Some(media_type) = media_type else { return Carries::Unknown };
    let essence = media_type.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    let essence = String::from_utf8_lossy(essence).to_ascii_lowercase();
    let (kind, subtype) = essence.split_once('/').unwrap_or((&essence, ""));
    match (kind, subtype) {
        ("multipart", "related") | ("application", "dime") | (_, "xml") => Carries::Soap,
        ("image" | "audio" | "video" | "font" | "multipart", _) => Carries::Other,
        (_, "html" | "css" | "javascript" | "json" | "x-www-form-urlencoded" | "xhtml+xml") => Carries::Other,
        (_, subtype) if subtype.ends_with("+xml") => Carries::Soap,
        _ => Carries::Unknown,
    }
}

/// Returns true if the head of a message admits that it is a SOAP message. SOAP is sent with POST;
/// the answer to a GET is a WSDL or a page, unless its media type is that of SOAP 1.2.
pub(super) fn is_wanted(method: Option<Method>, media_type: Option<&[u8]>) -> bool {
    let is_soap12 = media_type.is_some_and(|it| it.to_ascii_lowercase().starts_with(b"application/soap+xml"));
    kind_of(media_type) != Carries::Other && (is_soap12 || method.is_none_or(|method| method == Method::Post))
}

/// A request with its response.
#[derive(Debug)]
pub(super) struct Exchange {
    id: u64,
    /// The position of the request in its direction.
    start: u64,
    method: Option<Method>,
    pub(super) request: Half,
    pub(super) response: Half,
}

/// One message of an exchange.
#[derive(Debug)]
pub(super) enum Half {
    Absent,
    /// Its body is not there yet.
    Begun,
    Whole(Box<Message>),
}

/// The method of a request, as far as it says something of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Post,
    Head,
    Connect,
    Other,
}

/// What a connection has shown.
#[derive(Debug)]
pub(super) enum Found {
    Exchange(Exchange),
    /// Bytes that belong to no message.
    Problem {
        packet: u64,
        reason: Reason,
    },
}

/// The exchanges of a connection that are not complete, in the order of their requests.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    waiting: VecDeque<Exchange>,
    next: u64,
    bytes: usize,
    /// True after a loss, until the next response.
    is_unsure: bool,
    /// True once the connection has another protocol.
    is_other: bool,
}

impl Exchanges {
    /// Returns about how many bytes of memory they take.
    pub(super) fn memory(&self) -> usize {
        self.bytes
    }

    /// Passes on whatever is left, at the end of the connection.
    pub(super) fn close(&mut self, found: &mut Vec<Found>) {
        self.bytes = 0;
        found.extend(self.waiting.drain(..).map(Found::Exchange));
    }

    fn request(&mut self, start: u64, method: Method, found: &mut Vec<Found>) -> u64 {
        self.make_room(found);
        let id = self.new_id();
        let (request, response) = (Half::Begun, Half::Absent);
        self.waiting.push_back(Exchange { id, start, method: Some(method), request, response });
        id
    }

    /// Begins a response; returns its exchange, and the method of the request if that is known.
    fn response(&mut self, at: At, found: &mut Vec<Found>) -> (u64, Option<Method>) {
        let At { ack, known, .. } = at;
        self.make_room(found);
        // Those before the first one wait for the body of a message before them.
        let first = self.waiting.iter().position(|it| matches!(it.response, Half::Absent));
        let first = first.unwrap_or(self.waiting.len());
        let is_known = |it: &Exchange| ack.is_none_or(|ack| it.start < ack);
        if std::mem::take(&mut self.is_unsure) {
            let newest = self.waiting.iter().skip(first).take_while(|it| is_known(it)).count();
            let last = (first + newest).checked_sub(1).and_then(|last| self.waiting.get(last));
            // The request is lost if more was acknowledged than is known.
            let is_lost =
                ack.is_some_and(|ack| ack > known) && last.is_some_and(|it| matches!(it.request, Half::Whole(_)));
            for _ in 0..newest.saturating_sub(usize::from(!is_lost)) {
                if let Some(unanswered) = self.waiting.remove(first) {
                    self.pass_on(unanswered, found);
                }
            }
        }
        match self.waiting.get_mut(first).filter(|it| is_known(it)) {
            Some(exchange) => {
                exchange.response = Half::Begun;
                (exchange.id, exchange.method)
            }
            None => {
                let id = self.new_id();
                let (request, response) = (Half::Absent, Half::Begun);
                self.waiting.insert(first, Exchange { id, start: 0, method: None, request, response });
                (id, None)
            }
        }
    }

    fn make_room(&mut self, found: &mut Vec<Found>) {
        if self.waiting.len() >= WAITING
            && let Some(oldest) = self.waiting.pop_front()
        {
            self.pass_on(oldest, found);
        }
    }

    /// Returns true if there was a message.
    fn is_http(&self) -> bool {
        self.next > 0
    }

    fn new_id(&mut self) -> u64 {
        self.next += 1;
        self.bytes += OVERHEAD;
        self.next
    }

    /// Completes a message, and passes on the exchanges that are complete.
    fn complete(&mut self, id: u64, message: Message, found: &mut Vec<Found>) {
        self.bytes += message.memory();
        let is_request = message.status.is_none();
        // It is the last request, or the first response.
        let position = match is_request {
            true => self.waiting.iter().rposition(|it| it.id == id),
            false => self.waiting.iter().position(|it| it.id == id),
        };
        let whole = Half::Whole(Box::new(message));
        match (position.and_then(|position| self.waiting.get_mut(position)), is_request) {
            (Some(exchange), true) => exchange.request = whole,
            (Some(exchange), false) => exchange.response = whole,
            // Its exchange was passed on without it.
            (None, is_request) => {
                self.bytes += OVERHEAD;
                let (request, response) = if is_request { (whole, Half::Absent) } else { (Half::Absent, whole) };
                self.pass_on(Exchange::alone(request, response), found);
            }
        }
        while self.waiting.front().is_some_and(Exchange::is_complete)
            && let Some(exchange) = self.waiting.pop_front()
        {
            self.pass_on(exchange, found);
        }
    }

    fn pass_on(&mut self, exchange: Exchange, found: &mut Vec<Found>) {
        let bytes = |half: &Half| if let Half::Whole(message) = half { message.memory() } else { 0 };
        let freed = OVERHEAD + bytes(&exchange.request) + bytes(&exchange.response);
        self.bytes = self.bytes.saturating_sub(freed);
        found.push(Found::Exchange(exchange));
    }
}

impl Exchange {
    fn alone(request: Half, response: Half) -> Self {
        Exchange { id: 0, start: 0, method: None, request, response }
    }

    fn is_complete(&self) -> bool {
        matches!(self.response, Half::Whole(_)) && !matches!(self.request, Half::Begun)
    }
}

/// The messages of one direction.
#[derive(Debug)]
pub(super) struct Messages {
    limits: Limits,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Bytes of a head, and where it began.
    Head(Vec<u8>, Option<At>),
    /// A message of an exchange.
    Body(u64, Box<Message>, Framing),
    /// The start of the next message is unknown.
    Lost(Loss),
}

#[derive(Debug, Default)]
struct Loss {
    /// The first packet that is skipped.
    packet: u64,
    missing: u64,
    skipped: u64,
}

#[derive(Debug)]
enum Framing {
    /// Number of bytes that are left.
    Length(u64),
    Chunked(Chunked),
    /// The connection ends with the body.
    UntilEnd,
}

#[derive(Debug)]
enum Chunked {
    /// The line with the size of a chunk.
    Size(Vec<u8>),
    /// Number of bytes that are left of a chunk.
    Data(u64),
    /// The end of the line after a chunk.
    DataEnd,
    /// The current trailer line has this many bytes, without its end.
    Trailer(usize),
}

impl Messages {
    /// Starts at the first byte of a connection.
    pub(super) fn new(limits: Limits) -> Self {
        Messages { limits, state: State::Head(Vec::new(), None) }
    }

    /// Takes note that the first bytes were not captured.
    pub(super) fn lose_start(&mut self) {
        self.state = State::Lost(Loss::default());
    }

    /// Returns about how many bytes of memory they take.
    pub(super) fn memory(&self) -> usize {
        match &self.state {
            State::Head(head, _) => head.len(),
            State::Body(_, message, Framing::Chunked(Chunked::Size(line))) => OVERHEAD + message.memory() + line.len(),
            State::Body(_, message, _) => OVERHEAD + message.memory(),
            State::Lost(_) => 0,
        }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut at: At, exchanges: &mut Exchanges, found: &mut Vec<Found>) {
        while !bytes.is_empty() && !exchanges.is_other {
            let taken = match &mut self.state {
                State::Head(..) => self.head(bytes, at, exchanges, found),
                State::Body(_, message, framing) => match framing.take(bytes) {
                    Ok((taken, content)) => {
                        message.append(content, self.limits);
                        if framing.is_done() {
                            self.complete(exchanges, found);
                        }
                        taken
                    }
                    Err(reason) => {
                        message.problem = Some(reason);
                        self.lose(at.packet, 0, exchanges, found);
                        0
                    }
                },
                State::Lost(_) if at.is_start && begins_message(bytes) => {
                    self.report(true, found);
                    self.state = State::Head(Vec::new(), None);
                    0
                }
                State::Lost(loss) => {
                    if loss.packet == 0 {
                        loss.packet = at.packet;
                    }
                    loss.skipped += bytes.len() as u64;
                    bytes.len()
                }
            };
            bytes = &bytes[taken..];
            if taken > 0 {
                at = At { offset: at.offset + taken as u64, is_start: false, ..at };
            }
        }
    }

    /// Takes note of bytes that were not captured.
    pub(super) fn gap(&mut self, missing: u64, packet: u64, exchanges: &mut Exchanges, found: &mut Vec<Found>) {
        match &mut self.state {
            State::Body(_, message, Framing::Length(left) | Framing::Chunked(Chunked::Data(left)))
                if *left > missing =>
            {
                *left -= missing;
                message.missing += missing;
            }
            State::Body(_, message, Framing::Length(left)) if *left == missing => {
                message.missing += missing;
                self.complete(exchanges, found);
            }
            State::Body(_, message, Framing::UntilEnd) => message.missing += missing,
            State::Body(_, message, _) => {
                message
                    .problem
                    .get_or_insert_with(|| format!("{missing} bytes are missing within it or after it").into());
                self.lose(packet, missing, exchanges, found);
            }
            State::Head(..) => self.lose(packet, missing, exchanges, found),
            State::Lost(loss) => {
                loss.missing += missing;
                exchanges.is_unsure = true;
            }
        }
    }

    /// Ends the direction. `reason` says why it has no end in the capture, if it has none.
    pub(super) fn end(
        &mut self,
        reason: Option<&Reason>,
        packet: u64,
        exchanges: &mut Exchanges,
        found: &mut Vec<Found>,
    ) {
        let why = || reason.cloned().unwrap_or("the connection ends within it".into());
        match &mut self.state {
            State::Body(_, _, Framing::UntilEnd) => self.complete(exchanges, found),
            State::Body(_, message, _) => {
                message.problem.get_or_insert_with(why);
                self.complete(exchanges, found);
            }
            State::Head(head, at) if exchanges.is_http() && !head.is_empty() && !exchanges.is_other => {
                let packet = at.map_or(packet, |at| at.packet);
                found.push(Found::Problem { packet, reason: format!("the head of a message: {}", why()).into() });
            }
            State::Head(..) => {}
            State::Lost(_) => self.report(exchanges.is_http(), found),
        }
        self.state = State::Lost(Loss::default());
    }

    /// Ends the message, and skips what follows.
    fn lose(&mut self, packet: u64, missing: u64, exchanges: &mut Exchanges, found: &mut Vec<Found>) {
        if matches!(self.state, State::Body(..)) {
            self.complete(exchanges, found);
        }
        exchanges.is_unsure = true;
        self.state = State::Lost(Loss { packet, missing, skipped: 0 });
    }

    /// Reports what was skipped, of a connection that has messages.
    fn report(&mut self, is_http: bool, found: &mut Vec<Found>) {
        let State::Lost(Loss { packet, missing, skipped }) = self.state else { return };
        if !is_http || (missing, skipped) == (0, 0) {
            return;
        }
        let reason = format!(
            "messages may be lost: {missing} bytes are missing in the capture, and {skipped} bytes that were captured \
             belong to no complete message"
        );
        found.push(Found::Problem { packet, reason: reason.into() });
    }

    fn complete(&mut self, exchanges: &mut Exchanges, found: &mut Vec<Found>) {
        let state = std::mem::replace(&mut self.state, State::Head(Vec::new(), None));
        if let State::Body(id, message, _) = state {
            exchanges.complete(id, *message, found);
        }
    }

    /// Takes bytes of a head; returns their number.
    fn head(&mut self, bytes: &[u8], at: At, exchanges: &mut Exchanges, found: &mut Vec<Found>) -> usize {
        let State::Head(head, first) = &mut self.state else { return 0 };
        if head.is_empty() {
            // Some clients send an empty line after a body.
            let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if blank > 0 {
                return blank;
            }
            *first = Some(at);
        }
        let known = head.len();
        head.extend_from_slice(&bytes[..bytes.len().min(HEAD - known)]);
        let begun = first.unwrap_or(at);
        match end_of_head(head, known) {
            Some(end) => {
                head.truncate(end);
                let head = std::mem::take(head);
                self.begin(&head, begun, exchanges, found);
                end - known
            }
            None if head.len() < HEAD && may_begin_message(head) => head.len() - known,
            None => {
                self.lose(begun.packet, 0, exchanges, found);
                // They are skipped from here on, not read again as the start of a segment.
                match &mut self.state {
                    State::Lost(loss) => loss.skipped = (known + bytes.len()) as u64,
                    _ => unreachable!("a state that was just set"),
                }
                bytes.len()
            }
        }
    }

    /// Begins the message with a head.
    fn begin(&mut self, head: &[u8], at: At, exchanges: &mut Exchanges, found: &mut Vec<Found>) {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let Some((line, fields)) = start_line(head, &mut fields) else {
            self.lose(at.packet, 0, exchanges, found);
            if let State::Lost(loss) = &mut self.state {
                loss.skipped = head.len() as u64;
            }
            return;
        };
        self.state = State::Head(Vec::new(), None);
        let (id, method, status) = match line {
            Line::Request(method) => (exchanges.request(at.offset, method, found), Some(method), None),
            // Interim responses (RFC 9110, 15.2).
            Line::Response(status @ 100..=199) => {
                exchanges.is_other |= status == 101;
                return;
            }
            Line::Response(status) => {
                let (id, method) = exchanges.response(at, found);
                (id, method, Some(status))
            }
        };
        let (media_type, coding) = (value(fields, "content-type"), value(fields, "content-encoding"));
        let is_wanted = is_wanted(method, media_type);
        let is_long = [media_type, coding].into_iter().flatten().any(|value| value.len() > VALUE);
        let problem = is_long.then(|| format!("a field of its head has more than {VALUE} bytes").into());
        let kept = |value: Option<&[u8]>| value.filter(|_| is_wanted && !is_long).map(<[u8]>::to_vec);
        let (media_type, coding) = (kept(media_type), kept(coding));
        let message = Message { at, status, media_type, coding, body: Vec::new(), problem, missing: 0, is_wanted };
        exchanges.is_other |= method == Some(Method::Connect) && status.is_some_and(|it| (200..300).contains(&it));
        let framing = match (method, status) {
            (Some(Method::Head | Method::Connect), Some(_)) | (_, Some(204 | 304)) => Ok(Framing::Length(0)),
            _ => framing_of(fields, status.is_some()),
        };
        match framing {
            Ok(framing) => {
                let is_done = framing.is_done();
                self.state = State::Body(id, Box::new(message), framing);
                if is_done {
                    self.complete(exchanges, found);
                }
            }
            Err(reason) => {
                self.state =
                    State::Body(id, Box::new(Message { problem: Some(reason), ..message }), Framing::Length(0));
                self.lose(at.packet, 0, exchanges, found);
            }
        }
    }
}

impl Message {
    fn append(&mut self, content: &[u8], limits: Limits) {
        if !self.is_wanted || self.problem.is_some() {
            return;
        }
        if (self.body.len() + content.len()) as u64 > limits.message {
            self.problem = Some(too_large(limits.message).into());
            self.body = Vec::new();
            return;
        }
        self.body.extend_from_slice(content);
    }
}

impl Framing {
    fn is_done(&self) -> bool {
        matches!(self, Framing::Length(0))
    }

    /// Takes some bytes; returns their number, and what they add to the body.
    fn take<'b>(&mut self, bytes: &'b [u8]) -> Result<(usize, &'b [u8]), Reason> {
        let at_most = |left: u64| usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        match self {
            Framing::UntilEnd => Ok((bytes.len(), bytes)),
            Framing::Length(left) => {
                let taken = at_most(*left);
                *left -= taken as u64;
                Ok((taken, &bytes[..taken]))
            }
            Framing::Chunked(Chunked::Data(left)) => {
                let taken = at_most(*left);
                *left -= taken as u64;
                if *left == 0 {
                    *self = Framing::Chunked(Chunked::DataEnd);
                }
                Ok((taken, &bytes[..taken]))
            }
            Framing::Chunked(Chunked::DataEnd) => match bytes[0] {
                b'\r' => Ok((1, &[])),
                b'\n' => {
                    *self = Framing::Chunked(Chunked::Size(Vec::new()));
                    Ok((1, &[]))
                }
                _ => Err("not valid chunks".into()),
            },
            Framing::Chunked(Chunked::Size(line)) => {
                let end = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |it| it + 1);
                line.extend_from_slice(&bytes[..end.min(HEAD - line.len())]);
                if line.len() == HEAD {
                    return Err("not valid chunks".into());
                }
                if line.last() == Some(&b'\n') {
                    *self = match httparse::parse_chunk_size(line) {
                        Ok(httparse::Status::Complete((_, 0))) => Framing::Chunked(Chunked::Trailer(0)),
                        Ok(httparse::Status::Complete((_, size))) => Framing::Chunked(Chunked::Data(size)),
                        _ => return Err("not valid chunks".into()),
                    };
                }
                Ok((end, &[]))
            }
            Framing::Chunked(Chunked::Trailer(length)) => {
                match bytes[0] {
                    b'\r' => {}
                    b'\n' if *length == 0 => *self = Framing::Length(0),
                    b'\n' => *length = 0,
                    _ => *length += 1,
                }
                Ok((1, &[]))
            }
        }
    }
}

impl Method {
    pub(super) fn named(name: &str) -> Self {
        match name {
            "POST" => Method::Post,
            "HEAD" => Method::Head,
            "CONNECT" => Method::Connect,
            _ => Method::Other,
        }
    }
}

enum Line {
    Request(Method),
    Response(u16),
}

fn start_line<'h, 'b>(
    head: &'b [u8],
    fields: &'h mut [httparse::Header<'b>; FIELDS],
) -> Option<(Line, &'h [httparse::Header<'b>])> {
    if head.starts_with(b"HTTP/") {
        let mut response = httparse::Response::new(fields);
        let httparse::Status::Complete(_) = response.parse(head).ok()? else { return None };
        return Some((Line::Response(response.code?), response.headers));
    }
    let mut request = httparse::Request::new(fields);
    let httparse::Status::Complete(_) = request.parse(head).ok()? else { return None };
    Some((Line::Request(Method::named(request.method?)), request.headers))
}

/// Returns how a body ends (RFC 9112, 6.3).
fn framing_of(fields: &[httparse::Header<'_>], is_response: bool) -> Result<Framing, Reason> {
    if let Some(coding) = value(fields, "transfer-encoding") {
        return match coding.eq_ignore_ascii_case(b"chunked") {
            true => Ok(Framing::Chunked(Chunked::Size(Vec::new()))),
            false => Err(format!("in the transfer coding {}", String::from_utf8_lossy(coding)).into()),
        };
    }
    match value(fields, "content-length") {
        Some(length) => {
            let digits = std::str::from_utf8(length).ok().filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
            let length = digits.and_then(|digits| digits.parse().ok());
            length.map(Framing::Length).ok_or_else(|| "not a valid Content-Length".into())
        }
        None if is_response => Ok(Framing::UntilEnd),
        None => Ok(Framing::Length(0)),
    }
}

fn value<'a>(fields: &[httparse::Header<'a>], name: &str) -> Option<&'a [u8]> {
    fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value.trim_ascii())
}

/// Returns the length of a head, after its empty line. All bytes but those from `known` on were
/// searched before.
fn end_of_head(head: &[u8], known: usize) -> Option<usize> {
    let from = known.saturating_sub(3);
    let ends = (from..head.len()).filter(|&at| head[at] == b'\n');
    ends.into_iter().find_map(|at| match &head[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// Maximum number of bytes of a method's name.
const METHOD: usize = 24;

/// Returns true if more bytes can make a head of these.
fn may_begin_message(bytes: &[u8]) -> bool {
    const STATUS: &[u8] = b"HTTP/1.";
    let name = bytes.iter().take_while(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_')).count();
    let is_request = (1..=METHOD).contains(&name) && bytes.get(name).is_none_or(|&byte| byte == b' ');
    is_request || bytes.starts_with(STATUS) || STATUS.starts_with(bytes)
}

/// Returns true if these bytes begin with the first line of a message.
fn begins_message(bytes: &[u8]) -> bool {
    const VERSION: &[u8] = b" HTTP/1.";
    let bytes = &bytes[..bytes.len().min(HEAD)];
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return false };
    let line = &bytes[..end];
    may_begin_message(bytes)
        && (line.starts_with(&VERSION[1..]) || line.windows(VERSION.len()).any(|window| window == VERSION))
}
