//! Whole sessions of the server and the device.

use crate::common::*;
use deltasoap::types::Simple;
use deltasoap_cwmp::types::*;
use deltasoap_cwmp::{
    Accepted, Acs, CallError, CwmpFault, Device, Handler, Limits, Session, SessionEnd, SessionError, Version, fault,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Calls every request, and checks the responses.
async fn call_everything(session: Session) {
    let methods = session.get_rpc_methods().await.expect("methods");
    assert!(methods.iter().any(|name| name == "AddObject"));
    let values = session.get_parameter_values(["Device.DeviceInfo.", "Device.Led.Color"]).await.expect("values");
    let shown: Vec<_> = values.iter().map(|value| format!("{}={}", value.name, value.value.text())).collect();
    let expected = ["Device.DeviceInfo.SoftwareVersion=1.2", "Device.DeviceInfo.UpTime=42", "Device.Led.Color=red"];
    assert_eq!(shown, expected);
    assert_eq!(values[1].value.0, Simple::UnsignedInt(42));
    let names = session.get_parameter_names("Device.", true).await.expect("names");
    assert_eq!(names.len(), 4);
    let set = [
        ParameterValueStruct::string("Device.Led.Color", "<green> & \"blue\""),
        ParameterValueStruct::boolean("Device.Led.Enable", true),
    ];
    assert_eq!(session.set_parameter_values(set, "key 1").await, Ok(Status::Applied));
    let values = session.get_parameter_values(["Device.ManagementServer.ParameterKey"]).await.expect("values");
    assert_eq!(values[0].value.text(), "key 1");
    let attributes = SetParameterAttributesStruct {
        name: "Device.Led.".to_owned(),
        notification_change: true,
        notification: Notification::Active,
        access_list_change: true,
        access_list: vec![Text::from("Subscriber")].into(),
    };
    session.set_parameter_attributes([attributes]).await.expect("attributes");
    let attributes = session.get_parameter_attributes(["Device.Led.Color"]).await.expect("attributes");
    assert_eq!(attributes[0].notification, Notification::Active);
    assert_eq!(attributes[0].access_list[0].0, "Subscriber");
    assert_eq!(session.add_object("Device.Hosts.Host.", "key 2").await, Ok((1, Status::Applied)));
    assert_eq!(session.delete_object("Device.Hosts.Host.1.", "key 3").await, Ok(Status::Applied));
    let download = Download { command_key: "d".to_owned(), ..Download::new("1 Firmware Upgrade Image", "http://f/") };
    assert_eq!(session.download(&download).await.expect("a download").status, Status::Later);
    let upload = Upload { command_key: "u".to_owned(), ..Upload::new("2 Vendor Log File", "http://f/") };
    assert_eq!(session.upload(&upload).await.expect("an upload").status, Status::Later);
    assert_eq!(session.call(&GetQueuedTransfers {}).await.expect("transfers").transfer_list.len(), 2);
    assert_eq!(session.call(&GetAllQueuedTransfers {}).await.expect("transfers").transfer_list.len(), 2);
    session.schedule_inform(3600, "s").await.expect("a session later");
    session.reboot("r").await.expect("a restart");
}

#[tokio::test]
async fn every_request_is_answered_in_every_version() {
    for version in Version::ALL {
        let (handler, noted) = noted(call_everything);
        let acs = Acs::new(handler);
        let mut cpe = device(&acs, "1").version(version);
        let report = cpe.session().await.expect("a session");
        assert_eq!(report.answered.len(), 15, "{version}");
        assert_eq!(report.posts, 17);
        assert_eq!(ends(&noted), [SessionEnd::Completed]);
        assert_eq!(acs.sessions(), 0);
        let events: Vec<_> = cpe.events().iter().map(|event| event.event_code.as_str()).collect();
        assert_eq!(events, [event::BOOT, event::M_REBOOT]);
    }
}

#[tokio::test]
async fn what_the_device_refuses_are_typed_faults() {
    let found = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&found);
    let acs = Acs::new(move |session: Session| {
        let noted = Arc::clone(&noted);
        async move {
            let set = [
                ParameterValueStruct::string("Device.DeviceInfo.UpTime", "x"),
                ParameterValueStruct::string("Device.Led.Color", "x"),
                ParameterValueStruct::string("Device.Nothing", "x"),
            ];
            let faults = [
                session.set_parameter_values(set, "").await.map(drop),
                session.get_parameter_values(["Device.Nothing."]).await.map(drop),
                session.call(&SetVouchers { voucher_list: Vec::new().into() }).await.map(drop),
                session.schedule_inform(0, "").await,
                session.add_object("Device.\u{1}", "").await.map(drop),
            ];
            noted.lock().expect("a lock").extend(faults);
        }
    });
    device(&acs, "1").session().await.expect("a session");
    let found = found.lock().expect("a lock");
    let fault = |at: usize| match &found[at] {
        Err(CallError::Fault(fault)) => fault.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(0).code, fault::INVALID_ARGUMENTS);
    let parameters: Vec<_> = fault(0).parameters.iter().map(|one| (one.name.clone(), one.code)).collect();
    assert_eq!(parameters, [("Device.DeviceInfo.UpTime".to_owned(), 9008), ("Device.Nothing".to_owned(), 9005)]);
    assert_eq!((fault(1).code, fault(2).code, fault(3).code), (9005, 9000, 9003));
    assert!(matches!(found[4], Err(CallError::Unwritable(_))));
}

/// Records what devices report, and accepts sessions as configured.
#[derive(Default)]
struct RecordingHandler {
    hold_requests: bool,
    recorded: Mutex<Vec<String>>,
    refusals: Mutex<Vec<u32>>,
}

impl RecordingHandler {
    fn note(&self, what: impl Into<String>) {
        self.recorded.lock().expect("a lock").push(what.into());
    }
}

impl Handler for RecordingHandler {
    async fn inform(&self, _: &Device, inform: &Inform) -> Result<Accepted, CwmpFault> {
        let codes: Vec<_> = inform.event.iter().map(|event| event.event_code.as_str()).collect();
        self.note(format!("Inform {} {}", inform.retry_count, codes.join(", ")));
        match self.refusals.lock().expect("a lock").pop() {
            Some(code) => Err(CwmpFault::from_code(code)),
            None => Ok(Accepted { hold_requests: self.hold_requests }),
        }
    }

    async fn session(self: Arc<Self>, session: Session) {
        let values = session.get_parameter_values(["Device.Led."]).await;
        self.note(format!("values {}", values.expect("values").len()));
    }

    async fn transfer_complete(&self, _: &Device, message: TransferComplete) -> Result<(), CwmpFault> {
        self.note(format!("TransferComplete {}", message.command_key));
        Ok(())
    }

    async fn request_download(&self, _: &Device, message: RequestDownload) -> Result<(), CwmpFault> {
        self.note(format!("RequestDownload {}", message.file_type));
        Ok(())
    }
}

fn complete(key: &str) -> TransferComplete {
    let (start_time, complete_time) = (unknown_time(), unknown_time());
    TransferComplete { command_key: key.to_owned(), fault_struct: FaultStruct::default(), start_time, complete_time }
}

/// A handler that the test keeps access to.
struct Shared(Arc<RecordingHandler>);

impl Handler for Shared {
    async fn inform(&self, device: &Device, inform: &Inform) -> Result<Accepted, CwmpFault> {
        self.0.inform(device, inform).await
    }

    fn session(self: Arc<Self>, session: Session) -> impl Future<Output = ()> + Send + 'static {
        Arc::clone(&self.0).session(session)
    }

    async fn transfer_complete(&self, device: &Device, message: TransferComplete) -> Result<(), CwmpFault> {
        self.0.transfer_complete(device, message).await
    }

    async fn request_download(&self, device: &Device, message: RequestDownload) -> Result<(), CwmpFault> {
        self.0.request_download(device, message).await
    }
}

fn request_everything<S>(cpe: &mut deltasoap_cwmp::Cpe<S>) {
    cpe.request(GetRpcMethods {});
    cpe.request(complete("k"));
    let file_type = "1 Firmware Upgrade Image".to_owned();
    cpe.request(RequestDownload { file_type, file_type_arg: Vec::new().into() });
    cpe.request(Kicked { command: "c".into(), referer: "r".into(), arg: "a".into(), next: "n".into() });
}

#[tokio::test]
async fn the_device_has_its_say_first_unless_it_is_held() {
    let expected = ["TransferComplete k", "RequestDownload 1 Firmware Upgrade Image"];
    for hold_requests in [false, true] {
        let handler = Arc::new(RecordingHandler { hold_requests, ..RecordingHandler::default() });
        let acs = Acs::new(Shared(Arc::clone(&handler)));
        let mut cpe = device(&acs, "1");
        request_everything(&mut cpe);
        let report = cpe.session().await.expect("a session");
        let refused = CwmpFault::from_code(fault::ACS_METHOD_NOT_SUPPORTED);
        assert_eq!(report.requested, [Ok(()), Ok(()), Ok(()), Err(refused)]);
        let recorded = handler.recorded.lock().expect("a lock")[1..].to_vec();
        let values = "values 2";
        let [first, second] = expected;
        let order = if hold_requests { [values, first, second] } else { [first, second, values] };
        assert_eq!(recorded, order);
        assert_eq!(acs.sessions(), 0);
    }
}

#[tokio::test]
async fn an_inform_that_is_refused_is_tried_again() {
    let handler = Arc::new(RecordingHandler::default());
    *handler.refusals.lock().expect("a lock") = vec![fault::ACS_RETRY_REQUEST, fault::ACS_REQUEST_DENIED];
    let acs = Acs::new(Shared(Arc::clone(&handler)));
    let mut cpe = device(&acs, "1");
    let refused = cpe.session().await.expect_err("a refusal");
    assert!(matches!(refused, SessionError::Refused(fault) if fault.code == 8001));
    assert_eq!(cpe.retry_interval(), Duration::from_secs(5)..=Duration::from_secs(10));
    cpe.session().await.expect("a session");
    assert_eq!(cpe.retry_interval(), Duration::ZERO..=Duration::ZERO);
    let recorded = handler.recorded.lock().expect("a lock").clone();
    assert_eq!(recorded[..3], ["0", "1", "1"].map(|count| format!("Inform {count} 0 BOOTSTRAP, 1 BOOT")));
}

#[tokio::test]
async fn a_download_is_reported_in_the_next_session() {
    let handler = Arc::new(RecordingHandler::default());
    let other = Arc::clone(&handler);
    struct Downloads(Arc<RecordingHandler>);
    impl Handler for Downloads {
        async fn session(self: Arc<Self>, session: Session) {
            if session.inform().event.iter().any(|event| event.event_code == event::BOOTSTRAP) {
                let download = Download { command_key: "fw".into(), ..Download::new("1", "http://f/") };
                session.download(&download).await.expect("a download");
                session.factory_reset().await.expect("a reset");
                session.download(&download).await.expect("a download");
            }
        }
        async fn inform(&self, device: &Device, inform: &Inform) -> Result<Accepted, CwmpFault> {
            self.0.inform(device, inform).await
        }
        async fn transfer_complete(&self, device: &Device, message: TransferComplete) -> Result<(), CwmpFault> {
            self.0.transfer_complete(device, message).await
        }
    }
    let acs = Acs::new(Downloads(other));
    let mut cpe = device(&acs, "1");
    cpe.session().await.expect("a session");
    cpe.session().await.expect("a session");
    let recorded = handler.recorded.lock().expect("a lock").clone();
    let events = "Inform 0 0 BOOTSTRAP, 1 BOOT, 7 TRANSFER COMPLETE, M Download";
    assert_eq!(recorded[1..], [events, "TransferComplete fw"]);
}

#[tokio::test(start_paused = true)]
async fn silent_sessions_and_slow_decisions_end() {
    let (handler, noted) = noted(async |session: Session| {
        let _ = session.get_rpc_methods().await;
        tokio::time::sleep(Duration::from_secs(3600)).await;
    });
    let acs = Acs::builder(handler).build().expect("a server");
    let begun = post(&acs, None, inform(Version::V1_0, "1")).await;
    let cookie = begun.cookie.expect("a cookie");
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert_eq!(acs.sessions(), 1);
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!((acs.sessions(), ends(&noted)), (0, vec![SessionEnd::Idle]));
    assert_eq!(post(&acs, Some(&cookie), "").await.status, 400);
    // The device waits for 30 s.
    device(&acs, "1").session().await.expect("a session");
    assert_eq!((acs.sessions(), ends(&noted)), (0, vec![SessionEnd::Idle, SessionEnd::Undecided]));
}

#[tokio::test]
async fn what_drops_the_session_is_seen_by_calls() {
    let found = Arc::new(Mutex::new(None));
    let noted = Arc::clone(&found);
    let acs = Acs::new(move |session: Session| {
        let noted = Arc::clone(&noted);
        async move {
            // A task that outlives the session.
            tokio::spawn(async move {
                let result = session.get_rpc_methods().await;
                *noted.lock().expect("a lock") = Some(result);
            });
        }
    });
    device(&acs, "1").session().await.expect("a session");
    tokio::task::yield_now().await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(*found.lock().expect("a lock"), Some(Err(CallError::Ended)));
}

#[tokio::test]
async fn calls_from_several_places_are_sent_in_turn() {
    let acs = Acs::new(async |session: Session| {
        let other = session.clone();
        let (one, two, three) = tokio::join!(
            session.get_parameter_values(["Device.Led.Color"]),
            other.get_rpc_methods(),
            session.get_parameter_names("Device.", true),
        );
        assert!(one.is_ok() && two.is_ok() && three.is_ok());
        // A request is not sent if its caller has stopped waiting.
        tokio::select! {
            biased;
            _ = session.reboot("never") => panic!("an answer"),
            () = async {} => {}
        }
    });
    let report = device(&acs, "1").session().await.expect("a session");
    assert_eq!(report.answered.len(), 3, "{:?}", report.answered);
}

#[tokio::test]
async fn a_panic_ends_one_session() {
    let (handler, noted) = noted(async |session: Session| {
        let _ = session.get_rpc_methods().await;
        assert_ne!(session.device().id.serial_number, "bad", "as the test wants it");
    });
    let acs = Acs::new(handler);
    let failed = device(&acs, "bad").session().await.expect_err("a failure");
    assert!(matches!(failed, SessionError::Invalid(_) | SessionError::Status(_)), "{failed}");
    device(&acs, "good").session().await.expect("a session");
    assert_eq!(ends(&noted), [SessionEnd::Abandoned, SessionEnd::Completed]);
}

#[tokio::test]
async fn too_many_sessions_and_too_long_ones_are_refused() {
    let (handler, noted) = noted(async |session: Session| while session.get_rpc_methods().await.is_ok() {});
    let limits = Limits { sessions: 2, messages: 10, ..Limits::default() };
    let acs = Acs::builder(handler).limits(limits).build().expect("a server");
    for serial in ["1", "2", "2", "1"] {
        assert_eq!(post(&acs, None, inform(Version::V1_0, serial)).await.status, 200);
    }
    let refused = post(&acs, None, inform(Version::V1_0, "3")).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (500, 8004));
    assert_eq!(acs.sessions(), 2);
    let ended = device(&acs, "1").session().await.expect_err("an end");
    assert!(matches!(ended, SessionError::Status(status) if status == 400), "{ended}");
    let expected = [SessionEnd::Replaced, SessionEnd::Replaced, SessionEnd::Replaced, SessionEnd::TooLong];
    assert_eq!(ends(&noted), expected);
}
