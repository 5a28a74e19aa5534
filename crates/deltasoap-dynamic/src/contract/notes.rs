//! Notes about invalid values in a WSDL: patterns, defaults, fixed values, enumerations.

use crate::facets::{self, Unusable};
use deltasoap_core::QName;
use deltasoap_core::schema::Builtin;
use deltasoap_wsdl::xsd::{AttributeUse, TypeDefinition, TypeId, Variety};
use deltasoap_wsdl::{Import, NormalizedContent, Note, NoteKind, Place, Schemas};
use std::collections::{HashMap, HashSet};

/// Maximum number of notes about values.
const MAX_NOTES: usize = 100;
/// Maximum number of comparisons for them. A few lines of a WSDL can require any number.
const MAX_COMPARISONS: u64 = 10_000_000;
/// Maximum depth of nested unions and lists, as for messages.
const MAX_DEPTH: usize = 64;

/// Returns the patterns that cannot be used, each once.
pub(super) fn patterns(import: &Import) -> impl Iterator<Item = Note> + '_ {
    let mut seen = HashSet::new();
    let types = import.schemas().types().filter_map(|(id, it)| Some((id, it.place?)));
    let patterns = types.flat_map(|(id, place)| {
        let own = facets::own(import.schemas(), id).into_iter();
        own.flat_map(|facets| &facets.patterns).map(move |pattern| (pattern, place))
    });
    patterns.filter(move |(pattern, _)| seen.insert(*pattern)).filter_map(|(pattern, place)| {
        let text = match facets::unusable(pattern)? {
            Unusable::Invalid => format!("the pattern {pattern} is not valid in XML Schema: no value matches it"),
            Unusable::TooLarge => format!("the pattern {pattern} is too large: values are not checked against it"),
        };
        Some(note(import, text, place))
    })
}

/// Returns facets that contradict each other.
pub(super) fn facets(import: &Import) -> Vec<Note> {
    let mut notes = Vec::new();
    for (id, it) in import.schemas().types() {
        let Some(place) = it.place.filter(|_| notes.len() < MAX_NOTES) else { continue };
        let owner = it.name.as_ref().map_or_else(|| "a type without a name".to_owned(), |it| format!("type {it}"));
        for what in facets::contradictions(import.schemas(), id) {
            let position = import.position(place);
            notes.push(Note { kind: NoteKind::Invalid, text: format!("in the facets of {owner}, {what}"), position });
        }
    }
    notes
}

/// Returns defaults, fixed values and enumerated values that do not match their types.
pub(super) fn values(import: &Import) -> Vec<Note> {
    let mut checker =
        Checker { schemas: import.schemas(), costs: HashMap::new(), work: MAX_COMPARISONS, found: Vec::new() };
    checker.enumerations();
    checker.elements();
    checker.attributes();
    checker.found.into_iter().map(|(text, place)| note(import, text, place)).collect()
}

fn note(import: &Import, text: String, place: Place) -> Note {
    Note { kind: NoteKind::Tolerated, text, position: import.position(place) }
}

struct Checker<'s> {
    schemas: &'s Schemas,
    /// The number of comparisons that a text of a type takes; `None` for types of names, which
    /// depend on their context.
    costs: HashMap<TypeId, Option<u64>>,
    /// The number of comparisons left.
    work: u64,
    found: Vec<(String, Place)>,
}

impl Checker<'_> {
    fn enumerations(&mut self) {
        let schemas = self.schemas;
        for (id, it) in schemas.types() {
            let TypeDefinition::Simple(simple) = &it.definition else { continue };
            let (Variety::Restriction(base), Some(place)) = (&simple.variety, it.place) else { continue };
            for value in facets::own(schemas, id).into_iter().flat_map(|facets| &facets.enumeration) {
                if let Some(why) = self.violation(*base, &value.value, value.name.as_ref()) {
                    let name =
                        it.name.as_ref().map_or_else(|| "a type without a name".to_owned(), |it| format!("type {it}"));
                    self.say(format!("{name} enumerates a value that is not of its base type: {why}"), place);
                }
            }
        }
    }

    fn elements(&mut self) {
        let schemas = self.schemas;
        for (_, it) in schemas.elements() {
            let (texts, of) = ([it.default.as_deref(), it.fixed.as_deref()], text_type(schemas, it.type_id));
            self.value_of(&format!("element {}", it.name), texts, it.value_name.as_ref(), of, it.place);
        }
    }

    /// Checks attributes. Errors are reported at the position of the first type that has the
    /// attribute.
    fn attributes(&mut self) {
        let (schemas, mut seen) = (self.schemas, HashSet::new());
        for (id, it) in schemas.types() {
            let uses = schemas.content(id).map_or(&[][..], |normal| &normal.attributes);
            let own = it.place.into_iter().flat_map(|place| uses.iter().map(move |it| (it, place)));
            for (it, place) in own {
                let (texts, name) = texts(schemas, it);
                if seen.insert((it.attribute, texts)) {
                    let declaration = &schemas[it.attribute];
                    let of = text_type(schemas, declaration.type_id);
                    self.value_of(&format!("attribute {}", declaration.name), texts, name, of, place);
                }
            }
        }
    }

    /// Checks a default, or else a fixed value.
    fn value_of(
        &mut self,
        owner: &str,
        [default, fixed]: [Option<&str>; 2],
        name: Option<&QName>,
        of: Option<TypeId>,
        place: Place,
    ) {
        let what = if default.is_some() { "default" } else { "fixed value" };
        let why = default.or(fixed).zip(of).and_then(|(text, of)| self.violation(of, text, name));
        if let Some(why) = why {
            self.say(format!("the {what} of {owner} is not of its type: {why}"), place);
        }
    }

    /// Describes how a text violates a type; `None` if it does not, if the check takes too long, or
    /// if it depends on prefixes. `name` is the resolved name if the text is a name.
    fn violation(&mut self, id: TypeId, text: &str, name: Option<&QName>) -> Option<String> {
        if self.is_of_names(id) {
            self.spend(own_cost(self.schemas, id))?;
            let is_declared = |name: &QName| !name.local.contains(':');
            let known = |text: &str| name.cloned().unwrap_or_else(|| QName::owned("", text));
            return facets::violation_in(self.schemas, id, text, &|text| Some(known(text)).filter(is_declared));
        }
        let words = text.split_ascii_whitespace().count() as u64;
        let cost = self.cost(id, MAX_DEPTH)?.saturating_mul(1 + words);
        self.spend(cost)?;
        facets::violation(self.schemas, id, text)
    }

    fn spend(&mut self, cost: u64) -> Option<()> {
        self.work = self.work.checked_sub(cost)?;
        Some(())
    }

    fn say(&mut self, text: String, place: Place) {
        if self.found.len() < MAX_NOTES {
            self.found.push((text, place));
        }
    }

    fn is_of_names(&self, id: TypeId) -> bool {
        matches!(self.schemas.variety(id), Some(Variety::Builtin(Builtin::QName | Builtin::Notation)))
    }

    /// Returns the maximum number of comparisons that a text of a type takes.
    fn cost(&mut self, id: TypeId, depth: usize) -> Option<u64> {
        if let Some(known) = self.costs.get(&id) {
            return *known;
        }
        let schemas = self.schemas;
        let of_parts = match schemas.variety(id) {
            Some(Variety::Builtin(Builtin::QName | Builtin::Notation)) => None,
            Some(Variety::List(item)) if depth > 0 => self.cost(*item, depth - 1),
            Some(Variety::Union(members)) if depth > 0 => {
                members.iter().try_fold(1_u64, |sum, it| Some(sum.saturating_add(self.cost(*it, depth - 1)?)))
            }
            _ => Some(1),
        };
        let cost = of_parts.map(|parts| parts.saturating_mul(own_cost(schemas, id)));
        self.costs.insert(id, cost);
        cost
    }
}

/// Returns the number of comparisons that the facets of a type take.
fn own_cost(schemas: &Schemas, id: TypeId) -> u64 {
    let enumerated: usize = facets::steps(schemas, id).iter().map(|facets| facets.enumeration.len()).sum();
    (1 + enumerated as u64).saturating_add(restrictions(schemas, id))
}

/// Returns the number of types that a simple type restricts, directly or indirectly.
fn restrictions(schemas: &Schemas, id: TypeId) -> u64 {
    let base = |id: &TypeId| match &schemas[*id].definition {
        TypeDefinition::Simple(simple) => match simple.variety {
            Variety::Restriction(base) => Some(base),
            _ => None,
        },
        TypeDefinition::Complex(_) => None,
    };
    std::iter::successors(Some(id), base).count() as u64
}

/// Returns the default and the fixed value of an attribute, from its use or otherwise its
/// declaration, and the resolved name.
fn texts<'s>(schemas: &'s Schemas, it: &'s AttributeUse) -> ([Option<&'s str>; 2], Option<&'s QName>) {
    let own = [it.default.as_deref(), it.fixed.as_deref()];
    let declaration = &schemas[it.attribute];
    match own {
        [None, None] => {
            let declared = [declaration.default.as_deref(), declaration.fixed.as_deref()];
            (declared, declaration.value_name.as_ref())
        }
        own => (own, it.value_name.as_ref()),
    }
}

/// Returns the simple type of a type's text.
fn text_type(schemas: &Schemas, id: TypeId) -> Option<TypeId> {
    match schemas.content(id).map(|normal| &normal.content) {
        None => Some(id),
        Some(NormalizedContent::Text(text)) => Some(*text),
        Some(_) => None,
    }
}
