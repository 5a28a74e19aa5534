//! Workloads and toolkits, as [`definitions`](crate::definitions) describe them.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// An action with a message of any size.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The name in all reports and in the peer protocol.
    pub name: String,
    /// The timed action.
    pub action: Action,
    /// The body element of the message.
    pub operation: String,
    /// The values of the message.
    pub values: Values,
    /// The values sent just before, for a decoder that gets them as a hint.
    pub sent: Option<Values>,
    /// Target speedup of deltasoap over gSOAP at 100,000 elements.
    pub goal: Option<f64>,
    /// A one-line description.
    pub description: String,
}

/// A timed action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Bytes to values.
    Decode,
    /// Values to bytes.
    Encode,
    /// Compares the message with an equal one.
    Compare,
    /// Copies the message.
    Copy,
}

/// The values of a message: one of the arrays of [`deltasoap_streams::arrays`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// `xsd:int`
    Ints,
    /// `xsd:double`, few digits
    Easy,
    /// `xsd:double`, up to 17 digits
    Hard,
    /// `xsd:string`
    Strings,
    /// Mesh interface objects
    Structs,
    /// Simple events
    Events,
    /// `xsd:base64Binary`
    Base64,
    /// `xsd:base64Binary` of the bits of doubles
    Doubles64,
    /// An array of `xsd:string` in SOAP encoding
    Encoded,
    /// An array of repeated `xsd:string` in SOAP encoding
    Repeated,
}

/// Another toolkit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerDefinition {
    /// The name in reports.
    pub name: String,
    /// The layer of the toolkit.
    #[serde(default)]
    pub layer: Layer,
    /// Its program, below the folder of built peers; empty if there is none.
    #[serde(default)]
    pub program: String,
    /// The build command; empty if there is none.
    #[serde(default)]
    pub build: String,
    /// The reason why there is no program, for an unavailable toolkit.
    pub missing: Option<String>,
    /// The reason why its client does not call.
    #[serde(rename = "no-calls")]
    pub no_calls: Option<String>,
    /// True if it allocates memory in large blocks in advance, so that its memory per message is
    /// not visible from outside.
    #[serde(default, rename = "hides-memory")]
    pub hides_memory: bool,
    /// The toolkit whose server its client calls, if it has none.
    pub server: Option<String>,
    /// A one-line description.
    pub description: String,
}

/// The layer of a toolkit; each has separate tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// SOAP: envelopes, types from a WSDL or from classes, and usually HTTP.
    #[default]
    Soap,
    /// XML only: the envelope is an element like any other.
    Xml,
    /// No processing: bytes are compared or copied, as fast as memory allows.
    Floor,
}
