//! A type with derived types: `xsi:type` gives the actual one.

use crate::{Case, Kind};
use deltasoap::{Soap, SoapArray};

/// A shape of any of the types.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", derived)]
#[allow(missing_docs)]
pub enum Shape {
    #[soap(base)]
    Plain(Plain),
    Circle(Circle),
    Rectangle(Rectangle),
    Square(Square),
}

/// The base type itself.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", name = "Shape")]
#[allow(missing_docs)]
pub struct Plain {
    pub name: String,
}

/// Derived from the base type.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Circle {
    pub name: String,
    pub radius: f64,
}

/// Derived from the base type, too.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Rectangle {
    pub name: String,
    pub width: f64,
    pub height: f64,
}

/// Derived from a rectangle.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Square {
    pub name: String,
    pub width: f64,
    pub height: f64,
    pub exact: bool,
}

/// Repeated elements with shapes.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Drawing {
    pub first: Shape,
    pub more: Vec<Shape>,
}

/// An array of shapes.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", name = "Drawing")]
#[allow(missing_docs)]
pub struct EncodedDrawing {
    pub first: Shape,
    pub more: SoapArray<Shape>,
}

/// Both kinds have the same cases.
macro_rules! drawings {
    ($($drawing:ident),*) => {$(
        impl Kind for $drawing {
            const NAME: &'static str = "Drawing";
            const FEATURE: &'static str = "polymorphism";
            const CASES: &'static [Case<Self>] = &[
                ("the base type", || $drawing { first: plain(), more: vec![plain()].into() }),
                ("derived types", || $drawing { first: circle(), more: vec![rectangle(), circle()].into() }),
                ("a type derived twice", || $drawing { first: square(), more: vec![plain(), square()].into() }),
            ];
        }
    )*};
}

drawings! { Drawing, EncodedDrawing }

fn plain() -> Shape {
    Shape::Plain(Plain { name: "plain".to_owned() })
}

fn circle() -> Shape {
    Shape::Circle(Circle { name: "circle".to_owned(), radius: 1.5 })
}

fn rectangle() -> Shape {
    Shape::Rectangle(Rectangle { name: "rectangle".to_owned(), width: 2.0, height: 3.0 })
}

fn square() -> Shape {
    Shape::Square(Square { name: "square".to_owned(), width: 4.0, height: 4.0, exact: true })
}
