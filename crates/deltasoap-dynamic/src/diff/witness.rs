//! Witnesses: messages that one contract allows and the other one refuses.
//!
//! A difference is shown in a message with only what is required and one deviation. The message
//! proves the difference if the validator finds nothing wrong with it by the one contract, and
//! something by the other: in the message, and in the deviating element alone, so that another
//! difference elsewhere does not count as a proof.

use super::attributes::{use_of, used};
use super::content::{Body, samples, word_with};
use super::language::{Processing, Symbol, add_wildcards, name_of};
use super::messages::written;
use super::pairs::{Declared, Deviation, Hop};
use super::{MessageKind, Side, Witness};
use crate::json::document;
use crate::sample::Sampler;
use crate::{Contract, Operation};
use deltasoap_core::{Child, Node, QName};
use deltasoap_wsdl::xsd::TypeId;

/// Two operations that are compared, and a kind of message of both.
#[derive(Clone, Copy)]
pub(super) struct Exchange<'e> {
    /// The operation whose messages are examined.
    pub(super) sub: &'e Operation,
    /// The contract that may refuse them.
    pub(super) sup: &'e Contract,
    pub(super) kind: &'e MessageKind,
    /// The WSDL that the examined messages are from.
    pub(super) side: Side,
}

/// Why there is no proof.
const NOT_BUILT: &str = "no message that shows it could be built";
const NOT_REFUSED: &str = "the message that was built to show it is valid for both";

impl Exchange<'_> {
    /// Returns a message that is refused because of a deviation in it. `root` is the number of the
    /// element that the trail begins with.
    ///
    /// # Errors
    /// If there is none: the reason.
    pub(super) fn prove(&self, root: usize, trail: &[Hop], deviation: &Deviation) -> Result<Witness, String> {
        let types = &self.sub.contract().types;
        let mut builder = Builder { exchange: self, sampler: Sampler::least(types) };
        let node = builder.element(trail, deviation).ok_or(NOT_BUILT)?;
        let last = trail.last().ok_or(NOT_BUILT)?;
        let alone = builder.deviating(last, deviation).ok_or(NOT_BUILT)?;
        let message = written(self.sub, self.kind, &mut builder.sampler, Some((root, node))).ok_or(NOT_BUILT)?;
        let [_, declared] = last.declared;
        let alone = document(&alone).map_err(|_| NOT_BUILT)?;
        let local = self.sup.validate_element(alone.as_slice(), declared.type_id, declared.element);
        let is_encoded = super::messages::shape(self.sub, self.kind).is_some_and(|shape| shape.is_encoded);
        if local.is_empty() && !is_encoded {
            return Err(NOT_REFUSED.to_owned());
        }
        self.judged(message)
    }

    /// Returns a message with only what is required, which the other contract refuses as a whole.
    ///
    /// # Errors
    /// If there is none: the reason.
    pub(super) fn prove_whole(&self) -> Result<Witness, String> {
        let mut sampler = Sampler::least(&self.sub.contract().types);
        self.judged(written(self.sub, self.kind, &mut sampler, None).ok_or(NOT_BUILT)?)
    }

    /// Returns the message as a witness if the one contract allows it and the other refuses it.
    fn judged(&self, message: Vec<u8>) -> Result<Witness, String> {
        if let Some(finding) = self.sub.contract().validate(&message).first() {
            return Err(format!("{NOT_BUILT}: {}: {}", finding.path, finding.message));
        }
        let findings = self.sup.validate(&message);
        let refusal = findings.first().ok_or(NOT_REFUSED)?;
        let message = String::from_utf8(message).map_err(|_| NOT_BUILT)?;
        Ok(Witness { message, valid_for: self.side, refusal: format!("{}: {}", refusal.path, refusal.message) })
    }
}

/// Builds messages.
struct Builder<'b> {
    exchange: &'b Exchange<'b>,
    sampler: Sampler<'b>,
}

impl Builder<'_> {
    /// Builds the element at which a trail begins, with the deviation at the end of the trail.
    fn element(&mut self, trail: &[Hop], deviation: &Deviation) -> Option<Node> {
        let (hop, rest) = trail.split_first()?;
        let Some(next) = rest.first() else { return self.deviating(hop, deviation) };
        if next.is_item {
            return None;
        }
        let inner = self.element(rest, deviation)?;
        let (sub, sup) = (&self.exchange.sub.contract().types, &self.exchange.sup.types);
        let Body::Elements(model, _) = Body::of(sub, hop.actual[0]) else { return None };
        let other = match Body::of(sup, hop.actual[1]) {
            Body::Elements(model, _) => Some(model),
            _ => None,
        };
        let mut wildcards = Vec::new();
        add_wildcards(model, &mut wildcards);
        let mut samples = samples([sub, sup], &wildcards);
        // A wildcard may allow the element.
        samples.push(next.name.clone());
        let word = word_with(sub, model, sup, other, &samples, &next.name)?;
        let at = word.iter().position(|symbol| name_of(sub, symbol) == &next.name)?;
        let mut children = self.children(&word);
        children[at] = Child::Element(inner);
        Some(self.typed(hop, children))
    }

    fn typed(&mut self, hop: &Hop, children: Vec<Child>) -> Node {
        let node = self.sampler.part_with(&hop.name, hop.actual[0], children);
        self.named(hop, node)
    }

    /// Names the type of an element that is not of the declared one.
    fn named(&self, hop: &Hop, node: Node) -> Node {
        match hop.actual[0] == hop.declared[0].type_id {
            true => node,
            false => self.exchange.sub.contract().types.typed_tree(node, hop.actual[0]),
        }
    }

    fn children(&mut self, word: &[Symbol]) -> Vec<Child> {
        let schemas = self.exchange.sub.contract().types.import.schemas();
        let child = |symbol: &Symbol| match symbol {
            Symbol::Element(id) => self.sampler.part(&schemas[*id].name, schemas[*id].type_id, Some(*id)),
            Symbol::Any(name, process) => match schemas.element_named(name) {
                Some(id) => self.sampler.part(name, schemas[id].type_id, Some(id)),
                None => self.sampler.undeclared(name, *process == Processing::Strict),
            },
        };
        word.iter().map(child).map(Child::Element).collect()
    }

    /// Builds an element that deviates itself.
    fn deviating(&mut self, hop: &Hop, deviation: &Deviation) -> Option<Node> {
        let (name, [actual, _]) = (&hop.name, hop.actual);
        let [Declared { element, type_id }, _] = hop.declared;
        let types = &self.exchange.sub.contract().types;
        Some(match deviation {
            Deviation::Least if actual == type_id => self.sampler.part(name, type_id, element),
            Deviation::Least => {
                let node = self.sampler.part(name, actual, None);
                self.named(hop, node)
            }
            Deviation::Nil => self.sampler.nil_part(name, actual),
            Deviation::Text(text) => {
                let children = if text.is_empty() { Vec::new() } else { vec![Child::Text(text.as_str().into())] };
                self.typed(hop, children)
            }
            Deviation::TextBetween => {
                let mut node = self.deviating(hop, &Deviation::Least)?;
                node.children.retain(|child| matches!(child, Child::Element(_)));
                node.children.insert(0, Child::Text("text".into()));
                node
            }
            Deviation::Children(word) => {
                let children = self.children(word);
                self.typed(hop, children)
            }
            Deviation::Attribute(name, text) => {
                let mut node = self.deviating(hop, &Deviation::Least)?;
                let text = match text {
                    Some(text) => text.clone(),
                    None => self.attribute_text(&mut node, actual, name)?,
                };
                node.attributes.retain(|(other, _)| other != name);
                node.attributes.push((name.clone(), text.into()));
                node
            }
            Deviation::As(derived) => types.typed_tree(self.sampler.part(name, *derived, None), *derived),
        })
    }

    fn attribute_text(&mut self, node: &mut Node, type_id: TypeId, name: &QName) -> Option<String> {
        let types = &self.exchange.sub.contract().types;
        // A wildcard may allow the attribute.
        let global = || types.import.schemas().attribute_named(name).map(use_of);
        let it = used(types, type_id, name).cloned().or_else(global)?;
        Some(self.sampler.attribute_text(node, &it))
    }
}
