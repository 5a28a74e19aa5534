//! A load test on loopback: a service that answers with a sample, and clients with a think time
//! between calls.
//!
//! The benchmarks' generator is another one: it sends prepared bytes, so that it takes as little
//! processor time as possible. Here the client's work is part of what is predicted.

use anyhow::{Context as _, Result, ensure};
use deltasoap::engine::{Differential, Templating};
use deltasoap_cost::measure::{LoadMonitor, process_time};
use deltasoap_cost::predict::{Direction, Sample};
use deltasoap_dynamic::{Contract, DynamicClient, Mock, Operation};
use deltasoap_http::{Server, ServerHandle, SoapService};
use deltasoap_streams::prng::SplitMix64;
use deltasoap_streams::statistics::median;
use futures_timer::Delay;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Duration of each test, and of the warm-up before it.
const RUN: Duration = Duration::from_secs(2);
const WARM: Duration = Duration::from_millis(700);

/// The measurements of a load test.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Observed {
    /// Requests per second.
    pub throughput: f64,
    /// Seconds from call to answer, on average.
    pub response: f64,
    /// Seconds of processor time per request, of clients and server.
    pub demand: f64,
    /// Processors that other programs kept busy meanwhile, on average; `None` if the system does
    /// not report it.
    pub others: Option<f64>,
}

/// The minimum and the maximum of several tests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// Requests per second.
    pub throughput: (f64, f64),
    /// Seconds from call to answer, on average.
    pub response: (f64, f64),
}

impl Range {
    /// Returns the range of some tests; `None` if there are none.
    pub fn from_observations(all: &[Observed]) -> Option<Range> {
        let of = |figure: fn(&Observed) -> f64| {
            let all = || all.iter().map(figure);
            Some((all().reduce(f64::min)?, all().reduce(f64::max)?))
        };
        Some(Range { throughput: of(|it| it.throughput)?, response: of(|it| it.response)? })
    }
}

impl Observed {
    /// Returns the median of several tests, for each figure separately.
    pub fn median(all: &[Observed]) -> Option<Observed> {
        let of = |figure: fn(&Observed) -> f64| median(all.iter().map(figure));
        Some(Observed {
            throughput: of(|it| it.throughput)?,
            response: of(|it| it.response)?,
            demand: of(|it| it.demand)?,
            others: median(all.iter().filter_map(|it| it.others)),
        })
    }
}

/// A listening service, and the request that clients send to it.
pub struct Target {
    contract: Contract,
    operation: Operation,
    request: Arc<deltasoap::types::Value>,
    url: String,
    handle: ServerHandle,
}

impl Target {
    /// Serves the operation of some messages: every request is decoded, and answered with the
    /// response.
    pub async fn start(samples: &[Sample]) -> Result<Self> {
        let request =
            samples.iter().find(|it| it.direction == Direction::Request).context("the WSDL has no request")?;
        let response = samples.iter().find(|it| it.direction == Direction::Response);
        let response = response.context("the operation is one-way: there is nothing to wait for")?;
        let operation = request.operation.clone();
        let contract = operation.contract().clone();
        let json = operation.response_to_json(response.value())?;
        let mock = Mock::new(contract.clone()).answer(&operation.full_name(), &json)?;
        let builder = SoapService::builder().differential(Differential::OFF).templating(Templating::OFF);
        let server = Server::bind(("127.0.0.1", 0)).await?;
        let (url, handle) = (format!("http://{}/", server.local_addr()?), server.handle());
        tokio::spawn(server.serve(mock.mount(builder).build()?));
        Ok(Target { contract, operation, request: Arc::new(request.value().clone()), url, handle })
    }

    /// Runs `clients` clients, each with a connection of its own.
    pub async fn run(&self, clients: u32, think: f64) -> Result<Observed> {
        let begin = Instant::now() + WARM;
        let tasks: Vec<_> = (0..clients).map(|client| tokio::spawn(self.client(client, think, begin))).collect();
        tokio::time::sleep_until(begin.into()).await;
        let before = process_time();
        let others = LoadMonitor::start(before);
        tokio::time::sleep_until((begin + RUN).into()).await;
        let after = process_time();
        let (spent, others) = ((after - before).as_secs_f64(), others.processors(after));
        let (mut count, mut waited) = (0_u64, 0.0);
        for task in tasks {
            let (calls, time) = task.await??;
            (count, waited) = (count + calls, waited + time);
        }
        ensure!(count > 0, "no call was answered in time");
        let count = count as f64;
        let seconds = RUN.as_secs_f64();
        Ok(Observed { throughput: count / seconds, response: waited / count, demand: spent / count, others })
    }

    /// Runs one client, and returns the number of answered calls and the time spent waiting for
    /// them.
    fn client(&self, number: u32, think: f64, begin: Instant) -> impl Future<Output = Result<(u64, f64)>> + use<> {
        let client = DynamicClient::new(self.contract.clone()).endpoint(self.url.clone());
        let (operation, request) = (self.operation.clone(), self.request.clone());
        let mut random = SplitMix64::stream(deltasoap_streams::prng::SEED, u64::from(number));
        async move {
            let (mut calls, mut waited) = (0, 0.0);
            loop {
                // The runtime's timers have a resolution of milliseconds: with them, thinking
                // clients would call at the same moments, and wait for each other.
                let left = (begin + RUN).saturating_duration_since(Instant::now());
                Delay::new(exponential(think, &mut random).min(left)).await;
                let start = Instant::now();
                if start >= begin + RUN {
                    return Ok((calls, waited));
                }
                client.prepare_operation(operation.clone()).send(&request).await?;
                let end = Instant::now();
                if end >= begin && end < begin + RUN {
                    (calls, waited) = (calls + 1, waited + (end - start).as_secs_f64());
                }
            }
        }
    }

    /// Stops listening.
    pub fn stop(self) {
        self.handle.shutdown();
    }
}

/// Returns a random time, exponentially distributed with this mean in seconds.
fn exponential(mean: f64, random: &mut SplitMix64) -> Duration {
    Duration::try_from_secs_f64(mean * random.exponential()).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_each_figure() {
        let one = |throughput, response, others| Observed { throughput, response, demand: 1.0, others };
        let all = [one(1.0, 9.0, None), one(3.0, 7.0, Some(0.5)), one(2.0, 8.0, Some(0.25))];
        let median = Observed::median(&all).expect("some");
        assert_eq!((median.throughput, median.response, median.others), (2.0, 8.0, Some(0.375)));
        assert!(Observed::median(&[]).is_none());
        let range = Range::from_observations(&all).expect("some");
        assert_eq!(range, Range { throughput: (1.0, 3.0), response: (7.0, 9.0) });
        assert!(Range::from_observations(&[]).is_none());
    }

    #[test]
    fn think_times_have_their_mean() {
        let mut random = SplitMix64::new(1);
        let sum: f64 = (0..10_000).map(|_| exponential(0.5, &mut random).as_secs_f64()).sum();
        assert!((sum / 10_000.0 - 0.5).abs() < 0.02);
        assert_eq!(exponential(0.0, &mut random), Duration::ZERO);
    }
}
