//! Sessions over sockets: connections, cookies, authentication, connection requests.

use crate::common::*;
use deltasoap::Server;
use deltasoap::client::Credentials;
use deltasoap::server::{Basic, DigestUsers};
use deltasoap_cwmp::types::event;
use deltasoap_cwmp::{Acs, ConnectionRequestError, Cpe, Session, SessionError, Version, connection_request};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn served(acs: Acs) -> String {
    let server = Server::bind("127.0.0.1:0").await.expect("an address");
    let address = server.local_addr().expect("an address");
    tokio::spawn(server.serve(acs));
    format!("http://{address}/acs?x=1")
}

fn leading(serials: &Arc<Mutex<Vec<String>>>) -> impl Fn(Session) -> futures::Leading + Send + Sync + use<> {
    let serials = Arc::clone(serials);
    move |session| {
        let serials = Arc::clone(&serials);
        Box::pin(async move {
            session.get_parameter_values(["Device.Led."]).await.expect("values");
            let who = session.device().principal.as_ref().map_or("nobody".to_owned(), |who| who.0.to_string());
            serials.lock().expect("a lock").push(who);
        })
    }
}

mod futures {
    pub type Leading = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
}

#[tokio::test]
async fn devices_prove_who_they_are_by_basic_and_digest() {
    let seen = Arc::default();
    let basic = Acs::builder(leading(&seen)).authenticate(Basic::users("acs", [("ada", "secret")])).build();
    let digest = Acs::builder(leading(&seen)).authenticate(DigestUsers::new("acs", [("ada", "secret")]).md5()).build();
    let sha = Acs::builder(leading(&seen)).authenticate(DigestUsers::new("acs", [("ada", "secret")])).build();
    let by_basic = |word: &str| Credentials::basic("ada", word).expect("credentials");
    let by_digest = |word: &str| Credentials::digest("ada", word).expect("credentials");
    type Case<'a> = (Acs, &'a dyn Fn(&str) -> Credentials, u32);
    let cases: [Case<'_>; 3] = [
        (basic.expect("a server"), &by_basic, 3),
        (digest.expect("a server"), &by_digest, 4),
        (sha.expect("a server"), &by_digest, 4),
    ];
    for (acs, credentials, posts) in cases {
        let url = served(acs.clone()).await;
        let cpe = || Cpe::new(&url, id("1")).expect("a URL").parameters(parameters());
        let report = cpe().credentials(credentials("secret")).session().await.expect("a session");
        assert_eq!(report.posts, posts);
        for denied in [cpe().credentials(credentials("wrong")).session().await, cpe().session().await] {
            assert!(matches!(denied, Err(SessionError::Status(status)) if status == 401), "{denied:?}");
        }
        assert_eq!(acs.sessions(), 0);
    }
    assert_eq!(*seen.lock().expect("a lock"), ["ada"; 3]);
}

#[tokio::test]
async fn no_principal_goes_on_with_anothers_session() {
    let users = Basic::users("acs", [("ada", "a"), ("bob", "b")]);
    let acs = Acs::builder(async |session: Session| while session.get_rpc_methods().await.is_ok() {})
        .authenticate(users)
        .build()
        .expect("a server");
    let ask = async |user: &str, cookie: Option<&str>, message: String| {
        let credentials = Credentials::basic(user, &user[..1]).expect("credentials");
        let authorization = credentials.authorization(&http::Method::POST, &URL.parse().expect("a URL"));
        let mut request = http::Request::post(URL).header("authorization", authorization.expect("an answer"));
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        send(&acs, request.body(message.into()).expect("a request")).await
    };
    let begun = ask("ada", None, inform(Version::V1_0, "1")).await;
    let cookie = begun.cookie.as_deref();
    for message in ["", "garbage"] {
        assert_eq!(ask("bob", cookie, message.to_owned()).await.status, 400);
    }
    // The same device, sent by another principal, has a session of its own.
    let other = ask("bob", cookie, inform(Version::V1_0, "1")).await;
    assert_eq!((other.status.as_u16(), acs.sessions()), (200, 2));
    assert_eq!(ask("ada", other.cookie.as_deref(), String::new()).await.status, 400);
    assert_eq!(post(&acs, cookie, "").await.status, 401);
    assert_eq!(ask("ada", cookie, String::new()).await.status, 200);
}

/// Sends bytes over a connection of its own, and returns everything received until it is closed.
async fn raw(url: &str, head: &str, body: &str) -> String {
    let address = url.trim_start_matches("http://").split('/').next().expect("an address");
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let request = format!("POST /acs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}\r\n{body}");
    stream.write_all(request.as_bytes()).await.expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

#[tokio::test]
async fn a_session_goes_over_several_connections_by_its_cookie() {
    let acs = Acs::new(async |session: Session| {
        let _ = session.reboot("").await;
    });
    let url = served(acs.clone()).await;
    let message = inform(Version::V1_0, "1");
    let begun = raw(&url, &format!("Content-Length: {}\r\n", message.len()), &message).await;
    let cookie = begun.split("set-cookie: ").nth(1).and_then(|rest| rest.split(';').next()).expect("a cookie");
    // Empty in both ways that HTTP has: a length of zero, and no chunks.
    assert!(raw(&url, "Content-Length: 0\r\n", "").await.starts_with("HTTP/1.1 400"));
    let asked = raw(&url, &format!("Cookie: {cookie}\r\nTransfer-Encoding: chunked\r\n"), "0\r\n\r\n").await;
    assert!(asked.starts_with("HTTP/1.1 200") && asked.contains("Reboot"), "{asked}");
    let id = asked.split("mustUnderstand=\"1\">").nth(1).and_then(|rest| rest.split('<').next()).expect("an ID");
    let done = envelope(Version::V1_0, &with_id(id), "<cwmp:RebootResponse/>");
    let head =
        format!("Cookie: {cookie}\r\nContent-Length: {}\r\nContent-Type: text/xml\r\nSOAPAction:\r\n", done.len());
    let end = raw(&url, &head, &done).await;
    assert!(end.starts_with("HTTP/1.1 204"), "{end}");
    assert!(!end.to_ascii_lowercase().contains("content-type"), "{end}");
    assert_eq!(acs.sessions(), 0);
}

#[tokio::test]
async fn connection_requests_begin_sessions() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let acs = Acs::new(move |session: Session| {
        let url = session.informed("Device.ManagementServer.ConnectionRequestURL");
        let codes: Vec<_> = session.inform().event.iter().map(|event| event.event_code.clone()).collect();
        noted.lock().expect("a lock").push((url.expect("a URL"), codes));
        async {}
    });
    let mut cpe = Cpe::new(&served(acs).await, id("1")).expect("a URL").parameters(parameters());
    let mut requests = cpe.listen("127.0.0.1:0", "acs", "secret").await.expect("an address");
    cpe.session_on_demand(&mut requests).await.expect("a first session");
    let url = seen.lock().expect("a lock")[0].0.clone();
    assert_eq!(url, requests.url());
    let asking = async {
        assert!(matches!(connection_request(&url, "acs", "x").await, Err(ConnectionRequestError::Unauthorized)));
        let other = format!("{url}0");
        assert!(matches!(connection_request(&other, "acs", "secret").await, Err(ConnectionRequestError::NotFound)));
        connection_request(&url, "acs", "secret").await.expect("a connection request");
    };
    let (session, ()) = tokio::join!(cpe.session_on_demand(&mut requests), asking);
    session.expect("a second session");
    assert_eq!(seen.lock().expect("a lock")[1].1, [event::CONNECTION_REQUEST]);
    let mut outcomes = Vec::new();
    for _ in 0..20 {
        outcomes.push(connection_request(&url, "acs", "secret").await);
    }
    assert!(outcomes[..19].iter().all(Result::is_ok), "{outcomes:?}");
    assert!(matches!(outcomes[19], Err(ConnectionRequestError::Unavailable)), "{outcomes:?}");
    drop(requests);
    for wrong in ["https://example.org/", "example.org", "/", ""] {
        let refused = connection_request(wrong, "acs", "secret").await;
        assert!(matches!(refused, Err(ConnectionRequestError::InvalidUrl)), "{wrong}");
    }
}
