//! Attributes, attribute groups and wildcards (XSD 1.0 part 1, 3.2, 3.6, 3.10).

use super::registry::ComponentKind;
use super::{Builder, Scope, has_prefix};
use crate::Error;
use crate::document::{Node, Vocabulary, qname};
use crate::xsd::{
    Attribute, AttributeGroupId, AttributeId, AttributeUse, Attributes, ProcessContents, TypeId, Wildcard,
    WildcardNamespaces,
};
use deltasoap_core::QName;

/// Creates an empty declaration, to be filled in.
pub(super) fn vacant(name: QName) -> Attribute {
    Attribute { name, type_id: TypeId::ANY_SIMPLE, default: None, fixed: None, value_name: None, documentation: None }
}

impl<'s> Builder<'s> {
    /// Returns all attributes of a type, a derivation or a group.
    pub(super) fn attributes(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<Attributes, Error> {
        let mut attributes = Attributes::default();
        for child in node.children_of(Vocabulary::Xsd) {
            match child.local() {
                "attribute" => attributes.uses.extend(self.attribute_use(child, scope)?),
                "attributeGroup" => {
                    let number = self.reference_or_miss(ComponentKind::AttributeGroup, child, "ref", scope)?;
                    let number = number
                        .ok_or_else(|| self.sources.invalid("an attribute group without `ref`", child.place()))?;
                    attributes.groups.extend(number.ok().map(AttributeGroupId));
                }
                "anyAttribute" => attributes.any = Some(wildcard(child, scope)),
                _ => {}
            }
        }
        Ok(attributes)
    }

    /// Returns an attribute use; `None` if its name is unknown.
    fn attribute_use(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<Option<AttributeUse>, Error> {
        let attribute = match self.reference_or_miss(ComponentKind::Attribute, node, "ref", scope)? {
            Some(Ok(number)) => AttributeId(number),
            Some(Err(missing)) => match qname(&self.sources.names, missing) {
                name if has_prefix(&name) => return Ok(None),
                name => self.push_attribute(vacant(name)),
            },
            None => self.local_attribute(node, scope)?,
        };
        let use_ = node.attribute("use");
        let text = |name| node.attribute_in("", name).map(Box::from);
        Ok(Some(AttributeUse {
            attribute,
            is_required: use_ == Some("required"),
            is_prohibited: use_ == Some("prohibited"),
            default: text("default"),
            fixed: text("fixed"),
            value_name: self.value_name(node),
        }))
    }

    fn local_attribute(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<AttributeId, Error> {
        let Some(local) = node.attribute("name") else {
            return Err(self.sources.invalid("an attribute with neither `name` nor `ref`", node.place()));
        };
        let is_qualified = node.attribute("form").map_or(scope.attributes_qualified, |form| form == "qualified");
        let namespace = if is_qualified { &*scope.unit.namespace } else { "" };
        let declaration = self.attribute_declaration(node, scope, QName::owned(namespace, local))?;
        Ok(self.push_attribute(declaration))
    }

    fn push_attribute(&mut self, declaration: Attribute) -> AttributeId {
        self.schemas.attributes.push(declaration);
        AttributeId(self.schemas.attributes.len() as u32 - 1)
    }

    pub(super) fn attribute_declaration(
        &mut self,
        node: Node<'s>,
        scope: Scope<'s>,
        name: QName,
    ) -> Result<Attribute, Error> {
        let type_id = self.reference_or_inline(node, "type", scope)?.unwrap_or(TypeId::ANY_SIMPLE);
        let text = |name| node.attribute_in("", name).map(Box::from);
        Ok(Attribute {
            type_id,
            default: text("default"),
            fixed: text("fixed"),
            value_name: self.value_name(node),
            documentation: node.documentation(),
            ..vacant(name)
        })
    }

    /// Returns the name that a default or fixed value stands for.
    pub(super) fn value_name(&self, node: Node<'s>) -> Option<QName> {
        let name = (*node.names("", "fixed").or_else(|| node.names("", "default"))?.first()?)?;
        Some(qname(&self.sources.names, name))
    }
}

/// Reads an `any` or `anyAttribute` element.
pub(super) fn wildcard(node: Node<'_>, scope: Scope<'_>) -> Wildcard {
    let own = &*scope.unit.namespace;
    let listed = |word| match word {
        "##targetNamespace" => own.into(),
        "##local" => "".into(),
        word => Box::from(word),
    };
    let namespaces = match node.attribute("namespace") {
        None | Some("##any") => WildcardNamespaces::Any,
        Some("##other") => WildcardNamespaces::Other(own.into()),
        Some(list) => WildcardNamespaces::Only(list.split_ascii_whitespace().map(listed).collect()),
    };
    let process = match node.attribute("processContents") {
        Some("lax") => ProcessContents::Lax,
        Some("skip") => ProcessContents::Skip,
        _ => ProcessContents::Strict,
    };
    Wildcard { namespaces, process }
}
