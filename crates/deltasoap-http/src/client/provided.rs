//! Header blocks that are made at the time of a call: tokens that expire, ids, answers of another
//! service.

use super::builder::Client;
use super::error::CallError;
use super::options::CallOptions;
use super::transmit::within;
use crate::error::BoxError;
use deltasoap_core::soap::{HeaderBlock, Version};
use deltasoap_core::{Message, QName};
use futures_util::future::BoxFuture;
use http::Uri;
use std::fmt;
use std::sync::Arc;

/// Makes header blocks for requests, once for each call; see
/// [`ClientBuilder::provide_headers`](crate::ClientBuilder::provide_headers).
///
/// Implemented for functions that return a future of something that
/// [becomes header blocks](IntoHeaderBlocks).
pub trait HeaderProvider: Send + Sync {
    /// Returns the header blocks of a request.
    ///
    /// # Errors
    /// An error prevents the call: [`CallError::RefusedRequest`].
    fn headers<'a>(&'a self, call: &'a OutgoingCall<'a>) -> BoxFuture<'a, Result<Vec<HeaderBlock>, BoxError>>;
}

impl<F, Fut, H, E> HeaderProvider for F
where
    F: Fn(&OutgoingCall<'_>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<H, E>> + Send + 'static,
    H: IntoHeaderBlocks,
    E: Into<BoxError>,
{
    fn headers<'a>(&'a self, call: &'a OutgoingCall<'a>) -> BoxFuture<'a, Result<Vec<HeaderBlock>, BoxError>> {
        let headers = self(call);
        Box::pin(async move { Ok(headers.await.map_err(Into::into)?.into_header_blocks()?) })
    }
}

/// The call that header blocks are made for.
#[derive(Debug)]
pub struct OutgoingCall<'a> {
    name: &'a QName,
    url: &'a Uri,
    action: &'a str,
    version: Version,
}

impl OutgoingCall<'_> {
    /// Returns the name of the body's element.
    pub fn name(&self) -> &QName {
        self.name
    }

    /// Returns the URL of the service.
    pub fn url(&self) -> &Uri {
        self.url
    }

    /// Returns the action; empty if there is none.
    pub fn action(&self) -> &str {
        self.action
    }

    /// Returns the version of SOAP.
    pub fn version(&self) -> Version {
        self.version
    }
}

/// Values that become header blocks: blocks, a typed value as [`Header`](crate::Header), an option
/// or a pair of these.
pub trait IntoHeaderBlocks {
    /// Returns the blocks.
    ///
    /// # Errors
    /// Returns an error if a value holds text that XML cannot carry.
    fn into_header_blocks(self) -> Result<Vec<HeaderBlock>, deltasoap_core::Error>;
}

impl IntoHeaderBlocks for HeaderBlock {
    fn into_header_blocks(self) -> Result<Vec<HeaderBlock>, deltasoap_core::Error> {
        Ok(vec![self])
    }
}

impl IntoHeaderBlocks for Vec<HeaderBlock> {
    fn into_header_blocks(self) -> Result<Vec<HeaderBlock>, deltasoap_core::Error> {
        Ok(self)
    }
}

impl<T: Message> IntoHeaderBlocks for crate::Header<T> {
    fn into_header_blocks(self) -> Result<Vec<HeaderBlock>, deltasoap_core::Error> {
        Ok(vec![HeaderBlock::from_message(&self.0)?])
    }
}

impl<H: IntoHeaderBlocks> IntoHeaderBlocks for Option<H> {
    fn into_header_blocks(self) -> Result<Vec<HeaderBlock>, deltasoap_core::Error> {
        self.map_or(Ok(Vec::new()), H::into_header_blocks)
    }
}

impl<A: IntoHeaderBlocks, B: IntoHeaderBlocks> IntoHeaderBlocks for (A, B) {
    fn into_header_blocks(self) -> Result<Vec<HeaderBlock>, deltasoap_core::Error> {
        let mut blocks = self.0.into_header_blocks()?;
        blocks.extend(self.1.into_header_blocks()?);
        Ok(blocks)
    }
}

/// The providers of a client, in the order in which they were added.
#[derive(Clone, Default)]
pub(super) struct HeaderProviders(pub(super) Vec<Arc<dyn HeaderProvider>>);

impl fmt::Debug for HeaderProviders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HeaderProviders").field(&self.0.len()).finish()
    }
}

impl<S> Client<S> {
    /// Adds the provided header blocks to those of a call.
    pub(super) async fn provide(&self, name: &QName, options: &mut CallOptions) -> Result<(), CallError> {
        let settings = &*self.settings;
        for provider in &settings.providers.0 {
            let action = options.action.as_deref().unwrap_or(&settings.action);
            let call = OutgoingCall { name, url: &settings.url, action, version: settings.version };
            let made = within(options.timeout.or(settings.timeout), async {
                provider.headers(&call).await.map_err(CallError::RefusedRequest)
            });
            let blocks = made.await?;
            options.headers.extend(blocks);
        }
        Ok(())
    }
}
