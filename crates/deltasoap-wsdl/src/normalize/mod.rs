//! Stage three: what content each complex type has in the end.
//!
//! Base types come before the types derived from them, groups are replaced by what they stand for,
//! and attributes are listed once. Work and memory are counted as they are spent: a description of
//! a few lines can ask for any amount.

mod again;
mod attributes;
mod cycles;
mod determinism;
mod particles;

pub(crate) use cycles::members;
pub use particles::Repeated;

use crate::document::Place;
use crate::load::Sources;
use crate::xsd::{
    AttributeGroupId, AttributeUse, Attributes, ComplexType, Content, Derivation, ElementId, GroupId, Particle,
    Schemas, SimpleType, SoapArray, Term, TypeDefinition, TypeId, Variety, Wildcard,
};
use crate::{Error, ErrorKind, NoteKind};
use std::rc::Rc;

/// The content of a complex type, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Normal {
    /// Elements, or text, or nothing.
    pub content: NormalContent,
    /// True if text may stand between the elements.
    pub is_mixed: bool,
    /// Attributes, those of base types first.
    pub attributes: Vec<AttributeUse>,
    /// Attributes beside those.
    pub any_attribute: Option<Wildcard>,
    /// Items, if it is a SOAP array.
    pub array: Option<SoapArray>,
}

/// What stands in an element of a complex type.
#[derive(Debug, Clone, PartialEq)]
pub enum NormalContent {
    /// Nothing.
    Empty,
    /// Child elements. No term is a [`Term::Group`].
    Elements(Particle),
    /// Text of a simple type.
    Text(TypeId),
}

/// Fills in what [`Schemas`] knows beyond what was written down.
pub(crate) fn normalize(sources: &mut Sources, schemas: &mut Schemas) -> Result<(), Error> {
    let mut normalizer = Normalizer {
        sources,
        spent: 0,
        done: (0..schemas.types.len()).map(|_| None).collect(),
        attribute_groups: vec![None; schemas.attribute_groups.len()],
        open: Open::default(),
        tolerated: Vec::new(),
        invalid: Vec::new(),
        schemas,
    };
    for index in 0..normalizer.schemas.types.len() {
        normalizer.with_bases(TypeId(index as u32))?;
    }
    cycles::refuse(normalizer.sources, normalizer.schemas)?;
    normalizer.substitution_groups()?;
    let Normalizer { done: normal, tolerated, invalid, .. } = normalizer;
    invalid.into_iter().for_each(|(text, place)| sources.note(NoteKind::Invalid, text, place));
    tolerated.into_iter().for_each(|(text, place)| sources.note(NoteKind::Tolerated, text, place));
    schemas.normal = normal.into_iter().map(|done| done.and_then(Done::complex)).collect();
    schemas.derived = derived(schemas);
    restrict_text(schemas);
    let unclear = determinism::notes(schemas).into_iter().chain(particles::impossible(schemas));
    unclear.for_each(|(text, place)| sources.note(NoteKind::Invalid, text, place));
    Ok(())
}

/// What is said of a type that has text by its base and elements of its own, or the other way
/// round.
const MIXED: &str = "a type with simple content and with elements is read as one with mixed content";

struct Normalizer<'s> {
    sources: &'s Sources,
    schemas: &'s mut Schemas,
    /// Particles and attributes made so far.
    spent: usize,
    done: Vec<Option<Done>>,
    attribute_groups: Vec<Option<Rc<Attributes>>>,
    open: Open,
    /// What has a clear meaning though the standards do not allow it.
    tolerated: Vec<(String, Place)>,
    /// What is not certain to mean what it is read as.
    invalid: Vec<(String, Place)>,
}

/// Groups that are being replaced by what is in them.
#[derive(Default)]
struct Open {
    groups: Vec<GroupId>,
    attribute_groups: Vec<AttributeGroupId>,
}

enum Done {
    Simple,
    Complex(Box<Normal>),
}

impl Done {
    fn complex(self) -> Option<Box<Normal>> {
        match self {
            Done::Simple => None,
            Done::Complex(normal) => Some(normal),
        }
    }
}

impl Normalizer<'_> {
    /// A type, after the types that it is derived from.
    fn with_bases(&mut self, id: TypeId) -> Result<(), Error> {
        let mut chain = vec![id];
        while let Some(base) = self.base_to_do(*chain.last().unwrap_or(&id)) {
            if chain.len() > self.schemas.types.len() {
                return Err(self.invalid("a type that is derived from itself", id));
            }
            chain.push(base);
        }
        while let Some(id) = chain.pop() {
            if self.done[id.index()].is_none() {
                self.done[id.index()] = Some(self.one(id)?);
            }
        }
        Ok(())
    }

    fn base_to_do(&self, id: TypeId) -> Option<TypeId> {
        let base = base(self.schemas, id)?;
        self.done[base.index()].is_none().then_some(base)
    }

    fn one(&mut self, id: TypeId) -> Result<Done, Error> {
        let TypeDefinition::Complex(complex) = &self.schemas[id].definition else { return Ok(Done::Simple) };
        let complex = complex.clone();
        let own = self.own(&complex, id)?;
        if complex.base == TypeId::ANY && complex.derivation == Derivation::Restriction {
            return Ok(Done::Complex(Box::new(without_prohibited(own))));
        }
        let normal = match (self.take_base(complex.base), complex.derivation) {
            (None, _) => self.of_simple(own, &complex, id)?,
            (Some(base), Derivation::Restriction) => self.restricted(&base, own, id)?,
            (Some(base), Derivation::Extension) => self.extended(&base, own, id)?,
        };
        self.spend(count(&normal), id)?;
        Ok(Done::Complex(Box::new(without_prohibited(normal))))
    }

    fn take_base(&self, base: TypeId) -> Option<Normal> {
        match &self.done[base.index()] {
            Some(Done::Complex(normal)) => Some((**normal).clone()),
            _ => None,
        }
    }

    /// What the definition itself gives, groups replaced. Text that is the base's is
    /// `xsd:anySimpleType` for now.
    fn own(&mut self, complex: &ComplexType, id: TypeId) -> Result<Normal, Error> {
        let attributes = self.expanded_attributes(&complex.attributes, 0, id)?;
        let content = match &complex.content {
            Content::Empty => NormalContent::Empty,
            Content::Text(text) => NormalContent::Text(text.unwrap_or(TypeId::ANY_SIMPLE)),
            Content::Elements(particle) => NormalContent::Elements(self.expanded(particle, 0, id)?),
        };
        Ok(Normal {
            content,
            is_mixed: complex.is_mixed,
            attributes: attributes.uses.clone(),
            any_attribute: attributes.any.clone(),
            array: complex.array.clone(),
        })
    }

    /// Derived from a simple type: its text, with attributes.
    fn of_simple(&mut self, own: Normal, complex: &ComplexType, id: TypeId) -> Result<Normal, Error> {
        match complex.content {
            Content::Text(None) => Ok(Normal { content: NormalContent::Text(complex.base), ..own }),
            Content::Text(Some(_)) => Ok(own),
            Content::Empty => {
                self.tolerate("complex content that is derived from a simple type is read as simple content", id);
                Ok(Normal { content: NormalContent::Text(complex.base), ..own })
            }
            Content::Elements(_) => {
                self.tolerate(MIXED, id);
                Ok(Normal { is_mixed: true, ..own })
            }
        }
    }

    fn restricted(&mut self, base: &Normal, mut own: Normal, id: TypeId) -> Result<Normal, Error> {
        let content = match (own.content, &base.content) {
            (NormalContent::Text(TypeId::ANY_SIMPLE), content) => self.text_of(content, &mut own.is_mixed, id),
            (content, _) => content,
        };
        let attributes = attributes::restricted(self.schemas, &base.attributes, own.attributes);
        let any_attribute = own.any_attribute;
        let array = own.array.or_else(|| base.array.clone());
        Ok(Normal { content, attributes, any_attribute, array, is_mixed: own.is_mixed })
    }

    fn extended(&mut self, base: &Normal, mut own: Normal, id: TypeId) -> Result<Normal, Error> {
        let content = match (&base.content, own.content) {
            (content, NormalContent::Text(_)) => self.text_of(content, &mut own.is_mixed, id),
            (content, NormalContent::Empty) => content.clone(),
            (NormalContent::Empty, content) => content,
            (NormalContent::Elements(first), NormalContent::Elements(then)) => {
                NormalContent::Elements(particles::in_sequence(first, then))
            }
            (NormalContent::Text(_), content @ NormalContent::Elements(_)) => {
                self.tolerate(MIXED, id);
                own.is_mixed = true;
                content
            }
        };
        let (attributes, lost) = attributes::extended(self.schemas, &base.attributes, own.attributes);
        // Arrays are often extended so, to say of what they are; of that nothing is lost.
        if own.array.is_none() {
            self.note_lost(&lost, "of its own and of its base type", id);
        }
        let any_attribute = attributes::either(own.any_attribute, base.any_attribute.as_ref());
        let array = own.array.or_else(|| base.array.clone());
        Ok(Normal { content, attributes, any_attribute, array, is_mixed: own.is_mixed || base.is_mixed })
    }

    /// The text of a base with simple content; mixed content counts as any text.
    fn text_of(&mut self, content: &NormalContent, is_mixed: &mut bool, id: TypeId) -> NormalContent {
        match content {
            NormalContent::Text(text) => NormalContent::Text(*text),
            NormalContent::Elements(Particle { min: 0, .. }) | NormalContent::Empty => {
                NormalContent::Text(TypeId::ANY_SIMPLE)
            }
            NormalContent::Elements(_) => {
                self.tolerate(MIXED, id);
                *is_mixed = true;
                content.clone()
            }
        }
    }

    fn tolerate(&mut self, what: &str, id: TypeId) {
        self.tolerated.push((what.to_owned(), self.place(id)));
    }

    /// For each head the elements that can stand for it.
    fn substitution_groups(&mut self) -> Result<(), Error> {
        for index in 0..self.schemas.elements.len() {
            let id = ElementId(index as u32);
            let mut head = self.schemas[id].substitutes_for;
            let mut heads = 0;
            while let Some(at) = head.filter(|_| !self.schemas[id].is_abstract) {
                heads += 1;
                self.spent += 1;
                if heads > self.schemas.elements.len() || at == id {
                    let place = self.schemas[id].place;
                    return Err(self.sources.invalid("a substitution group that has itself for its head", place));
                }
                self.check_spent(self.schemas[id].place)?;
                // A head that blocks all others has a say on its own place alone (XSD 1.0 part 1,
                // 3.3.6).
                if !self.schemas[at].block.substitution {
                    self.schemas.substitutes.entry(at).or_default().push(id);
                }
                head = self.schemas[at].substitutes_for;
            }
        }
        Ok(())
    }

    /// Counts particles and attributes made for a type.
    fn spend(&mut self, count: usize, id: TypeId) -> Result<(), Error> {
        self.spent = self.spent.saturating_add(count);
        self.check_spent(self.place(id))
    }

    fn check_spent(&self, place: Place) -> Result<(), Error> {
        let limit = self.sources.limits.particles;
        if self.spent <= limit {
            return Ok(());
        }
        Err(self.sources.error(ErrorKind::Limit { name: "particles", limit: limit as u64 }, place))
    }

    /// Groups in groups are followed by recursion: `depth` counts the levels.
    fn check_depth(&self, depth: usize, id: TypeId) -> Result<(), Error> {
        // Elements within a definition are as deep as the document at most, and each level of
        // groups has that again.
        let limit = self.sources.limits.depth.saturating_mul(2);
        if depth <= limit {
            return Ok(());
        }
        Err(self.sources.error(ErrorKind::Limit { name: "depth", limit: limit as u64 }, self.place(id)))
    }

    fn place(&self, id: TypeId) -> Place {
        self.schemas[id].place.unwrap_or(Place { document: 0, offset: 0 })
    }

    fn invalid(&self, what: &str, id: TypeId) -> Error {
        self.sources.invalid(what, self.place(id))
    }
}

/// `use="prohibited"` takes an attribute away: by now it has done so.
fn without_prohibited(mut normal: Normal) -> Normal {
    normal.attributes.retain(|it| !it.is_prohibited);
    normal
}

/// The type that another one is derived from: `None` for those that everything comes from.
fn base(schemas: &Schemas, id: TypeId) -> Option<TypeId> {
    match &schemas[id].definition {
        TypeDefinition::Simple(simple) => match simple.variety {
            Variety::Restriction(base) => Some(base),
            _ => None,
        },
        TypeDefinition::Complex(complex) => Some(complex.base).filter(|_| id != TypeId::ANY),
    }
}

fn derived(schemas: &Schemas) -> std::collections::HashMap<TypeId, Vec<TypeId>> {
    let mut derived = std::collections::HashMap::<TypeId, Vec<TypeId>>::new();
    for (id, _) in schemas.types() {
        if let Some(base) = base(schemas, id) {
            derived.entry(base).or_default().push(id);
        }
    }
    derived
}

/// Facets on the text of a complex type restrict that text's type, not the complex type.
fn restrict_text(schemas: &mut Schemas) {
    for index in 0..schemas.types.len() {
        let id = TypeId(index as u32);
        let TypeDefinition::Simple(SimpleType { variety: Variety::Restriction(base), .. }) = schemas[id].definition
        else {
            continue;
        };
        let Some(normal) = schemas.content(base) else { continue };
        let text = match normal.content {
            NormalContent::Text(text) => text,
            _ => TypeId::ANY_SIMPLE,
        };
        if let TypeDefinition::Simple(simple) = &mut schemas.types[index].definition {
            simple.variety = Variety::Restriction(text);
        }
    }
}

/// Particles and attributes of a type.
fn count(normal: &Normal) -> usize {
    let particles = match &normal.content {
        NormalContent::Elements(particle) => particles::count(particle),
        _ => 1,
    };
    particles + normal.attributes.len()
}

/// Terms within a term.
pub(crate) fn parts(term: &Term) -> &[Particle] {
    match term {
        Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => parts,
        Term::Element(_) | Term::Group(_) | Term::Any(_) => &[],
    }
}
