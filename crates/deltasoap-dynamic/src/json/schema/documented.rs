//! The documentation of a type, its elements and its attributes in the WSDL.

use crate::Contract;
use deltasoap_core::QName;
use deltasoap_core::schema::ElementRef;
use deltasoap_wsdl::xsd::{Particle, Term, TypeId};
use deltasoap_wsdl::{NormalizedContent, Schemas};
use std::collections::HashMap;

/// Maximum number of particles that are searched for the documentation of elements.
const MAX_PARTICLES: usize = 10_000;

/// The documentation of a type and of what it contains.
#[derive(Debug, Default)]
pub(super) struct Documented<'c> {
    own: Option<&'c str>,
    elements: HashMap<&'c QName, &'c str>,
    attributes: HashMap<&'c QName, &'c str>,
}

impl<'c> Documented<'c> {
    /// Collects the documentation of the type that content was lowered from.
    pub(super) fn of(contract: &'c Contract, content: ElementRef) -> Self {
        match contract.types.lowered.origin(content) {
            Some(origin) => Self::of_type(contract.types.import.schemas(), origin.type_id),
            None => Self::default(),
        }
    }

    fn of_type(schemas: &'c Schemas, id: TypeId) -> Self {
        let mut all = Documented { own: schemas[id].documentation.as_deref(), ..Self::default() };
        let Some(normal) = schemas.content(id).filter(|_| id != TypeId::ANY) else { return all };
        for used in &normal.attributes {
            let attribute = &schemas[used.attribute];
            all.attributes.extend(attribute.documentation.as_deref().map(|text| (&attribute.name, text)));
        }
        if let NormalizedContent::Elements(particle) = &normal.content {
            all.particles(schemas, particle);
        }
        all
    }

    fn particles(&mut self, schemas: &'c Schemas, particle: &'c Particle) {
        let (mut ahead, mut seen) = (vec![particle], 0);
        while let Some(particle) = ahead.pop().filter(|_| seen < MAX_PARTICLES) {
            seen += 1;
            match &particle.term {
                Term::Element(id) => {
                    let element = &schemas[*id];
                    self.elements.extend(element.documentation.as_deref().map(|text| (&element.name, text)));
                }
                Term::Sequence(inner) | Term::Choice(inner) | Term::All(inner) => ahead.extend(inner),
                Term::Any(_) | Term::Group(_) => {}
            }
        }
    }

    /// Returns the documentation of the type itself.
    pub(super) fn type_text(&self) -> Option<&'c str> {
        self.own
    }

    pub(super) fn element(&self, name: &QName) -> Option<&'c str> {
        self.elements.get(name).copied()
    }

    pub(super) fn attribute(&self, name: &QName) -> Option<&'c str> {
        self.attributes.get(name).copied()
    }
}
