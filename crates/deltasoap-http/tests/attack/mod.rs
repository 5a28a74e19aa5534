//! Hostile clients, one per function, and the service that they attack. Each returns what it read,
//! and whether the server closed the connection.

#![allow(dead_code, reason = "each test file uses its part")]

use crate::common::authority::Authority;
use deltasoap::engine::content::Shortcuts;
use deltasoap::engine::{Content, Limits, Typed, decode, encode};
use deltasoap::lexical::Base64;
use deltasoap::schema::{Element, QName, View};
use deltasoap::server::{Basic, HeavyWork, MemoryBounds, Scheduling, ServerHandle, SmallFirst, SoapServiceBuilder};
use deltasoap::soap::Envelope;
use deltasoap::tls::{Identity, ServerTls};
use deltasoap::transport::GzipLimits;
use deltasoap::{Fault, Lease, Message, Server, Soap, SoapService};
use flate2::write::GzEncoder;
use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// The message of ordinary clients; the handler returns it with a result.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
pub struct Echo {
    pub sender: String,
    pub number: u64,
    pub values: Vec<f64>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
pub struct Echoed {
    pub sender: String,
    pub number: u64,
    pub sum: f64,
    pub values: Vec<f64>,
    pub notes: Vec<String>,
}

/// A request whose handler hangs.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
pub struct Hang {}

/// A request whose handler panics.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
pub struct Panic {}

/// A message that panics while it is read or written, if it is marked so.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
pub struct Fragile {
    pub number: u64,
    pub values: Vec<f64>,
    pub mark: Mark,
    pub notes: Vec<String>,
}

/// A message that is returned unchanged.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
pub struct Survived {
    pub number: u64,
    pub values: Vec<f64>,
    pub mark: Mark,
    pub notes: Vec<String>,
}

impl From<&Fragile> for Survived {
    fn from(fragile: &Fragile) -> Self {
        let Fragile { number, values, mark, notes } = fragile.clone();
        Survived { number, values, mark, notes }
    }
}

/// A user's type, whose own code panics at some texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark(pub String);

/// Reading this mark panics.
pub const UNREADABLE: &str = "unreadable";
/// Writing this mark panics.
pub const UNWRITABLE: &str = "unwritable";
/// The handler that gets this mark panics.
pub const UNHANDLED: &str = "unhandled";

impl Content for Mark {
    fn vacant(_: View<'_>) -> Self {
        Mark(String::new())
    }

    fn decode(&mut self, cursor: &mut decode::Cursor<'_>, view: View<'_>) -> decode::Step {
        self.0.decode(cursor, view)?;
        assert_ne!(self.0, UNREADABLE, "a type of a test");
        Ok(())
    }

    fn encode(&self, encoder: &mut encode::Encoder, view: View<'_>) {
        assert_ne!(self.0, UNWRITABLE, "a type of a test");
        self.0.encode(encoder, view);
    }
}

impl Shortcuts for Mark {}

impl Typed for Mark {
    const TYPE_NAME: QName = QName::new("urn:attack", "Mark");

    fn element() -> &'static Element {
        String::element()
    }
}

/// Returns a message with a mark that this program may be unable to write.
pub fn marked(mark: &str) -> Vec<u8> {
    let fragile = Fragile { number: 1, values: vec![0.5], mark: Mark("MARK".to_owned()), notes: Vec::new() };
    String::from_utf8(message(&fragile)).expect("UTF-8").replace("MARK", mark).into_bytes()
}

/// A request whose handler blocks its thread for a while, which handlers must not do.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
pub struct Block {}

/// Requests a response of some size.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
pub struct Give {
    pub kilobytes: u32,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
pub struct Given {
    pub data: Base64,
}

impl From<&Echo> for Echoed {
    fn from(echo: &Echo) -> Self {
        let Echo { sender, number, values, notes } = echo.clone();
        Echoed { sender, number, sum: values.iter().sum(), values, notes }
    }
}

/// Maximum length of a message that the service accepts, in bytes.
pub const LARGEST: u64 = 1 << 20;
pub const BLOCKED: Duration = Duration::from_millis(20);

/// Returns the service, with its operations and small limits on bytes.
pub fn builder() -> SoapServiceBuilder {
    let limits = Limits { message: LARGEST, ..Limits::server() };
    SoapService::builder()
        .limits(limits)
        .memory_bounds(MemoryBounds { total_bytes: 1 << 20, ..MemoryBounds::default() })
        .gzip_limits(GzipLimits::default())
        .operation(async |echo: Lease<Echo>| Ok::<_, Fault>(Echoed::from(&*echo)))
        .operation(async |_: Lease<Hang>| std::future::pending::<Result<Echoed, Fault>>().await)
        .operation(panicking)
        .operation(fragile)
        .operation(async |_: Lease<Block>| {
            std::thread::sleep(BLOCKED);
            Err::<Echoed, _>(Fault::receiver("blocked"))
        })
        .operation(give)
}

async fn panicking(_: Lease<Panic>) -> Result<Echoed, Fault> {
    panic!("a handler of a test")
}

async fn fragile(fragile: Lease<Fragile>) -> Result<Survived, Fault> {
    tokio::task::yield_now().await;
    assert_ne!(fragile.mark.0, UNHANDLED, "a handler of a test");
    Ok(Survived::from(&*fragile))
}

async fn give(give: Lease<Give>) -> Result<Given, Fault> {
    Ok(Given { data: Base64(vec![7; (give.kilobytes as usize) << 10]) })
}

/// Processes small requests first, and heavy work elsewhere, in few slots and on few threads.
pub fn scheduled(builder: SoapServiceBuilder) -> SoapServiceBuilder {
    let policy = SmallFirst { slots: 2, express: 1, small: 4 << 10, ..SmallFirst::default() };
    let heavy = HeavyWork { from: Some(32 << 10), threads: 2, ..HeavyWork::default() };
    builder.scheduling(Scheduling::SmallFirst(policy)).heavy_work(heavy)
}

/// Returns users `user 0` to `user 99`, each with the password `secret`.
pub fn users() -> Basic {
    let names: Vec<String> = (0..100).map(|number| format!("user {number}")).collect();
    Basic::users("attack", names.iter().map(|name| (name.as_str(), "secret")))
}

/// Serves on a free port, with time limits for heads, for writing and for handshakes.
pub async fn serve(service: SoapService, time: Duration, tls: Option<ServerTls>) -> (SocketAddr, ServerHandle) {
    let server = Server::bind("127.0.0.1:0").await.expect("a free port");
    let server = server.header_read_timeout(time).write_timeout(time).shutdown_timeout(Duration::from_secs(10));
    let server = match tls {
        Some(tls) => server.tls(tls.handshake_timeout(time)).expect("an identity"),
        None => server,
    };
    let (address, handle) = (server.local_addr().expect("an address"), server.handle());
    tokio::spawn(server.serve(service));
    (address, handle)
}

/// Returns an identity for `localhost`, and the authority's certificate.
pub fn identity() -> (Identity, String) {
    let authority = Authority::new();
    (authority.identity("localhost"), authority.0.pem())
}

/// The result of an attack.
#[derive(Debug, Default, Clone)]
pub struct Reaction {
    /// What the server sent.
    pub text: String,
    /// True if the server closed the connection.
    pub is_closed: bool,
}

impl Reaction {
    /// Returns the statuses of the responses, in order.
    pub fn statuses(&self) -> Vec<&str> {
        self.text.split("HTTP/1.1 ").skip(1).map(|rest| &rest[..3]).collect()
    }
}

/// A kind of attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attack {
    Silent,
    SlowHead,
    SlowBody,
    StoppedBody,
    SlowChunks,
    NoBodyAfterContinue,
    HalfClosedBehindRequest,
    HalfClosedInBody,
    KilledInHead,
    KilledInBody,
    KilledWhileHanging,
    TooLong,
    TooLongInChunks,
    EndlessText,
    EndlessAttributes,
    EndlessChunkExtension,
    LengthTooSmall,
    TwoLengths,
    LengthAndChunked,
    BadLength,
    BadChunk,
    HugeChunk,
    GzipBomb,
    BrokenGzip,
    PipelinedGarbage,
    Garbage,
    Http2,
    HeaderFlood,
    HugeHeader,
    EndlessHead,
    Deep,
    WrongXml,
    Panics,
    PanicsInReading,
    PanicsInWriting,
    Hangs,
    Blocks,
    NeverReads,
    PipelinesWithoutReading,
    ComesAndGoes,
}

impl Attack {
    pub const ALL: [Attack; 40] = [
        Attack::Silent,
        Attack::SlowHead,
        Attack::SlowBody,
        Attack::StoppedBody,
        Attack::SlowChunks,
        Attack::NoBodyAfterContinue,
        Attack::HalfClosedBehindRequest,
        Attack::HalfClosedInBody,
        Attack::KilledInHead,
        Attack::KilledInBody,
        Attack::KilledWhileHanging,
        Attack::TooLong,
        Attack::TooLongInChunks,
        Attack::EndlessText,
        Attack::EndlessAttributes,
        Attack::EndlessChunkExtension,
        Attack::LengthTooSmall,
        Attack::TwoLengths,
        Attack::LengthAndChunked,
        Attack::BadLength,
        Attack::BadChunk,
        Attack::HugeChunk,
        Attack::GzipBomb,
        Attack::BrokenGzip,
        Attack::PipelinedGarbage,
        Attack::Garbage,
        Attack::Http2,
        Attack::HeaderFlood,
        Attack::HugeHeader,
        Attack::EndlessHead,
        Attack::Deep,
        Attack::WrongXml,
        Attack::Panics,
        Attack::PanicsInReading,
        Attack::PanicsInWriting,
        Attack::Hangs,
        Attack::Blocks,
        Attack::NeverReads,
        Attack::PipelinesWithoutReading,
        Attack::ComesAndGoes,
    ];

    /// Attacks a server. `pace` is the pause of slow attacks; `authorization` is a header line or
    /// empty.
    pub async fn run(self, address: SocketAddr, pace: Duration, authorization: &str) -> Reaction {
        let Ok(stream) = TcpStream::connect(address).await else { return Reaction::default() };
        let mut attacker = Attacker { stream, pace, authorization: authorization.to_owned() };
        match self {
            Attack::Silent => attacker.reaction().await,
            Attack::SlowHead => attacker.trickle(b"POST / HTTP/1.1\r\nHost: h\r\nX: ", b"x").await,
            Attack::SlowBody => {
                let head = attacker.head("Content-Length: 100000\r\n");
                attacker.trickle(head.as_bytes(), b" ").await
            }
            Attack::SlowChunks => {
                let head = attacker.head("Transfer-Encoding: chunked\r\n");
                attacker.trickle(head.as_bytes(), b"1\r\n \r\n").await
            }
            Attack::StoppedBody => {
                let request = attacker.request(&message(&echo("stopped")));
                attacker.send(&request[..request.len() - 30]).await
            }
            Attack::NoBodyAfterContinue => {
                let head = attacker.head("Content-Length: 100\r\nExpect: 100-continue\r\n");
                attacker.send(head.as_bytes()).await
            }
            Attack::HalfClosedBehindRequest => {
                let request = attacker.request(&message(&echo("half")));
                attacker.half_closed(&request).await
            }
            Attack::HalfClosedInBody => {
                let request = attacker.request(&message(&echo("half")));
                attacker.half_closed(&request[..request.len() - 30]).await
            }
            Attack::KilledInHead => attacker.killed(b"POST / HTTP/1.1\r\nHo").await,
            Attack::KilledInBody => {
                let request = attacker.request(&message(&echo("killed")));
                attacker.killed(&request[..request.len() - 30]).await
            }
            Attack::KilledWhileHanging => {
                let request = attacker.request(&message(&Hang {}));
                attacker.killed(&request).await
            }
            Attack::TooLong => {
                let head = attacker.head("Content-Length: 9999999999\r\n");
                attacker.flood(head.as_bytes(), b"<a>", 1).await
            }
            Attack::TooLongInChunks => {
                let (head, chunk) = attacker.chunks(&[b' '; 8000]);
                attacker.flood(&head, &chunk, 1000).await
            }
            Attack::EndlessText => {
                let (head, chunk) = attacker.chunks(&[b'x'; 8000]);
                attacker.flood(&[head, opened()].concat(), &chunk, 1000).await
            }
            Attack::EndlessAttributes => {
                let many: String = (0..1000).map(|number| format!(" a{number}='b'")).collect();
                let (head, chunk) = attacker.chunks(many.as_bytes());
                attacker.flood(&[head, chunked(b"<a")].concat(), &chunk, 1000).await
            }
            Attack::EndlessChunkExtension => {
                let head = attacker.head("Transfer-Encoding: chunked\r\n") + "5;";
                attacker.flood(head.as_bytes(), &[b'x'; 8000], 1000).await
            }
            Attack::LengthTooSmall => {
                let body = message(&echo("lies"));
                let head = attacker.head(&format!("Content-Length: {}\r\n", body.len() - 20));
                attacker.send(&[head.into_bytes(), body].concat()).await
            }
            Attack::TwoLengths => attacker.framed("Content-Length: 5\r\nContent-Length: 6\r\n", b"<a/>  ").await,
            Attack::LengthAndChunked => {
                let body = [chunked(&message(&echo("both"))), b"0\r\n\r\n".to_vec()].concat();
                attacker.framed("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", &body).await
            }
            Attack::BadLength => attacker.framed("Content-Length: -5\r\n", b"<a/>").await,
            Attack::BadChunk => attacker.framed("Transfer-Encoding: chunked\r\n", b"zz\r\n<a/>\r\n").await,
            Attack::HugeChunk => attacker.framed("Transfer-Encoding: chunked\r\n", b"FFFFFFFFFFFFFFFFF\r\n<a/>").await,
            Attack::GzipBomb => attacker.gzipped(&bomb()).await,
            Attack::BrokenGzip => {
                let mut body = gzip(&message(&echo("broken")));
                let middle = body.len() / 2;
                body[middle] ^= 0xFF;
                attacker.gzipped(&body).await
            }
            Attack::PipelinedGarbage => {
                let request = attacker.request(&message(&echo("good")));
                attacker.send(&[&request[..], &request[..], b"\x00\xFFgarbage\r\n\r\n\r\n"].concat()).await
            }
            Attack::Garbage => attacker.send(&(0..=255).cycle().take(10_000).collect::<Vec<u8>>()).await,
            Attack::Http2 => attacker.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await,
            Attack::HeaderFlood => {
                let flood: String = (0..2000).map(|number| format!("X-{number}: y\r\n")).collect();
                attacker.framed(&flood, b"").await
            }
            Attack::HugeHeader => attacker.framed(&format!("X: {}\r\n", "y".repeat(1 << 20)), b"").await,
            Attack::EndlessHead => attacker.flood(b"POST / HTTP/1.1\r\n", &b"X: y\r\n".repeat(1000), 1000).await,
            Attack::Deep => {
                let request = attacker.request(&[opened_as("deep").into_bytes(), b"<a>".repeat(10_000)].concat());
                attacker.send(&request).await
            }
            Attack::WrongXml => {
                let request = attacker.request(b"<a><b></a>");
                attacker.send(&request).await
            }
            Attack::Panics => attacker.asks(&Panic {}).await,
            Attack::PanicsInReading => attacker.asks_on(UNREADABLE).await,
            Attack::PanicsInWriting => attacker.asks_on(UNWRITABLE).await,
            Attack::Hangs => attacker.asks(&Hang {}).await,
            Attack::Blocks => attacker.asks(&Block {}).await,
            Attack::NeverReads => {
                let request = attacker.request(&message(&Give { kilobytes: 16 << 10 }));
                attacker.never_reads(&request).await
            }
            Attack::PipelinesWithoutReading => {
                let request = attacker.request(&message(&Give { kilobytes: 150 }));
                attacker.never_reads(&request.repeat(100)).await
            }
            Attack::ComesAndGoes => Reaction::default(),
        }
    }
}

/// Maximum time that an attack waits for anything.
const PATIENCE: Duration = Duration::from_secs(20);

struct Attacker {
    stream: TcpStream,
    pace: Duration,
    authorization: String,
}

impl Attacker {
    fn head(&self, framing: &str) -> String {
        format!("POST / HTTP/1.1\r\nHost: h\r\n{}Content-Type: text/xml\r\n{framing}\r\n", self.authorization)
    }

    fn request(&self, body: &[u8]) -> Vec<u8> {
        [self.head(&format!("Content-Length: {}\r\n", body.len())).as_bytes(), body].concat()
    }

    /// Returns the head of a chunked request, and a chunk.
    fn chunks(&self, chunk: &[u8]) -> (Vec<u8>, Vec<u8>) {
        (self.head("Transfer-Encoding: chunked\r\n").into_bytes(), chunked(chunk))
    }

    async fn asks<T: Message>(&mut self, body: &T) -> Reaction {
        let request = self.request(&message(body));
        self.send(&request).await
    }

    /// Sends a mark that panics, and one that does not, on one connection.
    async fn asks_on(&mut self, mark: &str) -> Reaction {
        let requests = [mark, "harmless"].map(|mark| self.request(&marked(mark)));
        self.send(&requests.concat()).await
    }

    async fn framed(&mut self, framing: &str, body: &[u8]) -> Reaction {
        let head = self.head(framing);
        self.send(&[head.as_bytes(), body].concat()).await
    }

    async fn gzipped(&mut self, body: &[u8]) -> Reaction {
        self.framed(&format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n", body.len()), body).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Reaction {
        // A client that is refused early reads the reason, although not everything was sent.
        let _ = self.stream.write_all(bytes).await;
        self.reaction().await
    }

    /// Sends `head`, then `again` repeatedly, until the server stops reading.
    async fn flood(&mut self, head: &[u8], again: &[u8], times: usize) -> Reaction {
        let (mut reader, mut writer) = self.stream.split();
        let writing = async {
            let _ = writer.write_all(head).await;
            for _ in 0..times {
                if writer.write_all(again).await.is_err() {
                    break;
                }
            }
        };
        let (reaction, ()) = tokio::join!(read(&mut reader), writing);
        reaction
    }

    /// As [`flood`](Self::flood), slowly.
    async fn trickle(&mut self, head: &[u8], again: &[u8]) -> Reaction {
        let pace = self.pace;
        let (mut reader, mut writer) = self.stream.split();
        let writing = async {
            let _ = writer.write_all(head).await;
            while writer.write_all(again).await.is_ok() {
                sleep(pace).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            reaction = read(&mut reader) => reaction,
            () = writing => Reaction::default(),
        }
    }

    async fn half_closed(&mut self, bytes: &[u8]) -> Reaction {
        let _ = self.stream.write_all(bytes).await;
        let _ = self.stream.shutdown().await;
        self.reaction().await
    }

    /// Sends some bytes and resets the connection immediately.
    async fn killed(&mut self, bytes: &[u8]) -> Reaction {
        let _ = self.stream.write_all(bytes).await;
        sleep(self.pace).await;
        let _ = self.stream.set_zero_linger();
        Reaction::default()
    }

    /// Sends requests and does not read the answers until the server has closed the connection.
    async fn never_reads(&mut self, bytes: &[u8]) -> Reaction {
        let writing = async {
            if self.stream.write_all(bytes).await.is_err() {
                return true;
            }
            // An occasional byte, to detect whether the server is still there.
            while self.stream.write_all(b" ").await.is_ok() {
                sleep(self.pace).await;
            }
            true
        };
        Reaction { text: String::new(), is_closed: timeout(PATIENCE, writing).await.unwrap_or(false) }
    }

    async fn reaction(&mut self) -> Reaction {
        read(&mut self.stream).await
    }
}

/// Reads until the server closes the connection.
async fn read(reader: &mut (impl AsyncReadExt + Unpin)) -> Reaction {
    let mut bytes = Vec::new();
    let ended = timeout(PATIENCE, reader.read_to_end(&mut bytes)).await;
    Reaction { text: String::from_utf8_lossy(&bytes).into_owned(), is_closed: ended.is_ok() }
}

pub fn echo(sender: &str) -> Echo {
    Echo { sender: sender.to_owned(), number: 1, values: vec![0.5; 10], notes: vec!["a note".to_owned()] }
}

/// Returns a message as bytes.
pub fn message<T: Message>(body: &T) -> Vec<u8> {
    Envelope::new(body).to_vec().expect("a message")
}

/// Returns the beginning of a message, up to a text, as a chunk.
fn opened() -> Vec<u8> {
    chunked(opened_as("text").as_bytes())
}

fn opened_as(element: &str) -> String {
    let text = String::from_utf8(message(&echo(element))).expect("UTF-8");
    text.split_once(element).expect("the sender").0.to_owned()
}

fn chunked(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("no error")
}

/// Returns ten megabytes of spaces, compressed to ten kilobytes.
fn bomb() -> Vec<u8> {
    gzip(&[b' '; 10 << 20])
}
