//! Complex types: converts content models to fields, by the rules of `deltasoap_wsdl::lower`.

use super::simple::{Position, value_docs};
use super::{Key, Owner, Planner, Work, docs, legal, rustdoc};
use crate::model::{Alternatives, Docs, ItemId, ItemKind, Items, Member, Nil, Occurs, Role, Struct, TypeUse};
use deltasoap_core::QName;
use deltasoap_core::schema::Use;
use deltasoap_wsdl::xsd::{ElementId, Particle, Schemas, SoapArray, Term, TypeId, WildcardNamespaces};
use deltasoap_wsdl::{NormalizedContent, NormalizedType, Repetitions};
use std::collections::{HashMap, HashSet};

/// The fields made from a content model.
struct Fields<'m> {
    /// The item that the fields belong to.
    owner: ItemId,
    repeated: &'m Repetitions<'m>,
    encoding: Use,
    is_all: bool,
    members: Vec<Member>,
    choices: usize,
}

impl Planner<'_> {
    /// Plans a complex type with its own elements or attributes.
    pub(super) fn complex(&mut self, item: ItemId, id: TypeId, encoding: Use) -> ItemKind {
        let schemas = self.schemas;
        let element = match &mut self.model.items[item.index()].kind {
            ItemKind::Struct(of) => of.element.take(),
            _ => None,
        };
        let name = schemas[id].name.as_ref().map(|name| name.local.to_string());
        let mut of = Struct { name, element, ..Struct::default() };
        let Some(normal) = schemas.content(id) else { return ItemKind::Struct(of) };
        match &normal.content {
            NormalizedContent::Text(text) => of.members.push(self.text_member(item, *text)),
            NormalizedContent::Elements(particle) => {
                (of.is_all, of.members) = self.fields(item, particle, encoding);
            }
            NormalizedContent::Empty => of.is_all = encoding == Use::Encoded,
        }
        of.members.splice(0..0, self.attributes(item, normal));
        ItemKind::Struct(of)
    }

    fn text_member(&mut self, item: ItemId, text: TypeId) -> Member {
        let (name, namespace) = self.name_and_namespace(item);
        let content =
            self.text(text, Position::Beside, Owner { name: &format!("{name} value"), namespace: &namespace });
        Member { role: Role::Text, ..member(QName::owned("", "value"), content) }
    }

    fn attributes(&mut self, item: ItemId, normal: &NormalizedType) -> Vec<Member> {
        let mut seen = HashSet::new();
        let mut attributes = Vec::with_capacity(normal.attributes.len());
        for it in normal.attributes.iter().filter(|it| seen.insert(&self.schemas[it.attribute].name)) {
            let declaration = &self.schemas[it.attribute];
            let (owner, namespace) = self.name_and_namespace(item);
            let label = format!("{owner} {}", declaration.name.local);
            let content =
                self.text(declaration.type_id, Position::Attribute, Owner { name: &label, namespace: &namespace });
            let mut docs = docs(declaration.documentation.as_deref());
            docs.extend(self.inline_facets(declaration.type_id));
            let default = it.default.as_deref().or(declaration.default.as_deref());
            docs.extend(value_docs(default, it.fixed.as_deref().or(declaration.fixed.as_deref())));
            let occurs = if it.is_required { Occurs::Once } else { Occurs::AtMostOnce };
            let name = legal(&declaration.name);
            let default_text = if it.is_required { None } else { self.default_text_of_attribute(it) };
            attributes.push(Member { role: Role::Attribute, occurs, default_text, docs, ..member(name, content) });
        }
        attributes
    }

    /// Returns the preferred name and the namespace of an item.
    fn name_and_namespace(&self, item: ItemId) -> (String, String) {
        let item = &self.model.items[item.index()];
        (item.preferred_name.clone(), item.namespace.to_string())
    }

    /// Returns true if fields may come in any order, and the fields of a content model.
    fn fields(&mut self, owner: ItemId, particle: &Particle, encoding: Use) -> (bool, Vec<Member>) {
        // Accessors in SOAP encoding are distinguished by name, not by order (SOAP 1.1, 5.1).
        let is_all = encoding == Use::Encoded;
        let repeated = &Repetitions::new(self.schemas, particle);
        let mut fields = Fields { owner, repeated, encoding, is_all, members: Vec::new(), choices: 0 };
        self.add_particle(particle, false, &mut fields);
        if fields.is_all {
            join_equal(&mut fields.members);
        }
        (fields.is_all, fields.members)
    }

    /// Adds the content that a particle allows to the fields.
    fn add_particle(&mut self, particle: &Particle, is_optional: bool, fields: &mut Fields<'_>) {
        let is_taken = !fields.is_all && fields.repeated.may_be_taken(particle);
        let is_optional = is_optional || particle.min == 0 || is_taken;
        let is_repeated = particle.max != Some(1);
        match &particle.term {
            _ if particle.max == Some(0) => {}
            Term::Element(id) => self.add_element(*id, particle, is_optional, fields),
            Term::Any(any) => {
                let occurs = match particle.max {
                    _ if fields.is_all => Occurs::ANY,
                    Some(1) => Occurs::AtMostOnce,
                    max => Occurs::Many(0, max),
                };
                fields.members.push(wildcard(&any.namespaces, occurs));
            }
            Term::Group(_) => {}
            Term::Choice(_) | Term::Sequence(_) if !fields.is_all && fields.repeated.is_group(particle) => {
                self.add_group(particle, is_optional, fields);
            }
            Term::Choice(parts) if is_repeated || Particle::are_elements(parts, fields.encoding == Use::Encoded) => {
                self.add_choice(particle, is_optional, fields);
            }
            Term::Sequence(_) | Term::All(_) if is_repeated => self.add_choice(particle, is_optional, fields),
            Term::Choice(parts) if fields.is_all || !Particle::are_distinguishable(parts, self.schemas) => {
                parts.iter().for_each(|part| self.add_particle(part, true, fields));
            }
            Term::Choice(parts) => self.add_groups(parts, is_optional, fields),
            Term::Sequence(parts) if !fields.is_all && fields.repeated.is_tied(particle) => {
                self.add_tied(parts, fields);
            }
            Term::Sequence(parts) => parts.iter().for_each(|part| self.add_particle(part, is_optional, fields)),
            Term::All(parts) => {
                fields.is_all = true;
                parts.iter().for_each(|part| self.add_particle(part, is_optional, fields));
            }
        }
    }

    fn add_element(&mut self, id: ElementId, particle: &Particle, is_optional: bool, fields: &mut Fields<'_>) {
        let is_optional = is_optional || fields.encoding == Use::Encoded;
        let occurs = match particle.max {
            Some(1) if is_optional => Occurs::AtMostOnce,
            Some(1) => Occurs::Once,
            // If fields come in any order, they are not counted.
            _ if fields.is_all => Occurs::ANY,
            max => Occurs::Many(if is_optional { 0 } else { particle.min }, max),
        };
        let member = self.element_member(id, fields.encoding, fields.owner);
        fields.members.push(Member { occurs, ..member });
    }

    /// Adds a choice between groups that occurs once.
    fn add_groups(&mut self, parts: &[Particle], is_optional: bool, fields: &mut Fields<'_>) {
        let Some(choice) = self.choice_of_groups(parts, fields) else { return };
        let is_optional = is_optional || parts.iter().any(|part| fields.repeated.can_be_empty(part));
        let occurs = if is_optional { Occurs::AtMostOnce } else { Occurs::Once };
        fields.members.push(Member { role: Role::Group, occurs, ..choice });
    }

    /// Adds an optional sequence with an element that occurs again later: an optional choice with
    /// one branch.
    fn add_tied(&mut self, parts: &[Particle], fields: &mut Fields<'_>) {
        let name = numbered("choice", fields);
        let mut own = Fields { members: Vec::new(), ..*fields };
        parts.iter().for_each(|part| self.add_particle(part, false, &mut own));
        fields.choices = own.choices;
        let Some(variant) = self.one_or_group(own) else { return };
        let choice = self.choice_item(&name, vec![variant], Alternatives::Groups, fields);
        fields.members.push(Member { role: Role::Group, occurs: Occurs::AtMostOnce, ..choice });
    }

    /// Adds a repeated sequence, or a repeated choice that contains sequences.
    fn add_group(&mut self, particle: &Particle, is_optional: bool, fields: &mut Fields<'_>) {
        let group = match &particle.term {
            Term::Choice(parts) => self.choice_of_groups(parts, fields),
            term => self.sequence(term, fields),
        };
        let min = if is_optional || particle.can_be_empty() { 0 } else { particle.min };
        let occurs = Occurs::Many(min, particle.max);
        fields.members.extend(group.map(|group| Member { role: Role::Inline, occurs, ..group }));
    }

    fn sequence(&mut self, term: &Term, fields: &mut Fields<'_>) -> Option<Member> {
        let name = numbered("sequence", fields);
        let mut own = Fields { members: Vec::new(), ..*fields };
        self.add_particle(&Particle { min: 1, max: Some(1), term: term.clone() }, false, &mut own);
        fields.choices = own.choices;
        let (owner, namespace) = self.name_and_namespace(fields.owner);
        let docs = rustdoc(format!("Repeatable elements of `{owner}`, in order."));
        let of = Struct { is_group: true, members: own.members, ..Struct::default() };
        let group = self.add(&format!("{owner} {name}"), &namespace, docs, ItemKind::Struct(of));
        Some(member(QName::owned("", name), TypeUse::Item(group)))
    }

    /// Returns the field of a choice between groups.
    fn choice_of_groups(&mut self, parts: &[Particle], fields: &mut Fields<'_>) -> Option<Member> {
        let name = numbered("choice", fields);
        let mut variants: Vec<Member> = Vec::new();
        for part in fields.repeated.branches(parts) {
            let mut own = Fields { members: Vec::new(), ..*fields };
            part.parts_of_branch().iter().for_each(|part| self.add_particle(part, false, &mut own));
            fields.choices = own.choices;
            let Some(variant) = self.one_or_group(own) else { continue };
            let is_same = |other: &Member| (other.role, &other.name) == (Role::Element, &variant.name);
            if variant.role != Role::Element || !variants.iter().any(is_same) {
                variants.push(variant);
            }
        }
        let is_empty = variants.is_empty();
        (!is_empty).then(|| self.choice_item(&name, variants, Alternatives::Groups, fields))
    }

    /// Returns the variant of a branch: its element, or the group of its elements.
    fn one_or_group(&mut self, mut branch: Fields<'_>) -> Option<Member> {
        let first = branch.members.first()?.name.clone();
        if branch.members.len() == 1 {
            return branch.members.pop();
        }
        let (owner, namespace) = self.name_and_namespace(branch.owner);
        let docs = rustdoc(format!("Elements of `{owner}`, in order."));
        let of = Struct { is_group: true, members: branch.members, ..Struct::default() };
        let group = self.add(&format!("{owner} {}", first.local), &namespace, docs, ItemKind::Struct(of));
        Some(Member { role: Role::Group, ..member(QName::owned("", first.local), TypeUse::Item(group)) })
    }

    /// Adds an inline choice of all elements within a particle.
    fn add_choice(&mut self, particle: &Particle, is_optional: bool, fields: &mut Fields<'_>) {
        let mut leaves = Leaves::default();
        collect(self.schemas, particle, &mut leaves);
        let mut variants: Vec<Member> =
            leaves.elements.iter().map(|&id| self.element_member(id, fields.encoding, fields.owner)).collect();
        if let Some(namespaces) = &leaves.namespaces {
            variants.push(wildcard(namespaces, Occurs::Once));
        }
        if variants.is_empty() {
            return;
        }
        let is_once = particle.max == Some(1) && !leaves.is_repeated;
        let is_simple = matches!(particle.term, Term::Choice(_)) && !leaves.is_optional;
        // How often the elements of a list occur at least is known for plain choices alone.
        let min = if is_simple { particle.min } else { u32::from(!particle.can_be_empty()) };
        let min = if is_optional || fields.encoding == Use::Encoded { 0 } else { min };
        let occurs = match (is_once, min) {
            (false, _) if fields.is_all => Occurs::ANY,
            (false, _) => Occurs::Many(min, particle.max_elements()),
            (true, 0) => Occurs::AtMostOnce,
            (true, _) => Occurs::Once,
        };
        let content = self.one_or_choice(variants, fields);
        fields.members.push(Member { occurs, ..content });
    }

    /// Returns the only element, or else a choice of the elements.
    fn one_or_choice(&mut self, mut variants: Vec<Member>, fields: &mut Fields<'_>) -> Member {
        if variants.len() == 1 {
            return variants.swap_remove(0);
        }
        let name = numbered("choice", fields);
        Member { role: Role::Inline, ..self.choice_item(&name, variants, Alternatives::Elements, fields) }
    }

    /// Returns the field with a choice of this name.
    fn choice_item(
        &mut self,
        name: &str,
        variants: Vec<Member>,
        alternatives: Alternatives,
        fields: &Fields<'_>,
    ) -> Member {
        let (owner, namespace) = self.name_and_namespace(fields.owner);
        let docs = rustdoc(format!("One of the elements of `{owner}`."));
        let choice = self.add(&format!("{owner} {name}"), &namespace, docs, ItemKind::Choice(variants, alternatives));
        member(QName::owned("", name), TypeUse::Item(choice))
    }

    /// Returns the field of an element, occurring once; an inline choice if the element has
    /// substitutes.
    fn element_member(&mut self, id: ElementId, encoding: Use, owner: ItemId) -> Member {
        if self.schemas.substitutes(id).is_empty() {
            return self.field(id, encoding, owner);
        }
        let declaration = &self.schemas[id];
        let name = QName::owned("", declaration.name.local.to_string());
        let docs = docs(declaration.documentation.as_deref());
        let content = TypeUse::Item(self.substitution_group(id, encoding));
        Member { role: Role::Inline, docs, ..member(name, content) }
    }

    /// Returns the choice of an element and its substitutes, which is made once.
    fn substitution_group(&mut self, id: ElementId, encoding: Use) -> ItemId {
        let key = Key::Group(id, encoding == Use::Encoded);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let name = legal(&self.schemas[id].name);
        let docs = rustdoc(format!("`{}` or one of its substitutes.", name.local));
        self.add_work(key, (&format!("{} group", name.local), &name.namespace), docs, Work::Group(id, encoding))
    }

    pub(super) fn group(&mut self, item: ItemId, id: ElementId, encoding: Use) -> ItemKind {
        let schemas = self.schemas;
        let own = Some(id).filter(|_| !schemas[id].is_abstract);
        let mut seen = HashSet::new();
        let members = own.into_iter().chain(schemas.substitutes(id).iter().copied());
        let members = members.filter(|&member| seen.insert(&schemas[member].name));
        let variants: Vec<Member> = members.map(|member| self.field(member, encoding, item)).collect();
        ItemKind::Choice(variants, Alternatives::Elements)
    }

    /// Returns the field of an element, occurring once.
    fn field(&mut self, id: ElementId, encoding: Use, owner: ItemId) -> Member {
        let declaration = &self.schemas[id];
        let name = legal(&declaration.name);
        let (outer, namespace) = self.name_and_namespace(owner);
        let label = if declaration.is_global { name.local.to_string() } else { format!("{outer} {}", name.local) };
        let content = self.content(declaration.type_id, encoding, Owner { name: &label, namespace: &namespace });
        let nil = match encoding {
            Use::Encoded => Nil::encoded(&content),
            // A tree keeps `xsi:nil` with its other attributes.
            Use::Literal if declaration.is_nillable && content != TypeUse::NODE => Nil::Value,
            Use::Literal => Nil::Never,
        };
        let mut docs = docs(declaration.documentation.as_deref());
        docs.extend(self.inline_facets(declaration.type_id));
        docs.extend(value_docs(declaration.default.as_deref(), declaration.fixed.as_deref()));
        let default_text = self.default_text(id);
        Member { nil, default_text, docs, ..member(name, content) }
    }

    /// Returns the type of a SOAP array.
    pub(super) fn array(&mut self, id: TypeId, encoding: Use, depth: usize) -> TypeUse {
        let schemas = self.schemas;
        let any = SoapArray { item: TypeId::ANY, element: None, dimensions: "[]".into() };
        let array = schemas.content(id).and_then(|normal| normal.array.as_ref()).unwrap_or(&any);
        // The ranks of the innermost items come first, those of the array itself last.
        let Some(ranks) = array.ranks().filter(|_| depth <= SoapArray::MAX_RANKS) else { return TypeUse::NODE };
        let item = match self.is_array(array.item) {
            true => self.array(array.item, encoding, depth + 1),
            false => self.content(array.item, encoding, Owner::NONE),
        };
        if let (Some(element), TypeUse::Item(of)) = (array.element, &item) {
            let name = legal(&schemas[element].name).local.to_string();
            self.item_names.entry(*of).or_insert(name);
        }
        let of_items = |item: TypeUse, dimensions: usize| {
            let are_nillable = encoding == Use::Encoded && !is_number(&item) && item != TypeUse::NODE;
            TypeUse::Array(Box::new(Items { item, are_nillable, dimensions }))
        };
        let own = if ranks.is_empty() { &[1][..] } else { &ranks };
        own.iter().fold(item, |item, &dimensions| of_items(item, dimensions as usize))
    }
}

/// Returns the name of the next choice or group of an item.
fn numbered(name: &str, fields: &mut Fields<'_>) -> String {
    fields.choices += 1;
    if fields.choices == 1 { name.to_owned() } else { format!("{name} {}", fields.choices) }
}

/// Creates a field without special properties.
pub(super) fn member(name: QName, content: TypeUse) -> Member {
    Member {
        name,
        role: Role::Element,
        content,
        occurs: Occurs::Once,
        nil: Nil::Never,
        is_boxed: false,
        default_text: None,
        docs: Docs::new(),
    }
}

/// Creates a field for any elements, as trees.
fn wildcard(namespaces: &WildcardNamespaces, occurs: Occurs) -> Member {
    let docs = rustdoc("Any other element.".to_owned());
    Member { role: Role::Inline, occurs, docs, ..member(QName::owned(namespaces.label(), "any"), TypeUse::NODE) }
}

/// Returns true for types whose items are never nil in practice.
fn is_number(content: &TypeUse) -> bool {
    matches!(
        content,
        TypeUse::Plain("bool" | "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "f32" | "f64")
    )
}

/// Joins elements of one name into one field, if the order of fields is not significant.
fn join_equal(members: &mut Vec<Member>) {
    let mut first: HashMap<QName, usize> = HashMap::new();
    let mut joined: Vec<Member> = Vec::with_capacity(members.len());
    for member in members.drain(..) {
        let known = first.get(&member.name).filter(|_| member.role == Role::Element);
        match known {
            Some(&index) => joined[index].occurs = Occurs::ANY,
            None => {
                if member.role == Role::Element {
                    first.insert(member.name.clone(), joined.len());
                }
                joined.push(member);
            }
        }
    }
    *members = joined;
}

/// Elements of a group.
#[derive(Default)]
struct Leaves<'i> {
    names: HashSet<&'i QName>,
    elements: Vec<ElementId>,
    /// Namespaces that wildcards allow.
    namespaces: Option<WildcardNamespaces>,
    is_repeated: bool,
    is_optional: bool,
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
        Term::Group(_) => {}
        Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => {
            for part in parts {
                leaves.is_repeated |= part.max != Some(1);
                leaves.is_optional |= part.min == 0;
                collect(schemas, part, leaves);
            }
        }
    }
}
