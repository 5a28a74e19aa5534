//! Every sequence of requests has a defined answer, and leaves nothing behind.

use crate::common::*;
use deltasoap_cwmp::{Acs, Limits, Session, Version};
use proptest::prelude::*;
use std::time::Duration;

/// The next message of a device.
#[derive(Debug, Clone)]
enum Sent {
    Inform(u8),
    Empty,
    /// The right answer to the last request, if there was one.
    Right,
    Fault,
    Response(u8),
    Request(u8),
    Garbage(Vec<u8>),
    /// A truncated message.
    Cut(u16),
}

fn sent() -> impl Strategy<Value = Sent> {
    prop_oneof![
        3 => (0..2_u8).prop_map(Sent::Inform),
        4 => Just(Sent::Empty),
        6 => Just(Sent::Right),
        1 => Just(Sent::Fault),
        2 => any::<u8>().prop_map(Sent::Response),
        3 => any::<u8>().prop_map(Sent::Request),
        1 => proptest::collection::vec(any::<u8>(), 0..64).prop_map(Sent::Garbage),
        1 => any::<u16>().prop_map(Sent::Cut),
    ]
}

const RESPONSES: [&str; 4] = ["GetRPCMethodsResponse", "RebootResponse", "InformResponse", "NoneResponse"];
const REQUESTS: [&str; 4] = ["GetRPCMethods", "Reboot", "TransferComplete", "Other"];

fn message(sent: &Sent, last: Option<&Answer>) -> Vec<u8> {
    let version = Version::V1_0;
    let asked = last.filter(|answer| answer.status == 200).filter(|answer| answer.header("ID").is_some());
    let id = asked.map(Answer::id).unwrap_or_default();
    let text = match sent {
        Sent::Inform(device) => inform(version, &device.to_string()),
        Sent::Empty => String::new(),
        Sent::Right => match asked.map(Answer::element).as_deref() {
            Some("GetRPCMethods") => {
                let list = r#"<MethodList enc:arrayType="xsd:string[0]"/>"#;
                let body = format!("<cwmp:GetRPCMethodsResponse>{list}</cwmp:GetRPCMethodsResponse>");
                envelope(version, &with_id(&id), &body)
            }
            Some("Reboot") => envelope(version, &with_id(&id), "<cwmp:RebootResponse/>"),
            _ => String::new(),
        },
        Sent::Fault => {
            let body = "<s:Fault><faultcode>Client</faultcode><faultstring>CWMP fault</faultstring></s:Fault>";
            envelope(version, &with_id(&id), body)
        }
        Sent::Response(n) => envelope(version, "", &format!("<cwmp:{}/>", RESPONSES[usize::from(*n) % 4])),
        Sent::Request(n) => envelope(version, &with_id("r"), &format!("<cwmp:{}/>", REQUESTS[usize::from(*n) % 4])),
        Sent::Garbage(bytes) => return bytes.clone(),
        Sent::Cut(at) => {
            let whole = inform(version, "0");
            whole[..usize::from(*at) % whole.len()].to_owned()
        }
    };
    text.into_bytes()
}

async fn run(sequence: Vec<Sent>) {
    let (handler, noted) = noted(async |session: Session| {
        let _ = session.get_rpc_methods().await;
        let _ = session.reboot("").await;
    });
    let limits = Limits { idle: Duration::from_millis(40), ..Limits::default() };
    let acs = Acs::builder(handler).limits(limits).build().expect("a server");
    let (mut cookie, mut last, mut begun) = (None, None, 0);
    for sent in &sequence {
        let answer = post(&acs, cookie.as_deref(), message(sent, last.as_ref())).await;
        match answer.status.as_u16() {
            200 => _ = answer.element(),
            204 => assert!(answer.body.is_empty()),
            500 => assert!((8000..=8006).contains(&answer.code()), "{}", answer.body),
            400 => {}
            other => panic!("{other} to {sent:?}"),
        }
        if let Some(new) = &answer.cookie {
            cookie = Some(new.clone());
            begun += 1;
        }
        last = Some(answer);
    }
    assert_eq!(begun, acs.sessions() + ends(&noted).len());
    for _ in 0..100 {
        if acs.sessions() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("sessions are left");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 150 } else { 2000 }))]

    #[test]
    fn every_sequence_has_answers(sequence in proptest::collection::vec(sent(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(run(sequence));
    }
}
