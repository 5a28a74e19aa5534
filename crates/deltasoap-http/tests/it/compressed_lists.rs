//! Lists that are compressed while they are written, and used while they arrive: item by item, with
//! equal values, and beyond the limits on whole messages.

use crate::common::serve;
use deltasoap::client::{CallOptions, Trace};
use deltasoap::engine::Limits;
use deltasoap::server::{Operation, OverlaidReply, Reply, ServerHandle};
use deltasoap::stream::{Items, Streamed};
use deltasoap::transport::{Compression, ContentCoding};
use deltasoap::{Client, Context, Fault, Lease, Soap, SoapService};
use futures_util::StreamExt;
use futures_util::stream::{Stream, poll_fn};
use std::convert::Infallible;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:lab", message, response = Levels)]
struct Ask {}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:lab", message)]
struct Levels {
    level: Vec<f64>,
}

/// The same message for sending.
#[derive(Debug, Clone, Default, PartialEq, Soap)]
#[soap(namespace = "urn:lab", name = "Levels", message, response = Count)]
struct Outgoing {
    level: Streamed<f64>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:lab", message)]
struct Count {
    count: u64,
    total: f64,
}

const CODED: [Compression; 2] = [Compression::ALWAYS, Compression::ALWAYS.coding(ContentCoding::Zstd)];

fn level(levels: &mut Levels) -> &mut Vec<f64> {
    &mut levels.level
}

async fn count(_: Context, mut items: Items<Levels, f64, Fault>) -> Result<Count, Fault> {
    let (mut count, mut total) = (0, 0.0);
    while let Some(batch) = items.next_batch().await {
        let batch = batch?;
        count += batch.len() as u64;
        total += batch.iter().sum::<f64>();
    }
    Ok(Count { count, total })
}

fn received(mut items: UnboundedReceiver<f64>) -> impl Stream<Item = Result<f64, Infallible>> + Send + 'static {
    poll_fn(move |context| items.poll_recv(context)).map(Ok)
}

async fn client(service: SoapService, compression: Compression) -> (Client, ServerHandle) {
    let (address, handle) = serve(service).await;
    (Client::builder(format!("http://{address}/")).compression(compression).build().expect("a client"), handle)
}

/// Waits for a future that must not be held back.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("it is kept back")
}

/// The last item that has arrived is known to be complete when the next one arrives.
#[tokio::test]
async fn responses_arrive_item_by_item() {
    for compression in CODED {
        let (feed, items) = unbounded_channel();
        let items = Mutex::new(Some(items));
        let live = move |_: Lease<Ask>| {
            let items = items.lock().expect("no panic").take().expect("one call");
            std::future::ready(Ok::<OverlaidReply<_>, Fault>(
                Reply::new(Outgoing::default()).overlaid_stream(received(items)),
            ))
        };
        let service = SoapService::builder().operation(live).compression(compression).build().expect("a service");
        let (client, _handle) = client(service, Compression::OFF).await;
        feed.send(0.5).and_then(|()| feed.send(1.5)).expect("a receiver");
        let response = soon(client.call_items_with(&Ask {}, level, CallOptions::new())).await.expect("the first items");
        assert!(response.http_headers.contains_key("content-encoding"));
        let mut items = response.body;
        for next in 2..10 {
            assert_eq!(soon(items.next()).await.expect("an item").expect("valid"), f64::from(next) - 1.5);
            feed.send(f64::from(next) + 0.5).expect("a receiver");
        }
        drop(feed);
        for last in [8.5, 9.5] {
            assert_eq!(soon(items.next()).await.expect("an item").expect("valid"), last);
        }
        soon(items.finish()).await.expect("valid");
    }
}

#[tokio::test]
async fn requests_arrive_item_by_item() {
    for compression in CODED {
        let (seen, mut arrived) = unbounded_channel();
        let operation =
            Operation::with_items(level, move |items: Items<Levels, f64, Fault>| watch(items, seen.clone()));
        let service = SoapService::builder().add_operation(operation).build().expect("a service");
        let (client, _handle) = client(service, compression).await;
        let (feed, items) = unbounded_channel();
        let call = tokio::spawn(async move {
            let list = Outgoing::default();
            let answer = client.call_overlaid_stream(&list, received(items), CallOptions::new());
            answer.await.expect("a response").body
        });
        feed.send(0.5).expect("a receiver");
        for next in 1..10 {
            feed.send(f64::from(next) + 0.5).expect("a receiver");
            assert_eq!(soon(arrived.recv()).await, Some(f64::from(next) - 0.5));
        }
        drop(feed);
        assert_eq!(soon(call).await.expect("no panic"), Count { count: 10, total: 50.0 });
    }
}

async fn watch(mut items: Items<Levels, f64, Fault>, seen: UnboundedSender<f64>) -> Result<Count, Fault> {
    let (mut count, mut total) = (0, 0.0);
    while let Some(item) = items.next().await {
        let item = item?;
        (count, total) = (count + 1, total + item);
        let _ = seen.send(item);
    }
    Ok(Count { count, total })
}

/// They compress so well that receivers would take them for a bomb.
#[tokio::test]
async fn equal_values_are_taken_within_the_default_limits() {
    const EQUAL: usize = 300_000;
    fn zeros() -> impl Iterator<Item = f64> + Send + 'static {
        std::iter::repeat_n(0.0, EQUAL)
    }
    for compression in CODED {
        let list = async |_: Lease<Ask>| Ok::<_, Fault>(Reply::new(Outgoing::default()).overlaid(zeros()));
        let whole = async |_: Lease<Whole>| Ok::<_, Fault>(Levels { level: vec![0.0; EQUAL] });
        let builder = SoapService::builder().add_operation(Operation::with_items(level, count)).operation(list);
        let service = builder.operation(whole).compression(compression).build().expect("a service");
        let (client, _handle) = client(service, compression).await;
        let answer: Count = client.call_overlaid(&Outgoing::default(), zeros()).await.expect("a response");
        assert_eq!(answer.count, EQUAL as u64);
        let answer: Count = client.call_as(&Levels { level: vec![0.0; EQUAL] }).await.expect("a response");
        assert_eq!(answer.count, EQUAL as u64);
        assert_eq!(client.call_as::<Levels>(&Ask {}).await.expect("a response").level.len(), EQUAL);
        assert_eq!(client.call_as::<Levels>(&Whole {}).await.expect("a response").level.len(), EQUAL);
    }
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:lab", message)]
struct Whole {}

/// The compressed size may even exceed the limit on messages before compression.
#[tokio::test]
async fn compressed_lists_have_no_bound_of_their_own() {
    const ITEMS: u32 = 40_000;
    let noise = || (1..=ITEMS).map(|n| f64::from(n).sqrt());
    let limits = Limits { message: 100_000, ..Limits::default() };
    for compression in CODED {
        let operation = Operation::with_items(level, count);
        let service = SoapService::builder().limits(limits).add_operation(operation).build();
        let (client, _handle) = client(service.expect("a service"), compression).await;
        let trace = Trace::default();
        let answer = client
            .call_overlaid_with(&Outgoing::default(), noise(), CallOptions::new().trace(&trace))
            .await
            .expect("a response");
        assert_eq!(answer.body.count, u64::from(ITEMS));
        let sent = trace.exchanges().pop().expect("an exchange").request.body.total;
        assert!(sent > 2 * limits.message, "{sent}");
    }
}
