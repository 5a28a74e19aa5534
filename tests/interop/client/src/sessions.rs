//! TR-069 sessions with our own device.

use deltasoap::types::Simple;
use deltasoap_cwmp::types::{DeviceId, GetRpcMethods};
use deltasoap_cwmp::{Cpe, Parameter, Parameters, Version};

/// Runs a session in each version, and prints a line for each.
pub async fn test(url: &str) {
    for version in Version::ALL {
        let detail = session(url, version).await.err().unwrap_or_default();
        let (ok, test) = (detail.is_empty(), format!("a whole session, version {version}"));
        let line = serde_json::json!({"soap": "1.1", "feature": "sessions", "test": test, "ok": ok, "detail": detail});
        println!("{line}");
    }
}

async fn session(url: &str, version: Version) -> Result<(), String> {
    let id = DeviceId {
        manufacturer: "deltasoap".to_owned(),
        oui: "0123AB".to_owned(),
        product_class: "interop".to_owned(),
        serial_number: format!("v{version}"),
    };
    let mut parameters = Parameters::default();
    for name in ["HardwareVersion", "SoftwareVersion"] {
        parameters.insert(format!("Device.DeviceInfo.{name}"), Parameter::read_only(Simple::String("1".to_owned())));
    }
    let cpe = Cpe::new(url, id).map_err(|error| error.to_string())?;
    let mut cpe = cpe.version(version).parameters(parameters);
    cpe.request(GetRpcMethods {});
    let report = cpe.session().await.map_err(|error| error.to_string())?;
    if report.answered == ["GetParameterNames", "GetParameterValues"] && report.requested == [Ok(())] {
        return Ok(());
    }
    Err(format!("{report:?}"))
}
