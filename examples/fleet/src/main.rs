//! One of several servers behind a load balancer: an ACS for a fleet of TR-069 devices, with health,
//! metrics, and an end that loses nothing.
//!
//! ```text
//! cargo run --release -p example-fleet -- ADDRESS [DRAIN_SECONDS [MEMORY_MIB [FILE]]]
//! ```
//!
//! With a file, the server saves there what it remembers of its devices when it ends, and loads it when
//! it starts.
//!
//! `fleet.sh` starts three of them and HAProxy with `haproxy.cfg`; `envoy.yaml` does the same with
//! Envoy. The page "Fleets" of the guide explains both.
//!
//! Devices authenticate with Basic; the password of all of them is "secret". The server keeps the last
//! messages of each device by its name. It sets the parameter `ParameterKey` of every device to a
//! number that depends on all that the device reported, so that the device can tell whether it was
//! understood.

use deltasoap::Server;
use deltasoap::server::{Basic, MemoryBounds, Monitor, Principal, shutdown_signal};
use deltasoap::types::{AnySimple, Simple};
use deltasoap_cwmp::types::{Inform, ParameterValueStruct};
use deltasoap_cwmp::{Accepted, Acs, CwmpFault, Device, Handler, Limits, Session, fault};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The inform interval that every device is set to, in seconds.
const INTERVAL: u32 = 600;
const PATH: &str = "Device.ManagementServer.PeriodicInformInterval";

type BoxError = Box<dyn Error + Send + Sync>;

struct Fleet;

impl Handler for Fleet {
    /// A device may send only its own Inform.
    async fn inform(&self, device: &Device, _: &Inform) -> Result<Accepted, CwmpFault> {
        match &device.principal {
            Some(principal) if *principal.0 == *device.id.serial_number => Ok(Accepted::default()),
            _ => Err(CwmpFault::from_code(fault::ACS_REQUEST_DENIED)),
        }
    }

    async fn session(self: Arc<Self>, session: Session) {
        let interval = ParameterValueStruct::unsigned_int(PATH, INTERVAL);
        if let Err(error) = session.set_parameter_values([interval], key(session.inform())).await {
            eprintln!("{}: {error}", session.device().id.serial_number);
        }
    }
}

/// Returns a key for what a device reported: FNV-1a of its serial number, its time, the number of
/// attempts, and the names and values of its parameters, each after a line feed.
fn key(inform: &Inform) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        for byte in [b'\n'].iter().chain(text.as_bytes()) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    add(&inform.device_id.serial_number);
    add(&AnySimple(Simple::DateTime(inform.current_time)).text());
    add(&inform.retry_count.to_string());
    for parameter in inform.parameter_list.iter() {
        add(&parameter.name);
        add(&parameter.value.text());
    }
    format!("{hash:016x}")
}

/// Builds the server; it keeps up to this much memory of earlier messages.
fn acs(bounds: MemoryBounds) -> Result<Acs, BoxError> {
    let users = Basic::new("acs", |user, password| (password == "secret").then(|| Principal::new(user)));
    // A session that a device began anew elsewhere is dropped early.
    let limits = Limits { idle: Duration::from_secs(30), ..Limits::default() };
    let acs = Acs::builder(Fleet).authenticate(users).limits(limits);
    Ok(acs.configure(|service| service.memory_bounds(bounds)).build()?)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or("expected an address to listen on")?;
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse::<u32>());
    let (drain, memory) = (Duration::from_secs(number(2)?.into()), number(256)? as usize);
    let file = arguments.next();
    let server = Server::bind(address).await?;
    let monitor = Monitor::for_server(&server.handle()).prometheus()?;
    let acs = acs(MemoryBounds { total_bytes: memory << 20, ..MemoryBounds::default() })?;
    if let Some(file) = &file {
        match acs.soap_service().load_memories(file) {
            Ok(loaded) => eprintln!("{} memories, {} skipped", loaded.kept, loaded.skipped),
            Err(error) => eprintln!("begins without memories: {error}"),
        }
    }
    println!("listening on http://{}/", server.local_addr()?);
    let drained = monitor.clone().drained(shutdown_signal(), drain);
    server.serve_with_shutdown(monitor.wrap(acs.clone()), drained).await?;
    if let Some(file) = &file {
        eprintln!("{} memories saved", acs.soap_service().save_memories(file)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap::client::Credentials;
    use deltasoap_cwmp::types::DeviceId;
    use deltasoap_cwmp::{Cpe, Parameter};

    /// Performs a session of a device, and returns the key that it got.
    async fn session(acs: &Acs, serial: &str, uptime: u32) -> Result<String, BoxError> {
        let id = DeviceId {
            manufacturer: "Example".to_owned(),
            oui: "0123AB".to_owned(),
            product_class: "Box".to_owned(),
            serial_number: serial.to_owned(),
        };
        let cpe = Cpe::over(acs.clone(), "http://acs.example/acs/1", id)?;
        let mut cpe = cpe.credentials(Credentials::basic(serial, "secret")?);
        let writable = [("Device.ManagementServer.ParameterKey", Simple::String(String::new()))];
        for (name, value) in writable.into_iter().chain([(PATH, Simple::UnsignedInt(uptime))]) {
            cpe.parameters_mut().insert(name, Parameter::writable(value));
        }
        assert_eq!(cpe.session().await?.answered, ["SetParameterValues"]);
        let value = |name| cpe.current().get(name).map(|parameter| parameter.value.clone());
        let Some(Simple::String(key)) = value("Device.ManagementServer.ParameterKey") else { panic!("no key") };
        assert_eq!((key.len(), value(PATH)), (16, Some(Simple::UnsignedInt(INTERVAL))));
        Ok(key)
    }

    #[tokio::test]
    async fn a_device_gets_a_key_of_what_it_reports() -> Result<(), BoxError> {
        let acs = acs(MemoryBounds::default())?;
        let mut keys = Vec::new();
        for (serial, uptime) in [("1", 7), ("1", 7), ("1", 8), ("2", 7)] {
            keys.push(session(&acs, serial, uptime).await?);
        }
        assert_ne!(keys[0], keys[3]);
        Ok(())
    }

    #[tokio::test]
    async fn devices_are_remembered_across_a_restart() -> Result<(), BoxError> {
        let file = std::env::temp_dir().join(format!("fleet-{}", std::process::id()));
        let before = acs(MemoryBounds::default())?;
        for uptime in 0..8 {
            session(&before, "1", uptime).await?;
        }
        let saved = before.soap_service().save_memories(&file)?;
        let after = acs(MemoryBounds::default())?;
        let loaded = after.soap_service().load_memories(&file)?;
        std::fs::remove_file(&file)?;
        assert_eq!(loaded.kept + loaded.skipped, saved);
        assert!(saved >= 1, "the Inform at least");
        session(&after, "1", 9).await?;
        Ok(())
    }
}
