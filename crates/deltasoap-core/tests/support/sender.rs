//! The oracle of differential serialization: templates must send the same as writing the same
//! values in full.

use crate::gaps::assert_same_but_for_gaps;
use crate::kinds;
use bytes::Bytes;
use deltasoap_core::content::Encode;
use deltasoap_core::decode::{Cursor, Decoder, Step};
use deltasoap_core::schema::{Use, View};
use deltasoap_core::soap::{Envelope, EnvelopeReader, Head, HeaderBlock, Receiver, Version};
use deltasoap_core::{
    Content, DecodeOptions, Differential, EncodeStats, Error, ErrorKind, MatchKind, Memory, Outgoing, QName, RunPool,
    Template, Templates, Templating, Width,
};
use deltasoap_xml::c14n::{Canonicalizer, Method};
use deltasoap_xml::{Event, Instructions, Limits, Reader, Window};
use std::borrow::Cow;
use std::fmt::Debug;
use std::marker::PhantomData;

/// Options for writing messages that stay the same for most of a stream.
#[derive(Clone)]
pub struct Style {
    pub version: Version,
    pub encoding: Use,
    pub headers: Vec<HeaderBlock>,
    /// True if the body is written in canonical form.
    pub is_canonical: bool,
    pub name: QName,
}

impl Style {
    fn envelope<'a>(&'a self, value: &'a dyn Encode, view: View<'a>) -> Envelope<'a> {
        let Style { version, encoding, headers, is_canonical, name } = self;
        let envelope = Envelope::element(name, value, view).version(*version).encoding(*encoding).headers(headers);
        if *is_canonical { envelope.canonical("body") } else { envelope }
    }
}

impl Default for Style {
    fn default() -> Self {
        let name = QName::new("urn:op", "operation");
        Style { version: Version::Soap11, encoding: Use::Literal, headers: Vec::new(), is_canonical: false, name }
    }
}

/// The state of a message after sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flight {
    /// It has arrived.
    Landed,
    /// It is still being sent.
    Held,
    /// Some of its frames are still being sent, without the rest.
    Frames,
}

/// Maximum length of a message in failure output.
const MAX_SHOWN: usize = 4000;

/// Sends values by templates, also writes them in full, and compares. What is sent is read as a
/// `D`.
pub struct Sender<'v, T, D = T> {
    pub style: Style,
    pub view: View<'v>,
    /// True if the value is written in full before it is sent, not after.
    pub full_first: bool,
    /// Receives each message as it is sent and in full.
    pub witness: Option<fn(sent: &[u8], full: &str)>,
    /// True if content that templates do not keep may be sent as if for the first time, and values
    /// may be impossible to write; all ways must still agree.
    pub is_lenient: bool,
    kept: Kept,
    options: Templating,
    /// The message that the template holds, in full.
    before: Option<String>,
    in_flight: Vec<(InFlight, Vec<u8>)>,
    decoder: Decoder,
    memory: Option<Memory<D>>,
    of: PhantomData<T>,
}

enum Kept {
    One(Box<Template>),
    Several(Box<Templates>),
}

enum InFlight {
    Whole(Outgoing),
    Frames(Vec<Bytes>),
}

impl<'v, T: Content + Debug> Sender<'v, T> {
    /// Creates a sender with one template.
    pub fn new(view: View<'v>, options: Templating) -> Self {
        Self::with(view, options, Kept::One(Box::new(Template::new(options))))
    }

    /// Creates a sender that writes messages in full when templates are slower.
    #[allow(dead_code, reason = "not for all tests that share this")]
    pub fn switching(view: View<'v>) -> Self {
        let options = Templating::default();
        Self::with(view, options, Kept::Several(Box::new(Templates::new(options))))
    }

    /// Creates a sender with a set of templates.
    pub fn of_several(view: View<'v>, options: Templating) -> Self {
        // Behaviour that depends on the time that messages take cannot be checked.
        let options = Templating { adaptive: false, ..options };
        Self::with(view, options, Kept::Several(Box::new(Templates::new(options))))
    }
}

impl<'v, T: Content, D: Content + Debug> Sender<'v, T, D> {
    /// Creates a sender with one template, whose messages are read as another type.
    pub fn to(view: View<'v>, options: Templating) -> Self {
        Self::with(view, options, Kept::One(Box::new(Template::new(options))))
    }

    /// Creates a sender with one template that shares arrays.
    pub fn sharing(view: View<'v>, options: Templating, pool: &RunPool) -> Self {
        Self::with(view, options, Kept::One(Box::new(Template::with_pool(options, pool.clone()))))
    }

    fn with(view: View<'v>, options: Templating, kept: Kept) -> Self {
        let (style, memory) = (Style::default(), Some(Memory::new(D::vacant(view))));
        let decoder = Decoder::new(decode_options());
        Sender {
            style,
            view,
            full_first: false,
            witness: None,
            is_lenient: false,
            kept,
            options,
            before: None,
            in_flight: Vec::new(),
            decoder,
            memory,
            of: PhantomData,
        }
    }

    pub fn stats(&self) -> EncodeStats {
        match &self.kept {
            Kept::One(template) => template.stats(),
            Kept::Several(templates) => templates.stats(),
        }
    }

    pub fn memory(&self) -> usize {
        match &self.kept {
            Kept::One(template) => template.memory(),
            Kept::Several(templates) => templates.memory(),
        }
    }

    /// Sends a value that can be written.
    #[track_caller]
    pub fn send(&mut self, value: &T) -> MatchKind {
        self.send_in(value, Flight::Landed).expect("a value that can be written")
    }

    /// Sends a value, by the template and in full.
    ///
    /// # Errors
    /// The error that both gave.
    #[track_caller]
    pub fn send_in(&mut self, value: &T, flight: Flight) -> Result<MatchKind, Error> {
        let stats = self.stats();
        let first = self.full_first.then(|| self.in_full(value));
        let sent = self.encode(value);
        let full = first.unwrap_or_else(|| self.in_full(value));
        match (sent, full) {
            (Ok(sent), Ok(full)) => {
                self.check(&sent, &full, self.stats() - stats);
                let kind = sent.kind();
                self.before = Some(without_header(&full).into_owned());
                self.keep(sent, flight);
                Ok(kind)
            }
            (Err(sent), Err(full)) => {
                assert_eq!(sent, full);
                self.before = None;
                Err(full)
            }
            (sent, full) => panic!("by template: {sent:?}\n in full: {full:?}\n before: {:?}", self.before),
        }
    }

    /// Asserts that nothing that is still being sent has changed, and lets it arrive.
    #[track_caller]
    pub fn land(&mut self) {
        for (flight, bytes) in self.in_flight.drain(..) {
            let now = match flight {
                InFlight::Whole(sent) => sent.to_vec(),
                InFlight::Frames(frames) => frames.concat(),
            };
            assert!(now == bytes, "changed in flight:\n  {}\n  {}", text(&bytes), text(&now));
        }
    }

    fn encode(&mut self, value: &T) -> Result<Outgoing, Error> {
        let envelope = self.style.envelope(value, self.view);
        match &mut self.kept {
            Kept::One(template) => template.encode(&envelope),
            Kept::Several(templates) => templates.encode(&envelope),
        }
    }

    fn in_full(&self, value: &T) -> Result<String, Error> {
        let full = self.style.envelope(value, self.view).to_vec()?;
        Ok(String::from_utf8(full).expect("UTF-8"))
    }

    #[track_caller]
    fn check(&mut self, sent: &Outgoing, full: &str, mut stats: EncodeStats) {
        let bytes = sent.to_vec();
        assert!(sent.frames().iter().all(|frame| !frame.is_empty()));
        assert_eq!(sent.len(), bytes.len());
        if self.options.width == Width::Exact {
            self.check_bytes(&bytes, full, sent.kind());
        } else {
            assert_same_but_for_gaps(text(&bytes), full);
        }
        self.check_value(sent, &bytes, full);
        if let Some(witness) = self.witness {
            witness(&bytes, full);
        }
        let without_header = without_header(full);
        self.check_kind(sent.kind(), &without_header);
        // Header blocks are written each time.
        let header = (full.len() - without_header.len()) as u64;
        stats.written -= header;
        self.check_stats(sent, stats, header);
        if self.style.is_canonical && self.options.width == Width::Exact {
            check_canonical(sent, &bytes);
        }
    }

    #[track_caller]
    fn check_bytes(&self, bytes: &[u8], full: &str, kind: MatchKind) {
        if bytes == full.as_bytes() {
            return;
        }
        let place = bytes.iter().zip(full.as_bytes()).position(|(found, expected)| found != expected);
        let place = place.unwrap_or(bytes.len().min(full.len()));
        let (before, found) = (self.before.as_deref().unwrap_or("nothing"), String::from_utf8_lossy(bytes));
        let options = self.options;
        panic!(
            "{kind:?} at {place}, {options:?}\n   before: {before}\n expected: {full}\n    found: {found}\n\
             after that, expected: {}\n                      found: {}",
            excerpt(full.as_bytes(), place),
            excerpt(bytes, place)
        );
    }

    /// Asserts that the message is read like the one in full: alone, and after the previous ones by
    /// a differential decoder that keeps the frames.
    #[track_caller]
    fn check_value(&mut self, sent: &Outgoing, bytes: &[u8], full: &str) {
        let alone = self.read(bytes);
        if self.options.width != Width::Exact {
            assert_same(&alone, &self.read(full.as_bytes()), "stuffed", bytes);
        }
        assert_same(&self.read_after(sent), &alone, "behind others", bytes);
    }

    fn read(&self, bytes: &[u8]) -> Result<String, Fault> {
        let operation = Operation { memory: Memory::<D>::new(D::vacant(self.view)), view: self.view };
        let mut reader = EnvelopeReader::new(operation);
        let options = DecodeOptions { differential: Differential::OFF, ..decode_options() };
        Decoder::new(options).decode(&mut reader, bytes).map_err(fault)?;
        Ok(shown(&reader.receiver.memory))
    }

    fn read_after(&mut self, sent: &Outgoing) -> Result<String, Fault> {
        let memory = self.memory.take().expect("it is always put back");
        let mut reader = EnvelopeReader::new(Operation { memory, view: self.view });
        self.decoder.reset();
        let mut frames = sent.frames().iter();
        let pushed = frames.try_for_each(|frame| self.decoder.push_bytes(&mut reader, frame.clone()));
        let result = pushed.and_then(|()| self.decoder.finish(&mut reader)).map_err(fault);
        let memory = reader.into_parts().1.memory;
        let value = result.map(|()| shown(&memory));
        self.memory = Some(memory);
        value
    }

    #[track_caller]
    fn check_kind(&self, kind: MatchKind, full: &str) {
        let before = self.before.as_deref();
        let allowed = match self.kept {
            Kept::Several(_) => return,
            Kept::One(_) if self.options.width == Width::Exact => kinds::exact(before, full),
            Kept::One(_) => kinds::stuffed(before, full),
        };
        let has_forgotten = self.is_lenient || self.options.bytes < Templating::default().bytes;
        let is_dropped = kind == MatchKind::FirstTime && has_forgotten;
        assert!(
            allowed.contains(&kind) || is_dropped,
            "{kind:?} instead of {allowed:?}, {:?}\n before: {before:?}\n    now: {full}",
            self.options
        );
    }

    #[track_caller]
    fn check_stats(&self, sent: &Outgoing, stats: EncodeStats, header: u64) {
        let EncodeStats { messages, content, perfect, partial, first, bytes, .. } = stats;
        let is = |kind| u64::from(sent.kind() == kind);
        let kinds =
            [MatchKind::Content, MatchKind::PerfectStructural, MatchKind::PartialStructural, MatchKind::FirstTime];
        assert_eq!([content, perfect, partial, first], kinds.map(is), "{stats:?}");
        assert_eq!((messages, bytes), (1, sent.len() as u64), "{stats:?}");
        let EncodeStats { written, moved, leaves, shifts, tag_moves, elements, splits, .. } = stats;
        let is_exact = self.options.width == Width::Exact && !self.is_lenient;
        match sent.kind() {
            MatchKind::Content => {
                assert_eq!(written + moved + leaves + shifts + tag_moves + elements + splits, 0, "{stats:?}");
            }
            MatchKind::PerfectStructural if is_exact => assert_eq!(moved + shifts + elements + splits, 0, "{stats:?}"),
            MatchKind::FirstTime if is_exact && stats.shared == 0 => assert!(written + header >= bytes, "{stats:?}"),
            _ => {}
        }
    }

    fn keep(&mut self, sent: Outgoing, flight: Flight) {
        let bytes = sent.to_vec();
        match flight {
            Flight::Landed => {}
            Flight::Held => self.in_flight.push((InFlight::Whole(sent), bytes)),
            Flight::Frames => {
                let frames: Vec<_> = sent.frames().iter().step_by(2).cloned().collect();
                let bytes = frames.concat();
                self.in_flight.push((InFlight::Frames(frames), bytes));
            }
        }
    }
}

/// Asserts that the body is in canonical form.
#[track_caller]
fn check_canonical(sent: &Outgoing, bytes: &[u8]) {
    let mut reader = Reader::new(Limits::default(), Instructions::Refuse);
    let mut canonical = Canonicalizer::new(Method::exclusive().inclusive_prefixes(sent.inclusive_prefixes()));
    let (mut window, mut expected, mut is_inside) = (Window::whole(bytes), Vec::new(), false);
    let mut sink = |piece: &[u8]| expected.extend_from_slice(piece);
    while !canonical.is_done() {
        canonical.pass(&mut reader, &mut window, &mut sink);
        let event = reader.next(&mut window).expect("well-formed");
        is_inside |= event == Event::Start && reader.depth() == 2 && reader.names().local(reader.name()) == "Body";
        if is_inside {
            canonical.event(event, &reader, &mut sink).expect("a canonical form");
        }
    }
    let body: Vec<_> = sent.body().flatten().copied().collect();
    assert_eq!(text(&body), text(&expected), "{:?}", sent.inclusive_prefixes().collect::<Vec<_>>());
}

/// Returns a message without its header, which templates do not hold.
fn without_header(message: &str) -> Cow<'_, str> {
    const END: &str = "</soap:Header>";
    match (message.find("<soap:Header>"), message.find(END)) {
        (Some(start), Some(end)) => [&message[..start], &message[end + END.len()..]].concat().into(),
        _ => message.into(),
    }
}

/// An operation read with a memory.
struct Operation<'v, T> {
    memory: Memory<T>,
    view: View<'v>,
}

impl<T: Content> Receiver for Operation<'_, T> {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, self.view)
    }
}

fn decode_options() -> DecodeOptions {
    let differential = Differential { adaptive: false, ..Differential::default() };
    DecodeOptions { differential, ..DecodeOptions::default() }
}

/// The error and its element: the same for all ways of writing a message.
type Fault = (ErrorKind, String);

fn fault(error: Error) -> Fault {
    (error.kind().clone(), error.path().to_owned())
}

fn shown<T: Debug>(memory: &Memory<T>) -> String {
    format!("{:?}", memory.value())
}

/// Asserts that a message that was read in one way is as expected; otherwise reports where it
/// differs.
#[track_caller]
fn assert_same(found: &Result<String, Fault>, expected: &Result<String, Fault>, how: &str, message: &[u8]) {
    if found == expected {
        return;
    }
    let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
    let place = found.bytes().zip(expected.bytes()).take_while(|(one, other)| one == other).count();
    let (found, expected) = (excerpt(found.as_bytes(), place), excerpt(expected.as_bytes(), place));
    let message = &message[..message.len().min(MAX_SHOWN)];
    panic!("read {how}, at {place}\n expected: {expected}\n    found: {found}\n{}", String::from_utf8_lossy(message));
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

fn excerpt(bytes: &[u8], place: usize) -> String {
    let (start, end) = (place.saturating_sub(20).min(bytes.len()), bytes.len().min(place + 40));
    String::from_utf8_lossy(&bytes[start..end]).into_owned()
}
