//! Parameters: values, names, attributes (A.3.2.1 to A.3.2.5).

use super::{Text, requests};
use deltasoap::lexical::DateTime;
use deltasoap::types::{AnySimple, Simple};
use deltasoap::{Soap, SoapArray};

/// A parameter's value (A.3.2.1, table 12).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "ParameterValueStruct", rename_all = "PascalCase")]
pub struct ParameterValueStruct {
    /// The full path, such as `Device.DeviceInfo.UpTime`.
    pub name: String,
    /// The value with its type, from `xsi:type`.
    pub value: AnySimple,
}

/// The name of a parameter or an object, and whether it can be set (A.3.2.3, table 17).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "ParameterInfoStruct", rename_all = "PascalCase", compact)]
pub struct ParameterInfoStruct {
    /// A path; that of an object ends with a dot.
    pub name: String,
    /// True if the parameter can be set, or instances of the object can be added or deleted.
    pub writable: bool,
}

/// New attributes of a parameter (A.3.2.4, table 19).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(
    namespace = "urn:dslforum-org:cwmp-1-2",
    item_name = "SetParameterAttributesStruct",
    rename_all = "PascalCase",
    compact
)]
pub struct SetParameterAttributesStruct {
    /// A full path, or one that ends with a dot, for all parameters below it.
    pub name: String,
    /// True if the notification is to be changed.
    pub notification_change: bool,
    /// How changes are reported.
    pub notification: Notification,
    /// True if the access list is to be changed.
    pub access_list_change: bool,
    /// Entities other than the ACS that may set the parameter.
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
    /// How changes are reported.
    pub notification: Notification,
    /// Entities other than the ACS that may set the parameter.
    pub access_list: SoapArray<Text>,
}

/// How a device reports changes of a parameter (A.3.2.4, table 19).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2")]
pub enum Notification {
    /// Not at all.
    #[soap(name = "0")]
    Off,
    /// The new value, in the next Inform.
    #[soap(name = "1")]
    Passive,
    /// The new value, in a session that is begun for that purpose.
    #[soap(name = "2")]
    Active,
    /// The new value, in the next lightweight notification (1.4).
    #[soap(name = "3")]
    PassiveLightweight,
    /// Both passive forms (1.4).
    #[soap(name = "4")]
    PassiveBoth,
    /// The new value, in a lightweight notification that is sent for that purpose (1.4).
    #[soap(name = "5")]
    ActiveLightweight,
    /// Passive, and active lightweight (1.4).
    #[soap(name = "6")]
    PassiveActiveLightweight,
}

/// Whether a request has taken effect already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2")]
pub enum Status {
    /// It has taken effect.
    #[soap(name = "0")]
    Applied,
    /// It was accepted, but has not taken effect yet.
    #[soap(name = "1")]
    Later,
}

/// Sets parameters, all of them or none (A.3.2.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct SetParameterValues {
    /// The new values; each name may occur only once.
    pub parameter_list: SoapArray<ParameterValueStruct>,
    /// The new value of the parameter `ParameterKey`; may be empty.
    pub parameter_key: String,
}

/// The parameters are set (A.3.2.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct SetParameterValuesResponse {
    /// Whether the values are in use: some take effect only after a restart.
    pub status: Status,
}

/// Asks for values (A.3.2.2).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterValues {
    /// Full paths, or paths that end with a dot, for all parameters below; an empty path stands for
    /// all parameters.
    pub parameter_names: SoapArray<Text>,
}

/// Values of parameters (A.3.2.2).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterValuesResponse {
    /// One entry for each parameter.
    pub parameter_list: SoapArray<ParameterValueStruct>,
}

/// Asks for the names of parameters and objects (A.3.2.3).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterNames {
    /// A path; empty for the root.
    pub parameter_path: String,
    /// True for only what is directly below the path, false for everything below it and the object
    /// itself.
    pub next_level: bool,
}

/// Names of parameters and objects (A.3.2.3).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterNamesResponse {
    /// One entry for each parameter and object.
    pub parameter_list: SoapArray<ParameterInfoStruct>,
}

/// Sets attributes of parameters (A.3.2.4).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct SetParameterAttributes {
    /// The changes, in the order in which they are made.
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
    /// See [`GetParameterValues`].
    pub parameter_names: SoapArray<Text>,
}

/// Attributes of parameters (A.3.2.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct GetParameterAttributesResponse {
    /// One entry for each parameter.
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
    /// Creates a value of any simple type.
    pub fn new(name: impl Into<String>, value: Simple) -> Self {
        ParameterValueStruct { name: name.into(), value: AnySimple(value) }
    }

    /// Creates a value of the type `xsd:string`.
    pub fn string(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self::new(name, Simple::String(value.into()))
    }

    /// Creates a value of the type `xsd:int`.
    pub fn int(name: impl Into<String>, value: i32) -> Self {
        Self::new(name, Simple::Int(value))
    }

    /// Creates a value of the type `xsd:unsignedInt`.
    pub fn unsigned_int(name: impl Into<String>, value: u32) -> Self {
        Self::new(name, Simple::UnsignedInt(value))
    }

    /// Creates a value of the type `xsd:boolean`.
    pub fn boolean(name: impl Into<String>, value: bool) -> Self {
        Self::new(name, Simple::Boolean(value))
    }

    /// Creates a value of the type `xsd:dateTime`.
    pub fn date_time(name: impl Into<String>, value: DateTime) -> Self {
        Self::new(name, Simple::DateTime(value))
    }
}
