//! Counts what a separate tracking pointer for each stack would save (*Lightweight Checkpointing*,
//! section 3.1).
//!
//! `cargo test -p deltasoap-checkpoints pointers -- --nocapture` prints the figures of
//! `docs/papers.md`.

use super::{Snapshot, Split, Top};
use crate::{Portions, State};
use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{DecodeOptions, Differential, Memory};
use deltasoap::soap::{EnvelopeReader, RequestReceiver};
use deltasoap::types::AnySimple;
use deltasoap::{Message, Soap, SoapArray};
use deltasoap_core::decode::differential::policy::Live;
use deltasoap_streams::{arrays, prng, tr069, vsphere};
use std::cell::Cell;
use std::fmt::{self, Display};
use std::ops::Add;
use std::sync::Arc;

/// Number of entries of one stack that checkpoints keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Entries {
    /// Entries above the shared pointer.
    kept: usize,
    /// The lowest of these that were not popped and equal the base copy, unless that was made just
    /// now: a separate pointer for this stack would lie above them.
    saved: usize,
}

/// The counts for the frames, open elements, declarations, and log of fields seen.
type Counted = [Entries; 4];

thread_local! {
    static COUNTED: Cell<Counted> = Cell::default();
}

/// Adds the entries that a checkpoint keeps.
pub(super) fn count(base: &Arc<Snapshot>, top: &Top, live: &Live<'_>) {
    let (below, from) = (&base.stacks, Split::below(&base.stacks, top.level));
    let (open, bound, seen) = top.others();
    // A frame that is popped takes its elements and log entries with it.
    let is_new = Arc::strong_count(base) == 1;
    let low = if is_new { 0 } else { live.noted().low };
    let stayed = low.saturating_sub(live.base().level()).min(live.frames().len());
    let open_stayed = live.open_below(stayed).saturating_sub(from.open);
    let added = [
        entries(&below.frames[from.frames..], &top.frames, stayed.saturating_sub(from.frames)),
        entries(&below.open[from.open..], open, open_stayed),
        entries(&below.bound[from.bound..], bound, if open_stayed == 0 { 0 } else { usize::MAX }),
        entries(&below.seen[from.seen..], seen, live.seen_below(stayed).saturating_sub(from.seen)),
    ];
    let before = COUNTED.get();
    COUNTED.set(std::array::from_fn(|stack| before[stack] + added[stack]));
}

fn entries<T: PartialEq>(base: &[T], kept: &[T], stayed: usize) -> Entries {
    let saved = base.iter().zip(kept).take(stayed).take_while(|(base, kept)| base == kept).count();
    Entries { kept: kept.len(), saved }
}

impl Add for Entries {
    type Output = Entries;

    fn add(self, other: Entries) -> Entries {
        Entries { kept: self.kept + other.kept, saved: self.saved + other.saved }
    }
}

impl Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.saved, self.kept)
    }
}

#[derive(Debug, Soap)]
#[soap(element = "sendDoubles", namespace = "urn:bench")]
struct SendDoubles {
    item: Vec<f64>,
}

#[derive(Debug, Soap)]
#[soap(element = "sendMios", namespace = "urn:bench")]
struct SendMios {
    item: Vec<Mio>,
}

#[derive(Debug, Soap)]
struct Mio {
    x: i32,
    y: i32,
    v: f64,
}

#[derive(Debug, Soap)]
#[soap(element = "Inform", namespace = "urn:dslforum-org:cwmp-1-0", rename_all = "PascalCase")]
struct Inform {
    device_id: DeviceId,
    event: SoapArray<EventStruct>,
    max_envelopes: u32,
    current_time: String,
    retry_count: u32,
    parameter_list: SoapArray<ParameterValueStruct>,
}

#[derive(Debug, Soap)]
#[soap(rename_all = "PascalCase")]
struct DeviceId {
    manufacturer: String,
    #[soap(name = "OUI")]
    oui: String,
    product_class: String,
    serial_number: String,
}

#[derive(Debug, Soap)]
#[soap(item_name = "EventStruct", rename_all = "PascalCase")]
struct EventStruct {
    event_code: String,
    command_key: String,
}

#[derive(Debug, Soap)]
#[soap(item_name = "ParameterValueStruct", rename_all = "PascalCase")]
struct ParameterValueStruct {
    name: String,
    value: AnySimple,
}

/// A tree of resource pools: nested elements.
#[derive(Debug, Soap)]
#[soap(namespace = "urn:vim25", qualified, element = "FetchResponse")]
struct ResourceResponse {
    returnval: ResourceInfo,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:vim25", qualified)]
struct ResourceInfo {
    key: String,
    config: Option<ResourceConfig>,
    child: Vec<ResourceInfo>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
struct ResourceConfig {
    change_version: Option<String>,
    last_modified: Option<String>,
    cpu_allocation: Allocation,
    memory_allocation: Allocation,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:vim25", qualified, rename_all = "camelCase")]
struct Allocation {
    reservation: Option<i64>,
    expandable_reservation: Option<bool>,
    limit: Option<i64>,
    shares: Option<Shares>,
    overhead_limit: Option<i64>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:vim25", qualified)]
struct Shares {
    shares: i32,
    level: String,
}

/// Returns the counts for a message that is decoded as the first one.
fn counted<T: Message>(message: &[u8], size: u32) -> Counted
where
    Memory<T>: Default,
{
    COUNTED.take();
    let portions = Portions { state: State::Differential, size, ..Portions::default() };
    let differential = Differential { checkpoints: portions.into(), adaptive: false };
    let mut decoder = Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() });
    let mut reader = EnvelopeReader::new(RequestReceiver::new(Box::<Memory<T>>::default()));
    decoder.decode(&mut reader, message).expect("a good message");
    COUNTED.take()
}

/// Everything above the shared pointer was changed, or was popped with its frames.
#[test]
fn own_pointers_would_save_next_to_nothing() {
    let doubles = arrays::message_doubles(&arrays::hard_doubles(10_000));
    let mios = arrays::message_mios(&arrays::mios(3_000));
    let inform = tr069::inform_stream(prng::SEED, 1, 1).next().expect("a message").xml;
    for size in [32, 128, 512] {
        let counts = [
            ("hard doubles", counted::<SendDoubles>(doubles.as_bytes(), size)),
            ("structs", counted::<SendMios>(mios.as_bytes(), size)),
            ("Inform", counted::<Inform>(inform.as_bytes(), size)),
            ("resource pools", counted::<ResourceResponse>(vsphere::resource(), size)),
        ];
        for (name, [frames, open, bound, seen]) in counts {
            println!("N = {size}, {name}: {frames} frames, {open} open elements, {bound} declarations, {seen} words");
            let all = frames + open + bound + seen;
            // The only exception: two interrupts in one start tag.
            let most = if size == 32 && name == "Inform" { all.kept / 8 } else { 0 };
            assert!(all.saved <= most, "{name}: {all}");
        }
    }
}
