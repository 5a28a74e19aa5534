//! The oracle of differential decoding: a stream of documents read with a memory gives what each of them gives alone.

use crate::edits;
use crate::generate::{self, Entropy};
use crate::laws;
use bytes::Bytes;
use deltasoap_core::decode::{Cursor, Decoder, ElementRoot, Root, Step};
use deltasoap_core::schema::View;
use deltasoap_core::{
    Checkpoints, Content, DecodeOptions, Differential, DifferentialStats, Error, Matcher, Memory, Value,
};
use std::fmt::Debug;

/// Every policy of the papers with every matcher.
pub fn all(portion: u32) -> impl Iterator<Item = Differential> {
    const POLICIES: [Checkpoints; 3] = [Checkpoints::Full, Checkpoints::Differential, Checkpoints::Lightweight];
    const MATCHERS: [Matcher; 5] = [Matcher::Compare, Matcher::Xor, Matcher::Adler32, Matcher::Crc32, Matcher::Keyed];
    let pairs = POLICIES.into_iter().flat_map(|checkpoints| MATCHERS.map(|matcher| (checkpoints, matcher)));
    pairs.map(move |(checkpoints, matcher)| Differential {
        checkpoints,
        matcher,
        portion,
        probe: false,
        tune: false,
        adaptive: false,
    })
}

/// The whole document is the operation.
pub struct Operation<'v, T> {
    pub memory: Memory<T>,
    view: View<'v>,
}

impl<'v, T: Content> Operation<'v, T> {
    pub fn new(view: View<'v>) -> Self {
        Operation { memory: Memory::new(T::vacant(view)), view }
    }
}

/// Inside the root element; state 0 is in front of it.
const CONTENT: u8 = 1;
/// Behind the root element.
const BEHIND: u8 = 2;

impl<T: Content> Root for Operation<'_, T> {
    fn decode(&mut self, cursor: &mut Cursor<'_>) -> Step {
        let (me, _) = cursor.enter();
        if cursor.frame(me).state == 0 {
            cursor.next_tag()?;
            cursor.frame(me).state = CONTENT;
        }
        if cursor.frame(me).state == CONTENT {
            self.memory.decode(cursor, self.view)?;
            cursor.frame(me).state = BEHIND;
        }
        cursor.next_tag()?;
        Ok(())
    }
}

/// A decoder with a memory.
pub struct Stream<'v, T> {
    decoder: Decoder,
    operation: Operation<'v, T>,
    view: View<'v>,
    options: DecodeOptions,
    /// The documents before, for people.
    before: Vec<String>,
}

impl<'v, T: Content + Debug> Stream<'v, T> {
    pub fn new(view: View<'v>, options: DecodeOptions) -> Self {
        let mut decoder = Decoder::new(options);
        decoder.keep_bytes();
        Stream { decoder, operation: Operation::new(view), view, options, before: Vec::new() }
    }

    /// Reads as outside of tests: what has an equal sum is taken to be equal.
    pub fn keep_no_bytes(&mut self) {
        self.decoder = Decoder::new(self.options);
    }

    pub fn stats(&self) -> DifferentialStats {
        self.operation.memory.stats()
    }

    /// Reads the next document in chunks, and alone, and compares. Gives what both gave, the value as text.
    pub fn next(&mut self, document: &[u8], chunk: usize) -> Result<String, Error> {
        self.next_cut(document, &mut std::iter::repeat(chunk))
    }

    /// As [`next`](Self::next), in chunks of the lengths given, which are kept without a copy.
    pub fn next_cut(&mut self, document: &[u8], chunks: &mut dyn Iterator<Item = usize>) -> Result<String, Error> {
        let alone = self.alone(document);
        if std::env::var_os("SHOW").is_some() {
            eprintln!("DOC {}", String::from_utf8_lossy(document));
        }
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

    fn alone(&self, document: &[u8]) -> Result<String, Error> {
        let mut root = ElementRoot::<T>::new(self.view);
        let options = DecodeOptions { differential: Differential::OFF, ..self.options };
        Decoder::new(options).decode(&mut root, document)?;
        Ok(format!("{:?}", root.value))
    }

    fn within(&mut self, document: &[u8], chunks: &mut dyn Iterator<Item = usize>) -> Result<String, Error> {
        self.decoder.reset();
        let mut rest = Bytes::copy_from_slice(document);
        while !rest.is_empty() {
            let chunk = rest.split_to(chunks.next().unwrap_or(usize::MAX).clamp(1, rest.len()));
            self.decoder.push_bytes(&mut self.operation, chunk)?;
        }
        self.decoder.finish(&mut self.operation)?;
        Ok(format!("{:?}", self.operation.memory.value()))
    }
}

/// Entropy for the schema, the first value, the edits, the wordings and the chunks.
pub struct Sources<'a> {
    pub schema: &'a [u8],
    pub value: &'a [u8],
    pub edits: &'a [u8],
    pub wording: &'a [u8],
    pub chunks: &'a [u8],
}

/// How many documents a stream has.
const DOCUMENTS: usize = 6;

/// A random stream read with each of some options. Gives the counters of all.
pub fn check(sources: &Sources<'_>, options: impl Iterator<Item = Differential>) -> DifferentialStats {
    let (schema, root) = generate::schema(&mut Entropy(sources.schema));
    let view = schema.view(root);
    let documents = documents(sources, view);
    let mut stats = DifferentialStats::default();
    for differential in options {
        let mut chunks = Entropy(sources.chunks);
        let limits = limits(sources);
        let mut stream = Stream::<Value>::new(view, DecodeOptions { limits, differential });
        for document in &documents {
            let is_even = chunks.below(3) != 2;
            let size = chunk_size(&mut chunks);
            let _ = match is_even {
                true => stream.next(document, size),
                false => stream.next_cut(document, &mut std::iter::from_fn(|| Some(chunk_size(&mut chunks)))),
            };
        }
        stats += stream.stats();
    }
    stats
}

/// Now and then limits that are within reach.
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

fn chunk_size(entropy: &mut Entropy<'_>) -> usize {
    [usize::MAX, 1, 2, 3, 7, 16, 33, 64, 100, 501][entropy.below(10)]
}

fn documents(sources: &Sources<'_>, view: View<'_>) -> Vec<Vec<u8>> {
    let (mut edits, mut wording) = (Entropy(sources.edits), Entropy(sources.wording));
    let mut value = generate::value(&mut Entropy(sources.value), view);
    let mut documents = Vec::new();
    for _ in 0..DOCUMENTS {
        documents.push(worded(&generate::encoded(&value, view), &mut wording));
        for _ in 0..edits.below(3) {
            edits::edit(&mut value, view, &mut edits);
        }
    }
    documents
}

/// The document as it is, in slightly or wholly other words, damaged, or in UTF-16.
fn worded(document: &str, entropy: &mut Entropy<'_>) -> Vec<u8> {
    match entropy.below(12) {
        6..=8 => edits::rewritten(document, entropy).into_bytes(),
        9 => generate::reworded(document, entropy).into_bytes(),
        10 => laws::damaged(document, entropy),
        11 => generate::utf16(document, entropy.below(2) == 1),
        _ => document.as_bytes().to_vec(),
    }
}
