//! Software: deployment units (A.3.3.4, A.3.3.5, A.4.1.10).

use super::requests;
use deltasoap::Soap;
use deltasoap::lexical::DateTime;
use deltasoap::types::Node;

/// An operation on a deployment unit (A.4.1.10). `xsi:type` gives the variant.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(derived, name = "OperationStruct", namespace = "urn:dslforum-org:cwmp-1-2")]
pub enum DuOperation {
    /// Installs a unit.
    Install(InstallOpStruct),
    /// Updates one unit, or all.
    Update(UpdateOpStruct),
    /// Removes a unit.
    Uninstall(UninstallOpStruct),
    /// Anything else.
    #[soap(other)]
    Other(Node),
}

/// Installs a unit (A.4.1.10, table 60).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "InstallOpStruct", rename_all = "PascalCase", compact)]
pub struct InstallOpStruct {
    /// URL of the unit.
    #[soap(name = "URL")]
    pub url: String,
    /// The identifier of the new unit.
    #[soap(name = "UUID")]
    pub uuid: Option<String>,
    /// User name for the file server.
    pub username: Option<String>,
    /// Password for the file server.
    pub password: Option<String>,
    /// Path of the execution environment to install it in.
    pub execution_env_ref: Option<String>,
}

/// Updates a unit (A.4.1.10, table 61).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "UpdateOpStruct", rename_all = "PascalCase", compact)]
pub struct UpdateOpStruct {
    /// Identifier of the unit; all units if absent.
    #[soap(name = "UUID")]
    pub uuid: Option<String>,
    /// The version to replace.
    pub version: Option<String>,
    /// URL of the new version.
    #[soap(name = "URL")]
    pub url: Option<String>,
    /// User name for the file server.
    pub username: Option<String>,
    /// Password for the file server.
    pub password: Option<String>,
}

/// Removes a unit (A.4.1.10, table 62).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "UninstallOpStruct", rename_all = "PascalCase", compact)]
pub struct UninstallOpStruct {
    /// Identifier of the unit.
    #[soap(name = "UUID")]
    pub uuid: String,
    /// The version to remove; all versions if absent.
    pub version: Option<String>,
    /// Path of the execution environment that it is in.
    pub execution_env_ref: Option<String>,
}

/// Installs, updates and removes units (A.4.1.10).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "ChangeDUState", rename_all = "PascalCase", compact)]
pub struct ChangeDuState {
    /// The operations, in order.
    #[soap(min = 1)]
    pub operations: Vec<DuOperation>,
    /// Returned with the results.
    pub command_key: Option<String>,
}

/// The operations are accepted (A.4.1.10).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "ChangeDUStateResponse", compact)]
pub struct ChangeDuStateResponse {}

/// The error of an operation (A.3.3.4, table 43).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(
    name = "DeploymentUnitFaultStruct",
    namespace = "urn:dslforum-org:cwmp-1-2",
    item_name = "DeploymentUnitFaultStruct",
    rename_all = "PascalCase",
    compact
)]
pub struct DuFaultStruct {
    /// 0 for success, otherwise a code of [`fault`](crate::fault).
    pub fault_code: u32,
    /// A human-readable explanation; absent or empty for success.
    pub fault_string: Option<String>,
}

/// The result of an operation (A.3.3.4, table 42).
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
    /// True if all dependencies of the unit are met.
    pub resolved: bool,
    /// Paths of the unit's execution units, separated by commas.
    pub execution_unit_ref_list: String,
    /// Start of the transfer; the unknown time if it has not begun, or failed before that.
    pub start_time: DateTime,
    /// Time at which the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
    /// The error, if it failed.
    pub fault: DuFaultStruct,
}

/// The result of an operation that the ACS did not request (A.3.3.5, table 44).
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
    /// True if all dependencies of the unit are met.
    pub resolved: bool,
    /// Paths of the unit's execution units, separated by commas.
    pub execution_unit_ref_list: String,
    /// Start of the transfer; the unknown time if it has not begun, or failed before that.
    pub start_time: DateTime,
    /// Time at which the transfer was complete and applied; the unknown time if it is not.
    pub complete_time: DateTime,
    /// The error, if it failed.
    pub fault: DuFaultStruct,
    /// `Install`, `Update` or `Uninstall`.
    pub operation_performed: String,
}

/// The results of a [`ChangeDuState`] (A.3.3.4).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "DUStateChangeComplete", rename_all = "PascalCase", compact)]
pub struct DuStateChangeComplete {
    /// The results, in the order of the operations.
    #[soap(min = 1)]
    pub results: Vec<OpResultStruct>,
    /// The request's key.
    pub command_key: Option<String>,
}

/// Acknowledges the results (A.3.3.4).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "DUStateChangeCompleteResponse", compact)]
pub struct DuStateChangeCompleteResponse {}

/// Units were changed without a request of the ACS (A.3.3.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(
    namespace = "urn:dslforum-org:cwmp-1-2",
    element = "AutonomousDUStateChangeComplete",
    rename_all = "PascalCase",
    compact
)]
pub struct AutonomousDuStateChangeComplete {
    /// The changes.
    #[soap(min = 1)]
    pub results: Vec<AutonOpResultStruct>,
}

/// Acknowledges the changes (A.3.3.5).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", element = "AutonomousDUStateChangeCompleteResponse", compact)]
pub struct AutonomousDuStateChangeCompleteResponse {}

requests! {
    ChangeDuState => ChangeDuStateResponse,
    DuStateChangeComplete => DuStateChangeCompleteResponse,
    AutonomousDuStateChangeComplete => AutonomousDuStateChangeCompleteResponse,
}
