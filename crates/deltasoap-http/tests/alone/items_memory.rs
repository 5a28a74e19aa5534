//! The memory needed to transfer a list, from an iterator through a server to a caller, does not
//! grow with its items, whatever they are.

use crate::{ALLOCATOR, ALONE};
use bytes::Bytes;
use deltasoap::client::CallError;
use deltasoap::engine::Limits;
use deltasoap::server::{Operation, OverlaidReply, Reply};
use deltasoap::stream::{Items, Streamed};
use deltasoap::transport::Body;
use deltasoap::types::Node;
use deltasoap::{Client, Context, Fault, Lease, Server, Soap, SoapService};
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use peakmem_alloc::PeakMemAllocTrait;
use std::convert::Infallible;
use tower::ServiceExt;

#[derive(Debug, Soap)]
#[soap(namespace = "urn:m", message)]
struct Sum {
    item: Vec<f64>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:m", name = "Sum", message, response = Total)]
struct Sent {
    item: Streamed<f64>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:m", message)]
struct Total {
    count: u64,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:m", message, response = Sum)]
struct Ask {
    count: u32,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:m", message, response = Trees)]
struct AskForTrees {}

async fn count(_: Context, mut items: Items<Sum, f64, Fault>) -> Result<Total, Fault> {
    let mut count = 0;
    while let Some(batch) = items.next_batch().await {
        count += batch?.len() as u64;
    }
    Ok(Total { count })
}

async fn give(ask: Lease<Ask>) -> Result<OverlaidReply<Sent>, Fault> {
    Ok(Reply::new(Sent { item: Streamed::default() }).overlaid(numbers(ask.count)))
}

fn numbers(count: u32) -> impl Iterator<Item = f64> + Send {
    (0..count).map(|n| f64::from(n) / 7.0)
}

const COUNT: u32 = 500_000;

#[tokio::test]
async fn memory_is_that_of_a_few_windows() {
    let _alone = ALONE.lock().await;
    let counting = Operation::with_items(|sum| &mut sum.item, count);
    let service = SoapService::builder().add_operation(counting).operation(give).build().expect("a service");
    let server = Server::bind("127.0.0.1:0").await.expect("a free port");
    let address = server.local_addr().expect("an address");
    let serving = tokio::spawn(server.serve(service));
    let client = Client::new(format!("http://{address}/")).expect("a client");
    ALLOCATOR.reset_peak_memory();
    let total: Total =
        client.call_overlaid(&Sent { item: Streamed::default() }, numbers(COUNT)).await.expect("a response");
    assert_eq!(total.count, u64::from(COUNT));
    let peak = ALLOCATOR.get_peak_memory();
    assert!(peak < 2 << 20, "{peak} bytes for a request of 14 MB");
    ALLOCATOR.reset_peak_memory();
    let mut items = client.call_items(&Ask { count: COUNT }, |sum| &mut sum.item).await.expect("a response");
    let mut count = 0;
    while let Some(batch) = items.next_batch().await {
        count += batch.expect("valid").len();
    }
    assert_eq!(count, COUNT as usize);
    let peak = ALLOCATOR.get_peak_memory();
    assert!(peak < 2 << 20, "{peak} bytes for a response of 14 MB");
    serving.abort();
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:m", name = "Sum", message)]
struct Trees {
    item: Vec<Node>,
}

/// Returns a message of 400,000 items; `N` is a different number in each.
fn hostile(item: &'static str) -> impl http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static {
    let head =
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><m:Sum xmlns:m='urn:m'>".to_owned();
    let items = (0..1000).map(|piece| (0..400).map(|n| item.replace('N', &format!("{}", 400 * piece + n))).collect());
    let pieces = std::iter::once(head).chain(items).chain(["</m:Sum></s:Body></s:Envelope>".to_owned()]);
    StreamBody::new(futures_util::stream::iter(pieces.map(|piece: String| Ok(Frame::data(Bytes::from(piece))))))
}

/// Names and namespaces are kept to the end of a message, so they are bounded by the limit on its
/// length.
#[tokio::test]
async fn memory_is_bounded_where_each_item_brings_new_names() {
    const ITEMS: [&str; 3] = [
        "<item xmlns:pN='uN'>1</item>",
        "<item xmlns:p='urn:a-long-name-of-a-namespace-N'>1</item>",
        "<item><eN aN=''/></item>",
    ];
    let _alone = ALONE.lock().await;
    let limits = Limits { message: 256 << 10, ..Limits::default() };
    let count_trees = async |_: Context, mut items: Items<Trees, Node, Fault>| {
        let mut count = 0;
        while let Some(batch) = items.next_batch().await {
            count += batch?.len() as u64;
        }
        Ok::<_, Fault>(Total { count })
    };
    for item in ITEMS {
        let operation = match item.contains("eN") {
            true => Operation::with_items(|trees| &mut trees.item, count_trees),
            false => Operation::with_items(|sum| &mut sum.item, count),
        };
        let service = SoapService::builder().limits(limits).add_operation(operation).build().expect("a service");
        let request = Request::post("/").header("content-type", "text/xml").body(hostile(item)).expect("a request");
        ALLOCATOR.reset_peak_memory();
        let response = service.oneshot(request).await.expect("it never fails");
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE, "{item}");
        drop(response.into_body().collect().await);
        let peak = ALLOCATOR.get_peak_memory();
        assert!(peak < 6 << 20, "{peak} bytes for requests of {item}");
        let answering = tower::service_fn(move |_: Request<Body>| {
            let response = Response::builder().header("content-type", "text/xml").body(hostile(item));
            std::future::ready(Ok::<_, Infallible>(response.expect("a response")))
        });
        let client = Client::builder("http://localhost/").limits(limits).build_with(answering).expect("a client");
        ALLOCATOR.reset_peak_memory();
        let ask = Ask { count: 0 };
        let result = match item.contains("eN") {
            true => client
                .call_items(&AskForTrees {}, |trees| &mut trees.item)
                .await
                .expect("items")
                .finish()
                .await
                .map(drop),
            false => client.call_items(&ask, |sum| &mut sum.item).await.expect("items").finish().await.map(drop),
        };
        assert!(
            matches!(&result, Err(CallError::Decode(error)) if error.to_string().contains("`message`")),
            "{result:?}"
        );
        let peak = ALLOCATOR.get_peak_memory();
        assert!(peak < 6 << 20, "{peak} bytes for responses of {item}");
    }
}
