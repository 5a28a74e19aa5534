//! govmomi's simulator of vSphere, `vcsim`: the example that polls virtual machines is run against
//! it, and clients that are generated from the gateway's OpenAPI document.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use super::gateway::{self, Api};
use super::process::{self, Server};
use super::stamp;
use crate::go;
use crate::shell::{self, Profile};

const MODULE: &str = "github.com/vmware/govmomi/vcsim";
const VERSION: &str = "v0.46.3";
const EXAMPLE: &str = "example-vsphere";
/// The part of vSphere's API with which the generated clients read virtual machines.
const VIM: Api = Api { name: "vim", programs: "tests/interop/vcsim" };
/// Number of virtual machines of each simulated host and cluster.
const MACHINES: usize = 50;

/// Installs the simulator, has the example log in, wait for updates, poll and log out, and the
/// generated clients log in, read names and log out.
pub fn check() -> Result<()> {
    let simulator = install()?;
    shell::build(&[EXAMPLE, "deltasoap-cli"], Profile::Dev)?;
    let mut command = Command::new(simulator);
    command.args(["-tls=false", "-l", "127.0.0.1:0", "-vm", &MACHINES.to_string()]);
    let server = Server::start_with_announcement("vcsim", &mut command, 1, announced)?;
    poll(&server.url)?;
    call_through_gateway(&server.url)
}

fn poll(url: &str) -> Result<()> {
    println!("polling the virtual machines of vcsim {VERSION}");
    let said = process::output(super::ours::command(EXAMPLE).args([url, "user", "pass"]))?;
    print!("{said}");
    ensure!(
        said.contains("virtual machines") && said.contains("leased"),
        "the example did not print the time of polls"
    );
    Ok(())
}

/// Has clients in TypeScript and Python read the names of all virtual machines. They fail unless all
/// is as expected.
fn call_through_gateway(url: &str) -> Result<()> {
    println!("reading the virtual machines of vcsim {VERSION} through the gateway");
    let wsdl = shell::root().join(VIM.programs).join("vim.wsdl");
    let gateway = gateway::serve(
        "vcsim-gateway",
        &format!(
            "[[service]]\nwsdl = '{}'\nendpoint = '{url}'\ncookies = true\ntolerance = 'any-order'\n",
            wsdl.display()
        ),
    )?;
    for mut client in gateway::clients(VIM, &gateway.at("/openapi.json"))? {
        let said = process::output(client.arg(gateway.at("")).arg(MACHINES.to_string()))?;
        print!("{said}");
        ensure!(said.contains("virtual machines"), "a client did not say how many virtual machines it has read");
    }
    Ok(())
}

/// Builds the simulator with the installed `go`, unless it is built already.
fn install() -> Result<PathBuf> {
    let folder = shell::workspace("vcsim")?;
    let program = folder.join("vcsim");
    stamp::build_if_stale(&program, &[], &format!("{VERSION}, {}", go::version()?), || {
        let mut go = shell::command("go", ["install", &format!("{MODULE}@{VERSION}")]);
        shell::run(go.env("GOBIN", &folder).env("GOTOOLCHAIN", "local"))
    })?;
    Ok(program)
}

/// Returns the URL in the simulator's first line: `export
/// GOVC_URL=http://user:pass@127.0.0.1:8989/sdk GOVC_SIM_PID=1`.
fn announced(line: &str) -> Option<String> {
    let url = line.strip_prefix("export GOVC_URL=")?.split(' ').next()?;
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split_once('@').map_or(rest, |(_, host)| host);
    Some(format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulator_says_where_it_is() {
        let line = "export GOVC_URL=http://user:pass@127.0.0.1:8989/sdk GOVC_SIM_PID=1";
        assert_eq!(announced(line).as_deref(), Some("http://127.0.0.1:8989/sdk"));
        assert_eq!(announced("listening"), None);
    }
}
