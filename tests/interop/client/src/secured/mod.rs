//! `/secured`: the bank of `tests/interop/secured/bank.wsdl`, whose messages have WS-Security, and calls of it.
//!
//! [`policy`] says how we satisfy the policies of the WSDL, [`wire`] changes messages on the way.

mod calls;
mod keys;
mod policy;
mod wire;

pub use calls::test;
pub use keys::Keys;

use crate::Failure;
use axum::Router;
use deltasoap::security::{Protection, Verified};
use deltasoap::server::{AddressingMode, Extension, SoapServiceBuilder};
use deltasoap::soap::TypedFault;
use deltasoap::{Faults, Soap, SoapService};
use policy::{Parties, Policy, Settings};
use std::time::Duration;

const WSDL: &str = include_str!("../../../secured/bank.wsdl");
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Debug, Soap)]
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

/// Adds the ports below `/secured`; those below `/secured/late` send responses of an hour ago.
pub fn routes(mut router: Router, builder: impl Fn() -> SoapServiceBuilder, keys: &Keys) -> Result<Router, Failure> {
    for policy in Policy::ALL {
        let service = service(builder(), policy, keys, |protection| protection)?;
        let late = self::service(builder(), policy, keys, |protection| protection.clock_behind(HOUR))?;
        for version in ["11", "12"] {
            let port = format!("{}{version}", policy.name());
            router = router.route_service(&format!("/secured/{port}"), service.clone());
            router = router.route_service(&format!("/secured/late/{port}"), late.clone());
        }
    }
    Ok(router)
}

fn service(
    builder: SoapServiceBuilder,
    policy: Policy,
    keys: &Keys,
    configure: impl FnOnce(Protection) -> Protection,
) -> Result<SoapService, Failure> {
    let parties = Parties { own: "server", trusted: "authority", peer: "client", is_initiator: false };
    let Settings { protection, requirements } = policy.settings(keys, &parties)?;
    let mut builder = builder.name("Bank").operation(transfer).wsdl(WSDL);
    if policy.is_addressed() {
        builder = builder.addressing(AddressingMode::Require);
    }
    if let Some(protection) = protection {
        builder = builder.protection(configure(protection));
    }
    if let Some(requirements) = requirements {
        builder = builder.requirements(requirements);
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
    Ok(TransferResponse { from, amount: transfer.amount })
}
