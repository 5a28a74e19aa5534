//! Each attack alone: the server answers, or ends the connection.

#![cfg(feature = "tls")]

use crate::attack::*;
use deltasoap::Server;
use deltasoap::tls::ServerTls;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Time limit for clients.
const TIME: Duration = Duration::from_millis(500);

/// Attacks a server with short time limits.
async fn attacked(attack: Attack) -> Reaction {
    let service = builder().body_timeout(TIME).body_rate(10_000).handler_timeout(TIME).build().expect("a service");
    let stats = service.stats();
    let (address, handle) = serve(service, TIME, None).await;
    let reaction = attack.run(address, TIME / 10, "").await;
    let end = Instant::now() + Duration::from_secs(10);
    while handle.connections() > 0 || stats.snapshot().underway > 0 {
        assert!(Instant::now() < end, "{attack:?} leaves a connection: {reaction:?}");
        tokio::time::sleep(TIME / 20).await;
    }
    reaction
}

/// Asserts that the server ends the connection after responses with these statuses, the last of
/// which contains `text`.
async fn expect(attack: Attack, statuses: &[&str], text: &str) {
    let reaction = attacked(attack).await;
    assert!(reaction.is_closed, "{attack:?}: {reaction:?}");
    assert_eq!(reaction.statuses(), statuses, "{attack:?}: {reaction:?}");
    assert!(reaction.text.contains(text), "{attack:?}: {reaction:?}");
}

macro_rules! attacks {
    ($($name:ident: $attack:ident => $statuses:expr, $text:expr;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            expect(Attack::$attack, &$statuses, $text).await;
        }
    )*};
}

attacks! {
    a_client_that_says_nothing_is_left: Silent => [], "";
    a_head_that_trickles_is_cut_off: SlowHead => [], "";
    a_body_that_trickles_is_refused: SlowBody => ["408"], "the message did not arrive in time";
    chunks_that_trickle_are_refused: SlowChunks => ["408"], "the message did not arrive in time";
    a_body_that_stops_is_refused: StoppedBody => ["408"], "the message did not arrive in time";
    a_body_that_is_announced_and_does_not_come_is_refused: NoBodyAfterContinue => ["100", "408"], "the message did not arrive in time";
    a_body_whose_sender_closes_its_half_is_refused: HalfClosedInBody => ["400"], "the message did not arrive in full";
    too_long_a_body_is_refused: TooLong => ["413"], "the limit `message` of 1048576 is exceeded";
    too_long_a_body_in_chunks_is_refused: TooLongInChunks => ["413"], "the limit `message`";
    an_endless_text_is_refused: EndlessText => ["413"], "the limit `message`";
    endless_attributes_are_refused: EndlessAttributes => ["500"], "the limit `attributes`";
    an_endless_chunk_extension_is_refused: EndlessChunkExtension => ["400"], "the message did not arrive in full";
    what_is_left_of_too_short_a_length_is_no_request: LengthTooSmall => ["500", "400"], "";
    two_lengths_are_refused: TwoLengths => ["400"], "";
    a_negative_length_is_refused: BadLength => ["400"], "";
    a_chunk_without_a_length_is_refused: BadChunk => ["400"], "the message did not arrive in full";
    a_chunk_of_a_length_beyond_all_numbers_is_refused: HugeChunk => ["400"], "the message did not arrive in full";
    a_gzip_bomb_is_refused: GzipBomb => ["413"], "`ratio`";
    broken_gzip_is_refused: BrokenGzip => ["400"], "compressed stream";
    garbage_behind_requests_is_refused: PipelinedGarbage => ["200", "200", "400"], "";
    garbage_is_refused: Garbage => ["400"], "";
    another_protocol_is_left: Http2 => [], "";
    too_many_headers_are_refused: HeaderFlood => ["431"], "";
    too_large_a_head_is_refused: HugeHeader => ["431"], "";
    a_head_without_end_is_refused: EndlessHead => ["431"], "";
    too_deep_a_message_is_refused: Deep => ["500"], "";
    what_is_no_xml_is_refused: WrongXml => ["500"], "";
    a_panic_is_a_fault: Panics => ["500"], "an internal error";
    a_panic_in_reading_is_a_fault: PanicsInReading => ["500", "200"], "an internal error";
    a_panic_in_writing_is_a_fault: PanicsInWriting => ["500", "200"], "an internal error";
    a_handler_that_hangs_is_given_up: Hangs => ["500"], "the operation took too long";
    a_handler_that_blocks_answers: Blocks => ["500"], "blocked";
    a_client_that_does_not_read_is_left: NeverReads => [], "";
    one_that_asks_on_and_does_not_read_is_left: PipelinesWithoutReading => [], "";
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_are_killed_leave_nothing_behind() {
    for attack in [Attack::KilledInHead, Attack::KilledInBody, Attack::KilledWhileHanging, Attack::ComesAndGoes] {
        attacked(attack).await;
    }
}

/// Both kinds of framing at once can smuggle requests past a proxy (RFC 9112, 6.1): whatever the
/// answer is, the connection ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_length_beside_chunks_ends_the_connection() {
    let reaction = attacked(Attack::LengthAndChunked).await;
    assert!(reaction.is_closed && reaction.statuses().len() == 1, "{reaction:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_closes_its_half_behind_its_request_gets_its_answer() {
    let reaction = attacked(Attack::HalfClosedBehindRequest).await;
    assert!(reaction.is_closed && reaction.statuses() == ["200"], "{reaction:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_that_stalls_is_given_up() {
    let (identity, _) = identity();
    let service = builder().build().expect("a service");
    let (address, handle) = serve(service, TIME, Some(ServerTls::new(identity))).await;
    // Nothing, the beginning of a handshake, and something else.
    for hello in [&b""[..], b"\x16\x03\x01\x02\x00\x01", b"POST / HTTP/1.1\r\n\r\n"] {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(hello).await.expect("sent");
        let mut rest = Vec::new();
        let end = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut rest)).await;
        assert!(end.is_ok(), "{hello:?}");
    }
    while handle.connections() > 0 {
        tokio::time::sleep(TIME / 20).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bound_on_headers_is_an_option() {
    let server = Server::bind("127.0.0.1:0").await.expect("a port").max_headers(3);
    let address = server.local_addr().expect("an address");
    tokio::spawn(server.serve(builder().build().expect("a service")));
    for (headers, status) in [(1, "HTTP/1.1 200"), (2, "HTTP/1.1 431")] {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let more = "X: y\r\n".repeat(headers);
        let request = format!("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{more}\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("a response");
        assert!(text.starts_with(status), "{text}");
    }
}
