//! A transport that prints the messages, for `--verbose`.

use crate::output::stderr;
use bytes::Bytes;
use deltasoap_http::{Body, BoxError, HttpTransport, is_secret_header};
use deltasoap_wsdl::fetch::shown;
use http::header::{CONTENT_ENCODING, HeaderMap, LOCATION};
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, Write as _};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tower::Service;

/// Maximum number of bytes of a body that are shown.
const MAX_SHOWN: usize = 1 << 20;

/// HTTP, shown on standard error if requested: each request, and of an answer its head first, then
/// its body as far as it was read. At most [`MAX_SHOWN`] bytes of either body are shown.
#[derive(Debug, Clone)]
pub struct Tap {
    transport: HttpTransport,
    is_open: bool,
    /// True if the values of headers that may hold secrets are shown.
    shows_secrets: bool,
    /// The target of the last answer's redirect.
    location: Arc<Mutex<Option<String>>>,
}

impl Tap {
    pub fn new(transport: HttpTransport, is_open: bool, shows_secrets: bool) -> Self {
        Tap { transport, is_open, shows_secrets, location: Arc::default() }
    }

    /// Returns the target of the last answer's redirect, if it was one.
    pub fn location(&self) -> Option<String> {
        self.location.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note<B>(&self, response: &Response<B>) {
        let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
        *self.location.lock().unwrap_or_else(PoisonError::into_inner) =
            location.map(|location| String::from_utf8_lossy(location.as_bytes()).into_owned());
    }

    async fn exchange(mut self, request: Request<Body>) -> Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError> {
        if self.is_open {
            let response = self.transport.call(shown_request(request, self.shows_secrets).await?).await?;
            self.note(&response);
            let (parts, body) = response.into_parts();
            show_head("<", format_args!("{}", parts.status), &parts.headers, self.shows_secrets)?;
            let body = Shown {
                body: Box::pin(body),
                coding: coding(&parts.headers),
                begun: Vec::new(),
                len: 0,
                shows_secrets: self.shows_secrets,
                is_shown: false,
            };
            return Ok(Response::from_parts(parts, body.map_err(Into::into).boxed_unsync()));
        }
        let response = self.transport.call(request).await?;
        self.note(&response);
        Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync()))
    }
}

type Exchange = Pin<Box<dyn Future<Output = Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError>> + Send>>;

impl Service<Request<Body>> for Tap {
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future = Exchange;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.transport.poll_ready(task)
    }

    fn call(&mut self, request: Request<Body>) -> Exchange {
        Box::pin(self.clone().exchange(request))
    }
}

async fn shown_request(request: Request<Body>, secrets: bool) -> Result<Request<Body>, BoxError> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|error| BoxError::from(error.to_string()))?.to_bytes();
    let first = format_args!("{} {}", parts.method, shown(&parts.uri.to_string()));
    show_head(">", first, &parts.headers, secrets)?;
    let begun = &body[..body.len().min(MAX_SHOWN)];
    show_body(">", coding(&parts.headers).as_deref(), &without_passwords(begun, secrets), body.len())?;
    Ok(Request::from_parts(parts, Body::from(body)))
}

/// A body that is shown when it has ended, or is dropped before its end.
struct Shown<B> {
    body: Pin<Box<B>>,
    coding: Option<String>,
    /// The first bytes of the body.
    begun: Vec<u8>,
    /// Number of bytes read so far.
    len: usize,
    shows_secrets: bool,
    is_shown: bool,
}

impl<B> Shown<B> {
    fn note(&mut self, data: &[u8]) {
        self.len = self.len.saturating_add(data.len());
        let room = MAX_SHOWN - self.begun.len();
        self.begun.extend_from_slice(&data[..data.len().min(room)]);
    }

    fn show(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.is_shown, true) {
            true => Ok(()),
            false => {
                let begun = without_passwords(&self.begun, self.shows_secrets);
                show_body("<", self.coding.as_deref(), &begun, self.len)
            }
        }
    }
}

impl<B> http_body::Body for Shown<B>
where
    B: http_body::Body<Data = Bytes>,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(self.body.as_mut().poll_frame(task));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.note(data);
                }
            }
            // The answer is delivered even if its body cannot be shown.
            Some(Err(_)) | None => drop(self.show()),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.is_shown && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for Shown<B> {
    fn drop(&mut self) {
        drop(self.show());
    }
}

/// Prints the first line and the headers; secrets only if asked for.
fn show_head(mark: &str, first: Arguments<'_>, headers: &HeaderMap, secrets: bool) -> io::Result<()> {
    let mut out = stderr();
    writeln!(out, "{mark} {first}")?;
    for (name, value) in headers {
        let value = if !secrets && (value.is_sensitive() || is_secret_header(name)) {
            "(not shown)".into()
        } else {
            String::from_utf8_lossy(value.as_bytes())
        };
        writeln!(out, "{mark} {name}: {value}")?;
    }
    Ok(())
}

/// Returns the beginning of a body without the texts of elements with the name `Password` in any
/// namespace.
fn without_passwords(body: &[u8], secrets: bool) -> Cow<'_, [u8]> {
    const NAME: &[u8] = b"Password";
    if secrets || memchr::memmem::find(body, NAME).is_none() {
        return Cow::Borrowed(body);
    }
    let (mut out, mut rest) = (Vec::with_capacity(body.len()), body);
    while let Some(at) = memchr::memmem::find(rest, NAME) {
        let (before, tag) = rest.split_at(at + NAME.len());
        out.extend_from_slice(before);
        rest = tag;
        let name = before.rsplit(|byte| *byte == b'<').next().unwrap_or_default();
        let is_start = name.len() < before.len() && !name.contains(&b'/') && !name.contains(&b' ');
        let ends = matches!(tag.first(), Some(b'>' | b' ' | b'\t' | b'\r' | b'\n'));
        let (Some(close), true, true) = (tag.iter().position(|byte| *byte == b'>'), is_start, ends) else { continue };
        let text = tag[close + 1..].iter().position(|byte| *byte == b'<').unwrap_or(tag.len() - close - 1);
        out.extend_from_slice(&tag[..=close]);
        out.extend_from_slice(if text > 0 { b"(not shown)" } else { b"" });
        rest = &tag[close + 1 + text..];
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// Prints the beginning of a body that has `len` bytes.
fn show_body(mark: &str, coding: Option<&str>, begun: &[u8], len: usize) -> io::Result<()> {
    let mut out = stderr();
    if let Some(coding) = coding {
        return writeln!(out, "{mark}\n({len} bytes, {coding})\n");
    }
    let more = if len > begun.len() { format!(" ({} bytes more)", len - begun.len()) } else { String::new() };
    writeln!(out, "{mark}\n{}{more}\n", String::from_utf8_lossy(begun))
}

fn coding(headers: &HeaderMap) -> Option<String> {
    headers.get(CONTENT_ENCODING).map(|coding| String::from_utf8_lossy(coding.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (body, shown) in [
            ("<w:Password Type=\"a>b\">x</w:Password>", "<w:Password Type=\"a>(not shown)</w:Password>"),
            ("<Password>secret</Password><b/>", "<Password>(not shown)</Password><b/>"),
            ("<Password\n>secret", "<Password\n>(not shown)"),
            ("<Password></Password>", "<Password></Password>"),
            ("<PasswordHint>x</PasswordHint>", "<PasswordHint>x</PasswordHint>"),
            ("<a b=\"Password\">x</a> Password >y<", "<a b=\"Password\">x</a> Password >y<"),
            ("<OldPassword>x</OldPassword>", "<OldPassword>(not shown)</OldPassword>"),
        ] {
            assert_eq!(String::from_utf8_lossy(&without_passwords(body.as_bytes(), false)), shown);
            assert_eq!(without_passwords(body.as_bytes(), true), body.as_bytes());
        }
    }
}
