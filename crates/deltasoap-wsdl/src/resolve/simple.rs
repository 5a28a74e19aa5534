//! Simple types (XSD 1.0 part 1, 3.14) and facets (part 2, 4.3).

use super::registry::ComponentKind;
use super::{Builder, Scope};
use crate::Error;
use crate::document::{Node, Vocabulary, qname};
use crate::xsd::{Enumerated, Facets, SimpleType, Type, TypeDefinition, TypeId, Variety, WhiteSpace};

impl<'s> Builder<'s> {
    /// Reads a `simpleType` element.
    pub(super) fn simple_type(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<Type, Error> {
        let is_variety = |child: &Node<'_>| matches!(child.local(), "restriction" | "list" | "union" | "extension");
        let Some(by) = node.children_of(Vocabulary::Xsd).find(is_variety) else {
            let what = "a simple type without `restriction`, `list` or `union`";
            return Err(self.sources.invalid(what, node.place()));
        };
        if by.local() == "extension" {
            let what = "a simple type that extends another is read as that one, without attributes";
            self.tolerated.push((what.to_owned(), by.place()));
        }
        let simple = match by.local() {
            "restriction" | "extension" => {
                let base = self.reference_or_inline(by, "base", scope)?;
                let base = base.ok_or_else(|| self.sources.invalid("a restriction without a base", by.place()))?;
                let packing = self.packing(node);
                SimpleType { variety: Variety::Restriction(base), facets: self.facets(by)?, packing }
            }
            "list" => {
                let item = self.reference_or_inline(by, "itemType", scope)?;
                let item = item.ok_or_else(|| self.sources.invalid("a list without an item type", by.place()))?;
                SimpleType { variety: Variety::List(item), facets: None, packing: None }
            }
            _ => SimpleType { variety: Variety::Union(self.members(by, scope)?), facets: None, packing: None },
        };
        let definition = TypeDefinition::Simple(simple);
        Ok(Type { name: None, definition, documentation: node.documentation(), place: Some(node.place()) })
    }

    /// Returns the simple type that an attribute names, or else the inline `simpleType`.
    pub(super) fn reference_or_inline(
        &mut self,
        node: Node<'s>,
        attribute: &str,
        scope: Scope<'s>,
    ) -> Result<Option<TypeId>, Error> {
        match self.reference_or_miss(ComponentKind::Type, node, attribute, scope)? {
            Some(Ok(number)) => Ok(Some(TypeId(number))),
            Some(Err(_)) => Ok(Some(TypeId::ANY_SIMPLE)),
            None => self.inline_simple(node, scope),
        }
    }

    /// Returns the inline `simpleType` of an element.
    pub(super) fn inline_simple(&mut self, node: Node<'s>, scope: Scope<'s>) -> Result<Option<TypeId>, Error> {
        let Some(inline) = node.child(Vocabulary::Xsd, "simpleType") else { return Ok(None) };
        let inline = self.simple_type(inline, scope)?;
        Ok(Some(self.push_type(inline)))
    }

    fn members(&mut self, union: Node<'s>, scope: Scope<'s>) -> Result<Vec<TypeId>, Error> {
        let mut members = Vec::new();
        for name in union.names("", "memberTypes").unwrap_or_default() {
            let no_name = || self.sources.invalid("`memberTypes` contains something that is not a name", union.place());
            let name = name.ok_or_else(no_name)?;
            let member = self.find_or_miss(ComponentKind::Type, name, union, scope)?;
            members.push(member.map_or(TypeId::ANY_SIMPLE, TypeId));
        }
        for inline in union.children_of(Vocabulary::Xsd).filter(|child| child.local() == "simpleType") {
            let inline = self.simple_type(inline, scope)?;
            members.push(self.push_type(inline));
        }
        Ok(members)
    }

    /// Returns the facets of a restriction; `None` if there are none.
    pub(super) fn facets(&mut self, restriction: Node<'s>) -> Result<Option<Box<Facets>>, Error> {
        let mut facets = Facets::default();
        for facet in restriction.children_of(Vocabulary::Xsd) {
            self.facet(&mut facets, facet)?;
        }
        Ok((facets != Facets::default()).then(|| Box::new(facets)))
    }

    fn facet(&mut self, facets: &mut Facets, node: Node<'s>) -> Result<(), Error> {
        let value = || node.attribute_in("", "value").unwrap_or_default();
        let text = || Some(Box::from(value().trim_ascii()));
        match node.local() {
            "length" => facets.length = Some(self.number_facet(node)?),
            "minLength" => facets.min_length = Some(self.number_facet(node)?),
            "maxLength" => facets.max_length = Some(self.number_facet(node)?),
            "totalDigits" | "precision" => facets.total_digits = Some(self.number_facet(node)?),
            "fractionDigits" | "scale" => facets.fraction_digits = Some(self.number_facet(node)?),
            "pattern" => facets.patterns.push(value().into()),
            "enumeration" => {
                let name = node.names("", "value").and_then(|names| *names.first()?);
                let name = name.map(|name| qname(&self.sources.names, name));
                facets.enumeration.push(Enumerated {
                    value: value().into(),
                    name,
                    documentation: node.documentation(),
                });
            }
            "whiteSpace" => facets.white_space = Some(self.white_space(node)?),
            "minInclusive" => facets.min_inclusive = text(),
            "maxInclusive" => facets.max_inclusive = text(),
            "minExclusive" => facets.min_exclusive = text(),
            "maxExclusive" => facets.max_exclusive = text(),
            _ => {}
        }
        Ok(())
    }

    fn number_facet(&self, node: Node<'s>) -> Result<u64, Error> {
        let text = node.attribute("value").unwrap_or_default();
        let bad = || self.sources.invalid(format!("`{text}` is not a number for <{}>", node.local()), node.place());
        text.parse().map_err(|_| bad())
    }

    fn white_space(&self, node: Node<'s>) -> Result<WhiteSpace, Error> {
        match node.attribute("value") {
            Some("preserve") => Ok(WhiteSpace::Preserve),
            Some("replace") => Ok(WhiteSpace::Replace),
            Some("collapse") => Ok(WhiteSpace::Collapse),
            _ => Err(self.sources.invalid("`whiteSpace` must be preserve, replace or collapse", node.place())),
        }
    }
}
