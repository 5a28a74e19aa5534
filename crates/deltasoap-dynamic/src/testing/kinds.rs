//! What cases show: aspects of valid requests, and breaches of invalid ones.

use std::fmt;

/// What a case shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The request is valid: the service must process it.
    Valid(Aspect),
    /// The request is invalid: the service must refuse it.
    Invalid(Breach),
}

impl Kind {
    /// Returns true for kinds of valid requests.
    pub fn is_valid(self) -> bool {
        matches!(self, Kind::Valid(_))
    }

    /// Returns true if the kind concerns the envelope, or the message as a whole: what a service does
    /// then does not depend on the operation.
    pub fn is_of_envelope(self) -> bool {
        use Breach::{EmptyBody, Malformed, MustUnderstand, Operation, OtherVersion, Version};
        match self {
            Kind::Valid(aspect) => aspect == Aspect::Form,
            Kind::Invalid(breach) => {
                matches!(breach, Malformed | Version | MustUnderstand | Operation | EmptyBody | OtherVersion)
            }
        }
    }

    /// Returns the kind with a name.
    pub fn named(name: &str) -> Option<Kind> {
        let valid = Aspect::ALL.iter().map(|&aspect| Kind::Valid(aspect));
        let mut all = valid.chain(Breach::ALL.iter().map(|&breach| Kind::Invalid(breach)));
        all.find(|kind| kind.name() == name)
    }

    /// Returns its name, as in `--checks` and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Valid(aspect) => aspect.name(),
            Kind::Invalid(breach) => breach.name(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type { $($(#[$variant_doc])* $variant,)* }

        impl $type {
            /// All of them.
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];

            /// Returns its name.
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named! {
    /// What a valid request shows.
    Aspect {
        /// Nothing in particular.
        Typical = "typical",
        /// How often an element occurs.
        Occurrence = "occurrence",
        /// A branch of a choice, or a member of a substitution group.
        Choice = "choice",
        /// An enumerated value.
        Enumeration = "enumeration-value",
        /// A value at a bound: of a length, a range, a number of digits.
        Bound = "bound",
        /// A text by a pattern.
        Pattern = "pattern",
        /// A text that is written in an unusual way.
        Lexical = "lexical",
        /// Characters that programs lose.
        Unicode = "unicode",
        /// A nil element.
        Nil = "nil-element",
        /// A derived type.
        Derived = "derived-type",
        /// An optional attribute.
        Attribute = "attribute",
        /// Content of a wildcard.
        Wildcard = "wildcard",
        /// A type within itself.
        Recursion = "recursion",
        /// Another form of the same XML.
        Form = "form",
        /// Several of these at random.
        Random = "random",
    }
}

named! {
    /// What an invalid request violates. Each is also a [check](super::Check).
    Breach {
        /// It is not well-formed.
        Malformed = "malformed",
        /// The envelope has a namespace that is none of SOAP.
        Version = "version-mismatch",
        /// A header block that must be understood, and cannot be.
        MustUnderstand = "must-understand",
        /// The body holds an element that belongs to no operation.
        Operation = "unknown-operation",
        /// The body is empty.
        EmptyBody = "empty-body",
        /// A text that is not of its type: a word where a number is declared.
        Type = "wrong-type",
        /// A required element is missing.
        Missing = "missing-element",
        /// There is one element too many.
        Extra = "extra-element",
        /// Elements are in the wrong order.
        Order = "wrong-order",
        /// An element that the schema does not declare, or text between elements.
        Unknown = "unknown-element",
        /// An element in the wrong namespace.
        Namespace = "wrong-namespace",
        /// A required attribute is missing.
        MissingAttribute = "missing-attribute",
        /// An attribute that the schema does not declare.
        UnknownAttribute = "unknown-attribute",
        /// A value that is not enumerated.
        Enumeration = "enumeration",
        /// A value that is too long, too large or not by the pattern.
        Facet = "facets",
        /// `xsi:nil` where it is not allowed.
        Nil = "nil",
        /// An `xsi:type` that is not allowed.
        XsiType = "xsi-type",
        /// A version of SOAP that no port at this URL offers.
        OtherVersion = "other-version",
    }
}
