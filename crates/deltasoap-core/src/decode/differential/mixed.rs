//! Messages of several kinds in turn: one is kept of each kind, and the next message is compared
//! with the one whose beginning it resembles.
//!
//! ```text
//! messages    A1 B1 A2 B2 A3 B3 ...      a client sends two kinds of requests alternately
//! kept        A1                         B1 has little in common with it: how messages begin is noted from now on
//!                                        A2 begins like A1, and B2 like B1: the stream is mixed
//!             B2                         A3 does not begin like B2: noted, and B2 kept
//!             B2, A3                     B3 begins like B2: compared
//! ```
//!
//! The first texts of a message decide, each as a sum of two bytes: so a match is found among
//! hundreds of messages in less than a microsecond. That is a guess, which decides only what the
//! message is compared with; the comparison itself checks all bytes. Searching for kinds costs no
//! more than these sums; messages are kept only once two of them have begun like others. A stream
//! in which no kinds are found is not searched again for some time.
//!
//! Messages that are not compared at all, such as short ones, may come between those that are. The
//! last compared message then waits for the next.
//!
//! | limit | counts | at most | then |
//! |---|---|---|---|
//! | search | beginnings noted in search of kinds | 64, then 128 | none for 1,024 to 8,192 |
//! | strange | messages in a row that begin like none; a wrong guess is 16 | 128 | the kept go |
//! | kept | messages of other kinds, and their bytes | 512, 8 MiB | an unused one goes, or this |
//! | waiting | messages in a row that are not compared | 512 | the waiting message is dropped |
//!
//! A kept message is unused if two rounds passed without it.
//!
//! So a kind that comes at least once in about 20 messages of unknown kinds is found within some
//! rounds; a rarer one late or not at all.

use super::leaf::Template;
use super::values::AnyValues;
use crate::schema::View;
use foldhash::quality::FixedState;
use memchr::memchr;
use std::hash::{BuildHasher as _, Hasher as _};

/// Maximum number of messages kept besides the last one, and maximum number of bytes of their
/// templates and values.
const MAX_OTHERS: usize = 512;
const MAX_BYTES: usize = 8 << 20;
/// Estimated bytes of a value per byte of its message: trees take the most.
const VALUE: usize = 4;
/// Number of rounds through all kept messages in which a message must be used, or else it is
/// replaced.
const ROUNDS: u64 = 2;
/// Maximum number of texts, and of bytes, that are examined.
const TEXTS: usize = 16;
const EXAMINED_BYTES: usize = 2048;
/// Maximum number of bytes of a text that its sum covers.
const SUMMED: usize = 32;
/// Number of messages that a search for kinds examines: in the first search, and in the longest. It
/// finds kinds that alternate if there are no more than this number minus [`MIN_ALIKE`]. Each
/// failed search makes the next one `GROWTH` times as long.
const MIN_SEARCH: usize = 64;
const MAX_SEARCH: usize = 128;
const GROWTH: usize = 2;
/// Number of these messages that must begin like an earlier one. A single match may be chance.
const MIN_ALIKE: u32 = 2;
/// Number of messages between two searches, for each message that the last one examined. After the
/// longest search it doubles each time, at most `MAX_DOUBLED` times.
const REST: usize = 16;
const MAX_DOUBLED: u32 = 2;
/// Number of messages in a row that are not compared; after more, the waiting message is dropped.
const MAX_PASSED: usize = 512;
/// Number of messages in a row of a mixed stream that resemble no other; after more, the stream is
/// considered to have no kinds any more.
const STRANGE: usize = MAX_SEARCH;
/// Weight in that count of a message that begins like another but has little in common with it.
const DECEPTIVE: usize = STRANGE / 8;

/// The messages of kinds other than that of the last one.
#[derive(Debug, Default)]
pub(crate) struct MixedStream {
    /// The beginning of each of `others`.
    beginnings: Vec<Beginning>,
    others: Vec<Other>,
    /// Bytes of their templates and, estimated, of their values.
    bytes: usize,
    /// A counter for the order in which messages were used.
    clock: u64,
    /// True if messages of an earlier kind have come again.
    is_mixed: bool,
    /// Number of messages in a row that resembled no other.
    strange: usize,
    /// The beginnings of messages since one had little in common with the one before it.
    seen: Option<Vec<Beginning>>,
    /// Number of these that begin like an earlier one.
    alike: u32,
    /// Number of messages that the last failed search examined, and number of messages before the
    /// next search.
    examined: usize,
    rest: usize,
    /// Number of failed searches of maximum length.
    failed_searches: u32,
    /// The last message that can be compared, and the number of messages since then that cannot.
    waiting: Option<Other>,
    passed: usize,
}

#[derive(Debug)]
struct Other {
    /// The slot of its value.
    slot: usize,
    template: Box<Template>,
    used: u64,
}

impl MixedStream {
    /// Examines the beginning of a message, as in [`choose`](Self::choose). `is_all` is true if the
    /// whole message is available. Returns true if the stream has just been found to be mixed.
    pub(crate) fn examine<'m>(&mut self, beginning: impl FnOnce() -> (&'m [u8], &'m [u8]), is_all: bool) -> bool {
        self.pass();
        let Some(seen) = &mut self.seen else { return false };
        let (tag, next) = beginning();
        let mut new = Beginning::new(tag, next);
        // Messages of which only the first bytes have arrived are all alike.
        if is_all || new.texts == TEXTS as u32 {
            self.alike += u32::from(seen.iter().any(|other| new.is_close(new.similarity(other))));
        } else {
            new = Beginning::default();
        }
        if self.alike == MIN_ALIKE {
            (self.seen, self.is_mixed) = (None, true);
            return true;
        }
        seen.push(new);
        if seen.len() >= (self.examined * GROWTH).clamp(MIN_SEARCH, MAX_SEARCH) {
            self.examined = seen.len();
            self.give_up();
        }
        false
    }

    /// Returns true if messages need not be [examined](Self::examine): there are no kinds, and no
    /// search is active.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.is_mixed && self.seen.is_none() && self.waiting.is_none()
    }

    /// Counts a message that was not examined.
    pub(crate) fn pass(&mut self) {
        self.rest = self.rest.saturating_sub(1);
    }

    /// Stops searching for kinds for some time.
    fn give_up(&mut self) {
        self.seen = None;
        let messages = self.examined.max(MIN_SEARCH);
        self.rest = (messages * REST) << self.failed_searches;
        if messages == MAX_SEARCH {
            self.failed_searches = (self.failed_searches + 1).min(MAX_DOUBLED);
        }
    }

    /// Returns the message with which the next one is to be compared; `None` if it resembles none.
    /// The current value is that of the last message, `old`, and becomes that of the returned one.
    /// `next` contains the available bytes of the next message after its operation's start tag,
    /// `tag`.
    pub(crate) fn choose(
        &mut self,
        (values, view): (&mut dyn AnyValues, View<'_>),
        old: Option<Box<Template>>,
        (tag, next): (&[u8], &[u8]),
    ) -> Option<Box<Template>> {
        if !self.is_mixed {
            return old;
        }
        let new = Beginning::new(tag, next);
        let last = old.as_ref().map(|old| Beginning::from_template(old));
        let similarity = last.as_ref().map_or(0, |last| new.similarity(last));
        let best = self.beginnings.iter().map(|other| new.similarity(other)).enumerate().max_by_key(|(_, like)| *like);
        let best = best.filter(|(_, like)| *like > similarity && new.is_close(*like));
        if best.is_none() && new.is_close(similarity) {
            return old;
        }
        let found = best.map(|(index, _)| self.take(index));
        if let (Some(template), Some(beginning)) = (old, last) {
            self.keep((values, view), template, beginning);
        }
        let Some(Other { slot, template, .. }) = found else {
            values.vacate(view);
            return None;
        };
        values.restore(slot);
        Some(template)
    }

    /// Makes the last message, if there is one, wait: the next message is not compared.
    pub(crate) fn set_aside(&mut self, (values, view): (&mut dyn AnyValues, View<'_>), old: Option<Box<Template>>) {
        if let Some(template) = old {
            let waiting = Other { slot: values.set_aside(view), template, used: 0 };
            self.passed = 0;
            if let Some(before) = self.waiting.replace(waiting) {
                values.free(before.slot);
            }
        }
        self.passed += 1;
        if self.passed > MAX_PASSED
            && let Some(waiting) = self.waiting.take()
        {
            values.free(waiting.slot);
        }
    }

    /// Takes the waiting message: its value becomes the current one.
    pub(crate) fn take_back(&mut self, values: &mut dyn AnyValues) -> Option<Box<Template>> {
        let waiting = self.waiting.take()?;
        values.restore(waiting.slot);
        Some(waiting.template)
    }

    /// In a mixed stream, keeps the last message for others of its kind, because the next one is
    /// read in regular mode.
    pub(crate) fn keep_last(&mut self, values: (&mut dyn AnyValues, View<'_>), old: Option<Box<Template>>) {
        if let Some(old) = old.filter(|_| self.is_mixed) {
            let beginning = Beginning::from_template(&old);
            self.keep(values, old, beginning);
        }
    }

    fn take(&mut self, index: usize) -> Other {
        self.beginnings.swap_remove(index);
        let other = self.others.swap_remove(index);
        self.bytes = self.bytes.saturating_sub(size_of_kept(&other.template));
        other
    }

    /// Keeps the message whose value is the current one; a vacant value takes its place.
    fn keep(&mut self, (values, view): (&mut dyn AnyValues, View<'_>), template: Box<Template>, beginning: Beginning) {
        let bytes = size_of_kept(&template);
        // A message that was found to be invalid after its operation has no bytes to compare with.
        // In a message with references, the size of the value is unrelated to the number of bytes.
        if bytes > MAX_BYTES || template.is_whole || template.image().is_none() {
            return;
        }
        self.clock += 1;
        while self.others.len() >= MAX_OTHERS || self.bytes + bytes > MAX_BYTES {
            let Some(useless) = self.useless() else { return };
            values.free(self.take(useless).slot);
        }
        self.bytes += bytes;
        self.beginnings.push(beginning);
        self.others.push(Other { slot: values.set_aside(view), template, used: self.clock });
    }

    /// Returns a message that has not been used for so long that its kind is considered gone. If
    /// more kinds alternate than can be kept, the kept ones stay: replacing the oldest each time
    /// would always discard the kind that comes next.
    fn useless(&self) -> Option<usize> {
        let (index, oldest) = self.others.iter().enumerate().min_by_key(|(_, other)| other.used)?;
        (self.clock - oldest.used > ROUNDS * self.others.len() as u64).then_some(index)
    }

    /// Records a message that was read, and is now `last`. `was_like` is true if most of it was
    /// equal to the message it was compared with, and `None` if it was compared with none. Returns
    /// false if it is time to give up: the stream has no kinds.
    pub(crate) fn learn(
        &mut self,
        was_like: Option<bool>,
        last: Option<&Template>,
        values: &mut dyn AnyValues,
    ) -> bool {
        match was_like {
            Some(true) => (self.strange, self.examined, self.failed_searches) = (0, 0, 0),
            Some(false) if !self.is_mixed && self.rest == 0 && self.seen.is_none() => {
                (self.seen, self.alike) = (Some(last.map(Beginning::from_template).into_iter().collect()), 0);
            }
            _ if !self.is_mixed => {}
            Some(false) => self.strange += DECEPTIVE,
            None => self.strange += 1,
        }
        let goes_on = self.strange <= STRANGE;
        if !goes_on {
            self.forget();
            values.free_all();
            self.examined = MAX_SEARCH;
            self.give_up();
        }
        goes_on
    }

    /// Returns true if a message that has little in common with the last one may still have more in
    /// common with another.
    pub(crate) fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    /// Forgets all messages with at most `bytes` bytes.
    pub(crate) fn forget_small(&mut self, bytes: usize, values: &mut dyn AnyValues) {
        for index in (0..self.others.len()).rev() {
            if self.others[index].template.len() <= bytes as u64 {
                values.free(self.take(index).slot);
            }
        }
        if self.others.is_empty() {
            (self.is_mixed, self.strange, self.seen) = (false, 0, None);
        }
    }

    /// Returns true if a message waits.
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Returns true if there are messages of other kinds to compare the next one with.
    pub(crate) fn has_kept(&self) -> bool {
        !self.others.is_empty()
    }

    /// Forgets all messages; the caller frees their values.
    pub(crate) fn forget(&mut self) {
        (self.beginnings, self.others, self.bytes, self.waiting) = Default::default();
        (self.is_mixed, self.strange, self.seen) = (false, 0, None);
    }

    /// Returns an estimate of the bytes held, without slots of values.
    pub(crate) fn bytes(&self) -> usize {
        let beginnings = self.beginnings.capacity() + self.seen.as_ref().map_or(0, Vec::capacity);
        // Its value is not counted, like that of the last message.
        let waiting = self.waiting.as_ref().map_or(0, |waiting| waiting.template.bytes());
        beginnings * size_of::<Beginning>() + self.others.capacity() * size_of::<Other>() + self.bytes + waiting
    }
}

fn size_of_kept(template: &Template) -> usize {
    let message = usize::try_from(template.len()).unwrap_or(usize::MAX);
    template.bytes().saturating_add(message.saturating_mul(VALUE))
}

/// Sums of a message's first texts, each with the tag before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Beginning {
    sums: [u16; TEXTS],
    texts: u32,
}

impl Beginning {
    fn from_template(old: &Template) -> Self {
        let Some(image) = old.image() else { return Beginning::default() };
        let content = image.at(old.start);
        let len = usize::try_from(old.len()).unwrap_or(usize::MAX);
        Self::new(old.prologue.tag(), &content[..len.min(content.len())])
    }

    /// Creates the sums for an operation's start tag and the content after it.
    fn new(tag: &[u8], content: &[u8]) -> Self {
        let content = &content[..content.len().min(EXAMINED_BYTES)];
        let mut beginning = Beginning::default();
        let seed = sum(tag, 0);
        for piece in Pieces(content).filter(|piece| has_text(piece)).take(TEXTS) {
            beginning.sums[beginning.texts as usize] = sum(piece, seed) as u16;
            beginning.texts += 1;
        }
        if beginning.texts == 0 {
            (beginning.sums[0], beginning.texts) = (seed as u16, 1);
        }
        beginning
    }

    /// Returns the number of texts that another message has in the same places.
    fn similarity(&self, other: &Beginning) -> u32 {
        let is_equal = |(one, other): (&u16, &u16)| u32::from(one == other);
        // All places, as that is a single comparison of wide words; places without a text are
        // equal.
        let equal: u32 = self.sums.iter().zip(&other.sums).map(is_equal).sum();
        equal.saturating_sub(TEXTS as u32 - self.texts.max(other.texts))
    }

    /// Returns true if this number of equal texts is worth a comparison.
    fn is_close(&self, similarity: u32) -> bool {
        2 * similarity >= self.texts
    }
}

/// Tags, each with the text that follows it.
struct Pieces<'p>(&'p [u8]);

impl<'p> Iterator for Pieces<'p> {
    type Item = &'p [u8];

    fn next(&mut self) -> Option<&'p [u8]> {
        let rest = self.0.get(1..)?;
        let end = 1 + memchr(b'<', rest)?;
        let (piece, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(piece)
    }
}

/// Returns a sum of the last bytes and the length: long texts that differ usually differ there.
fn sum(bytes: &[u8], seed: u64) -> u64 {
    let mut hasher = FixedState::with_seed(seed ^ bytes.len() as u64).build_hasher();
    hasher.write(&bytes[bytes.len().saturating_sub(SUMMED)..]);
    hasher.finish()
}

fn has_text(piece: &[u8]) -> bool {
    let text = memchr(b'>', piece).map_or(piece, |end| &piece[end + 1..]);
    !text.trim_ascii().is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::leaf::template_without_image;
    use super::super::values::Values;
    use super::*;
    use crate::Typed;

    /// A message that is invalid after its operation cannot be compared with.
    #[test]
    fn bad_messages_are_not_kept() {
        let mut mixed = MixedStream { is_mixed: true, ..MixedStream::default() };
        let (mut values, view) = (Values::new(0), i32::view());
        for message in 0..100 {
            let old = Some(Box::new(template_without_image()));
            let chosen = mixed.choose((&mut values, view), old, (b"<r>", format!("<a>{message}</a>").as_bytes()));
            assert!(chosen.is_none());
        }
        assert!(mixed.others.is_empty());
    }

    /// The memory that a reference or an item's position takes is not counted, so such messages are
    /// not kept beside others.
    #[test]
    fn values_of_unknown_size_are_not_kept() {
        let mut mixed = MixedStream { is_mixed: true, ..MixedStream::default() };
        let whole = Template { is_whole: true, ..template_without_image() };
        mixed.keep_last((&mut Values::new(0), i32::view()), Some(Box::new(whole)));
        assert!(mixed.others.is_empty());
    }

    #[test]
    fn a_message_waits_while_others_are_not_compared() {
        let (mut mixed, mut values) = (MixedStream::default(), Values::new(7));
        mixed.set_aside((&mut values, i32::view()), Some(Box::new(template_without_image())));
        for _ in 1..MAX_PASSED {
            assert!(!mixed.is_quiet() && values.value == 0 && mixed.bytes() > 0);
            mixed.set_aside((&mut values, i32::view()), None);
        }
        assert!(mixed.take_back(&mut values).is_some() && values.value == 7 && mixed.bytes() == 0);
        assert!(mixed.take_back(&mut values).is_none());
        mixed.set_aside((&mut values, i32::view()), Some(Box::new(template_without_image())));
        (0..MAX_PASSED).for_each(|_| mixed.set_aside((&mut values, i32::view()), None));
        assert!(mixed.take_back(&mut values).is_none() && mixed.is_quiet());
    }

    /// A stream without kinds is searched less and less often, but never abandoned for good.
    #[test]
    fn rests_become_longer() {
        let mut mixed = MixedStream::default();
        let rests = [64, 128, 128, 128, 128].map(|examined| {
            mixed.examined = examined;
            mixed.give_up();
            mixed.rest
        });
        assert_eq!(rests, [1024, 2048, 4096, 8192, 8192]);
        mixed.learn(Some(true), None, &mut Values::<i32>::new(0));
        mixed.give_up();
        assert_eq!(mixed.rest, 1024);
    }

    #[test]
    fn texts_are_compared_one_by_one() {
        let of = |content: &str| Beginning::new(b"<r>", content.as_bytes());
        let like = |one: &str, other: &str| (of(one).similarity(&of(other)), of(one).texts);
        assert_eq!(like("<a>1</a><b>2</b></r>", "<a>1</a><b>2</b></r>"), (2, 2));
        assert_eq!(like("<a>1</a><b>2</b></r>", "<a>1</a><b>22</b></r>"), (1, 2));
        assert_eq!(like("<a>1</a>\n<b>2</b>\n</r>", "<a>7</a>\n<b>8</b>\n</r>"), (0, 2));
        assert_eq!(like("<a>1</a></r>", "<b>1</b></r>"), (0, 1));
        assert_eq!(like("<a>1</a></r>", "<a>1</a><b>1</b><b>2</b></r>"), (1, 1));
        assert_eq!(like("<a/><b/></r>", "<c/></r>"), (1, 1));
        assert_ne!(of("<a/></r>"), Beginning::new(b"<s>", b"<a/></r>"));
    }
}
