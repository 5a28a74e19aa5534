//! Types that require themselves.

use deltasoap_core::schema::{Compositor, Element, View};
use std::collections::HashSet;

/// Nesting depth of types that is taken to be infinite.
const MAX_DEPTH: usize = 200;

/// Returns the path at which a type requires itself; `None` if every type has an end.
pub(super) fn endless(view: View<'_>) -> Option<String> {
    let mut search = Search { around: Vec::new(), ended: HashSet::new(), path: Vec::new() };
    search.is_endless(view).then(|| search.path.join("/"))
}

struct Search<'s> {
    /// The types around the current one.
    around: Vec<&'s Element>,
    /// Types known to have an end.
    ended: HashSet<*const Element>,
    /// Path to the place where a type recurs.
    path: Vec<String>,
}

impl<'s> Search<'s> {
    fn is_endless(&mut self, view: View<'s>) -> bool {
        let Some(complex) = view.complex() else { return false };
        if self.ended.contains(&std::ptr::from_ref(view.element)) {
            return false;
        }
        if self.around.len() > MAX_DEPTH || self.around.iter().any(|&around| std::ptr::eq(around, view.element)) {
            return true;
        }
        self.around.push(view.element);
        let mut fields = complex.fields.iter().filter(|field| field.max != Some(0) && !field.nillable);
        let found = match complex.compositor {
            Compositor::Choice => {
                !complex.fields.is_empty()
                    && fields.clone().count() == complex.fields.len()
                    && fields.all(|field| field.min > 0 && self.leads_on(view, &field.name.local, field.element))
            }
            _ => fields.any(|field| field.min > 0 && self.leads_on(view, &field.name.local, field.element)),
        };
        self.around.pop();
        if !found {
            self.ended.insert(std::ptr::from_ref(view.element));
        }
        found
    }

    fn leads_on(&mut self, view: View<'s>, name: &str, element: deltasoap_core::schema::ElementRef) -> bool {
        self.path.push(name.to_owned());
        let found = self.is_endless(view.follow(element));
        if !found {
            self.path.pop();
        }
        found
    }
}
