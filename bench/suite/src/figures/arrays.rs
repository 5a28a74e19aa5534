//! Goals on arrays of ten items, compared with peers: most messages are small, and the cost per
//! message matters.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::goal::Goal;
use super::{Effort, Task};
use crate::definitions::{Definitions, peers_folder};
use crate::engine::{Deltasoap, Engine, Peer};
use crate::measure::measure;

/// Number of items.
const FEW: usize = 10;
/// Peers, and the target speedup of decoding over each: pugixml's tree has no values.
const PEERS: [(&str, f64); 2] = [("gsoap", 1.0), ("pugixml", 0.8)];
const WORKLOADS: [&str; 4] = ["decode-ints", "decode-hard", "decode-strings", "decode-structs"];

/// Returns the goals. `peers` is the folder of built peers.
pub fn tasks(effort: Effort, peers: Option<PathBuf>) -> Vec<Task> {
    let folder = peers.unwrap_or_else(peers_folder);
    let task = |workload: &'static str, (peer, bound): (&'static str, f64)| {
        let folder = folder.clone();
        let measure = move || {
            goal(effort, workload, (peer, bound), &folder)
                .or_else(|error| Ok(Goal::unknown(&format!("at least {bound} × {peer}"), format!("{error:#}"))))
        };
        Task { name: format!("real: {workload} of {FEW}, beside {peer}"), measure: Box::new(measure) }
    };
    PEERS.into_iter().flat_map(|peer| WORKLOADS.map(|workload| task(workload, peer))).collect()
}

fn goal(effort: Effort, workload: &str, (peer, bound): (&str, f64), folder: &Path) -> Result<Goal> {
    let definitions = Definitions::load()?;
    let workload = definitions.workloads.iter().find(|it| it.name == workload).context("no such workload")?;
    let definition = definitions.peers.iter().find(|it| it.name == peer).context("no such peer")?;
    let (mut ours, mut theirs) = (Deltasoap::default(), Peer::start(definition, folder)?);
    let mut sessions = [ours.prepare(workload, FEW)?, theirs.prepare(workload, FEW)?];
    let figures = measure(&mut sessions, effort.sample_size, || ())?;
    let [ours, theirs] = &figures[..] else { anyhow::bail!("a lane without figures") };
    let detail = format!("{} ns a message, {peer} {}", ours.ns_median, theirs.ns_median);
    let times = theirs.interval.by(ours.interval);
    Ok(Goal::at_least(bound, &format!("× {peer}"), times.median, detail).within(times))
}
