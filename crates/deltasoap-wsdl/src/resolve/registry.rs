//! Finds the global components.

use crate::document::{Node, Vocabulary};
use crate::load::{Redefinition, Sources, Unit};
use crate::{Error, ErrorKind, NoteKind};
use deltasoap_core::QName;
use deltasoap_xml::NameId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The kinds of components; each has its own symbol space (XSD 1.0 part 1, 2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ComponentKind {
    Type,
    Element,
    Attribute,
    Group,
    AttributeGroup,
}

impl ComponentKind {
    pub(super) const ALL: [ComponentKind; 5] = [
        ComponentKind::Type,
        ComponentKind::Element,
        ComponentKind::Attribute,
        ComponentKind::Group,
        ComponentKind::AttributeGroup,
    ];

    fn of(node: Node<'_>) -> Option<ComponentKind> {
        Some(match node.local() {
            "simpleType" | "complexType" => ComponentKind::Type,
            "element" => ComponentKind::Element,
            "attribute" => ComponentKind::Attribute,
            "group" => ComponentKind::Group,
            "attributeGroup" => ComponentKind::AttributeGroup,
            _ => return None,
        })
    }

    pub(super) fn noun(self) -> &'static str {
        match self {
            ComponentKind::Type => "type",
            ComponentKind::Element => "element",
            ComponentKind::Attribute => "attribute",
            ComponentKind::Group => "group",
            ComponentKind::AttributeGroup => "attribute group",
        }
    }
}

/// A global component: an element of a document, and the unit that contains it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Component {
    pub(super) unit: u32,
    pub(super) element: u32,
    pub(super) name: NameId,
    /// The component that this one redefines.
    pub(super) redefines: Option<u32>,
}

/// All global components, numbered by kind.
#[derive(Debug, Default)]
pub(super) struct Registry {
    components: [Vec<Component>; 5],
    by_name: HashMap<(ComponentKind, NameId), u32>,
}

impl Registry {
    pub(super) fn collect(sources: &mut Sources) -> Result<Self, Error> {
        let mut registry = Registry::default();
        for unit in 0..sources.units.len() as u32 {
            let Unit { document, element, .. } = sources.units[unit as usize];
            for (kind, child) in globals(sources, document, element) {
                registry.define(sources, kind, unit, child)?;
            }
        }
        // A redefined component may itself be a redefinition: schemas deeper in the tree were found
        // later.
        for index in (0..sources.redefinitions.len()).rev() {
            let Redefinition { unit, element } = sources.redefinitions[index];
            let document = sources.units[unit as usize].document;
            for (kind, child) in globals(sources, document, element) {
                registry.redefine(sources, kind, unit, child)?;
            }
        }
        Ok(registry)
    }

    /// Returns the components of a kind, in the order of their numbers.
    pub(super) fn of(&self, kind: ComponentKind) -> &[Component] {
        &self.components[kind as usize]
    }

    /// Returns the number of a component.
    pub(super) fn find(&self, kind: ComponentKind, name: NameId) -> Option<u32> {
        self.by_name.get(&(kind, name)).copied()
    }

    /// Returns true if a component was redefined, so that its name refers to another one.
    pub(super) fn is_replaced(&self, kind: ComponentKind, number: u32) -> bool {
        self.find(kind, self.of(kind)[number as usize].name) != Some(number)
    }

    pub(super) fn unit<'s>(&self, sources: &'s Sources, component: &Component) -> &'s Unit {
        &sources.units[component.unit as usize]
    }

    fn define(&mut self, sources: &mut Sources, kind: ComponentKind, unit: u32, element: u32) -> Result<(), Error> {
        let name = name_of(sources, unit, element)?;
        match self.by_name.entry((kind, name)) {
            Entry::Vacant(entry) => {
                let components = &mut self.components[kind as usize];
                entry.insert(components.len() as u32);
                components.push(Component { unit, element, name, redefines: None });
                Ok(())
            }
            Entry::Occupied(entry) => {
                let first = &self.components[kind as usize][*entry.get() as usize];
                check_same(sources, kind, first, unit, element)
            }
        }
    }

    fn redefine(&mut self, sources: &mut Sources, kind: ComponentKind, unit: u32, element: u32) -> Result<(), Error> {
        let name = name_of(sources, unit, element)?;
        let node = sources.node(sources.units[unit as usize].document, element);
        let Some(old) = self.find(kind, name) else {
            let what = format!("{} `{}` is redefined, but not defined there", kind.noun(), sources.names.local(name));
            return Err(sources.invalid(what, node.place()));
        };
        let components = &mut self.components[kind as usize];
        self.by_name.insert((kind, name), components.len() as u32);
        components.push(Component { unit, element, name, redefines: Some(old) });
        Ok(())
    }
}

/// Returns the components directly below a `schema` or `redefine` element.
fn globals(sources: &Sources, document: u32, element: u32) -> Vec<(ComponentKind, u32)> {
    let children = sources.node(document, element).children_of(Vocabulary::Xsd);
    children.filter_map(|child| Some((ComponentKind::of(child)?, child.index()))).collect()
}

/// Returns the name of a global component, in its unit's namespace.
fn name_of(sources: &mut Sources, unit: u32, element: u32) -> Result<NameId, Error> {
    let Unit { document, ref namespace, .. } = sources.units[unit as usize];
    let node = sources.node(document, element);
    match node.attribute("name") {
        Some(local) if !local.is_empty() => {
            let local = local.to_owned();
            Ok(sources.names.intern(namespace, &local))
        }
        _ => Err(sources.invalid(format!("a global <{}> without a name", node.local()), node.place())),
    }
}

/// Checks two definitions of one name. A schema may be loaded twice, as copies, and the copies may
/// differ. The first definition of a name counts, as with a namespace that is imported twice (XSD
/// 1.0 part 1, 4.2.3); within one document a name must have only one definition.
fn check_same(
    sources: &mut Sources,
    kind: ComponentKind,
    first: &Component,
    unit: u32,
    element: u32,
) -> Result<(), Error> {
    let first = sources.node(sources.units[first.unit as usize].document, first.element);
    let second = sources.node(sources.units[unit as usize].document, element);
    if first.is_like(second) {
        return Ok(());
    }
    let (first, second) = (first.place(), second.place());
    let Unit { document, ref namespace, .. } = sources.units[unit as usize];
    let node = sources.node(document, element);
    let name = QName::owned(&**namespace, node.attribute("name").unwrap_or_default());
    if first.document == second.document || sources.is_strict {
        let first = sources.position(first);
        return Err(sources.error(ErrorKind::Duplicate { what: kind.noun(), name, first }, second));
    }
    let text =
        format!("{} {name} differs from its definition at {}, which counts", kind.noun(), sources.position(first));
    sources.note(NoteKind::Tolerated, text, second);
    Ok(())
}
