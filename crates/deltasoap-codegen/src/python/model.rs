//! The generated module as data, still without names.

use deltasoap_core::QName;
use deltasoap_wsdl::xsd::TypeId;

/// Paragraphs of documentation, as text.
pub(super) type Docs = Vec<String>;

/// Everything in a module.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// In the order in which they are written: what must be known when the module is loaded, such
    /// as a base class, comes first.
    pub(super) declarations: Vec<DeclarationId>,
    pub(super) all: Vec<Declaration>,
    pub(super) faults: Vec<Fault>,
    pub(super) clients: Vec<Client>,
}

impl Module {
    pub(super) fn declaration(&self, id: DeclarationId) -> &Declaration {
        &self.all[id.0 as usize]
    }
}

/// The index of a declaration in [`Module::all`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DeclarationId(pub(super) u32);

/// A declaration for a type.
#[derive(Debug)]
pub(super) struct Declaration {
    /// Its XML name or, if it has none, a name made from those of its context.
    pub(super) preferred_name: String,
    pub(super) namespace: String,
    /// True for the type's own name.
    pub(super) is_named: bool,
    pub(super) docs: Docs,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Alias(Annotation),
    Enumeration(Enumeration),
    Class(Class),
    /// An item of repeated content: a dictionary.
    Group(Vec<Field>),
}

/// Enumerated values.
#[derive(Debug)]
pub(super) struct Enumeration {
    /// True for integers, false for texts.
    pub(super) is_int: bool,
    /// Values, and their documentation.
    pub(super) values: Vec<(String, Docs)>,
}

/// The class of a complex type.
#[derive(Debug, Default)]
pub(super) struct Class {
    /// The type; `None` for the parts of a message.
    pub(super) id: Option<TypeId>,
    /// The type's name.
    pub(super) name: Option<QName>,
    /// The element whose type it is, if only that has it.
    pub(super) element: Option<QName>,
    pub(super) base: Option<DeclarationId>,
    /// True if only derived types have values.
    pub(super) is_abstract: bool,
    /// All fields, with those of the base.
    pub(super) fields: Vec<Field>,
    /// The fields to declare, by index: those that the base lacks.
    pub(super) own: Vec<usize>,
    /// False while the fields are unknown.
    pub(super) is_filled: bool,
}

impl Class {
    /// Returns the only element of a type that has nothing else.
    pub(super) fn only_element(&self) -> Option<&Field> {
        match &self.fields[..] {
            [field] if !field.is_attribute => Some(field),
            _ => None,
        }
    }
}

/// A value of a class, a dictionary or a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// Its name in zeep and in the engine.
    pub(super) name: String,
    pub(super) annotation: Annotation,
    pub(super) presence: Presence,
    pub(super) is_attribute: bool,
    pub(super) docs: Docs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    /// `None` if it is absent.
    Optional,
    /// A list, empty if it is absent.
    Repeated,
}

/// A type as annotations show it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Annotation {
    Any,
    None,
    /// A type of the language or its library, as written: `int`, `datetime.date`.
    Plain(&'static str),
    /// A list of numbers: one of the aliases in `deltasoap.generated`, and the type of an item.
    Numbers(&'static str, &'static str),
    Declared(DeclarationId),
    List(Box<Annotation>),
    Optional(Box<Annotation>),
    Union(Vec<Annotation>),
    /// A response with header blocks.
    Reply(Box<Annotation>),
}

impl Annotation {
    pub(super) fn list(item: Annotation) -> Self {
        Annotation::List(Box::new(item))
    }

    /// Allows `None`.
    pub(super) fn optional(self) -> Self {
        match self {
            Annotation::Any | Annotation::None | Annotation::Optional(_) => self,
            of => Annotation::Optional(Box::new(of)),
        }
    }

    /// Returns one of several types.
    pub(super) fn union(types: Vec<Annotation>) -> Self {
        let mut distinct: Vec<Annotation> = Vec::with_capacity(types.len());
        for of in types {
            if of == Annotation::Any {
                return of;
            }
            if !distinct.contains(&of) {
                distinct.push(of);
            }
        }
        match distinct.len() {
            0 => Annotation::Any,
            1 => distinct.swap_remove(0),
            _ => Annotation::Union(distinct),
        }
    }
}

/// An exception for the detail of a fault.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) preferred_name: String,
    /// The element in the detail.
    pub(super) element: QName,
    pub(super) detail: Annotation,
    pub(super) docs: Docs,
}

/// A client of a port.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) preferred_name: String,
    pub(super) docs: Docs,
    pub(super) binding: QName,
    /// Service and port; `None` if no port has the binding.
    pub(super) port: Option<(String, String)>,
    pub(super) operations: Vec<Operation>,
}

#[derive(Debug)]
pub(super) struct Operation {
    /// The name to call it by.
    pub(super) name: String,
    pub(super) preferred_name: String,
    pub(super) docs: Docs,
    pub(super) request: Request,
    pub(super) returns: Annotation,
    /// Indices in [`Module::faults`].
    pub(super) faults: Vec<usize>,
}

/// The arguments of an operation.
#[derive(Debug)]
pub(super) enum Request {
    /// The values in the body's element.
    Fields(Vec<Field>),
    /// The value of the body's element, which has a simple type.
    Value(Annotation),
}
