//! The names of operations, for rules, logs and metrics.

use crate::message::Glance;
use deltasoap_core::QName;
use deltasoap_dynamic::{Contract, Operation};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of names that come from requests, not from a WSDL: each takes memory in metrics.
const FOREIGN: usize = 200;
/// Maximum length of such a name.
const LENGTH: usize = 100;

/// Names of operations by the first element of the body.
#[derive(Debug, Default)]
pub(crate) struct Names {
    declared: HashMap<QName, Arc<str>>,
    /// True if every request of the WSDL is in `declared`: none has several elements in its body.
    is_complete: bool,
    /// Elements that are requests of several operations.
    shared: HashMap<QName, Vec<Arc<str>>>,
    foreign: Mutex<HashSet<Arc<str>>>,
}

impl Names {
    pub(crate) fn new(contract: Option<&Contract>) -> Self {
        let operations = contract.map(Contract::operations).unwrap_or_default();
        let is_bare = |operation: &Operation| operation.request().is_none_or(|(element, _)| element.local.is_empty());
        let is_complete = contract.is_some() && !operations.iter().any(is_bare);
        let mut declared = HashMap::<QName, Arc<str>>::new();
        let mut all = HashMap::<QName, Vec<Arc<str>>>::new();
        for operation in &operations {
            let Some((element, _)) = operation.request() else { continue };
            let name = Arc::<str>::from(operation.name());
            let names = all.entry(element.clone()).or_default();
            if !names.contains(&name) {
                names.push(Arc::clone(&name));
            }
            declared.insert(element.clone(), name);
        }
        all.retain(|_, names| names.len() > 1);
        Names { declared, is_complete, shared: all, foreign: Mutex::default() }
    }

    /// Returns the name of the operation that a request calls. Without a WSDL, it is the local name
    /// of the body's first element.
    pub(crate) fn of(&self, glance: &Glance) -> Option<Arc<str>> {
        let entry = glance.entry.as_ref()?;
        match self.declared.get(entry) {
            Some(name) => Some(Arc::clone(name)),
            None => Some(self.foreign(&entry.local)),
        }
    }

    /// Checks the name of an operation in a rule.
    ///
    /// # Errors
    /// Returns an error with the known names if the WSDL has no such operation.
    pub(crate) fn check(&self, name: &str) -> Result<(), String> {
        let is_known = |(element, known): (&QName, &Arc<str>)| **known == *name || element.to_expanded() == name;
        if !self.is_complete || self.declared.iter().any(is_known) {
            return Ok(());
        }
        let mut known: Vec<_> = self.declared.values().map(|name| &**name).collect();
        known.sort_unstable();
        known.dedup();
        Err(format!("the WSDL has no operation {name:?}, but {}", known.join(", ")))
    }

    /// Checks that no other operation has requests with the same element.
    ///
    /// # Errors
    /// Returns an error with the names of the operations.
    pub(crate) fn check_cached(&self, name: &str) -> Result<(), String> {
        let shared = self.shared.iter().find(|(element, operations)| {
            element.to_expanded() == name || operations.iter().any(|operation| **operation == *name)
        });
        match shared {
            None => Ok(()),
            Some((element, operations)) => {
                let operations: Vec<_> = operations.iter().map(|operation| &**operation).collect();
                Err(format!("<{element}> is the request of several operations: {}", operations.join(", ")))
            }
        }
    }

    /// Returns the name for rules, which is not bounded.
    pub(crate) fn whole<'n>(&'n self, glance: &'n Glance) -> Option<&'n str> {
        let entry = glance.entry.as_ref()?;
        Some(self.declared.get(entry).map_or(&*entry.local, |name| name))
    }

    /// Returns true if the WSDL has an operation whose requests begin with this element; also if
    /// there is no WSDL, or it does not say.
    pub(crate) fn is_declared(&self, glance: &Glance) -> bool {
        let Some(entry) = &glance.entry else { return true };
        !self.is_complete || self.declared.contains_key(entry)
    }

    fn foreign(&self, name: &str) -> Arc<str> {
        let mut known = self.foreign.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known.get(name) {
            return Arc::clone(name);
        }
        if known.len() >= FOREIGN || name.len() > LENGTH {
            return Arc::from("other");
        }
        let name = Arc::from(name);
        known.insert(Arc::clone(&name));
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_core::soap::Version;

    fn glance(local: &str) -> Glance {
        Glance { version: Version::Soap11, entry: Some(QName::owned("urn:x", local)) }
    }

    #[test]
    fn foreign_names_are_bounded() {
        let names = Names::new(None);
        for index in 0..FOREIGN {
            assert_eq!(names.of(&glance(&format!("a{index}"))).as_deref(), Some(&*format!("a{index}")));
        }
        assert_eq!(names.of(&glance("b")).as_deref(), Some("other"));
        assert_eq!(names.whole(&glance("b")), Some("b"));
        assert_eq!(names.of(&glance("a7")).as_deref(), Some("a7"));
    }
}
