//! Stage one: loads the documents and what they import, each once.
//!
//! The documents that a document names are loaded in the order in which it names them, without
//! recursion, so chains and cycles of imports need only a table of known documents. A schema is a
//! *unit*: a `schema` element, which may be inside a WSDL, and the namespace that it is read for. A
//! schema without a target namespace becomes one unit for each namespace that includes it (XSD 1.0
//! part 1, 4.2.1).

use crate::document::{self, Document, DocumentError, Node, Place, Vocabulary};
use crate::fetch::{FetchError, Fetched, Location, Referrer, Store};
use crate::{Error, ErrorKind, Limits, NoteKind, Position, builtin};
use deltasoap_xml::{Names, NsId};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use url::Url;

/// All documents of an import, with the units in them.
pub(crate) struct Sources {
    pub(crate) documents: Vec<Document>,
    pub(crate) names: Names,
    /// The documents that are WSDLs, in the order in which they were named.
    pub(crate) descriptions: Vec<u32>,
    pub(crate) units: Vec<Unit>,
    /// The `redefine` elements whose schema was loaded, each with the unit that contains it.
    pub(crate) redefinitions: Vec<Redefinition>,
    /// Imports whose document is unavailable: the namespace and the reason.
    pub(crate) failures: HashMap<String, String>,
    pub(crate) notes: Vec<(NoteKind, String, Place)>,
    pub(crate) limits: Limits,
    /// True if undefined references are errors.
    pub(crate) is_strict: bool,
}

/// A `schema` element, read for a namespace.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) document: u32,
    pub(crate) element: u32,
    /// The target namespace; empty for none.
    pub(crate) namespace: String,
    /// True if the namespace is that of an including schema. References without a namespace then
    /// refer to this namespace.
    pub(crate) is_chameleon: bool,
}

/// A `redefine` element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Redefinition {
    pub(crate) unit: u32,
    pub(crate) element: u32,
}

impl Sources {
    /// Returns an element of a document.
    pub(crate) fn node(&self, document: u32, index: u32) -> Node<'_> {
        Node::new(&self.documents[document as usize], &self.names, document, index)
    }

    /// Returns a document's root element.
    pub(crate) fn root(&self, document: u32) -> Node<'_> {
        self.node(document, 0)
    }

    pub(crate) fn position(&self, place: Place) -> Position {
        self.documents[place.document as usize].position(place.offset)
    }

    /// Creates an error at a place.
    pub(crate) fn error(&self, kind: ErrorKind, place: Place) -> Error {
        Error::new(kind, Some(self.position(place)))
    }

    pub(crate) fn invalid(&self, what: impl Into<String>, place: Place) -> Error {
        self.error(ErrorKind::Invalid(what.into()), place)
    }

    pub(crate) fn not_supported(&self, what: impl Into<String>, place: Place) -> Error {
        self.error(ErrorKind::NotSupported(what.into()), place)
    }

    pub(crate) fn note(&mut self, kind: NoteKind, text: impl Into<String>, place: Place) {
        self.notes.push((kind, text.into(), place));
    }
}

/// Reads a document that the caller names.
pub(crate) fn read(store: &mut Store<'_>, location: &Location) -> Result<Fetched, Error> {
    let whole = || Position { document: location.to_string(), line: 0, column: 0 };
    store.read(location, None).map_err(|error| Error::new(fetch_kind(error), Some(whole())))
}

/// Loads documents and everything that they name.
pub(crate) struct Loader<'s, 'f> {
    sources: Sources,
    store: &'s mut Store<'f>,
    known: HashMap<Location, u32>,
    /// Known units: document, element and namespace.
    known_units: HashSet<(u32, u32, String)>,
    /// Namespaces with built-in definitions that some schema imports.
    builtin: HashSet<String>,
    /// WSDLs whose imports are not followed yet.
    pending_descriptions: Vec<u32>,
    pending_units: Vec<u32>,
    /// Number of elements so far: see [`Limits::components`].
    elements: usize,
}

/// A reference from one document to another.
#[derive(Debug, Clone)]
struct Reference {
    /// Empty if the document only names a namespace.
    location: String,
    /// The namespace that a schema imports.
    namespace: Option<String>,
    place: Place,
}

impl<'s, 'f> Loader<'s, 'f> {
    pub(crate) fn new(store: &'s mut Store<'f>) -> Self {
        let sources = Sources {
            documents: Vec::new(),
            names: Names::default(),
            descriptions: Vec::new(),
            units: Vec::new(),
            redefinitions: Vec::new(),
            failures: HashMap::new(),
            notes: Vec::new(),
            limits: store.limits,
            is_strict: false,
        };
        Loader {
            sources,
            store,
            known: HashMap::new(),
            known_units: HashSet::new(),
            builtin: HashSet::new(),
            pending_descriptions: Vec::new(),
            pending_units: Vec::new(),
            elements: 0,
        }
    }

    /// Loads a document that the caller names, and everything that it imports.
    pub(crate) fn root(&mut self, location: Location) -> Result<(), Error> {
        let document = match self.known.get(&location) {
            Some(&document) => document,
            None => {
                let fetched = read(self.store, &location)?;
                self.add(location, fetched)?
            }
        };
        self.begin(document)
    }

    /// Like [`root`](Self::root), for a document that the caller provides.
    pub(crate) fn root_fetched(&mut self, location: Location, fetched: Fetched) -> Result<(), Error> {
        let document = self.add(location, fetched)?;
        self.begin(document)
    }

    /// Returns the folder that paths in compiled files are relative to.
    pub(crate) fn base(&self) -> Option<PathBuf> {
        self.store.base.clone()
    }

    /// Returns everything that was loaded, and the built-in definitions that it uses.
    pub(crate) fn finish(mut self) -> Result<Sources, Error> {
        // Built-in definitions can refer to others.
        while self.add_builtin()? {}
        Ok(self.sources)
    }

    /// Adds built-in definitions that something refers to; returns false if there are no more.
    fn add_builtin(&mut self) -> Result<bool, Error> {
        let (held, mut is_more) = (self.held_namespaces(), false);
        for (namespace, text) in builtin::DEFINITIONS {
            let is_there = self.sources.units.iter().any(|unit| unit.namespace == namespace);
            let is_held = held.contains(&self.sources.names.intern_namespace(namespace));
            if (is_held || self.builtin.contains(namespace)) && !is_there {
                let location = Location::Text(format!("built-in definitions of {namespace}"));
                self.root_fetched(location, Fetched::text(text.as_bytes().to_vec()))?;
                is_more = true;
            }
        }
        Ok(is_more)
    }

    /// Returns the namespaces of all names in attribute values.
    fn held_namespaces(&self) -> HashSet<NsId> {
        let names = self.sources.documents.iter().flat_map(Document::held_names);
        names.map(|name| self.sources.names.namespace_id(name)).collect()
    }

    fn begin(&mut self, document: u32) -> Result<(), Error> {
        self.classify(document)?;
        loop {
            if let Some(document) = self.pending_descriptions.pop() {
                self.follow_description(document)?;
            } else if let Some(unit) = self.pending_units.pop() {
                self.follow_unit(unit)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Parses a document, unless redirects led to one that is known already.
    fn add(&mut self, requested: Location, fetched: Fetched) -> Result<u32, Error> {
        let location = fetched.moved_to.map_or_else(|| requested.clone(), Location::Web);
        if let Some(&known) = self.known.get(&location) {
            self.known.insert(requested, known);
            return Ok(known);
        }
        let Sources { documents, names, limits, .. } = &mut self.sources;
        if documents.len() >= limits.documents {
            let kind = ErrorKind::Limit { name: "documents", limit: limits.documents as u64 };
            return Err(Error::new(kind, Some(Position { document: location.to_string(), line: 0, column: 0 })));
        }
        let mut document = document::read(&fetched.bytes, location.clone(), names, limits)
            .map_err(|error| fault(&error.0, error.1))?;
        document.is_private = fetched.is_private;
        let number = documents.len() as u32;
        let tolerated = std::mem::take(&mut document.tolerated).into_iter();
        let note = |(text, offset)| (NoteKind::Tolerated, text, Place { document: number, offset });
        self.sources.notes.extend(tolerated.map(note));
        self.sources.documents.push(document);
        self.known.extend([(requested, number), (location, number)]);
        self.count_elements(number)?;
        Ok(number)
    }

    /// Counts the elements of a document, once each time components are made from them.
    fn count_elements(&mut self, document: u32) -> Result<(), Error> {
        self.elements = self.elements.saturating_add(self.sources.documents[document as usize].len());
        let limit = self.sources.limits.components;
        if self.elements <= limit {
            return Ok(());
        }
        let kind = ErrorKind::Limit { name: "components", limit: limit as u64 };
        Err(self.sources.error(kind, Place { document, offset: 0 }))
    }

    /// Registers a document as a WSDL or a schema, depending on its root element.
    fn classify(&mut self, document: u32) -> Result<(), Error> {
        let root = self.sources.root(document);
        let (place, name) = (root.place(), root.name());
        if root.is(Vocabulary::Wsdl, "definitions") {
            if !self.sources.descriptions.contains(&document) {
                self.sources.descriptions.push(document);
                self.pending_descriptions.push(document);
            }
        } else if root.is_xsd("schema") {
            let namespace = root.attribute("targetNamespace").unwrap_or_default().to_owned();
            self.unit(Unit { document, element: 0, namespace, is_chameleon: false })?;
        } else {
            return Err(self.sources.error(ErrorKind::OtherDocument { root: name }, place));
        }
        Ok(())
    }

    fn unit(&mut self, unit: Unit) -> Result<(), Error> {
        if !self.known_units.insert((unit.document, unit.element, unit.namespace.clone())) {
            return Ok(());
        }
        // A few lines can require a long schema in any number of namespaces.
        if unit.is_chameleon {
            self.count_elements(unit.document)?;
        }
        self.pending_units.push(self.sources.units.len() as u32);
        self.sources.units.push(unit);
        Ok(())
    }

    fn follow_description(&mut self, document: u32) -> Result<(), Error> {
        let root = self.sources.root(document);
        let mut imports = Vec::new();
        for import in root.children_of(Vocabulary::Wsdl).filter(|child| child.local() == "import") {
            let location = import.attribute("location").map(str::to_owned);
            imports.push((location, import.place()));
        }
        let types = root.children_of(Vocabulary::Wsdl).filter(|child| child.local() == "types");
        let schemas = types.flat_map(Node::children).filter(|child| child.is_xsd("schema"));
        let units: Vec<Unit> = schemas.map(embedded).collect();
        for (location, place) in imports {
            match location {
                Some(location) => {
                    let imported = self
                        .load(&Reference { location, namespace: None, place })
                        .map_err(|error| self.refused(error, place))??;
                    self.classify(imported)?;
                }
                None => self.sources.note(NoteKind::Skipped, "an import without a location is ignored", place),
            }
        }
        units.into_iter().try_for_each(|unit| self.unit(unit))
    }

    fn follow_unit(&mut self, number: u32) -> Result<(), Error> {
        let unit = self.sources.units[number as usize].clone();
        let schema = self.sources.node(unit.document, unit.element);
        let children: Vec<(u32, &'static str)> =
            schema.children_of(Vocabulary::Xsd).filter_map(reference_kind).collect();
        for (element, kind) in children {
            match kind {
                "import" => self.follow_import(&unit, element)?,
                "include" => drop(self.follow_include(&unit, element)?),
                _ => {
                    if self.follow_include(&unit, element)? {
                        self.sources.redefinitions.push(Redefinition { unit: number, element });
                    }
                }
            }
        }
        Ok(())
    }

    /// Follows an import. The import may go on without the document: the location is a hint (XSD
    /// 1.0 part 1, 4.2.3). If something refers to a definition in it, that reference is reported.
    fn follow_import(&mut self, unit: &Unit, element: u32) -> Result<(), Error> {
        let import = self.sources.node(unit.document, element);
        let namespace = import.attribute("namespace").unwrap_or_default().to_owned();
        let location = import.attribute("schemaLocation").unwrap_or_default().to_owned();
        if builtin::has(&namespace) {
            return self.follow_builtin(namespace, location, import.place());
        }
        if location.is_empty() && self.store.catalog.find(&namespace).is_none() {
            return Ok(());
        }
        let reference = Reference { location, namespace: Some(namespace.clone()), place: import.place() };
        match self.load(&reference) {
            Ok(document) => self.import(document?, &namespace, reference.place),
            Err(error) if self.ends_import(&error, &reference) => Err(self.refused(error, reference.place)),
            Err(error) => {
                let cause = format!("{} could not be loaded: {error}", reference.location);
                self.sources.note(NoteKind::Unloaded, cause.clone(), reference.place);
                self.sources.failures.entry(namespace).or_insert(cause);
                Ok(())
            }
        }
    }

    /// Follows the import of a namespace with built-in definitions, which replace a missing
    /// document. A document of the author's own is read. A document that only an absolute URL names
    /// is not fetched, and neither is a copy of a vocabulary that the engine knows.
    fn follow_builtin(&mut self, namespace: String, location: String, place: Place) -> Result<(), Error> {
        if builtin::is_language(&namespace) {
            return Ok(());
        }
        self.builtin.insert(namespace.clone());
        let is_mapped = [location.trim(), &namespace].into_iter().any(|uri| self.store.catalog.find(uri).is_some());
        let is_own = !location.is_empty() && Url::parse(location.trim()).is_err();
        if !is_mapped && !is_own {
            return Ok(());
        }
        let reference = Reference { location, namespace: Some(namespace.clone()), place };
        match self.load(&reference) {
            Ok(Ok(document)) if self.is_schema_of(document, &namespace) => self.classify(document),
            Ok(Err(error)) if matches!(error.kind(), ErrorKind::Limit { .. }) => Err(error),
            result => {
                let why = match result {
                    Ok(Ok(_)) => "it is not a schema of this namespace".to_owned(),
                    Ok(Err(error)) => error.to_string(),
                    Err(error) => error.to_string(),
                };
                let (location, namespace) = (reference.location, reference.namespace.unwrap_or_default());
                let note = format!("the built-in definitions of {namespace} are used in place of {location}: {why}");
                self.sources.note(NoteKind::Tolerated, note, place);
                Ok(())
            }
        }
    }

    fn is_schema_of(&self, document: u32, namespace: &str) -> bool {
        let root = self.sources.root(document);
        root.is_xsd("schema") && root.attribute("targetNamespace") == Some(namespace)
    }

    /// Returns true for errors that end the import: exceeded limits and forbidden documents. A
    /// private address in one of the user's own documents does not: it usually belongs to the
    /// author's server.
    fn ends_import(&self, error: &FetchError, reference: &Reference) -> bool {
        let referrer = &self.sources.documents[reference.place.document as usize].location;
        let is_own = !matches!(referrer, Location::Web(_));
        match error {
            FetchError::Forbidden(_) => !(is_own && matches!(referrer.join(&reference.location), Ok(Location::Web(_)))),
            FetchError::TooLarge(..) => true,
            _ => false,
        }
    }

    fn import(&mut self, document: u32, namespace: &str, place: Place) -> Result<(), Error> {
        let root = self.sources.root(document);
        let found = root.attribute("targetNamespace").unwrap_or_default();
        if root.is_xsd("schema") && found != namespace {
            let note = format!("the schema imported for namespace `{namespace}` has namespace `{found}`");
            self.sources.note(NoteKind::Tolerated, note, place);
        }
        self.classify(document)
    }

    /// Follows an include or a redefinition; returns false if it names no document.
    fn follow_include(&mut self, unit: &Unit, element: u32) -> Result<bool, Error> {
        let include = self.sources.node(unit.document, element);
        let (place, is_redefined) = (include.place(), include.local() == "redefine");
        let Some(reference) = reference(include).or_else(|| misnamed_reference(include)) else {
            if is_redefined {
                return Err(self.sources.invalid("a redefinition without a `schemaLocation`", place));
            }
            self.sources.note(NoteKind::Skipped, "an include without a `schemaLocation` is ignored", place);
            return Ok(false);
        };
        if include.attribute("schemaLocation").is_none_or(str::is_empty) {
            self.sources.note(NoteKind::Tolerated, "`location` is read as `schemaLocation`", place);
        }
        let document = self.load(&reference).map_err(|error| self.refused(error, place))??;
        let root = self.sources.root(document);
        if !root.is_xsd("schema") {
            return Err(self.sources.invalid(format!("{} is not an XML schema", reference.location), place));
        }
        let found = root.attribute("targetNamespace");
        if let Some(found) = found.filter(|&found| found != unit.namespace) {
            let what = format!("a schema for namespace `{found}` is included in one for `{}`", unit.namespace);
            if is_redefined {
                return Err(self.sources.invalid(what, place));
            }
            self.sources.note(NoteKind::Tolerated, format!("{what}; it is read as if it were imported"), place);
            self.classify(document)?;
            return Ok(true);
        }
        let is_chameleon = found.is_none() && !unit.namespace.is_empty();
        self.unit(Unit { document, element: 0, namespace: unit.namespace.clone(), is_chameleon })?;
        Ok(true)
    }

    /// Loads the document that a reference names, unless it is known. The outer error means that
    /// the document is unavailable, the inner error that it is invalid.
    fn load(&mut self, reference: &Reference) -> Result<Result<u32, Error>, FetchError> {
        let referrer = &self.sources.documents[reference.place.document as usize];
        let location = self.located(reference, &referrer.location)?;
        if let Some(&document) = self.known.get(&location) {
            return Ok(Ok(document));
        }
        let by = Referrer { location: &referrer.location, is_private: referrer.is_private };
        let fetched = self.store.read(&location, Some(by))?;
        Ok(self.add(location, fetched))
    }

    /// Returns the location of the document: the catalog's if it has one, else the reference's.
    fn located(&self, reference: &Reference, base: &Location) -> Result<Location, FetchError> {
        let catalog = self.store.catalog;
        let joined = base.join(&reference.location);
        let absolute = || catalog.find(&joined.as_ref().ok()?.uri()?);
        let namespace = || catalog.find(reference.namespace.as_ref()?);
        match catalog.find(reference.location.trim()).or_else(absolute).or_else(namespace) {
            Some(found) => Ok(found),
            None => joined,
        }
    }

    fn refused(&self, error: FetchError, place: Place) -> Error {
        self.sources.error(fetch_kind(error), place)
    }
}

/// Returns the unit of a schema inside a WSDL.
fn embedded(schema: Node<'_>) -> Unit {
    let namespace = schema.attribute("targetNamespace").unwrap_or_default().to_owned();
    Unit { document: schema.number(), element: schema.index(), namespace, is_chameleon: false }
}

fn reference_kind(node: Node<'_>) -> Option<(u32, &'static str)> {
    let kind = ["import", "include", "redefine"].into_iter().find(|&kind| kind == node.local())?;
    Some((node.index(), kind))
}

fn reference(node: Node<'_>) -> Option<Reference> {
    let location = node.attribute("schemaLocation").filter(|location| !location.is_empty())?;
    Some(Reference { location: location.to_owned(), namespace: None, place: node.place() })
}

/// Returns the reference of an include that was written like a WSDL import.
fn misnamed_reference(node: Node<'_>) -> Option<Reference> {
    let location = node.attribute("location").filter(|location| !location.is_empty())?;
    Some(Reference { location: location.to_owned(), namespace: None, place: node.place() })
}

fn fetch_kind(error: FetchError) -> ErrorKind {
    match error {
        FetchError::TooLarge(name, limit) => ErrorKind::Limit { name, limit },
        error => ErrorKind::Fetch(error),
    }
}

/// Converts the error of a document that cannot be parsed.
pub(crate) fn fault(document: &Document, error: DocumentError) -> Error {
    match error {
        DocumentError::Xml { kind, offset } => Error::new(ErrorKind::Xml(kind), Some(document.position(offset))),
        DocumentError::Limit(name, limit) => Error::new(ErrorKind::Limit { name, limit }, Some(document.position(0))),
    }
}
