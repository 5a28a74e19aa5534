//! Complex types: converts content models to fields.

use super::simple::is_soap_encoding;
use super::{Lowering, Work};
use crate::normalize::{NormalizedContent, NormalizedType, Repetitions, parts};
use crate::xsd::{ElementId, Particle, Schemas, SoapArray, Term, TypeId, WildcardNamespaces};
use deltasoap_core::schema::{
    ArrayElement, Attribute, Branch, Choice, ComplexElement, Compositor, Element, ElementRef, Field, Required, Use,
};
use deltasoap_core::{QName, ns};
use std::collections::HashSet;

/// The fields made from a content model.
struct Model<'m> {
    compositor: Compositor,
    fields: Vec<Field>,
    choices: Vec<Choice>,
    encoding: Use,
    /// `None` if there are no elements.
    repeated: Option<&'m Repetitions<'m>>,
    /// True if some parts with more structure are kept as lists of elements.
    is_flattened: bool,
}

impl<'m> Model<'m> {
    fn new(encoding: Use, repeated: Option<&'m Repetitions<'m>>) -> Self {
        // Accessors in SOAP encoding are distinguished by name, not by order (SOAP 1.1, 5.1).
        let compositor = if encoding == Use::Encoded { Compositor::All } else { Compositor::Sequence };
        Model { compositor, fields: Vec::new(), choices: Vec::new(), encoding, repeated, is_flattened: false }
    }

    /// Returns true if the fields of a repeated particle are together in each of its occurrences.
    /// This is not possible if fields come in any order.
    fn has_group(&self, particle: &Particle) -> bool {
        self.compositor == Compositor::Sequence && self.repeated.is_some_and(|it| it.is_group(particle))
    }

    /// Returns true if the fields of an optional sequence must be distinguished from later fields
    /// of the same name.
    fn is_tied(&self, particle: &Particle) -> bool {
        self.compositor == Compositor::Sequence && self.repeated.is_some_and(|it| it.is_tied(particle))
    }

    /// Returns true if an earlier list may have taken elements of this particle.
    fn may_be_taken(&self, particle: &Particle) -> bool {
        self.compositor == Compositor::Sequence && self.repeated.is_some_and(|it| it.may_be_taken(particle))
    }

    fn branches<'p>(&self, parts: &'p [Particle]) -> Vec<&'p Particle> {
        self.repeated.map_or_else(|| Particle::branches(parts), |it| it.branches(parts))
    }

    fn can_be_empty(&self, particle: &Particle) -> bool {
        self.repeated.map_or_else(|| particle.can_be_empty(), |it| it.can_be_empty(particle))
    }
}

impl Lowering<'_> {
    /// Lowers a complex type.
    pub(super) fn complex(&mut self, id: TypeId, encoding: Use) -> Element {
        let schemas = self.schemas;
        let Some(normal) = schemas.content(id) else { return Element::Any };
        match &normal.content {
            NormalizedContent::Text(text) if is_soap_encoding(schemas, id) => self.encoded_simple(id, *text),
            NormalizedContent::Text(text) => self.with_text(id, *text, normal, encoding),
            _ if self.is_array(id, normal) => self.array(id, normal, encoding),
            _ if normal.is_mixed => {
                self.notes.mixed(id);
                Element::Any
            }
            NormalizedContent::Elements(particle) => self.with_elements(id, particle, normal, encoding),
            NormalizedContent::Empty => self.record(id, normal, Model::new(encoding, None), None),
        }
    }

    fn record(&mut self, id: TypeId, normal: &NormalizedType, model: Model<'_>, text: Option<ElementRef>) -> Element {
        let Model { compositor, fields, choices, encoding, .. } = model;
        // If the order is not significant, fields do not exclude each other.
        let choices = if compositor == Compositor::Sequence { choices } else { Vec::new() };
        // In SOAP encoding, attributes describe how an element is read.
        let any_attribute = normal.any_attribute.is_some() && encoding == Use::Literal;
        if normal.any_attribute.is_some() && !any_attribute {
            self.notes.any_attribute(id);
        }
        let attributes = self.attributes(normal).into();
        let name = self.schemas[id].name.clone().unwrap_or_default();
        Element::Complex(ComplexElement {
            name,
            compositor,
            fields: fields.into(),
            attributes,
            text,
            open: false,
            any_attribute,
            choices: choices.into(),
        })
    }

    fn attributes(&mut self, normal: &NormalizedType) -> Vec<Attribute> {
        let mut attributes = Vec::with_capacity(normal.attributes.len());
        for it in &normal.attributes {
            let declaration = &self.schemas[it.attribute];
            let element = self.exactly(declaration.type_id, Use::Literal);
            let name = || self.schemas.default_name_of_attribute(it).map(QName::to_expanded);
            let default = self.schemas.default_of_attribute(it).map(ToOwned::to_owned).or_else(name).map(Into::into);
            let required = it.is_required;
            attributes.push(Attribute { name: declaration.name.clone(), element, required, default });
        }
        attributes
    }

    fn with_text(&mut self, id: TypeId, text: TypeId, normal: &NormalizedType, encoding: Use) -> Element {
        let text = self.exactly(text, Use::Literal);
        self.record(id, normal, Model { encoding, ..Model::new(Use::Literal, None) }, Some(text))
    }

    /// Lowers `soapenc:string` and similar types: simple types with attributes that belong to the
    /// encoding.
    fn encoded_simple(&mut self, id: TypeId, text: TypeId) -> Element {
        let mut element = self.simple(text);
        if let (Element::Simple(simple), Some(name)) = (&mut element, &self.schemas[id].name) {
            simple.name = name.clone();
        }
        element
    }

    fn is_array(&self, id: TypeId, normal: &NormalizedType) -> bool {
        let is_plain_array = || self.schemas[id].name.as_ref().is_some_and(|name| name.local == "Array");
        normal.array.is_some() || (is_soap_encoding(self.schemas, id) && is_plain_array())
    }

    fn array(&mut self, id: TypeId, normal: &NormalizedType, encoding: Use) -> Element {
        let name = self.schemas[id].name.clone().unwrap_or_else(|| QName::new(ns::SOAP11_ENCODING, "Array"));
        let any = SoapArray { item: TypeId::ANY, element: None, dimensions: "[]".into() };
        let array = normal.array.as_ref().unwrap_or(&any);
        let item_name = array.element.map_or(QName::new("", "item"), |element| self.schemas[element].name.clone());
        // The ranks of the innermost items come first, those of the array itself last.
        let Some(ranks) = array.ranks() else { return Element::Any };
        let (own, inner_ranks) = ranks.split_last().map_or((1, &[][..]), |(own, inner)| (*own, inner));
        let mut item = self.content(array.item, encoding);
        let mut item_type = self.schemas[array.item].name.clone().unwrap_or_else(|| QName::new(ns::XSD, "anyType"));
        // `[][]`: an array of arrays.
        for &dimensions in inner_ranks {
            let inner = QName::new(ns::SOAP11_ENCODING, "Array");
            let element = ArrayElement {
                name: inner.clone(),
                item_name: QName::new("", "item"),
                item,
                item_type,
                nillable: true,
                dimensions,
            };
            item = self.refer(Work::Done(Element::Array(element)));
            item_type = inner;
        }
        Element::Array(ArrayElement { name, item_name, item, item_type, nillable: true, dimensions: own })
    }

    fn with_elements(&mut self, id: TypeId, particle: &Particle, normal: &NormalizedType, encoding: Use) -> Element {
        let repeated = Repetitions::new(self.schemas, particle);
        let mut model = Model::new(encoding, Some(&repeated));
        match &particle.term {
            Term::Choice(parts)
                if particle.max == Some(1) && self.are_plain_elements(parts) && !counts_if_chosen(particle) =>
            {
                model.compositor = Compositor::Choice;
                parts.iter().for_each(|part| self.add(part, particle.min == 0, &mut model));
            }
            _ => self.add(particle, false, &mut model),
        }
        if model.is_flattened {
            self.notes.flattened(id);
        }
        self.record(id, normal, model, None)
    }

    /// Returns true if each part is an element without substitutes.
    fn are_plain_elements(&self, parts: &[Particle]) -> bool {
        let is_plain =
            |part: &Particle| matches!(part.term, Term::Element(id) if self.schemas.substitutes(id).is_empty());
        parts.iter().all(is_plain)
    }

    /// Adds the content that a particle allows to the fields.
    fn add(&mut self, particle: &Particle, is_optional: bool, model: &mut Model<'_>) {
        let is_taken = model.may_be_taken(particle);
        model.is_flattened |= is_taken;
        let is_optional = is_optional || particle.min == 0 || is_taken;
        let is_repeated = particle.max != Some(1);
        match &particle.term {
            Term::Element(id) => self.add_element(*id, particle, is_optional, model),
            Term::Any(wildcard) => {
                let max = if model.compositor == Compositor::All { None } else { particle.max };
                let wildcard = self.wildcard(&wildcard.namespaces, max);
                model.fields.push(wildcard);
            }
            Term::Group(_) => {}
            Term::Choice(_) | Term::Sequence(_) if model.has_group(particle) => {
                self.add_group(particle, is_optional, model);
            }
            Term::Choice(parts) if is_repeated || Particle::are_elements(parts, model.encoding == Use::Encoded) => {
                self.add_choice(particle, is_optional, model);
            }
            Term::Sequence(_) | Term::All(_) if is_repeated => self.add_choice(particle, is_optional, model),
            Term::Choice(parts) => self.add_groups(parts, is_optional, model),
            Term::Sequence(parts) if model.is_tied(particle) => self.add_tied(parts, model),
            Term::Sequence(parts) => parts.iter().for_each(|part| self.add(part, is_optional, model)),
            Term::All(parts) => {
                model.compositor = Compositor::All;
                parts.iter().for_each(|part| self.add(part, is_optional, model));
            }
        }
    }

    fn add_element(&mut self, id: ElementId, particle: &Particle, is_optional: bool, model: &mut Model<'_>) {
        let mut field = self.field_or_substitutes(id, model.encoding);
        field.min = if is_optional || model.encoding == Use::Encoded { 0 } else { particle.min };
        field.max = particle.max;
        model.fields.push(field);
    }

    /// Adds a choice between groups that occurs once: the fields of all branches, and which of them
    /// exclude each other.
    fn add_groups(&mut self, parts: &[Particle], is_optional: bool, model: &mut Model<'_>) {
        let first = model.fields.len() as u32;
        let mut branches = Vec::new();
        for part in model.branches(parts) {
            branches.push(self.add_branch(part.parts_of_branch(), model));
        }
        if Particle::are_distinguishable(parts, self.schemas) {
            let is_optional = is_optional || parts.iter().any(|part| model.can_be_empty(part));
            model.choices.push(Choice { first, branches: branches.into(), is_optional });
        }
    }

    /// Adds an optional sequence with an element that occurs again later: an optional choice with
    /// one branch.
    fn add_tied(&mut self, parts: &[Particle], model: &mut Model<'_>) {
        let first = model.fields.len() as u32;
        let branch = self.add_branch(parts, model);
        model.choices.push(Choice { first, branches: vec![branch].into(), is_optional: true });
    }

    /// Adds the fields of one branch of a choice between groups.
    fn add_branch(&mut self, parts: &[Particle], model: &mut Model<'_>) -> Branch {
        let mut own = Model::new(model.encoding, model.repeated);
        parts.iter().for_each(|part| self.add(part, false, &mut own));
        model.is_flattened |= own.is_flattened;
        if own.compositor == Compositor::All {
            model.compositor = Compositor::All;
        }
        let branch = branch(&own);
        model.fields.extend(own.fields.into_iter().map(|field| Field { min: 0, ..field }));
        branch
    }

    /// Adds a repeated particle whose occurrences have several elements each: a group of fields.
    fn add_group(&mut self, particle: &Particle, is_optional: bool, model: &mut Model<'_>) {
        let mut own = Model::new(model.encoding, model.repeated);
        match &particle.term {
            Term::Choice(parts) => self.add_groups(parts, false, &mut own),
            term => parts(term).iter().for_each(|part| self.add(part, false, &mut own)),
        }
        let Some(first) = own.fields.first() else { return };
        let name = QName::owned("", first.name.local.as_ref());
        let group = inline(Compositor::Sequence, own.fields, own.choices);
        let element = self.refer(Work::Done(Element::Complex(group)));
        let min = if is_optional || particle.can_be_empty() { 0 } else { particle.min };
        model.fields.push(Field { name, element, min, max: particle.max, nillable: false, inline: true });
    }

    /// Adds an inline choice of all elements within a particle.
    fn add_choice(&mut self, particle: &Particle, is_optional: bool, model: &mut Model<'_>) {
        model.is_flattened |=
            model.encoding == Use::Literal && model.repeated.is_some_and(|repeated| repeated.is_flattened(particle));
        let mut leaves = Leaves::default();
        collect(self.schemas, particle, &mut leaves);
        let mut fields: Vec<Field> =
            leaves.elements.iter().map(|&id| self.field_or_substitutes(id, model.encoding)).collect();
        if let Some(namespaces) = &leaves.namespaces {
            fields.push(Field { min: 1, ..self.wildcard(namespaces, Some(1)) });
        }
        if fields.is_empty() {
            return;
        }
        let label = QName::owned("", fields[0].name.local.as_ref());
        let element = self.refer(Work::Done(Element::Complex(inline(Compositor::Choice, fields, Vec::new()))));
        let is_once = particle.max == Some(1) && !leaves.repeated;
        let is_simple = matches!(particle.term, Term::Choice(_) | Term::Element(_)) && !leaves.optional;
        // How often the elements of a list occur at least is known for plain choices alone.
        let min = if is_simple { particle.min } else { u32::from(!particle.can_be_empty()) };
        let min = if is_optional || model.encoding == Use::Encoded { 0 } else { min };
        let max = if is_once { Some(1) } else { particle.max_elements() };
        model.fields.push(Field { name: label, element, min, max, nillable: false, inline: true });
    }

    /// Returns a field for any elements of these namespaces, kept as trees. Elements of named
    /// fields do not belong to it.
    fn wildcard(&mut self, namespaces: &WildcardNamespaces, max: Option<u32>) -> Field {
        let element = self.exactly(TypeId::ANY, Use::Literal);
        let name = QName::owned(namespaces.label(), "any");
        Field { name, element, min: 0, max, nillable: false, inline: true }
    }

    /// Returns the field of an element, occurring once; an inline choice if the element has
    /// substitutes.
    fn field_or_substitutes(&mut self, id: ElementId, encoding: Use) -> Field {
        if self.schemas.substitutes(id).is_empty() {
            return self.field(id, encoding);
        }
        let element = self.substitution_group(id, encoding);
        let name = QName::owned("", self.schemas[id].name.local.as_ref());
        Field { name, element, min: 1, max: Some(1), nillable: false, inline: true }
    }

    /// Returns the choice of an element and its substitutes, which is made once.
    fn substitution_group(&mut self, id: ElementId, encoding: Use) -> ElementRef {
        let key = (id, encoding == Use::Encoded);
        if let Some(&known) = self.groups.get(&key) {
            return known;
        }
        let schemas = self.schemas;
        let own = Some(id).filter(|_| !schemas[id].is_abstract);
        let members = own.into_iter().chain(schemas.substitutes(id).iter().copied());
        let fields = members.map(|member| self.field(member, encoding)).collect();
        let group = self.refer(Work::Done(Element::Complex(inline(Compositor::Choice, fields, Vec::new()))));
        self.groups.insert(key, group);
        group
    }

    /// Returns the field of an element, occurring once.
    pub(super) fn field(&mut self, id: ElementId, encoding: Use) -> Field {
        let declaration = &self.schemas[id];
        let nillable = declaration.is_nillable || encoding == Use::Encoded;
        let element = self.element(id, encoding);
        Field { name: declaration.name.clone(), element, min: 1, max: Some(1), nillable, inline: false }
    }
}

/// Returns true for an optional choice with a branch that, if chosen, has an element more than
/// once. Fields have a number of occurrences or are optional, but not both.
fn counts_if_chosen(choice: &Particle) -> bool {
    choice.min == 0 && parts(&choice.term).iter().any(|part| part.min > 1)
}

/// Collects all elements within a particle.
fn collect<'i>(schemas: &'i Schemas, particle: &Particle, leaves: &mut Leaves<'i>) {
    match &particle.term {
        Term::Element(id) => {
            if leaves.names.insert(&schemas[*id].name) {
                leaves.elements.push(*id);
            }
        }
        Term::Any(wildcard) => wildcard.namespaces.join(&mut leaves.namespaces),
        term => {
            for part in parts(term) {
                leaves.repeated |= part.max != Some(1);
                leaves.optional |= part.can_be_empty();
                collect(schemas, part, leaves);
            }
        }
    }
}

/// Creates a record that has no element of its own.
fn inline(compositor: Compositor, fields: Vec<Field>, choices: Vec<Choice>) -> ComplexElement {
    ComplexElement {
        name: QName::default(),
        compositor,
        fields: fields.into(),
        attributes: Vec::new().into(),
        text: None,
        open: false,
        any_attribute: false,
        choices: choices.into(),
    }
}

/// Elements of a group.
#[derive(Default)]
struct Leaves<'i> {
    names: HashSet<&'i QName>,
    elements: Vec<ElementId>,
    /// Namespaces that wildcards allow.
    namespaces: Option<WildcardNamespaces>,
    repeated: bool,
    optional: bool,
}

fn branch(model: &Model<'_>) -> Branch {
    let required = model.fields.iter().enumerate().filter(|(_, field)| field.min > 0);
    let required = required.map(|(index, field)| Required { field: index as u32, min: field.min }).collect::<Vec<_>>();
    Branch { fields: model.fields.len() as u32, required: required.into(), choices: model.choices.clone().into() }
}
