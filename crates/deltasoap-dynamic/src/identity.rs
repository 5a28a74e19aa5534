//! The paths of identity constraints (XSD 1.0 part 1, 3.11.6), followed in messages and in samples.

use deltasoap_core::QName;
use deltasoap_wsdl::xsd::Path;
use std::collections::HashSet;

/// An element with its children.
pub(crate) trait Tree: Sized {
    fn name(&self) -> &QName;
    fn children(&self) -> &[Self];
    /// Returns an id that is unique among all elements.
    fn id(&self) -> u64;
}

/// Returns the elements selected by any of the paths, each once.
pub(crate) fn selected<'t, T: Tree>(element: &'t T, paths: &[Path]) -> Vec<&'t T> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for path in paths {
        found.extend(reached(element, path).into_iter().filter(|found| seen.insert(found.id())));
    }
    found
}

/// Returns the elements that the steps of a path reach.
pub(crate) fn reached<'t, T: Tree>(element: &'t T, path: &Path) -> Vec<&'t T> {
    let mut found = if path.is_deep { with_descendants(element) } else { vec![element] };
    for step in &path.steps {
        let children = found.into_iter().flat_map(Tree::children);
        found = children.filter(|child| step.takes(child.name())).collect();
    }
    found
}

fn with_descendants<T: Tree>(element: &T) -> Vec<&T> {
    let (mut found, mut next) = (vec![element], 0);
    while let Some(element) = found.get(next).copied() {
        found.extend(element.children());
        next += 1;
    }
    found
}
