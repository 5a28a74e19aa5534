//! Arrays: repeated elements, wrapped arrays, arrays of arrays, lists, and the arrays of SOAP
//! encoding.

use crate::{Case, Kind, Point};
use deltasoap::lexical::List;
use deltasoap::types::{AnySimple, MultiArray, Simple};
use deltasoap::{Nillable, Soap, SoapArray};

/// Each kind of array that XML Schema has.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Lists {
    /// Repeated elements.
    pub number: Vec<i32>,
    pub point: Vec<Point>,
    /// Repeated elements that may be nil.
    pub hole: Vec<Nillable<i32>>,
    /// A wrapped array.
    pub names: Names,
    /// Arrays of arrays.
    pub row: Vec<Row>,
    /// A list in one element.
    pub flags: List<i32>,
}

/// A wrapped array.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Names {
    pub name: Vec<String>,
}

/// An inner array.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Row {
    pub cell: Vec<i32>,
}

impl Kind for Lists {
    const NAME: &'static str = "Lists";
    const FEATURE: &'static str = "lists";
    const CASES: &'static [Case<Self>] = &[
        ("empty arrays", || lists(0)),
        ("arrays of one item", || lists(1)),
        ("arrays of many items", || lists(20)),
        ("nil items", || Lists { hole: vec![Nillable::Value(1), Nillable::Nil, Nillable::Value(3)], ..lists(2) }),
        ("empty arrays in an array", || Lists { row: [0, 2, 0].map(row).to_vec(), ..lists(2) }),
    ];
}

fn lists(size: i32) -> Lists {
    Lists {
        number: (0..size).collect(),
        point: (0..size).map(Point::nth).collect(),
        hole: (0..size).map(Nillable::Value).collect(),
        names: Names { name: names(size) },
        row: (1..=size).map(row).collect(),
        flags: List((0..size).collect()),
    }
}

fn names(size: i32) -> Vec<String> {
    (0..size).map(|n| format!("name <{n}>")).collect()
}

fn row(size: i32) -> Row {
    Row { cell: (0..size).collect() }
}

/// One-dimensional arrays of SOAP encoding.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Arrays {
    pub numbers: SoapArray<i32>,
    pub doubles: SoapArray<f64>,
    pub names: SoapArray<Nillable<String>>,
    pub points: SoapArray<Point>,
}

impl Kind for Arrays {
    const NAME: &'static str = "Arrays";
    const FEATURE: &'static str = "arrays";
    const CASES: &'static [Case<Self>] = &[
        ("empty arrays", || arrays(0)),
        ("arrays of one item", || arrays(1)),
        ("arrays of many items", || arrays(20)),
        ("nil items", || Arrays {
            names: vec![Nillable::Nil, Nillable::Value(String::new()), Nillable::Nil].into(),
            ..arrays(2)
        }),
    ];
}

fn arrays(size: i32) -> Arrays {
    Arrays {
        numbers: (0..size).collect::<Vec<_>>().into(),
        doubles: (0..size).map(|n| f64::from(n) / 8.0).collect::<Vec<_>>().into(),
        names: names(size).into_iter().map(Nillable::Value).collect::<Vec<_>>().into(),
        points: (0..size).map(Point::nth).collect::<Vec<_>>().into(),
    }
}

/// An array of arrays.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Jagged {
    pub rows: SoapArray<SoapArray<i32>>,
}

impl Kind for Jagged {
    const NAME: &'static str = "Jagged";
    const FEATURE: &'static str = "arrays";
    const CASES: &'static [Case<Self>] =
        &[("an array of arrays", || jagged([1, 2, 3])), ("empty arrays in an array", || jagged([0, 2, 0]))];
}

fn jagged(sizes: [i32; 3]) -> Jagged {
    Jagged { rows: sizes.map(|size| (0..size).collect::<Vec<_>>().into()).to_vec().into() }
}

/// A two-dimensional array.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Grids {
    pub grid: MultiArray<i32, 2>,
}

impl Kind for Grids {
    const NAME: &'static str = "Grids";
    const FEATURE: &'static str = "arrays";
    const CASES: &'static [Case<Self>] = &[("two dimensions", || grids([2, 3])), ("a single column", || grids([4, 1]))];
}

fn grids([rows, columns]: [usize; 2]) -> Grids {
    let items = (0..).take(rows * columns).collect();
    match MultiArray::new([rows, columns], items) {
        Some(grid) => Grids { grid },
        None => unreachable!("as many items as places"),
    }
}

/// An array of values of any type.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Anything {
    pub items: SoapArray<AnySimple>,
}

impl Kind for Anything {
    const NAME: &'static str = "Anything";
    const FEATURE: &'static str = "polymorphism";
    const CASES: &'static [Case<Self>] = &[("items of any type", || {
        let items = [Simple::String("text".to_owned()), Simple::Int(-7), Simple::Double(0.5), Simple::Boolean(true)];
        Anything { items: items.map(AnySimple).to_vec().into() }
    })];

    /// Toolkits with one type for similar numbers may return a different type than they received.
    fn is_same(&self, other: &Self) -> bool {
        let texts = |it: &Self| it.items.iter().map(AnySimple::text).collect::<Vec<_>>();
        texts(self) == texts(other)
    }
}

/// Long arrays of repeated elements.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Large {
    pub number: Vec<i32>,
    pub point: Vec<Point>,
}

/// Long arrays of SOAP encoding.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types", name = "Large")]
#[allow(missing_docs)]
pub struct LargeArray {
    pub number: SoapArray<i32>,
    pub point: SoapArray<Point>,
}

/// Both kinds have the same cases.
macro_rules! large {
    ($($kind:ident),*) => {$(
        impl Kind for $kind {
            const NAME: &'static str = "Large";
            const FEATURE: &'static str = "large";
            const CASES: &'static [Case<Self>] = &[
                ("100,000 numbers", || $kind { number: (0..100_000).collect::<Vec<_>>().into(), point: vec![].into() }),
                ("10,000 structs", || $kind {
                    number: vec![].into(),
                    point: (0..10_000).map(Point::nth).collect::<Vec<_>>().into(),
                }),
            ];
        }
    )*};
}

large! { Large, LargeArray }
