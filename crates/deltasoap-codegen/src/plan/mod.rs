//! Stage one: converts an import to a [`Model`].
//!
//! Starts with the operations' messages and continues with their content. Content models become
//! fields by the rules of `deltasoap_wsdl::lower`, so generated types and dynamic values accept the
//! same messages.

mod content;
mod services;
pub(crate) mod simple;

use crate::Error;
use crate::model::{Component, Derived, Docs, Item, ItemId, ItemKind, Model, Paragraph, Struct, TypeUse};
use deltasoap_core::QName;
use deltasoap_core::lexical::is_ncname;
use deltasoap_core::ns::{SOAP11_ENCODING, SOAP12_ENCODING, XML, XSD};
use deltasoap_core::schema::Use;
use deltasoap_wsdl::xsd::{ElementId, Schemas, TypeDefinition, TypeId};
use deltasoap_wsdl::{Definitions, Import, Lowered, NormalizedContent};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A part of a WSDL.
#[derive(Debug)]
pub(crate) struct Selection {
    /// Bound operations, by the indices of binding and operation.
    pub(crate) operations: HashSet<(usize, usize)>,
    pub(crate) types: Vec<TypeId>,
    pub(crate) elements: Vec<ElementId>,
}

impl Selection {
    /// Adds the types and the global elements with a name: `{namespace}Name`, or its local part.
    ///
    /// # Errors
    /// Returns an error if there are none.
    pub(crate) fn add(&mut self, schemas: &Schemas, name: &str) -> Result<(), Error> {
        let is_it = |found: &QName| *found.local == *name || found.to_string() == name;
        let types = schemas.types().filter(|(_, it)| it.place.is_some() && it.name.as_ref().is_some_and(is_it));
        let elements = schemas.elements().filter(|(_, it)| it.is_global && is_it(&it.name));
        let before = self.types.len() + self.elements.len();
        self.types.extend(types.map(|(id, _)| id));
        self.elements.extend(elements.map(|(id, _)| id));
        if self.types.len() + self.elements.len() == before { Err(Error::NoType(name.to_owned())) } else { Ok(()) }
    }
}

/// Plans the code for an import, or for a part of it.
pub(crate) fn plan(import: &Import, selected: Option<Selection>) -> Model {
    let mut planner = Planner {
        selected,
        schemas: import.schemas(),
        definitions: import.definitions(),
        model: Model::default(),
        known: HashMap::new(),
        queue: Vec::new(),
        messages: HashMap::new(),
        item_names: HashMap::new(),
        lowered: &import.lower(),
        any_types: Vec::new(),
        done: 0,
    };
    planner.services();
    if planner.selected.is_some() {
        planner.selected_components();
    } else if planner.model.services.is_empty() {
        planner.global_elements();
        planner.global_types(Use::Literal);
    }
    planner.work_off();
    // Types that are only needed for an element of any type come last.
    for encoding in [Use::Literal, Use::Encoded] {
        if planner.selected.is_none() && planner.any_types.contains(&encoding) {
            planner.global_types(encoding);
            planner.work_off();
        }
    }
    planner.model.components = planner.components();
    planner.name_items();
    planner.join_elements();
    planner.model
}

/// The schema component that an item was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// A type, literal or encoded.
    Type(TypeId, bool),
    /// A type or one derived from it.
    Derived(TypeId, bool),
    /// An element or one of its substitutes.
    Group(ElementId, bool),
    /// A global element.
    Element(ElementId, bool),
}

/// Context of an anonymous type: the name that it gets, and the namespace.
#[derive(Debug, Clone, Copy)]
struct Owner<'a> {
    name: &'a str,
    namespace: &'a str,
}

impl Owner<'_> {
    const NONE: Owner<'static> = Owner { name: "Anonymous", namespace: "" };
}

/// Items whose content is still to be planned.
#[derive(Debug, Clone, Copy)]
enum Work {
    Complex(TypeId, Use),
    Derived(TypeId, Use),
    Group(ElementId, Use),
}

struct Planner<'i> {
    selected: Option<Selection>,
    schemas: &'i Schemas,
    definitions: &'i Definitions,
    model: Model,
    known: HashMap<Key, ItemId>,
    /// Pending items in the order in which they came up, so that the output follows the WSDL.
    queue: Vec<(ItemId, Work)>,
    /// Elements without a declaration, or named by a part.
    messages: HashMap<(QName, String), ItemId>,
    /// The names of types' items in SOAP arrays.
    item_names: HashMap<ItemId, String>,
    /// The import lowered for dynamic values: gives the operations that cannot be called, and why.
    lowered: &'i Lowered,
    /// Encodings of the elements that may have any type in the WSDL.
    any_types: Vec<Use>,
    /// Number of queue entries that are done.
    done: usize,
}

impl Planner<'_> {
    fn selected_components(&mut self) {
        let Some(Selection { types, elements, .. }) = &self.selected else { return };
        let (types, elements) = (types.clone(), elements.clone());
        for id in elements {
            self.element(id, Use::Literal);
        }
        for id in types {
            self.content(id, Use::Literal, Owner::NONE);
        }
    }

    /// Adds all elements that the schemas define, if there are no operations.
    fn global_elements(&mut self) {
        for (id, element) in self.schemas.elements() {
            if element.is_global && is_user_defined(&element.name) {
                self.element(id, Use::Literal);
            }
        }
    }

    /// Adds all types that the schemas define: if there are no operations, or if an element may
    /// have any of them.
    fn global_types(&mut self, encoding: Use) {
        for (id, ty) in self.schemas.types() {
            if ty.place.is_some() && ty.name.as_ref().is_some_and(is_user_defined) {
                self.content(id, encoding, Owner::NONE);
            }
        }
    }

    fn work_off(&mut self) {
        while let Some(&(item, work)) = self.queue.get(self.done) {
            self.done += 1;
            let kind = match work {
                Work::Complex(id, encoding) => self.complex(item, id, encoding),
                Work::Derived(id, encoding) => self.derived(id, encoding),
                Work::Group(id, encoding) => self.group(item, id, encoding),
            };
            self.model.items[item.index()].kind = kind;
        }
    }

    /// Returns the components that items were made for, in the order of the items.
    fn components(&self) -> Vec<Component> {
        let component = |key: &Key| match *key {
            Key::Type(id, _) => Some(Component::Type(id)),
            Key::Element(id, _) => Some(Component::Element(id)),
            Key::Derived(..) | Key::Group(..) => None,
        };
        let mut found: Vec<(ItemId, Component)> =
            self.known.iter().filter_map(|(key, &item)| Some((item, component(key)?))).collect();
        found.sort_unstable_by_key(|&(item, component)| (item, matches!(component, Component::Type(_))));
        found.into_iter().map(|(_, component)| component).collect()
    }

    fn name_items(&mut self) {
        for (item, name) in std::mem::take(&mut self.item_names) {
            if let ItemKind::Struct(of) = &mut self.model.items[item.index()].kind {
                of.item_name = Some(name);
            }
        }
    }

    fn add(&mut self, preferred_name: &str, namespace: &str, docs: Docs, kind: ItemKind) -> ItemId {
        let item = Item { preferred_name: preferred_name.to_owned(), namespace: namespace.into(), docs, kind };
        self.model.items.push(item);
        ItemId(self.model.items.len() as u32 - 1)
    }

    fn add_work(&mut self, key: Key, name: (&str, &str), docs: Docs, work: Work) -> ItemId {
        let (preferred_name, namespace) = name;
        let item = self.add(preferred_name, namespace, docs, ItemKind::Pending);
        self.known.insert(key, item);
        self.queue.push((item, work));
        if let Work::Complex(_, Use::Encoded) | Work::Derived(_, Use::Encoded) = work {
            self.model.encoded.insert(item);
        }
        item
    }

    /// Returns the content of an element that is declared with this type. `owner` names an
    /// anonymous type.
    fn content(&mut self, id: TypeId, encoding: Use, owner: Owner<'_>) -> TypeUse {
        if self.is_polymorphic(id) { self.derived_use(id, encoding) } else { self.exactly(id, encoding, owner) }
    }

    /// Returns the content of an element of exactly this type.
    fn exactly(&mut self, id: TypeId, encoding: Use, owner: Owner<'_>) -> TypeUse {
        if id == TypeId::ANY && !self.any_types.contains(&encoding) {
            self.any_types.push(encoding);
        }
        match &self.schemas[id].definition {
            _ if id == TypeId::ANY => TypeUse::NODE,
            TypeDefinition::Simple(_) if encoding == Use::Encoded => self.named_simple(id, owner),
            TypeDefinition::Simple(_) => self.simple(id, simple::Position::Element, owner),
            TypeDefinition::Complex(_) => self.complex_use(id, encoding, owner),
        }
    }

    fn complex_use(&mut self, id: TypeId, encoding: Use, owner: Owner<'_>) -> TypeUse {
        let schemas = self.schemas;
        let Some(normal) = schemas.content(id) else { return TypeUse::NODE };
        match &normal.content {
            NormalizedContent::Text(text) if self.is_soap_encoding(id) => {
                self.simple(*text, simple::Position::Element, owner)
            }
            NormalizedContent::Text(_) => TypeUse::Item(self.complex_item(id, encoding, owner)),
            _ if self.is_array(id) => self.array(id, encoding, 0),
            _ if normal.is_mixed => TypeUse::NODE,
            _ => TypeUse::Item(self.complex_item(id, encoding, owner)),
        }
    }

    fn complex_item(&mut self, id: TypeId, encoding: Use, owner: Owner<'_>) -> ItemId {
        let is_encoded = encoding == Use::Encoded;
        if let Some(&known) = self.known.get(&Key::Type(id, is_encoded)) {
            return known;
        }
        let (name, namespace) = self.type_name(id, owner);
        // A type in both literal and encoded messages has different fields in each.
        let has_other = self.known.contains_key(&Key::Type(id, !is_encoded));
        let name = if has_other && is_encoded { format!("{name} encoded") } else { name };
        let (key, docs) = (Key::Type(id, is_encoded), self.docs_of_type(id));
        self.add_work(key, (&name, &namespace), docs, Work::Complex(id, encoding))
    }

    fn derived_use(&mut self, id: TypeId, encoding: Use) -> TypeUse {
        let key = Key::Derived(id, encoding == Use::Encoded);
        if let Some(&known) = self.known.get(&key) {
            return TypeUse::Item(known);
        }
        let (name, namespace) = self.type_name(id, Owner::NONE);
        let docs = rustdoc(format!("`{name}` or a type derived from it, selected by `xsi:type`."));
        let name = format!("Any {name}");
        TypeUse::Item(self.add_work(key, (&name, &namespace), docs, Work::Derived(id, encoding)))
    }

    /// Plans a type and all types derived from it, directly or indirectly.
    fn derived(&mut self, id: TypeId, encoding: Use) -> ItemKind {
        let schemas = self.schemas;
        let (mut ahead, mut types, mut base) = (vec![id], Vec::new(), None);
        while let Some(next) = ahead.pop() {
            ahead.extend(schemas.derived(next).iter().rev());
            if schemas[next].name.is_none() || is_abstract(schemas, next) {
                continue;
            }
            let TypeUse::Item(item) = self.exactly(next, encoding, Owner::NONE) else { continue };
            if !matches!(self.model.items[item.index()].kind, ItemKind::Pending | ItemKind::Struct(_)) {
                continue;
            }
            if next == id {
                base = Some(item);
            }
            types.push(item);
        }
        let name = self.type_name(id, Owner::NONE).0;
        ItemKind::Derived(Derived { name, base, types })
    }

    /// Returns true if an element of this type may have content of another type, named by
    /// `xsi:type`.
    fn is_polymorphic(&self, id: TypeId) -> bool {
        let TypeDefinition::Complex(complex) = &self.schemas[id].definition else { return false };
        let is_derived_from = id != TypeId::ANY && !self.schemas.derived(id).is_empty();
        let is_array = self.is_array(id) || self.is_soap_encoding(id);
        let is_mixed = self.schemas.content(id).is_some_and(|normal| normal.is_mixed);
        (complex.is_abstract || is_derived_from) && !is_array && !is_mixed && self.schemas[id].name.is_some()
    }

    /// Returns the item of a global element: the type of a body, a header block or a fault's
    /// detail.
    fn element(&mut self, id: ElementId, encoding: Use) -> ItemId {
        let key = Key::Element(id, encoding == Use::Encoded);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let declaration = &self.schemas[id];
        let name = legal(&declaration.name);
        let content =
            self.content(declaration.type_id, encoding, Owner { name: &name.local, namespace: &name.namespace });
        let default_text = self.default_text(id);
        let item = match content {
            // A type has no default; its element does.
            TypeUse::Item(item) if self.is_own(declaration.type_id) && default_text.is_none() => {
                self.name_element(item, &name);
                self.model.items[item.index()].docs.extend(docs(declaration.documentation.as_deref()));
                item
            }
            content => {
                let docs = docs(declaration.documentation.as_deref());
                self.add(&name.local, &name.namespace, docs, ItemKind::Element(name.clone(), content, default_text))
            }
        };
        self.known.insert(key, item);
        item
    }

    /// Returns true for the anonymous complex type of one element.
    fn is_own(&self, id: TypeId) -> bool {
        self.schemas[id].name.is_none() && matches!(self.schemas[id].definition, TypeDefinition::Complex(_))
    }

    /// Records the element of a type that is not filled in yet.
    fn name_element(&mut self, item: ItemId, name: &QName) {
        let element = Some(name.local.to_string());
        let item = &mut self.model.items[item.index()];
        item.namespace = name.namespace.as_ref().into();
        match &mut item.kind {
            ItemKind::Struct(of) => of.element = element,
            kind => *kind = ItemKind::Struct(Struct { element, ..Struct::default() }),
        }
    }

    /// Creates an element whose content has no global declaration.
    fn loose_element(&mut self, name: &QName, content: TypeUse, docs: Docs) -> ItemId {
        let name = legal(name);
        let key = (name.clone(), format!("{content:?}"));
        if let Some(&known) = self.messages.get(&key) {
            return known;
        }
        let item = self.add(&name.local, &name.namespace, docs, ItemKind::Element(name.clone(), content, None));
        self.messages.insert(key, item);
        item
    }

    /// Joins a named type and its element, if it has only one and that is in the same namespace.
    fn join_elements(&mut self) {
        let mut elements = BTreeMap::<ItemId, Vec<ItemId>>::new();
        for (index, item) in self.model.items.iter().enumerate() {
            if let ItemKind::Element(_, TypeUse::Item(of), _) = item.kind {
                elements.entry(of).or_default().push(ItemId(index as u32));
            }
        }
        for (of, elements) in elements {
            if let [element] = elements[..] {
                self.join(element, of);
            }
        }
    }

    fn join(&mut self, element: ItemId, of: ItemId) {
        let Item { kind: ItemKind::Element(name, _, None), docs, .. } = &self.model.items[element.index()] else {
            return;
        };
        let (name, docs) = (name.clone(), docs.clone());
        let item = &mut self.model.items[of.index()];
        if let ItemKind::Struct(of_struct @ Struct { element: None, .. }) = &mut item.kind
            && *item.namespace == *name.namespace
        {
            of_struct.element = Some(name.local.to_string());
            item.docs.extend(docs);
            self.model.joined.insert(element, of);
        }
    }

    /// Returns the name and the namespace of a type; those of its context if it is anonymous.
    fn type_name(&mut self, id: TypeId, owner: Owner<'_>) -> (String, String) {
        match &self.schemas[id].name {
            Some(name) => {
                let name = legal(name);
                (name.local.to_string(), name.namespace.to_string())
            }
            None => (owner.name.to_owned(), owner.namespace.to_owned()),
        }
    }

    fn docs_of_type(&self, id: TypeId) -> Docs {
        docs(self.schemas[id].documentation.as_deref())
    }

    fn is_array(&self, id: TypeId) -> bool {
        is_array(self.schemas, id)
    }

    fn is_soap_encoding(&self, id: TypeId) -> bool {
        is_soap_encoding(self.schemas, id)
    }
}

/// Returns true for SOAP arrays.
pub(crate) fn is_array(schemas: &Schemas, id: TypeId) -> bool {
    let is_plain = || schemas[id].name.as_ref().is_some_and(|name| name.local == "Array");
    let has_items = schemas.content(id).is_some_and(|normal| normal.array.is_some());
    has_items || (is_soap_encoding(schemas, id) && is_plain())
}

/// Returns true for the types of SOAP encoding.
pub(crate) fn is_soap_encoding(schemas: &Schemas, id: TypeId) -> bool {
    let is_encoding = |name: &QName| [SOAP11_ENCODING, SOAP12_ENCODING].contains(&&*name.namespace);
    schemas[id].name.as_ref().is_some_and(is_encoding)
}

/// Returns true for names outside of XML Schema and SOAP.
fn is_user_defined(name: &QName) -> bool {
    ![XSD, XML, SOAP11_ENCODING, SOAP12_ENCODING].contains(&&*name.namespace)
}

fn is_abstract(schemas: &Schemas, id: TypeId) -> bool {
    matches!(&schemas[id].definition, TypeDefinition::Complex(complex) if complex.is_abstract)
}

/// Makes a name valid. An invalid name in a WSDL can neither be written as XML nor become code.
pub(crate) fn legal(name: &QName) -> QName {
    if is_ncname(&name.local) {
        return name.clone();
    }
    let is_good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    let local: String = name.local.chars().map(|c| if is_good(c) { c } else { '_' }).collect();
    let local = if is_ncname(&local) { local } else { format!("_{local}") };
    QName::owned(name.namespace.to_string(), local)
}

/// Splits documentation into paragraphs.
pub(crate) fn docs(text: Option<&str>) -> Docs {
    let documentation = text.map(str::trim).filter(|text| !text.is_empty());
    documentation.map(|text| Paragraph::Text(text.to_owned())).into_iter().collect()
}

/// Creates a paragraph by the generator.
fn rustdoc(text: String) -> Docs {
    vec![Paragraph::Rustdoc(text)]
}
