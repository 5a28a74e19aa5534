//! The recorded vSphere sessions, requests and responses, decoded by the WSDL alone: to dynamic
//! values, without generated types.

use super::busy;
use super::play::{Play, PlayOptions};
use super::report::Report;
use super::types::Types;
use crate::figures::PLAYS;
use anyhow::{Result, bail, ensure};
use bytes::Bytes;
use deltasoap::engine::{Differential, Tolerance};
use deltasoap_archive::Skipped;
use deltasoap_cost::measure::{LoadMonitor, process_time};
use deltasoap_dynamic::Contract;
use deltasoap_streams::vsphere::{FETCH_PAIRS, fetch_pairs};
use std::path::PathBuf;

const WSDL: &str = include_str!("../../data/vsphere-fetch.wsdl");

/// Replays the sessions as often as a comparison requires. Returns an error unless every message
/// was decoded, to equal values both ways.
pub fn v_sphere() -> Result<Report> {
    let types = Types::from_contract(&Contract::from_text(WSDL)?);
    let others = LoadMonitor::start(process_time());
    let plays = (0..PLAYS).map(|number| play(&types, number)).collect();
    let report = Report::new(&types, plays, Skipped::default(), busy(&others));
    if let Some((first, _)) = report.first_difference() {
        bail!("{}: {}", first.file.display(), first.what);
    }
    ensure!(report.messages() == 2 * FETCH_PAIRS as u64, "{} recorded messages were read", report.messages());
    Ok(report)
}

/// Plays the responses and the requests as two streams: a client receives the former, a server the
/// latter.
fn play(types: &Types, number: u32) -> Play {
    let options = PlayOptions {
        differential: Differential::default(),
        tolerance: Tolerance::Strict,
        number,
        is_similarity_measured: number == 0,
    };
    let mut play = Play::default();
    play.messages(
        fetch_pairs().enumerate().map(|(index, (request, _))| named(index, "request", request)),
        types,
        options,
    );
    play.messages(
        fetch_pairs().enumerate().map(|(index, (_, response))| named(index, "response", response)),
        types,
        options,
    );
    play
}

fn named(index: usize, kind: &str, message: &'static [u8]) -> (PathBuf, Bytes) {
    (PathBuf::from(format!("{index:04}.{kind}.xml")), Bytes::from_static(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorded_message_is_read_by_the_description() {
        let report = v_sphere().expect("a replay");
        let lines: Vec<String> = report.json().collect::<Result<_, _>>().expect("JSON");
        assert!(
            lines.len() == 2 && lines[0].contains("}Fetch\"") && lines[1].contains("}FetchResponse\""),
            "{lines:?}"
        );
    }
}
