//! `cost plan`: what many clients see.

use super::load::{self, Observed};
use super::tables::{percent, table, time};
use super::{calibration, check_changes, html, operations, sizes};
use crate::cli::cost::Plan as Arguments;
use crate::output::stdout;
use anyhow::{Context as _, Result, ensure};
use deltasoap_cost::measure::Busy;
use deltasoap_cost::plan::{Answer, HTTP, Knee, Load, Outcome, Plan, System, answers, binary_cost, outcome, plan};
use deltasoap_cost::predict::{Direction, MessageCost, Sample, message_cost, samples};
use deltasoap_cost::{Machine, Mode, Model};
use serde_json::json;
use std::io::Write as _;

/// How often each load test runs; the median counts.
const ROUNDS: usize = 3;
/// Halvings of the range in which the service time is looked for.
const HALVINGS: u32 = 40;

/// Plans, and prints.
pub async fn run(arguments: &Arguments) -> Result<()> {
    let mut operations = operations(&arguments.messages)?;
    ensure!(operations.len() == 1, "say which operation is meant with --operation");
    let operation = operations.remove(0);
    let calibration = calibration(&arguments.calibrated)?;
    let model = Model::fit(&calibration)?;
    check_changes(&arguments.messages, &model)?;
    let sizes = sizes(&arguments.messages)?;
    let samples = samples(&operation, &sizes).with_context(|| operation.full_name())?;
    let costs: Vec<MessageCost> = samples.iter().map(|it| message_cost(&model, it)).collect::<Result<_, _>>()?;
    let mut system = system(arguments, &costs, calibration.machine.cores as u32);
    let load = load_of(arguments);
    // Also before anything is measured: what means nothing is refused here.
    let mut planned = plan(&system, load)?;
    let mut binary = binary_cost(&samples, xml_client(&costs));
    let mut observed = None;
    if arguments.validate {
        ensure!(model.mode == Mode::Regular, "a plan can be validated in regular mode alone");
        observed = Some(validate(arguments, &samples, &mut system).await?);
        (planned, binary) = (plan(&system, load)?, binary.on_one_machine());
    }
    let answers = answers(&system, load, Some(&binary));
    if let Some(path) = &arguments.html {
        html::plan(path, &planned, &curve(&system, load))?;
    }
    if arguments.json {
        let json = json!({ "plan": planned, "answers": answers, "validation": observed });
        return Ok(writeln!(stdout(), "{json}")?);
    }
    print(&planned, &answers, observed.as_deref())
}

fn load_of(arguments: &Arguments) -> Load {
    match (arguments.clients, arguments.rate) {
        (Some(clients), _) => Load::Closed { clients, think: arguments.think },
        (None, rate) => Load::Open { rate: rate.unwrap_or_default() },
    }
}

/// Seconds that the two messages take at one side.
fn xml(costs: &[MessageCost], written: Direction) -> f64 {
    let cost = |it: &MessageCost| if it.direction == written { it.serialize.cost } else { it.deserialize.cost };
    costs.iter().map(cost).sum::<f64>() / 1e9
}

fn xml_client(costs: &[MessageCost]) -> f64 {
    xml(costs, Direction::Request)
}

fn system(arguments: &Arguments, costs: &[MessageCost], cores: u32) -> System {
    let bytes = |direction| {
        let of = costs.iter().find(|it| it.direction == direction);
        (of.map_or(0, |it| it.bytes) + HTTP) as f64
    };
    System {
        xml: xml(costs, Direction::Response),
        service: arguments.service / 1e3,
        cores: arguments.cores.unwrap_or(cores),
        request_bytes: bytes(Direction::Request),
        response_bytes: bytes(Direction::Response),
        bandwidth: arguments.bandwidth * 1e6,
        client: xml_client(costs),
        max_concurrency: arguments.max_concurrency,
        behind: 0.0,
    }
}

/// A prediction beside a load test.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Validated {
    clients: u32,
    predicted: Outcome,
    observed: Observed,
}

/// Load tests with more and more clients, by turns: what a machine does besides changes from minute to minute, and should not look like an effect of
/// the load. The service time is taken from the one with half of the clients (one client, where none of them thinks), then what fewer and more of them
/// see is predicted.
async fn validate(arguments: &Arguments, samples: &[Sample], system: &mut System) -> Result<Vec<Validated>> {
    // Clients and server share this machine: XML of both sides is the processor's.
    (system.xml, system.client) = (system.xml + system.client, 0.0);
    let host = load::Host::start(samples).await?;
    let (counts, base) = client_counts(arguments.clients.unwrap_or(1), arguments.think);
    let mut tests = vec![Vec::new(); counts.len()];
    for _ in 0..ROUNDS {
        for (clients, tests) in counts.iter().zip(&mut tests) {
            tests.push(host.run(*clients, arguments.think).await?);
        }
    }
    host.stop();
    let observed: Vec<Observed> = tests.iter().filter_map(|tests| Observed::median(tests)).collect();
    let closed = |clients| Load::Closed { clients, think: arguments.think };
    let (&clients, known) = counts.iter().zip(&observed).nth(base).context("there was no load test")?;
    take_service(system, known, closed(clients))?;
    let validated = |(_, (&clients, &observed)): (usize, (&u32, &Observed))| -> Result<Validated> {
        Ok(Validated { clients, predicted: outcome(system, closed(clients))?, observed })
    };
    let all = counts.iter().zip(&observed).enumerate();
    all.filter(|(at, _)| counts.len() == 1 || *at != base).map(validated).collect()
}

/// Numbers of clients to test with, and which of them the service time is taken from.
fn client_counts(most: u32, think: f64) -> (Vec<u32>, usize) {
    let first = if think > 0.0 { (most / 4).max(1) } else { 1 };
    let base = if think > 0.0 { (most / 2).max(first) } else { first };
    let mut counts = vec![first, most / 2, most / 4 * 3, most];
    counts.retain(|&clients| clients >= first);
    counts.dedup();
    let base = counts.iter().position(|&clients| clients == base).unwrap_or_default();
    (counts, base)
}

/// Takes the service time from a load test: all of a request's demand that is not the predicted XML. Clients and server share this machine, so the
/// clients' work is the processor's too. Clients of the test think as the others do: what comes after a pause finds cold caches, and costs more.
fn take_service(system: &mut System, known: &Observed, load: Load) -> Result<()> {
    (system.client, system.bandwidth) = (0.0, f64::INFINITY);
    // Work of the two sides at one time, and what a thread does behind an answer: clients do not wait for it, but it keeps the processor busy. As much
    // of the processor's time is waited for as explains the response time.
    let (mut least, mut most) = (system.xml.min(known.demand), known.demand);
    for _ in 0..HALVINGS {
        let waited = (least + most) / 2.0;
        let response = with_service(system, known.demand, waited, load)?.1.response;
        if response < known.response { least = waited } else { most = waited }
    }
    let (taken, explained) = with_service(system, known.demand, most, load)?;
    // What is left of the response time when the processor has had its part is waiting that no load changes: timers, wake-ups.
    *system = System { client: (known.response - explained.response).max(0.0), ..taken };
    Ok(())
}

/// The system whose answers wait for so much of a request's demand, and what is to be expected of it.
fn with_service(system: &System, demand: f64, waited: f64, load: Load) -> Result<(System, Outcome)> {
    let service = (waited - system.xml).max(0.0);
    let behind = (demand - system.xml - service).max(0.0);
    let taken = System { service, behind, ..system.clone() };
    let outcome = outcome(&taken, load)?;
    Ok((taken, outcome))
}

/// Loads, and what is to be expected under them.
pub type Curve = [(f64, Outcome)];

/// Plans for growing loads, up to twice what was asked for, as far as they can be served.
fn curve(system: &System, load: Load) -> Vec<(f64, Outcome)> {
    const POINTS: u32 = 60;
    let at = |step: u32| {
        let part = f64::from(step) / f64::from(POINTS) * 2.0;
        let (x, load) = match load {
            Load::Closed { clients, think } => {
                let clients = (f64::from(clients) * part).ceil().max(1.0);
                (clients, Load::Closed { clients: clients as u32, think })
            }
            Load::Open { rate } => (rate * part, Load::Open { rate: rate * part }),
        };
        Some((x, outcome(system, load).ok()?))
    };
    (1..=POINTS).filter_map(at).collect()
}

fn print(plan: &Plan, answers: &[Answer], observed: Option<&[Validated]>) -> Result<()> {
    let mut out = stdout();
    let (system, outcome) = (&plan.system, &plan.outcome);
    let seconds = |it: f64| time(it * 1e9);
    writeln!(
        out,
        "demand of a request: {} for XML, {} else and {} behind the answer at the server, {} at the client, {:.0} + {:.0} bytes\n",
        seconds(system.xml),
        seconds(system.service),
        seconds(system.behind),
        seconds(system.client),
        system.request_bytes,
        system.response_bytes
    )?;
    writeln!(out, "{:.1} requests a second, answered in {} on average", outcome.throughput, seconds(outcome.response))?;
    writeln!(out, "the {} is full first: at {:.1} requests a second", plan.bottleneck, plan.most)?;
    match plan.knee {
        Knee::Clients(clients) => writeln!(out, "the knee is at {clients:.1} clients: more of them mostly wait\n")?,
        Knee::Rate(rate) => writeln!(out, "the knee is at {rate:.1} requests a second: more of them mostly wait\n")?,
    }
    let station = |it: &deltasoap_cost::plan::Occupation| {
        vec![it.station.to_owned(), percent(it.utilisation), format!("{:.2}", it.queue), seconds(it.residence)]
    };
    let rows: Vec<_> = outcome.stations.iter().map(station).collect();
    writeln!(out, "{}\n", table(&["", "busy", "requests there", "time there"], &rows))?;
    writeln!(
        out,
        "{}",
        table(&["with", "response time", "", "throughput", ""], &answers.iter().map(answer).collect::<Vec<_>>())
    )?;
    if let Some(observed) = observed {
        writeln!(out, "\n{}", validated(observed, Machine::here().cores))?;
    }
    Ok(())
}

fn answer(it: &Answer) -> Vec<String> {
    let change =
        |ratio: Option<f64>| ratio.map_or_else(String::new, |ratio| format!("{:+.1} %", (ratio - 1.0) * 100.0));
    match &it.outcome {
        Some(outcome) => vec![
            it.question.to_owned(),
            time(outcome.response * 1e9),
            change(it.response_ratio),
            format!("{:.1}/s", outcome.throughput),
            change(it.throughput_ratio),
        ],
        None => [it.question, it.reason.as_deref().unwrap_or_default(), "", "", ""].map(str::to_owned).to_vec(),
    }
}

fn validated(all: &[Validated], cores: usize) -> String {
    let row = |it: &Validated| {
        let off = |predicted: f64, observed: f64| format!("{:+.1} %", (predicted / observed - 1.0) * 100.0);
        vec![
            it.clients.to_string(),
            format!("{:.1}/s", it.predicted.throughput),
            format!("{:.1}/s", it.observed.throughput),
            off(it.predicted.throughput, it.observed.throughput),
            time(it.predicted.response * 1e9),
            time(it.observed.response * 1e9),
            off(it.predicted.response, it.observed.response),
        ]
    };
    let headings = ["clients", "throughput", "measured", "off by", "response", "measured", "off by"];
    let mut text = table(&headings, &all.iter().map(row).collect::<Vec<_>>());
    let others = all.iter().filter_map(|it| it.observed.others).reduce(f64::max);
    if let Some(busy) = Busy::new(others, cores) {
        text += &format!("\n{busy} meanwhile, which no plan knows of: measure again when the machine is idle");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> System {
        System {
            xml: 0.001,
            service: 0.0,
            cores: 2,
            request_bytes: 1000.0,
            response_bytes: 1000.0,
            bandwidth: 1e8,
            client: 0.5,
            max_concurrency: None,
            behind: 0.0,
        }
    }

    fn observed(others: Option<f64>) -> Observed {
        Observed { throughput: 10.0, response: 0.005, demand: 0.003, others }
    }

    #[test]
    fn the_service_time_is_taken_from_half_of_the_clients() {
        assert_eq!(client_counts(200, 0.5), (vec![50, 100, 150, 200], 1));
        assert_eq!(client_counts(200, 0.0), (vec![1, 100, 150, 200], 0));
        assert_eq!(client_counts(3, 0.1), (vec![1, 3], 0));
        assert_eq!(client_counts(1, 0.1), (vec![1], 0));
    }

    /// What was measured with few clients is what the plan says of few clients.
    #[test]
    fn the_service_time_explains_the_light_load() {
        let (mut system, load) = (system(), Load::Closed { clients: 2, think: 0.1 });
        take_service(&mut system, &observed(None), load).expect("taken");
        assert!((system.xml + system.service - 0.003).abs() < 1e-12 && system.client > 0.0);
        let response = outcome(&system, load).expect("solved").response;
        assert!((response - 0.005).abs() < 1e-4, "{response}");
    }

    /// Processors that work at one time, and behind the answer, take more time than anybody waits.
    #[test]
    fn nobody_waits_longer_than_was_measured() {
        let (mut system, load) = (system(), Load::Closed { clients: 2, think: 0.1 });
        let parallel = Observed { demand: 0.008, ..observed(None) };
        take_service(&mut system, &parallel, load).expect("taken");
        let response = outcome(&system, load).expect("solved").response;
        assert!((response - 0.005).abs() < 1e-4, "{response}");
    }

    #[test]
    fn a_busy_machine_is_said() {
        let predicted = outcome(&system(), Load::Closed { clients: 2, think: 0.1 }).expect("solved");
        let all = |others| [Validated { clients: 2, predicted: predicted.clone(), observed: observed(others) }];
        let text = |others| validated(&all(others), 2);
        assert!(text(Some(0.7)).contains("other programs kept 0.70 of 2 processors busy"));
        assert!(!text(Some(0.01)).contains("other programs") && !text(None).contains("other programs"));
    }
}
