//! Simple types: types of the language or the runtime, enumerations, lists and unions.

use super::{Key, Owner, Planner, docs};
use crate::model::{Docs, Enumeration, ItemId, ItemKind, Paragraph, TypeUse, Union};
use deltasoap_core::QName;
use deltasoap_core::schema::{Builtin, Packing};
use deltasoap_wsdl::xsd::{AttributeUse, ElementId, Facets, Schemas, TypeDefinition, TypeId, Variety};
use std::collections::HashSet;

/// Position of a simple value: some types of the runtime can only be the content of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Element,
    /// Text of an element with attributes.
    Beside,
    Attribute,
    /// An item of a list, or a member of a union.
    Text,
}

impl Planner<'_> {
    /// Returns the use of a simple type.
    pub(super) fn simple(&mut self, id: TypeId, position: Position, owner: Owner<'_>) -> TypeUse {
        if let Some(builtin) = id.builtin() {
            return plain(builtin, position);
        }
        // The type differs elsewhere, so it has no name of its own.
        if let Some(packing) = self.schemas.packing(id).filter(|_| is_content(position)) {
            return packed(packing);
        }
        if let Some(&known) = self.known.get(&Key::Type(id, false)) {
            return TypeUse::Item(known);
        }
        match self.schemas.variety(id).cloned() {
            Some(Variety::Builtin(builtin)) => match self.enumerating(id, builtin) {
                Some(enumerating) => TypeUse::Item(self.enumeration(enumerating, owner)),
                // A type that differs elsewhere has no name of its own.
                None if plain(builtin, Position::Element) != plain(builtin, Position::Text) => plain(builtin, position),
                None => self.alias(id, plain(builtin, position), owner),
            },
            Some(Variety::List(item)) => {
                let list = self.list(item, owner);
                self.alias(id, list, owner)
            }
            Some(Variety::Union(_)) => self.union(id, owner),
            _ if position == Position::Element => TypeUse::Plain("deltasoap::types::AnySimple"),
            _ => TypeUse::Plain("String"),
        }
    }

    /// Returns a simple type in SOAP encoding, where messages name the types of elements, so that
    /// each needs its own type.
    pub(super) fn named_simple(&mut self, id: TypeId, owner: Owner<'_>) -> TypeUse {
        if let Some(builtin) = id.builtin() {
            return named(builtin).unwrap_or_else(|| plain(builtin, Position::Element));
        }
        if let Some(&known) = self.known.get(&Key::Type(id, true)) {
            return TypeUse::Item(known);
        }
        match self.schemas.variety(id).cloned() {
            Some(Variety::Builtin(builtin)) if self.schemas[id].name.is_some() => self.restriction(id, builtin, owner),
            Some(Variety::List(item)) if self.schemas[id].name.is_some() => {
                let list = self.list(item, owner);
                self.own_name(id, |name| ItemKind::Renamed(name, list))
            }
            _ => self.simple(id, Position::Element, owner),
        }
    }

    /// Returns a named restriction of a built-in type, in SOAP encoding.
    fn restriction(&mut self, id: TypeId, builtin: Builtin, owner: Owner<'_>) -> TypeUse {
        let (element, text) = (
            self.schemas.packing(id).map_or_else(|| plain(builtin, Position::Element), packed),
            plain(builtin, Position::Text),
        );
        match self.enumerating(id, builtin) {
            Some(own) if own == id => TypeUse::Item(self.enumeration(own, owner)),
            Some(base) => {
                let base = TypeUse::Item(self.enumeration(base, owner));
                self.own_name(id, |name| ItemKind::Renamed(name, base))
            }
            None if element == text => self.own_name(id, |name| ItemKind::Restriction(name, text)),
            None => self.own_name(id, |name| ItemKind::Renamed(name, element)),
        }
    }

    /// Returns the type for SOAP encoding, in addition to the one used elsewhere.
    fn own_name(&mut self, id: TypeId, kind: impl FnOnce(String) -> ItemKind) -> TypeUse {
        let (name, namespace) = self.type_name(id, Owner::NONE);
        let mut docs = self.docs_of_type(id);
        docs.extend(self.facets(id));
        let has_other = self.known.contains_key(&Key::Type(id, false));
        let preferred_name = if has_other { format!("{name} encoded") } else { name.clone() };
        let item = self.add(&preferred_name, &namespace, docs, kind(name));
        self.known.insert(Key::Type(id, true), item);
        TypeUse::Item(item)
    }

    /// Returns an alias for a named type.
    fn alias(&mut self, id: TypeId, here: TypeUse, owner: Owner<'_>) -> TypeUse {
        if self.schemas[id].name.is_none() {
            return here;
        }
        let (name, namespace) = self.type_name(id, owner);
        let mut docs = self.docs_of_type(id);
        docs.extend(self.facets(id));
        let item = self.add(&name, &namespace, docs, ItemKind::Alias(here));
        self.known.insert(Key::Type(id, false), item);
        TypeUse::Item(item)
    }

    fn enumerating(&self, id: TypeId, builtin: Builtin) -> Option<TypeId> {
        enumerating(self.schemas, id, builtin)
    }

    fn enumeration(&mut self, id: TypeId, owner: Owner<'_>) -> ItemId {
        if let Some(&known) = self.known.get(&Key::Type(id, false)) {
            return known;
        }
        let (preferred_name, namespace) = self.type_name(id, owner);
        let name = self.schemas[id].name.is_some().then(|| preferred_name.clone());
        let values = facets_of(self.schemas, id).map(values).unwrap_or_default();
        let docs = self.docs_of_type(id);
        let item = self.add(
            &preferred_name,
            &namespace,
            docs,
            ItemKind::Enumeration(Enumeration { name, values, is_open: false }),
        );
        self.known.insert(Key::Type(id, false), item);
        item
    }

    /// Returns the [facets](Self::facets) of an anonymous type, which are documented where it is
    /// used.
    pub(super) fn inline_facets(&self, id: TypeId) -> Docs {
        if self.schemas[id].name.is_none() { self.facets(id) } else { Docs::new() }
    }

    fn facets(&self, id: TypeId) -> Docs {
        facets(self.schemas, id)
    }

    /// Returns a list. The items of a list of lists, which XSD forbids, are texts.
    fn list(&mut self, item: TypeId, owner: Owner<'_>) -> TypeUse {
        let item = match self.schemas.variety(item) {
            Some(Variety::List(_)) | None => TypeUse::Plain("String"),
            _ => self.simple(item, Position::Text, owner),
        };
        TypeUse::List(Box::new(item))
    }

    fn union(&mut self, id: TypeId, owner: Owner<'_>) -> TypeUse {
        let ids = members(self.schemas, id);
        let (preferred_name, namespace) = self.type_name(id, owner);
        let name = self.schemas[id].name.is_some().then(|| preferred_name.clone());
        let docs = self.docs_of_type(id);
        let item = self.add(&preferred_name, &namespace, docs, ItemKind::Pending);
        self.known.insert(Key::Type(id, false), item);
        let (mut members, mut seen) = (Vec::new(), HashSet::new());
        for (number, member) in ids.into_iter().enumerate() {
            let label = format!("{preferred_name} member {}", number + 1);
            let owner = Owner { name: &label, namespace: &namespace };
            let ty = self.simple(member, Position::Text, owner);
            if seen.insert(ty.clone()) {
                members.push((self.member_name(member), ty));
            }
        }
        self.model.items[item.index()].kind = match members.is_empty() {
            true => ItemKind::Alias(TypeUse::Plain("String")),
            false => ItemKind::Union(Union { name, members }),
        };
        TypeUse::Item(item)
    }

    fn member_name(&self, id: TypeId) -> String {
        match (&self.schemas[id].name, self.schemas.variety(id)) {
            (Some(name), _) => name.local.to_string(),
            (None, Some(Variety::List(_))) => "List".to_owned(),
            (None, Some(Variety::Builtin(builtin))) if self.enumerating(id, *builtin).is_none() => {
                builtin.local().to_owned()
            }
            _ => "Value".to_owned(),
        }
    }

    /// Returns the simple type of an attribute, or of text beside attributes.
    pub(super) fn text(&mut self, id: TypeId, position: Position, owner: Owner<'_>) -> TypeUse {
        match &self.schemas[id].definition {
            TypeDefinition::Simple(_) => self.simple(id, position, owner),
            TypeDefinition::Complex(_) => TypeUse::Plain("String"),
        }
    }

    /// Returns the text of an empty element, with names as `{namespace}local`. Returns `None` for a
    /// type that others are derived from: the message may name another one.
    pub(super) fn default_text(&self, id: ElementId) -> Option<String> {
        let type_id = self.schemas[id].type_id;
        if self.is_polymorphic(type_id) {
            return None;
        }
        let name =
            || self.schemas.default_name_of_element(id).filter(|_| self.is_qname(type_id)).map(QName::to_expanded);
        self.schemas.default_of_element(id).map(ToOwned::to_owned).or_else(name)
    }

    /// Returns the text of an absent attribute, in the same form as for elements.
    pub(super) fn default_text_of_attribute(&self, it: &AttributeUse) -> Option<String> {
        let type_id = self.schemas[it.attribute].type_id;
        let name =
            || self.schemas.default_name_of_attribute(it).filter(|_| self.is_qname(type_id)).map(QName::to_expanded);
        self.schemas.default_of_attribute(it).map(ToOwned::to_owned).or_else(name)
    }

    fn is_qname(&self, id: TypeId) -> bool {
        matches!(self.schemas.variety(id), Some(Variety::Builtin(Builtin::QName)))
    }
}

/// Returns the nearest restriction with an enumeration. Names are not enumerated, since their
/// prefixes are the schema's.
pub(crate) fn enumerating(schemas: &Schemas, id: TypeId, builtin: Builtin) -> Option<TypeId> {
    if matches!(builtin, Builtin::QName | Builtin::Notation) {
        return None;
    }
    schemas.enumerating(id)
}

/// Returns the facets of a simple type itself.
pub(crate) fn facets_of(schemas: &Schemas, id: TypeId) -> Option<&Facets> {
    match &schemas[id].definition {
        TypeDefinition::Simple(simple) => simple.facets.as_deref(),
        TypeDefinition::Complex(_) => None,
    }
}

/// Documents the facets of a restriction that generated types do not check.
pub(crate) fn facets(schemas: &Schemas, id: TypeId) -> Docs {
    let Some(facets) = facets_of(schemas, id) else { return Docs::new() };
    let number = |name: &str, value: Option<u64>| value.map(|value| format!("{name} {value}"));
    let text = |name: &str, value: &Option<Box<str>>| value.as_ref().map(|value| format!("{name} {value}"));
    let bounds = [
        number("length", facets.length),
        number("length at least", facets.min_length),
        number("length at most", facets.max_length),
        text("at least", &facets.min_inclusive),
        text("at most", &facets.max_inclusive),
        text("greater than", &facets.min_exclusive),
        text("less than", &facets.max_exclusive),
        number("digits at most", facets.total_digits),
        number("fraction digits at most", facets.fraction_digits),
        facets.patterns.first().map(|pattern| format!("pattern {pattern}")),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    if bounds.is_empty() { Docs::new() } else { vec![Paragraph::Text(format!("Not checked: {}.", bounds.join(", ")))] }
}

/// Documents the value of an empty element or an absent attribute.
pub(crate) fn value_docs(default: Option<&str>, fixed: Option<&str>) -> Docs {
    let say = |what: &str, value: &str| Paragraph::Text(format!("{what}: {value}"));
    let default = default.map(|value| say("Default", value));
    default.into_iter().chain(fixed.map(|value| say("Always", value))).collect()
}

/// Returns the types in a union that are not unions.
pub(crate) fn members(schemas: &Schemas, id: TypeId) -> Vec<TypeId> {
    let mut found = Vec::new();
    add_members(schemas, id, &mut found, &mut HashSet::new(), 0);
    found
}

fn add_members(schemas: &Schemas, id: TypeId, into: &mut Vec<TypeId>, seen: &mut HashSet<TypeId>, depth: usize) {
    if !seen.insert(id) {
        return;
    }
    match schemas.variety(id) {
        Some(Variety::Union(_)) if depth > MAX_DEPTH => into.push(TypeId::ANY_SIMPLE),
        Some(Variety::Union(members)) => {
            members.iter().for_each(|&member| add_members(schemas, member, into, seen, depth + 1));
        }
        Some(_) => into.push(id),
        None => {}
    }
}

/// Maximum nesting of unions.
const MAX_DEPTH: usize = 16;

/// Returns the values, each once.
pub(crate) fn values(facets: &Facets) -> Vec<(String, Docs)> {
    let mut seen = HashSet::new();
    let values = facets.enumeration.iter().filter(|value| seen.insert(&value.value));
    values.map(|value| (value.value.to_string(), docs(value.documentation.as_deref()))).collect()
}

/// Returns the Rust type named after a built-in type that is a string elsewhere.
fn named(builtin: Builtin) -> Option<TypeUse> {
    Some(TypeUse::Plain(match builtin {
        Builtin::NormalizedString => "deltasoap::lexical::NormalizedString",
        Builtin::Token => "deltasoap::lexical::Token",
        Builtin::Language => "deltasoap::lexical::Language",
        Builtin::Name => "deltasoap::lexical::Name",
        Builtin::NcName => "deltasoap::lexical::NcName",
        Builtin::NmToken => "deltasoap::lexical::NmToken",
        Builtin::NmTokens => "deltasoap::lexical::NmTokens",
        Builtin::Id => "deltasoap::lexical::Id",
        Builtin::IdRef => "deltasoap::lexical::IdRef",
        Builtin::IdRefs => "deltasoap::lexical::IdRefs",
        Builtin::Entity => "deltasoap::lexical::Entity",
        Builtin::Entities => "deltasoap::lexical::Entities",
        Builtin::AnyUri => "deltasoap::lexical::AnyUri",
        Builtin::Notation => "deltasoap::lexical::Notation",
        _ => return None,
    }))
}

/// Returns true where a value may be in a part of its own.
fn is_content(position: Position) -> bool {
    matches!(position, Position::Element | Position::Beside)
}

/// Returns the Rust type of packed numbers.
fn packed(packing: Packing) -> TypeUse {
    macro_rules! types {
        ($($variant:ident = $number:literal),*) => {
            match (packing.items, packing.is_big_endian) {
                $((Builtin::$variant, false) => concat!("deltasoap::types::Packed<", $number, ">"),
                (Builtin::$variant, true) => concat!("deltasoap::types::Packed<", $number, ", deltasoap::lexical::BigEndian>"),)*
                _ => "deltasoap::Binary",
            }
        };
    }
    TypeUse::Plain(types!(
        Short = "i16",
        UnsignedShort = "u16",
        Int = "i32",
        UnsignedInt = "u32",
        Long = "i64",
        UnsignedLong = "u64",
        Float = "f32",
        Double = "f64"
    ))
}

/// Returns the Rust type of a built-in type. Texts are strings, whatever their white space
/// handling.
fn plain(builtin: Builtin, position: Position) -> TypeUse {
    let list = |item| TypeUse::List(Box::new(TypeUse::Plain(item)));
    TypeUse::Plain(match builtin {
        Builtin::Boolean => "bool",
        Builtin::Byte => "i8",
        Builtin::Short => "i16",
        Builtin::Int => "i32",
        Builtin::Long => "i64",
        Builtin::UnsignedByte => "u8",
        Builtin::UnsignedShort => "u16",
        Builtin::UnsignedInt => "u32",
        Builtin::UnsignedLong => "u64",
        Builtin::Float => "f32",
        Builtin::Double => "f64",
        Builtin::Integer => "deltasoap::lexical::BigInt",
        Builtin::NonNegativeInteger => "deltasoap::lexical::NonNegativeInteger",
        Builtin::PositiveInteger => "deltasoap::lexical::PositiveInteger",
        Builtin::NonPositiveInteger => "deltasoap::lexical::NonPositiveInteger",
        Builtin::NegativeInteger => "deltasoap::lexical::NegativeInteger",
        Builtin::Decimal => "deltasoap::lexical::Decimal",
        Builtin::Date => "deltasoap::lexical::Date",
        Builtin::Time => "deltasoap::lexical::Time",
        Builtin::DateTime => "deltasoap::lexical::DateTime",
        Builtin::Duration => "deltasoap::lexical::Duration",
        Builtin::GYear => "deltasoap::lexical::GYear",
        Builtin::GYearMonth => "deltasoap::lexical::GYearMonth",
        Builtin::GMonth => "deltasoap::lexical::GMonth",
        Builtin::GMonthDay => "deltasoap::lexical::GMonthDay",
        Builtin::GDay => "deltasoap::lexical::GDay",
        Builtin::Base64Binary if is_content(position) => "deltasoap::Binary",
        Builtin::Base64Binary => "deltasoap::lexical::Base64",
        Builtin::HexBinary => "deltasoap::lexical::Hex",
        Builtin::QName if position != Position::Text => "deltasoap::schema::QName",
        Builtin::QName => "deltasoap::lexical::QName",
        Builtin::NmTokens | Builtin::IdRefs | Builtin::Entities => return list("String"),
        _ => "String",
    })
}
