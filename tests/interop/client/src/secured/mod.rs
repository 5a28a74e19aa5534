//! `/secured`: a bank whose messages have WS-Security, and calls of it.
//!
//! Its ports follow the policies of `tests/interop/secured/bank.wsdl` ([`by_policy`]); other
//! services of it require the same in code ([`by_code`]). [`wire`] changes messages on the way.

mod bank;
mod by_code;
mod by_policy;
mod keys;
mod policy;
mod wire;

pub use keys::Keys;

use crate::Failure;
use crate::report::Report;
use axum::Router;
use deltasoap::security::{PolicyCredentials, Verified};
use deltasoap::server::{AddressingMode, Extension, SoapServiceBuilder};
use deltasoap::soap::{TypedFault, Version};
use deltasoap::{Faults, Soap, SoapService};
use policy::Policy;
use std::time::Duration;

const WSDL: &str = include_str!("../../../secured/bank.wsdl");
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, Soap)]
#[soap(namespace = "urn:bank", qualified, message, element = "transfer", response = TransferResponse)]
struct Transfer {
    to: String,
    amount: i32,
    note: Option<String>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:bank", qualified, message, element = "transferResponse")]
struct TransferResponse {
    from: String,
    amount: i32,
    /// That of the request.
    note: Option<String>,
}

#[derive(Debug, Soap)]
#[soap(namespace = "urn:bank", qualified, message, element = "refused")]
struct Refused {
    limit: i32,
}

#[derive(Debug, Faults)]
enum TransferFault {
    Refused(TypedFault<Refused>),
    Other(deltasoap::Fault),
}

/// How services tell what they require.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Means {
    Policy,
    Code,
}

/// Tests the services below a URL in one version of SOAP, those of one kind or all, and prints a
/// line for each test.
pub async fn test(
    url: &str,
    keys: &Keys,
    only: Option<Means>,
    version: Version,
    report: &Report,
) -> Result<(), Failure> {
    if only != Some(Means::Code) {
        Box::pin(by_policy::test(url, keys, version, report)).await?;
    }
    if only != Some(Means::Policy) {
        Box::pin(by_code::test(url, keys, version, report)).await?;
    }
    Ok(())
}

/// Adds the services below `/secured`; ports below `/secured/late` send responses of an hour ago.
pub fn routes(mut router: Router, builder: impl Fn() -> SoapServiceBuilder, keys: &Keys) -> Result<Router, Failure> {
    let credentials = policy::of_server(keys)?;
    let late = credentials.clone().adjust_protection(|protection| protection.clock_behind(HOUR));
    for policy in Policy::ALL {
        for (folder, credentials) in [("", &credentials), ("/late", &late)] {
            let service = service(builder(), policy, credentials.clone())?;
            for version in ["11", "12"] {
                let path = format!("/secured{folder}/{}{version}", policy.name());
                router = router.route_service(&path, service.clone());
            }
        }
    }
    for (path, service) in by_code::services(builder, keys)? {
        router = router.route_service(&format!("/secured/{path}"), service);
    }
    Ok(router)
}

fn service(
    builder: SoapServiceBuilder,
    policy: Policy,
    credentials: PolicyCredentials,
) -> Result<SoapService, Failure> {
    let mut builder = builder.name("Bank").operation(transfer).wsdl(WSDL);
    builder = builder.policies(policy.documents()?).policy_credentials(credentials);
    if policy.is_addressed() {
        builder = builder.addressing(AddressingMode::Require);
    }
    Ok(builder.build()?)
}

async fn transfer(
    Extension(verified): Extension<Verified>,
    transfer: Transfer,
) -> Result<TransferResponse, TransferFault> {
    if transfer.amount < 0 {
        let fault = TypedFault::sender("the amount is negative", Refused { limit: 0 });
        return Err(TransferFault::Refused(fault));
    }
    let from = verified.sender.name().unwrap_or_default().to_owned();
    Ok(TransferResponse { from, amount: transfer.amount, note: transfer.note })
}
