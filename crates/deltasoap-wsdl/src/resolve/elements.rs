//! Element declarations, model groups and occurrence (XSD 1.0 part 1, 3.3, 3.8, 3.9).

use super::attributes::wildcard;
use super::registry::ComponentKind;
use super::{Builder, Scope, block, has_prefix};
use crate::Error;
use crate::document::{Node, Place, Vocabulary, qname};
use crate::xsd::{
    Block, Element, ElementId, GroupId, Particle, ProcessContents, Term, TypeId, Wildcard, WildcardNamespaces,
};
use deltasoap_core::QName;

/// Creates an empty declaration, to be filled in.
pub(super) fn vacant(name: QName, place: Place) -> Element {
    Element {
        name,
        type_id: TypeId::ANY,
        is_global: true,
        is_nillable: false,
        is_abstract: false,
        block: Block::default(),
        default: None,
        fixed: None,
        value_name: None,
        substitutes_for: None,
        constraints: Vec::new(),
        documentation: None,
        place,
    }
}

/// Returns true for elements that can be the content model of a type.
pub(super) fn is_model(node: Node<'_>) -> bool {
    node.vocabulary() == Vocabulary::Xsd && matches!(node.local(), "sequence" | "choice" | "all" | "group")
}

impl<'s> Builder<'s> {
    pub(super) fn element_declaration(
        &mut self,
        node: Node<'s>,
        scope: Scope<'s>,
        name: QName,
        is_global: bool,
    ) -> Result<Element, Error> {
        let head =
            self.reference_or_miss(ComponentKind::Element, node, "substitutionGroup", scope)?.and_then(Result::ok);
        if let Some(packing) = self.packing(node) {
            self.packings.insert(node.place(), packing);
        }
        let is_true = |name| matches!(node.attribute(name), Some("true" | "1"));
        let text = |name| node.attribute_in("", name).map(Box::from);
        Ok(Element {
            type_id: self.element_type(node, scope)?,
            is_global,
            is_nillable: is_true("nillable"),
            is_abstract: is_true("abstract"),
            block: block(node, scope),
            default: text("default"),
            fixed: text("fixed"),
            value_name: self.value_name(node),
            substitutes_for: head.map(ElementId),
            constraints: self.constraints(node, scope),
            documentation: node.documentation(),
            ..vacant(name, node.place())
        })
    }

    fn element_type(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<TypeId, Error> {
        match self.reference_or_miss(ComponentKind::Type, node, "type", scope)? {
            Some(Ok(number)) => return Ok(TypeId(number)),
            Some(Err(_)) => return Ok(TypeId::ANY),
            None => {}
        }
        if let Some(id) = self.inline_simple(node, scope)? {
            return Ok(id);
        }
        match node.child(Vocabulary::Xsd, "complexType") {
            Some(inline) => {
                let inline = self.complex_type(inline, scope)?;
                Ok(self.push_type(inline))
            }
            None => Ok(TypeId::ANY),
        }
    }

    /// Gives members of substitution groups without a type of their own the type of their head (XSD
    /// 1.0 part 1, 3.3.2).
    pub(super) fn inherit_types(&mut self) -> Result<(), Error> {
        // Elements with a settled type are not visited again: chains of heads can be long.
        let mut is_settled = vec![false; self.schemas.elements.len()];
        for index in 0..is_settled.len() {
            let mut chain = Vec::new();
            let mut id = ElementId(index as u32);
            while let Some(head) = self.head_if_untyped(id).filter(|_| !is_settled[id.index()]) {
                if chain.len() >= is_settled.len() {
                    let place = self.schemas.elements[index].place;
                    return Err(self.sources.invalid("a substitution group with itself as its head", place));
                }
                chain.push(id);
                id = head;
            }
            let type_id = self.schemas[id].type_id;
            for id in chain {
                is_settled[id.index()] = true;
                self.schemas.elements[id.index()].type_id = type_id;
            }
        }
        Ok(())
    }

    /// Returns the head of an element that has no type of its own.
    fn head_if_untyped(&self, id: ElementId) -> Option<ElementId> {
        let element = &self.schemas[id];
        element.substitutes_for.filter(|_| element.type_id == TypeId::ANY)
    }

    /// Reads a `sequence`, `choice`, `all`, `group`, `element` or `any` in a content model.
    pub(super) fn particle(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<Particle, Error> {
        let term = match node.local() {
            "sequence" => Term::Sequence(self.particles(node, scope)?),
            "choice" => Term::Choice(self.particles(node, scope)?),
            "all" => Term::All(self.particles(node, scope)?),
            "group" => {
                let group = self.reference_or_miss(ComponentKind::Group, node, "ref", scope)?;
                let group = group.ok_or_else(|| self.sources.invalid("a group without `ref`", node.place()))?;
                group.map_or(Term::Sequence(Vec::new()), |number| Term::Group(GroupId(number)))
            }
            "any" => Term::Any(wildcard(node, scope)),
            _ => match self.element_use(node, scope)? {
                Some(element) => Term::Element(element),
                None => Term::Any(Wildcard { namespaces: WildcardNamespaces::Any, process: ProcessContents::Lax }),
            },
        };
        let (min, max) = self.occurrence(node)?;
        Ok(Particle { min, max, term })
    }

    fn particles(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<Vec<Particle>, Error> {
        let mut particles = Vec::new();
        for child in node.children_of(Vocabulary::Xsd) {
            if is_model(child) || matches!(child.local(), "element" | "any") {
                let particle = self.particle(child, scope)?;
                if particle.max != Some(0) {
                    particles.push(particle);
                }
            }
        }
        Ok(particles)
    }

    /// Returns the element at this position; `None` if its name is unknown.
    fn element_use(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<Option<ElementId>, Error> {
        match self.reference_or_miss(ComponentKind::Element, node, "ref", scope)? {
            Some(Ok(number)) => return Ok(Some(ElementId(number))),
            Some(Err(missing)) => {
                let name = Some(qname(&self.sources.names, missing)).filter(|name| !has_prefix(name));
                return Ok(name.map(|name| self.push_element(vacant(name, node.place()))));
            }
            None => {}
        }
        let Some(local) = node.attribute("name").filter(|local| !local.is_empty()) else {
            return Err(self.sources.invalid("an element with neither `name` nor `ref`", node.place()));
        };
        let is_qualified = node.attribute("form").map_or(scope.elements_qualified, |form| form == "qualified");
        let namespace = if is_qualified { &*scope.unit.namespace } else { "" };
        let declaration = self.element_declaration(node, scope, QName::owned(namespace, local), false)?;
        Ok(Some(self.push_element(declaration)))
    }

    fn push_element(&mut self, declaration: Element) -> ElementId {
        self.schemas.elements.push(declaration);
        ElementId(self.schemas.elements.len() as u32 - 1)
    }

    /// Reads `minOccurs` and `maxOccurs`.
    fn occurrence(&mut self, node: Node<'s>) -> Result<(u32, Option<u32>), Error> {
        let min = node.attribute("minOccurs").map_or(Ok(1), |text| self.count(node, "minOccurs", text))?;
        let max = match node.attribute("maxOccurs").map(str::trim_ascii) {
            None => Some(1),
            Some("unbounded" | "*") => None,
            Some(text) => Some(self.count(node, "maxOccurs", text)?),
        };
        // A number beyond `u32` counts as unbounded.
        let max = max.and_then(|max| u32::try_from(max).ok());
        let min = if max == Some(0) { 0 } else { u32::try_from(min).unwrap_or(u32::MAX) };
        if max.is_some_and(|max| min > max) {
            // `minOccurs="2"` without `maxOccurs`, or the other way round.
            return Err(self.sources.invalid("`minOccurs` is greater than `maxOccurs`", node.place()));
        }
        Ok((min, max))
    }

    /// Parses a number of occurrences; zero may have any sign (XSD 1.0 part 2, 3.3.20). Numbers
    /// that are too large saturate.
    fn count(&self, node: Node<'s>, name: &str, text: &str) -> Result<u64, Error> {
        let number = text.trim_ascii();
        let (is_negative, digits) = match number.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, number.strip_prefix('+').unwrap_or(number)),
        };
        let is_digit = |byte: u8| byte == b'0' || byte.is_ascii_digit() && !is_negative;
        if digits.is_empty() || !digits.bytes().all(is_digit) {
            return Err(self.sources.invalid(format!("`{name}=\"{text}\"` is not a number"), node.place()));
        }
        Ok(digits.parse().unwrap_or(u64::MAX))
    }
}
