//! Adding and deleting objects, and requests about the device as a whole (A.3.2.6, A.3.2.7,
//! A.3.2.9, A.4.1).

use super::{Status, requests};
use deltasoap::Soap;

/// Adds an instance of an object (A.3.2.6).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct AddObject {
    /// The path of the object, with a dot at the end.
    pub object_name: String,
    /// The new value of the parameter `ParameterKey`; may be empty.
    pub parameter_key: String,
}

/// The instance that was added (A.3.2.6).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct AddObjectResponse {
    /// The number in its path.
    pub instance_number: u32,
    /// Whether the instance is in use already.
    pub status: Status,
}

/// Deletes an instance of an object, with everything below it (A.3.2.7).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct DeleteObject {
    /// The path of the instance, with a dot at the end.
    pub object_name: String,
    /// The new value of the parameter `ParameterKey`; may be empty.
    pub parameter_key: String,
}

/// The instance is deleted (A.3.2.7).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct DeleteObjectResponse {
    /// Whether the deletion has taken effect already.
    pub status: Status,
}

/// Restarts the device after the session (A.3.2.9).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct Reboot {
    /// Returned with the event `M Reboot`; may be empty.
    pub command_key: String,
}

/// The device will restart (A.3.2.9).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct RebootResponse {}

/// Resets the device to its factory state, after the session (A.4.1.6).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct FactoryReset {}

/// The device will reset (A.4.1.6).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct FactoryResetResponse {}

/// Requests a session at a later time (A.4.1.2).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct ScheduleInform {
    /// Seconds from now, at least 1.
    pub delay_seconds: u32,
    /// Returned with the event `M ScheduleInform`; may be empty.
    pub command_key: String,
}

/// The session is scheduled (A.4.1.2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct ScheduleInformResponse {}

requests! {
    AddObject => AddObjectResponse,
    DeleteObject => DeleteObjectResponse,
    Reboot => RebootResponse,
    FactoryReset => FactoryResetResponse,
    ScheduleInform => ScheduleInformResponse,
}
