//! SOAP encoding: shared values stay shared, including cycles, and arrays of several dimensions
//! keep their sizes.

use crate::graph::Address;
use crate::graph::{
    AnyPet, Cat, Measure, MeasureResponse, Meet, MeetResponse, Person,
    client::FamilyClient,
    server::{Family, FamilyServer},
};
use crate::{body, round_trip};
use deltasoap::schema::Use;
use deltasoap::types::{MultiArray, Shared};
use deltasoap::{Client, Context, Fault, Lease, Nillable, SoapArray};

type Handle = Option<Shared<Person>>;

/// Returns the value of a handle.
#[track_caller]
fn at<T>(handle: &Option<Shared<T>>) -> &Shared<T> {
    handle.as_ref().expect("a handle")
}

fn alone(name: &str) -> Person {
    Person { name: Some(name.to_owned()), address: None, partner: None, children: None, pet: None }
}

/// Returns Ada, who is her partner's partner, and who has a cat that has her.
fn circle() -> Shared<Person> {
    Shared::cyclic(|ada| {
        let partner = Person { partner: Some(ada.clone()), ..alone("Bob") };
        let pet = Shared::new(AnyPet::Cat(Box::new(Cat { owner: Some(ada), lives: Some(7) })));
        Person { partner: Some(Shared::new(partner)), pet: Some(pet), ..alone("Ada") }
    })
}

#[track_caller]
fn assert_circle(who: &Handle) {
    let ada = at(who);
    let held = ada.get().expect("she is there");
    assert_eq!(held.name, Some("Ada".to_owned()));
    let bob = at(&held.partner).get().expect("he is there");
    assert_eq!(bob.name, Some("Bob".to_owned()));
    assert!(Shared::ptr_eq(at(&bob.partner), ada));
    let pet = at(&held.pet).get().expect("it is there");
    let AnyPet::Cat(cat) = &*pet else { panic!("no cat: {:?}", *pet) };
    assert_eq!(cat.lives, Some(7));
    assert!(Shared::ptr_eq(at(&cat.owner), ada));
}

#[test]
fn references_in_any_order() {
    let meet = round_trip::<Meet>(
        &body(
            "<f:meet xmlns:f='urn:family' s:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'><who href='#ada'/></f:meet>\
             <f:Cat id='cat' xmlns:f='urn:family' i:type='f:Cat'><owner href='#ada'/><lives>7</lives></f:Cat>\
             <x id='ada'><name>Ada</name><partner href='#bob'/><pet href='#cat'/></x>\
             <x id='bob'><name>Bob</name><partner href='#ada'/></x>",
        ),
        Use::Encoded,
    );
    assert_circle(&meet.who);
}

#[test]
fn what_is_not_within_itself_is_no_handle() {
    let address = "<address href='#town'/>";
    let meet = round_trip::<Meet>(
        &body(&format!(
            "<f:meet xmlns:f='urn:family' s:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'><who><name>Ada</name>{address}\
             <children><item><name>Cid</name>{address}</item><item i:nil='1'/></children></who></f:meet>\
             <x id='town'><town>Oslo</town></x>"
        )),
        Use::Encoded,
    );
    let ada = at(&meet.who).get().expect("she is there");
    let oslo: Address = Address { town: Some("Oslo".to_owned()) };
    assert_eq!(ada.address, Some(oslo.clone()));
    let Some(SoapArray(children)) = &ada.children else { panic!("no children: {:?}", *ada) };
    let [Nillable::Value(cid), Nillable::Nil] = &children[..] else { panic!("{children:?}") };
    assert_eq!(cid.get().map(|cid| cid.address.clone()), Some(Some(oslo)));
}

/// Returns what it receives.
struct Echo;

impl Family for Echo {
    async fn meet(&self, _: Context, request: Lease<Meet>) -> Result<MeetResponse, Fault> {
        assert_circle(&request.who);
        Ok(MeetResponse { who: request.who.clone() })
    }

    async fn measure(&self, _: Context, request: Lease<Measure>) -> Result<MeasureResponse, Fault> {
        let Some(names) = &request.names else { return Err(Fault::sender("no names")) };
        assert_eq!(names.sizes(), [1, 2]);
        Ok(MeasureResponse { distances: request.distances.clone() })
    }
}

#[tokio::test]
async fn graphs_and_matrices_there_and_back() -> Result<(), Box<dyn std::error::Error>> {
    let service = FamilyServer::new(Echo);
    let client = FamilyClient::with_client(Client::with_service("http://localhost/", service)?);
    for _ in 0..3 {
        let response = client.meet(&Meet { who: Some(circle()) }).await?;
        assert_circle(&response.who);
    }
    let row = SoapArray(vec![Nillable::Value("a".to_owned()), Nillable::Nil]);
    let names = MultiArray::new([1, 2], vec![Nillable::Value(row), Nillable::Nil]);
    let distances = MultiArray::new([2, 3], vec![0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    let request = Measure { distances: distances.clone(), names };
    let response = client.measure(&request).await?;
    assert_eq!(response.distances, distances);
    Ok(())
}
