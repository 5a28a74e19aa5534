//! The types of a contract by their names.

use crate::json::parse_name;
use deltasoap_core::schema::{Builtin, Element, ElementRef, Schema, Use};
use deltasoap_core::{QName, ns};
use deltasoap_wsdl::lower::Origin;
use deltasoap_wsdl::xsd::{TypeDefinition, TypeId, Variety};
use deltasoap_wsdl::{Import, Lowered};
use std::collections::{HashMap, HashSet};

/// An import, lowered, with short names for its types.
pub(crate) struct Types {
    pub(crate) import: Import,
    pub(crate) lowered: Lowered,
    /// Types by their local name; `None` where several have it. Without built-in ones.
    short: HashMap<Box<str>, Option<TypeId>>,
    /// The numbers of what several places of a message may share.
    shared: HashSet<u32>,
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
        Types { lowered, import, short, shared }
    }

    /// True if several places of a message in SOAP encoding can share a value of this type.
    pub(crate) fn is_shared(&self, id: TypeId) -> bool {
        let number = self.lowered.exactly(id, Use::Encoded).and_then(number);
        number.is_some_and(|number| self.shared.contains(&number))
    }

    /// The type with a name, built-in ones included.
    pub(crate) fn named(&self, name: &QName) -> Option<TypeId> {
        let builtin = || Builtin::from_local(&name.local).filter(|_| name.namespace == ns::XSD).map(TypeId::of_builtin);
        self.import.schemas().type_named(name).or_else(builtin)
    }

    /// What a type is called in `$type`; `None` for one without a name.
    pub(crate) fn label(&self, id: TypeId) -> Option<String> {
        self.import.schemas()[id].name.as_ref().map(|name| self.label_of(name))
    }

    /// What a name is called in `$type`.
    pub(crate) fn label_of(&self, name: &QName) -> String {
        let is_short =
            || self.short.get(&*name.local).copied().flatten().is_some_and(|id| self.named(name) == Some(id));
        match () {
            () if name.namespace == ns::XSD => format!("xsd:{}", name.local),
            () if is_short() => name.local.to_string(),
            () => name.to_string(),
        }
    }

    /// The name behind a label.
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

    /// True if a type can stand where another one is declared.
    pub(crate) fn fits(&self, id: TypeId, origin: Origin) -> bool {
        let mut id = id;
        // A chain of bases is no longer than there are types.
        for _ in 0..self.import.schemas().types().len() {
            match self.base(id) {
                _ if id == origin.type_id || origin.type_id == TypeId::ANY => return true,
                Some(base) => id = base,
                None => return false,
            }
        }
        false
    }

    fn base(&self, id: TypeId) -> Option<TypeId> {
        match &self.import.schemas()[id].definition {
            TypeDefinition::Complex(complex) if id != TypeId::ANY => Some(complex.base),
            TypeDefinition::Simple(simple) => match simple.variety {
                Variety::Restriction(base) => Some(base),
                _ => None,
            },
            TypeDefinition::Complex(_) => None,
        }
    }
}

/// The numbers of all content that may be shared.
fn shared(schema: &Schema) -> HashSet<u32> {
    let elements =
        (0..number(schema.next_ref()).unwrap_or_default()).map(|at| schema.view(ElementRef::Index(at)).element);
    let content = |element: &Element| match element {
        Element::Shared(content) => number(*content),
        _ => None,
    };
    elements.filter_map(content).collect()
}

fn number(content: ElementRef) -> Option<u32> {
    match content {
        ElementRef::Index(number) => Some(number),
        ElementRef::Static(_) => None,
    }
}
