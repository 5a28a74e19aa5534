//! The `deltasoap` command.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(deltasoap_cli::run(std::env::args_os(), std::future::pending()))
}
