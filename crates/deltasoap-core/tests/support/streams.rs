//! The oracle of differential decoding: each document of a stream read with a memory gives the same
//! result as alone.

use crate::edits;
use crate::generate;
use crate::laws;
use bytes::Bytes;
use deltasoap_checkpoints::{Bases, Matcher, Portions, State};
use deltasoap_core::decode::{Cursor, Decoder, Root, Step};
use deltasoap_core::schema::View;
use deltasoap_core::soap::{EnvelopeReader, Head, Receiver};
use deltasoap_core::{
    Content, DecodeOptions, Differential, DifferentialStats, Error, ErrorKind, Memory, Tolerance, Value,
};
use deltasoap_test_support::Entropy;
use std::fmt::Debug;

/// Every policy of the papers with every matcher.
pub fn all(portion: u32) -> impl Iterator<Item = Differential> {
    let pairs = State::ALL.into_iter().flat_map(|state| Matcher::ALL.map(|matcher| (state, matcher)));
    pairs.map(move |(state, matcher)| {
        let portions = Portions { state, matcher, size: portion, audit: true, ..Portions::default() };
        Differential { checkpoints: portions.into(), adaptive: false }
    })
}

/// Like [`all`], each with one or several of the refinements, selected by number.
#[allow(dead_code, reason = "not all tests that share this refine")]
pub fn refined(portion: u32, numbers: &[u8]) -> impl Iterator<Item = Differential> {
    let numbers = numbers.iter().copied().chain(0..);
    all(portion).zip(numbers).map(|(options, number)| {
        let has = |bit: u8| number & bit != 0;
        let bases = if has(8) { Bases::First } else { Bases::Interrupts };
        Differential {
            adaptive: has(4),
            ..changed(options, |it| Portions { probe: has(1), tune: has(2), bases, ..it })
        }
    })
}

/// The same options with other portions.
pub fn changed(options: Differential, change: impl Fn(Portions) -> Portions) -> Differential {
    let portions = Portions::from_checkpoints(options.checkpoints).expect("portions");
    Differential { checkpoints: change(portions).into(), ..options }
}

/// An operation: the whole document, or the content of an envelope's body.
pub struct Operation<'v, T> {
    pub memory: Memory<T>,
    view: View<'v>,
}

impl<'v, T: Content> Operation<'v, T> {
    pub fn new(view: View<'v>) -> Self {
        Operation { memory: Memory::new(T::vacant(view)), view }
    }
}

/// Inside the root element; state 0 is before it.
const CONTENT: u8 = 1;
/// After the root element.
const AFTER: u8 = 2;

impl<T: Content> Root for Operation<'_, T> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        let (me, _) = cursor.enter();
        if cursor.frame(me).state == 0 {
            cursor.next_tag()?;
            cursor.frame(me).state = CONTENT;
        }
        if cursor.frame(me).state == CONTENT {
            self.memory.decode(cursor, self.view)?;
            cursor.frame(me).state = AFTER;
        }
        cursor.next_tag()?;
        Ok(())
    }
}

impl<T: Content> Receiver for Operation<'_, T> {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, self.view)
    }
}

/// Reads a document in chunks. Returns the operation, and the value as text; for a message also the
/// content before its body.
fn read<'v, T: Content + Debug>(
    decoder: &mut Decoder,
    operation: Operation<'v, T>,
    is_message: bool,
    document: &[u8],
    chunks: &mut dyn Iterator<Item = usize>,
) -> (Operation<'v, T>, Result<String, Error>) {
    if !is_message {
        let mut operation = operation;
        let result = push(decoder, &mut operation, document, chunks);
        let shown = result.map(|()| format!("{:?}", operation.memory.value()));
        return (operation, shown);
    }
    let mut reader = EnvelopeReader::new(operation);
    let result = push(decoder, &mut reader, document, chunks);
    let (head, operation) = reader.into_parts();
    let shown = result.map(|()| format!("{head:?} {:?}", operation.memory.value()));
    (operation, shown)
}

fn push(
    decoder: &mut Decoder,
    root: &mut impl Root,
    document: &[u8],
    chunks: &mut dyn Iterator<Item = usize>,
) -> Result<(), Error> {
    decoder.reset();
    let mut rest = Bytes::copy_from_slice(document);
    while !rest.is_empty() {
        let chunk = rest.split_to(chunks.next().unwrap_or(usize::MAX).clamp(1, rest.len()));
        decoder.push_bytes(root, chunk)?;
    }
    decoder.finish(root)
}

/// A decoder with a memory.
pub struct Stream<'v, T> {
    decoder: Decoder,
    /// Always present, except while it is read.
    operation: Option<Operation<'v, T>>,
    view: View<'v>,
    options: DecodeOptions,
    /// True if the documents are envelopes.
    are_messages: bool,
    /// The previous documents, for failure output.
    before: Vec<String>,
}

impl<'v, T: Content + Debug> Stream<'v, T> {
    pub fn new(view: View<'v>, options: DecodeOptions) -> Self {
        let decoder = Decoder::new(options);
        let operation = Some(Operation::new(view));
        Stream { decoder, operation, view, options, are_messages: false, before: Vec::new() }
    }

    /// Like [`new`](Self::new), for operations in envelopes.
    pub fn of_messages(view: View<'v>, options: DecodeOptions) -> Self {
        Stream { are_messages: true, ..Self::new(view, options) }
    }

    /// Takes the time of each message from a function.
    #[allow(dead_code, reason = "not all tests that share this need it")]
    pub fn set_clock(&mut self, pace: fn(u64, bool) -> std::time::Duration) {
        if let Some(operation) = &mut self.operation {
            operation.memory.set_clock(pace);
        }
    }

    pub fn stats(&self) -> DifferentialStats {
        self.operation.as_ref().map_or_else(DifferentialStats::default, |operation| operation.memory.stats())
    }

    /// Reads the next document in chunks, and alone, and compares. Returns the common result, the
    /// value as text.
    pub fn next(&mut self, document: &[u8], chunk: usize) -> Result<String, Error> {
        self.next_cut(document, &mut std::iter::repeat(chunk))
    }

    /// Like [`next`](Self::next), in chunks of the given lengths, which are kept without a copy.
    pub fn next_cut(&mut self, document: &[u8], chunks: &mut dyn Iterator<Item = usize>) -> Result<String, Error> {
        let alone = self.alone(document);
        let mut cuts = Vec::new();
        let within = self.within(document, &mut chunks.inspect(|&chunk| cuts.push(chunk)));
        cuts.dedup();
        assert!(
            within == alone,
            "{:?}, chunks of {cuts:?}\n   before: {}\n document: {}\n expected: {alone:?}\n    found: {within:?}",
            self.options.differential,
            self.before.join("\n           "),
            String::from_utf8_lossy(document)
        );
        self.before.push(String::from_utf8_lossy(document).into_owned());
        alone
    }

    /// Reads the document with the general routines, which must give the same result as regular
    /// mode.
    fn alone(&self, document: &[u8]) -> Result<String, Error> {
        let options = DecodeOptions { differential: Differential::OFF, ..self.options };
        let [general, regular] = [Decoder::without_shortcuts(options), Decoder::new(options)].map(|mut decoder| {
            let operation = Operation::<T>::new(self.view);
            read(&mut decoder, operation, self.are_messages, document, &mut std::iter::empty()).1
        });
        assert_eq!(general, regular, "learning nothing: {}", String::from_utf8_lossy(document));
        general
    }

    fn within(&mut self, document: &[u8], chunks: &mut dyn Iterator<Item = usize>) -> Result<String, Error> {
        let operation = self.operation.take().expect("it is always put back");
        let (operation, result) = read(&mut self.decoder, operation, self.are_messages, document, chunks);
        self.operation = Some(operation);
        result
    }
}

/// Entropy for the schema, the first value, the edits, the notations and the chunks.
pub struct Sources<'a> {
    pub schema: &'a [u8],
    pub value: &'a [u8],
    pub edits: &'a [u8],
    pub wording: &'a [u8],
    pub chunks: &'a [u8],
}

/// Number of documents in a stream.
const DOCUMENTS: usize = 6;

/// Reads a random stream with each of these options. Returns the counters of all.
pub fn check(sources: &Sources<'_>, options: impl Iterator<Item = Differential>) -> DifferentialStats {
    let (schema, root) = generate::schema(&mut Entropy(sources.schema));
    let view = schema.view(root);
    let style = Style::of(&mut Entropy(sources.wording));
    let documents = documents(sources, view, style);
    let mut stats = DifferentialStats::default();
    for differential in options {
        let mut chunks = Entropy(sources.chunks);
        let options = DecodeOptions { limits: limits(sources), tolerance: tolerance(sources), differential };
        let of = if style.are_messages { Stream::<Value>::of_messages } else { Stream::<Value>::new };
        let mut stream = of(view, options);
        for document in &documents {
            let _ = match chunks.below(4) {
                0 => stream.next(document, chunk_size(&mut chunks)),
                1 => stream.next_cut(document, &mut std::iter::from_fn(|| Some(chunk_size(&mut chunks)))),
                _ => stream.next_cut(document, &mut edits::cuts_in_gaps(document, &mut chunks).into_iter()),
            };
        }
        stats += stream.stats();
    }
    stats
}

/// Properties common to all documents of a stream.
#[derive(Debug, Clone, Copy)]
struct Style {
    are_messages: bool,
    /// The line break and the indentation of each level; `None` for documents on one line.
    indentation: Option<(&'static str, &'static str)>,
}

impl Style {
    fn of(entropy: &mut Entropy<'_>) -> Self {
        const INDENTATIONS: [Option<(&str, &str)>; 6] =
            [None, Some(("\n", "  ")), Some(("\n", "")), Some(("\r\n", "\t")), Some(("\n", "               ")), None];
        Style { are_messages: entropy.below(2) == 1, indentation: INDENTATIONS[entropy.below(INDENTATIONS.len())] }
    }
}

/// Sometimes returns limits that may be reached.
fn limits(sources: &Sources<'_>) -> deltasoap_core::Limits {
    let default = deltasoap_core::Limits::default();
    match sources.chunks.first() {
        Some(1) => deltasoap_core::Limits { depth: 4, ..default },
        Some(2) => deltasoap_core::Limits { text: 9, ..default },
        Some(3) => deltasoap_core::Limits { message: 300, ..default },
        Some(4) => deltasoap_core::Limits { markup: 24, ..default },
        _ => default,
    }
}

/// Strict in half of the streams.
fn tolerance(sources: &Sources<'_>) -> Tolerance {
    match sources.edits.first().copied().unwrap_or_default() % 4 {
        2 => Tolerance::Unknown,
        3 => Tolerance::AnyOrder,
        _ => Tolerance::Strict,
    }
}

fn chunk_size(entropy: &mut Entropy<'_>) -> usize {
    [usize::MAX, 1, 2, 3, 7, 16, 33, 64, 100, 501][entropy.below(10)]
}

fn documents(sources: &Sources<'_>, view: View<'_>, style: Style) -> Vec<Vec<u8>> {
    let (mut edits, mut wording) = (Entropy(sources.edits), Entropy(sources.wording));
    let mut value = generate::value(&mut Entropy(sources.value), view);
    let mut documents = Vec::new();
    let mut header = "";
    for _ in 0..DOCUMENTS {
        let mut document = generate::encoded(&value, view);
        if style.are_messages {
            header = edits::header(header, &mut wording);
            document = edits::enveloped(&document, header);
        }
        if let Some((line, level)) = style.indentation {
            document = edits::indented(&document, line, level);
        }
        documents.push(worded(&document, &mut wording));
        for _ in 0..edits.below(3) {
            edits::edit(&mut value, view, &mut edits);
        }
    }
    documents
}

/// Returns the document unchanged, in a slightly or completely different notation, damaged, or in
/// UTF-16.
fn worded(document: &str, entropy: &mut Entropy<'_>) -> Vec<u8> {
    match entropy.below(12) {
        6..=8 => edits::rewritten(document, entropy).into_bytes(),
        9 => generate::reworded(document, entropy).into_bytes(),
        10 => laws::damaged(document, entropy),
        11 => deltasoap_test_support::utf16(document, entropy.below(2) == 1),
        _ => document.as_bytes().to_vec(),
    }
}
