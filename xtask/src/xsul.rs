//! The XSUL peer: Java, built by Maven against the libraries of Maven Central.
//!
//! The versions are those that `bench/peers/xsul/pom.xml` pins; Maven keeps what it fetches in its own folder. Why what is used
//! how: `bench/peers/xsul/README.md`.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{debian, shell};

/// How the program is started. A fixed heap and the simplest collector: no thread of the collector beside the one that is timed.
const OPTIONS: &str = "-Xms1g -Xmx1g -XX:+UseSerialGC";

/// What a Debian system needs where Java and Maven are missing.
const PACKAGES: [&str; 2] = ["default-jdk-headless", "maven"];

/// Builds the peer unless it is up to date; gives the path of its program.
pub fn build() -> Result<PathBuf> {
    let folder = shell::workspace("xsul")?;
    let sources = shell::root().join("bench/peers/xsul");
    let (program, stamp) = (folder.join("peer"), stamp(&sources)?);
    if !(program.exists() && shell::is_stamped(&folder.join("stamp"), &stamp)) {
        install_tools()?;
        println!("building with Maven");
        package(&sources, &folder)?;
        write_program(&program, &folder)?;
        fs::write(folder.join("stamp"), stamp).context("cannot write the stamp")?;
    }
    Ok(program)
}

/// Installs Java and Maven. Wherever they come from, there is nothing to install if they run.
pub fn install_tools() -> Result<()> {
    let runs = |program: &str, argument| shell::run(&mut shell::command(program, [argument])).is_ok();
    if runs("javac", "-version") && runs("mvn", "--version") { Ok(()) } else { debian::install(&PACKAGES) }
}

/// Changes whenever anything that goes into the program does.
fn stamp(sources: &Path) -> Result<String> {
    let mut hash = DefaultHasher::new();
    OPTIONS.hash(&mut hash);
    fs::read(sources.join("pom.xml")).context("no pom.xml")?.hash(&mut hash);
    let classes = fs::read_dir(sources.join("src/main/java/deltasoap/bench"))?;
    let mut paths: Vec<PathBuf> = classes.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        fs::read(&path)?.hash(&mut hash);
    }
    Ok(format!("xsul {:016x}\n", hash.finish()))
}

fn package(sources: &Path, folder: &Path) -> Result<()> {
    let mut maven = shell::command("mvn", ["--batch-mode", "--quiet", "--file"]);
    maven.arg(sources.join("pom.xml")).arg(format!("-Dbuild={}", folder.join("build").display())).arg("package");
    shell::run(&mut maven)
}

fn write_program(program: &Path, folder: &Path) -> Result<()> {
    let build = folder.join("build");
    let script = format!(
        "#!/bin/sh\nexec java {OPTIONS} -cp '{0}/xsul-peer.jar:{0}/libraries/*' deltasoap.bench.Peer\n",
        build.display()
    );
    fs::write(program, script).with_context(|| format!("cannot write {}", program.display()))?;
    Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o755))?)
}
