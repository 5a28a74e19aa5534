//! An enum of faults that cannot be told apart.

use deltasoap::soap::TypedFault;
use deltasoap::{Fault, Faults, Soap};

#[derive(Debug, Soap)]
#[soap(message)]
struct SoldOut {}

#[derive(Debug, Soap)]
#[soap(element = "SoldOut")]
struct Gone {}

#[derive(Debug, Soap)]
#[soap(message, namespace = "urn:shop", name = "SoldOut")]
struct SoldOutToo {}

#[derive(Debug, Faults)]
enum SameElement {
    SoldOut(TypedFault<SoldOut>),
    SoldOutToo(TypedFault<SoldOutToo>),
    Gone(TypedFault<Gone>), // an earlier variant has the same detail element
    Other(Fault),
}

fn main() {}
