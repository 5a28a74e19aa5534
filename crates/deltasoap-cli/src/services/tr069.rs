//! TR-069 (CWMP): the auto-configuration server's side of `Inform`. It keeps no state of a session,
//! since the server sends no requests.
//!
//! Devices speak several versions of CWMP. For this message they differ only in the namespace, and
//! each device is answered in its own version. Parameters give the types of their values by
//! `xsi:type`.

use anyhow::Result;
use deltasoap::lexical::DateTime;
use deltasoap::schema::{QName, Use};
use deltasoap::soap::{HeaderBlock, Version};
use deltasoap::{Error, Fault, Lease, Message, Soap, SoapArray};
use deltasoap_cwmp::types::{DeviceId, EventStruct, ParameterValueStruct};
use deltasoap_http::{Context, MessageReply, Operation, Reply, SoapService, SoapServiceBuilder};
use http::StatusCode;

/// Builds the service.
pub fn service(builder: SoapServiceBuilder) -> Result<SoapService> {
    let nothing_to_ask = async |_: Context| Ok::<_, Fault>(MessageReply::status(StatusCode::NO_CONTENT));
    Ok(v1_0::register(v1_4::register(builder.name("CWMP"))).empty_post(nothing_to_ask).build()?)
}

/// Defines the messages of one version.
macro_rules! version {
    ($module:ident, $namespace:literal) => {
        pub mod $module {
            use super::*;

            #[derive(Debug, Clone, PartialEq, Soap)]
            #[soap(element = "Inform", namespace = $namespace, rename_all = "PascalCase")]
            pub struct Inform {
                pub device_id: DeviceId,
                pub event: SoapArray<EventStruct>,
                pub max_envelopes: u32,
                pub current_time: DateTime,
                pub retry_count: u32,
                pub parameter_list: SoapArray<ParameterValueStruct>,
            }

            #[derive(Debug, Clone, PartialEq, Eq, Soap)]
            #[soap(element = "InformResponse", namespace = $namespace, rename_all = "PascalCase")]
            pub struct InformResponse {
                pub max_envelopes: u32,
            }

            /// The header that pairs a response with its request.
            #[derive(Debug, Clone, PartialEq, Eq, Soap)]
            #[soap(element = "ID", namespace = $namespace)]
            pub struct Id(pub String);

            pub(super) fn register(builder: SoapServiceBuilder) -> SoapServiceBuilder {
                let inform = Operation::new(inform).encoding(Use::Literal);
                let understood = ["ID", "HoldRequests", "NoMoreRequests"];
                let inform = understood
                    .into_iter()
                    .fold(inform, |inform, header| inform.understands(QName::new($namespace, header)));
                builder.add_operation(inform)
            }

            async fn inform(context: Context, _: Lease<Inform>) -> Result<Reply<InformResponse>, Fault> {
                let answer = Reply::new(InformResponse { max_envelopes: 1 });
                Ok(answered(answer, context.header::<Id>())?)
            }
        }
    };
}

version!(v1_0, "urn:dslforum-org:cwmp-1-0");
version!(v1_4, "urn:dslforum-org:cwmp-1-4");

/// Adds the request's ID to an answer, if it had one.
fn answered<B, I: Message>(answer: Reply<B>, id: Option<Result<I, Error>>) -> Result<Reply<B>, Error> {
    let Some(id) = id.transpose()? else { return Ok(answer) };
    Ok(answer.with_header(HeaderBlock::from_message(&id)?.must_understand(Version::Soap11)))
}
