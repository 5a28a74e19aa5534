//! `security`: what WS-Security adds to messages, beside WSS4J and zeep with xmlsec.
//!
//! Body and timestamp are signed with RSA and SHA-256, exclusive canonical forms, and the
//! certificate in the message.
//!
//! - `sign` is what signing adds to a message that a toolkit has as it holds messages: deltasoap a
//!   template that was just written, the others a tree.
//! - `verify` goes from the bytes of a message to the verdict. The others have a tree then;
//!   deltasoap alone has nothing, and in `deltasoap, decoded` the numbers.
//! - `header` is what a new header block costs a request whose body is known to be unchanged,
//!   without security. Only deltasoap has it.
//!
//! Verification remembers nothing, so a message that resembles an earlier one takes as long as any.
//!
//! Each toolkit refuses a message that was changed, and accepts what deltasoap has signed, before
//! anything counts; and deltasoap verifies what the others sign.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use deltasoap::Soap;
use deltasoap::engine::{Outgoing, Template, Templating};
use deltasoap::schema::QName;
use deltasoap::security::{Identity, Protection, Requirements, Trust};
use deltasoap::soap::{Envelope, HeaderBlock, Version, decode_request};
use deltasoap::types::{Node, TrackedVec};
use deltasoap_report::Grid;
use deltasoap_streams::peer::{PeerError, PeerProcess};
use serde::Serialize;

use crate::definitions::peers_folder;
use crate::engine::{Session, timed};
use crate::environment::Environment;
use crate::measure::{Bounds, Figures, SampleSize, measure_each};
use crate::ring::Ring;

/// The identity that signs, which protects nothing.
const CERTIFICATE: &str = include_str!("../../../testdata/security/cert.pem");
const KEY: &str = include_str!("../../../testdata/security/key.pem");
/// The validity of messages, longer than a measurement.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of the pieces in which deltasoap gets a message, as from a connection.
const PIECE: usize = 64 << 10;
/// The other toolkits: names, and programs below the folder of built peers.
const PEERS: [(&str, &str); 2] = [("zeep + xmlsec", "zeep-xmlsec/peer"), ("WSS4J", "wss4j/peer")];

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct SecurityArguments {
    /// Doubles in the message (repeatable)
    #[arg(long = "size", value_name = "N", default_values_t = [3, 100_000])]
    sizes: Vec<usize>,
    /// Few runs: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
    /// Print one JSON object per line instead of a table
    #[arg(long)]
    json: bool,
    /// Folder of built peers [default: .peers in the repository]
    #[arg(long, value_name = "FOLDER")]
    peers: Option<PathBuf>,
}

/// Measures, and prints the results. A peer that is not built is a row with the reason.
///
/// # Errors
/// When deltasoap fails, or gives a wrong result.
pub fn run(arguments: &SecurityArguments) -> Result<ExitCode> {
    let environment = Environment::prepare();
    if let Some(warning) = environment.warning() {
        eprintln!("{warning}");
    }
    let folder = arguments.peers.clone().unwrap_or_else(peers_folder);
    let mut peers: Vec<_> = PEERS.map(|(name, program)| (name, start(folder.join(program)))).into();
    let (sample_size, bounds) = if arguments.quick {
        (SampleSize { runs: 5, time: Duration::ZERO }, Bounds::NONE)
    } else {
        let bounds = Bounds { warm_up: Duration::from_secs(10), runs: Duration::from_secs(20) };
        (SampleSize { runs: 25, time: Duration::from_secs(1) }, bounds)
    };
    let mut rows = Vec::new();
    for &n in &arguments.sizes {
        let sample = Sample::new(n)?;
        rows.extend(measured("sign", &sample, signers(&sample, &mut peers)?, sample_size, bounds)?);
        rows.extend(measured("verify", &sample, verifiers(&sample, &mut peers)?, sample_size, bounds)?);
        let header: Box<dyn Session> = Box::new(Header::new(&sample)?);
        rows.extend(measured("header", &sample, vec![("deltasoap", Ok(header))], sample_size, bounds)?);
    }
    if arguments.json {
        print_json(&rows)?;
    } else {
        println!("{environment}\n\n{}", table(&rows));
    }
    Ok(ExitCode::SUCCESS)
}

/// A result, or the reason why there is none.
struct Row {
    workload: &'static str,
    engine: &'static str,
    n: usize,
    outcome: Result<Figures>,
}

type Sessions<'a> = Vec<(&'static str, Result<Box<dyn Session + 'a>>)>;

fn measured(
    workload: &'static str,
    sample: &Sample,
    sessions: Sessions<'_>,
    sample_size: SampleSize,
    bounds: Bounds,
) -> Result<Vec<Row>> {
    let (mut names, mut ready, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (engine, session) in sessions {
        match session {
            Ok(session) => {
                names.push(engine);
                ready.push(session);
            }
            Err(error) => rows.push(Row { workload, engine, n: sample.n, outcome: Err(error) }),
        }
    }
    let outcomes = measure_each(&mut ready, sample_size, bounds);
    let ours = names.into_iter().zip(outcomes);
    rows.splice(..0, ours.map(|(engine, outcome)| Row { workload, engine, n: sample.n, outcome }));
    match rows.first() {
        Some(Row { outcome: Err(error), .. }) => anyhow::bail!("{workload}: {error:#}"),
        _ => Ok(rows),
    }
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:lab", message, qualified)]
struct Report {
    level: Vec<f64>,
}

/// A message of one size, and what signs and verifies it.
struct Sample {
    n: usize,
    report: Report,
    protection: Protection,
    requirements: Arc<Requirements>,
    /// The message without a signature.
    plain: Vec<u8>,
    /// The message in the form that is signed.
    canonical: Outgoing,
    /// The message that deltasoap has signed.
    signed: Vec<u8>,
}

impl Sample {
    fn new(n: usize) -> Result<Self> {
        let report = Report { level: (0..n).map(|i| (i as f64).sqrt() * 1.000_000_1).collect() };
        let protection = Protection::new().timestamp(DAY).sign(Identity::from_pem(CERTIFICATE, KEY)?);
        let id = protection.body_id().context("the body is signed")?;
        let write = |envelope: &Envelope<'_>| Template::new(Templating::default()).encode(envelope);
        let plain = write(&Envelope::new(&report))?.to_vec();
        let canonical = write(&Envelope::new(&report).canonical(id))?;
        let signed = protection.secure(Version::Soap11, &[], canonical.clone(), &[])?.to_vec();
        let trust = Trust::nobody().certificates(CERTIFICATE)?;
        let requirements = Requirements::new().trust(trust).signed_body().signed_timestamp().max_age(DAY);
        let requirements = Arc::new(requirements.replays(None));
        Ok(Sample { n, report, protection, requirements, plain, canonical, signed })
    }

    fn verify(&self, message: &Bytes) -> Result<()> {
        let mut verification = self.requirements.begin(Default::default());
        for start in (0..message.len()).step_by(PIECE) {
            verification.push(message.slice(start..message.len().min(start + PIECE)))?;
        }
        verification.finish()?;
        Ok(())
    }

    /// Checks a message that somebody has signed: it is valid, and its values are those of the
    /// sample.
    fn check(&self, message: Vec<u8>) -> Result<()> {
        let (_, report): (_, Report) = decode_request(&message).context("a signed message that cannot be read")?;
        ensure!(report == self.report, "a signed message has other values");
        self.verify(&message.into()).context("a signed message is not valid")
    }

    /// Returns the signed message with another value.
    fn changed(&self) -> Result<Vec<u8>> {
        let text = std::str::from_utf8(&self.signed)?;
        let changed = text.replacen("<level>0<", "<level>1<", 1);
        ensure!(changed != text, "the message lacks what is to be changed");
        Ok(changed.into_bytes())
    }
}

fn signers<'a>(sample: &'a Sample, peers: &'a mut Peers) -> Result<Sessions<'a>> {
    let ours: Box<dyn Session> = Box::new(Sign { sample, signed: None });
    let mut sessions: Sessions<'_> = vec![("deltasoap", Ok(ours))];
    for (name, peer) in peers {
        sessions.push((*name, PeerSession::open(peer, "sign", sample, &sample.plain)));
    }
    Ok(sessions)
}

fn verifiers<'a>(sample: &'a Sample, peers: &'a mut Peers) -> Result<Sessions<'a>> {
    let changed = sample.changed()?;
    ensure!(sample.verify(&changed.clone().into()).is_err(), "deltasoap accepts a message that was changed");
    let mut sessions: Sessions<'_> = Vec::new();
    for (name, decodes) in [("deltasoap", false), ("deltasoap, decoded", true)] {
        let ours: Box<dyn Session> = Box::new(Verify { sample, ring: Ring::new(&sample.signed), decodes });
        sessions.push((name, Ok(ours)));
    }
    for (name, peer) in peers {
        let refuses = refuses(peer, sample, &changed);
        sessions.push((*name, refuses.and_then(|()| PeerSession::open(peer, "verify", sample, &sample.signed))));
    }
    Ok(sessions)
}

#[derive(Soap)]
#[soap(namespace = "urn:lab", name = "Report", message, qualified)]
struct TrackedReport {
    level: TrackedVec<f64>,
}

/// deltasoap writes a request again, with another header block.
struct Header<'a> {
    sample: &'a Sample,
    report: TrackedReport,
    template: Template,
    /// Counts the messages.
    number: u64,
    written: Option<Outgoing>,
}

impl<'a> Header<'a> {
    fn new(sample: &'a Sample) -> Result<Self> {
        let report = TrackedReport { level: sample.report.level.clone().into() };
        let mut template = Template::new(Templating::default());
        template.encode(&Envelope::new(&report))?;
        Ok(Header { sample, report, template, number: 0, written: None })
    }

    fn blocks(&self) -> [HeaderBlock; 1] {
        let name = QName::new("urn:lab", "number");
        [HeaderBlock { node: Node::with_text(name, self.number.to_string()) }]
    }
}

impl Session for Header<'_> {
    fn bytes(&self) -> usize {
        self.sample.plain.len()
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let mut once = || {
            self.number += 1;
            let blocks = self.blocks();
            let (ns, written) = timed(|| self.template.encode(&Envelope::new(&self.report).headers(&blocks)));
            self.written = Some(written?);
            Ok(ns)
        };
        (0..count).map(|_| once()).collect()
    }

    fn check(&mut self) -> Result<()> {
        let message = self.written.as_ref().context("nothing was written")?.to_vec();
        let (head, report): (_, Report) = decode_request(&message)?;
        ensure!(report == self.sample.report, "a message has other values");
        let number = head.header("urn:lab", "number").context("a message lacks its header block")?;
        ensure!(number.node.text() == self.number.to_string(), "a message has an earlier header block");
        Ok(())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}

/// deltasoap signs.
struct Sign<'a> {
    sample: &'a Sample,
    signed: Option<Outgoing>,
}

impl Session for Sign<'_> {
    fn bytes(&self) -> usize {
        self.sample.plain.len()
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let mut once = || {
            let message = self.sample.canonical.clone();
            let (ns, signed) = timed(|| self.sample.protection.secure(Version::Soap11, &[], message, &[]));
            self.signed = Some(signed?);
            Ok(ns)
        };
        (0..count).map(|_| once()).collect()
    }

    fn check(&mut self) -> Result<()> {
        self.sample.check(self.signed.as_ref().context("nothing was signed")?.to_vec())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}

/// deltasoap verifies.
struct Verify<'a> {
    sample: &'a Sample,
    ring: Ring,
    decodes: bool,
}

impl Session for Verify<'_> {
    fn bytes(&self) -> usize {
        self.ring.message_len()
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let mut once = || {
            let message = Bytes::copy_from_slice(self.ring.next());
            let (ns, result) = timed(|| {
                self.sample.verify(&message)?;
                anyhow::Ok(if self.decodes { Some(decode_request::<Report>(&message)?) } else { None })
            });
            result.map(|_| ns)
        };
        (0..count).map(|_| once()).collect()
    }

    fn check(&mut self) -> Result<()> {
        self.sample.check(self.ring.next().to_vec())
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}

/// Peers by name, or the reasons why they are missing.
type Peers = Vec<(&'static str, Result<PeerProcess>)>;

fn start(program: PathBuf) -> Result<PeerProcess> {
    let advice = || format!("{} is not built: run `cargo xtask security --figures`", program.display());
    ensure!(program.exists(), advice());
    Ok(PeerProcess::start(&program)?)
}

fn available(peer: &mut Result<PeerProcess>) -> Result<&mut PeerProcess> {
    peer.as_mut().map_err(|error| anyhow::anyhow!("{error:#}"))
}

/// Returns what a peer prepares: the certificate, the key and the message.
fn with_identity(message: &[u8]) -> Vec<u8> {
    [CERTIFICATE.as_bytes(), KEY.as_bytes(), message].concat()
}

/// Fails unless the peer finds that a message was changed.
fn refuses(peer: &mut Result<PeerProcess>, sample: &Sample, changed: &[u8]) -> Result<()> {
    match available(peer)?.prepare("verify", sample.n, &with_identity(changed)) {
        Err(PeerError::Reported(_)) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => anyhow::bail!("it accepts a message that was changed"),
    }
}

/// A peer signs or verifies.
struct PeerSession<'a> {
    process: &'a mut PeerProcess,
    sample: &'a Sample,
    signs: bool,
    bytes: usize,
    warm: Duration,
}

impl<'a> PeerSession<'a> {
    fn open(
        peer: &'a mut Result<PeerProcess>,
        workload: &str,
        sample: &'a Sample,
        message: &[u8],
    ) -> Result<Box<dyn Session + 'a>> {
        let process = available(peer)?;
        let warm = Duration::from_millis(process.hello()?.warm);
        let bytes = process.prepare(workload, sample.n, &with_identity(message))?.bytes;
        Ok(Box::new(PeerSession { process, sample, signs: workload == "sign", bytes, warm }))
    }
}

impl Session for PeerSession<'_> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn warm(&self) -> Duration {
        self.warm
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        Ok(self.process.run(count)?.ns)
    }

    /// The peer itself fails if it finds a message invalid.
    fn check(&mut self) -> Result<()> {
        if self.signs { self.sample.check(self.process.output()?) } else { Ok(()) }
    }

    fn peak_bytes(&mut self) -> Result<u64> {
        Ok(0)
    }
}

fn table(rows: &[Row]) -> String {
    let header = ["", "doubles", "toolkit", "bytes", "runs", "median ms", "min ms", "spread", "\u{d7} deltasoap"];
    let mut grid = Grid::new("", &header, 3);
    let mut reasons = String::new();
    for row in rows {
        let names = [row.workload.to_owned(), row.n.to_string(), row.engine.to_owned()];
        match &row.outcome {
            Ok(figures) => grid.push(names.into_iter().chain(cells(figures, ratio(row, rows)))),
            Err(error) => {
                grid.push(names.into_iter().chain(vec![String::new(); header.len() - 3]));
                reasons += &format!("\n{}, {} of {}: {error:#}", row.engine, row.workload, row.n);
            }
        }
    }
    format!("{}{reasons}", grid.markdown())
}

fn cells(figures: &Figures, ratio: Option<f64>) -> [String; 6] {
    let ms = |ns: u64| format!("{:.3}", ns as f64 / 1e6);
    [
        figures.bytes.to_string(),
        figures.runs.to_string(),
        ms(figures.ns_median),
        ms(figures.ns_min),
        format!("{:.1} %", figures.spread * 100.0),
        ratio.map_or_else(String::new, |ratio| format!("{ratio:.1}")),
    ]
}

/// Returns how much longer a row takes than the first one of the same work.
fn ratio(row: &Row, rows: &[Row]) -> Option<f64> {
    let reference = rows.iter().find(|other| other.workload == row.workload && other.n == row.n)?;
    let median = |row: &Row| row.outcome.as_ref().ok().map(|figures| figures.ns_median as f64);
    Some(median(row)? / median(reference)?)
}

/// Keys in output order.
#[derive(Serialize)]
struct Line<'a> {
    workload: &'a str,
    engine: &'a str,
    n: usize,
    bytes: usize,
    runs: usize,
    ns_min: u64,
    ns_median: u64,
    spread: f64,
    ratio: Option<f64>,
}

fn print_json(rows: &[Row]) -> Result<()> {
    let mut out = io::stdout().lock();
    for row in rows {
        let Row { workload, engine, n, outcome } = row;
        let figures = match outcome {
            Ok(figures) => figures,
            Err(error) => {
                eprintln!("{engine}, {workload} of {n}: {error:#}");
                continue;
            }
        };
        let Figures { bytes, runs, ns_min, ns_median, spread, .. } = *figures;
        let ratio = ratio(row, rows);
        let line = Line { workload, engine, n: *n, bytes, runs, ns_min, ns_median, spread, ratio };
        writeln!(out, "{}", serde_json::to_string(&line)?)?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(n: usize) -> (Sample, Peers) {
        let missing = PEERS.map(|(name, _)| (name, start(PathBuf::from("/nowhere"))));
        (Sample::new(n).expect("a sample"), missing.into())
    }

    #[test]
    fn what_is_signed_is_valid_and_a_missing_peer_is_a_row() {
        let (sample, mut peers) = sessions(10);
        let sample_size = SampleSize { runs: 5, time: Duration::ZERO };
        let sessions = verifiers(&sample, &mut peers).expect("sessions");
        let mut rows = measured("verify", &sample, sessions, sample_size, Bounds::NONE).expect("figures");
        let sessions = signers(&sample, &mut peers).expect("sessions");
        rows.extend(measured("sign", &sample, sessions, sample_size, Bounds::NONE).expect("figures"));
        let header: Box<dyn Session> = Box::new(Header::new(&sample).expect("a template"));
        let sessions = vec![("deltasoap", Ok(header))];
        rows.extend(measured("header", &sample, sessions, sample_size, Bounds::NONE).expect("figures"));
        let engines: Vec<_> = rows.iter().map(|row| (row.workload, row.engine, row.outcome.is_ok())).collect();
        let expected = [
            ("verify", "deltasoap", true),
            ("verify", "deltasoap, decoded", true),
            ("verify", "zeep + xmlsec", false),
            ("verify", "WSS4J", false),
            ("sign", "deltasoap", true),
            ("sign", "zeep + xmlsec", false),
            ("sign", "WSS4J", false),
            ("header", "deltasoap", true),
        ];
        assert_eq!(engines, expected);
        let text = table(&rows);
        assert!(text.contains("is not built: run `cargo xtask security --figures`"), "{text}");
        let first = text.lines().find(|line| line.contains("| sign")).expect("a row");
        assert!(first.trim_end_matches(['|', ' ']).ends_with("1.0"), "{first}");
    }

    #[test]
    fn other_values_and_other_signatures_are_noticed() {
        let (sample, _) = sessions(10);
        assert!(sample.check(sample.signed.clone()).is_ok());
        assert!(sample.check(sample.plain.clone()).is_err());
        assert!(sample.check(sample.changed().expect("a change")).is_err());
    }
}
