//! Canonicalization methods.

/// A canonicalization method: which declarations and attributes the form has, and whether it has
/// comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    kind: Kind,
    comments: bool,
    /// Prefixes that are treated as in inclusive canonicalization; `""` is the default namespace.
    pub(super) inclusive: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Canonical XML 1.0.
    Inclusive,
    /// Canonical XML 1.1.
    Inclusive11,
    /// Exclusive XML Canonicalization 1.0.
    Exclusive,
}

/// The methods and their identifiers. Each also exists with comments.
const URIS: [(Kind, &str, &str); 3] = [
    (Kind::Exclusive, "http://www.w3.org/2001/10/xml-exc-c14n#", "http://www.w3.org/2001/10/xml-exc-c14n#WithComments"),
    (
        Kind::Inclusive,
        "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
        "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments",
    ),
    (Kind::Inclusive11, "http://www.w3.org/2006/12/xml-c14n11", "http://www.w3.org/2006/12/xml-c14n11#WithComments"),
];

impl Method {
    /// Exclusive XML Canonicalization 1.0: the form of an element has the declarations that its
    /// names use, wherever it stands. This is what WS-Security recommends.
    pub fn exclusive() -> Self {
        Self::of(Kind::Exclusive)
    }

    /// Canonical XML 1.0: the form of an element has all declarations in scope.
    pub fn inclusive() -> Self {
        Self::of(Kind::Inclusive)
    }

    /// Canonical XML 1.1, which differs from 1.0 in the attributes that an element inherits:
    /// `xml:id` is not inherited.
    pub fn inclusive_11() -> Self {
        Self::of(Kind::Inclusive11)
    }

    fn of(kind: Kind) -> Self {
        Method { kind, comments: false, inclusive: Vec::new() }
    }

    /// Keeps comments.
    #[must_use]
    pub fn with_comments(mut self) -> Self {
        self.comments = true;
        self
    }

    /// Leaves out comments.
    #[must_use]
    pub fn without_comments(mut self) -> Self {
        self.comments = false;
        self
    }

    /// Sets the prefixes that exclusive canonicalization treats as inclusive canonicalization does
    /// (`InclusiveNamespaces`): they are declared where they are in scope, used or not. `""` and
    /// `#default` stand for the default namespace.
    #[must_use]
    pub fn inclusive_prefixes<'p>(mut self, prefixes: impl IntoIterator<Item = &'p str>) -> Self {
        let prefix = |prefix| if prefix == "#default" { "" } else { prefix };
        self.inclusive = prefixes.into_iter().map(|name| prefix(name).to_owned()).collect();
        self.inclusive.sort_unstable();
        self.inclusive.dedup();
        self
    }

    /// Returns the method with this identifier, as in the `Algorithm` of a signature.
    pub fn from_uri(uri: &str) -> Option<Self> {
        let found = URIS.iter().find_map(|&(kind, plain, commented)| match uri {
            uri if uri == plain => Some((kind, false)),
            uri if uri == commented => Some((kind, true)),
            _ => None,
        });
        found.map(|(kind, comments)| Method { comments, ..Self::of(kind) })
    }

    /// Returns the identifier of the method.
    pub fn uri(&self) -> &'static str {
        let found = URIS.iter().find(|(kind, ..)| *kind == self.kind);
        found.map_or("", |(_, plain, commented)| if self.comments { commented } else { plain })
    }

    /// Returns true if the form has comments.
    pub fn has_comments(&self) -> bool {
        self.comments
    }

    /// Returns true for exclusive canonicalization.
    pub fn is_exclusive(&self) -> bool {
        self.kind == Kind::Exclusive
    }

    /// Returns true if an element inherits this attribute of the XML namespace.
    pub(super) fn inherits(&self, local: &str) -> bool {
        match self.kind {
            Kind::Exclusive => false,
            Kind::Inclusive => true,
            Kind::Inclusive11 => matches!(local, "lang" | "space" | "base"),
        }
    }

    /// Returns true if an inherited `xml:base` has to be joined with that of the element.
    pub(super) fn joins_bases(&self) -> bool {
        self.kind == Kind::Inclusive11
    }
}
