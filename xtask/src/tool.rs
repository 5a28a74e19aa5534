//! Programs from crates.io that tasks run.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::{shell, stamp};

/// A program from crates.io, which is installed when a task first needs it.
pub struct Tool {
    /// The name of the package and of its program.
    pub name: &'static str,
    pub version: &'static str,
    /// Further arguments of `cargo install`.
    pub options: &'static [&'static str],
}

/// Settings that build a tool in a fraction of the time: it runs for seconds.
const QUICK: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
];

impl Tool {
    /// Returns the path of the program. Installs it below `.peers` unless this version is there.
    pub fn installed(&self) -> Result<PathBuf> {
        let program = shell::workspace(self.name)?.join("bin").join(self.name);
        stamp::build_if_stale(&program, &[], self.version, || shell::run(&mut self.install()?))?;
        Ok(program)
    }

    fn install(&self) -> Result<Command> {
        let mut cargo = shell::command("cargo", ["install", self.name, "--locked", "--version", self.version]);
        cargo.args(self.options).arg("--root").arg(shell::workspace(self.name)?).envs(QUICK);
        Ok(cargo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_installed_with_its_lock_file_in_a_folder_of_its_own() {
        let tool = Tool { name: "mdbook", version: "1.2.3", options: &["--no-default-features"] };
        let command = shell::show(&tool.install().unwrap());
        assert!(
            command.starts_with("cargo install mdbook --locked --version 1.2.3 --no-default-features "),
            "{command}"
        );
        assert!(command.ends_with("/.peers/mdbook"), "{command}");
    }
}
