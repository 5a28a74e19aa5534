//! Services whose WSDLs are made from these types: `/orders`, in document style, and `/sums`, in
//! SOAP encoding. Other toolkits read the WSDLs and call the operations.
//!
//! A client gets an order (`sampleOrder`) and returns it as its toolkit has read it (`checkOrder`);
//! the answer says what is wrong with it.

use deltasoap::lexical::{DateTime, Decimal, Lexical};
use deltasoap::schema::Use;
use deltasoap::server::{BuildError, Header, Operation, Reply, SoapServiceBuilder, State};
use deltasoap::soap::{HeaderBlock, TypedFault};
use deltasoap::{Binary, Fault, Faults, Nillable, Soap, SoapArray, SoapService};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Other elements may follow the courier, which is of another namespace.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:orders", open)]
struct Order {
    #[soap(attribute)]
    id: u64,
    #[soap(attribute)]
    rush: Option<bool>,
    customer: String,
    address: Address,
    billing: Option<Address>,
    discount: Option<Nillable<Decimal>>,
    line: Vec<Line>,
    status: Status,
    placed: DateTime,
    photo: Binary,
    #[soap(namespace = "urn:couriers")]
    courier: Option<Courier>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:couriers", qualified)]
struct Courier {
    name: String,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:orders")]
struct Address {
    street: String,
    city: String,
    zip: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:orders")]
struct Line {
    sku: String,
    count: u32,
    price: Decimal,
    tag: Vec<String>,
    is_gift: bool,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:orders", rename_all = "lowercase")]
enum Status {
    Open,
    Paid,
    Sent,
}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "sampleOrder")]
struct SampleOrder {
    case: String,
}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "sampleOrderResponse")]
struct SampleOrderResponse {
    order: Order,
}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "checkOrder")]
struct CheckOrder {
    case: String,
    order: Order,
}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "checkOrderResponse")]
struct CheckOrderResponse {
    problem: String,
}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "reserve")]
struct Reserve {
    sku: String,
    count: u32,
}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "reserveResponse")]
struct ReserveResponse {
    left: u32,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:orders", message)]
struct OutOfStock {
    sku: String,
    left: u32,
}

/// The WSDL declares it as the operation's fault.
#[derive(Debug, Faults)]
enum ReserveFault {
    OutOfStock(TypedFault<OutOfStock>),
    Other(Fault),
}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "cancel")]
struct Cancel {
    topic: String,
}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "cancelled")]
struct Cancelled {
    topic: String,
}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "cancelledResponse")]
struct CancelledResponse {
    count: u32,
}

/// A header block.
#[derive(Debug, Soap)]
#[soap(namespace = "urn:orders", message)]
struct Session {
    user: String,
    hops: i32,
}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "renew")]
struct Renew {}

#[derive(Soap)]
#[soap(namespace = "urn:orders", element = "renewResponse")]
struct RenewResponse {
    user: String,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:sums")]
struct Point {
    label: String,
    x: i32,
    y: i32,
}

#[derive(Soap)]
#[soap(namespace = "urn:sums", element = "sample")]
struct Sample {
    points: i32,
}

#[derive(Soap)]
#[soap(namespace = "urn:sums", element = "sampleResponse")]
struct SampleResponse {
    numbers: SoapArray<f64>,
    points: SoapArray<Point>,
}

#[derive(Soap)]
#[soap(namespace = "urn:sums", element = "sum")]
struct Sum {
    numbers: SoapArray<f64>,
    points: SoapArray<Point>,
}

#[derive(Soap)]
#[soap(namespace = "urn:sums", element = "sumResponse")]
struct SumResponse {
    total: f64,
    labels: String,
}

/// The number of cancellations by topic.
type Cancellations = Arc<Mutex<HashMap<String, u32>>>;

/// Returns the service in document style.
///
/// # Errors
/// When it cannot be built.
pub fn orders(builder: SoapServiceBuilder) -> Result<SoapService, BuildError> {
    let builder = builder.name("Orders").state(Cancellations::default());
    let builder = builder.operation(sample_order).operation(check_order).operation(cancel).operation(cancelled);
    let reserve = Operation::new(reserve).documentation("Takes items from the stock of 10.");
    let renew = Operation::new(renew).action("urn:orders#renew").response_header::<Session>();
    builder.add_operation(reserve).add_operation(renew).build()
}

/// Returns the service in SOAP encoding.
///
/// # Errors
/// When it cannot be built.
pub fn sums(builder: SoapServiceBuilder) -> Result<SoapService, BuildError> {
    builder.name("Sums").encoding(Use::Encoded).operation(sample).operation(sum).build()
}

/// Returns the order of a case: with everything, or with only what is required.
fn order(case: &str) -> Result<Order, Fault> {
    let decimal = |text: &str| Decimal::parse(text).map_err(|error| Fault::receiver(error.to_string()));
    let placed = |text: &str| DateTime::parse(text).map_err(|error| Fault::receiver(error.to_string()));
    let address = |zip: Option<&str>| Address {
        street: "Storgata 1 & 2".to_owned(),
        city: "Tromsø".to_owned(),
        zip: zip.map(str::to_owned),
    };
    let line = |sku: &str, count, price: &str, tag: &[&str]| {
        let tag = tag.iter().map(|&tag| tag.to_owned()).collect();
        Ok::<_, Fault>(Line { sku: sku.to_owned(), count, price: decimal(price)?, tag, is_gift: count == 1 })
    };
    let least = Order {
        id: 1,
        rush: None,
        customer: "x".to_owned(),
        address: address(None),
        billing: None,
        discount: None,
        line: Vec::new(),
        status: Status::Open,
        placed: placed("2024-02-29T12:00:00Z")?,
        photo: vec![0].into(),
        courier: None,
    };
    match case {
        "least" => Ok(least),
        "most" => Ok(Order {
            id: 1 << 62,
            rush: Some(true),
            customer: "Ada <&> 漢字".to_owned(),
            billing: Some(address(Some("9008"))),
            discount: Some(Nillable::Value(decimal("-0.125")?)),
            line: vec![line("a", 1, "12.5", &["new", "blue"])?, line("b", u32::MAX, "1234567890.0625", &[])?],
            status: Status::Sent,
            placed: placed("2026-01-02T03:04:05.25+02:00")?,
            photo: (0..=255).collect::<Vec<u8>>().into(),
            courier: Some(Courier { name: "Ole".to_owned() }),
            ..least
        }),
        other => Err(Fault::sender(format!("no such case: {other}"))),
    }
}

async fn sample_order(request: SampleOrder) -> Result<SampleOrderResponse, Fault> {
    Ok(SampleOrderResponse { order: order(&request.case)? })
}

async fn check_order(request: CheckOrder) -> Result<CheckOrderResponse, Fault> {
    let expected = order(&request.case)?;
    let is_same = request.order.is_same(&expected);
    let problem = if is_same { String::new() } else { format!("expected {expected:?}, got {:?}", request.order) };
    Ok(CheckOrderResponse { problem })
}

impl Order {
    /// An instant is the same in any zone.
    fn is_same(&self, other: &Self) -> bool {
        let is_same_time = self.placed.compare(&other.placed) == Some(Ordering::Equal);
        is_same_time && Order { placed: other.placed, ..self.clone() } == *other
    }
}

async fn reserve(request: Reserve) -> Result<ReserveResponse, ReserveFault> {
    let left = 10_u32.checked_sub(request.count).ok_or_else(|| {
        let detail = OutOfStock { sku: request.sku, left: 10 };
        ReserveFault::OutOfStock(TypedFault::sender("not so many are left", detail))
    })?;
    Ok(ReserveResponse { left })
}

async fn cancel(State(all): State<Cancellations>, request: Cancel) {
    if let Ok(mut all) = all.lock() {
        *all.entry(request.topic).or_default() += 1;
    }
}

async fn cancelled(State(all): State<Cancellations>, request: Cancelled) -> CancelledResponse {
    let count = all.lock().ok().and_then(|all| all.get(&request.topic).copied());
    CancelledResponse { count: count.unwrap_or_default() }
}

async fn renew(Header(session): Header<Session>, _: Renew) -> Result<Reply<RenewResponse>, Fault> {
    let renewed = Session { hops: session.hops.saturating_add(1), user: session.user.clone() };
    let block = HeaderBlock::from_message(&renewed).map_err(|error| Fault::receiver(error.to_string()))?;
    Ok(Reply::new(RenewResponse { user: session.user }).with_header(block))
}

async fn sample(request: Sample) -> SampleResponse {
    let points = (0..request.points).map(|n| Point { label: format!("<{n}>"), x: n, y: -n }).collect::<Vec<_>>();
    SampleResponse { numbers: vec![0.5, -2.25, 1e10].into(), points: points.into() }
}

async fn sum(request: Sum) -> SumResponse {
    let products: f64 = request.points.iter().map(|point| f64::from(point.x) * f64::from(point.y)).sum();
    let labels = request.points.iter().map(|point| point.label.as_str()).collect();
    SumResponse { total: request.numbers.iter().sum::<f64>() + products, labels }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An instant may be written in another zone.
    #[test]
    fn an_order_that_differs_is_not_taken_for_a_case() {
        for case in ["least", "most"] {
            let right = order(case).expect("a case");
            assert!(right.is_same(&order(case).expect("a case")));
            for wrong in [
                Order { photo: vec![].into(), ..right.clone() },
                Order { status: Status::Paid, ..right.clone() },
                Order { placed: DateTime::parse("2024-02-29T12:00:01Z").expect("a time"), ..right.clone() },
            ] {
                assert!(!wrong.is_same(&right), "{wrong:?}");
            }
            let placed = DateTime::parse("2026-01-02T01:04:05.250Z").expect("a time");
            assert_eq!(Order { placed, ..right.clone() }.is_same(&right), case == "most");
        }
        assert!(order("other").is_err());
    }
}
