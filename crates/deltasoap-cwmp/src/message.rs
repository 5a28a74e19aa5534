//! CWMP envelopes: the header blocks (section 3.5, table 4), and the encoding of messages.

use crate::{CwmpFault, Version};
use deltasoap::engine::{Buffer, ns};
use deltasoap::schema::QName;
use deltasoap::soap::{Envelope, FaultCode, Head, HeaderBlock};
use deltasoap::types::Node;
use deltasoap::{Error, Fault, Message, soap};

/// The local names of the header blocks that both sides understand.
pub(crate) const UNDERSTOOD: [&str; 6] =
    ["ID", "HoldRequests", "NoMoreRequests", "SessionTimeout", "SupportedCWMPVersions", "UseCWMPVersion"];

/// The version of SOAP that CWMP uses.
const SOAP: soap::Version = soap::Version::Soap11;

/// The header blocks of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Headers {
    /// Pairs a response with its request.
    pub(crate) id: Option<String>,
    /// The ACS asks the CPE to send no requests of its own.
    pub(crate) hold_requests: bool,
}

impl Headers {
    /// Reads the header blocks of a received message.
    pub(crate) fn read(head: &Head) -> Self {
        let text = |local: &str| {
            let is_it = |block: &&HeaderBlock| {
                block.node.name.local == local && Version::from_namespace(&block.node.name.namespace).is_some()
            };
            head.headers.iter().find(is_it).map(|block| block.node.text().trim().to_owned())
        };
        let hold_requests = text("HoldRequests").is_some_and(|text| text == "1" || text == "true");
        Headers { id: text("ID"), hold_requests }
    }

    /// Returns the header blocks of an answer to a message with these blocks.
    pub(crate) fn answering(&self) -> Self {
        Headers { id: self.id.clone(), hold_requests: false }
    }

    fn blocks(&self, version: Version) -> Vec<HeaderBlock> {
        let block =
            |local, text: &str| HeaderBlock { node: Node::with_text(version.name(local), text) }.must_understand(SOAP);
        let id = self.id.as_deref().filter(|id| !id.is_empty()).map(|id| block("ID", id));
        let hold_requests = self.hold_requests.then(|| block("HoldRequests", "1"));
        id.into_iter().chain(hold_requests).collect()
    }
}

/// Encodes a message.
///
/// # Errors
/// Returns an error if the value contains text that XML cannot represent.
pub(crate) fn encode<T: Message>(version: Version, headers: &Headers, body: &T) -> Result<Buffer, Error> {
    // The prefixes of TR-069's examples, declared where devices with simple parsers look for them.
    let declared =
        [("soapenc", ns::SOAP11_ENCODING), ("xsd", ns::XSD), ("xsi", ns::XSI), ("cwmp", version.namespace())];
    let blocks = headers.blocks(version);
    let envelope = Envelope::new(body).version(SOAP).headers(&blocks).namespace(version.namespace());
    envelope.prefixes(&declared).write(Buffer::new())
}

/// Encodes a fault.
///
/// # Errors
/// Returns an error if it contains text that XML cannot represent.
pub(crate) fn encode_fault(version: Version, headers: &Headers, fault: &CwmpFault) -> Result<Buffer, Error> {
    Envelope::fault(&fault.to_soap(version)).version(SOAP).headers(&headers.blocks(version)).write(Buffer::new())
}

/// Returns the first header block that must be understood but is not (SOAP 1.1, section 4.2.3).
pub(crate) fn not_understood(head: &Head) -> Option<QName> {
    let is_known = |name: &QName| {
        Version::from_namespace(&name.namespace).is_some() && UNDERSTOOD.iter().any(|known| name.local == *known)
    };
    let must_be = |block: &&HeaderBlock| block.is_for_us(SOAP) && block.mandatory(SOAP) != Ok(false);
    head.headers.iter().filter(must_be).map(|block| &block.node.name).find(|name| !is_known(name)).cloned()
}

/// Encodes the fault for a header block that is not understood.
///
/// # Errors
/// Returns an error if it contains text that XML cannot represent.
pub(crate) fn encode_not_understood(version: Version, headers: &Headers, name: &QName) -> Result<Buffer, Error> {
    let fault = Fault::new(FaultCode::MustUnderstand, format!("the header block {name} is not understood"));
    Envelope::fault(&fault).version(SOAP).headers(&headers.blocks(version)).write(Buffer::new())
}

/// The name of SOAP's `Fault` element.
pub(crate) const SOAP_FAULT: QName = QName::new(ns::SOAP11, "Fault");
