//! The memory needed for gzip bodies does not grow with the decompressed size.

use crate::{ALLOCATOR, ALONE};
use bytes::Bytes;
use deltasoap::attachments::{Attachment, AttachmentError};
use deltasoap::transport::{Body, GzipLimits};
use deltasoap::{Context, Lease, Soap, SoapService};
use flate2::write::GzEncoder;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use peakmem_alloc::PeakMemAllocTrait;
use std::io::Write;
use tower::ServiceExt;

#[derive(Soap)]
#[soap(namespace = "urn:m", message)]
struct Upload {}

#[derive(Soap)]
#[soap(namespace = "urn:m", message)]
struct Uploaded {
    bytes: u64,
}

/// Reads the parts of the message.
async fn upload(mut context: Context, _: Lease<Upload>) -> Result<Uploaded, AttachmentError> {
    let mut bytes = 0;
    while let Some(mut part) = context.attachments().next().await? {
        while let Some(chunk) = Attachment::chunk(&mut part).await? {
            bytes += chunk.len() as u64;
        }
    }
    Ok(Uploaded { bytes })
}

const MESSAGE: &str = "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body><Upload xmlns=\"urn:m\"/>\
                       </e:Body></e:Envelope>";
const LENGTH: usize = 64 << 20;

/// Returns a package with one part of zeros, in gzip: each byte decompresses to a thousand.
fn package() -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    write!(encoder, "--b\r\n\r\n{MESSAGE}\r\n--b\r\n\r\n").expect("no error");
    (0..LENGTH >> 16).for_each(|_| encoder.write_all(&[0; 1 << 16]).expect("no error"));
    encoder.write_all(b"\r\n--b--").expect("no error");
    encoder.finish().expect("no error").into()
}

async fn post(limits: GzipLimits, package: Bytes) -> Response<Body> {
    let service = SoapService::builder().operation(upload).gzip_limits(limits).build();
    let request = Request::post("/").header("content-type", "multipart/related; boundary=b");
    let request = request.header("content-encoding", "gzip").body(Full::from(package)).expect("a request");
    service.expect("a service").oneshot(request).await.expect("infallible")
}

#[tokio::test]
async fn memory_is_that_of_a_few_chunks_whatever_comes_out() {
    let _alone = ALONE.lock().await;
    let package = package();
    for (ratio, answer) in [(200, "`ratio` of 200"), (1032, &*format!(">{LENGTH}<"))] {
        ALLOCATOR.reset_peak_memory();
        let response = post(GzipLimits { ratio, ..GzipLimits::default() }, package.clone()).await;
        let peak = ALLOCATOR.get_peak_memory();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        assert!(String::from_utf8_lossy(&body).contains(answer), "{body:?}");
        assert!(peak < 2 << 20, "{peak} bytes for a part of 64 MiB");
    }
}
