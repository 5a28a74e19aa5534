use deltasoap::Soap;
use std::time::Instant;

#[derive(Soap)]
struct Plain {
    at: Instant,
}

#[derive(Soap)]
struct Optional {
    at: Option<Instant>,
}

#[derive(Soap)]
struct Size {
    size: usize,
}

#[derive(Soap)]
struct Nested {
    lists: Vec<Vec<i32>>,
}

#[derive(Soap)]
enum Choice {
    At(Instant),
}

fn main() {}
