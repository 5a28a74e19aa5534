//! The test itself: cases are sent, answers are judged, and what fails is sent again, smaller.

use super::answer::{Asked, Outcome, Problem, Reply, Verdict, judge};
use super::cases::{Case, Cases, Generation, refusals};
use super::checks::{Check, Checks, Severity};
use super::draft::Draft;
use super::form::Form;
use super::kinds::{Aspect, Kind};
use super::link::{Access, Link};
use super::report::{Finding, Report, Stop, Tally, Tested};
use super::same;
use super::shrink::smaller;
use crate::Operation;
use bytes::Bytes;
use deltasoap_core::Node;
use deltasoap_http::{Body, BoxError};
use futures_util::stream::{self, StreamExt};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tower::Service;

/// Number of attempts to reach a service after a failure, and the pause between two.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(300);
/// Maximum number of findings of one operation that are made smaller.
const MAX_SHRUNK: usize = 30;
/// Maximum number of requests by which a request that makes the service hang is made smaller.
const MAX_HANGING: u32 = 8;

/// How a service is tested.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which requests are sent.
    pub generation: Generation,
    /// Maximum number of cases for each operation.
    pub max_cases: u32,
    /// Only the case with this number.
    pub case: Option<u32>,
    /// The time after which no more cases are sent.
    pub max_time: Option<Duration>,
    /// Number of requests at a time.
    pub jobs: usize,
    /// The time within which an answer has to come.
    pub max_response_time: Option<Duration>,
    /// What is checked.
    pub checks: Checks,
    /// Maximum number of requests by which one failing request is made smaller.
    pub max_shrinks: u32,
    /// The names of operations that answer the same request alike.
    pub idempotent: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            generation: Generation::default(),
            max_cases: 100,
            case: None,
            max_time: None,
            jobs: 1,
            max_response_time: None,
            checks: Checks::default(),
            max_shrinks: 100,
            idempotent: Vec::new(),
        }
    }
}

/// What happens during a test.
#[derive(Debug, Clone, Copy)]
pub enum Event<'e> {
    /// An operation is tested next.
    Operation(&'e str),
    /// A case was sent and judged.
    Case,
    /// A failing request is made smaller.
    Shrinking,
}

/// Tests a service.
pub struct Tester<S> {
    link: Link<S>,
    settings: Settings,
    blocks: Option<Box<Blocks>>,
    deadline: Option<Instant>,
    requests: AtomicU64,
    /// Cases of the envelope that made the service hang. Other operations are spared them.
    hanging: Mutex<HashSet<String>>,
}

type Blocks = dyn Fn(&Operation) -> Vec<Node> + Send + Sync;

/// A message that is sent, and the answer.
struct Examined {
    outcome: Outcome,
    verdicts: Vec<Verdict>,
}

/// Cases that fail in the same way.
struct Group {
    check: Check,
    problem: Problem,
    case: Case,
    outcome: Outcome,
    count: u32,
}

/// A request that fails, and how.
struct Failing {
    draft: Draft,
    problem: Problem,
    outcome: Outcome,
}

impl<S, B> Tester<S>
where
    S: Service<Request, Response = http::Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    /// Creates a tester of the service that a transport leads to: HTTP, or a
    /// [`SoapService`](deltasoap_http::SoapService) in this process.
    pub fn new(transport: S, access: Access, settings: Settings) -> Self {
        let link = Link::new(transport, access);
        Tester { link, settings, blocks: None, deadline: None, requests: AtomicU64::new(0), hanging: Mutex::default() }
    }

    /// Adds header blocks to every well-formed request, such as those of WS-Security. Findings are
    /// reported without them.
    #[must_use]
    pub fn blocks(mut self, blocks: impl Fn(&Operation) -> Vec<Node> + Send + Sync + 'static) -> Self {
        self.blocks = Some(Box::new(blocks));
        self
    }

    /// Tests operations one after the other.
    pub async fn run(mut self, operations: &[Operation], watch: &(dyn Fn(Event<'_>) + Sync)) -> Report {
        self.deadline = self.settings.max_time.map(|time| Instant::now() + time);
        let mut report = Report { seed: self.settings.generation.seed, ..Report::default() };
        for operation in operations {
            if report.stop.is_some() {
                break;
            }
            watch(Event::Operation(&operation.full_name()));
            self.operation(operation, &mut report, watch).await;
        }
        report.requests = self.requests.load(Relaxed);
        report
    }

    /// Sends a typical request; returns why there is no use in others, if the service does not answer
    /// it or refuses the credentials.
    pub async fn contact(&self, operation: &Operation) -> Option<Stop> {
        let cases = operation.cases(self.settings.generation);
        self.first_contact(operation, cases.typical()?).await
    }

    /// Sends one message again. Returns a finding if it fails the check, or has no answer at all.
    pub async fn replay(
        &self,
        operation: &Operation,
        check: Check,
        kind: Kind,
        request: &[u8],
        form: Form,
    ) -> Option<Finding> {
        let draft = Draft::parse(request);
        let draft = draft.map(|draft| Draft { form, ..draft });
        let mut examined = match &draft {
            Some(draft) => self.examine(operation, kind, draft).await,
            None => {
                let outcome = self.sent(operation, request, form).await;
                let draft = Draft { envelope: Node::default(), form, damage: Some(super::Damage::Cut) };
                let reasons = refusals(operation, kind, request).unwrap_or_default();
                let asked = Asked {
                    operation,
                    kind,
                    draft: &draft,
                    refusals: &reasons,
                    max_time: self.settings.max_response_time,
                };
                Examined { verdicts: judge(asked, &outcome), outcome }
            }
        };
        let problem = match (check, &draft) {
            (Check::Idempotent, Some(draft)) => {
                let second = self.send(operation, draft).await;
                (!same::are_alike(&examined.outcome, &second)).then(differs)
            }
            (Check::Alive, _) if is_breakdown(&examined) => {
                let typical = operation.cases(self.settings.generation).typical().cloned();
                let is_alive = match typical {
                    Some(typical) => self.is_alive(operation, &typical).await,
                    None => true,
                };
                (!is_alive).then(dead)
            }
            _ => None,
        };
        examined.verdicts.extend(problem.map(|problem| Verdict { check, problem: Some(problem) }));
        let Examined { outcome, verdicts } = examined;
        let failing = |check| verdicts.iter().find(|it| it.check == check && it.problem.is_some());
        let Verdict { check, problem } = failing(check).or_else(|| failing(Check::Answered))?.clone();
        let problem = problem?;
        Some(Finding {
            operation: operation.full_name(),
            check,
            severity: self.settings.checks.severity(check),
            kind,
            what: "a saved request".to_owned(),
            case: 0,
            reason: problem.reason,
            way: problem.way,
            request: request.to_vec(),
            form,
            outcome,
            count: 1,
            others: Vec::new(),
            is_repeatable: true,
        })
    }

    async fn operation(&self, operation: &Operation, report: &mut Report, watch: &(dyn Fn(Event<'_>) + Sync)) {
        let mut tested = Tested { operation: operation.full_name(), ..Tested::default() };
        if let Err(error) = operation.method() {
            tested.skipped = Some(error.to_string());
            return report.operations.push(tested);
        }
        let cases = Cases::new(operation, self.settings.generation, self.deadline);
        let Some(typical) = cases.typical().cloned() else {
            tested.skipped = Some("no valid request could be made".to_owned());
            return report.operations.push(tested);
        };
        let cases = match self.wanted(cases) {
            Ok(cases) => cases,
            Err(reason) => {
                report.stop = reason.is_none().then_some(Stop::Time);
                tested.skipped = reason;
                return report.operations.push(tested);
            }
        };
        if report.operations.iter().all(|it| it.cases == 0) {
            report.stop = self.first_contact(operation, &typical).await;
            if report.stop.is_some() {
                return report.operations.push(tested);
            }
        }
        let mut groups = Vec::new();
        report.stop = self.cases(operation, cases, &typical, &mut tested, &mut groups, watch).await;
        if report.stop.is_none() && self.is_idempotent(operation) {
            self.idempotence(operation, &typical, &mut tested, &mut groups).await;
        }
        let groups = self.joined(operation, groups, &mut report.findings);
        let mut found: Vec<Finding> = Vec::new();
        for (index, group) in groups.into_iter().enumerate() {
            watch(Event::Shrinking);
            let is_dead = report.stop == Some(Stop::Dead);
            let finding = self.finding(operation, group, &typical, index < MAX_SHRUNK && !is_dead).await;
            let same = |it: &&mut Finding| {
                it.check == finding.check && it.request == finding.request && it.form == finding.form
            };
            match found.iter_mut().find(same) {
                Some(known) => known.count += finding.count,
                None => found.push(finding),
            }
        }
        report.findings.extend(found);
        report.operations.push(tested);
    }

    /// Joins what concerns the envelope with the findings of earlier operations; returns the rest.
    fn joined(&self, operation: &Operation, groups: Vec<Group>, findings: &mut [Finding]) -> Vec<Group> {
        let mut rest = Vec::new();
        for group in groups {
            let is_same =
                |it: &&mut Finding| (it.check, it.kind, &it.way) == (group.check, group.case.kind, &group.problem.way);
            match findings.iter_mut().find(is_same).filter(|_| group.case.kind.is_of_envelope()) {
                Some(known) => {
                    known.count += group.count;
                    known.others.push(operation.full_name());
                }
                None => rest.push(group),
            }
        }
        rest
    }

    /// Sends the first request; returns why nothing else is sent, if so.
    async fn first_contact(&self, operation: &Operation, typical: &Draft) -> Option<Stop> {
        match self.send(operation, typical).await {
            Outcome::Lost(reason) => match self.is_alive(operation, typical).await {
                true => None,
                false => Some(Stop::Unreachable(reason)),
            },
            Outcome::Broken(reason) => match self.is_alive(operation, typical).await {
                true => None,
                false => Some(Stop::Unreadable(reason)),
            },
            Outcome::Answer(answer) if matches!(answer.status, 401 | 403 | 407) => Some(Stop::Denied(answer.status)),
            _ => None,
        }
    }

    /// Returns the cases to send.
    ///
    /// # Errors
    /// Returns why there are none: there is no case with the number. `None` if the time is over.
    fn wanted(&self, mut cases: Cases) -> Result<Wanted, Option<String>> {
        let Some(number) = self.settings.case else {
            return Ok(Wanted::Many(Box::new(cases), self.settings.max_cases));
        };
        match cases.by_ref().find(|case| case.number == number) {
            Some(case) => Ok(Wanted::One(Some(Box::new(case)))),
            None if cases.is_late() => Err(None),
            None => {
                let count = cases.made();
                let plural = if count == 1 { "" } else { "s" };
                Err(Some(format!("it has {count} case{plural}, and none with the number {number}")))
            }
        }
    }

    /// Sends all cases of an operation; returns why it stopped early, if it did.
    async fn cases(
        &self,
        operation: &Operation,
        cases: Wanted,
        typical: &Draft,
        tested: &mut Tested,
        groups: &mut Vec<Group>,
        watch: &(dyn Fn(Event<'_>) + Sync),
    ) -> Option<Stop> {
        let wanted = cases.filter(|case| !case.kind.is_of_envelope() || !self.is_hanging(&case.what));
        let mut sent = stream::iter(wanted)
            .map(|case| async move {
                let is_late = self.deadline.is_some_and(|deadline| Instant::now() > deadline);
                let examined = match is_late {
                    true => None,
                    false => Some(self.examine(operation, case.kind, &case.draft).await),
                };
                (case, examined)
            })
            .buffered(self.settings.jobs.max(1));
        let mut known: HashMap<(Check, Kind, String), usize> = HashMap::new();
        while let Some((case, examined)) = sent.next().await {
            let Some(examined) = examined else { return Some(Stop::Time) };
            watch(Event::Case);
            tested.cases += 1;
            tested.valid += u32::from(case.kind.is_valid());
            let broken = is_breakdown(&examined).then(|| (case.clone(), examined.outcome.clone()));
            if matches!(examined.outcome, Outcome::TimedOut(_)) && case.kind.is_of_envelope() {
                self.hanging.lock().unwrap_or_else(PoisonError::into_inner).insert(case.what.clone());
            }
            self.note(case, examined, tested, groups, &mut known);
            let Some((case, outcome)) = broken else { continue };
            if !self.is_alive(operation, typical).await {
                self.note_death(case, outcome, tested, groups);
                return Some(Stop::Dead);
            }
        }
        self.deadline.is_some_and(|deadline| Instant::now() > deadline).then_some(Stop::Time)
    }

    fn is_hanging(&self, what: &str) -> bool {
        self.hanging.lock().unwrap_or_else(PoisonError::into_inner).contains(what)
    }

    /// Counts the results of a case, and keeps what failed.
    fn note(
        &self,
        case: Case,
        examined: Examined,
        tested: &mut Tested,
        groups: &mut Vec<Group>,
        known: &mut HashMap<(Check, Kind, String), usize>,
    ) {
        let checks = &self.settings.checks;
        for Verdict { check, problem } in examined.verdicts.into_iter().filter(|it| checks.has(it.check)) {
            let tally: &mut Tally = tested.tallies.entry(check).or_default();
            let Some(problem) = problem else {
                tally.passed += 1;
                continue;
            };
            tally.failed += 1;
            // What typical requests do not achieve says nothing about unusual ones. A service that
            // refuses them need not use the same words each time.
            let way = if check == Check::Accepted { String::new() } else { problem.way.clone() };
            let typical = (check, Kind::Valid(Aspect::Typical), way.clone());
            let own = (check, case.kind, way);
            match known.get(&typical).or_else(|| known.get(&own)) {
                Some(&group) => groups[group].count += 1,
                None => {
                    known.insert(own, groups.len());
                    let outcome = examined.outcome.clone();
                    groups.push(Group { check, problem, case: case.clone(), outcome, count: 1 });
                }
            }
        }
    }

    /// Notes that the service no longer answers after a case.
    fn note_death(&self, case: Case, outcome: Outcome, tested: &mut Tested, groups: &mut Vec<Group>) {
        if !self.settings.checks.has(Check::Alive) {
            return;
        }
        tested.tallies.entry(Check::Alive).or_default().failed += 1;
        groups.push(Group { check: Check::Alive, problem: dead(), case, outcome, count: 1 });
    }

    fn is_idempotent(&self, operation: &Operation) -> bool {
        let names = [operation.distinct_name(), operation.full_name()];
        self.settings.idempotent.iter().any(|it| names.contains(it)) && self.settings.checks.has(Check::Idempotent)
    }

    /// Sends a typical request twice, and compares the answers.
    async fn idempotence(&self, operation: &Operation, typical: &Draft, tested: &mut Tested, groups: &mut Vec<Group>) {
        let one = self.send(operation, typical).await;
        let outcome = self.send(operation, typical).await;
        let tally = tested.tallies.entry(Check::Idempotent).or_default();
        if same::are_alike(&one, &outcome) {
            tally.passed += 1;
            return;
        }
        tally.failed += 1;
        let problem = differs();
        let what = "the same request twice".to_owned();
        let kind = Kind::Valid(Aspect::Typical);
        let case = Case { number: 1, kind, what, draft: typical.clone(), refusals: Vec::new() };
        groups.push(Group { check: Check::Idempotent, problem, case, outcome, count: 1 });
    }

    /// Sends a request, and puts the answer to all checks.
    async fn examine(&self, operation: &Operation, kind: Kind, draft: &Draft) -> Examined {
        let outcome = self.send(operation, draft).await;
        let refusals = refusals(operation, kind, &draft.write()).unwrap_or_default();
        let max_time = self.settings.max_response_time;
        let mut verdicts = judge(Asked { operation, kind, draft, refusals: &refusals, max_time }, &outcome);
        match kind {
            Kind::Valid(Aspect::Form) if self.settings.checks.has(Check::Form) => {
                let problem = self.compared(operation, draft, &outcome).await;
                if problem.is_some() {
                    // The difference says it all.
                    let others = [Check::ServerFault, Check::Accepted, Check::Envelope, Check::Answered];
                    verdicts.retain(|it| it.problem.is_none() || !others.contains(&it.check));
                }
                verdicts.push(Verdict { check: Check::Form, problem });
            }
            Kind::Valid(Aspect::Unicode) if self.settings.checks.has(Check::Text) => {
                let problem = self.returned(operation, draft, &outcome).await;
                verdicts.push(Verdict { check: Check::Text, problem });
            }
            _ => {}
        }
        Examined { outcome, verdicts }
    }

    /// Compares the answer to a request with the answers to the same request in the plain form.
    async fn compared(&self, operation: &Operation, draft: &Draft, outcome: &Outcome) -> Option<Problem> {
        let plain = self.send(operation, &draft.plain()).await;
        let (class, plain_class) = (same::class(outcome), same::class(&plain));
        if class != plain_class {
            // A service that refuses the request anyway need not do so in the same words.
            let Outcome::Answer(answer) = &plain else { return None };
            let is_answered = matches!(Reply::of(answer), Reply::Response(_) | Reply::Nothing);
            let reason = format!("{class}, and {plain_class} to the same request without {}", draft.form);
            return is_answered.then_some(Problem { way: class, reason });
        }
        if same::are_alike(outcome, &plain) {
            return None;
        }
        // Services whose answers differ anyway cannot be compared.
        let again = self.send(operation, &draft.plain()).await;
        let reason = format!("another answer than to the same request without {}", draft.form);
        same::are_alike(&plain, &again).then_some(Problem { way: "content".to_owned(), reason })
    }

    /// Compares a text that the service returns with the one that it got.
    async fn returned(&self, operation: &Operation, draft: &Draft, outcome: &Outcome) -> Option<Problem> {
        let text = same::unusual_text(&draft.envelope)?;
        let response = same::response(outcome)?;
        if same::path_of(&response, &text).is_some() {
            return None;
        }
        const MARK: &str = "Mark7";
        let mut marked = draft.clone();
        same::replace(&mut marked.envelope, &text, MARK);
        refusals(operation, Kind::Valid(Aspect::Typical), &marked.write())?;
        let other = same::response(&self.send(operation, &marked).await)?;
        let returned = super::draft::at(&response, &same::path_of(&other, MARK)?)?.text();
        let reason = format!("{returned:?} came back for {text:?}");
        (returned != text).then_some(Problem { way: "text".to_owned(), reason })
    }

    /// Returns the finding of a group, whose request is made smaller if that is wanted.
    async fn finding(&self, operation: &Operation, group: Group, typical: &Draft, shrinks: bool) -> Finding {
        let Group { check, problem, case, outcome, count } = group;
        let severity = self.settings.checks.severity(check);
        let mut failing = Failing { draft: case.draft.clone(), problem, outcome };
        let mut is_repeatable = true;
        // Warnings are not worth so many requests.
        let is_worth_it = severity == Severity::Failure && !matches!(check, Check::Alive | Check::Idempotent);
        if shrinks && is_worth_it && self.settings.max_shrinks > 0 {
            let asked = (operation, case.kind, check);
            is_repeatable = self.repeated(asked, &mut failing, typical).await;
            if is_repeatable {
                self.shrink(asked, &mut failing).await;
            }
        }
        // Strict tests forgive nothing, not even what happens once.
        let is_sure = is_repeatable || self.settings.checks.strict;
        let Failing { draft, problem, outcome } = failing;
        Finding {
            operation: operation.full_name(),
            check,
            severity: if is_sure { severity } else { Severity::Warning },
            kind: case.kind,
            what: case.what,
            case: case.number,
            reason: problem.reason,
            way: problem.way,
            request: draft.write(),
            form: draft.form,
            outcome,
            count,
            others: Vec::new(),
            is_repeatable,
        }
    }

    /// Sends a failing request again; returns true if it fails in the same way. A service that does
    /// not answer may only be starting again.
    async fn repeated(&self, asked: (&Operation, Kind, Check), failing: &mut Failing, typical: &Draft) -> bool {
        let mut again = self.again(asked, &failing.draft, &failing.problem).await;
        if again.is_none() && self.is_alive(asked.0, typical).await {
            again = self.again(asked, &failing.draft, &failing.problem).await;
        }
        let is_repeated = again.is_some();
        if let Some((problem, outcome)) = again {
            (failing.problem, failing.outcome) = (problem, outcome);
        }
        is_repeated
    }

    /// Makes a failing request smaller, as long as it fails in the same way.
    async fn shrink(&self, asked: (&Operation, Kind, Check), failing: &mut Failing) {
        let (operation, kind, _) = asked;
        let is_hanging = matches!(failing.outcome, Outcome::TimedOut(_));
        let mut left = self.settings.max_shrinks.min(if is_hanging { MAX_HANGING } else { u32::MAX });
        let mut tried = HashSet::from([failing.draft.write()]);
        let mut is_smaller = true;
        while is_smaller {
            is_smaller = false;
            for candidate in smaller(operation, kind, &failing.draft.clone()) {
                if left == 0 || self.is_late() {
                    return;
                }
                if !tried.insert(candidate.write()) && candidate.form == failing.draft.form {
                    continue;
                }
                left -= 1;
                if let Some((problem, outcome)) = self.again(asked, &candidate, &failing.problem).await {
                    *failing = Failing { draft: candidate, problem, outcome };
                    is_smaller = true;
                    break;
                }
            }
        }
    }

    fn is_late(&self) -> bool {
        // What was found is made smaller for a while after the time is over.
        const GRACE: Duration = Duration::from_secs(10);
        self.deadline.is_some_and(|deadline| Instant::now() > deadline + GRACE)
    }

    /// Sends a request, and returns the problem if it fails in the same way.
    async fn again(
        &self,
        (operation, kind, check): (&Operation, Kind, Check),
        draft: &Draft,
        problem: &Problem,
    ) -> Option<(Problem, Outcome)> {
        let examined = self.examine(operation, kind, draft).await;
        if is_breakdown(&examined) {
            // It may start again.
            self.is_alive(operation, draft).await;
        }
        let found = examined.verdicts.into_iter().filter(|it| it.check == check).find_map(|it| it.problem);
        found.filter(|found| found.way == problem.way).map(|found| (found, examined.outcome))
    }

    async fn is_alive(&self, operation: &Operation, typical: &Draft) -> bool {
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            if matches!(self.send(operation, typical).await, Outcome::Answer(_)) {
                return true;
            }
        }
        false
    }

    async fn send(&self, operation: &Operation, draft: &Draft) -> Outcome {
        let blocks = self.blocks.as_ref().map(|blocks| blocks(operation)).unwrap_or_default();
        if blocks.is_empty() {
            return self.sent(operation, &draft.write(), draft.form).await;
        }
        let mut whole = draft.clone();
        blocks.into_iter().for_each(|block| whole.add_block(block));
        self.sent(operation, &whole.write(), draft.form).await
    }

    async fn sent(&self, operation: &Operation, message: &[u8], form: Form) -> Outcome {
        self.requests.fetch_add(1, Relaxed);
        self.link.send(operation, message, form).await
    }
}

/// The cases that are sent.
enum Wanted {
    /// Those that there are, up to a number.
    Many(Box<Cases>, u32),
    /// One.
    One(Option<Box<Case>>),
}

impl Iterator for Wanted {
    type Item = Case;

    fn next(&mut self) -> Option<Case> {
        match self {
            Wanted::Many(cases, left) => {
                *left = left.checked_sub(1)?;
                cases.next()
            }
            Wanted::One(case) => case.take().map(|case| *case),
        }
    }
}

/// Returns the problem of a service that does not live on.
fn dead() -> Problem {
    let reason = "the service no longer answers after this request".to_owned();
    Problem { way: reason.clone(), reason }
}

/// Returns the problem of an operation that is not idempotent.
fn differs() -> Problem {
    let reason = "the second answer to the same request differs from the first".to_owned();
    Problem { way: reason.clone(), reason }
}

type Request = http::Request<Body>;

/// Returns true if the service may have broken down: no answer, or a 5xx that is no fault.
fn is_breakdown(examined: &Examined) -> bool {
    match &examined.outcome {
        Outcome::Lost(_) | Outcome::Broken(_) | Outcome::TimedOut(_) => true,
        Outcome::Answer(answer) => answer.status >= 500 && matches!(Reply::of(answer), Reply::Other),
    }
}
