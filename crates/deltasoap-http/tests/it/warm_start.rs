//! Memories that outlive the service: saved, loaded, and refused where they do not fit.

use crate::common::*;
use deltasoap::engine::{Checkpoints, Differential};
use deltasoap::server::{LoadMemoriesError, LoadedMemories, Principal, Sharing};
use deltasoap::soap::Version;
use deltasoap::{Client, Lease, Soap, SoapService};
use http::Request;
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::path::PathBuf;
use tempfile::TempDir;
use tower::{ServiceExt, service_fn};

const LEAF: Differential = Differential { checkpoints: Checkpoints::Leaf, adaptive: false };

fn service(differential: Differential, sharing: Sharing) -> SoapService {
    let echo = async |request: Lease<Echo>| Ok::<_, Infallible>(echoed(&request));
    SoapService::builder().differential(differential).sharing(sharing).operation(echo).build().expect("a service")
}

fn request(number: i32) -> Echo {
    Echo { text: "some text & more".to_owned(), numbers: (0..400).chain([number]).collect() }
}

/// Calls as a principal.
async fn call(service: &SoapService, who: &str, version: Version, number: i32) {
    let (service, who) = (service.clone(), who.to_owned());
    let named = service_fn(move |mut request: Request<deltasoap::transport::Body>| {
        request.extensions_mut().insert(Principal::new(&*who));
        service.clone().oneshot(request)
    });
    let client = Client::builder("http://localhost/").version(version).build_with(named).expect("a client");
    let response: EchoResponse = client.call_as(&request(number)).await.expect("a response");
    assert_eq!(response, echoed(&request(number)));
}

fn file() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a directory");
    let path = folder.path().join("memories");
    (folder, path)
}

#[tokio::test]
async fn the_first_message_after_a_restart_is_compared() {
    let (_folder, path) = file();
    for sharing in [Sharing::Principal, Sharing::Operation] {
        let before = service(LEAF, sharing);
        for round in 0..6 {
            for (who, version) in [("ada", Version::Soap11), ("bob", Version::Soap12)] {
                call(&before, who, version, round).await;
            }
        }
        assert_eq!(before.save_memories(&path).expect("saved"), 2);

        let after = service(LEAF, sharing);
        assert_eq!(after.load_memories(&path).expect("loaded"), LoadedMemories { kept: 2, skipped: 0 });
        assert_eq!(after.stats().snapshot().differential.messages, 0, "no request was made");
        for (who, version) in [("ada", Version::Soap11), ("bob", Version::Soap12)] {
            call(&after, who, version, 77).await;
        }
        let stats = after.stats().snapshot().differential;
        assert_eq!((stats.messages, stats.compared), (2, 2), "{stats:?}");
        assert!(stats.fast_bytes > 10 * stats.regular_bytes, "{stats:?}");
        let busy = service(LEAF, sharing);
        call(&busy, "ada", Version::Soap11, 1).await;
        let late = busy.load_memories(&path);
        assert!(matches!(late, Err(LoadMemoriesError::InUse)), "{late:?}");
        // The memories of others are of no use.
        let other = service(LEAF, Sharing::Principal);
        other.load_memories(&path).expect("loaded");
        call(&other, "eve", Version::Soap11, 77).await;
        assert_eq!(other.stats().snapshot().differential.compared, 0);
    }
}

/// Whether comparing pays depends on the machine, and so does what is kept; the answers do not.
#[tokio::test]
async fn an_adaptive_service_keeps_what_pays() {
    let (_folder, path) = file();
    let before = service(Differential::default(), Sharing::Principal);
    let mut saved = 0;
    for round in 0..200 {
        call(&before, "ada", Version::Soap11, round).await;
        saved = before.save_memories(&path).expect("saved");
        if round > 20 && saved > 0 {
            break;
        }
    }
    let after = service(Differential::default(), Sharing::Principal);
    let loaded = after.load_memories(&path).expect("loaded");
    assert_eq!(loaded.kept + loaded.skipped, saved);
    call(&after, "ada", Version::Soap11, 77).await;
    assert_eq!(after.stats().snapshot().differential.messages, 1);
}

#[tokio::test]
async fn messages_of_all_styles_are_saved() {
    let messages = [
        // Prefixes, declarations in odd places, a header, what comes after the operation.
        r#"<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:x="urn:x&amp;&quot;&lt;"><s:Header><x:secret>hidden</x:secret></s:Header><s:Body xmlns:t="urn:test"><t:Echo xmlns:y="urn:y">CONTENT</t:Echo></s:Body></s:Envelope>"#,
        r#"<Envelope xmlns="http://www.w3.org/2003/05/soap-envelope"><Body><Echo xmlns="urn:test">CONTENT</Echo ></Body  ><!-- end --></Envelope >"#,
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' s:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'>\n<s:Body>\n<t:Echo xmlns:t='urn:test'>\nCONTENT</t:Echo>\n</s:Body>\n</s:Envelope>\n",
    ];
    let (_folder, path) = file();
    for message in messages {
        let text = |number: i32| {
            let unqualified = |name: &str| match message.contains("<Echo") {
                true => format!("{name} xmlns=''"),
                false => name.to_owned(),
            };
            let numbers: String = (0..300)
                .chain([number])
                .map(|number| format!("<{}>{number}</numbers>", unqualified("numbers")))
                .collect();
            message.replace("CONTENT", &format!("<{}>a</text>{numbers}", unqualified("text")))
        };
        let post = async |service: &SoapService, number: i32| {
            let media = if message.contains("2003") { "application/soap+xml" } else { "text/xml" };
            let request = Request::post("/").header("content-type", media).header("user-agent", "x");
            let request = request.extension(Principal::new("ada"));
            let body = http_body_util::Full::<bytes::Bytes>::from(text(number));
            let Ok(response) = service.clone().oneshot(request.body(body).expect("a request")).await;
            let (head, body) = response.into_parts();
            let body = body.collect().await.expect("a body").to_bytes();
            assert_eq!(head.status, 200, "{body:?}");
            assert!(String::from_utf8_lossy(&body).contains(&format!(">{number}</numbers></")), "{body:?}");
        };
        let before = service(LEAF, Sharing::Principal);
        for number in 0..3 {
            post(&before, number).await;
        }
        assert_eq!(before.save_memories(&path).expect("saved"), 1);
        let saved = std::fs::read(&path).expect("a file");
        assert!(memchr::memmem::find(&saved, b"hidden").is_none(), "headers are not saved");
        let after = service(LEAF, Sharing::Principal);
        assert_eq!(after.load_memories(&path).expect("loaded").kept, 1, "{message}");
        post(&after, 5000).await;
        let stats = after.stats().snapshot().differential;
        assert_eq!(stats.compared, 1, "{stats:?} {message}");
        assert!(stats.fast_bytes > 10 * stats.regular_bytes, "{stats:?} {message}");
    }
}

/// The same name, but other content.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message, name = "Echo")]
struct Changed {
    text: String,
    numbers: Vec<bool>,
}

#[tokio::test]
async fn what_does_not_fit_is_refused() {
    let (folder, path) = file();
    let before = service(LEAF, Sharing::Principal);
    for round in 0..3 {
        call(&before, "ada", Version::Soap11, round).await;
    }
    before.save_memories(&path).expect("saved");

    let echo = async |_: Lease<Changed>| Ok::<_, Infallible>(EchoResponse { text: String::new(), numbers: vec![] });
    let changed = SoapService::builder().differential(LEAF).operation(echo).build().expect("a service");
    assert_eq!(changed.load_memories(&path).expect("loaded"), LoadedMemories { kept: 0, skipped: 1 });
    let off = SoapService::builder().differential(Differential::OFF).build().expect("a service");
    assert_eq!(off.load_memories(&path).expect("loaded"), LoadedMemories::default());

    let after = service(LEAF, Sharing::Principal);
    let absent = after.load_memories(folder.path().join("absent"));
    assert!(matches!(absent, Err(LoadMemoriesError::Io(_))), "{absent:?}");
    let mut bytes = std::fs::read(&path).expect("a file");
    *bytes.last_mut().expect("a checksum") ^= 1;
    std::fs::write(&path, bytes).expect("written");
    let damaged = after.load_memories(&path);
    assert!(matches!(damaged, Err(LoadMemoriesError::Damaged)), "{damaged:?}");
    assert!(after.save_memories(folder.path().join("absent/memories")).is_err());
}
