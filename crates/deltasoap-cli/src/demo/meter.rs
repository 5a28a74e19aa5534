//! Measures a stream at the servers, message by message.

use super::both::{Both, Way};
use super::tap::Pieces;
use anyhow::{Result, ensure};
use deltasoap_http::{ServiceStats, StatsSnapshot};
use indicatif::ProgressBar;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What both services did for a stream so far.
pub struct Meter {
    stats: Both<Arc<ServiceStats>>,
    /// Which play of the stream it is: who answers a message first in one comes second in the next.
    number: u32,
    bar: ProgressBar,
    readings: Both<Readings>,
}

/// What one service did for a stream.
#[derive(Debug, Clone, Default)]
pub struct Readings {
    /// Time of decoding each message.
    pub decodes: Vec<Duration>,
    /// From sending requests to having their replies checked, all together.
    pub elapsed: Duration,
    /// The most bytes of earlier requests that were held.
    pub memory: u64,
    /// The most bytes of templates of responses that were held.
    pub template_memory: u64,
    /// The service's counters. It served this stream alone.
    pub totals: StatsSnapshot,
}

impl Meter {
    /// A meter of services that did nothing yet. `bar` goes on with every message.
    pub fn new(stats: Both<Arc<ServiceStats>>, number: u32, bar: ProgressBar) -> Self {
        Meter { stats, number, bar, readings: Both::default() }
    }

    /// Lets both services answer a message, by turns first. `exchange` gives a reply's bytes: both
    /// must have the same.
    pub async fn both(&mut self, exchange: impl AsyncFn(Way) -> Result<Pieces>) -> Result<()> {
        let mut replies = Both::<Pieces>::default();
        let ways = [Way::Regular, Way::Differential];
        let is_turned = (self.readings.regular.decodes.len() + self.number as usize) % 2 == 1;
        for way in if is_turned { [ways[1], ways[0]] } else { ways } {
            let begin = Instant::now();
            replies[way] = exchange(way).await?;
            self.read(way, begin.elapsed());
        }
        let is_same = replies.regular.concat() == replies.differential.concat();
        ensure!(is_same, "the replies differ: one is not what writing in full gives");
        self.bar.inc(1);
        Ok(())
    }

    fn read(&mut self, way: Way, elapsed: Duration) {
        let (totals, readings) = (self.stats[way].snapshot(), &mut self.readings[way]);
        readings.decodes.push(totals.decode_time.saturating_sub(readings.totals.decode_time));
        readings.elapsed += elapsed;
        readings.memory = readings.memory.max(totals.differential.memory);
        readings.template_memory = readings.template_memory.max(totals.template_memory);
        readings.totals = totals;
    }

    /// All that was measured.
    pub fn finish(self) -> Both<Readings> {
        self.readings
    }
}
