//! Recorded answers, from the files of a directory.

use super::{MockReply, Recorded};
use crate::contract::Types;
use crate::{Contract, JsonError, LookupError, Operation};
use deltasoap_core::soap::{Fault, HeaderBlock, Version};
use deltasoap_core::{Child, Deviation, Error, Node, QName, Tolerance, Value};
use std::fmt;
use std::path::{Path, PathBuf};

/// Recorded answers that cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordedError {
    /// A file or the directory cannot be read.
    File(PathBuf, std::io::Error),
    /// A file's message is not the response of an operation.
    Message(PathBuf, String),
    /// There is no such operation.
    Lookup(LookupError),
    /// The JSON does not match the operation's response.
    Json(JsonError),
}

impl fmt::Display for RecordedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordedError::File(path, error) => write!(f, "{}: {error}", path.display()),
            RecordedError::Message(path, why) => write!(f, "{}: {why}", path.display()),
            RecordedError::Lookup(error) => error.fmt(f),
            RecordedError::Json(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RecordedError {}

/// An answer from a directory.
pub(super) struct RecordedAnswer {
    pub(super) path: PathBuf,
    pub(super) operation: Operation,
    pub(super) reply: MockReply,
    /// Its deviations from the WSDL.
    pub(super) deviations: Vec<Deviation>,
}

/// Reads all answers of a directory, in the order of the files' names.
pub(super) fn read(
    contract: &Contract,
    tolerance: Tolerance,
    directory: &Path,
) -> Result<Vec<RecordedAnswer>, RecordedError> {
    let unreadable = |error| RecordedError::File(directory.to_owned(), error);
    let entries = directory.read_dir().map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let mut paths: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort_by_cached_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name.len(), name)
    });
    let mut answers = Vec::new();
    for path in paths {
        // A directory of such a name, or a pipe, which never ends, is not an answer.
        match path.extension().and_then(|it| it.to_str()).filter(|_| path.is_file()) {
            Some("xml") => answers.push(from_xml(contract, tolerance, path)?),
            Some("json") => answers.push(from_json(contract, path)?),
            _ => {}
        }
    }
    Ok(answers)
}

fn content(path: &Path) -> Result<Vec<u8>, RecordedError> {
    std::fs::read(path).map_err(|error| RecordedError::File(path.to_owned(), error))
}

/// Returns the operation whose name the file's name begins with.
fn named_by(contract: &Contract, path: &Path) -> Result<Operation, RecordedError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let found = contract.operation(&stem).or_else(|error| match stem.rsplit_once('-') {
        Some((name, _)) => contract.operation(name),
        None => Err(error),
    });
    found.map_err(|error| RecordedError::Message(path.to_owned(), error.to_string()))
}

fn from_json(contract: &Contract, path: PathBuf) -> Result<RecordedAnswer, RecordedError> {
    let wrong = |error: String| RecordedError::Message(path.clone(), error);
    let operation = named_by(contract, &path)?;
    let text = String::from_utf8(content(&path)?).map_err(|error| wrong(error.to_string()))?;
    // Some editors prepend a byte order mark.
    let json =
        crate::json::parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|error| wrong(error.to_string()))?;
    let value = operation.response_from_json(&json).map_err(|error| wrong(error.to_string()))?;
    Ok(RecordedAnswer {
        path,
        operation,
        reply: MockReply::Response(value, Recorded::default()),
        deviations: Vec::new(),
    })
}

fn from_xml(contract: &Contract, tolerance: Tolerance, path: PathBuf) -> Result<RecordedAnswer, RecordedError> {
    let wrong = |error: &dyn fmt::Display| RecordedError::Message(path.clone(), error.to_string());
    let envelope = Node::parse(&content(&path)?).map_err(|error| wrong(&error))?;
    let recorded = Recorded::of(&envelope);
    let named = named_by(contract, &path);
    if let Ok(operation) = &named
        && let Some(read) = bare_response(&contract.types, tolerance, operation, &envelope)
    {
        let (value, deviations) = read.map_err(|error| wrong(&error))?;
        let operation = operation.clone();
        return Ok(RecordedAnswer { path, operation, reply: MockReply::Response(value, recorded), deviations });
    }
    let body = body_entry(&envelope).ok_or_else(|| wrong(&"not a SOAP envelope with a body"))?;
    if body.name.local == "Fault" && body.name.namespace == envelope.name.namespace {
        let fault = Fault::from_node(&body).map_err(|error| wrong(&error))?;
        if !recorded.headers.is_empty() {
            return Err(wrong(&"header blocks of a fault cannot be sent; without them the fault can"));
        }
        let (operation, reply) = (named?, MockReply::Fault(Box::new(fault)));
        return Ok(RecordedAnswer { path, operation, reply, deviations: Vec::new() });
    }
    let operations = contract.operations();
    let answers = |operation: &&Operation| operation.response().is_some_and(|(name, _)| *name == body.name);
    let of_name = named.as_ref().ok().filter(answers);
    let first = operations.iter().find(answers);
    let operation = of_name.or(first).ok_or_else(|| wrong(&format!("no operation answers <{}>", body.name)))?;
    if let (None, Some(other)) =
        (of_name, operations.iter().filter(answers).find(|other| other.declared() != operation.declared()))
    {
        let (one, other) = (operation.full_name(), other.full_name());
        return Err(wrong(&format!(
            "{one} and {other} both answer <{}>; rename the file, as in {}.xml, to choose one",
            body.name,
            operation.name()
        )));
    }
    let read = response(&contract.types, tolerance, operation, &body);
    let (value, deviations) = read.map_err(|error| wrong(&error))?;
    Ok(RecordedAnswer { path, operation: operation.clone(), reply: MockReply::Response(value, recorded), deviations })
}

impl Recorded {
    /// Returns the header blocks of an envelope.
    fn of(envelope: &Node) -> Self {
        let Some(version) = Version::from_namespace(&envelope.name.namespace) else { return Self::default() };
        let header = envelope.element(version.namespace(), "Header");
        let blocks = header.into_iter().flat_map(|header| {
            header.elements().map(|block| HeaderBlock { node: with_prefixes(envelope, header, block) })
        });
        Recorded { version, headers: blocks.collect() }
    }

    /// Returns the blocks for an envelope of a version: the attributes that SOAP defines are in
    /// that version's namespace.
    pub(super) fn in_version(&self, version: Version) -> Vec<HeaderBlock> {
        let mut headers = self.headers.clone();
        if version != self.version {
            headers.iter_mut().for_each(|block| block.change_version(self.version, version));
        }
        headers
    }
}

/// A value, and the deviations of its message from the WSDL.
type Read = Result<(Value, Vec<Deviation>), Error>;

fn response(types: &Types, tolerance: Tolerance, operation: &Operation, body: &Node) -> Read {
    match operation.response() {
        Some((_, content)) => types.read_node_with(tolerance, body, content),
        None => Ok((Value::Absent, Vec::new())),
    }
}

/// Reads a response whose parts are directly in the body; `None` for responses with a wrapping
/// element, and for faults.
fn bare_response(types: &Types, tolerance: Tolerance, operation: &Operation, envelope: &Node) -> Option<Read> {
    let (_, content) = operation.response().filter(|(name, _)| name.local.is_empty())?;
    let body = body_of(envelope)?;
    let is_fault = body.elements().any(|entry| entry.name.is(&body.name.namespace, "Fault"));
    let mut record = Node::new(QName::new("", "parts"));
    record.children = body.elements().map(|entry| Child::Element(with_prefixes(envelope, body, entry))).collect();
    (!is_fault).then(|| types.read_node_with(tolerance, &record, content))
}

fn body_of(envelope: &Node) -> Option<&Node> {
    let version = Version::from_namespace(&envelope.name.namespace)?;
    envelope.element(version.namespace(), "Body")
}

/// Returns the element in an envelope's body, with the prefixes declared around it.
fn body_entry(envelope: &Node) -> Option<Node> {
    let body = body_of(envelope)?;
    Some(with_prefixes(envelope, body, body.elements().next()?))
}

fn with_prefixes(envelope: &Node, body: &Node, entry: &Node) -> Node {
    let entry = entry.clone();
    let around = [envelope, body].into_iter().flat_map(|node| node.bindings.iter()).cloned();
    let bindings = around.chain(entry.bindings.iter().cloned()).fold(Vec::new(), |mut all, (prefix, namespace)| {
        all.retain(|(other, _): &(String, String)| *other != prefix);
        all.push((prefix, namespace));
        all
    });
    Node { bindings: bindings.into(), ..entry }
}
