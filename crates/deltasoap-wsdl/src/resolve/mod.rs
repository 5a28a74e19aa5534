//! Stage two: builds components and resolves their references.
//!
//! First a pass over the units records the place of each global component and numbers it
//! (`registry`). Then each component is built, and references are looked up by name. Since all
//! numbers exist from the start, the order of definitions, cycles between schemas and recursive
//! types do not matter.

mod attributes;
mod complex;
mod constraints;
mod elements;
mod keywords;
mod packing;
mod registry;
mod simple;
mod unknown;

use crate::document::{Node, Place, qname, standard_namespace};
use crate::load::{Sources, Unit};
use crate::xsd::{
    AttributeGroup, AttributeId, Attributes, Block, ComplexType, Content, Derivation, ElementId, Group, Particle,
    ProcessContents, Schemas, SimpleType, Term, Type, TypeDefinition, TypeId, Variety, Wildcard, WildcardNamespaces,
};
use crate::{Error, ErrorKind, NoteKind};
use deltasoap_core::QName;
use deltasoap_core::ns::XSD;
use deltasoap_core::schema::{Builtin, Packing};
use deltasoap_xml::NameId;
use registry::{Component, ComponentKind, Registry};
use std::collections::{HashMap, HashSet};

/// Builds the components of all units.
pub(crate) fn resolve(sources: &mut Sources) -> Result<Schemas, Error> {
    unknown::note(sources);
    let registry = Registry::collect(sources)?;
    let mut builder = Builder {
        sources,
        registry: &registry,
        schemas: Schemas::default(),
        missed: Vec::new(),
        tolerated: Vec::new(),
        seen_missing: HashSet::new(),
        keys: HashSet::new(),
        referred_keys: Vec::new(),
        packings: HashMap::new(),
    };
    builder.add_builtin_types();
    builder.reserve();
    builder.build()?;
    builder.inherit_types()?;
    builder.pack_elements();
    builder.complete_arrays();
    let missed_keys = builder.missed_keys()?;
    let Builder { schemas, missed, tolerated, .. } = builder;
    for Missed { kind, name, instead, place } in missed {
        let text = format!("{} {} is not defined; {instead}", kind.noun(), qname(&sources.names, name));
        sources.note(NoteKind::Missing, text, place);
    }
    missed_keys.into_iter().for_each(|(text, place)| sources.note(NoteKind::Missing, text, place));
    tolerated.into_iter().for_each(|(text, place)| sources.note(NoteKind::Tolerated, text, place));
    Ok(schemas)
}

struct Builder<'s> {
    sources: &'s Sources,
    registry: &'s Registry,
    schemas: Schemas,
    /// References to undefined components, each once.
    missed: Vec<Missed>,
    /// What the standards do not allow but whose meaning is clear.
    tolerated: Vec<(String, Place)>,
    seen_missing: HashSet<(ComponentKind, NameId, &'static str)>,
    /// The names of all keys, including `unique` constraints.
    keys: HashSet<QName>,
    /// The keys that `keyref`s refer to, with the place of the reference.
    referred_keys: Vec<(QName, Place)>,
    /// The packing of elements whose declaration has the annotation, by the declaration's place.
    packings: HashMap<Place, Packing>,
}

/// A reference to an undefined component.
struct Missed {
    kind: ComponentKind,
    name: NameId,
    /// How the schema is read without it.
    instead: &'static str,
    place: Place,
}

/// Context of everything inside one global component.
#[derive(Clone, Copy)]
struct Scope<'s> {
    unit: &'s Unit,
    elements_qualified: bool,
    attributes_qualified: bool,
    /// `blockDefault`.
    block: &'s str,
    /// In a redefinition: its own kind and name, which inside it refer to the component that it
    /// redefines.
    own: Option<(ComponentKind, NameId, u32)>,
}

impl<'s> Builder<'s> {
    fn add_builtin_types(&mut self) {
        let wildcard = Wildcard { namespaces: WildcardNamespaces::Any, process: ProcessContents::Lax };
        let any = Particle { min: 0, max: None, term: Term::Any(wildcard.clone()) };
        let any_type = ComplexType {
            base: TypeId::ANY,
            derivation: Derivation::Restriction,
            is_abstract: false,
            block: Block::default(),
            is_mixed: true,
            content: Content::Elements(any),
            attributes: Attributes { any: Some(wildcard), ..Attributes::default() },
            array: None,
        };
        self.add_builtin("anyType", TypeDefinition::Complex(any_type));
        self.add_builtin("anySimpleType", simple(Variety::Any));
        for &builtin in Builtin::ALL {
            self.add_builtin(builtin.local(), simple(Variety::Builtin(builtin)));
        }
    }

    fn add_builtin(&mut self, local: &'static str, definition: TypeDefinition) {
        let name = QName::new(XSD, local);
        self.schemas.types_by_name.insert(name.clone(), TypeId(self.schemas.types.len() as u32));
        self.schemas.types.push(Type { name: Some(name), definition, documentation: None, place: None });
    }

    /// Reserves the global components, so that they have their numbers.
    fn reserve(&mut self) {
        let registry = self.registry;
        let names = &self.sources.names;
        let place = Place { document: 0, offset: 0 };
        let particle = Particle { min: 1, max: Some(1), term: Term::Sequence(Vec::new()) };
        for component in registry.of(ComponentKind::Type) {
            let name = Some(qname(names, component.name));
            self.schemas.types.push(Type { name, definition: simple(Variety::Any), documentation: None, place: None });
        }
        for component in registry.of(ComponentKind::Element) {
            self.schemas.elements.push(elements::vacant(qname(names, component.name), place));
        }
        for component in registry.of(ComponentKind::Attribute) {
            self.schemas.attributes.push(attributes::vacant(qname(names, component.name)));
        }
        for component in registry.of(ComponentKind::Group) {
            let name = qname(names, component.name);
            self.schemas.groups.push(Group { name, particle: particle.clone(), place });
        }
        for component in registry.of(ComponentKind::AttributeGroup) {
            let name = qname(names, component.name);
            self.schemas.attribute_groups.push(AttributeGroup { name, attributes: Attributes::default(), place });
        }
    }

    fn build(&mut self) -> Result<(), Error> {
        for kind in ComponentKind::ALL {
            for (index, component) in self.registry.of(kind).iter().enumerate() {
                let node = self.sources.node(self.registry.unit(self.sources, component).document, component.element);
                let scope = self.scope(kind, component);
                self.component(kind, index, node, scope)?;
            }
        }
        Ok(())
    }

    fn component(&mut self, kind: ComponentKind, index: usize, node: Node<'s>, scope: Scope<'s>) -> Result<(), Error> {
        match kind {
            ComponentKind::Type => self.global_type(index, node, scope),
            ComponentKind::Element => self.global_element(index, node, scope),
            ComponentKind::Attribute => {
                let name = self.schemas.attributes[index].name.clone();
                if !self.registry.is_replaced(ComponentKind::Attribute, index as u32) {
                    self.schemas.attributes_by_name.insert(name.clone(), AttributeId(index as u32));
                }
                self.schemas.attributes[index] = self.attribute_declaration(node, scope, name)?;
                Ok(())
            }
            ComponentKind::Group => self.global_group(index, node, scope),
            ComponentKind::AttributeGroup => {
                let attributes = self.attributes(node, scope)?;
                let group = &mut self.schemas.attribute_groups[index];
                (group.attributes, group.place) = (attributes, node.place());
                Ok(())
            }
        }
    }

    fn global_type(&mut self, index: usize, node: Node<'s>, scope: Scope<'s>) -> Result<(), Error> {
        let id = TypeId(self.number(ComponentKind::Type, index));
        let mut built = self.type_definition(node, scope)?;
        built.name = self.schemas[id].name.clone();
        self.name_type(&scope, &built, id);
        self.schemas.types[id.index()] = built;
        Ok(())
    }

    fn global_element(&mut self, index: usize, node: Node<'s>, scope: Scope<'s>) -> Result<(), Error> {
        let name = self.schemas.elements[index].name.clone();
        if !self.registry.is_replaced(ComponentKind::Element, index as u32) {
            self.schemas.elements_by_name.insert(name.clone(), ElementId(index as u32));
        }
        self.schemas.elements[index] = self.element_declaration(node, scope, name, true)?;
        Ok(())
    }

    fn global_group(&mut self, index: usize, node: Node<'s>, scope: Scope<'s>) -> Result<(), Error> {
        let model = node.children().find(|child| elements::is_model(*child));
        let model = model.ok_or_else(|| self.sources.invalid("a group without content", node.place()))?;
        let particle = self.particle(model, scope)?;
        let group = &mut self.schemas.groups[index];
        (group.particle, group.place) = (particle, node.place());
        Ok(())
    }

    /// Registers a type under its name; a redefinition replaces the type that it redefines.
    fn name_type(&mut self, scope: &Scope<'_>, built: &Type, id: TypeId) {
        let Some(name) = &built.name else { return };
        let is_redefinition = scope.own.is_some();
        if is_redefinition || !self.schemas.types_by_name.contains_key(name) {
            self.schemas.types_by_name.insert(name.clone(), id);
        }
    }

    fn number(&self, kind: ComponentKind, index: usize) -> u32 {
        match kind {
            ComponentKind::Type => TypeId::FIRST_BUILTIN + Builtin::ALL.len() as u32 + index as u32,
            _ => index as u32,
        }
    }

    fn scope(&self, kind: ComponentKind, component: &Component) -> Scope<'s> {
        let unit = self.registry.unit(self.sources, component);
        let schema = self.sources.node(unit.document, unit.element);
        let is_qualified = |attribute| schema.attribute(attribute) == Some("qualified");
        Scope {
            unit,
            elements_qualified: is_qualified("elementFormDefault"),
            attributes_qualified: is_qualified("attributeFormDefault"),
            block: schema.attribute("blockDefault").unwrap_or_default(),
            own: component.redefines.map(|old| (kind, component.name, old)),
        }
    }

    fn push_type(&mut self, built: Type) -> TypeId {
        self.schemas.types.push(built);
        TypeId(self.schemas.types.len() as u32 - 1)
    }

    /// Returns the single name in an attribute's value.
    fn single_name(&self, node: Node<'s>, namespace: &str, attribute: &str) -> Result<Option<NameId>, Error> {
        match node.names(namespace, attribute) {
            None => Ok(None),
            Some([Some(name)]) => Ok(Some(*name)),
            Some(_) => {
                let text = node.attribute_in(namespace, attribute).unwrap_or_default();
                let what = format!("`{attribute}=\"{text}\"` contains no name");
                Err(self.sources.invalid(what, node.place()))
            }
        }
    }

    /// Returns the number of a component.
    fn find(&mut self, kind: ComponentKind, name: NameId, node: Node<'s>, scope: Scope<'s>) -> Result<u32, Error> {
        let sources = self.sources;
        let names = &sources.names;
        let namespace = names.namespace(name);
        if kind == ComponentKind::Type && namespace == XSD {
            let builtin = builtin_type(names.local(name));
            return builtin.map(|id| id.0).ok_or_else(|| self.undefined(kind, name, node));
        }
        let included = || names.find(&scope.unit.namespace, names.local(name));
        let found = match self.known(kind, name, scope) {
            None if scope.unit.is_chameleon && namespace.is_empty() => {
                included().and_then(|name| self.known(kind, name, scope))
            }
            found => found,
        };
        match found.or_else(|| self.unprefixed_builtin(kind, name, node)) {
            Some(number) => Ok(number),
            None => Err(self.undefined(kind, name, node)),
        }
    }

    /// Returns the type of XML Schema that an unprefixed name means: the author forgot the prefix.
    fn unprefixed_builtin(&mut self, kind: ComponentKind, name: NameId, node: Node<'s>) -> Option<u32> {
        let names = &self.sources.names;
        let is_bare = kind == ComponentKind::Type && names.namespace(name).is_empty() && !self.sources.is_strict;
        let number = builtin_type(names.local(name)).filter(|_| is_bare)?;
        let instead = "the type of XML Schema is used";
        if self.seen_missing.insert((kind, name, instead)) {
            let local = names.local(name);
            self.tolerated.push((format!("type {local} is not defined; {instead}"), node.place()));
        }
        Some(number.0)
    }

    fn known(&self, kind: ComponentKind, name: NameId, scope: Scope<'s>) -> Option<u32> {
        let index = match scope.own {
            Some((own_kind, own, old)) if own_kind == kind && own == name => old,
            _ => self.registry.find(kind, name)?,
        };
        Some(self.number(kind, index as usize))
    }

    /// Returns the number of a component; `None`, with a note, if it is undefined and the schema is
    /// usable without it. A reference to an undefined component is not an error as long as nothing
    /// depends on it (XSD 1.0 part 1, 5.3). It is an error if a document could not be loaded, since
    /// the schema would otherwise depend on the network.
    fn find_or_miss(
        &mut self,
        kind: ComponentKind,
        name: NameId,
        node: Node<'s>,
        scope: Scope<'s>,
    ) -> Result<Option<u32>, Error> {
        let error = match self.find(kind, name, node, scope) {
            Ok(number) => return Ok(Some(number)),
            Err(error) => error,
        };
        if self.sources.is_strict || !matches!(error.kind(), ErrorKind::Undefined { cause: None, .. }) {
            return Err(error);
        }
        let instead = instead(kind, node);
        if self.seen_missing.insert((kind, name, instead)) {
            self.missed.push(Missed { kind, name, instead, place: node.place() });
        }
        Ok(None)
    }

    /// Returns the component that an attribute refers to, or the name of an undefined one; `None`
    /// if there is no such attribute.
    fn reference_or_miss(
        &mut self,
        kind: ComponentKind,
        node: Node<'s>,
        attribute: &str,
        scope: Scope<'s>,
    ) -> Result<Option<Result<u32, NameId>>, Error> {
        let Some(name) = self.single_name(node, "", attribute)? else { return Ok(None) };
        Ok(Some(self.find_or_miss(kind, name, node, scope)?.ok_or(name)))
    }

    fn undefined(&self, kind: ComponentKind, name: NameId, node: Node<'_>) -> Error {
        let name = qname(&self.sources.names, name);
        let cause = self.sources.failures.get(&*name.namespace).cloned();
        self.sources.error(ErrorKind::Undefined { what: kind.noun(), name, cause }, node.place())
    }
}

/// Says how a schema is read without the component that an element refers to.
fn instead(kind: ComponentKind, node: Node<'_>) -> &'static str {
    match (kind, node.local()) {
        (ComponentKind::Type, "extension" | "restriction") => {
            "a type derived from it has only the content of its own definition"
        }
        (ComponentKind::Group | ComponentKind::AttributeGroup, _) => "it is read as empty",
        _ => "anything is accepted there",
    }
}

/// Returns true for a name with an undeclared prefix: see [`Document`](crate::document::Document).
fn has_prefix(name: &QName) -> bool {
    name.local.contains(':')
}

/// Returns the value of `block`, or of `blockDefault` if there is none.
fn block(node: Node<'_>, scope: Scope<'_>) -> Block {
    let text = node.attribute("block").unwrap_or(scope.block);
    let has = |word| text == "#all" || text.split_ascii_whitespace().any(|it| it == word);
    Block { extension: has("extension"), restriction: has("restriction"), substitution: has("substitution") }
}

fn simple(variety: Variety) -> TypeDefinition {
    TypeDefinition::Simple(SimpleType { variety, facets: None, packing: None })
}

/// Returns the type of XML Schema with a local name; also accepts the names in the drafts.
fn builtin_type(local: &str) -> Option<TypeId> {
    let standard = match local {
        "anyType" | "ur-type" => return Some(TypeId::ANY),
        "anySimpleType" => return Some(TypeId::ANY_SIMPLE),
        "timeInstant" => "dateTime",
        "timeDuration" => "duration",
        "uriReference" | "uri" => "anyURI",
        "CDATA" => "normalizedString",
        "year" => "gYear",
        local => local,
    };
    Builtin::from_local(standard).map(Schemas::builtin)
}

impl Schemas {
    /// Returns a type of XML Schema or of one of its drafts.
    pub fn builtin_named(name: &QName) -> Option<TypeId> {
        builtin_type(&name.local).filter(|_| standard_namespace(&name.namespace) == XSD)
    }
}
