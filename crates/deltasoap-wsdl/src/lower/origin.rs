//! Where lowered content comes from, and types that only an `xsi:type` names.
//!
//! Content whose type the message chooses lists the types that it can be of: each is lowered beside
//! the others, once it is known that it can appear.

use super::{Lowering, Work};
use crate::xsd::{TypeDefinition, TypeId};
use deltasoap_core::schema::{ElementRef, OpenElement, Use};
use std::collections::{HashMap, HashSet};

/// The type that content was lowered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The type that the schema declares.
    pub type_id: TypeId,
    /// Literal or encoded.
    pub encoding: Use,
    /// True if content of a derived type can stand there
    /// ([`Element::Open`](deltasoap_core::schema::Element::Open)).
    pub is_open: bool,
}

/// Content and types, both ways.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins {
    origins: HashMap<u32, Origin>,
    exact: Table,
    defaulted: Defaulted,
    open_defaulted: Defaulted,
}

/// References by type; encoded or not.
type Table = HashMap<(TypeId, bool), ElementRef>;

/// References by type and default; encoded or not.
type Defaulted = HashMap<((TypeId, bool), Box<str>), ElementRef>;

impl Origins {
    /// From references to types, to content that is of types or of derived ones, to content with a
    /// default, and to open content with one; each by type, encoded or not.
    pub(crate) fn new(exact: Table, open: &Table, defaulted: Defaulted, open_defaulted: Defaulted) -> Self {
        let of_types = exact.iter().map(|(&(id, is_encoded), &content)| (id, is_encoded, content, false));
        let of_trees = open.iter().map(|(&(id, is_encoded), &content)| (id, is_encoded, content, true));
        let with_default = defaulted.iter().map(|(&((id, is_encoded), _), &content)| (id, is_encoded, content, false));
        let trees = open_defaulted.iter().map(|(&((id, is_encoded), _), &content)| (id, is_encoded, content, true));
        let mut origins = HashMap::with_capacity(exact.len() + open.len() + defaulted.len());
        for (type_id, is_encoded, content, is_open) in of_types.chain(of_trees).chain(with_default).chain(trees) {
            let encoding = if is_encoded { Use::Encoded } else { Use::Literal };
            if let ElementRef::Index(index) = content {
                origins.insert(index, Origin { type_id, encoding, is_open });
            }
        }
        Origins { origins, exact, defaulted, open_defaulted }
    }

    /// What the origins are made from.
    pub(crate) fn tables(&self) -> (&Table, Table, &Defaulted, &Defaulted) {
        let with_default: HashSet<u32> = self.open_defaulted.values().copied().filter_map(number).collect();
        let is_open = |index, origin: &Origin| origin.is_open && !with_default.contains(index);
        let open = self.origins.iter().filter(|(index, origin)| is_open(index, origin));
        let open = open.map(|(&index, it)| ((it.type_id, it.encoding == Use::Encoded), ElementRef::Index(index)));
        (&self.exact, open.collect(), &self.defaulted, &self.open_defaulted)
    }

    pub(super) fn of(&self, content: ElementRef) -> Option<Origin> {
        self.origins.get(&number(content)?).copied()
    }

    pub(super) fn exactly(&self, id: TypeId, encoding: Use) -> Option<ElementRef> {
        self.exact.get(&(id, encoding == Use::Encoded)).copied()
    }
}

fn number(content: ElementRef) -> Option<u32> {
    match content {
        ElementRef::Index(index) => Some(index),
        ElementRef::Static(_) => None,
    }
}

/// Choices of types in a description, all together: long chains of derivation have many. Those
/// beyond are not listed, and kept as trees.
const MOST_CHOICES: usize = 1 << 17;

impl Lowering<'_> {
    /// Content of this type or of one derived from it. All of these are lowered too.
    pub(super) fn open(&mut self, id: TypeId, encoding: Use) -> ElementRef {
        let key = (id, encoding == Use::Encoded);
        if let Some(&known) = self.open.get(&key) {
            return known;
        }
        // Types may hold themselves: the reference is known before its content is.
        let reference = self.refer(Work::Open(id, encoding, None));
        self.open.insert(key, reference);
        reference
    }

    /// See [`open`](Self::open). A default is that of elements of every type that has text.
    pub(super) fn open_element(&mut self, id: TypeId, encoding: Use, default: Option<&str>) -> OpenElement {
        let types = match id {
            TypeId::ANY => self.all_named(|_| true),
            TypeId::ANY_SIMPLE => self.all_named(|it| matches!(it, TypeDefinition::Simple(_))),
            id => self.with_derived(id),
        };
        let mut choices = Vec::with_capacity(types.len());
        for chosen in types {
            if let (Some(name), false) = (&self.schemas[chosen].name, self.is_abstract(chosen)) {
                choices.push((name.clone(), self.with_or_without(chosen, encoding, default)));
            }
        }
        let is_any = matches!(id, TypeId::ANY | TypeId::ANY_SIMPLE);
        let base = (!is_any && !self.is_abstract(id)).then(|| self.with_or_without(id, encoding, default));
        OpenElement::new(base, choices)
    }

    fn with_or_without(&mut self, id: TypeId, encoding: Use, default: Option<&str>) -> ElementRef {
        match default.filter(|_| self.schemas.has_text(id)) {
            Some(text) => self.with_default(id, encoding, text),
            None => self.exactly(id, encoding),
        }
    }

    fn is_abstract(&self, id: TypeId) -> bool {
        id == TypeId::ANY || matches!(&self.schemas[id].definition, TypeDefinition::Complex(it) if it.is_abstract)
    }

    fn all_named(&mut self, is_meant: fn(&TypeDefinition) -> bool) -> Vec<TypeId> {
        let named = self.schemas.types().filter(|(_, it)| it.name.is_some() && is_meant(&it.definition));
        named.map(|(id, _)| id).collect()
    }

    /// The type and those derived from it.
    fn with_derived(&mut self, id: TypeId) -> Vec<TypeId> {
        let (mut found, mut ahead) = (Vec::new(), vec![id]);
        while let Some(id) = ahead.pop().filter(|_| self.choices < MOST_CHOICES) {
            self.choices += 1;
            found.push(id);
            ahead.extend(self.schemas.derived(id));
        }
        found
    }
}
