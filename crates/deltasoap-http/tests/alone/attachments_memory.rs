//! The memory needed to transfer a part does not grow with its size.

use crate::{ALLOCATOR, ALONE};
use bytes::Bytes;
use deltasoap::attachments::{AttachmentError, Mtom, Part};
use deltasoap::client::CallOptions;
use deltasoap::{Binary, Client, Context, Lease, Server, Soap, SoapService};
use futures_util::stream;
use peakmem_alloc::PeakMemAllocTrait;

#[derive(Soap)]
#[soap(namespace = "urn:m", message)]
struct Upload {
    first: Binary,
    last: Binary,
}

#[derive(Soap)]
#[soap(namespace = "urn:m", message)]
struct Uploaded {
    bytes: u64,
    kept: u64,
}

/// Requests the last part first, so that the first is buffered, and then reads the first.
async fn upload(mut context: Context, upload: Lease<Upload>) -> Result<Uploaded, AttachmentError> {
    let kept = length(&upload.last, &mut context).await?;
    let bytes = length(&upload.first, &mut context).await?;
    Ok(Uploaded { bytes, kept })
}

async fn length(binary: &Binary, context: &mut Context) -> Result<u64, AttachmentError> {
    let Binary::Part(uri) = binary else { return Ok(0) };
    let mut part = context.attachments().find(uri).await?;
    let mut length = 0;
    while let Some(chunk) = part.chunk().await? {
        length += chunk.len() as u64;
    }
    Ok(length)
}

fn part(id: &str, megabytes: usize) -> Part {
    let piece = Bytes::from(vec![b'-'; 64 << 10]);
    Part::stream(id, "a/b", stream::iter((0..megabytes * 16).map(move |_| Ok(piece.clone()))))
}

#[tokio::test]
async fn memory_is_that_of_a_few_chunks_also_where_parts_are_kept() {
    let _alone = ALONE.lock().await;
    let service = SoapService::builder().operation(upload).build().expect("a service");
    let server = Server::bind("127.0.0.1:0").await.expect("a free port");
    let client = Client::new(format!("http://{}/", server.local_addr().expect("an address"))).expect("a client");
    tokio::spawn(server.serve(service));
    let (first, last) = (part("first", 24), part("last", 40));
    let request = Upload { first: first.binary(), last: last.binary() };
    let options = CallOptions::new().mtom(Mtom::On).part(first).part(last);
    ALLOCATOR.reset_peak_memory();
    let uploaded: Uploaded = client.call_as_with(&request, options).await.expect("a response").body;
    let peak = ALLOCATOR.get_peak_memory();
    assert_eq!((uploaded.bytes, uploaded.kept), (24 << 20, 40 << 20));
    assert!(peak < 10 << 20, "{peak} bytes for parts of 64 MiB");
}
