//! Resolution of references between elements, either static or indices into a run-time schema.
//!
//! A [`View`] is a description together with the schema that its indices point into. So the same
//! code follows static descriptions, those built at run time, and mixtures of both.

use super::summary::{Summary, inner, own, static_summary, summaries};
use super::{ArrayElement, ComplexElement, Element};
use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A reference to an element's description, which makes recursive types possible.
#[derive(Clone, Copy)]
pub enum ElementRef {
    /// A static description, as emitted by the derive macro.
    Static(fn() -> &'static Element),
    /// An index into the [`Schema`] of the referring element.
    Index(u32),
}

impl PartialEq for ElementRef {
    /// Compares indices, or static references by the identity of the description.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (ElementRef::Static(a), ElementRef::Static(b)) => std::ptr::eq(a(), b()),
            (ElementRef::Index(a), ElementRef::Index(b)) => a == b,
            _ => false,
        }
    }
}

impl std::fmt::Debug for ElementRef {
    /// Writes only the type's name: descriptions may be recursive.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ElementRef::Static(element) => match element().type_name() {
                Some(name) => write!(f, "Static({name})"),
                None => f.write_str("Static(any)"),
            },
            ElementRef::Index(index) => write!(f, "Index({index})"),
        }
    }
}

/// A schema built at run time: the arena that [`ElementRef::Index`] points into.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    elements: Vec<Element>,
    /// Computed on first use.
    summaries: OnceLock<Box<[Summary]>>,
    /// Distinguishes the elements from those of all other schemas in the process except clones.
    /// Assigned on first use.
    number: OnceLock<u64>,
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.elements == other.elements
    }
}

/// The schema of static descriptions, which contain no indices.
static NO_SCHEMA: Schema = Schema { elements: Vec::new(), summaries: OnceLock::new(), number: OnceLock::new() };

impl Schema {
    /// Creates an empty schema.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an element and returns the reference to it. References may point forward, to elements
    /// added later.
    pub fn add(&mut self, element: Element) -> ElementRef {
        self.elements.push(element);
        (self.summaries, self.number) = Default::default();
        ElementRef::Index((self.elements.len() - 1) as u32)
    }

    /// Returns the reference that the next [`add`](Self::add) will return, for recursive types.
    pub fn next_ref(&self) -> ElementRef {
        ElementRef::Index(self.elements.len() as u32)
    }

    /// Returns all elements, in the order of their indices.
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// Returns a view of an element.
    ///
    /// # Panics
    /// Panics if the reference does not belong to this schema.
    pub fn view(&self, reference: ElementRef) -> View<'_> {
        View::resolve(self, reference)
    }
}

impl From<Vec<Element>> for Schema {
    /// Creates the schema of these elements. Each index in them must refer to one of them.
    fn from(elements: Vec<Element>) -> Self {
        Schema { elements, ..Schema::default() }
    }
}

/// The identity of a view's description. An address is not enough: after a schema is dropped,
/// another one may have the same address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// A static description, by its address.
    Static(usize),
    /// A description of a run-time schema: the schema's number and the index.
    Dynamic(u64, usize),
}

/// An element's description together with its schema: a small `Copy` handle.
#[derive(Debug, Clone, Copy)]
pub struct View<'s> {
    /// The description.
    pub element: &'s Element,
    schema: &'s Schema,
}

impl<'s> View<'s> {
    /// Creates a view of a static description.
    pub fn of(element: &'static Element) -> View<'static> {
        View { element, schema: &NO_SCHEMA }
    }

    /// Creates a view of the description that a static reference points to.
    ///
    /// # Panics
    /// Panics if the reference is an index, which has a meaning only in its own [`Schema`].
    #[inline]
    pub fn from_static(reference: ElementRef) -> View<'static> {
        View::resolve(&NO_SCHEMA, reference)
    }

    /// Follows a reference found inside this element.
    ///
    /// # Panics
    /// Panics if the reference is an index that the element's schema does not have, which is a bug
    /// in the producer of the schema.
    #[inline]
    pub fn follow(self, reference: ElementRef) -> View<'s> {
        Self::resolve(self.schema, reference)
    }

    /// Returns the description of the content, without the [`Shared`](Element::Shared) around it.
    pub fn content(self) -> View<'s> {
        match self.element {
            Element::Shared(content) => self.follow(*content),
            _ => self,
        }
    }

    /// Returns the description of the element's text if it has text beside attributes; otherwise
    /// the description itself.
    pub fn text(self) -> View<'s> {
        match self.element {
            Element::Complex(ComplexElement { text: Some(text), .. }) => self.follow(*text),
            _ => self,
        }
    }

    /// Returns the element as a complex one.
    #[inline]
    pub fn complex(self) -> Option<&'s ComplexElement> {
        match self.element {
            Element::Complex(complex) => Some(complex),
            _ => None,
        }
    }

    /// Returns the element as a SOAP array.
    #[inline]
    pub fn array(self) -> Option<&'s ArrayElement> {
        match self.element {
            Element::Array(array) => Some(array),
            _ => None,
        }
    }

    /// Returns true if any element within, at any depth, can be nil.
    pub fn has_nillable(self) -> bool {
        self.summary().has_nillable
    }

    /// Returns true if nothing inside needs a prefix for the namespace of the element around it, so
    /// that it can be the default namespace. False if elements have no namespace or can have any
    /// (trees), if attributes have one, and if texts can be names.
    pub fn takes_default_namespace(self) -> bool {
        !self.summary().needs_prefixes
    }

    /// Returns true if the position of a value in a message does not determine its position in the
    /// value: if values can be shared, and in arrays of several dimensions.
    pub(crate) fn has_moving_parts(self) -> bool {
        self.summary().has_moving_parts
    }

    /// Returns true if the description itself is static, and so never moves.
    pub(crate) fn is_static(self) -> bool {
        self.index().is_none()
    }

    /// Returns an identity that distinguishes the description from all others, including those of
    /// dropped schemas.
    pub(crate) fn identity(self) -> Identity {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = || *self.schema.number.get_or_init(|| NEXT.fetch_add(1, Ordering::Relaxed));
        self.index().map_or_else(
            || Identity::Static(std::ptr::from_ref(self.element).addr()),
            |index| Identity::Dynamic(number(), index),
        )
    }

    /// Returns the properties of the description or of any description within it, at any depth.
    pub(super) fn summary(self) -> Summary {
        let Some(index) = self.index() else { return static_summary(self) };
        let summaries = self.schema.summaries.get_or_init(|| summaries(&self.schema.elements));
        summaries.get(index).copied().unwrap_or_default()
    }

    /// Returns the description's index in its schema; `None` for static ones.
    #[inline]
    fn index(self) -> Option<usize> {
        if self.schema.elements.is_empty() {
            return None;
        }
        let offset = std::ptr::from_ref(self.element).addr().checked_sub(self.schema.elements.as_ptr().addr())?;
        Some(offset / size_of::<Element>()).filter(|index| *index < self.schema.elements.len())
    }

    /// Like [`summary`](Self::summary), computed by a traversal.
    pub(super) fn compute_summary(self) -> Summary {
        let mut seen = Seen::default();
        let mut ahead = vec![self];
        let mut all = Summary::default();
        while let Some(view) = ahead.pop() {
            all = all.with(own(view.element));
            let mut inner = inner(view.element).peekable();
            if inner.peek().is_some() && seen.is_new(view.element) {
                ahead.extend(inner.map(|inner| view.follow(inner)));
            }
        }
        all
    }

    #[inline]
    fn resolve(schema: &'s Schema, reference: ElementRef) -> View<'s> {
        match reference {
            ElementRef::Static(element) => View { element: element(), schema: &NO_SCHEMA },
            ElementRef::Index(index) => View { element: &schema.elements[index as usize], schema },
        }
    }
}

/// Descriptions met so far. Most messages have few: a linear search is cheaper than hashing.
#[derive(Default)]
struct Seen {
    few: Vec<*const Element>,
    many: HashSet<*const Element>,
}

impl Seen {
    fn is_new(&mut self, element: &Element) -> bool {
        const FEW: usize = 32;
        let element = std::ptr::from_ref(element);
        if self.few.len() == FEW {
            return !self.few.contains(&element) && self.many.insert(element);
        }
        let is_new = !self.few.contains(&element);
        if is_new {
            self.few.push(element);
        }
        is_new
    }
}
