//! The peers in Java, built by Maven against the libraries of Maven Central.
//!
//! The versions are those that `bench/peers/<peer>/pom.xml` pins; Maven keeps what it fetches in its own folder. Why what is used
//! how: the `README.md` beside it.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{debian, shell};

/// A peer in Java: `bench/peers/<name>`, whose jar is `<name>-peer.jar`.
#[derive(Debug)]
pub struct JavaPeer {
    name: &'static str,
    /// How its program is started.
    options: &'static str,
    /// What goes into it besides its own sources, below the repository's root.
    inputs: &'static [&'static str],
}

/// A fixed heap and the simplest collector: no thread of the collector beside the one that is timed.
pub const XSUL: JavaPeer = JavaPeer { name: "xsul", options: "-Xms1g -Xmx1g -XX:+UseSerialGC", inputs: &[] };

/// A fixed heap and the collector for throughput.
pub const CXF: JavaPeer =
    JavaPeer { name: "cxf", options: "-Xms1g -Xmx1g -XX:+UseParallelGC", inputs: &["testdata/wsdl/bench.wsdl"] };

/// What a Debian system needs where Java and Maven are missing.
const PACKAGES: [&str; 2] = ["default-jdk-headless", "maven"];

impl JavaPeer {
    /// Builds the peer unless it is up to date; gives the path of its program.
    pub fn build(&self) -> Result<PathBuf> {
        let folder = shell::workspace(self.name)?;
        let sources = shell::root().join("bench/peers").join(self.name);
        let (program, stamp) = (folder.join("peer"), self.stamp(&sources)?);
        if !(program.exists() && shell::is_stamped(&folder.join("stamp"), &stamp)) {
            install_tools()?;
            println!("building with Maven");
            package(&sources, &folder)?;
            self.write_program(&program, &folder)?;
            fs::write(folder.join("stamp"), stamp).context("cannot write the stamp")?;
        }
        Ok(program)
    }

    /// Changes whenever anything that goes into the program does.
    fn stamp(&self, sources: &Path) -> Result<String> {
        let mut hash = DefaultHasher::new();
        self.options.hash(&mut hash);
        for path in self.files(sources)? {
            fs::read(&path).with_context(|| format!("no {}", path.display()))?.hash(&mut hash);
        }
        Ok(format!("{} {:016x}\n", self.name, hash.finish()))
    }

    fn files(&self, sources: &Path) -> Result<Vec<PathBuf>> {
        let classes = fs::read_dir(sources.join("src/main/java/deltasoap/bench"))?;
        let mut paths: Vec<PathBuf> = classes.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        paths.push(sources.join("pom.xml"));
        paths.extend(self.inputs.iter().map(|input| shell::root().join(input)));
        paths.sort();
        Ok(paths)
    }

    fn write_program(&self, program: &Path, folder: &Path) -> Result<()> {
        let (build, name, options) = (folder.join("build"), self.name, self.options);
        let script = format!(
            "#!/bin/sh\nexec java {options} -cp '{0}/{name}-peer.jar:{0}/libraries/*' deltasoap.bench.Peer\n",
            build.display()
        );
        fs::write(program, script).with_context(|| format!("cannot write {}", program.display()))?;
        Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o755))?)
    }
}

/// Installs Java and Maven. Wherever they come from, there is nothing to install if they run.
pub fn install_tools() -> Result<()> {
    let runs = |program: &str, argument| shell::run(&mut shell::command(program, [argument])).is_ok();
    if runs("javac", "-version") && runs("mvn", "--version") { Ok(()) } else { debian::install(&PACKAGES) }
}

fn package(sources: &Path, folder: &Path) -> Result<()> {
    let mut maven = shell::command("mvn", ["--batch-mode", "--quiet", "--file"]);
    maven.arg(sources.join("pom.xml")).arg(format!("-Dbuild={}", folder.join("build").display())).arg("package");
    shell::run(&mut maven)
}
