//! Clients of JSON, made from the gateway's OpenAPI document: in TypeScript by openapi-typescript, in
//! Python by openapi-python-client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::ours::{self, Ours};
use super::process::{self, Server};
use crate::{node, python, shell, stamp};

/// The workspace, which has the programs and what they are generated from.
const WORKSPACE: &str = "gateway";
/// The ports of the service, with their paths in the gateway.
const PORTS: [(&str, &str); 2] = [("Soap11", "/soap11"), ("Soap12", "/soap12")];
/// The program in TypeScript, and what npm and its compiler need. Programs and packages are in the
/// same folder, since node searches for packages there.
const FILES: [&str; 4] = ["package.json", "package-lock.json", "tsconfig.json", "client.ts"];

/// Serves the service at a URL through the gateway, and calls it with both clients; returns what they
/// print.
pub fn call(ours: &Ours, endpoint: &str) -> Result<String> {
    let config = configuration(ours, endpoint)?;
    let mut command = ours::command("deltasoap");
    command.arg("gateway").arg("--config").arg(&config).args(["--listen", "127.0.0.1:0"]);
    let server = Server::start(WORKSPACE, &mut command, 1)?;
    let origin = server.at("");
    let [typescript, python] = install(&format!("{origin}{}/openapi.json", PORTS[0].1))?;
    let mut lines = String::new();
    for mut client in [shell::command("node", [typescript]), python_client(&python)] {
        lines += &process::output(client.arg(&origin))?;
    }
    Ok(lines)
}

/// Writes a configuration with a service for each port.
fn configuration(ours: &Ours, endpoint: &str) -> Result<PathBuf> {
    let wsdl = ours.description.display();
    let service = |(port, path): &(&str, &str)| {
        format!("[[service]]\nwsdl = '{wsdl}'\nport = '{port}'\npath = '{path}'\nendpoint = '{endpoint}'\n")
    };
    let file = shell::workspace(WORKSPACE)?.join("gateway.toml");
    fs::write(&file, PORTS.iter().map(service).collect::<String>()).context("the configuration")?;
    Ok(file)
}

/// Generates both clients from a document, unless that is done already; returns the program in
/// JavaScript, and the Python that has the client's package.
fn install(document: &str) -> Result<[PathBuf; 2]> {
    let (sources, folder) = (shell::root().join("tests/interop/gateway"), shell::workspace(WORKSPACE)?);
    for name in FILES {
        fs::copy(sources.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    node::install(&sources, &folder)?;
    let python = python::environment(WORKSPACE, &sources.join("requirements.txt"))?;
    let openapi = folder.join("openapi.json");
    fs::write(&openapi, super::fetch::get(document)?).context("the OpenAPI document")?;
    let program = folder.join("client.js");
    let inputs = [openapi.clone(), folder.join("client.ts"), folder.join("tsconfig.json")];
    stamp::build_if_stale(&program, &inputs, "clients", || generate(&folder, &python, &openapi))?;
    Ok([program, python])
}

fn generate(folder: &Path, python: &Path, openapi: &Path) -> Result<()> {
    let tool = |name: &str| folder.join("node_modules/.bin").join(name).display().to_string();
    let here = |command: &mut Command| shell::run(command.current_dir(folder));
    here(shell::command(&tool("openapi-typescript"), ["openapi.json", "-o", "bench.d.ts"]).env("CI", "1"))?;
    here(&mut shell::command(&tool("tsc"), ["-p", "."]))?;
    let generator = python.with_file_name("openapi-python-client").display().to_string();
    let mut client = shell::command(&generator, ["generate", "--meta", "none", "--overwrite", "--path"]);
    here(client.arg(openapi).args(["--output-path", "bench_client"]))
}

fn python_client(python: &Path) -> Command {
    let mut command = Command::new(python);
    let folder = python.ancestors().nth(3).unwrap_or(python);
    command.env("PYTHONPATH", folder).env("PYTHONDONTWRITEBYTECODE", "1");
    command.arg(shell::root().join("tests/interop/gateway/client.py"));
    command
}
