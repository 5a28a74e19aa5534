use deltasoap::Soap;

#[derive(Soap)]
enum Never {}

#[derive(Soap)]
enum Fields {
    A { a: i32 },
}

#[derive(Soap)]
enum Tuple {
    A(i32, i32),
}

#[derive(Soap)]
struct Pair(i32, i32);

#[derive(Soap)]
struct Borrowed<'a> {
    a: &'a str,
}

#[derive(Soap)]
struct Generic<T>(T);

#[derive(Soap)]
#[soap(rename_all = "lowercase")]
enum SameValue {
    A,
    #[soap(name = "a")]
    B,
}

#[derive(Soap)]
union Bits {
    a: i32,
    b: f32,
}

fn main() {}
