use deltasoap::Soap;

#[derive(Soap)]
#[soap(rename = "b")]
struct Container {
    a: i32,
}

#[derive(Soap)]
struct Field {
    #[soap(attr)]
    a: i32,
}

#[derive(Soap)]
#[soap(rename_all = "Camel")]
struct Rule {
    a: i32,
}

#[derive(Soap)]
struct Name {
    #[soap(name = "a b")]
    a: i32,
}

fn main() {}
