//! Samples made of parts: elements with only what is required, and with given children, text or
//! attributes. Messages that show one property of a schema are built from them.

use super::Sampler;
use crate::contract::Types;
use deltasoap_core::{Child, Node, QName, ns};
use deltasoap_wsdl::xsd::{AttributeUse, ElementId, TypeId, Wildcard};

impl<'t> Sampler<'t> {
    /// Creates a sampler that leaves out everything optional.
    pub(crate) fn least(types: &'t Types) -> Self {
        Sampler { is_least: true, ..Sampler::new(types, None) }
    }

    /// Returns an element of a type, by its declaration if there is one.
    pub(crate) fn part(&mut self, name: &QName, type_id: TypeId, declaration: Option<ElementId>) -> Node {
        let declaration = declaration.map(|id| &self.schemas()[id]);
        self.element(name, type_id, declaration)
    }

    /// Returns a nil element of a type.
    pub(crate) fn nil_part(&mut self, name: &QName, type_id: TypeId) -> Node {
        self.nil(name, type_id)
    }

    /// Returns an element of exactly this type, with its required attributes and these children.
    pub(crate) fn part_with(&mut self, name: &QName, type_id: TypeId, children: Vec<Child>) -> Node {
        let mut node = Node::new(name.clone());
        let normal = self.schemas().content(type_id);
        normal.iter().flat_map(|normal| &normal.attributes).for_each(|it| self.attribute_use(it, &mut node));
        node.children = children;
        node
    }

    /// Returns a text of one of the attributes of an element.
    pub(crate) fn attribute_text(&mut self, node: &mut Node, attribute: &AttributeUse) -> String {
        let declaration = &self.schemas()[attribute.attribute];
        let own = attribute.fixed.as_deref().map(|text| (text, attribute.value_name.as_ref()));
        let fixed = own.or_else(|| declaration.fixed.as_deref().map(|text| (text, declaration.value_name.as_ref())));
        self.text_in(node, declaration.type_id, fixed)
    }

    /// Returns an element that a wildcard allows and that no schema declares. For a strict
    /// wildcard, it names a type of XML Schema (XSD 1.0 part 1, 3.4.4 and 3.10.4).
    pub(crate) fn undeclared(&mut self, name: &QName, is_strict: bool) -> Node {
        let mut node = Node::with_text(name.clone(), "text");
        if is_strict {
            let type_name = self.name_text(&QName::new(ns::XSD, "string"), &mut node);
            node.attributes.push((QName::new(ns::XSI, "type"), type_name.into()));
        }
        node
    }

    /// Returns an element that a wildcard allows: a declared one if the wildcard is strict.
    pub(crate) fn wildcard_part(&mut self, wildcard: &Wildcard) -> Node {
        self.any(wildcard)
    }

    /// Corrects the values of a finished sample that depend on each other: keys and `xsd:ID`s.
    pub(crate) fn settled(&mut self, mut node: Node, type_id: TypeId, declaration: Option<ElementId>) -> Node {
        let declaration = declaration.map(|id| &self.schemas()[id]);
        self.settle(&mut node, type_id, declaration);
        node
    }
}
