//! TR-069: an auto-configuration server that reads some parameters of every device and sets one,
//! and a device to try it with.
//!
//! ```text
//! cargo run -p example-cwmp                                      the server, at http://127.0.0.1:7547/
//! cargo run -p example-cwmp -- http://127.0.0.1:7547/ SERIAL     a device: its session
//! ```
//!
//! Devices authenticate with Digest; the password of all of them is "secret".

use deltasoap::Server;
use deltasoap::client::Credentials;
use deltasoap::server::{DigestUsers, shutdown_signal};
use deltasoap::types::Simple;
use deltasoap_cwmp::types::{DeviceId, Inform, ParameterValueStruct};
use deltasoap_cwmp::{
    Accepted, Acs, CallError, Cpe, CwmpFault, Device, Handler, Parameter, Parameters, Session, fault,
};
use std::error::Error;
use std::sync::Arc;

/// The inform interval that every device is set to, in seconds.
const INTERVAL: u32 = 600;
const PATH: &str = "Device.ManagementServer.PeriodicInformInterval";

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
        let serial = &session.device().id.serial_number;
        match configure(&session).await {
            Ok(version) => println!("{serial}: software {version}, every {INTERVAL} s"),
            Err(error) => println!("{serial}: {error}"),
        }
    }
}

/// Returns the version of the device's software, and sets its interval if it differs.
async fn configure(session: &Session) -> Result<String, CallError> {
    let values = session.get_parameter_values(["Device.DeviceInfo.SoftwareVersion", PATH]).await?;
    let value = |name: &str| values.iter().find(|value| value.name == name).map(|value| value.value.text());
    if value(PATH) != Some(INTERVAL.to_string()) {
        session.set_parameter_values([ParameterValueStruct::unsigned_int(PATH, INTERVAL)], "interval").await?;
    }
    Ok(value("Device.DeviceInfo.SoftwareVersion").unwrap_or_default())
}

fn acs() -> Result<Acs, Box<dyn Error>> {
    let users = DigestUsers::from_fn("acs", |_| Some("secret".to_owned())).md5();
    Ok(Acs::builder(Fleet).authenticate(users).build()?)
}

fn device(serial_number: &str) -> (DeviceId, Parameters) {
    let id = DeviceId {
        manufacturer: "Example".to_owned(),
        oui: "0123AB".to_owned(),
        product_class: "Box".to_owned(),
        serial_number: serial_number.to_owned(),
    };
    let mut parameters = Parameters::default();
    parameters.insert("Device.DeviceInfo.SoftwareVersion", Parameter::read_only(Simple::String("1.0".to_owned())));
    parameters.insert("Device.ManagementServer.ParameterKey", Parameter::read_only(Simple::String(String::new())));
    parameters.insert(PATH, Parameter::writable(Simple::UnsignedInt(86_400)));
    (id, parameters)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => {
            let server = Server::bind("127.0.0.1:7547").await?;
            println!("listening on http://{}/", server.local_addr()?);
            Ok(server.serve_with_shutdown(acs()?, shutdown_signal()).await?)
        }
        [url, serial] => {
            let (id, parameters) = device(serial);
            let mut cpe = Cpe::new(url, id)?.parameters(parameters).credentials(Credentials::digest(serial, "secret")?);
            println!("answered: {}", cpe.session().await?.answered.join(", "));
            Ok(())
        }
        _ => Err("expected nothing, or a URL and a serial number".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The device calls the server in memory.
    #[tokio::test]
    async fn a_device_is_configured_once() -> Result<(), Box<dyn Error>> {
        let (id, parameters) = device("1");
        let cpe = Cpe::over(acs()?, "http://acs.example/", id)?;
        let mut cpe = cpe.parameters(parameters).credentials(Credentials::digest("1", "secret")?);
        assert_eq!(cpe.session().await?.answered, ["GetParameterValues", "SetParameterValues"]);
        assert_eq!(cpe.current().get(PATH).map(|parameter| &parameter.value), Some(&Simple::UnsignedInt(INTERVAL)));
        assert_eq!(cpe.session().await?.answered, ["GetParameterValues"]);
        Ok(())
    }

    #[tokio::test]
    async fn a_device_does_not_speak_for_another() -> Result<(), Box<dyn Error>> {
        let cpe = Cpe::over(acs()?, "http://acs.example/", device("1").0)?;
        assert!(cpe.credentials(Credentials::digest("2", "secret")?).session().await.is_err());
        Ok(())
    }
}
