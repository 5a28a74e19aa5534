//! Compares our solvers with an independent simulator: ciw, run by `data/simulate.py`.

use deltasoap_cost::plan::{Load, Outcome, System, outcome};
use serde_json::Value as Json;

const FOUND: &str = include_str!("../data/queueing.json");

/// Returns the system with `cores` cores, and one with more cores that limits concurrency to
/// `cores`.
fn systems(case: &Json) -> [System; 2] {
    let free = system(case);
    [System { cores: 64, max_concurrency: Some(free.cores), ..free.clone() }, free]
}

fn system(case: &Json) -> System {
    let number = |name: &str| case[name].as_f64().expect("a number");
    // At one bit per second, a link needs eight seconds per byte.
    System {
        xml: number("processor"),
        service: 0.0,
        cores: case["cores"].as_u64().expect("a number") as u32,
        request_bytes: number("link_in") / 8.0,
        response_bytes: number("link_out") / 8.0,
        bandwidth: 1.0,
        client: 0.0,
        max_concurrency: None,
        after_response: 0.0,
    }
}

/// Returns true within four standard errors, or one percent of the value.
fn is_near(ours: f64, case: &Json, name: &str) -> bool {
    let (mean, deviation) = (case[name].as_f64(), case[format!("{name}_deviation")].as_f64());
    let (mean, deviation) = (mean.expect("a number"), deviation.expect("a number"));
    (ours - mean).abs() <= (4.0 * deviation / 8.0_f64.sqrt()).max(0.01 * mean)
}

fn check(case: &Json, solved: &Outcome) {
    assert!(is_near(solved.throughput, case, "throughput"), "{case} {solved:?}");
    assert!(is_near(solved.response, case, "response"), "{case} {solved:?}");
}

#[test]
fn closed_systems_are_as_simulated() {
    let found: Json = serde_json::from_str(FOUND).expect("JSON");
    for case in found["closed"].as_array().expect("a list") {
        let clients = case["clients"].as_u64().expect("a number") as u32;
        let load = Load::Closed { clients, think: case["think"].as_f64().expect("a number") };
        for system in systems(case) {
            check(case, &outcome(&system, load).expect("solved"));
        }
    }
}

#[test]
fn open_systems_are_as_simulated() {
    let found: Json = serde_json::from_str(FOUND).expect("JSON");
    for case in found["open"].as_array().expect("a list") {
        let load = Load::Open { rate: case["rate"].as_f64().expect("a number") };
        for system in systems(case) {
            check(case, &outcome(&system, load).expect("solved"));
        }
    }
}
