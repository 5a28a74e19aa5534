//! Clients of JSON, made from the gateway's OpenAPI document: in TypeScript by openapi-typescript, in
//! Python by openapi-python-client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::ours::{self, Ours};
use super::process::{self, Server};
use crate::{node, python, shell, stamp};

/// The workspace, which has the tools, and a folder for each API with what they generate.
const WORKSPACE: &str = "gateway";
/// The folder of our sources for the tools, and of the clients of `bench.wsdl`.
const SOURCES: &str = "tests/interop/gateway";
/// What npm needs. Packages are above the programs, where node searches for them.
const PACKAGES: [&str; 2] = ["package.json", "package-lock.json"];
/// The ports of the service, with their paths in the gateway.
const PORTS: [(&str, &str); 2] = [("Soap11", "/soap11"), ("Soap12", "/soap12")];

/// An API whose clients are generated, and programs that use them: `client.ts`, which imports
/// `NAME.d.ts`, and `client.py`, which imports `NAME_client`.
#[derive(Debug, Clone, Copy)]
pub struct Api {
    pub name: &'static str,
    /// The folder of the programs.
    pub programs: &'static str,
}

const BENCH: Api = Api { name: "bench", programs: SOURCES };

/// Serves the service at a URL through the gateway, and calls it with both clients; returns what they
/// print.
pub fn call(ours: &Ours, endpoint: &str) -> Result<String> {
    let server = serve(WORKSPACE, &configuration(ours, endpoint))?;
    let origin = server.at("");
    let mut lines = String::new();
    for mut client in clients(BENCH, &format!("{origin}{}/openapi.json", PORTS[0].1))? {
        lines += &process::output(client.arg(&origin))?;
    }
    Ok(lines)
}

/// Starts a gateway with a configuration, which is written to a workspace.
pub fn serve(workspace: &str, configuration: &str) -> Result<Server> {
    let file = shell::workspace(workspace)?.join("gateway.toml");
    fs::write(&file, configuration).context("the configuration")?;
    let mut command = ours::command("deltasoap");
    command.arg("gateway").arg("--config").arg(&file).args(["--listen", "127.0.0.1:0"]);
    Server::start(workspace, &mut command, 1)
}

/// Generates the clients of an API from the document at a URL, unless that is done already; returns
/// the programs that use them, in TypeScript and in Python, without arguments.
pub fn clients(api: Api, document: &str) -> Result<[Command; 2]> {
    let (sources, folder) = (shell::root().join(api.programs), shell::workspace(WORKSPACE)?.join(api.name));
    let python = install()?;
    shell::create_folder(&folder)?;
    let (openapi, settings) = (folder.join("openapi.json"), shell::root().join(SOURCES).join("tsconfig.json"));
    for file in [sources.join("client.ts"), settings] {
        let copy = folder.join(file.file_name().unwrap_or_default());
        fs::copy(&file, copy).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    fs::write(&openapi, super::fetch::get(document)?).context("the OpenAPI document")?;
    let program = folder.join("client.js");
    let generator = shell::root().join(SOURCES).join("openapi-python-client.yml");
    let inputs = [openapi.clone(), folder.join("client.ts"), folder.join("tsconfig.json"), generator];
    stamp::build_if_stale(&program, &inputs, "clients", || generate(api, &folder, &python))?;
    let mut in_python = Command::new(python);
    in_python.env("PYTHONPATH", &folder).env("PYTHONDONTWRITEBYTECODE", "1").arg(sources.join("client.py"));
    Ok([shell::command("node", [program]), in_python])
}

/// Returns a configuration with a service for each port.
fn configuration(ours: &Ours, endpoint: &str) -> String {
    let wsdl = ours.description.display();
    let service = |(port, path): &(&str, &str)| {
        format!("[[service]]\nwsdl = '{wsdl}'\nport = '{port}'\npath = '{path}'\nendpoint = '{endpoint}'\n")
    };
    PORTS.iter().map(service).collect()
}

/// Installs the tools; returns the Python that has one of them.
fn install() -> Result<PathBuf> {
    let (sources, folder) = (shell::root().join(SOURCES), shell::workspace(WORKSPACE)?);
    for name in PACKAGES {
        fs::copy(sources.join(name), folder.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    node::install(&sources, &folder)?;
    python::environment(WORKSPACE, &sources.join("requirements.txt"))
}

fn generate(api: Api, folder: &Path, python: &Path) -> Result<()> {
    let tool = |name: &str| folder.with_file_name("node_modules/.bin").join(name).display().to_string();
    let here = |command: &mut Command| shell::run(command.current_dir(folder));
    let types = format!("{}.d.ts", api.name);
    here(shell::command(&tool("openapi-typescript"), ["openapi.json", "-o", &types]).env("CI", "1"))?;
    here(&mut shell::command(&tool("tsc"), ["-p", "."]))?;
    let generator = python.with_file_name("openapi-python-client").display().to_string();
    let mut client = shell::command(&generator, ["generate", "--meta", "none", "--overwrite"]);
    client.arg("--config").arg(shell::root().join(SOURCES).join("openapi-python-client.yml"));
    client.args(["--path", "openapi.json", "--output-path", &format!("{}_client", api.name)]);
    let said = shell::output(client.current_dir(folder))?;
    // It also warns of requests in lines, which it leaves out of operations that it generates.
    ensure!(!said.contains("will not be generated"), "operations are missing: {said}");
    Ok(())
}
