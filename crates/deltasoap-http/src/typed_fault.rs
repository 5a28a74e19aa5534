//! Faults with typed details, which handlers return and clients receive.

use crate::attachments::AttachmentError;
use deltasoap_core::schema::ElementRef;
use deltasoap_core::soap::{Fault, FaultCode};
use deltasoap_core::{Error, Message, QName};
use std::convert::Infallible;

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

/// An error of a handler: it converts into a [`Fault`], and says which details that may have.
///
/// Implemented for [`Fault`], [`TypedFault`], and enums that derive `Faults`. An error type of your
/// own has a conversion, and an implementation without items:
///
/// ```
/// use deltasoap::Fault;
/// use deltasoap::soap::IntoFault;
///
/// enum Refusal {
///     Closed,
/// }
///
/// impl From<Refusal> for Fault {
///     fn from(refusal: Refusal) -> Self {
///         match refusal {
///             Refusal::Closed => Fault::receiver("the shop is closed"),
///         }
///     }
/// }
///
/// impl IntoFault for Refusal {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error of a handler",
    note = "the error of a handler is a `Fault`, a `TypedFault`, an enum that derives `Faults`, or a type with `impl From<...> for Fault` and `impl IntoFault for ...`"
)]
pub trait IntoFault: Into<Fault> {
    /// Returns the names and schemas of the detail entries that the fault may have. A [WSDL made
    /// from the types](crate::SoapService::wsdl) declares a fault for each. Default: none.
    fn details() -> Vec<(QName, ElementRef)> {
        Vec::new()
    }
}

impl IntoFault for Fault {}
impl IntoFault for Box<Fault> {}
impl IntoFault for Error {}
impl IntoFault for AttachmentError {}
impl IntoFault for Infallible {}

impl<D: Message> IntoFault for TypedFault<D> {
    fn details() -> Vec<(QName, ElementRef)> {
        vec![Self::detail()]
    }
}

/// A type of the variants of an enum that derives `Faults`, but the last.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a fault with a typed detail",
    label = "not a `TypedFault`",
    note = "a variant holds a `TypedFault<T>`, where `T` is a message; the last one holds a `Fault`, for all others"
)]
pub trait FaultVariant: Sized {
    /// The name of the detail entry.
    const NAME: &'static QName;

    /// Returns the name and schema of the detail entry.
    fn detail() -> (QName, ElementRef);

    /// See [`TypedFault::from_fault`].
    fn from_fault(fault: &Fault) -> Option<Result<Self, Error>>;

    fn into_fault(self) -> Fault;

    fn reason(&self) -> &str;
}

impl<D: Message> FaultVariant for TypedFault<D> {
    const NAME: &'static QName = &D::ELEMENT;

    fn detail() -> (QName, ElementRef) {
        (D::ELEMENT, D::REFERENCE)
    }

    fn from_fault(fault: &Fault) -> Option<Result<Self, Error>> {
        TypedFault::from_fault(fault)
    }

    fn into_fault(self) -> Fault {
        self.into()
    }

    fn reason(&self) -> &str {
        &self.reason
    }
}
