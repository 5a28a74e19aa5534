//! What clients and servers share of WS-Addressing.

use uuid::Uuid;

/// Returns a new id for a message.
pub(crate) fn random_id() -> String {
    Uuid::new_v4().urn().to_string()
}
