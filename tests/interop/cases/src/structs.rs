//! Structs with fields that are absent, nil or empty, and choices.

use crate::{Case, Kind};
use deltasoap::{Nillable, Soap};

/// A struct used in other values.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Point {
    pub x: i32,
    pub y: i32,
    pub label: String,
}

impl Point {
    /// Returns the point for a number.
    pub(crate) fn nth(n: i32) -> Self {
        Point { x: n, y: -n, label: format!("point {n}") }
    }
}

/// Fields that may be nil, absent, or both.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Nils {
    pub number: Nillable<i32>,
    pub text: Nillable<String>,
    pub point: Nillable<Point>,
    pub optional: Option<String>,
    pub either: Option<Nillable<i32>>,
}

impl Kind for Nils {
    const NAME: &'static str = "Nils";
    const FEATURE: &'static str = "nil";
    const CASES: &'static [Case<Self>] = &[
        ("nothing is nil", filled),
        ("all is nil", || Nils {
            number: Nillable::Nil,
            text: Nillable::Nil,
            point: Nillable::Nil,
            optional: None,
            either: None,
        }),
        ("a nil number", || Nils { number: Nillable::Nil, ..filled() }),
        ("an empty text", || Nils { text: Nillable::Value(String::new()), ..filled() }),
        ("a nil struct", || Nils { point: Nillable::Nil, ..filled() }),
        ("nil where it may be absent", || Nils { either: Some(Nillable::Nil), ..filled() }),
    ];

    /// Most toolkits have one value for absent and nil, so either may be returned where both are
    /// allowed.
    fn is_same(&self, other: &Self) -> bool {
        let either = |nils: &Self| nils.either.unwrap_or(Nillable::Nil);
        either(self) == either(other) && Nils { either: None, ..self.clone() } == Nils { either: None, ..other.clone() }
    }
}

fn filled() -> Nils {
    Nils {
        number: Nillable::Value(0),
        text: Nillable::Value("text".to_owned()),
        point: Nillable::Value(Point::nth(7)),
        optional: Some("here".to_owned()),
        either: Some(Nillable::Value(-1)),
    }
}

/// One of three kinds of contact: a choice of elements.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Contact {
    Email(String),
    Phone(Phone),
    Room(i32),
}

/// A struct as a branch of a choice.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Phone {
    pub country: i32,
    pub number: String,
}

/// A struct with a choice in it.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Contacts {
    pub name: String,
    pub contact: Contact,
}

impl Kind for Contacts {
    const NAME: &'static str = "Contacts";
    const FEATURE: &'static str = "choice";
    const CASES: &'static [Case<Self>] = &[
        ("the first branch", || contacts(Contact::Email("ada@example.org".to_owned()))),
        ("a branch with a struct", || contacts(Contact::Phone(Phone { country: 47, number: "0123".to_owned() }))),
        ("the last branch", || contacts(Contact::Room(0))),
    ];
}

fn contacts(contact: Contact) -> Contacts {
    Contacts { name: "Ada".to_owned(), contact }
}

/// A repeated choice: the order of its branches is significant.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Steps {
    #[soap(inline)]
    pub steps: Vec<Step>,
}

/// A branch of the repeated choice.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", name = "Steps", rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Step {
    Go(Point),
    Turn(f64),
    Say(String),
}

impl Kind for Steps {
    const NAME: &'static str = "Steps";
    const FEATURE: &'static str = "choice";
    const CASES: &'static [Case<Self>] = &[
        ("repeated branches in their order", || Steps {
            steps: vec![Step::Turn(0.5), say("a"), Step::Go(Point::nth(1)), say("b"), Step::Turn(-1.0), say("c")],
        }),
        ("a single branch", || Steps { steps: vec![say("a")] }),
    ];
}

fn say(text: &str) -> Step {
    Step::Say(text.to_owned())
}
