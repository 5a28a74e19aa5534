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

fn main() {}
