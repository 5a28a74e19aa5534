//! Apache Axis 1.4, from Maven Central: the dependencies are in `tests/interop/axis/pom.xml`.
//! Axis's own tools generate code from the WSDLs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::ours::Ours;
use super::process::Server;
use super::{Peer, PeerServer, Unsupported, ValueServers, ValueService, stamp};
use crate::{java, shell};

pub struct Axis;

const SOAP_1_2: (&str, &str) = ("1.2", "its tools support only SOAP 1.1 bindings");
const CLIENT_UNSUPPORTED: Unsupported = &[SOAP_1_2, ("literal utf-16", "its stubs write only UTF-8")];
const TWO_DIMENSIONS: &str = "two-dimensional arrays are taken for arrays of arrays";
const PARTIAL: &str = "omitted numbers are null, which an array of numbers cannot hold";
const SERVER_UNSUPPORTED: Unsupported = &[
    ("encoded sparse/a partially transmitted array", PARTIAL),
    ("encoded sparse/both", PARTIAL),
    SOAP_1_2,
    ("literal*", "it is used for SOAP encoding: in document style, in-out parameters are lost"),
    ("encoded primitives/smallest fractions", "decimals are written with exponents"),
    ("encoded primitives/parts of a date", "it uses the form of months from before the erratum, --11--"),
    ("encoded primitives/texts of many scripts", "characters beyond the first 65,536 are written as two references"),
    ("encoded nil/all is nil", "absent values are written as nil"),
    ("encoded arrays/two dimensions", TWO_DIMENSIONS),
    ("encoded arrays/a single column", TWO_DIMENSIONS),
    ("encoded polymorphism/items of any type", "all items of such an array are taken to have the type of the first"),
];

impl Peer for Axis {
    fn name(&self) -> &'static str {
        "Axis"
    }

    fn install(&self, ours: &Ours) -> Result<()> {
        let (sources, folder) = (shell::root().join("tests/interop/axis"), folder()?);
        let pom = sources.join("pom.xml");
        java::install_tools()?;
        stamp::build_if_stale(&folder.join("libraries"), std::slice::from_ref(&pom), "maven", || {
            println!("fetching Axis with Maven");
            let mut maven = shell::command("mvn", ["--batch-mode", "--quiet", "--file"]);
            let output = format!("-DoutputDirectory={}", folder.join("libraries").display());
            shell::run(maven.arg(&pom).arg("dependency:copy-dependencies").arg(output))
        })?;
        let mut files = stamp::files_in(&sources.join("src"))?;
        files.extend([ours.types.clone(), ours.encoded.clone()]);
        stamp::build_if_stale(&folder.join("classes"), &files, "javac", || build(&sources, &folder, ours))
    }

    /// The script covers only values.
    fn client(&self) -> Result<Option<Command>> {
        Ok(None)
    }

    fn server(&self, _: &Ours) -> Result<Option<PeerServer>> {
        Ok(None)
    }

    fn value_clients(&self) -> Result<Option<(Vec<Command>, Unsupported)>> {
        Ok(Some((vec![java("deltasoap.interop.Client", &folder()?)], CLIENT_UNSUPPORTED)))
    }

    fn value_servers(&self, _: &Ours) -> Result<Option<ValueServers>> {
        let mut command = java("deltasoap.interop.Server", &folder()?);
        // Axis keeps its settings in the working directory.
        command.arg(folder()?.join("encoded")).current_dir(folder()?);
        let server = Server::start("axis", &mut command, 1)?;
        let encoded = Some(ValueService { only: Some("1.1"), ..ValueService::at(&server.url) });
        Ok(Some(ValueServers { _servers: vec![server], types: None, encoded, unsupported: SERVER_UNSUPPORTED }))
    }
}

fn folder() -> Result<PathBuf> {
    shell::workspace("axis")
}

fn java(class: &str, folder: &Path) -> Command {
    shell::command("java", ["-cp", &format!("{0}/classes:{0}/libraries/*", folder.display()), class])
}

/// Generates code from both WSDLs, and compiles it with the programs.
fn build(sources: &Path, folder: &Path, ours: &Ours) -> Result<()> {
    println!("generating and compiling for Axis");
    let mut compiler = shell::command("javac", ["-nowarn", "-Xlint:none", "-encoding", "UTF-8", "-d"]);
    compiler.arg(folder.join("classes")).arg("-cp").arg(format!("{}/libraries/*", folder.display()));
    for (name, description) in [("types", &ours.types), ("encoded", &ours.encoded)] {
        generate(name, description, folder)?;
        compiler.args(stamp::files_in(&folder.join(name).join("values").join(name))?.iter().filter(is_java));
        let holders = folder.join(name).join("values").join(name).join("holders");
        if holders.exists() {
            compiler.args(stamp::files_in(&holders)?);
        }
    }
    shell::run(compiler.args(stamp::files_in(&sources.join("src"))?))
}

fn is_java(file: &&PathBuf) -> bool {
    file.extension().is_some_and(|extension| extension == "java")
}

fn generate(name: &str, description: &Path, folder: &Path) -> Result<()> {
    let (output, file) = (folder.join(name), folder.join(name).with_extension("wsdl"));
    let text = fs::read_to_string(description).context("no WSDL")?;
    fs::write(&file, without_soap12(&text)).context("cannot write the WSDL")?;
    if output.exists() {
        fs::remove_dir_all(&output).context("cannot remove what was generated before")?;
    }
    let mut tool = java("org.apache.axis.wsdl.WSDL2Java", folder);
    tool.args(["--server-side", "--wrapArrays"]);
    for namespace in ["urn:types", "urn:encoded"] {
        tool.arg("--NStoPkg").arg(format!("{namespace}=values.{name}"));
    }
    shell::run(tool.arg("--output").arg(output).arg(file))
}

/// Removes the SOAP 1.2 binding from the WSDL, which Axis cannot process.
fn without_soap12(text: &str) -> String {
    let text = without(text, "<wsdl:binding ", "</wsdl:binding>");
    without(&text, "<wsdl:port ", "</wsdl:port>")
}

/// Removes the elements that contain a name in SOAP 1.2's namespace.
fn without(text: &str, start: &str, end: &str) -> String {
    let mut pieces = text.split(start);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |kept, piece| match piece.split_once(end) {
        Some((element, rest)) if element.contains("<soap12:") => kept + rest,
        _ => kept + start + piece,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_soap_1_2_is_left_out() {
        let text = "<a><wsdl:port x=''><soap:address/></wsdl:port> <wsdl:port y=''><soap12:address/></wsdl:port></a>";
        assert_eq!(without_soap12(text), "<a><wsdl:port x=''><soap:address/></wsdl:port> </a>");
    }
}
