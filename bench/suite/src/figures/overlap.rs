//! The gain from writing long responses while they are sent: overlaid lists, compared with messages
//! written in full first (*Toward Characterizing the Performance of SOAP Toolkits*, 2.2).
//!
//! Both send the same doubles, in a new message each time, over loopback and over a network with a
//! limited rate ([`network`](super::network)). Values are created before the timing starts. Both
//! responses are compared with the doubles once; after that the client skips the list, so that
//! reading it hides nothing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use deltasoap::engine::{Differential, Templating};
use deltasoap::server::{OverlaidReply, Reply};
use deltasoap::stream::Streamed;
use deltasoap::{Client, Fault, Lease, Soap, SoapService};
use deltasoap_streams::arrays::hard_doubles;

use super::goal::Goal;
use super::network::RemoteServer;
use super::{Effort, Task};
use crate::statistics::median_interval;

/// Returns the figures, which have no goal.
pub fn tasks(effort: Effort) -> Vec<Task> {
    let sizes = [effort.n, 10 * effort.n];
    let rates = [("loopback", None), ("1000 Mbit/s", Some(1000.0)), ("100 Mbit/s", Some(100.0))];
    let mut tasks = Vec::new();
    for n in if effort.is_quick { &sizes[..1] } else { &sizes } {
        for (network, rate) in if effort.is_quick { &rates[..1] } else { &rates } {
            let (n, rate) = (*n, *rate);
            tasks.push(Task {
                name: format!("overlap: a response of {n} doubles over {network}, written while it is sent"),
                measure: Box::new(move || measure(effort, n, rate)),
            });
        }
    }
    tasks
}

fn measure(effort: Effort, n: usize, rate: Option<f64>) -> Result<Goal> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let [whole, overlaid] = runtime.block_on(timed(effort, n, rate))?;
    let [whole, overlaid] = [median_interval(&whole)?, median_interval(&overlaid)?];
    let times = whole.by(overlaid);
    let detail = format!("medians: in full {:.2} ms, while it is sent {:.2} ms", whole.median, overlaid.median);
    Ok(Goal::reported("times as fast as in full", times.median, detail).within(times))
}

/// Measures the milliseconds of both, alternating.
async fn timed(effort: Effort, n: usize, rate: Option<f64>) -> Result<[Vec<f64>; 2]> {
    let doubles: Arc<[f64]> = hard_doubles(n).into();
    let made = Arc::new(Mutex::new(Vec::new()));
    let remote = RemoteServer::serve(service(&doubles, &made)?, rate)?;
    let client = Client::builder(&*remote.url).templating(Templating::OFF).timeout(None).build()?;
    let make = || *made.lock().unwrap_or_else(PoisonError::into_inner) = doubles.to_vec();
    // The warm-up call needs values too.
    make();
    let whole: WholeResponse = client.call_as(&Whole {}).await?;
    let overlaid: AnyResponse = client.call_as(&Overlaid {}).await?;
    ensure!(*whole.item == *doubles && *overlaid.item == *doubles, "other doubles");
    let (least, most) = if effort.is_quick { (1, 1) } else { (7, 51) };
    let (mut times, begin) = ([const { Vec::new() }; 2], Instant::now());
    while times[0].len() < least || times[0].len() < most && begin.elapsed() < Duration::from_secs(20) {
        for (index, times) in times.iter_mut().enumerate() {
            make();
            let start = Instant::now();
            match index {
                0 => client.send(&Whole {}).await?,
                _ => client.send(&Overlaid {}).await?,
            }
            times.push(1e3 * start.elapsed().as_secs_f64());
        }
    }
    Ok(times)
}

/// Answers with prepared values, and with an overlaid list.
fn service(doubles: &Arc<[f64]>, made: &Arc<Mutex<Vec<f64>>>) -> Result<SoapService> {
    let (doubles, made) = (Arc::clone(doubles), Arc::clone(made));
    let service = SoapService::builder()
        .differential(Differential::OFF)
        .templating(Templating::OFF)
        .operation(move |_: Lease<Whole>| {
            let item = std::mem::take(&mut *made.lock().unwrap_or_else(PoisonError::into_inner));
            async move { Ok::<_, Fault>(WholeResponse { item }) }
        })
        .operation(move |_: Lease<Overlaid>| {
            let (doubles, n) = (Arc::clone(&doubles), doubles.len());
            let answer = Reply::new(OverlaidResponse { item: Streamed::default() });
            let answer = answer.overlaid((0..n).map(move |place| doubles[place]));
            async move { Ok::<OverlaidReply<OverlaidResponse>, Fault>(answer) }
        })
        .build()?;
    Ok(service)
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "whole")]
struct Whole {}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "wholeResponse")]
struct WholeResponse {
    item: Vec<f64>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "overlaid")]
struct Overlaid {}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "overlaidResponse")]
struct OverlaidResponse {
    item: Streamed<f64>,
}

/// The response type on the client.
#[derive(Debug, Soap)]
#[soap(namespace = "urn:bench", element = "overlaidResponse")]
struct AnyResponse {
    item: Vec<f64>,
}
