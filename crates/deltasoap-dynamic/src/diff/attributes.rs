//! Attributes: presence, values, wildcards.

use super::content::{NO_TEXT, fresh, namespaces};
use super::language::Processing;
use super::pairs::{Deviation, Inclusion, Local, Subject};
use super::simple::{Texts, compare, other_than};
use crate::contract::Types;
use crate::facets;
use crate::validate::is_of_the_envelope;
use deltasoap_core::QName;
use deltasoap_wsdl::xsd::{AttributeId, AttributeUse, TypeId, Wildcard};

impl Inclusion<'_> {
    /// Compares the attributes of two types.
    pub(super) fn attributes(&self, [sub, sup]: [TypeId; 2], local: &mut Local) {
        for it in uses(self.sub, sub) {
            let name = &self.sub.import.schemas()[it.attribute].name;
            if is_of_the_envelope(name) {
                continue;
            }
            match (used(self.sup, sup, name), wildcard(self.sup, sup)) {
                (Some(other), _) => self.attribute(it, other, local),
                (None, Some(any)) if any.namespaces.allow(&name.namespace) => self.by_wildcard(it, any, local),
                _ => local.add(Subject::Attribute(name.clone()), Deviation::Attribute(name.clone(), None)),
            }
        }
        for other in uses(self.sup, sup).iter().filter(|it| it.is_required) {
            let name = &self.sup.import.schemas()[other.attribute].name;
            if !is_of_the_envelope(name) && !used(self.sub, sub, name).is_some_and(|it| it.is_required) {
                local.add(Subject::Attribute(name.clone()), Deviation::Least);
            }
        }
        self.other_attributes([sub, sup], local);
    }

    /// Compares the values of two attributes of the same name.
    fn attribute(&self, sub: &AttributeUse, sup: &AttributeUse, local: &mut Local) {
        let [one, other] = [Attribute::of(self.sub, sub), Attribute::of(self.sup, sup)];
        let name = one.name;
        let (one_type, other_type) = (self.simple_sub(one.type_id), self.simple_sup(other.type_id));
        let value = |text: &str| {
            facets::canonical(other_type.schemas, other_type.id, text, &|name| Some(QName::owned("", name)))
        };
        let text = match (one.fixed, other.fixed) {
            (Some(text), Some(only)) if value(text) == value(only) => None,
            (Some(text), None) if other_type.allows(text) => None,
            (Some(text), _) => Some(Ok(text.to_owned())),
            (None, Some(only)) => Some(other_than(one_type, |text| value(text) == value(only)).ok_or(NO_TEXT)),
            (None, None) => match compare(one_type, other_type) {
                Texts::Included => None,
                Texts::Excluded(text) => Some(Ok(text)),
                Texts::Unknown => Some(Err(NO_TEXT)),
            },
        };
        match text {
            None => {}
            Some(Ok(text)) => {
                local.add(Subject::AttributeText(name.clone()), Deviation::Attribute(name.clone(), Some(text)));
            }
            Some(Err(reason)) => local.add_unknown(Subject::AttributeText(name.clone()), reason),
        }
        let is_same = match (one.default, other.default) {
            (Some(one), Some(other)) => value(one) == value(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        if !is_same && (one.fixed, other.fixed) == (None, None) {
            local.add_unknown(Subject::AttributeDefault(name.clone()), "an absent attribute has another value then");
        }
    }

    /// Compares an attribute with what a wildcard allows in its place.
    fn by_wildcard(&self, it: &AttributeUse, any: &Wildcard, local: &mut Local) {
        let name = &self.sub.import.schemas()[it.attribute].name;
        match (Processing::from(any.process), self.sup.import.schemas().attribute_named(name)) {
            (Processing::Skip, _) | (Processing::Lax, None) => {}
            (Processing::Strict, None) => {
                local.add(Subject::Attribute(name.clone()), Deviation::Attribute(name.clone(), None));
            }
            (_, Some(id)) => self.attribute(it, &use_of(id), local),
        }
    }

    /// Compares the global attributes that a wildcard allows.
    fn global_attributes(&self, [sub, sup]: [TypeId; 2], [own, other]: [Option<&Wildcard>; 2], local: &mut Local) {
        let schemas = self.sub.import.schemas();
        for it in schemas.global_attributes().map(use_of) {
            let name = &schemas[it.attribute].name;
            let allows = |any: &&Wildcard| any.namespaces.allow(&name.namespace);
            let is_read = own.filter(allows).is_some_and(|any| Processing::from(any.process) != Processing::Skip);
            if !is_read || used(self.sub, sub, name).is_some() || is_of_the_envelope(name) {
                continue;
            }
            match (used(self.sup, sup, name), other.filter(allows)) {
                (Some(other), _) => self.attribute(&it, other, local),
                (None, Some(any)) => self.by_wildcard(&it, any, local),
                (None, None) => {}
            }
        }
    }

    /// Compares the attributes that wildcards allow.
    fn other_attributes(&self, [sub, sup]: [TypeId; 2], local: &mut Local) {
        let Some(own) = wildcard(self.sub, sub) else { return };
        let other = wildcard(self.sup, sup);
        self.global_attributes([sub, sup], [Some(own), other], local);
        if other == Some(own) {
            return;
        }
        let both: Vec<&Wildcard> = [Some(own), other].into_iter().flatten().collect();
        for namespace in namespaces(&both).iter().filter(|it| own.namespaces.allow(it)) {
            let name = fresh([self.sub, self.sup], namespace);
            let deviation = Deviation::Attribute(name, Some("text".to_owned()));
            let [process, needed] = [Some(own), other].map(|it| it.map(|it| Processing::from(it.process)));
            match other.filter(|other| other.namespaces.allow(namespace)) {
                Some(_) if needed <= process => {}
                // No undeclared attribute is valid for a strict wildcard.
                _ if process == Some(Processing::Strict) => {
                    return local.add_unknown(Subject::AttributeWildcard, "declared attributes are not compared here");
                }
                Some(_) if needed == Some(Processing::Lax) => {
                    let reason = "what the wildcard allows is validated then";
                    return local.add_unknown(Subject::AttributeWildcard, reason);
                }
                _ => return local.add(Subject::AttributeWildcard, deviation),
            }
        }
    }
}

/// An attribute of a type, with what its declaration adds.
pub(super) struct Attribute<'t> {
    pub(super) name: &'t QName,
    pub(super) type_id: TypeId,
    pub(super) is_required: bool,
    pub(super) fixed: Option<&'t str>,
    pub(super) default: Option<&'t str>,
}

impl<'t> Attribute<'t> {
    pub(super) fn of(types: &'t Types, it: &'t AttributeUse) -> Self {
        let declaration = &types.import.schemas()[it.attribute];
        Attribute {
            name: &declaration.name,
            type_id: declaration.type_id,
            is_required: it.is_required,
            fixed: it.fixed.as_deref().or(declaration.fixed.as_deref()),
            default: it.default.as_deref().or(declaration.default.as_deref()),
        }
    }
}

impl<'t> Attribute<'t> {
    /// Returns the attribute of a type with a name; if the type has none, the global one, which a
    /// wildcard may allow.
    pub(super) fn named(types: &'t Types, id: TypeId, name: &QName) -> Option<Self> {
        if let Some(it) = used(types, id, name) {
            return Some(Self::of(types, it));
        }
        let declaration = &types.import.schemas()[types.import.schemas().attribute_named(name)?];
        Some(Attribute {
            name: &declaration.name,
            type_id: declaration.type_id,
            is_required: false,
            fixed: declaration.fixed.as_deref(),
            default: declaration.default.as_deref(),
        })
    }
}

/// Returns an attribute that is used as it is declared.
pub(super) fn use_of(attribute: AttributeId) -> AttributeUse {
    AttributeUse { attribute, is_required: false, is_prohibited: false, default: None, fixed: None, value_name: None }
}

pub(super) fn uses(types: &Types, id: TypeId) -> &[AttributeUse] {
    types.import.schemas().content(id).map_or(&[], |normal| &normal.attributes)
}

/// Returns the attribute of a type with a name.
pub(super) fn used<'t>(types: &'t Types, id: TypeId, name: &QName) -> Option<&'t AttributeUse> {
    uses(types, id).iter().find(|it| types.import.schemas()[it.attribute].name == *name)
}

fn wildcard(types: &Types, id: TypeId) -> Option<&Wildcard> {
    types.import.schemas().content(id)?.any_attribute.as_ref()
}
