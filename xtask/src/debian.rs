//! Packages of a Debian system.

use std::fmt;

use anyhow::{Context, Result};

use crate::shell;

/// Packages that are missing on this machine and could not be installed.
#[derive(Debug)]
pub struct MissingPackages(String);

impl fmt::Display for MissingPackages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "install these packages as root, then try again: {}", self.0)
    }
}

/// Installs the missing packages; requires root.
///
/// # Errors
/// Returns [`MissingPackages`] if that fails.
pub fn install(packages: &[&str]) -> Result<()> {
    let missing: Vec<_> = packages.iter().copied().filter(|name| installed_version(name).is_err()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(", "));
    let advice = || MissingPackages(missing.join(" "));
    shell::run(&mut shell::command("apt-get", ["update"])).with_context(advice)?;
    let mut install = shell::command("apt-get", ["install", "--yes", "--no-install-recommends"]);
    shell::run(install.args(&missing).env("DEBIAN_FRONTEND", "noninteractive")).with_context(advice)
}

/// Returns the version of an installed package; an error if it is not installed.
pub fn installed_version(package: &str) -> Result<String> {
    let format = "--showformat=${db:Status-Status} ${Version}";
    let answer = shell::output(&mut shell::command("dpkg-query", ["--show", format, package]))?;
    let version = answer.strip_prefix("installed ").with_context(|| format!("{package} is not installed"))?;
    Ok(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_packages_are_distinguished_from_other_errors() {
        let refused: Result<()> = Err(anyhow::anyhow!("not root"));
        let error = refused.with_context(|| MissingPackages("mono-mcs".to_owned())).unwrap_err();
        assert!(error.is::<MissingPackages>() && !anyhow::anyhow!("a compiler's complaint").is::<MissingPackages>());
        assert!(format!("{error:#}").contains("mono-mcs: not root"), "{error:#}");
    }
}
