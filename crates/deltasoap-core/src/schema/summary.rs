//! What is asked of whole descriptions for each message: for schemas that are built at run time it is found out once, for all of them.
//!
//! What holds of a description holds of those that lead to it. So it is handed on from each description of which it holds itself, against
//! the direction of references, and each description takes it once.

use super::{Element, ElementRef, View};

/// What holds of a description or of any within, at any depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Summary {
    /// See [`View::has_nillable`].
    pub(super) has_nillable: bool,
    /// See [`View::has_moving_parts`].
    pub(super) has_moving_parts: bool,
}

/// The summaries of all descriptions of a schema, by index.
pub(super) fn summaries(elements: &[Element]) -> Box<[Summary]> {
    let mut outer = vec![Vec::new(); elements.len()];
    let mut all = vec![Summary::default(); elements.len()];
    for (index, element) in elements.iter().enumerate() {
        all[index] = own(element);
        for inner in inner(element) {
            match inner {
                ElementRef::Index(inner) => outer[inner as usize].push(index),
                ElementRef::Static(_) => all[index] = all[index].with(Summary::of(View::of_static(inner))),
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

/// What holds of a description itself.
pub(super) fn own(element: &Element) -> Summary {
    match element {
        Element::Complex(complex) => {
            Summary { has_nillable: complex.fields.iter().any(|field| field.nillable), has_moving_parts: false }
        }
        Element::Array(array) => Summary { has_nillable: array.nillable, has_moving_parts: array.dimensions > 1 },
        Element::Shared(_) => Summary { has_nillable: false, has_moving_parts: true },
        _ => Summary::default(),
    }
}

/// The descriptions that one refers to.
pub(super) fn inner(element: &Element) -> impl Iterator<Item = ElementRef> {
    let (fields, one) = match element {
        Element::Complex(complex) => (&complex.fields[..], None),
        Element::Array(array) => (&[][..], Some(array.item)),
        Element::Shared(content) => (&[][..], Some(*content)),
        _ => (&[][..], None),
    };
    fields.iter().map(|field| field.element).chain(one)
}

impl Summary {
    fn of(view: View<'_>) -> Self {
        Summary { has_nillable: view.has_nillable(), has_moving_parts: view.has_moving_parts() }
    }

    /// What holds of either.
    fn with(self, other: Self) -> Self {
        Summary {
            has_nillable: self.has_nillable || other.has_nillable,
            has_moving_parts: self.has_moving_parts || other.has_moving_parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ArrayElement, ComplexElement, Compositor, Field, QName, Schema};
    use super::*;
    use crate::{Typed, ns};
    use proptest::prelude::*;

    /// A description that refers to others.
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

    proptest! {
        #[test]
        fn what_is_found_at_once_is_what_is_found_for_each(
            graph in prop::collection::vec((0_u8..8, prop::bool::weighted(0.1), prop::collection::vec(0_u32..99, 0..3)), 1..12)
        ) {
            let elements: Vec<Element> = graph.iter().map(|it| element(it, graph.len() as u32)).collect();
            let schema = Schema::from(elements);
            for index in 0..graph.len() as u32 {
                let view = schema.view(ElementRef::Index(index));
                prop_assert_eq!(view.has_nillable(), view.any(|it| it.has_nillable));
                prop_assert_eq!(view.has_moving_parts(), view.any(|it| it.has_moving_parts));
            }
        }
    }
}
