//! Samples built from the schema itself, as trees. They include information that the engine's
//! schema does not keep: fixed values, which branches of a choice belong together, what a wildcard
//! allows, attributes of mixed content.

use super::names::with_names;
use super::{MAX_DEPTH, MAX_OPTIONAL_DEPTH, MAX_OPTIONAL_VALUES, MAX_VALUES, Sampler};
use crate::json::tree_of;
use deltasoap_core::lexical::is_ncname;
use deltasoap_core::schema::{ElementRef, Use};
use deltasoap_core::{Child, Node, QName, Value, ns};
use deltasoap_wsdl::xsd::{
    Attribute, AttributeUse, Element, ElementId, Particle, ProcessContents, Term, TypeDefinition, TypeId, Wildcard,
    WildcardNamespaces,
};
use deltasoap_wsdl::{NormalizedContent, Schemas};

/// The only allowed value: as written in the schema, and its resolved name.
type Fixed<'f> = (&'f str, Option<&'f QName>);

impl<'t> Sampler<'t> {
    /// Returns a value of literal content whose type is in the schema; `None` if its type is not,
    /// or the engine cannot read the sample.
    pub(super) fn by_schema(&mut self, content: ElementRef, name: &QName) -> Option<Value> {
        let origin = self.types.lowered.origin(content).filter(|origin| origin.encoding == Use::Literal)?;
        let schemas = self.schemas();
        let declaration = schemas.element_named(name).map(|id| &schemas[id]).filter(|it| it.type_id == origin.type_id);
        let before = (self.made, self.made_ids, self.is_cut, self.ids.clone());
        let mut node = self.element(name, origin.type_id, declaration);
        if !self.settle(&mut node, origin.type_id, declaration) && !self.leaves_out_references {
            // Try again, without the optional references.
            (self.made, self.made_ids, self.is_cut, self.ids) = before;
            self.leaves_out_references = true;
            node = self.element(name, origin.type_id, declaration);
            self.settle(&mut node, origin.type_id, declaration);
            self.leaves_out_references = false;
        }
        self.types.read_node(&node, content).ok().map(without_bindings)
    }

    pub(super) fn schemas(&self) -> &'t Schemas {
        self.types.import.schemas()
    }

    /// Builds an element of a type, by its declaration if there is one.
    pub(super) fn element(&mut self, name: &QName, type_id: TypeId, declaration: Option<&Element>) -> Node {
        self.made += 1;
        let can_be_nil = declaration.is_some_and(|it| it.is_nillable && it.fixed.is_none());
        let Some(actual) = self.actual_type(type_id, declaration) else {
            self.is_cut = true;
            return Node::new(name.clone());
        };
        let is_endless = self.types_open.contains(&actual) || !self.types.finite().has(self.types, actual);
        let is_nil = can_be_nil && (is_endless || self.chances(8));
        self.types_open.push(actual);
        let node = if is_nil { self.nil(name, actual) } else { self.of_type(name, actual, declaration) };
        self.types_open.pop();
        if actual == type_id { node } else { self.types.typed_tree(node, actual) }
    }

    /// Builds a nil element: without content, but with its attributes (XSD 1.0 part 1, 3.3.4).
    pub(super) fn nil(&mut self, name: &QName, id: TypeId) -> Node {
        let mut node = Node::new(name.clone());
        node.attributes.push((QName::new(ns::XSI, "nil"), "true".into()));
        let normal = self.schemas().content(id);
        normal.iter().flat_map(|normal| &normal.attributes).for_each(|it| self.attribute_use(it, &mut node));
        node
    }

    /// Returns the type, or one derived from it that is neither abstract nor blocked; preferably
    /// one with finite values.
    fn actual_type(&mut self, id: TypeId, declaration: Option<&Element>) -> Option<TypeId> {
        const MAX_CANDIDATES: usize = 50;
        let schemas = self.schemas();
        let block = declaration.map(|it| it.block).unwrap_or_default();
        let is_good = |&other: &TypeId| {
            let is_abstract = matches!(&schemas[other].definition, TypeDefinition::Complex(it) if it.is_abstract);
            let is_named = other == id || schemas[other].name.is_some();
            !is_abstract && is_named && self.types.can_stand_for(other, id, block)
        };
        let is_finite = |&id: &TypeId| self.types.finite().has(self.types, id);
        let is_simple = matches!(schemas[id].definition, TypeDefinition::Simple(_));
        if id == TypeId::ANY || is_simple || self.chance.is_none() && is_good(&id) && is_finite(&id) {
            return Some(id);
        }
        let (mut found, mut other, mut ahead) = (Vec::new(), None, vec![id]);
        while let Some(id) = ahead.pop().filter(|_| found.len() < MAX_CANDIDATES) {
            other = other.or(Some(id).filter(is_good));
            found.extend(Some(id).filter(is_good).filter(is_finite).filter(|id| !self.types_open.contains(id)));
            if !found.is_empty() && self.chance.is_none() {
                break;
            }
            ahead.extend(schemas.derived(id).iter().rev());
        }
        let index = if self.chance.is_some() { self.below(found.len().max(1)) } else { 0 };
        found.get(index).copied().or(other)
    }

    fn of_type(&mut self, name: &QName, id: TypeId, declaration: Option<&Element>) -> Node {
        let fixed = declaration.and_then(|it| it.fixed.as_deref().map(|text| (text, it.value_name.as_ref())));
        let fixed_text = fixed.map(|(text, _)| text);
        // `xsd:schema` can be empty, and contains no text.
        if name.namespace == ns::XSD {
            return Node::new(name.clone());
        }
        if id == TypeId::ANY {
            return Node::with_text(name.clone(), fixed_text.unwrap_or("text"));
        }
        let Some(normal) = self.schemas().content(id) else {
            return self.with_text(Node::new(name.clone()), id, fixed);
        };
        if normal.array.is_some() || self.types.is_soap_encoding(id) {
            return self.by_engine(name, id);
        }
        let mut node = Node::new(name.clone());
        for it in &normal.attributes {
            self.attribute_use(it, &mut node);
        }
        match &normal.content {
            NormalizedContent::Text(text) => return self.with_text(node, *text, fixed),
            NormalizedContent::Elements(particle) if fixed.is_none() => self.particle(particle, &mut node),
            NormalizedContent::Elements(_) | NormalizedContent::Empty => {}
        }
        if normal.is_mixed {
            node.children.insert(0, Child::Text(fixed_text.unwrap_or("text").into()));
        }
        node
    }

    fn with_text(&mut self, mut node: Node, id: TypeId, fixed: Option<Fixed<'_>>) -> Node {
        let text = self.text_in(&mut node, id, fixed);
        if !text.is_empty() {
            node.children.push(Child::Text(text.into()));
        }
        node
    }

    /// Returns a text of an element, or of one of its attributes.
    pub(super) fn text_in(&mut self, node: &mut Node, id: TypeId, fixed: Option<Fixed<'_>>) -> String {
        let name = match fixed {
            Some((_, name)) => name.filter(|_| self.is_name(id)),
            None => self.enumerated_name(id),
        };
        match (name, fixed) {
            (Some(name), _) => self.name_text(name, node),
            (None, Some((text, _))) => text.to_owned(),
            (None, None) => {
                let text = self.text(id);
                with_names(self.types.import.schemas(), id, &text, |name| self.name_text(name, node))
            }
        }
    }

    /// Builds arrays and other content of SOAP encoding from the engine's schema.
    fn by_engine(&mut self, name: &QName, id: TypeId) -> Node {
        let types = self.types;
        let exact = types.lowered.exactly(id, Use::Literal);
        let node = exact.and_then(|exact| types.write_node(name, &self.content(exact, name), exact, Use::Literal));
        node.map_or_else(|| Node::new(name.clone()), tree_of)
    }

    pub(super) fn attribute_use(&mut self, it: &AttributeUse, node: &mut Node) {
        let Attribute { name, type_id, .. } = &self.schemas()[it.attribute];
        if is_ncname(&name.local) && (it.is_required || self.takes_optional() && !self.is_left_out(*type_id)) {
            let text = self.attribute_text(node, it);
            node.attributes.push((name.clone(), text.into()));
        }
    }

    /// Adds the occurrences of a particle.
    fn particle(&mut self, particle: &Particle, node: &mut Node) {
        let least = particle.min as usize;
        if least == 0 && !self.takes_particle(particle) {
            return;
        }
        let more = if self.chance.is_some() { self.below(3) } else { 1 };
        let most = particle.max.map_or(usize::MAX, |max| max as usize);
        for _ in 0..least.max(more).min(most) {
            if self.types_open.len() > MAX_DEPTH || self.made > MAX_VALUES {
                self.is_cut |= least > 0;
                return;
            }
            self.term(&particle.term, node);
        }
    }

    /// Returns true for a reference without a target.
    fn is_left_out(&self, type_id: TypeId) -> bool {
        self.leaves_out_references && self.refers(type_id)
    }

    /// Returns true if an optional particle is included.
    fn takes_particle(&mut self, particle: &Particle) -> bool {
        let is_deep = self.types_open.len() > MAX_OPTIONAL_DEPTH
            || self.made > MAX_OPTIONAL_VALUES
            || self.leads_back(&particle.term);
        let is_wildcard = matches!(particle.term, Term::Any(_));
        let is_reference = match &particle.term {
            Term::Element(id) => self.is_left_out(self.schemas()[*id].type_id),
            _ => false,
        };
        let is_possible = self.types.finite().allows(&particle.term) && !is_reference;
        !is_deep && is_possible && (!is_wildcard || self.chance.is_some()) && self.takes_optional()
    }

    /// Returns true if an occurrence must contain a type that is already open.
    fn leads_back(&self, term: &Term) -> bool {
        match term {
            Term::Element(id) => {
                self.types.members(*id).all(|id| self.types_open.contains(&self.schemas()[id].type_id))
            }
            Term::Sequence(parts) | Term::All(parts) => {
                parts.iter().any(|part| part.min > 0 && self.leads_back(&part.term))
            }
            Term::Choice(parts) => {
                !parts.is_empty() && parts.iter().all(|part| part.min > 0 && self.leads_back(&part.term))
            }
            Term::Any(_) | Term::Group(_) => false,
        }
    }

    fn term(&mut self, term: &Term, node: &mut Node) {
        match term {
            Term::Element(id) => {
                let child = self.declared(*id);
                // XML has no element of such a name, even if the schema declares it.
                match is_ncname(&child.name.local) {
                    true => node.children.push(Child::Element(child)),
                    false => self.is_cut = true,
                }
            }
            Term::Sequence(parts) | Term::All(parts) => parts.iter().for_each(|part| self.particle(part, node)),
            Term::Choice(parts) => self.choice(parts, node),
            Term::Any(wildcard) => {
                let child = self.any(wildcard);
                node.children.push(Child::Element(child));
            }
            Term::Group(_) => {}
        }
    }

    /// Adds the first alternative that does not lead back to open content, or a random one.
    fn choice(&mut self, parts: &[Particle], node: &mut Node) {
        let start = if self.chance.is_some() { self.below(parts.len()) } else { 0 };
        let order = (0..parts.len()).map(|step| &parts[(start + step) % parts.len()]);
        let finite = self.types.finite();
        let is_possible = |part: &&Particle| part.max != Some(0) && finite.allows(&part.term);
        let chosen = order.clone().find(|part| is_possible(part) && !self.leads_back(&part.term));
        match chosen.or_else(|| order.clone().find(is_possible)) {
            // The chosen particle occurs, even if it may be absent.
            Some(chosen) => self.particle(&Particle { min: chosen.min.max(1), ..chosen.clone() }, node),
            None => self.is_cut |= !parts.iter().any(|part| part.min == 0 && part.max != Some(0)),
        }
    }

    /// Builds an element by its declaration, or one that can replace it: the first that does not
    /// lead back to open content, or a random one.
    fn declared(&mut self, id: ElementId) -> Node {
        let schemas = self.schemas();
        let mut members: Vec<_> = self.types.members(id).collect();
        if self.chance.is_some() && !members.is_empty() {
            let start = self.below(members.len());
            members.rotate_left(start);
        }
        self.is_cut |= members.is_empty();
        let ahead = members.iter().find(|&&id| !self.types_open.contains(&schemas[id].type_id));
        let declaration = &schemas[ahead.or(members.first()).copied().unwrap_or(id)];
        self.element(&declaration.name, declaration.type_id, Some(declaration))
    }

    /// Builds an element that a wildcard allows: a declared one for a strict wildcard, an
    /// undeclared one for any other, so that it is always valid.
    pub(super) fn any(&mut self, wildcard: &Wildcard) -> Node {
        let is_strict = wildcard.process == ProcessContents::Strict;
        if let Some(id) = self.plainest(wildcard).filter(|_| is_strict) {
            return self.declared(id);
        }
        const FREE: &str = "urn:example:any";
        let namespace = match &wildcard.namespaces {
            WildcardNamespaces::Any | WildcardNamespaces::Other(_) => FREE,
            WildcardNamespaces::Only(list) => list.first().map_or(FREE, |first| first),
        };
        let names = std::iter::once("any".to_owned()).chain((1..).map(|number| format!("any{number}")));
        let mut names = names.map(|local| QName::owned(namespace, local));
        let name = names.find(|name| self.schemas().element_named(name).is_none());
        self.undeclared(&name.unwrap_or_default(), is_strict)
    }

    /// Returns the simplest declared element that a wildcard allows: elements of simple types
    /// first, then those of complex types, then those of abstract types. Elements of XML Schema
    /// itself are excluded, because no other schema declares them.
    fn plainest(&self, wildcard: &Wildcard) -> Option<ElementId> {
        let schemas = self.schemas();
        let is_good = |element: &Element| {
            element.is_global
                && !element.is_abstract
                && element.name.namespace != ns::XSD
                && !self.types_open.contains(&element.type_id)
                && wildcard.namespaces.allow(&element.name.namespace)
                && schemas.element_named(&element.name).is_some_and(|id| std::ptr::eq(&schemas[id], element))
        };
        let rank = |(id, element): &(ElementId, &Element)| {
            let is_complex = match &schemas[element.type_id].definition {
                TypeDefinition::Simple(_) => 0,
                TypeDefinition::Complex(it) if it.is_abstract => 2,
                TypeDefinition::Complex(_) => 1,
            };
            (is_complex, *id)
        };
        schemas.elements().filter(|(_, element)| is_good(element)).min_by_key(rank).map(|(id, _)| id)
    }

    /// Returns true with a probability of 1 in `times`; never without a seed.
    fn chances(&mut self, times: usize) -> bool {
        self.chance.is_some() && self.below(times) == 0
    }
}

/// Removes the prefixes that trees in a value have from the document that they were read from.
fn without_bindings(value: Value) -> Value {
    match value {
        Value::Tree(node) => Value::Tree(Box::new(tree_of(*node))),
        Value::List(items) => Value::List(items.into_iter().map(without_bindings).collect()),
        Value::Record(mut record) => {
            record.fields = record.fields.into_iter().map(without_bindings).collect();
            Value::Record(record)
        }
        Value::Typed(typed) => Value::typed(typed.name, without_bindings(typed.value)),
        other => other,
    }
}
