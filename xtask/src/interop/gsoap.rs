//! gSOAP: its tools are those of Debian's package; the runtime is compiled from the source package, with TLS and zlib.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::ours::Ours;
use super::process::Server;
use super::{Peer, Served, stamp};
use crate::{debian, gsoap, shell};

pub struct Gsoap;

const LIBRARIES: [&str; 2] = ["libssl-dev", "zlib1g-dev"];
const SHARE: &str = "/usr/share/gsoap";
/// The runtime and what is generated are not optimized: what counts here is the time to build them.
const FLAGS: [&str; 4] = ["-std=c++17", "-O0", "-DWITH_OPENSSL", "-DWITH_GZIP"];
const LINKED: [&str; 4] = ["-lssl", "-lcrypto", "-lz", "-lpthread"];

impl Peer for Gsoap {
    fn name(&self) -> &'static str {
        "gSOAP"
    }

    fn install(&self, ours: &Ours) -> Result<()> {
        let runtime = gsoap::runtime()?;
        debian::install(&LIBRARIES)?;
        let build = Build { sources: shell::root().join("tests/interop/gsoap"), folder: folder()?, runtime };
        let mut files = stamp::files_in(&build.sources)?;
        files.push(ours.description.clone());
        let text = format!("{} {FLAGS:?}", debian::installed_version("gsoap")?);
        stamp::unless_done(&folder()?.join("server"), &files, &text, || build.all(&ours.description))
    }

    fn client(&self) -> Result<Option<Command>> {
        Ok(Some(Command::new(folder()?.join("client"))))
    }

    fn server(&self, ours: &Ours) -> Result<Option<Served>> {
        let mut command = Command::new(folder()?.join("server"));
        let server = Server::start("gsoap-interop", command.arg(&ours.certificates.identity), 2)?;
        let paths = &[("chunked", "/bench/chunked"), ("gzip", "/bench/gzip")];
        Ok(Some(Served { server, paths, lacks: &[("utf-16", "messages are written in UTF-8 or Latin-1")] }))
    }
}

fn folder() -> Result<PathBuf> {
    shell::workspace("gsoap-interop")
}

struct Build {
    sources: PathBuf,
    folder: PathBuf,
    runtime: PathBuf,
}

impl Build {
    fn all(&self, description: &Path) -> Result<()> {
        println!("generating and compiling for gSOAP (about half a minute)");
        self.generate(description)?;
        self.compile(&self.runtime.join("stdsoap2.cpp"))?;
        self.compile(&Path::new(SHARE).join("custom/struct_timeval.c"))?;
        for generated in ["soapC.cpp", "soapClient.cpp", "soapServer.cpp"] {
            self.compile(&self.folder.join(generated))?;
        }
        for program in ["client", "server"] {
            self.compile(&self.sources.join(program).with_extension("cpp"))?;
        }
        self.link("client", "soapClient.o")?;
        self.link("server", "soapServer.o")
    }

    /// wsdl2h makes a header file of the description, soapcpp2 makes code of that: no library, no sample messages, no WSDL.
    fn generate(&self, description: &Path) -> Result<()> {
        let mut wsdl2h = shell::command("wsdl2h", ["-L", "-x", "-o", "bench.h", "-t"]);
        wsdl2h.arg(self.sources.join("typemap.dat")).arg(description);
        shell::run(wsdl2h.current_dir(&self.folder))?;
        let mut soapcpp2 = shell::command("soapcpp2", ["-L", "-x", "-w", "-d."]);
        soapcpp2.arg(format!("-I{SHARE}/import:{SHARE}")).arg("bench.h");
        shell::run(soapcpp2.current_dir(&self.folder))
    }

    fn compile(&self, source: &Path) -> Result<()> {
        let mut compiler = shell::command("g++", FLAGS);
        for include in [&self.folder, &self.runtime] {
            compiler.arg("-I").arg(include);
        }
        // Some of gSOAP's own sources are C by their names, and C++ as well.
        shell::run(compiler.args(["-x", "c++", "-c"]).arg(source).arg("-o").arg(self.object(source)))
    }

    fn object(&self, source: &Path) -> PathBuf {
        self.folder.join(source.file_name().unwrap_or_default()).with_extension("o")
    }

    fn link(&self, program: &str, generated: &str) -> Result<()> {
        let own = format!("{program}.o");
        let objects = [&own, generated, "soapC.o", "stdsoap2.o", "struct_timeval.o"].map(|name| self.folder.join(name));
        let mut linker = shell::command("g++", objects);
        shell::run(linker.args(LINKED).arg("-o").arg(self.folder.join(program)))
    }
}
