//! Stage three: computes the effective content of each complex type.
//!
//! Base types are processed before the types derived from them, groups are expanded, and each
//! attribute is listed once. Work and memory are counted as they are used: a WSDL of a few lines
//! can require any amount.

mod ambiguity;
mod attributes;
mod cycles;
mod determinism;
mod particles;

pub(crate) use cycles::members;
pub use particles::Repetitions;

use crate::document::Place;
use crate::load::Sources;
use crate::xsd::{
    AttributeGroupId, AttributeUse, Attributes, ComplexType, Content, Derivation, ElementId, GroupId, Particle,
    Schemas, SimpleType, SoapArray, Term, TypeDefinition, TypeId, Variety, Wildcard,
};
use crate::{Error, ErrorKind, NoteKind};
use std::rc::Rc;

/// The complete content of a complex type.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalizedType {
    /// Elements, text or nothing.
    pub content: NormalizedContent,
    /// True if text is allowed between the elements.
    pub is_mixed: bool,
    /// Attributes; those of base types come first.
    pub attributes: Vec<AttributeUse>,
    /// Wildcard for other attributes.
    pub any_attribute: Option<Wildcard>,
    /// Items, if the type is a SOAP array.
    pub array: Option<SoapArray>,
}

/// Content of an element of a complex type.
#[derive(Debug, Clone, PartialEq)]
pub enum NormalizedContent {
    /// Nothing.
    Empty,
    /// Child elements. No term is a [`Term::Group`].
    Elements(Particle),
    /// Text of a simple type.
    Text(TypeId),
}

/// Computes the parts of [`Schemas`] that are not written in the documents.
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

/// Note about a type that has text from its base and its own elements, or the other way round.
const MIXED: &str = "a type with simple content and with elements is read as one with mixed content";

struct Normalizer<'s> {
    sources: &'s Sources,
    schemas: &'s mut Schemas,
    /// Number of particles and attributes made so far.
    spent: usize,
    done: Vec<Option<Done>>,
    attribute_groups: Vec<Option<Rc<Attributes>>>,
    open: Open,
    /// What the standards do not allow but whose meaning is clear.
    tolerated: Vec<(String, Place)>,
    /// What may not mean what it is read as.
    invalid: Vec<(String, Place)>,
}

/// Groups that are being expanded.
#[derive(Default)]
struct Open {
    groups: Vec<GroupId>,
    attribute_groups: Vec<AttributeGroupId>,
}

enum Done {
    Simple,
    Complex(Box<NormalizedType>),
}

impl Done {
    fn complex(self) -> Option<Box<NormalizedType>> {
        match self {
            Done::Simple => None,
            Done::Complex(normal) => Some(normal),
        }
    }
}

impl Normalizer<'_> {
    /// Processes a type after its base types.
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

    fn take_base(&self, base: TypeId) -> Option<NormalizedType> {
        match &self.done[base.index()] {
            Some(Done::Complex(normal)) => Some((**normal).clone()),
            _ => None,
        }
    }

    /// Returns the content of the definition itself, with groups expanded. Text of the base type is
    /// `xsd:anySimpleType` at this point.
    fn own(&mut self, complex: &ComplexType, id: TypeId) -> Result<NormalizedType, Error> {
        let attributes = self.expanded_attributes(&complex.attributes, 0, id)?;
        let content = match &complex.content {
            Content::Empty => NormalizedContent::Empty,
            Content::Text(text) => NormalizedContent::Text(text.unwrap_or(TypeId::ANY_SIMPLE)),
            Content::Elements(particle) => NormalizedContent::Elements(self.expanded(particle, 0, id)?),
        };
        Ok(NormalizedType {
            content,
            is_mixed: complex.is_mixed,
            attributes: attributes.uses.clone(),
            any_attribute: attributes.any.clone(),
            array: complex.array.clone(),
        })
    }

    /// Returns the content of a type derived from a simple type: its text, with attributes.
    fn of_simple(&mut self, own: NormalizedType, complex: &ComplexType, id: TypeId) -> Result<NormalizedType, Error> {
        match complex.content {
            Content::Text(None) => Ok(NormalizedType { content: NormalizedContent::Text(complex.base), ..own }),
            Content::Text(Some(_)) => Ok(own),
            Content::Empty => {
                self.tolerate("complex content that is derived from a simple type is read as simple content", id);
                Ok(NormalizedType { content: NormalizedContent::Text(complex.base), ..own })
            }
            Content::Elements(_) => {
                self.tolerate(MIXED, id);
                Ok(NormalizedType { is_mixed: true, ..own })
            }
        }
    }

    fn restricted(
        &mut self,
        base: &NormalizedType,
        mut own: NormalizedType,
        id: TypeId,
    ) -> Result<NormalizedType, Error> {
        let content = match (own.content, &base.content) {
            (NormalizedContent::Text(TypeId::ANY_SIMPLE), content) => self.text_of(content, &mut own.is_mixed, id),
            (content, _) => content,
        };
        let attributes = attributes::restricted(self.schemas, &base.attributes, own.attributes);
        let any_attribute = own.any_attribute;
        let array = own.array.or_else(|| base.array.clone());
        Ok(NormalizedType { content, attributes, any_attribute, array, is_mixed: own.is_mixed })
    }

    fn extended(
        &mut self,
        base: &NormalizedType,
        mut own: NormalizedType,
        id: TypeId,
    ) -> Result<NormalizedType, Error> {
        let content = match (&base.content, own.content) {
            (content, NormalizedContent::Text(_)) => self.text_of(content, &mut own.is_mixed, id),
            (content, NormalizedContent::Empty) => content.clone(),
            (NormalizedContent::Empty, content) => content,
            (NormalizedContent::Elements(first), NormalizedContent::Elements(then)) => {
                NormalizedContent::Elements(particles::in_sequence(first, then))
            }
            (NormalizedContent::Text(_), content @ NormalizedContent::Elements(_)) => {
                self.tolerate(MIXED, id);
                own.is_mixed = true;
                content
            }
        };
        let (attributes, lost) = attributes::extended(self.schemas, &base.attributes, own.attributes);
        // Arrays are often extended this way to declare their item type; this loses nothing.
        if own.array.is_none() {
            self.note_lost(&lost, "directly and from its base type", id);
        }
        let any_attribute = attributes::either(own.any_attribute, base.any_attribute.as_ref());
        let array = own.array.or_else(|| base.array.clone());
        Ok(NormalizedType { content, attributes, any_attribute, array, is_mixed: own.is_mixed || base.is_mixed })
    }

    /// Returns the text of a base type with simple content; mixed content counts as any text.
    fn text_of(&mut self, content: &NormalizedContent, is_mixed: &mut bool, id: TypeId) -> NormalizedContent {
        match content {
            NormalizedContent::Text(text) => NormalizedContent::Text(*text),
            NormalizedContent::Elements(Particle { min: 0, .. }) | NormalizedContent::Empty => {
                NormalizedContent::Text(TypeId::ANY_SIMPLE)
            }
            NormalizedContent::Elements(_) => {
                self.tolerate(MIXED, id);
                *is_mixed = true;
                content.clone()
            }
        }
    }

    fn tolerate(&mut self, what: &str, id: TypeId) {
        self.tolerated.push((what.to_owned(), self.place(id)));
    }

    /// Collects the substitutes of each head element.
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
                    return Err(self.sources.invalid("a substitution group with itself as its head", place));
                }
                self.check_spent(self.schemas[id].place)?;
                // A head that blocks all substitutions affects only its own position (XSD 1.0 part
                // 1, 3.3.6).
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

    /// Limits the recursion into nested groups; `depth` counts the levels.
    fn check_depth(&self, depth: usize, id: TypeId) -> Result<(), Error> {
        // The elements of a definition are at most as deep as the document, and each level of
        // groups adds the same depth again.
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

/// Removes attributes with `use="prohibited"`, which have served their purpose.
fn without_prohibited(mut normal: NormalizedType) -> NormalizedType {
    normal.attributes.retain(|it| !it.is_prohibited);
    normal
}

/// Returns the type that another one is derived from; `None` for the root types.
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

/// Makes facets on the text of a complex type restrict the type of that text instead of the complex
/// type.
fn restrict_text(schemas: &mut Schemas) {
    for index in 0..schemas.types.len() {
        let id = TypeId(index as u32);
        let TypeDefinition::Simple(SimpleType { variety: Variety::Restriction(base), .. }) = schemas[id].definition
        else {
            continue;
        };
        let Some(normal) = schemas.content(base) else { continue };
        let text = match normal.content {
            NormalizedContent::Text(text) => text,
            _ => TypeId::ANY_SIMPLE,
        };
        if let TypeDefinition::Simple(simple) = &mut schemas.types[index].definition {
            simple.variety = Variety::Restriction(text);
        }
    }
}

/// Returns the number of particles and attributes of a type.
fn count(normal: &NormalizedType) -> usize {
    let particles = match &normal.content {
        NormalizedContent::Elements(particle) => particles::count(particle),
        _ => 1,
    };
    particles + normal.attributes.len()
}

/// Returns the particles inside a term.
pub(crate) fn parts(term: &Term) -> &[Particle] {
    match term {
        Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => parts,
        Term::Element(_) | Term::Group(_) | Term::Any(_) => &[],
    }
}
