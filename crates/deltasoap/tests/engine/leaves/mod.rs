//! Streams of messages of derived types, each read as if it came alone.
//!
//! A stream begins with a document of a type; each of the following is the one before with a few
//! edits. Every policy must give the value, or the error, that regular mode gives, and must
//! terminate: a stream is read on its own thread, which has a few seconds.

mod edits;
mod found;
mod shapes;
mod stream;

use deltasoap_test_support::Entropy;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any};
use proptest::proptest;
use proptest::sample::Index;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time limit for reading one stream: some ten thousand times the usual time.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a function that must terminate.
///
/// # Panics
/// If the function panics, or does not terminate.
fn within_time(what: String, body: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = channel();
    let worker = thread::spawn(move || {
        body();
        let _ = sender.send(());
    });
    let is_endless = receiver.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
    assert!(!is_endless, "no end: {what}");
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Reads a stream of documents of one type, made from entropy, with leaf checkpoints and with a
/// policy of the papers.
fn check(kind: usize, seed: &[u8], chunks: &[u8]) {
    let kind = &shapes::KINDS[kind];
    let documents = edits::documents(kind.document, &mut Entropy(seed));
    let shown = documents.iter().map(|document| String::from_utf8_lossy(document).into_owned()).collect::<Vec<_>>();
    let (chunks, read) = (chunks.to_vec(), kind.read);
    within_time(format!("chunks {chunks:?}\n{}", shown.join("\n")), move || read(&documents, &chunks));
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_time: 60_000, ..ProptestConfig::default() })]

    #[test]
    fn streams_of_derived_types(kind in any::<Index>(), seed in vec(any::<u8>(), 0..160), chunks in vec(any::<u8>(), 0..48)) {
        check(kind.index(shapes::KINDS.len()), &seed, &chunks);
    }
}

#[test]
fn the_first_documents_are_good() {
    for kind in shapes::KINDS {
        (kind.must_be_good)(kind.document.as_bytes());
    }
}
