//! Open systems: a network of M/M/m stations (Jackson, 1957), each by Erlang's formula; with a bound on concurrency, one station with the rate of
//! them all.

use super::closed::{inside, shares};
use super::{Occupation, Outcome, Station, System};
use crate::CostError;

/// Solves an open system. With a bound on concurrency, the stations together are one whose rate grows with the requests that are let in (Chandy,
/// Herzog and Woo's theorem), in front of which the others wait.
///
/// # Errors
/// [`CostError::Saturated`] for a rate that a station cannot serve.
pub fn solve_open(system: &System, rate: f64) -> Result<Outcome, CostError> {
    let (station, most) = system.bottleneck();
    if rate >= most {
        return Err(CostError::Saturated { rate, station: station.to_owned(), most });
    }
    let slowed = system.slowed(rate);
    let solved = match slowed.bound() {
        Some(bound) if rate > 0.0 => bounded(&slowed, bound, rate)?,
        _ => unbounded(&slowed, rate),
    };
    Ok(system.whole(solved))
}

fn unbounded(system: &System, rate: f64) -> Outcome {
    let stations: Vec<_> = system.stations().iter().map(|station| occupation(station, rate)).collect();
    let response = system.client + stations.iter().map(|station| station.residence).sum::<f64>();
    Outcome { throughput: rate, response, waiting: 0.0, stations }
}

/// Of the numbers of requests that are there, those up to the bound one by one; beyond it each is less likely than the one before by the same factor.
fn bounded(system: &System, bound: u32, rate: f64) -> Result<Outcome, CostError> {
    let (all, bound) = (inside(&system.stations(), bound), bound as usize);
    let most = all[bound].throughput;
    if rate >= most {
        return Err(CostError::Saturated { rate, station: "concurrency".to_owned(), most });
    }
    let factor = rate / most;
    let mut logs = vec![0.0];
    logs.extend(all[1..].iter().scan(0.0, |log, inside| {
        *log += (rate / inside.throughput).ln();
        Some(*log)
    }));
    // The last one stands for as many as the bound and all beyond.
    logs[bound] -= (1.0 - factor).ln();
    let chances = shares(&logs);
    let mean = |of: &dyn Fn(usize) -> f64| chances.iter().enumerate().map(|(n, chance)| chance * of(n)).sum::<f64>();
    let waiting = chances[bound] * factor / (1.0 - factor);
    let occupation = |(index, station): (usize, &Station)| {
        let queue = mean(&|n| all[n].queues[index]);
        let utilisation = rate * station.demand / f64::from(station.servers);
        Occupation { station: station.name, utilisation, queue, residence: queue / rate }
    };
    let stations = system.stations().iter().enumerate().map(occupation).collect();
    let response = (mean(&|n| n as f64) + waiting) / rate + system.client;
    Ok(Outcome { throughput: rate, response, waiting, stations })
}

fn occupation(station: &Station, rate: f64) -> Occupation {
    let (servers, load) = (f64::from(station.servers), rate * station.demand);
    let utilisation = load / servers;
    let wait = if load > 0.0 {
        erlang_c(station.servers, load) * station.demand / (servers * (1.0 - utilisation))
    } else {
        0.0
    };
    let residence = station.demand + wait;
    Occupation { station: station.name, utilisation, queue: rate * residence, residence }
}

/// The chance that a request has to wait for one of `servers` that are offered `load` erlangs; 1 if that is too much for them.
pub fn erlang_c(servers: u32, load: f64) -> f64 {
    let m = f64::from(servers);
    if load >= m {
        return 1.0;
    }
    // Erlang's B, by its recursion, which is stable.
    let blocked = (1..=servers).fold(1.0, |blocked, n| load * blocked / (f64::from(n) + load * blocked));
    blocked / (1.0 - load / m * (1.0 - blocked))
}

/// The rate at which throughput by response time is greatest, by ternary search: their quotient has one maximum.
pub(super) fn best_rate(system: &System, most: f64) -> f64 {
    let power = |rate: f64| solve_open(system, rate).map_or(0.0, |outcome| rate / outcome.response);
    let (mut low, mut high) = (0.0, most);
    if !most.is_finite() {
        return most;
    }
    for _ in 0..100 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if power(left) < power(right) { low = left } else { high = right }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two servers with one erlang wait with a chance of one third; one server waits with its utilisation.
    #[test]
    fn erlangs_formula_has_its_known_values() {
        assert!((erlang_c(2, 1.0) - 1.0 / 3.0).abs() < 1e-12);
        assert!((erlang_c(1, 0.7) - 0.7).abs() < 1e-12);
        assert!((erlang_c(3, 2.0) - 4.0 / 9.0).abs() < 1e-12);
        assert_eq!((erlang_c(2, 2.0), erlang_c(4, 0.0)), (1.0, 0.0));
    }

    fn system(demand: f64, cores: u32, bound: Option<u32>) -> System {
        System {
            xml: demand,
            service: 0.0,
            cores,
            request_bytes: 0.0,
            response_bytes: 0.0,
            bandwidth: f64::INFINITY,
            client: 0.0,
            max_concurrency: bound,
            behind: 0.0,
        }
    }

    /// Where only the processor takes time, as many at one time as there are cores are as many as can be used.
    #[test]
    fn a_bound_of_the_cores_changes_nothing_but_where_others_wait() {
        for (rate, cores) in [(5.0, 1), (150.0, 2), (790.0, 8)] {
            let free = solve_open(&system(0.01, cores, None), rate).expect("solved");
            for bound in [cores, cores + 3, 1000, u32::MAX] {
                let bounded = solve_open(&system(0.01, cores, Some(bound)), rate).expect("solved");
                assert!((bounded.response - free.response).abs() < 1e-9 * free.response, "{bounded:?} {free:?}");
                let all = bounded.waiting + bounded.stations[0].queue;
                assert!((all - rate * bounded.response).abs() < 1e-9 * all, "Little's law");
            }
        }
    }

    /// The products of as many quotients leave the range of numbers.
    #[test]
    fn a_bound_on_many_cores_is_solved() {
        let free = solve_open(&system(0.01, 1000, None), 99_000.0).expect("solved");
        let bounded = solve_open(&system(0.01, 1000, Some(1000)), 99_000.0).expect("solved");
        assert!(
            (bounded.response - free.response).abs() < 1e-6 * free.response,
            "{} {}",
            bounded.response,
            free.response
        );
    }

    /// One at a time through two stations: M/G/1 would wait a little less, for two exponential times vary less than one; as a flow-equivalent station
    /// it is M/M/1 of both together.
    #[test]
    fn one_at_a_time_is_one_server() {
        let links = System { bandwidth: 1e6, response_bytes: 12_500.0, ..system(0.1, 2, Some(1)) };
        assert_eq!(links.bottleneck().0, "concurrency");
        assert!((links.bottleneck().1 - 5.0).abs() < 1e-9);
        let outcome = solve_open(&links, 4.0).expect("solved");
        assert!((outcome.response - 0.2 / (1.0 - 0.8)).abs() < 1e-9, "{outcome:?}");
        let error = solve_open(&links, 5.5).expect_err("saturated").to_string();
        assert!(error.contains("more than concurrency can serve") && error.contains("5.0 a second"), "{error}");
        assert!(solve_open(&System { max_concurrency: None, ..links }, 5.5).is_ok());
    }

    /// The best rate of M/M/1 is half of what it can serve (Kleinrock).
    #[test]
    fn the_best_rate_of_one_server_is_half() {
        let system = system(0.01, 1, None);
        assert!((best_rate(&system, 100.0) - 50.0).abs() < 1e-3);
        let outcome = solve_open(&system, 80.0).expect("solved");
        assert!((outcome.response - 0.05).abs() < 1e-12, "S / (1 - rho): {outcome:?}");
        assert!((outcome.stations[0].queue - 4.0).abs() < 1e-12, "rho / (1 - rho)");
    }
}
