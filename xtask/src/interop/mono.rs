//! .NET's web services as Mono has them, of Debian's packages. `wsdl` makes code of the descriptions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::ours::Ours;
use super::{Lacks, Peer, Served, stamp};
use crate::{debian, shell};

pub struct Mono;

const PACKAGES: [&str; 3] = ["mono-devel", "mono-mcs", "libmono-system-web-services4.0-cil"];
const LACKS: Lacks = &[("1.2", "its tool makes no code for SOAP encoding in SOAP 1.2")];
/// The namespaces and protocols that code is made for, and the descriptions.
const PROXIES: [(&str, &str, &str); 3] =
    [("types", "SOAP", "types"), ("types12", "SOAP12", "types"), ("encoded", "SOAP", "encoded")];

impl Peer for Mono {
    fn name(&self) -> &'static str {
        "Mono"
    }

    fn install(&self, ours: &Ours) -> Result<()> {
        debian::install(&PACKAGES)?;
        let (source, folder) = (shell::root().join("tests/interop/mono/Client.cs"), folder()?);
        let files = [source.clone(), ours.types.clone(), ours.encoded.clone()];
        let text = debian::installed_version("mono-devel")?;
        stamp::unless_done(&folder.join("Client.exe"), &files, &text, || build(&source, &folder, ours))
    }

    /// Its script is that of values alone.
    fn client(&self) -> Result<Option<Command>> {
        Ok(None)
    }

    /// What serves its web services is a web server that is no part of it.
    fn server(&self, _: &Ours) -> Result<Option<Served>> {
        Ok(None)
    }

    fn value_clients(&self) -> Result<Option<(Vec<Command>, Lacks)>> {
        // It knows no times of other zones than its own.
        let mut command = shell::command("env", ["TZ=UTC", "mono"]);
        command.arg(folder()?.join("Client.exe"));
        Ok(Some((vec![command], LACKS)))
    }
}

fn folder() -> Result<PathBuf> {
    shell::workspace("mono")
}

fn build(source: &Path, folder: &Path, ours: &Ours) -> Result<()> {
    println!("generating and compiling for Mono");
    let mut compiler = shell::command("mcs", ["-nologo", "-warn:0", "-r:System.Web.Services", "-r:System.Xml"]);
    compiler.arg("-out:Client.exe").arg(source);
    for (name, protocol, description) in PROXIES {
        let description = if description == "types" { &ours.types } else { &ours.encoded };
        compiler.arg(generate(name, protocol, description, folder)?);
    }
    shell::run(compiler.current_dir(folder))
}

fn generate(name: &str, protocol: &str, description: &Path, folder: &Path) -> Result<PathBuf> {
    let file = folder.join(name).with_extension("cs");
    let mut tool = shell::command("wsdl", [format!("-protocol:{protocol}"), format!("-namespace:Values.{name}")]);
    shell::run(tool.arg(format!("-out:{}", file.display())).arg(description))?;
    if protocol == "SOAP" && name == "encoded" {
        return Ok(file);
    }
    let code = fs::read_to_string(&file).context("no code was made")?;
    fs::write(&file, with_rows(&code)?).context("cannot write the code")?;
    Ok(file)
}

/// The code with a type of its own for the rows of `Lists`. The tool takes a repeated element with a repeated element in it for
/// an array of arrays, with attributes that the serializer cannot be made for.
fn with_rows(code: &str) -> Result<String> {
    const SERIALIZATION: &str = "[System.Xml.Serialization.Xml";
    const FORM: &str = "Form=System.Xml.Schema.XmlSchemaForm.Unqualified";
    let item = format!("{SERIALIZATION}ArrayItemAttribute(\"cell\", typeof(int), {FORM}, IsNullable=false)]");
    let (before, after) = code.split_once(&item).context("the rows are not where they were")?;
    let array = format!("{SERIALIZATION}ArrayAttribute({FORM})]");
    let (start, between) = before.rsplit_once(&array).context("the rows are no array")?;
    ensure!(between.trim().is_empty(), "the rows have other attributes");
    let code = format!("{start}{SERIALIZATION}ElementAttribute({FORM})]{after}");
    Ok(code.replace("int[][]", "Row[]"))
}
