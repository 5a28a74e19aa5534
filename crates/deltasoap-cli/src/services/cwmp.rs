//! TR-069 (CWMP) with whole sessions: reads the parameters of every device, and logs them.

use anyhow::Result;
use deltasoap_cwmp::{Acs, CallError, Session};
use deltasoap_http::SoapServiceBuilder;

/// Path of the server.
pub const PATH: &str = "/cwmp";

/// Maximum number of parameters that are read from a device.
const MAX_PARAMETERS: usize = 20;

/// Builds the server.
pub fn acs(settings: impl FnOnce(SoapServiceBuilder) -> SoapServiceBuilder) -> Result<Acs> {
    let acs = Acs::builder(async |session: Session| {
        let serial = &session.device().id.serial_number;
        match read(&session).await {
            Ok(count) => tracing::info!(serial, count, "read parameters"),
            Err(error) => tracing::info!(serial, %error, "could not read parameters"),
        }
    });
    Ok(acs.configure(settings).build()?)
}

/// Reads the names of a device's parameters, then the values of some of them. Returns their number.
async fn read(session: &Session) -> Result<usize, CallError> {
    let first = session.inform().parameter_list.first().map_or("Device.", |value| value.name.as_str());
    let root = first.split_once('.').map_or("Device.".to_owned(), |(root, _)| format!("{root}."));
    let names = session.get_parameter_names(format!("{root}DeviceInfo."), false).await?;
    let parameters = names.into_iter().map(|info| info.name).filter(|name| !name.ends_with('.')).take(MAX_PARAMETERS);
    Ok(session.get_parameter_values(parameters).await?.len())
}
