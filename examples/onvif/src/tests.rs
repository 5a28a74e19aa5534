//! The program against a device of ours, which has an event for every client that pulls.

use super::*;
use deltasoap::server::SoapServiceBuilder;
use deltasoap::{Context, Fault, Lease, Server, SoapService};
use devicemgmt::schema::{Capabilities, EventCapabilities, SetDateTimeType, SystemDateTime};
use devicemgmt::server::DeviceServer;
use devicemgmt::wsdl::{GetCapabilitiesResponse, GetDeviceInformationResponse, GetSystemDateAndTimeResponse};
use events::CreatePullPointSubscriptionFault;
use events::addressing::{AttributedUriType, EndpointReferenceType, ReferenceParametersType};
use events::b_2::{NotificationMessageHolderTypeMessage, RenewResponse, UnsubscribeResponse};
use events::server::EventServer;
use events::wsdl::{CreatePullPointSubscriptionResponse, PullMessagesResponse};

struct Camera {
    events: String,
    subscription: String,
}

/// Returns the device's time: half an hour ahead of ours.
fn now_there() -> DateTime {
    let there = (Timestamp::now() + jiff::SignedDuration::from_mins(30)).to_zoned(TimeZone::UTC);
    let number = i32::from;
    DateTime {
        time: devicemgmt::schema::Time {
            hour: number(there.hour()),
            minute: number(there.minute()),
            second: number(there.second()),
        },
        date: devicemgmt::schema::Date {
            year: there.year().into(),
            month: number(there.month()),
            day: number(there.day()),
        },
    }
}

impl devicemgmt::server::Device for Camera {
    async fn get_device_information(
        &self,
        _: Context,
        _: Lease<GetDeviceInformation>,
    ) -> Result<GetDeviceInformationResponse, Fault> {
        let [manufacturer, model, firmware_version, serial_number, hardware_id] =
            ["Example", "Eye", "1.2", "0", "1"].map(ToOwned::to_owned);
        Ok(GetDeviceInformationResponse { manufacturer, model, firmware_version, serial_number, hardware_id })
    }

    async fn get_system_date_and_time(
        &self,
        _: Context,
        _: Lease<GetSystemDateAndTime>,
    ) -> Result<GetSystemDateAndTimeResponse, Fault> {
        let system_date_and_time = SystemDateTime {
            date_time_type: SetDateTimeType::Manual,
            daylight_savings: false,
            time_zone: None,
            utc_date_time: Some(now_there()),
            local_date_time: None,
            extension: None,
        };
        Ok(GetSystemDateAndTimeResponse { system_date_and_time })
    }

    async fn get_capabilities(&self, _: Context, _: Lease<GetCapabilities>) -> Result<GetCapabilitiesResponse, Fault> {
        let events = EventCapabilities {
            x_addr: self.events.clone(),
            ws_subscription_policy_support: false,
            ws_pull_point_support: true,
            ws_pausable_subscription_manager_interface_support: false,
            any: Vec::new(),
        };
        let capabilities = Capabilities {
            analytics: None,
            device: None,
            events: Some(events),
            imaging: None,
            media: None,
            ptz: None,
            extension: None,
        };
        Ok(GetCapabilitiesResponse { capabilities })
    }
}

impl events::server::Event for Camera {
    async fn create_pull_point_subscription(
        &self,
        _: Context,
        _: Lease<CreatePullPointSubscription>,
    ) -> Result<CreatePullPointSubscriptionResponse, CreatePullPointSubscriptionFault> {
        let parameter = Node::parse(b"<id xmlns='urn:camera'>7</id>").expect("an element");
        let subscription_reference = EndpointReferenceType {
            address: AttributedUriType { value: self.subscription.clone() },
            reference_parameters: Some(ReferenceParametersType { any: vec![parameter] }),
            metadata: None,
            any: Vec::new(),
        };
        Ok(CreatePullPointSubscriptionResponse {
            subscription_reference,
            current_time: Timestamp::now().into(),
            termination_time: Nillable::Nil,
            any: Vec::new(),
        })
    }
}

fn event() -> NotificationMessageHolderType {
    let node = |text: &str| Node::parse(text.as_bytes()).expect("an element");
    let topic = node("<Topic xmlns='http://docs.oasis-open.org/wsn/b-2'>tns1:VideoSource/MotionAlarm</Topic>");
    let message = node(
        "<Message xmlns='http://www.onvif.org/ver10/schema' UtcTime='2026-01-01T00:00:00Z'><Source>\
         <SimpleItem Name='Source' Value='1'/></Source><Data><SimpleItem Name='State' Value='true'/></Data></Message>",
    );
    NotificationMessageHolderType {
        subscription_reference: None,
        topic: Some(topic),
        producer_reference: None,
        message: NotificationMessageHolderTypeMessage { any: Some(message) },
    }
}

/// Requests for the subscription have its parameter among their header blocks.
fn is_meant(context: &Context) -> Result<(), Box<Fault>> {
    let is_there = context.head().headers.iter().any(|block| *block.node.name.local == *"id");
    if is_there { Ok(()) } else { Err(Box::new(Fault::sender("which subscription?"))) }
}

/// Creates the service that answers for the subscription.
fn subscription() -> SoapService {
    let pull = async |context: Context, _: Lease<PullMessages>| {
        is_meant(&context).map_err(|fault| *fault)?;
        let (current_time, termination_time) = (Timestamp::now().into(), Timestamp::now().into());
        Ok::<_, Fault>(PullMessagesResponse { current_time, termination_time, notification_message: vec![event()] })
    };
    let renew = async |context: Context, _: Lease<Renew>| {
        is_meant(&context).map_err(|fault| *fault)?;
        Ok::<_, Fault>(RenewResponse { termination_time: Nillable::Nil, current_time: None, any: Vec::new() })
    };
    let unsubscribe = async |context: Context, _: Lease<Unsubscribe>| {
        is_meant(&context).map_err(|fault| *fault)?;
        Ok::<_, Fault>(UnsubscribeResponse { any: Vec::new() })
    };
    let builder = SoapService::builder();
    let builder = builder.add_operation(deltasoap::server::Operation::new(pull));
    let builder = builder.add_operation(deltasoap::server::Operation::new(renew));
    let builder = builder.add_operation(deltasoap::server::Operation::new(unsubscribe));
    builder.build().expect("a service")
}

async fn serve(service: SoapService) -> String {
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", server.local_addr().expect("an address"));
    tokio::spawn(server.serve(service));
    url
}

fn built(builder: SoapServiceBuilder) -> SoapService {
    builder.build().expect("a service")
}

#[tokio::test]
async fn a_device_is_discovered_and_its_events_are_pulled() -> Result<(), Error> {
    let subscription = serve(subscription()).await;
    let camera = |events: String| Camera { events, subscription: subscription.clone() };
    let events = serve(built(EventServer::builder(camera(String::new())))).await;
    let device = Device::discover(&serve(built(DeviceServer::builder(camera(events)))).await).await?;
    assert_eq!(device.name, "Example Eye, firmware 1.2");
    assert!((1790..=1810).contains(&device.clock_ahead), "{}", device.clock_ahead);
    let mut events = PullPoint::subscribe(&device.events.expect("events")).await?;
    let expected = Event { topic: "tns1:VideoSource/MotionAlarm".to_owned(), data: "Source=1 State=true".to_owned() };
    for _ in 0..3 {
        assert_eq!(
            events.next().await?,
            [&expected].map(|it| Event { topic: it.topic.clone(), data: it.data.clone() })
        );
    }
    events.unsubscribe().await
}
