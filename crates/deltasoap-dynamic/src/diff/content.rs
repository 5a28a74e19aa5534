//! The content of elements: text, children, attributes.

use super::language::{
    Language, Names, Processing, Range, Reached, Symbol, TooLarge, Tracked, add_elements, add_wildcards, are_alike,
    bounded, in_order, name_of, range, shortest, without,
};
use super::pairs::{Declared, Deviation, Found, Inclusion, Local, Pair, Step, Subject};
use super::simple::{Simple, Texts, compare, other_than};
use crate::contract::Types;
use deltasoap_core::{QName, ns};
use deltasoap_wsdl::NormalizedContent;
use deltasoap_wsdl::xsd::{ElementId, Particle, SoapArray, Term, TypeDefinition, TypeId, Wildcard, WildcardNamespaces};
use std::collections::{HashMap, HashSet};
use std::slice;

/// Maximum number of children in a message that shows a difference.
const MAX_CHILDREN: u32 = 2_000;

/// Why a difference of content models has no message.
const TOO_LARGE: &str = "the content model is too large to be compared";

/// The kinds of content.
pub(super) enum Body<'t> {
    Text(TypeId),
    Elements(&'t Particle, bool),
    Array(&'t SoapArray),
}

impl<'t> Body<'t> {
    pub(super) fn of(types: &'t Types, id: TypeId) -> Self {
        const NOTHING: &Particle = &Particle { min: 1, max: Some(1), term: Term::Sequence(Vec::new()) };
        let schemas = types.import.schemas();
        let normal = match (&schemas[id].definition, schemas.content(id)) {
            (TypeDefinition::Simple(_), _) | (_, None) => return Body::Text(id),
            (_, Some(normal)) => normal,
        };
        match (&normal.array, &normal.content) {
            (Some(array), _) => Body::Array(array),
            (None, NormalizedContent::Text(text)) => Body::Text(*text),
            (None, NormalizedContent::Elements(model)) => Body::Elements(model, normal.is_mixed),
            (None, NormalizedContent::Empty) => Body::Elements(NOTHING, normal.is_mixed),
        }
    }
}

impl Inclusion<'_> {
    /// Compares the content of elements of exactly these types.
    pub(super) fn content(&self, [sub, sup]: [TypeId; 2]) -> Local {
        let mut local = Local::default();
        if sub == sup && sub.builtin().is_some() {
            return local;
        }
        match (Body::of(self.sub, sub), Body::of(self.sup, sup)) {
            (Body::Text(one), Body::Text(other)) => self.texts(one, other, &mut local),
            (Body::Elements(one, is_mixed), Body::Elements(other, is_other_mixed)) => {
                if is_mixed && !is_other_mixed {
                    local.add(Subject::Mixed, Deviation::TextBetween);
                }
                self.children(one, other, &mut local);
            }
            (Body::Text(text), Body::Elements(model, is_mixed)) => {
                self.text_for_elements(text, model, is_mixed, &mut local);
            }
            (Body::Elements(model, is_mixed), Body::Text(text)) => {
                self.elements_for_text(model, is_mixed, text, &mut local);
            }
            (Body::Array(one), Body::Array(other)) => {
                if one.dimensions != other.dimensions {
                    local.add_unknown(Subject::Kind, "the dimensions of arrays are not compared");
                }
                let item = |array: &SoapArray| Declared { element: array.element, type_id: array.item };
                local.edges.push((Step::Item, Pair::Declared([item(one), item(other)])));
            }
            _ => local.add(Subject::Kind, Deviation::Least),
        }
        self.attributes([sub, sup], &mut local);
        local
    }

    fn texts(&self, sub: TypeId, sup: TypeId, local: &mut Local) {
        match compare(self.simple_sub(sub), self.simple_sup(sup)) {
            Texts::Included => {}
            Texts::Excluded(text) => local.add(Subject::Text, Deviation::Text(text)),
            Texts::Unknown => local.add_unknown(Subject::Text, NO_TEXT),
        }
    }

    pub(super) fn simple_sub(&self, id: TypeId) -> Simple<'_> {
        Simple { schemas: self.sub.import.schemas(), id }
    }

    pub(super) fn simple_sup(&self, id: TypeId) -> Simple<'_> {
        Simple { schemas: self.sup.import.schemas(), id }
    }

    fn text_for_elements(&self, text: TypeId, model: &Particle, is_mixed: bool, local: &mut Local) {
        if is_mixed && model.can_be_empty() {
            return;
        }
        let text = match model.can_be_empty() {
            true => other_than(self.simple_sub(text), str::is_empty),
            false => other_than(self.simple_sub(text), |_| false),
        };
        match text {
            Some(text) => local.add(Subject::Kind, Deviation::Text(text)),
            None => local.add_unknown(Subject::Kind, NO_TEXT),
        }
    }

    fn elements_for_text(&self, model: &Particle, is_mixed: bool, text: TypeId, local: &mut Local) {
        let mut wildcards = Vec::new();
        add_wildcards(model, &mut wildcards);
        let samples = samples([self.sub, self.sup], &wildcards);
        let mut any = Language::new(self.sub, Some(model), &samples);
        let mut none = Language::new(self.sup, None, &samples);
        match shortest(&mut any, &mut none, &Names::default(), None, |it| it.is_complete && !it.is_allowed) {
            Ok(Some(children)) => local.add(Subject::Kind, Deviation::Children(children)),
            Ok(None) if !self.simple_sup(text).allows("") => local.add(Subject::Kind, Deviation::Least),
            Ok(None) if is_mixed => local.add(Subject::Kind, Deviation::TextBetween),
            Ok(None) => {}
            Err(TooLarge) => local.add_unknown(Subject::Kind, TOO_LARGE),
        }
    }

    /// Compares the children that two content models allow.
    fn children(&self, one: &Particle, other: &Particle, local: &mut Local) {
        let sub = Children::of(self.sub, one);
        let sup = Children::of(self.sup, other);
        self.child_pairs(&sub, &sup, local);
        self.wildcard_pairs([one, other], (&sub, &sup), local);
        if are_alike((self.sub, one), (self.sup, other)) {
            return;
        }
        let wildcards: Vec<_> = sub.wildcards.iter().chain(&sup.wildcards).copied().collect();
        let samples = samples([self.sub, self.sup], &wildcards);
        self.processing(one, (&sub, &sup), &samples, local);
        let declared = [one, other];
        let (one, other) = match (in_order(self.sub, one), in_order(self.sup, other)) {
            (Some(one), Some(other)) => (one, other),
            _ => (one.clone(), other.clone()),
        };
        let [one, other] = [one, other].map(|model| bounded(&model, MAX_CHILDREN));
        let models = Models { inclusion: self, declared, sub: &one, sup: &other, samples: &samples };
        let mut names: Vec<QName> = sub.names().chain(sup.names()).chain(samples.iter().cloned()).collect();
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        let [mut more, mut fewer] = [HashSet::new(), HashSet::new()];
        for name in &names {
            if let Some(found) = models.too_many(name) {
                models.add(name, found, local);
                more.insert(name.clone());
            }
        }
        for name in names.iter().filter(|name| !more.contains(*name)).collect::<Vec<_>>() {
            if let Some(found) = models.too_few(name, &more) {
                models.add(name, found, local);
                fewer.insert(name.clone());
            }
        }
        match models.order(more, fewer) {
            Ok(None) => {}
            Ok(Some(children)) => local.add(Subject::Order, Deviation::Children(children)),
            Err(TooLarge) => local.add_unknown(Subject::Order, TOO_LARGE),
        }
    }

    /// Adds the pairs of children of the same name.
    fn child_pairs(&self, sub: &Children<'_>, sup: &Children<'_>, local: &mut Local) {
        let schemas = self.sub.import.schemas();
        for &id in &sub.elements {
            let name = &schemas[id].name;
            if !self.sub.finite().allows_element(self.sub, id) {
                continue;
            }
            let by_wildcard = || sup.read_by_wildcard(name).and_then(|(_, other)| other);
            let Some(other) = sup.named(name).or_else(by_wildcard) else { continue };
            let pair = [declared(self.sub, id), declared(self.sup, other)];
            local.edges.push((Step::Child(name.clone()), Pair::Declared(pair)));
        }
    }

    /// Adds the pairs of global elements that only a wildcard allows, and those that the other model
    /// requires to be declared and that are not. Elements that the other contract alone declares are
    /// passed over: a message of this one has such a name by chance only.
    fn wildcard_pairs(&self, models: [&Particle; 2], (sub, sup): (&Children<'_>, &Children<'_>), local: &mut Local) {
        if sub.wildcards.is_empty() {
            return;
        }
        let schemas = self.sub.import.schemas();
        for (id, element) in schemas.elements().take_while(|(_, element)| element.is_global) {
            let name = &element.name;
            // `xs:schema` is declared by XML Schema itself.
            let is_own = !element.is_abstract && &*name.namespace != ns::XSD;
            let is_reached = is_own && sub.named(name).is_none() && sub.read_by_wildcard(name).is_some();
            if !is_reached || !self.sub.finite().allows_element(self.sub, id) {
                continue;
            }
            let is_concrete = |other: &ElementId| !self.sup.import.schemas()[*other].is_abstract;
            let other = match sup.named(name) {
                Some(other) => Some((Processing::Strict, Some(other))),
                None if sup.skips(name) => None,
                None => sup.read_by_wildcard(name),
            };
            match other.map(|(process, other)| (process, other.filter(is_concrete), other.is_some())) {
                Some((_, Some(other), _)) => {
                    let pair = [declared(self.sub, id), declared(self.sup, other)];
                    local.open_edges.push((Step::Child(name.clone()), Pair::Declared(pair)));
                }
                // It is not declared and has to be, or its declaration is abstract.
                Some((Processing::Strict, None, _) | (_, None, true)) => {
                    let word = word_with(self.sub, models[0], self.sup, Some(models[1]), slice::from_ref(name), name);
                    let deviation = word.map(Deviation::Children).ok_or_else(|| TOO_LARGE.to_owned());
                    local.found.push(Found { subject: Subject::Child(name.clone()), deviation });
                }
                _ => {}
            }
        }
    }

    /// Compares whether wildcards require declarations.
    fn processing(
        &self,
        model: &Particle,
        (sub, sup): (&Children<'_>, &Children<'_>),
        samples: &[QName],
        local: &mut Local,
    ) {
        let are_both = |name: &QName, one: &Wildcard, other: &Wildcard| {
            one.namespaces.allow(&name.namespace) && other.namespaces.allow(&name.namespace)
        };
        let pairs = sub.wildcards.iter().flat_map(|one| sup.wildcards.iter().map(move |other| (one, other)));
        for (one, other) in pairs {
            let (process, needed) = (Processing::from(one.process), Processing::from(other.process));
            let Some(name) = samples.iter().find(|name| are_both(name, one, other)) else { continue };
            if needed <= process {
                continue;
            }
            match word_with(self.sub, model, self.sup, None, samples, name) {
                Some(children) if needed == Processing::Strict => {
                    return local.add(Subject::Wildcard, Deviation::Children(children));
                }
                _ => return local.add_unknown(Subject::Wildcard, "what the wildcard allows is validated then"),
            }
        }
    }
}

/// Returns names of undeclared elements that stand for all that wildcards allow: one in each
/// namespace that matters.
pub(super) fn samples(types: [&Types; 2], wildcards: &[&Wildcard]) -> Vec<QName> {
    namespaces(wildcards).iter().map(|namespace| fresh(types, namespace)).collect()
}

/// Why a difference of texts has no message.
pub(super) const NO_TEXT: &str = "no text was found that shows whether this matters";

/// A namespace that no schema is likely to have.
const FREE: &str = "urn:example:any";

/// Returns the namespaces that wildcards mention, and one that they do not.
pub(super) fn namespaces(wildcards: &[&Wildcard]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for wildcard in wildcards {
        match &wildcard.namespaces {
            WildcardNamespaces::Any => all.push(FREE.to_owned()),
            WildcardNamespaces::Other(own) => all.extend([FREE.to_owned(), own.to_string(), String::new()]),
            WildcardNamespaces::Only(list) => all.extend(list.iter().map(ToString::to_string)),
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Returns a name that no contract declares.
pub(super) fn fresh(contracts: [&Types; 2], namespace: &str) -> QName {
    let is_free = |name: &QName| {
        contracts.iter().all(|types| {
            let schemas = types.import.schemas();
            schemas.element_named(name).is_none() && schemas.attribute_named(name).is_none()
        })
    };
    let names = std::iter::once("any".to_owned()).chain((1..).map(|number| format!("any{number}")));
    names.map(|local| QName::owned(namespace, local)).find(is_free).unwrap_or_default()
}

pub(super) fn declared(types: &Types, id: ElementId) -> Declared {
    Declared { element: Some(id), type_id: types.import.schemas()[id].type_id }
}

/// The elements and wildcards of a content model.
pub(super) struct Children<'t> {
    types: &'t Types,
    /// The first of each name, in the order of the model.
    elements: Vec<ElementId>,
    by_name: HashMap<&'t QName, ElementId>,
    wildcards: Vec<&'t Wildcard>,
}

impl<'t> Children<'t> {
    fn of(types: &'t Types, model: &'t Particle) -> Self {
        let (mut elements, mut wildcards) = (Vec::new(), Vec::new());
        add_elements(types, model, &mut elements, &mut HashSet::new());
        add_wildcards(model, &mut wildcards);
        let schemas = types.import.schemas();
        let by_name = elements.iter().map(|&id| (&schemas[id].name, id)).collect();
        Children { types, elements, by_name, wildcards }
    }

    fn named(&self, name: &QName) -> Option<ElementId> {
        self.by_name.get(name).copied()
    }

    /// Returns true if a wildcard allows anything by this name.
    fn skips(&self, name: &QName) -> bool {
        let skips = |any: &&&Wildcard| Processing::from(any.process) == Processing::Skip;
        self.wildcards.iter().filter(skips).any(|any| any.namespaces.allow(&name.namespace))
    }

    /// Returns what a wildcard says of elements with a name, and their declaration; `None` if no
    /// wildcard allows them, or they are not looked into.
    fn read_by_wildcard(&self, name: &QName) -> Option<(Processing, Option<ElementId>)> {
        let all = self.wildcards.iter().filter(|any| any.namespaces.allow(&name.namespace));
        let process = all.map(|any| Processing::from(any.process)).filter(|it| *it != Processing::Skip).min()?;
        Some((process, self.types.import.schemas().element_named(name)))
    }

    fn names(&self) -> impl Iterator<Item = QName> {
        self.elements.iter().map(|&id| self.types.import.schemas()[id].name.clone())
    }
}

/// Two content models that are compared.
struct Models<'m> {
    inclusion: &'m Inclusion<'m>,
    /// The models as declared.
    declared: [&'m Particle; 2],
    /// The models as they are searched: large numbers are no limits.
    sub: &'m Particle,
    sup: &'m Particle,
    samples: &'m [QName],
}

impl Models<'_> {
    fn add(&self, name: &QName, deviation: Result<Deviation, String>, local: &mut Local) {
        let is_sample = self.samples.contains(name);
        let subject = if is_sample { Subject::Wildcard } else { Subject::Child(name.clone()) };
        if !local.found.iter().any(|it| it.subject == subject) {
            local.found.push(Found { subject, deviation });
        }
    }

    /// Returns how many children with a name the two models allow.
    fn ranges(&self, name: &QName) -> [Range; 2] {
        let own = range(self.inclusion.sub, self.declared[0], name, self.samples.contains(name));
        [own, range(self.inclusion.sup, self.declared[1], name, true)]
    }

    /// Finds more children with a name than the other model allows.
    fn too_many(&self, name: &QName) -> Option<Result<Deviation, String>> {
        let [own, allowed] = self.ranges(name);
        let most = allowed.1.filter(|most| own.1.is_none_or(|own| own > *most))?;
        if most > MAX_CHILDREN.into() {
            return Some(Err(MANY.to_owned()));
        }
        self.count((name, most + 1), &Names::default(), |it| it.count > most)
    }

    /// Finds fewer children with a name than the other model requires, and none with other names.
    fn too_few(&self, name: &QName, others: &HashSet<QName>) -> Option<Result<Deviation, String>> {
        let [own, allowed] = self.ranges(name);
        let least = Some(allowed.0).filter(|least| own.0 < *least)?;
        if least > MAX_CHILDREN.into() {
            return Some(Err(MANY.to_owned()));
        }
        let names = Names { forbidden: others.clone(), ..Names::default() };
        self.count((name, least), &names, |it| it.count < least)
    }

    /// Finds children with a number of those with a name; if possible such that the other model
    /// allows everything else.
    fn count(
        &self,
        tracked: (&QName, u64),
        names: &Names,
        goal: impl Fn(Reached) -> bool,
    ) -> Option<Result<Deviation, String>> {
        let ignored = HashSet::from([tracked.0.clone()]);
        let rest = without(self.inclusion.sup, self.sup, &ignored);
        let alone = Names { ignored, ..names.clone() };
        let found = self.search(&rest, &alone, Some(tracked), |it| it.is_complete && it.is_allowed && goal(it));
        let found = match found {
            Ok(Some(children)) => Ok(Some(children)),
            _ => self.search(self.sup, names, Some(tracked), |it| it.is_complete && goal(it)),
        };
        match found {
            Ok(children) => children.map(|children| Ok(Deviation::Children(children))),
            Err(TooLarge) => Some(Err(TOO_LARGE.to_owned())),
        }
    }

    /// Compares everything but the numbers of children of which there can be more or fewer.
    fn order(&self, more: HashSet<QName>, fewer: HashSet<QName>) -> Result<Option<Vec<Symbol>>, TooLarge> {
        let sup = without(self.inclusion.sup, self.sup, &fewer);
        let names = Names { ignored: fewer.clone(), forbidden: more.clone() };
        if self.search(&sup, &names, None, |it| it.is_complete)?.is_some() {
            return self.search(&sup, &names, None, |it| it.is_complete && !it.is_allowed);
        }
        // All sequences have more of something.
        let ignored: HashSet<QName> = more.into_iter().chain(fewer).collect();
        let sup = without(self.inclusion.sup, self.sup, &ignored);
        let names = Names { ignored, ..Names::default() };
        self.search(&sup, &names, None, |it| it.is_complete && !it.is_allowed)
    }

    fn search(
        &self,
        sup: &Particle,
        names: &Names,
        tracked: Tracked<'_>,
        goal: impl Fn(Reached) -> bool,
    ) -> Result<Option<Vec<Symbol>>, TooLarge> {
        let mut sub = Language::new(self.inclusion.sub, Some(self.sub), self.samples);
        let mut sup = Language::new(self.inclusion.sup, Some(sup), self.samples);
        shortest(&mut sub, &mut sup, names, tracked, goal)
    }
}

/// Why a difference in numbers has no message.
const MANY: &str = "a message with so many elements is not built";

/// Returns a shortest sequence of children with this name, if possible one that both models allow.
pub(super) fn word_with(
    sub: &Types,
    model: &Particle,
    sup: &Types,
    other: Option<&Particle>,
    samples: &[QName],
    name: &QName,
) -> Option<Vec<Symbol>> {
    let ordered = in_order(sub, model);
    let mut own = Language::new(sub, Some(ordered.as_ref().unwrap_or(model)), samples);
    let mut others = Language::new(sup, other, samples);
    let nothing = Names::default();
    let mut find = |goal: fn(Reached) -> bool| shortest(&mut own, &mut others, &nothing, Some((name, 1)), goal);
    let both = find(|it| it.is_complete && it.is_allowed && it.count > 0);
    let word = both.ok().flatten().or_else(|| find(|it| it.is_complete && it.count > 0).ok().flatten())?;
    word.iter().any(|symbol| name_of(sub, symbol) == name).then_some(word)
}

/// Returns how many children of this name a type allows, wildcards not counted; `None` for none.
pub(super) fn occurrence(types: &Types, id: TypeId, name: &QName) -> Option<Range> {
    let Body::Elements(model, _) = Body::of(types, id) else { return None };
    Some(range(types, model, name, false)).filter(|it| it.1 != Some(0))
}
