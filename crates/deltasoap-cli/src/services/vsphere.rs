//! vSphere: answers the `Fetch` requests of recorded vCenter sessions with what was recorded.

use anyhow::{Context as _, Result};
use deltasoap::soap::{Reply, decode_reply, decode_request};
use deltasoap::types::Node;
use deltasoap::{Fault, Lease, Soap};
use deltasoap_http::{SoapService, SoapServiceBuilder};
use deltasoap_streams::vsphere::fetch_pairs;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug, Clone, PartialEq, Eq, Hash, Soap)]
#[soap(element = "Fetch", namespace = "urn:vim25", qualified)]
pub struct Fetch {
    #[soap(name = "_this")]
    pub this: ManagedObjectReference,
    pub prop: Prop,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Soap)]
#[soap(namespace = "urn:vim25")]
pub struct ManagedObjectReference {
    #[soap(attribute, name = "versionId")]
    pub version_id: Option<String>,
    #[soap(attribute, name = "type")]
    pub kind: String,
    #[soap(text)]
    pub value: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Soap)]
#[soap(namespace = "urn:vim25")]
pub struct Prop {
    #[soap(attribute, name = "versionId")]
    pub version_id: String,
    #[soap(text)]
    pub value: String,
}

/// The response: a value of any type, kept as a tree.
#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(element = "FetchResponse", namespace = "urn:vim25", qualified)]
pub struct FetchResponse {
    pub returnval: Option<Node>,
}

/// Builds the service.
pub fn service(builder: SoapServiceBuilder) -> Result<SoapService> {
    let recording = Arc::new(Recording::read()?);
    let fetch = move |request: Lease<Fetch>| {
        let answer = recording.answer(&request);
        async move { answer.ok_or_else(|| Fault::sender("this request was not recorded")) }
    };
    Ok(builder.name("vSphere Fetch").operation(fetch).build()?)
}

/// The answers recorded for each request, in order.
struct Recording(HashMap<Fetch, Answers>);

#[derive(Default)]
struct Answers {
    responses: Vec<FetchResponse>,
    /// Number of answers given so far; after the last answer, the first is given again.
    given: AtomicUsize,
}

impl Recording {
    fn read() -> Result<Self> {
        let mut answers: HashMap<Fetch, Answers> = HashMap::new();
        for (index, (request, response)) in fetch_pairs().enumerate() {
            let (_, request) = decode_request(request).with_context(|| format!("recorded request {index}"))?;
            let response = recorded_response(response).with_context(|| format!("recorded response {index}"))?;
            answers.entry(request).or_default().responses.push(response);
        }
        Ok(Recording(answers))
    }

    fn answer(&self, request: &Fetch) -> Option<FetchResponse> {
        let answers = self.0.get(request)?;
        let given = answers.given.fetch_add(1, Ordering::Relaxed);
        answers.responses.get(given % answers.responses.len()).cloned()
    }
}

/// Decodes a recorded response message.
pub fn recorded_response(message: &[u8]) -> Result<FetchResponse> {
    match decode_reply(message)?.1 {
        Reply::Response(response) => Ok(response),
        Reply::Fault(fault) => Err((*fault).into()),
    }
}
