//! Leaves out wildcards that make a content model ambiguous.
//!
//! In XML Schema 1.0 each element must match one particle only, whatever comes later (*Unique
//! Particle Attribution*, part 1, 3.8.6). A wildcard for other namespaces competes with an optional
//! element of another namespace next to it, and validators refuse such a schema as a whole. The
//! element stays, since it has a type.

use super::names::Prefixes;
use super::tag::Tag;
use std::collections::BTreeSet;

/// A schema as far as names depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'s> {
    /// The target namespace.
    pub(super) target: &'s str,
    pub(super) prefixes: &'s Prefixes,
}

/// Returns a content model without the wildcards that compete with elements, or with earlier
/// wildcards.
pub(super) fn unambiguous(mut content: Tag, scope: Scope<'_>) -> Tag {
    let mut has_wildcard = false;
    content.each(&mut |tag| has_wildcard |= tag.is("xsd:any"));
    let competing = |content: &Tag| Model::new(content, scope).competing_wildcard();
    // Most types have none, and nothing is computed for them.
    let mut next = if has_wildcard { competing(&content) } else { None };
    while let Some(path) = next {
        content.remove_at(&path);
        next = competing(&content);
    }
    content
}

/// The elements and wildcards of a content model, and which of them can be next to each other.
#[derive(Debug, Default)]
struct Model {
    leaves: Vec<Leaf>,
    /// The leaves that the content can begin with.
    beginning: Vec<usize>,
    /// The leaves that can follow each leaf.
    followers: Vec<BTreeSet<usize>>,
}

/// An element or a wildcard.
#[derive(Debug)]
struct Leaf {
    /// The position of its tag: an index at each depth.
    path: Vec<usize>,
    is_wildcard: bool,
    allowed: Allowed,
}

/// The namespaces of the elements that a leaf matches.
#[derive(Debug)]
enum Allowed {
    Any,
    /// All but these.
    Not([String; 2]),
    These(Vec<String>),
}

/// The leaves at both ends of a particle.
#[derive(Debug, Default)]
struct Ends {
    first: Vec<usize>,
    last: Vec<usize>,
    is_optional: bool,
}

impl Model {
    fn new(content: &Tag, scope: Scope<'_>) -> Self {
        let mut model = Model::default();
        model.beginning = model.add(content, &mut Vec::new(), scope).first;
        model
    }

    fn add(&mut self, tag: &Tag, path: &mut Vec<usize>, scope: Scope<'_>) -> Ends {
        let mut ends = match (tag.is("xsd:element") || tag.is("xsd:any"), tag.is("xsd:sequence")) {
            (true, _) => self.add_leaf(tag, path, scope),
            (_, true) => self.add_sequence(tag, path, scope),
            _ => self.add_choice(tag, path, scope),
        };
        let (min, max) = (tag.attribute("minOccurs"), tag.attribute("maxOccurs"));
        ends.is_optional |= min == Some("0");
        // A fixed number of elements ends where it is reached.
        let is_fixed = min == max && ends.first == ends.last;
        if max.is_some() && !is_fixed {
            self.link(&ends.last, &ends.first);
        }
        ends
    }

    fn add_leaf(&mut self, tag: &Tag, path: &[usize], scope: Scope<'_>) -> Ends {
        let number = self.leaves.len();
        let is_wildcard = tag.is("xsd:any");
        self.leaves.push(Leaf { path: path.to_vec(), is_wildcard, allowed: Allowed::of(tag, scope) });
        self.followers.push(BTreeSet::new());
        Ends { first: vec![number], last: vec![number], is_optional: false }
    }

    fn add_sequence(&mut self, tag: &Tag, path: &mut Vec<usize>, scope: Scope<'_>) -> Ends {
        let mut ends = Ends { is_optional: true, ..Ends::default() };
        for part in self.add_children(tag, path, scope) {
            self.link(&ends.last, &part.first);
            if ends.is_optional {
                ends.first.extend(&part.first);
            }
            if !part.is_optional {
                ends.last.clear();
            }
            ends.last.extend(&part.last);
            ends.is_optional &= part.is_optional;
        }
        ends
    }

    fn add_choice(&mut self, tag: &Tag, path: &mut Vec<usize>, scope: Scope<'_>) -> Ends {
        let mut ends = Ends::default();
        for part in self.add_children(tag, path, scope) {
            ends.first.extend(part.first);
            ends.last.extend(part.last);
            ends.is_optional |= part.is_optional;
        }
        ends
    }

    fn add_children(&mut self, tag: &Tag, path: &mut Vec<usize>, scope: Scope<'_>) -> Vec<Ends> {
        let mut all = Vec::new();
        for (index, child) in tag.children().iter().enumerate() {
            path.push(index);
            all.push(self.add(child, path, scope));
            path.pop();
        }
        all
    }

    fn link(&mut self, last: &[usize], next: &[usize]) {
        for &leaf in last {
            self.followers[leaf].extend(next);
        }
    }

    /// Returns the path of the last wildcard that can match the same element as another leaf.
    fn competing_wildcard(&self) -> Option<Vec<usize>> {
        let beginning = self.beginning.iter().copied().collect();
        let sets = [&beginning].into_iter().chain(&self.followers);
        let competing = sets.filter_map(|set| self.competing_in(set)).max();
        competing.map(|leaf| self.leaves[leaf].path.clone())
    }

    fn competing_in(&self, set: &BTreeSet<usize>) -> Option<usize> {
        let wildcards = set.iter().copied().filter(|&leaf| self.leaves[leaf].is_wildcard);
        let is_rival = |wildcard: usize, other: usize| {
            let (wildcard, other) = (&self.leaves[wildcard].allowed, &self.leaves[other].allowed);
            wildcard.overlaps(other)
        };
        wildcards.rev().find(|&wildcard| set.iter().any(|&other| other != wildcard && is_rival(wildcard, other)))
    }
}

impl Allowed {
    fn of(tag: &Tag, scope: Scope<'_>) -> Self {
        let one = |namespace: &str| Allowed::These(vec![namespace.to_owned()]);
        if let Some(name) = tag.attribute("ref") {
            let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
            return one(&scope.prefixes.namespace_of(prefix));
        }
        match tag.attribute("namespace") {
            None => one(if tag.element_form() == Some("qualified") { scope.target } else { "" }),
            Some("##any") => Allowed::Any,
            Some("##other") => Allowed::Not([String::new(), scope.target.to_owned()]),
            Some(list) => Allowed::These(list.split_whitespace().map(|name| scope.named(name)).collect()),
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Allowed::These(names), other) | (other, Allowed::These(names)) => {
                names.iter().any(|name| other.contains(name))
            }
            // There is always a namespace that is in neither list.
            (Allowed::Any | Allowed::Not(_), Allowed::Any | Allowed::Not(_)) => true,
        }
    }

    fn contains(&self, namespace: &String) -> bool {
        match self {
            Allowed::Any => true,
            Allowed::Not(names) => !names.contains(namespace),
            Allowed::These(names) => names.contains(namespace),
        }
    }
}

impl Scope<'_> {
    /// Returns the namespace for an item of a wildcard's list.
    fn named(&self, name: &str) -> String {
        match name {
            "##local" => String::new(),
            "##targetNamespace" => self.target.to_owned(),
            name => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_core::schema::{NamePart, QName};

    fn leaf(name: &'static str, attribute: &'static str, value: &str, min: u32, max: Option<u32>) -> Tag {
        Tag::new(name).with(attribute, value).occurring(min, max)
    }

    /// An element of another namespace.
    fn foreign(min: u32, max: Option<u32>) -> Tag {
        leaf("xsd:element", "ref", "ns1:a", min, max)
    }

    fn own(min: u32) -> Tag {
        leaf("xsd:element", "name", "b", min, Some(1)).with("form", "qualified")
    }

    fn any(namespace: &str) -> Tag {
        leaf("xsd:any", "namespace", namespace, 0, None)
    }

    /// Returns the names of the particles that are left, without `xsd:`.
    fn left(content: Tag) -> String {
        let mut prefixes = Prefixes::new(NamePart::from("urn:t"));
        prefixes.qualify(&QName::new("urn:other", "a"));
        let scope = Scope { target: "urn:t", prefixes: &prefixes };
        let document = unambiguous(content, scope).into_document();
        let names = document.split("<xsd:").skip(2).filter_map(|rest| rest.split([' ', '>', '/']).next());
        names.collect::<Vec<_>>().join(" ")
    }

    fn sequence(particles: impl IntoIterator<Item = Tag>) -> Tag {
        Tag::new("xsd:sequence").add_all(particles)
    }

    #[test]
    fn wildcards_that_compete_with_elements_are_left_out() {
        assert_eq!(left(sequence([foreign(0, Some(1)), any("##other")])), "element");
        assert_eq!(left(sequence([foreign(1, None), any("##other")])), "element");
        assert_eq!(left(sequence([foreign(0, Some(1)), own(0), any("##other")])), "element element");
        assert_eq!(left(sequence([any("##other"), own(0), foreign(1, Some(1))])), "element element");
        assert_eq!(left(sequence([own(0), any("##any")])), "element");
        assert_eq!(left(sequence([foreign(0, Some(1)), any("urn:x urn:other")])), "element");
        let choice = |all: Vec<Tag>| Tag::new("xsd:choice").add_all(all).occurring(0, None);
        assert_eq!(left(choice(vec![foreign(1, Some(1)), any("##other")])), "element");
        let inner = sequence([own(1), any("##other")]).occurring(0, Some(1));
        assert_eq!(left(sequence([inner, foreign(0, Some(1))])), "sequence element element");
    }

    #[test]
    fn other_wildcards_stay() {
        assert_eq!(left(sequence([foreign(1, Some(1)), any("##other")])), "element any");
        assert_eq!(left(sequence([foreign(2, Some(2)), any("##other")])), "element any");
        assert_eq!(left(sequence([foreign(0, Some(1)), own(1), any("##other")])), "element element any");
        assert_eq!(left(sequence([own(0), any("##other")])), "element any");
        assert_eq!(left(sequence([own(1), any("##any")])), "element any");
        assert_eq!(left(sequence([foreign(0, Some(1)), any("urn:x ##local")])), "element any");
        assert_eq!(left(sequence([any("##other"), own(1), foreign(0, Some(1))])), "any element element");
    }

    #[test]
    fn of_two_wildcards_the_first_stays() {
        assert_eq!(left(sequence([any("urn:x"), own(0), any("##other")])), "any element");
        assert_eq!(left(sequence([any("##other"), any("##local")])), "any any");
    }
}
