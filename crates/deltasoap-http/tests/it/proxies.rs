//! Proxies and the connection pool, over sockets.

use crate::common::scripted::{Act, Scripted, answer, right};
use crate::common::*;
use deltasoap::Client;
use deltasoap::client::{CallError, HttpTransport, HttpTransportBuilder, Proxy, Retries};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn through(url: &str, except: &str) -> HttpTransportBuilder {
    HttpTransport::builder().proxy(Proxy::new(url, except).expect("a proxy"))
}

fn client(url: &str, transport: HttpTransport) -> Client {
    Client::builder(url).retries(Retries::OFF).build_with(transport).expect("a client")
}

#[tokio::test]
async fn http_goes_through_with_the_whole_url() {
    let proxy = Scripted::new(|_, _| right(&echo("x"))).await;
    let transport = through(&format!("http://ada:secret@{}", proxy.address), "").build();
    let client = client("http://nowhere.invalid:8000/soap?x", transport);
    for _ in 0..2 {
        client.call_as::<EchoResponse>(&echo("x")).await.expect("a response");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    for request in proxy.requests() {
        assert!(request.starts_with("POST http://nowhere.invalid:8000/soap?x HTTP/1.1\r\n"), "{request}");
        assert!(request.contains("\r\nproxy-authorization: Basic YWRhOnNlY3JldA==\r\n"), "{request}");
        assert!(request.contains("\r\nhost: nowhere.invalid:8000\r\n"));
    }
    assert_eq!((proxy.requests().len(), proxy.connections()), (2, 1), "the connection is kept");
}

#[tokio::test]
async fn some_hosts_are_reached_directly_and_see_no_credentials() {
    let proxy = Scripted::new(|_, _| answer(500, "", "")).await;
    let server = Scripted::new(|_, _| right(&echo("x"))).await;
    let transport = through(&format!("http://ada:secret@{}", proxy.address), "localhost, 127.0.0.0/8").build();
    client(&server.url(), transport).call_as::<EchoResponse>(&echo("x")).await.expect("a response");
    assert!(proxy.requests().is_empty());
    assert!(server.requests()[0].starts_with("POST /soap ") && !server.requests()[0].contains("proxy-authorization"));
}

/// The addresses of a name are checked when the client connects, but not those of the proxy.
#[tokio::test]
async fn addresses_are_checked_before_they_are_connected_to() {
    let server = Scripted::new(|_, _| right(&echo("x"))).await;
    let url = format!("http://localhost:{}/soap", server.address.port());
    let call = async |builder: HttpTransportBuilder| {
        let error = client(&url, builder.build()).call_as::<EchoResponse>(&echo("x")).await.err();
        error.map(|error| format!("{error:?}"))
    };
    let refuse = |_| Err("this address is private".into());
    let refused = call(HttpTransport::builder().check_addresses(refuse)).await.expect("an error");
    assert!(refused.contains("this address is private") && server.connections() == 0, "{refused}");
    let v4 = |found: Vec<SocketAddr>| Ok(found.into_iter().filter(SocketAddr::is_ipv4).collect());
    assert_eq!(call(HttpTransport::builder().check_addresses(v4)).await, None);
    let proxied = through(&url.replace("/soap", ""), "").check_addresses(refuse);
    assert_eq!(call(proxied).await, None, "the proxy's name is the caller's");
}

#[tokio::test]
async fn a_proxy_that_refuses_says_so() {
    let proxy = Scripted::new(|_, _| answer(407, "proxy-authenticate: Basic realm=\"x\"", "")).await;
    let transport = through(&format!("http://{}", proxy.address), "").build();
    let refused = client("http://nowhere.invalid/", transport).call_as::<EchoResponse>(&echo("x")).await;
    assert!(matches!(refused, Err(CallError::Status(error)) if error.status == 407));
}

#[tokio::test]
async fn a_proxy_of_another_kind_is_an_error() {
    assert!(Proxy::new("https://proxy.example", "").is_err());
    assert!(!format!("{:?}", Proxy::new("http://ada:secret@proxy.example", "")).contains("secret"));
}

/// Returns a SOCKS5 server (RFC 1928, 1929) that requires a password, and always connects to `to`.
async fn socks(to: SocketAddr) -> (SocketAddr, tokio::task::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let mut asked = Vec::new();
        for (len, answer) in [(3, &[5, 2][..]), (12, &[1, 0]), (22, &[5, 0, 0, 1, 127, 0, 0, 1, 0, 80])] {
            let mut message = vec![0; len];
            stream.read_exact(&mut message).await.expect("a message");
            asked.extend(message);
            stream.write_all(answer).await.expect("sent");
        }
        tokio::spawn(async move {
            let mut other = TcpStream::connect(to).await.expect("a connection");
            let _ = tokio::io::copy_bidirectional(&mut stream, &mut other).await;
        });
        asked
    });
    (address, serving)
}

#[tokio::test]
async fn socks_proxies_look_names_up_themselves() {
    let server = Scripted::new(|_, _| right(&echo("x"))).await;
    let (address, serving) = socks(server.address).await;
    let transport = through(&format!("socks5h://ada:secret@{address}"), "").build();
    let client = client("http://nowhere.invalid/soap", transport);
    client.call_as::<EchoResponse>(&echo("x")).await.expect("a response");
    let asked = serving.await.expect("no panic");
    let expected =
        [&b"\x05\x01\x02\x01\x03ada\x06secret\x05\x01\0\x03\x0fnowhere.invalid"[..], &80_u16.to_be_bytes()].concat();
    assert_eq!(asked, expected, "{}", asked.escape_ascii());
    assert!(server.requests()[0].starts_with("POST /soap "), "the server is not told of the proxy");
}

/// Returns the error of a call, with all its causes.
async fn error_of(client: &Client) -> String {
    let error = client.call_as::<EchoResponse>(&echo("x")).await.expect_err("no answer");
    let first: &dyn std::error::Error = &error;
    std::iter::successors(Some(first), |error| error.source()).map(|error| format!("{error}\n")).collect()
}

/// Connection errors name the proxy and its source, but no password.
#[tokio::test]
async fn a_proxy_that_cannot_be_reached_is_named() {
    let refusing = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address")
    };
    let silent = Scripted::new(|_, _| Act::Hang).await;
    let closing = Scripted::new(|_, _| Act::Close).await;
    for (scheme, address, url, parts) in [
        ("http", refusing, "http://nowhere.invalid/", ["cannot connect to the proxy", "refused"]),
        ("http", refusing, "https://nowhere.invalid/", ["cannot connect to the proxy", "refused"]),
        ("socks5", refusing, "http://nowhere.invalid/", ["cannot connect to the proxy", "refused"]),
        ("socks5", silent.address, "http://nowhere.invalid/", ["does not connect to the host", "within 0.2 s"]),
        ("http", closing.address, "https://nowhere.invalid/", ["does not connect to the host", "tunnel error"]),
    ] {
        let proxy = Proxy::new(&format!("{scheme}://ada:secret@{address}"), "").expect("a proxy").named_by("--proxy");
        let transport = HttpTransport::builder().proxy(proxy).connect_timeout(Duration::from_millis(200)).build();
        let text = error_of(&client(url, transport)).await;
        let named = format!("the proxy {scheme}://{address} (from --proxy)");
        assert!(text.contains(&named) && !text.contains("secret"), "{text}");
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
    let server = Scripted::new(|_, _| answer(200, "", "")).await;
    let direct = through(&format!("http://{refusing}"), "127.0.0.1").build();
    assert!(!error_of(&client(&server.url(), direct)).await.contains("proxy"));
}

/// If the connection to the proxy failed, nothing was sent, so the request is retried.
#[tokio::test]
async fn a_proxy_is_tried_again_like_a_host() {
    let refusing = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address")
    };
    for scheme in ["http", "socks5"] {
        let retries = Retries::up_to(5).pauses(Duration::from_millis(40), Duration::from_millis(40));
        let transport = through(&format!("{scheme}://{refusing}"), "").build();
        let client = Client::builder("http://nowhere.invalid/").retries(retries).build_with(transport);
        let begin = Instant::now();
        client.expect("a client").call_as::<EchoResponse>(&echo("x")).await.expect_err("no answer");
        assert!(begin.elapsed() >= Duration::from_millis(100), "{scheme}: five pauses of 20 ms or more");
    }
}

#[cfg(feature = "tls")]
mod secure {
    use super::*;
    use crate::common::authority::Authority;
    use deltasoap::Server;
    use deltasoap::tls::{ClientTls, ServerTls};

    /// Returns a TLS server for a name, and the client's configuration for it.
    async fn server() -> (SocketAddr, ClientTls) {
        let authority = Authority::new();
        let tls = ServerTls::new(authority.identity("nowhere.invalid"));
        let server = Server::bind("127.0.0.1:0").await.expect("a port").tls(tls).expect("TLS");
        let address = server.local_addr().expect("an address");
        tokio::spawn(server.serve(service().0));
        (address, authority.client())
    }

    #[tokio::test]
    async fn https_goes_through_a_tunnel() {
        let (server, tls) = server().await;
        let proxy = Scripted::new(move |_, _| Act::Tunnel("HTTP/1.1 200 Go on\r\n\r\n".to_owned(), server)).await;
        let transport = through(&format!("http://ada:secret@{}", proxy.address), "").tls(tls).expect("TLS").build();
        let client = client("https://nowhere.invalid/soap", transport);
        for _ in 0..3 {
            assert_eq!(client.call_as::<EchoResponse>(&echo("x")).await.expect("a response").text, "x");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        let requests = proxy.requests();
        assert_eq!(requests.len(), 1, "what goes through the tunnel is not for the proxy");
        assert!(requests[0].starts_with("CONNECT nowhere.invalid:443 HTTP/1.1\r\n"));
        assert!(requests[0].to_ascii_lowercase().contains("proxy-authorization: basic ywrhonnly3jlda=="));
    }

    #[tokio::test]
    async fn a_refused_tunnel_is_not_asked_for_again() {
        let (_, tls) = server().await;
        let proxy = Scripted::new(|_, _| answer(407, "", "")).await;
        let transport = through(&format!("http://{}", proxy.address), "").tls(tls).expect("TLS").build();
        let client = Client::with_service("https://nowhere.invalid/", transport).expect("a client");
        let refused = client.call_as::<EchoResponse>(&echo("x")).await;
        assert!(matches!(refused, Err(CallError::Http(_))));
        assert_eq!(proxy.requests().len(), 1);
    }
}

#[tokio::test]
async fn connecting_ends_in_time() {
    // A proxy that never answers; the request cannot have been sent.
    let proxy = Scripted::new(|_, _| Act::Hang).await;
    let transport = through(&format!("socks5://{}", proxy.address), "");
    let begin = Instant::now();
    let client = client("http://nowhere.invalid/", transport.connect_timeout(Duration::from_millis(100)).build());
    let late = client.call_as::<EchoResponse>(&echo("x")).await;
    assert!(matches!(late, Err(CallError::Http(_))));
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn the_pool_keeps_as_many_connections_as_it_is_told_to() {
    let three_calls = async |transport: HttpTransport, pause: u64| {
        let server = Scripted::new(|_, _| right(&echo("x"))).await;
        let client = client(&server.url(), transport);
        for _ in 0..3 {
            client.call_as::<EchoResponse>(&echo("x")).await.expect("a response");
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        server.connections()
    };
    assert_eq!(three_calls(HttpTransport::new(), 30).await, 1);
    assert_eq!(three_calls(HttpTransport::builder().max_idle_per_host(0).build(), 30).await, 3);
    let briefly = || HttpTransport::builder().idle_timeout(Duration::from_millis(50));
    assert_eq!(three_calls(briefly().build(), 150).await, 3);
    assert_eq!(three_calls(briefly().idle_timeout(None).build(), 150).await, 1);
}
