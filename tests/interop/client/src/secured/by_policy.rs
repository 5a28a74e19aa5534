//! Calls of the ports that follow policies, and what must not succeed.

use super::bank::{Bank, refuse, refuse_replay, reject, reject_replay, transfer};
use super::policy::{self, Policy, USER};
use super::wire::{Change, Wire};
use super::{HOUR, Keys, Transfer, TransferFault};
use crate::Failure;
use crate::report::{Report, same};
use deltasoap::Client;
use deltasoap::client::CallError;
use deltasoap::security::{PolicyCredentials, Verified};
use deltasoap::soap::Version;
use deltasoap::soap::addressing::Addressing;
use std::time::SystemTime;

/// A client of a port, to be configured.
struct Port<'p> {
    url: &'p str,
    keys: &'p Keys,
    version: Version,
    policy: Policy,
}

/// Tests all ports of one version of SOAP, and prints a line for each test. `url` is that below
/// which they are.
pub async fn test(url: &str, keys: &Keys, version: Version, report: &Report) -> Result<(), Failure> {
    for policy in Policy::ALL {
        let port = Port { url, keys, version, policy };
        let feature = policy.feature();
        report.test(feature, "calls name their sender", call(&port)).await;
        report.test(feature, "faults are declared ones", fail(&port)).await;
        report.test(feature, "a bare request is refused", refuse(port.sending(Change::Bare))).await;
        report.test(feature, "a stale request is refused", refuse(port.stale())).await;
        report.test(feature, "a replayed request is refused", refuse_replay(|change| port.sending(change))).await;
        if policy == Policy::User {
            report.test(feature, "a wrong password is refused", refuse(port.with_password("another"))).await;
            continue;
        }
        report.test(feature, "line ends are signed", call_with_line_ends(&port)).await;
        report.test(feature, "a changed request is refused", refuse(port.sending(Change::Content))).await;
        report.test(feature, "a request of a stranger is refused", refuse(port.of("stranger", "authority"))).await;
        report.test(feature, "a response of a stranger is refused", reject(port.of("client", "stranger"))).await;
        report.test(feature, "a changed response is refused", reject(port.receiving(Change::Content))).await;
        report.test(feature, "a bare response is refused", reject(port.receiving(Change::Bare))).await;
        report.test(feature, "a stale response is refused", reject(port.an_hour_later())).await;
        report.test(feature, "a replayed response is refused", reject_replay(|change| port.receiving(change))).await;
    }
    Ok(())
}

async fn call(port: &Port<'_>) -> Result<(), Failure> {
    let bank = port.client()?;
    let from = if port.policy == Policy::User { USER } else { "CN=client" };
    // The later ones are written against a template, and compared with a memory.
    for amount in [150, 250, 123_456_789, 250] {
        let response = bank.transfer(&transfer(amount), from).await?;
        if port.policy != Policy::User {
            let verified = response.extensions.get::<Verified>().ok_or("the response is not verified")?;
            same(&verified.sender.name(), &Some("CN=server"), "the sender of the response")?;
            same(&verified.is_body_encrypted, &(port.policy == Policy::Encrypted), "the encryption")?;
        }
    }
    Ok(())
}

/// Canonical XML has references to carriage returns.
async fn call_with_line_ends(port: &Port<'_>) -> Result<(), Failure> {
    let with_note = Transfer { note: Some("a\r\nb\n".to_owned()), ..transfer(250) };
    // Some services return the note, some do not.
    let receipt = port.client()?.client.call(&with_note).await?;
    same(&receipt.amount, &with_note.amount, "the amount")
}

async fn fail(port: &Port<'_>) -> Result<(), Failure> {
    match port.client()?.client.call(&transfer(-1)).await {
        Err(CallError::Fault(fault)) => match TransferFault::from(*fault) {
            TransferFault::Refused(fault) => same(&fault.detail.limit, &0, "the limit"),
            TransferFault::Other(other) => Err(format!("expected a declared fault, got {other:?}").into()),
        },
        other => Err(format!("expected a fault, got {other:?}").into()),
    }
}

impl Port<'_> {
    fn client(&self) -> Result<Bank, Failure> {
        self.of("client", "authority")
    }

    fn of(&self, own: &str, authority: &str) -> Result<Bank, Failure> {
        self.bank(policy::of_client(self.keys, own, authority)?, Wire::default())
    }

    fn sending(&self, requests: Change) -> Result<Bank, Failure> {
        self.bank(self.credentials()?, Wire::new(requests, Change::None))
    }

    fn receiving(&self, responses: Change) -> Result<Bank, Failure> {
        self.bank(self.credentials()?, Wire::new(Change::None, responses))
    }

    /// Returns a client whose clock is an hour late when it sends.
    fn stale(&self) -> Result<Bank, Failure> {
        let stale = self.credentials()?.adjust_protection(|protection| protection.clock_behind(HOUR));
        self.bank(stale, Wire::default())
    }

    /// Returns a client whose clock is an hour early when it receives.
    fn an_hour_later(&self) -> Result<Bank, Failure> {
        let later = self.credentials()?.adjust_requirements(|requirements| requirements.at(SystemTime::now() + HOUR));
        self.bank(later, Wire::default())
    }

    fn with_password(&self, password: &str) -> Result<Bank, Failure> {
        self.bank(self.credentials()?.user(USER, password), Wire::default())
    }

    fn credentials(&self) -> Result<PolicyCredentials, Failure> {
        policy::of_client(self.keys, "client", "authority")
    }

    fn bank(&self, credentials: PolicyCredentials, wire: Wire) -> Result<Bank, Failure> {
        let version = if self.version == Version::Soap11 { "11" } else { "12" };
        let url = format!("{}/{}{version}", self.url, self.policy.name());
        let mut builder = Client::builder(url).version(self.version).action("urn:bank:transfer");
        builder = builder.policies(self.policy.documents()?).policy_credentials(credentials);
        if self.policy.is_addressed() {
            builder = builder.addressing(Addressing::V10);
        }
        Bank::new(builder, wire)
    }
}
