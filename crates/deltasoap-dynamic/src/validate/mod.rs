//! Validation: whether a message matches a contract, and if not, where it differs.
//!
//! The engine reads valid content and stops at the first error; it is lenient where a schema's
//! finer points do not matter for reading. This module checks everything: envelope and faults,
//! order and number of elements, attributes, facets, `xsi:type`, nil, fixed values, and reports
//! every error. At the end the engine reads the message too. SOAP-encoded bodies are read by the
//! engine; the parts that it keeps as trees are then read by the trees' types, and their simple
//! values are checked against their facets.
//!
//! Clients and services validate what they exchange with a contract as their validator
//! (`deltasoap-http/src/validation.rs`), which sees each message whole before its value is used.

mod element;
mod encoded;
mod envelope;
mod identity;
mod item;
mod model;

pub(crate) use element::is_of_the_envelope;
pub(crate) use model::can_be_empty;

use crate::contract::{Types, number};
use crate::{Contract, Operation};
use bytes::Bytes;
use deltasoap_core::decode::{Cursor, Decoder, Step};
use deltasoap_core::schema::{Element, ElementRef, Style, Use, View, shortened};
use deltasoap_core::soap::{BodyParts, EnvelopeReader, Head, Receiver, Version};
use deltasoap_core::{Content, DecodeOptions, Error, ErrorKind, Node, PartUri, QName, Shared, Value, ns};
use deltasoap_http::{Finding, PartLookup, Validator};
use deltasoap_wsdl::wsdl::{Part, PartContent};
use deltasoap_wsdl::xsd::{ElementId, TypeId};
use encoded::{Cache, KnownType, Pending, is_generic};
use identity::Keys;
use item::Item;
use model::Alternatives;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

/// Maximum number of findings for one message.
const MAX_FINDINGS: usize = 100;

impl Contract {
    /// Finds at most 100 errors in a message; none for one that matches the contract.
    ///
    /// The message is an envelope, or an element that the contract declares. The element of a body
    /// may belong to several operations: it is valid if it is a request or response of one of them.
    ///
    /// ```
    /// # use deltasoap_dynamic::Contract;
    /// # const WSDL: &str = include_str!("../../tests/data/shop.wsdl");
    /// # let contract = Contract::from_text(WSDL)?;
    /// let order = "<Order xmlns='urn:shop'>\n<customer>Ada</customer>\n\
    ///              <item><code>a</code><count>2</count></item></Order>";
    /// let finding = &contract.validate(order.as_bytes())[0];
    /// assert_eq!((finding.line, finding.column, finding.path.as_str()), (3, 7, "/Order/item/code"));
    /// # Ok::<(), deltasoap_wsdl::Error>(())
    /// ```
    pub fn validate(&self, message: &[u8]) -> Vec<Finding> {
        self.validate_with_parts(message, &|_| None)
    }

    /// Like [`validate`](Self::validate), for a message that came in a package: `part` returns the
    /// bytes of the part that an `xop:Include` refers to, which replace its text.
    pub fn validate_with_parts(&self, message: &[u8], part: &dyn Fn(&PartUri) -> Option<Bytes>) -> Vec<Finding> {
        self.findings(message, Some(part), usize::MAX)
    }
}

/// Validates by the WSDL. A message with more nodes than allowed is invalid.
impl Validator for Contract {
    fn findings(&self, message: &[u8], part: Option<&PartLookup<'_>>, tree_nodes: usize) -> Vec<Finding> {
        self.checked(message, part, tree_nodes, |checker, root| checker.root(self, root))
    }
}

impl Contract {
    /// Finds the errors in an element of a type, by its declaration if there is one.
    pub(crate) fn validate_element(
        &self,
        element: &[u8],
        type_id: TypeId,
        declaration: Option<ElementId>,
    ) -> Vec<Finding> {
        self.checked(element, Some(&|_| None), usize::MAX, |checker, root| {
            checker.within(root, |checker| checker.element(root, type_id, declaration));
        })
    }

    /// Parses a message, checks it from its root, and returns the findings.
    fn checked(
        &self,
        message: &[u8],
        part: Option<&PartLookup<'_>>,
        tree_nodes: usize,
        check: impl FnOnce(&mut Checker<'_>, &Item),
    ) -> Vec<Finding> {
        let message = in_utf8(message);
        let parsed = item::parse(&message, tree_nodes);
        let mut checker = Checker {
            types: &self.types,
            message: &message,
            part,
            findings: Vec::new(),
            path: Vec::new(),
            ids: HashSet::new(),
            references: Vec::new(),
            keys: Keys::new(self.types.import.schemas()),
            alternatives: Alternatives::new(),
            start: 0,
            is_clean: true,
            known: 0,
            root: parsed.as_ref().ok(),
            walked: HashSet::new(),
            pending: Vec::new(),
            cache: Rc::default(),
            takes_ids: true,
        };
        match &parsed {
            Ok(root) => check(&mut checker, root),
            Err(error) => checker.fault(error),
        }
        checker.dangling();
        let mut findings = checker.findings;
        // The target of several references is checked for each of them.
        let mut seen = HashSet::new();
        findings.retain(|it| seen.insert((it.line, it.column, it.path.clone(), it.message.clone())));
        findings
    }
}

/// Converts a message to UTF-8, since positions count bytes of UTF-8. The declaration's encoding is
/// blanked, because it no longer applies.
fn in_utf8(message: &[u8]) -> Cow<'_, [u8]> {
    let word: fn([u8; 2]) -> u16 = match message {
        // The engine reports that half of a character is missing.
        _ if !message.len().is_multiple_of(2) => return Cow::Borrowed(message),
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        _ => return Cow::Borrowed(message),
    };
    let words: Vec<u16> = message[2..].chunks_exact(2).map(|pair| word([pair[0], pair[1]])).collect();
    let Ok(text) = String::from_utf16(&words) else { return Cow::Borrowed(message) };
    let mut text = text.into_bytes();
    match declared_encoding(&text) {
        // The engine reports a declaration that contradicts the mark.
        Some(encoding) if !text[encoding.clone()].to_ascii_lowercase().windows(6).any(|name| name == b"utf-16") => {
            return Cow::Borrowed(message);
        }
        Some(encoding) => text[encoding].fill(b' '),
        None => {}
    }
    Cow::Owned(text)
}

/// Returns the position of the encoding in the XML declaration: `encoding="..."`.
fn declared_encoding(text: &[u8]) -> Option<Range<usize>> {
    let end = text.starts_with(b"<?xml").then(|| text.windows(2).position(|pair| pair == b"?>")).flatten()?;
    let start = text[..end].windows(8).position(|word| word == b"encoding")?;
    let opening = start + text[start..end].iter().position(|byte| matches!(byte, b'"' | b'\''))?;
    let closing = opening + 1 + text[opening + 1..end].iter().position(|byte| *byte == text[opening])?;
    Some(start..closing + 1)
}

/// Walks a message.
struct Checker<'c> {
    types: &'c Types,
    message: &'c [u8],
    /// The parts that came with the message, if they are known.
    part: Option<&'c PartLookup<'c>>,
    findings: Vec<Finding>,
    /// The open elements, with numbers if several have the same name.
    path: Vec<String>,
    /// The values of type `xsd:ID`.
    ids: HashSet<String>,
    /// The values of type `xsd:IDREF` and `xsd:IDREFS`, each with its element's position.
    references: Vec<(String, u64)>,
    keys: Keys,
    alternatives: Alternatives<'c>,
    /// The offset of the root element's tag, in bytes.
    start: u64,
    /// False if there were findings before the current attempt.
    is_clean: bool,
    /// Number of elements with a type so far.
    known: usize,
    root: Option<&'c Item>,
    /// The positions of values that were referred to.
    walked: HashSet<(u64, KnownType)>,
    /// Values that are still to be checked.
    pending: Vec<Pending<'c>>,
    cache: Rc<Cache<'c>>,
    /// True if values of type `xsd:ID` and `xsd:IDREF` are recorded.
    takes_ids: bool,
}

impl Checker<'_> {
    /// Records a finding about an element.
    fn report(&mut self, item: &Item, message: impl Into<String>) {
        let path = self.shown_path();
        self.report_at(item.offset, path, message.into());
    }

    /// Records a finding about an element within the current one.
    fn report_within(&mut self, item: &Item, within: &Item, message: String) {
        let below = item.path_to(within).into_iter().skip(1);
        let path = below.fold(self.shown_path(), |path, step| path + "/" + &step);
        self.report_at(within.offset, path, message);
    }

    fn report_at(&mut self, offset: u64, path: String, message: String) {
        if self.findings.len() < MAX_FINDINGS {
            let error = Error::at(ErrorKind::Other(String::new()), offset);
            let (line, column) = error.line_and_column(self.message);
            self.findings.push(Finding { line, column, path, message });
        }
    }

    fn shown_path(&self) -> String {
        joined(&self.path)
    }

    /// Reports references without a target.
    fn dangling(&mut self) {
        for (text, offset) in std::mem::take(&mut self.references) {
            let mut seen = HashSet::new();
            let lost = text.split_ascii_whitespace().filter(|id| !self.ids.contains(*id) && seen.insert(*id));
            let room = MAX_FINDINGS.saturating_sub(self.findings.len());
            for id in lost.take(room).collect::<Vec<_>>() {
                let steps = self.root.map(|root| root.path_to_offset(offset)).unwrap_or_default();
                self.report_at(offset, joined(&steps), format!("no element has the ID {}", shortened(id)));
            }
        }
    }

    /// Records an error that the engine found.
    fn fault(&mut self, error: &Error) {
        let (line, column) = error.line_and_column(self.message);
        let message = error.kind().to_string();
        self.findings.push(Finding { line, column, path: error.path().to_owned(), message });
    }

    fn root(&mut self, contract: &Contract, root: &Item) {
        self.path.push(root.name.local.to_string());
        self.start = root.offset;
        match Version::from_namespace(&root.name.namespace).filter(|_| root.name.local == "Envelope") {
            Some(version) => self.envelope(contract, root, version),
            None => self.declared(root, "neither a SOAP envelope nor an element that the contract declares"),
        }
        self.path.pop();
    }

    fn body(&mut self, contract: &Contract, body: &Item, version: Version) {
        let entries: Vec<_> = body.children.iter().filter(|it| !is_independent(it)).collect();
        let candidates = self.several(contract, &entries, version);
        if !candidates.is_empty() {
            return self.nearest(&candidates, |this, (operation, content)| {
                this.check_offered_version(std::slice::from_ref(operation), version);
                entries.iter().for_each(|entry| this.within(entry, |this| this.if_declared(entry)));
                this.read(contract, (&QName::default(), *content));
            });
        }
        let Some(entry) = entries.first() else { return self.report(body, "the Body is empty") };
        if !entry.name.is(version.namespace(), "Fault") {
            self.within(entry, |this| this.entry(contract, entry, version));
            return self.encoded_apart(body, entry);
        }
        self.check_offered_version(&contract.operations(), version);
        self.within(entry, |this| this.a_fault(entry, version));
        // The target of a reference in the detail need not be marked as not being a root (SOAP 1.1,
        // 5.6).
        let is_referred = |it: &&&Item| version == Version::Soap11 && it.attribute("", "id").is_some();
        for another in entries[1..].iter().filter(|it| !is_referred(it)) {
            self.within(another, |this| this.report(another, "nothing else is allowed in the Body with a fault"));
        }
    }

    /// Returns the operations whose body consists of these elements, in any order. If the first
    /// element belongs to no operation by itself, returns the operations of which it is a part.
    fn several(&self, contract: &Contract, entries: &[&Item], version: Version) -> Vec<(Operation, ElementRef)> {
        let parts = |content: ElementRef| contract.view(content).complex().map_or(&[][..], |complex| &complex.fields);
        let is_it = |content: ElementRef| {
            let parts = parts(content);
            let count = |name: &QName| entries.iter().filter(|entry| entry.name == *name).count();
            let has = |name: &QName| parts.iter().filter(|part| part.name == *name).count();
            parts.len() == entries.len() && parts.iter().all(|part| count(&part.name) == has(&part.name))
        };
        let mut all = bare_operations(contract, version);
        if all.iter().any(|(_, content)| is_it(*content)) {
            all.retain(|(_, content)| is_it(*content));
            return all;
        }
        let Some(first) = entries.first() else { return Vec::new() };
        let is_alone = |name: &QName| *name == first.name;
        let operations = contract.operations();
        let mut bodies = operations.iter().flat_map(|it| [it.request(), it.response()]).flatten();
        if bodies.any(|(name, _)| is_alone(name)) {
            return Vec::new();
        }
        all.retain(|(_, content)| parts(*content).iter().any(|part| part.name == first.name));
        all.sort_by_key(|(_, content)| parts(*content).first().is_none_or(|part| part.name != first.name));
        all
    }

    /// Validates the body's element: a request or a response of an operation.
    fn entry(&mut self, contract: &Contract, entry: &Item, version: Version) {
        let operations = contract.operations();
        let bodies = operations.iter().flat_map(|it| [(it, it.request(), true), (it, it.response(), false)]);
        let bodies = bodies.filter_map(|(it, body, is_request)| Some((it, body?, is_request)));
        let mut bodies: Vec<_> = bodies.filter(|(_, (name, _), _)| **name == entry.name).collect();
        bodies.sort_by_key(|(operation, ..)| operation.version() != version);
        if bodies.is_empty() {
            let mut known: Vec<_> = operations.iter().filter_map(|it| Some(it.request()?.0)).collect();
            known.retain(|name| !name.local.is_empty());
            known.sort_unstable_by_key(|name| (&name.local, &name.namespace));
            known.dedup();
            known.truncate(8);
            let is_alike = known.iter().any(|name| name.local == entry.name.local);
            let shown = |name: &&QName| if is_alike { name.to_string() } else { name.local.to_string() };
            let known: Vec<_> = known.iter().map(shown).collect();
            let available = if known.is_empty() {
                "there are no operations".to_owned()
            } else {
                format!("available: {}", known.join(", "))
            };
            return self.report(entry, format!("no operation has <{}>; {available}", entry.name));
        };
        // Most operations are the same at other ports.
        let mut seen = HashSet::new();
        bodies.retain(|(operation, (_, content), is_request)| {
            let message = operation.bound().style == Style::Rpc;
            let message = message.then(|| (operation.declared(), *is_request));
            seen.insert((number(*content), message, operation.version() == version))
        });
        self.nearest(&bodies, |this, (operation, (_, content), is_request)| {
            this.check_offered_version(std::slice::from_ref(operation), version);
            let bound = operation.bound();
            let how = if *is_request { &bound.request } else { &bound.response };
            let is_encoded = how.as_ref().is_some_and(|how| how.encoding == Use::Encoded);
            match bound.style {
                _ if is_encoded => this.encoded_body(operation, entry, *is_request),
                Style::Document => this.if_declared(entry),
                Style::Rpc => this.parameters(operation, entry, *is_request),
            }
            this.read(contract, (&entry.name, *content));
        });
    }

    /// Checks the content as each of the candidates. Keeps the first result without findings, or
    /// otherwise the one whose first finding comes last, with the most known elements and the
    /// fewest findings.
    fn nearest<T>(&mut self, candidates: &[T], check: impl Fn(&mut Self, &T)) {
        let mut nearest = None;
        for candidate in candidates {
            let mut attempt = Checker {
                findings: Vec::new(),
                path: self.path.clone(),
                ids: self.ids.clone(),
                references: Vec::new(),
                keys: self.keys.fresh(),
                alternatives: Alternatives::new(),
                walked: HashSet::new(),
                pending: Vec::new(),
                cache: Rc::clone(&self.cache),
                is_clean: self.is_clean && self.findings.is_empty(),
                ..*self
            };
            check(&mut attempt, candidate);
            let first = attempt.findings.iter().map(|it| (it.line, it.column)).min();
            let reached = (first.is_none(), first, attempt.known, Reverse(attempt.findings.len()));
            let is_right = first.is_none();
            if nearest.as_ref().is_none_or(|(other, _)| reached > *other) {
                nearest = Some((reached, attempt));
            }
            if is_right {
                break;
            }
        }
        if let Some((_, attempt)) = nearest {
            self.findings.extend(attempt.findings);
            self.findings.truncate(MAX_FINDINGS);
            self.ids = attempt.ids;
            self.references.extend(attempt.references);
            self.walked = attempt.walked;
        }
    }

    /// Validates the accessors of an rpc message against its parts.
    fn parameters(&mut self, operation: &Operation, entry: &Item, is_request: bool) {
        let parts = parts_of(operation, is_request);
        self.known += 1;
        self.attributes(entry, None, |name| !name.namespace.is_empty());
        for child in &entry.children {
            let part = parts.iter().find(|part| match &part.content {
                PartContent::Type(_) => *part.name == *child.name.local,
                PartContent::Element(name, _) => *name == child.name,
            });
            self.within(child, |this| match part.map(|part| &part.content) {
                Some(PartContent::Type(id)) => this.element(child, *id, None),
                Some(PartContent::Element(..)) => this.if_declared(child),
                None => this.report(child, "no part has this name"),
            });
        }
    }

    /// Runs the engine on a message without findings so far.
    fn read(&mut self, contract: &Contract, (name, content): (&QName, ElementRef)) {
        if !self.is_clean || !self.findings.is_empty() {
            return;
        }
        let view = contract.view(content);
        let parts = BodyParts::new(view);
        let mut reader = EnvelopeReader::new(Entry { name, view, value: Value::vacant(view), parts });
        match Decoder::new(DecodeOptions::default()).decode(&mut reader, self.message) {
            Err(error) => self.fault(&error),
            Ok(()) => self.encoded_trees(&reader.into_parts().1.value, content),
        }
    }

    /// Reports the parts that the engine keeps as trees in SOAP encoding although a type is
    /// declared: the type of their `xsi:type` is not allowed there. The engine has read everything
    /// else by its type.
    fn encoded_trees(&mut self, value: &Value, content: ElementRef) {
        let mut shared = Vec::new();
        self.trees_in(value, content, &mut shared);
        // A message may have a chain of shared values of any length.
        let mut seen = HashSet::new();
        while let Some((next, content)) = shared.pop() {
            if let (true, Some(value)) = (seen.insert(next.address()), next.get()) {
                self.trees_in(&value, content, &mut shared);
            }
        }
    }

    /// Like [`encoded_trees`](Self::encoded_trees), for what a value contains itself; adds the
    /// values that it shares to `shared`.
    fn trees_in(&mut self, value: &Value, content: ElementRef, shared: &mut Vec<(Shared<Value>, ElementRef)>) {
        let types = self.types;
        match (value, types.lowered.schema.view(content).element) {
            (Value::Record(record), Element::Complex(complex)) => {
                for (value, field) in record.fields.iter().zip(complex.fields.iter()) {
                    self.trees_in(value, field.element, shared);
                }
            }
            (Value::List(items), Element::Array(array)) => {
                items.iter().for_each(|item| self.trees_in(item, array.item, shared));
            }
            (Value::List(items), _) => items.iter().for_each(|item| self.trees_in(item, content, shared)),
            (Value::Shared(one), Element::Shared(content)) => shared.push((one.clone(), *content)),
            (Value::Typed(typed), Element::Open(open)) => {
                if let Some(content) = open.named(&typed.name) {
                    self.trees_in(&typed.value, content, shared);
                }
            }
            (Value::Tree(node), Element::Open(_)) => self.encoded_tree(node, content),
            (value, Element::Open(open)) => {
                open.base.into_iter().for_each(|base| self.trees_in(value, base, shared));
            }
            _ => {}
        }
    }

    fn encoded_tree(&mut self, node: &Node, content: ElementRef) {
        let Some(origin) = self.types.lowered.origin(content) else { return };
        let is_declared = !matches!(origin.type_id, TypeId::ANY | TypeId::ANY_SIMPLE);
        let Some(text) = node.attribute(ns::XSI, "type").filter(|_| is_declared && origin.encoding == Use::Encoded)
        else {
            return;
        };
        if node.resolve(text.trim_ascii()).is_some_and(|name| is_generic(&name)) {
            return;
        }
        let message = format!("<{}>: the xsi:type {} is not allowed here", node.name.local, shortened(text));
        self.report_at(self.start, self.shown_path(), message);
    }

    /// Runs a check one level deeper.
    fn within(&mut self, item: &Item, check: impl FnOnce(&mut Self)) {
        self.path.push(item.step());
        check(self);
        self.path.pop();
    }
}

/// Joins the steps of a path, each after a slash.
fn joined(steps: &[String]) -> String {
    steps.iter().fold(String::new(), |path, step| path + "/" + step)
}

/// Returns the parts of an operation's request or response.
fn parts_of(operation: &Operation, is_request: bool) -> &[Part] {
    let declared = operation.declaration();
    let parameter = if is_request { &declared.request } else { &declared.response };
    let messages = &operation.contract().description().definitions().messages;
    parameter.as_ref().map_or(&[], |parameter| &messages[parameter.message].parts)
}

/// Returns true for an element next to the operation that references target (SOAP 1.1, 5.6).
fn is_independent(item: &Item) -> bool {
    let root =
        [ns::SOAP11_ENCODING, ns::SOAP12_ENCODING].iter().find_map(|namespace| item.attribute(namespace, "root"));
    root.is_some_and(|root| matches!(root.trim_ascii(), "0" | "false"))
}

/// Returns the operations whose body has no wrapping element, but several elements or none, with
/// the body's content. Those of the message's version come first.
fn bare_operations(contract: &Contract, version: Version) -> Vec<(Operation, ElementRef)> {
    let mut operations = contract.operations();
    operations.sort_by_key(|operation| operation.version() != version);
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for operation in operations {
        let bodies = [operation.request(), operation.response()].into_iter().flatten();
        let contents = bodies.filter(|(name, _)| name.local.is_empty()).map(|(_, content)| content);
        for content in contents.collect::<Vec<_>>() {
            if seen.insert((number(content), operation.version() == version)) {
                all.push((operation.clone(), content));
            }
        }
    }
    all
}

/// Accepts the body's element, or its parts if the name is empty.
struct Entry<'c> {
    name: &'c QName,
    view: View<'c>,
    value: Value,
    parts: BodyParts<Value>,
}

impl Receiver for Entry<'_> {
    fn open_body(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        match self.name.is(namespace, local) {
            _ if self.name.local.is_empty() => self.parts.open(self.view, namespace, local),
            true => Ok(()),
            false => Err(ErrorKind::UnknownOperation(QName::owned(namespace, local).to_string())),
        }
    }

    fn takes_several(&self) -> bool {
        self.name.local.is_empty()
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        if self.name.local.is_empty() { self.close_body() } else { Err(ErrorKind::Envelope("the Body is empty")) }
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        match self.name.local.is_empty() {
            true => self.parts.decode(cursor, self.view),
            false => self.value.decode(cursor, self.view),
        }
    }

    fn close_body(&mut self) -> Result<(), ErrorKind> {
        if self.name.local.is_empty() { self.parts.check(self.view) } else { Ok(()) }
    }
}
