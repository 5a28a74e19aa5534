//! Decides whether and how a message is compressed: by the codec that delivers it soonest.
//!
//! *Toward Characterizing the Performance of SOAP Toolkits* (2.6) finds that compression costs more
//! than writing and transport over a local network together, so that it is "only useful when the
//! network bandwidth is very limited". The break-even point depends on how far messages shrink and
//! how fast, which is [learned](LearnedEffects) from earlier messages of an operation.

use super::options::{Codings, ContentCoding};
use super::throughput::Throughput;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Minimum size in bytes of messages that are compressed: two Ethernet packets are not worth it.
pub(crate) const MIN_COMPRESSED_LENGTH: u64 = 2800;
/// Assumed length of a message whose length is unknown.
const UNKNOWN: u64 = 1 << 20;
/// Length of a frame that a coder fills before it is sent.
const FRAME: f64 = 16.0 * 1024.0;
/// Maximum share of the uncompressed time at which compression is worth the processor time.
pub(super) const MAX_TIME_SHARE: f64 = 0.9;
/// Weight of the latest message in what is learned.
const LATEST: f64 = 0.5;
/// Rate at which the effect of an unused codec is forgotten, so that it is tried again.
const FORGOTTEN: f64 = 1.0 / 256.0;

/// A coding and a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Codec {
    pub(crate) coding: ContentCoding,
    pub(crate) level: u32,
}

/// The effect of a codec on messages.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Effect {
    /// Output bytes for each input byte.
    ratio: f64,
    /// Seconds for each input byte.
    time: f64,
}

impl Effect {
    const fn new(ratio: f64, megabytes_a_second: f64) -> Self {
        Effect { ratio, time: 1e-6 / megabytes_a_second }
    }

    /// Moves towards another effect by a share of the difference.
    fn approach(&mut self, other: Effect, share: f64) {
        self.ratio += share * (other.ratio - self.ratio);
        self.time += share * (other.time - self.time);
    }
}

const COUNT: usize = if cfg!(feature = "zstd") { 4 } else { 2 };

/// All codecs, with their effects on repetitive XML. Most messages shrink less, so each codec is
/// tried where it might pay off.
const CODECS: [(Codec, Effect); COUNT] = [
    (Codec { coding: ContentCoding::Gzip, level: 1 }, Effect::new(0.12, 300.0)),
    (Codec { coding: ContentCoding::Gzip, level: 6 }, Effect::new(0.08, 120.0)),
    #[cfg(feature = "zstd")]
    (Codec { coding: ContentCoding::Zstd, level: 1 }, Effect::new(0.1, 600.0)),
    #[cfg(feature = "zstd")]
    (Codec { coding: ContentCoding::Zstd, level: 3 }, Effect::new(0.08, 400.0)),
];

/// What is known about a message's connection and operation, for
/// [`Compression::ADAPTIVE`](super::Compression::ADAPTIVE).
#[derive(Debug, Clone, Default)]
pub(crate) struct AdaptiveState {
    pub(crate) throughput: Option<Arc<Throughput>>,
    /// The effects of compression on similar messages.
    pub(crate) learned: Option<Arc<LearnedEffects>>,
}

impl AdaptiveState {
    /// Chooses a codec for a message with this length; `None` to send it uncompressed.
    pub(super) fn choose(&self, length: Option<u64>, accepted: Codings) -> Option<Codec> {
        let (throughput, learned) = (self.throughput.as_ref()?, self.learned.as_ref()?);
        throughput.choose(|rate| learned.choose(length, rate, accepted))
    }

    /// Returns true if the results of a message are recorded.
    pub(crate) fn is_interested(&self) -> bool {
        self.learned.is_some()
    }

    /// Records the results of a message: its bytes before and after, the time for compression, and
    /// the time for sending.
    pub(crate) fn note(&self, codec: Codec, (before, after): (u64, u64), coding: Duration, sending: Duration) {
        self.learned.iter().for_each(|learned| learned.note(codec, before, after, coding));
        self.throughput.iter().for_each(|throughput| throughput.note_coded(before, after, sending));
    }
}

/// The effect of each codec on the messages of an operation.
#[derive(Debug)]
pub(crate) struct LearnedEffects {
    effects: Mutex<[Effect; COUNT]>,
    is_refused: AtomicBool,
}

impl Default for LearnedEffects {
    fn default() -> Self {
        LearnedEffects { effects: Mutex::new(CODECS.map(|(_, expected)| expected)), is_refused: AtomicBool::new(false) }
    }
}

impl LearnedEffects {
    /// Gives up: the receiver rejects compressed messages of this operation.
    #[cfg(feature = "client")]
    pub(crate) fn refuse(&self) {
        self.is_refused.store(true, Relaxed);
    }

    /// Chooses a codec for a message with this length, over a connection with this rate in bytes a
    /// second; `None` to send it uncompressed.
    pub(crate) fn choose(&self, length: Option<u64>, rate: f64, accepted: Codings) -> Option<Codec> {
        let length = length.unwrap_or(UNKNOWN);
        if length < MIN_COMPRESSED_LENGTH || self.is_refused.load(Relaxed) {
            return None;
        }
        let mut effects = self.effects();
        let known = CODECS.iter().zip(effects.iter()).map(|((codec, _), effect)| (*codec, *effect));
        let chosen = choose(length as f64, rate, known.filter(|(codec, _)| accepted.contains(codec.coding)));
        for ((codec, expected), effect) in CODECS.iter().zip(effects.iter_mut()) {
            if chosen != Some(*codec) {
                effect.approach(*expected, FORGOTTEN);
            }
        }
        chosen
    }

    /// Records the results of a message: its bytes before and after, and the time for compression.
    pub(crate) fn note(&self, codec: Codec, before: u64, after: u64, time: Duration) {
        let position = CODECS.iter().position(|(other, _)| *other == codec);
        if let Some(position) = position.filter(|_| before > 0) {
            let before = before as f64;
            let seen = Effect { ratio: after as f64 / before, time: time.as_secs_f64() / before };
            self.effects()[position].approach(seen, LATEST);
        }
    }

    fn effects(&self) -> MutexGuard<'_, [Effect; COUNT]> {
        self.effects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the fastest codec, if it takes less time than no compression.
fn choose(length: f64, rate: f64, codecs: impl Iterator<Item = (Codec, Effect)>) -> Option<Codec> {
    let plain = MAX_TIME_SHARE * length / rate;
    let times = codecs.map(|(codec, effect)| (codec, coded(length, rate, effect)));
    let best = times.min_by(|(_, one), (_, other)| one.total_cmp(other));
    best.filter(|(_, time)| *time < plain).map(|(codec, _)| codec)
}

/// Returns the seconds for a message that is compressed frame by frame, each sent while the next is
/// compressed.
fn coded(length: f64, rate: f64, effect: Effect) -> f64 {
    let (coding, sending) = (length * effect.time, length * effect.ratio / rate);
    let frames = (length * effect.ratio / FRAME).max(1.0);
    coding.max(sending) + coding.min(sending) / frames
}

#[cfg(test)]
mod tests {
    use super::*;

    const GZIP: Codec = CODECS[0].0;
    const BEST: Codec = CODECS[1].0;
    const MBIT: f64 = 1e6 / 8.0;

    /// Returns the codecs with these ratios and speeds in MB/s.
    fn known(effects: &[(f64, f64)]) -> impl Iterator<Item = (Codec, Effect)> {
        CODECS.iter().zip(effects).map(|((codec, _), (ratio, speed))| (*codec, Effect::new(*ratio, *speed)))
    }

    #[test]
    fn the_least_time_wins() {
        // Random doubles shrink to less than a half, at 60 and 20 MB/s; text to a tenth, at 300 and
        // 100.
        let (doubles, text) = ([(0.47, 60.0), (0.44, 20.0)], [(0.12, 300.0), (0.08, 100.0)]);
        for (length, rate, effects, expected) in [
            (3.5e6, 1.0, doubles, Some(BEST)),
            (3.5e6, 10.0, doubles, Some(BEST)),
            (3.5e6, 100.0, doubles, Some(GZIP)),
            (3.5e6, 1000.0, doubles, None),
            (3500.0, 1.0, doubles, Some(BEST)),
            (3500.0, 100.0, doubles, Some(GZIP)),
            (3500.0, 1000.0, doubles, None),
            (1e6, 10.0, text, Some(BEST)),
            (1e6, 1000.0, text, Some(GZIP)),
            (1e6, 10_000.0, text, None),
        ] {
            assert_eq!(choose(length, rate * MBIT, known(&effects)), expected, "{length} bytes at {rate} Mbit/s");
        }
        assert_eq!(choose(1e6, MBIT, known(&[])), None);
        assert_eq!(choose(1e6, MBIT, known(&[(1.0, 1000.0)])), None, "nothing shrinks");
    }

    #[test]
    fn a_small_gain_is_not_worth_it() {
        let at = |ratio| choose(1e6, MBIT, known(&[(ratio, 1e6)]));
        assert_eq!((at(0.8), at(0.95)), (Some(GZIP), None));
    }

    #[test]
    fn a_long_message_is_sent_while_it_is_compressed() {
        let effect = Effect::new(0.5, 10.0);
        // 10 MB: a second to compress, a second to send.
        let time = coded(10e6, 5e6, effect);
        assert!((1.0..1.01).contains(&time), "{time}");
        let short = coded(10e3, 5e6, effect);
        assert!((short - 0.002).abs() < 1e-9, "{short}: one after the other");
    }

    #[test]
    fn only_accepted_codings_are_taken_and_short_messages_never() {
        let learned = LearnedEffects::default();
        let gzip = Codings::only(ContentCoding::Gzip);
        let choose = |length, accepted| learned.choose(length, MBIT, accepted);
        assert!(choose(Some(1 << 20), gzip).is_some_and(|codec| codec.coding == ContentCoding::Gzip));
        assert!(choose(None, gzip).is_some());
        assert_eq!(choose(Some(MIN_COMPRESSED_LENGTH - 1), gzip), None);
        assert_eq!(choose(Some(1 << 20), Codings::NONE), None);
    }

    #[test]
    fn what_was_learned_decides_until_it_is_forgotten() {
        let (learned, rate, gzip) = (LearnedEffects::default(), 100.0 * MBIT, Codings::only(ContentCoding::Gzip));
        let choose = || learned.choose(Some(1 << 20), rate, gzip);
        let mut tried = 0;
        // No codec shrinks anything.
        while let Some(codec) = choose() {
            learned.note(codec, 1 << 20, 1 << 20, Duration::from_millis(20));
            tried += 1;
            assert!(tried < 10, "never given up");
        }
        assert!(tried >= 2, "each codec was tried");
        let plain = std::iter::from_fn(|| choose().is_none().then_some(())).take(10_000).count();
        assert!((10..1000).contains(&plain), "tried again after {plain}");
    }

    #[test]
    fn a_faster_network_flips_the_decision() {
        let (learned, gzip) = (LearnedEffects::default(), Codings::only(ContentCoding::Gzip));
        for (codec, _) in &CODECS {
            (0..10).for_each(|_| learned.note(*codec, 1 << 20, 1 << 19, Duration::from_millis(20)));
        }
        let at = |mbit: f64| learned.choose(Some(1 << 20), mbit * MBIT, gzip).is_some();
        assert_eq!([1.0, 10.0, 100.0, 1000.0, 10.0].map(at), [true, true, true, false, true]);
    }
}
