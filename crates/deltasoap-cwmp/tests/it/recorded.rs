//! Informs of real devices, as first messages; and the savings when they are repeated.

use crate::common::*;
use deltasoap::server::{Principal, Sharing};
use deltasoap_cwmp::{Acs, Session, Version};
use deltasoap_test_support::files;
use http::Request;
use std::fs;
use std::path::PathBuf;

/// Returns the messages of a folder, with the names of their files.
fn messages(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = files::in_repository("testdata/sequences").join(folder);
    let read = |path: PathBuf| (files::relative(&path, &folder), fs::read(&path).expect("a file"));
    files::below(&folder, &["xml"]).into_iter().map(read).collect()
}

#[tokio::test]
async fn informs_of_real_devices_begin_sessions() {
    let acs = Acs::new(async |session: Session| {
        let _ = session.reboot("").await;
    });
    for (name, message) in messages("tr069-inform") {
        // The cytco device sends an invalid time.
        let is_invalid = name.starts_with("cytco");
        let text = String::from_utf8_lossy(&message).into_owned();
        if name.starts_with("inform-response") {
            continue;
        }
        let begun = post(&acs, None, message).await;
        if is_invalid {
            assert_eq!(begun.status, 400, "{name}");
            continue;
        }
        assert_eq!((begun.status.as_u16(), begun.element()), (200, "InformResponse".to_owned()), "{name}");
        let version = Version::ALL.into_iter().find(|version| text.contains(version.namespace())).expect("a version");
        assert!(begun.body.contains(version.namespace()), "{name}");
        let asked = post(&acs, begun.cookie.as_deref(), "").await;
        assert_eq!(asked.element(), "Reboot", "{name}");
        let done = envelope(version, &with_id(&asked.id()), "<cwmp:RebootResponse/>");
        assert_eq!(post(&acs, begun.cookie.as_deref(), done).await.status, 204, "{name}");
    }
    assert_eq!(acs.sessions(), 0);
}

#[tokio::test]
async fn of_an_inform_that_comes_again_only_what_differs_is_read() {
    let acs = Acs::builder(async |_: Session| {})
        .configure(|service| service.sharing(Sharing::Principal))
        .build()
        .expect("a server");
    let (_, message) =
        messages("tr069-inform").into_iter().find(|(name, _)| name == "zyxel-vmg8924.xml").expect("a file");
    for _ in 0..6 {
        let mut request = Request::post(URL).body(message.clone().into()).expect("a request");
        request.extensions_mut().insert(Principal::new("device"));
        let begun = send(&acs, request).await;
        assert_eq!(begun.status, 200);
        let mut end = Request::post(URL).header("cookie", begun.cookie.expect("a cookie")).body(Default::default());
        end.as_mut().expect("a request").extensions_mut().insert(Principal::new("device"));
        assert_eq!(send(&acs, end.expect("a request")).await.status, 204);
    }
    let decoded = acs.stats().snapshot().differential;
    assert!(decoded.fast_bytes > decoded.regular_bytes, "{decoded:?}");
}
