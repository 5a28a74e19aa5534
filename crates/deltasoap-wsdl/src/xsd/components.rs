//! The components of XML Schema (XSD 1.0 part 1, 2.2) and their numbers.

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
            /// Returns the number as an index, for tables of the caller.
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
    /// Number of the first type of [`Builtin::ALL`]; the others follow.
    pub(crate) const FIRST_BUILTIN: u32 = 2;

    /// Returns the number of a built-in type, the same in every import.
    pub fn from_builtin(builtin: Builtin) -> TypeId {
        let index = Builtin::ALL.iter().position(|&it| it == builtin).unwrap_or_default();
        TypeId(Self::FIRST_BUILTIN + index as u32)
    }

    /// Returns the built-in type with this number.
    pub fn builtin(self) -> Option<Builtin> {
        Builtin::ALL.get(self.0.checked_sub(Self::FIRST_BUILTIN)? as usize).copied()
    }
}

/// A type definition.
#[derive(Debug, Clone)]
pub struct Type {
    /// Its name; `None` for an anonymous type.
    pub name: Option<QName>,
    /// Its definition.
    pub definition: TypeDefinition,
    /// Its documentation in the schema.
    pub documentation: Option<Box<str>>,
    /// Its position; `None` for built-in types.
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
    /// Its values.
    pub variety: Variety,
    /// Its restrictions of the values.
    pub facets: Option<Box<Facets>>,
    /// The packing of its bytes, if an annotation says that they are numbers (`docs/packed.md`).
    pub packing: Option<Packing>,
}

/// Variety of a simple type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variety {
    /// `xsd:anySimpleType`: any text.
    Any,
    /// A built-in type.
    Builtin(Builtin),
    /// Some of the values of another type.
    Restriction(TypeId),
    /// Values of another type, separated by white space.
    List(TypeId),
    /// Values of any of these types; the first match counts.
    Union(Vec<TypeId>),
}

/// A complex type (XSD 1.0 part 1, 3.4).
#[derive(Debug, Clone)]
pub struct ComplexType {
    /// The type it is derived from; [`TypeId::ANY`] if none is named.
    pub base: TypeId,
    /// Method of derivation.
    pub derivation: Derivation,
    /// True if only derived types can have values.
    pub is_abstract: bool,
    /// The derived types that may not be used in its place.
    pub block: Block,
    /// True if text is allowed between the elements.
    pub is_mixed: bool,
    /// Content of this definition alone; empty in imports from compiled files.
    pub content: Content,
    /// Attributes of this definition alone; empty in imports from compiled files.
    pub attributes: Attributes,
    /// Items, if the type restricts a SOAP array.
    pub array: Option<SoapArray>,
}

/// Method of derivation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Derivation {
    /// The base content, followed by more.
    Extension,
    /// A subset of what the base allows.
    Restriction,
}

/// Content of one definition.
#[derive(Debug, Clone)]
pub enum Content {
    /// Nothing.
    Empty,
    /// Child elements.
    Elements(Particle),
    /// Text; `None` for the text of the base type.
    Text(Option<TypeId>),
}

/// Items of a SOAP array (SOAP 1.1 section 5.4.2, WSDL 1.1 section 2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoapArray {
    /// Type of the items.
    pub item: TypeId,
    /// The element of the items, if the schema names one.
    pub element: Option<ElementId>,
    /// Dimensions as in `arrayType`, such as `[]`, `[,]`, `[][]`.
    pub dimensions: Box<str>,
}

impl SoapArray {
    /// Maximum number of ranks of an array of arrays; arrays with more are trees.
    pub const MAX_RANKS: usize = 16;
    /// Maximum number of dimensions of an array, the same as for messages (`Limits::dimensions`);
    /// arrays with more are trees.
    pub const MAX_DIMENSIONS: usize = 16;

    /// Returns the number of dimensions of each rank, starting with the innermost items: `[1, 2]`
    /// for `[][,]`. Returns `None` for arrays that are trees.
    pub fn ranks(&self) -> Option<Vec<u32>> {
        let rank = |text: &str| 1 + text.bytes().filter(|&byte| byte == b',').take(Self::MAX_DIMENSIONS).count();
        let ranks = self.dimensions.split_inclusive(']').map(|text| rank(text) as u32);
        let ranks: Vec<u32> = ranks.take(Self::MAX_RANKS + 1).collect();
        let is_followed =
            ranks.len() <= Self::MAX_RANKS && ranks.iter().all(|&rank| rank as usize <= Self::MAX_DIMENSIONS);
        is_followed.then_some(ranks)
    }
}

/// A term and its occurrence.
#[derive(Debug, Clone, PartialEq)]
pub struct Particle {
    /// `minOccurs`.
    pub min: u32,
    /// `maxOccurs`; `None` for unbounded.
    pub max: Option<u32>,
    /// The term.
    pub term: Term,
}

/// Part of a content model.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// An element.
    Element(ElementId),
    /// All particles in order.
    Sequence(Vec<Particle>),
    /// One of the particles.
    Choice(Vec<Particle>),
    /// All particles in any order.
    All(Vec<Particle>),
    /// A group that is defined elsewhere; not used in [`NormalizedType`](crate::NormalizedType)
    /// content.
    Group(GroupId),
    /// Any element of certain namespaces.
    Any(Wildcard),
}

/// A wildcard for elements or attributes (XSD 1.0 part 1, 3.10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wildcard {
    /// The allowed namespaces.
    pub namespaces: WildcardNamespaces,
    /// Validation of the content.
    pub process: ProcessContents,
}

/// Validation of elements or attributes that a wildcard accepts (XSD 1.0 part 1, 3.10.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessContents {
    /// They must be declared and valid.
    Strict,
    /// They must be valid if they are declared.
    Lax,
    /// They must be well-formed.
    Skip,
}

/// What may not replace an element or a type (`block`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Block {
    /// Types derived by extension.
    pub extension: bool,
    /// Types derived by restriction.
    pub restriction: bool,
    /// Members of the substitution group.
    pub substitution: bool,
}

impl Block {
    /// Returns true if types derived by this method are blocked.
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
    /// All except this one and no namespace: `##other`.
    Other(Box<str>),
    /// These; the empty string stands for no namespace.
    Only(Vec<Box<str>>),
}

impl WildcardNamespaces {
    /// Returns true if elements of this namespace are allowed.
    pub fn allow(&self, namespace: &str) -> bool {
        match self {
            WildcardNamespaces::Any => true,
            WildcardNamespaces::Other(own) => !namespace.is_empty() && namespace != &**own,
            WildcardNamespaces::Only(list) => list.iter().any(|it| **it == *namespace),
        }
    }

    /// Returns the attribute's notation, for
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

    /// Returns the namespaces that both allow (XSD 1.0 part 1, 3.10.6); `self` if that cannot be
    /// expressed.
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

    /// Adds the namespaces of `self` to `others`.
    pub fn join(&self, others: &mut Option<Self>) {
        *others = Some(others.take().map_or_else(|| self.clone(), |others| others.union(self)));
    }

    /// Returns the namespaces that either allows (XSD 1.0 part 1, 3.10.6); all if that cannot be
    /// expressed.
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
    /// Its name, with the namespace used in messages.
    pub name: QName,
    /// Its type.
    pub type_id: TypeId,
    /// True if it is declared at the top level of a schema.
    pub is_global: bool,
    /// True if `xsi:nil` is allowed.
    pub is_nillable: bool,
    /// True if only its substitutes can appear.
    pub is_abstract: bool,
    /// What may not be used in its place.
    pub block: Block,
    /// The value of an empty element.
    pub default: Option<Box<str>>,
    /// The only value allowed.
    pub fixed: Option<Box<str>>,
    /// The qualified name in `default` or `fixed`, if it can be one: its prefix is the schema's.
    pub value_name: Option<QName>,
    /// The head of its substitution group.
    pub substitutes_for: Option<ElementId>,
    /// Its identity constraints.
    pub constraints: Vec<IdentityConstraint>,
    /// Its documentation in the schema.
    pub documentation: Option<Box<str>>,
    /// Its position.
    pub place: Place,
}

/// An attribute declaration (XSD 1.0 part 1, 3.2).
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its name, with the namespace used in messages.
    pub name: QName,
    /// Its type.
    pub type_id: TypeId,
    /// The value if the attribute is absent.
    pub default: Option<Box<str>>,
    /// The only value allowed.
    pub fixed: Option<Box<str>>,
    /// The qualified name in `default` or `fixed`, if it can be one: its prefix is the schema's.
    pub value_name: Option<QName>,
    /// Its documentation in the schema.
    pub documentation: Option<Box<str>>,
}

/// Attributes of a type or a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attributes {
    /// Attributes, in the order of the schema.
    pub uses: Vec<AttributeUse>,
    /// Attribute groups that are defined elsewhere; empty in
    /// [`NormalizedType`](crate::NormalizedType) content.
    pub groups: Vec<AttributeGroupId>,
    /// Wildcard for other attributes.
    pub any: Option<Wildcard>,
}

/// An attribute of a type.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeUse {
    /// Its declaration.
    pub attribute: AttributeId,
    /// `use="required"`.
    pub is_required: bool,
    /// `use="prohibited"`: a restriction removes the attribute. Not used in
    /// [`NormalizedType`](crate::NormalizedType) content.
    pub is_prohibited: bool,
    /// The value if the attribute is absent, if not the declaration's.
    pub default: Option<Box<str>>,
    /// The only value allowed, if not the declaration's.
    pub fixed: Option<Box<str>>,
    /// The qualified name in `default` or `fixed`, if it can be one.
    pub value_name: Option<QName>,
}

/// A model group definition (XSD 1.0 part 1, 3.7).
#[derive(Debug, Clone)]
pub struct Group {
    /// Its name.
    pub name: QName,
    /// Its content: a sequence, a choice or an all.
    pub particle: Particle,
    /// Its position.
    pub place: Place,
}

/// An attribute group definition (XSD 1.0 part 1, 3.6).
#[derive(Debug, Clone)]
pub struct AttributeGroup {
    /// Its name.
    pub name: QName,
    /// Its attributes.
    pub attributes: Attributes,
    /// Its position.
    pub place: Place,
}
