//! `load`: many requests to a service, each answer checked.
//!
//! The generator is the crate `deltasoap-load`, the same as that of the benchmarks. Here are its
//! requests, from a WSDL ([`calls`], [`template`], [`prepare`]) or [`recorded`]; the [`check`] of
//! answers; and the [`report`], with a page ([`html`]) and [`conditions`] for continuous integration.

mod calls;
mod check;
mod conditions;
mod html;
mod prepare;
mod recorded;
mod report;
mod request;
mod template;
mod traffic;

use super::access::tls;
use super::call::NO_ANSWER;
use super::remedy::{SentCredentials, remedy};
use super::{INTERPRETATION_NOTES, contract_of, policy_warnings, report_notes, without_secrets};
use crate::cli;
use crate::files::write_page;
use crate::output::{one_line, report, with_causes};
use anyhow::{Context as _, Result, anyhow, ensure};
use check::Checker;
use conditions::Condition;
use deltasoap_cost::measure::process_time;
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_load::{ClientConfig, End, Outcome, Plan, Progress, Shares, Stop, Target, Watch, Wire, run};
use indicatif::{ProgressBar, ProgressStyle};
use report::{Report, milliseconds};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use template::Rows;
use traffic::{Kind, Order, Prepared};
use url::Url;

/// Duration of a load if neither it nor the number of requests is given.
const DURATION: Duration = Duration::from_secs(10);
/// Shortest stretch of time with figures of its own.
const STRETCH: Duration = Duration::from_millis(250);
/// Exit code if the arguments, or what they name, cannot be used.
const UNUSABLE: u8 = 2;
/// Maximum number of connections and of threads.
const MAX_CONNECTIONS: usize = 100_000;
const MAX_THREADS: usize = 256;
/// Maximum number of operations times threads: each has a histogram of some 200 KB.
const MAX_HISTOGRAMS: usize = 2048;

/// Loads a service and prints the results.
pub async fn load(arguments: &cli::Load) -> Result<ExitCode> {
    let ready = match ready(arguments).await {
        Ok(ready) => ready,
        Err(error) => {
            report(format_args!("error: {}", with_causes(error.as_ref())));
            return Ok(ExitCode::from(UNUSABLE));
        }
    };
    let Ready { url, prepared, conditions, tls } = ready;
    let names: Vec<String> = prepared.kinds.iter().map(|kind| kind.name.clone()).collect();
    let target = match target(&url, tls.as_ref(), arguments).await? {
        Ok(target) => target,
        Err(why) => {
            // No proxy is used.
            let hint = remedy(&why, SentCredentials::Nothing).filter(|hint| !hint.contains("--proxy"));
            let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            report(format_args!("error: {} cannot be reached: {why}{hint}", shown(&url)));
            return Ok(ExitCode::from(NO_ANSWER));
        }
    };
    let (outcome, cpu_share) = generated(arguments, target, prepared).await?;
    let report = reported(arguments, &url, names, (outcome, cpu_share), &conditions);
    report.print(arguments.json)?;
    arguments.html.iter().try_for_each(|path| write_page(path, html::page(&report)))?;
    Ok(exit_code(&report))
}

/// What a load needs, read and checked.
struct Ready {
    url: Url,
    prepared: Prepared,
    conditions: Vec<Condition>,
    /// The configuration of TLS for `https`.
    tls: Option<ClientConfig>,
}

/// Reads all inputs. An error is one of the arguments, or of what they name.
async fn ready(arguments: &cli::Load) -> Result<Ready> {
    let conditions = conditions::conditions(&arguments.conditions)?;
    refuse_unsupported(arguments)?;
    let contract = arguments.wsdl.as_deref().map(|wsdl| contract_of(wsdl, &arguments.loading)).transpose()?;
    contract.iter().for_each(|contract| report_notes(contract, &INTERPRETATION_NOTES));
    let (url, prepared) = match &contract {
        Some(contract) if arguments.messages.is_empty() => called(arguments, contract).await?,
        contract => recorded(arguments, contract.as_ref())?,
    };
    let most = MAX_HISTOGRAMS / arguments.threads.get();
    ensure!(prepared.kinds.len() <= most, "there are more than {most} operations; name fewer, or use fewer --threads");
    let tls = (url.scheme() == "https").then(|| tls(&arguments.loading.access)?.config().map_err(anyhow::Error::from));
    Ok(Ready { url, prepared, conditions, tls: tls.transpose()? })
}

fn exit_code(report: &Report) -> ExitCode {
    let is_decided = report.outcome.end == End::Failures || !report.held.is_empty();
    match report.total.answered() {
        _ if is_decided => ExitCode::FAILURE,
        0 if report.total.received == 0 => ExitCode::from(NO_ANSWER),
        0 => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}

/// Formats a URL without what may be secret: credentials, the fragment, and the values of the query.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    without_secrets(url.as_str())
}

fn refuse_unsupported(arguments: &cli::Load) -> Result<()> {
    let access = &arguments.loading.access;
    ensure!(!access.digest, "--digest: Digest authentication needs a challenge of the server; `load` does not have it");
    ensure!(access.proxy.is_none(), "--proxy: `load` sends without a proxy, which would be measured too");
    ensure!(arguments.connections.get() <= MAX_CONNECTIONS, "there can be at most {MAX_CONNECTIONS} connections");
    ensure!(arguments.threads.get() <= MAX_THREADS, "there can be at most {MAX_THREADS} threads");
    let is_schema = arguments.check == cli::Check::Schema;
    ensure!(!is_schema || arguments.wsdl.is_some(), "--check schema needs the WSDL");
    Ok(())
}

/// Prepares calls of operations.
async fn called(arguments: &cli::Load, contract: &Contract) -> Result<(Url, Prepared)> {
    let rows = arguments.data_from.as_deref().map_or_else(|| Ok(Rows::default()), Rows::read)?;
    let calls = calls::calls(arguments, contract, &rows)?;
    let operations: Vec<Operation> = calls.iter().map(|call| call.operation.clone()).collect();
    policy_warnings(&operations).iter().for_each(|warning| report(format_args!("warning: {warning}")));
    let (mut kinds, mut first) = (Vec::new(), None::<Url>);
    for call in &calls {
        let (url, requests) = prepare::requests(arguments, contract, call, &rows).await?;
        let first = first.get_or_insert_with(|| url.clone());
        ensure!(first.origin() == url.origin(), "the operations are on several hosts; --endpoint takes one");
        kinds.push(Kind { name: call.operation.full_name(), requests });
    }
    shorten(&mut kinds, &operations);
    let url = first.context("there is no operation to call")?;
    let shares = Shares::new(calls.iter().map(|call| call.weight), arguments.seed);
    let checker = checker(arguments, Some(contract), operations.iter().map(Some));
    Ok((url, Prepared { kinds, order: Order::Drawn(shares), checker, seed: arguments.seed }))
}

/// Prepares recorded messages.
fn recorded(arguments: &cli::Load, contract: Option<&Contract>) -> Result<(Url, Prepared)> {
    let (url, recording) = recorded::recording(arguments, contract)?;
    let checker = checker(arguments, contract, recording.kinds.iter().map(|kind| kind.operation.as_ref()));
    let operations: Vec<Operation> = recording.kinds.iter().filter_map(|kind| kind.operation.clone()).collect();
    let kinds = recording.kinds.into_iter().map(|kind| Kind { name: kind.name, requests: kind.requests });
    let mut kinds: Vec<Kind> = kinds.collect();
    shorten(&mut kinds, &operations);
    Ok((url, Prepared { kinds, order: Order::Recorded(recording.order), checker, seed: arguments.seed }))
}

/// Leaves out the ports in the names of kinds if the operations differ without them. Either all kinds
/// have an operation or none.
fn shorten(kinds: &mut [Kind], operations: &[Operation]) {
    let names: Vec<String> = operations.iter().map(Operation::distinct_name).collect();
    let is_plain = names.iter().collect::<BTreeSet<_>>().len() == names.len();
    kinds.iter_mut().zip(names).filter(|_| is_plain).for_each(|(kind, name)| kind.name = name);
}

fn checker<'o>(
    arguments: &cli::Load,
    contract: Option<&Contract>,
    operations: impl Iterator<Item = Option<&'o Operation>>,
) -> Checker {
    Checker::new(arguments.check, arguments.faults_ok, arguments.max_answer, contract.cloned(), operations)
}

/// Finds an address of the service at which a server listens. The inner error is why there is none.
async fn target(url: &Url, config: Option<&ClientConfig>, arguments: &cli::Load) -> Result<Result<Target, String>> {
    let resolved = url.clone();
    let addresses = tokio::task::spawn_blocking(move || resolved.socket_addrs(|| None)).await?;
    let addresses = match addresses {
        Ok(addresses) => addresses,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let mut why = None;
    for address in addresses {
        let target = match config {
            Some(config) => Target::tls(address, config.clone(), url.host_str().unwrap_or_default())?,
            None => Target::plain(address),
        };
        let target = target.max_answer(arguments.max_answer);
        match tokio::time::timeout(arguments.timeout, Wire::connect(&target)).await {
            Ok(Ok(_)) => return Ok(Ok(target)),
            Ok(Err(failed)) => why = Some(failed.detail),
            Err(_) => why = Some(format!("there is no connection within {:?}", arguments.timeout)),
        }
    }
    Ok(Err(why.unwrap_or_else(|| "its host has no address".to_owned())))
}

fn plan(arguments: &cli::Load) -> Plan {
    let time = arguments.duration.or(arguments.requests.is_none().then_some(DURATION));
    Plan {
        connections: arguments.connections.get(),
        threads: arguments.threads.get().min(arguments.connections.get()),
        open: arguments.rate.map(|rate| (rate, arguments.arrivals)),
        ramp: arguments.ramp,
        warm_up: arguments.warm_up,
        time,
        requests: arguments.requests,
        think: Duration::from_millis(arguments.think),
        reconnect: arguments.reconnect,
        timeout: arguments.timeout,
        max_failed: arguments.max_errors,
        seed: arguments.seed,
        stretch: Some(STRETCH),
    }
}

/// Runs the load; returns the results, and the share of its threads' time in which the generator was
/// busy. An interrupt ends it.
async fn generated(arguments: &cli::Load, target: Target, prepared: Prepared) -> Result<(Outcome, Option<f64>)> {
    let (plan, stop) = (plan(arguments), Stop::default());
    let threads = plan.threads as f64;
    let _guard = StopOnDrop(stop.clone());
    let stopped = stop.clone();
    let running = tokio::task::spawn_blocking(move || {
        let mut watcher = Watcher::new(&plan);
        let outcome = run(&target, prepared, &plan, &stopped, &mut watcher)?;
        watcher.bar.finish_and_clear();
        let busy = watcher.begin.map(|(cpu, begin)| {
            (process_time().saturating_sub(cpu)).as_secs_f64() / begin.elapsed().as_secs_f64().max(f64::MIN_POSITIVE)
        });
        anyhow::Ok((outcome, busy.map(|busy| busy / threads)))
    });
    tokio::pin!(running);
    tokio::select! {
        done = &mut running => return done.map_err(|error| anyhow!("the load failed: {error}"))?,
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    stop.stop();
    running.await.map_err(|error| anyhow!("the load failed: {error}"))?
}

/// Ends the load when the command ends.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Shows the progress.
struct Watcher {
    bar: ProgressBar,
    requests: Option<u64>,
    /// Processor time and time when the measurement began.
    begin: Option<(Duration, Instant)>,
    /// The time of the last look at the figures.
    last: Duration,
}

const TEMPLATE: &str = "{bar:30} {elapsed} {msg}";
/// Interval in which figures are shown.
const LOOK: Duration = Duration::from_millis(500);

impl Watcher {
    fn new(plan: &Plan) -> Self {
        let whole = plan.time.filter(|_| plan.requests.is_none()).map(|time| plan.warm_up + time);
        let length = whole.map_or(plan.requests.unwrap_or(0), millis);
        let bar = ProgressBar::new(length);
        // The template is a constant that the tests cover.
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = bar.with_style(style).with_message("warming up");
        Watcher { bar, requests: plan.requests, begin: None, last: Duration::ZERO }
    }
}

impl Watch for Watcher {
    fn begin(&mut self) {
        self.begin = Some((process_time(), Instant::now()));
    }

    fn tick(&mut self, progress: &Progress<'_>) {
        if self.requests.is_none() {
            self.bar.set_position(millis(progress.elapsed));
        }
        if self.bar.is_hidden() || progress.measured.is_zero() || progress.elapsed < self.last + LOOK {
            return;
        }
        self.last = progress.elapsed;
        let total = progress.so_far();
        let done = total.latencies.len() + total.failed;
        let quantile = |share| milliseconds(total.latencies.value_at_quantile(share) as f64 / 1e3);
        if self.requests.is_some() {
            self.bar.set_position(done);
        }
        self.bar.set_message(format!(
            "{:.0}/s, p50 {} ms, p99 {} ms, errors {}",
            done as f64 / progress.measured.as_secs_f64(),
            quantile(0.5),
            quantile(0.99),
            total.failed
        ));
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn reported(
    arguments: &cli::Load,
    url: &Url,
    names: Vec<String>,
    (mut outcome, cpu_share): (Outcome, Option<f64>),
    conditions: &[Condition],
) -> Report {
    let total = outcome.total();
    let held = conditions.iter().filter_map(|condition| condition.holds(&total, outcome.time)).collect();
    let tallies = std::mem::take(&mut outcome.tallies);
    Report {
        url: one_line(&shown(url)),
        plan: described(arguments, &outcome),
        rate: arguments.rate,
        kinds: names.into_iter().zip(tallies).collect(),
        total,
        outcome,
        cpu_share,
        held,
    }
}

/// Describes the load in words.
fn described(arguments: &cli::Load, outcome: &Outcome) -> String {
    let connections = match arguments.connections.get() {
        1 => "1 connection".to_owned(),
        count => format!("{count} connections"),
    };
    let pace = match arguments.rate {
        Some(rate) => format!("open loop, {rate} requests per second, at most {connections}"),
        None => format!("closed loop, {connections}"),
    };
    let end = match outcome.end {
        End::Complete => "",
        End::Failures => ", ended by --max-errors",
        End::Stopped => ", interrupted",
    };
    format!("{pace}, {:.2} s{end}", outcome.time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_url_are_not_shown() {
        let shown = |url: &str| super::shown(&Url::parse(url).expect("a URL"));
        assert_eq!(shown("http://ada:pw@h/a?token=s3cret&x=1=2&k3y#f"), "http://h/a?token=...&x=...&...");
        assert_eq!(shown("https://h:8443/a"), "https://h:8443/a");
    }

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
