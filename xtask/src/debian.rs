//! Packages of a Debian system.

use anyhow::{Context, Result};

use crate::shell;

/// Installs those that are missing; only root can.
pub fn install(packages: &[&str]) -> Result<()> {
    let missing: Vec<_> = packages.iter().copied().filter(|name| installed_version(name).is_err()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(", "));
    let advice = || format!("install these packages as root, then try again: {}", missing.join(" "));
    shell::run(&mut shell::command("apt-get", ["update"])).with_context(advice)?;
    let mut install = shell::command("apt-get", ["install", "--yes", "--no-install-recommends"]);
    shell::run(install.args(&missing).env("DEBIAN_FRONTEND", "noninteractive")).with_context(advice)
}

/// The version of an installed package; an error where it is not installed.
pub fn installed_version(package: &str) -> Result<String> {
    let format = "--showformat=${db:Status-Status} ${Version}";
    let answer = shell::output(&mut shell::command("dpkg-query", ["--show", format, package]))?;
    let version = answer.strip_prefix("installed ").with_context(|| format!("{package} is not installed"))?;
    Ok(version.to_owned())
}
