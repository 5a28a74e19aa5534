//! Measures a stream at the servers, message by message.

use super::per_mode::{Mode, PerMode};
use super::reply_recorder::Pieces;
use anyhow::{Result, ensure};
use deltasoap_http::{ServiceStats, StatsSnapshot};
use indicatif::ProgressBar;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Measurements of both services for one stream.
pub struct Meter {
    stats: PerMode<Arc<ServiceStats>>,
    /// Number of this play of the stream: the service that answers a message first in one play
    /// comes second in the next.
    number: u32,
    bar: ProgressBar,
    readings: PerMode<Readings>,
}

/// Measurements of one service for one stream.
#[derive(Debug, Clone, Default)]
pub struct Readings {
    /// Decode time of each message.
    pub decodes: Vec<Duration>,
    /// Time from sending requests to checking their replies, in total.
    pub elapsed: Duration,
    /// Maximum number of bytes held for earlier requests.
    pub memory: u64,
    /// Maximum number of bytes held for templates of responses.
    pub template_memory: u64,
    /// The service's counters. It served only this stream.
    pub totals: StatsSnapshot,
}

impl Meter {
    /// Creates a meter for services that have done nothing yet. `bar` advances with every message.
    pub fn new(stats: PerMode<Arc<ServiceStats>>, number: u32, bar: ProgressBar) -> Self {
        Meter { stats, number, bar, readings: PerMode::default() }
    }

    /// Has both services answer a message, alternating which comes first. `exchange` returns a
    /// reply's bytes, which must be equal for both.
    pub async fn both(&mut self, exchange: impl AsyncFn(Mode) -> Result<Pieces>) -> Result<()> {
        let mut replies = PerMode::<Pieces>::default();
        let modes = [Mode::Regular, Mode::Differential];
        let is_turned = (self.readings.regular.decodes.len() + self.number as usize) % 2 == 1;
        for mode in if is_turned { [modes[1], modes[0]] } else { modes } {
            let begin = Instant::now();
            replies[mode] = exchange(mode).await?;
            self.read(mode, begin.elapsed());
        }
        let is_same = replies.regular.concat() == replies.differential.concat();
        ensure!(is_same, "the replies differ: one does not equal the full encoding");
        self.bar.inc(1);
        Ok(())
    }

    fn read(&mut self, mode: Mode, elapsed: Duration) {
        let (totals, readings) = (self.stats[mode].snapshot(), &mut self.readings[mode]);
        readings.decodes.push(totals.decode_time.saturating_sub(readings.totals.decode_time));
        readings.elapsed += elapsed;
        readings.memory = readings.memory.max(totals.differential.memory);
        readings.template_memory = readings.template_memory.max(totals.template_memory);
        readings.totals = totals;
    }

    /// Returns the measurements.
    pub fn finish(self) -> PerMode<Readings> {
        self.readings
    }
}
