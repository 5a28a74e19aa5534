//! Simple types: types of Python as zeep chooses them, enumerations, lists and unions.

use super::model::{Annotation, DeclarationId, Docs, Enumeration, Kind};
use super::plan::{Context, Planner, texts};
use crate::plan::simple::{enumerating, facets, facets_of, members, values};
use deltasoap_core::schema::Builtin;
use deltasoap_wsdl::xsd::{Schemas, TypeDefinition, TypeId, Variety};

impl Planner<'_> {
    /// Returns a simple type. Anonymous enumerations are named by their context.
    pub(super) fn simple(&mut self, id: TypeId, context: &Context<'_>) -> Annotation {
        if let Some(builtin) = id.builtin() {
            return plain(builtin);
        }
        if let Some(packing) = self.schemas.packing(id) {
            return numbers(packing.items).unwrap_or(Annotation::Plain("bytes"));
        }
        if let Some(&known) = self.known.get(&id) {
            return Annotation::Declared(known);
        }
        match self.schemas.variety(id) {
            Some(Variety::Builtin(builtin)) => match enumerating(self.schemas, id, *builtin) {
                Some(of) => self.enumerated(id, of, *builtin, context),
                None => self.alias(id, plain(*builtin)),
            },
            Some(Variety::List(item)) => {
                let items = self.text_list(*item, context);
                self.alias(id, items)
            }
            Some(Variety::Union(_)) => {
                let types = members(self.schemas, id).into_iter().map(|member| self.member(member, context)).collect();
                self.alias(id, Annotation::union(types))
            }
            _ => Annotation::Any,
        }
    }

    /// Returns the type of a list of elements of a type: lists of numbers may be arrays.
    pub(super) fn repeated(&self, id: TypeId, item: Annotation) -> Annotation {
        let is_number = matches!(self.schemas[id].definition, TypeDefinition::Simple(_));
        self.numbers_of(id).filter(|_| is_number).unwrap_or_else(|| Annotation::list(item))
    }

    /// Returns the list type for the numbers of a simple type.
    fn numbers_of(&self, id: TypeId) -> Option<Annotation> {
        let Some(&Variety::Builtin(builtin)) = self.schemas.variety(id) else { return None };
        let is_enumerated = self.schemas.enumerating(id).is_some();
        numbers(builtin).filter(|_| !is_enumerated)
    }

    /// Returns a list in a text. The items of a list of lists, which XSD forbids, are texts.
    fn text_list(&mut self, item: TypeId, context: &Context<'_>) -> Annotation {
        match self.schemas.variety(item) {
            Some(Variety::List(_)) | None => Annotation::list(Annotation::Plain("str")),
            _ => {
                let of = self.simple(item, context);
                self.repeated(item, of)
            }
        }
    }

    /// Returns a member of a union, which is no union.
    fn member(&mut self, id: TypeId, context: &Context<'_>) -> Annotation {
        match self.schemas.variety(id) {
            Some(Variety::Union(_)) => Annotation::Any,
            _ => self.simple(id, context),
        }
    }

    /// Returns an alias for a named type.
    fn alias(&mut self, id: TypeId, of: Annotation) -> Annotation {
        let Some(name) = &self.schemas[id].name else { return of };
        let mut docs = self.type_docs(id);
        docs.extend(texts(facets(self.schemas, id)));
        let (name, namespace) = (name.local.to_string(), name.namespace.to_string());
        let alias = self.declare(&name, &namespace, true, docs, Kind::Alias(of));
        self.know(id, alias)
    }

    /// Returns a type whose values are enumerated by itself or a type that it restricts.
    fn enumerated(&mut self, id: TypeId, of: TypeId, builtin: Builtin, context: &Context<'_>) -> Annotation {
        let enumeration = match self.known.get(&of) {
            Some(&known) => Annotation::Declared(known),
            None => self.enumeration(of, builtin, context),
        };
        if id == of { enumeration } else { self.alias(id, enumeration) }
    }

    fn enumeration(&mut self, id: TypeId, builtin: Builtin, context: &Context<'_>) -> Annotation {
        let Some(enumeration) = enumeration(self.schemas, id, builtin) else {
            let of = plain(builtin);
            return self.alias(id, of);
        };
        let (name, namespace, is_named) = match &self.schemas[id].name {
            Some(name) => (name.local.to_string(), name.namespace.to_string(), true),
            None => (context.name.to_owned(), context.namespace.to_owned(), false),
        };
        let docs = self.type_docs(id);
        let declared = self.declare(&name, &namespace, is_named, docs, Kind::Enumeration(enumeration));
        self.know(id, declared)
    }

    /// Remembers a simple type. It is complete, so it can be written.
    fn know(&mut self, id: TypeId, declared: DeclarationId) -> Annotation {
        self.known.insert(id, declared);
        self.module.declarations.push(declared);
        Annotation::Declared(declared)
    }
}

/// Returns the values of an enumeration of texts or integers. Those of other types have no equality
/// that text shows, such as `1.0` and `1`.
fn enumeration(schemas: &Schemas, id: TypeId, builtin: Builtin) -> Option<Enumeration> {
    let is_int = plain(builtin) == Annotation::Plain("int");
    let is_text = plain(builtin) == Annotation::Plain("str") && builtin != Builtin::HexBinary;
    if !is_int && !is_text {
        return None;
    }
    let mut found: Vec<(String, Docs)> = Vec::new();
    for (value, docs) in values(facets_of(schemas, id)?) {
        let value = if is_int { integer(&value)? } else { value };
        if !found.iter().any(|(other, _)| *other == value) {
            found.push((value, texts(docs)));
        }
    }
    (!found.is_empty()).then_some(Enumeration { is_int, values: found })
}

/// Returns the canonical form of an integer.
fn integer(text: &str) -> Option<String> {
    text.trim().parse::<i128>().ok().map(|value| value.to_string())
}

/// Returns the Python type of a built-in type.
fn plain(builtin: Builtin) -> Annotation {
    use Builtin as B;
    Annotation::Plain(match builtin {
        B::Boolean => "bool",
        B::Byte | B::Short | B::Int | B::Long | B::UnsignedByte | B::UnsignedShort | B::UnsignedInt => "int",
        B::UnsignedLong | B::Integer | B::NonNegativeInteger | B::PositiveInteger => "int",
        B::NonPositiveInteger | B::NegativeInteger => "int",
        B::Float | B::Double => "float",
        B::Decimal => "Decimal",
        B::Date => "datetime.date",
        B::Time => "datetime.time",
        B::DateTime => "datetime.datetime",
        B::Duration => "datetime.timedelta",
        B::GYear | B::GMonth | B::GDay => "tuple[int, datetime.tzinfo | None]",
        B::GYearMonth | B::GMonthDay => "tuple[int, int, datetime.tzinfo | None]",
        B::Base64Binary => "bytes",
        B::QName | B::Notation => return Annotation::Any,
        _ => "str",
    })
}

/// Returns the type of a list of numbers.
fn numbers(builtin: Builtin) -> Option<Annotation> {
    let (name, item) = match builtin {
        Builtin::Byte => ("Int8List", "int"),
        Builtin::Short => ("Int16List", "int"),
        Builtin::Int => ("Int32List", "int"),
        Builtin::Long => ("Int64List", "int"),
        Builtin::UnsignedByte => ("UInt8List", "int"),
        Builtin::UnsignedShort => ("UInt16List", "int"),
        Builtin::UnsignedInt => ("UInt32List", "int"),
        Builtin::UnsignedLong => ("UInt64List", "int"),
        Builtin::Float => ("Float32List", "float"),
        Builtin::Double => ("Float64List", "float"),
        _ => return None,
    };
    Some(Annotation::Numbers(name, item))
}
