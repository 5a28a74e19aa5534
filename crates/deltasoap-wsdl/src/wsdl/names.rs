//! Names of operations, and suffixes that distinguish operations of one name.

use super::{Definitions, Parameter};
use std::collections::{HashMap, HashSet};

impl Definitions {
    /// Returns the suffixes that distinguish operations of the same name in a port type, as in
    /// `Operation:suffix`, by the indices of port type and operation. The suffix is the name of the
    /// request (WSDL 1.1, 2.4.5); if that is not unique, the name of the response is added, and
    /// finally a number.
    pub fn overloads(&self) -> HashMap<(usize, usize), String> {
        let mut overloads = HashMap::new();
        for (index, port_type) in self.port_types.iter().enumerate() {
            let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
            for (number, operation) in port_type.operations.iter().enumerate() {
                by_name.entry(&operation.name).or_default().push(number);
            }
            for same_name in by_name.into_values().filter(|same_name| same_name.len() > 1) {
                let name = |parameter: &Option<Parameter>| parameter.as_ref().map_or("", |it| &*it.name).to_owned();
                let label = |number: usize, precision: usize| {
                    let operation = &port_type.operations[number];
                    let (request, response) = (name(&operation.request), name(&operation.response));
                    match precision {
                        0 if request.is_empty() => response,
                        0 => request,
                        1 => format!("{request}:{response}"),
                        _ => format!("{request}:{response}:{}", number + 1),
                    }
                };
                let is_enough = |precision: &usize| {
                    let labels: HashSet<_> = same_name.iter().map(|&number| label(number, *precision)).collect();
                    labels.len() == same_name.len()
                };
                let precision = (0..2).find(is_enough).unwrap_or(2);
                overloads.extend(same_name.iter().map(|&number| ((index, number), label(number, precision))));
            }
        }
        overloads
    }

    /// Returns the bound operations that a name refers to, by the indices of binding and operation:
    /// see [`name_matches`].
    pub fn bound_operations(&self, name: &str) -> Vec<(usize, usize)> {
        let (overloads, mut found) = (self.overloads(), Vec::new());
        for (index, binding) in self.bindings.iter().enumerate() {
            let ports = self.services.iter().flat_map(|service| service.ports.iter().map(move |port| (service, port)));
            let own = ports.filter(|(_, port)| port.binding == index);
            let mut places: Vec<_> =
                own.map(|(service, port)| format!("{}.{}", service.name.local, port.name)).collect();
            if places.is_empty() {
                places.push(binding.name.local.to_string());
            }
            for (number, bound) in binding.operations.iter().enumerate() {
                let own = &*self.port_types[binding.port_type].operations[bound.operation].name;
                let overload = overloads.get(&(binding.port_type, bound.operation));
                let distinct = overload.map_or_else(|| own.to_owned(), |overload| format!("{own}:{overload}"));
                if places.iter().any(|place| name_matches([own, &distinct], place, name)) {
                    found.push((index, number));
                }
            }
        }
        found
    }
}

/// Returns true if `name` is one of an operation's own names, or one of them after the last parts
/// of its place, such as `Port` or `Service.Port`, separated by `.` or `/`. `Operation(Input)` is
/// the same as `Operation:Input`.
pub fn name_matches(own: [&str; 2], place: &str, name: &str) -> bool {
    let mut name = name.replace('/', ".");
    if let Some((base, input)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        name = format!("{base}:{input}");
    }
    own.into_iter().any(|own| match name.strip_suffix(own) {
        Some("") => true,
        Some(qualifier) => qualifier.strip_suffix('.').is_some_and(|qualifier| {
            place.strip_suffix(qualifier).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        }),
        None => false,
    })
}
