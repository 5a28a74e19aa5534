//! Closed systems, solved exactly by mean value analysis.
//!
//! The stations inside the server are solved by mean value analysis with load-dependent servers
//! (Reiser and Lavenberg, JACM 27, 1980). The probability that a station of several servers is
//! empty comes from the throughput of the network without it (Reiser, *Mean-value analysis and
//! convolution method for queue-dependent servers*, Performance Evaluation 1, 1981). The textbook
//! method, its difference from one, loses all digits where the station is busy. The throughput by
//! the number of requests inside then becomes the rate of a single station (Chandy, Herzog and
//! Woo's theorem), with clients that think before it: a birth-death process. The result is exact
//! for product-form networks.

use super::{Occupation, Outcome, Station, System};

/// The state of a network with a number of requests inside.
#[derive(Debug, Clone, Default)]
struct Inside {
    throughput: f64,
    /// Requests at each station.
    queues: Vec<f64>,
}

/// Bisection steps in the search for a throughput.
const HALVINGS: u32 = 50;

/// Solves a closed system. With work after answers the result is an approximation, see
/// `System::slowed`: a bisection finds the throughput that matches its own slowdown of the
/// processor.
pub fn solve_closed(system: &System, clients: u32, think: f64) -> Outcome {
    if system.after_response == 0.0 {
        return solve_plain(system, clients, think);
    }
    let solve = |throughput| solve_plain(&system.slowed(throughput), clients, think);
    let (mut low, mut high) = (0.0, f64::from(system.cores) / system.after_response);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if solve(middle).throughput > middle { low = middle } else { high = middle }
    }
    system.whole(solve(low))
}

fn solve_plain(system: &System, clients: u32, think: f64) -> Outcome {
    let stations = system.stations();
    let inside = inside(&stations, clients);
    let away = think + system.client;
    let chances = chances(&inside, clients as usize, away);
    let mean = |of: &dyn Fn(usize) -> f64| chances.iter().enumerate().map(|(n, chance)| chance * of(n)).sum::<f64>();
    let throughput = mean(&|n| inside[n].throughput);
    let present = mean(&|n| n as f64);
    let occupation = |(index, station): (usize, &Station)| {
        let queue = mean(&|n| inside[n].queues[index]);
        Occupation::new(station, throughput, queue, queue / throughput)
    };
    let stations = stations.iter().enumerate().map(occupation).collect();
    Outcome { throughput, response: present / throughput + system.client, stations }
}

/// Returns the probability that 0, 1, ... all clients are inside and not away.
fn chances(inside: &[Inside], clients: usize, away: f64) -> Vec<f64> {
    if away <= 0.0 {
        let mut all = vec![0.0; clients + 1];
        all[clients] = 1.0;
        return all;
    }
    // Logarithms, since the products exceed the range of `f64`.
    let mut logs = vec![0.0; clients + 1];
    for n in 1..=clients {
        let rate = inside[n].throughput;
        logs[n] = logs[n - 1] + ((clients - n + 1) as f64 / away).ln() - rate.ln();
    }
    shares(&logs)
}

/// Returns the share of each in the sum of all, from their logarithms.
fn shares(logs: &[f64]) -> Vec<f64> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = logs.iter().map(|log| (log - most).exp()).sum();
    logs.iter().map(|log| (log - most).exp() / total).collect()
}

/// Solves the network with 0, 1, ... `most` requests inside and no client away.
fn inside(stations: &[Station], most: u32) -> Vec<Inside> {
    let others = |index: usize| -> Vec<Station> {
        stations.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, station)| station.clone()).collect()
    };
    let without = |(index, station): (usize, &Station)| {
        (station.servers > 1).then(|| inside(&others(index), most).into_iter().map(|it| it.throughput).collect())
    };
    let without: Vec<Option<Vec<f64>>> = stations.iter().enumerate().map(without).collect();
    let mut states: Vec<Local<'_>> = stations.iter().map(Local::new).collect();
    let mut all = vec![Inside { throughput: 0.0, queues: vec![0.0; stations.len()] }];
    for requests in 1..=most as usize {
        let residences: Vec<f64> = states.iter().map(Local::residence).collect();
        let total: f64 = residences.iter().sum();
        let throughput = if total > 0.0 { requests as f64 / total } else { f64::INFINITY };
        for (index, state) in states.iter_mut().enumerate() {
            let without = without[index].as_ref().map(|throughputs| throughputs[requests]);
            state.go_on(throughput, residences[index], without);
        }
        all.push(Inside { throughput, queues: states.iter().map(|state| state.queue).collect() });
    }
    all
}

/// A station as the number of requests grows.
struct Local<'s> {
    station: &'s Station,
    queue: f64,
    /// Probabilities that 0, 1, ... of its servers, except the last, are busy.
    chances: Vec<f64>,
}

impl<'s> Local<'s> {
    fn new(station: &'s Station) -> Self {
        let mut chances = vec![0.0; station.servers.saturating_sub(1).max(1) as usize];
        chances[0] = 1.0;
        Local { station, queue: 0.0, chances }
    }

    /// Returns the expected residence time of the next request.
    fn residence(&self) -> f64 {
        let servers = f64::from(self.station.servers);
        let idle = |(busy, chance): (usize, &f64)| (servers - 1.0 - busy as f64) * chance;
        let idle: f64 = if self.station.servers > 1 { self.chances.iter().enumerate().map(idle).sum() } else { 0.0 };
        self.station.demand / servers * (1.0 + self.queue + idle)
    }

    fn go_on(&mut self, throughput: f64, residence: f64, without: Option<f64>) {
        if !throughput.is_finite() {
            return;
        }
        self.queue = throughput * residence;
        let Some(without) = without else { return };
        let empty = if without.is_finite() { self.chances[0] * throughput / without } else { 0.0 };
        for busy in (1..self.chances.len()).rev() {
            self.chances[busy] = throughput * self.station.demand / busy as f64 * self.chances[busy - 1];
        }
        self.chances[0] = empty;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn station(demand: f64, servers: u32) -> Station {
        Station { name: "x", demand, servers }
    }

    fn system(demand: f64, cores: u32) -> System {
        System {
            xml: demand,
            service: 0.0,
            cores,
            request_bytes: 0.0,
            response_bytes: 0.0,
            bandwidth: f64::INFINITY,
            client: 0.0,
            max_concurrency: None,
            after_response: 0.0,
        }
    }

    /// The naive twin for one station: the textbook state probabilities of M/M/m//N.
    fn repairmen(demand: f64, servers: u32, clients: u32, think: f64) -> f64 {
        let rate = |n: u32| f64::from(n.min(servers)) / demand;
        let mut weights = vec![1.0];
        for n in 1..=clients {
            let last = weights[n as usize - 1];
            weights.push(last * f64::from(clients - n + 1) / think / rate(n));
        }
        let total: f64 = weights.iter().sum();
        weights.iter().zip(0..).map(|(weight, n)| weight / total * rate(n)).sum()
    }

    #[test]
    fn one_station_is_the_repairmans() {
        for (demand, servers, clients, think) in
            [(1.0, 1, 3, 5.0), (0.2, 2, 20, 1.0), (0.01, 8, 100, 0.1), (0.5, 4, 2, 0.3)]
        {
            let outcome = solve_closed(&system(demand, servers), clients, think);
            let expected = repairmen(demand, servers, clients, think);
            assert!((outcome.throughput - expected).abs() < 1e-9 * expected, "{outcome:?} {expected}");
            assert!((outcome.response - (f64::from(clients) / expected - think)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_busy_station_of_many_servers_keeps_its_digits() {
        let outcome = solve_closed(&system(0.1, 64), 5000, 0.5);
        assert!((outcome.throughput - 640.0).abs() < 1e-6, "{outcome:?}");
        assert!(outcome.stations[0].utilisation <= 1.0 + 1e-12);
    }

    /// A tenth of a second each of processor and link, one request at a time: a transfer does not
    /// block work on another request.
    #[test]
    fn bounds_on_concurrency_are_the_processors_alone() {
        let free = System { bandwidth: 1e6, response_bytes: 12_500.0, ..system(0.1, 2) };
        let solve = |max_concurrency| solve_closed(&System { max_concurrency, ..free.clone() }, 60, 1.0);
        let one = solve(Some(1));
        let (throughput, response) = textbook(&[0.1, 0.1], 60, 1.0);
        assert!((one.throughput - throughput).abs() < 1e-9 && (one.response - response).abs() < 1e-9, "{one:?}");
        assert!(one.throughput > 9.0, "with the slot held meanwhile, 5 a second would be the most: {one:?}");
        assert!(one.stations[0].waiting > solve(None).stations[0].waiting, "{one:?}");
        for loose in [2, 3, 1000, u32::MAX] {
            assert_eq!(solve(Some(loose)), solve(None), "the cores are fewer");
        }
    }

    /// The naive twin for networks: mean value analysis of single servers and a delay, as printed
    /// by Lazowska et al. (algorithm 6.2).
    fn textbook(demands: &[f64], clients: u32, think: f64) -> (f64, f64) {
        let mut queues = vec![0.0; demands.len()];
        let (mut throughput, mut response) = (0.0, 0.0);
        for n in 1..=clients {
            let residences: Vec<f64> =
                demands.iter().zip(&queues).map(|(demand, queue)| demand * (1.0 + queue)).collect();
            response = residences.iter().sum();
            throughput = f64::from(n) / (response + think);
            queues = residences.iter().map(|residence| residence * throughput).collect();
        }
        (throughput, response)
    }

    proptest! {
        #[test]
        fn networks_of_single_servers_are_the_textbooks(
            demand in 0.001..0.1f64, sent in 1.0..1e5f64, received in 1.0..1e5f64, clients in 1u32..60, think in 0.0..2.0f64,
        ) {
            let system = System { request_bytes: sent, response_bytes: received, bandwidth: 1e7, ..system(demand, 1) };
            let outcome = solve_closed(&system, clients, think);
            let (throughput, response) = textbook(&[demand, sent * 8e-7, received * 8e-7], clients, think);
            prop_assert!((outcome.throughput - throughput).abs() < 1e-6 * throughput, "{} {throughput}", outcome.throughput);
            prop_assert!((outcome.response - response).abs() < 1e-6 * (response + think), "{} {response}", outcome.response);
        }

        /// Little's law holds for the whole system and for each station.
        #[test]
        fn littles_law_holds(demand in 0.001..0.1f64, cores in 1u32..9, clients in 1u32..80, think in 0.0..1.0f64) {
            let system = System { response_bytes: 1000.0, bandwidth: 1e6, client: 0.002, ..system(demand, cores) };
            let outcome = solve_closed(&system, clients, think);
            let all = outcome.throughput * (outcome.response + think);
            prop_assert!((all - f64::from(clients)).abs() < 1e-6 * f64::from(clients));
            let queues: f64 = outcome.stations.iter().map(|it| it.queue).sum();
            prop_assert!((queues - outcome.throughput * (outcome.response - 0.002)).abs() < 1e-6 * (1.0 + queues));
        }

        /// Two stations of several servers, solved by enumerating all states.
        #[test]
        fn several_servers_are_exact(a in 0.01..1.0f64, b in 0.01..1.0f64, m in 1u32..5, k in 1u32..5, n in 1u32..12) {
            let stations = [station(a, m), station(b, k)];
            let factor = |demand: f64, servers: u32, n: u32| (1..=n).map(|j| demand / f64::from(j.min(servers))).product::<f64>();
            let states = |n: u32| (0..=n).map(|at| factor(a, m, at) * factor(b, k, n - at)).sum::<f64>();
            let inside = inside(&stations, n);
            let expected = states(n - 1) / states(n);
            prop_assert!((inside[n as usize].throughput - expected).abs() < 1e-8 * expected);
        }
    }
}
