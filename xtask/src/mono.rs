//! The peer in C#: .NET's web services and its `XmlSerializer` on Debian's Mono.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{composites, debian, shell, stamp};

/// The compiler, which also compiles serializers at run time, and the tool that generates proxies;
/// the runtime with its generational collector; the libraries.
const PACKAGES: [&str; 6] = [
    "mono-mcs",
    "mono-devel",
    "mono-runtime-sgen",
    "libmono-system-xml4.0-cil",
    "libmono-system-web4.0-cil",
    "libmono-system-web-services4.0-cil",
];
const LIBRARIES: [&str; 3] = ["System.Xml.dll", "System.Web.dll", "System.Web.Services.dll"];

/// Builds the peer unless it is up to date; returns the path of its program.
pub fn build() -> Result<PathBuf> {
    debian::install(&PACKAGES)?;
    let (sources, folder) = (shell::root().join("bench/peers/mono"), shell::workspace("mono")?);
    let (application, program) = (folder.join("bench"), folder.join("peer"));
    let assembly = application.join("bin/peer.dll");
    let (classes, pages) = (classes(&sources)?, stamp::files_in(&sources.join("web"))?);
    let files = [classes.clone(), pages.clone(), vec![composites::path()], descriptions()].concat();
    let version = debian::installed_version(PACKAGES[0])?;
    stamp::build_if_stale(&assembly, &files, &version, || {
        shell::create_folder(&application.join("bin"))?;
        for page in &pages {
            let name = page.file_name().context("a page has no name")?;
            fs::copy(page, application.join(name)).with_context(|| format!("cannot copy {}", page.display()))?;
        }
        compile(&classes, &folder, &assembly)
    })?;
    shell::write_program(&program, &format!("exec mono --optimize=all '{}'", assembly.display()))?;
    Ok(program)
}

/// Returns the peer's own classes, and the host of its service, which it shares with the
/// interoperability tests.
fn classes(sources: &Path) -> Result<Vec<PathBuf>> {
    let mut files = stamp::files_in(sources)?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cs"));
    files.push(shell::root().join("tests/interop/mono/Hosting.cs"));
    Ok(files)
}

/// Returns the WSDLs, each with a proxy.
fn descriptions() -> Vec<PathBuf> {
    ["suite.wsdl", "suite-encoded.wsdl"].map(|name| shell::root().join("bench/definitions").join(name)).into()
}

/// The service must be in the folder `bin` of its application, in a library: the program is named
/// like one.
fn compile(classes: &[PathBuf], folder: &Path, assembly: &Path) -> Result<()> {
    let composites = folder.join("Composites.cs");
    fs::write(&composites, composites::csharp(&composites::all()?)).context("cannot write the composite types")?;
    let out = |file: &Path| format!("-out:{}", file.display());
    let mut generated = vec![composites];
    for (description, proxy) in descriptions().iter().zip(["Suite.cs", "SuiteEncoded.cs"]) {
        let proxy = folder.join(proxy);
        shell::run(shell::command("wsdl", ["-protocol:SOAP".to_owned(), out(&proxy)]).arg(description))?;
        generated.push(proxy);
    }
    let mut compiler = shell::command("mcs", ["-optimize+", "-warnaserror", "-target:exe"]);
    compiler.args(LIBRARIES.map(|library| format!("-r:{library}")));
    shell::run(compiler.arg(out(assembly)).args(classes).args(generated))
}
