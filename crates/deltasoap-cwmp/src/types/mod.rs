//! The messages of CWMP (TR-069 Amendment 6, annex A), with the names that annex A gives them.
//!
//! One set of types serves all versions: that of protocol 1.4, which includes all messages of
//! earlier versions. The types are declared in the namespace of 1.2; a session decodes and encodes
//! them in its own. Only the elements of messages are in a namespace; their content is in none.
//!
//! Both mechanisms are general: `Operation::named` accepts the types under other names, and
//! `Envelope::namespace` writes one namespace in place of another.

mod inform;
mod objects;
mod options;
mod parameters;
mod software;
mod transfers;

pub use inform::*;
pub use objects::*;
pub use options::*;
pub use parameters::*;
pub use software::*;
pub use transfers::*;

use deltasoap::lexical::{Date, DateTime, Time, Zone};
use deltasoap::{Message, Soap};

/// A request, with the type of its response.
pub trait Rpc: Message + Send + 'static {
    /// The response message.
    type Response: Message + Send + 'static;
}

/// Declares requests and their responses: `requests! { Reboot => RebootResponse }`.
macro_rules! requests {
    ($($request:ident => $response:ident),* $(,)?) => {
        $(impl $crate::types::Rpc for $request {
            type Response = $response;
        })*
    };
}
pub(crate) use requests;

/// An item of an array of strings: an element `string`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Soap)]
#[soap(name = "string", namespace = "http://www.w3.org/2001/XMLSchema", item_name = "string", compact)]
pub struct Text(pub String);

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Self {
        Text(text.into())
    }
}

/// Asks for the names of all requests that the receiver supports (A.3.1.1). Both sides may send it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "GetRPCMethods", compact)]
pub struct GetRpcMethods {}

/// The names of requests (A.3.1.1).
#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "GetRPCMethodsResponse", rename_all = "PascalCase", compact)]
pub struct GetRpcMethodsResponse {
    /// Names such as `GetParameterValues`.
    pub method_list: deltasoap::SoapArray<Text>,
}

requests! { GetRpcMethods => GetRpcMethodsResponse }

/// Returns the time that stands for an unknown time (TR-106 Amendment 7, section 3.2):
/// `0001-01-01T00:00:00Z`.
pub fn unknown_time() -> DateTime {
    match (Date::new(1, 1, 1), Time::new(0, 0, 0, 0)) {
        (Some(date), Some(time)) => DateTime::new(date, time).with_zone(Some(Zone::UTC)),
        _ => unreachable!("a day and a time that exist"),
    }
}
