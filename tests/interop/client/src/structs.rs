//! Structs with fields that may be absent or nil, and faults with typed details.

use crate::messages::*;
use crate::report::{Feature, Report, ensure, same};
use crate::values::options;
use crate::{Endpoint, Failure};
use deltasoap::client::CallError;
use deltasoap::lexical::Date;
use deltasoap::soap::{FaultCode, TypedFault};
use deltasoap::{Fault, Message, Nillable};

pub async fn test(endpoint: &Endpoint, report: &Report) {
    structs(endpoint, report).await;
    faults(endpoint, report).await;
}

async fn structs(endpoint: &Endpoint, report: &Report) {
    let nested = Address { street: "St. James's Square 12".into(), city: "London".into(), zip: Some("SW1Y".into()) };
    let without = Address { zip: None, ..nested.clone() };
    let full = Person {
        nickname: Some("ada".into()),
        score: Nillable::Value(0.1),
        born: Some(Nillable::Value(Date::new(1815, 12, 10).expect("a date"))),
        role: Role::Admin,
        address: Some(nested),
        tag: ["a", "b", "c"].map(str::to_owned).to_vec(),
        active: Some(true),
        ..required()
    };
    let cases = [
        ("everything", full.clone()),
        ("only what is required", required()),
        ("an optional one inside a nested one missing", Person { address: Some(without), ..required() }),
        ("empty strings", Person { name: String::new(), nickname: Some(String::new()), ..required() }),
        ("a nil value", Person { score: Nillable::Nil, ..full.clone() }),
    ];
    for (test, person) in cases {
        report.test(Feature::Structs, test, echo(endpoint, person)).await;
    }
    let nil = Person { born: Some(Nillable::Nil), ..full };
    report.test(Feature::Structs, "an optional nil value", echo_optional_nil(endpoint, nil)).await;
}

fn required() -> Person {
    Person {
        name: "Ada <&> Lovelace".into(),
        nickname: None,
        score: Nillable::Value(1.5),
        born: None,
        role: Role::Guest,
        address: None,
        tag: Vec::new(),
        id: 1 << 50,
        active: None,
    }
}

/// Echoes it several times, so that templates and earlier messages are used.
async fn echo(endpoint: &Endpoint, mut person: Person) -> Result<(), Failure> {
    for round in 0..3 {
        person.id += round;
        same(&echoed(endpoint, &person).await?, &person, "person")?;
    }
    Ok(())
}

/// Some toolkits have one value for absent and nil, so either may be returned where both are
/// allowed.
async fn echo_optional_nil(endpoint: &Endpoint, mut person: Person) -> Result<(), Failure> {
    let received = echoed(endpoint, &person).await?;
    if received.born.is_none() {
        person.born = None;
    }
    same(&received, &person, "person")
}

async fn echoed(endpoint: &Endpoint, person: &Person) -> Result<Person, Failure> {
    let request = EchoStruct { person: person.clone() };
    let response = endpoint.client.call_leased_as_with::<EchoStructResponse>(&request, options::<EchoStruct>()).await?;
    Ok(response.body.person.clone())
}

async fn faults(endpoint: &Endpoint, report: &Report) {
    for code in ["quota", "<a & b>", "漢字🦀"] {
        report.test(Feature::Faults, &format!("typed fault, code {code:?}"), fails(endpoint, code)).await;
    }
    report.test(Feature::Faults, "an unknown operation", unknown(endpoint)).await;
}

async fn fails(endpoint: &Endpoint, code: &str) -> Result<(), Failure> {
    let fault = fault::<_, FailResponse>(endpoint, &Fail { code: code.to_owned() }).await?;
    ensure(matches!(fault.code, FaultCode::Sender | FaultCode::Receiver), "unexpected kind of code")?;
    ensure(!fault.reason.is_empty(), "there is no reason")?;
    let typed = TypedFault::<BenchFault>::from_fault(&fault).ok_or("there is no BenchFault in the detail")??;
    let limit = i32::try_from(code.chars().count())?;
    same(&typed.detail, &BenchFault { code: code.to_owned(), limit }, "detail")
}

/// Toolkits differ on whose fault it is, but all must answer with a fault.
async fn unknown(endpoint: &Endpoint) -> Result<(), Failure> {
    fault::<_, EchoVoidResponse>(endpoint, &NoSuchOperation {}).await.map(drop)
}

async fn fault<Req: Message, Resp: Message>(endpoint: &Endpoint, request: &Req) -> Result<Fault, Failure> {
    match endpoint.client.call_as_with::<Resp>(request, options::<Req>()).await {
        Err(CallError::Fault(fault)) => Ok(*fault),
        Err(error) => Err(error.into()),
        Ok(_) => Err("expected a fault, got a response".into()),
    }
}
