//! The messages of CWMP (TR-069 Amendment 6, annex A), with the names that annex A gives them.
//!
//! One set of types stands for all versions: those of the protocol 1.4, which has all messages of
//! earlier ones. They are declared in the namespace of 1.2; a session reads and writes them in its
//! own. Only the elements of messages are in a namespace; what is within them is in none.

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

/// A request, and what answers it.
pub trait Rpc: Message + Send + 'static {
    /// The message that answers it.
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

/// Asks for the names of all requests that the receiver takes (A.3.1.1). Both sides may ask.
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "GetRPCMethods", compact)]
pub struct GetRpcMethods {}

/// The names of requests (A.3.1.1).
#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "GetRPCMethodsResponse", rename_all = "PascalCase", compact)]
pub struct GetRpcMethodsResponse {
    /// Names as in `GetParameterValues`.
    pub method_list: deltasoap::SoapArray<Text>,
}

requests! { GetRpcMethods => GetRpcMethodsResponse }

/// The time that stands for one that is not known (TR-106 Amendment 7, section 3.2):
/// `0001-01-01T00:00:00Z`.
pub fn unknown_time() -> DateTime {
    match (Date::new(1, 1, 1), Time::new(0, 0, 0, 0)) {
        (Some(date), Some(time)) => DateTime::new(date, time).with_zone(Some(Zone::UTC)),
        _ => unreachable!("a day and a time that exist"),
    }
}
