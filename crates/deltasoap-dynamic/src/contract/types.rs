//! The types of a contract by their names.

use crate::json::parse_name;
use crate::sample::Finite;
use deltasoap_core::schema::{Element, ElementRef, Schema, Use};
use deltasoap_core::{QName, ns};
use deltasoap_wsdl::lower::Origin;
use deltasoap_wsdl::xsd::{Block, Derivation, ElementId, SimpleType, TypeDefinition, TypeId, Variety};
use deltasoap_wsdl::{Import, Lowered, Schemas};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Maximum depth of nested unions.
const MAX_DEPTH: usize = 16;

/// An import, lowered, with short names for its types.
pub(crate) struct Types {
    pub(crate) import: Import,
    pub(crate) lowered: Lowered,
    /// Types by their local name; `None` if several have it. Without built-in types.
    short: HashMap<Box<str>, Option<TypeId>>,
    /// The numbers of content that several places of a message may share.
    shared: HashSet<u32>,
    overloads: HashMap<(usize, usize), String>,
    finite: OnceLock<Finite>,
}

impl Types {
    pub(crate) fn new(mut import: Import) -> Self {
        let lowered = import.take_lowered();
        let mut short = HashMap::new();
        for (id, it) in import.schemas().types().filter(|(_, it)| it.place.is_some()) {
            if let Some(name) = &it.name {
                let entry = short.entry(Box::from(&*name.local));
                entry.and_modify(|known| *known = None).or_insert(Some(id));
            }
        }
        let shared = shared(&lowered.schema);
        let overloads = import.definitions().overloads();
        Types { lowered, import, short, shared, overloads, finite: OnceLock::new() }
    }

    /// Returns what distinguishes an operation from others of its name; `None` if its name is
    /// unique. The operation is given by the indices of its port type and of the operation in it.
    pub(crate) fn overload(&self, declared: (usize, usize)) -> Option<&str> {
        self.overloads.get(&declared).map(String::as_str)
    }

    /// Returns true if several places of a message in SOAP encoding can share a value of this type.
    pub(crate) fn is_shared(&self, id: TypeId) -> bool {
        let number = self.lowered.exactly(id, Use::Encoded).and_then(number);
        number.is_some_and(|number| self.shared.contains(&number))
    }

    /// Returns true if several places of a message may share this content.
    pub(crate) fn is_shared_content(&self, number: u32) -> bool {
        self.shared.contains(&number)
    }

    /// Returns the type with a name, including built-in types, also by their names in drafts of XML
    /// Schema.
    pub(crate) fn named(&self, name: &QName) -> Option<TypeId> {
        self.import.schemas().type_named(name).or_else(|| Schemas::builtin_named(name))
    }

    /// Returns the label of a type in `$type`; `None` for a type without a name.
    pub(crate) fn label(&self, id: TypeId) -> Option<String> {
        self.import.schemas()[id].name.as_ref().map(|name| self.label_of(name))
    }

    /// Returns the label of a name in `$type`.
    pub(crate) fn label_of(&self, name: &QName) -> String {
        let is_short =
            || self.short.get(&*name.local).copied().flatten().is_some_and(|id| self.named(name) == Some(id));
        match () {
            () if name.namespace == ns::XSD => format!("xsd:{}", name.local),
            () if is_short() => name.local.to_string(),
            () => name.to_string(),
        }
    }

    /// Returns the name that a label represents.
    pub(crate) fn name_of_label(&self, label: &str) -> Option<QName> {
        if let Some(local) = label.strip_prefix("xsd:").or_else(|| label.strip_prefix("xs:")) {
            return Some(QName::owned(ns::XSD, local));
        }
        match self.short.get(label).copied().flatten() {
            Some(id) => self.import.schemas()[id].name.clone(),
            None => parse_name(label),
        }
    }

    pub(crate) fn labelled(&self, label: &str) -> Option<TypeId> {
        self.named(&self.name_of_label(label)?)
    }

    pub(crate) fn is_named(&self, name: &QName, label: &str) -> bool {
        self.name_of_label(label).as_ref() == Some(name)
    }

    /// Returns true if a type may appear where another one is declared.
    pub(crate) fn fits(&self, id: TypeId, origin: Origin) -> bool {
        self.can_be(id, origin.type_id)
    }

    /// Returns true if a type is another one, or is derived from it.
    pub(crate) fn can_be(&self, id: TypeId, declared: TypeId) -> bool {
        self.derivation(id, declared, MAX_DEPTH).is_some()
    }

    /// Like [`can_be`](Self::can_be), unless `block` of the element or of the type excludes it (XSD
    /// 1.0 part 1, 3.3.4).
    pub(crate) fn can_stand_for(&self, id: TypeId, declared: TypeId, block: Block) -> bool {
        let block = both(block, self.block(declared));
        let is_kept_out = |used: Block| used.extension && block.extension || used.restriction && block.restriction;
        self.derivation(id, declared, MAX_DEPTH).is_some_and(|used| !is_kept_out(used))
    }

    /// Returns the derivations that may not replace a type.
    fn block(&self, id: TypeId) -> Block {
        match &self.import.schemas()[id].definition {
            TypeDefinition::Complex(complex) => complex.block,
            TypeDefinition::Simple(_) => Block::default(),
        }
    }

    /// Returns the types that have values of finite size.
    pub(crate) fn finite(&self) -> &Finite {
        self.finite.get_or_init(|| Finite::of(self))
    }

    /// Returns a declared element and those that can replace it, without abstract ones.
    pub(crate) fn members(&self, id: ElementId) -> impl Iterator<Item = ElementId> {
        let schemas = self.import.schemas();
        let own = Some(id).filter(|&id| !schemas[id].is_abstract);
        let others = schemas.substitutes(id).iter().copied().filter(move |&other| self.can_substitute(other, id));
        own.into_iter().chain(others)
    }

    /// Returns true if the type of a member of a substitution group allows it to replace the head
    /// (XSD 1.0 part 1, 3.3.6).
    fn can_substitute(&self, id: ElementId, head: ElementId) -> bool {
        let schemas = self.import.schemas();
        let (member, of_head) = (schemas[id].type_id, schemas[head].type_id);
        // The types between the two can block the substitution, too.
        let bases = std::iter::successors(self.base(member), |(base, _)| self.base(*base)).map(|(base, _)| base);
        let between = bases.take(schemas.types().len()).take_while(|base| *base != of_head);
        let block = between.fold(schemas[head].block, |block, base| both(block, self.block(base)));
        self.can_stand_for(member, of_head, block)
    }

    /// Returns true for the types of SOAP encoding.
    pub(crate) fn is_soap_encoding(&self, id: TypeId) -> bool {
        let name = self.import.schemas()[id].name.as_ref();
        name.is_some_and(|name| [ns::SOAP11_ENCODING, ns::SOAP12_ENCODING].contains(&&*name.namespace))
    }

    /// Returns how a type is derived from another one; `None` if it is not.
    fn derivation(&self, id: TypeId, from: TypeId, depth: usize) -> Option<Block> {
        let depth = depth.checked_sub(1)?;
        let (mut at, mut used) = (id, Block::default());
        // A chain of bases is no longer than there are types.
        for _ in 0..self.import.schemas().types().len() {
            if at == from {
                return Some(used);
            }
            let Some((base, derivation)) = self.base(at) else { break };
            used.extension |= derivation == Derivation::Extension;
            used.restriction |= derivation == Derivation::Restriction;
            at = base;
        }
        // A member of a union can stand for the union (XSD 1.0 part 1, 3.14.6).
        match &self.import.schemas()[from].definition {
            TypeDefinition::Simple(SimpleType { variety: Variety::Union(members), .. }) => members
                .iter()
                .find_map(|&member| self.derivation(id, member, depth))
                .map(|used| Block { restriction: true, ..used }),
            _ => None,
        }
    }

    fn base(&self, id: TypeId) -> Option<(TypeId, Derivation)> {
        let restricted = |base| Some((base, Derivation::Restriction));
        match &self.import.schemas()[id].definition {
            TypeDefinition::Complex(complex) if id != TypeId::ANY => Some((complex.base, complex.derivation)),
            TypeDefinition::Simple(simple) => match simple.variety {
                Variety::Restriction(base) => restricted(base),
                Variety::Builtin(builtin) => {
                    restricted(builtin.base().map_or(TypeId::ANY_SIMPLE, TypeId::from_builtin))
                }
                Variety::List(_) | Variety::Union(_) => restricted(TypeId::ANY_SIMPLE),
                Variety::Any => restricted(TypeId::ANY),
            },
            TypeDefinition::Complex(_) => None,
        }
    }
}

fn both(one: Block, other: Block) -> Block {
    Block {
        extension: one.extension || other.extension,
        restriction: one.restriction || other.restriction,
        substitution: one.substitution || other.substitution,
    }
}

/// Returns the numbers of all content that may be shared.
fn shared(schema: &Schema) -> HashSet<u32> {
    let elements =
        (0..number(schema.next_ref()).unwrap_or_default()).map(|at| schema.view(ElementRef::Index(at)).element);
    let content = |element: &Element| match element {
        Element::Shared(content) => number(*content),
        _ => None,
    };
    elements.filter_map(content).collect()
}

pub(crate) fn number(content: ElementRef) -> Option<u32> {
    match content {
        ElementRef::Index(number) => Some(number),
        ElementRef::Static(_) => None,
    }
}
