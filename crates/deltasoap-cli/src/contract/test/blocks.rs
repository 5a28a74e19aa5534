//! Header blocks that every request has: those of WS-Security and WS-Addressing.

use crate::cli::{Test, UserToken};
use crate::contract::security::{token_protection, user_of};
use crate::output::report;
use anyhow::Result;
use deltasoap::engine::Buffer;
use deltasoap::security::{Protection, SecurityError};
use deltasoap::soap::addressing::{Addressing, AddressingHeaders};
use deltasoap::soap::{Envelope, Fault, Version};
use deltasoap::types::Node;
use deltasoap_dynamic::Operation;
use deltasoap_wsdl::fetch::shown;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

type Blocks = Box<dyn Fn(&Operation) -> Vec<Node> + Send + Sync>;

/// Returns what makes the header blocks of each request; `None` if there are none.
pub fn of(arguments: &Test, url: &str) -> Result<Option<Blocks>> {
    let protection = protection(&arguments.token)?;
    if let Some(protection) = &protection {
        // An error would come with each request; it is better to have it now.
        secured(protection, Version::Soap11)?;
    }
    let (is_asked, url, messages) = (arguments.wsa, shown(url), AtomicU64::new(0));
    let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    Ok(Some(Box::new(move |operation: &Operation| {
        let mut blocks = Vec::new();
        let policy = operation.addressing();
        if is_asked || policy.is_some_and(|policy| policy.is_required) {
            let version = policy.map_or(Addressing::V10, |policy| policy.version);
            let mut headers = AddressingHeaders::new(version, operation.addressing_actions().request);
            headers.to = Some(url.clone());
            let number = messages.fetch_add(1, Relaxed);
            headers.message_id = Some(format!("urn:deltasoap-test:{start:x}-{number}"));
            blocks.extend(headers.to_blocks(operation.version()).into_iter().map(|block| block.node));
        }
        if let Some(protection) = &protection {
            match secured(protection, operation.version()) {
                Ok(security) => blocks.extend(security),
                Err(error) => report(format_args!("warning: a request is not secured: {error}")),
            }
        }
        blocks
    })))
}

fn protection(token: &UserToken) -> Result<Option<Protection>> {
    let user = user_of(token)?;
    Ok((token.wsse_timestamp || user.is_some()).then(|| token_protection(token, user.as_ref())))
}

/// Returns the header block of WS-Security. It does not depend on the message, since nothing is
/// signed.
fn secured(protection: &Protection, version: Version) -> Result<Option<Node>, SecurityError> {
    let any = Fault::sender("any message");
    let written = Envelope::fault(&any).version(version).write_outgoing(Buffer::new());
    let Ok(message) = written else { return Ok(None) };
    let message = protection.secure(version, &[], message, &[])?;
    let envelope = Node::parse(&message.frames().concat()).unwrap_or_default();
    let header = envelope.element(version.namespace(), "Header");
    Ok(header.and_then(|header| header.elements().next()).cloned())
}
