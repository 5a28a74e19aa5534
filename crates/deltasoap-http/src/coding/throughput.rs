//! How fast a connection takes bytes: measured at its socket, without a clock of its own.
//!
//! A system accepts bytes much faster than a network carries them, until its buffer is full. So only what is accepted between two
//! moments at which the buffer was full says something: as many bytes left it in that time. A writer that pauses in between, since it
//! computes, lets the buffer run empty; where most of the time was not waiting for room, the stretch does not count.
//!
//! A network that has become faster never fills the buffer with what is compressed. But whoever asks for more has
//! received what was sent before. If that was sooner than the rate allows, or if long messages no longer fill the buffer, the rate is forgotten,
//! and what follows is sent as over a connection of which nothing is known.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// Bytes that have to be measured before there is a rate; a shaper may let some more pass at once.
const KNOWN: f64 = 64.0 * 1024.0;
/// Bytes after which what was measured before counts half.
const MEMORY: f64 = 256.0 * 1024.0;
/// A rate is forgotten if so many times as much gets through, or after so many long messages that never filled the buffer.
const FASTER: f64 = 1.25;
const UNCONFIRMED: u32 = 64;

/// The throughput of one direction of a connection, shared by what writes to the socket and by those who decide what is written.
///
/// Nothing is measured before somebody asks for the [`rate`](Self::rate).
#[derive(Debug, Default)]
pub(crate) struct Throughput {
    is_watched: AtomicBool,
    state: Mutex<State>,
}

/// A connection's throughput among the extensions of its responses.
#[derive(Debug, Clone, Default)]
pub(crate) struct Link(pub(crate) Arc<Throughput>);

#[derive(Debug, Default)]
struct State {
    measured: Measured,
    full: Option<Full>,
    /// Long messages since the last measurement, which was in the first of them.
    unconfirmed: u32,
    /// Bytes written since the other end last said something, and when the first of them were.
    sent: u64,
    first: Option<Instant>,
}

/// A time since the buffer was full.
#[derive(Debug)]
struct Full {
    since: Instant,
    /// When there was room again.
    freed: Option<Instant>,
    /// Accepted since.
    bytes: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Measured {
    bytes: f64,
    seconds: f64,
}

impl Throughput {
    /// Bytes a second; `None` if not enough is known.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.is_watched.store(true, Relaxed);
        self.state().measured.rate()
    }

    /// Takes the result of an attempt to write.
    pub(crate) fn note_write<E>(&self, written: &Poll<Result<usize, E>>) {
        if self.is_watched.load(Relaxed) {
            match written {
                Poll::Ready(Ok(bytes)) => self.state().accepted(*bytes as u64, Instant::now()),
                Poll::Ready(Err(_)) => {}
                Poll::Pending => self.state().blocked(Instant::now()),
            }
        }
    }

    /// The other end goes on after it has received what was written.
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
    /// Bytes were accepted.
    fn accepted(&mut self, bytes: u64, now: Instant) {
        self.sent += bytes;
        self.first.get_or_insert(now);
        if let Some(full) = &mut self.full {
            full.freed.get_or_insert(now);
            full.bytes += bytes;
        }
    }

    /// None were, since the buffer is full.
    fn blocked(&mut self, now: Instant) {
        let full = self.full.get_or_insert(Full { since: now, freed: None, bytes: 0 });
        let Some(freed) = full.freed else { return };
        let (waited, elapsed) = (freed.duration_since(full.since), now.duration_since(full.since));
        if 2 * waited >= elapsed {
            self.measured.add(full.bytes, elapsed);
            self.unconfirmed = 0;
        }
        self.full = Some(Full { since: now, freed: None, bytes: 0 });
    }

    /// Everything was received.
    fn turn(&mut self, now: Instant) {
        let (first, sent) = (self.first.take(), std::mem::take(&mut self.sent));
        self.full = None;
        let passed = first.and_then(|first| Measured::of(sent, now.duration_since(first)).rate());
        if let (Some(passed), Some(rate)) = (passed, self.measured.rate()) {
            self.unconfirmed += 1;
            if passed > FASTER * rate || self.unconfirmed > UNCONFIRMED {
                (self.measured, self.unconfirmed) = (Measured::default(), 0);
            }
        }
    }
}

impl Measured {
    fn of(bytes: u64, elapsed: Duration) -> Self {
        Measured { bytes: bytes as f64, seconds: elapsed.as_secs_f64() }
    }

    fn rate(self) -> Option<f64> {
        (self.bytes >= KNOWN && self.seconds > 0.0).then(|| self.bytes / self.seconds)
    }

    /// So many bytes took this long.
    fn add(&mut self, bytes: u64, elapsed: Duration) {
        self.bytes += bytes as f64;
        self.seconds += elapsed.as_secs_f64();
        if self.bytes > MEMORY {
            let share = MEMORY / 2.0 / self.bytes;
            (self.bytes, self.seconds) = (share * self.bytes, share * self.seconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const KIB: u64 = 1 << 10;

    /// A socket with room for 64 KiB, from which so many KiB leave each millisecond, in virtual time.
    struct Socket {
        state: State,
        now: Instant,
        held: u64,
        rate: u64,
    }

    impl Socket {
        fn new(rate: u64) -> Self {
            Socket { state: State::default(), now: Instant::now(), held: 0, rate: rate * KIB }
        }

        fn pass(&mut self, millis: u32) {
            self.now += millis * MS;
            self.held = self.held.saturating_sub(u64::from(millis) * self.rate);
        }

        /// Writes a message; the writer computes for so long between two pieces of 16 KiB.
        fn write(&mut self, mut bytes: u64, pause: u32) {
            while bytes > 0 {
                let piece = bytes.min(64 * KIB - self.held).min(16 * KIB);
                if piece == 0 {
                    self.state.blocked(self.now);
                    // Room is reported when there is some more of it.
                    self.pass(u32::try_from(20 * KIB / self.rate).expect("it fits") + 1);
                    continue;
                }
                self.state.accepted(piece, self.now);
                (self.held, bytes) = (self.held + piece, bytes - piece);
                self.pass(pause);
            }
        }

        /// The other end receives the rest, and asks for more after a while.
        fn turn(&mut self, think: u32) {
            let left = u32::try_from(self.held.div_ceil(self.rate)).expect("it fits");
            self.pass(left + think);
            self.state.turn(self.now);
        }

        fn rate(&self) -> Option<f64> {
            self.state.measured.rate().map(|rate| rate / 1024e3)
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
            // However long the other end waits.
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
        // A slow reader is no reason to doubt it.
        socket.write(64 * KIB, 0);
        socket.turn(1000);
        assert_near(socket.rate(), 1.0);
        socket.rate = 64 * KIB;
        // Too little to tell from a burst.
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
                socket.turn(1000);
            }
        };
        // Short messages would not fill the buffer of any network.
        messages(&mut socket, 1000, 10 * KIB);
        messages(&mut socket, UNCONFIRMED - 1, 64 * KIB);
        assert_near(socket.rate(), 1.0);
        messages(&mut socket, 1, 64 * KIB);
        assert_eq!(socket.rate(), None);
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
        assert_eq!(throughput.rate(), None);
        write(Poll::Ready(Ok(5)));
        write(Poll::Pending);
        assert_eq!(seen(), (5, true));
        throughput.note_turn();
        assert_eq!(seen(), (0, false));
    }
}
