//! Every recorded message that has a WSDL: read as dynamic values, written, and read again.
//!
//! The WSDL of a message is one of its own source, the nearest by folder first, or of a source that
//! describes the same services ([`RELATED`]): the first that knows the element in the body.
//! Messages that cannot be read are in `tests/conformance/known_failures.txt`, by name and with the
//! reason. A message that fails and is not listed is an error, and so is a listed one that does not
//! fail.
//!
//! `DELTASOAP_CORPUS=DIR cargo test --release -p deltasoap-dynamic --test it conformance --
//! --ignored --nocapture` uses the folders `messages`, `streams` and `wsdl` of any directory, and
//! checks the whole list; the other test checks the files of `testdata`.

use crate::support::is_same;
use deltasoap_core::decode::{Cursor, Decoder, Step};
use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{Element, ElementRef, Use};
use deltasoap_core::soap::{Envelope, EnvelopeReader, Fault, Head, Receiver, Version};
use deltasoap_core::{Buffer, DecodeOptions, Error, ErrorKind, Memory, Node, QName, Shared, Tolerance, Value};
use deltasoap_dynamic::Contract;
use deltasoap_test_support::files;
use deltasoap_wsdl::Importer;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Sources of messages, and other sources whose WSDL describes the same services.
const RELATED: [(&str, &[&str]); 6] = [
    ("vsphere-content", &["vsphere-content.wsdl"]),
    ("vsphere-fetch", &["vsphere-fetch.wsdl"]),
    ("php-ext-soap", &["php-src__ext-soap"]),
    ("vmware+pyvmomi", &["jdgwartney+vsphere-ws", "hooklift+gowsdl"]),
    ("agsh+onvif", &["onvif+specs", "FalkTannhaeuser+python-onvif-zeep"]),
    ("lumeohq+onvif-rs", &["onvif+specs", "FalkTannhaeuser+python-onvif-zeep"]),
];

#[test]
fn messages_of_testdata_are_read_written_and_read_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let outcome = Outcome::of(&folder);
    outcome.print();
    assert!(outcome.good > 590);
    let known = known_failures();
    let unknown: Vec<_> = outcome.failed.iter().filter(|(path, _)| !known.contains(*path)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    let mended: Vec<_> = known.iter().filter(|path| outcome.read.contains(*path)).collect();
    assert!(mended.is_empty(), "take out of the list: {mended:#?}");
}

#[test]
#[ignore = "needs directories of descriptions and messages"]
fn messages_of_a_corpus_are_read_written_and_read_again() {
    let folder = PathBuf::from(std::env::var_os("DELTASOAP_CORPUS").expect("DELTASOAP_CORPUS names a directory"));
    let outcome = Outcome::of(&folder);
    outcome.print();
    let failed: BTreeSet<String> = outcome.failed.keys().cloned().collect();
    assert_eq!(failed, known_failures());
}

/// Returns the paths in the list; the reason follows each path.
fn known_failures() -> BTreeSet<String> {
    let text = include_str!("../../../../tests/conformance/known_failures.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

/// The results for the messages of a directory.
#[derive(Default)]
struct Outcome {
    good: usize,
    read: BTreeSet<String>,
    failed: BTreeMap<String, String>,
    /// Number of messages without a WSDL, by the reason.
    without: BTreeMap<&'static str, usize>,
}

impl Outcome {
    fn of(folder: &Path) -> Self {
        let messages: Vec<Message> =
            ["messages", "streams", "sequences"].iter().flat_map(|kind| messages(folder, kind)).collect();
        let wanted = messages.iter().flat_map(|message| message.names().cloned()).collect();
        let catalogue = Catalogue::of(folder, &wanted);
        let mut outcome = Outcome::default();
        for message in &messages {
            match message.check(&catalogue) {
                Verdict::Good => {
                    outcome.good += 1;
                    outcome.read.insert(message.path.clone());
                }
                Verdict::Failed(why) => _ = outcome.failed.insert(message.path.clone(), why),
                Verdict::Without(reason) => *outcome.without.entry(reason).or_default() += 1,
            }
        }
        outcome
    }

    fn print(&self) {
        self.failed.iter().for_each(|(path, why)| println!("{path}\t{why}"));
        println!("{} read, written and read again; {} not", self.good, self.failed.len());
        self.without.iter().for_each(|(reason, count)| println!("{count}: {reason}"));
    }
}

enum Verdict {
    Good,
    Failed(String),
    Without(&'static str),
}

/// A file with an envelope.
struct Message {
    /// The path below the directory, as `messages/source/...`.
    path: String,
    bytes: Vec<u8>,
    version: Version,
    body: Body,
}

enum Body {
    Empty,
    Element(QName),
    Fault(Vec<Node>),
}

/// Returns the messages of a folder: all files that contain an envelope.
fn messages(folder: &Path, kind: &str) -> Vec<Message> {
    let paths = files::below(&folder.join(kind), &["xml", "txt"]);
    let read = |path: PathBuf| {
        let below = files::relative(&path, folder);
        Message::read(below, std::fs::read(&path).ok()?)
    };
    paths.into_iter().filter_map(read).collect()
}

impl Message {
    fn read(path: String, bytes: Vec<u8>) -> Option<Self> {
        let envelope = Node::parse(&bytes).ok()?;
        let version = Version::from_namespace(&envelope.name.namespace)?;
        let body = match envelope.element(version.namespace(), "Body")?.elements().next() {
            None => Body::Empty,
            Some(entry) if entry.name.is(version.namespace(), "Fault") => {
                let around = [&envelope, envelope.element(version.namespace(), "Body")?];
                Body::Fault(
                    Fault::from_node(&within(&around, entry))
                        .map(|fault| fault.into_fields().detail)
                        .unwrap_or_default(),
                )
            }
            Some(entry) => Body::Element(entry.name.clone()),
        };
        Some(Message { path, bytes, version, body })
    }

    /// Returns the elements that a WSDL must know.
    fn names(&self) -> impl Iterator<Item = &QName> {
        let (body, detail) = match &self.body {
            Body::Empty => (None, &[][..]),
            Body::Element(name) => (Some(name), &[][..]),
            Body::Fault(detail) => (None, &detail[..]),
        };
        body.into_iter().chain(detail.iter().map(|entry| &entry.name))
    }

    fn check(&self, catalogue: &Catalogue) -> Verdict {
        match &self.body {
            Body::Empty => Verdict::Without("an empty body"),
            Body::Element(name) => self.check_body(name, catalogue),
            Body::Fault(detail) if detail.is_empty() => Verdict::Without("a fault without detail"),
            Body::Fault(detail) => self.check_detail(detail, catalogue),
        }
    }

    fn check_body(&self, name: &QName, catalogue: &Catalogue) -> Verdict {
        let candidates = catalogue.nearest(&self.path, |known| known.bodies.contains_key(name));
        let mut first = None;
        for known in &candidates {
            for &(content, encoding) in &known.bodies[name] {
                match round_trip(self, name, (&known.contract, content), encoding) {
                    Ok(()) => return Verdict::Good,
                    Err(why) => first = first.or_else(|| Some(format!("{why} ({})", known.path))),
                }
            }
        }
        first.map_or(Verdict::Without("no description knows the body's element"), Verdict::Failed)
    }

    /// Checks the entries of a fault's detail that a WSDL declares.
    fn check_detail(&self, detail: &[Node], catalogue: &Catalogue) -> Verdict {
        let mut verdict = Verdict::Without("a fault whose detail no description knows");
        for entry in detail {
            let candidates = catalogue.nearest(&self.path, |known| known.declared(&entry.name).is_some());
            let mut results = candidates.iter().map(|known| check_entry(entry, known));
            match results.next() {
                None => {}
                Some(Ok(())) => verdict = Verdict::Good,
                Some(Err(_)) if results.any(|result| result.is_ok()) => verdict = Verdict::Good,
                Some(Err(why)) => return Verdict::Failed(why),
            }
        }
        verdict
    }
}

/// Returns an element with the declarations around it.
fn within(around: &[&Node], entry: &Node) -> Node {
    let mut bindings: Vec<(String, String)> = Vec::new();
    for (prefix, namespace) in around.iter().copied().chain([entry]).flat_map(|node| node.bindings.iter().cloned()) {
        bindings.retain(|(other, _)| *other != prefix);
        bindings.push((prefix, namespace));
    }
    Node { bindings: bindings.into(), ..entry.clone() }
}

/// WSDL that knows some message.
struct Catalogue(Vec<Known>);

struct Known {
    /// The path below the directory, without the folder `wsdl`.
    path: String,
    contract: Contract,
    bodies: HashMap<QName, Vec<(ElementRef, Use)>>,
}

impl Catalogue {
    fn of(folder: &Path, wanted: &HashSet<QName>) -> Self {
        let descriptions = ["wsdl", "messages"].iter().flat_map(|kind| files::below(&folder.join(kind), &["wsdl"]));
        Catalogue(descriptions.filter_map(|path| Known::import(folder, &path, wanted)).collect())
    }

    /// Returns the WSDL nearest to a message: that which shares most of its path, of its own source
    /// or of a related one.
    fn nearest(&self, message: &str, knows: impl Fn(&Known) -> bool) -> Vec<&Known> {
        let near = self
            .0
            .iter()
            .filter(|known| knows(known))
            .filter_map(|known| Some((closeness(message, &known.path)?, known)));
        let near: Vec<_> = near.collect();
        let most = near.iter().map(|(closeness, _)| *closeness).max().unwrap_or_default();
        near.into_iter().filter(|(closeness, _)| *closeness == most).map(|(_, known)| known).collect()
    }
}

impl Known {
    fn import(folder: &Path, path: &Path, wanted: &HashSet<QName>) -> Option<Self> {
        let below = path.strip_prefix(folder).ok()?;
        let kind = below.components().next()?;
        let below = below.strip_prefix(kind).ok()?;
        let root = folder.join(kind).join(below.components().next()?);
        let contract = Contract::from(Importer::new().offline().root(root).file(path).ok()?);
        let mut bodies = HashMap::<QName, Vec<_>>::new();
        for operation in contract.operations() {
            let Ok(method) = operation.method() else { continue };
            for (name, content) in [operation.request(), operation.response()].into_iter().flatten() {
                let all = bodies.entry(name.clone()).or_default();
                if !all.contains(&(content, method.element.encoding)) {
                    all.push((content, method.element.encoding));
                }
            }
        }
        let known = Known { path: below.to_string_lossy().into_owned(), contract, bodies };
        wanted.iter().any(|name| known.bodies.contains_key(name) || known.declared(name).is_some()).then_some(known)
    }

    /// Returns the content of a global element.
    fn declared(&self, name: &QName) -> Option<ElementRef> {
        let id = self.contract.description().schemas().element_named(name)?;
        self.contract.lowered().element(id)
    }
}

/// Returns how near a WSDL is to a message: the number of folders that they share; `None` for other
/// sources.
fn closeness(message: &str, description: &str) -> Option<usize> {
    let mut message = message.split('/').skip(1);
    let mut description = description.split('/');
    let (from, of) = (message.next()?, description.next()?);
    if from == of {
        return Some(1 + message.zip(description).take_while(|(one, other)| one == other).count());
    }
    let related = RELATED.iter().find(|(source, _)| *source == from)?.1;
    related.contains(&of).then_some(0)
}

/// Reads the message, writes its body into a new one, and reads that.
fn round_trip(
    message: &Message,
    name: &QName,
    (contract, content): (&Contract, ElementRef),
    encoding: Use,
) -> Result<(), String> {
    let view = contract.view(content);
    let (mut value, tolerance) =
        read_somehow(&message.bytes, name, (contract, content)).map_err(|error| error.to_string())?;
    let written =
        Envelope::element(name, &value, view).version(message.version).encoding(encoding).write(Buffer::new());
    let written = written.map_err(|error| format!("not written: {error}"))?;
    let again = read(written.as_slice(), name, (contract, content), tolerance);
    let again = again.map_err(|error| format!("not read once written: {error}"))?;
    name_trees(&mut value, contract, content, &mut HashSet::new());
    if is_same(&value, &again) { Ok(()) } else { Err("read otherwise once written".to_owned()) }
}

/// Reads a message with the least tolerance that it requires. The error is that of strict reading.
fn read_somehow(message: &[u8], name: &QName, by: (&Contract, ElementRef)) -> Result<(Value, Tolerance), Error> {
    let strict = match read(message, name, by, Tolerance::Strict) {
        Ok(value) => return Ok((value, Tolerance::Strict)),
        Err(error) => error,
    };
    let levels = [Tolerance::Unknown, Tolerance::AnyOrder];
    levels.into_iter().find_map(|level| Some((read(message, name, by, level).ok()?, level))).ok_or(strict)
}

fn read(
    message: &[u8],
    name: &QName,
    (contract, content): (&Contract, ElementRef),
    tolerance: Tolerance,
) -> Result<Value, Error> {
    let taker = Taker { name, contract, content, memory: Memory::new(Value::Absent) };
    let mut reader = EnvelopeReader::new(taker);
    Decoder::new(DecodeOptions { tolerance, ..DecodeOptions::default() }).decode(&mut reader, message)?;
    Ok(reader.receiver.memory.into_value())
}

/// Receives the content of one element.
struct Taker<'c> {
    name: &'c QName,
    contract: &'c Contract,
    content: ElementRef,
    memory: Memory<Value>,
}

/// Gives trees the name of the field or the array that contains them, which they have once they are
/// written: the name of an item has no meaning (SOAP 1.1, 5.4.2), nor does that of a field which
/// was accepted in another namespace.
fn name_trees(value: &mut Value, contract: &Contract, content: ElementRef, seen: &mut HashSet<usize>) {
    let view = contract.view(content);
    match (value, view.element) {
        (Value::Record(record), Element::Complex(complex)) => {
            for (value, field) in record.fields.iter_mut().zip(complex.fields.iter()) {
                name_trees(value, contract, field.element, seen);
                name_tree(value, (!field.inline).then_some(&field.name));
            }
        }
        (Value::List(items), Element::Array(array)) => {
            for item in items {
                name_trees(item, contract, array.item, seen);
                name_tree(item, Some(&array.item_name));
            }
        }
        (Value::List(items), _) => items.iter_mut().for_each(|item| name_trees(item, contract, content, seen)),
        (Value::Typed(typed), Element::Open(open)) => {
            open.named(&typed.name)
                .into_iter()
                .for_each(|content| name_trees(&mut typed.value, contract, content, seen));
        }
        (Value::Shared(shared), Element::Shared(content)) if seen.insert(shared.address()) => {
            // Records may contain themselves, and must stay unchanged.
            if let Some(mut value) = shared.get().map(|it| it.clone()).filter(|it| !matches!(it, Value::Record(_))) {
                name_trees(&mut value, contract, *content, seen);
                *shared = Shared::new(value);
            }
        }
        _ => {}
    }
}

fn name_tree(value: &mut Value, name: Option<&QName>) {
    match (value, name) {
        (Value::Tree(tree), Some(name)) => tree.name = name.clone(),
        (Value::List(items), name) => items.iter_mut().for_each(|item| name_tree(item, name)),
        (Value::Shared(shared), Some(_)) => {
            if let Some(mut value) = shared.get().map(|it| it.clone()).filter(|it| matches!(it, Value::Tree(_))) {
                name_tree(&mut value, name);
                *shared = Shared::new(value);
            }
        }
        _ => {}
    }
}

impl Receiver for Taker<'_> {
    fn open_body(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        if self.name.is(namespace, local) { Ok(()) } else { Err(ErrorKind::UnknownOperation(local.to_owned())) }
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, self.contract.view(self.content))
    }
}

/// Reads an entry of a fault's detail by its declaration, writes it, and reads it again.
fn check_entry(entry: &Node, known: &Known) -> Result<(), String> {
    let json = known.contract.element_to_json(entry);
    let again = known.contract.element_from_json(&entry.name, &json).map_err(|error| error.to_string())?;
    let parse = |node: &Node| -> Option<Node> {
        let mut encoder = Encoder::new();
        node.write(&mut encoder);
        Node::parse(encoder.finish().ok()?.as_slice()).ok()
    };
    let again = parse(&again).ok_or("not written")?;
    let json_again = known.contract.element_to_json(&again);
    if json == json_again {
        Ok(())
    } else {
        Err(format!("{}: read otherwise once written ({})", entry.name, known.path))
    }
}
