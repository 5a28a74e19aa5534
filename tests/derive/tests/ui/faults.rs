use deltasoap_derive::Faults;

#[derive(Faults)]
struct NoEnum(TypedFault<A>);

#[derive(Faults)]
enum Never {}

#[derive(Faults)]
enum Shapes {
    Unit,
    Named { fault: TypedFault<A> },
    Two(TypedFault<A>, TypedFault<B>),
    Right(TypedFault<A>),
    Other(Fault),
}

#[derive(Faults)]
enum NoOther {
    A(TypedFault<A>),
    B(soap::TypedFault<B>),
}

#[derive(Faults)]
enum SameType {
    A(TypedFault<A>),
    B(TypedFault<B>),
    Again(TypedFault<A>),
    Other(Fault),
}

#[derive(Faults)]
enum Generic<T> {
    A(TypedFault<T>),
    Other(Fault),
}

fn main() {}
