//! SOAP-encoded content: bodies, header blocks, details of faults.
//!
//! The order of accessors has no meaning, and values may be elsewhere, so only the engine decides
//! what is allowed where. It does not check the facets of simple types and undeclared attributes.
//! Those are checked here, at every element whose type is known: from the accessor that contains it
//! or refers to it, or from its own `xsi:type` if that is more specific.

use super::item::Item;
use super::{Checker, parts_of, shortened};
use crate::Operation;
use deltasoap_core::decode::{Cursor, Decoder, Step, skip_element};
use deltasoap_core::schema::{ElementRef, Field, Style, Use};
use deltasoap_core::soap::{EnvelopeReader, Fault, Head, Receiver};
use deltasoap_core::{Content, DecodeOptions, ErrorKind, Node, QName, Typed, ns};
use deltasoap_wsdl::NormalizedContent;
use deltasoap_wsdl::lower::Method;
use deltasoap_wsdl::wsdl::PartContent;
use deltasoap_wsdl::xsd::{ElementId, Particle, Term, TypeDefinition, TypeId};
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Values computed once for a message, when first needed.
#[derive(Default)]
pub(super) struct Cache<'c> {
    /// The possible targets of references.
    targets: OnceCell<HashMap<&'c str, &'c Item>>,
    /// The header blocks, and the details of a fault, as trees.
    skimmed: OnceCell<Skimmed>,
    /// The types of the elements of a content model, by its address.
    fields: RefCell<HashMap<usize, Rc<HashMap<&'c str, TypeId>>>>,
}

/// A referenced value that is still to be checked.
pub(super) struct Pending<'c> {
    target: &'c Item,
    kind: KnownType,
}

/// The known type of an element's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum KnownType {
    /// A value of a type.
    Of(TypeId),
    /// An array of items of a type; with several pairs of brackets, the items are arrays
    /// themselves.
    Items(TypeId, usize),
}

impl<'c> Checker<'c> {
    /// Validates the body of an encoded message.
    pub(super) fn encoded_body(&mut self, operation: &Operation, entry: &Item, is_request: bool) {
        let parts = parts_of(operation, is_request);
        let schemas = self.types.import.schemas();
        let of = |name: &QName| {
            parts.iter().find_map(|part| match &part.content {
                PartContent::Type(id) if *part.name == *name.local => Some(*id),
                PartContent::Element(element, Some(id)) if element == name => Some(schemas[*id].type_id),
                _ => None,
            })
        };
        match operation.bound().style {
            Style::Document => self.encoded(entry, KnownType::Of(of(&entry.name).unwrap_or(TypeId::ANY))),
            Style::Rpc => {
                self.attributes(entry, None, is_of_encoding);
                for child in &entry.children {
                    let id = of(&child.name).unwrap_or(TypeId::ANY);
                    self.within(child, |this| this.encoded(child, KnownType::Of(id)));
                }
            }
        }
        self.follow();
    }

    /// Validates values next to the operation that no reference reaches, if they name their types.
    pub(super) fn encoded_apart(&mut self, body: &Item, entry: &Item) {
        let reached: HashSet<u64> = self.walked.iter().map(|(offset, _)| *offset).collect();
        let is_apart = |it: &&Item| it.offset != entry.offset && it.attribute("", "id").is_some();
        for item in body.children.iter().filter(is_apart).filter(|it| !reached.contains(&it.offset)) {
            self.within(item, |this| this.encoded(item, KnownType::Of(TypeId::ANY)));
        }
        self.follow();
    }

    /// Validates an array of SOAP encoding in a literal message: by its schema it is empty, but all
    /// toolkits write its items.
    pub(super) fn array(&mut self, item: &Item, id: TypeId) {
        self.encoded(item, KnownType::Of(id));
        self.follow();
    }

    /// Returns true for arrays of SOAP encoding.
    pub(super) fn is_array(&self, id: TypeId) -> bool {
        self.types.import.schemas().content(id).is_some_and(|normal| normal.array.is_some())
    }

    /// Validates a header block if a binding has it in SOAP encoding, and returns true if so.
    /// `index` is its position in the header.
    pub(super) fn encoded_block(&mut self, block: &Item, index: usize) -> bool {
        let of_both = |method: &'c Method| method.request_headers.iter().chain(&method.response_headers);
        self.encoded_entry(block, of_both, |skimmed| skimmed.headers.get(index))
    }

    /// Like [`encoded_block`](Self::encoded_block), for an entry of a fault's detail.
    pub(super) fn encoded_detail(&mut self, entry: &Item, index: usize) -> bool {
        self.encoded_entry(
            entry,
            |method: &'c Method| method.element.faults.iter(),
            |skimmed| skimmed.detail.get(index),
        )
    }

    fn encoded_entry<I: Iterator<Item = &'c Field>>(
        &mut self,
        item: &Item,
        fields: impl Fn(&'c Method) -> I,
        tree: impl Fn(&Skimmed) -> Option<&Node>,
    ) -> bool {
        let lowered = &self.types.lowered;
        let methods = lowered.operations.iter().filter_map(|it| it.method.as_ref().ok());
        let fields = methods.flat_map(fields).filter(|field| field.name == item.name);
        let mut origins: Vec<_> = fields.filter_map(|it| Some((it.element, lowered.origin(it.element)?))).collect();
        if origins.is_empty() || origins.iter().any(|(_, origin)| origin.encoding == Use::Literal) {
            return false;
        }
        // Operations may have blocks of the same name and of different types.
        let mut seen = HashSet::new();
        origins.retain(|(_, origin)| seen.insert(origin.type_id));
        self.nearest(&origins, |this, (content, origin)| {
            this.encoded(item, KnownType::Of(origin.type_id));
            this.follow();
            if this.findings.is_empty() && !refers_anywhere(item) {
                this.engine_on(item, *content, &tree);
            }
        });
        true
    }

    /// Runs the engine on a tree in the header or the detail.
    fn engine_on(&mut self, item: &Item, content: ElementRef, tree: &dyn Fn(&Skimmed) -> Option<&Node>) {
        let cache = Rc::clone(&self.cache);
        let skimmed = cache.skimmed.get_or_init(|| Skimmed::of(self.message));
        if let Some(Err(error)) = tree(skimmed).map(|node| self.types.read_node(node, content)) {
            self.report(item, error.kind().to_string());
        }
    }

    /// Checks the referenced values, which may refer to others.
    fn follow(&mut self) {
        while let Some(Pending { target, kind }) = self.pending.pop() {
            let path = self.root.map(|root| root.path_to(target)).unwrap_or_default();
            let outer = std::mem::replace(&mut self.path, path);
            self.encoded(target, kind);
            self.path = outer;
        }
    }

    fn encoded(&mut self, item: &Item, kind: KnownType) {
        let is_nil = item.attribute(ns::XSI, "nil").is_some_and(|text| matches!(text.trim_ascii(), "true" | "1"));
        if let Some(id) = reference(item) {
            return self.refer(id, kind);
        }
        if is_nil {
            return;
        }
        let id = match kind {
            KnownType::Of(declared) => self.encoded_type(item, declared),
            KnownType::Items(item_type, brackets) => {
                let (item_type, brackets) =
                    self.items_of(item, Some((item_type, brackets))).unwrap_or((item_type, brackets));
                return self.encoded_items(item, item_type, brackets);
            }
        };
        let schemas = self.types.import.schemas();
        let normal = schemas.content(id);
        if id != TypeId::ANY {
            self.attributes(item, normal, is_of_encoding);
        }
        let array = normal.and_then(|normal| normal.array.as_ref());
        let known = array.map(|array| (array.item, brackets_in(&array.dimensions)));
        if let Some((item_type, brackets)) = self.items_of(item, known) {
            return self.encoded_items(item, item_type, brackets);
        }
        match (&schemas[id].definition, normal.map(|normal| &normal.content)) {
            (TypeDefinition::Simple(_), _) => self.encoded_text(item, id),
            (_, Some(NormalizedContent::Text(id))) => self.encoded_text(item, *id),
            (_, Some(NormalizedContent::Elements(particle))) if id != TypeId::ANY => {
                self.encoded_fields(item, particle);
            }
            _ => self.encoded_items(item, TypeId::ANY, 1),
        }
    }

    /// Follows a reference: its target has the accessor's type.
    fn refer(&mut self, id: &str, kind: KnownType) {
        let cache = Rc::clone(&self.cache);
        let targets = cache.targets.get_or_init(|| self.root.map(targets).unwrap_or_default());
        if let Some(&target) = targets.get(id).filter(|target| self.walked.insert((target.offset, kind))) {
            self.pending.push(Pending { target, kind });
        }
    }

    /// Returns the type that an element names, if it is more specific than the declared one. The
    /// encoding's own elements name a type too (`<enc:int>`).
    fn encoded_type(&mut self, item: &Item, declared: TypeId) -> TypeId {
        let named = match item.attribute(ns::XSI, "type") {
            Some(text) => self.more_specific(item, "xsi:type", text, declared),
            None => {
                let is_one = is_encoding(&item.name.namespace);
                self.known(&item.name).filter(|&id| is_one && self.types.can_be(id, declared))
            }
        };
        let id = named.unwrap_or(declared);
        // A type with an unknown name may be derived from an abstract type.
        if named.is_some() || item.attribute(ns::XSI, "type").is_none() {
            self.report_abstract(item, id);
        }
        id
    }

    /// Returns the type that an attribute names, if it is derived from the declared one. A base of
    /// the declared type is accepted too, since many senders name the base of a derived simple
    /// type. Any other type is reported.
    fn more_specific(&mut self, item: &Item, attribute: &str, text: &str, declared: TypeId) -> Option<TypeId> {
        let types = self.types;
        let Some(name) = item.resolve(text) else {
            self.report(item, format!("{attribute} {:?} has a prefix that is not declared", shortened(text)));
            return None;
        };
        match self.known(&name) {
            _ if is_generic(&name) => {}
            Some(id) if types.can_be(id, declared) => return Some(id),
            Some(id) if types.can_be(declared, id) || self.are_alike(id, declared) => {}
            Some(_) => {
                let declared = types.label(declared).unwrap_or_else(|| "a type without a name".into());
                self.report(item, format!("{attribute} {} is not derived from {declared}", types.label_of(&name)));
            }
            None if name.namespace == ns::XSD => {
                self.report(item, format!("{attribute} names {name}, which XML Schema does not define"));
            }
            // Toolkits choose names of structs and arrays that the WSDL does not define.
            None => {}
        }
        None
    }

    /// Returns true for two arrays of arrays of the same items, or one and its items: an array of
    /// arrays may be named in either way.
    fn are_alike(&self, one: TypeId, other: TypeId) -> bool {
        let [one, other] = [one, other].map(|id| self.innermost(id));
        self.types.can_be(one, other) || self.types.can_be(other, one)
    }

    /// Returns the innermost items of an array of arrays; the type itself if it is not an array.
    fn innermost(&self, mut id: TypeId) -> TypeId {
        let mut seen = HashSet::new();
        while seen.insert(id)
            && let Some(array) = self.types.import.schemas().content(id).and_then(|normal| normal.array.as_ref())
        {
            id = array.item;
        }
        id
    }

    /// Returns the type with a name, which may also be one of the encoding's (`enc:int`).
    fn known(&self, name: &QName) -> Option<TypeId> {
        let is_one = is_encoding(&name.namespace);
        let builtin = is_one.then(|| QName::owned(ns::XSD, &*name.local)).and_then(|name| self.types.named(&name));
        builtin.or_else(|| self.types.named(name))
    }

    fn encoded_text(&mut self, item: &Item, id: TypeId) {
        if item.children.is_empty() {
            // Ids belong to the encoding, and an `xsd:IDREF` is an ordinary value here.
            self.takes_ids = false;
            self.simple(item, id, None, false);
            self.takes_ids = true;
        }
    }

    /// Returns the type of an array's items, and the number of pairs of brackets that follow it:
    /// from the element itself if that is more specific than the declared type.
    fn items_of(&mut self, item: &Item, known: Option<(TypeId, usize)>) -> Option<(TypeId, usize)> {
        let Some((attribute, text)) = array_type(item) else { return known };
        let name = text.split('[').next().unwrap_or_default();
        let declared = known.map_or(TypeId::ANY, |(id, _)| id);
        let named = self.more_specific(item, attribute, name, declared).map(|id| (id, brackets_in(text)));
        named.or(known).or(Some((TypeId::ANY, 1)))
    }

    fn encoded_items(&mut self, item: &Item, item_type: TypeId, brackets: usize) {
        if let Some(sizes) = array_sizes(item) {
            self.places(item, &sizes);
        }
        let kind = if brackets > 1 { KnownType::Items(item_type, brackets - 1) } else { KnownType::Of(item_type) };
        for child in &item.children {
            self.within(child, |this| this.encoded(child, kind));
        }
    }

    /// Checks that an array's items are within its declared sizes (SOAP 1.1, 5.4.2). Items may be
    /// omitted.
    fn places(&mut self, item: &Item, sizes: &[usize]) {
        let size = product(sizes);
        let of = |item: &Item, attribute| item.attribute(ns::SOAP11_ENCODING, attribute).and_then(place);
        let skipped = of(item, "offset").and_then(|offset| index_of(&offset, sizes)).unwrap_or(0);
        let (mut next, mut has_positions) = (skipped, false);
        for child in &item.children {
            let position = of(child, "position");
            has_positions |= position.is_some();
            let at = match &position {
                Some(place) => index_of(place, sizes).unwrap_or(usize::MAX),
                None => next,
            };
            next = at.saturating_add(1);
            if at >= size && has_positions {
                let sizes = sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
                let which = position.map_or("the item".to_owned(), |place| format!("position {place:?}"));
                let message = format!("{which} is outside an array of size [{sizes}]");
                return self.within(child, |this| this.report(child, message));
            }
        }
        let items = item.children.len();
        if !has_positions && size.saturating_sub(skipped) < items {
            let after = if skipped > 0 { format!(" after the {skipped} that it omits") } else { String::new() };
            self.report(item, format!("the array has {items} items{after}, but declares {size}"));
        }
    }

    fn encoded_fields(&mut self, item: &Item, particle: &'c Particle) {
        if item.children.is_empty() {
            return;
        }
        let schemas = self.types.import.schemas();
        let fields = || elements(particle).into_iter().map(|id| (&*schemas[id].name.local, schemas[id].type_id));
        let cache = Rc::clone(&self.cache);
        let key = std::ptr::from_ref(particle).addr();
        let fields = Rc::clone(cache.fields.borrow_mut().entry(key).or_insert_with(|| Rc::new(fields().collect())));
        for child in &item.children {
            let id = fields.get(&*child.name.local).copied().unwrap_or(TypeId::ANY);
            self.within(child, |this| this.encoded(child, KnownType::Of(id)));
        }
    }
}

fn is_encoding(namespace: &str) -> bool {
    [ns::SOAP11_ENCODING, ns::SOAP12_ENCODING].contains(&namespace)
}

/// Returns true for attributes of SOAP encoding and of other namespaces, which the schema does not
/// declare.
fn is_of_encoding(name: &QName) -> bool {
    !name.namespace.is_empty() || matches!(&*name.local, "id" | "href")
}

/// Returns the id that an element refers to (SOAP 1.1, 5.4.1; SOAP 1.2 part 2, 3.1.5).
fn reference(item: &Item) -> Option<&str> {
    let href = item.attribute("", "href").and_then(|text| text.trim_ascii().strip_prefix('#'));
    href.or_else(|| item.attribute(ns::SOAP12_ENCODING, "ref").map(str::trim_ascii))
}

fn refers_anywhere(item: &Item) -> bool {
    reference(item).is_some() || item.children.iter().any(refers_anywhere)
}

/// Returns true for the names that any struct and any array may have.
pub(super) fn is_generic(name: &QName) -> bool {
    is_encoding(&name.namespace) && matches!(&*name.local, "Struct" | "Array")
}

/// Returns the item type that an array declares, and the attribute that declares it.
fn array_type(item: &Item) -> Option<(&'static str, &str)> {
    let of = |namespace, attribute| Some((attribute, item.attribute(namespace, attribute)?));
    of(ns::SOAP11_ENCODING, "arrayType").or_else(|| of(ns::SOAP12_ENCODING, "itemType"))
}

/// Parses a place in an array: `[2,3]`.
fn place(text: &str) -> Option<Vec<usize>> {
    let places = text.trim_ascii().strip_prefix('[')?.strip_suffix(']')?;
    places.split(',').map(|place| place.trim_ascii().parse().ok()).collect()
}

/// Returns the number of items of an array of these sizes.
fn product(sizes: &[usize]) -> usize {
    sizes.iter().fold(1, |product: usize, size| product.saturating_mul(*size))
}

/// Returns the number of items before a place; `None` if it is outside the array, or has another
/// number of dimensions.
fn index_of(place: &[usize], sizes: &[usize]) -> Option<usize> {
    let is_inside = place.len() == sizes.len() && place.iter().zip(sizes).all(|(at, size)| at < size);
    let before = || place.iter().enumerate().map(|(index, at)| at.saturating_mul(product(&sizes[index + 1..])));
    is_inside.then(|| before().fold(0, usize::saturating_add))
}

/// Returns the number of items in each dimension that an array declares; `None` if it declares
/// none.
fn array_sizes(item: &Item) -> Option<Vec<usize>> {
    let sizes: Vec<&str> = match item.attribute(ns::SOAP11_ENCODING, "arrayType") {
        Some(text) => text.trim_ascii().rsplit_once('[')?.1.strip_suffix(']')?.split(',').collect(),
        None => item.attribute(ns::SOAP12_ENCODING, "arraySize")?.split_ascii_whitespace().collect(),
    };
    sizes.into_iter().map(|size| size.trim_ascii().parse().ok()).collect()
}

/// Returns the number of pairs of brackets in an `arrayType`, at least one.
fn brackets_in(text: &str) -> usize {
    text.matches('[').count().max(1)
}

/// Returns all elements that have an id.
fn targets(root: &Item) -> HashMap<&str, &Item> {
    let (mut found, mut ahead) = (HashMap::new(), vec![root]);
    while let Some(item) = ahead.pop() {
        ahead.extend(&item.children);
        if let Some(id) = item.attribute("", "id").or(item.attribute(ns::SOAP12_ENCODING, "id")) {
            found.insert(id.trim_ascii(), item);
        }
    }
    found
}

/// Returns the elements of a content model.
fn elements(particle: &Particle) -> Vec<ElementId> {
    match &particle.term {
        Term::Element(id) => vec![*id],
        Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => parts.iter().flat_map(elements).collect(),
        Term::Group(_) | Term::Any(_) => Vec::new(),
    }
}

/// The trees of a message.
#[derive(Debug, Default)]
struct Skimmed {
    headers: Vec<Node>,
    detail: Vec<Node>,
}

impl Skimmed {
    /// Reads the trees of a message; none if it cannot be read.
    fn of(message: &[u8]) -> Self {
        let mut reader = EnvelopeReader::new(Skimmer::default());
        if Decoder::new(DecodeOptions::default()).decode(&mut reader, message).is_err() {
            return Skimmed::default();
        }
        let (head, Skimmer(fault)) = reader.into_parts();
        let detail = fault.and_then(|fault| Fault::from_node(&fault).ok()).map(|fault| fault.into_fields().detail);
        let headers = head.headers.into_iter().map(|block| block.node).collect();
        Skimmed { headers, detail: detail.unwrap_or_default() }
    }
}

/// Accepts a fault, and skips everything else.
#[derive(Debug, Default)]
struct Skimmer(Option<Node>);

impl Receiver for Skimmer {
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        self.0 = (namespace == head.version().namespace() && local == "Fault").then(Node::default);
        Ok(())
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        match &mut self.0 {
            Some(node) => node.decode(cursor, Node::view()),
            None => skip_element(cursor),
        }
    }
}
