//! Membrane's router as a gateway: the library of `bench/gateway/membrane/pom.xml`, by Maven, with
//! the configuration beside it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::interop::Server;
use crate::{java, shell, stamp};

/// The class that reads a configuration and serves until it is killed.
const CLASS: &str = "com.predic8.membrane.core.RouterCLI";
/// A fixed heap, and the collector for one core.
const OPTIONS: [&str; 3] = ["-Xms1g", "-Xmx1g", "-XX:+UseSerialGC"];

/// Starts it in front of a service, with a command that `pinned` changes.
pub fn start(folder: &Path, endpoint: &str, pinned: impl FnOnce(&Command) -> Command) -> Result<Server> {
    let libraries = install(folder)?;
    let url = format!("http://127.0.0.1:{}", free_port()?);
    let mut java = shell::command("java", OPTIONS);
    java.arg("-cp").arg(format!("{}:{}/*", sources().display(), libraries.display()));
    java.arg(format!("-Dport={}", port(&url)?)).arg(format!("-Dtarget.port={}", port(endpoint)?));
    // It takes absolute paths for relative ones.
    java.args([CLASS, "-c", "proxies.xml"]).current_dir(sources());
    let announced = move |line: &str| line.contains("up and running").then(|| url.clone());
    Server::start_with_announcement("gateway-bench-membrane", &mut pinned(&java), 1, announced)
}

/// Installs the libraries, unless that has been done; returns their folder.
fn install(folder: &Path) -> Result<PathBuf> {
    let (build, pom) = (folder.join("membrane"), sources().join("pom.xml"));
    let libraries = build.join("libraries");
    stamp::build_if_stale(&libraries, std::slice::from_ref(&pom), "maven", || {
        java::install_tools()?;
        println!("installing Membrane with Maven");
        let mut maven = shell::command("mvn", ["--batch-mode", "--quiet", "--file"]);
        shell::run(maven.arg(&pom).arg(format!("-Dbuild={}", build.display())).arg("package"))
    })?;
    Ok(libraries)
}

fn sources() -> PathBuf {
    shell::root().join("bench/gateway/membrane")
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0").context("no free port")?.local_addr()?.port())
}

/// Returns the port of a URL.
fn port(url: &str) -> Result<u16> {
    let host = url.split('/').nth(2).unwrap_or_default();
    host.rsplit(':').next().and_then(|port| port.parse().ok()).with_context(|| format!("{url} has no port"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_port() {
        assert_eq!(port("http://127.0.0.1:8080/bench").unwrap(), 8080);
        assert!(port("http://localhost/").is_err());
    }
}
