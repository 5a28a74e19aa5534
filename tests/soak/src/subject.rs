//! What messages are decoded to: a schema, its source, and initial messages.

use crate::coverage::Coverage;
use crate::derived::{self, Kind};
use crate::edits;
use crate::generate;
use crate::library::Library;
use crate::trial::{self, Difference, Trial};
use deltasoap::engine::{Buffer, Tolerance};
use deltasoap::soap::{Envelope, Version};
use deltasoap_core::schema::{ElementRef, Schema, Use, View};
use deltasoap_core::{QName, Value};
use deltasoap_dynamic::Contract;
use deltasoap_test_support::Chance;
use deltasoap_test_support::Entropy;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// The source of a schema, in a form that can be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A random schema, by its entropy.
    Random { entropy: Vec<u8> },
    /// A message of an operation of a WSDL.
    Wsdl { path: String, operation: usize, is_response: bool },
    /// A derived type, by its number.
    Derived { kind: usize },
    /// A schema inferred from recorded messages, by their stream and a seed.
    Recorded { stream: String, seed: u64 },
}

/// Names of the kinds of subjects, for counting.
pub const SOURCES: [&str; 4] = ["random schemas", "WSDLs", "derived types", "recorded streams"];

impl Subject {
    /// Returns a random subject.
    pub fn any(chance: &mut Chance, library: &mut Library) -> Subject {
        match chance.below(8) {
            0 | 1 => Subject::Derived { kind: chance.below(derived::COUNT) },
            2 | 3 => Self::from_wsdl(chance, library).unwrap_or_else(|| Self::random(chance)),
            4 | 5 => match library.any_stream(chance) {
                Some(stream) => Subject::Recorded { stream, seed: chance.bits() },
                None => Self::random(chance),
            },
            _ => Self::random(chance),
        }
    }

    fn random(chance: &mut Chance) -> Subject {
        let len = chance.between(0, 120);
        Subject::Random { entropy: chance.bytes(len) }
    }

    fn from_wsdl(chance: &mut Chance, library: &mut Library) -> Option<Subject> {
        let path = library.any_wsdl(chance)?;
        let operations = library.contract(&path)?.operations();
        let operation = chance.below(operations.len());
        let is_response = chance.one_in(2) && operations.get(operation)?.response().is_some();
        let (name, _) = match is_response {
            true => operations[operation].response()?,
            false => operations[operation].request()?,
        };
        (!name.local.is_empty()).then_some(Subject::Wsdl { path, operation, is_response })
    }

    /// Returns the index in [`SOURCES`].
    pub fn source(&self) -> usize {
        match self {
            Subject::Random { .. } => 0,
            Subject::Wsdl { .. } => 1,
            Subject::Derived { .. } => 2,
            Subject::Recorded { .. } => 3,
        }
    }

    /// Loads the schema; `None` if the source does not exist here.
    pub fn load(&self, library: &mut Library) -> Option<Reading> {
        match self {
            Subject::Random { entropy } => {
                let (schema, root) = generate::schema(&mut Entropy(entropy));
                Some(Reading::Schema(Rc::new(schema), root))
            }
            Subject::Wsdl { path, operation, is_response } => {
                let contract = library.contract(path)?;
                let operations = contract.operations();
                let found = operations.get(*operation)?;
                let (_, content) = if *is_response { found.response()? } else { found.request()? };
                Some(Reading::Contract(contract, content))
            }
            Subject::Derived { kind } => derived::kind(*kind).map(Reading::Derived),
            Subject::Recorded { stream, seed } => {
                let (schema, root) = library.inferred(stream, *seed)?;
                Some(Reading::Schema(Rc::new(schema), root))
            }
        }
    }

    /// Returns initial messages.
    pub fn messages(&self, chance: &mut Chance, library: &mut Library) -> Vec<String> {
        match self {
            Subject::Random { .. } => self.random_messages(chance, library).unwrap_or_default(),
            Subject::Wsdl { .. } => self.samples(chance, library).unwrap_or_default(),
            Subject::Derived { kind } => derived::kind(*kind).map(derived::message).into_iter().collect(),
            Subject::Recorded { stream, .. } => library.messages(stream, chance),
        }
    }

    /// Returns initial values; none if the messages cannot be decoded.
    pub fn values(&self, chance: &mut Chance, library: &mut Library) -> Vec<Value> {
        let Some(reading) = self.load(library) else { return Vec::new() };
        let Some(view) = reading.view() else { return Vec::new() };
        let messages = self.messages(chance, library);
        messages.iter().filter_map(|message| trial::value(message.as_bytes(), view, Tolerance::Strict)).collect()
    }

    fn random_messages(&self, chance: &mut Chance, library: &mut Library) -> Option<Vec<String>> {
        let reading = self.load(library)?;
        let (view, entropy) = (reading.view()?, chance.bytes(400));
        let mut entropy = Entropy(&entropy);
        let mut value = generate::value(&mut entropy, view);
        let style = Style::any(chance);
        let count = chance.between(1, 6);
        let messages = (0..count).filter_map(|_| {
            let message = style.written(&QName::new("urn:op", "operation"), &value, view);
            edits::edit(&mut value, view, &mut entropy);
            message
        });
        Some(messages.collect())
    }

    /// Returns samples of the WSDL's types; the first contains every field.
    fn samples(&self, chance: &mut Chance, library: &mut Library) -> Option<Vec<String>> {
        let Subject::Wsdl { path, operation, is_response } = self else { return None };
        let contract = library.contract(path)?;
        let operations = contract.operations();
        let found = operations.get(*operation)?;
        let (name, content) = if *is_response { found.response()? } else { found.request()? };
        let style = Style { version: found.version(), encoding: found.method().ok()?.element.encoding };
        let sample = |seed: Option<u64>| match (seed, is_response) {
            (None, false) => found.request_sample(),
            (None, true) => found.response_sample(),
            (Some(seed), false) => found.random_request(seed),
            (Some(seed), true) => found.random_response(seed),
        };
        let seeds: Vec<_> = (0..chance.between(0, 4)).map(|_| Some(chance.bits())).collect();
        let samples = std::iter::once(None).chain(seeds).filter_map(sample);
        Some(samples.filter_map(|value| style.written(name, &value, contract.view(content))).collect())
    }
}

/// How values are encoded as messages.
struct Style {
    version: Version,
    encoding: Use,
}

impl Style {
    fn any(chance: &mut Chance) -> Self {
        let version = *chance.pick(&[Version::Soap11, Version::Soap12]);
        Style { version, encoding: *chance.pick(&[Use::Literal, Use::Literal, Use::Encoded]) }
    }

    fn written(&self, name: &QName, value: &Value, view: View<'_>) -> Option<String> {
        let buffer = Envelope::element(name, value, view)
            .version(self.version)
            .encoding(self.encoding)
            .write(Buffer::new())
            .ok()?;
        String::from_utf8(buffer.into_vec()).ok()
    }
}

/// A loaded schema, and a type in it.
pub enum Reading {
    Schema(Rc<Schema>, ElementRef),
    Contract(Contract, ElementRef),
    Derived(&'static Kind),
}

impl Reading {
    /// Checks a trial in every way; see [`trial::check`].
    pub fn check(&self, trial: &Trial, coverage: &mut Coverage) -> Option<Difference> {
        match self {
            Reading::Derived(kind) => (kind.check)(trial, coverage),
            Reading::Schema(schema, root) => trial::check::<Value>(trial, schema.view(*root), coverage),
            Reading::Contract(contract, content) => trial::check::<Value>(trial, contract.view(*content), coverage),
        }
    }

    /// Returns true if a message can be decoded.
    pub fn is_good(&self, message: &str, tolerance: Tolerance) -> bool {
        match self {
            Reading::Derived(kind) => (kind.is_good)(message.as_bytes(), tolerance),
            Reading::Schema(schema, root) => trial::is_good::<Value>(message.as_bytes(), schema.view(*root), tolerance),
            Reading::Contract(contract, content) => {
                trial::is_good::<Value>(message.as_bytes(), contract.view(*content), tolerance)
            }
        }
    }

    /// Returns the view of dynamic values.
    pub fn view(&self) -> Option<View<'_>> {
        match self {
            Reading::Schema(schema, root) => Some(schema.view(*root)),
            Reading::Contract(contract, content) => Some(contract.view(*content)),
            Reading::Derived(_) => None,
        }
    }
}
