//! WSDLs made from derived types: the importer reads them, and messages of the types are valid. The
//! text is that of `data/described_types.wsdl`; `UPDATE=1` rewrites it.

use deltasoap::lexical::{BigEndian, DateTime, Lexical, List};
use deltasoap::schema::{Style, Use};
use deltasoap::server::{Header, Operation};
use deltasoap::soap::{Envelope, TypedFault, Version};
use deltasoap::types::{Node, Packed};
use deltasoap::{Binary, Fault, Faults, Message, Nillable, Soap, SoapArray, SoapService};
use deltasoap_dynamic::Contract;

/// Everything that a struct can have.
#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop", qualified, message)]
struct Order {
    #[soap(attribute)]
    id: u32,
    #[soap(attribute)]
    rush: Option<bool>,
    #[soap(attribute, default = 3)]
    priority: u8,
    customer: String,
    #[soap(default = 1)]
    copies: u16,
    note: Option<Nillable<String>>,
    item: Vec<Item>,
    total: Amount,
    #[soap(inline)]
    means: Means,
    scan: Binary,
    series: Packed<f64>,
    counts: Option<Packed<i32, BigEndian>>,
    tags: List<i32>,
    shape: Vec<Shape>,
    tree: Option<Box<Tree>>,
    #[soap(namespace = "urn:other")]
    place: Option<Place>,
    #[soap(inline)]
    rest: Vec<Node>,
}

#[derive(Soap, Clone, Default)]
#[soap(namespace = "urn:shop")]
struct Item {
    sku: String,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop")]
struct Amount {
    #[soap(attribute)]
    currency: Currency,
    #[soap(text)]
    value: Value,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop")]
enum Currency {
    Nok,
    Eur,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop", union)]
enum Value {
    Number(i64),
    Words(String),
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop", qualified)]
enum Means {
    Card(String),
    Cash,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop", derived)]
enum Shape {
    #[soap(base)]
    Plain(Plain),
    Circle(Circle),
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop")]
struct Plain {
    color: String,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop")]
struct Circle {
    color: String,
    radius: f64,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop")]
struct Tree {
    label: i32,
    branch: Vec<Tree>,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:other", qualified, all)]
struct Place {
    city: String,
    street: Option<String>,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop", message)]
struct Receipt {
    at: DateTime,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop", message, all)]
struct Sum {
    unit: String,
    numbers: SoapArray<f64>,
    items: SoapArray<Item>,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop", message)]
struct Sold {
    sku: String,
}

#[derive(Debug, Soap, Clone)]
#[soap(namespace = "urn:shop", message)]
struct SoldOut {
    sku: String,
}

#[derive(Debug, Soap, Clone)]
#[soap(namespace = "urn:other", message)]
struct Closed {
    until: DateTime,
}

#[derive(Debug, Faults)]
enum BuyFault {
    SoldOut(TypedFault<SoldOut>),
    Closed(TypedFault<Closed>),
    Other(Fault),
}

/// A header block.
#[derive(Soap, Clone)]
#[soap(namespace = "urn:session", message, name = "Session")]
struct Session {
    id: String,
}

/// A header block that the handler finds by itself.
#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop", message)]
struct Trace {
    hops: u8,
}

/// Elements of another namespace around wildcards.
#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop", message, open)]
struct Parcel {
    #[soap(namespace = "urn:other")]
    from: Place,
    label: Label,
}

#[derive(Soap, Clone)]
#[soap(namespace = "urn:shop", open)]
struct Label {
    #[soap(namespace = "urn:other")]
    to: Option<Place>,
}

fn receipt() -> Receipt {
    Receipt { at: DateTime::parse("2026-01-02T03:04:05Z").expect("a time") }
}

fn order() -> Order {
    Order {
        id: 7,
        rush: Some(true),
        priority: 3,
        customer: "A & B".to_owned(),
        copies: 1,
        note: Some(Nillable::Nil),
        item: vec![Item { sku: "a".to_owned() }, Item::default()],
        total: Amount { currency: Currency::Nok, value: Value::Number(-5) },
        means: Means::Cash,
        scan: b"abc".to_vec().into(),
        series: vec![1.0, 2.5].into(),
        counts: Some(vec![1, 2].into()),
        tags: List(vec![1, 2]),
        shape: vec![
            Shape::Plain(Plain { color: "red".to_owned() }),
            Shape::Circle(Circle { color: "blue".to_owned(), radius: 2.0 }),
        ],
        tree: Some(Box::new(Tree { label: 1, branch: vec![Tree { label: 2, branch: Vec::new() }] })),
        place: Some(Place { city: "Bergen".to_owned(), street: None }),
        rest: Vec::new(),
    }
}

fn service() -> SoapService {
    // A fault that is declared twice is one.
    let buy = Operation::new(async |_: Order| Ok::<_, BuyFault>(receipt())).fault::<SoldOut>();
    let buy = buy.action("urn:shop#buy");
    let buy = buy.request_header::<Trace>().response_header::<Session>();
    let sum = Operation::new(async |sum: Sum| sum).style(Style::Rpc).encoding(Use::Encoded);
    // There is no response that could have the block, or a fault.
    let sold = async |_: Option<Header<Session>>, _: Sold| Ok::<_, TypedFault<SoldOut>>(());
    let sold = Operation::new(sold).response_header::<Trace>();
    SoapService::builder()
        .name("The shop")
        .add_operation(buy.documentation("Buys < or >."))
        .add_operation(sum)
        .add_operation(sold)
        .build()
        .expect("a service")
}

fn contract() -> Contract {
    let wsdl = service().wsdl().expect("a WSDL");
    Contract::from_text(&wsdl).unwrap_or_else(|error| panic!("{error}\n{wsdl}"))
}

fn findings(message: &impl Message, encoding: Use) -> Vec<String> {
    let text = Envelope::new(message).encoding(encoding).to_vec().expect("a message");
    let found = contract().validate(&text);
    found.into_iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
}

#[test]
fn messages_of_the_types_are_valid() {
    let wsdl = service().wsdl().expect("a WSDL");
    assert_eq!(findings(&order(), Use::Literal), [""; 0], "{wsdl}");
    let without = Order {
        rush: None,
        note: None,
        item: Vec::new(),
        total: Amount { currency: Currency::Eur, value: Value::Words("a lot".to_owned()) },
        means: Means::Card("4711".to_owned()),
        counts: None,
        shape: Vec::new(),
        tree: None,
        place: None,
        ..order()
    };
    assert_eq!(findings(&without, Use::Literal), [""; 0], "{wsdl}");
    assert_eq!(findings(&receipt(), Use::Literal), [""; 0], "{wsdl}");
}

#[test]
fn what_the_types_do_not_allow_is_found() {
    let wrong = "<Order xmlns='urn:shop' id='x'><customer>c</customer></Order>";
    let found = contract().validate(wrong.as_bytes());
    assert!(found.iter().any(|it| it.message.contains("xsd:unsignedInt")), "{found:?}");
    assert!(found.iter().any(|it| it.message.contains("is missing")), "{found:?}");
}

#[test]
fn encoded_operations_have_accessors_as_parts() {
    let sum = Sum { unit: "m".to_owned(), numbers: vec![1.0].into(), items: vec![Item::default()].into() };
    assert_eq!(findings(&sum, Use::Encoded), [""; 0], "{}", service().wsdl().expect("a WSDL"));
}

#[test]
fn operations_are_those_of_the_service() {
    let contract = contract();
    let mut operations = contract.operations();
    operations.retain(|operation| operation.version() == Version::Soap11);
    let names: Vec<_> =
        operations.iter().map(|operation| (operation.name().to_owned(), operation.is_one_way())).collect();
    assert_eq!(names, [("Order".to_owned(), false), ("Sum".to_owned(), false), ("Sold".to_owned(), true)]);
    assert_eq!(operations[0].documentation(), Some("Buys < or >."));
    let methods: Vec<_> = operations.iter().map(|it| it.method().expect("a method").element.clone()).collect();
    assert_eq!(methods[0].action, "urn:shop#buy");
    assert_eq!(methods[0].faults.iter().map(|fault| &*fault.name.local).collect::<Vec<_>>(), ["SoldOut", "Closed"]);
    assert!(methods[2].faults.is_empty(), "a one-way operation has no faults");
    assert_eq!((methods[1].style, methods[1].encoding), (Style::Rpc, Use::Encoded));
}

#[test]
fn header_blocks_are_those_of_the_arguments_and_of_the_declarations() {
    let contract = contract();
    let headers = |name: &str| {
        let operation = contract.operations().into_iter().find(|it| it.name() == name).expect("an operation");
        operation.request_headers().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(headers("Order"), ["{urn:shop}Trace"]);
    assert_eq!(headers("Sum"), [""; 0]);
    assert_eq!(headers("Sold"), ["{urn:session}Session"]);
    let wrong = r#"<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Header>
        <Session xmlns="urn:session"/></Header><Body><Sold xmlns="urn:shop"><sku xmlns="">a</sku></Sold></Body></Envelope>"#;
    let right = wrong
        .replace("<Session xmlns=\"urn:session\"/>", "<s:Session xmlns:s='urn:session'><id xmlns=''/></s:Session>");
    assert_eq!(contract.validate(right.as_bytes()).len(), 0);
    assert_ne!(contract.validate(wrong.as_bytes()).len(), 0);
}

#[test]
fn wildcards_do_not_compete_with_elements() {
    let service = SoapService::builder().operation(async |parcel: Parcel| parcel).build().expect("a service");
    let wsdl = service.wsdl().expect("a WSDL");
    let of = |name: &str| {
        let (_, rest) = wsdl.split_once(&format!("<xsd:complexType name=\"{name}\">")).expect("a type");
        rest.split_once("</xsd:complexType>").expect("an end").0
    };
    let any = "<xsd:any namespace=\"##other\"";
    assert!(of("Parcel").contains(any), "{wsdl}");
    assert!(of("Label").contains("ref=\"ns1:to\" minOccurs=\"0\"") && !of("Label").contains(any), "{wsdl}");
    let contract = Contract::from_text(&wsdl).expect("a contract");
    let place = |city: &str| Place { city: city.to_owned(), street: None };
    let parcel = Parcel { from: place("Bergen"), label: Label { to: Some(place("Oslo")) } };
    let text = Envelope::new(&parcel).to_vec().expect("a message");
    assert_eq!(contract.validate(&text).len(), 0);
}

#[test]
fn the_same_service_has_the_same_text() {
    let wsdl = service().wsdl().expect("a WSDL");
    if std::env::var_os("UPDATE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/described_types.wsdl");
        std::fs::write(path, &wsdl).expect("a file");
    }
    assert_eq!(wsdl, include_str!("../data/described_types.wsdl"));
    assert_eq!(Some(wsdl), service().wsdl());
}
