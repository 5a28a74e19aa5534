//! The values of complex types, under the names that zeep gives them.
//!
//! Elements have their local name; a second one of that name in a group is `name__1`. A group that
//! occurs once has no value of its own: its elements are values of the type, and optional in a
//! choice. A group that is repeated is a list of dictionaries, `_value_1`, and so are wildcards.
//! Values of one name in several groups are one value. Attributes come last: `attr__name` if an
//! element has that name.

use super::model::{Annotation, Field, Kind, Presence};
use super::plan::{Context, Planner, text, texts};
use crate::plan::legal;
use crate::plan::simple::{facets, value_docs};
use deltasoap_wsdl::xsd::{ElementId, Particle, Term, TypeId};
use deltasoap_wsdl::{NormalizedContent, NormalizedType};
use std::collections::{HashMap, HashSet};

/// The values of a group.
#[derive(Default)]
struct Group {
    fields: Vec<Field>,
    /// How often each name was used.
    counts: HashMap<String, usize>,
    /// Number of values named `_value_1` and so on.
    values: usize,
}

impl Planner<'_> {
    /// Returns the values of a complex type.
    pub(super) fn fields(&mut self, id: TypeId, owner: &Context<'_>) -> Vec<Field> {
        let Some(normal) = self.schemas.content(id) else { return Vec::new() };
        let mut fields = match &normal.content {
            NormalizedContent::Text(text) => vec![self.text_field(*text, owner)],
            NormalizedContent::Elements(particle) => self.elements(particle, owner),
            NormalizedContent::Empty => Vec::new(),
        };
        self.attributes(normal, owner, &mut fields);
        fields
    }

    fn text_field(&mut self, text: TypeId, owner: &Context<'_>) -> Field {
        let name = format!("{} value", owner.name);
        let annotation = self.simple(text, &Context { name: &name, ..*owner });
        Field {
            name: "_value_1".to_owned(),
            annotation,
            presence: Presence::Optional,
            is_attribute: false,
            docs: Vec::new(),
        }
    }

    fn attributes(&mut self, normal: &NormalizedType, owner: &Context<'_>, fields: &mut Vec<Field>) {
        let elements: HashSet<String> = fields.iter().map(|field| field.name.clone()).collect();
        let (mut seen, mut counts) = (HashSet::new(), HashMap::<String, usize>::new());
        for it in &normal.attributes {
            let declaration = &self.schemas[it.attribute];
            if !seen.insert(&declaration.name) {
                continue;
            }
            let local = legal(&declaration.name).local.to_string();
            let name = if elements.contains(&local) { format!("attr__{local}") } else { local.clone() };
            let count = counts.entry(name.clone()).or_default();
            let name = if *count == 0 { name } else { format!("{name}__{count}") };
            *count += 1;
            let label = format!("{} {local}", owner.name);
            let annotation = self.simple(declaration.type_id, &Context { name: &label, ..*owner });
            let mut docs = text(declaration.documentation.as_deref());
            docs.extend(self.anonymous_facets(declaration.type_id));
            let default = it.default.as_deref().or(declaration.default.as_deref());
            docs.extend(texts(value_docs(default, it.fixed.as_deref().or(declaration.fixed.as_deref()))));
            let presence = if it.is_required { Presence::Required } else { Presence::Optional };
            fields.push(Field { name, annotation, presence, is_attribute: true, docs });
        }
        if normal.any_attribute.is_some() {
            fields.push(Field {
                name: "_attr_1".to_owned(),
                annotation: Annotation::Plain("dict[str, Any]"),
                presence: Presence::Optional,
                is_attribute: true,
                docs: vec!["Other attributes.".to_owned()],
            });
        }
    }

    fn anonymous_facets(&self, id: TypeId) -> Vec<String> {
        if self.schemas[id].name.is_none() { texts(facets(self.schemas, id)) } else { Vec::new() }
    }

    /// Returns the values of the elements in a content model.
    fn elements(&mut self, particle: &Particle, owner: &Context<'_>) -> Vec<Field> {
        let mut group = Group::default();
        self.add_particle(particle, false, owner, &mut group);
        let mut fields: Vec<Field> = Vec::with_capacity(group.fields.len());
        let mut known: HashMap<String, usize> = HashMap::new();
        for field in group.fields {
            match known.get(&field.name) {
                Some(&other) => join(&mut fields[other], field),
                None => {
                    known.insert(field.name.clone(), fields.len());
                    fields.push(field);
                }
            }
        }
        fields
    }

    fn add_particle(&mut self, particle: &Particle, is_optional: bool, owner: &Context<'_>, into: &mut Group) {
        let is_optional = is_optional || particle.min == 0;
        let is_repeated = particle.max != Some(1);
        match &particle.term {
            _ if particle.max == Some(0) => {}
            Term::Element(id) => {
                let field = self.element_field(*id, is_optional, is_repeated, owner);
                into.add_element(field);
            }
            Term::Any(_) => {
                let annotation = if is_repeated { Annotation::list(Annotation::Any) } else { Annotation::Any };
                into.add_value(annotation, is_repeated, "Any other element.");
            }
            Term::Group(_) => {}
            Term::Sequence(_) | Term::Choice(_) | Term::All(_) if is_repeated => {
                self.add_repeated(particle, owner, into);
            }
            Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => {
                let is_optional = is_optional || matches!(particle.term, Term::Choice(_));
                let mut group = Group::default();
                parts.iter().for_each(|part| self.add_particle(part, is_optional, owner, &mut group));
                into.add_group(group);
            }
        }
    }

    /// Adds a repeated group: a list of dictionaries.
    fn add_repeated(&mut self, particle: &Particle, owner: &Context<'_>, into: &mut Group) {
        let once = Particle { min: 1, max: Some(1), term: particle.term.clone() };
        let name = format!("{} value {}", owner.name, into.values + 1);
        let fields = self.elements(&once, &Context { name: &name, ..*owner });
        if fields.is_empty() {
            return;
        }
        let key = format!("{fields:?}");
        let group = match self.groups.get(&key) {
            Some(&known) => known,
            None => {
                let docs = vec![format!("Repeated elements of `{}`.", owner.name)];
                let group = self.declare(&name, owner.namespace, false, docs, Kind::Group(fields));
                self.groups.insert(key, group);
                group
            }
        };
        into.add_value(Annotation::list(Annotation::Declared(group)), true, "Repeated elements, in order.");
    }

    fn element_field(&mut self, id: ElementId, is_optional: bool, is_repeated: bool, owner: &Context<'_>) -> Field {
        let declaration = &self.schemas[id];
        let name = legal(&declaration.name);
        let item = match declaration.is_global {
            true => self.element(id),
            false => {
                let label = format!("{} {}", owner.name, name.local);
                self.content(declaration.type_id, &Context { name: &label, ..*owner })
            }
        };
        let (annotation, presence) = match (is_repeated, declaration.is_nillable || is_optional) {
            (true, _) => (self.list_of(declaration.type_id, item, declaration.is_nillable), Presence::Repeated),
            (false, true) => (item, Presence::Optional),
            (false, false) => (item, Presence::Required),
        };
        let mut docs = text(declaration.documentation.as_deref());
        docs.extend(self.anonymous_facets(declaration.type_id));
        docs.extend(texts(value_docs(declaration.default.as_deref(), declaration.fixed.as_deref())));
        Field { name: name.local.to_string(), annotation, presence, is_attribute: false, docs }
    }

    fn list_of(&self, id: TypeId, item: Annotation, is_nillable: bool) -> Annotation {
        match (self.repeated(id, item.clone()), is_nillable) {
            (list, false) => list,
            (numbers @ Annotation::Numbers(..), true) => {
                Annotation::union(vec![numbers, Annotation::list(item.optional())])
            }
            (_, true) => Annotation::list(item.optional()),
        }
    }
}

impl Group {
    fn add_element(&mut self, field: Field) {
        let count = self.counts.entry(field.name.clone()).or_default();
        let name = if *count == 0 { field.name } else { format!("{}__{count}", field.name) };
        *count += 1;
        self.fields.push(Field { name, ..field });
    }

    /// Adds the values of an inner group, which keep their names.
    fn add_group(&mut self, group: Group) {
        for field in &group.fields {
            *self.counts.entry(field.name.clone()).or_default() += 1;
        }
        self.fields.extend(group.fields);
    }

    fn add_value(&mut self, annotation: Annotation, is_list: bool, docs: &str) {
        self.values += 1;
        let presence = if is_list { Presence::Repeated } else { Presence::Optional };
        let docs = vec![docs.to_owned()];
        let name = format!("_value_{}", self.values);
        self.fields.push(Field { name, annotation, presence, is_attribute: false, docs });
    }
}

/// Makes one value of two.
fn join(field: &mut Field, other: Field) {
    field.annotation = Annotation::union(vec![field.annotation.clone(), other.annotation]);
    if field.presence != other.presence {
        field.presence = Presence::Optional;
    }
}
