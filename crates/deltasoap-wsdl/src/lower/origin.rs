//! Where lowered content comes from, and types that only an `xsi:type` names.
//!
//! The engine keeps content whose type the message chooses as a tree. Who wants to look into such a tree needs the types that
//! it can be of: each is lowered beside the others, once it is known that it can appear.

use super::{Lowering, Work};
use crate::xsd::{TypeDefinition, TypeId};
use deltasoap_core::schema::{Element, ElementRef, Use};
use std::collections::HashMap;

/// The type that content was lowered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The type that the schema declares.
    pub type_id: TypeId,
    /// Literal or encoded.
    pub encoding: Use,
    /// True if content of a derived type can stand there, so that the engine keeps a tree.
    pub is_open: bool,
}

/// Content and types, both ways.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins {
    origins: HashMap<u32, Origin>,
    exact: Table,
    defaulted: Defaulted,
    open_defaulted: Defaulted,
    /// The defaults of trees, by their number.
    default_texts: HashMap<u32, Box<str>>,
}

/// References by type; encoded or not.
type Table = HashMap<(TypeId, bool), ElementRef>;

/// References by type and default; encoded or not.
type Defaulted = HashMap<((TypeId, bool), Box<str>), ElementRef>;

impl Origins {
    /// From references to types, to trees that are of types or of derived ones, to content with a default, and to trees with one; each by
    /// type, encoded or not.
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
        let text = |((_, text), &content): (&(_, Box<str>), &ElementRef)| Some((number(content)?, text.clone()));
        let default_texts = open_defaulted.iter().filter_map(text).collect();
        Origins { origins, exact, defaulted, open_defaulted, default_texts }
    }

    /// What the origins are made from.
    pub(crate) fn tables(&self) -> (&Table, Table, &Defaulted, &Defaulted) {
        let is_open = |index, origin: &Origin| origin.is_open && !self.default_texts.contains_key(index);
        let open = self.origins.iter().filter(|(index, origin)| is_open(index, origin));
        let open = open.map(|(&index, it)| ((it.type_id, it.encoding == Use::Encoded), ElementRef::Index(index)));
        (&self.exact, open.collect(), &self.defaulted, &self.open_defaulted)
    }

    pub(super) fn of(&self, content: ElementRef) -> Option<Origin> {
        self.origins.get(&number(content)?).copied()
    }

    pub(super) fn default_of_tree(&self, content: ElementRef) -> Option<&str> {
        self.default_texts.get(&number(content)?).map(AsRef::as_ref)
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

impl Lowering<'_> {
    /// A tree whose content is of this type or of one derived from it. All of these are lowered too.
    pub(super) fn open(&mut self, id: TypeId, encoding: Use) -> ElementRef {
        let key = (id, encoding == Use::Encoded);
        if let Some(&known) = self.open.get(&key) {
            return known;
        }
        let reference = self.refer(Work::Done(Element::Any));
        self.open.insert(key, reference);
        match id {
            TypeId::ANY => self.all_named(encoding, |_| true),
            TypeId::ANY_SIMPLE => self.all_named(encoding, |it| matches!(it, TypeDefinition::Simple(_))),
            id => self.with_derived(id, encoding),
        }
        reference
    }

    fn all_named(&mut self, encoding: Use, is_meant: fn(&TypeDefinition) -> bool) {
        let schemas = self.schemas;
        let named = schemas.types().filter(|(_, it)| it.name.is_some() && is_meant(&it.definition));
        named.for_each(|(id, _)| self.offer(id, encoding));
    }

    /// Each type once, whatever it was met below, so that long chains of derivation cost no more than their length.
    fn with_derived(&mut self, id: TypeId, encoding: Use) {
        let mut ahead = vec![id];
        while let Some(id) = ahead.pop() {
            if id != TypeId::ANY && self.offered.insert((id, encoding == Use::Encoded)) {
                self.offer(id, encoding);
                ahead.extend(self.schemas.derived(id));
            }
        }
    }

    /// Lowers a type that an `xsi:type` can name.
    fn offer(&mut self, id: TypeId, encoding: Use) {
        let is_abstract = matches!(&self.schemas[id].definition, TypeDefinition::Complex(it) if it.is_abstract);
        if !is_abstract && id != TypeId::ANY {
            self.exactly(id, encoding);
        }
    }
}
