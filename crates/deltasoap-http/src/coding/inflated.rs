//! Decompresses a body while it arrives.

use super::bound::Bound;
use super::coder::Decoder;
use super::error::CodingError;
use super::options::{ContentCoding, GzipLimits};
use crate::error::BoxError;
use bytes::{Buf, Bytes};
use http_body::{Body, Frame};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Maximum number of output bytes at one time, and the minimum for which memory is reserved.
const OUT: usize = 64 << 10;
const MIN_OUT: usize = 512;
/// Maximum number of steps without a yield.
const TURN: usize = 16;
/// Number of members that a stream may have, whatever their output, and the output bytes required
/// for each further member. An empty member takes 20 bytes, and 50 times the time of inflating that
/// many.
const MEMBERS: u64 = 1024;
const MEMBER: u64 = 256;
/// The expected expansion of a piece.
const EXPECTED: usize = 8;

/// A decompressed body. It consists of members of gzip (RFC 1952, 2.2) or frames of zstd (RFC 8878,
/// 3), which are called members here too: usually one, with nothing after them; a body without any
/// bytes is empty.
///
/// A piece is decompressed in steps of at most [`OUT`] bytes, each on request. The other memory is
/// the piece and the member's window. The end of a member is also a step, since setting up the next
/// one takes time, whatever its output.
pub(crate) struct Inflated<B> {
    body: Pin<Box<B>>,
    stream: Stream,
    /// Steps since the last yield.
    steps: usize,
}

impl<B: Body<Data = Bytes, Error = BoxError>> Inflated<B> {
    pub(crate) fn new(body: B, coding: ContentCoding, bound: Bound) -> Self {
        Inflated { body: Box::pin(body), stream: Stream::new(coding, bound), steps: 0 }
    }

    fn poll_data(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BoxError>> {
        // The check comes before the client is asked to continue and send it.
        self.stream.check_received(self.body.size_hint().lower())?;
        loop {
            if self.steps == TURN {
                self.steps = 0;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if let Some(data) = self.stream.next()? {
                self.steps += 1;
                if data.is_empty() {
                    continue;
                }
                return Poll::Ready(Ok(Some(data)));
            }
            match ready!(self.body.as_mut().poll_frame(context)).transpose()?.map(Frame::into_data) {
                Some(Ok(data)) => self.stream.push(data)?,
                // Trailers do not concern messages.
                Some(Err(_)) => {}
                None => return Poll::Ready(Ok(self.stream.finish().map(|()| None)?)),
            }
        }
    }
}

impl<B: Body<Data = Bytes, Error = BoxError>> Body for Inflated<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let data = ready!(self.get_mut().poll_data(context));
        Poll::Ready(data.map(|data| data.map(Frame::data)).transpose())
    }
}

/// A stream, fed piece by piece.
struct Stream {
    /// The decoder of the current member, or of the last one; `None` if the allocation failed.
    decoder: Option<Decoder>,
    /// Input and output bytes of all members so far.
    taken: u64,
    out: u64,
    /// Number of members before this one.
    members: u64,
    bound: Bound,
    received: u64,
    /// The rest of the current piece.
    input: Bytes,
    /// True if there may be more output without more input.
    is_full: bool,
    /// True at the end of a member.
    is_ended: bool,
}

impl Stream {
    fn new(coding: ContentCoding, bound: Bound) -> Self {
        Stream {
            decoder: Decoder::new(coding),
            taken: 0,
            out: 0,
            members: 0,
            bound,
            received: 0,
            input: Bytes::new(),
            is_full: false,
            is_ended: false,
        }
    }

    /// Takes a piece. The previous one must be used up.
    fn push(&mut self, piece: Bytes) -> Result<(), CodingError> {
        self.check_received(piece.len() as u64)?;
        self.received += piece.len() as u64;
        self.input = piece;
        Ok(())
    }

    /// Rejects more input if the limit does not allow it. The output is bounded elsewhere, or
    /// not at all for lists that are used while they arrive. So only the input beyond the length of
    /// the output counts.
    fn check_received(&self, more: u64) -> Result<(), CodingError> {
        let Bound { name, received: limit, .. } = self.bound;
        let most = self.out.saturating_add(limit);
        let is_within = self.received.checked_add(more).is_some_and(|received| received <= most);
        if is_within { Ok(()) } else { Err(CodingError::Limit { name, limit }) }
    }

    /// Returns the next output, which may be empty at the end of a member; `None` if another piece
    /// is needed.
    fn next(&mut self) -> Result<Option<Bytes>, CodingError> {
        if let (true, Some(first)) = (self.is_ended, self.input.first()) {
            self.begin_member(*first)?;
        }
        while !self.is_ended && (self.is_full || !self.input.is_empty()) {
            let output = self.step()?;
            if self.is_ended || !output.is_empty() {
                return Ok(Some(trimmed(output)));
            }
        }
        Ok(None)
    }

    /// Begins another member with its first byte.
    fn begin_member(&mut self, first: u8) -> Result<(), CodingError> {
        self.decoder.as_mut().ok_or(CodingError::Memory)?.begin(first)?;
        self.members += 1;
        if self.members >= MEMBERS + self.out / MEMBER {
            return Err(CodingError::Limit { name: "members", limit: MEMBERS });
        }
        (self.is_ended, self.is_full) = (false, false);
        Ok(())
    }

    fn step(&mut self) -> Result<Vec<u8>, CodingError> {
        let mut output = Vec::with_capacity(self.room());
        let decoder = self.decoder.as_mut().ok_or(CodingError::Memory)?;
        let (taken, is_ended) = decoder.step(&self.input, &mut output)?;
        if taken == 0 && output.is_empty() && !self.input.is_empty() && !is_ended {
            return Err(CodingError::Corrupt);
        }
        self.input.advance(taken);
        self.taken += taken as u64;
        self.out += output.len() as u64;
        self.is_ended = is_ended;
        self.is_full = output.len() == output.capacity();
        self.check_ratio()?;
        Ok(output)
    }

    fn room(&self) -> usize {
        if self.is_full { OUT } else { self.input.len().saturating_mul(EXPECTED).clamp(MIN_OUT, OUT) }
    }

    fn check_ratio(&self) -> Result<(), CodingError> {
        let GzipLimits { ratio, free } = self.bound.gzip;
        let (out, taken) = (self.out, self.taken);
        let is_within = out <= free || out <= taken.saturating_mul(ratio.max(1));
        if is_within { Ok(()) } else { Err(CodingError::Limit { name: "ratio", limit: ratio }) }
    }

    fn finish(&self) -> Result<(), CodingError> {
        if self.is_ended || self.received == 0 { Ok(()) } else { Err(CodingError::Ended) }
    }
}

/// Drops unused capacity, if that is most of the memory: differential decoding may keep the bytes.
fn trimmed(mut bytes: Vec<u8>) -> Bytes {
    if bytes.capacity() / 2 > bytes.len() {
        bytes.shrink_to_fit();
    }
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body as Outgoing;
    use crate::coding::{AdaptiveState, Codec};
    use http_body_util::BodyExt;
    use proptest::prelude::*;
    use std::io::{Read, Write};

    fn bound(gzip: GzipLimits) -> Bound {
        Bound { gzip, name: "message", received: 1 << 30 }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("no error")
    }

    /// Returns the output of pieces, up to an error, and its longest piece.
    fn inflate<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, bound: Bound) -> (Vec<u8>, Result<(), CodingError>) {
        decoded(ContentCoding::Gzip, pieces, bound)
    }

    fn decoded<'a>(
        coding: ContentCoding,
        pieces: impl IntoIterator<Item = &'a [u8]>,
        bound: Bound,
    ) -> (Vec<u8>, Result<(), CodingError>) {
        let (mut stream, mut bytes) = (Stream::new(coding, bound), Vec::new());
        let run = || {
            for piece in pieces {
                stream.push(Bytes::copy_from_slice(piece))?;
                while let Some(data) = stream.next()? {
                    assert!((stream.is_ended || !data.is_empty()) && data.len() <= OUT);
                    bytes.extend_from_slice(&data);
                }
            }
            stream.finish()
        };
        let result = run();
        (bytes, result)
    }

    fn whole(bytes: &[u8]) -> (Vec<u8>, Result<(), CodingError>) {
        inflate([bytes], bound(GzipLimits::default()))
    }

    #[test]
    fn a_stream_that_does_not_end_or_goes_on_is_at_fault() {
        let coded = gzip(b"some text");
        assert_eq!(whole(&coded), (b"some text".to_vec(), Ok(())));
        for len in 1..coded.len() {
            assert_eq!(whole(&coded[..len]).1, Err(CodingError::Ended), "{len}");
        }
        assert_eq!(whole(&[&coded[..], b"x"].concat()).1, Err(CodingError::Trailing));
        let later = inflate([&coded[..], b"x"], bound(GzipLimits::default()));
        assert_eq!(later.1, Err(CodingError::Trailing));
        assert_eq!(inflate([], bound(GzipLimits::default())), (Vec::new(), Ok(())));
        assert_eq!(whole(b"<plain/>").1, Err(CodingError::Corrupt));
    }

    #[test]
    fn bombs_are_refused_at_the_limit() {
        let coded = gzip(&vec![0; 50 << 20]);
        let limits = GzipLimits::default();
        let (bytes, result) = inflate(coded.chunks(1000), bound(limits));
        assert_eq!(result, Err(CodingError::Limit { name: "ratio", limit: 200 }));
        assert!(bytes.len() as u64 <= limits.free, "{}", bytes.len());
        let lenient = GzipLimits { ratio: 1100, ..limits };
        assert_eq!(inflate([&coded[..]], bound(lenient)).0.len(), 50 << 20);
    }

    #[test]
    fn input_is_bounded_by_what_comes_out_of_it() {
        let mix = |n: &u32| Some(n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        let noise: Vec<u8> = std::iter::successors(Some(1), mix).map(|n| (n >> 24) as u8).take(100_000).collect();
        let short = Bound { received: 2000, ..bound(GzipLimits::default()) };
        let coded = gzip(&noise);
        assert!(coded.len() > 50 * 1000, "{}", coded.len());
        assert_eq!(inflate(coded.chunks(1000), short), (noise, Ok(())));
        let limit = Err(CodingError::Limit { name: "message", limit: 2000 });
        assert_eq!(inflate([&coded[..]], short).1, limit, "announced at once");
    }

    #[test]
    fn members_are_read_one_after_the_other() {
        let (one, empty, two) = (gzip(b"some "), gzip(b""), gzip(b"text"));
        let coded = [&empty[..], &one, &empty, &empty, &two, &empty].concat();
        for cut in 0..=coded.len() {
            let (head, tail) = coded.split_at(cut);
            let found = inflate([head, tail], bound(GzipLimits::default()));
            assert_eq!(found, (b"some text".to_vec(), Ok(())), "{cut}");
        }
        let ends = [empty.len(), one.len(), empty.len(), empty.len(), two.len(), empty.len()];
        let ends: Vec<usize> = ends
            .iter()
            .scan(0, |end, len| {
                *end += len;
                Some(*end)
            })
            .collect();
        for len in 1..coded.len() {
            let expected = if ends.contains(&len) { Ok(()) } else { Err(CodingError::Ended) };
            assert_eq!(whole(&coded[..len]).1, expected, "{len}");
        }
    }

    #[test]
    fn what_follows_a_member_and_is_none_is_refused() {
        let coded = [gzip(b"some "), gzip(b"text")].concat();
        let damaged = |at: usize| {
            let mut second = gzip(b"text");
            second[at] ^= 1;
            second
        };
        for (rest, expected) in [
            (b"x".to_vec(), CodingError::Trailing),
            (vec![0; 512], CodingError::Trailing),
            (damaged(0), CodingError::Trailing),
            (damaged(1), CodingError::Corrupt),
            (damaged(2), CodingError::Corrupt),
            (damaged(17), CodingError::Corrupt),
            (vec![0x1f], CodingError::Ended),
        ] {
            let whole = [&coded[..], &rest].concat();
            for size in [1, 3, coded.len(), usize::MAX] {
                let (bytes, result) = inflate(whole.chunks(size), bound(GzipLimits::default()));
                assert_eq!(result, Err(expected.clone()), "{rest:?} by {size}");
                assert!(bytes.starts_with(b"some text"), "{bytes:?}");
            }
        }
    }

    #[test]
    fn limits_count_over_all_members() {
        let limits = GzipLimits { ratio: 1, free: 100 };
        let coded = gzip(&[b'a'; 60]);
        assert_eq!(inflate([&coded[..]], bound(limits)).1, Ok(()));
        let (bytes, result) = inflate([&coded.repeat(10)[..]], bound(limits));
        assert_eq!(result, Err(CodingError::Limit { name: "ratio", limit: 1 }));
        assert!(bytes.len() <= 100, "{}", bytes.len());
        let empty = gzip(b"");
        let short = Bound { received: empty.len() as u64, ..bound(GzipLimits::default()) };
        let result = inflate([&empty[..], &empty], short).1;
        assert_eq!(result, Err(CodingError::Limit { name: "message", limit: empty.len() as u64 }));
    }

    #[test]
    fn members_that_nothing_comes_out_of_leave_others_their_turn() {
        let members = MEMBERS as usize;
        let coded = Bytes::from(gzip(b"").repeat(members));
        let body = http_body_util::Full::new(coded).map_err(|never| match never {});
        let mut body = Box::pin(Inflated::new(body, ContentCoding::Gzip, bound(GzipLimits::default())));
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut turns = 0;
        while body.as_mut().poll_frame(&mut context).is_pending() {
            turns += 1;
        }
        assert_eq!(turns, members / TURN);
    }

    #[test]
    fn a_member_has_to_be_worth_its_while() {
        let (empty, full) = (gzip(b""), gzip(&[b'a'; MEMBER as usize]));
        let limit = Err(CodingError::Limit { name: "members", limit: MEMBERS });
        for size in [20, 1000, usize::MAX] {
            let result = |coded: &[u8]| inflate(coded.chunks(size), bound(GzipLimits::default())).1;
            assert_eq!(result(&empty.repeat(MEMBERS as usize)), Ok(()));
            assert_eq!(result(&empty.repeat(MEMBERS as usize + 1)), limit);
            assert_eq!(result(&full.repeat(3 * MEMBERS as usize)), Ok(()));
            assert_eq!(result(&[full.repeat(10), empty.repeat(MEMBERS as usize)].concat()), Ok(()));
            assert_eq!(result(&[full.repeat(10), empty.repeat(MEMBERS as usize + 1)].concat()), limit);
        }
    }

    #[test]
    fn streams_that_nothing_comes_out_of_are_bounded() {
        let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        let empty_block = [0, 0, 0, 0xff, 0xff].repeat(200);
        let pieces = std::iter::once(&header[..]).chain(std::iter::repeat(&empty_block[..]));
        let short = Bound { received: 1 << 16, ..bound(GzipLimits::default()) };
        let (bytes, result) = inflate(pieces, short);
        assert_eq!((bytes.len(), result), (0, Err(CodingError::Limit { name: "message", limit: 1 << 16 })));
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(words in prop::collection::vec("[a-c]{0,9}", 0..3000), size in 1..500_usize) {
            let text = words.concat().into_bytes();
            let coded = gzip(&text);
            prop_assert_eq!(inflate(coded.chunks(size), bound(GzipLimits::default())), (text, Ok(())));
        }

        #[test]
        fn members_are_what_another_decoder_finds(texts in prop::collection::vec("[a-c]{0,2000}", 1..6), size in 1..500_usize) {
            let coded = texts.iter().flat_map(|text| gzip(text.as_bytes())).collect::<Vec<u8>>();
            let mut other = Vec::new();
            flate2::read::MultiGzDecoder::new(&coded[..]).read_to_end(&mut other).expect("gzip");
            prop_assert_eq!(other.as_slice(), texts.concat().into_bytes());
            prop_assert_eq!(inflate(coded.chunks(size), bound(GzipLimits::default())), (other, Ok(())));
        }

        #[test]
        fn what_is_changed_is_never_taken_for_the_original(at: prop::sample::Index, flip in 1..=255_u8, size in 1..50_usize) {
            let text = b"<a>some text, some more of the text</a>";
            let mut coded = gzip(text);
            *at.get_mut(&mut coded) ^= flip;
            let (bytes, result) = inflate(coded.chunks(size), bound(GzipLimits::default()));
            prop_assert!(result.is_err() || bytes == text, "{bytes:?}");
        }

        #[test]
        fn what_bodies_become_is_read_by_another_decoder(text in "[a-z]{0,300}", times in 1..2000_usize, level in 0..=9_u32) {
            let text = text.repeat(times);
            let coded = collected(text.clone().into(), Codec { coding: ContentCoding::Gzip, level });
            let mut back = String::new();
            flate2::read::GzDecoder::new(&coded[..]).read_to_string(&mut back).expect("gzip");
            prop_assert_eq!(back, text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Bodies with repetitive and random parts, read in pieces.
        #[test]
        fn what_any_body_becomes_passes_the_default_limits(
            parts in prop::collection::vec(("[ -~]{1,40}", 1..2_000_000_usize), 1..4),
            level in 0..=9_u32,
            size in prop_oneof![1 => Just(1_usize), 4 => 1..70_000_usize],
        ) {
            let mut bytes = Vec::new();
            parts.iter().for_each(|(text, len)| bytes.extend(text.bytes().cycle().take(*len)));
            passes_the_default_limits(bytes, level, size);
        }
    }

    /// Returns the bytes that a body is sent as.
    fn collected(body: Outgoing, codec: Codec) -> Bytes {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(body.coded(codec, AdaptiveState::default()).collect()).expect("no error").to_bytes()
    }

    #[track_caller]
    fn passes_the_default_limits(bytes: Vec<u8>, level: u32, size: usize) {
        for coding in [
            ContentCoding::Gzip,
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd,
        ] {
            let coded = collected(bytes.clone().into(), Codec { coding, level });
            let (back, result) = decoded(coding, coded.chunks(size), bound(GzipLimits::default()));
            assert_eq!(result, Ok(()), "{coding:?} at level {level}, {} of {} bytes", coded.len(), bytes.len());
            assert!(back == bytes, "another body");
        }
    }

    #[test]
    fn a_body_of_nothing_but_one_byte_passes_the_default_limits() {
        for (len, size) in [((1 << 20) + 1, 1), (16 << 20, 1), (16 << 20, usize::MAX)] {
            for level in [1, 6, 9] {
                passes_the_default_limits(vec![b' '; len], level, size);
            }
        }
        // The body is no longer than necessary.
        for coding in [
            ContentCoding::Gzip,
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd,
        ] {
            let coded = collected(vec![b' '; 15 << 20].into(), Codec { coding, level: 6 });
            assert!((100_000..120_000).contains(&coded.len()), "{coding:?}: {}", coded.len());
        }
    }
}
