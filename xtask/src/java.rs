//! The peers in Java, built by Maven against the libraries of Maven Central.
//!
//! The versions are pinned in `bench/peers/<peer>/pom.xml`; Maven keeps downloads in its own
//! folder. The `README.md` beside it has the reasons for the settings.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{debian, shell, stamp};

/// A peer in Java: `bench/peers/<name>`, whose jar is `<name>-peer.jar`.
#[derive(Debug)]
pub struct JavaPeer {
    name: &'static str,
    /// The class with `main`, in the package `deltasoap.bench`.
    class: &'static str,
    /// File name of the program: one peer can be run in several ways.
    program: &'static str,
    /// Arguments of the class.
    arguments: &'static str,
    /// Options of the Java virtual machine.
    options: &'static str,
    /// Inputs besides its own sources, below the repository's root.
    inputs: &'static [&'static str],
    /// Folders of sources that it shares with other peers, below `bench/peers`.
    shared: &'static [&'static str],
}

/// The WSDL that services are built for.
const SUITE: &str = "bench/definitions/suite.wsdl";

/// The composite types of the cost model.
const COMPOSITES: &str = "bench/definitions/composites.wsdl";

/// The settings of most peers: a fixed heap, and the throughput collector.
const PLAIN: JavaPeer = JavaPeer {
    name: "",
    class: "",
    program: "peer",
    arguments: "",
    options: "-Xms1g -Xmx1g -XX:+UseParallelGC",
    inputs: &[],
    shared: &["java"],
};

/// A fixed heap and the simplest collector: no collector thread beside the timed thread.
pub const XSUL: JavaPeer = JavaPeer { name: "xsul", class: "Xsul", options: "-Xms1g -Xmx1g -XX:+UseSerialGC", ..PLAIN };

pub const CXF: JavaPeer =
    JavaPeer { name: "cxf", class: "Cxf", inputs: &[SUITE, COMPOSITES], shared: &["java", "jaxb"], ..PLAIN };

/// The option makes Java's HTTP server send without delay.
pub const METRO: JavaPeer = JavaPeer {
    name: "metro",
    class: "Metro",
    options: "-Xms1g -Xmx1g -XX:+UseParallelGC -Dsun.net.httpserver.nodelay=true -Dsun.net.httpserver.maxIdleConnections=10000",
    inputs: &[SUITE, COMPOSITES],
    shared: &["java", "jaxb"],
    ..PLAIN
};

/// CXF's WS-Security alone.
pub const WSS4J: JavaPeer = JavaPeer { name: "wss4j", class: "Wss4j", shared: &[], ..PLAIN };

pub const AXIS: JavaPeer = JavaPeer { name: "axis", class: "Axis", ..PLAIN };

/// The same program, with recording of what it reads switched off.
pub const AXIS_STREAMING: JavaPeer = JavaPeer { program: "peer-streaming", arguments: "streaming", ..AXIS };

pub const AXIS2: JavaPeer = JavaPeer { name: "axis2", class: "Axis2", inputs: &[SUITE, COMPOSITES], ..PLAIN };

/// Debian packages to install if Java and Maven are missing.
const PACKAGES: [&str; 2] = ["default-jdk-headless", "maven"];

impl JavaPeer {
    /// Builds the peer unless it is up to date; returns the path of its program.
    pub fn build(&self) -> Result<PathBuf> {
        let folder = shell::workspace(self.name)?;
        let sources = shell::root().join("bench/peers").join(self.name);
        let (program, stamp) = (folder.join(self.program), self.stamp(&sources)?);
        let stamped = program.with_extension("stamp");
        if !(program.exists() && shell::is_stamped(&stamped, &stamp)) {
            install_tools()?;
            println!("building with Maven");
            package(&sources, &folder)?;
            shell::write_program(&program, &self.command(&folder))?;
            fs::write(stamped, stamp).context("cannot write the stamp")?;
        }
        Ok(program)
    }

    /// Returns a text that changes whenever an input of the program does.
    fn stamp(&self, sources: &Path) -> Result<String> {
        let mut hash = DefaultHasher::new();
        (self.class, self.options, self.arguments).hash(&mut hash);
        for path in self.files(sources)? {
            fs::read(&path).with_context(|| format!("no {}", path.display()))?.hash(&mut hash);
        }
        Ok(format!("{} {:016x}\n", self.name, hash.finish()))
    }

    fn files(&self, sources: &Path) -> Result<Vec<PathBuf>> {
        let shared = self.shared.iter().map(|name| sources.with_file_name(name).join("deltasoap/bench"));
        let mut paths = Vec::new();
        for folder in shared.chain([sources.join("src/main/java/deltasoap/bench")]) {
            paths.extend(stamp::files_in(&folder)?);
        }
        paths.push(sources.join("pom.xml"));
        paths.extend(self.inputs.iter().map(|input| shell::root().join(input)));
        paths.sort();
        Ok(paths)
    }

    /// Returns the command that starts its program.
    fn command(&self, folder: &Path) -> String {
        let JavaPeer { name, class, options, arguments, .. } = self;
        let build = folder.join("build");
        format!(
            "exec java {options} -cp '{0}/{name}-peer.jar:{0}/libraries/*' deltasoap.bench.{class} {arguments}",
            build.display()
        )
    }
}

/// Installs Java and Maven. Nothing is installed if they run, whatever their origin.
pub fn install_tools() -> Result<()> {
    let runs = |program: &str, argument| shell::run(&mut shell::command(program, [argument])).is_ok();
    if runs("javac", "-version") && runs("mvn", "--version") { Ok(()) } else { debian::install(&PACKAGES) }
}

/// Installs what runs Java programs, unless it is there.
pub fn install_runtime() -> Result<()> {
    match shell::run(&mut shell::command("java", ["-version"])) {
        Ok(()) => Ok(()),
        Err(_) => debian::install(&["default-jre-headless"]),
    }
}

fn package(sources: &Path, folder: &Path) -> Result<()> {
    let mut maven = shell::command("mvn", ["--batch-mode", "--quiet", "--file"]);
    maven.arg(sources.join("pom.xml")).arg(format!("-Dbuild={}", folder.join("build").display())).arg("package");
    shell::run(&mut maven)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_built_of_its_own_files_and_of_those_that_it_shares() {
        let sources = |peer: &JavaPeer| shell::root().join("bench/peers").join(peer.name);
        let files = METRO.files(&sources(&METRO)).unwrap();
        for end in ["metro/pom.xml", "bench/Metro.java", "bench/Peer.java", "bench/JaxWsCalls.java", "suite.wsdl"] {
            assert!(files.iter().any(|file| file.ends_with(end)), "{end}");
        }
        assert!(!AXIS.files(&sources(&AXIS)).unwrap().iter().any(|file| file.ends_with("suite.wsdl")));
    }

    #[test]
    fn one_program_is_run_in_two_ways() {
        let (plain, streaming) = (AXIS.command(Path::new("/f")), AXIS_STREAMING.command(Path::new("/f")));
        assert_eq!(format!("{plain}streaming"), streaming);
        let stamp = |peer: &JavaPeer| peer.stamp(&shell::root().join("bench/peers/axis")).unwrap();
        assert_ne!(stamp(&AXIS), stamp(&AXIS_STREAMING));
    }
}
