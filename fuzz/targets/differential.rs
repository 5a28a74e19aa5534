//! Streams of messages, each decoded against the previous one: the value or the error must be that
//! of the message alone, for every checkpoint policy and matcher.
//!
//! The first bytes of an input choose the options and the kind of stream. The rest is split at each
//! byte 255. For a generated stream, the pieces are the entropy for schema, value, edits, other
//! spellings and chunks: what the property tests of `deltasoap-core` check. For a typed stream, the
//! first piece is a document, and each further piece is an edit of the previous document.

#![no_main]

#[path = "../../crates/deltasoap-core/tests/support/edits.rs"]
mod edits;
#[path = "../../crates/deltasoap-core/tests/support/generate.rs"]
mod generate;
#[path = "../../crates/deltasoap-core/tests/support/laws.rs"]
#[allow(dead_code, reason = "shared with another target")]
mod laws;
#[path = "../shared/message.rs"]
#[allow(dead_code, reason = "shared with another target")]
mod message;
#[path = "../../crates/deltasoap-core/tests/support/streams.rs"]
#[allow(dead_code, reason = "shared with tests")]
mod streams;

use deltasoap::engine::decode::DecodeOptions;
use deltasoap::engine::{Checkpoints, Differential, Limits, Typed};
use deltasoap::lexical::Base64;
use deltasoap::types::AnySimple;
use deltasoap::{Nillable, SoapArray};
use deltasoap_checkpoints::Portions;
use libfuzzer_sys::fuzz_target;
use message::{Flat, Message, Text, Tree, limits};
use std::fmt::Debug;
use streams::{Sources, Stream};

/// Separates two pieces: the byte does not occur in UTF-8.
const SEPARATOR: u8 = 0xFF;
/// Maximum number of documents of a typed stream.
const DOCUMENTS: usize = 12;

fuzz_target!(|input: &[u8]| {
    let Some((&[policy, portion, kind, limit, chunks], rest)) = input.split_first_chunk() else { return };
    let differential = differential(policy, portion);
    let pieces: Vec<&[u8]> = rest.split(|&byte| byte == SEPARATOR).collect();
    let options = TypedStreamOptions { differential, limits: limits(limit % 16, usize::from(limit / 16 * 5)), chunks };
    match kind % 12 {
        0 => options.read::<Message>(&pieces),
        1 => options.read::<SoapArray<f64>>(&pieces),
        2 => options.read::<SoapArray<Flat>>(&pieces),
        3 => options.read::<SoapArray<AnySimple>>(&pieces),
        4 => options.read::<SoapArray<Nillable<String>>>(&pieces),
        5 => options.read::<Tree>(&pieces),
        8 => options.read::<String>(&pieces),
        9 => options.read::<Text>(&pieces),
        10 => options.read::<Base64>(&pieces),
        11 => options.read::<SoapArray<Tree>>(&pieces),
        _ => generated(&pieces, differential),
    }
});

/// Chooses options: leaf checkpoints as often as all other policies together.
fn differential(policy: u8, portion: u8) -> Differential {
    let (probe, tune) = (policy & 0x20 != 0, policy & 0x40 != 0);
    let papers = streams::all(u32::from(portion) + 1).nth(usize::from(policy % 32));
    let leaf = Differential { checkpoints: Checkpoints::Leaf, adaptive: false };
    papers.map_or(leaf, |papers| streams::changed(papers, |it| Portions { probe, tune, ..it }))
}

fn generated(pieces: &[&[u8]], differential: Differential) {
    let piece = |index: usize| pieces.get(index).copied().unwrap_or_default();
    let (schema, value, edits) = (piece(0), piece(1), piece(2));
    let sources = Sources { schema, value, edits, wording: piece(3), chunks: piece(4) };
    streams::check(&sources, std::iter::once(differential));
}

/// The options for decoding a typed stream.
struct TypedStreamOptions {
    differential: Differential,
    limits: Limits,
    chunks: u8,
}

impl TypedStreamOptions {
    fn read<T: Typed + Debug>(&self, pieces: &[&[u8]]) {
        let options =
            DecodeOptions { limits: self.limits, differential: self.differential, ..DecodeOptions::default() };
        let mut stream = Stream::<T>::new(T::view(), options);
        let mut document = Vec::new();
        for piece in pieces.iter().take(DOCUMENTS) {
            edit(&mut document, piece);
            let (head, step) = (document.len() * usize::from(self.chunks / 16) / 16, usize::from(self.chunks % 16) * 5);
            let step = if step == 0 { usize::MAX } else { step };
            let _ = stream.next_cut(&document, &mut std::iter::once(head).chain(std::iter::repeat(step)));
        }
    }
}

/// The first piece is the document. In the others, two bytes give the position of the edit, and a
/// third the number of bytes that are replaced by the rest of the piece, or are duplicated there.
fn edit(document: &mut Vec<u8>, piece: &[u8]) {
    let Some((&[high, low, len], with)) = piece.split_first_chunk().filter(|_| !document.is_empty()) else {
        if document.is_empty() {
            *document = piece.to_vec();
        }
        return;
    };
    let start = usize::from(u16::from_be_bytes([high, low])) % (document.len() + 1);
    let end = document.len().min(start + usize::from(len % 128));
    if len < 128 {
        document.splice(start..end, with.iter().copied());
    } else {
        let doubled = document[start..end].to_vec();
        document.splice(start..start, doubled);
    }
}
