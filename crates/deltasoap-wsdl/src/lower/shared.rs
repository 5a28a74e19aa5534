//! Types that contain themselves, in SOAP encoding: their values can be shared and cyclic.
//!
//! Any value can be shared in SOAP encoding, but for most types this does not matter: a value that
//! is referenced twice is read twice. A value of a type that contains itself can contain itself,
//! which only a reference can express. So each of these types gets a second schema element,
//! [`Element::Shared`], and all references to the type lead there.

use deltasoap_core::schema::{Element, ElementRef, Field};
use std::collections::{HashMap, HashSet};

/// Adds the shared elements. `encoded` are the numbers of types in SOAP encoding.
pub(super) fn share(elements: &mut Vec<Element>, encoded: impl IntoIterator<Item = u32>) {
    let recursive = recursive(elements);
    let mut shared = HashMap::new();
    for number in encoded {
        let is_record = matches!(elements.get(number as usize), Some(Element::Complex(_) | Element::Open(_)));
        if is_record && recursive.contains(&number) {
            shared.insert(number, ElementRef::Index(elements.len() as u32));
            elements.push(Element::Shared(ElementRef::Index(number)));
        }
    }
    if !shared.is_empty() {
        elements.iter_mut().for_each(|element| redirect(element, &shared));
    }
}

/// Redirects the references of an element to shared values. Content whose type the message chooses
/// is shared itself, whatever its type.
fn redirect(element: &mut Element, shared: &HashMap<u32, ElementRef>) {
    let led = |reference: ElementRef| match reference {
        ElementRef::Index(number) => shared.get(&number).copied().unwrap_or(reference),
        ElementRef::Static(_) => reference,
    };
    match element {
        Element::Complex(complex) if complex.fields.iter().any(|field| led(field.element) != field.element) => {
            let field = |field: &Field| Field { element: led(field.element), ..field.clone() };
            complex.fields = complex.fields.iter().map(field).collect();
        }
        Element::Array(array) => array.item = led(array.item),
        _ => {}
    }
}

/// Returns the numbers of elements that are in a cycle or on a path from one cycle to another.
fn recursive(elements: &[Element]) -> HashSet<u32> {
    let inner: Vec<Vec<u32>> = elements.iter().map(inner).collect();
    let mut outer = vec![Vec::new(); elements.len()];
    for (from, to) in inner.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |&to| (from as u32, to))) {
        outer[to as usize].push(from);
    }
    let (leading, led) = (without_ends(&inner, &outer), without_ends(&outer, &inner));
    leading.intersection(&led).copied().collect()
}

/// Returns the elements that an element refers to.
fn inner(element: &Element) -> Vec<u32> {
    let number = |reference: ElementRef| match reference {
        ElementRef::Index(number) => Some(number),
        ElementRef::Static(_) => None,
    };
    match element {
        Element::Complex(complex) => complex.fields.iter().filter_map(|field| number(field.element)).collect(),
        Element::Array(array) => number(array.item).into_iter().collect(),
        Element::Open(open) => {
            let types = open.types.iter().map(|(_, content)| *content);
            types.chain(open.base).filter_map(number).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the nodes that remain after nodes without successors are removed repeatedly.
fn without_ends(forward: &[Vec<u32>], backward: &[Vec<u32>]) -> HashSet<u32> {
    let mut left: Vec<usize> = forward.iter().map(Vec::len).collect();
    let mut ends: Vec<u32> = (0..left.len() as u32).filter(|&number| left[number as usize] == 0).collect();
    let mut kept: HashSet<u32> = (0..left.len() as u32).collect();
    while let Some(end) = ends.pop() {
        kept.remove(&end);
        for &before in &backward[end as usize] {
            left[before as usize] -= 1;
            if left[before as usize] == 0 {
                ends.push(before);
            }
        }
    }
    kept
}
