//! Complex types (XSD 1.0 part 1, 3.4) and SOAP arrays (WSDL 1.1, 2.2).

use super::elements::is_model;
use super::registry::ComponentKind;
use super::{Builder, Scope, block};
use crate::Error;
use crate::document::{Node, Vocabulary, ns};
use crate::xsd::{
    Block, ComplexType, Content, Derivation, ElementId, Particle, SimpleType, SoapArray, Term, Type, TypeDefinition,
    TypeId, Variety,
};

impl<'s> Builder<'s> {
    /// Reads a `simpleType` or `complexType` element.
    pub(super) fn type_definition(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<Type, Error> {
        if node.local() == "simpleType" { self.simple_type(node, scope) } else { self.complex_type(node, scope) }
    }

    pub(super) fn complex_type(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<Type, Error> {
        if node.attribute("base").is_some() {
            let what = "a complex type with `base`, as in drafts of XML Schema";
            return Err(self.sources.not_supported(what, node.place()));
        }
        let is_true = |node: Node<'_>, name| matches!(node.attribute(name), Some("true" | "1"));
        let content =
            node.children_of(Vocabulary::Xsd).find(|child| matches!(child.local(), "simpleContent" | "complexContent"));
        let derivation = |node: Node<'s>| node.children_of(Vocabulary::Xsd).find(|child| is_derivation(*child));
        let mut complex = match (content, derivation(content.unwrap_or(node))) {
            (Some(content), Some(by)) => self.derived_content(content, by, scope)?,
            (Some(content), None) => {
                self.tolerate(content, "is read as the content of the type: it neither restricts nor extends another");
                self.plain_content(content, scope)?
            }
            (None, Some(by)) => {
                self.tolerate(by, "is read as if it were in `complexContent` or `simpleContent`");
                self.derived_content(node, by, scope)?
            }
            (None, None) => self.plain_content(node, scope)?,
        };
        complex.is_abstract = is_true(node, "abstract");
        complex.block = block(node, scope);
        complex.is_mixed |= is_true(node, "mixed");
        let definition = TypeDefinition::Complex(complex);
        Ok(Type { name: None, definition, documentation: node.documentation(), place: Some(node.place()) })
    }

    fn tolerate(&mut self, node: Node<'s>, how: &str) {
        self.tolerated.push((format!("<{}> {how}", node.local()), node.place()));
    }

    fn plain_content(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<ComplexType, Error> {
        Ok(ComplexType {
            base: TypeId::ANY,
            derivation: Derivation::Restriction,
            is_abstract: false,
            block: Block::default(),
            is_mixed: false,
            content: self.model(node, scope)?,
            attributes: self.attributes(node, scope)?,
            array: None,
        })
    }

    /// Returns the content model of a type or a derivation.
    fn model(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<Content, Error> {
        match node.children().find(|child| is_model(*child)) {
            Some(model) => {
                let particle = self.particle(model, scope)?;
                Ok(if particle.max == Some(0) { Content::Empty } else { Content::Elements(particle) })
            }
            None => Ok(Content::Empty),
        }
    }

    fn derived_content(&mut self, content: Node<'s>, by: Node<'s>, scope: Scope<'s>) -> Result<ComplexType, Error> {
        let base = self.reference_or_miss(ComponentKind::Type, by, "base", scope)?;
        let base = base.ok_or_else(|| self.sources.invalid("a derivation without a base", by.place()))?;
        let is_extension = by.local() == "extension";
        let is_text = content.local() == "simpleContent";
        let (base, derivation) = match base {
            Ok(number) if is_extension => (TypeId(number), Derivation::Extension),
            Ok(number) => (TypeId(number), Derivation::Restriction),
            Err(_) if is_text => (TypeId::ANY_SIMPLE, Derivation::Restriction),
            // An extension of `xsd:anyType` would start with any content.
            Err(_) => (TypeId::ANY, Derivation::Restriction),
        };
        let content_of_type = if is_text { self.text(by, base, is_extension, scope)? } else { self.model(by, scope)? };
        let array = self.soap_array(by, base, &content_of_type, scope)?;
        Ok(ComplexType {
            base,
            derivation,
            is_abstract: false,
            block: Block::default(),
            is_mixed: matches!(content.attribute("mixed"), Some("true" | "1")),
            content: content_of_type,
            attributes: self.attributes(by, scope)?,
            array,
        })
    }

    /// Returns text content: the base type, restricted by the facets of a restriction (XSD 1.0 part
    /// 1, 3.4.2).
    fn text(&mut self, by: Node<'s>, base: TypeId, is_extension: bool, scope: Scope<'s>) -> Result<Content, Error> {
        if is_extension {
            return Ok(Content::Text(None));
        }
        let inline = self.inline_simple(by, scope)?;
        let facets = self.facets(by)?;
        let (Some(facets), restricted) = (facets, inline.unwrap_or(base)) else { return Ok(Content::Text(inline)) };
        // The base may still be a complex type; its text is meant.
        let simple = SimpleType { variety: Variety::Restriction(restricted), facets: Some(facets), packing: None };
        let definition = TypeDefinition::Simple(simple);
        let id = self.push_type(Type { name: None, definition, documentation: None, place: Some(by.place()) });
        Ok(Content::Text(Some(id)))
    }

    /// Returns the items of a type derived from `soapenc:Array`: from `wsdl:arrayType`, or from the
    /// only element in its content.
    fn soap_array(
        &mut self,
        by: Node<'s>,
        base: TypeId,
        content: &Content,
        scope: Scope<'s>,
    ) -> Result<Option<SoapArray>, Error> {
        let is_array = |space| self.schemas[base].name.as_ref().is_some_and(|name| name.is(space, "Array"));
        if !is_array(ns::SOAP11_ENCODING) && !is_array(ns::SOAP12_ENCODING) {
            return Ok(None);
        }
        let element = only_element(content);
        let typed = by.children_of(Vocabulary::Xsd).find(|child| child.attribute_in(ns::WSDL, "arrayType").is_some());
        let Some(typed) = typed else {
            return Ok(Some(SoapArray { item: TypeId::ANY, element, dimensions: "[]".into() }));
        };
        let item = match self.single_name(typed, ns::WSDL, "arrayType") {
            Ok(Some(name)) => self.find_or_miss(ComponentKind::Type, name, typed, scope)?.map_or(TypeId::ANY, TypeId),
            Err(error) if self.sources.is_strict => return Err(error),
            Ok(None) | Err(_) => TypeId::ANY,
        };
        let text = typed.attribute_in(ns::WSDL, "arrayType").unwrap_or_default().trim_ascii();
        let (name, dimensions) = text.split_at(text.find('[').unwrap_or(text.len()));
        if are_dimensions(dimensions) && !name.contains(|c: char| c.is_ascii_whitespace()) {
            return Ok(Some(SoapArray { item, element, dimensions: dimensions.into() }));
        }
        let what = format!("`arrayType=\"{text}\"` is not a name with dimensions such as `[]`; it is read as a list");
        self.tolerated.push((what, typed.place()));
        Ok(Some(SoapArray { item, element, dimensions: "[]".into() }))
    }

    /// Gives arrays without an item type the type of their element.
    pub(super) fn complete_arrays(&mut self) {
        for index in 0..self.schemas.types.len() {
            let TypeDefinition::Complex(ComplexType { array: Some(array), .. }) = &self.schemas.types[index].definition
            else {
                continue;
            };
            let (TypeId::ANY, Some(element)) = (array.item, array.element) else { continue };
            let item = self.schemas[element].type_id;
            if let TypeDefinition::Complex(ComplexType { array: Some(array), .. }) =
                &mut self.schemas.types[index].definition
            {
                array.item = item;
            }
        }
    }
}

/// Returns true for `[]`, `[,]`, `[][3]` and the like (WSDL 1.1, 2.2; SOAP 1.1, 5.4.2).
fn are_dimensions(text: &str) -> bool {
    let is_size = |size: &str| size.bytes().all(|byte| byte.is_ascii_digit());
    let is_rank = |rank: &str| {
        let sizes = rank.strip_prefix('[').and_then(|rank| rank.strip_suffix(']'));
        sizes.is_some_and(|sizes| sizes.split(',').all(is_size))
    };
    !text.is_empty() && text.split_inclusive(']').all(is_rank)
}

fn is_derivation(node: Node<'_>) -> bool {
    matches!(node.local(), "restriction" | "extension")
}

/// Returns the only element in an array's content.
fn only_element(content: &Content) -> Option<ElementId> {
    let Content::Elements(Particle { term: Term::Sequence(particles) | Term::All(particles), .. }) = content else {
        return None;
    };
    match &particles[..] {
        [Particle { term: Term::Element(id), .. }] => Some(*id),
        _ => None,
    }
}
