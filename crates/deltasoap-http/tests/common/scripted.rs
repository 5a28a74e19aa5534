//! Servers that follow a script instead of HTTP.

use super::{Echo, EchoResponse, echoed, message};
use deltasoap::Client;
use deltasoap::soap::Version;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server's reaction to a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Writes these bytes, and continues with the connection.
    Say(String),
    /// Closes the connection.
    Close,
    /// Does nothing more.
    Hang,
    /// From now on, forwards all bytes to this address and back.
    Tunnel(String, SocketAddr),
}

/// A server, and the requests that it received.
pub struct Scripted {
    pub address: SocketAddr,
    pub requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
}

impl Scripted {
    /// Starts a server; the script gets the number of each request and the request.
    pub async fn new(script: impl Fn(usize, &str) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (requests, connections) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<Mutex<usize>>::default());
        let (came, count, script) = (Arc::clone(&requests), Arc::clone(&connections), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *count.lock().expect("not poisoned") += 1;
                tokio::spawn(follow(stream, Arc::clone(&came), Arc::clone(&script)));
            }
        });
        Scripted { address, requests, connections }
    }

    pub fn url(&self) -> String {
        format!("http://{}/soap", self.address)
    }

    pub fn client(&self) -> Client {
        Client::new(self.url()).expect("a client")
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("not poisoned").clone()
    }

    pub fn connections(&self) -> usize {
        *self.connections.lock().expect("not poisoned")
    }
}

async fn follow(
    mut stream: TcpStream,
    came: Arc<Mutex<Vec<String>>>,
    script: Arc<impl Fn(usize, &str) -> Act + Send + Sync>,
) {
    while let Some(request) = read_request(&mut stream).await {
        let number = {
            let mut came = came.lock().expect("not poisoned");
            came.push(request.clone());
            came.len() - 1
        };
        match script(number, &request) {
            Act::Say(answer) if stream.write_all(answer.as_bytes()).await.is_ok() => {}
            Act::Say(_) => return,
            Act::Close => return,
            Act::Hang => std::future::pending().await,
            Act::Tunnel(answer, address) => {
                stream.write_all(answer.as_bytes()).await.expect("sent");
                let mut other = TcpStream::connect(address).await.expect("a connection");
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut other).await;
                return;
            }
        }
    }
}

/// Reads a request's head and body.
pub async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    while !is_whole(&read) {
        if stream.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    }
    Some(String::from_utf8_lossy(&read).into_owned())
}

fn is_whole(read: &[u8]) -> bool {
    let text = String::from_utf8_lossy(read).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    if head.contains("chunked") { body.ends_with("0\r\n\r\n") } else { body.len() >= length.unwrap_or(0) }
}

/// Returns an answer with headers, one per line.
pub fn answer(status: u16, headers: &str, body: &str) -> Act {
    let headers: String = headers.lines().map(|header| format!("{}\r\n", header.trim())).collect();
    Act::Say(format!("HTTP/1.1 {status} Status\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()))
}

/// Returns the right answer to an [`Echo`].
pub fn right(echo: &Echo) -> Act {
    let response: EchoResponse = echoed(echo);
    answer(200, "content-type: text/xml", &message(Version::Soap11, &[], &response))
}
