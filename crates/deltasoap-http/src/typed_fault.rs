//! Faults with typed details, which handlers return and clients receive.

use deltasoap_core::soap::{Fault, FaultCode};
use deltasoap_core::{Error, Message};

/// A fault with one typed detail entry, as WSDL declares it for an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedFault<D> {
    /// The side that caused the fault.
    pub code: FaultCode,
    /// A human-readable explanation.
    pub reason: String,
    /// The detail entry.
    pub detail: D,
}

impl<D: Message> TypedFault<D> {
    /// Creates a fault that the sender caused.
    pub fn sender(reason: impl Into<String>, detail: D) -> Self {
        TypedFault { code: FaultCode::Sender, reason: reason.into(), detail }
    }

    /// Creates a fault that the receiver caused.
    pub fn receiver(reason: impl Into<String>, detail: D) -> Self {
        TypedFault { code: FaultCode::Receiver, reason: reason.into(), detail }
    }

    /// Returns the typed form of a received fault; `None` if it has no detail entry of this type.
    pub fn from_fault(fault: &Fault) -> Option<Result<Self, Error>> {
        let (code, reason) = (fault.code.clone(), fault.reason.clone());
        Some(fault.detail::<D>()?.map(|detail| TypedFault { code, reason, detail }))
    }
}

/// Converts the fault; omits the detail if it contains text that XML cannot carry.
impl<D: Message> From<TypedFault<D>> for Fault {
    fn from(typed: TypedFault<D>) -> Self {
        let fault = Fault::new(typed.code, typed.reason);
        match fault.clone().with_detail(&typed.detail) {
            Ok(detailed) => detailed,
            Err(error) => {
                tracing::error!(%error, "a fault's detail could not be written");
                fault
            }
        }
    }
}
