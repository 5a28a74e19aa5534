//! Captures by tcpdump and tshark, and captures of made-up connections whose messages are known.

use super::*;
use crate::sources::tests::{body, collected};
use deltasoap_test_support::Chance;
use deltasoap_test_support::files::in_repository;
use etherparse::{EtherType, PacketBuilder};
use std::fs;

/// Returns the items, with what is wrong with others.
fn items(path: &Path) -> (Vec<Capture>, Vec<(String, String)>) {
    items_within(path, Limits::default())
}

fn items_within(path: &Path, limits: Limits) -> (Vec<Capture>, Vec<(String, String)>) {
    collected(|visit| read(Input::from(path), limits, visit))
}

/// Returns the pairs of requests and responses.
fn exchanges(captures: &[Capture]) -> Vec<(Option<String>, Option<String>)> {
    let mut exchanges: Vec<(Option<String>, Option<String>)> = Vec::new();
    for capture in captures {
        match (capture.direction, exchanges.last_mut()) {
            (Some(Direction::Response), Some((_, response))) if capture.is_answer => *response = Some(body(capture)),
            (Some(Direction::Response), _) => exchanges.push((None, Some(body(capture)))),
            _ => exchanges.push((Some(body(capture)), None)),
        }
    }
    exchanges
}

fn recorded(name: &str) -> std::path::PathBuf {
    in_repository("testdata/captures").join(name)
}

#[test]
fn captures_of_tcpdump_and_tshark_hold_all_exchanges() {
    for (name, client, server) in [("shop.pcap", "127.0.0.1", "127.0.0.1:18080"), ("shop.pcapng", "::1", "[::1]:18081")]
    {
        let (captures, problems) = items(&recorded(name));
        assert_eq!(problems, [], "{name}");
        let exchanges = exchanges(&captures);
        assert_eq!(exchanges.len(), 12, "{name}");
        for (number, (request, response)) in exchanges.iter().enumerate() {
            let (request, response) = (request.as_ref().expect("a request"), response.as_ref().expect("a response"));
            assert!(request.contains(&format!("<customer>c{number}</customer>")), "{request}");
            // The fifth answer is a fault.
            assert!(response.contains(&format!("<number>{number}</number>")) || number == 6, "{response}");
        }
        let senders: Vec<_> = captures.iter().take(2).filter_map(|it| it.sender.as_deref()).collect();
        assert_eq!(senders, [client, server]);
        let statuses: Vec<_> = captures.iter().filter_map(|it| it.status).collect();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 500, 200, 200, 200, 200, 200], "{name}");
        // On 2026-11-29, one after the other.
        let times: Vec<_> = captures.iter().map(|it| it.time.expect("a time")).collect();
        assert!(times[..16].is_sorted() && times.iter().all(|time| time / 86_400_000_000 == 20_786), "{times:?}");
        let places: Vec<_> = captures.iter().map(|it| it.place.rsplit('/').next().expect("a name")).collect();
        if name == "shop.pcap" {
            // The numbers are those of Wireshark.
            assert_eq!(
                places[..4],
                ["shop.pcap!4.request", "shop.pcap!8.response", "shop.pcap!12.request", "shop.pcap!15.response"]
            );
        }
    }
}

#[test]
fn packets_that_were_cut_off_are_problems_of_their_messages() {
    let whole: Vec<_> = items(&recorded("shop.pcap")).0.iter().map(body).collect();
    let (captures, problems) = items(&recorded("short.pcap"));
    for capture in &captures {
        assert!(whole.contains(&body(capture)), "{}: {}", capture.place, body(capture));
    }
    assert!(captures.len() >= 5 && problems.len() >= 5, "{} {problems:#?}", captures.len());
    assert!(captures.len() + problems.len() >= whole.len(), "{} {problems:#?}", captures.len());
    assert!(problems.iter().all(|(_, reason)| reason.contains("missing")), "{problems:#?}");
}

#[test]
fn a_capture_that_was_killed_gives_everything_before() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut chance = Chance::seeded(3);
    for name in ["shop.pcap", "shop.pcapng"] {
        let content = fs::read(recorded(name)).expect("a capture");
        let whole: Vec<_> = items(&recorded(name)).0.iter().map(body).collect();
        for _ in 0..60 {
            let length = 512 + chance.below(content.len() - 512);
            let path = folder.path().join(name);
            fs::write(&path, &content[..length]).expect("a file");
            let (captures, problems) = items(&path);
            let known: Vec<_> = captures.iter().map(body).collect();
            assert!(known.iter().all(|body| whole.contains(body)), "{length} bytes");
            assert!(known.len() + 4 >= whole.len() * (length - 512) / content.len(), "{length} bytes: {}", known.len());
            let of_file = problems.iter().filter(|(place, _)| place.ends_with(name)).count();
            assert!(of_file <= 1 && problems.len() <= 3, "{problems:?}");
        }
        let path = folder.path().join(format!("{name}.zst"));
        fs::write(&path, &zstd::encode_all(&content[..], 1).expect("zstd")[..2000]).expect("a file");
        let (captures, problems) = items(&path);
        assert!(
            captures.len() < whole.len() && problems.iter().any(|(_, reason)| reason.starts_with("cannot be read"))
        );
    }
    for (content, reason) in [(&b""[..], "empty"), (b"neither of these, but long enough", "neither pcap nor pcapng")] {
        let path = folder.path().join("other.cap");
        fs::write(&path, content).expect("a file");
        let (_, problems) = items(&path);
        assert!(problems.len() == 1 && problems[0].1.contains(reason), "{problems:?}");
    }
}

/// A segment that is sent.
#[derive(Debug, Clone)]
struct Sent {
    port: u16,
    is_client: bool,
    sequence: u32,
    ack: Option<u32>,
    flags: &'static str,
    payload: Vec<u8>,
}

/// A connection that is written, with what it says.
struct Conversation {
    port: u16,
    next: [u32; 2],
    sent: Vec<Sent>,
    exchanges: Vec<(Option<String>, Option<String>)>,
    /// For each message: the range of its segments in `sent`.
    messages: Vec<(String, std::ops::Range<usize>)>,
}

impl Conversation {
    fn new(port: u16, chance: &mut Chance) -> Self {
        let near_the_end = if chance.one_in(3) { u32::MAX - 500 } else { chance.bits() as u32 };
        let next = [near_the_end, chance.bits() as u32];
        Conversation { port, next, sent: Vec::new(), exchanges: Vec::new(), messages: Vec::new() }
    }

    fn control(&mut self, from: usize, flags: &'static str, has_ack: bool) {
        let ack = has_ack.then_some(self.next[1 - from]);
        let (port, sequence) = (self.port, self.next[from]);
        self.sent.push(Sent { port, is_client: from == 0, sequence, ack, flags, payload: Vec::new() });
        self.next[from] = self.next[from].wrapping_add(1);
    }

    fn open(&mut self) {
        self.control(0, "s", false);
        self.control(1, "s", true);
    }

    /// Sends bytes in segments.
    fn send(&mut self, from: usize, bytes: &[u8], most: usize, chance: &mut Chance) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = if most == usize::MAX { most } else { chance.between(1, most) };
            let (payload, left) = rest.split_at(length.min(rest.len()));
            let (port, sequence, ack) = (self.port, self.next[from], Some(self.next[1 - from]));
            self.sent.push(Sent { port, is_client: from == 0, sequence, ack, flags: "", payload: payload.to_vec() });
            self.next[from] = sequence.wrapping_add(payload.len() as u32);
            rest = left;
        }
    }

    fn message(&mut self, from: usize, text: &str, http: &[u8], most: usize, chance: &mut Chance) {
        let begin = self.sent.len();
        // A message begins with a segment that has its first line, which is how it is found after a loss.
        let (line, rest) = http.split_at(40);
        self.send(from, line, usize::MAX, chance);
        self.send(from, rest, most, chance);
        self.messages.push((text.to_owned(), begin..self.sent.len()));
    }

    /// Sends again what was sent, in other segments.
    fn retransmit(&mut self, chance: &mut Chance) {
        for _ in 0..chance.below(6) {
            let Some(at) = (0..20).map(|_| chance.below(self.sent.len())).find(|&at| !self.sent[at].payload.is_empty())
            else {
                return;
            };
            let mut again = self.sent[at].clone();
            // Together with the next one, or only a part.
            if let Some(next) = self.sent.get(at + 1)
                && (next.is_client, next.ack) == (again.is_client, again.ack)
                && next.sequence == again.sequence.wrapping_add(again.payload.len() as u32)
                && chance.one_in(2)
            {
                again.payload.extend_from_slice(&next.payload.clone());
            }
            let from = chance.below(again.payload.len());
            again.sequence = again.sequence.wrapping_add(from as u32);
            again.payload.drain(..from);
            self.sent.insert(at + 1 + chance.below(self.sent.len() - at), again);
        }
    }
}

/// Returns a message over HTTP. A response that ends with the connection has no length.
fn http(start: &str, text: &str, ends: bool, chance: &mut Chance) -> Vec<u8> {
    let mut http = format!("{start}\r\nContent-Type: text/xml\r\n").into_bytes();
    if ends {
        http.extend_from_slice(b"Connection: close\r\n\r\n");
        http.extend_from_slice(text.as_bytes());
    } else if chance.one_in(2) {
        http.extend_from_slice(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    } else {
        http.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
        let mut rest = text;
        while !rest.is_empty() {
            let (chunk, left) = rest.split_at(chance.between(1, 700).min(rest.len()));
            http.extend_from_slice(format!("{:x}\r\n{chunk}\r\n", chunk.len()).as_bytes());
            rest = left;
        }
        http.extend_from_slice(if chance.one_in(2) { b"0\r\n\r\n" } else { b"0\r\nX-Trailer: yes\r\n\r\n" });
    }
    http
}

fn text(name: &str, chance: &mut Chance) -> String {
    let most = *chance.pick(&[10, 100, 3000]);
    format!("<x>{name} {:1$}</x>", "", chance.below(most))
}

/// Writes a connection with random exchanges.
fn conversation(port: u16, is_pipelined: bool, most: usize, chance: &mut Chance) -> Conversation {
    let mut it = Conversation::new(port, chance);
    it.open();
    let count = chance.between(1, 5);
    let mut number = 0;
    let mut is_closed = false;
    while number < count {
        let together = if is_pipelined { chance.between(1, count - number) } else { 1 };
        let mut answers = Vec::new();
        for index in number..number + together {
            match chance.below(6) {
                0 if is_pipelined => {
                    it.send(0, b"HEAD / HTTP/1.1\r\n\r\n", most, chance);
                    answers.push((
                        String::new(),
                        b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 50\r\n\r\n".to_vec(),
                    ));
                }
                1 if is_pipelined => {
                    it.send(0, b"GET / HTTP/1.1\r\n\r\n", most, chance);
                    answers.push((String::new(), http("HTTP/1.1 200 OK", "<wsdl/>", false, chance)));
                }
                _ => {
                    let request = text(&format!("request {port}-{index}"), chance);
                    let written = http("POST /a HTTP/1.1", &request, false, chance);
                    it.message(0, &request, &written, most, chance);
                    if chance.one_in(4) && together == 1 {
                        it.send(1, b"HTTP/1.1 100 Continue\r\n\r\n", most, chance);
                    }
                    is_closed = index + 1 == count && chance.one_in(2);
                    if chance.one_in(6) && is_pipelined && !is_closed {
                        it.exchanges.push((Some(request), None));
                        answers.push((String::new(), b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()));
                        continue;
                    }
                    let response = text(&format!("response {port}-{index}"), chance);
                    let written = http("HTTP/1.1 200 OK", &response, is_closed, chance);
                    it.exchanges.push((Some(request), Some(response.clone())));
                    answers.push((response, written));
                }
            }
        }
        for (text, answer) in answers {
            match text.is_empty() {
                true => it.send(1, &answer, most, chance),
                false => it.message(1, &text, &answer, most, chance),
            }
        }
        number += together;
    }
    if is_closed || chance.one_in(2) {
        it.control(1, "f", true);
        it.control(0, "f", true);
    } else if chance.one_in(2) {
        it.control(0, "r", true);
    }
    it
}

/// Returns a packet of a link type, over IPv4 or IPv6.
fn packet(sent: &Sent, link: u32, is_v6: bool) -> Vec<u8> {
    let ports = if sent.is_client { (sent.port, 80) } else { (80, sent.port) };
    let (client, server) = (1, 2);
    let (from, to) = if sent.is_client { (client, server) } else { (server, client) };
    let v6 = |last: u8| [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
    let mut tcp = etherparse::TcpHeader::new(ports.0, ports.1, sent.sequence, 1000);
    (tcp.syn, tcp.fin, tcp.rst) = (sent.flags == "s", sent.flags == "f", sent.flags == "r");
    (tcp.ack, tcp.acknowledgment_number) = (sent.ack.is_some(), sent.ack.unwrap_or_default());
    let mut ip = Vec::new();
    let written = match is_v6 {
        true => PacketBuilder::ipv6(v6(from), v6(to), 64).tcp_header(tcp).write(&mut ip, &sent.payload),
        false => {
            PacketBuilder::ipv4([10, 0, 0, from], [10, 0, 0, to], 64).tcp_header(tcp).write(&mut ip, &sent.payload)
        }
    };
    written.expect("a packet");
    let ether = if is_v6 { EtherType::IPV6 } else { EtherType::IPV4 }.0.to_be_bytes();
    let mut header = match link {
        1 if sent.port.is_multiple_of(2) => [&[2; 12][..], &[0x81, 0, 0, 7], &ether].concat(),
        1 => [&[2; 12][..], &ether].concat(),
        0 => 2_u32.to_le_bytes().to_vec(),
        101 => Vec::new(),
        113 => [&[0; 14][..], &ether].concat(),
        276 => [&ether[..], &[0; 18]].concat(),
        _ => unreachable!("a link type"),
    };
    header.extend_from_slice(&ip);
    // Short frames are padded.
    if link == 1 {
        header.resize(header.len().max(60), 0);
    }
    header
}

fn pcap(sent: &[Sent], link: u32, is_v6: bool) -> Vec<u8> {
    let mut file = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, link].map(u32::to_le_bytes).concat();
    for (number, sent) in sent.iter().enumerate() {
        let packet = packet(sent, link, is_v6);
        let length = packet.len() as u32;
        file.extend(&[1_000 + number as u32, 5, length, length].map(u32::to_le_bytes).concat());
        file.extend_from_slice(&packet);
    }
    file
}

/// Puts the packets of several connections into one order, in which each is at most `distance` away
/// from its place.
fn captured(all: &[Conversation], distance: usize, chance: &mut Chance) -> Vec<Sent> {
    let mut merged = Vec::new();
    let mut rests: Vec<_> = all.iter().map(|it| it.sent.iter()).collect();
    while !rests.is_empty() {
        let at = chance.below(rests.len());
        match rests[at].next() {
            Some(sent) => merged.push(sent.clone()),
            None => drop(rests.remove(at)),
        }
    }
    let mut keyed: Vec<_> = merged.into_iter().enumerate().map(|(at, it)| (at + chance.below(distance), it)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, sent)| sent).collect()
}

/// In whichever order segments come, how often, and however they are cut, the messages are those that
/// were sent, each response with its request.
#[test]
fn any_order_of_segments_gives_the_messages_that_were_sent() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("made.pcap");
    for seed in 0..400 {
        let mut chance = Chance::new(11, seed);
        let most = *chance.pick(&[30, 300, 1460]);
        let is_small = most > 1000;
        let all: Vec<_> = (0..chance.between(1, 4))
            .map(|number| {
                let mut it = conversation(5000 + number as u16, true, most, &mut chance);
                it.retransmit(&mut chance);
                it
            })
            .collect();
        let is_any_order = is_small && all.iter().all(|it| it.sent.len() < 60);
        let distance = if is_any_order && chance.one_in(2) { 1000 } else { *chance.pick(&[1, 3, 20]) };
        let (link, is_v6) = (*chance.pick(&[0, 1, 101, 113, 276]), chance.one_in(2));
        fs::write(&path, pcap(&captured(&all, distance, &mut chance), link, is_v6)).expect("a file");
        let (captures, problems) = items(&path);
        assert_eq!(problems, [], "seed {seed}");
        let mut expected: Vec<_> = all.iter().flat_map(|it| it.exchanges.clone()).collect();
        let mut found = exchanges(&captures);
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "seed {seed}, link {link}, distance {distance}");
    }
}

/// Messages of which nothing is lost are found, with their requests; others are problems.
#[test]
fn lost_segments_harm_only_their_messages() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("made.pcap");
    let (mut harmed, mut reported) = (0, 0);
    for seed in 0..400 {
        let mut chance = Chance::new(12, seed);
        let most = *chance.pick(&[100, 1460]);
        let mut it = conversation(5000, false, most, &mut chance);
        let data: Vec<_> = (0..it.sent.len()).filter(|&at| !it.sent[at].payload.is_empty()).collect();
        let lost: Vec<_> = (0..chance.between(1, 3)).map(|_| *chance.pick(&data)).collect();
        let is_whole = |text: &String| {
            let (_, range) = it.messages.iter().find(|(known, _)| known == text).expect("a message");
            !lost.iter().any(|at| range.contains(at))
        };
        let mut expected = Vec::new();
        for (request, response) in &it.exchanges {
            let pair = (request.clone().filter(is_whole), response.clone().filter(is_whole));
            if pair != (None, None) {
                expected.push(pair);
            }
        }
        // If requests and responses are lost, nothing shows which of the others belong together.
        let is_one_sided = lost.iter().all(|at| it.sent[*at].is_client == it.sent[lost[0]].is_client);
        let is_harmed = expected != it.exchanges;
        let mut number = 0;
        it.sent.retain(|_| {
            number += 1;
            !lost.contains(&(number - 1))
        });
        let distance = *chance.pick(&[1, 8]);
        fs::write(&path, pcap(&captured(&[it], distance, &mut chance), 1, false)).expect("a file");
        let (captures, problems) = items(&path);
        let found = exchanges(&captures);
        let texts = |all: &[(Option<String>, Option<String>)]| {
            let mut texts: Vec<_> =
                all.iter().flat_map(|(request, response)| [request, response]).flatten().cloned().collect();
            texts.sort();
            texts
        };
        assert_eq!(texts(&found), texts(&expected), "seed {seed}: {problems:?}");
        if is_one_sided {
            let sorted = |mut all: Vec<_>| {
                all.sort();
                all
            };
            assert_eq!(sorted(found), sorted(expected), "seed {seed}: {problems:?}");
        }
        harmed += usize::from(is_harmed);
        reported += usize::from(is_harmed && !problems.is_empty());
    }
    // A loss at the very end may leave no trace.
    assert!(harmed > 200 && reported * 20 >= harmed * 19, "{reported} of {harmed}");
}

#[test]
fn ports_are_used_again_and_connections_begin_before_the_capture() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("made.pcap");
    let mut chance = Chance::seeded(5);
    for seed in 0..100 {
        let mut sent = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..3 {
            let mut it = conversation(5000, true, 700, &mut chance);
            it.retransmit(&mut chance);
            sent.extend(it.sent);
            expected.extend(it.exchanges);
        }
        fs::write(&path, pcap(&sent, 1, false)).expect("a file");
        let (captures, problems) = items(&path);
        assert_eq!((exchanges(&captures), problems.len()), (expected, 0), "{seed}");
        // Without the SYNs, and without the first segments.
        let it = conversation(5000, false, 700, &mut chance);
        let skipped = 2 + chance.below(it.messages[0].1.end - 2);
        let is_whole = skipped == 2;
        fs::write(&path, pcap(&it.sent[skipped..], 1, true)).expect("a file");
        let (captures, problems) = items(&path);
        let mut expected = it.exchanges;
        if !is_whole {
            expected[0].0 = None;
        }
        assert_eq!(exchanges(&captures), expected, "{problems:?}");
    }
}

#[test]
fn large_messages_and_fragments_are_problems() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("made.pcap");
    let mut chance = Chance::seeded(9);
    let mut it = Conversation::new(5001, &mut chance);
    it.open();
    for text in ["<x>1</x>".to_owned(), format!("<x>{}</x>", "y".repeat(500)), "<x>2</x>".to_owned()] {
        let written = http("POST / HTTP/1.1", &text, false, &mut chance);
        it.message(0, &text, &written, 100, &mut chance);
    }
    let mut file = pcap(&it.sent, 1, false);
    fs::write(&path, &file).expect("a file");
    let (captures, problems) = items_within(&path, Limits { message: 100 });
    assert_eq!(captures.iter().map(body).collect::<Vec<_>>(), ["<x>1</x>", "<x>2</x>"]);
    assert!(problems.len() == 1 && problems[0].1.contains("more than 100 bytes"), "{problems:?}");
    // The flag "more fragments" of the last packet's IP header.
    let last = file.len() - packet(&it.sent[it.sent.len() - 1], 1, false).len();
    file[last + 14 + 6] |= 0x20;
    fs::write(&path, &file).expect("a file");
    let (_, problems) = items(&path);
    assert!(
        problems.iter().any(|(_, reason)| reason.starts_with("packets skipped: 1, TCP segments in fragments")),
        "{problems:?}"
    );
    file[20] = 200;
    fs::write(&path, &file).expect("a file");
    let (_, problems) = items(&path);
    assert!(problems[0].1.ends_with("packets of the link type 200, which is not known"), "{problems:?}");
    let mut tls = Conversation::new(443, &mut chance);
    tls.open();
    tls.send(0, &[0x16, 3, 1, 2, 0], 100, &mut chance);
    fs::write(&path, pcap(&tls.sent, 1, false)).expect("a file");
    let (_, problems) = items(&path);
    assert!(problems.len() == 1 && problems[0].1.starts_with("no HTTP/1 messages in 3 packets"), "{problems:?}");
}

/// Whatever a file holds, reading it ends, and what is wrong is an item.
#[test]
fn damaged_captures_are_read_to_an_end() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut chance = Chance::seeded(7);
    for name in ["shop.pcap", "shop.pcapng", "short.pcap"] {
        let content = fs::read(recorded(name)).expect("a capture");
        let path = folder.path().join(name);
        for _ in 0..400 {
            let mut content = content.clone();
            for _ in 0..1 + chance.below(20) {
                let at = chance.below(content.len());
                content[at] = chance.below(256) as u8;
            }
            content.truncate(content.len() - chance.below(content.len() / 4));
            fs::write(&path, content).expect("a file");
            let (captures, problems) = items_within(&path, Limits { message: 1 << 20 });
            assert!(captures.len() <= 30 && problems.len() < 60, "{name}: {} {problems:#?}", captures.len());
        }
    }
}
