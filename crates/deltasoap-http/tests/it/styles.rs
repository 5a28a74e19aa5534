//! Body layouts, from client to service and back: document and rpc, wrapped and bare, literal and
//! encoded.

use crate::common::*;
use deltasoap::client::CallOptions;
use deltasoap::engine::Buffer;
use deltasoap::schema::{Style, Use};
use deltasoap::server::{IntoReply, Operation};
use deltasoap::soap::{Envelope, Version};
use deltasoap::{Client, Fault, Lease, Message, Soap, SoapArray, SoapService};
use std::fmt::Debug;

const BOTH: [Version; 2] = [Version::Soap11, Version::Soap12];

/// A bare part of a simple type.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", element = "celsius")]
struct Celsius(i32);

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", element = "words")]
struct Words(String);

/// A bare part with attributes.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", element = "price")]
struct Price {
    #[soap(attribute)]
    currency: String,
    #[soap(text)]
    amount: i64,
}

/// A wrapper of a schema with `elementFormDefault="qualified"`.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", qualified, element = "add")]
struct Wrapped {
    left: i32,
    right: i32,
}

/// A call with unqualified accessors.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", element = "add")]
struct Add {
    left: i32,
    right: i32,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", element = "addResponse")]
struct AddResponse {
    #[soap(name = "result")]
    sum: i32,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", element = "sort")]
struct Sort {
    values: SoapArray<i32>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", element = "sortResponse")]
struct SortResponse {
    result: SoapArray<i32>,
}

/// Returns an operation that cannot fail.
fn operation<Request, Response>(answer: fn(&Request) -> Response) -> Operation
where
    Request: Message + Send + Sync + 'static,
    Response: IntoReply + Send + 'static,
{
    Operation::new(move |request: Lease<Request>| {
        let response = answer(&request);
        async move { Ok::<_, Fault>(response) }
    })
}

fn service_of(operation: Operation) -> SoapService {
    SoapService::builder().add_operation(operation).build().expect("a service")
}

/// Calls the service in both versions, in one piece and byte by byte; returns the bodies of request
/// and answer as written in SOAP 1.1.
async fn round_trip<Request, Response>(
    service: &SoapService,
    encoding: Use,
    request: Request,
    expected: Response,
) -> [String; 2]
where
    Request: Message,
    Response: Message + PartialEq + Debug,
{
    let mut bodies = Vec::new();
    for version in BOTH {
        let client = Client::builder("http://localhost/").version(version).build_with(service.clone());
        let options = CallOptions::new().encoding(encoding);
        let response = client.expect("a client").call_as_with::<Response>(&request, options).await;
        assert_eq!(response.expect("a response").body, expected);
        let message =
            Envelope::new(&request).version(version).encoding(encoding).write(Buffer::new()).expect("writable");
        let whole = post(service, version.media_type(), message.as_slice()).await;
        let pieces = post_pieces(service, version.media_type(), message.as_slice(), 1).await;
        assert_eq!((&whole.body, whole.status), (&pieces.body, pieces.status));
        bodies.push([body_of(&String::from_utf8_lossy(message.as_slice())), body_of(&whole.body)]);
    }
    bodies.swap_remove(0)
}

fn body_of(message: &str) -> String {
    let (_, rest) = message.split_once("<soap:Body>").expect("a body");
    rest.split_once("</soap:Body>").expect("its end").0.to_owned()
}

#[tokio::test]
async fn document_wrapped() {
    let service = service_of(operation(|add: &Wrapped| AddResponse { sum: add.left + add.right }));
    let request = Wrapped { left: 2, right: 3 };
    let [asked, _] = round_trip(&service, Use::Literal, request, AddResponse { sum: 5 }).await;
    assert_eq!(asked, r#"<add xmlns="urn:test"><left>2</left><right>3</right></add>"#);
}

#[tokio::test]
async fn document_bare_with_simple_types() {
    let service = service_of(operation(|celsius: &Celsius| Words(format!("{} degrees", celsius.0))));
    let bodies = round_trip(&service, Use::Literal, Celsius(-4), Words("-4 degrees".to_owned())).await;
    let expected = ["<celsius xmlns=\"urn:test\">-4</celsius>", "<words xmlns=\"urn:test\">-4 degrees</words>"];
    assert_eq!(bodies, expected);
}

#[tokio::test]
async fn document_bare_with_attributes() {
    let service = service_of(operation(|price: &Price| Price { amount: price.amount * 2, ..price.clone() }));
    let price = |amount| Price { currency: "NOK".to_owned(), amount };
    let [_, answered] = round_trip(&service, Use::Literal, price(21), price(42)).await;
    assert_eq!(answered, r#"<price xmlns="urn:test" currency="NOK">42</price>"#);
}

#[tokio::test]
async fn rpc_literal() {
    let add = operation(|add: &Add| AddResponse { sum: add.left + add.right });
    let service = service_of(add.style(Style::Rpc));
    let bodies = round_trip(&service, Use::Literal, Add { left: 2, right: 3 }, AddResponse { sum: 5 }).await;
    let expected = [
        r#"<ns:add xmlns:ns="urn:test"><left>2</left><right>3</right></ns:add>"#,
        r#"<ns:addResponse xmlns:ns="urn:test"><result>5</result></ns:addResponse>"#,
    ];
    assert_eq!(bodies, expected);
}

#[tokio::test]
async fn rpc_encoded_with_arrays() {
    let sort = operation(|sort: &Sort| {
        let mut result = sort.values.clone();
        result.sort_unstable();
        SortResponse { result }
    });
    let service = service_of(sort.style(Style::Rpc).encoding(Use::Encoded));
    let (request, response) = (Sort { values: vec![3, 1, 2].into() }, SortResponse { result: vec![1, 2, 3].into() });
    let [_, answered] = round_trip(&service, Use::Encoded, request, response).await;
    let expected = concat!(
        r#"<ns:sortResponse xmlns:ns="urn:test" soap:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/">"#,
        r#"<result xsi:type="soapenc:Array" soapenc:arrayType="xsd:int[3]"><item xsi:type="xsd:int">1</item>"#,
        r#"<item xsi:type="xsd:int">2</item><item xsi:type="xsd:int">3</item></result></ns:sortResponse>"#,
    );
    assert_eq!(answered, expected);
}
