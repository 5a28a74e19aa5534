//! Devices and servers for tests, and requests written by hand.

use bytes::Bytes;
use deltasoap::transport::Body;
use deltasoap::types::{Node, Simple};
use deltasoap_cwmp::types::DeviceId;
use deltasoap_cwmp::{Acs, Cpe, Device, Handler, Parameter, Parameters, Session, SessionEnd, Version};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use std::sync::{Arc, Mutex};
use tower::ServiceExt;

pub const URL: &str = "http://acs.example/";

/// Conducts sessions by a closure, and records how they end.
pub struct Noted<F> {
    lead: F,
    ends: Arc<Mutex<Vec<SessionEnd>>>,
}

/// Returns a handler, and the ends of the sessions that it conducts.
pub fn noted<F>(lead: F) -> (Noted<F>, Arc<Mutex<Vec<SessionEnd>>>) {
    let ends = Arc::default();
    (Noted { lead, ends: Arc::clone(&ends) }, ends)
}

impl<F, R> Handler for Noted<F>
where
    F: Fn(Session) -> R + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    fn session(self: Arc<Self>, session: Session) -> impl Future<Output = ()> + Send + 'static {
        (self.lead)(session)
    }

    fn ended(&self, _: &Device, end: SessionEnd) {
        self.ends.lock().expect("a lock").push(end);
    }
}

pub fn ends(ends: &Mutex<Vec<SessionEnd>>) -> Vec<SessionEnd> {
    ends.lock().expect("a lock").clone()
}

pub fn id(serial_number: &str) -> DeviceId {
    DeviceId {
        manufacturer: "Example".to_owned(),
        oui: "0123AB".to_owned(),
        product_class: "Box".to_owned(),
        serial_number: serial_number.to_owned(),
    }
}

pub fn parameters() -> Parameters {
    let text = |text: &str| Simple::String(text.to_owned());
    let mut parameters = Parameters::default();
    parameters.insert("Device.DeviceInfo.SoftwareVersion", Parameter::read_only(text("1.2")));
    parameters.insert("Device.DeviceInfo.UpTime", Parameter::read_only(Simple::UnsignedInt(42)));
    parameters.insert("Device.ManagementServer.ParameterKey", Parameter::read_only(text("")));
    parameters.insert("Device.Led.Enable", Parameter::writable(Simple::Boolean(false)));
    parameters.insert("Device.Led.Color", Parameter::writable(text("red")));
    parameters.insert_table("Device.Hosts.Host.", [("Name", Parameter::writable(text("")))]);
    parameters
}

/// Creates a device that calls a server in memory.
pub fn device(acs: &Acs, serial_number: &str) -> Cpe<Acs> {
    Cpe::over(acs.clone(), URL, id(serial_number)).expect("a URL").parameters(parameters())
}

/// A server's answer.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub cookie: Option<String>,
    pub body: String,
}

impl Answer {
    /// Returns the name of the body's element.
    pub fn element(&self) -> String {
        let envelope = Node::parse(self.body.as_bytes()).expect("an envelope");
        let body = envelope.elements().find(|child| child.name.local == "Body").expect("a body");
        body.elements().next().expect("an element").name.local.to_string()
    }

    /// Returns the text of the header block `ID`.
    pub fn id(&self) -> String {
        self.header("ID").expect("an ID")
    }

    pub fn header(&self, local: &str) -> Option<String> {
        let envelope = Node::parse(self.body.as_bytes()).expect("an envelope");
        let header = envelope.elements().find(|child| child.name.local == "Header")?;
        Some(header.elements().find(|block| block.name.local == local)?.text())
    }

    /// Returns the code of the fault.
    pub fn code(&self) -> u32 {
        let start = self.body.find("<FaultCode>").expect("a fault") + "<FaultCode>".len();
        self.body[start..start + 4].parse().expect("a number")
    }
}

/// Posts a message with a cookie.
pub async fn post(acs: &Acs, cookie: Option<&str>, message: impl Into<Bytes>) -> Answer {
    let mut request = Request::post(URL);
    if let Some(cookie) = cookie {
        request = request.header("cookie", cookie);
    }
    send(acs, request.body(Full::new(message.into())).expect("a request")).await
}

pub async fn send(acs: &Acs, request: Request<Full<Bytes>>) -> Answer {
    let Ok(response) = acs.clone().oneshot(request).await;
    answer(response).await
}

pub async fn answer(response: Response<Body>) -> Answer {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    let cookie = parts.headers.get("set-cookie").map(|value| value.to_str().expect("ASCII"));
    let cookie = cookie.map(|text| text.split(';').next().unwrap_or_default().to_owned());
    Answer { status: parts.status, cookie, body: String::from_utf8(body.into()).expect("UTF-8") }
}

/// Creates an envelope with a header and a body, in a version.
pub fn envelope(version: Version, header: &str, body: &str) -> String {
    format!(
        r#"<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:enc="http://schemas.xmlsoap.org/soap/encoding/"
            xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
            xmlns:cwmp="{}"><s:Header>{header}</s:Header><s:Body>{body}</s:Body></s:Envelope>"#,
        version.namespace()
    )
}

/// Creates a header block with an ID.
pub fn with_id(id: &str) -> String {
    format!(r#"<cwmp:ID s:mustUnderstand="1">{id}</cwmp:ID>"#)
}

/// Creates an Inform of a device.
pub fn inform(version: Version, serial_number: &str) -> String {
    let body = format!(
        r#"<cwmp:Inform><DeviceId><Manufacturer>Example</Manufacturer><OUI>0123AB</OUI><ProductClass>Box</ProductClass>
            <SerialNumber>{serial_number}</SerialNumber></DeviceId>
            <Event enc:arrayType="cwmp:EventStruct[1]"><EventStruct><EventCode>2 PERIODIC</EventCode><CommandKey/></EventStruct></Event>
            <MaxEnvelopes>1</MaxEnvelopes><CurrentTime>2026-01-02T03:04:05Z</CurrentTime><RetryCount>0</RetryCount>
            <ParameterList enc:arrayType="cwmp:ParameterValueStruct[0]"/></cwmp:Inform>"#
    );
    envelope(version, &with_id("i1"), &body)
}
