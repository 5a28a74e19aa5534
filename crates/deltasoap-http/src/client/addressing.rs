//! WS-Addressing of calls: which header blocks requests get, and whether a response answers its
//! request.

use super::builder::{Client, InvalidUrl};
use super::error::CallError;
use super::options::CallOptions;
use super::redirects::is_same_origin;
use crate::addressing::random_id;
use deltasoap_core::ErrorKind;
use deltasoap_core::soap::Head;
use deltasoap_core::soap::addressing::{Addressing, AddressingHeaders, EndpointReference, RelatesTo};
use http::Uri;
use std::borrow::Cow;
use std::sync::Arc;

/// The message addressing properties that a call sets.
#[derive(Debug, Clone, Default)]
pub(super) struct CallAddressing {
    version: Option<Addressing>,
    /// The action, if it differs from that of HTTP.
    action: Option<Cow<'static, str>>,
    endpoint: Option<EndpointReference>,
    reply_to: Option<EndpointReference>,
    fault_to: Option<EndpointReference>,
    message_id: Option<String>,
    relates_to: Vec<RelatesTo>,
}

impl CallAddressing {
    /// Returns these properties with others, which replace those of the same kind.
    pub(super) fn and(self, later: Self) -> Self {
        CallAddressing {
            version: later.version.or(self.version),
            action: later.action.or(self.action),
            endpoint: later.endpoint.or(self.endpoint),
            reply_to: later.reply_to.or(self.reply_to),
            fault_to: later.fault_to.or(self.fault_to),
            message_id: later.message_id.or(self.message_id),
            relates_to: self.relates_to.into_iter().chain(later.relates_to).collect(),
        }
    }

    /// Returns true if the call needs WS-Addressing, whatever the client's settings. An action may
    /// be there because the WSDL has one.
    fn is_needed(&self) -> bool {
        let endpoints = [&self.endpoint, &self.reply_to, &self.fault_to];
        endpoints.into_iter().any(Option::is_some) || self.message_id.is_some() || !self.relates_to.is_empty()
    }
}

impl CallOptions {
    fn addressing_properties(&mut self) -> &mut CallAddressing {
        self.addressing.get_or_insert_default()
    }

    /// Sends the request with the header blocks of WS-Addressing, in this version; see
    /// [`ClientBuilder::addressing`](crate::ClientBuilder::addressing).
    #[must_use]
    pub fn addressing(mut self, version: Addressing) -> Self {
        self.addressing_properties().version = Some(version);
        self
    }

    /// Sets the action in WS-Addressing. Default: the [action](Self::action) of HTTP. Has no effect
    /// on calls without WS-Addressing.
    #[must_use]
    pub fn addressing_action(mut self, action: impl Into<Cow<'static, str>>) -> Self {
        self.addressing_properties().action = Some(action.into());
        self
    }

    /// Sets the endpoint in the header blocks of the request: its address (`wsa:To`), and its
    /// reference parameters. The request is still sent to the URL of the client;
    /// [`Client::at`] sends requests to an endpoint. Default: the URL of the client.
    #[must_use]
    pub fn to_endpoint(mut self, endpoint: &EndpointReference) -> Self {
        self.addressing_properties().endpoint = Some(endpoint.clone());
        self
    }

    /// Asks the server to send the response to another endpoint. The HTTP response is then empty,
    /// so the request is sent with [`send`](Client::send_with), as a one-way message. Default: the
    /// HTTP response is the response.
    #[must_use]
    pub fn reply_to(mut self, endpoint: EndpointReference) -> Self {
        self.addressing_properties().reply_to = Some(endpoint);
        self
    }

    /// Asks the server to send faults to another endpoint. Default: where responses go.
    #[must_use]
    pub fn fault_to(mut self, endpoint: EndpointReference) -> Self {
        self.addressing_properties().fault_to = Some(endpoint);
        self
    }

    /// Sets the id of the message, an absolute URI. Default: a random `urn:uuid:`.
    #[must_use]
    pub fn message_id(mut self, id: impl Into<String>) -> Self {
        self.addressing_properties().message_id = Some(id.into());
        self
    }

    /// Adds a message that the request relates to.
    #[must_use]
    pub fn relates_to(mut self, other: RelatesTo) -> Self {
        self.addressing_properties().relates_to.push(other);
        self
    }
}

impl<S: Clone> Client<S> {
    /// Returns a client of the endpoint that a reference names: its requests are sent to the
    /// address, with WS-Addressing and the reference parameters. It shares all settings and earlier
    /// messages with this client, except that credentials, cookies and the security of requests are
    /// only for the origin of this client's URL. Providers of header blocks see the address.
    ///
    /// References often come from a message. Check their address, unless any server may be called.
    ///
    /// ```
    /// use deltasoap::Client;
    /// use deltasoap::soap::addressing::EndpointReference;
    ///
    /// let client = Client::new("http://camera.example/events")?;
    /// let subscription = EndpointReference::new("http://camera.example/events/subscription/7");
    /// let subscription = client.at(&subscription)?;
    /// # Ok::<(), deltasoap::client::ClientBuildError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the address is not a URL with a host, or stands for no endpoint that can
    /// be called, as the anonymous one does.
    pub fn at(&self, endpoint: &EndpointReference) -> Result<Self, InvalidUrl> {
        if endpoint.is_anonymous() || endpoint.is_none() {
            return Err(InvalidUrl::new(endpoint.address.clone()));
        }
        let mut settings = (*self.settings).clone();
        settings.set_url(endpoint.address.clone())?;
        if !is_same_origin(&settings.url, &self.settings.url) {
            (settings.credentials, settings.protection) = (None, None);
            #[cfg(feature = "cookies")]
            settings.cookies.take();
        }
        settings.addressing.get_or_insert_default();
        settings.endpoint = Some(endpoint.clone());
        Ok(Client { settings: Arc::new(settings), ..self.clone() })
    }
}

impl<S> Client<S> {
    /// Adds the header blocks of WS-Addressing to a request, if the client or the call uses it.
    pub(super) fn address(&self, options: &mut CallOptions) -> Result<(), CallError> {
        let settings = &*self.settings;
        let own = options.addressing.take().map(|own| *own).unwrap_or_default();
        let is_needed = own.is_needed();
        let version = own.version.or(settings.addressing).or(is_needed.then_some(Addressing::default()));
        let Some(version) = version else { return Ok(()) };
        let action = own.action.as_ref().or(options.action.as_ref()).unwrap_or(&settings.action);
        if action.is_empty() {
            return Err(CallError::RefusedRequest(NO_ACTION.into()));
        }
        let mut headers = AddressingHeaders::new(version, &**action);
        headers = match own.endpoint.as_ref().or(settings.endpoint.as_ref()) {
            Some(endpoint) => headers.to_endpoint(endpoint),
            None => headers.to_endpoint(&EndpointReference::new(address(&settings.url))),
        };
        let id = own.message_id.unwrap_or_else(random_id);
        headers.message_id = Some(id.clone());
        headers.relates_to = own.relates_to;
        headers.reply_to = own.reply_to.or_else(|| Some(EndpointReference::new(version.anonymous())));
        headers.fault_to = own.fault_to;
        options.headers.extend(headers.to_blocks(settings.version));
        options.understood.answers = Some(id.into());
        Ok(())
    }
}

const NO_ACTION: &str = "WS-Addressing needs an action: set one with CallOptions::action or ClientBuilder::action";

/// Returns the URL as an address.
fn address(url: &Uri) -> String {
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let authority = url.authority().map_or("", |authority| authority.as_str());
    format!("{}://{authority}{path}", url.scheme_str().unwrap_or_default())
}

/// Checks that a response answers the request with an id. A response that relates to no message is
/// accepted: it came as the HTTP response to the request.
pub(super) fn check_answer(head: &Head, id: &str) -> Result<(), ErrorKind> {
    let headers = AddressingHeaders::read(head).map_err(|fault| ErrorKind::Other(fault.to_string()))?;
    let related = headers.map(|headers| headers.relates_to).unwrap_or_default();
    let mut replies = related.iter().filter(|other| other.relationship.is_none()).peekable();
    let Some(first) = replies.peek().map(|other| other.message_id.clone()) else { return Ok(()) };
    if replies.any(|other| other.message_id == id) {
        return Ok(());
    }
    Err(ErrorKind::Other(format!("the response relates to the message {first}, not to the request {id}")))
}
