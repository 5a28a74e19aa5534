//! .NET's web services as implemented by Mono, from Debian's packages. `wsdl` generates code from
//! the WSDLs, for clients and for servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::ours::Ours;
use super::process::Server;
use super::{Peer, PeerServer, Unsupported, ValueServers, ValueService, stamp};
use crate::{debian, shell};

pub struct Mono;

const PACKAGES: [&str; 4] =
    ["mono-devel", "mono-mcs", "libmono-system-web4.0-cil", "libmono-system-web-services4.0-cil"];
const SOAP_1_2: (&str, &str) = ("1.2", "its tool generates no code for SOAP encoding in SOAP 1.2");
const UTF_8: &str = "responses are always in UTF-8";
const ANYTHING: &str = "it does not support arrays of xsd:anySimpleType";
const JAGGED: &str = "arrays of arrays are decoded only if their type is given";
const TWO_DIMENSIONS: &str = "two-dimensional arrays are refused";
const CLIENT_UNSUPPORTED: Unsupported = &[SOAP_1_2];
/// The client's restrictions are in `Client.cs`.
const SERVER_UNSUPPORTED: Unsupported = &[
    SOAP_1_2,
    ("literal utf-16", UTF_8),
    ("encoded polymorphism/items of any type", ANYTHING),
    ("encoded arrays/an array of arrays", JAGGED),
    ("encoded arrays/empty arrays in an array", JAGGED),
    ("encoded arrays/two dimensions", TWO_DIMENSIONS),
    ("encoded arrays/a single column", TWO_DIMENSIONS),
    ("encoded sparse", "items are put at the beginning, whatever their positions"),
    ("encoded headers/a header block", "a header block in SOAP encoding is not found"),
];

/// A WSDL to generate code from, and the name of the result.
#[derive(Clone, Copy)]
struct Code {
    name: &'static str,
    protocol: &'static str,
    of_types: bool,
    /// True if it has arrays of arrays that need a correction.
    has_rows: bool,
}

const PROXIES: [Code; 3] = [
    Code { name: "types", protocol: "SOAP", of_types: true, has_rows: true },
    Code { name: "types12", protocol: "SOAP12", of_types: true, has_rows: true },
    Code { name: "encoded", protocol: "SOAP", of_types: false, has_rows: false },
];
/// A service answers in the version that it is called in.
const SERVICES: [Code; 2] = [PROXIES[0], PROXIES[2]];

impl Peer for Mono {
    fn name(&self) -> &'static str {
        "Mono"
    }

    fn install(&self, ours: &Ours) -> Result<()> {
        debian::install(&PACKAGES)?;
        let (sources, folder) = (shell::root().join("tests/interop/mono"), folder()?);
        let mut files = stamp::files_in(&sources)?;
        files.extend([ours.types.clone(), ours.encoded.clone()]);
        let text = debian::installed_version("mono-devel")?;
        stamp::build_if_stale(&folder.join("Client.exe"), &files, &text, || {
            println!("generating and compiling for Mono");
            build_client(&sources, &folder, ours)?;
            build_server(&sources, &folder, ours)
        })
    }

    /// The script covers only values.
    fn client(&self) -> Result<Option<Command>> {
        Ok(None)
    }

    fn server(&self, _: &Ours) -> Result<Option<PeerServer>> {
        Ok(None)
    }

    fn value_clients(&self) -> Result<Option<(Vec<Command>, Unsupported)>> {
        Ok(Some((vec![mono(&folder()?.join("Client.exe"))], CLIENT_UNSUPPORTED)))
    }

    fn value_servers(&self, _: &Ours) -> Result<Option<ValueServers>> {
        let web = folder()?.join("web");
        let server = Server::start("mono", mono(&web.join("bin/Server.exe")).arg(&web), 1)?;
        let types = Some(ValueService::at(server.at("/types.asmx")));
        let encoded = ValueService { only: Some("1.1"), ..ValueService::at(server.at("/encoded.asmx")) };
        Ok(Some(ValueServers {
            _servers: vec![server],
            types,
            encoded: Some(encoded),
            unsupported: SERVER_UNSUPPORTED,
        }))
    }
}

fn folder() -> Result<PathBuf> {
    shell::workspace("mono")
}

/// Mono supports only times in its own time zone.
fn mono(program: &Path) -> Command {
    let mut command = shell::command("env", ["TZ=UTC", "mono"]);
    command.arg(program);
    command
}

fn compiler(libraries: &[&str]) -> Command {
    let mut compiler = shell::command("mcs", ["-nologo", "-warn:0"]);
    compiler.args(libraries.iter().map(|library| format!("-r:{library}")));
    compiler
}

fn build_client(sources: &Path, folder: &Path, ours: &Ours) -> Result<()> {
    let mut compiler = compiler(&["System.Web.Services", "System.Xml"]);
    compiler.arg("-out:Client.exe").arg(sources.join("Client.cs"));
    for code in PROXIES {
        compiler.arg(generate(code, &folder.join(code.name).with_extension("cs"), &[], ours)?);
    }
    shell::run(compiler.current_dir(folder))
}

/// Builds a web application: pages, settings, and in its folder `bin` the services and the program
/// that serves them.
fn build_server(sources: &Path, folder: &Path, ours: &Ours) -> Result<()> {
    let web = folder.join("web");
    shell::create_folder(&web.join("bin"))?;
    for page in ["types.asmx", "encoded.asmx", "web.config"] {
        fs::copy(sources.join(page), web.join(page)).with_context(|| format!("cannot copy {page}"))?;
    }
    let mut services = compiler(&["System.Web", "System.Web.Services", "System.Xml"]);
    services.args(["-target:library", "-out:web/bin/Services.dll"]).arg(sources.join("Services.cs"));
    for code in SERVICES {
        let file = folder.join(format!("{}_service.cs", code.name));
        generate(code, &file, &["-server"], ours)?;
        let text = fs::read_to_string(&file).context("no code was made")?;
        fs::write(&file, with_bodies(&text)).context("cannot write the code")?;
        services.arg(file);
    }
    shell::run(services.current_dir(folder))?;
    let mut server = compiler(&["System.Web"]);
    let classes = ["Server.cs", "Hosting.cs"].map(|name| sources.join(name));
    shell::run(server.arg("-out:web/bin/Server.exe").args(classes).current_dir(folder))
}

fn generate(code: Code, file: &Path, options: &[&str], ours: &Ours) -> Result<PathBuf> {
    let Code { name, protocol, of_types, has_rows } = code;
    let description = if of_types { &ours.types } else { &ours.encoded };
    let mut tool = shell::command("wsdl", [format!("-protocol:{protocol}"), format!("-namespace:Values.{name}")]);
    shell::run(tool.args(options).arg(format!("-out:{}", file.display())).arg(description))?;
    if has_rows {
        let text = fs::read_to_string(file).context("no code was made")?;
        fs::write(file, with_rows(&text)?).context("cannot write the code")?;
    }
    Ok(file.to_owned())
}

/// Adds a separate type for the rows of `Lists`. The tool takes a repeated element within a
/// repeated element for an array of arrays, with attributes for which no serializer can be created.
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

/// Gives the abstract class of a service method bodies: echoing methods return their argument, two
/// methods have a special body, and the others are never called.
fn with_bodies(code: &str) -> String {
    let lines = code.lines().map(|line| {
        let declared = line.trim_start().strip_prefix("public abstract ");
        match declared.map(|rest| rest.trim_end_matches([';', '{', ' '])) {
            None => line.to_owned(),
            Some(class) if class.starts_with("partial class") => format!("public {class} {{"),
            Some(method) => format!("public {method} {{ {} }}", body(method)),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn body(method: &str) -> &'static str {
    match method.split('(').next() {
        Some("void trace") => "if (TraceValue != null) TraceValue.hops += 1;",
        Some("void fail") => "throw Faults.Of(this, code);",
        Some(echo) if echo.starts_with("void ") => "",
        _ => "throw new System.NotSupportedException();",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abstract_methods_have_bodies() {
        let code = "  public abstract partial class Types : Base {\n  public abstract void echo(ref int value);\n\
                    public abstract void fail(string code);\n  public abstract Case[] cases();\n}";
        let expected = "public partial class Types : Base {\npublic void echo(ref int value) {  }\n\
                        public void fail(string code) { throw Faults.Of(this, code); }\n\
                        public Case[] cases() { throw new System.NotSupportedException(); }\n}";
        assert_eq!(with_bodies(code), expected);
    }
}
