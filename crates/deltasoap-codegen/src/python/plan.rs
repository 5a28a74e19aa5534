//! Converts an import to a [`Module`]: classes for complex types, and their order.
//!
//! Which components are needed, and which operations there are, is what the [`Model`] for Rust
//! says. The shape of the classes is zeep's: a class for each complex type, which inherits that of
//! its base, and a value for each element, whatever groups it is in.

use super::model::{Annotation, Class, Declaration, DeclarationId, Docs, Field, Kind, Module};
use crate::model::{Component, Model, Paragraph};
use crate::plan::{is_array, is_soap_encoding, legal};
use deltasoap_wsdl::xsd::{Derivation, ElementId, Schemas, SoapArray, TypeDefinition, TypeId};
use deltasoap_wsdl::{Definitions, Import, NormalizedContent};
use std::collections::{HashMap, HashSet};

/// Plans the module for an import, or for the part of it that a model has.
pub(super) fn plan(model: &Model, import: &Import) -> Module {
    let mut planner = Planner {
        schemas: import.schemas(),
        definitions: import.definitions(),
        module: Module::default(),
        known: HashMap::new(),
        groups: HashMap::new(),
        queue: Vec::new(),
    };
    planner.clients(model);
    planner.components(&model.components);
    planner.work_off();
    planner.write_classes();
    planner.module
}

/// Context of an anonymous type: the name that it gets, and the namespace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
}

impl Context<'_> {
    pub(super) const NONE: Context<'static> = Context { name: "Anonymous", namespace: "" };
}

pub(super) struct Planner<'i> {
    pub(super) schemas: &'i Schemas,
    pub(super) definitions: &'i Definitions,
    pub(super) module: Module,
    pub(super) known: HashMap<TypeId, DeclarationId>,
    /// Dictionaries by their content: a derived type repeats those of its base.
    pub(super) groups: HashMap<String, DeclarationId>,
    /// Complex types whose class is still pending.
    queue: Vec<TypeId>,
}

impl Planner<'_> {
    fn components(&mut self, components: &[Component]) {
        for component in components {
            match *component {
                Component::Type(id) if self.schemas[id].name.is_some() => {
                    self.content(id, &Context::NONE);
                }
                // An anonymous type is named where it is used.
                Component::Type(_) => {}
                Component::Element(id) => {
                    self.element(id);
                }
            }
            self.work_off();
        }
    }

    /// Returns the type of a global element. A class for it alone gets its name.
    pub(super) fn element(&mut self, id: ElementId) -> Annotation {
        let declaration = &self.schemas[id];
        let name = legal(&declaration.name);
        let content = self.content(declaration.type_id, &Context { name: &name.local, namespace: &name.namespace });
        if let (Annotation::Declared(declared), None) = (&content, &self.schemas[declaration.type_id].name)
            && let Declaration { kind: Kind::Class(class), docs, .. } = &mut self.module.all[declared.0 as usize]
            && class.element.is_none()
        {
            class.element = Some(name);
            docs.extend(text(declaration.documentation.as_deref()));
        }
        content
    }

    /// Returns the type of an element with content of a type.
    pub(super) fn content(&mut self, id: TypeId, context: &Context<'_>) -> Annotation {
        match &self.schemas[id].definition {
            _ if id == TypeId::ANY => Annotation::Any,
            TypeDefinition::Simple(_) => self.simple(id, context),
            TypeDefinition::Complex(_) => self.complex(id, context),
        }
    }

    fn complex(&mut self, id: TypeId, context: &Context<'_>) -> Annotation {
        let Some(normal) = self.schemas.content(id) else { return Annotation::Any };
        match &normal.content {
            NormalizedContent::Text(text) if is_soap_encoding(self.schemas, id) => self.simple(*text, context),
            _ if is_class(self.schemas, id) => Annotation::Declared(self.class(id, context)),
            _ if is_array(self.schemas, id) => self.array(id, context, 0),
            _ => Annotation::Any,
        }
    }

    fn class(&mut self, id: TypeId, context: &Context<'_>) -> DeclarationId {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let name = self.schemas[id].name.as_ref().map(legal);
        let is_named = name.is_some();
        let (local, namespace) = match &name {
            Some(name) => (name.local.to_string(), name.namespace.to_string()),
            None => (context.name.to_owned(), context.namespace.to_owned()),
        };
        let docs = self.type_docs(id);
        // The element is known before the content is.
        let class = Class { id: Some(id), name, ..Class::default() };
        let declared = self.declare(&local, &namespace, is_named, docs, Kind::Class(class));
        self.known.insert(id, declared);
        self.queue.push(id);
        declared
    }

    pub(super) fn work_off(&mut self) {
        // The order in which classes came up.
        while !self.queue.is_empty() {
            for id in std::mem::take(&mut self.queue) {
                self.with_bases(id);
            }
        }
    }

    /// Plans a class after those that it inherits from.
    fn with_bases(&mut self, id: TypeId) {
        let mut chain = vec![id];
        while let Some(base) = self.base(chain[chain.len() - 1]) {
            chain.push(base);
        }
        let mut base = None;
        for id in chain.into_iter().rev() {
            let declared = self.class(id, &Context::NONE);
            self.fill(id, declared, base);
            base = Some(declared);
        }
    }

    /// Returns the type whose class a class inherits.
    fn base(&self, id: TypeId) -> Option<TypeId> {
        let TypeDefinition::Complex(complex) = &self.schemas[id].definition else { return None };
        let is_base = complex.base != TypeId::ANY && complex.base != id && is_class(self.schemas, complex.base);
        is_base.then_some(complex.base)
    }

    /// Fills in the values of a class.
    fn fill(&mut self, id: TypeId, declared: DeclarationId, base: Option<DeclarationId>) {
        let Declaration { kind: Kind::Class(class), preferred_name, namespace, .. } = self.module.declaration(declared)
        else {
            return;
        };
        if class.is_filled {
            return;
        }
        let (name, namespace) = (preferred_name.clone(), namespace.clone());
        let mut fields = self.fields(id, &Context { name: &name, namespace: &namespace });
        let TypeDefinition::Complex(complex) = &self.schemas[id].definition else { return };
        let of_base = base.map(|base| self.class_of(base).map_or(&[][..], |class| &class.fields)).unwrap_or_default();
        let own = own(&mut fields, of_base, complex.derivation);
        let is_abstract = complex.is_abstract;
        if let Kind::Class(class) = &mut self.module.all[declared.0 as usize].kind {
            (class.base, class.is_abstract, class.fields, class.own) = (base, is_abstract, fields, own);
            class.is_filled = true;
        }
    }

    /// Returns the class of a type, with its values.
    pub(super) fn filled(&mut self, of: &Annotation) -> Option<&Class> {
        let declared = match of {
            Annotation::Declared(declared) => *declared,
            Annotation::Optional(of) => return self.filled(of),
            _ => return None,
        };
        if let Kind::Class(Class { is_filled: false, id: Some(id), .. }) = self.module.declaration(declared).kind {
            self.with_bases(id);
        }
        self.class_of(declared)
    }

    pub(super) fn class_of(&self, declared: DeclarationId) -> Option<&Class> {
        match &self.module.declaration(declared).kind {
            Kind::Class(class) => Some(class),
            _ => None,
        }
    }

    /// Returns a SOAP array: a list, or a list of lists.
    fn array(&mut self, id: TypeId, context: &Context<'_>, depth: usize) -> Annotation {
        let any = SoapArray { item: TypeId::ANY, element: None, dimensions: "[]".into() };
        let array = self.schemas.content(id).and_then(|normal| normal.array.as_ref()).unwrap_or(&any);
        let Some(ranks) = array.ranks().filter(|_| depth <= SoapArray::MAX_RANKS) else { return Annotation::Any };
        let item = match is_array(self.schemas, array.item) {
            true => self.array(array.item, context, depth + 1),
            false => self.content(array.item, context),
        };
        let innermost = match self.repeated(array.item, item.clone()) {
            numbers @ Annotation::Numbers(..) => numbers,
            _ => Annotation::list(item.optional()),
        };
        let own = if ranks.is_empty() { &[1][..] } else { &ranks };
        own.iter().enumerate().fold(innermost, |item, (rank, &dimensions)| match (rank, dimensions) {
            (0, 1) => item,
            (_, 1) => Annotation::list(item.optional()),
            _ => Annotation::list(Annotation::Any),
        })
    }

    pub(super) fn declare(
        &mut self,
        preferred_name: &str,
        namespace: &str,
        is_named: bool,
        docs: Docs,
        kind: Kind,
    ) -> DeclarationId {
        let (preferred_name, namespace) = (preferred_name.to_owned(), namespace.to_owned());
        self.module.all.push(Declaration { preferred_name, namespace, is_named, docs, kind });
        DeclarationId(self.module.all.len() as u32 - 1)
    }

    pub(super) fn type_docs(&self, id: TypeId) -> Docs {
        text(self.schemas[id].documentation.as_deref())
    }

    /// Lists the classes and dictionaries in the order in which they came up, but bases before what
    /// inherits them.
    fn write_classes(&mut self) {
        let mut written = HashSet::new();
        for index in 0..self.module.all.len() {
            let mut chain = Vec::new();
            let mut at = Some(DeclarationId(index as u32));
            while let Some(id) = at.filter(|id| !written.contains(id)) {
                at = match &self.module.declaration(id).kind {
                    Kind::Class(class) => class.base,
                    Kind::Group(_) => None,
                    Kind::Alias(_) | Kind::Enumeration(_) => break,
                };
                written.insert(id);
                chain.push(id);
            }
            self.module.declarations.extend(chain.into_iter().rev());
        }
    }
}

/// Returns true for complex types with a class.
fn is_class(schemas: &Schemas, id: TypeId) -> bool {
    if id == TypeId::ANY {
        return false;
    }
    schemas.content(id).is_some_and(|normal| match normal.content {
        NormalizedContent::Text(_) => !is_soap_encoding(schemas, id),
        _ => !is_array(schemas, id) && !normal.is_mixed,
    })
}

/// Returns the fields that a class declares itself.
///
/// A restriction keeps the declarations of its base: what it excludes is absent. What an extension
/// declares anew, such as an element with the name of an attribute of its base, may have any type:
/// no declaration could have both.
fn own(fields: &mut [Field], base: &[Field], derivation: Derivation) -> Vec<usize> {
    let of_base: HashMap<&str, &Field> = base.iter().map(|field| (&*field.name, field)).collect();
    let mut own = Vec::new();
    for (index, field) in fields.iter_mut().enumerate() {
        let Some(other) = of_base.get(&*field.name) else {
            own.push(index);
            continue;
        };
        let is_same = (&field.annotation, field.presence) == (&other.annotation, other.presence);
        if !is_same && derivation == Derivation::Extension {
            field.annotation = Annotation::Any;
            field.presence = other.presence;
            own.push(index);
        }
    }
    own
}

/// Returns documentation as paragraphs.
pub(super) fn text(documentation: Option<&str>) -> Docs {
    texts(crate::plan::docs(documentation))
}

/// Returns the paragraphs of the WSDL, without those that the generator writes for Rust.
pub(super) fn texts(docs: crate::model::Docs) -> Docs {
    let of_wsdl = |paragraph| match paragraph {
        Paragraph::Text(text) => Some(text),
        Paragraph::Rustdoc(_) => None,
    };
    docs.into_iter().filter_map(of_wsdl).collect()
}
