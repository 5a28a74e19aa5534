//! Toolkits by their names.

use anyhow::{Context as _, Result, bail};
use deltasoap_cost::measure::{Deltasoap, Engine, Peer};
use std::path::{Path, PathBuf};

/// Ours, or a peer by the name of its folder below `peers`, or by its program.
pub fn named(name: &str, peers: &Path) -> Result<Box<dyn Engine>> {
    if name == Deltasoap::identity().name {
        return Ok(Box::new(Deltasoap::new().context("there is no port to send to")?));
    }
    Ok(Box::new(Peer::start(&program(name, peers)?)?))
}

fn program(name: &str, peers: &Path) -> Result<PathBuf> {
    // What measures JAXB is CXF, whose data binding it is.
    let name = if name == "jaxb" { "cxf" } else { name };
    let places = [peers.join(name).join("peer"), peers.join(format!("{name}-bench")).join("peer"), PathBuf::from(name)];
    match places.into_iter().find(|place| place.is_file()) {
        Some(program) => Ok(program),
        None => bail!("{name} is not built: run `cargo xtask peers {name}`, or say where it is with --peers"),
    }
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
}
