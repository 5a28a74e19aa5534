//! What both services have besides the kinds: a header block, and a fault with a typed detail.

use deltasoap::{Message, Soap};
use std::fmt::Debug;

/// The messages of one service.
pub trait Calls: 'static {
    /// The header block.
    type Trace: Message + From<Fields> + Into<Fields> + Send + Sync;
    /// Asks for the header block to be returned with one more hop.
    type TraceRequest: Message + Default + Send + Sync;
    /// The answer, with a header block if the request had one.
    type TraceResponse: Message + Default + Send + Sync;
    /// Asks for a fault.
    type Fail: Message + From<String> + AsRef<str> + Send + Sync;
    /// Never sent.
    type FailResponse: Message + Default + Send + Sync;
    /// The fault's detail.
    type Failure: Message + From<Fields> + Into<Fields> + Clone + Debug + Send + Sync;
}

/// A text and a number: the content of header blocks and details.
pub type Fields = (String, i32);

/// The messages of `types.wsdl`.
#[derive(Debug)]
pub struct LiteralCalls;

/// The messages of `encoded.wsdl`.
#[derive(Debug)]
pub struct EncodedCalls;

macro_rules! calls {
    ($($service:ident in $module:ident, $namespace:literal),*) => {$(
        mod $module {
            use super::*;

            #[derive(Debug, Clone, PartialEq, Soap)]
            #[soap(compact, namespace = $namespace, element = "Trace")]
            pub struct Trace {
                id: String,
                hops: i32,
            }

            #[derive(Debug, Clone, PartialEq, Soap)]
            #[soap(compact, namespace = $namespace, element = "Failure")]
            pub struct Failure {
                code: String,
                limit: i32,
            }

            #[derive(Debug, Clone, PartialEq, Soap)]
            #[soap(compact, namespace = $namespace, element = "fail")]
            pub struct Fail {
                code: String,
            }

            #[derive(Debug, Clone, Default, PartialEq, Soap)]
            #[soap(compact, namespace = $namespace, element = "failResponse")]
            pub struct FailResponse {}

            #[derive(Debug, Clone, Default, PartialEq, Soap)]
            #[soap(compact, namespace = $namespace, element = "trace")]
            pub struct TraceRequest {}

            #[derive(Debug, Clone, Default, PartialEq, Soap)]
            #[soap(compact, namespace = $namespace, element = "traceResponse")]
            pub struct TraceResponse {}

            impl From<Fields> for Trace {
                fn from((id, hops): Fields) -> Self {
                    Trace { id, hops }
                }
            }

            impl From<Trace> for Fields {
                fn from(Trace { id, hops }: Trace) -> Self {
                    (id, hops)
                }
            }

            impl From<Fields> for Failure {
                fn from((code, limit): Fields) -> Self {
                    Failure { code, limit }
                }
            }

            impl From<Failure> for Fields {
                fn from(Failure { code, limit }: Failure) -> Self {
                    (code, limit)
                }
            }

            impl From<String> for Fail {
                fn from(code: String) -> Self {
                    Fail { code }
                }
            }

            impl AsRef<str> for Fail {
                fn as_ref(&self) -> &str {
                    &self.code
                }
            }
        }

        impl Calls for $service {
            type Trace = $module::Trace;
            type TraceRequest = $module::TraceRequest;
            type TraceResponse = $module::TraceResponse;
            type Fail = $module::Fail;
            type FailResponse = $module::FailResponse;
            type Failure = $module::Failure;
        }
    )*};
}

calls! { LiteralCalls in literal, "urn:types", EncodedCalls in encoded, "urn:encoded" }
