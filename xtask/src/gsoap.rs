//! The gSOAP peer: `soapcpp2` from Debian's binary package, the runtime compiled from the source
//! package of the same version.
//!
//! Only packages are installed on the system: the source package is downloaded with a separate apt
//! configuration, whose list of sources, indexes and cache are below `.peers/gsoap/apt`. The
//! reasons for each option are in `bench/peers/gsoap/README.md`.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{composites, debian, shell, stamp};

const PACKAGES: [&str; 6] = ["gsoap", "g++", "dpkg-dev", "debian-archive-keyring", "libssl-dev", "zlib1g-dev"];
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
const IMPORTS: &str = "/usr/share/gsoap/import";
const SOURCES: [&str; 9] =
    ["bench.h", "checksum.h", "client.h", "codec.h", "connection.h", "memory.h", "peer.cpp", "server.h", "transport.h"];
const FLAGS: [&str; 5] = ["-std=c++17", "-O3", "-DWITH_FAST", "-DWITH_OPENSSL", "-DWITH_GZIP"];
const LIBRARIES: [&str; 4] = ["-pthread", "-lssl", "-lcrypto", "-lz"];

/// The properties of a program.
#[derive(Clone, Copy)]
struct Variant {
    program: &'static str,
    flag: &'static str,
}

/// Without tables of references, which literal messages do not use.
const LITERAL: Variant = Variant { program: "peer", flag: "-DWITH_NOIDREF" };
/// With tables of references. It offers only arrays in SOAP encoding.
const MULTIREF: Variant = Variant { program: "peer-multiref", flag: "-DENCODED_ALONE" };

/// Builds the peer unless it is up to date; returns the path of its program.
pub fn build() -> Result<PathBuf> {
    Build::new(LITERAL)?.build_if_stale()
}

/// Builds the same peer with tables of references.
pub fn build_multiref() -> Result<PathBuf> {
    Build::new(MULTIREF)?.build_if_stale()
}

/// Builds the same peer with the runtime of the binary package, without any of gSOAP's speed
/// options.
pub fn build_packaged() -> Result<PathBuf> {
    debian::install(&["libgsoap-dev"])?;
    let build = Build::new(LITERAL)?;
    let (program, mut sources) = (build.folder.join("peer-debian"), stamp::files_in(&build.sources)?);
    sources.push(composites::path());
    stamp::build_if_stale(&program, &sources, &build.version, || {
        build.generate()?;
        println!("compiling the peer (about a minute)");
        build.link_packaged(&program)
    })?;
    Ok(program)
}

/// Returns the folder of the runtime's sources, in the installed version; downloads both if
/// missing.
pub fn runtime() -> Result<PathBuf> {
    Build::new(LITERAL)?.runtime()
}

struct Build {
    /// Our sources.
    sources: PathBuf,
    /// `.peers/gsoap`.
    folder: PathBuf,
    /// The version of the Debian package, such as `2.8.124-2`.
    version: String,
    variant: Variant,
}

impl Build {
    fn new(variant: Variant) -> Result<Self> {
        debian::install(&PACKAGES)?;
        let sources = shell::root().join("bench/peers/gsoap");
        Ok(Build { sources, folder: shell::workspace("gsoap")?, version: debian::installed_version("gsoap")?, variant })
    }

    /// Builds the program unless it is up to date; returns its path.
    fn build_if_stale(&self) -> Result<PathBuf> {
        let program = self.program();
        if !(program.exists() && shell::is_stamped(&self.stamped(), &self.stamp())) {
            self.all()?;
        }
        Ok(program)
    }

    fn program(&self) -> PathBuf {
        self.folder.join(self.variant.program)
    }

    fn stamped(&self) -> PathBuf {
        self.program().with_extension("stamp")
    }

    /// Returns a text that changes whenever an input of the program does.
    fn stamp(&self) -> String {
        let mut hash = DefaultHasher::new();
        for name in SOURCES {
            fs::read(self.sources.join(name)).ok().hash(&mut hash);
        }
        fs::read(composites::path()).ok().hash(&mut hash);
        format!("gsoap {} {} {} {:016x}\n", self.version, FLAGS.join(" "), self.variant.flag, hash.finish())
    }

    fn all(&self) -> Result<()> {
        let runtime = self.runtime()?;
        self.generate()?;
        shell::create_folder(&self.objects())?;
        println!("compiling the peer (about a minute)");
        self.compile(&runtime.join("stdsoap2.cpp"), &runtime)?;
        self.compile(&self.generated().join("soapC.cpp"), &runtime)?;
        self.compile(&self.generated().join("soapClient.cpp"), &runtime)?;
        self.compile(&self.generated().join("soapServer.cpp"), &runtime)?;
        self.compile(&self.sources.join("peer.cpp"), &runtime)?;
        self.link()?;
        fs::write(self.stamped(), self.stamp()).context("cannot write the stamp")
    }

    fn generated(&self) -> PathBuf {
        self.folder.join("generated")
    }

    /// Returns the folder of the runtime's sources; downloads them if missing.
    fn runtime(&self) -> Result<PathBuf> {
        let runtime = self.folder.join(format!("source/gsoap-{}/gsoap", self.upstream()));
        if !runtime.join("stdsoap2.cpp").exists() {
            self.fetch_source()?;
        }
        Ok(runtime)
    }

    /// Returns the upstream version, without the Debian revision.
    fn upstream(&self) -> &str {
        self.version.rsplit_once('-').map_or(&*self.version, |(upstream, _)| upstream)
    }

    fn fetch_source(&self) -> Result<()> {
        println!("fetching the source package of gsoap {}", self.version);
        let apt = PrivateApt::new(&self.folder.join("apt"))?;
        let source = self.folder.join("source");
        shell::create_folder(&source)?;
        shell::run(&mut apt.command(["update"]))?;
        let package = format!("gsoap={}", self.version);
        shell::run(apt.command(["source", "--only-source", &package]).current_dir(source))
    }

    /// Runs soapcpp2 without a library file, sample messages and WSDL.
    fn generate(&self) -> Result<()> {
        let generated = self.generated();
        shell::create_folder(&generated)?;
        write_composites(&generated)?;
        let mut soapcpp2 = shell::command("soapcpp2", ["-L", "-x", "-w"]);
        soapcpp2.arg(format!("-I{IMPORTS}:.")).arg("-d.").arg(self.sources.join("bench.h"));
        shell::run(soapcpp2.current_dir(generated))
    }

    /// Compiles everything at once, with the installed library and the options in its `gsoap++.pc`.
    fn link_packaged(&self, program: &Path) -> Result<()> {
        let mut compiler = shell::command("g++", ["-std=c++17", "-O3", "-pthread", "-DWITH_IPV6", "-DWITH_DOM"]);
        compiler.arg("-I").arg(self.generated()).arg("-I").arg(&self.sources);
        compiler.args(["soapC.cpp", "soapClient.cpp", "soapServer.cpp"].map(|name| self.generated().join(name)));
        shell::run(compiler.arg(self.sources.join("peer.cpp")).arg("-o").arg(program).arg("-lgsoap++"))
    }

    fn compile(&self, source: &Path, runtime: &Path) -> Result<()> {
        let mut compiler = shell::command("g++", FLAGS);
        compiler.arg(self.variant.flag);
        for include in [&self.generated(), runtime, &self.sources] {
            compiler.arg("-I").arg(include);
        }
        shell::run(compiler.arg("-c").arg(source).arg("-o").arg(self.object(source)))
    }

    /// Returns the folder of this program's object files.
    fn objects(&self) -> PathBuf {
        self.program().with_extension("objects")
    }

    fn object(&self, source: &Path) -> PathBuf {
        self.objects().join(source.file_name().expect("a source is a file")).with_extension("o")
    }

    fn link(&self) -> Result<()> {
        let objects =
            ["peer.o", "soapC.o", "soapClient.o", "soapServer.o", "stdsoap2.o"].map(|name| self.objects().join(name));
        shell::run(shell::command("g++", objects).arg("-o").arg(self.program()).args(LIBRARIES))
    }
}

/// Writes the composite types: what `bench.h` imports, and what the peer includes.
fn write_composites(folder: &Path) -> Result<()> {
    let all = composites::all()?;
    let header: String = all.iter().map(composites::Composite::soapcpp2).collect();
    let macros: String = all.iter().map(composites::Composite::macros).collect();
    fs::write(folder.join("composites.h"), header).context("cannot write composites.h")?;
    fs::write(folder.join("composites.inc"), macros).context("cannot write composites.inc")
}

/// A separate apt configuration with one source: the origin of the installed gsoap package.
struct PrivateApt {
    folder: PathBuf,
}

impl PrivateApt {
    fn new(folder: &Path) -> Result<Self> {
        shell::create_folder(&folder.join("lists/partial"))?;
        shell::create_folder(&folder.join("cache/archives/partial"))?;
        let policy = shell::output(shell::command("apt-cache", ["policy", "gsoap"]).env("LC_ALL", "C"))?;
        let Some(origin) = origin_of_installed(&policy) else {
            bail!("apt does not know the origin of the installed gsoap:\n{policy}");
        };
        fs::write(folder.join("sources.list"), format!("deb-src [signed-by={KEYRING}] {origin}\n"))?;
        Ok(PrivateApt { folder: folder.to_owned() })
    }

    fn command<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let at = |option: &str, place: &str| format!("{option}={}", self.folder.join(place).display());
        let mut apt = Command::new("apt-get");
        apt.args(["-o", &at("Dir::Etc::sourcelist", "sources.list"), "-o", "Dir::Etc::sourceparts=-"]);
        apt.args(["-o", &at("Dir::State::lists", "lists"), "-o", &at("Dir::Cache", "cache")]);
        // Otherwise apt switches to a user that may not write here.
        apt.args(["-o", "APT::Sandbox::User=root"]).args(arguments);
        apt
    }
}

/// Parses `apt-cache policy`: URI, suite and component of the archive that has the installed
/// version.
fn origin_of_installed(policy: &str) -> Option<String> {
    let mut after_installed = policy.lines().skip_while(|line| !line.trim_start().starts_with("***"));
    after_installed.next()?;
    after_installed.map_while(origin_of_line).flatten().next()
}

/// Parses a line such as `500 URI SUITE/COMPONENT ARCHITECTURE Packages`. The outer `None` marks
/// the end of the version's lines.
fn origin_of_line(line: &str) -> Option<Option<String>> {
    let words: Vec<_> = line.split_whitespace().collect();
    match words[..] {
        [_, uri, place, _, "Packages"] => {
            Some(place.rsplit_once('/').map(|(suite, part)| format!("{uri} {suite} {part}")))
        }
        [_, "/var/lib/dpkg/status"] => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::origin_of_installed;

    const POLICY: &str = "gsoap:
  Installed: 2.8.124-2
  Candidate: 2.8.130-1
  Version table:
     2.8.130-1 500
        500 http://archive.example/debian testing/main amd64 Packages
 *** 2.8.124-2 500
        100 /var/lib/dpkg/status
        500 http://archive.example/debian bookworm/main amd64 Packages
     2.8.104-1 500
        500 http://archive.example/debian bullseye/main amd64 Packages
";

    #[test]
    fn takes_the_archive_of_the_installed_version() {
        let origin = origin_of_installed(POLICY);
        assert_eq!(origin.as_deref(), Some("http://archive.example/debian bookworm main"));
    }

    #[test]
    fn a_package_installed_by_hand_has_no_origin() {
        let by_hand = POLICY.replace("500 http://archive.example/debian bookworm/main amd64 Packages", "");
        assert_eq!(origin_of_installed(&by_hand), None);
    }
}
