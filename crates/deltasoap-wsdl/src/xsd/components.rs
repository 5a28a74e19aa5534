//! The components of XML Schema (XSD 1.0 part 1, 2.2) and the numbers that they are known by.

use super::{Facets, IdentityConstraint};
use crate::Place;
use deltasoap_core::QName;
use deltasoap_core::schema::{Builtin, Packing};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The number as an index into tables of one's own.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        })*
    };
}

ids! {
    /// The number of a type.
    TypeId,
    /// The number of an element declaration.
    ElementId,
    /// The number of an attribute declaration.
    AttributeId,
    /// The number of a model group definition.
    GroupId,
    /// The number of an attribute group definition.
    AttributeGroupId,
}

impl TypeId {
    /// `xsd:anyType`.
    pub const ANY: TypeId = TypeId(0);
    /// `xsd:anySimpleType`.
    pub const ANY_SIMPLE: TypeId = TypeId(1);
    /// The first one of [`Builtin::ALL`]; the others follow.
    pub(crate) const FIRST_BUILTIN: u32 = 2;

    /// The number of a built-in type, the same in every import.
    pub fn of_builtin(builtin: Builtin) -> TypeId {
        let index = Builtin::ALL.iter().position(|&it| it == builtin).unwrap_or_default();
        TypeId(Self::FIRST_BUILTIN + index as u32)
    }

    /// The built-in type that it is.
    pub fn builtin(self) -> Option<Builtin> {
        Builtin::ALL.get(self.0.checked_sub(Self::FIRST_BUILTIN)? as usize).copied()
    }
}

/// A type definition.
#[derive(Debug, Clone)]
pub struct Type {
    /// Its name; `None` for the type of one element or attribute alone.
    pub name: Option<QName>,
    /// What it is.
    pub definition: TypeDefinition,
    /// What the schema says about it, for people.
    pub documentation: Option<Box<str>>,
    /// Where it is; `None` for built-in types.
    pub place: Option<Place>,
}

/// A simple or a complex type.
#[derive(Debug, Clone)]
pub enum TypeDefinition {
    /// Text.
    Simple(SimpleType),
    /// Elements and attributes, or text with attributes.
    Complex(ComplexType),
}

/// A simple type (XSD 1.0 part 1, 3.14).
#[derive(Debug, Clone)]
pub struct SimpleType {
    /// What its values are.
    pub variety: Variety,
    /// What it restricts them to.
    pub facets: Option<Box<Facets>>,
    /// What its bytes stand for, where an annotation says that they are numbers (`docs/packed.md`).
    pub packing: Option<Packing>,
}

/// How a simple type is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variety {
    /// `xsd:anySimpleType`: any text.
    Any,
    /// A built-in type.
    Builtin(Builtin),
    /// Some of the values of another type.
    Restriction(TypeId),
    /// Values of another type, with white space between them.
    List(TypeId),
    /// Values of any of these types; the first that fits.
    Union(Vec<TypeId>),
}

/// A complex type (XSD 1.0 part 1, 3.4).
#[derive(Debug, Clone)]
pub struct ComplexType {
    /// The type it is derived from; [`TypeId::ANY`] if none is named.
    pub base: TypeId,
    /// How it is derived.
    pub derivation: Derivation,
    /// True if only derived types can have values.
    pub is_abstract: bool,
    /// The derived types that cannot stand in its place.
    pub block: Block,
    /// True if text may stand between the elements.
    pub is_mixed: bool,
    /// The content that this very definition gives; nothing in imports from compiled files.
    pub content: Content,
    /// The attributes that this very definition gives; none in imports from compiled files.
    pub attributes: Attributes,
    /// What a restriction of a SOAP array has for items.
    pub array: Option<SoapArray>,
}

/// How a type is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Derivation {
    /// Base content, then more.
    Extension,
    /// Less than the base allows.
    Restriction,
}

/// Content as one definition gives it.
#[derive(Debug, Clone)]
pub enum Content {
    /// Nothing.
    Empty,
    /// Child elements.
    Elements(Particle),
    /// Text. `None` for that of the base type.
    Text(Option<TypeId>),
}

/// Items of a SOAP array (SOAP 1.1 section 5.4.2, WSDL 1.1 section 2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoapArray {
    /// Type of the items.
    pub item: TypeId,
    /// The element that items are written as, where the schema names one.
    pub element: Option<ElementId>,
    /// Dimensions as in `arrayType`, such as `[]`, `[,]`, `[][]`.
    pub dimensions: Box<str>,
}

impl SoapArray {
    /// Most ranks of an array of arrays that are followed; those with more are trees.
    pub const MOST_RANKS: usize = 16;
    /// Most dimensions of an array that is followed, as many as messages may have
    /// (`Limits::dimensions`); those with more are trees.
    pub const MOST_DIMENSIONS: usize = 16;

    /// The number of dimensions of each rank, that of the innermost items first: `[1, 2]` for
    /// `[][,]`. `None` for arrays that are trees.
    pub fn ranks(&self) -> Option<Vec<u32>> {
        let rank = |text: &str| 1 + text.bytes().filter(|&byte| byte == b',').take(Self::MOST_DIMENSIONS).count();
        let ranks = self.dimensions.split_inclusive(']').map(|text| rank(text) as u32);
        let ranks: Vec<u32> = ranks.take(Self::MOST_RANKS + 1).collect();
        let is_followed =
            ranks.len() <= Self::MOST_RANKS && ranks.iter().all(|&rank| rank as usize <= Self::MOST_DIMENSIONS);
        is_followed.then_some(ranks)
    }
}

/// A term and how often it occurs.
#[derive(Debug, Clone, PartialEq)]
pub struct Particle {
    /// `minOccurs`.
    pub min: u32,
    /// `maxOccurs`; `None` for unbounded.
    pub max: Option<u32>,
    /// What occurs.
    pub term: Term,
}

/// What can stand in content.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// An element.
    Element(ElementId),
    /// All of them in order.
    Sequence(Vec<Particle>),
    /// One of them.
    Choice(Vec<Particle>),
    /// All of them in any order.
    All(Vec<Particle>),
    /// A group that is defined elsewhere; not in [`Normal`](crate::Normal) content.
    Group(GroupId),
    /// Any element of some namespaces.
    Any(Wildcard),
}

/// Which elements or attributes a wildcard lets in (XSD 1.0 part 1, 3.10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wildcard {
    /// Their namespaces.
    pub namespaces: WildcardNamespaces,
    /// Whether they must be declared.
    pub process: ProcessContents,
}

/// What is asked of elements or attributes that a wildcard lets in (XSD 1.0 part 1, 3.10.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessContents {
    /// They are declared, and valid.
    Strict,
    /// They are valid where they are declared.
    Lax,
    /// They are well-formed.
    Skip,
}

/// What may not stand in place of an element or a type (`block`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Block {
    /// Types that are derived by extension.
    pub extension: bool,
    /// Types that are derived by restriction.
    pub restriction: bool,
    /// Members of the substitution group.
    pub substitution: bool,
}

impl Block {
    /// True if types that are derived so are kept out.
    pub fn has(self, derivation: Derivation) -> bool {
        match derivation {
            Derivation::Extension => self.extension,
            Derivation::Restriction => self.restriction,
        }
    }
}

/// The namespaces of a wildcard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WildcardNamespaces {
    /// All: `##any`.
    Any,
    /// All but this one and none: `##other`.
    Other(Box<str>),
    /// These; the empty string for none.
    Only(Vec<Box<str>>),
}

impl WildcardNamespaces {
    /// True if elements of this namespace are let in.
    pub fn allow(&self, namespace: &str) -> bool {
        match self {
            WildcardNamespaces::Any => true,
            WildcardNamespaces::Other(own) => !namespace.is_empty() && namespace != &**own,
            WildcardNamespaces::Only(list) => list.iter().any(|it| **it == *namespace),
        }
    }

    /// The same as the attribute says it, for
    /// [`Field::takes`](deltasoap_core::schema::Field::takes).
    pub fn label(&self) -> String {
        match self {
            WildcardNamespaces::Any => String::new(),
            WildcardNamespaces::Other(own) => format!("##other {own}").trim_end().to_owned(),
            WildcardNamespaces::Only(list) => {
                let labels = list.iter().map(|it| if it.is_empty() { "##local" } else { it });
                labels.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Namespaces that both let in (XSD 1.0 part 1, 3.10.6); the first alone where that cannot be
    /// said.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        use WildcardNamespaces::{Any, Only, Other};
        match (self, other) {
            (Any, both) | (both, Any) => both.clone(),
            (Only(list), wildcard) | (wildcard, Only(list)) => {
                Only(list.iter().filter(|namespace| wildcard.allow(namespace)).cloned().collect())
            }
            (Other(own), Other(_)) if !own.is_empty() => self.clone(),
            (Other(_), Other(_)) => other.clone(),
        }
    }

    /// Adds what this lets in to what others do.
    pub fn join(&self, others: &mut Option<Self>) {
        *others = Some(others.take().map_or_else(|| self.clone(), |others| others.union(self)));
    }

    /// Namespaces that either lets in (XSD 1.0 part 1, 3.10.6); all where that cannot be said.
    pub(crate) fn union(&self, other: &Self) -> Self {
        use WildcardNamespaces::{Any, Only, Other};
        match (self, other) {
            (Any, _) | (_, Any) => Any,
            (Only(one), Only(two)) => Only(one.iter().chain(two).cloned().collect()),
            (Other(one), Other(two)) => Other(if one == two { one.clone() } else { "".into() }),
            (Other(own), Only(list)) | (Only(list), Other(own)) => {
                let has = |namespace: &str| list.iter().any(|it| **it == *namespace);
                match (has(own), has("")) {
                    (_, true) => Any,
                    (true, false) => Other("".into()),
                    (false, false) => Other(own.clone()),
                }
            }
        }
    }
}

/// An element declaration (XSD 1.0 part 1, 3.3).
#[derive(Debug, Clone)]
pub struct Element {
    /// Its name, with the namespace that it has in messages.
    pub name: QName,
    /// Its type.
    pub type_id: TypeId,
    /// True if it is declared at the top of a schema.
    pub is_global: bool,
    /// True if `xsi:nil` may stand in place of content.
    pub is_nillable: bool,
    /// True if only its substitutes can appear.
    pub is_abstract: bool,
    /// What cannot stand in its place.
    pub block: Block,
    /// The value of an empty element.
    pub default: Option<Box<str>>,
    /// The only value allowed.
    pub fixed: Option<Box<str>>,
    /// The name that `default` or `fixed` stands for where it can be one: its prefix is the
    /// schema's.
    pub value_name: Option<QName>,
    /// The element that it can stand for.
    pub substitutes_for: Option<ElementId>,
    /// What must be unique in it, and what refers to such.
    pub constraints: Vec<IdentityConstraint>,
    /// What the schema says about it, for people.
    pub documentation: Option<Box<str>>,
    /// Where it is.
    pub place: Place,
}

/// An attribute declaration (XSD 1.0 part 1, 3.2).
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its name, with the namespace that it has in messages.
    pub name: QName,
    /// Its type.
    pub type_id: TypeId,
    /// The value where it is absent.
    pub default: Option<Box<str>>,
    /// The only value allowed.
    pub fixed: Option<Box<str>>,
    /// The name that `default` or `fixed` stands for where it can be one: its prefix is the
    /// schema's.
    pub value_name: Option<QName>,
    /// What the schema says about it, for people.
    pub documentation: Option<Box<str>>,
}

/// Attributes of a type or a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attributes {
    /// Attributes, in the order of the schema.
    pub uses: Vec<AttributeUse>,
    /// Groups of them that are defined elsewhere; none in [`Normal`](crate::Normal) content.
    pub groups: Vec<AttributeGroupId>,
    /// Attributes beside those.
    pub any: Option<Wildcard>,
}

/// An attribute of a type.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeUse {
    /// Its declaration.
    pub attribute: AttributeId,
    /// `use="required"`.
    pub is_required: bool,
    /// `use="prohibited"`: a restriction takes it away. Not in [`Normal`](crate::Normal) content.
    pub is_prohibited: bool,
    /// The value where it is absent, if not the declaration's.
    pub default: Option<Box<str>>,
    /// The only value allowed, if not the declaration's.
    pub fixed: Option<Box<str>>,
    /// The name that `default` or `fixed` stands for where it can be one.
    pub value_name: Option<QName>,
}

/// A model group definition (XSD 1.0 part 1, 3.7).
#[derive(Debug, Clone)]
pub struct Group {
    /// Its name.
    pub name: QName,
    /// What it stands for: a sequence, a choice or an all.
    pub particle: Particle,
    /// Where it is.
    pub place: Place,
}

/// An attribute group definition (XSD 1.0 part 1, 3.6).
#[derive(Debug, Clone)]
pub struct AttributeGroup {
    /// Its name.
    pub name: QName,
    /// What it stands for.
    pub attributes: Attributes,
    /// Where it is.
    pub place: Place,
}
