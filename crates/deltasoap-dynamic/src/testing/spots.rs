//! The elements of a request with their declarations.

use super::draft::{Draft, at};
use crate::Operation;
use crate::contract::Types;
use crate::diff::{MessageKind, shape};
use deltasoap_core::{Child, Node, QName, ns};
use deltasoap_wsdl::NormalizedContent;
use deltasoap_wsdl::xsd::{ElementId, Particle, Term, TypeDefinition, TypeId};
use std::collections::HashMap;

/// Maximum number of elements of one request that are varied.
const MAX_SPOTS: usize = 5_000;

/// An element of a request.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    /// The index of the child at each level, from the envelope on.
    pub(super) path: Vec<usize>,
    /// Its place in words: `Order/item/code`.
    pub(super) place: String,
    pub(super) name: QName,
    pub(super) declared: TypeId,
    /// The type that `xsi:type` names, or the declared one.
    pub(super) actual: TypeId,
    pub(super) element: Option<ElementId>,
    /// The types around it.
    pub(super) around: Vec<TypeId>,
}

/// What is varied once, in whichever requests it occurs.
pub(super) type Key = (QName, Option<ElementId>, TypeId);

impl Spot {
    pub(super) fn key(&self) -> Key {
        (self.name.clone(), self.element, self.actual)
    }
}

/// Returns the elements in header blocks and body that the contract declares.
pub(super) fn spots(operation: &Operation, draft: &Draft) -> Vec<Spot> {
    let mut walk = Walk { types: &operation.contract().types, found: Vec::new() };
    let Some(body_at) = draft.body_at() else { return Vec::new() };
    let Some(shape) = shape(operation, &MessageKind::Request) else { return Vec::new() };
    for (index, child) in draft.envelope.children.iter().enumerate() {
        let Child::Element(child) = child else { continue };
        if index != body_at {
            let blocks = crate::diff::kinds(operation).into_iter().filter_map(|kind| match kind {
                MessageKind::RequestHeader(_) => shape_of_block(operation, &kind),
                _ => None,
            });
            let known: HashMap<_, _> = blocks.collect();
            walk.roots(child, vec![index], "Header", &known);
            continue;
        }
        let roots = shape.roots.iter().map(|(name, it)| (name.clone(), (it.type_id, it.element))).collect();
        match (&shape.wrapper, child.children.first()) {
            (Some(wrapper), Some(Child::Element(inner))) if inner.name == *wrapper => {
                walk.roots(inner, vec![index, 0], &wrapper.local, &roots);
            }
            _ => walk.roots(child, vec![index], "", &roots),
        }
    }
    walk.found
}

fn shape_of_block(operation: &Operation, kind: &MessageKind) -> Option<(QName, (TypeId, Option<ElementId>))> {
    let (name, declared) = shape(operation, kind)?.roots.into_iter().next()?;
    Some((name, (declared.type_id, declared.element)))
}

struct Walk<'t> {
    types: &'t Types,
    found: Vec<Spot>,
}

impl Walk<'_> {
    fn roots(
        &mut self,
        parent: &Node,
        path: Vec<usize>,
        place: &str,
        known: &HashMap<QName, (TypeId, Option<ElementId>)>,
    ) {
        for (index, child) in parent.children.iter().enumerate() {
            let Child::Element(child) = child else { continue };
            if let Some(&(type_id, element)) = known.get(&child.name) {
                let path = path.iter().copied().chain([index]).collect();
                let place = if place.is_empty() { String::new() } else { format!("{place}/") };
                let place = format!("{place}{}", child.name.local);
                self.element(
                    child,
                    Spot {
                        path,
                        place,
                        name: child.name.clone(),
                        declared: type_id,
                        actual: type_id,
                        element,
                        around: Vec::new(),
                    },
                );
            }
        }
    }

    fn element(&mut self, node: &Node, mut spot: Spot) {
        if self.found.len() >= MAX_SPOTS {
            return;
        }
        let named = node.attribute(ns::XSI, "type").and_then(|text| self.types.named(&node.resolve(text.trim())?));
        spot.actual = named.unwrap_or(spot.declared);
        let known = children(self.types, spot.actual);
        self.found.push(spot.clone());
        let schemas = self.types.import.schemas();
        for (index, child) in node.children.iter().enumerate() {
            let Child::Element(child) = child else { continue };
            let global = || schemas.element_named(&child.name);
            let Some(element) = known.get(&child.name).copied().or_else(global) else { continue };
            let inner = Spot {
                path: spot.path.iter().copied().chain([index]).collect(),
                place: format!("{}/{}", spot.place, child.name.local),
                name: child.name.clone(),
                declared: schemas[element].type_id,
                actual: schemas[element].type_id,
                element: Some(element),
                around: spot.around.iter().copied().chain([spot.actual]).collect(),
            };
            self.element(child, inner);
        }
    }
}

/// Returns the elements that may be in the content of a type, by name.
fn children(types: &Types, id: TypeId) -> HashMap<QName, ElementId> {
    let mut known = HashMap::new();
    if let Some(model) = model(types, id) {
        add_children(types, model, &mut known);
    }
    known
}

fn add_children(types: &Types, model: &Particle, known: &mut HashMap<QName, ElementId>) {
    match &model.term {
        Term::Element(id) => {
            for member in types.members(*id) {
                known.entry(types.import.schemas()[member].name.clone()).or_insert(member);
            }
        }
        Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => {
            parts.iter().for_each(|part| add_children(types, part, known));
        }
        Term::Any(_) | Term::Group(_) => {}
    }
}

/// Returns the content model of a type; `None` for a type without elements.
pub(super) fn model(types: &Types, id: TypeId) -> Option<&Particle> {
    let normal = types.import.schemas().content(id).filter(|normal| normal.array.is_none())?;
    match &normal.content {
        NormalizedContent::Elements(particle) if id != TypeId::ANY => Some(particle),
        _ => None,
    }
}

/// Returns the simple type of an element's text; `None` for content of elements.
pub(super) fn text_type(types: &Types, id: TypeId) -> Option<TypeId> {
    let schemas = types.import.schemas();
    match (&schemas[id].definition, schemas.content(id)) {
        (TypeDefinition::Simple(_), _) => Some(id),
        (_, Some(normal)) if normal.array.is_none() => match normal.content {
            NormalizedContent::Text(id) => Some(id),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the place of an element in a draft, with the name of the element.
pub(super) fn exists(draft: &Draft, spot: &Spot) -> bool {
    at(&draft.envelope, &spot.path).is_some_and(|node| node.name == spot.name)
}
