//! What is generated, as data: Rust items, still without names, and the operations of services.

use deltasoap_core::QName;
use deltasoap_core::schema::{Style, Use};
use deltasoap_core::soap::Version;
use std::collections::{HashMap, HashSet};

/// All that is generated.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) items: Vec<Item>,
    pub(crate) services: Vec<Service>,
    /// Elements whose items are their types'.
    pub(crate) joined: HashMap<ItemId, ItemId>,
    /// Types in SOAP encoding: references can lead to their values.
    pub(crate) encoded: HashSet<ItemId>,
    /// Records of numbers that stand in lists: those that do not compile small.
    pub(crate) number_records: HashSet<ItemId>,
}

impl Model {
    /// The item that stands for another.
    pub(crate) fn resolve(&self, id: ItemId) -> ItemId {
        self.joined.get(&id).copied().unwrap_or(id)
    }

    pub(crate) fn item(&self, id: ItemId) -> &Item {
        &self.items[id.index()]
    }

    /// Operations that are not generated, and why.
    pub(crate) fn omitted(&self) -> impl Iterator<Item = String> {
        let of_service = |service: &'_ Service| {
            let line = |(name, why): &(String, String)| format!("{}.{name}: {why}", service.wish);
            service.omitted.iter().map(line).collect::<Vec<_>>()
        };
        self.services.iter().flat_map(of_service)
    }

    /// The items that are written, in order.
    pub(crate) fn written(&self) -> impl Iterator<Item = (ItemId, &Item)> {
        let all = self.items.iter().enumerate().map(|(index, item)| (ItemId(index as u32), item));
        all.filter(|(id, _)| !self.joined.contains_key(id))
    }
}

/// The place of an item in [`Model::items`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ItemId(pub(crate) u32);

impl ItemId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A Rust item that stands for a type or an element.
#[derive(Debug)]
pub(crate) struct Item {
    /// Its name in XML or, where it has none, those of what it stands in: what the Rust name is
    /// made of.
    pub(crate) wish: String,
    /// The namespace of the type or element, and the module.
    pub(crate) namespace: Box<str>,
    pub(crate) docs: Docs,
    pub(crate) kind: ItemKind,
}

pub(crate) type Docs = Vec<Paragraph>;

/// A part of an item's documentation.
#[derive(Debug, Clone)]
pub(crate) enum Paragraph {
    /// Words of the description, which may be anything.
    Said(String),
    /// Words of ours, as they stand in rustdoc.
    Ours(String),
}

/// The kinds of items.
#[derive(Debug)]
pub(crate) enum ItemKind {
    /// To be filled in: items can refer to each other.
    Pending,
    /// A complex type.
    Struct(Struct),
    /// Elements one of which stands in an element of another type, or groups of them.
    Choice(Vec<Member>, Between),
    /// A type and those derived from it.
    Derived(Derived),
    /// Texts.
    Enumeration(Enumeration),
    /// Text of one of several types.
    Union(Union),
    /// Another name for a type.
    Alias(TypeUse),
    /// A simple type that restricts another, with its name in the description.
    Restriction(String, TypeUse),
    /// The same where the other is not one of texts that the runtime has: a list, an enumeration,
    /// content of elements only.
    Renamed(String, TypeUse),
    /// A global element of a type that others have too, with the text that it stands for where it
    /// is empty.
    Element(QName, TypeUse, Option<String>),
}

/// What a choice is between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    Elements,
    /// Some of the variants have several elements.
    Groups,
}

/// A complex type, or a group of elements in one.
#[derive(Debug, Default)]
pub(crate) struct Struct {
    /// Its name, if it has one.
    pub(crate) name: Option<String>,
    /// True if fields come in any order.
    pub(crate) is_all: bool,
    /// True for elements that stand in another type as a branch of a choice.
    pub(crate) is_group: bool,
    /// The local name of its element, if it has one.
    pub(crate) element: Option<String>,
    /// What items of this type are called in SOAP arrays.
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
    pub(crate) is_nillable: bool,
    /// True if the value is on the heap, since it may hold another of its owner's type.
    pub(crate) is_boxed: bool,
    /// The text that an empty element, or an absent attribute, stands for.
    pub(crate) default_text: Option<String>,
    pub(crate) docs: Docs,
}

/// How a field stands in its element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Element,
    Inline,
    Group,
    Attribute,
    Text,
}

/// How often a field occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occurs {
    Once,
    AtMostOnce,
    /// A list, of at least and at most so many; `None` for any number.
    Often(u32, Option<u32>),
}

impl Occurs {
    /// Any number of times.
    pub(crate) const ANY: Occurs = Occurs::Often(0, None);
}

/// A type and those derived from it.
#[derive(Debug)]
pub(crate) struct Derived {
    pub(crate) name: String,
    /// The type itself, unless it is abstract.
    pub(crate) base: Option<ItemId>,
    pub(crate) types: Vec<ItemId>,
}

/// Texts that are allowed.
#[derive(Debug)]
pub(crate) struct Enumeration {
    /// The type's name, if it has one.
    pub(crate) name: Option<String>,
    /// Texts and what they mean.
    pub(crate) values: Vec<(String, Docs)>,
}

/// Text of one of several types.
#[derive(Debug)]
pub(crate) struct Union {
    /// The type's name, if it has one.
    pub(crate) name: Option<String>,
    /// What the variants' names are made of, and their types.
    pub(crate) members: Vec<(String, TypeUse)>,
}

/// A type in use.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum TypeUse {
    /// A type of the runtime or the language, as it is written: `f64`, `deltasoap::Node`.
    Plain(&'static str),
    Item(ItemId),
    /// A SOAP array.
    Array(Box<Items>),
    /// A value that several places of a message may share.
    Shared(ItemId),
    /// Values with white space between them.
    List(Box<TypeUse>),
}

/// What a SOAP array holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Items {
    pub(crate) item: TypeUse,
    pub(crate) are_nillable: bool,
    pub(crate) dimensions: usize,
}

impl TypeUse {
    pub(crate) const NODE: TypeUse = TypeUse::Plain("deltasoap::Node");
}

/// The operations of a port type, as a binding has them.
#[derive(Debug)]
pub(crate) struct Service {
    /// The port type's name, or the binding's where it is not the first of its kind.
    pub(crate) wish: String,
    pub(crate) docs: Docs,
    pub(crate) version: Version,
    /// True if a policy asks for MTOM.
    pub(crate) mtom: bool,
    /// The URL of the first port.
    pub(crate) address: Option<String>,
    pub(crate) operations: Vec<Operation>,
    /// Operations that are not generated, and why.
    pub(crate) omitted: Vec<(String, String)>,
}

/// An operation.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) docs: Docs,
    pub(crate) action: String,
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
