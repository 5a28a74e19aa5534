//! The generated code as data: Rust items, still without names, and the operations of services.
//!
//! What was chosen, and why:
//!
//! - Enumerations: closed by default; another value is an error. The schema says so; a catch-all
//!   would make every `match` handle an impossible case.
//! - Restrictions: aliases, with the unchecked facets in their documentation. A type for each would
//!   mean a conversion at each use; enumerations are the ones that carry information.
//! - Nil: in SOAP encoding the same as absent, elsewhere a value of its own. Section 5.1 of SOAP
//!   1.1 lets a sender express null either way.
//! - Defaults of elements: in documentation alone. Absent stays absent, so that the output equals
//!   the input.
//! - Derived types: an enum with a variant for each type, and one for all others, a tree. The start
//!   tag decides: an equal tag means an equal variant, and differential decoding continues inside.
//! - Methods: one call of a `Caller`, whose `Response<T>` says what is returned: a `Client` the
//!   body's element, `Whole` the `Response` around it. Header blocks and parts are available, and
//!   no method exists twice.
//! - Formatting: `prettyplease`. rustfmt is not available on every build machine.

use deltasoap_core::QName;
use deltasoap_core::schema::{Style, Use};
use deltasoap_core::soap::addressing::Addressing;
use deltasoap_core::soap::{PolicyDocuments, Version};
use deltasoap_wsdl::xsd::{ElementId, TypeId};
use std::collections::{HashMap, HashSet};

/// Everything that is generated.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) items: Vec<Item>,
    pub(crate) services: Vec<Service>,
    /// The components that are needed, in the order in which they came up.
    pub(crate) components: Vec<Component>,
    /// Elements that share the item of their type.
    pub(crate) joined: HashMap<ItemId, ItemId>,
    /// Types in SOAP encoding: references can lead to their values.
    pub(crate) encoded: HashSet<ItemId>,
    /// Records of numbers in lists, which do not compile small.
    pub(crate) number_records: HashSet<ItemId>,
    /// Types with a default.
    pub(crate) defaults: HashSet<ItemId>,
    /// Responses by their requests.
    pub(crate) responses: HashMap<ItemId, ItemId>,
}

impl Model {
    /// Returns the item that replaces another, or the item itself.
    pub(crate) fn resolve(&self, id: ItemId) -> ItemId {
        self.joined.get(&id).copied().unwrap_or(id)
    }

    pub(crate) fn item(&self, id: ItemId) -> &Item {
        &self.items[id.index()]
    }

    /// Finds the responses of requests. A request that operations answer in different ways has
    /// none.
    pub(crate) fn find_responses(&mut self) {
        let mut responses: HashMap<ItemId, Option<ItemId>> = HashMap::new();
        for operation in self.services.iter().flat_map(|service| &service.operations) {
            let (request, response) = (self.resolve(operation.request), operation.response.map(|it| self.resolve(it)));
            let known = responses.entry(request).or_insert(response);
            if *known != response {
                *known = None;
            }
        }
        self.responses = responses.into_iter().filter_map(|(request, response)| Some((request, response?))).collect();
    }

    /// Returns the operations that are not generated, with the reasons.
    pub(crate) fn omitted(&self) -> impl Iterator<Item = String> {
        let of_service = |service: &'_ Service| {
            let line = |(name, why): &(String, String)| format!("{}.{name}: {why}", service.preferred_name);
            service.omitted.iter().map(line).collect::<Vec<_>>()
        };
        self.services.iter().flat_map(of_service)
    }

    /// Returns the items that are written, in order.
    pub(crate) fn written(&self) -> impl Iterator<Item = (ItemId, &Item)> {
        let all = self.items.iter().enumerate().map(|(index, item)| (ItemId(index as u32), item));
        all.filter(|(id, _)| !self.joined.contains_key(id))
    }
}

/// A component of the schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    Type(TypeId),
    /// A global element.
    Element(ElementId),
}

/// The index of an item in [`Model::items`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ItemId(pub(crate) u32);

impl ItemId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A Rust item for a type or an element.
#[derive(Debug)]
pub(crate) struct Item {
    /// Its XML name or, if it has none, a name made from those of its context. The Rust name is
    /// derived from it.
    pub(crate) preferred_name: String,
    /// The namespace of the type or element, and the module.
    pub(crate) namespace: Box<str>,
    pub(crate) docs: Docs,
    pub(crate) kind: ItemKind,
}

pub(crate) type Docs = Vec<Paragraph>;

/// A paragraph of an item's documentation.
#[derive(Debug, Clone)]
pub(crate) enum Paragraph {
    /// Text from the WSDL, with arbitrary content.
    Text(String),
    /// Text by the generator, in rustdoc syntax.
    Rustdoc(String),
}

/// The kinds of items.
#[derive(Debug)]
pub(crate) enum ItemKind {
    /// To be filled in: items can refer to each other.
    Pending,
    /// A complex type.
    Struct(Struct),
    /// A choice of elements, or of groups of elements, inside an element of another type.
    Choice(Vec<Member>, Alternatives),
    /// A type and the types derived from it.
    Derived(Derived),
    /// Enumerated texts.
    Enumeration(Enumeration),
    /// Text of one of several types.
    Union(Union),
    /// Another name for a type.
    Alias(TypeUse),
    /// A simple type that restricts another, with its name in the WSDL.
    Restriction(String, TypeUse),
    /// The same, if the restricted type is not a text type of the runtime: a list, an enumeration,
    /// or content that only elements can have.
    Renamed(String, TypeUse),
    /// A global element of a type that other elements have too, with its text if it is empty.
    Element(QName, TypeUse, Option<String>),
}

/// The alternatives of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alternatives {
    Elements,
    /// Some variants have several elements.
    Groups,
}

/// A complex type, or a group of elements in one.
#[derive(Debug, Default)]
pub(crate) struct Struct {
    /// Its name, if it has one.
    pub(crate) name: Option<String>,
    /// True if fields may come in any order.
    pub(crate) is_all: bool,
    /// True for elements that are part of another type, as a branch of a choice.
    pub(crate) is_group: bool,
    /// The local name of its element, if it has one.
    pub(crate) element: Option<String>,
    /// The name of items of this type in SOAP arrays.
    pub(crate) item_name: Option<String>,
    pub(crate) members: Vec<Member>,
}

/// A field, or a variant of a choice.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) name: QName,
    pub(crate) role: Role,
    pub(crate) content: TypeUse,
    pub(crate) occurs: Occurs,
    pub(crate) nil: Nil,
    /// True if the value is on the heap, since it may contain another value of its owner's type.
    pub(crate) is_boxed: bool,
    /// The text of an empty element or an absent attribute.
    pub(crate) default_text: Option<String>,
    pub(crate) docs: Docs,
}

/// How a field appears in its element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Element,
    Inline,
    Group,
    Attribute,
    Text,
}

impl Member {
    /// Returns true if the value distinguishes nil.
    pub(crate) fn is_nillable(&self) -> bool {
        match self.nil {
            Nil::Never => false,
            Nil::Value => true,
            Nil::Absent => self.occurs != Occurs::AtMostOnce,
        }
    }

    /// Returns true if the field is absent where its element is nil.
    pub(crate) fn is_absent_if_nil(&self) -> bool {
        self.nil == Nil::Absent && self.occurs == Occurs::AtMostOnce
    }
}

/// The meaning of `xsi:nil` on the element of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nil {
    /// An error.
    Never,
    /// A value of its own.
    Value,
    /// The same as an absent element, as in SOAP encoding (SOAP 1.1, section 5.1, rule 9), if it
    /// may be absent; a list has a place for each of its items, which is kept.
    Absent,
}

impl Nil {
    /// Returns the meaning for content in SOAP encoding. A tree keeps the attribute with its
    /// others.
    pub(crate) fn encoded(content: &TypeUse) -> Self {
        if *content == TypeUse::NODE { Nil::Never } else { Nil::Absent }
    }
}

/// Number of occurrences of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occurs {
    Once,
    AtMostOnce,
    /// A list, with minimum and maximum; `None` for no maximum.
    Many(u32, Option<u32>),
}

impl Occurs {
    /// Any number of times.
    pub(crate) const ANY: Occurs = Occurs::Many(0, None);
}

/// A type and the types derived from it.
#[derive(Debug)]
pub(crate) struct Derived {
    pub(crate) name: String,
    /// The type itself, unless it is abstract.
    pub(crate) base: Option<ItemId>,
    pub(crate) types: Vec<ItemId>,
}

/// Allowed texts.
#[derive(Debug)]
pub(crate) struct Enumeration {
    /// The type's name, if it has one.
    pub(crate) name: Option<String>,
    /// The texts and their documentation.
    pub(crate) values: Vec<(String, Docs)>,
    /// True if there is a variant for other texts.
    pub(crate) is_open: bool,
}

/// Text of one of several types.
#[derive(Debug)]
pub(crate) struct Union {
    /// The type's name, if it has one.
    pub(crate) name: Option<String>,
    /// The texts that variants are named after, and the types of the variants.
    pub(crate) members: Vec<(String, TypeUse)>,
}

/// A use of a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum TypeUse {
    /// A type of the runtime or the language, as written: `f64`, `deltasoap::types::Node`.
    Plain(&'static str),
    Item(ItemId),
    /// A SOAP array.
    Array(Box<Items>),
    /// A value that several places in a message may share.
    Shared(ItemId),
    /// Values separated by white space.
    List(Box<TypeUse>),
}

/// Items of a SOAP array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Items {
    pub(crate) item: TypeUse,
    pub(crate) are_nillable: bool,
    pub(crate) dimensions: usize,
}

impl TypeUse {
    pub(crate) const NODE: TypeUse = TypeUse::Plain("deltasoap::types::Node");
}

/// The operations of a port type, with one of its bindings.
#[derive(Debug)]
pub(crate) struct Service {
    /// The port type's name, or the binding's for further bindings that differ.
    pub(crate) preferred_name: String,
    pub(crate) docs: Docs,
    pub(crate) version: Version,
    /// True if a policy requires MTOM.
    pub(crate) mtom: bool,
    /// The version of WS-Addressing, if a policy requires it.
    pub(crate) addressing: Option<Addressing>,
    /// What the policies say about security. If those of the operations differ, only what they
    /// require is known.
    pub(crate) policies: PolicyDocuments,
    /// The URL of the first port.
    pub(crate) address: Option<String>,
    pub(crate) operations: Vec<Operation>,
    /// Operations that are not generated, with the reasons.
    pub(crate) omitted: Vec<(String, String)>,
}

/// Endings of names without information.
const EMPTY_ENDINGS: [&str; 8] = ["PortType", "_PortType", "Port", "Soap", "_SOAP", "SOAP", "Interface", "Binding"];

impl Service {
    /// Returns its name without endings that say nothing.
    pub(crate) fn base_name(&self) -> &str {
        let ending = EMPTY_ENDINGS.iter().find_map(|ending| self.preferred_name.strip_suffix(ending));
        ending.filter(|base| !base.is_empty()).unwrap_or(&self.preferred_name)
    }
}

/// An operation.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The indices of the binding and of its operation.
    pub(crate) number: (usize, usize),
    pub(crate) name: String,
    pub(crate) docs: Docs,
    pub(crate) action: String,
    /// The action in WS-Addressing, if it differs from that of HTTP and the WSDL mentions
    /// WS-Addressing.
    pub(crate) addressing_action: Option<String>,
    pub(crate) style: Style,
    pub(crate) encoding: Use,
    pub(crate) request: ItemId,
    /// `None` for one-way operations.
    pub(crate) response: Option<ItemId>,
    /// Names of faults and their detail entries.
    pub(crate) faults: Vec<(String, ItemId)>,
    /// Header blocks of the request.
    pub(crate) headers: Vec<ItemId>,
    /// Header blocks of the response.
    pub(crate) response_headers: Vec<ItemId>,
}
