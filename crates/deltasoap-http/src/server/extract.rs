//! Extractors: the arguments of handlers that are taken from a request's context.

use super::context::Context;
use super::memory::Principal;
use crate::attachments::Attachments;
use crate::header::Header;
use deltasoap_core::schema::ElementRef;
use deltasoap_core::soap::Fault;
use deltasoap_core::soap::addressing::{Addressing, AddressingFault, AddressingFaultKind, AddressingHeaders};
use deltasoap_core::{Message, QName};

/// An argument of a [`Handler`](crate::Handler) that is taken from the request's context, or from
/// the state of the service.
///
/// Implemented for [`Context`], [`State`], [`Header`], [`AddressingHeaders`], [`Attachments`],
/// [`Principal`] and [`Extension`], and for `Option` of those that may be absent. Implement it for
/// types of your own:
///
/// ```
/// use deltasoap::{Context, Fault};
/// use deltasoap::server::FromContext;
///
/// struct Language(String);
///
/// impl<S> FromContext<S> for Language {
///     fn from_context(context: &mut Context, _: &S) -> Result<Self, Fault> {
///         let header = context.parts().headers.get(http::header::ACCEPT_LANGUAGE);
///         let language = header.and_then(|value| value.to_str().ok()).unwrap_or("en");
///         Ok(Language(language.to_owned()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken from the context of a request",
    label = "not an argument of a handler",
    note = "the arguments of a handler before the request implement `FromContext`: `Context`, `State<T>`, `Header<T>`, `Attachments`, `Principal`, `Extension<T>`"
)]
pub trait FromContext<S>: Sized {
    /// Takes the argument from the context, or from the service's state.
    ///
    /// # Errors
    /// Returns the fault that answers the request when the argument is absent or malformed.
    fn from_context(context: &mut Context, state: &S) -> Result<Self, Fault>;

    /// Returns the name of the header block that the argument takes. The operation then
    /// [understands](crate::Operation::understands) it. Default: that of [`header`](Self::header).
    fn understood() -> Option<QName> {
        Self::header().map(|(name, _)| name)
    }

    /// Returns the name and the schema of the header block that the argument takes, if it has a
    /// type. A [WSDL made from the types](crate::SoapService::wsdl) then describes it. Default:
    /// none.
    fn header() -> Option<(QName, ElementRef)> {
        None
    }
}

impl<S> FromContext<S> for Context {
    /// Takes the attachments, and shares the rest with the arguments that follow.
    fn from_context(context: &mut Context, _: &S) -> Result<Self, Fault> {
        Ok(context.take())
    }
}

/// A handler that also takes the [`Context`] has it after the attachments.
impl<S> FromContext<S> for Attachments {
    fn from_context(context: &mut Context, _: &S) -> Result<Self, Fault> {
        context.take_attachments().ok_or_else(|| {
            tracing::error!("a handler takes the attachments after its `Context`, which has them: put them before it");
            Fault::receiver("internal error")
        })
    }
}

/// The state of the service, or a part of it: see
/// [`SoapServiceBuilder::state`](crate::SoapServiceBuilder::state).
#[derive(Debug, Clone, Copy, Default)]
pub struct State<T>(pub T);

impl<S, T: FromRef<S>> FromContext<S> for State<T> {
    fn from_context(_: &mut Context, state: &S) -> Result<Self, Fault> {
        Ok(State(T::from_ref(state)))
    }
}

/// A part of a service's state, or all of it.
#[diagnostic::on_unimplemented(
    message = "the service has no state `{Self}`: its state is `{S}`",
    label = "a handler takes `State<{Self}>`",
    note = "call `.state(...)` of `SoapService::builder()` before the operation is added",
    note = "for a part of the state, implement `FromRef<{S}>` for `{Self}`"
)]
pub trait FromRef<S> {
    /// Returns the part.
    fn from_ref(state: &S) -> Self;
}

impl<T: Clone> FromRef<T> for T {
    fn from_ref(state: &T) -> T {
        state.clone()
    }
}

impl<S, T: Message> FromContext<S> for Header<T> {
    fn from_context(context: &mut Context, state: &S) -> Result<Self, Fault> {
        let header = Option::<Header<T>>::from_context(context, state)?;
        header.ok_or_else(|| Fault::sender(format!("the header block <{}> is required", T::ELEMENT)))
    }

    fn header() -> Option<(QName, ElementRef)> {
        Some((T::ELEMENT, T::REFERENCE))
    }
}

impl<S, T: Message> FromContext<S> for Option<Header<T>> {
    fn from_context(context: &mut Context, _: &S) -> Result<Self, Fault> {
        match context.header::<T>() {
            None => Ok(None),
            Some(Ok(block)) => Ok(Some(Header(block))),
            Some(Err(error)) => Err(Fault::sender(format!("the header block <{}> is malformed: {error}", T::ELEMENT))),
        }
    }

    fn header() -> Option<(QName, ElementRef)> {
        Some((T::ELEMENT, T::REFERENCE))
    }
}

/// The header blocks of WS-Addressing. A request without them is answered with a fault.
impl<S> FromContext<S> for AddressingHeaders {
    fn from_context(context: &mut Context, state: &S) -> Result<Self, Fault> {
        let headers = Option::<AddressingHeaders>::from_context(context, state)?;
        let version = Addressing::default();
        let missing = || AddressingFaultKind::HeaderRequired { header: version.name("Action") };
        headers.ok_or_else(|| AddressingFault::unrelated(version, missing()).to_fault(context.version()))
    }
}

impl<S> FromContext<S> for Option<AddressingHeaders> {
    fn from_context(context: &mut Context, _: &S) -> Result<Self, Fault> {
        AddressingHeaders::read(context.head()).map_err(|fault| fault.to_fault(context.version()))
    }
}

impl<S> FromContext<S> for Principal {
    fn from_context(context: &mut Context, _: &S) -> Result<Self, Fault> {
        context.principal().cloned().ok_or_else(|| Fault::sender("the sender of the request is not authenticated"))
    }
}

impl<S> FromContext<S> for Option<Principal> {
    fn from_context(context: &mut Context, _: &S) -> Result<Self, Fault> {
        Ok(context.principal().cloned())
    }
}

/// A value that a layer around the service has attached to the request; see [`Context::extension`].
/// A request without it is answered with a receiver fault, and the missing type is logged.
#[derive(Debug, Clone, Copy)]
pub struct Extension<T>(pub T);

impl<S, T: Clone + Send + Sync + 'static> FromContext<S> for Extension<T> {
    fn from_context(context: &mut Context, _: &S) -> Result<Self, Fault> {
        context.extension().cloned().map(Extension).ok_or_else(|| {
            let missing = std::any::type_name::<T>();
            tracing::error!(missing, "no layer has attached the extension that a handler takes");
            Fault::receiver("internal error")
        })
    }
}

impl<S, T: Clone + Send + Sync + 'static> FromContext<S> for Option<Extension<T>> {
    fn from_context(context: &mut Context, _: &S) -> Result<Self, Fault> {
        Ok(context.extension().cloned().map(Extension))
    }
}
