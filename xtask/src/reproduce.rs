//! `cargo xtask reproduce`: installs the peers that this machine can have, and reproduces the five papers beside them.
//!
//! `docs/artifact.md` says what comes out and how long it takes.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::shell::Profile;
use crate::{peers, shell};

#[derive(clap::Args)]
pub struct Arguments {
    /// Small messages, few repetitions, two peers: some minutes instead of some hours
    #[arg(long)]
    quick: bool,
    /// Take the peers that have been built, and build none
    #[arg(long)]
    no_install: bool,
    /// Say how the outcomes compare with those of another record; fails if counts or bytes differ
    #[arg(long, value_name = "RECORD")]
    check: Option<PathBuf>,
    /// A paper, 0 to 4 as in docs/papers.md (repeatable) [default: all]
    #[arg(long = "paper", value_name = "N")]
    papers: Vec<u8>,
    /// Further arguments of `deltasoap-bench reproduce`
    #[arg(last = true, value_name = "ARGUMENT")]
    more: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    match (arguments.no_install, arguments.quick) {
        (true, _) => {}
        (false, true) => peers::install_few(),
        (false, false) => peers::install(),
    }
    let mut bench = shell::ours("deltasoap-bench", Profile::Release);
    pass_on(arguments, &mut bench)?;
    let status = bench.status().context("cannot start cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn pass_on(arguments: &Arguments, bench: &mut Command) -> Result<()> {
    bench.arg("reproduce").arg(if arguments.quick { "--quick" } else { "--full" });
    if let Some(record) = &arguments.check {
        // It is started in the repository.
        bench.arg("--check").arg(absolute(record)?);
    }
    bench.args(arguments.papers.iter().flat_map(|paper| ["--paper".to_owned(), paper.to_string()]));
    bench.args(&arguments.more);
    Ok(())
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{} is no path", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_passed_on() {
        let arguments = Arguments {
            quick: true,
            no_install: true,
            check: Some("/records/one".into()),
            papers: vec![0, 4],
            more: vec!["--minutes".to_owned(), "5".to_owned()],
        };
        let mut command = Command::new("bench");
        pass_on(&arguments, &mut command).unwrap();
        let shown = shell::show(&command);
        assert_eq!(shown, "bench reproduce --quick --check /records/one --paper 0 --paper 4 --minutes 5");
        assert!(absolute(Path::new("here")).unwrap().is_absolute());
    }
}
