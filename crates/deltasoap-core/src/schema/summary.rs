//! Properties of whole descriptions that every message needs. They are computed once: for all
//! elements of a schema built at run time, and for each static description.
//!
//! A property of a description also holds for the descriptions that lead to it. So it is propagated
//! from each description that has it, against the direction of references, and each description
//! receives it once.

use super::{Attribute, Builtin, ComplexElement, Element, ElementRef, Field, QName, SimpleElement, View};
use crate::ns;
use std::sync::atomic::{AtomicU64, Ordering};

/// Properties of a description or of any description within it, at any depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Summary {
    /// See [`View::has_nillable`].
    pub(super) has_nillable: bool,
    /// See [`View::has_moving_parts`].
    pub(super) has_moving_parts: bool,
    /// The opposite of [`View::takes_default_namespace`].
    pub(super) needs_prefixes: bool,
}

/// Returns the summary of a static description, from a cache if possible.
///
/// Static descriptions are never moved, so an address identifies one as long as the process runs. A
/// summary and its address are one word, so threads need not wait for each other. Of descriptions
/// with the same cache slot the last one is kept.
pub(super) fn static_summary(view: View<'_>) -> Summary {
    const PLACES: usize = 256;
    static KNOWN: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];
    let address = std::ptr::from_ref(view.element).addr();
    let place = &KNOWN[address / size_of::<Element>() % PLACES];
    let known = place.load(Ordering::Relaxed);
    if known >> Summary::BITS == address as u64 {
        return Summary::from_bits(known);
    }
    let summary = view.compute_summary();
    place.store((address as u64) << Summary::BITS | summary.bits(), Ordering::Relaxed);
    summary
}

/// Returns the summaries of all descriptions of a schema, by index.
pub(super) fn summaries(elements: &[Element]) -> Box<[Summary]> {
    let mut outer = vec![Vec::new(); elements.len()];
    let mut all = vec![Summary::default(); elements.len()];
    for (index, element) in elements.iter().enumerate() {
        all[index] = own(element);
        for inner in inner(element) {
            match inner {
                ElementRef::Index(inner) => outer[inner as usize].push(index),
                ElementRef::Static(_) => all[index] = all[index].with(static_summary(View::from_static(inner))),
            }
        }
    }
    let mut ahead: Vec<usize> = (0..all.len()).filter(|&index| all[index] != Summary::default()).collect();
    while let Some(index) = ahead.pop() {
        for &outer in &outer[index] {
            let more = all[outer].with(all[index]);
            if more != all[outer] {
                all[outer] = more;
                ahead.push(outer);
            }
        }
    }
    all.into()
}

/// Returns the properties of a description itself.
pub(super) fn own(element: &Element) -> Summary {
    match element {
        Element::Complex(complex) => Summary {
            has_nillable: complex.fields.iter().any(|field| field.nillable),
            needs_prefixes: has_unqualified(complex) || has_qualified_attribute(complex),
            ..Summary::default()
        },
        Element::Array(array) => Summary {
            has_nillable: array.nillable,
            has_moving_parts: array.dimensions > 1,
            // The item type is a name in an attribute.
            needs_prefixes: true,
        },
        Element::Shared(_) => Summary { has_moving_parts: true, ..Summary::default() },
        // A tree can hold anything: elements without a namespace, names without a prefix.
        Element::Any | Element::Open(_) => Summary { needs_prefixes: true, ..Summary::default() },
        Element::Simple(simple) => Summary { needs_prefixes: can_be_name(simple), ..Summary::default() },
        Element::Union(_) => Summary::default(),
    }
}

/// Returns the descriptions that a description refers to.
pub(super) fn inner(element: &Element) -> impl Iterator<Item = ElementRef> {
    let (mut fields, mut attributes, mut members, mut types, mut one) = (&[][..], &[][..], &[][..], &[][..], None);
    match element {
        Element::Complex(complex) => {
            (fields, attributes, one) = (&complex.fields[..], &complex.attributes[..], complex.text);
        }
        Element::Array(array) => one = Some(array.item),
        Element::Shared(content) => one = Some(*content),
        Element::Union(union) => members = &union.members[..],
        Element::Open(open) => (types, one) = (&open.types[..], open.base),
        Element::Simple(_) | Element::Any => {}
    }
    let attributes = attributes.iter().map(|attribute: &Attribute| attribute.element);
    let types = types.iter().map(|(_, content): &(QName, ElementRef)| *content);
    let fields = fields.iter().map(|field: &Field| field.element);
    fields.chain(attributes).chain(members.iter().copied()).chain(types).chain(one)
}

/// Returns true if a child element has no namespace.
fn has_unqualified(complex: &ComplexElement) -> bool {
    complex.fields.iter().any(|field| !field.inline && field.name.namespace.is_empty())
}

/// Returns true if an attribute has a namespace, which a default namespace cannot provide.
fn has_qualified_attribute(complex: &ComplexElement) -> bool {
    let is_qualified = |namespace: &str| !namespace.is_empty() && namespace != ns::XML;
    complex.attributes.iter().any(|attribute| is_qualified(&attribute.name.namespace))
}

/// Returns true for names, and for texts that the message may declare to be names.
fn can_be_name(simple: &SimpleElement) -> bool {
    matches!(simple.base, Builtin::QName | Builtin::Notation) || simple.name.is(ns::XSD, "anySimpleType")
}

impl Summary {
    /// Number of properties.
    const BITS: u32 = 3;

    /// Returns the union of the properties.
    pub(super) fn with(self, other: Self) -> Self {
        Summary {
            has_nillable: self.has_nillable || other.has_nillable,
            has_moving_parts: self.has_moving_parts || other.has_moving_parts,
            needs_prefixes: self.needs_prefixes || other.needs_prefixes,
        }
    }

    fn bits(self) -> u64 {
        u64::from(self.has_nillable) | u64::from(self.has_moving_parts) << 1 | u64::from(self.needs_prefixes) << 2
    }

    fn from_bits(bits: u64) -> Self {
        Summary { has_nillable: bits & 1 != 0, has_moving_parts: bits & 2 != 0, needs_prefixes: bits & 4 != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ArrayElement, ComplexElement, Compositor, Field, QName, Schema};
    use super::*;
    use crate::{Typed, ns};
    use proptest::prelude::*;

    /// Returns a description that refers to others.
    fn element((kind, nillable, inner): &(u8, bool, Vec<u32>), len: u32) -> Element {
        let mut inner = inner.iter().map(|inner| match inner % (len + 1) {
            0 => i32::REFERENCE,
            index => ElementRef::Index(index - 1),
        });
        let name = QName::new("", "T");
        match (kind, inner.next()) {
            (0, Some(item)) => Element::Array(ArrayElement {
                item_name: name.clone(),
                item_type: QName::new(ns::XSD, "anyType"),
                name,
                item,
                nillable: *nillable,
                dimensions: 1 + u32::from(!nillable),
            }),
            (1, Some(content)) => Element::Shared(content),
            (_, first) => {
                let field = |element| Field {
                    name: QName::new("", "f"),
                    element,
                    min: 0,
                    max: None,
                    nillable: *nillable,
                    inline: false,
                };
                Element::Complex(ComplexElement {
                    name,
                    compositor: Compositor::Sequence,
                    fields: first.into_iter().chain(inner).map(field).collect(),
                    attributes: Default::default(),
                    text: None,
                    open: false,
                    any_attribute: false,
                    choices: Default::default(),
                })
            }
        }
    }

    /// Several threads look at more static descriptions than are cached at a time.
    #[test]
    fn static_descriptions_are_told_apart() {
        let kinds = [Element::Any, i32::element().clone(), Element::Shared(i32::REFERENCE)];
        let elements: &'static [Element] = kinds.iter().cycle().take(900).cloned().collect::<Vec<_>>().leak();
        let look = || {
            for (index, element) in elements.iter().enumerate().chain(elements.iter().enumerate().rev()) {
                let expected =
                    Summary { has_nillable: false, needs_prefixes: index % 3 == 0, has_moving_parts: index % 3 == 2 };
                assert_eq!(View::of(element).summary(), expected);
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(look))));
    }

    proptest! {
        #[test]
        fn what_is_found_at_once_is_what_is_found_for_each(
            graph in prop::collection::vec((0_u8..8, prop::bool::weighted(0.1), prop::collection::vec(0_u32..99, 0..3)), 1..12)
        ) {
            let elements: Vec<Element> = graph.iter().map(|it| element(it, graph.len() as u32)).collect();
            let schema = Schema::from(elements);
            for index in 0..graph.len() as u32 {
                let view = schema.view(ElementRef::Index(index));
                prop_assert_eq!(view.summary(), view.compute_summary());
            }
        }
    }
}
