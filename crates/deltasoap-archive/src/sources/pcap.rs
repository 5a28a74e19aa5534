//! Captured packets: pcap and pcapng files, as tcpdump and Wireshark write them, with the SOAP
//! messages over HTTP/1 that are in them. What is encrypted, HTTP/2 and other protocols are skipped.

use super::http1::{Exchange, Found, Half, Message};
use super::tcp::{Connections, FoundIn, Segment};
use super::{Input, Limits, Visit, broken};
use crate::capture::{Capture, Direction, Item};
use crate::error::ArchiveError;
use etherparse::{EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket, TcpSlice, TransportSlice};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of bytes that are read at once.
const BUFFER: usize = 256 << 10;
/// Maximum number of bytes of a block of the file.
const BLOCK: usize = 16 << 20;
/// Maximum number of interfaces of a section of a pcapng file.
const INTERFACES: usize = 4096;

/// Reads the requests and responses that may hold messages.
pub(super) fn read(input: Input<'_>, limits: Limits, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
    let failed = Arc::new(Mutex::new(None));
    let reader = match input.open_plain() {
        Ok(reader) => Filled { reader, failed: failed.clone() },
        Err(error) => return broken(input.path, &error, visit),
    };
    let mut packets = Packets::new(input.path, limits);
    let damage = match each_block(reader, &mut |block| packets.block(block, visit)) {
        Ok(()) => None,
        // Nothing is visited after an error.
        Err(Stop::Visit(error)) => return Err(error),
        Err(Stop::File(reason)) => Some(reason),
    };
    packets.end(visit)?;
    let failure = || failed.lock().unwrap_or_else(PoisonError::into_inner).take();
    match damage {
        None => packets.report_none(visit),
        Some(reason) => match failure() {
            Some(error) => broken(input.path, &error, visit),
            None => broken(input.path, &reason, visit),
        },
    }
}

/// Why the blocks of a file are not read further.
enum Stop {
    Visit(ArchiveError),
    File(String),
}

/// What to do when no block can be read.
enum Next {
    Refill,
    Grow,
    End,
    Fail(String),
}

/// Passes each block of a file to `take`.
fn each_block(
    reader: Filled,
    take: &mut dyn FnMut(PcapBlockOwned<'_>) -> Result<(), ArchiveError>,
) -> Result<(), Stop> {
    let mut reader = create_reader(BUFFER, reader).map_err(|error| {
        Stop::File(match error {
            PcapError::Eof => "the file is empty".to_owned(),
            _ => "neither pcap nor pcapng".to_owned(),
        })
    })?;
    let mut capacity = BUFFER;
    loop {
        let next = match reader.next() {
            Ok((offset, block)) => {
                take(block).map_err(Stop::Visit)?;
                reader.consume(offset);
                continue;
            }
            Err(PcapError::Eof) => Next::End,
            Err(PcapError::Incomplete(_)) => Next::Refill,
            Err(PcapError::BufferTooSmall) => Next::Grow,
            Err(PcapError::UnexpectedEof) => Next::Fail("the file ends within a packet".to_owned()),
            Err(PcapError::ReadError) => Next::Fail("it cannot be read to its end".to_owned()),
            Err(_) => Next::Fail(format!("damaged at byte {}: everything before it was read", reader.consumed())),
        };
        let known = reader.data().len();
        match next {
            Next::End => return Ok(()),
            Next::Fail(reason) => return Err(Stop::File(reason)),
            Next::Grow if capacity >= BLOCK => {
                let at = reader.consumed();
                return Err(Stop::File(format!("a block of more than {BLOCK} bytes at byte {at}")));
            }
            Next::Grow => {
                capacity *= 2;
                reader.grow(capacity);
            }
            Next::Refill => {}
        }
        if let Err(error) = reader.refill() {
            return Err(Stop::File(format!("it cannot be read to its end ({error:?})")));
        }
        if reader.data().len() == known && !reader.reader_exhausted() {
            capacity *= 2;
            if capacity > 2 * BLOCK {
                return Err(Stop::File(format!("a block of more than {BLOCK} bytes at byte {}", reader.consumed())));
            }
            reader.grow(capacity);
        }
    }
}

/// A reader that returns fewer bytes than there is room for only at the end. It keeps its error,
/// which the parser does not pass on.
struct Filled {
    reader: Box<dyn Read + Send>,
    failed: Arc<Mutex<Option<io::Error>>>,
}

impl Read for Filled {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut length = 0;
        while length < buffer.len() && failed.is_none() {
            match self.reader.read(&mut buffer[length..]) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => *failed = Some(error),
            }
        }
        // What came before the error is read first.
        match length == 0 && failed.is_some() {
            true => Err(io::ErrorKind::Other.into()),
            false => Ok(length),
        }
    }
}

/// An interface, from which packets were captured.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link: Linktype,
    /// Parts of a second in which times are counted.
    resolution: u64,
    /// Seconds that are added to times.
    offset: i64,
}

/// The packets of a file.
struct Packets {
    place: String,
    interfaces: Vec<Interface>,
    number: u64,
    connections: Connections,
    found: Vec<FoundIn>,
    /// Number of packets with each problem.
    problems: BTreeMap<String, u64>,
    /// Number of TCP segments.
    segments: u64,
    /// True once there was an exchange.
    has_exchanges: bool,
    /// True if a pcap file counts nanoseconds.
    is_nanoseconds: bool,
}

impl Packets {
    fn new(path: &Path, limits: Limits) -> Self {
        Packets {
            place: path.display().to_string(),
            interfaces: Vec::new(),
            number: 0,
            connections: Connections::new(limits),
            found: Vec::new(),
            problems: BTreeMap::new(),
            segments: 0,
            has_exchanges: false,
            is_nanoseconds: false,
        }
    }

    fn block(&mut self, block: PcapBlockOwned<'_>, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.is_nanoseconds = header.is_nanosecond_precision();
                self.interfaces.push(Interface { link: header.network, resolution: 1_000_000, offset: 0 });
            }
            PcapBlockOwned::Legacy(packet) => {
                let fraction = if self.is_nanoseconds { packet.ts_usec / 1000 } else { packet.ts_usec };
                let time = i64::from(packet.ts_sec) * 1_000_000 + i64::from(fraction);
                self.packet(0, Some(time), packet.data);
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => self.interfaces.clear(),
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) if self.interfaces.len() < INTERFACES => {
                self.interfaces.push(Interface {
                    link: interface.linktype,
                    resolution: interface.ts_resolution().unwrap_or(1_000_000),
                    offset: interface.ts_offset(),
                });
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let interface = packet.if_id as usize;
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let time = self.interfaces.get(interface).and_then(|it| it.microseconds(ticks));
                self.packet(interface, time, cut(packet.data, packet.caplen));
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => self.packet(0, None, cut(packet.data, packet.origlen)),
            PcapBlockOwned::NG(_) => {}
        }
        self.pass_on(visit)
    }

    /// Takes a packet.
    fn packet(&mut self, interface: usize, time: Option<i64>, data: &[u8]) {
        self.number += 1;
        let Some(&Interface { link, .. }) = self.interfaces.get(interface) else {
            return self.problem("packets of an interface that the file does not describe".to_owned());
        };
        let packet = match network_packet(link, data) {
            Ok(Some(packet)) => packet,
            Ok(None) => return,
            Err(reason) => return self.problem(reason),
        };
        let Some((from, to)) = addresses(&packet) else { return };
        if packet.ip_payload().is_some_and(|payload| payload.fragmented && payload.ip_number == IpNumber::TCP) {
            return self.problem("TCP segments in fragments of IP packets, which are not put together".to_owned());
        }
        let Some(TransportSlice::Tcp(tcp)) = &packet.transport else { return };
        let segment = self.segment(tcp, from, to, time, cut_off(&packet));
        self.segments += 1;
        if !tcp.rst() {
            self.connections.segment(&segment, &mut self.found);
        }
    }

    fn segment<'s>(&self, tcp: &TcpSlice<'s>, from: IpAddr, to: IpAddr, time: Option<i64>, cut: u64) -> Segment<'s> {
        Segment {
            packet: self.number,
            time,
            from: SocketAddr::new(from, tcp.source_port()),
            to: SocketAddr::new(to, tcp.destination_port()),
            sequence: tcp.sequence_number(),
            acknowledged: tcp.ack().then(|| tcp.acknowledgment_number()),
            is_syn: tcp.syn(),
            is_fin: tcp.fin(),
            payload: tcp.payload(),
            cut,
        }
    }

    fn problem(&mut self, reason: String) {
        *self.problems.entry(reason).or_default() += 1;
    }

    /// Ends all connections, and passes on what is left.
    fn end(&mut self, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
        self.connections.end(&mut self.found);
        self.pass_on(visit)?;
        for (reason, packets) in std::mem::take(&mut self.problems) {
            visit(Item::Unreadable {
                place: self.place.clone(),
                reason: format!("packets skipped: {packets}, {reason}").into(),
            })?;
        }
        Ok(())
    }

    /// Reports a capture without HTTP, which its user did not expect.
    fn report_none(&self, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
        if self.has_exchanges {
            return Ok(());
        }
        let reason = format!(
            "no HTTP/1 messages in {} packets, {} of them of TCP; what is encrypted and HTTP/2 cannot be read",
            self.number, self.segments
        );
        visit(Item::Unreadable { place: self.place.clone(), reason: reason.into() })
    }

    fn pass_on(&mut self, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
        for FoundIn { sides, found } in std::mem::take(&mut self.found) {
            match found {
                Found::Problem { packet, reason } => {
                    let place = format!("{}!{packet}", self.place);
                    visit(Item::Unreadable { place, reason })?;
                }
                Found::Exchange(exchange) => {
                    self.has_exchanges = true;
                    self.exchange(sides, exchange, visit)?;
                }
            }
        }
        Ok(())
    }
}

impl Packets {
    /// Passes on the messages of an exchange.
    fn exchange(&self, sides: [SocketAddr; 2], exchange: Exchange, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
        let mut is_answer = false;
        for (half, direction) in [(exchange.request, Direction::Request), (exchange.response, Direction::Response)] {
            let Half::Whole(message) = half else { continue };
            let Some(content) = message.content() else { continue };
            let Message { at, status, .. } = *message;
            let place = format!("{}!{}.{}", self.place, at.packet, direction.name());
            let is_whole = content.is_ok();
            let item = match content {
                Ok(content) => {
                    let from = sides[at.side];
                    // Each connection of a client has another port.
                    let sender = match direction {
                        Direction::Request => from.ip().to_string(),
                        Direction::Response => from.to_string(),
                    };
                    let (sender, direction) = (Some(sender), Some(direction));
                    Item::Capture(Capture {
                        place,
                        time: at.time,
                        sender,
                        direction,
                        status,
                        is_answer,
                        content,
                        ..Capture::default()
                    })
                }
                Err(reason) => Item::Unreadable { place, reason },
            };
            visit(item)?;
            is_answer = is_whole;
        }
        Ok(())
    }
}

impl Interface {
    fn microseconds(&self, ticks: u64) -> Option<i64> {
        let microseconds = u128::from(ticks) * 1_000_000 / u128::from(self.resolution.max(1));
        i64::try_from(microseconds).ok()?.checked_add(self.offset.checked_mul(1_000_000)?)
    }
}

/// Returns the data of a packet without padding.
fn cut(data: &[u8], length: u32) -> &[u8] {
    &data[..data.len().min(length as usize)]
}

/// Parses a packet down to its TCP header; `None` if it has none.
///
/// # Errors
/// If packets of this link type are not known.
fn network_packet(link: Linktype, data: &[u8]) -> Result<Option<LaxSlicedPacket<'_>>, String> {
    /// A header in which two bytes are the type of what comes after it.
    fn cooked(data: &[u8], length: usize, kind: usize) -> Option<LaxSlicedPacket<'_>> {
        let kind = EtherType(u16::from_be_bytes([*data.get(kind)?, *data.get(kind + 1)?]));
        Some(LaxSlicedPacket::from_ether_type(kind, data.get(length..)?))
    }
    let ip = |data| LaxSlicedPacket::from_ip(data).ok();
    Ok(match link {
        Linktype(1) => LaxSlicedPacket::from_ethernet(data).ok(),
        // Raw IP; the first two numbers are those of BSD and of OpenBSD.
        Linktype(12 | 14 | 101 | 228 | 229) => ip(data),
        // Loopback of BSD: the family of addresses comes first.
        Linktype(0 | 108) => data.get(4..).and_then(ip),
        // Linux "cooked" headers, versions 1 and 2.
        Linktype(113) => cooked(data, 16, 14),
        Linktype(276) => cooked(data, 20, 0),
        Linktype(other) => return Err(format!("packets of the link type {other}, which is not known")),
    })
}

/// Returns source and destination.
fn addresses(packet: &LaxSlicedPacket<'_>) -> Option<(IpAddr, IpAddr)> {
    match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => Some((ip.header().source_addr().into(), ip.header().destination_addr().into())),
        LaxNetSlice::Ipv6(ip) => Some((ip.header().source_addr().into(), ip.header().destination_addr().into())),
        LaxNetSlice::Arp(_) => None,
    }
}

/// Returns how many bytes of a packet were not captured.
fn cut_off(packet: &LaxSlicedPacket<'_>) -> u64 {
    let whole = match packet.net.as_ref() {
        Some(LaxNetSlice::Ipv4(ip)) => usize::from(ip.header().total_len()).saturating_sub(ip.header().slice().len()),
        Some(LaxNetSlice::Ipv6(ip)) => usize::from(ip.header().payload_length()),
        Some(LaxNetSlice::Arp(_)) | None => 0,
    };
    match packet.ip_payload() {
        Some(payload) if payload.incomplete => whole.saturating_sub(payload.payload.len()) as u64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
