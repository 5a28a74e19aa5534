//! Plans: the performance that many clients observe of a service with predicted message costs.
//!
//! A service is a queueing network: the server's processor with its cores, and the network as a
//! link in each direction. The time that a request needs at each is its *service demand* (Lazowska
//! et al., *Quantitative System Performance*, 1984). The load is either a number of clients that
//! think between calls (a closed system) or requests that arrive at a rate (an open one).
//!
//! ```text
//!   think ──> link to the server ──> processor (cores) ──> link to the clients ──> clients' own work
//!     ^                                                                                │
//!     └────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Mean value analysis and Erlang's formula are our own, a page of code each, tested against state
//! enumeration and a simulator (ciw).

mod archive;
mod binary;
mod closed;
mod open;
mod questions;

pub use archive::{ArchivePlan, ArchiveRun, ArchiveVolume, archive_plan};
pub use binary::{BinaryCost, binary_cost};
pub use closed::solve_closed;
pub use open::{erlang_c, solve_open};
pub use questions::{Answer, answers};

use crate::CostError;
use serde::Serialize;

/// Approximate size of HTTP around a message in bytes: request line or status line, and headers.
pub const HTTP: usize = 300;

/// Maximum number of clients of a closed system: solving one takes time and memory for each.
const MAX_CLIENTS: u32 = 100_000;
/// Maximum number of cores, for the same reason.
const MAX_CORES: u32 = 1000;
/// Maximum of clients times cores: the time to solve a closed system grows with both, and a plan
/// solves some dozens.
const MAX_STATES: f64 = 1e7;

/// The demands of a request, and the resources that serve it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct System {
    /// Processor time at the server to read the request and write the response, in seconds.
    pub xml: f64,
    /// Processor time at the server for everything else, in seconds: HTTP, and the operation
    /// itself.
    pub service: f64,
    /// Processor time at the server that no answer waits for, in seconds: work after the answer, or
    /// concurrent work on another core.
    pub after_response: f64,
    /// Cores of the server.
    pub cores: u32,
    /// Bytes of a request on the wire.
    pub request_bytes: f64,
    /// Bytes of a response on the wire.
    pub response_bytes: f64,
    /// Bits per second in each direction; infinite for an instant network.
    pub bandwidth: f64,
    /// Time at the client to write the request and read the response, plus all delays without
    /// queueing, in seconds.
    pub client: f64,
    /// Maximum number of requests that the server works on at one time; others wait. Network
    /// transfers do not count: the server's scheduling gives up its slot while it waits for bytes,
    /// and before it sends the response. So this limits the cores in use.
    pub max_concurrency: Option<u32>,
}

/// The load on a system.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// A number of clients, each of which thinks between an answer and the next call.
    Closed {
        /// Number of clients.
        clients: u32,
        /// Mean think time in seconds.
        think: f64,
    },
    /// Requests that arrive at random.
    Open {
        /// Requests per second.
        rate: f64,
    },
}

/// A station that serves requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Station {
    /// The station's name.
    pub name: &'static str,
    /// Service time of a request in seconds.
    pub demand: f64,
    /// Maximum number of requests served at one time.
    pub servers: u32,
}

/// The expected performance of a system.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Requests per second.
    pub throughput: f64,
    /// Seconds from call to answer, on average.
    pub response: f64,
    /// The occupation of each station.
    pub stations: Vec<Occupation>,
}

/// The load of a station.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Occupation {
    /// The station.
    pub station: &'static str,
    /// The fraction of its servers that are busy, from 0 to 1.
    pub utilisation: f64,
    /// Mean number of requests that are served or wait there.
    pub queue: f64,
    /// Mean number of waiting requests; at the processor also those that wait for a slot.
    pub waiting: f64,
    /// Seconds that a request spends there.
    pub residence: f64,
}

/// The load beyond which response time grows faster than throughput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knee {
    /// Number of clients at which the asymptotes of throughput meet.
    Clients(f64),
    /// Requests per second at which throughput divided by response time is greatest.
    Rate(f64),
}

/// The performance of a system under a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapacityPlan {
    /// The system.
    pub system: System,
    /// The load.
    pub load: Load,
    /// The expected performance.
    pub outcome: Outcome,
    /// The knee of the load.
    pub knee: Knee,
    /// Maximum requests per second.
    pub max_throughput: f64,
    /// The first station to saturate.
    pub bottleneck: &'static str,
}

impl Occupation {
    /// Calculates the occupation of a station from its throughput in requests per second and its
    /// residence time in seconds. By Little's law, the mean number of requests in service is the
    /// throughput times the demand.
    fn new(station: &Station, throughput: f64, queue: f64, residence: f64) -> Self {
        let served = throughput * station.demand;
        Occupation {
            station: station.name,
            utilisation: served / f64::from(station.servers),
            queue,
            waiting: (queue - served).max(0.0),
            residence,
        }
    }
}

impl System {
    /// Returns the stations where requests wait.
    pub fn stations(&self) -> Vec<Station> {
        let link = |bytes: f64| if self.bandwidth.is_finite() { bytes * 8.0 / self.bandwidth } else { 0.0 };
        let cores = self.max_concurrency.map_or(self.cores, |most| most.min(self.cores));
        vec![
            Station { name: "processor", demand: self.xml + self.service, servers: cores },
            Station { name: "network in", demand: link(self.request_bytes), servers: 1 },
            Station { name: "network out", demand: link(self.response_bytes), servers: 1 },
        ]
    }

    /// Returns the first station to saturate, and its maximum requests per second.
    pub fn bottleneck(&self) -> (&'static str, f64) {
        let capacity = |station: &Station| f64::from(station.servers) / station.demand;
        let all = self.stations().into_iter().map(|station| (station.name, capacity(&station)));
        let cores = f64::from(self.cores) / (self.xml + self.service + self.after_response);
        let all = all.chain([("processor", cores)]);
        all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("processor", f64::INFINITY))
    }

    /// Returns the system as clients that wait for answers observe it: work after answers takes its
    /// share of the processor, which slows the rest. This is an approximation, like Sevcik's shadow
    /// processor for work of higher priority (IFIP Congress, 1977).
    fn slowed(&self, throughput: f64) -> System {
        let left = 1.0 - throughput * self.after_response / f64::from(self.cores);
        System { xml: self.xml / left, service: self.service / left, after_response: 0.0, ..self.clone() }
    }

    /// Converts the outcome of a slowed system to that of this one.
    fn whole(&self, mut outcome: Outcome) -> Outcome {
        if let Some(processor) = outcome.stations.first_mut().filter(|_| self.after_response > 0.0) {
            let demand = self.xml + self.service + self.after_response;
            processor.utilisation = outcome.throughput * demand / f64::from(self.cores);
        }
        outcome
    }

    fn check(&self) -> Result<(), CostError> {
        at_least("the time for XML", self.xml, 0.0)?;
        at_least("the service time", self.service, 0.0)?;
        at_least("the time after the answer", self.after_response, 0.0)?;
        at_least("the time at the client", self.client, 0.0)?;
        at_least("the number of cores", f64::from(self.cores), 1.0)?;
        at_most("the number of cores", self.cores, MAX_CORES)?;
        at_least("the concurrency", f64::from(self.max_concurrency.unwrap_or(1)), 1.0)?;
        above_zero("the processor's time for a request", self.xml + self.service)?;
        above_zero("the bandwidth", self.bandwidth)
    }
}

fn above_zero(name: &'static str, found: f64) -> Result<(), CostError> {
    if found > 0.0 { Ok(()) } else { Err(CostError::Parameter { name, expected: "more than 0", found }) }
}

fn at_least(name: &'static str, found: f64, least: f64) -> Result<(), CostError> {
    let expected = if least == 0.0 { "a number of at least 0" } else { "at least 1" };
    if found.is_finite() && found >= least { Ok(()) } else { Err(CostError::Parameter { name, expected, found }) }
}

fn at_most(name: &'static str, found: u32, most: u32) -> Result<(), CostError> {
    let expected = if most == MAX_CORES { "at most 1000" } else { "at most 100000" };
    if found <= most { Ok(()) } else { Err(CostError::Parameter { name, expected, found: f64::from(found) }) }
}

/// Calculates the performance of a system under a load.
///
/// # Errors
/// When a parameter is invalid, or the system cannot serve the rate.
pub fn plan(system: &System, load: Load) -> Result<CapacityPlan, CostError> {
    system.check()?;
    let outcome = outcome(system, load)?;
    let (bottleneck, max_throughput) = system.bottleneck();
    let knee = knee(system, load);
    Ok(CapacityPlan { system: system.clone(), load, outcome, knee, max_throughput, bottleneck })
}

/// Calculates the expected performance of a system under a load.
///
/// # Errors
/// As [`plan`].
pub fn outcome(system: &System, load: Load) -> Result<Outcome, CostError> {
    match load {
        Load::Closed { clients, think } => {
            at_least("the think time", think, 0.0)?;
            at_least("the number of clients", f64::from(clients), 1.0)?;
            at_most("the number of clients", clients, MAX_CLIENTS)?;
            let servers = system.stations().iter().map(|station| station.servers).max().unwrap_or_default();
            let found = f64::from(clients) * f64::from(servers);
            if found > MAX_STATES {
                let name = "the number of clients times that of the cores they use";
                return Err(CostError::Parameter { name, expected: "at most 10000000", found });
            }
            Ok(solve_closed(system, clients, think))
        }
        Load::Open { rate } => {
            at_least("the rate", rate, 0.0)?;
            solve_open(system, rate)
        }
    }
}

fn knee(system: &System, load: Load) -> Knee {
    let alone: f64 = system.client + system.stations().iter().map(|station| station.demand).sum::<f64>();
    let (_, max_throughput) = system.bottleneck();
    match load {
        Load::Closed { think, .. } => Knee::Clients((alone + think) * max_throughput),
        Load::Open { .. } => Knee::Rate(open::best_rate(system, max_throughput)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> System {
        System {
            xml: 0.002,
            service: 0.003,
            after_response: 0.0,
            cores: 2,
            request_bytes: 1000.0,
            response_bytes: 9000.0,
            bandwidth: 1e8,
            client: 0.001,
            max_concurrency: None,
        }
    }

    #[test]
    fn parameters_are_checked() {
        let error = |system: System, load| plan(&system, load).expect_err("refused").to_string();
        let closed = Load::Closed { clients: 1, think: 0.0 };
        assert_eq!(error(System { cores: 0, ..system() }, closed), "the number of cores must be at least 1, not 0");
        assert!(error(System { bandwidth: 0.0, ..system() }, closed).starts_with("the bandwidth must be more than 0"));
        assert!(error(System { xml: -1.0, ..system() }, closed).contains("time for XML"));
        assert!(error(system(), Load::Closed { clients: 0, think: 0.0 }).contains("number of clients"));
        assert!(error(system(), Load::Closed { clients: u32::MAX, think: 0.0 }).contains("at most 100000"));
        assert!(error(System { cores: u32::MAX, ..system() }, closed).contains("at most 1000"));
        let many = Load::Closed { clients: 100_000, think: 0.0 };
        let large = error(System { cores: 1000, ..system() }, many);
        assert_eq!(
            large,
            "the number of clients times that of the cores they use must be at most 10000000, not 100000000"
        );
        let bounded = System { cores: 1000, max_concurrency: Some(2), ..system() };
        assert!(plan(&bounded, many).is_ok(), "no more than two of the cores are used");
        assert!(error(system(), Load::Open { rate: f64::NAN }).contains("the rate"));
        let full = error(system(), Load::Open { rate: 401.0 });
        assert_eq!(
            full,
            "401.0 requests per second exceed the capacity of the processor: it saturates at 400.0 per second"
        );
    }

    #[test]
    fn the_knee_is_where_the_asymptotes_meet() {
        let plan = plan(&system(), Load::Closed { clients: 10, think: 1.0 }).expect("a plan");
        let Knee::Clients(knee) = plan.knee else { panic!("{plan:?}") };
        assert!((knee - (0.006 + 0.0008 + 1.0) * 400.0).abs() < 1e-6, "{knee}");
        assert_eq!((plan.bottleneck, plan.max_throughput), ("processor", 400.0));
    }

    /// Nobody notices work after answers under light load; everybody does when the processor is
    /// saturated.
    #[test]
    fn work_after_answers_takes_capacity() {
        let deferring = System { after_response: 0.005, bandwidth: f64::INFINITY, client: 0.0, ..system() };
        let light = outcome(&deferring, Load::Closed { clients: 1, think: 50.0 }).expect("solved");
        assert!((light.response - 0.005).abs() < 1e-5, "{light:?}");
        let full = outcome(&deferring, Load::Closed { clients: 500, think: 0.5 }).expect("solved");
        assert!((full.throughput - 200.0).abs() < 0.1 && full.stations[0].utilisation > 0.999, "{full:?}");
        assert_eq!(deferring.bottleneck(), ("processor", 200.0));
        let half = outcome(&deferring, Load::Open { rate: 100.0 }).expect("solved");
        // Work after answers takes a quarter of two cores, so 5 ms of work takes 5 / 0.75.
        let slowed = System { xml: 0.005 / 0.75, service: 0.0, after_response: 0.0, ..deferring.clone() };
        let expected = outcome(&slowed, Load::Open { rate: 100.0 }).expect("solved");
        assert!((half.response - expected.response).abs() < 1e-9 && (half.stations[0].utilisation - 0.5).abs() < 1e-9);
        assert!(outcome(&deferring, Load::Open { rate: 201.0 }).is_err());
    }

    #[test]
    fn light_load_means_no_waiting() {
        for load in [Load::Closed { clients: 1, think: 5.0 }, Load::Open { rate: 1e-6 }] {
            let outcome = outcome(&system(), load).expect("solved");
            assert!((outcome.response - 0.0068).abs() < 1e-6, "{outcome:?}");
        }
    }
}
