//! Redirects and cookies, over sockets: off by default, and secrets are never sent to another
//! origin.

use crate::common::scripted::{Scripted, answer, right};
use crate::common::*;
use deltasoap::client::{CallError, CallOptions, ClientBuilder, CookieJar, Credentials, Redirects};
use deltasoap::stream::Streamed;
use deltasoap::{Client, Soap};
use http::{HeaderName, HeaderValue};
use std::net::SocketAddr;

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:test", message, response = EchoResponse)]
struct Sum {
    item: Streamed<f64>,
}

/// Returns a server that redirects to `location`, unless the request is for `/there`.
async fn redirecting(status: u16, location: String) -> Scripted {
    Scripted::new(move |_, request| {
        let is_there = request.starts_with("POST /there ");
        if is_there { right(&echo("x")) } else { answer(status, &format!("location: {location}"), "") }
    })
    .await
}

async fn call(builder: ClientBuilder) -> Result<EchoResponse, CallError> {
    builder.build().expect("a client").call_as(&echo("x")).await
}

#[tokio::test]
async fn redirects_are_not_followed_by_default() {
    let server = redirecting(307, "/there".to_owned()).await;
    let result = call(Client::builder(server.url())).await;
    assert!(matches!(result, Err(CallError::Status(error)) if error.status == 307));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn redirects_that_keep_the_method_are_followed_with_the_message() {
    for status in [307, 308] {
        let server = redirecting(status, "/there".to_owned()).await;
        let response = call(Client::builder(server.url()).redirects(Redirects::same_origin(1))).await;
        assert_eq!(response.expect("a response").text, "x");
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(
            requests[0].split_once("\r\n\r\n").map(|(_, body)| body),
            requests[1].split_once("\r\n\r\n").map(|(_, body)| body)
        );
    }
}

#[tokio::test]
async fn others_are_followed_only_if_asked_for() {
    for status in [301, 302] {
        let server = redirecting(status, "/there".to_owned()).await;
        let strict = call(Client::builder(server.url()).redirects(Redirects::same_origin(5))).await;
        let Err(CallError::Redirect(error)) = strict else { panic!("{strict:?}") };
        assert_eq!((error.status.as_u16(), error.location.as_deref()), (status, Some("/there")));
        let lenient = call(Client::builder(server.url()).redirects(Redirects::same_origin(5).lenient())).await;
        assert_eq!(lenient.expect("a response").text, "x");
    }
}

#[tokio::test]
async fn circles_end() {
    let server = redirecting(308, "/round".to_owned()).await;
    let result = call(Client::builder(server.url()).redirects(Redirects::same_origin(3))).await;
    assert!(matches!(result, Err(CallError::Redirect(_))));
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn what_cannot_be_sent_twice_is_not() {
    let server = redirecting(307, "/there".to_owned()).await;
    let client = Client::builder(server.url()).redirects(Redirects::same_origin(3)).build().expect("a client");
    let items = (0..10).map(f64::from);
    let result = client.call_overlaid(&Sum { item: Streamed::default() }, items).await;
    assert!(matches!(result, Err(CallError::Redirect(error)) if error.to_string().contains("twice")));
}

#[tokio::test]
async fn secrets_do_not_go_to_another_origin() {
    let other = Scripted::new(|_, _| right(&echo("x"))).await;
    let server = redirecting(307, format!("http://{}/elsewhere", other.address)).await;
    let builder = |redirects| {
        let credentials = Credentials::basic("ada", "secret").expect("credentials");
        Client::builder(server.url()).credentials(credentials).redirects(redirects)
    };
    let refused = call(builder(Redirects::same_origin(3))).await;
    assert!(matches!(refused, Err(CallError::Redirect(_))));
    let mut key = HeaderValue::from_static("secret");
    key.set_sensitive(true);
    let options = CallOptions::new()
        .http_header(HeaderName::from_static("x-marked"), key)
        .http_header(HeaderName::from_static("x-api-key"), HeaderValue::from_static("secret"))
        .http_header(HeaderName::from_static("cookie"), HeaderValue::from_static("own=1"))
        .http_header(HeaderName::from_static("x-open"), HeaderValue::from_static("1"));
    assert!(!format!("{options:?}").contains("secret"), "{options:?}");
    let client = builder(Redirects::any_origin(3)).build().expect("a client");
    client.call_as_with::<EchoResponse>(&echo("x"), options).await.expect("a response");
    let (here, there) = (server.requests().remove(1), other.requests().remove(0));
    for secret in ["authorization: Basic", "x-marked: secret", "x-api-key: secret", "cookie: own=1"] {
        assert!(here.contains(secret) && !there.contains(secret), "{there}");
    }
    assert!(there.contains("x-open: 1"));
}

#[cfg(feature = "cookies")]
#[tokio::test]
async fn cookies_are_kept_if_asked_for_and_stay_at_home() {
    let other = Scripted::new(|_, _| right(&echo("x"))).await;
    let elsewhere = other.address;
    let server = Scripted::new(move |number, _| with_cookies(number, elsewhere)).await;
    let builder = |are_kept| Client::builder(server.url()).cookies(are_kept).redirects(Redirects::any_origin(3));
    let forgetful = builder(false).build().expect("a client");
    let mindful = builder(true).build().expect("a client");
    for client in [&forgetful, &forgetful, &mindful, &mindful, &mindful] {
        client.call_as::<EchoResponse>(&echo("x")).await.expect("a response");
    }
    let sent: Vec<bool> = server.requests().iter().map(|request| request.contains("cookie: session=")).collect();
    assert_eq!(sent, [false, false, false, true, true]);
    assert!(other.requests().iter().all(|request| !request.contains("cookie")));
    assert_eq!(other.requests().len(), 1);
}

/// Answers with a cookie; the fifth time redirects to another address.
#[cfg(feature = "cookies")]
fn with_cookies(number: usize, elsewhere: SocketAddr) -> crate::common::scripted::Act {
    if number == 4 {
        return answer(307, &format!("location: http://{elsewhere}/"), "");
    }
    let response = message(deltasoap::soap::Version::Soap11, &[], &echoed(&echo("x")));
    answer(200, &format!("content-type: text/xml\nset-cookie: session={number}"), &response)
}

#[cfg(not(feature = "cookies"))]
const _: Option<SocketAddr> = None;

/// As curl and browsers do.
#[tokio::test]
async fn a_user_in_the_url_is_sent_as_credentials_and_shown_nowhere() {
    const SECRET: &str = "c3@ret";
    let server = Scripted::new(|_, _| right(&echo("x"))).await;
    let url = server.url().replace("http://", "http://ada:c3%40ret@");
    let header = |request: &String| {
        let lines = request.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(name, _)| name.eq_ignore_ascii_case("authorization")).map(|(_, it)| it.to_owned()).collect()
    };
    let expected = |credentials: Credentials| {
        let value = credentials.authorization(&http::Method::POST, &http::Uri::default()).expect("Basic");
        vec![value.to_str().expect("ASCII").to_owned()]
    };
    let other = Credentials::basic("bob", "other").expect("credentials");
    let builder = || Client::builder(url.clone());
    assert!(!format!("{:?}", builder()).contains("c3"));
    call(builder()).await.expect("a response");
    call(builder().credentials(other.clone())).await.expect("a response");
    let own = CallOptions::new().http_header(http::header::AUTHORIZATION, HeaderValue::from_static("own"));
    let client = builder().build().expect("a client");
    client.call_as_with::<EchoResponse>(&echo("x"), own).await.expect("a response");
    assert!(!format!("{client:?}").contains("c3"));
    let requests = server.requests();
    let sent: Vec<Vec<String>> = requests.iter().map(header).collect();
    let from_url = expected(Credentials::basic("ada", SECRET).expect("credentials"));
    assert_eq!(sent, [from_url, expected(other), vec!["own".to_owned()]]);
    assert!(requests.iter().all(|request| !request.contains("c3") && !request.contains("ada")), "{requests:?}");
    for bad in ["http://ada:c3%0A@localhost/", "http://ada:c3@", "ada:c3@localhost"] {
        let error = Client::new(bad).expect_err("an invalid URL");
        assert!(!format!("{error} {error:?}").contains("c3"), "{error}");
    }
}

#[tokio::test]
async fn a_jar_of_the_program_is_used_whatever_is_set_after_it() {
    let server = Scripted::new(|_, _| answer(200, "set-cookie: a=b; path=/", "")).await;
    let jars = [CookieJar::default(), CookieJar::default()];
    let builder = || Client::builder(server.url());
    let set = [
        builder().cookie_jar(jars[0].clone()).cookies(false),
        builder().cookies(false).cookie_jar(jars[1].clone()).cookies(true),
    ];
    for builder in set {
        let client = builder.build().expect("a client");
        for _ in 0..2 {
            client.send(&echo("x")).await.expect("accepted");
        }
    }
    let with_cookie: Vec<bool> = server.requests().iter().map(|request| request.contains("cookie: a=b")).collect();
    assert_eq!(with_cookie, [false, true, false, true]);
}
