//! Peers in Java that Maven builds: `tests/interop/NAME/pom.xml` has the versions.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::stamp;
use crate::{java, shell};

/// The folder with what both sides of the service that requires WS-Security share.
const SECURED: &str = "tests/interop/secured";

/// A peer in Java, by the name of its folder.
pub struct MavenPeer(pub &'static str);

impl MavenPeer {
    /// Builds it if a source, or a file that is given to Maven as a property, is newer.
    pub fn install(&self, properties: &[(&str, &PathBuf)]) -> Result<()> {
        let (sources, build) = (shell::root().join("tests/interop").join(self.0), self.build()?);
        let mut files = vec![sources.join("pom.xml")];
        files.extend(properties.iter().map(|(_, file)| (*file).clone()));
        for folder in [sources.join("src/main"), shell::root().join(SECURED)] {
            files.extend(stamp::files_in(&folder.join("java/deltasoap/interop"))?);
        }
        stamp::build_if_stale(&build.join(format!("{}-peer.jar", self.0)), &files, "maven", || {
            java::install_tools()?;
            println!("building with Maven (about a minute, the first time some more)");
            let mut maven = shell::command("mvn", ["--batch-mode", "--quiet", "--file"]);
            maven.arg(sources.join("pom.xml")).arg(format!("-Dbuild={}", build.display()));
            maven.args(properties.iter().map(|(name, file)| format!("-D{name}={}", file.display())));
            shell::run(maven.arg("package"))
        })
    }

    /// Returns the command of one of its classes.
    pub fn java(&self, class: &str) -> Result<Command> {
        let path = format!("{0}/{1}-peer.jar:{0}/libraries/*", self.build()?.display(), self.0);
        Ok(shell::command("java", ["-cp", &path, &format!("deltasoap.interop.{class}")]))
    }

    /// Returns the command of its server of the service that requires WS-Security.
    pub fn secured_server(&self, keys: &Path) -> Result<Command> {
        let mut command = self.java("SecuredServer")?;
        command.arg(format!("file://{}", shell::root().join(SECURED).join("bank.wsdl").display())).arg(keys);
        Ok(command)
    }

    fn build(&self) -> Result<PathBuf> {
        Ok(shell::workspace(&format!("interop-{}", self.0))?.join("build"))
    }
}
