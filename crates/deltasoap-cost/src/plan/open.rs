//! Open systems: a network of M/M/m stations (Jackson, 1957), each by Erlang's formula.

use super::{Occupation, Outcome, Station, System};
use crate::CostError;

/// Solves an open system.
///
/// # Errors
/// [`CostError::Saturated`] for a rate that a station cannot serve.
pub fn solve_open(system: &System, rate: f64) -> Result<Outcome, CostError> {
    let (station, capacity) = system.bottleneck();
    if rate >= capacity {
        return Err(CostError::Saturated { rate, station: station.to_owned(), capacity });
    }
    let stations: Vec<_> = system.slowed(rate).stations().iter().map(|station| occupation(station, rate)).collect();
    let response = system.client + stations.iter().map(|station| station.residence).sum::<f64>();
    Ok(system.whole(Outcome { throughput: rate, response, stations }))
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
    Occupation::new(station, rate, rate * residence, residence)
}

/// Returns the probability that a request has to wait for one of `servers` that are offered `load`
/// erlangs; 1 if that exceeds their capacity.
pub fn erlang_c(servers: u32, load: f64) -> f64 {
    let m = f64::from(servers);
    if load >= m {
        return 1.0;
    }
    // Erlang's B, by its stable recursion.
    let blocked = (1..=servers).fold(1.0, |blocked, n| load * blocked / (f64::from(n) + load * blocked));
    blocked / (1.0 - load / m * (1.0 - blocked))
}

/// Returns the rate at which throughput divided by response time is greatest, by ternary search:
/// the quotient has one maximum.
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

    /// With two servers and one erlang the probability of waiting is one third; with one server it
    /// is the utilisation.
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
            after_response: 0.0,
        }
    }

    /// Responses in transit do not block work on other requests; a limit equal to the number of
    /// cores does not reduce the cores in use.
    #[test]
    fn a_bound_on_concurrency_is_the_processors() {
        let links = |bound| System { bandwidth: 1e6, response_bytes: 12_500.0, ..system(0.1, 4, bound) };
        let outcome = solve_open(&links(Some(1)), 8.0).expect("solved");
        let twice = 2.0 * 0.1 / (1.0 - 0.8);
        assert!((outcome.response - twice).abs() < 1e-9, "M/M/1, one after the other: {outcome:?}");
        assert!((outcome.stations[0].waiting - (4.0 - 0.8)).abs() < 1e-9, "{outcome:?}");
        assert_eq!(links(Some(1)).bottleneck(), ("processor", 10.0));
        for bound in [4, 7, 1000, u32::MAX] {
            let (free, bounded) = (solve_open(&links(None), 9.0), solve_open(&links(Some(bound)), 9.0));
            assert_eq!(bounded.expect("solved"), free.expect("solved"));
        }
    }

    /// The best rate of M/M/1 is half of its capacity (Kleinrock).
    #[test]
    fn the_best_rate_of_one_server_is_half() {
        let system = system(0.01, 1, None);
        assert!((best_rate(&system, 100.0) - 50.0).abs() < 1e-3);
        let outcome = solve_open(&system, 80.0).expect("solved");
        assert!((outcome.response - 0.05).abs() < 1e-12, "S / (1 - rho): {outcome:?}");
        assert!((outcome.stations[0].queue - 4.0).abs() < 1e-12, "rho / (1 - rho)");
    }
}
