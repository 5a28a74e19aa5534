use deltasoap::{Nillable, Soap};

#[derive(Soap)]
struct TextAndElement {
    a: i32,
    #[soap(text)]
    b: i32,
}

#[derive(Soap)]
struct TwoTexts {
    #[soap(text)]
    a: i32,
    #[soap(text)]
    b: i32,
}

#[derive(Soap)]
struct TwoRoles {
    #[soap(attribute, text)]
    a: i32,
}

#[derive(Soap)]
struct SameName {
    a: i32,
    #[soap(name = "a")]
    b: i32,
}

#[derive(Soap)]
#[soap(group, element = "")]
enum BareChoice {
    A(String),
    B(String),
}

#[derive(Soap)]
#[soap(group, element = "")]
struct BareList {
    a: String,
    b: Vec<i32>,
}

#[derive(Soap)]
struct NilAttribute {
    #[soap(attribute, nillable)]
    a: Option<i32>,
}

#[derive(Soap)]
struct NilValue {
    #[soap(nillable)]
    a: Nillable<i32>,
}

#[derive(Soap)]
#[soap(group)]
struct NilInGroup {
    #[soap(nillable)]
    a: Option<i32>,
}

fn main() {}
