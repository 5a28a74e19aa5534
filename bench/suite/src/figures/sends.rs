//! Goals on sending: the part of a message's serialization that a template saves.
//!
//! "Regular" is our own serialization of the same values in full, into a reused buffer, unless a
//! goal says otherwise.

use std::hint::black_box;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use deltasoap::soap::Envelope;
use deltasoap::stream::Overlay;
use deltasoap_streams::prng::{SEED, SplitMix64};
use deltasoap_streams::similar;

use super::goal::Goal;
use super::{Effort, Task};
use crate::allocator;
use crate::definitions::{Definitions, peers_folder};
use crate::engine::{Peer, Session};
use crate::measure::{Figures, measure};
use crate::send::{self, Action, Case, Field, Mode, StreamedDoubles};
use crate::socket::Sink;
use crate::workload::Values;

/// The modes with the same goals.
const MODES: [Mode; 2] = [Mode::Tracked, Mode::Compared];

/// Returns the goals. `peers` is the folder of built peers.
pub fn tasks(effort: Effort, peers: Option<PathBuf>) -> Vec<Task> {
    let mut tasks = content_tasks(effort);
    tasks.extend(structural_tasks(effort));
    tasks.extend(shift_tasks(effort));
    tasks.extend(stuffed_tasks(effort));
    tasks.extend(first_tasks(effort));
    tasks.push(overlay_task(effort));
    let folder = peers.unwrap_or_else(peers_folder);
    tasks.extend(MODES.map(|mode| peer_task(effort, mode, folder.clone())));
    tasks
}

fn task(name: String, measure: impl FnOnce() -> Result<Goal> + 'static) -> Task {
    Task { name, measure: Box::new(measure) }
}

/// Measures cases alternately.
fn by_turns<const N: usize>(effort: Effort, lanes: [(Case, Mode); N]) -> Result<[Figures; N]> {
    let mut sessions = lanes.iter().map(|(case, mode)| send::open(case, *mode, None)).collect::<Result<Vec<_>>>()?;
    numbered(measure(&mut sessions, effort.sample_size, || ())?)
}

fn numbered<const N: usize>(figures: Vec<Figures>) -> Result<[Figures; N]> {
    figures.try_into().ok().context("a lane without figures")
}

/// Returns the ratio of the medians.
fn ratio(one: &Figures, other: &Figures) -> f64 {
    one.ns_median as f64 / other.ns_median.max(1) as f64
}

/// Formats a time with its spread.
fn time(figures: &Figures) -> String {
    let median = figures.ns_median as f64;
    let percent = figures.spread * 100.0;
    match figures.ns_median {
        ..10_000 => format!("{median:.0} ns ± {percent:.0} %"),
        _ => format!("{:.3} ms ± {percent:.0} %", median / 1e6),
    }
}

fn content_tasks(effort: Effort) -> Vec<Task> {
    let case = |n| Case::new(Action::ContentMatch, Values::Hard, n);
    let absolute = move || {
        let [tracked] = by_turns(effort, [(case(effort.n), Mode::Tracked)])?;
        Ok(Goal::at_most(1.0, "µs", tracked.ns_median as f64 / 1e3, time(&tracked)))
    };
    let by_size = move || {
        let few = (effort.n / 100).max(1);
        let [large, small] = by_turns(effort, [(case(effort.n), Mode::Tracked), (case(few), Mode::Tracked)])?;
        let detail = format!("{}, of {few} elements {}", time(&large), time(&small));
        Ok(Goal::at_most(1.5, "× a hundredth of the elements", ratio(&large, &small), detail))
    };
    let compared = move || {
        let [compared, floor] = by_turns(effort, [(case(effort.n), Mode::Compared), (case(effort.n), Mode::Floor)])?;
        let detail = format!("{}, the values' memory {}", time(&compared), time(&floor));
        Ok(Goal::at_most(1.5, "× a comparison of the values' memory", ratio(&compared, &floor), detail))
    };
    vec![
        task("send, content match, tracked".to_owned(), absolute),
        task("send, content match, tracked, by size".to_owned(), by_size),
        task("send, content match, compared".to_owned(), compared),
    ]
}

fn structural_tasks(effort: Effort) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (percent, bound) in [(25, 0.30), (50, 0.55), (75, 0.80), (100, 1.0)] {
        for partitions in if percent == 100 { &[1][..] } else { &[1, 100] } {
            let case = Case::new(Action::Structural, Values::Hard, effort.n).changed(percent);
            let case = Case { partitions: *partitions, ..case };
            let name = |mode: Mode| format!("send, structural, P = {percent} %, T = {partitions}, {}", mode.name());
            tasks.extend(MODES.map(|mode| ratio_task(effort, name(mode), (case, mode), bound)));
        }
    }
    tasks
}

fn shift_tasks(effort: Effort) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (values, width, name) in [(Values::Hard, 1, "doubles"), (Values::Structs, 3, "structs")] {
        for chunk in [8 << 10, 32 << 10] {
            let case = Case { chunk, ..Case::new(Action::Shift { width }, values, effort.n) };
            let name = |mode: Mode| format!("send, worst shift, {name}, {} KiB chunks, {}", chunk >> 10, mode.name());
            tasks.extend(MODES.map(|mode| ratio_task(effort, name(mode), (case, mode), 1.3)));
        }
    }
    tasks
}

/// Goals on values that grow within fields of maximum width.
fn stuffed_tasks(effort: Effort) -> Vec<Task> {
    let action = Action::Stuffed { width: 18, over: 10, field: Field::Maximal };
    let task = |percent| {
        let case = Case::new(action, Values::Hard, effort.n).changed(percent);
        ratio_task(effort, format!("send, stuffed, P = {percent} %, other lengths"), (case, Mode::Compared), 1.0)
    };
    vec![task(25), task(50)]
}

/// A goal on the time relative to the same message in full.
fn ratio_task(effort: Effort, name: String, (case, mode): (Case, Mode), bound: f64) -> Task {
    task(name, move || {
        let [ours, regular] = by_turns(effort, [(case, mode), (case, Mode::Regular)])?;
        let detail = format!("{}, regular {}", time(&ours), time(&regular));
        Ok(Goal::at_most(bound, "× regular", ratio(&ours, &regular), detail).within(ours.interval.by(regular.interval)))
    })
}

/// Neither has memory from an earlier message; a reused buffer is shown for information.
fn first_tasks(effort: Effort) -> Vec<Task> {
    let first = Case::new(Action::First, Values::Hard, effort.n);
    let again = Case::new(Action::ContentMatch, Values::Hard, effort.n);
    let warm = move || {
        let [ours, regular] = by_turns(effort, [(first, Mode::Compared), (again, Mode::Regular)])?;
        let detail = format!("{}, regular {}", time(&ours), time(&regular));
        Ok(Goal::reported("× regular", ratio(&ours, &regular), detail))
    };
    vec![
        ratio_task(effort, "send, first message, regular into a new buffer".to_owned(), (first, Mode::Compared), 1.1),
        task("send, first message, regular into a used buffer".to_owned(), warm),
    ]
}

/// The items are created on demand, so only the message takes memory.
fn overlay_task(effort: Effort) -> Task {
    let n = effort.n * 100;
    task(format!("send, memory of {n} overlaid doubles"), move || {
        let (bytes, peak) = allocator::peak_of(|| overlaid_bytes(n));
        let detail = format!("{peak} bytes at most, of a message of {}", bytes?);
        Ok(Goal::at_most(4.0, "MiB beyond the data", peak as f64 / f64::from(1 << 20), detail))
    })
}

/// Writes a message through a chunk of the usual size; returns its length.
fn overlaid_bytes(n: usize) -> Result<u64> {
    let mut random = SplitMix64::new(SEED);
    let items = std::iter::repeat_with(|| similar::hard_double(&mut random)).take(n);
    let body = StreamedDoubles::default();
    let mut overlay = Overlay::new(&Envelope::new(&body), items, send::CHUNK)?;
    let mut bytes = 0;
    while let Some(chunk) = overlay.next_chunk()? {
        bytes += black_box(chunk).len() as u64;
    }
    // Each item has at least its tags.
    ensure!(bytes > n as u64 * 14, "items are missing");
    Ok(bytes)
}

/// A goal from end to end: until the system has the last byte of an unchanged message.
fn peer_task(effort: Effort, mode: Mode, folder: PathBuf) -> Task {
    const GOAL: f64 = 20.0;
    task(format!("send, content match over a socket, {}, beside gSOAP", mode.name()), move || {
        let mut peer = match gsoap(&folder) {
            Ok(peer) => peer,
            Err(error) => return Ok(Goal::unknown(&format!("at least {GOAL} times as fast"), format!("{error:#}"))),
        };
        let [ours, gsoap] = over_socket(effort, mode, &mut peer)?;
        let detail = format!("{}, gSOAP {}", time(&ours), time(&gsoap));
        Ok(Goal::at_least(GOAL, "times as fast", ratio(&gsoap, &ours), detail))
    })
}

fn gsoap(folder: &std::path::Path) -> Result<Peer> {
    let definitions = Definitions::load()?;
    let definition = definitions.peers.iter().find(|peer| peer.name == "gsoap").context("no peer is named gsoap")?;
    Peer::start(definition, folder)
}

fn over_socket(effort: Effort, mode: Mode, peer: &mut Peer) -> Result<[Figures; 2]> {
    let sink = Sink::start()?;
    let case = Case::new(Action::ContentMatch, Values::Hard, effort.n);
    let ours = send::open(&case, mode, Some(sink.address()))?;
    let mut sessions: [Box<dyn Session>; 2] = [ours, peer.prepare_send(Values::Hard, effort.n, sink.address())?];
    numbered(measure(&mut sessions, effort.sample_size, || ())?)
}
