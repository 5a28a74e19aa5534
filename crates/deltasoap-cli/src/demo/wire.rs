//! A client that sends messages unchanged: the recorded and derived streams keep their senders' own
//! formatting.

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// A connection pool to one service.
pub struct Wire {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
    /// The `User-Agent` of the sender.
    agent: &'static str,
}

impl Wire {
    pub fn new(url: String, agent: &'static str) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Wire { client: Client::builder(TokioExecutor::new()).build(connector), url, agent }
    }

    /// Sends a SOAP 1.1 message, and returns the body of the answer, which must be 200 OK.
    pub async fn post(&self, message: Bytes, action: &str) -> Result<Bytes> {
        let request = Request::post(&self.url)
            .header(header::CONTENT_TYPE, "text/xml; charset=utf-8")
            .header(header::USER_AGENT, self.agent)
            .header("SOAPAction", format!("\"{action}\""))
            .body(Full::new(message))?;
        let response = self.client.request(request).await.context("no answer")?;
        let status = response.status();
        let body = response.into_body().collect().await.context("the answer broke off")?.to_bytes();
        ensure!(status == StatusCode::OK, "{status}: {}", String::from_utf8_lossy(&body[..body.len().min(1000)]));
        Ok(body)
    }
}
