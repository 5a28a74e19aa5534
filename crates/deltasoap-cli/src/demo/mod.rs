//! `deltasoap demo`: real message streams over HTTP on loopback, every reply checked.

mod report;
mod streams;
mod wire;

use crate::cli::{Demo, StreamName};
use crate::services::Services;
use anyhow::{Context as _, Result};
use clap::ValueEnum;
use deltasoap_http::{Server, ServiceStats, StatsSnapshot};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use report::Row;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// Runs the demo.
pub async fn run(arguments: &Demo) -> Result<()> {
    let services = Services::new()?;
    let server = Server::bind((Ipv4Addr::LOCALHOST, 0)).await.context("cannot listen on 127.0.0.1")?;
    let address = server.local_addr()?;
    let handle = server.handle();
    let serving = tokio::spawn(server.serve(services.router().into_service()));
    if !arguments.json {
        println!("A server on http://{address} and a client in one process, over HTTP; every reply is checked.\n");
    }
    let rows = run_streams(arguments, &services, address).await?;
    handle.shutdown();
    serving.await??;
    report::print(&rows, arguments.json)
}

async fn run_streams(arguments: &Demo, services: &Services, address: SocketAddr) -> Result<Vec<Row>> {
    let chosen = |name: &StreamName| arguments.stream.is_empty() || arguments.stream.contains(name);
    let mut rows = Vec::new();
    for &name in StreamName::value_variants().iter().filter(|name| chosen(name)) {
        let stats = stats_of(name, services);
        let bar = progress_bar(name, streams::length(name, arguments));
        let (before, begin) = (stats.snapshot(), Instant::now());
        streams::run(name, arguments, address, &bar).await.with_context(|| format!("stream {}", name.label()))?;
        let seconds = begin.elapsed();
        bar.finish_and_clear();
        rows.push(Row::new(name.label(), since(&stats.snapshot(), &before), seconds));
    }
    Ok(rows)
}

fn stats_of(name: StreamName, services: &Services) -> Arc<ServiceStats> {
    match name {
        StreamName::Tr069 => services.tr069.stats(),
        StreamName::Vsphere => services.vsphere.stats(),
        _ => services.bench.stats(),
    }
}

/// A bar on standard error; nothing where that is no terminal.
fn progress_bar(name: StreamName, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:>10} [{bar:40}] {pos}/{len} messages, {per_sec}");
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    // The template is a constant that the tests cover.
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message(name.label())
}

impl StreamName {
    /// The name in tables.
    fn label(self) -> &'static str {
        match self {
            StreamName::Tr069 => "tr069",
            StreamName::Vsphere => "vsphere",
            StreamName::Ints => "ints",
            StreamName::Easy => "easy",
            StreamName::Hard => "hard",
            StreamName::Structs => "structs",
            StreamName::Strings => "strings",
        }
    }
}

/// What was counted between two snapshots.
fn since(now: &StatsSnapshot, before: &StatsSnapshot) -> StatsSnapshot {
    StatsSnapshot {
        messages: now.messages - before.messages,
        faults: now.faults - before.faults,
        bytes_in: now.bytes_in - before.bytes_in,
        bytes_out: now.bytes_out - before.bytes_out,
        decode_time: now.decode_time.saturating_sub(before.decode_time),
        encode_time: now.encode_time.saturating_sub(before.encode_time),
        differential: now.differential - before.differential,
        evictions: now.evictions - before.evictions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_template_is_valid() {
        assert!(ProgressStyle::with_template("{msg:>10} [{bar:40}] {pos}/{len} messages, {per_sec}").is_ok());
    }

    #[tokio::test]
    async fn every_stream_runs_and_checks() {
        let demo = Demo { stream: Vec::new(), devices: 8, sessions: 1, size: 500, rounds: 2, json: true };
        run(&demo).await.expect("the demo");
    }
}
