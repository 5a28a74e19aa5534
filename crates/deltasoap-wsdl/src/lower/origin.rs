//! Maps lowered content to its types, and lowers types that only an `xsi:type` names.
//!
//! Content whose type the message chooses lists all possible types. Each of them is lowered once it
//! is known that it can appear.

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
    /// True if content of a derived type is allowed
    /// ([`Element::Open`](deltasoap_core::schema::Element::Open)).
    pub is_open: bool,
}

/// Maps content to types and types to content.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins {
    origins: HashMap<u32, Origin>,
    exact: Table,
    defaulted: Defaulted,
    open_defaulted: Defaulted,
}

/// References by type; true for encoded.
type Table = HashMap<(TypeId, bool), ElementRef>;

/// References by type and default; true for encoded.
type Defaulted = HashMap<((TypeId, bool), Box<str>), ElementRef>;

impl Origins {
    /// Creates the maps from references to types, to content of types or derived types, to content
    /// with a default, and to open content with a default; each by type, true for encoded.
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

    /// Returns the tables that the origins are made from.
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

/// Maximum number of derived types that all open content of a WSDL lists: long chains of derivation
/// have many. Further types are not listed and are kept as trees.
const MAX_CHOICES: usize = 1 << 17;

impl Lowering<'_> {
    /// Returns content of this type or of a type derived from it. All of these types are lowered
    /// too.
    pub(super) fn open(&mut self, id: TypeId, encoding: Use) -> ElementRef {
        let key = (id, encoding == Use::Encoded);
        if let Some(&known) = self.open.get(&key) {
            return known;
        }
        // Types may contain themselves: the reference exists before its content.
        let reference = self.refer(Work::Open(id, encoding, None));
        self.open.insert(key, reference);
        reference
    }

    /// See [`open`](Self::open). A default applies to every type that has text.
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

    fn all_named(&mut self, is_match: fn(&TypeDefinition) -> bool) -> Vec<TypeId> {
        let named = self.schemas.types().filter(|(_, it)| it.name.is_some() && is_match(&it.definition));
        named.map(|(id, _)| id).collect()
    }

    /// Returns the type and the types derived from it.
    fn with_derived(&mut self, id: TypeId) -> Vec<TypeId> {
        let (mut found, mut ahead) = (Vec::new(), vec![id]);
        while let Some(id) = ahead.pop().filter(|_| self.choices < MAX_CHOICES) {
            self.choices += 1;
            found.push(id);
            ahead.extend(self.schemas.derived(id));
        }
        found
    }
}
