//! The memory of one stream of messages: the last value, and the data by which the decoder finds
//! what changed.

use super::DifferentialStats;
use super::adaptive::{Adaptive, Plan};
use super::clock::Clock;
use super::leaf::{Begin, Mending, SMALL, Template};
use super::mixed::MixedStream;
use super::options::{Checkpoints, Differential};
use super::policy::{self, Base, Custom, PASSED, Policy};
use super::values::{AnyValues, Values};
use crate::content::{Content, Typed};
use crate::decode::state::TreeCounts;
use crate::decode::{Cursor, Step, Stop, Tolerance, expect_end};
use crate::schema::{Element, View};
use std::time::Duration;

/// The operation's content was skipped: its end tag follows.
const MENDED: u8 = 2;

/// Returns true if these bytes seem to be the whole rest of a message. A guess that only decides
/// how to begin: of a large message, the first bytes may arrive alone.
fn is_all(rest: &[u8]) -> bool {
    rest.trim_ascii_end().ends_with(b"Envelope>")
}

/// Returns true if there are places within the content, or at its end, at which regular mode can
/// continue: those of elements. Text and trees are read from their start.
fn has_places(view: View<'_>) -> bool {
    match view.content().element {
        Element::Complex(complex) => complex.text.is_none(),
        Element::Array(_) => true,
        _ => false,
    }
}

/// The value of the last message of a stream, and the data with which the next one is compared.
///
/// A memory serves messages of one type; a message whose schema differs from that of the last one
/// is read in regular mode. If several memories read parts of one document, one part is compared,
/// and elements of the others cannot refer to its content: call [`Cursor::compare_nothing`] where
/// they may. A memory may be moved between decoders and between connections. It holds data of one
/// client, so it must not be given to another client unless the service allows that.
#[derive(Debug)]
pub struct Memory<T> {
    values: Values<T>,
    kept: MemoryState,
}

/// All of a memory except its values.
#[derive(Debug, Default)]
struct MemoryState {
    /// The template with which the next message is compared. While there is one, the value is
    /// complete.
    template: Option<Box<Template>>,
    /// The state of a policy of another crate, and the options that it was made for.
    policy: Option<(Differential, Box<dyn Policy>)>,
    /// Messages of other kinds, which the next one may resemble.
    mixed: MixedStream,
    adaptive: Adaptive,
    /// The position after the start tag of the message's operation.
    start: u64,
    /// The counts for trees outside the operation. They are separate: of an operation that is
    /// compared, only an upper bound is known.
    outside: TreeCounts,
    stats: DifferentialStats,
    /// True if the message is so small that its value is mended, or else read in regular mode.
    is_small: bool,
    /// True if there is a message to compare with.
    has_old: bool,
    /// True if the message could not be compared with it, because its prologue differs or because
    /// it can only be compared as a whole.
    is_other: bool,
    /// True if the last message was compared, so that the next one is likely to be.
    is_proven: bool,
    /// True if the message is not compared, and nothing is learned from it: it comes between those
    /// that are compared.
    is_passed: bool,
    /// True if comparing or mending was tried, or else the message is noted for that.
    was_tried: bool,
    /// Replaces the clock.
    clock: Option<fn(bytes: u64, was_compared: bool) -> Duration>,
}

impl<T: Typed> Default for Memory<T> {
    fn default() -> Self {
        Memory::new(T::vacant(T::view()))
    }
}

impl<T> Memory<T> {
    /// Creates a memory without a message. `value` is returned until there is one.
    pub fn new(value: T) -> Self {
        Memory { values: Values::new(value), kept: MemoryState::default() }
    }

    /// Takes the time of each message from a function instead of the clock: for tests, so that
    /// adaptive behaviour is reproducible.
    #[doc(hidden)]
    pub fn set_clock(&mut self, clock: fn(bytes: u64, was_compared: bool) -> Duration) {
        self.kept.clock = Some(clock);
    }

    /// Returns the last message's value.
    pub fn value(&self) -> &T {
        &self.values.value
    }

    /// Consumes the memory and returns its value.
    pub fn into_value(self) -> T {
        self.values.value
    }

    /// Forgets the message, so that the next one is read in regular mode; frees all buffers.
    pub fn forget(&mut self) {
        (self.kept.template, self.kept.policy) = (None, None);
        self.kept.mixed.forget();
        self.values.forget_others();
    }

    /// Drops the value if the next message will not be compared with it, as in a stream whose
    /// messages turned out to have nothing in common. `vacant` creates its replacement. The next
    /// message would drop the value too, but later, when it is no longer in the processor's caches.
    pub fn drop_unneeded(&mut self, vacant: impl FnOnce() -> T) {
        if self.kept.template.is_none() && self.kept.policy.is_none() {
            self.values.value = vacant();
        }
    }

    /// Returns the number of bytes held in addition to the value, with buffers counted by their
    /// capacity.
    pub fn bytes(&self) -> usize {
        self.kept.bytes() + self.values.bytes()
    }

    /// Returns the last message, without its SOAP header, to be kept across a restart: a memory that
    /// reads it compares the next one with it, as this memory would. There is no other format, so what
    /// no longer fits the schema or the limits is refused as every other message.
    ///
    /// Returns `None` if nothing is compared with the last message, or if the message is no SOAP
    /// message, or not in UTF-8. The message may not be quite as it was: only what determines how its
    /// content is read is the same, so decode it before you rely on it.
    pub fn save(&self) -> Option<Vec<u8>> {
        self.kept.template.as_ref()?.message()
    }

    /// Returns the counters of differential decoding for this stream.
    pub fn stats(&self) -> DifferentialStats {
        DifferentialStats { memory: self.bytes() as u64, ..self.kept.stats }
    }
}

impl<T: Content> Memory<T> {
    /// Reads the content of an operation's element whose start tag has just been read, up to and
    /// including its end tag; see [`Content::decode`].
    ///
    /// # Errors
    /// As [`Content::decode`]. Nothing of the message is kept then.
    pub fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        self.kept.decode(&mut self.values, cursor, view)
    }
}

impl MemoryState {
    fn bytes(&self) -> usize {
        let template = self.template.as_ref().map_or(0, |template| template.bytes());
        template + self.policy.as_ref().map_or(0, |(_, policy)| policy.bytes()) + self.mixed.bytes()
    }

    /// See [`Memory::decode`].
    fn decode(&mut self, values: &mut dyn AnyValues, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        let (me, fresh) = cursor.enter();
        if fresh {
            let trees = &mut cursor.state().trees;
            (self.outside, trees.bindings) = (std::mem::take(&mut trees.taken), None);
        }
        if fresh && self.begin(values, cursor, view, me) {
            return Err(Stop::Switch);
        }
        if cursor.begins_again()? {
            values.vacate(view);
        }
        match cursor.frame(me).state {
            PASSED => {}
            MENDED => expect_end(cursor)?,
            _ => values.decode(cursor, view).inspect_err(|stop| self.fail(cursor, stop))?,
        }
        self.end(values, cursor);
        let trees = &mut cursor.state().trees;
        (trees.taken, trees.bindings) = (self.outside, None);
        cursor.leave(me);
        Ok(())
    }

    /// Decides how the operation is read. Returns true if it is compared with the previous message.
    fn begin(&mut self, values: &mut dyn AnyValues, cursor: &mut Cursor<'_>, view: View<'_>, me: usize) -> bool {
        self.stats.messages += 1;
        (self.is_small, self.has_old, self.is_other, self.is_passed) = (false, false, false, false);
        // Decoders with different options may take turns. State kept for the other kind of options
        // belongs to a value that is replaced now.
        if let Checkpoints::Custom(custom) = cursor.state().differential.checkpoints {
            self.template = None;
            self.mixed.forget();
            values.free_all();
            return self.begin_by(custom, values, cursor, (view, me));
        }
        self.policy = None;
        let old = self.template.take();
        match self.attempt(old, values, cursor, (view, me)) {
            Begin::Compare => return true,
            Begin::Mend(mending) if mend(&mending, values, cursor, view) => cursor.frame(me).state = MENDED,
            _ => values.vacate(view),
        }
        false
    }

    fn attempt(
        &mut self,
        old: Option<Box<Template>>,
        values: &mut dyn AnyValues,
        cursor: &mut Cursor<'_>,
        (view, me): (View<'_>, usize),
    ) -> Begin {
        let is_adaptive = cursor.state().differential.adaptive;
        let is_all = is_adaptive && is_all(cursor.rest());
        let has_parts = || view.complex().is_none_or(|complex| !complex.is_read_whole(view));
        self.is_small = is_all && values.are_dynamic() && cursor.rest().len() <= SMALL && has_parts();
        let may_fit = old.is_some() || self.mixed.has_waiting();
        if is_adaptive && !self.is_small && self.adaptive.is_short(cursor.rest().len(), is_all, may_fit) {
            return self.pass_over(old, values, cursor, view);
        }
        let mut planned = None;
        // Checked first, so that a message that is read in regular mode in any case costs next to
        // nothing. For dynamic values it depends on more.
        if is_adaptive && old.is_none() && !values.are_dynamic() && self.mixed.is_quiet() {
            self.mixed.pass();
            let (plan, is_timed) = self.adaptive.plan(false);
            if plan != Plan::Note {
                self.read(is_timed, cursor);
                return Begin::Read;
            }
            planned = Some((plan, is_timed));
        }
        // Values that can be shared must not be those of another message.
        let has_begun = cursor.state().session.has_begun();
        if !cursor.can_be_compared() || has_begun || view.has_moving_parts() {
            return self.pass_over(old, values, cursor, view);
        }
        let old = old.or_else(|| self.mixed.take_back(values));
        let is_whole = !(self.is_small || has_parts() && has_places(view));
        if is_adaptive && planned.is_none() && self.mixed.examine(|| beginning(cursor), is_all) {
            self.adaptive.resume();
        }
        let (plan, is_timed) = match planned {
            Some(planned) => planned,
            None if !is_adaptive => (Plan::Compare, false),
            None if self.is_small => self.adaptive.plan_small(),
            None => self.adaptive.plan(old.is_some() || self.mixed.has_kept()),
        };
        self.read(is_timed, cursor);
        if plan == Plan::Measure {
            self.mixed.set_aside((values, view), old);
            return Begin::Read;
        }
        if plan == Plan::Plain {
            // The decision for small messages says nothing about the others, and vice versa.
            let is_of_the_others =
                |old: &Template| values.are_dynamic() && self.is_small != (old.len() <= SMALL as u64);
            match old.as_deref().is_some_and(is_of_the_others) {
                true => self.mixed.set_aside((values, view), old),
                false => self.mixed.keep_last((values, view), old),
            }
            return Begin::Read;
        }
        self.was_tried = true;
        let old = if is_adaptive { self.choose(old, values, cursor, view) } else { old };
        let old = old.filter(|old| old.is_whole || !is_whole);
        self.has_old = old.is_some();
        let begin = cursor.begin_operation(old, (view.identity(), me + 1), plan);
        let is_read = matches!(begin, Begin::Read);
        self.is_other = is_read && self.has_old && !self.is_small;
        if is_whole && is_read {
            cursor.state().session.keep_whole();
        }
        begin
    }

    /// Reads a message that is not compared, between those that are: the state kept for the next
    /// one stays.
    fn pass_over(
        &mut self,
        old: Option<Box<Template>>,
        values: &mut dyn AnyValues,
        cursor: &mut Cursor<'_>,
        view: View<'_>,
    ) -> Begin {
        self.mixed.set_aside((values, view), old);
        self.read(false, cursor);
        self.is_passed = true;
        Begin::Read
    }

    /// Starts reading the operation, in regular mode unless something better is tried.
    fn read(&mut self, is_timed: bool, cursor: &mut Cursor<'_>) {
        if is_timed {
            cursor.state().session.clock = Clock::start();
        }
        (self.was_tried, self.start) = (false, cursor.offset());
    }

    /// Selects the message to compare with. Its value becomes the current one.
    fn choose(
        &mut self,
        old: Option<Box<Template>>,
        values: &mut dyn AnyValues,
        cursor: &mut Cursor<'_>,
        view: View<'_>,
    ) -> Option<Box<Template>> {
        self.mixed.choose((values, view), old, beginning(cursor))
    }

    /// Like [`begin`](Self::begin), with a policy of another crate.
    fn begin_by(
        &mut self,
        custom: Custom,
        values: &mut dyn AnyValues,
        cursor: &mut Cursor<'_>,
        (view, me): (View<'_>, usize),
    ) -> bool {
        self.start = cursor.offset();
        let begin = self.attempt_by(custom, cursor, view, me);
        if begin != policy::Begin::Compare {
            values.vacate(view);
        }
        begin != policy::Begin::Read
    }

    fn attempt_by(&mut self, custom: Custom, cursor: &mut Cursor<'_>, view: View<'_>, me: usize) -> policy::Begin {
        let options = cursor.state().differential;
        let policy = self.policy.take().filter(|(known, _)| *known == options);
        let is_kept = cursor.state().references.is_keeping();
        if is_kept
            || cursor.tolerance() == Tolerance::AnyOrder
            || cursor.state().session.is_barred()
            || !cursor.is_utf8()
            || cursor.reader().tag_is_empty()
            || view.has_moving_parts()
        {
            return policy::Begin::Read;
        }
        let mut policy = policy.map_or_else(|| custom.make(options.adaptive), |(_, policy)| policy);
        let base = Base::new(cursor, view.identity(), me + 1);
        let (offset, state) = (cursor.offset(), cursor.state());
        let begin = policy.begin(base, offset, state);
        match begin {
            policy::Begin::Read => self.policy = Some((options, policy)),
            policy::Begin::Record => state.hooks.policy = Some(policy),
            policy::Begin::Compare => {
                state.stack.over = me + 1;
                state.hooks.policy = Some(policy);
            }
        }
        begin
    }

    /// Takes the policy back after an invalid message.
    fn fail(&mut self, cursor: &mut Cursor<'_>, stop: &Stop) {
        if let Stop::Error(_) = stop
            && let Some(mut policy) = cursor.state().hooks.release()
        {
            policy.fail();
            self.take_back(policy, cursor);
        }
    }

    fn end(&mut self, values: &mut dyn AnyValues, cursor: &mut Cursor<'_>) {
        let end = cursor.reader().tag_offset();
        if let Some(mut policy) = cursor.state().hooks.release() {
            let (window, state) = cursor.parts();
            policy.end(state, window, end);
            return self.take_back(policy, cursor);
        }
        let trees = cursor.state().trees.taken;
        let is_adaptive = cursor.state().differential.adaptive;
        let session = &mut cursor.state().session;
        let bytes = end.saturating_sub(self.start);
        if self.is_passed {
            self.stats.regular_bytes += bytes;
            return self.adaptive.passed_over(bytes);
        }
        // Another operation of the message may have been noted or compared, and not this one.
        let is_noted = session.is_kept();
        let was_compared = is_noted && session.stats.compared > 0;
        let is_hopeless = is_noted && session.bounds.is_hopeless();
        let is_like = 2 * session.stats.fast_bytes >= bytes;
        let was_like = (was_compared || (self.is_small && self.has_old)).then_some(was_compared && is_like);
        if is_noted {
            self.template = session.finish(end, trees);
            self.stats += session.stats;
        } else {
            self.stats.regular_bytes += bytes;
        }
        let time = session.clock.stop().map(|time| self.clock.map_or(time, |clock| clock(bytes, was_compared)));
        let has_no_kinds = is_noted && !self.mixed.learn(was_like, self.template.as_deref(), values);
        if self.is_small {
            let was_mended = was_compared || !self.has_old;
            if self.adaptive.small(bytes, self.was_tried, was_mended, time) {
                self.template = self.template.take().filter(|template| template.len() > SMALL as u64);
                self.mixed.forget_small(SMALL, values);
            }
            return;
        }
        let was_proven = std::mem::replace(&mut self.is_proven, was_compared);
        let is_unmatched = is_adaptive && self.is_other && !was_proven;
        if has_no_kinds || (is_hopeless && !self.mixed.is_mixed()) {
            self.adaptive.give_up(bytes);
        } else if is_unmatched && !self.mixed.is_mixed() {
            self.adaptive.noted_without_match(bytes);
        } else {
            self.learn(bytes, time, was_compared);
        }
        if is_adaptive && self.adaptive.is_waiting() {
            self.template = None;
        }
    }

    fn take_back(&mut self, policy: Box<dyn Policy>, cursor: &mut Cursor<'_>) {
        self.stats += policy.stats();
        self.policy = Some((cursor.state().differential, policy));
    }

    /// Records the cost of the message.
    fn learn(&mut self, bytes: u64, time: Option<Duration>, was_compared: bool) {
        if !was_compared {
            // Noting a message takes longer than regular mode.
            return self.adaptive.regular(bytes, time.filter(|_| !self.was_tried));
        }
        let gain = self.adaptive.compared(bytes, time);
        self.stats.saved += gain.saved;
        self.stats.lost += gain.lost;
    }
}

/// Returns the operation's start tag, and the available bytes after it.
fn beginning<'c>(cursor: &'c Cursor<'_>) -> (&'c [u8], &'c [u8]) {
    let start = (cursor.reader().tag_offset() + cursor.pos() as u64).saturating_sub(cursor.offset()) as usize;
    (&cursor.bytes()[start..cursor.pos()], cursor.rest())
}

/// Puts the differences into the old value. Returns false if that is not possible.
fn mend(mending: &Mending, values: &mut dyn AnyValues, cursor: &mut Cursor<'_>, view: View<'_>) -> bool {
    let (bytes, session) = (cursor.rest(), &mut cursor.state().session);
    let is_mended =
        session.old.as_ref().is_some_and(|old| mending.all(&old.table, bytes, |mend| values.mend(view, mend)));
    if is_mended {
        session.mended(mending);
        cursor.set_pos(cursor.pos() + mending.len());
    } else {
        session.give_up_mending();
    }
    is_mended
}
