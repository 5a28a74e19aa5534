//! Parameters: values, names, attributes (A.3.2.1 to A.3.2.5).

use super::{Text, requests};
use deltasoap::lexical::DateTime;
use deltasoap::{AnySimple, Simple, Soap, SoapArray};

/// A parameter's value (A.3.2.1, table 12).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "ParameterValueStruct", rename_all = "PascalCase")]
pub struct ParameterValueStruct {
    /// The full path, as in `Device.DeviceInfo.UpTime`.
    pub name: String,
    /// The value with its type, which `xsi:type` tells.
    pub value: AnySimple,
}

/// A parameter or object, and whether it can be set (A.3.2.3, table 17).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "ParameterInfoStruct", rename_all = "PascalCase", compact)]
pub struct ParameterInfoStruct {
    /// A path; an object's ends with a dot.
    pub name: String,
    /// Whether a parameter can be set, or instances of an object added or deleted.
    pub writable: bool,
}

/// Attributes that a parameter is to have (A.3.2.4, table 19).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(
    namespace = "urn:dslforum-org:cwmp-1-2",
    item_name = "SetParameterAttributesStruct",
    rename_all = "PascalCase",
    compact
)]
pub struct SetParameterAttributesStruct {
    /// A full path, or one that ends with a dot, for all parameters below.
    pub name: String,
    /// Whether the notification is to be changed.
    pub notification_change: bool,
    /// What is told of changes.
    pub notification: Notification,
    /// Whether the access list is to be changed.
    pub access_list_change: bool,
    /// Who may set the parameter besides the ACS.
    pub access_list: SoapArray<Text>,
}

/// Attributes of a parameter (A.3.2.5, table 22).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(
    namespace = "urn:dslforum-org:cwmp-1-2",
    item_name = "ParameterAttributeStruct",
    rename_all = "PascalCase",
    compact
)]
pub struct ParameterAttributeStruct {
    /// The full path.
    pub name: String,
    /// What is told of changes.
    pub notification: Notification,
    /// Who may set the parameter besides the ACS.
    pub access_list: SoapArray<Text>,
}

/// What a device tells of changes to a parameter (A.3.2.4, table 19).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2")]
pub enum Notification {
    /// Nothing.
    #[soap(name = "0")]
    Off,
    /// The new value, in the next Inform.
    #[soap(name = "1")]
    Passive,
    /// The new value, in a session that is begun for it.
    #[soap(name = "2")]
    Active,
    /// The new value, in the next lightweight notification (1.4).
    #[soap(name = "3")]
    PassiveLightweight,
    /// Both passive forms (1.4).
    #[soap(name = "4")]
    PassiveBoth,
    /// The new value, in a lightweight notification that is sent for it (1.4).
    #[soap(name = "5")]
    ActiveLightweight,
    /// Passive, and active lightweight (1.4).
    #[soap(name = "6")]
    PassiveActiveLightweight,
}

/// Whether something was done at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2")]
pub enum Status {
    /// It is done.
    #[soap(name = "0")]
    Applied,
    /// It was accepted, and is not done yet.
    #[soap(name = "1")]
    Later,
}

/// Sets parameters, all of them or none (A.3.2.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct SetParameterValues {
    /// The new values; no name may come twice.
    pub parameter_list: SoapArray<ParameterValueStruct>,
    /// The value that the parameter `ParameterKey` is to have; may be empty.
    pub parameter_key: String,
}

/// The parameters are set (A.3.2.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct SetParameterValuesResponse {
    /// Whether the values are in use: some are only after a restart.
    pub status: Status,
}

/// Asks for values (A.3.2.2).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterValues {
    /// Full paths, or such that end with a dot, for all parameters below; an empty one stands for
    /// all.
    pub parameter_names: SoapArray<Text>,
}

/// Values of parameters (A.3.2.2).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterValuesResponse {
    /// One for each parameter.
    pub parameter_list: SoapArray<ParameterValueStruct>,
}

/// Asks which parameters and objects there are (A.3.2.3).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterNames {
    /// A path; empty for the root.
    pub parameter_path: String,
    /// Whether only what is directly below is wanted, or all, with the object itself.
    pub next_level: bool,
}

/// Parameters and objects (A.3.2.3).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterNamesResponse {
    /// One for each.
    pub parameter_list: SoapArray<ParameterInfoStruct>,
}

/// Sets attributes of parameters (A.3.2.4).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct SetParameterAttributes {
    /// The changes, which are made in their order.
    pub parameter_list: SoapArray<SetParameterAttributesStruct>,
}

/// The attributes are set (A.3.2.4).
#[derive(Debug, Clone, PartialEq, Eq, Default, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, compact)]
pub struct SetParameterAttributesResponse {}

/// Asks for attributes of parameters (A.3.2.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterAttributes {
    /// As in [`GetParameterValues`].
    pub parameter_names: SoapArray<Text>,
}

/// Attributes of parameters (A.3.2.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterAttributesResponse {
    /// One for each parameter.
    pub parameter_list: SoapArray<ParameterAttributeStruct>,
}

requests! {
    SetParameterValues => SetParameterValuesResponse,
    GetParameterValues => GetParameterValuesResponse,
    GetParameterNames => GetParameterNamesResponse,
    SetParameterAttributes => SetParameterAttributesResponse,
    GetParameterAttributes => GetParameterAttributesResponse,
}

impl ParameterValueStruct {
    /// A value of any simple type.
    pub fn new(name: impl Into<String>, value: Simple) -> Self {
        ParameterValueStruct { name: name.into(), value: AnySimple(value) }
    }

    /// A value of the type `xsd:string`.
    pub fn string(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self::new(name, Simple::String(value.into()))
    }

    /// A value of the type `xsd:int`.
    pub fn int(name: impl Into<String>, value: i32) -> Self {
        Self::new(name, Simple::Int(value))
    }

    /// A value of the type `xsd:unsignedInt`.
    pub fn unsigned_int(name: impl Into<String>, value: u32) -> Self {
        Self::new(name, Simple::UnsignedInt(value))
    }

    /// A value of the type `xsd:boolean`.
    pub fn boolean(name: impl Into<String>, value: bool) -> Self {
        Self::new(name, Simple::Boolean(value))
    }

    /// A value of the type `xsd:dateTime`.
    pub fn date_time(name: impl Into<String>, value: DateTime) -> Self {
        Self::new(name, Simple::DateTime(value))
    }
}
