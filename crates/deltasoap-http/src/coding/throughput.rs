//! The rate at which a connection takes bytes: measured at its socket, without a timer of its own.
//!
//! A system accepts bytes much faster than a network carries them, until its buffer is full. So a
//! measurement covers the bytes accepted between two moments at which the buffer was full: as many
//! bytes left it in that time. A writer that pauses in between to compute lets the buffer run
//! empty; unless it waited for room for most of the time, the stretch does not count. On a busy
//! machine a writer may run late when there is room, and the buffer runs empty too: so the fastest
//! of the last stretches counts.
//!
//! If a network has become faster, compressed messages never fill the buffer. But a peer that
//! continues has usually received what was sent before. If that was sooner than the rate
//! allows, or if long messages no longer fill the buffer, or if nothing was measured for a minute,
//! the rate is forgotten, and messages are sent as over an unknown connection.
//!
//! What looks like a slow network may be a receiver that needs time to process its input. Then
//! compression gains nothing: the message itself arrives at the same rate as without. A connection
//! for which that is known gets plain messages, until it has become slower, or for a number of
//! messages.

use super::adaptive::{Codec, MAX_TIME_SHARE};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// Minimum number of bytes measured for a rate; a shaper may let some more pass at once.
const KNOWN: u64 = 64 << 10;
/// Number of rates of which the highest counts.
const LAST: usize = 4;
/// A rate is forgotten if this many times as much gets through, after this number of long messages
/// that never filled the buffer, or after this time without a measurement.
const FASTER: f64 = 1.25;
const UNCONFIRMED: u32 = 64;
const AGE: Duration = Duration::from_secs(60);
/// Number of messages after which compression that gained nothing is tried again.
const TRIED: u32 = 64;

/// The throughput of one direction of a connection, shared by the writer of the socket and by the
/// code that decides about compression.
///
/// Nothing is measured before the first call of [`rate`](Self::rate) or [`choose`](Self::choose).
#[derive(Debug, Default)]
pub(crate) struct Throughput {
    is_watched: AtomicBool,
    state: Mutex<State>,
}

/// A connection's throughput, as an extension of its responses.
#[derive(Debug, Clone, Default)]
pub(crate) struct Link(pub(crate) Arc<Throughput>);

#[derive(Debug, Default)]
struct State {
    measured: Measured,
    full: Option<Full>,
    /// Number of long messages since the last measurement, counting the one in which it was made.
    unconfirmed: u32,
    /// Number of bytes written since the peer's last message, and the time of the first of them.
    sent: u64,
    first: Option<Instant>,
    /// True if the current or last message is compressed.
    is_coded: bool,
    /// The last measured rate of plain messages, and that of compressed ones since.
    plain: Option<f64>,
    coded: Option<f64>,
    useless: Option<Useless>,
}

/// A stretch that began when the buffer was full.
#[derive(Debug)]
struct Full {
    since: Instant,
    /// The time at which there was room again.
    freed: Option<Instant>,
    /// Number of bytes accepted since.
    bytes: u64,
}

/// The finding that compression gained nothing.
#[derive(Debug)]
struct Useless {
    /// Bytes a second of messages before compression.
    achieved: f64,
    /// Number of messages to which this still applies.
    left: u32,
}

/// The latest rates.
#[derive(Debug, Default)]
struct Measured {
    /// Bytes a second, each over [`KNOWN`] bytes or more; 0 for those not measured yet.
    rates: [f64; LAST],
    oldest: usize,
    /// The end of the last measurement.
    at: Option<Instant>,
    /// Data for the next rate.
    bytes: u64,
    elapsed: Duration,
    is_coded: bool,
}

impl Throughput {
    /// Returns the rate in bytes a second; `None` if not enough is known.
    #[cfg(feature = "client")]
    pub(crate) fn rate(&self) -> Option<f64> {
        self.is_watched.store(true, Relaxed);
        self.state().rate(Instant::now())
    }

    /// Chooses a codec for the next message by the rate of a plain one in bytes a second; `None`
    /// for a plain message.
    pub(crate) fn choose(&self, by: impl FnOnce(f64) -> Option<Codec>) -> Option<Codec> {
        self.is_watched.store(true, Relaxed);
        let rate = self.state().plain_rate(Instant::now());
        let codec = rate.and_then(by);
        self.state().is_coded = codec.is_some();
        codec
    }

    /// Records the result of an attempt to write.
    pub(crate) fn note_write<E>(&self, written: &Poll<Result<usize, E>>) {
        if self.is_watched.load(Relaxed) {
            match written {
                Poll::Ready(Ok(bytes)) => self.state().accepted(*bytes as u64, Instant::now()),
                Poll::Ready(Err(_)) => {}
                Poll::Pending => self.state().blocked(Instant::now()),
            }
        }
    }

    /// Records a compressed message that was written: its bytes before and after, and the time
    /// taken, without the time in which it waited for its content.
    pub(crate) fn note_coded(&self, before: u64, after: u64, took: Duration) {
        self.state().coded(before, after, took);
    }

    /// Records that the peer continues, which it usually does once it has received what was
    /// written. If it continues sooner, the rate may be forgotten unnecessarily.
    pub(crate) fn note_turn(&self) {
        if self.is_watched.load(Relaxed) {
            self.state().turn(Instant::now());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn rate(&mut self, now: Instant) -> Option<f64> {
        if self.measured.at.is_some_and(|at| now.saturating_duration_since(at) > AGE) {
            self.forget();
        }
        self.measured.rate()
    }

    /// Returns the rate, unless compression is known to gain nothing.
    fn plain_rate(&mut self, now: Instant) -> Option<f64> {
        let rate = self.rate(now)?;
        let Some(useless) = &mut self.useless else { return Some(rate) };
        let is_faster = MAX_TIME_SHARE * useless.achieved > rate;
        useless.left -= 1;
        if useless.left == 0 {
            self.useless = None;
        }
        is_faster.then_some(rate)
    }

    /// Records that bytes were accepted.
    fn accepted(&mut self, bytes: u64, now: Instant) {
        self.sent += bytes;
        self.first.get_or_insert(now);
        if let Some(full) = &mut self.full {
            full.freed.get_or_insert(now);
            full.bytes += bytes;
        }
    }

    /// Records that the buffer is full.
    fn blocked(&mut self, now: Instant) {
        let full = self.full.get_or_insert(Full { since: now, freed: None, bytes: 0 });
        let Some(freed) = full.freed else { return };
        let (waited, elapsed) = (freed.duration_since(full.since), now.duration_since(full.since));
        let bytes = full.bytes;
        self.full = Some(Full { since: now, freed: None, bytes: 0 });
        if 2 * waited >= elapsed {
            self.unconfirmed = 0;
            match self.measured.add(bytes, elapsed, self.is_coded, now) {
                Some(rate) if self.is_coded => self.coded = Some(self.coded.map_or(rate, |coded| coded.max(rate))),
                Some(_) => (self.plain, self.coded) = (self.measured.rate(), None),
                None => {}
            }
        }
    }

    fn coded(&mut self, before: u64, after: u64, took: Duration) {
        // Messages that fit in the buffers give no measurement.
        if after < KNOWN {
            return;
        }
        let arrived = self.coded.take().map_or(f64::INFINITY, |rate| rate * before as f64 / after as f64);
        let achieved = arrived.min(before as f64 / took.as_secs_f64());
        if self.plain.is_some_and(|plain| MAX_TIME_SHARE * achieved <= plain) {
            self.useless = Some(Useless { achieved, left: TRIED });
            self.forget();
        }
    }

    fn turn(&mut self, now: Instant) {
        let (first, sent) = (self.first.take(), std::mem::take(&mut self.sent));
        self.full = None;
        let passed = first.and_then(|first| rate(sent, now.duration_since(first)));
        if let (Some(passed), Some(rate)) = (passed, self.measured.rate()) {
            self.unconfirmed += 1;
            if passed > FASTER * rate || self.unconfirmed > UNCONFIRMED {
                self.forget();
            }
        }
    }

    fn forget(&mut self) {
        self.measured = Measured::default();
        (self.unconfirmed, self.plain, self.coded) = (0, None, None);
    }
}

impl Measured {
    fn rate(&self) -> Option<f64> {
        let highest = self.rates.iter().copied().fold(0.0, f64::max);
        (highest > 0.0).then_some(highest)
    }

    /// Adds the time taken by bytes of a plain or compressed message. Returns a new rate, if there
    /// is one.
    fn add(&mut self, bytes: u64, elapsed: Duration, is_coded: bool, now: Instant) -> Option<f64> {
        if self.is_coded != is_coded {
            (self.bytes, self.elapsed, self.is_coded) = (0, Duration::ZERO, is_coded);
        }
        self.bytes += bytes;
        self.elapsed += elapsed;
        let rate = rate(self.bytes, self.elapsed)?;
        self.rates[self.oldest] = rate;
        self.oldest = (self.oldest + 1) % LAST;
        self.at = Some(now);
        (self.bytes, self.elapsed) = (0, Duration::ZERO);
        Some(rate)
    }
}

/// Returns the bytes a second, if there are enough bytes.
fn rate(bytes: u64, elapsed: Duration) -> Option<f64> {
    (bytes >= KNOWN && !elapsed.is_zero()).then(|| bytes as f64 / elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::options::Codings;
    use crate::coding::{ContentCoding, LearnedEffects};

    const MS: Duration = Duration::from_millis(1);
    const KIB: u64 = 1 << 10;

    /// A socket with room for 64 KiB, which sends `rate` KiB each millisecond, in virtual time.
    struct Socket {
        state: State,
        now: Instant,
        held: u64,
        rate: u64,
        late: u32,
    }

    impl Socket {
        fn new(rate: u64) -> Self {
            Socket { state: State::default(), now: Instant::now(), held: 0, rate: rate * KIB, late: 0 }
        }

        fn pass(&mut self, millis: u32) {
            self.now += millis * MS;
            self.held = self.held.saturating_sub(u64::from(millis) * self.rate);
        }

        /// Writes a message in frames of 16 KiB; the writer computes for `pause` after each.
        fn write(&mut self, mut bytes: u64, pause: u32) {
            while bytes > 0 {
                let mut frame = bytes.min(16 * KIB);
                bytes -= frame;
                while frame > 0 {
                    let piece = frame.min(64 * KIB - self.held);
                    if piece == 0 {
                        self.state.blocked(self.now);
                        // Room is reported only when there is a certain amount, and the writer may
                        // run late.
                        self.pass(u32::try_from(20 * KIB / self.rate).expect("it fits") + 1 + self.late);
                        continue;
                    }
                    self.state.accepted(piece, self.now);
                    (self.held, frame) = (self.held + piece, frame - piece);
                }
                self.pass(pause);
            }
        }

        /// The peer receives the rest, and continues after a while.
        fn turn(&mut self, think: u32) {
            let left = u32::try_from(self.held.div_ceil(self.rate)).expect("it fits");
            self.pass(left + think);
            self.state.turn(self.now);
        }

        fn rate(&mut self) -> Option<f64> {
            self.state.rate(self.now).map(|rate| rate / 1024e3)
        }
    }

    #[track_caller]
    fn assert_near(rate: Option<f64>, expected: f64) {
        assert!(rate.is_some_and(|rate| (rate / expected - 1.0).abs() < 0.1), "{rate:?}, not {expected}");
    }

    #[test]
    fn what_fits_in_the_buffer_says_nothing() {
        let mut socket = Socket::new(1);
        for _ in 0..100 {
            socket.write(60 * KIB, 0);
            socket.turn(1);
        }
        assert_eq!(socket.rate(), None);
    }

    #[test]
    fn the_rate_is_that_of_the_network() {
        for rate in [1, 2, 5, 10] {
            let mut socket = Socket::new(rate);
            socket.write(1000 * KIB, 0);
            assert_near(socket.rate(), rate as f64);
            // The peer may wait for any time.
            socket.turn(10_000);
            socket.write(1000 * KIB, 0);
            assert_near(socket.rate(), rate as f64);
        }
    }

    #[test]
    fn a_slow_writer_is_no_slow_network() {
        let mut socket = Socket::new(10);
        socket.write(1000 * KIB, 20);
        assert_eq!(socket.rate(), None);
        socket.write(1000 * KIB, 0);
        assert_near(socket.rate(), 10.0);
        socket.write(1000 * KIB, 100);
        assert_near(socket.rate(), 10.0);
    }

    #[test]
    fn another_rate_is_noticed() {
        let mut socket = Socket::new(10);
        socket.write(1000 * KIB, 0);
        socket.rate = KIB;
        socket.write(1000 * KIB, 0);
        assert_near(socket.rate(), 1.0);
        socket.rate = 10 * KIB;
        socket.write(2000 * KIB, 0);
        assert_near(socket.rate(), 10.0);
    }

    #[test]
    fn a_rate_that_is_too_low_is_forgotten() {
        let mut socket = Socket::new(1);
        socket.write(1000 * KIB, 0);
        socket.turn(0);
        // A slow reader does not invalidate the rate.
        socket.write(64 * KIB, 0);
        socket.turn(1000);
        assert_near(socket.rate(), 1.0);
        socket.rate = 64 * KIB;
        // Too little to distinguish it from a burst.
        socket.write(32 * KIB, 0);
        socket.turn(0);
        assert_near(socket.rate(), 1.0);
        socket.write(64 * KIB, 0);
        socket.turn(3);
        assert_eq!(socket.rate(), None);
    }

    #[test]
    fn a_rate_that_nothing_confirms_is_forgotten() {
        let mut socket = Socket::new(1);
        socket.write(1000 * KIB, 0);
        socket.turn(0);
        let messages = |socket: &mut Socket, count, bytes| {
            for _ in 0..count {
                socket.write(bytes, 0);
                socket.turn(500);
            }
        };
        // Short messages would not fill the buffer of any network.
        messages(&mut socket, 50, 10 * KIB);
        assert_near(socket.rate(), 1.0);
        let mut other = Socket::new(1);
        other.write(1000 * KIB, 0);
        other.turn(0);
        messages(&mut other, UNCONFIRMED - 1, 64 * KIB);
        assert_near(other.rate(), 1.0);
        messages(&mut other, 1, 64 * KIB);
        assert_eq!(other.rate(), None);
        // Neither do messages that shrink to this length.
        messages(&mut socket, 80, 10 * KIB);
        assert_eq!(socket.rate(), None, "too long ago");
    }

    #[test]
    fn a_busy_machine_is_no_slow_network() {
        let mut socket = Socket::new(10);
        for _ in 0..20 {
            socket.late = 0;
            socket.write(400 * KIB, 0);
            assert_near(socket.rate(), 10.0);
            // The buffer runs empty, and nothing is sent for most of the time.
            socket.late = 50;
            socket.write(150 * KIB, 0);
            assert_near(socket.rate(), 10.0);
        }
        socket.write(1000 * KIB, 0);
        assert!(socket.rate().is_some_and(|rate| rate < 2.0), "it cannot be told if it always is");
    }

    /// The path to a peer, in virtual time: a network and a receiver. They take this many KiB each
    /// millisecond; the receiver's are those of the message itself.
    struct Path {
        socket: Socket,
        learned: LearnedEffects,
        network: u64,
        receiver: u64,
        /// Milliseconds for a compressed frame of 16 KiB, and how many of them the writer has the
        /// processor.
        frame: u32,
        own: u32,
    }

    const LENGTH: u64 = 1024 * KIB;
    const SHRUNK: u64 = LENGTH / 4;

    impl Path {
        fn new(network: u64, receiver: u64) -> Self {
            Path {
                socket: Socket::new(network),
                learned: LearnedEffects::default(),
                network,
                receiver,
                frame: 1,
                own: 1,
            }
        }

        /// Sends a message. Returns true if it was compressed.
        fn send(&mut self) -> bool {
            let socket = &mut self.socket;
            let begun = socket.now;
            let gzip = Codings::only(ContentCoding::Gzip);
            let rate = socket.state.plain_rate(begun);
            let codec = rate.and_then(|rate| self.learned.choose(Some(LENGTH), rate, gzip));
            socket.state.is_coded = codec.is_some();
            match codec {
                None => {
                    socket.rate = self.network.min(self.receiver) * KIB;
                    socket.write(LENGTH, 0);
                }
                Some(codec) => {
                    socket.rate = (self.network * KIB).min(self.receiver * KIB * SHRUNK / LENGTH);
                    socket.write(SHRUNK, self.frame);
                    let frames = u32::try_from(SHRUNK / (16 * KIB)).expect("it fits");
                    self.learned.note(codec, LENGTH, SHRUNK, frames * self.own * MS);
                    socket.state.coded(LENGTH, SHRUNK, socket.now - begun);
                }
            }
            socket.turn(1);
            codec.is_some()
        }

        /// Returns the number of compressed messages among the next `of`.
        fn coded(&mut self, of: usize) -> usize {
            (0..of).filter(|_| self.send()).count()
        }
    }

    #[test]
    fn messages_are_compressed_over_a_slow_network_until_it_is_fast() {
        let mut path = Path::new(1, 1000);
        (path.frame, path.own) = (2, 2);
        assert_eq!(path.coded(1), 0, "nothing is known");
        assert_eq!(path.coded(100), 100);
        // This is faster than the writer compresses.
        path.network = 128;
        assert!(path.coded(10) <= 2, "what is compressed arrives too soon");
        assert_eq!(path.coded(100), 0);
        path.network = 1;
        assert_eq!((path.coded(1), path.coded(100)), (0, 100), "measured with one that is plain");
    }

    #[test]
    fn a_slow_receiver_is_no_slow_network() {
        let mut path = Path::new(1000, 1);
        // A compressed message is tried now and then.
        let coded = path.coded(500);
        assert!((1..=500 / TRIED as usize + 1).contains(&coded), "{coded}");
        // Now the network is slow, which the next trial shows.
        (path.network, path.receiver) = (1, 1000);
        path.coded(TRIED as usize + 2);
        assert_eq!(path.coded(100), 100);
    }

    #[test]
    fn compression_on_a_busy_processor_gains_nothing() {
        let mut path = Path::new(5, 1000);
        assert_eq!((path.coded(1), path.coded(20)), (0, 20));
        // A frame takes as long as its 64 KiB of the message would over the network, and for most
        // of that time others have the processor.
        path.frame = 13;
        let coded = path.coded(500);
        assert!(coded <= 500 / TRIED as usize + 2, "{coded}");
    }

    #[test]
    fn what_was_useless_is_tried_again_over_a_slower_network() {
        let mut path = Path::new(1000, 4);
        assert!(path.coded(4) >= 1);
        // The compressed messages arrived at a higher rate than this network carries.
        path.network = 1;
        let plain = std::iter::from_fn(|| (!path.send()).then_some(())).count();
        assert!(plain <= 2, "{plain}");
    }

    #[test]
    fn nothing_is_measured_before_it_is_asked_for() {
        let throughput = Throughput::default();
        let write = |bytes| throughput.note_write::<()>(&bytes);
        let seen = || {
            let state = throughput.state();
            (state.sent, state.full.is_some())
        };
        write(Poll::Ready(Ok(5)));
        assert_eq!(seen(), (0, false));
        assert_eq!(throughput.choose(|_| panic!("there is no rate")), None);
        write(Poll::Ready(Ok(5)));
        write(Poll::Pending);
        assert_eq!(seen(), (5, true));
        throughput.note_turn();
        assert_eq!(seen(), (0, false));
    }
}
