//! `cost plan`: what many clients see.

use super::load::{self, Observed, Range};
use super::tables::{percent, time};
use super::{calibration, check_changes, html, operations, sizes};
use crate::cli::cost::Plan as Arguments;
use crate::output::stdout;
use anyhow::{Context as _, Result, bail, ensure};
use deltasoap_cost::measure::BackgroundLoad;
use deltasoap_cost::plan::{
    Answer, CapacityPlan, HTTP, Knee, Load, Outcome, System, answers, binary_cost, outcome, plan,
};
use deltasoap_cost::predict::{Direction, MessageCost, Sample, message_cost, samples};
use deltasoap_cost::{Machine, Mode, Model};
use deltasoap_report::Grid;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write as _;

/// Number of runs of each load test; the median counts.
const ROUNDS: usize = 3;
/// Numbers of clients of the load tests, relative to the knee.
const AROUND_KNEE: [f64; 3] = [0.5, 1.0, 1.5];
/// Maximum number of clients of a load test. Each takes two open files of this process, whose limit
/// is often 1024.
const MAX_CLIENTS: f64 = 480.0;
/// Number of bisection steps in the search for the service time.
const HALVINGS: u32 = 40;

/// Computes the plan, and prints it.
pub async fn run(arguments: &Arguments) -> Result<()> {
    let mut operations = operations(&arguments.messages)?;
    ensure!(operations.len() == 1, "select an operation with --operation");
    let operation = operations.remove(0);
    let calibration = calibration(&arguments.calibrated)?;
    let model = Model::fit(&calibration)?;
    check_changes(&arguments.messages, &model)?;
    let sizes = sizes(&arguments.messages)?;
    let samples = samples(&operation, &sizes).with_context(|| operation.full_name())?;
    let costs: Vec<MessageCost> = samples.iter().map(|it| message_cost(&model, it)).collect::<Result<_, _>>()?;
    let mut system = system(arguments, &costs, calibration.machine.cores as u32);
    let load = load_of(arguments);
    // Called before anything is measured, too: meaningless arguments are refused here.
    let mut planned = plan(&system, load)?;
    let mut binary = binary_cost(&samples, xml_client(&costs));
    let mut observed = None;
    if arguments.validate {
        ensure!(model.mode == Mode::Regular, "a plan can be validated only in regular mode");
        observed = Some(validate(arguments, &samples, &mut system).await?);
        (planned, binary) = (plan(&system, load)?, binary.on_one_machine());
    }
    let answers = answers(&system, load, Some(&binary));
    if let Some(path) = &arguments.html {
        html::plan(path, &model, &planned, &answers, &curve(&system, load), observed.as_ref())?;
    }
    if arguments.json {
        let json = json!({ "plan": planned, "answers": answers, "validation": observed });
        return Ok(writeln!(stdout(), "{json}")?);
    }
    print(&planned, &answers, observed.as_ref())
}

fn load_of(arguments: &Arguments) -> Load {
    match (arguments.clients, arguments.rate) {
        (Some(clients), _) => Load::Closed { clients, think: arguments.think },
        (None, rate) => Load::Open { rate: rate.unwrap_or_default() },
    }
}

/// Returns the seconds that the two messages take on one side.
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
        after_response: 0.0,
    }
}

/// Predictions and the load tests that they are compared with.
#[derive(Debug, serde::Serialize)]
pub struct Validation {
    /// Number of clients of the test that the service time is taken from.
    base: u32,
    tests: Vec<Validated>,
}

/// A prediction for a number of clients, and the load tests with as many.
#[derive(Debug, Clone, serde::Serialize)]
struct Validated {
    clients: u32,
    predicted: Outcome,
    /// Bounds that hold without a queueing network.
    bounds: Bounds,
    observed: Observed,
    range: Range,
    /// Share of all processors that clients and server kept busy.
    utilisation: f64,
}

/// The asymptotic bounds of throughput and response time (Lazowska et al., 5.2): answers are as
/// fast as under light load, until the bottleneck is saturated. A plan that is no closer to the
/// measurements than these bounds says nothing about waiting.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
struct Bounds {
    throughput: f64,
    response: f64,
}

impl Bounds {
    fn new(light: &Observed, most: f64, clients: u32, think: f64) -> Self {
        let clients = f64::from(clients);
        let throughput = (clients / (think + light.response)).min(most);
        Bounds { throughput, response: clients / throughput - think }
    }
}

/// Runs load tests around the knee, where waiting begins and response times depend on the plan, and
/// with the requested number of clients. The tests are interleaved: background load changes from
/// minute to minute, and should not look like an effect of the number of clients. The service time
/// is taken from tests under light load, which are not part of the comparison.
async fn validate(arguments: &Arguments, samples: &[Sample], system: &mut System) -> Result<Validation> {
    // Clients and server share this machine: the XML of both sides costs the same processors.
    (system.xml, system.client) = (system.xml + system.client, 0.0);
    let think = arguments.think;
    let closed = |clients| Load::Closed { clients, think };
    let target = load::Target::start(samples).await?;
    let base = light_load(knee_of(system, closed(1))?, think);
    let mut pilot = system.clone();
    take_service(&mut pilot, &target.run(base, think).await?, closed(base))?;
    let counts = client_counts(knee_of(&pilot, closed(base))?, think, arguments.clients, base)?;
    let mut tests = vec![Vec::new(); 1 + counts.len()];
    for _ in 0..ROUNDS {
        for (&clients, tests) in std::iter::once(&base).chain(&counts).zip(&mut tests) {
            tests.push(target.run(clients, think).await?);
        }
    }
    target.stop();
    let light = Observed::median(&tests[0]).context("there was no load test")?;
    take_service(system, &light, closed(base))?;
    let most = system.bottleneck().1;
    let validated = |(&clients, tests): (&u32, &Vec<Observed>)| -> Result<Validated> {
        let observed = Observed::median(tests).context("there was no load test")?;
        Ok(Validated {
            clients,
            predicted: outcome(system, closed(clients))?,
            bounds: Bounds::new(&light, most, clients, think),
            observed,
            range: Range::from_observations(tests).context("there was no load test")?,
            utilisation: observed.throughput * observed.demand / f64::from(system.cores),
        })
    };
    Ok(Validation { base, tests: counts.iter().zip(&tests[1..]).map(validated).collect::<Result<_>>()? })
}

fn knee_of(system: &System, load: Load) -> Result<f64> {
    match plan(system, load)?.knee {
        Knee::Clients(clients) => Ok(clients),
        Knee::Rate(_) => bail!("a plan is validated with a number of clients"),
    }
}

/// Returns a number of clients that hardly wait for each other: a quarter of the clients at a knee
/// that is known roughly, or one without think time.
fn light_load(knee: f64, think: f64) -> u32 {
    if think > 0.0 { (knee / 4.0).clamp(1.0, MAX_CLIENTS / 4.0) as u32 } else { 1 }
}

/// Returns the numbers of clients to test with: those around the knee, and the requested one.
fn client_counts(knee: f64, think: f64, asked: Option<u32>, base: u32) -> Result<Vec<u32>> {
    let around = AROUND_KNEE.map(|part| part * knee);
    let most = around.into_iter().fold(0.0, f64::max);
    ensure!(
        most <= MAX_CLIENTS,
        "the knee is at {knee:.0} clients, and load tests have {MAX_CLIENTS} at most: with fewer, none of them waits for another, and there is \
         nothing to validate; take a shorter --think, such as {:.3}",
        think * MAX_CLIENTS / most * 0.8
    );
    let around = around.map(|clients| clients.round().max(1.0) as u32);
    let asked = asked.filter(|&clients| f64::from(clients) <= MAX_CLIENTS);
    let counts: BTreeSet<u32> = around.into_iter().chain(asked).filter(|&clients| clients != base).collect();
    ensure!(!counts.is_empty(), "the service time is taken from the only load test, so it proves nothing");
    Ok(counts.into_iter().collect())
}

/// Takes the service time from a load test: a request's demand minus the predicted XML. Clients and
/// server share this machine, so the clients' work is the processor's too. The clients of the test
/// think as the others do: a call after a pause finds cold caches, and costs more.
fn take_service(system: &mut System, known: &Observed, load: Load) -> Result<()> {
    (system.client, system.bandwidth) = (0.0, f64::INFINITY);
    // The two sides also work in parallel, and threads work after an answer was sent: clients do
    // not wait for that, but it keeps the processor busy. The search finds the part of the demand
    // whose waiting explains the response time.
    let (mut least, mut most) = (system.xml.min(known.demand), known.demand);
    for _ in 0..HALVINGS {
        let waited = (least + most) / 2.0;
        let response = with_service(system, known.demand, waited, load)?.1.response;
        if response < known.response { least = waited } else { most = waited }
    }
    let (taken, explained) = with_service(system, known.demand, most, load)?;
    // The rest of the response time does not depend on the load: timers, wake-ups.
    *system = System { client: (known.response - explained.response).max(0.0), ..taken };
    Ok(())
}

/// Returns the system whose answers wait for `waited` seconds of a request's demand, and its
/// predicted outcome.
fn with_service(system: &System, demand: f64, waited: f64, load: Load) -> Result<(System, Outcome)> {
    let service = (waited - system.xml).max(0.0);
    let after_response = (demand - system.xml - service).max(0.0);
    let taken = System { service, after_response, ..system.clone() };
    let outcome = outcome(&taken, load)?;
    Ok((taken, outcome))
}

/// Loads, and the predicted outcome for each.
pub type Curve = [(f64, Outcome)];

/// Plans for growing loads, up to twice the requested one, as far as they can be served.
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

fn print(plan: &CapacityPlan, answers: &[Answer], observed: Option<&Validation>) -> Result<()> {
    let mut out = stdout();
    let [demand, result @ ..] = summary(plan);
    writeln!(out, "{demand}\n\n{}\n", result.join("\n"))?;
    writeln!(out, "{}\n", stations(&plan.outcome).terminal())?;
    writeln!(out, "{}", changes(answers).terminal())?;
    if let Some(observed) = observed {
        writeln!(out, "\n{}", validated(observed, Machine::current().cores))?;
    }
    Ok(())
}

/// Returns the plan in sentences.
pub fn summary(plan: &CapacityPlan) -> [String; 4] {
    let (system, outcome) = (&plan.system, &plan.outcome);
    let seconds = |it: f64| time(it * 1e9);
    let knee = match plan.knee {
        Knee::Clients(clients) => format!("{clients:.1} clients"),
        Knee::Rate(rate) => format!("{rate:.1} requests a second"),
    };
    [
        format!(
            "At the server, a request takes {} for XML, {} for everything else, and {} after the answer. At the client, it \
             takes {}. Its messages have {:.0} and {:.0} bytes.",
            seconds(system.xml),
            seconds(system.service),
            seconds(system.after_response),
            seconds(system.client),
            system.request_bytes,
            system.response_bytes
        ),
        format!(
            "The server answers {:.1} requests a second, in {} on average.",
            outcome.throughput,
            seconds(outcome.response)
        ),
        format!("The {} saturates first: at {:.1} requests a second.", plan.bottleneck, plan.max_throughput),
        format!("The knee is at {knee}: more of them mostly wait."),
    ]
}

/// Returns the table of what is busy.
pub fn stations(outcome: &Outcome) -> Grid {
    let row = |it: &deltasoap_cost::plan::Occupation| {
        [it.station.to_owned(), percent(it.utilisation), format!("{:.2}", it.queue), time(it.residence * 1e9)]
    };
    Grid::new("What is busy", &["", "busy", "requests there", "time there"], 1).with(outcome.stations.iter().map(row))
}

/// Returns the table of what would change the outcome.
pub fn changes(answers: &[Answer]) -> Grid {
    let headings = ["with", "response time", "change", "throughput", "change"];
    Grid::new("What would change it", &headings, 1).with(answers.iter().map(answer))
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

fn validated(validation: &Validation, cores: usize) -> String {
    let mut text = load_tests(validation).terminal() + "\n" + &about_tests(validation);
    if let Some(busy) = others(validation, cores) {
        text += &format!("\n{busy}");
    }
    text
}

/// Returns the table of predictions and load tests.
pub fn load_tests(validation: &Validation) -> Grid {
    let off = |predicted: f64, observed: f64| format!("{:+.1} %", (predicted / observed - 1.0) * 100.0);
    let row = |it: &Validated| {
        let (rates, times) = (it.range.throughput, it.range.response);
        [
            it.clients.to_string(),
            percent(it.utilisation),
            format!("{:.1}/s ({:.1} to {:.1})", it.observed.throughput, rates.0, rates.1),
            off(it.predicted.throughput, it.observed.throughput),
            off(it.bounds.throughput, it.observed.throughput),
            format!("{} ({} to {})", time(it.observed.response * 1e9), time(times.0 * 1e9), time(times.1 * 1e9)),
            off(it.predicted.response, it.observed.response),
            off(it.bounds.response, it.observed.response),
        ]
    };
    let headings = [
        "clients",
        "busy",
        "throughput",
        "plan off by",
        "bounds off by",
        "response time",
        "plan off by",
        "bounds off by",
    ];
    Grid::new("The plan and load tests", &headings, 1).with(validation.tests.iter().map(row))
}

/// Explains [`load_tests`].
pub fn about_tests(validation: &Validation) -> String {
    format!(
        "Load tests: the median of {ROUNDS}, and their range. The service time is that of {} clients, which is not \
         compared. The bounds are what follows without the plan: answers as fast as with these clients, until the \
         processor is full.",
        validation.base
    )
}

/// Returns a warning if other programs disturbed the load tests.
pub fn others(validation: &Validation, cores: usize) -> Option<String> {
    let others = validation.tests.iter().filter_map(|it| it.observed.others).reduce(f64::max);
    let busy = BackgroundLoad::new(others, cores)?;
    Some(format!(
        "{busy} during the load tests, which the plan does not include: measure again when the machine is idle"
    ))
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
            after_response: 0.0,
        }
    }

    fn observed(others: Option<f64>) -> Observed {
        Observed { throughput: 10.0, response: 0.005, demand: 0.003, others }
    }

    #[test]
    fn load_tests_are_around_the_knee() {
        let counts = |knee, asked, base| client_counts(knee, 0.1, asked, base).expect("numbers of clients");
        assert_eq!(counts(100.0, Some(80), 25), [50, 80, 100, 150]);
        assert_eq!(counts(100.0, Some(5000), 50), [100, 150], "more than can be tested, and what is known");
        assert_eq!(counts(2.2, None, 1), [2, 3]);
        assert_eq!((light_load(100.0, 0.1), light_load(2.0, 0.1), light_load(100.0, 0.0)), (25, 1, 1));
        assert_eq!(light_load(1e9, 9.0), 120);
    }

    /// Far below the knee nobody waits, and the test that the service time is taken from proves
    /// nothing about it.
    #[test]
    fn tests_that_prove_nothing_are_refused() {
        let error = |knee, asked, base| client_counts(knee, 0.5, asked, base).expect_err("refused").to_string();
        let far = error(4000.0, Some(200), 100);
        assert!(far.contains("the knee is at 4000 clients") && far.contains("--think, such as 0.032"), "{far}");
        assert!(error(0.9, Some(1), 1).contains("it proves nothing"));
    }

    #[test]
    fn bounds_are_those_of_light_and_of_full_load() {
        let light = observed(None);
        assert_eq!(Bounds::new(&light, 100.0, 2, 0.095), Bounds { throughput: 20.0, response: 2.0 / 20.0 - 0.095 });
        let full = Bounds::new(&light, 100.0, 50, 0.095);
        assert!(full.throughput == 100.0 && (full.response - 0.405).abs() < 1e-12, "{full:?}");
    }

    /// The plan reproduces what was measured with few clients.
    #[test]
    fn the_service_time_explains_the_light_load() {
        let (mut system, load) = (system(), Load::Closed { clients: 2, think: 0.1 });
        take_service(&mut system, &observed(None), load).expect("taken");
        assert!((system.xml + system.service - 0.003).abs() < 1e-12 && system.client > 0.0);
        let response = outcome(&system, load).expect("solved").response;
        assert!((response - 0.005).abs() < 1e-4, "{response}");
    }

    /// Processors that work in parallel, and after the answer, take more time than anyone waits.
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
        let of = |others| Validated {
            clients: 2,
            predicted: predicted.clone(),
            bounds: Bounds { throughput: 20.0, response: 0.006 },
            observed: observed(others),
            range: Range { throughput: (9.5, 10.5), response: (0.004, 0.007) },
            utilisation: 0.42,
        };
        let text = |others| validated(&Validation { base: 1, tests: vec![of(others)] }, 2);
        let said = text(None);
        for part in ["42.0 %", "10.0/s (9.5 to 10.5)", "+100.0 %", "+20.0 %", "that of 1 clients"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(text(Some(0.7)).contains("other programs kept 0.70 of 2 processors busy"));
        assert!(!text(Some(0.01)).contains("other programs") && !text(None).contains("other programs"));
    }
}
