//! What a CPE begins a session with (A.3.3.1).

use super::{ParameterValueStruct, requests};
use deltasoap::lexical::DateTime;
use deltasoap::{Soap, SoapArray};

/// Names a device (A.3.3.1, table 36): OUI, product class and serial number together are unique.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Soap)]
#[soap(name = "DeviceIdStruct", namespace = "urn:dslforum-org:cwmp-1-2", rename_all = "PascalCase")]
pub struct DeviceId {
    /// The manufacturer's name, to be shown.
    pub manufacturer: String,
    /// Six hexadecimal digits in upper case that stand for the manufacturer.
    #[soap(name = "OUI")]
    pub oui: String,
    /// The class of products that the serial number is unique in; may be empty.
    pub product_class: String,
    /// The serial number.
    pub serial_number: String,
}

/// Why a session is begun (section 3.7.1.5).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", item_name = "EventStruct", rename_all = "PascalCase")]
pub struct EventStruct {
    /// A code, as in `2 PERIODIC`.
    pub event_code: String,
    /// The key of the command that caused the event; empty for most events.
    pub command_key: String,
}

/// Begins a session (A.3.3.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase")]
pub struct Inform {
    /// The device.
    pub device_id: DeviceId,
    /// Why the session is begun.
    pub event: SoapArray<EventStruct>,
    /// Always 1.
    pub max_envelopes: u32,
    /// The device's clock.
    pub current_time: DateTime,
    /// How often this session was tried before.
    pub retry_count: u32,
    /// Parameters that are always told, and those that have changed.
    pub parameter_list: SoapArray<ParameterValueStruct>,
}

/// Accepts a session (A.3.3.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase")]
pub struct InformResponse {
    /// Always 1.
    pub max_envelopes: u32,
}

/// A user was redirected to the device's page (A.4.2.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct Kicked {
    /// The command's name.
    pub command: String,
    /// The page that the user came from.
    pub referer: String,
    /// What the page says.
    pub arg: String,
    /// Where the user wants to go on.
    pub next: String,
}

/// Says where the user goes on (A.4.2.1).
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:dslforum-org:cwmp-1-2", message, rename_all = "PascalCase", compact)]
pub struct KickedResponse {
    /// A URL.
    #[soap(name = "NextURL")]
    pub next_url: String,
}

requests! { Inform => InformResponse, Kicked => KickedResponse }

impl EventStruct {
    /// An event of no command.
    pub fn new(code: impl Into<String>) -> Self {
        Self::of_command(code, "")
    }

    /// An event that a command has caused.
    pub fn of_command(code: impl Into<String>, key: impl Into<String>) -> Self {
        EventStruct { event_code: code.into(), command_key: key.into() }
    }
}

/// Event codes (section 3.7.1.5, table 8).
pub mod event {
    /// The first session at all, with this ACS, or after a factory reset.
    pub const BOOTSTRAP: &str = "0 BOOTSTRAP";
    /// After a start of the device.
    pub const BOOT: &str = "1 BOOT";
    /// At every interval.
    pub const PERIODIC: &str = "2 PERIODIC";
    /// After `ScheduleInform`.
    pub const SCHEDULED: &str = "3 SCHEDULED";
    /// A parameter with notification has changed.
    pub const VALUE_CHANGE: &str = "4 VALUE CHANGE";
    /// After a user was redirected to the device's page.
    pub const KICKED: &str = "5 KICKED";
    /// After a connection request.
    pub const CONNECTION_REQUEST: &str = "6 CONNECTION REQUEST";
    /// A transfer that the ACS asked for is complete, or failed.
    pub const TRANSFER_COMPLETE: &str = "7 TRANSFER COMPLETE";
    /// A diagnostic test is complete.
    pub const DIAGNOSTICS_COMPLETE: &str = "8 DIAGNOSTICS COMPLETE";
    /// To call `RequestDownload`.
    pub const REQUEST_DOWNLOAD: &str = "9 REQUEST DOWNLOAD";
    /// A transfer that the ACS did not ask for is complete.
    pub const AUTONOMOUS_TRANSFER_COMPLETE: &str = "10 AUTONOMOUS TRANSFER COMPLETE";
    /// After `ChangeDUState`.
    pub const DU_STATE_CHANGE_COMPLETE: &str = "11 DU STATE CHANGE COMPLETE";
    /// A deployment unit has changed that the ACS did not ask for.
    pub const AUTONOMOUS_DU_STATE_CHANGE_COMPLETE: &str = "12 AUTONOMOUS DU STATE CHANGE COMPLETE";
    /// After waking up, or before.
    pub const WAKEUP: &str = "13 WAKEUP";
    /// The device restarts for the ACS.
    pub const M_REBOOT: &str = "M Reboot";
    /// Goes with [`SCHEDULED`].
    pub const M_SCHEDULE_INFORM: &str = "M ScheduleInform";
    /// Goes with [`TRANSFER_COMPLETE`] after a download.
    pub const M_DOWNLOAD: &str = "M Download";
    /// Goes with [`TRANSFER_COMPLETE`] after a download at a set time.
    pub const M_SCHEDULE_DOWNLOAD: &str = "M ScheduleDownload";
    /// Goes with [`TRANSFER_COMPLETE`] after an upload.
    pub const M_UPLOAD: &str = "M Upload";
    /// Goes with [`DU_STATE_CHANGE_COMPLETE`].
    pub const M_CHANGE_DU_STATE: &str = "M ChangeDUState";
}
