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
