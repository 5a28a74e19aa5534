//! `cargo xtask msrv`: checks that everything published compiles with the oldest Rust that
//! `rust-version` in Cargo.toml promises.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::{packages, shell};

pub fn run() -> Result<ExitCode> {
    let published = packages::published()?;
    let Some(version) = published.iter().find_map(|package| package.rust_version.clone()) else {
        println!("Cargo.toml names no version of Rust");
        return Ok(ExitCode::FAILURE);
    };
    if let Err(error) =
        shell::run(&mut shell::command("rustup", ["toolchain", "install", "--profile", "minimal", &version]))
    {
        println!("Rust {version} is not checked: {error:#}");
        return Ok(ExitCode::SUCCESS);
    }
    let mut check =
        shell::command("rustup", ["run", &version, "cargo", "check", "--locked", "--target-dir", "target/msrv"]);
    check.args(published.iter().flat_map(|package| ["-p", &package.name])).current_dir(shell::root());
    let status = check.status().context("cannot start rustup")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
