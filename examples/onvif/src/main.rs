//! Asks an ONVIF device for its identity, the difference of its clock from ours and the addresses
//! of its services, and follows its events through a pull point.
//!
//! ```text
//! cargo run -p example-onvif -- http://192.168.0.64/onvif/device_service
//! ```
//!
//! Most of these calls require a user's credentials in a WS-Security header block, which depend on
//! the difference of the clocks.

use deltasoap::client::CallOptions;
use deltasoap::soap::Version;
use deltasoap::soap::addressing::EndpointReference;
use deltasoap::types::Node;
use deltasoap::{Client, Nillable};
use devicemgmt::client::DeviceClient;
use devicemgmt::schema::{CapabilityCategory, DateTime};
use devicemgmt::wsdl::{GetCapabilities, GetDeviceInformation, GetSystemDateAndTime};
use events::b_2::{AbsoluteOrRelativeTimeType, NotificationMessageHolderType, Renew, Unsubscribe};
use events::wsdl::{CreatePullPointSubscription, PullMessages};
use events::{client::EventClient, client::PullPointSubscriptionClient, client::SubscriptionManagerClient};
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use std::time::Duration;

#[allow(clippy::all, dead_code, missing_docs)]
mod devicemgmt {
    include!(concat!(env!("OUT_DIR"), "/devicemgmt.rs"));
}

#[allow(clippy::all, dead_code, missing_docs)]
mod events {
    include!(concat!(env!("OUT_DIR"), "/events.rs"));
}

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let url = std::env::args().nth(1).ok_or("the URL of a device's service is needed")?;
    let device = Device::discover(&url).await?;
    println!("{}, its clock is {} s ahead of ours", device.name, device.clock_ahead);
    let address = device.events.ok_or("the device offers no events through pull points")?;
    let mut events = PullPoint::subscribe(&address).await?;
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => break,
            pulled = events.next() => pulled?.iter().for_each(|event| println!("{}: {}", event.topic, event.data)),
        }
    }
    events.unsubscribe().await
}

/// What a device reports about itself.
struct Device {
    name: String,
    /// Seconds that its clock is ahead of ours.
    clock_ahead: i64,
    /// Address of its event service, if it has pull points.
    events: Option<String>,
}

impl Device {
    async fn discover(url: &str) -> Result<Self, Error> {
        let client = DeviceClient::new(url)?;
        // Called without authentication: the credentials that the other calls need depend on the
        // time.
        let time = client.get_system_date_and_time(&GetSystemDateAndTime {}).await?.system_date_and_time;
        let time = time.utc_date_time.ok_or("the device does not report its time in UTC")?;
        let about = client.get_device_information(&GetDeviceInformation {}).await?;
        let asked = GetCapabilities { category: vec![CapabilityCategory::All] };
        let capabilities = client.get_capabilities(&asked).await?.capabilities;
        let events = capabilities.events.filter(|events| events.ws_pull_point_support).map(|events| events.x_addr);
        let name = format!("{} {}, firmware {}", about.manufacturer, about.model, about.firmware_version);
        Ok(Device { name, clock_ahead: timestamp(&time)?.as_second() - Timestamp::now().as_second(), events })
    }
}

/// Converts a device's time.
fn timestamp(time: &DateTime) -> Result<Timestamp, Error> {
    let number = |number: i32| i8::try_from(number);
    let date = Date::new(i16::try_from(time.date.year)?, number(time.date.month)?, number(time.date.day)?)?;
    // Devices may count leap seconds.
    let clock = Time::new(number(time.time.hour)?, number(time.time.minute)?, number(time.time.second.min(59))?, 0)?;
    Ok(TimeZone::UTC.to_timestamp(date.to_datetime(clock))?)
}

/// An event of the device.
#[derive(Debug, PartialEq)]
struct Event {
    topic: String,
    /// Names and values.
    data: String,
}

/// A subscription whose messages are pulled.
struct PullPoint {
    client: PullPointSubscriptionClient,
    manager: SubscriptionManagerClient,
}

/// How long the device waits for an event, and how long it keeps a subscription without pulls.
const WAIT: Duration = Duration::from_secs(20);
const LIFE: Duration = Duration::from_secs(60);

impl PullPoint {
    async fn subscribe(url: &str) -> Result<Self, Error> {
        let initial_termination_time = Some(Nillable::Value(lifetime()));
        let subscribe = CreatePullPointSubscription {
            filter: None,
            initial_termination_time,
            subscription_policy: None,
            any: Vec::new(),
        };
        let made = EventClient::new(url)?.create_pull_point_subscription(&subscribe).await?;
        let reference = made.subscription_reference;
        let address = reference.address.value;
        // Parameters of the reference go back as header blocks (WS-Addressing 1.0 SOAP binding,
        // 2.2).
        let mut endpoint = EndpointReference::new(&*address);
        endpoint.reference_parameters = reference.reference_parameters.map(|them| them.any).unwrap_or_default();
        let options = CallOptions::new().to_endpoint(&endpoint);
        let client = PullPointSubscriptionClient::new(&address)?.with_options(options.clone());
        // The WSDL has a binding for this, but no port.
        let manager =
            SubscriptionManagerClient::with_client(Client::builder(&address).version(Version::Soap12).build()?);
        Ok(PullPoint { client, manager: manager.with_options(options) })
    }

    /// Returns the next events; empty if there were none for a while.
    async fn next(&mut self) -> Result<Vec<Event>, Error> {
        let pull = PullMessages { timeout: WAIT.into(), message_limit: 100, any: Vec::new() };
        let pulled = self.client.pull_messages(&pull).await?;
        if pulled.notification_message.is_empty() {
            self.manager.renew(&Renew { termination_time: Nillable::Value(lifetime()), any: Vec::new() }).await?;
        }
        Ok(pulled.notification_message.iter().map(Event::of).collect())
    }

    async fn unsubscribe(self) -> Result<(), Error> {
        self.manager.unsubscribe(&Unsubscribe { any: Vec::new() }).await?;
        Ok(())
    }
}

fn lifetime() -> AbsoluteOrRelativeTimeType {
    AbsoluteOrRelativeTimeType::Duration(LIFE.into())
}

impl Event {
    fn of(notification: &NotificationMessageHolderType) -> Self {
        let topic = notification.topic.as_ref().map(|topic| topic.text().trim().to_owned()).unwrap_or_default();
        let mut data = Vec::new();
        // A message of ONVIF has items, each with a name and a value, in `Source` and `Data`.
        let parts = notification.message.any.iter().flat_map(Node::elements);
        for item in parts.flat_map(Node::elements).filter(|item| *item.name.local == *"SimpleItem") {
            let attribute = |name| item.attribute("", name).unwrap_or_default();
            data.push(format!("{}={}", attribute("Name"), attribute("Value")));
        }
        Event { topic, data: data.join(" ") }
    }
}

#[cfg(test)]
mod tests;
