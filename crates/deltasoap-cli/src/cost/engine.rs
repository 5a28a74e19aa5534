//! Toolkits by their names.

use anyhow::{Error, Result, anyhow, ensure};
use deltasoap_cost::measure::{Deltasoap, Engine, Peer};
use std::path::{Component, Path, PathBuf};

/// Ours, or a peer by the name of its folder below `peers`, or by its program.
pub fn named(name: &str, peers: &Path) -> Result<Box<dyn Engine>> {
    if name == Deltasoap::identity().name {
        return Ok(Box::new(Deltasoap));
    }
    Ok(Box::new(Peer::start(&program(name, peers)?)?))
}

/// The toolkit of a calibration: ours, or a peer that lies below `peers`. A file says its name, so nothing else is started.
pub fn calibrated(name: &str, peers: &Path) -> Result<Box<dyn Engine>> {
    ensure!(is_plain(name), "{name:?} is no name of a toolkit");
    if name == Deltasoap::identity().name {
        return Ok(Box::new(Deltasoap));
    }
    let Some(program) = built(name, peers) else { return Err(not_built(name)) };
    Ok(Box::new(Peer::start(&program)?))
}

fn program(name: &str, peers: &Path) -> Result<PathBuf> {
    // What measures JAXB is CXF, whose data binding it is.
    let name = if name == "jaxb" { "cxf" } else { name };
    let file = Some(PathBuf::from(name)).filter(|path| path.is_file());
    built(name, peers).or(file).ok_or_else(|| not_built(name))
}

fn built(name: &str, peers: &Path) -> Option<PathBuf> {
    let places = [peers.join(name).join("peer"), peers.join(format!("{name}-bench")).join("peer")];
    places.into_iter().find(|place| place.is_file())
}

fn not_built(name: &str) -> Error {
    anyhow!("{name} is not built: run `cargo xtask peers {name}`, or say where it is with --peers")
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
        let found = |name| program(name, folder.path()).expect("found");
        assert!(found("gsoap").ends_with("gsoap/peer") && found("zeep").ends_with("zeep-bench/peer"));
        assert!(found("jaxb").ends_with("cxf/peer"));
        assert_eq!(program("mono", folder.path()).expect_err("missing").to_string().find("mono is not built"), Some(0));
        let own = folder.path().join("gsoap/peer").to_string_lossy().into_owned();
        assert_eq!(found(&own), PathBuf::from(&own));
    }

    /// A calibration may come from anywhere.
    #[test]
    fn a_calibration_starts_no_program_but_a_peer() {
        let folder = tempfile::tempdir().expect("a directory");
        let own = folder.path().join("program");
        fs::write(&own, "").expect("written");
        let error = |name: &str| calibrated(name, folder.path()).err().expect("refused").to_string();
        for name in [&*own.to_string_lossy(), "./program", "../x", "a/b", ""] {
            assert!(error(name).contains("is no name of a toolkit"), "{name}");
        }
        assert!(error("program").contains("is not built"));
        assert!(calibrated("deltasoap", folder.path()).is_ok());
    }
}
