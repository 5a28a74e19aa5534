//! Enumerations with a value for texts that the WSDL does not list.

use crate::codes::client::CodesClient;
use crate::codes::server::{Codes, CodesServer};
use crate::codes::{Auto, Color, Grade, Height, Item, Order, OrderResponse, Size, Width};
use crate::{body, round_trip};
use deltasoap::lexical::List;
use deltasoap::schema::Use;
use deltasoap::soap::decode_request;
use deltasoap::{Client, Context, Fault, Lease};

fn order(items: &str) -> Vec<u8> {
    body(&format!("<Order xmlns='urn:codes'>{items}</Order>"))
}

#[test]
fn values_that_are_not_listed_are_kept() {
    let items = "<item grade='1'><size>M</size><color>black &amp; white</color><width>auto</width><fits>S L</fits><height>12</height></item>\
        <item grade='03'><size>XL</size><color> pink &amp;\nred </color><width>7</width><fits>L XXL</fits><height>2.5</height></item>\
        <item><size/><color>unknown</color></item>";
    let order: Order = round_trip(&order(items), Use::Literal);
    let text = str::to_owned;
    let expected = [
        Item {
            grade: Some(Grade::N1),
            size: Size::M,
            color: Some(Color::BlackWhite),
            width: Some(Width::Auto(Auto::Auto)),
            fits: Some(List(vec![Size::S, Size::L])),
            height: Some(Height::Storeys(12)),
        },
        Item {
            grade: Some(Grade::Unknown(text("03"))),
            size: Size::Unknown(text("XL")),
            color: Some(Color::Unknown2(text(" pink &\nred "))),
            width: Some(Width::Int(7)),
            fits: Some(List(vec![Size::L, Size::Unknown(text("XXL"))])),
            height: Some(Height::Double(2.5)),
        },
        Item {
            grade: None,
            size: Size::Unknown(String::new()),
            color: Some(Color::Unknown),
            width: None,
            fits: None,
            height: None,
        },
    ];
    assert_eq!(order.item, expected);
}

/// Otherwise a union would never come to its other members.
#[test]
fn members_of_unions_are_closed() {
    let wrong = "<item><size>M</size><width>wide</width></item>";
    assert!(decode_request::<Order>(&order(wrong)).is_err());
}

struct Echo;

impl Codes for Echo {
    async fn order(&self, _: Context, order: Lease<Order>) -> Result<OrderResponse, Fault> {
        Ok(OrderResponse { item: order.item.clone() })
    }
}

/// Client and server compare each message with the last one, in both directions.
#[tokio::test]
async fn streams_in_which_values_become_unknown_and_known_again() -> Result<(), Box<dyn std::error::Error>> {
    let client = CodesClient::with_client(Client::with_service("http://localhost/", CodesServer::new(Echo))?).leased();
    let item =
        |size: &Size| Item { grade: None, size: size.clone(), color: None, width: None, fits: None, height: None };
    let unknown = |text: &str| Size::Unknown(text.to_owned());
    let sizes = [Size::S, unknown("XL"), unknown("XS"), Size::L, unknown("a long one"), Size::M];
    for turn in 0..4 * sizes.len() {
        let at = |place: usize| item(&sizes[(turn + place * turn) % sizes.len()]);
        let order = Order { item: (0..8).map(at).collect() };
        let response = client.order(&order).await?;
        assert_eq!(response.item, order.item, "turn {turn}");
    }
    Ok(())
}
