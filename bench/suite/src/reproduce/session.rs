//! The sessions of a record: whether a record can be resumed here, and what makes its times
//! doubtful.
//!
//! A full run takes an hour or more, in one session or several. Times of different machines or
//! scopes are never mixed. Times of another program, of other versions of the toolkits, or with
//! another kernel are mixed only at the user's request, and the report notes it.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::definitions::Definitions;
use crate::engine::Peer;
use crate::environment::Environment as Surroundings;
use crate::record::Record;
use crate::suite::{EngineNote, Environment, read_environment};

/// A session that will measure into a record.
#[derive(Debug)]
pub struct Session {
    /// The common environment of all measurements: that of the record's first session.
    pub environment: Environment,
    /// Differences of this session from it.
    differences: Vec<String>,
}

impl Session {
    /// Creates the first session of a record.
    pub fn first(surroundings: &Surroundings, scope: &str) -> Self {
        let environment = Environment {
            machine: surroundings.machine(),
            scope: scope.to_owned(),
            parts: vec![],
            engines: vec![],
            warning: None,
            steps: vec![],
        };
        Session { environment, differences: vec![] }
    }

    /// Creates another session of the record in a folder.
    ///
    /// # Errors
    /// When the record is of another machine or scope, or has no environment.
    pub fn another(here: Session, folder: &Path) -> Result<Self> {
        let known = read_environment(folder).with_context(|| refusal(folder))?;
        let here = here.environment;
        let (one, other) = (&known.machine, &here.machine);
        let cores = [one, other].map(|it| it.cores.to_string());
        for (what, there, here) in [
            ("the scope", &known.scope, &here.scope),
            ("the processor", &one.processor, &other.processor),
            ("the number of cores", &cores[0], &cores[1]),
        ] {
            ensure!(there == here, "{}: {}; {FRESH}", refusal(folder), difference(what, there, here));
        }
        let pairs = [
            ("the program (its checksum)", &one.program, &other.program),
            ("the system", &one.system, &other.system),
            ("the placement", &one.placement, &other.placement),
        ];
        let differs = pairs.into_iter().filter(|(_, there, here)| there != here);
        let differences = differs.map(|(what, there, here)| difference(what, there, here)).collect();
        Ok(Session { environment: known, differences })
    }

    /// Notes the toolkits, which have been started.
    pub fn note_engines(&mut self, engines: Vec<EngineNote>) {
        self.differences.extend(changed(&self.environment.engines, &engines));
        self.environment.engines = engines;
    }

    /// Allows adding rows despite differences if `is_mixed`; the record then notes it.
    ///
    /// # Errors
    /// When something differs and `is_mixed` is false.
    pub fn admit(&mut self, is_mixed: bool, folder: &Path) -> Result<()> {
        let differences = std::mem::take(&mut self.differences).join("; ");
        if differences.is_empty() {
            return Ok(());
        }
        ensure!(is_mixed, "{}: {differences}; {FRESH}, and --mixed adds rows nevertheless", refusal(folder));
        self.warn(&format!("rows of different sessions are mixed: {differences}"));
        Ok(())
    }

    /// Adds a reason why the times of this session are doubtful. Those of earlier sessions stay.
    pub fn warn(&mut self, warning: &str) {
        let known = self.environment.warning.take();
        let is_known = known.as_ref().is_some_and(|known| known.contains(warning));
        let all = known.into_iter().chain((!is_known).then(|| warning.to_owned()));
        self.environment.warning = Some(all.collect::<Vec<_>>().join("; "));
    }
}

/// The option that always works.
const FRESH: &str = "--fresh starts over";

fn refusal(folder: &Path) -> String {
    format!("cannot resume the record in {}", folder.display())
}

fn difference(what: &str, there: &str, here: &str) -> String {
    format!("{what} was {there} and is {here}")
}

/// Returns differences of toolkits from those of the record's first session, if it has any. Missing
/// toolkits may be added.
fn changed(there: &[EngineNote], here: &[EngineNote]) -> Vec<String> {
    let names = |notes: &[EngineNote]| notes.iter().map(|note| note.name.clone()).collect::<BTreeSet<_>>();
    let list = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(", ");
    let (known, new) = (names(there), names(here));
    let others =
        (!known.is_empty() && known != new).then(|| difference("the choice of toolkits", &list(known), &list(new)));
    let version = |note: &EngineNote| {
        let now = here.iter().find(|it| it.name == note.name)?;
        let (was, is) = (note.version.as_deref()?, now.version.as_deref());
        let is = is.unwrap_or_else(|| now.reason.as_deref().unwrap_or("unknown"));
        (was != is).then(|| difference(&note.name, was, is))
    };
    others.into_iter().chain(there.iter().filter_map(version)).collect()
}

/// Removes the jobs with a missing toolkit that is available now, since all toolkits are measured
/// alternately; returns the number of jobs.
///
/// # Errors
/// When the record cannot be written.
pub fn forget_missing(record: &mut Record, definitions: &Definitions, peers: &Path) -> Result<usize> {
    let built = definitions.peers.iter().filter(|peer| Peer::is_built(peer, peers));
    let reasons: Vec<String> = built.map(Peer::not_built).collect();
    record.forget(|line| {
        let reason = line["reason"].as_str();
        reason.is_some_and(|reason| reasons.iter().any(|known| reason.contains(known)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::StepNote;
    use crate::suite::write_environment;

    fn sample() -> Environment {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record");
        Environment { warning: None, ..read_environment(&sample).unwrap() }
    }

    #[test]
    fn other_load_is_reported_and_our_own_is_not() {
        let note = |(load_before, is_first): (f64, bool)| StepNote {
            step: "a step".to_owned(),
            date: "2026-01-31".to_owned(),
            seconds: 1.0,
            load_before,
            load_after: 1.0,
            is_first,
            expected: None,
        };
        let doubts_of = |loads: &[(f64, bool)]| {
            Environment { steps: loads.iter().map(|it| note(*it)).collect(), ..sample() }.doubts()
        };
        assert!(doubts_of(&[(0.4, true), (1.9, false), (2.4, false), (0.4, true)]).is_empty());
        assert!(doubts_of(&[(0.6, false), (1.9, false)])[0].ends_with(": a step (0.6)"));
        assert!(doubts_of(&[(0.4, true), (3.0, false)])[0].ends_with(": a step (3)"));
        // The first step of another night.
        assert!(doubts_of(&[(0.4, true), (1.9, false), (1.8, true)])[0].ends_with(": a step (1.8)"));
    }

    #[test]
    fn a_busy_night_is_not_forgotten() {
        let mut session = Session { environment: sample(), differences: vec![] };
        for warning in ["busy (load 3)", "busy (load 4)", "busy (load 3)"] {
            session.warn(warning);
        }
        assert_eq!(session.environment.warning.as_deref(), Some("busy (load 3); busy (load 4)"));
    }

    /// Returns a session whose environment differs from the sample.
    fn session(change: impl Fn(&mut Environment)) -> Result<Session> {
        let folder = tempfile::tempdir().unwrap();
        write_environment(folder.path(), &sample()).unwrap();
        let mut environment = sample();
        change(&mut environment);
        Session::another(Session { environment, differences: vec![] }, folder.path())
    }

    #[test]
    fn rows_of_another_program_are_refused_unless_asked_for() {
        let folder = Path::new("there");
        assert!(session(|_| ()).unwrap().admit(false, folder).is_ok());
        let changes: [fn(&mut Environment); 3] = [
            |it| it.machine.program = "new".to_owned(),
            |it| it.machine.system = "new".to_owned(),
            |it| it.machine.placement = "new".to_owned(),
        ];
        for change in changes {
            let error = session(change).unwrap().admit(false, folder).unwrap_err().to_string();
            assert!(error.contains("is new; --fresh starts over, and --mixed adds"), "{error}");
            let mut mixed = session(change).unwrap();
            mixed.admit(true, folder).unwrap();
            assert!(mixed.environment.warning.unwrap().contains("are mixed: "));
        }
        let never: [fn(&mut Environment); 3] = [
            |it| it.scope = "new".to_owned(),
            |it| it.machine.cores += 1,
            |it| it.machine.processor = "new".to_owned(),
        ];
        assert!(
            never.into_iter().all(|change| session(change).unwrap_err().to_string().ends_with("; --fresh starts over"))
        );
    }

    #[test]
    fn toolkits_may_come_and_not_change() {
        let note = |name: &str, version: Option<&str>| EngineNote {
            name: name.to_owned(),
            version: version.map(str::to_owned),
            description: String::new(),
            reason: version.is_none().then(|| "not built".to_owned()),
            hides_memory: false,
        };
        let known = [note("a", Some("a 1")), note("b", None)];
        let of = |here: &[EngineNote]| changed(&known, here);
        assert!(of(&known).is_empty() && of(&[note("a", Some("a 1")), note("b", Some("b 7"))]).is_empty());
        assert_eq!(of(&[note("a", Some("a 2")), note("b", None)]), ["a was a 1 and is a 2"]);
        assert_eq!(of(&[note("a", None), note("b", None)]), ["a was a 1 and is not built"]);
        assert_eq!(of(&known[..1]), ["the choice of toolkits was a, b and is a"]);
        assert!(changed(&[], &known).is_empty());
    }

    #[test]
    fn jobs_that_lack_a_toolkit_are_measured_again_once_it_is_built() {
        let (definitions, folder) = (Definitions::load().unwrap(), tempfile::tempdir().unwrap());
        let gsoap = definitions.peers.iter().find(|peer| peer.name == "gsoap").unwrap();
        let mut record = Record::default();
        let missing = format!("its server: {}", Peer::not_built(gsoap));
        for (key, reason) in [("a", missing.as_str()), ("b", "it ended")] {
            let line = |engine: &str, reason| serde_json::json!({"engine": engine, "reason": reason});
            record.append("sent", key, &[line("deltasoap", None), line("gsoap", Some(reason))]).unwrap();
        }
        assert_eq!(forget_missing(&mut record, &definitions, folder.path()).unwrap(), 0);
        let program = folder.path().join(&gsoap.program);
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(program, "").unwrap();
        assert_eq!(forget_missing(&mut record, &definitions, folder.path()).unwrap(), 1);
        assert!(!record.has("a") && record.has("b"));
    }
}
