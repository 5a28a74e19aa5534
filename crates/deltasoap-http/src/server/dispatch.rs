//! Finds the operation for a body's first tag.

use super::addressing::action_in;
use super::memory::MemorySource;
use super::noted::Notes;
use super::operation::{Call, Operation, Starter};
use super::receive::RequestInfo;
use super::service::Inner;
use crate::secured::Verifying;
use deltasoap_core::decode::{Cursor, Step};
use deltasoap_core::schema::NamePart;
use deltasoap_core::soap::{Head, Receiver, Version};
use deltasoap_core::{ErrorKind, QName, ns};
use std::collections::HashMap;
use std::sync::Arc;

/// The operations of a service.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Operations by body element: first by local name, so that a lookup needs no owned name.
    named: HashMap<NamePart, Vec<Arc<Operation>>>,
    /// Operations that take an empty body.
    empty: Vec<Arc<Operation>>,
    /// The operation for all other elements.
    fallback: Option<Arc<Operation>>,
    /// Operations by action, for actions that determine a weight.
    weighing: HashMap<String, Vec<Arc<Operation>>>,
}

impl Table {
    /// Adds an operation.
    ///
    /// # Errors
    /// Returns the name, if an operation with that name and action exists already.
    pub(crate) fn insert(&mut self, operation: Operation) -> Result<(), QName> {
        let name = operation.name().clone();
        let is_alike = |other: &Arc<Operation>| other.described_action() == operation.described_action();
        if operation.takes_nothing() {
            if self.empty.iter().any(is_alike) {
                return Err(name);
            }
            self.empty.push(Arc::new(operation));
            return Ok(());
        }
        let same_local = self.named.entry(name.local.clone()).or_default();
        if same_local.iter().any(|other| *other.name() == name && is_alike(other)) {
            return Err(name);
        }
        same_local.push(Arc::new(operation));
        Ok(())
    }

    pub(crate) fn set_fallback(&mut self, operation: Operation) {
        self.fallback = Some(Arc::new(operation));
    }

    /// Returns the operation that takes a body element; if there are several, the one with the
    /// action.
    ///
    /// # Errors
    /// When there is none, or there are several and the action selects none of them.
    fn find(&self, namespace: &str, local: &str, action: Option<&str>) -> Result<&Arc<Operation>, ErrorKind> {
        let same_local = self.named.get(local).map_or(&[][..], Vec::as_slice);
        let mut named = same_local.iter().filter(|operation| operation.name().namespace == namespace);
        match (named.next(), named.next()) {
            (Some(only), None) => return Ok(only),
            (None, _) => {
                let unknown = || ErrorKind::UnknownOperation(QName::owned(namespace, local).to_string());
                return self.fallback.as_ref().ok_or_else(unknown);
            }
            _ => {}
        }
        let named = || same_local.iter().filter(|operation| operation.name().namespace == namespace);
        let action = action.unwrap_or_default();
        named().find(|operation| operation.described_action() == action || operation.has_action(action)).ok_or_else(
            || {
                let actions: Vec<_> = named().map(|operation| format!("{:?}", operation.described_action())).collect();
                let expected = format!(
                    "the action of one of the operations that have the body element <{}>: {}",
                    QName::owned(namespace, local),
                    actions.join(", ")
                );
                ErrorKind::UnexpectedValue { found: action.to_owned(), expected }
            },
        )
    }

    /// Finds the actions that determine what a request weighs: those whose operations all have a
    /// weight, or may get one later.
    pub(crate) fn weigh(&mut self, learns: bool) {
        let mut weighing: HashMap<String, Vec<Arc<Operation>>> = HashMap::new();
        let all = self.named.values().flatten().chain(&self.empty);
        for operation in all.filter(|operation| !operation.described_action().is_empty()) {
            weighing.entry(operation.described_action().to_owned()).or_default().push(Arc::clone(operation));
        }
        weighing.retain(|_, operations| learns || operations.iter().all(|operation| operation.weighs() > 0));
        self.weighing = weighing;
    }

    /// Returns the minimum weight of a request, given its action and the weights of operations.
    pub(crate) fn weight_of(&self, action: impl FnOnce() -> Option<String>, weight: impl Fn(&Operation) -> u64) -> u64 {
        if self.weighing.is_empty() {
            return 0;
        }
        let operations = action().and_then(|it| self.weighing.get(&it));
        operations.into_iter().flatten().map(|operation| weight(operation)).min().unwrap_or(0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Operation> {
        self.named.values().flatten().chain(&self.empty).map(|operation| &**operation)
    }

    /// Returns the first operation that takes items while they arrive.
    pub(crate) fn first_with_items(&self) -> Option<&Operation> {
        self.iter().chain(self.fallback.as_deref()).find(|operation| operation.takes_items())
    }

    /// Returns true if the action is needed to distinguish operations: those that take an empty
    /// body, or the same element.
    pub(crate) fn needs_action(&self) -> bool {
        let is_twice = |same_local: &Vec<Arc<Operation>>| {
            same_local.iter().enumerate().any(|(at, it)| same_local[..at].iter().any(|other| other.name() == it.name()))
        };
        !self.empty.is_empty() || self.named.values().any(is_twice)
    }

    /// Returns the operation that takes an empty body: the one with the action, or the only one.
    fn without_body(&self, action: Option<&str>) -> Option<&Arc<Operation>> {
        let action_or_none = action.unwrap_or_default();
        let is_of_action =
            |it: &&Arc<Operation>| it.described_action() == action_or_none || it.has_action(action_or_none);
        let of_action = self.empty.iter().find(is_of_action);
        of_action.or(match &self.empty[..] {
            [only] if action.is_none_or(str::is_empty) => Some(only),
            _ => None,
        })
    }
}

/// Receives one request: finds its operation, which then decodes it.
pub(crate) struct Dispatch {
    service: Arc<Inner>,
    /// Source of the memory to compare the message with, once the operation is known.
    source: Option<MemorySource>,
    operation: Option<Arc<Operation>>,
    /// The action of the HTTP request, if the operations need it.
    action: Option<String>,
    notes: Arc<Notes>,
    version: Version,
    /// The operation's call, once the body's element is being read.
    call: Option<Box<dyn Call>>,
    /// Mandatory header blocks addressed to us that nothing understands; non-empty only after an
    /// error.
    pub(crate) not_understood: Vec<QName>,
    /// True if the body's element is in SOAP 1.2 and its `encodingStyle` is not checked yet.
    is_style_open: bool,
    /// True after an error for an unknown `encodingStyle`.
    pub(crate) is_encoding_unknown: bool,
    /// Checks the security of the message, and knows its sender once the body begins.
    pub(super) verifying: Option<Box<dyn Verifying>>,
}

/// An operation and its call.
pub(crate) struct Chosen {
    pub(crate) operation: Arc<Operation>,
    pub(crate) call: Box<dyn Call>,
}

impl Dispatch {
    /// Creates a dispatch for a message of an HTTP request.
    pub(crate) fn new(service: Arc<Inner>, RequestInfo { source, action, notes }: RequestInfo) -> Self {
        let verifying = service.verify.as_ref().map(|verify| verify.begin(service.options.limits));
        Dispatch {
            service,
            source,
            verifying,
            operation: None,
            action,
            notes,
            version: Version::default(),
            call: None,
            not_understood: Vec::new(),
            is_style_open: false,
            is_encoding_unknown: false,
        }
    }

    /// Returns the call, once the message was read in full.
    pub(crate) fn into_chosen(self) -> Option<Chosen> {
        Some(Chosen { operation: self.operation?, call: self.call? })
    }

    pub(super) fn service(&self) -> &Inner {
        &self.service
    }

    pub(super) fn notes(&self) -> &Notes {
        &self.notes
    }

    pub(super) fn operation(&self) -> Option<&Arc<Operation>> {
        self.operation.as_ref()
    }

    /// Returns true once the body's element is being read.
    pub(super) fn has_begun(&self) -> bool {
        self.call.is_some()
    }

    /// Returns the call, once the body's element is being read.
    pub(super) fn call(&mut self) -> Option<&mut Box<dyn Call>> {
        self.call.as_mut()
    }

    /// See [`Call::starter`].
    pub(super) fn starter(&self) -> Option<Starter> {
        self.call.as_ref()?.starter()
    }

    /// Returns the action of the request: HTTP's, or that of WS-Addressing if HTTP has none.
    fn action(&self, head: &Head) -> Option<String> {
        let action = self.action.clone().filter(|action| !action.is_empty());
        action.or_else(|| action_in(head)).or_else(|| self.action.clone())
    }

    /// Takes the source of the memory: that of the sender, if the message proves who it is.
    fn memory_source(&mut self) -> Option<MemorySource> {
        let source = self.source.take()?;
        Some(match self.verifying.as_ref().and_then(|verifying| verifying.sender()) {
            Some(sender) => source.of_sender(sender),
            None => source,
        })
    }

    /// Starts the call, before the body element's content.
    fn start(&mut self, cursor: &Cursor<'_>) -> Box<dyn Call> {
        let source = self.memory_source();
        let Some(operation) = &self.operation else { unreachable!("a body that was not opened") };
        let reader = cursor.reader();
        let name = reader.depth().checked_sub(1).map_or("", |level| reader.open_name(level));
        operation.start(source, self.version, name)
    }

    /// Refuses mandatory headers that are not understood, before all other processing (SOAP 1.2
    /// part 1, 2.6). If no operation is known, blocks that any of them understands are accepted.
    fn check_headers(&mut self, head: &Head, operation: Option<&Operation>) -> Result<(), ErrorKind> {
        let version = head.version();
        let is_understood = |name: &QName| {
            self.service.understood.contains(name)
                || self.service.addressing.understands(name)
                || match operation {
                    Some(operation) => operation.has_understanding_of(name),
                    None => self.service.operations.iter().any(|any| any.has_understanding_of(name)),
                }
        };
        let mut missing = Vec::new();
        for block in head.headers.iter().filter(|block| block.is_for(version, &self.service.roles)) {
            if block.mandatory(version)? && !is_understood(&block.node.name) {
                missing.push(block.node.name.clone());
            }
        }
        self.not_understood = missing;
        match self.not_understood.first() {
            None => Ok(()),
            Some(first) => Err(ErrorKind::MustUnderstand(first.to_string())),
        }
    }
}

/// The `encodingStyle` of content that makes no claims (SOAP 1.2 part 1, 5.1.1).
const NO_ENCODING: &str = "http://www.w3.org/2003/05/soap-envelope/encoding/none";

impl Dispatch {
    /// Refuses a body in an unknown encoding (SOAP 1.2 part 1, 5.4.6). The SOAP 1.2 encoding,
    /// "none", and a missing attribute are accepted. In SOAP 1.1 the attribute may appear anywhere
    /// and be a list, and there is no fault code for it, so it is not checked there.
    fn check_encoding(&mut self, cursor: &Cursor<'_>) -> Step {
        let (reader, names) = (cursor.reader(), cursor.names());
        let attributes = (0..reader.attribute_count()).map(|index| reader.attribute(index));
        let mut styles = attributes.filter(|(name, _)| names.is(*name, ns::SOAP12, "encodingStyle"));
        let Some((_, style)) = styles.next() else { return Ok(()) };
        if ["", NO_ENCODING, ns::SOAP12_ENCODING].contains(&style.trim()) {
            return Ok(());
        }
        self.is_encoding_unknown = true;
        let expected = format!("the encodingStyle {} or none", ns::SOAP12_ENCODING);
        Err(cursor.error_at_tag(ErrorKind::UnexpectedValue { found: style.to_owned(), expected }))
    }
}

impl Receiver for Dispatch {
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        let operation = self.service.operations.find(namespace, local, self.action(head).as_deref()).cloned();
        self.check_headers(head, operation.as_deref().ok())?;
        let operation = operation?;
        self.version = head.version();
        self.notes.operation(operation.record(), self.version);
        self.operation = Some(operation);
        self.is_style_open = self.version == Version::Soap12;
        Ok(())
    }

    /// Selects the operation by the action alone. Headers are checked first even if there is none.
    fn empty_body(&mut self, head: &Head) -> Result<(), ErrorKind> {
        let operation = self.service.operations.without_body(self.action(head).as_deref()).cloned();
        self.check_headers(head, operation.as_deref())?;
        let operation = operation.ok_or(ErrorKind::Envelope("the Body is empty"))?;
        self.version = head.version();
        self.notes.operation(operation.record(), self.version);
        self.call = Some(operation.start(self.memory_source(), self.version, ""));
        self.operation = Some(operation);
        Ok(())
    }

    fn takes_several(&self) -> bool {
        self.operation.as_deref().is_some_and(Operation::takes_several)
    }

    fn open_another(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        match &mut self.call {
            Some(call) => call.open_another(namespace, local),
            None => unreachable!("the first element was read"),
        }
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        if std::mem::take(&mut self.is_style_open) {
            self.check_encoding(cursor)?;
        }
        // Not kept in `self` meanwhile: a panic drops it, with the value that it interrupts.
        let mut call = self.call.take().unwrap_or_else(|| self.start(cursor));
        let step = call.decode(cursor);
        self.call = Some(call);
        step
    }

    fn close_body(&mut self) -> Result<(), ErrorKind> {
        self.call.as_ref().map_or(Ok(()), |call| call.close())
    }
}
