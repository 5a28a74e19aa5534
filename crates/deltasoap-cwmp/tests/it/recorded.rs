//! Informs of real devices, as first messages; and the savings when they are repeated.

use crate::common::*;
use deltasoap::http::{Principal, Sharing};
use deltasoap_cwmp::{Acs, Session, Version};
use http::Request;
use std::fs;
use std::path::Path;

fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sequences").join(folder);
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == "xml"));
    let read = |path: &Path| {
        (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(path).expect("a file"))
    };
    let mut files: Vec<_> = files.map(|path| read(&path)).collect();
    files.sort();
    files
}

#[tokio::test]
async fn informs_of_real_devices_begin_sessions() {
    let acs = Acs::new(async |session: Session| {
        let _ = session.reboot("").await;
    });
    for (name, message) in files("tr069-inform") {
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
    let (_, message) = files("tr069-inform").into_iter().find(|(name, _)| name == "zyxel-vmg8924.xml").expect("a file");
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
