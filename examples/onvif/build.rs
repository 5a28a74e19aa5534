//! Generates `devicemgmt.rs` and `events.rs`, each with only the operations that are called.

use deltasoap_codegen::{Builder, Error};

const FOLDER: &str = "../../testdata/wsdl/FalkTannhaeuser+python-onvif-zeep/wsdl";

fn main() -> Result<(), Error> {
    let device = ["GetCapabilities", "GetDeviceInformation", "GetSystemDateAndTime"];
    Builder::new(format!("{FOLDER}/devicemgmt.wsdl")).operations(device).build()?;
    let events = [
        "CreatePullPointSubscription",
        "PullMessages",
        "SubscriptionManagerBinding.Renew",
        "SubscriptionManagerBinding.Unsubscribe",
    ];
    Builder::new(format!("{FOLDER}/events.wsdl")).operations(events).build()
}
