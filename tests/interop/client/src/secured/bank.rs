//! A client of the bank, and what must become of its calls.

use super::wire::{Change, Seen, Wire};
use super::{Transfer, TransferResponse};
use crate::Failure;
use crate::report::{ensure, same};
use deltasoap::Client;
use deltasoap::client::{CallError, CallOptions, ClientBuilder, Response};

/// The amount that is changed on the way.
const AMOUNT: i32 = 250;

/// A client whose messages can be observed.
pub struct Bank {
    pub client: Client<Wire>,
    wire: Wire,
}

impl Bank {
    pub fn new(builder: ClientBuilder, wire: Wire) -> Result<Self, Failure> {
        Ok(Bank { client: builder.build_with(wire.clone())?, wire })
    }

    /// Succeeds if the service knows the sender, and the response belongs to the request.
    pub async fn transfer(&self, transfer: &Transfer, from: &str) -> Result<Response<TransferResponse>, Failure> {
        let response = self.client.call_with(transfer, CallOptions::new()).await?;
        let Transfer { amount, note, .. } = transfer.clone();
        same(&response.body, &TransferResponse { from: from.to_owned(), amount, note }, "the receipt")?;
        Ok(response)
    }
}

/// The service must answer the request with a fault, which may be encrypted. Nothing but its
/// security is wrong with the request.
pub async fn refuse(bank: Result<Bank, Failure>) -> Result<(), Failure> {
    let bank = bank?;
    if let Ok(receipt) = bank.client.call(&transfer(AMOUNT)).await {
        return Err(format!("accepted: {receipt:?}").into());
    }
    let Seen { response, status, .. } = bank.wire.seen();
    let is_fault = response.contains("Fault>") || response.contains("EncryptedData");
    ensure(is_fault, &format!("not a fault, but {status}: {response}"))
}

/// The service must accept a request, and refuse it when it comes again. `sending` returns a client
/// whose requests are changed.
pub async fn refuse_replay(sending: impl Fn(Change) -> Result<Bank, Failure>) -> Result<(), Failure> {
    let first = sending(Change::None)?;
    first.client.call(&transfer(AMOUNT)).await?;
    refuse(sending(Change::Replay(first.wire.seen().request))).await
}

/// We must not accept the response.
pub async fn reject(bank: Result<Bank, Failure>) -> Result<(), Failure> {
    match bank?.client.call(&transfer(AMOUNT)).await {
        Err(CallError::Insecure(_)) => Ok(()),
        other => Err(format!("expected a refused response, got {other:?}").into()),
    }
}

/// WS-Addressing finds that it is the response to another request. `receiving` returns a client
/// whose responses are changed.
pub async fn reject_replay(receiving: impl Fn(Change) -> Result<Bank, Failure>) -> Result<(), Failure> {
    let first = receiving(Change::None)?;
    first.client.call(&transfer(AMOUNT)).await?;
    let bank = receiving(Change::Replay(first.wire.seen().response))?;
    match bank.client.call(&transfer(AMOUNT)).await {
        Err(CallError::Decode(error)) => ensure(error.to_string().contains("relates to"), &error.to_string()),
        other => Err(format!("expected a refused response, got {other:?}").into()),
    }
}

pub fn transfer(amount: i32) -> Transfer {
    Transfer { to: "Bob & <Eve>".to_owned(), amount, note: None }
}
