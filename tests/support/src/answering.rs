//! A server for tests of clients, which answers as it is told.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A server on this machine that answers until the test program ends, one request on each
/// connection.
#[derive(Debug)]
pub struct Answering {
    /// Where it listens.
    pub address: SocketAddr,
    /// The requests so far.
    pub requests: Arc<Mutex<Vec<String>>>,
}

impl Answering {
    /// Starts a server on a free port. `answer` gets each request: its head and its body.
    pub fn new<A: AsRef<[u8]>>(answer: impl Fn(&str) -> A + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (requests, answer) = (Arc::<Mutex<Vec<String>>>::default(), Arc::new(answer));
        let came = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (came, answer) = (Arc::clone(&came), Arc::clone(&answer));
                thread::spawn(move || answer_one(&stream, &came, &*answer));
            }
        });
        Answering { address, requests }
    }

    /// Starts a server that answers every request alike.
    pub fn alike(answer: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let answer: Arc<[u8]> = answer.as_ref().into();
        Answering::new(move |_| Arc::clone(&answer))
    }

    /// Returns its URL, which ends in a slash.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

/// The client may be gone, which is its own affair.
fn answer_one<A: AsRef<[u8]>>(mut stream: &TcpStream, came: &Mutex<Vec<String>>, answer: &impl Fn(&str) -> A) {
    if let Some(request) = read_request(&mut BufReader::new(stream)) {
        came.lock().expect("no panic").push(request.clone());
        let _ = stream.write_all(answer(&request).as_ref());
    }
}

/// Reads the head and the body of a request, whose length is announced or which comes in chunks.
/// Returns `None` if the stream ends before.
pub fn read_request(stream: &mut impl BufRead) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        read_line(stream, &mut request)?;
    }
    let head = String::from_utf8_lossy(&request).to_ascii_lowercase();
    if head.contains("transfer-encoding: chunked") {
        while !request.ends_with(b"\r\n0\r\n\r\n") {
            read_line(stream, &mut request)?;
        }
    } else if let Some(length) = head.split("content-length:").nth(1) {
        let start = request.len();
        request.resize(start + length.lines().next()?.trim().parse::<usize>().ok()?, 0);
        stream.read_exact(&mut request[start..]).ok()?;
    }
    Some(String::from_utf8_lossy(&request).into_owned())
}

fn read_line(stream: &mut impl BufRead, request: &mut Vec<u8>) -> Option<()> {
    stream.read_until(b'\n', request).ok().filter(|read| *read > 0).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn exchange(server: &Answering, request: &str) -> String {
        let mut stream = TcpStream::connect(server.address).expect("a connection");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    #[test]
    fn each_request_is_answered_and_kept() {
        let server = Answering::new(str::to_uppercase);
        let requests = ["GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"];
        for request in requests {
            assert_eq!(exchange(&server, request), request.to_uppercase());
        }
        assert_eq!(*server.requests.lock().expect("no panic"), requests);
        assert_eq!(exchange(&Answering::alike("no"), "GET / HTTP/1.1\r\n\r\n"), "no");
    }

    #[test]
    fn requests_are_read_whole_and_no_further() {
        let mut all: &[u8] =
            b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\nabPOST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nGET";
        assert!(read_request(&mut all).expect("a request").ends_with("\r\n\r\nab"));
        assert!(read_request(&mut all).expect("a request").ends_with("\r\n\r\n1\r\na\r\n0\r\n\r\n"));
        assert_eq!(read_request(&mut all), None);
    }
}
