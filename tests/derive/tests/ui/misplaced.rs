use deltasoap::Soap;

#[derive(Soap)]
struct NotAChoice {
    #[soap(inline)]
    a: i32,
}

#[derive(Soap)]
struct RepeatedDefault {
    #[soap(default)]
    a: Vec<i32>,
}

#[derive(Soap)]
struct BoundsOfOne {
    #[soap(min = 2)]
    a: i32,
}

#[derive(Soap)]
struct CrossedBounds {
    #[soap(min = 3, max = 2)]
    a: Vec<i32>,
}

#[derive(Soap)]
struct BoundsOfAnAttribute {
    #[soap(attribute, max = 2)]
    a: String,
}

#[derive(Soap)]
#[soap(all)]
enum AllOnEnum {
    A(i32),
}

#[derive(Soap)]
#[soap(union)]
struct UnionOnStruct {
    a: i32,
}

#[derive(Soap)]
enum TwoOthers {
    A,
    #[soap(other)]
    B(String),
    #[soap(other)]
    C(String),
}

#[derive(Soap)]
enum OnlyOther {
    #[soap(other)]
    A(String),
}

#[derive(Soap)]
enum NamedOther {
    A,
    #[soap(other, name = "b")]
    B(String),
}

#[derive(Soap)]
enum EmptyOther {
    A,
    #[soap(other)]
    B,
}

fn main() {}
