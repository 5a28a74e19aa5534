//! Packed numbers compared with text: the same doubles as base64 of their bytes, as bytes in their
//! own MIME part, and as decimal text.
//!
//! It measures encoding and decoding alone, and whole calls over loopback with client and server in
//! this process. Nothing is compared with earlier messages.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use deltasoap::attachments::{AttachmentError, Mtom};
use deltasoap::client::CallOptions;
use deltasoap::engine::{Differential, Templating};
use deltasoap::types::Packed;
use deltasoap::{Client, Context as Call, Fault, Lease, Server, Soap, SoapService};
use deltasoap_report::statistics::median;
use deltasoap_streams::arrays::hard_doubles;

use super::goal::Goal;
use super::{Effort, Task};
use crate::definitions::Definitions;
use crate::engine::{Deltasoap, Engine};
use crate::measure::measure;

/// Returns the goals: packed numbers should be several times as fast as text, their purpose.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let alone = |direction: &'static str| Task {
        name: format!("packed: {direction} {} doubles, beside text", effort.n),
        measure: Box::new(move || in_process(effort, direction)),
    };
    let calls = Task {
        name: format!("packed: calls with {} doubles over loopback, beside text", effort.n),
        measure: Box::new(move || whole_calls(effort)),
    };
    vec![alone("encode"), alone("decode"), calls]
}

fn in_process(effort: Effort, direction: &str) -> Result<Goal> {
    let definitions = Definitions::load()?;
    let workload = |kind: &str| {
        let name = format!("{direction}-{kind}");
        definitions.workloads.iter().find(|it| it.name == name).with_context(|| format!("no workload {name}"))
    };
    let (mut one, mut other) = (Deltasoap::default(), Deltasoap::default());
    let mut sessions = [one.prepare(workload("hard")?, effort.n)?, other.prepare(workload("doubles64")?, effort.n)?];
    let figures = measure(&mut sessions, effort.sample_size, || ())?;
    let [text, packed] = &figures[..] else { anyhow::bail!("a lane without figures") };
    let detail = format!(
        "text {} ns and {} bytes, packed {} ns and {} bytes",
        text.ns_median, text.bytes, packed.ns_median, packed.bytes
    );
    let times = text.interval.by(packed.interval);
    Ok(Goal::at_least(3.0, "times as fast as text", times.median, detail).within(times))
}

/// Measures whole calls, alternating.
fn whole_calls(effort: Effort) -> Result<Goal> {
    let rounds = if effort.is_quick { 3 } else { 51 };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let [text, inline, part] =
        runtime.block_on(timed(effort.n, rounds))?.map(|times| median(times.iter().map(Duration::as_secs_f64)));
    let ms = |seconds: f64| 1e3 * seconds;
    let times = text / inline;
    let detail = format!(
        "medians: text {:.2} ms, packed inline {:.2} ms, packed in a part {:.2} ms ({:.1} times as fast as text)",
        ms(text),
        ms(inline),
        ms(part),
        text / part
    );
    Ok(Goal::at_least(2.0, "times as fast as text, inline", times, detail))
}

/// Returns the times of calls with text, with packed numbers inline, and with those in a part.
async fn timed(n: usize, rounds: usize) -> Result<[Vec<Duration>; 3]> {
    let service = SoapService::builder()
        .differential(Differential::OFF)
        .templating(Templating::OFF)
        .operation(sum_text)
        .operation(sum_packed)
        .build()?;
    let server = Server::bind("127.0.0.1:0").await?;
    let (url, handle) = (format!("http://{}/", server.local_addr()?), server.handle());
    let serving = tokio::spawn(server.serve(service));
    let client = Client::builder(url).templating(Templating::OFF).build()?;
    let doubles = hard_doubles(n);
    let expected: f64 = doubles.iter().sum();
    let (text, packed) = (SumText { item: doubles.clone() }, SumPacked { data: doubles.into() });
    let mut times = [const { Vec::new() }; 3];
    // The first round is the warm-up.
    for round in 0..=rounds {
        for (form, times) in times.iter_mut().enumerate() {
            let start = Instant::now();
            let response: SumResponse = match form {
                0 => client.call_as(&text).await?,
                1 => client.call_as(&packed).await?,
                _ => client.call_as_with(&packed, CallOptions::new().mtom(Mtom::On)).await?.body,
            };
            let time = start.elapsed();
            ensure!(response.sum == expected, "a sum of {}, not {expected}", response.sum);
            if round > 0 {
                times.push(time);
            }
        }
    }
    handle.shutdown();
    serving.await??;
    Ok(times)
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sumText")]
struct SumText {
    item: Vec<f64>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sumPacked")]
struct SumPacked {
    data: Packed<f64>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "sumResponse")]
struct SumResponse {
    sum: f64,
}

async fn sum_text(request: Lease<SumText>) -> Result<SumResponse, Fault> {
    Ok(SumResponse { sum: request.item.iter().sum() })
}

async fn sum_packed(mut call: Call, request: Lease<SumPacked>) -> Result<SumResponse, AttachmentError> {
    let doubles = call.attachments().numbers(&request.data).await?;
    Ok(SumResponse { sum: doubles.iter().sum() })
}
