//! `cargo xtask reproduce`: installs the peers that are available for this machine, and reproduces
//! the five papers together with them.
//!
//! `docs/artifact.md` describes the results and the time that it takes.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::shell::Profile;
use crate::{peers, shell};

#[derive(clap::Args)]
pub struct Arguments {
    /// Use small messages, few repetitions, two peers: some minutes instead of an hour
    #[arg(long)]
    quick: bool,
    /// Use the peers that are already built, and build none
    #[arg(long)]
    no_install: bool,
    /// Compare the outcomes with those of another record; fails if counts or bytes differ
    #[arg(long, value_name = "RECORD")]
    check: Option<PathBuf>,
    /// A paper, 0 to 4 as in docs/papers.md (repeatable) [default: all]
    #[arg(long = "paper", value_name = "N")]
    papers: Vec<u8>,
    /// Only print what is left to measure, and how long it takes; installs nothing
    #[arg(long)]
    plan: bool,
    /// The folder of the record [default: target/reproduce/full or quick in the repository]
    #[arg(long, value_name = "FOLDER")]
    record: Option<PathBuf>,
    /// Further arguments of `deltasoap-bench reproduce`, which runs in the root of the repository
    #[arg(last = true, value_name = "ARGUMENT")]
    more: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    match (arguments.installs(), arguments.quick) {
        (false, _) => {}
        (true, true) => peers::install_few(),
        (true, false) => peers::install_for_papers(),
    }
    let mut bench = shell::ours("deltasoap-bench", Profile::Release);
    pass_on(arguments, &mut bench)?;
    let status = bench.status().context("cannot start cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

impl Arguments {
    fn installs(&self) -> bool {
        let is_plan = self.plan || self.more.iter().any(|argument| argument == "--plan");
        !self.no_install && !is_plan
    }
}

fn pass_on(arguments: &Arguments, bench: &mut Command) -> Result<()> {
    bench.arg("reproduce").arg(if arguments.quick { "--quick" } else { "--full" });
    // The program starts in the repository, but these paths are relative to our working directory.
    for (name, folder) in [("--check", &arguments.check), ("--record", &arguments.record)] {
        if let Some(folder) = folder {
            bench.arg(name).arg(absolute(folder)?);
        }
    }
    bench.args(arguments.papers.iter().flat_map(|paper| ["--paper".to_owned(), paper.to_string()]));
    bench.args(arguments.plan.then_some("--plan"));
    bench.args(&arguments.more);
    Ok(())
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{} is no path", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments() -> Arguments {
        Arguments {
            quick: true,
            no_install: false,
            check: Some("/records/one".into()),
            papers: vec![0, 4],
            plan: false,
            record: Some("/records/two".into()),
            more: vec!["--minutes".to_owned(), "5".to_owned()],
        }
    }

    #[test]
    fn arguments_are_passed_on() {
        let shown = |arguments: &Arguments| {
            let mut command = Command::new("bench");
            pass_on(arguments, &mut command).unwrap();
            shell::show(&command)
        };
        let folders = "--check /records/one --record /records/two";
        assert_eq!(shown(&arguments()), format!("bench reproduce --quick {folders} --paper 0 --paper 4 --minutes 5"));
        let plan = Arguments { plan: true, more: vec![], papers: vec![], ..arguments() };
        assert_eq!(shown(&plan), format!("bench reproduce --quick {folders} --plan"));
        assert!(absolute(Path::new("here")).unwrap().is_absolute());
    }

    #[test]
    fn a_plan_installs_nothing() {
        assert!(arguments().installs());
        assert!(!Arguments { no_install: true, ..arguments() }.installs());
        assert!(!Arguments { plan: true, ..arguments() }.installs());
        assert!(!Arguments { more: vec!["--plan".to_owned()], ..arguments() }.installs());
    }
}
