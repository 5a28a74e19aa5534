//! `deltasoap demo`: real message streams over HTTP on loopback, decoded and answered in full and
//! differentially, with every reply checked.
//!
//! Each stream goes to two servers of its own, one of each kind, message by message and byte for
//! byte the same. Their answers must be equal too. The figures are measured at the servers.

mod arrays;
mod html;
mod meter;
mod per_mode;
mod reply_recorder;
mod report;
mod server;
mod streams;
mod wire;

use crate::cli::{Demo, StreamName};
use crate::figures::PLAYS;
use crate::files::write_page;
use crate::output::print_line;
use crate::progress;
use crate::replay;
use crate::services::Services;
use anyhow::{Context as _, Result};
use arrays::Arrays;
use clap::ValueEnum;
use deltasoap::engine::{Differential, Templating};
use deltasoap_cost::measure::{LoadMonitor, process_time};
use deltasoap_http::{ServiceStats, Sharing};
use deltasoap_streams::vsphere::FETCH_PAIRS;
use indicatif::ProgressBar;
use meter::{Meter, Readings};
use per_mode::PerMode;
use report::Outcome;
use server::DemoServer;
use std::sync::Arc;

/// Runs the demo.
pub async fn run(arguments: &Demo) -> Result<()> {
    if !arguments.json {
        print_line(format_args!("{}\n", report::INTRODUCTION))?;
    }
    let outcomes = outcomes(arguments, PLAYS).await?;
    report::print(&outcomes, arguments.json)?;
    if chosen(arguments).any(|name| name == StreamName::Vsphere) {
        replay_sessions(arguments.json)?;
    }
    if let Some(path) = arguments.report_path() {
        write_page(path, html::page(&outcomes))?;
        if !arguments.json {
            print_line(format_args!("\nThe same as pictures: {}", path.display()))?;
        }
    }
    Ok(())
}

/// Replays the recorded vSphere sessions, requests and responses, as `deltasoap replay --wsdl`
/// would.
fn replay_sessions(json: bool) -> Result<()> {
    let report = replay::v_sphere().context("the recorded sessions")?;
    if json {
        return report.print(json);
    }
    print_line(format_args!(
        "\nRead by the WSDL alone, without generated types: {} recorded messages of vSphere, in full and\n\
         by their differences, to the same values. Your own: deltasoap replay --wsdl WSDL DIRECTORY",
        report.messages()
    ))
}

async fn outcomes(arguments: &Demo, times: u32) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for name in chosen(arguments) {
        let bar = progress::bar(name.label(), length(name, arguments) * u64::from(times));
        let others = LoadMonitor::start(process_time());
        let mut plays = Vec::new();
        for number in 0..times {
            // The future is large, since it holds the state of all streams: it lives on the heap,
            // not in the caller's frame.
            let play = Box::pin(play(name, number, arguments, &bar)).await;
            plays.push(play.with_context(|| format!("stream {}", name.label()))?);
        }
        bar.finish_and_clear();
        outcomes.push(Outcome { name, kind: kind(name, arguments), plays, busy: replay::busy(&others) });
    }
    Ok(outcomes)
}

fn chosen(arguments: &Demo) -> impl Iterator<Item = StreamName> {
    let all = StreamName::value_variants().iter().copied();
    all.filter(|name| arguments.stream.is_empty() || arguments.stream.contains(name))
}

/// Plays a stream once, with services that have seen no message.
async fn play(name: StreamName, number: u32, arguments: &Demo, bar: &ProgressBar) -> Result<PerMode<Readings>> {
    let servers = PerMode {
        regular: DemoServer::start(regular()?).await?,
        differential: DemoServer::start(differential(name)?).await?,
    };
    let mut meter = Meter::new(servers.map(|server| stats(name, &server.services)), number, bar.clone());
    match name {
        StreamName::Tr069 => streams::inform(arguments.devices, &servers, &mut meter).await?,
        StreamName::Tr069Shared => streams::inform_reconnecting(arguments.devices, &servers, &mut meter).await?,
        StreamName::Vsphere => streams::fetch(arguments.sessions, &servers, &mut meter).await?,
        _ => Arrays::new(arguments, &servers, &mut meter)?.run(name).await?,
    }
    let readings = meter.finish();
    servers.regular.stop().await?;
    servers.differential.stop().await?;
    Ok(readings)
}

/// Creates services that decode and encode every message in full.
fn regular() -> Result<Services> {
    Services::new(Differential::OFF, Templating::OFF, Sharing::default())
}

/// Creates services that decode and encode what differs from earlier messages.
fn differential(name: StreamName) -> Result<Services> {
    Services::new(Differential::default(), Templating::default(), sharing(name))
}

/// Returns whose messages are compared with each other.
fn sharing(name: StreamName) -> Sharing {
    match name {
        StreamName::Tr069Shared => Sharing::Operation,
        _ => Sharing::Principal,
    }
}

fn stats(name: StreamName, services: &Services) -> Arc<ServiceStats> {
    match name {
        StreamName::Tr069 | StreamName::Tr069Shared => services.tr069.stats(),
        StreamName::Vsphere => services.vsphere.stats(),
        _ => services.bench.stats(),
    }
}

/// Returns the number of messages of a play.
fn length(name: StreamName, arguments: &Demo) -> u64 {
    match name {
        StreamName::Tr069 | StreamName::Tr069Shared => {
            u64::from(arguments.devices) * u64::from(streams::MESSAGES_PER_DEVICE)
        }
        StreamName::Vsphere => FETCH_PAIRS as u64 * u64::from(arguments.sessions),
        _ => u64::from(arguments.rounds),
    }
}

/// Returns what differs between one message of a stream and the next.
fn kind(name: StreamName, arguments: &Demo) -> report::Kind {
    match name {
        StreamName::Tr069 | StreamName::Tr069Shared => report::Kind::Derived,
        StreamName::Vsphere => report::Kind::Recorded,
        _ => report::Kind::Changed(arguments.changed),
    }
}

impl StreamName {
    /// Returns the name in tables.
    fn label(self) -> &'static str {
        match self {
            StreamName::Tr069 => "tr069",
            StreamName::Tr069Shared => "tr069-shared",
            StreamName::Vsphere => "vsphere",
            StreamName::Ints => "ints",
            StreamName::Easy => "easy",
            StreamName::Hard => "hard",
            StreamName::Structs => "structs",
            StreamName::Strings => "strings",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn demo() -> Demo {
        Demo {
            stream: Vec::new(),
            devices: 8,
            sessions: 1,
            size: 500,
            rounds: 5,
            changed: 10,
            partitions: 3,
            json: true,
            report: PathBuf::new(),
            no_report: true,
        }
    }

    #[tokio::test]
    async fn every_stream_is_checked_and_both_services_get_the_same_bytes() {
        let demo = demo();
        let outcomes = outcomes(&demo, 2).await.expect("the streams");
        assert_eq!(outcomes.len(), StreamName::value_variants().len());
        for Outcome { name, plays, .. } in &outcomes {
            assert_eq!(plays.len(), 2, "{}", name.label());
            let readings = &plays[1];
            let sent = readings.map(|readings| (readings.totals.messages, readings.totals.bytes_in));
            assert_eq!(sent.regular, sent.differential, "{}", name.label());
            assert_eq!(sent.regular.0, length(*name, &demo));
            assert_eq!(readings.regular.totals.differential.fast_bytes, 0, "{}", name.label());
            let responses = readings.map(|readings| readings.totals.encode);
            assert_eq!(responses.regular.first, sent.regular.0, "{}", name.label());
            let kinds = responses.differential;
            assert_eq!(kinds.content + kinds.perfect + kinds.partial + kinds.first, sent.regular.0, "{}", name.label());
        }
    }

    #[tokio::test]
    async fn the_report_shows_the_chosen_streams() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("not/there/yet/demo.html");
        let stream = vec![StreamName::Hard, StreamName::Tr069];
        run(&Demo { stream, report: path.clone(), no_report: false, ..demo() }).await.expect("the demo");
        let page = std::fs::read_to_string(path).expect("the report");
        assert!(page.contains("hard") && page.contains("tr069") && !page.contains("strings"));
        assert_eq!(page.matches("<figure class=\"plot\"").count(), 7);
    }

    #[tokio::test]
    async fn devices_that_stay_connected_are_compared_with_themselves() {
        let demo = Demo { stream: vec![StreamName::Tr069], ..demo() };
        let outcomes = outcomes(&demo, 1).await.expect("the stream");
        let stats = outcomes[0].plays[0].differential.totals.differential;
        assert_eq!(stats.messages, length(StreamName::Tr069, &demo));
        // How many more depends on which way takes less time.
        assert!(stats.compared >= u64::from(demo.devices) && stats.fast_bytes > 0, "{stats:?}");
    }
}
