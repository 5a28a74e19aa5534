//! Software: deployment units (A.3.3.4, A.3.3.5, A.4.1.10).

use super::requests;
use deltasoap::lexical::DateTime;
use deltasoap::{Node, Soap};

/// What is to be done with a deployment unit (A.4.1.10). `xsi:type` tells which.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(derived, name = "OperationStruct", namespace = "urn:dslforum-org:cwmp-1-2")]
pub enum DuOperation {
    /// Install one.
    Install(InstallOpStruct),
    /// Replace one, or all.
    Update(UpdateOpStruct),
    /// Remove one.
    Uninstall(UninstallOpStruct),
    /// Anything else.
    #[soap(other)]
    Other(Node),
}

/// Installs a unit (A.4.1.10, table 60).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "InstallOpStruct", rename_all = "PascalCase", compact)]
pub struct InstallOpStruct {
    /// Where the unit is.
    #[soap(name = "URL")]
    pub url: String,
    /// The identifier that it is to have.
    #[soap(name = "UUID")]
    pub uuid: Option<String>,
    /// The user's name at the file server.
    pub username: Option<String>,
    /// The password there.
    pub password: Option<String>,
    /// The path of the environment that it goes to.
    pub execution_env_ref: Option<String>,
}

/// Replaces a unit (A.4.1.10, table 61).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "UpdateOpStruct", rename_all = "PascalCase", compact)]
pub struct UpdateOpStruct {
    /// Which; all if absent.
    #[soap(name = "UUID")]
    pub uuid: Option<String>,
    /// The version that is replaced.
    pub version: Option<String>,
    /// Where the new one is.
    #[soap(name = "URL")]
    pub url: Option<String>,
    /// The user's name at the file server.
    pub username: Option<String>,
    /// The password there.
    pub password: Option<String>,
}

/// Removes a unit (A.4.1.10, table 62).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "UninstallOpStruct", rename_all = "PascalCase", compact)]
pub struct UninstallOpStruct {
    /// Which.
    #[soap(name = "UUID")]
    pub uuid: String,
    /// Which version; all if absent.
    pub version: Option<String>,
    /// The path of the environment that it is in.
    pub execution_env_ref: Option<String>,
}

/// Installs, replaces and removes units (A.4.1.10).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "ChangeDUState", rename_all = "PascalCase", compact)]
pub struct ChangeDuState {
    /// What is to be done, in this order.
    #[soap(min = 1)]
    pub operations: Vec<DuOperation>,
    /// Given back with the results.
    pub command_key: Option<String>,
}

/// The device will see to it (A.4.1.10).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "ChangeDUStateResponse", compact)]
pub struct ChangeDuStateResponse {}

/// What an operation failed for (A.3.3.4, table 43).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(
    name = "DeploymentUnitFaultStruct",
    namespace = "urn:dslforum-org:cwmp-1-2",
    item_name = "DeploymentUnitFaultStruct",
    rename_all = "PascalCase",
    compact
)]
pub struct DuFaultStruct {
    /// 0 for a success, else a code of [`fault`](crate::fault).
    pub fault_code: u32,
    /// A human-readable explanation; absent or empty after a success.
    pub fault_string: Option<String>,
}

/// What became of an operation (A.3.3.4, table 42).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "OpResultStruct", rename_all = "PascalCase", compact)]
pub struct OpResultStruct {
    /// The unit's identifier.
    #[soap(name = "UUID")]
    pub uuid: String,
    /// The unit's path; may be empty.
    pub deployment_unit_ref: String,
    /// The unit's version.
    pub version: String,
    /// `Installed`, `Uninstalled` or `Failed`.
    pub current_state: String,
    /// Whether all that the unit needs is there.
    pub resolved: bool,
    /// Paths of what runs of it, with commas between.
    pub execution_unit_ref_list: String,
    /// When the transfer began; the unknown time if it has not, or failed before.
    pub start_time: DateTime,
    /// When the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
    /// What it failed for, if it did.
    pub fault: DuFaultStruct,
}

/// What became of an operation that the ACS has not asked for (A.3.3.5, table 44).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "AutonOpResultStruct", rename_all = "PascalCase", compact)]
pub struct AutonOpResultStruct {
    /// The unit's identifier.
    #[soap(name = "UUID")]
    pub uuid: String,
    /// The unit's path; may be empty.
    pub deployment_unit_ref: String,
    /// The unit's version.
    pub version: String,
    /// `Installed`, `Uninstalled` or `Failed`.
    pub current_state: String,
    /// Whether all that the unit needs is there.
    pub resolved: bool,
    /// Paths of what runs of it, with commas between.
    pub execution_unit_ref_list: String,
    /// When the transfer began; the unknown time if it has not, or failed before.
    pub start_time: DateTime,
    /// When the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
    /// What it failed for, if it did.
    pub fault: DuFaultStruct,
    /// `Install`, `Update` or `Uninstall`.
    pub operation_performed: String,
}

/// What became of [`ChangeDuState`] (A.3.3.4).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "DUStateChangeComplete", rename_all = "PascalCase", compact)]
pub struct DuStateChangeComplete {
    /// In the order of the operations.
    #[soap(min = 1)]
    pub results: Vec<OpResultStruct>,
    /// The request's key.
    pub command_key: Option<String>,
}

/// The ACS knows (A.3.3.4).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "DUStateChangeCompleteResponse", compact)]
pub struct DuStateChangeCompleteResponse {}

/// Units have changed that the ACS has not asked for (A.3.3.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(
    namespace = "urn:dslforum-org:cwmp-1-2",
    element = "AutonomousDUStateChangeComplete",
    rename_all = "PascalCase",
    compact
)]
pub struct AutonomousDuStateChangeComplete {
    /// What has changed.
    #[soap(min = 1)]
    pub results: Vec<AutonOpResultStruct>,
}

/// The ACS knows (A.3.3.5).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "AutonomousDUStateChangeCompleteResponse", compact)]
pub struct AutonomousDuStateChangeCompleteResponse {}

requests! {
    ChangeDuState => ChangeDuStateResponse,
    DuStateChangeComplete => DuStateChangeCompleteResponse,
    AutonomousDuStateChangeComplete => AutonomousDuStateChangeCompleteResponse,
}
