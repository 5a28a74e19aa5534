//! Enums of faults whose variants hold something else, or the same as others.

use deltasoap::soap::TypedFault;
use deltasoap::{Fault, Faults, Soap};

#[derive(Debug, Soap)]
#[soap(message)]
struct SoldOut {}

#[derive(Debug, Soap)]
#[soap(message, name = "SoldOut")]
struct Gone {}

#[derive(Debug, Soap)]
struct NoMessage {}

#[derive(Debug)]
struct NoSoap {}

#[derive(Debug, Faults)]
enum HoldsText {
    Text(String), // `std::string::String` is not a fault with a typed detail
    Other(Fault),
}

#[derive(Debug, Faults)]
enum HoldsFaultFirst {
    Other(Fault), // `deltasoap::Fault` is not a fault with a typed detail
    AlsoOther(Fault),
}

#[derive(Debug, Faults)]
enum HoldsNoSoap {
    NoSoap(TypedFault<NoSoap>), // `NoSoap` has no element name
    Other(Fault),
}

#[derive(Debug, Faults)]
enum HoldsNoMessage {
    NoMessage(TypedFault<NoMessage>), // `NoMessage` has no element name
    Other(Fault),
}

#[derive(Debug, Faults)]
enum HoldsNoOther {
    SoldOut(TypedFault<SoldOut>),
    Text(String), // mismatched types
}

fn main() {}
