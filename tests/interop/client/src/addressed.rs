//! `/addressed`: a service that requires WS-Addressing, and calls of it by its WSDL, which says so.

use crate::Failure;
use crate::report::{Report, ensure, same};
use deltasoap::client::CallOptions;
use deltasoap::server::{AddressingMode, BuildError, SoapServiceBuilder};
use deltasoap::soap::addressing::{AddressingFault, AddressingHeaders, RelatesTo};
use deltasoap::soap::{TypedFault, Version};
use deltasoap::{Faults, Soap, SoapService};
use deltasoap_dynamic::{DynamicClient, DynamicError};
use serde_json::json;

/// Where clients may have their responses sent, in each version of SOAP.
const REPLIES: [&str; 2] = ["http://localhost:18411/", "http://localhost:18412/"];
/// The reason that WS-Addressing gives for a missing header block (SOAP Binding, section 6.4.2).
const HEADER_REQUIRED: &str = "A required header representing a Message Addressing Property is not present";
const WSDL: &str = include_str!("../addressed.wsdl");

#[derive(Debug, Soap)]
#[soap(namespace = "urn:addressed", qualified, message, element = "add")]
struct Add {
    a: i32,
    b: i32,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:addressed", qualified, message, element = "addResponse")]
struct AddResponse {
    sum: i32,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:addressed", qualified, message, element = "negative")]
struct Negative {
    number: i32,
}

#[derive(Debug, Faults)]
enum AddFault {
    Negative(TypedFault<Negative>),
    Other(deltasoap::Fault),
}

/// Creates the service.
pub fn service(builder: SoapServiceBuilder) -> Result<SoapService, BuildError> {
    let add = async |add: Add| match [add.a, add.b].into_iter().find(|number| *number < 0) {
        Some(number) => Err(AddFault::Negative(TypedFault::sender("a number is negative", Negative { number }))),
        None => Ok(AddResponse { sum: add.a.wrapping_add(add.b) }),
    };
    let builder = builder.name("Addressed").operation(add).addressing(AddressingMode::Require);
    builder.reply_targets(REPLIES).wsdl(WSDL).build()
}

/// Tests the service in one version of SOAP, and prints a line for each test.
pub async fn test(url: &str, version: Version, report: &Report) -> Result<(), Failure> {
    // A peer may serve both versions at one URL, and change only one of them in its WSDL.
    let client = DynamicClient::from_wsdl(format!("{url}?wsdl")).await?.version(version).endpoint(url);
    report.test("addressing calls", "responses name their request", add(&client)).await;
    report.test("addressing faults", "declared faults have their action", fail(&client)).await;
    report.test("addressing faults", "requests without header blocks are refused", refuse(&client)).await;
    Ok(())
}

async fn add(client: &DynamicClient) -> Result<(), Failure> {
    let options = CallOptions::new().message_id("urn:interop:1");
    let reply = client.prepare("add")?.options(options).send_json(&json!({ "a": 2, "b": 3 })).await?;
    let reply = reply.ok_or("no reply")?;
    same(&reply.to_json()?["sum"], &json!(5), "the sum")?;
    let headers = AddressingHeaders::read(&reply.head)?.ok_or("no header blocks")?;
    same(&headers.relates_to, &vec![RelatesTo::reply("urn:interop:1")], "the request")?;
    same(&&*headers.action, &"urn:addressed:Sums:addResponse", "the action")
}

async fn fail(client: &DynamicClient) -> Result<(), Failure> {
    match client.call("add", &json!({ "a": 2, "b": -3 })).await {
        Err(DynamicError::Fault(fault)) => {
            same(&fault.to_json()["detail"]["negative"]["number"], &json!(-3), "the detail")?;
            let action = fault.headers.iter().find(|(name, _)| &*name.local == "Action");
            let action = action.map(|(_, json)| json.to_string()).unwrap_or_default();
            ensure(action.contains("urn:addressed:Sums:add:Fault:negative"), &format!("the action is {action}"))
        }
        other => Err(format!("expected a fault, got {other:?}").into()),
    }
}

async fn refuse(client: &DynamicClient) -> Result<(), Failure> {
    let unaddressed = client.clone().configure(|builder| builder.addressing(None));
    match unaddressed.call("add", &json!({ "a": 2, "b": 3 })).await {
        Err(DynamicError::Fault(fault)) => {
            // An endpoint of CXF for SOAP 1.2 loses the code in SOAP 1.1, and leaves the reason.
            if fault.fault.reason == HEADER_REQUIRED {
                return Ok(());
            }
            let code = AddressingFault::code_in(&fault.fault);
            same(&code, &Some("MessageAddressingHeaderRequired"), "the code")
        }
        other => Err(format!("expected a fault, got {other:?}").into()),
    }
}
