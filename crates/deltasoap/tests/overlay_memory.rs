//! The memory of an overlaid message does not grow with its items. A separate program, since every
//! allocation is counted.

use deltasoap::Soap;
use deltasoap::soap::Envelope;
use deltasoap::stream::{Overlay, Streamed};
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

#[derive(Soap)]
#[soap(namespace = "urn:o", message)]
struct Doubles {
    item: Streamed<f64>,
}

#[derive(Soap)]
#[soap(namespace = "urn:o", message)]
struct Texts {
    item: Streamed<String>,
}

const CHUNK: usize = 32 << 10;

/// Returns the bytes written, and the peak of allocated bytes.
fn peak<I: Iterator>(begin: impl FnOnce() -> Overlay<I>) -> (usize, usize)
where
    I::Item: deltasoap::engine::Typed,
{
    ALLOCATOR.reset_peak_memory();
    let (mut overlay, mut bytes) = (begin(), 0);
    while let Some(chunk) = overlay.next_chunk().expect("items that XML can carry") {
        bytes += chunk.len();
    }
    (bytes, ALLOCATOR.get_peak_memory())
}

#[test]
fn memory_is_that_of_a_chunk() {
    let doubles = || {
        let body = Doubles { item: Streamed::default() };
        let items = (0..300_000).map(|n| f64::from(n) / 7.0);
        Overlay::new(&Envelope::new(&body), items, CHUNK).expect("numbers")
    };
    let (bytes, peak_bytes) = peak(doubles);
    assert!(bytes > 200 * CHUNK && peak_bytes < 2 * CHUNK, "{peak_bytes} bytes for a message of {bytes}");
    let texts = || {
        let body = Texts { item: Streamed::default() };
        let items = (0..20_000).map(|n| "text & more ".repeat(n % 50));
        Overlay::new(&Envelope::new(&body), items, CHUNK).expect("plain text")
    };
    let (bytes, peak_bytes) = peak(texts);
    assert!(bytes > 200 * CHUNK && peak_bytes < 2 * CHUNK, "{peak_bytes} bytes for a message of {bytes}");
}
