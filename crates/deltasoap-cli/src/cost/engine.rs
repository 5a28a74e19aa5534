//! Toolkits by their names.

use anyhow::{Result, bail, ensure};
use deltasoap_cost::measure::{Deltasoap, Engine, Peer};
use std::path::{Component, Path, PathBuf};

/// Starts a toolkit: ours, or a peer, given as the name of its folder below `peers` or as the path
/// of its program.
pub fn named(name: &str, peers: &Path) -> Result<Box<dyn Engine>> {
    let file = Some(PathBuf::from(name)).filter(|path| path.is_file());
    start(name, built(name, peers).or(file))
}

/// Starts the toolkit of a calibration: ours, or a peer below `peers`. Its name comes from a file,
/// so nothing else is started.
pub fn calibrated(name: &str, peers: &Path) -> Result<Box<dyn Engine>> {
    ensure!(is_plain(name), "{name:?} is not the name of a toolkit");
    start(name, built(name, peers))
}

/// Returns true for the name of our own toolkit.
pub fn is_ours(name: &str) -> bool {
    name == Deltasoap::identity().name
}

fn start(name: &str, program: Option<PathBuf>) -> Result<Box<dyn Engine>> {
    match program {
        _ if is_ours(name) => Ok(Box::new(Deltasoap)),
        Some(program) => Ok(Box::new(Peer::start(&program)?)),
        None => bail!("{name} is not built: run `cargo xtask peers {name}`, or give its directory with --peers"),
    }
}

fn built(name: &str, peers: &Path) -> Option<PathBuf> {
    // JAXB is CXF's data binding, so the CXF peer measures it.
    let name = if name == "jaxb" { "cxf" } else { name };
    let places = [peers.join(name).join("peer"), peers.join(format!("{name}-bench")).join("peer")];
    places.into_iter().find(|place| place.is_file())
}

fn is_plain(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn peers_are_found_by_their_names() {
        let folder = tempfile::tempdir().expect("a directory");
        for name in ["gsoap", "zeep-bench", "cxf"] {
            fs::create_dir(folder.path().join(name)).expect("made");
            fs::write(folder.path().join(name).join("peer"), "").expect("written");
        }
        let found = |name| built(name, folder.path()).expect("found");
        assert!(found("gsoap").ends_with("gsoap/peer") && found("zeep").ends_with("zeep-bench/peer"));
        assert!(found("jaxb").ends_with("cxf/peer"));
        let error = |name: &str| named(name, folder.path()).err().expect("no peer").to_string();
        assert_eq!(error("mono").find("mono is not built"), Some(0));
        // A peer given by its path is started: an empty file is not a program.
        let own = folder.path().join("gsoap/peer").to_string_lossy().into_owned();
        assert!(built(&own, Path::new("elsewhere")).is_none() && !error(&own).contains("is not built"));
    }

    /// Calibrations are not trusted: they may come from anywhere.
    #[test]
    fn a_calibration_starts_no_program_but_a_peer() {
        let folder = tempfile::tempdir().expect("a directory");
        let own = folder.path().join("program");
        fs::write(&own, "").expect("written");
        let error = |name: &str| calibrated(name, folder.path()).err().expect("refused").to_string();
        for name in [&*own.to_string_lossy(), "./program", "../x", "a/b", ""] {
            assert!(error(name).contains("is not the name of a toolkit"), "{name}");
        }
        assert!(error("program").contains("is not built"));
        assert!(calibrated("deltasoap", folder.path()).is_ok());
    }
}
