//! TCP connections, from captured segments.
//!
//! Segments are passed on in the order of their sequence numbers, and not before what they
//! acknowledge: a response comes after its request, in whichever order the two were captured.
//! Segments that come too early wait. When too many wait, or at the end of the capture, what they
//! wait for is taken for lost. Of several segments with the same bytes the first one counts.
//!
//! Connections stay known after their end, so that retransmissions after it are not taken for new
//! ones, until a SYN begins another connection between the same ports.

use super::Limits;
use super::http1::{At, Exchanges, Found, Messages};
use crate::Reason;
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

/// Maximum number of connections that are known at the same time. Those that were silent the longest
/// are taken for ended.
const CONNECTIONS: usize = 16 << 10;
/// Maximum number of bytes of segments of a connection that wait for others.
const WAITING: usize = 8 << 20;
/// What a segment that waits takes in memory besides its bytes, about.
const OVERHEAD: usize = 128;
/// Minimum of the number of bytes that all connections may take. If messages may be large, it is four
/// times the size of the largest one.
const ALL: u64 = 64 << 20;
/// Number of segments to wait for the SYN of a connection, before it is taken for one that began
/// before the capture.
const WITHOUT_SYN: usize = 64;
/// Segments that are farther away from the last one, in bytes, are of another connection or damaged.
const WINDOW: u64 = 64 << 20;
/// Number of such segments, one after the other, that are believed nevertheless.
const BELIEVED: u32 = 16;

/// A captured segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment<'s> {
    /// The number of the packet, from 1.
    pub(super) packet: u64,
    /// Microseconds since 1970.
    pub(super) time: Option<i64>,
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) sequence: u32,
    pub(super) acknowledged: Option<u32>,
    pub(super) is_syn: bool,
    pub(super) is_fin: bool,
    pub(super) payload: &'s [u8],
    /// Number of bytes of the payload that were not captured, at its end.
    pub(super) cut: u64,
}

/// What was found in a connection.
#[derive(Debug)]
pub(super) struct FoundIn {
    /// The sides of the connection.
    pub(super) sides: [SocketAddr; 2],
    pub(super) found: Found,
}

/// The connections of a capture.
#[derive(Debug)]
pub(super) struct Connections {
    limits: Limits,
    all: HashMap<[SocketAddr; 2], Connection>,
    memory: usize,
}

impl Connections {
    pub(super) fn new(limits: Limits) -> Self {
        Connections { limits, all: HashMap::new(), memory: 0 }
    }

    /// Takes a segment.
    pub(super) fn segment(&mut self, segment: &Segment<'_>, out: &mut Vec<FoundIn>) {
        let (from, to) = (segment.from, segment.to);
        let sides = if from <= to { [from, to] } else { [to, from] };
        if !self.all.contains_key(&sides) {
            self.make_room(out);
        }
        let connection = self.all.entry(sides).or_insert_with(|| Connection::new(self.limits));
        let mut found = Vec::new();
        self.memory -= connection.memory();
        connection.segment(usize::from(sides[0] != from), segment, self.limits, &mut found);
        self.memory += connection.memory();
        out.extend(found.into_iter().map(|found| FoundIn { sides, found }));
        self.bound_memory(out);
    }

    /// Ends all connections, with the capture.
    pub(super) fn end(&mut self, out: &mut Vec<FoundIn>) {
        let mut all: Vec<_> = self.all.drain().collect();
        all.sort_by_key(|(_, connection)| connection.first);
        for (sides, mut connection) in all {
            end(sides, &mut connection, "the capture ends within it".into(), out);
        }
        self.memory = 0;
    }

    /// Forgets connections that were silent the longest, if there are too many.
    fn make_room(&mut self, out: &mut Vec<FoundIn>) {
        if self.all.len() < CONNECTIONS {
            return;
        }
        for sides in self.by_silence().into_iter().take(CONNECTIONS / 8) {
            if let Some(mut connection) = self.all.remove(&sides) {
                self.memory -= connection.memory();
                end(sides, &mut connection, format!("given up: more than {CONNECTIONS} connections").into(), out);
            }
        }
    }

    /// Gives up what waits in connections that were silent the longest, if it takes too much memory.
    fn bound_memory(&mut self, out: &mut Vec<FoundIn>) {
        let most = usize::try_from(self.limits.message.saturating_mul(4).max(ALL)).unwrap_or(usize::MAX);
        if self.memory <= most {
            return;
        }
        for sides in self.by_silence() {
            let Some(connection) = self.all.get_mut(&sides).filter(|it| it.memory() > 0) else { continue };
            self.memory -= connection.memory();
            let reason = format!("given up: more than {most} bytes of messages were not complete");
            end(sides, connection, reason.into(), out);
            if self.memory <= most / 4 * 3 {
                return;
            }
        }
    }

    fn by_silence(&self) -> Vec<[SocketAddr; 2]> {
        let mut all: Vec<_> = self.all.iter().map(|(sides, it)| (it.last, *sides)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, sides)| sides).collect()
    }
}

fn end(sides: [SocketAddr; 2], connection: &mut Connection, reason: Reason, out: &mut Vec<FoundIn>) {
    let mut found = Vec::new();
    connection.end(&reason, &mut found);
    out.extend(found.into_iter().map(|found| FoundIn { sides, found }));
}

#[derive(Debug)]
struct Connection {
    sides: [Side; 2],
    exchanges: Exchanges,
    /// The numbers of its first and its last packet.
    first: u64,
    last: u64,
}

/// What one side has sent.
#[derive(Debug)]
struct Side {
    /// The position of the next byte. Its lower half is the sequence number.
    next: u64,
    /// False until the position of the first byte is known.
    is_begun: bool,
    /// False if nothing is known of this side at all.
    is_seen: bool,
    /// The sequence number of its SYN.
    syn: Option<u32>,
    /// The position of the end.
    fin: Option<u64>,
    /// The greatest position that is known.
    end: u64,
    is_ended: bool,
    /// Number of segments that were too far away, one after the other.
    strays: u32,
    waiting: BTreeMap<u64, Waiting>,
    bytes: usize,
    messages: Messages,
}

/// A segment that waits.
#[derive(Debug)]
struct Waiting {
    packet: u64,
    time: Option<i64>,
    ack: Option<u32>,
    bytes: Box<[u8]>,
}

impl Connection {
    fn new(limits: Limits) -> Self {
        let sides = [Side::new(limits), Side::new(limits)];
        Connection { sides, exchanges: Exchanges::default(), first: 0, last: 0 }
    }

    fn memory(&self) -> usize {
        let of = |side: &Side| side.bytes + side.messages.memory();
        self.sides.iter().map(of).sum::<usize>() + self.exchanges.memory()
    }

    fn segment(&mut self, from: usize, segment: &Segment<'_>, limits: Limits, found: &mut Vec<Found>) {
        if segment.is_syn && self.sides[from].is_of_another(segment.sequence) {
            self.end(&"another connection of the same ports begins".into(), found);
            *self = Connection { last: self.last, ..Connection::new(limits) };
        }
        self.last = segment.packet;
        if self.first == 0 {
            self.first = segment.packet;
        }
        let side = &mut self.sides[from];
        side.is_seen = true;
        if !side.is_begun && side.waiting.is_empty() {
            side.next = position_of(segment.sequence);
        }
        if segment.is_syn {
            side.begin(segment.sequence);
        }
        let sequence = segment.sequence.wrapping_add(u32::from(segment.is_syn));
        if let Some(offset) = self.place(from, sequence, segment, found) {
            let side = &mut self.sides[from];
            let end = offset + segment.payload.len() as u64 + segment.cut;
            side.end = side.end.max(end);
            if segment.is_fin {
                side.fin = Some(end);
            }
            side.hold(offset, segment);
        }
        self.settle();
        self.advance(found);
        while self.sides.iter().map(|side| side.bytes).sum::<usize>() > WAITING {
            self.force(found);
        }
    }

    /// Returns the position of a segment; `None` if it is none of this connection.
    fn place(&mut self, from: usize, sequence: u32, segment: &Segment<'_>, found: &mut Vec<Found>) -> Option<u64> {
        let side = &mut self.sides[from];
        let offset = side.position(sequence);
        if offset.abs_diff(side.next) <= WINDOW {
            side.strays = 0;
            return Some(offset);
        }
        side.strays += 1;
        if side.strays < BELIEVED || segment.payload.is_empty() {
            return None;
        }
        // More was lost than a window can hold.
        side.strays = 0;
        while self.sides.iter().any(|side| !side.waiting.is_empty()) {
            self.force(found);
        }
        let side = &mut self.sides[from];
        let missing = offset.saturating_sub(side.next).max(1);
        side.messages.gap(missing, segment.packet, &mut self.exchanges, found);
        side.next = offset;
        (side.fin, side.end) = (None, offset);
        Some(offset)
    }

    /// Decides that a connection began before the capture, if no SYN came.
    fn settle(&mut self) {
        if self.sides.iter().all(|side| side.is_begun) {
            return;
        }
        let waiting = self.sides.iter().map(|side| side.waiting.len()).sum::<usize>();
        if waiting >= WITHOUT_SYN {
            self.settle_now();
        }
    }

    fn settle_now(&mut self) {
        let acks = [1, 0].map(|from: usize| self.sides[from].waiting.values().find_map(|it| it.ack));
        for (side, ack) in self.sides.iter_mut().zip(acks).filter(|(side, _)| !side.is_begun) {
            side.is_begun = true;
            side.messages.lose_start();
            match (side.waiting.first_key_value(), ack) {
                (Some((&first, _)), _) => side.next = first,
                // Maybe only the other direction was captured.
                (None, Some(ack)) if !side.is_seen => side.next = position_of(ack),
                (None, _) => {}
            }
            side.is_seen = true;
        }
    }

    /// Passes on the segments that wait for nothing.
    fn advance(&mut self, found: &mut Vec<Found>) {
        loop {
            let ready = [0, 1].into_iter().find(|&from| self.is_ready(from));
            match ready {
                Some(from) => self.pass_on(from, found),
                None => return,
            }
        }
    }

    fn is_ready(&self, from: usize) -> bool {
        let side = &self.sides[from];
        let is_next = side.waiting.first_key_value().is_some_and(|(&offset, it)| {
            offset <= side.next && it.ack.is_none_or(|ack| self.has_acknowledged(1 - from, ack))
        });
        side.is_begun && (is_next || side.waiting.is_empty() && !side.is_ended && side.fin == Some(side.next))
    }

    /// Returns true if everything of a side was passed on that the other one has acknowledged.
    fn has_acknowledged(&self, of: usize, ack: u32) -> bool {
        let side = &self.sides[of];
        match side.is_begun {
            true => side.position(ack) <= side.next || side.position(ack) - side.next > WINDOW,
            // It waits, or nothing of it was captured so far.
            false => false,
        }
    }

    /// Passes on the first segment of a side, or its end.
    fn pass_on(&mut self, from: usize, found: &mut Vec<Found>) {
        let [one, other] = &mut self.sides;
        let (side, other) = if from == 0 { (one, other) } else { (other, one) };
        let Some((offset, waiting)) = side.waiting.pop_first() else {
            side.is_ended = true;
            side.next += 1;
            side.messages.end(None, self.last, &mut self.exchanges, found);
            return;
        };
        side.bytes -= waiting.bytes.len() + OVERHEAD;
        if offset > side.next {
            side.messages.gap(offset - side.next, waiting.packet, &mut self.exchanges, found);
            side.next = offset;
        }
        let known = (side.next - offset) as usize;
        let Some(bytes) = waiting.bytes.get(known..).filter(|bytes| !bytes.is_empty() && !side.is_ended) else {
            return;
        };
        let at = At {
            side: from,
            packet: waiting.packet,
            time: waiting.time,
            offset: side.next,
            ack: waiting.ack.filter(|_| other.is_seen).map(|ack| other.position(ack)),
            known: other.next,
            is_start: known == 0,
        };
        side.next += bytes.len() as u64;
        side.messages.push(bytes, at, &mut self.exchanges, found);
    }

    /// Passes on the next segment, although it waits for something.
    fn force(&mut self, found: &mut Vec<Found>) {
        let order = |from: usize| {
            let (&offset, first) = self.sides[from].waiting.first_key_value()?;
            // If both wait for each other, that one is first whose own direction lacks nothing.
            let is_early = first.ack.is_some_and(|ack| !self.has_acknowledged(1 - from, ack));
            let has_gap = offset > self.sides[from].next;
            Some((is_early, has_gap, first.packet, from))
        };
        if let Some((.., from)) = [order(0), order(1)].into_iter().flatten().min() {
            if !self.sides[from].is_begun {
                self.settle_now();
            }
            self.pass_on(from, found);
            self.advance(found);
        }
    }

    fn end(&mut self, reason: &Reason, found: &mut Vec<Found>) {
        while self.sides.iter().any(|side| !side.waiting.is_empty()) {
            self.force(found);
        }
        self.advance(found);
        for side in &mut self.sides {
            if side.is_begun && side.end > side.next {
                side.messages.gap(side.end - side.next, self.last, &mut self.exchanges, found);
                side.next = side.end;
            }
            side.messages.end(Some(reason), self.last, &mut self.exchanges, found);
        }
        self.exchanges.close(found);
    }
}

impl Side {
    fn new(limits: Limits) -> Self {
        Side {
            next: 0,
            is_begun: false,
            is_seen: false,
            syn: None,
            fin: None,
            end: 0,
            is_ended: false,
            strays: 0,
            waiting: BTreeMap::new(),
            bytes: 0,
            messages: Messages::new(limits),
        }
    }

    /// Returns the position of a sequence number that is the nearest to the next byte.
    fn position(&self, sequence: u32) -> u64 {
        let distance = sequence.wrapping_sub(self.next as u32).cast_signed();
        self.next.saturating_add_signed(distance.into())
    }

    /// Returns true if a SYN with this sequence number does not belong to what is known.
    fn is_of_another(&self, sequence: u32) -> bool {
        match self.syn {
            Some(syn) => syn != sequence,
            None if self.is_begun => true,
            None if !self.is_seen => false,
            None => {
                let first = self.waiting.first_key_value().map_or(self.next, |(&first, _)| first);
                let begin = self.position(sequence);
                first < begin || first - begin > WAITING as u64
            }
        }
    }

    fn begin(&mut self, sequence: u32) {
        if self.syn.is_none() {
            self.syn = Some(sequence);
            self.next = self.position(sequence.wrapping_add(1));
            self.is_begun = true;
        }
    }

    /// Keeps a segment until it can be passed on.
    fn hold(&mut self, offset: u64, segment: &Segment<'_>) {
        let Segment { packet, time, acknowledged: ack, payload, .. } = *segment;
        let is_known = self.is_begun && offset + payload.len() as u64 <= self.next;
        let is_longer = self.waiting.get(&offset).is_none_or(|known| known.bytes.len() < payload.len());
        if payload.is_empty() || is_known || !is_longer || self.is_ended {
            return;
        }
        self.bytes += payload.len() + OVERHEAD;
        let before = self.waiting.insert(offset, Waiting { packet, time, ack, bytes: payload.into() });
        self.bytes -= before.map_or(0, |before| before.bytes.len() + OVERHEAD);
    }
}

/// Returns the first position with a sequence number. There is room before it.
fn position_of(sequence: u32) -> u64 {
    (1 << 40) | u64::from(sequence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(port: u16, sequence: u32, payload: &[u8]) -> Segment<'_> {
        let (from, to) = (SocketAddr::from(([10, 0, 0, 1], port)), SocketAddr::from(([10, 0, 0, 2], 80)));
        let (packet, time, acknowledged) = (u64::from(sequence), None, None);
        Segment { packet, time, from, to, sequence, acknowledged, is_syn: false, is_fin: false, payload, cut: 0 }
    }

    /// What waits is bounded for each connection, for all of them, and so is their number.
    #[test]
    fn memory_is_bounded_whatever_segments_come() {
        let payload = [b'x'; 1400];
        let mut connections = Connections::new(Limits { message: 1 << 10 });
        let mut found = Vec::new();
        for number in 0..60_000_u32 {
            let port = (number % 50) as u16;
            if number < 50 {
                connections.segment(&Segment { is_syn: true, ..segment(port, 0, &[]) }, &mut found);
            }
            // The first byte never comes.
            connections.segment(&segment(port, 2 + number / 50 * 1400, &payload), &mut found);
            assert!(connections.memory as u64 <= ALL, "{}", connections.memory);
        }
        assert!(connections.memory > 16 << 20);
        let mut connections = Connections::new(Limits { message: 1 << 10 });
        for number in 0..20_000_u32 {
            connections.segment(&segment(1, 2 + number * 1400, &payload), &mut found);
            assert!(connections.memory <= WAITING + 2 * HEADROOM, "{}", connections.memory);
        }
        for number in 0..40_000_u32 {
            connections.segment(&segment(number as u16, number, &payload), &mut found);
            assert!(connections.all.len() <= CONNECTIONS);
        }
        let counted: usize = connections.all.values().map(Connection::memory).sum();
        assert_eq!(counted, connections.memory);
        connections.end(&mut found);
        assert_eq!(found.len(), 0, "nothing of it is HTTP");
    }

    const HEADROOM: usize = 64 << 10;
}
