//! The state of a CPE that outlives a session: parameters, events to be reported, transfers.

use super::parameters::Parameters;
use crate::types::*;
use crate::{CwmpFault, fault};
use deltasoap::types::{AnySimple, Simple};
use std::time::{Duration, Instant};

/// Maximum number of pending transfers (A.3.2.8: at least three).
const MAX_TRANSFERS: usize = 16;
/// Maximum number of scheduled sessions.
const MAX_SCHEDULED: usize = 16;

/// See [`Cpe`](super::Cpe).
#[derive(Debug)]
pub(super) struct State {
    pub(super) parameters: Parameters,
    /// The initial parameters, for a factory reset.
    factory: Parameters,
    /// The root of the data model, including the dot: `Device.` or `InternetGatewayDevice.`.
    root: String,
    /// Events for the next session.
    pub(super) events: Vec<EventStruct>,
    /// Transfers to be reported in the next session.
    pub(super) transfers: Vec<Transfer>,
    /// Scheduled sessions: time and command key.
    scheduled: Vec<(Instant, String)>,
}

/// A transfer that the ACS requested.
#[derive(Debug, Clone)]
pub(super) struct Transfer {
    command_key: String,
    is_download: bool,
    file_type: String,
    file_size: u32,
    target_file_name: String,
}

impl Transfer {
    pub(super) fn from_download(request: Download) -> Self {
        let Download { command_key, file_type, file_size, target_file_name, .. } = request;
        Transfer { command_key, is_download: true, file_type, file_size, target_file_name }
    }

    pub(super) fn from_upload(request: Upload) -> Self {
        let Upload { command_key, file_type, .. } = request;
        Transfer { command_key, is_download: false, file_type, file_size: 0, target_file_name: String::new() }
    }

    pub(super) fn queued(&self) -> QueuedTransferStruct {
        QueuedTransferStruct { command_key: self.command_key.clone(), state: TransferState::NotStarted }
    }

    pub(super) fn queued_with_all(&self) -> AllQueuedTransferStruct {
        let Transfer { command_key, is_download, file_type, file_size, target_file_name } = self.clone();
        let state = TransferState::NotStarted;
        AllQueuedTransferStruct { command_key, state, is_download, file_type, file_size, target_file_name }
    }

    /// Returns the message that reports its end.
    pub(super) fn complete(&self) -> TransferComplete {
        TransferComplete {
            command_key: self.command_key.clone(),
            fault_struct: FaultStruct::default(),
            start_time: unknown_time(),
            complete_time: unknown_time(),
        }
    }

    fn event(&self) -> EventStruct {
        let code = if self.is_download { event::M_DOWNLOAD } else { event::M_UPLOAD };
        EventStruct::with_command_key(code, &self.command_key)
    }
}

impl State {
    pub(super) fn new(parameters: Parameters) -> Self {
        let first = parameters.iter().next().map_or("Device.", |(path, _)| path);
        let root = first.split_once('.').map_or("Device.".to_owned(), |(root, _)| format!("{root}."));
        let events = vec![EventStruct::new(event::BOOTSTRAP), EventStruct::new(event::BOOT)];
        let factory = parameters.clone();
        State { parameters, factory, root, events, transfers: Vec::new(), scheduled: Vec::new() }
    }

    pub(super) fn value(&self, path: &str) -> Option<ParameterValueStruct> {
        let value = AnySimple(self.parameters.get(path)?.value.clone());
        Some(ParameterValueStruct { name: path.to_owned(), value })
    }

    /// Returns the path of a parameter below the root.
    pub(super) fn path(&self, below: &str) -> String {
        format!("{}{below}", self.root)
    }

    /// Sets `ParameterKey`, if the device has it (A.3.2.1).
    pub(super) fn set_parameter_key(&mut self, key: String) {
        let path = self.path("ManagementServer.ParameterKey");
        if let Some(parameter) = self.parameters.get_mut(&path) {
            parameter.value = Simple::String(key);
        }
    }

    /// Adds an event for the next session, unless it is there already.
    pub(super) fn note(&mut self, event: EventStruct) {
        if !self.events.contains(&event) {
            self.events.push(event);
        }
    }

    /// Records a transfer, which is finished by the next session.
    ///
    /// # Errors
    /// Returns the fault 9004 if there are too many.
    pub(super) fn begin(&mut self, transfer: Transfer) -> Result<(), CwmpFault> {
        if self.transfers.len() >= MAX_TRANSFERS {
            return Err(CwmpFault::from_code(fault::RESOURCES_EXCEEDED));
        }
        self.transfers.push(transfer);
        Ok(())
    }

    /// Adds the events of transfers. They belong to the session that reports the transfers, not to
    /// the one that requested them.
    pub(super) fn note_transfers(&mut self) {
        if !self.transfers.is_empty() {
            self.note(EventStruct::new(event::TRANSFER_COMPLETE));
        }
        for event in self.transfers.iter().map(Transfer::event).collect::<Vec<_>>() {
            self.note(event);
        }
    }

    pub(super) fn reboot(&mut self, command_key: String) {
        self.note(EventStruct::new(event::BOOT));
        self.note(EventStruct::with_command_key(event::M_REBOOT, command_key));
    }

    pub(super) fn reset(&mut self) {
        self.parameters = self.factory.clone();
        self.transfers.clear();
        self.scheduled.clear();
        self.events = vec![EventStruct::new(event::BOOTSTRAP), EventStruct::new(event::BOOT)];
    }

    /// Schedules a session.
    ///
    /// # Errors
    /// Returns the fault 9004 if there are too many.
    pub(super) fn schedule(&mut self, seconds: u32, command_key: String) -> Result<(), CwmpFault> {
        if self.scheduled.len() >= MAX_SCHEDULED {
            return Err(CwmpFault::from_code(fault::RESOURCES_EXCEEDED));
        }
        self.scheduled.push((Instant::now() + Duration::from_secs(seconds.into()), command_key));
        Ok(())
    }

    /// Turns scheduled sessions that are due into events. Returns the time of the next one.
    pub(super) fn note_scheduled(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let (due, later) = std::mem::take(&mut self.scheduled).into_iter().partition(|(when, _)| *when <= now);
        self.scheduled = later;
        let due: Vec<(Instant, String)> = due;
        for (_, command_key) in due {
            self.note(EventStruct::new(event::SCHEDULED));
            self.note(EventStruct::with_command_key(event::M_SCHEDULE_INFORM, command_key));
        }
        self.scheduled.iter().map(|(when, _)| *when).min()
    }

    /// Returns the parameters that every Inform reports (TR-181 and TR-098 mark them), as far as
    /// the device has them.
    pub(super) fn informed(&self) -> Vec<ParameterValueStruct> {
        const FORCED: [&str; 8] = [
            "RootDataModelVersion",
            "DeviceSummary",
            "DeviceInfo.HardwareVersion",
            "DeviceInfo.SoftwareVersion",
            "DeviceInfo.ProvisioningCode",
            "ManagementServer.ParameterKey",
            "ManagementServer.ConnectionRequestURL",
            "ManagementServer.AliasBasedAddressing",
        ];
        FORCED.iter().filter_map(|below| self.value(&self.path(below))).collect()
    }
}
