//! HTTP clients: one for each port that has been called, with the settings that the policies of its
//! binding require.

use super::DynamicError;
use deltasoap_core::EncodeStats;
use deltasoap_core::soap::addressing::Addressing;
use deltasoap_core::soap::{PolicyDocuments, Version};
use deltasoap_http::{Client, ClientBuilder, Mtom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of clients: contracts have few ports.
const MAX_CLIENTS: usize = 64;

/// Clients by the key of their port; clones share them.
pub(super) struct Ports<S>(Arc<Mutex<Vec<Port<S>>>>);

struct Port<S> {
    settings: PortSettings,
    client: Client<S>,
}

/// The settings that a WSDL requires of the clients of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PortSettings {
    pub(super) endpoint: String,
    pub(super) version: Version,
    /// True if all requests are sent in MTOM, whatever their content.
    pub(super) mtom: bool,
    /// The version of WS-Addressing, if requests need it.
    pub(super) addressing: Option<Addressing>,
    /// What its policies say about security.
    pub(super) policies: PolicyDocuments,
}

impl PortSettings {
    fn builder(&self) -> ClientBuilder {
        let builder = Client::builder(&self.endpoint).version(self.version).addressing(self.addressing);
        let builder = builder.policies(self.policies.clone());
        if self.mtom { builder.mtom(Mtom::On) } else { builder }
    }
}

impl<S> Clone for Ports<S> {
    fn clone(&self) -> Self {
        Ports(Arc::clone(&self.0))
    }
}

impl<S> Default for Ports<S> {
    fn default() -> Self {
        Ports(Arc::default())
    }
}

impl<S> Ports<S> {
    fn all(&self) -> MutexGuard<'_, Vec<Port<S>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counters of written requests.
    pub(super) fn stats(&self) -> EncodeStats {
        let mut stats = EncodeStats::default();
        self.all().iter().for_each(|port| stats += port.client.encode_stats());
        stats
    }

    /// Returns the total number of deviations in responses.
    pub(super) fn deviations(&self) -> u64 {
        self.all().iter().map(|port| port.client.deviations()).sum()
    }

    /// Returns the total number of invalid requests and responses.
    pub(super) fn invalid_messages(&self) -> u64 {
        self.all().iter().map(|port| port.client.invalid_messages()).sum()
    }
}

impl<S: Clone> Ports<S> {
    /// Returns the client for a port; builds it if there is none yet.
    pub(super) fn client(
        &self,
        settings: PortSettings,
        build: impl FnOnce(ClientBuilder) -> Result<Client<S>, DynamicError>,
    ) -> Result<Client<S>, DynamicError> {
        let mut all = self.all();
        if let Some(port) = all.iter().find(|port| port.settings == settings) {
            return Ok(port.client.clone());
        }
        let client = build(settings.builder())?;
        if all.len() < MAX_CLIENTS {
            all.push(Port { settings, client: client.clone() });
        }
        Ok(client)
    }
}
