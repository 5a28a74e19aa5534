//! gSOAP: the tools of Debian's package; the runtime is compiled from the source package, with TLS
//! and zlib.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::ours::Ours;
use super::process::Server;
use super::{Peer, PeerServer, SecurityServer, Unsupported, ValueServers, ValueService, stamp};
use crate::{debian, gsoap, shell};

pub struct Gsoap;

const LIBRARIES: [&str; 2] = ["libssl-dev", "zlib1g-dev"];
const SHARE: &str = "/usr/share/gsoap";
/// The runtime and the generated code are not optimized: here only the build time matters.
const FLAGS: [&str; 4] = ["-std=c++17", "-O0", "-DWITH_OPENSSL", "-DWITH_GZIP"];
const LINKED: [&str; 4] = ["-lssl", "-lcrypto", "-lz", "-lpthread"];

const UTF_8: &str = "messages are written in UTF-8 or Latin-1";
const YEAR_1: &str = "the year 1 is taken for 1970";
const OFFSETS: &str = "offsets are decoded only if the generated header file is edited by hand";
/// The clients of the value services have the same restrictions.
const VALUES_UNSUPPORTED: Unsupported = &[
    ("literal primitives/an early time", YEAR_1),
    ("encoded primitives/an early time", YEAR_1),
    ("literal lists/nil items", "a repeated number cannot be nil"),
    ("encoded arrays/nil items", "strings in an array cannot be nil"),
    ("encoded sparse/a partially transmitted array", OFFSETS),
    ("encoded sparse/both", OFFSETS),
    ("encoded faults", "it writes the part of a fault into an element with the message's name"),
    ("literal utf-16", UTF_8),
];

const SECURITY_UNSUPPORTED: Unsupported =
    &[("security signed/a replayed request is refused", "it remembers only the nonces of passwords, no signatures")];

impl Peer for Gsoap {
    fn name(&self) -> &'static str {
        "gSOAP"
    }

    fn install(&self, ours: &Ours) -> Result<()> {
        let runtime = gsoap::runtime()?;
        debian::install(&LIBRARIES)?;
        let descriptions = [
            (BENCH, vec![&*ours.description]),
            (TYPES, vec![&*ours.types]),
            (ENCODED, vec![&*ours.encoded]),
            (CODED, vec![&*ours.orders, &*ours.sums]),
            (SECURED, vec![&*ours.secured]),
        ];
        for (code, descriptions) in descriptions {
            let sources = shell::root().join("tests/interop/gsoap");
            Build { code, sources, runtime: runtime.clone(), descriptions }.build_if_stale()?;
        }
        Ok(())
    }

    fn client(&self) -> Result<Option<Command>> {
        BENCH.client().map(Some)
    }

    fn server(&self, ours: &Ours) -> Result<Option<PeerServer>> {
        let server = Server::start(BENCH.folder, BENCH.server()?.arg(&ours.certificates.identity), 2)?;
        let paths = &[("chunked", "/bench/chunked"), ("gzip", "/bench/gzip")];
        Ok(Some(PeerServer { server, paths, unsupported: &[("utf-16", UTF_8)] }))
    }

    fn value_clients(&self) -> Result<Option<(Vec<Command>, Unsupported)>> {
        Ok(Some((vec![TYPES.client()?, ENCODED.client()?], &[])))
    }

    fn coded_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(Some((CODED.client()?, &[])))
    }

    fn security_client(&self, _: &Ours) -> Result<Option<(Command, Unsupported)>> {
        Ok(Some((SECURED.client()?, &[])))
    }

    fn security_server(&self, ours: &Ours) -> Result<Option<SecurityServer>> {
        let server = Server::start(SECURED.folder, SECURED.server()?.arg(&ours.keys), 1)?;
        Ok(Some(SecurityServer { server, means: "code", unsupported: SECURITY_UNSUPPORTED }))
    }

    fn value_servers(&self, _: &Ours) -> Result<Option<ValueServers>> {
        let start = |code: Code| Server::start(code.folder, &mut code.server()?, 1);
        let servers = [start(TYPES)?, start(ENCODED)?];
        let [types, encoded] = servers.each_ref().map(|server| Some(ValueService::at(&server.url)));
        Ok(Some(ValueServers { _servers: servers.into(), types, encoded, unsupported: VALUES_UNSUPPORTED }))
    }
}

/// The generated code of one WSDL, or of several together, and the client and the server that are
/// compiled with it.
#[derive(Clone, Copy)]
struct Code {
    /// Folder below `.peers/`.
    folder: &'static str,
    client: &'static str,
    server: Option<&'static str>,
    flag: Option<&'static str>,
    /// gSOAP's own sources that are compiled too.
    extensions: &'static [&'static str],
}

/// The plugin for WS-Security, with a tree of each message, and what it is made of.
const WSSE: &[&str] = &["dom.cpp", "plugin/wsseapi.cpp", "plugin/smdevp.c", "plugin/mecevp.c", "plugin/threads.c"];

const BENCH: Code =
    Code { folder: "gsoap-interop", client: "client", server: Some("server"), flag: None, extensions: &[] };
const TYPES: Code = Code { folder: "gsoap-types", client: "values_client", server: Some("values_server"), ..BENCH };
const ENCODED: Code = Code { folder: "gsoap-encoded", flag: Some("-DENCODED"), ..TYPES };
const CODED: Code = Code { folder: "gsoap-coded", client: "coded_client", server: None, ..BENCH };
const SECURED: Code = Code {
    folder: "gsoap-secured",
    client: "secured_client",
    server: Some("secured_server"),
    flag: Some("-DWITH_DOM"),
    extensions: WSSE,
};

impl Code {
    fn folder(self) -> Result<PathBuf> {
        shell::workspace(self.folder)
    }

    fn client(self) -> Result<Command> {
        Ok(Command::new(self.folder()?.join(self.client)))
    }

    fn server(self) -> Result<Command> {
        Ok(Command::new(self.folder()?.join(self.server.unwrap_or_default())))
    }

    /// Returns the programs, each with the generated code that it is linked with.
    fn programs(self) -> Vec<(&'static str, &'static str)> {
        let server = self.server.map(|server| (server, "soapServer"));
        [(self.client, "soapClient")].into_iter().chain(server).collect()
    }
}

struct Build<'d> {
    code: Code,
    sources: PathBuf,
    runtime: PathBuf,
    descriptions: Vec<&'d Path>,
}

impl Build<'_> {
    fn build_if_stale(&self) -> Result<()> {
        let mut files = stamp::files_in(&self.sources)?;
        files.extend(self.descriptions.iter().map(|file| (*file).to_owned()));
        let text = format!("{} {FLAGS:?}", debian::installed_version("gsoap")?);
        let folder = self.code.folder()?;
        let last = self.code.server.unwrap_or(self.code.client);
        stamp::build_if_stale(&folder.join(last), &files, &text, || self.all(&folder))
    }

    fn all(&self, folder: &Path) -> Result<()> {
        println!("generating and compiling for gSOAP (about half a minute)");
        self.generate(folder)?;
        self.compile(folder, &self.runtime.join("stdsoap2.cpp"))?;
        self.compile(folder, &Path::new(SHARE).join("custom/struct_timeval.c"))?;
        self.compile(folder, &folder.join("soapC.cpp"))?;
        for extension in self.code.extensions {
            self.compile(folder, &self.runtime.join(extension))?;
        }
        for (program, generated) in self.code.programs() {
            self.compile(folder, &folder.join(generated).with_extension("cpp"))?;
            self.compile(folder, &self.sources.join(program).with_extension("cpp"))?;
            self.link(folder, program, generated)?;
        }
        Ok(())
    }

    /// wsdl2h generates a header file from the WSDLs, soapcpp2 generates code from that: no
    /// library, no sample messages, no WSDL.
    fn generate(&self, folder: &Path) -> Result<()> {
        let mut wsdl2h = shell::command("wsdl2h", ["-L", "-x", "-o", "service.h", "-t"]);
        wsdl2h.arg(self.sources.join("typemap.dat")).args(&self.descriptions);
        shell::run(wsdl2h.current_dir(folder))?;
        let header = folder.join("service.h");
        let text = fs::read_to_string(&header).context("no header file was made")?;
        let import = if self.code.extensions.is_empty() { "" } else { "\n#import \"wsse.h\"\n" };
        fs::write(&header, with_rows(&text) + import).context("cannot write the header file")?;
        let mut soapcpp2 = shell::command("soapcpp2", ["-L", "-x", "-w", "-d."]);
        soapcpp2.arg(format!("-I{SHARE}/import:{SHARE}")).arg("service.h");
        shell::run(soapcpp2.current_dir(folder))
    }

    fn compile(&self, folder: &Path, source: &Path) -> Result<()> {
        let mut compiler = shell::command("g++", FLAGS);
        compiler.args(self.code.flag);
        for include in [folder, &self.runtime] {
            compiler.arg("-I").arg(include);
        }
        // Some of gSOAP's own sources are named as C, but are valid C++ too.
        shell::run(compiler.args(["-x", "c++", "-c"]).arg(source).arg("-o").arg(object(folder, source)))
    }

    fn link(&self, folder: &Path, program: &str, generated: &str) -> Result<()> {
        let common = [program, generated, "soapC", "stdsoap2", "struct_timeval"];
        let objects = common.iter().chain(self.code.extensions).map(|source| object(folder, Path::new(source)));
        let mut linker = shell::command("g++", objects);
        shell::run(linker.args(LINKED).arg("-o").arg(folder.join(program)))
    }
}

fn object(folder: &Path, source: &Path) -> PathBuf {
    folder.join(source.file_name().unwrap_or_default()).with_extension("o")
}

/// Changes the header file so that items of an array of arrays have the class of such arrays:
/// wsdl2h declares that class a second time within the other, which soapcpp2 rejects.
fn with_rows(header: &str) -> String {
    const OUTER: &str = "class ArrayOfArrayOfInt : public xsd__anyType\n{ public:\n";
    let parts = header.split_once(OUTER).and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match parts {
        Some((before, (inner, after))) if inner.contains("class ArrayOfInt") => {
            format!("{before}{OUTER}    ArrayOfInt {after}")
        }
        _ => header.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_of_the_class_of_arrays() {
        let outer = "class ArrayOfArrayOfInt : public xsd__anyType\n{ public:\n";
        let header = format!("a;\n{outer}class ArrayOfInt : public x\n{{ public:\n int *__ptr;\n }} *__ptr;\n}};\n");
        assert_eq!(with_rows(&header), format!("a;\n{outer}    ArrayOfInt  *__ptr;\n}};\n"));
        assert_eq!(with_rows("class ArrayOfInt;"), "class ArrayOfInt;");
    }
}
