//! User code that panics under load: handlers, and types while they are read and written. Each
//! panic affects only its own request: other requests continue, and later messages on the same
//! connection are right, although they are compared with earlier ones.
//!
//! `cargo xtask attacks` runs the large test, which is ignored here, and prints its rows.

#![cfg(feature = "tls")]

use crate::attack::*;
use crate::{ALLOCATOR, ALONE};
use deltasoap::attachments::{AttachmentError, Part};
use deltasoap::client::{CallError, CallOptions};
use deltasoap::engine::{Checkpoints, Differential};
use deltasoap::server::{Operation, Reply, SoapServiceBuilder};
use deltasoap::soap::FaultCode;
use deltasoap::{Client, Context, Fault, Lease, Soap, SoapService};
use deltasoap_checkpoints::{Portions, State};
use peakmem_alloc::PeakMemAllocTrait;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(30);
const CLIENTS: usize = 8;

/// A [`Fragile`] whose mark is harmless here.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message, element = "Fragile")]
struct Asked {
    number: u64,
    values: Vec<f64>,
    mark: String,
    notes: Vec<String>,
}

/// A [`Survived`] whose mark is harmless here.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message, element = "Survived")]
struct Answered {
    number: u64,
    values: Vec<f64>,
    mark: String,
    notes: Vec<String>,
}

/// Returns the message with this number of a client. Messages differ in some numbers, occasionally
/// in length, and in the mark, which makes one in three panic.
fn asked(client: usize, number: u64) -> Asked {
    let length = if number % 10 == 7 { 190 } else { 200 };
    let value = |item: u64| (client as u64 * 1000 + number * (item % 3)) as f64;
    let mark = match (number % 3, number / 3 % 3) {
        (2, 0) => UNREADABLE,
        (2, 1) => UNWRITABLE,
        (2, _) => UNHANDLED,
        (1, _) => "kept",
        _ => "harmless",
    };
    let notes = vec![format!("client {client}"), format!("number {number}")];
    Asked { number, values: (0..length).map(value).collect(), mark: mark.to_owned(), notes }
}

fn answered(asked: &Asked) -> Answered {
    let Asked { number, values, mark, notes } = asked.clone();
    Answered { number, values, mark, notes }
}

fn panics(mark: &str) -> bool {
    [UNREADABLE, UNWRITABLE, UNHANDLED].contains(&mark)
}

/// Sends messages over one connection; returns the number of faults.
async fn send(address: SocketAddr, client: usize, messages: u64) -> u64 {
    let connection = Client::new(format!("http://{address}/")).expect("a client");
    let mut faults = 0;
    for number in 0..messages {
        let request = asked(client, number);
        let answer = tokio::time::timeout(LONG, connection.call_as::<Answered>(&request)).await.expect("in time");
        match answer {
            Ok(answer) => assert_eq!(answer, answered(&request)),
            Err(CallError::Fault(fault)) => {
                assert!(panics(&request.mark), "{number}: {fault:?}");
                assert_eq!((&fault.code, &*fault.reason), (&FaultCode::Receiver, "an internal error"));
                faults += 1;
            }
            other => panic!("{number}: {other:?}"),
        }
    }
    faults
}

/// Sends messages that panic to a service; returns the number of faults, the slowest answer to
/// another client, and the number of compared messages.
async fn under_panics(builder: SoapServiceBuilder, messages: u64) -> (u64, Duration, u64) {
    let service = builder.build().expect("a service");
    let stats = service.stats();
    let (address, _handle) = serve(service, LONG, None).await;
    let clients: Vec<_> = (0..CLIENTS).map(|client| tokio::spawn(send(address, client, messages))).collect();
    let bystander = tokio::spawn(async move {
        let client = Client::new(format!("http://{address}/")).expect("a client");
        let mut slowest = Duration::ZERO;
        for number in 0..messages {
            let start = Instant::now();
            let asked = Asked { mark: "harmless".to_owned(), ..asked(CLIENTS, number) };
            assert_eq!(client.call_as::<Answered>(&asked).await.expect("an answer"), answered(&asked));
            slowest = slowest.max(start.elapsed());
        }
        slowest
    });
    let mut faults = 0;
    for client in clients {
        faults += client.await.expect("no panic but those that are asked for");
    }
    let slowest = bystander.await.expect("no panic but those that are asked for");
    let end = Instant::now() + LONG;
    while stats.snapshot().underway > 0 || stats.snapshot().working > 0 {
        assert!(Instant::now() < end, "{:?}", stats.snapshot());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    (faults, slowest, stats.snapshot().differential.compared)
}

fn portions(state: State) -> Checkpoints {
    Portions { state, size: 64, ..Portions::default() }.into()
}

/// Returns a service with these checkpoints, which compares whatever it can.
fn compared_by(checkpoints: Checkpoints) -> SoapServiceBuilder {
    let differential = Differential { checkpoints, adaptive: false };
    builder().differential(differential)
}

/// Panics in a service, with each policy, and with requests that wait for one of two slots.
async fn panics_under_load(messages: u64) {
    let _alone = ALONE.lock().await;
    hide_panics();
    let services = [
        ("by default", builder()),
        ("leaf checkpoints", compared_by(Checkpoints::Leaf)),
        ("full checkpoints", compared_by(portions(State::Full))),
        ("differential checkpoints", compared_by(portions(State::Differential))),
        ("lightweight checkpoints", compared_by(portions(State::Lightweight))),
        ("two slots", scheduled(compared_by(Checkpoints::Leaf))),
    ];
    for (name, builder) in services {
        ALLOCATOR.reset_peak_memory();
        let start = Instant::now();
        let (faults, slowest, compared) = under_panics(builder, messages).await;
        let peak = ALLOCATOR.get_peak_memory() >> 10;
        let requests = (CLIENTS as u64 + 1) * messages;
        println!(
            "| panics in handlers, in reading and in writing, {name}: {requests} requests of {} clients | a 500 fault each ({faults}), the others answered right, {compared} compared | slowest of an ordinary client {} ms; {:.1} s in all | {peak} KiB allocated at most |",
            CLIENTS + 1,
            slowest.as_millis(),
            start.elapsed().as_secs_f64(),
        );
        let expected = (0..messages).filter(|&number| panics(&asked(0, number).mark)).count() as u64;
        assert_eq!(faults, CLIENTS as u64 * expected, "{name}");
        assert!(compared > 0, "{name}");
        assert!(peak < 64 << 10, "{name}: {peak} KiB");
    }
}

/// Suppresses the output of intended panics.
fn hide_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        if !text.contains("of a test") {
            eprintln!("{text}");
        }
    }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panics_under_load_leave_other_requests_alone() {
    panics_under_load(40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes longer; cargo xtask attacks runs it"]
async fn attack_with_panics_under_load() {
    panics_under_load(1_000).await;
}

/// A message that arrives in pieces, whose decoding panics after a part of it was read, on one
/// connection with valid messages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_answered_where_the_rest_is_still_to_come() {
    let _alone = ALONE.lock().await;
    hide_panics();
    let (address, _handle) = serve(builder().build().expect("a service"), LONG, None).await;
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
    for (mark, status) in [("kept", 200), (UNREADABLE, 500), ("kept", 200)] {
        let body = marked(mark);
        let (front, rest) = body.split_at(body.len() - 40);
        let length = body.len();
        let head = format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {length}\r\n\r\n");
        for piece in [head.as_bytes(), front, rest] {
            tokio::io::AsyncWriteExt::write_all(&mut stream, piece).await.expect("sent");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let mut answer = Vec::new();
        while !answer.ends_with(b":Envelope>") {
            let read = tokio::io::AsyncReadExt::read_buf(&mut stream, &mut answer).await.expect("an answer");
            assert!(read > 0, "{}", String::from_utf8_lossy(&answer));
        }
        assert!(answer.starts_with(format!("HTTP/1.1 {status}").as_bytes()), "{}", String::from_utf8_lossy(&answer));
    }
}

/// A client whose own types panic, in requests and in responses: its next calls are right, leased
/// or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_survives_panics_of_its_types() {
    let _alone = ALONE.lock().await;
    hide_panics();
    for checkpoints in State::ALL.map(portions).into_iter().chain([Checkpoints::Leaf]) {
        let service = SoapService::builder().operation(async |asked: Lease<Asked>| Ok::<_, Fault>(answered(&asked)));
        let differential = Differential { checkpoints, adaptive: false };
        let client = Client::builder("http://localhost/").differential(differential);
        let client = client.build_with(service.build().expect("a service")).expect("a client");
        for number in 0..60 {
            let mut asked = asked(0, number);
            if asked.mark == UNHANDLED {
                asked.mark = "handled".to_owned();
            }
            let is_written_here = asked.mark == UNWRITABLE;
            let is_fatal = is_written_here || asked.mark == UNREADABLE;
            let calling = {
                let client = client.clone();
                tokio::spawn(async move {
                    if is_written_here {
                        let Asked { number, values, mark, notes } = asked;
                        let fragile = Fragile { number, values, mark: Mark(mark), notes };
                        return client.call_leased_as::<Answered>(&fragile).await.map(drop);
                    }
                    let response = client.call_leased_as::<Survived>(&asked).await?;
                    let survived = Survived::clone(&response);
                    let Survived { number, values, mark, notes } = survived;
                    assert_eq!(Answered { number, values, mark: mark.0, notes }, answered(&asked), "{checkpoints:?}");
                    Ok(())
                })
            };
            match calling.await {
                Ok(called) => called.expect("an answer"),
                Err(error) => assert!(is_fatal && error.is_panic(), "{number} by {checkpoints:?}: {error}"),
            }
        }
        assert!(client.differential_stats().compared > 0, "{checkpoints:?}");
    }
}

/// A request with a part. The handler reads a piece of it, and panics if requested.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
struct Pour {
    panics: bool,
}

/// As [`Pour`], without a response.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
struct Drain {
    panics: bool,
}

/// Requests a part whose stream panics after some of it was sent, if requested.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
struct Draw {
    panics: bool,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:attack", message)]
struct Poured {
    bytes: u64,
}

/// Reads the parts of a request, unless it panics at the first piece.
async fn swallow(panics: bool, context: &mut Context) -> Result<u64, AttachmentError> {
    let mut bytes = 0;
    while let Some(mut part) = context.attachments().next().await? {
        while let Some(chunk) = part.chunk().await? {
            assert!(!panics, "a handler of a test");
            bytes += chunk.len() as u64;
        }
    }
    Ok(bytes)
}

const PIECES: usize = 8;
const PIECE: usize = 50_000;

/// Returns a part that is sent in pieces.
fn in_pieces(panics: bool) -> Part {
    let pieces = futures_util::stream::unfold(0, move |number| async move {
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert!(!panics || number < 3, "a stream of a test");
        (number < PIECES).then(|| (Ok(vec![7; PIECE].into()), number + 1))
    });
    Part::stream("pieces", "application/octet-stream", pieces)
}

/// Returns a service of handlers that stream parts; one-way handlers report how much they read.
fn streaming(builder: SoapServiceBuilder, lengths: tokio::sync::mpsc::UnboundedSender<u64>) -> SoapServiceBuilder {
    let pour = async |mut context: Context, pour: Lease<Pour>| {
        Ok::<_, AttachmentError>(Poured { bytes: swallow(pour.panics, &mut context).await? })
    };
    let drain = move |mut context: Context, drain: Lease<Drain>| {
        let lengths = lengths.clone();
        async move {
            let bytes = swallow(drain.panics, &mut context).await?;
            lengths.send(bytes).expect("the test waits");
            Ok::<_, AttachmentError>(())
        }
    };
    let draw =
        async |draw: Lease<Draw>| Ok::<_, Fault>(Reply::new(Poured { bytes: 0 }).with_part(in_pieces(draw.panics)));
    let builder = builder.operation(pour).operation(draw);
    builder.add_operation(Operation::new(drain))
}

/// Handlers that panic while parts arrive, and parts that panic while they are sent: each affects
/// only its own exchange, and the next ones of the same client are right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panics_while_parts_come_and_go_leave_others_alone() {
    let _alone = ALONE.lock().await;
    hide_panics();
    let whole = (PIECES * PIECE) as u64;
    for builder in [builder(), scheduled(builder())] {
        let (sender, mut lengths) = tokio::sync::mpsc::unbounded_channel();
        let service = streaming(builder, sender).build().expect("a service");
        let stats = service.stats();
        let (address, _handle) = serve(service, LONG, None).await;
        let client = Client::builder(format!("http://{address}/")).timeout(LONG).build().expect("a client");
        let with_part = || CallOptions::new().part(in_pieces(false));
        for round in 0..4 {
            let panics = round % 2 == 0;
            let poured = client.call_as_with::<Poured>(&Pour { panics }, with_part()).await;
            match poured {
                Err(CallError::Fault(fault)) if panics => assert_eq!(fault.reason, "an internal error"),
                poured => assert_eq!(poured.expect("an answer").body, Poured { bytes: whole }, "{round}"),
            }
            client.send_with(&Drain { panics }, with_part()).await.expect("accepted");
            if !panics {
                let length = tokio::time::timeout(LONG, lengths.recv()).await.expect("in time");
                assert_eq!(length, Some(whole), "the handler that panicked reported nothing");
            }
            let drawn = client.call_as_with::<Poured>(&Draw { panics }, CallOptions::new()).await.expect("a message");
            let mut attachments = drawn.attachments;
            let ended = attachments.finish().await;
            assert_eq!(ended.is_err(), panics, "{ended:?}");
        }
        assert_eq!(stats.snapshot().underway, 0, "{:?}", stats.snapshot());
    }
}

/// One-way handlers that panic, before and after they wait: the message was accepted, and later
/// messages are processed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panics_of_one_way_handlers_are_their_own() {
    let _alone = ALONE.lock().await;
    hide_panics();
    let (sender, mut numbers) = tokio::sync::mpsc::unbounded_channel();
    let at_once = move |asked: Lease<Asked>| {
        assert!(asked.number % 3 != 1, "a handler of a test");
        let sender = sender.clone();
        async move {
            tokio::task::yield_now().await;
            assert!(asked.number % 3 != 2, "a handler of a test");
            sender.send(asked.number).map_err(|_| Fault::receiver("gone"))
        }
    };
    let service = SoapService::builder().operation(at_once).build().expect("a service");
    let (address, _handle) = serve(service, LONG, None).await;
    let client = Client::new(format!("http://{address}/")).expect("a client");
    for number in 0..30 {
        client.send(&asked(0, number)).await.expect("accepted");
    }
    let mut handled = Vec::new();
    while handled.len() < 10 {
        handled.push(tokio::time::timeout(LONG, numbers.recv()).await.expect("in time").expect("a number"));
    }
    handled.sort_unstable();
    assert_eq!(handled, (0..30).step_by(3).collect::<Vec<_>>());
}
