//! WS-Addressing of requests: what is refused, which header blocks replies get, and where they go.

use super::operation::Operation;
#[cfg(feature = "client")]
use super::outbox::{Outbox, Posting};
use super::respond;
use crate::addressing::random_id;
use crate::body::Body;
use deltasoap_core::QName;
use deltasoap_core::soap::addressing::{
    Addressing, AddressingFault, AddressingFaultKind, AddressingHeaders, EndpointReference, HeaderProblem,
};
use deltasoap_core::soap::{Fault, Head, HeaderBlock, Version};
use http::{Response, StatusCode};
use http_body::Body as _;
use std::sync::Arc;

/// How a service treats the header blocks of WS-Addressing in requests; see
/// [`SoapServiceBuilder::addressing`](crate::SoapServiceBuilder::addressing).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AddressingMode {
    /// Requests may have them. Invalid ones are refused.
    #[default]
    Accept,
    /// Requests without them are refused, and those without an id that expect a response.
    Require,
    /// They mean nothing to the service, and are refused if they are mandatory. Handlers may still
    /// take them.
    Ignore,
}

/// The settings of a service for WS-Addressing.
#[derive(Debug, Default)]
pub(crate) struct AddressingSettings {
    pub(crate) mode: AddressingMode,
    /// `None` if replies are only sent as HTTP responses.
    #[cfg(feature = "client")]
    pub(crate) outbox: Option<Outbox>,
}

impl AddressingSettings {
    /// Returns true for a header block of WS-Addressing, if the service processes those.
    pub(crate) fn understands(&self, block: &QName) -> bool {
        self.mode != AddressingMode::Ignore && Addressing::defines(block)
    }

    /// Checks the header blocks of a request, before its operation is called. Returns `None` if it
    /// has none.
    ///
    /// # Errors
    /// Returns the fault that refuses the request.
    pub(crate) fn admit(
        &self,
        head: &Head,
        operation: &Arc<Operation>,
    ) -> Result<Option<Box<AddressedCall>>, AddressingFault> {
        if self.mode == AddressingMode::Ignore {
            return Ok(None);
        }
        let headers = AddressingHeaders::read(head)?;
        if self.mode == AddressingMode::Require {
            check_required(headers.as_ref(), operation.is_one_way())?;
        }
        let Some(headers) = headers else { return Ok(None) };
        let route = |block, endpoint: &Option<EndpointReference>| {
            endpoint.as_ref().map(|endpoint| self.route(block, endpoint, &headers)).transpose()
        };
        let (response, fault) = (route("ReplyTo", &headers.reply_to)?, route("FaultTo", &headers.fault_to)?);
        Ok(Some(Box::new(AddressedCall { headers, operation: Arc::clone(operation), response, fault })))
    }

    /// Returns the header blocks of the fault that refuses a request which could not be read, and
    /// changes the fault to the form that belongs to them.
    pub(crate) fn refusal_blocks(&self, head: &Head, fault: &mut Fault, soap: Version) -> Vec<HeaderBlock> {
        if self.mode == AddressingMode::Ignore {
            return Vec::new();
        }
        match AddressingHeaders::read(head) {
            Ok(Some(headers)) => fault_blocks(&headers, None, headers.version.soap_fault_action(), fault, soap),
            // Clients of such a service expect an action in any case.
            _ if self.mode == AddressingMode::Require => {
                let version = Addressing::default();
                with_detail(AddressingHeaders::new(version, version.soap_fault_action()), fault, soap)
            }
            _ => Vec::new(),
        }
    }

    fn route(
        &self,
        block: &'static str,
        endpoint: &EndpointReference,
        headers: &AddressingHeaders,
    ) -> Result<Route, AddressingFault> {
        if endpoint.is_anonymous() {
            return Ok(Route::BackChannel);
        }
        if endpoint.is_none() {
            return Ok(Route::Nowhere);
        }
        #[cfg(feature = "client")]
        if let Some(outbox) = &self.outbox
            && let Some(url) = outbox.allowed(&endpoint.address)
        {
            let unavailable = AddressingFaultKind::EndpointUnavailable { retry_after: None };
            let posting = outbox.reserve(url).ok_or_else(|| AddressingFault::new(headers, unavailable))?;
            return Ok(Route::Elsewhere(Box::new(posting)));
        }
        let problem = Some(HeaderProblem::OnlyAnonymousAddressSupported);
        let kind = AddressingFaultKind::InvalidHeader { header: headers.version.name(block), problem };
        Err(AddressingFault::new(headers, kind))
    }
}

/// Checks that a request has the header blocks that its version requires.
fn check_required(headers: Option<&AddressingHeaders>, is_one_way: bool) -> Result<(), AddressingFault> {
    let missing = |version: Addressing, local| AddressingFaultKind::HeaderRequired { header: version.name(local) };
    let Some(headers) = headers else {
        let version = Addressing::default();
        return Err(AddressingFault::unrelated(version, missing(version, "Action")));
    };
    let local = match headers.version {
        Addressing::V2004 if headers.to.is_none() => "To",
        _ if headers.message_id.is_none() && !is_one_way => "MessageID",
        _ => return Ok(()),
    };
    Err(AddressingFault::new(headers, missing(headers.version, local)))
}

/// Where a reply goes.
#[derive(Debug)]
enum Route {
    /// The HTTP response.
    BackChannel,
    Nowhere,
    #[cfg(feature = "client")]
    Elsewhere(Box<Posting>),
}

/// A request with WS-Addressing, and where its reply goes.
#[derive(Debug)]
pub(crate) struct AddressedCall {
    pub(crate) headers: AddressingHeaders,
    operation: Arc<Operation>,
    /// `None` for the back channel.
    response: Option<Route>,
    /// `None` for where responses go.
    fault: Option<Route>,
}

impl AddressedCall {
    /// Returns the header blocks of the response.
    pub(crate) fn response_blocks(&self, soap: Version) -> Vec<HeaderBlock> {
        let action = self.operation.action_of_response(&self.headers.action);
        let mut reply = self.headers.reply(self.headers.reply_to.as_ref(), action);
        reply.message_id = Some(random_id());
        reply.to_blocks(soap)
    }

    /// Returns the header blocks of a fault, and changes it to the form that belongs to them.
    pub(crate) fn fault_blocks(&self, fault: &mut Fault, soap: Version) -> Vec<HeaderBlock> {
        let declared = self.operation.action_of_fault(fault);
        let action = declared.unwrap_or(self.headers.version.soap_fault_action());
        fault_blocks(&self.headers, self.headers.fault_endpoint(), action, fault, soap)
    }

    /// Sends the reply where the request asks for it, and returns the HTTP response.
    pub(crate) fn send(self, reply: Response<Body>, is_fault: bool) -> Response<Body> {
        if reply.status() == StatusCode::ACCEPTED || reply.body().is_end_stream() {
            return reply;
        }
        match self.fault.filter(|_| is_fault).or(self.response) {
            None | Some(Route::BackChannel) => reply,
            Some(Route::Nowhere) => respond::accepted(),
            #[cfg(feature = "client")]
            Some(Route::Elsewhere(posting)) => {
                posting.post(reply);
                respond::accepted()
            }
        }
    }
}

fn fault_blocks(
    headers: &AddressingHeaders,
    endpoint: Option<&EndpointReference>,
    action: &str,
    fault: &mut Fault,
    soap: Version,
) -> Vec<HeaderBlock> {
    let is_own = AddressingFault::code_in(fault).is_some();
    let reply = headers.reply(endpoint, if is_own { headers.version.fault_action() } else { action });
    with_detail(reply, fault, soap)
}

/// Returns a violation as a fault, with its header blocks.
pub(crate) fn violation(violation: &AddressingFault, soap: Version) -> (Fault, Vec<HeaderBlock>) {
    tracing::debug!(%violation, "refused");
    let mut fault = violation.to_fault(soap);
    let blocks = with_detail(violation.headers(), &mut fault, soap);
    (fault, blocks)
}

/// Returns the header blocks of a fault, among them its detail, if that belongs there.
fn with_detail(mut reply: AddressingHeaders, fault: &mut Fault, soap: Version) -> Vec<HeaderBlock> {
    reply.message_id = Some(random_id());
    let detail = (soap == Version::Soap11).then(|| AddressingFault::take_detail(fault)).flatten();
    reply.to_blocks(soap).into_iter().chain(detail).collect()
}

/// Returns the action in the header of a request.
pub(crate) fn action_in(head: &Head) -> Option<String> {
    let version = head.version();
    let mut blocks = head.headers.iter().filter(|block| block.is_for_ultimate_receiver(version));
    let block = blocks.find(|block| block.node.name.local == "Action" && Addressing::defines(&block.node.name))?;
    Some(block.node.text().trim().to_owned()).filter(|action| !action.is_empty())
}
