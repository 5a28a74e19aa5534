use deltasoap::{Nillable, Soap, SoapArray};

#[derive(Debug, Soap, Default)]
struct Point {
    x: i32,
    y: i32,
    v: f64,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:a", qualified, all, rename_all = "camelCase", message)]
struct Node {
    a_b: Option<Box<Self>>,
    #[soap(attribute)]
    id: String,
    #[soap(attribute)]
    o: Option<Color>,
    r#type: Nillable<i32>,
    #[soap(inline)]
    c: Vec<Pick>,
    #[soap(default = 7)]
    seven: i32,
    arr: SoapArray<Point>,

    zz: String,
}

#[derive(Debug, Soap)]
enum Color {
    Red,
    #[soap(name = "dark & blue")]
    Blue,
}
#[derive(Debug, Soap)]
enum Pick {
    A(Point),
    B(i32),
    C,
    Many(Vec<Color>),
}
#[derive(Debug, Soap)]
#[soap(union)]
enum Either {
    I(i32),
    S(String),
}
#[derive(Debug, Soap)]
struct Id(String);
#[derive(Debug, Soap)]
struct Nothing;
#[derive(Debug, Soap)]
struct Gen<T> {
    t: T,
    ts: Vec<T>,
    next: Option<Box<Self>>,
}
#[derive(Debug, Soap)]
struct Price {
    t: Either,
    #[soap(attribute)]
    cur: Id,
}
