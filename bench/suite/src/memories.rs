//! `memories`: what the bound on a server's memories costs and gains with many clients.
//!
//! The service is real, with its cache, its eviction and its decoder, and so are the messages:
//! TR-069 `Inform`, each client's with its own serial number, and with another time than the one before. Only the network is left out, and the order of clients is made by a
//! [`Pattern`]. A run has a first part that fills the cache, and a second one of the same length that
//! is measured. The processor time of a message is that of the whole request in memory, less that of
//! making it, and is compared with the time of a service that compares nothing.

use crate::stream::inform::{self, Inform};
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use deltasoap::engine::{Checkpoints, Differential};
use deltasoap::server::{MemoryBounds, Principal};
use deltasoap::{Lease, Soap, SoapService};
use deltasoap_cost::measure::process_time;
use deltasoap_report::plot::Chart;
use deltasoap_report::table::Grid;
use deltasoap_streams::prng::{SEED, SplitMix64};
use http::Request;
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use serde::Serialize;
use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;
use tower::ServiceExt;

/// The patterns, the numbers of clients and the bounds.
#[derive(Debug, clap::Args)]
pub struct MemoriesArguments {
    /// Number of clients (repeatable) [default: 100000]
    #[arg(long = "clients", value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1000..=100_000_000))]
    clients: Vec<u32>,
    /// Bound on all memories in MiB (repeatable) [default: 64, 128, 256, 512, 1024, 2048]
    #[arg(long = "bound", value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    bounds: Vec<u32>,
    /// The order in which clients send (repeatable) [default: all]
    #[arg(long = "pattern", value_enum)]
    patterns: Vec<Pattern>,
    /// Number of parameters in a message, of about 150 bytes each
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    parameters: u32,
    /// Messages of a run for each client, on average, half of which are measured
    #[arg(long, value_name = "NUMBER", default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..=1000))]
    messages: u32,
    /// Print JSON, an object for each run
    #[arg(long)]
    json: bool,
    /// Draw the shares of compared messages into this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The order in which clients send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Pattern {
    /// Some send far more than others: Zipf's law with exponent 1
    Zipf,
    /// A third of the clients is awake, in the course of a day each of them
    Diurnal,
    /// Each client sends once in a period, and all in nearly the same order
    Periodic,
}

/// Runs all combinations.
///
/// # Errors
/// When an answer is wrong, or output cannot be written.
pub fn run(arguments: &MemoriesArguments) -> Result<()> {
    let or = |given: &[u32], usual: &[u32]| if given.is_empty() { usual.to_vec() } else { given.to_vec() };
    let (clients, bounds) =
        (or(&arguments.clients, &[100_000]), or(&arguments.bounds, &[64, 128, 256, 512, 1024, 2048]));
    let patterns = match arguments.patterns.as_slice() {
        [] => vec![Pattern::Zipf, Pattern::Diurnal, Pattern::Periodic],
        given => given.to_vec(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let mut rows = Vec::new();
    for clients in clients {
        for pattern in &patterns {
            for bound in &bounds {
                let (parameters, messages) = (arguments.parameters, arguments.messages);
                let run = Run { clients, pattern: *pattern, bound: *bound, parameters, messages };
                let row = runtime.block_on(run.row())?;
                if arguments.json {
                    println!("{}", serde_json::to_string(&row)?);
                } else {
                    eprintln!("{clients} clients, {pattern:?}, {bound} MiB: {:.0} % compared", 100.0 * row.compared);
                }
                rows.push(row);
            }
        }
    }
    if !arguments.json {
        println!("{}", table(&rows));
    }
    if let Some(path) = &arguments.svg {
        std::fs::write(path, picture(&chart(&rows))).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// One combination.
#[derive(Debug, Clone, Copy)]
struct Run {
    clients: u32,
    pattern: Pattern,
    bound: u32,
    parameters: u32,
    messages: u32,
}

/// The results of a run.
#[derive(Debug, Serialize)]
struct Row {
    clients: u32,
    pattern: Pattern,
    bound_mib: u32,
    /// The share of messages that were compared with one of their client.
    compared: f64,
    /// The share of bytes that were not decoded.
    skipped: f64,
    /// Processor time of a message in microseconds, and of one of a service without memories.
    cpu_us: f64,
    plain_cpu_us: f64,
    /// Bytes of a message.
    message_bytes: u64,
    /// Bytes of all memories at the end, and of those of one client.
    held_bytes: u64,
    bytes_per_client: u64,
}

impl Run {
    async fn row(self) -> Result<Row> {
        let half = u64::from(self.clients) * u64::from(self.messages) / 2;
        let service = service(self.bound, Differential { checkpoints: Checkpoints::Leaf, adaptive: false })?;
        let mut arrivals = Arrivals::new(self, 2 * half);
        let mut messages = Messages::new(self.clients, self.parameters)?;
        send(&service, &mut arrivals, &mut messages, half).await?;
        let before = service.stats().snapshot();
        let time = send(&service, &mut arrivals, &mut messages, half).await?;
        let after = service.stats().snapshot();
        let (differential, count) = (after.differential - before.differential, half as f64);
        // What does not depend on the memories is measured briefly.
        let some = half.min(100_000);
        let plain = send(&self::service(1, Differential::OFF)?, &mut arrivals, &mut messages, some).await?;
        let start = process_time();
        for _ in 0..some {
            drop(std::hint::black_box(messages.next(arrivals.next())?));
        }
        let making = (process_time() - start).as_secs_f64() / some as f64;
        let length = messages.next(0)?.body().size_hint().lower();
        let of_message = |time: Duration, count: f64| 1e6 * (time.as_secs_f64() / count - making);
        let held = after.differential.memory;
        Ok(Row {
            clients: self.clients,
            pattern: self.pattern,
            bound_mib: self.bound,
            compared: differential.compared as f64 / count,
            skipped: differential.fast_bytes as f64
                / (differential.fast_bytes + differential.regular_bytes).max(1) as f64,
            cpu_us: of_message(time, count),
            plain_cpu_us: of_message(plain, some as f64),
            message_bytes: length,
            held_bytes: held,
            bytes_per_client: messages.bytes_per_memory(held, u64::from(self.bound) << 20),
        })
    }
}

#[derive(Debug, Soap)]
#[soap(element = "InformResponse", namespace = "urn:dslforum-org:cwmp-1-0", rename_all = "PascalCase")]
struct InformResponse {
    max_envelopes: u32,
}

fn service(bound: u32, differential: Differential) -> Result<SoapService> {
    let bounds = MemoryBounds { total_bytes: (bound as usize) << 20, ..MemoryBounds::default() };
    let inform = async |_: Lease<Inform>| Ok::<_, Infallible>(InformResponse { max_envelopes: 1 });
    Ok(SoapService::builder().differential(differential).memory_bounds(bounds).operation(inform).build()?)
}

/// Sends the next messages, and returns the processor time that took.
async fn send(service: &SoapService, arrivals: &mut Arrivals, messages: &mut Messages, count: u64) -> Result<Duration> {
    let start = process_time();
    for _ in 0..count {
        let request = messages.next(arrivals.next())?;
        let Ok(response) = service.clone().oneshot(request).await;
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        ensure!(
            head.status.is_success() && memchr::memmem::find(&body, b"<MaxEnvelopes>1</MaxEnvelopes>").is_some(),
            "a wrong answer: {}",
            String::from_utf8_lossy(&body)
        );
    }
    Ok(process_time() - start)
}

/// The messages of all clients.
struct Messages {
    /// The text between serial number and time.
    parts: [Vec<u8>; 3],
    /// Number of messages that each client has sent.
    sent: Vec<u16>,
}

impl Messages {
    fn new(clients: u32, parameters: u32) -> Result<Self> {
        let text = std::str::from_utf8(inform::one())?.replace("mustUnderstand=\"1\"", "mustUnderstand=\"0\"");
        let text = with_parameters(&text, parameters)?;
        let (before, after) = cut(&text, "SerialNumber")?;
        let (between, after) = cut(after, "CurrentTime")?;
        let parts = [before, between, after].map(|part| part.as_bytes().to_vec());
        Ok(Messages { parts, sent: vec![0; clients as usize] })
    }

    /// Returns the next request of a client.
    fn next(&mut self, client: u32) -> Result<Request<Full<Bytes>>> {
        let sent = &mut self.sent[client as usize];
        *sent = sent.wrapping_add(1);
        let (minutes, hours) = (*sent % 60, *sent / 60 % 24);
        let [before, between, after] = &self.parts;
        let mut message = Vec::with_capacity(before.len() + between.len() + after.len() + 40);
        message.extend_from_slice(before);
        message.extend_from_slice(format!("S{client:09}").as_bytes());
        message.extend_from_slice(between);
        message.extend_from_slice(format!("2026-01-19T{hours:02}:{minutes:02}:24+00:00").as_bytes());
        message.extend_from_slice(after);
        let request = Request::post("/").header("content-type", "text/xml");
        Ok(request.extension(Principal::new(client.to_string())).body(Full::from(message))?)
    }

    /// Returns the bytes of a client's memory, if all that have sent are kept; 0 if not.
    fn bytes_per_memory(&self, held: u64, bound: u64) -> u64 {
        let clients = self.sent.iter().filter(|sent| **sent > 0).count() as u64;
        if held > bound / 10 * 9 { 0 } else { held / clients.max(1) }
    }
}

/// Returns an `Inform` with some parameters instead of its own.
fn with_parameters(text: &str, parameters: u32) -> Result<String> {
    const ARRAY: &str = "ParameterValueStruct[";
    let (before, after) = cut(text, "ParameterList")?;
    let (start, rest) = before.rsplit_once(ARRAY).context("the sample has another form")?;
    let tag = rest.split_once(']').context("the sample has another form")?.1;
    let end = after.find("</ParameterList>").context("the sample has another form")?;
    let list: String = (0..parameters)
        .map(|number| {
            let name = format!("InternetGatewayDevice.LANDevice.1.Hosts.Host.{number}.IPAddress");
            let value = format!("192.168.{}.{}", number / 200, number % 200);
            format!(
                "<ParameterValueStruct><Name>{name}</Name><Value xsi:type=\"xsd:string\">{value}</Value></ParameterValueStruct>\n"
            )
        })
        .collect();
    Ok(format!("{start}{ARRAY}{parameters}]{tag}{list}{}", &after[end..]))
}

/// Cuts the content of the first element with a name out of a text.
fn cut<'t>(text: &'t str, name: &str) -> Result<(&'t str, &'t str)> {
    let start = text.find(&format!("<{name}")).context("the sample has another form")?;
    let start = start + text[start..].find('>').context("the sample has another form")? + 1;
    let end = text[start..].find("</").context("the sample has another form")?;
    Ok((&text[..start], &text[start + end..]))
}

/// Which client sends next.
struct Arrivals {
    run: Run,
    random: SplitMix64,
    now: u64,
    /// Number of messages of the whole run.
    all: u64,
}

impl Arrivals {
    fn new(run: Run, all: u64) -> Self {
        Arrivals { run, random: SplitMix64::new(SEED), now: 0, all }
    }

    fn next(&mut self) -> u32 {
        let clients = self.run.clients;
        let now = self.now;
        self.now += 1;
        match self.run.pattern {
            // The ranks of Zipf's law with exponent 1 are distributed evenly by their logarithm.
            Pattern::Zipf => (f64::from(clients).powf(self.random.uniform()) as u32 - 1).min(clients - 1),
            Pattern::Diurnal => {
                let first = (now as f64 / self.all as f64 * f64::from(clients)) as u32;
                (first % clients + self.random.below(clients / 3)) % clients
            }
            Pattern::Periodic => {
                let late = self.random.below((clients / 50).max(1));
                ((now % u64::from(clients)) as u32 + late) % clients
            }
        }
    }
}

fn table(rows: &[Row]) -> String {
    let header =
        ["order", "clients", "bound, MiB", "compared, %", "skipped, %", "µs a message", "µs without", "held, MiB"];
    let cells = rows.iter().map(|row| {
        [
            format!("{:?}", row.pattern).to_lowercase(),
            row.clients.to_string(),
            row.bound_mib.to_string(),
            format!("{:.0}", 100.0 * row.compared),
            format!("{:.0}", 100.0 * row.skipped),
            format!("{:.1}", row.cpu_us),
            format!("{:.1}", row.plain_cpu_us),
            (row.held_bytes >> 20).to_string(),
        ]
    });
    Grid::new("", &header, 1).with(cells).markdown()
}

/// Returns a chart as a picture of its own, with its legend and its colours.
fn picture(chart: &Chart) -> String {
    const STYLE: &str = "svg{font:13px sans-serif;background:#fff}text{fill:#333}.grid{stroke:#ddd}\
        circle{fill:var(--c);stroke:var(--c)}.line{fill:none;stroke:var(--c);stroke-width:2}";
    const COLOURS: [&str; 8] = ["#046591", "#e96708", "#10a67b", "#a541dc", "#000000", "#b94300", "#9f87d5", "#834242"];
    let colours: String =
        COLOURS.iter().enumerate().map(|(index, colour)| format!(".c{index}{{--c:{colour}}}")).collect();
    let legend: String = chart
        .names()
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let (y, colour) = (190 + 20 * index, index % COLOURS.len());
            format!(
                "<circle class=\"c{colour}\" cx=\"600\" cy=\"{y}\" r=\"4\"/><text x=\"612\" y=\"{}\">{name}</text>",
                y + 4
            )
        })
        .collect();
    let svg = chart.svg();
    let (open, content) = svg.split_once('>').unwrap_or_default();
    let content = content.trim_end().trim_end_matches("</svg>");
    format!("{open}><title>{}</title><style>{STYLE}{colours}</style>{content}{legend}</svg>\n", chart.label())
}

fn chart(rows: &[Row]) -> Chart {
    let mut series: Vec<(String, Vec<f64>)> = Vec::new();
    let mut places: Vec<f64> = rows.iter().map(|row| f64::from(row.bound_mib)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    for row in rows {
        let name = format!("{:?}, {} clients", row.pattern, row.clients);
        match series.last_mut().filter(|(last, _)| *last == name) {
            Some((_, shares)) => shares.push(100.0 * row.compared),
            None => series.push((name, vec![100.0 * row.compared])),
        }
    }
    Chart::curves("Messages compared with the last one of their client", "bound in MiB", "%", &places, series)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pattern: Pattern, bound: u32) -> Row {
        let run = Run { clients: 1000, pattern, bound, parameters: 8, messages: 8 };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(run.row()).expect("a row")
    }

    #[test]
    fn bounds_matter_as_they_should() {
        for pattern in [Pattern::Zipf, Pattern::Diurnal, Pattern::Periodic] {
            let enough = row(pattern, 64);
            assert!(enough.compared > 0.9, "{enough:?}");
            assert!(enough.skipped > 0.8, "{enough:?}");
        }
        // Room for a tenth of the clients: those who send most stay, but in a period nobody does.
        let (zipf, periodic) = (row(Pattern::Zipf, 1), row(Pattern::Periodic, 1));
        assert!(zipf.compared > 0.3 && zipf.compared > periodic.compared + 0.2, "{zipf:?} {periodic:?}");
    }

    #[test]
    fn a_picture_has_all_curves() {
        let rows: Vec<Row> = [(Pattern::Zipf, 1), (Pattern::Zipf, 2), (Pattern::Diurnal, 1), (Pattern::Diurnal, 2)]
            .map(|(pattern, bound_mib)| Row {
                clients: 10,
                pattern,
                bound_mib,
                compared: 0.5,
                skipped: 0.5,
                cpu_us: 1.0,
                plain_cpu_us: 1.0,
                message_bytes: 1,
                held_bytes: 1,
                bytes_per_client: 1,
            })
            .into();
        let picture = picture(&chart(&rows));
        assert_eq!((picture.matches("<polyline").count(), picture.matches("</svg>").count()), (2, 1), "{picture}");
        assert!(picture.contains(">Zipf, 10 clients</text>") && picture.contains("<style>"), "{picture}");
    }

    #[test]
    fn every_client_sends() {
        for pattern in [Pattern::Zipf, Pattern::Diurnal, Pattern::Periodic] {
            let run = Run { clients: 1000, pattern, bound: 1, parameters: 8, messages: 30 };
            let mut arrivals = Arrivals::new(run, 30_000);
            let mut sent = vec![0; 1000];
            (0..30_000).for_each(|_| sent[arrivals.next() as usize] += 1);
            let silent = sent.iter().filter(|sent| **sent == 0).count();
            assert!(silent < 50, "{pattern:?}: {silent}");
        }
    }
}
