//! Elements as declared: nil, fixed and default values, the types that may stand for the declared
//! one, identity constraints.

use super::pairs::{Declared, Deviation, Inclusion, Local, Pair, Step, Subject};
use super::simple::{Simple, other_than};
use crate::contract::Types;
use crate::facets;
use deltasoap_core::{QName, ns};
use deltasoap_wsdl::NormalizedContent;
use deltasoap_wsdl::xsd::{Block, Element, IdentityConstraint, TypeDefinition, TypeId};

/// Maximum number of derived types that are compared for one element.
const MAX_DERIVED: usize = 5_000;

impl Inclusion<'_> {
    /// Compares two declared elements of the same name.
    pub(super) fn declared(&self, [sub, sup]: [Declared; 2]) -> Local {
        let mut local = Local::default();
        let elements = [declaration(self.sub, sub), declaration(self.sup, sup)];
        if can_be_nil(elements[0]) && !can_be_nil(elements[1]) && !is_abstract(self.sub, sub.type_id) {
            local.add(Subject::Nil, Deviation::Nil);
        }
        let is_decided = self.values([sub, sup], elements, &mut local);
        if has_more_constraints(elements) {
            local.add_unknown(Subject::Constraints, "keys and references to them are not compared");
        }
        if !is_decided {
            self.types([sub, sup], elements, &mut local);
        }
        local
    }

    /// Compares fixed and default values. Returns true if they decide the whole content.
    fn values(&self, [sub, sup]: [Declared; 2], elements: [Option<&Element>; 2], local: &mut Local) -> bool {
        let texts = [text_type(self.sub, sub.type_id), text_type(self.sup, sup.type_id)];
        let fixed = elements.map(|it| it.and_then(|it| it.fixed.as_deref()));
        let defaults = elements.map(|it| it.and_then(|it| it.default.as_deref()));
        let ([Some(one), Some(other)], [of_sub, of_sup]) = (texts, fixed) else {
            if fixed[1].is_some() && fixed[0] != fixed[1] {
                local.add(Subject::Fixed, Deviation::Least);
            }
            return false;
        };
        let (one, other) = (
            Simple { schemas: self.sub.import.schemas(), id: one },
            Simple { schemas: self.sup.import.schemas(), id: other },
        );
        let value = |text: &str| facets::canonical(other.schemas, other.id, text, &|name| Some(QName::owned("", name)));
        match (of_sub, of_sup) {
            (Some(text), Some(only)) if value(text) != value(only) => {
                local.add(Subject::Fixed, Deviation::Text(text.to_owned()));
            }
            (Some(text), None) if !other.allows(text) => {
                local.add(Subject::Fixed, Deviation::Text(text.to_owned()));
            }
            (None, Some(only)) => match other_than(one, |text| value(text) == value(only)) {
                Some(text) => local.add(Subject::Fixed, Deviation::Text(text)),
                None => local.add_unknown(Subject::Fixed, "no other value was found"),
            },
            _ => {}
        }
        let is_fixed = of_sub.or(of_sup).is_some();
        self.empty([one, other], [of_sub.or(defaults[0]), of_sup.or(defaults[1])], is_fixed, value, local);
        of_sub.is_some() && matches!(self.sub.import.schemas()[sub.type_id].definition, TypeDefinition::Simple(_))
    }

    /// Compares what an empty element means.
    fn empty(
        &self,
        [one, other]: [Simple<'_>; 2],
        defaults: [Option<&str>; 2],
        is_fixed: bool,
        value: impl Fn(&str) -> String,
        local: &mut Local,
    ) {
        match defaults {
            [Some(_), None] if !other.allows("") && !one.allows("") => {
                local.add(Subject::Default, Deviation::Text(String::new()));
            }
            [None, None] => {}
            [Some(one), Some(other)] if value(one) == value(other) => {}
            // Another fixed value is a difference of its own.
            _ if is_fixed => {}
            _ => local.add_unknown(Subject::Default, "an empty element has another value then"),
        }
    }

    /// Compares the types that an element may be of.
    fn types(&self, [sub, sup]: [Declared; 2], elements: [Option<&Element>; 2], local: &mut Local) {
        match (is_abstract(self.sub, sub.type_id), is_abstract(self.sup, sup.type_id)) {
            (true, _) => {}
            (false, true) => local.add(Subject::Abstract, Deviation::Least),
            (false, false) => local.edges.push((Step::Content, Pair::Content([sub.type_id, sup.type_id]))),
        }
        let block = elements.map(|it| it.map(|it| it.block).unwrap_or_default());
        for id in derived(self.sub, sub.type_id) {
            let Some(name) = &self.sub.import.schemas()[id].name else { continue };
            if is_abstract(self.sub, id) || !self.sub.can_stand_for(id, sub.type_id, block[0]) {
                continue;
            }
            let fits =
                |&other: &TypeId| !is_abstract(self.sup, other) && self.sup.can_stand_for(other, sup.type_id, block[1]);
            match self.sup.named(name).filter(fits) {
                Some(other) => local.edges.push((Step::Content, Pair::Content([id, other]))),
                None if self.sub.finite().has(self.sub, id) => {
                    local.add(Subject::Derived(name.clone()), Deviation::As(id));
                }
                None => {}
            }
        }
        // Schemas of XML Schema, as in DataSets, do not refer to types of the contract by `xsi:type`.
        let is_schema = elements[0].is_some_and(|it| &*it.name.namespace == ns::XSD);
        if sub.is_any() && sup.is_any() && !is_schema {
            self.any_type([sub.type_id, sup.type_id], block, local);
        }
    }

    /// Adds the types that may stand for `xsd:anyType` or `xsd:anySimpleType`: all that have names.
    fn any_type(&self, [sub, sup]: [TypeId; 2], block: [Block; 2], local: &mut Local) {
        for (id, it) in self.sub.import.schemas().types() {
            let is_own = id.builtin().is_none() && ![TypeId::ANY, TypeId::ANY_SIMPLE].contains(&id);
            let Some(name) = it.name.as_ref().filter(|_| is_own) else { continue };
            let is_allowed = !is_abstract(self.sub, id) && self.sub.can_stand_for(id, sub, block[0]);
            if !is_allowed || !self.sub.finite().has(self.sub, id) {
                continue;
            }
            let fits = |&other: &TypeId| !is_abstract(self.sup, other) && self.sup.can_stand_for(other, sup, block[1]);
            match self.sup.named(name).filter(fits) {
                Some(other) => local.open_edges.push((Step::Content, Pair::Content([id, other]))),
                None => local.missing.push(id),
            }
        }
    }
}

pub(super) fn declaration(types: &Types, declared: Declared) -> Option<&Element> {
    declared.element.map(|id| &types.import.schemas()[id])
}

/// Returns the named types that are derived from a complex type, nearer ones first. Those of
/// `xsd:anyType` are left out: they are all types.
pub(super) fn derived(types: &Types, id: TypeId) -> Vec<TypeId> {
    let schemas = types.import.schemas();
    let is_open = matches!(schemas[id].definition, TypeDefinition::Complex(_)) && id != TypeId::ANY;
    if !is_open || types.is_soap_encoding(id) {
        return Vec::new();
    }
    let (mut all, mut at) = (schemas.derived(id).to_vec(), 0);
    while at < all.len() && all.len() < MAX_DERIVED {
        all.extend(schemas.derived(all[at]));
        at += 1;
    }
    all.truncate(MAX_DERIVED);
    all
}

pub(super) fn is_abstract(types: &Types, id: TypeId) -> bool {
    matches!(&types.import.schemas()[id].definition, TypeDefinition::Complex(it) if it.is_abstract)
}

/// Returns the simple type of the text of a type; `None` if it has elements.
pub(super) fn text_type(types: &Types, id: TypeId) -> Option<TypeId> {
    let schemas = types.import.schemas();
    match (&schemas[id].definition, schemas.content(id).map(|normal| &normal.content)) {
        (TypeDefinition::Simple(_), _) => Some(id),
        (_, Some(NormalizedContent::Text(text))) => Some(*text),
        _ => None,
    }
}

/// Parts of rpc messages, which have no declaration, may be nil.
fn can_be_nil(element: Option<&Element>) -> bool {
    element.is_none_or(|it| it.is_nillable && it.fixed.is_none())
}

/// Returns true if the second element has a constraint that the first one does not have. Their
/// names do not matter.
fn has_more_constraints([one, other]: [Option<&Element>; 2]) -> bool {
    let is_like = |one: &IdentityConstraint, other: &IdentityConstraint| {
        let kind = |it: &IdentityConstraint| std::mem::discriminant(&it.kind);
        (kind(one), &one.selector, &one.fields) == (kind(other), &other.selector, &other.fields)
    };
    let own = one.map_or(&[][..], |it| &it.constraints);
    other.is_some_and(|it| it.constraints.iter().any(|other| !own.iter().any(|one| is_like(one, other))))
}
