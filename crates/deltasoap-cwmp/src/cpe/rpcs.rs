//! The CPE's answers to requests of an ACS (annex A).

use super::state::{State, Transfer};
use crate::message::{self, Headers};
use crate::types::*;
use crate::{CwmpFault, Version, fault};
use deltasoap::engine::{Buffer, Tolerance};
use deltasoap::types::Node;
use deltasoap::{Error, Message};

/// The supported requests (A.3.1.1).
const METHODS: [&str; 15] = [
    "GetRPCMethods",
    "SetParameterValues",
    "GetParameterValues",
    "GetParameterNames",
    "SetParameterAttributes",
    "GetParameterAttributes",
    "AddObject",
    "DeleteObject",
    "Reboot",
    "Download",
    "Upload",
    "ScheduleInform",
    "FactoryReset",
    "GetQueuedTransfers",
    "GetAllQueuedTransfers",
];

/// A request of the ACS, and the context for its answer.
pub(super) struct IncomingRequest<'a> {
    pub(super) version: Version,
    /// What is accepted beyond the schema.
    pub(super) tolerance: Tolerance,
    /// The header blocks of the answer.
    pub(super) headers: &'a Headers,
    pub(super) request: &'a Node,
}

impl IncomingRequest<'_> {
    /// Answers with a response or a fault.
    ///
    /// # Errors
    /// Returns an error if the answer cannot be encoded.
    pub(super) fn answer(&self, state: &mut State) -> Result<Buffer, Error> {
        match &*self.request.name.local {
            "GetRPCMethods" => self.respond_with(|_: GetRpcMethods| {
                let method_list = METHODS.into_iter().map(Text::from).collect();
                Ok(GetRpcMethodsResponse { method_list })
            }),
            "GetParameterValues" => self.respond_with(|request| get_values(state, &request)),
            "SetParameterValues" => self.respond_with(|request| set_values(state, &request)),
            "GetParameterNames" => self.respond_with(|request: GetParameterNames| {
                let names = state.parameters.names(&request.parameter_path, request.next_level)?;
                Ok(GetParameterNamesResponse { parameter_list: names.into() })
            }),
            "GetParameterAttributes" => self.respond_with(|request| get_attributes(state, &request)),
            "SetParameterAttributes" => self.respond_with(|request| set_attributes(state, request)),
            "AddObject" => self.respond_with(|request: AddObject| {
                let instance_number = state.parameters.add(&request.object_name)?;
                state.set_parameter_key(request.parameter_key);
                Ok(AddObjectResponse { instance_number, status: Status::Applied })
            }),
            "DeleteObject" => self.respond_with(|request: DeleteObject| {
                state.parameters.delete(&request.object_name)?;
                state.set_parameter_key(request.parameter_key);
                Ok(DeleteObjectResponse { status: Status::Applied })
            }),
            "Download" => self.respond_with(|request: Download| {
                state.begin(Transfer::from_download(request))?;
                Ok(DownloadResponse {
                    status: Status::Later,
                    start_time: unknown_time(),
                    complete_time: unknown_time(),
                })
            }),
            "Upload" => self.respond_with(|request: Upload| {
                state.begin(Transfer::from_upload(request))?;
                Ok(UploadResponse { status: Status::Later, start_time: unknown_time(), complete_time: unknown_time() })
            }),
            "GetQueuedTransfers" => self.respond_with(|_: GetQueuedTransfers| {
                let transfers = state.transfers.iter().map(Transfer::queued).collect();
                Ok(GetQueuedTransfersResponse { transfer_list: transfers })
            }),
            "GetAllQueuedTransfers" => self.respond_with(|_: GetAllQueuedTransfers| {
                let transfers = state.transfers.iter().map(Transfer::queued_with_all).collect();
                Ok(GetAllQueuedTransfersResponse { transfer_list: transfers })
            }),
            "Reboot" => self.respond_with(|request: Reboot| {
                state.reboot(request.command_key);
                Ok(RebootResponse {})
            }),
            "FactoryReset" => self.respond_with(|_: FactoryReset| {
                state.reset();
                Ok(FactoryResetResponse {})
            }),
            "ScheduleInform" => self.respond_with(|request: ScheduleInform| schedule(state, request)),
            _ => self.fault(&CwmpFault::from_code(fault::METHOD_NOT_SUPPORTED)),
        }
    }

    /// Decodes the request as its type, and encodes the result of the function.
    fn respond_with<R: Rpc>(&self, run: impl FnOnce(R) -> Result<R::Response, CwmpFault>) -> Result<Buffer, Error> {
        let invalid = |error: Error| CwmpFault::new(fault::INVALID_ARGUMENTS, error.to_string());
        match self.request.to_typed_with::<R>(self.tolerance).map_err(invalid).and_then(run) {
            Ok(response) => self.message(&response),
            Err(fault) => self.fault(&fault),
        }
    }

    fn message<T: Message>(&self, response: &T) -> Result<Buffer, Error> {
        message::encode(self.version, self.headers, response)
    }

    fn fault(&self, fault: &CwmpFault) -> Result<Buffer, Error> {
        message::encode_fault(self.version, self.headers, fault)
    }
}

fn get_values(state: &State, request: &GetParameterValues) -> Result<GetParameterValuesResponse, CwmpFault> {
    let paths = state.parameters.named(&request.parameter_names)?;
    Ok(GetParameterValuesResponse { parameter_list: paths.into_iter().filter_map(|path| state.value(path)).collect() })
}

fn set_values(state: &mut State, request: &SetParameterValues) -> Result<SetParameterValuesResponse, CwmpFault> {
    state.parameters.set(&request.parameter_list)?;
    state.set_parameter_key(request.parameter_key.clone());
    Ok(SetParameterValuesResponse { status: Status::Applied })
}

fn get_attributes(
    state: &State,
    request: &GetParameterAttributes,
) -> Result<GetParameterAttributesResponse, CwmpFault> {
    let paths = state.parameters.named(&request.parameter_names)?;
    let attributes = paths.into_iter().filter_map(|path| {
        let parameter = state.parameters.get(path)?;
        let access_list = parameter.access_list.iter().map(Text::from).collect();
        Some(ParameterAttributeStruct { name: path.to_owned(), notification: parameter.notification, access_list })
    });
    Ok(GetParameterAttributesResponse { parameter_list: attributes.collect() })
}

/// Changes nothing if any name matches no parameter (A.3.2.4).
fn set_attributes(
    state: &mut State,
    request: SetParameterAttributes,
) -> Result<SetParameterAttributesResponse, CwmpFault> {
    let mut changes = Vec::new();
    for change in request.parameter_list.0 {
        let paths = state.parameters.named(&[Text(change.name.clone())])?;
        changes.push((paths.into_iter().map(str::to_owned).collect::<Vec<_>>(), change));
    }
    for (paths, change) in changes {
        for parameter in paths {
            let Some(parameter) = state.parameters.get_mut(&parameter) else { continue };
            if change.notification_change {
                parameter.notification = change.notification;
            }
            if change.access_list_change {
                parameter.access_list = change.access_list.iter().map(|entity| entity.0.clone()).collect();
            }
        }
    }
    Ok(SetParameterAttributesResponse {})
}

fn schedule(state: &mut State, request: ScheduleInform) -> Result<ScheduleInformResponse, CwmpFault> {
    if request.delay_seconds == 0 {
        return Err(CwmpFault::from_code(fault::INVALID_ARGUMENTS));
    }
    state.schedule(request.delay_seconds, request.command_key)?;
    Ok(ScheduleInformResponse {})
}
