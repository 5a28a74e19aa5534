//! Finds types whose random values can be generated and encoded: their values are finite and small,
//! and their names are valid in XML.

use deltasoap_core::Simple;
use deltasoap_core::schema::{Builtin, Element, View};
use std::collections::HashSet;

/// Maximum number of elements that a value requires.
const MAX_ELEMENTS: usize = 200;

/// Returns true if the type and all types within require only a limited number of elements.
pub fn is_bounded(view: View<'_>) -> bool {
    let (mut seen, mut ahead) = (HashSet::new(), vec![view]);
    while let Some(view) = ahead.pop() {
        if seen.insert(std::ptr::from_ref(view.element)) {
            if !takes(view, &mut MAX_ELEMENTS.clone()) || !has_good_names(view) {
                return false;
            }
            ahead.extend(inner(view));
        }
    }
    true
}

/// Returns true if elements have valid XML names: some WSDLs have colons in them.
fn has_good_names(view: View<'_>) -> bool {
    let is_good = |name: &str| Simple::parse(Builtin::NcName, name).is_ok();
    match view.element {
        Element::Complex(complex) => {
            let fields = complex.fields.iter().map(|field| &field.name);
            let attributes = complex.attributes.iter().map(|attribute| &attribute.name);
            fields.chain(attributes).all(|name| is_good(&name.local))
        }
        Element::Array(array) => is_good(&array.item_name.local),
        _ => true,
    }
}

/// Subtracts what a value requires from what is left; false if that is too little.
fn takes(view: View<'_>, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match view.element {
        Element::Complex(complex) => {
            let required = complex.fields.iter().filter(|field| field.min > 0);
            required.into_iter().all(|field| takes(view.follow(field.element), left))
        }
        Element::Shared(content) => takes(view.follow(*content), left),
        Element::Open(open) => open.base.is_none_or(|base| takes(view.follow(base), left)),
        _ => true,
    }
}

fn inner(view: View<'_>) -> Vec<View<'_>> {
    match view.element {
        Element::Complex(complex) => complex.fields.iter().map(|field| view.follow(field.element)).collect(),
        Element::Array(array) => vec![view.follow(array.item)],
        Element::Shared(content) => vec![view.follow(*content)],
        Element::Union(union) => union.members.iter().map(|&member| view.follow(member)).collect(),
        Element::Open(open) => {
            open.types.iter().map(|(_, content)| *content).chain(open.base).map(|it| view.follow(it)).collect()
        }
        Element::Simple(_) | Element::Any => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_core::QName;
    use deltasoap_core::schema::{ComplexElement, Compositor, Field, Schema};

    fn holding(itself: u32) -> bool {
        let mut schema = Schema::new();
        let name = QName::new("", "a");
        let field = Field {
            name: name.clone(),
            element: schema.next_ref(),
            min: itself,
            max: Some(1),
            nillable: false,
            inline: false,
        };
        let (fields, compositor) = (vec![field].into(), Compositor::Sequence);
        let root = Element::Complex(ComplexElement {
            name,
            compositor,
            fields,
            attributes: [][..].into(),
            text: None,
            open: false,
            any_attribute: false,
            choices: Default::default(),
        });
        let root = schema.add(root);
        is_bounded(schema.view(root))
    }

    #[test]
    fn a_type_may_hold_itself_but_not_require_itself() {
        assert!(holding(0));
        assert!(!holding(1));
    }
}
