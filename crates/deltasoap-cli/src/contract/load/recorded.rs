//! Recorded messages as requests: the files of `replay`, sent byte for byte in their order.

use super::prepare::head;
use super::request::Request;
use crate::cli;
use crate::contract::access::user;
use crate::contract::call::service_url;
use crate::files;
use crate::output::report;
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use deltasoap::soap::Version;
use deltasoap::types::Node;
use deltasoap_archive::{Skipped, all_streams, dechunked, message_in};
use deltasoap_dynamic::{Contract, Operation};
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Request as HttpRequest, Uri};
use std::path::Path;
use url::Url;

/// Recorded messages of one kind.
#[derive(Debug)]
pub struct Kind {
    pub name: String,
    /// The operation, if there is a WSDL.
    pub operation: Option<Operation>,
    pub requests: Vec<Request>,
}

/// The messages of a load.
#[derive(Debug, Default)]
pub struct Recording {
    pub kinds: Vec<Kind>,
    /// The kind and the place in it of each message, in the order of the files.
    pub order: Vec<(usize, usize)>,
}

/// Maximum number of bytes of all messages.
const MAX_BYTES: usize = 1 << 30;
/// Maximum number of files without a message that are named.
const MAX_NAMED: usize = 5;

/// Reads the messages that the arguments name, as requests to a URL.
pub fn recording(arguments: &cli::Load, contract: Option<&Contract>) -> Result<(Url, Recording)> {
    for path in &arguments.messages {
        ensure!(path.exists(), "{} does not exist: name a file or a directory of messages", path.display());
    }
    let mut skipped = Skipped::default();
    let streams = all_streams(&arguments.messages, &mut skipped);
    let mut reader = Reader { arguments, contract, url: None, recording: Recording::default(), bytes: 0 };
    let mut unusable = Vec::new();
    for path in streams.iter().flat_map(|stream| &stream.files) {
        if let Err(why) = reader.file(path)? {
            unusable.push(format!("{}: {why:#}", path.display()));
        }
    }
    unusable.iter().take(MAX_NAMED).for_each(|why| report(format_args!("note: not sent: {why}")));
    if unusable.len() > MAX_NAMED {
        report(format_args!("note: {} more files are not sent", unusable.len() - MAX_NAMED));
    }
    let Reader { url, recording, .. } = reader;
    let url = url.filter(|_| !recording.order.is_empty()).context("there is no message to send")?;
    Ok((url, recording))
}

struct Reader<'a> {
    arguments: &'a cli::Load,
    contract: Option<&'a Contract>,
    url: Option<Url>,
    recording: Recording,
    bytes: usize,
}

impl Reader<'_> {
    /// Reads a file. The inner error is why it is not sent, the outer one ends the command.
    fn file(&mut self, path: &Path) -> Result<Result<()>> {
        let content = Bytes::from(files::read(path)?);
        let (headers, body) = match carried(&content) {
            Ok(carried) => carried,
            Err(why) => return Ok(Err(why)),
        };
        let named = message_in(content).map_err(|why| anyhow!("{why}")).and_then(|message| body_of(&message.bytes));
        let (version, node) = match named {
            Ok(named) => named,
            Err(why) => return Ok(Err(why)),
        };
        let operation = match self.contract.map(|contract| operation_of(contract, version, &node)) {
            Some(None) => return Ok(Err(anyhow!("<{}> is no request of the WSDL", node.name.local))),
            found => found.flatten(),
        };
        let url = self.url_of(operation.as_ref())?;
        let request = self.request(&url, operation.as_ref(), version, headers, &body)?;
        self.bytes += request.size();
        ensure!(self.bytes <= MAX_BYTES, "the messages have more than {MAX_BYTES} bytes; name fewer");
        self.add(operation, &node, request);
        Ok(Ok(()))
    }

    fn add(&mut self, operation: Option<Operation>, node: &Node, request: Request) {
        let name = operation.as_ref().map_or_else(|| node.name.local.to_string(), Operation::full_name);
        let kinds = &mut self.recording.kinds;
        let kind = kinds.iter().position(|kind| kind.name == name).unwrap_or_else(|| {
            kinds.push(Kind { name, operation, requests: Vec::new() });
            kinds.len() - 1
        });
        self.recording.order.push((kind, kinds[kind].requests.len()));
        kinds[kind].requests.push(request);
    }

    /// Returns the URL for a message, at the host of the messages before.
    fn url_of(&mut self, operation: Option<&Operation>) -> Result<Url> {
        let arguments = self.arguments;
        let url = match (&arguments.endpoint, operation) {
            (Some(url), _) => url.clone(),
            (None, Some(operation)) => {
                service_url(arguments.wsdl.as_deref().unwrap_or_default(), &arguments.loading, None, operation)?
            }
            (None, None) => bail!("messages are sent to --endpoint, which is missing"),
        };
        ensure!(!url.is_empty(), "the WSDL gives no URL; --endpoint takes one");
        let url = Url::parse(&url).context("the URL of the service is malformed")?;
        ensure!(url.username().is_empty(), "with --messages, -u takes name and password, not the URL");
        let first = self.url.get_or_insert_with(|| url.clone());
        ensure!(first.origin() == url.origin(), "the WSDL gives several hosts; --endpoint takes one");
        Ok(url)
    }

    fn request(
        &self,
        url: &Url,
        operation: Option<&Operation>,
        version: Version,
        recorded: HeaderMap,
        body: &Bytes,
    ) -> Result<Request> {
        let mut request = HttpRequest::post(url.as_str().parse::<Uri>()?).body(())?;
        let headers = request.headers_mut();
        headers.extend(described(operation, version, body)?);
        recorded.iter().for_each(|(name, value)| drop(headers.insert(name, value.clone())));
        let access = &self.arguments.loading.access;
        if let Some((name, password)) = user(access)? {
            let value = format!("Basic {}", BASE64_STANDARD.encode(format!("{name}:{password}")));
            headers.insert(AUTHORIZATION, value.parse().context("name and password cannot be sent")?);
        }
        access.headers.iter().for_each(|(name, value)| drop(headers.insert(name, value.clone())));
        Ok(Request::new(&head(&request, self.arguments), body, &[]))
    }
}

/// The headers of a recorded request that are sent again.
fn kept() -> [HeaderName; 3] {
    [CONTENT_TYPE, CONTENT_ENCODING, HeaderName::from_static("soapaction")]
}

/// Returns the headers that a message would have been sent with.
fn described(operation: Option<&Operation>, version: Version, body: &[u8]) -> Result<HeaderMap> {
    let action = operation.map(|operation| operation.bound().action.to_string()).unwrap_or_default();
    let charset = if std::str::from_utf8(body).is_ok() { "; charset=utf-8" } else { "" };
    let mut headers = HeaderMap::new();
    let media_type = match version {
        Version::Soap11 => {
            headers.insert("SOAPAction", format!("\"{action}\"").parse()?);
            format!("text/xml{charset}")
        }
        _ if action.is_empty() => format!("application/soap+xml{charset}"),
        _ => format!("application/soap+xml{charset}; action=\"{action}\""),
    };
    headers.insert(CONTENT_TYPE, media_type.parse()?);
    Ok(headers)
}

/// Returns the headers and the body of an HTTP request, or a message alone.
fn carried(content: &Bytes) -> Result<(HeaderMap, Bytes)> {
    const FIELDS: usize = 100;
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    ensure!(!content.starts_with(b"HTTP/"), "it is an answer");
    let Ok(httparse::Status::Complete(length)) = request.parse(content) else {
        let message = message_in(content.clone()).map_err(|why| anyhow!("{why}"))?;
        return Ok((HeaderMap::new(), message.bytes));
    };
    let mut headers = HeaderMap::new();
    let mut body = content.slice(length..);
    for field in request.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes())?;
        if kept().contains(&name) {
            headers.insert(name, HeaderValue::from_bytes(field.value)?);
        } else if name == http::header::TRANSFER_ENCODING && field.value.eq_ignore_ascii_case(b"chunked") {
            // A body whose chunks were undone while it was recorded is none of chunks.
            body = dechunked(&body).map_or(body, Bytes::from);
        }
    }
    Ok((headers, body))
}

/// Returns the version of an envelope, and the element in its body.
fn body_of(message: &[u8]) -> Result<(Version, Node)> {
    let envelope = Node::parse(message)?;
    let namespace = envelope.name.namespace.clone();
    let version = Version::from_namespace(&namespace).filter(|_| *envelope.name.local == *"Envelope");
    let version = version.with_context(|| format!("<{}> is no SOAP envelope", envelope.name.local))?;
    let body = envelope.element(&namespace, "Body").context("the envelope has no body")?;
    let first = body.elements().next().cloned();
    Ok((version, first.unwrap_or_else(|| body.clone())))
}

/// Finds the operation whose request holds an element.
fn operation_of(contract: &Contract, version: Version, node: &Node) -> Option<Operation> {
    let mut operations = contract.operations().into_iter();
    let begins = |it: &Operation| it.request().is_some_and(|(name, _)| *name == node.name);
    operations.find(|it| it.version() == version && begins(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_keeps_what_describes_its_body() {
        let text = b"POST /a HTTP/1.1\r\nHost: h\r\nAuthorization: Basic x\r\nSOAPAction: \"y\"\r\n\
                     Content-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n<x/>\r\n0\r\n\r\n";
        let (headers, body) = carried(&Bytes::from_static(text)).expect("a request");
        assert_eq!(body, "<x/>");
        assert_eq!(headers.len(), 2, "no credentials: {headers:?}");
        assert_eq!(headers["soapaction"], "\"y\"");
        assert!(carried(&Bytes::from_static(b"HTTP/1.1 200 OK\r\n\r\n<x/>")).is_err());
        let (headers, body) = carried(&Bytes::from_static(b"<x/>")).expect("a message");
        assert!(headers.is_empty() && body == "<x/>");
    }

    #[test]
    fn the_version_of_soap_decides_on_the_headers() {
        let named = |namespace: &str| {
            body_of(format!("<E:Envelope xmlns:E='{namespace}'><E:Body><a/></E:Body></E:Envelope>").as_bytes())
        };
        let (version, node) = named("http://schemas.xmlsoap.org/soap/envelope/").expect("an envelope");
        assert_eq!((version, &*node.name.local), (Version::Soap11, "a"));
        assert_eq!(described(None, version, b"<a/>").expect("headers")["soapaction"], "\"\"");
        let (version, _) = named("http://www.w3.org/2003/05/soap-envelope").expect("an envelope");
        let headers = described(None, version, b"\xE4").expect("headers");
        assert_eq!((headers.len(), &headers[CONTENT_TYPE]), (1, &HeaderValue::from_static("application/soap+xml")));
        assert!(named("urn:other").is_err() && body_of(b"<a>").is_err());
    }
}
