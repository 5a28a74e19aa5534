//! How long the work on an operation takes, without the time in which its bytes are waited for.

use std::time::{Duration, Instant};

/// Runs while there are bytes to work on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Clock {
    /// Nobody asked.
    #[default]
    Off,
    /// Since then, and for so long before.
    Running(Instant, Duration),
    /// For so long so far.
    Paused(Duration),
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock::Running(Instant::now(), Duration::ZERO)
    }

    /// All bytes received so far are worked off.
    #[inline]
    pub(crate) fn pause(&mut self) {
        if let Clock::Running(since, before) = *self {
            *self = Clock::Paused(before + since.elapsed());
        }
    }

    /// More bytes have come.
    #[inline]
    pub(crate) fn resume(&mut self) {
        if let Clock::Paused(before) = *self {
            *self = Clock::Running(Instant::now(), before);
        }
    }

    /// The time, if somebody asked.
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
