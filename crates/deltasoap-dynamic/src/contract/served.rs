//! What a service of a contract distinguishes.

use super::{Contract, Operation};
use deltasoap_core::QName;
use deltasoap_core::schema::MethodElement;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

impl Contract {
    /// Returns the operations that a service of all ports has, each with those that it cannot be
    /// distinguished from, including itself: requests of the same element, and of the same action
    /// where the element is not enough. Among them are those of the other version of SOAP.
    pub fn served(&self) -> Vec<(Operation, Vec<Operation>)> {
        let operations = self.operations();
        let key_of = |operation: &Operation| Some(request_key(operation, &operation.method().ok()?.element));
        // The ports of both versions of SOAP are one service here, which uses the action only where
        // the element is not enough.
        let mut operations_by_element: HashMap<QName, HashSet<(usize, usize)>> = HashMap::new();
        for operation in &operations {
            let Some((element, _)) = key_of(operation) else { continue };
            operations_by_element.entry(element).or_default().insert(operation.declared());
        }
        let mut places: HashMap<(QName, String), usize> = HashMap::new();
        let mut all: Vec<(Operation, Vec<Operation>)> = Vec::new();
        for operation in operations {
            let Some((element, action)) = key_of(&operation) else { continue };
            let needs_action =
                element.local.is_empty() || operations_by_element.get(&element).is_some_and(|it| it.len() > 1);
            match places.entry((element, if needs_action { action } else { String::new() })) {
                Entry::Occupied(place) => all[*place.get()].1.push(operation),
                Entry::Vacant(place) => {
                    place.insert(all.len());
                    all.push((operation.clone(), vec![operation]));
                }
            }
        }
        all
    }
}

/// Identifies the requests of an operation: the first element of the body, if there is one, and the
/// action.
fn request_key(operation: &Operation, method: &MethodElement) -> (QName, String) {
    let parts = operation.view(method.request).complex().map_or(&[][..], |complex| &complex.fields);
    let element = match parts.first() {
        Some(first) if method.request_name.local.is_empty() => first.name.clone(),
        _ => method.request_name.clone(),
    };
    (element, method.action.to_string())
}
