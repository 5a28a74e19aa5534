//! The memory that a list takes on its way, from an iterator through a server to a caller, does not grow with its items.

use crate::{ALLOCATOR, ALONE};
use deltasoap::http::{Answer, Client, Context, Items, Operation, OverlaidAnswer, Server, SoapService};
use deltasoap::soap::Fault;
use deltasoap::{Lease, Soap, Streamed};
use peakmem_alloc::PeakMemAllocTrait;

#[derive(Debug, Soap)]
#[soap(namespace = "urn:m", message)]
struct Sum {
    item: Vec<f64>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:m", name = "Sum", message)]
struct Sent {
    item: Streamed<f64>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:m", message)]
struct Total {
    count: u64,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:m", message)]
struct Ask {
    count: u32,
}

async fn count(mut items: Items<Sum, f64, Fault>, _: Context) -> Result<Total, Fault> {
    let mut count = 0;
    while let Some(batch) = items.next_batch().await {
        count += batch?.len() as u64;
    }
    Ok(Total { count })
}

async fn give(ask: Lease<Ask>) -> Result<OverlaidAnswer<Sent>, Fault> {
    Ok(Answer::new(Sent { item: Streamed::default() }).overlaid(numbers(ask.count)))
}

fn numbers(count: u32) -> impl Iterator<Item = f64> + Send {
    (0..count).map(|n| f64::from(n) / 7.0)
}

const COUNT: u32 = 500_000;

#[tokio::test]
async fn memory_is_that_of_a_few_windows() {
    let _alone = ALONE.lock().await;
    let counting = Operation::with_items(|sum: &mut Sum| &mut sum.item, count);
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
    let mut items = client.call_items(&Ask { count: COUNT }, |sum: &mut Sum| &mut sum.item).await.expect("a response");
    let mut count = 0;
    while let Some(batch) = items.next_batch().await {
        count += batch.expect("valid").len();
    }
    assert_eq!(count, COUNT as usize);
    let peak = ALLOCATOR.get_peak_memory();
    assert!(peak < 2 << 20, "{peak} bytes for a response of 14 MB");
    serving.abort();
}
