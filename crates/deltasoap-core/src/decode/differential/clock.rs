//! A clock for the work on an operation, without the time spent waiting for its bytes.

use std::time::{Duration, Instant};

/// A clock that runs while there are bytes to process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Clock {
    /// Timing was not requested.
    #[default]
    Off,
    /// Running since this instant, with this much time before.
    Running(Instant, Duration),
    /// Paused, with this much time so far.
    Paused(Duration),
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock::Running(Instant::now(), Duration::ZERO)
    }

    /// Pauses the clock: all bytes received so far are processed.
    #[inline]
    pub(crate) fn pause(&mut self) {
        if let Clock::Running(since, before) = *self {
            *self = Clock::Paused(before + since.elapsed());
        }
    }

    /// Resumes the clock: more bytes have arrived.
    #[inline]
    pub(crate) fn resume(&mut self) {
        if let Clock::Paused(before) = *self {
            *self = Clock::Running(Instant::now(), before);
        }
    }

    /// Returns the time, if timing was requested.
    pub(crate) fn stop(&mut self) -> Option<Duration> {
        self.pause();
        match std::mem::take(self) {
            Clock::Paused(time) => Some(time),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_between_pause_and_resume_does_not_count() {
        let mut clock = Clock::start();
        clock.pause();
        let before = clock;
        std::thread::sleep(Duration::from_millis(5));
        clock.resume();
        let time = clock.stop().expect("it was started");
        assert!(matches!(before, Clock::Paused(paused) if time - paused < Duration::from_millis(5)));
        assert_eq!(clock.stop(), None);
    }
}
