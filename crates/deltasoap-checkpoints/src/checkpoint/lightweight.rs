//! Lightweight checkpoints (LCP; *Lightweight Checkpointing*, section 4): positions in a group that
//! shares a base checkpoint.
//!
//! Between two children of one element, only the number of children read changes. Checkpoints
//! before children therefore form a *group*: the *base checkpoint* has the whole state, a
//! *lightweight* one only a number. They lie exactly before a child's start tag, so there is no
//! partially processed content.
//!
//! Where fields may come in any order, as in all structs of SOAP encoding, the number of children
//! read does not describe the progress: the log of fields seen records which fields were read. In
//! such a group, the number is an index into the group's *places*. A place is a field and the set
//! of fields seen. Groups keep their places from message to message, so a stream in one order,
//! whichever that is, has as many places as fields.
//!
//! - The *location information stack* has, for each routine with children, the position where the
//!   current child begins, and the routine's progress before it. The routines fill it; restoring a
//!   state clears it.
//! - The *base checkpoints stack* has the groups that can still grow. It is saved with every base
//!   and context-independent checkpoint. It is restored with that checkpoint, or when a checkpoint
//!   of its group is met.
//! - An interrupt makes a lightweight checkpoint if there is a group for a location passed since
//!   the last checkpoint. Otherwise it is skipped, but never twice in a row (*skip-once*): then a
//!   base checkpoint is made at the location of the outermost routine that has one. It is the
//!   outermost because many small children share its group, and because an element shorter than two
//!   portions is not worth one. If no child has begun since the last checkpoint, as in long text,
//!   the checkpoint is *context-independent*: the current state, in no group.
//! - With [`Bases::First`], a group's base lies where the routine's first child began. So there is
//!   a group for every location, and only a context-independent checkpoint follows a skipped
//!   interrupt, as published. Such a base is made together with the first checkpoint of its group:
//!   below a routine's frame nothing changes while the routine runs. It could not be a checkpoint
//!   of its own, since its position has passed by then.
//! - Within a group, only the number is matched. Restoring from the group in which fast mode was
//!   entered sets only the number. If a group's routine is still running, what lies above its frame
//!   is dropped.

use super::{Form, Interrupt, Part, Progress, Snapshot, progress};
use crate::matcher::PortionMatcher;
use crate::{Bases, Portions};
use deltasoap_core::decode::Frame;
use deltasoap_core::decode::differential::policy::{Live, Location, Rare, Stacks};

/// The form that keeps numbers relative to base checkpoints.
#[derive(Debug, Default)]
pub(crate) struct Lightweight {
    at: Bases,
    groups: Vec<Group>,
    /// Groups without any checkpoint left.
    free: Vec<u32>,
    /// The base checkpoints stack.
    bases: Vec<u32>,
    /// True if the last interrupt made no checkpoint.
    has_skipped: bool,
    /// The group whose frames below the innermost are known to equal those of the routines.
    followed: Option<u32>,
    /// The group in which fast mode was entered; the stacks have not changed since.
    entered: Option<u32>,
}

/// A base or context-independent checkpoint, and what the checkpoints of its group share.
#[derive(Debug, Default)]
struct Group {
    whole: Snapshot,
    /// The base checkpoints stack at this checkpoint.
    bases: Vec<u32>,
    kind: NumberKind,
    /// The places that numbers refer to, in a group where fields seen are logged.
    places: Vec<LoggedProgress>,
    /// Number of checkpoints left, plus groups that have this one in their stacks.
    count: u32,
}

/// The progress of a routine that logs fields seen: the last field, and a bit set of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LoggedProgress {
    field: u32,
    seen: u64,
}

/// The meaning of a lightweight checkpoint's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum NumberKind {
    /// No number: the group has no lightweight checkpoints.
    #[default]
    Single,
    /// The last field read.
    Fields,
    /// Number of occurrences of this field read.
    Items(u32),
    /// Index of one of the group's places.
    Noted,
}

/// A checkpoint in four bytes, since lists are long: a bit for the kind, the group, and the number
/// of a lightweight checkpoint.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Saved([u8; 4]);

impl Saved {
    /// Bits of a lightweight checkpoint's group and number. A group with more members is continued
    /// by another.
    const GROUP: u32 = 15;
    const NUMBER: u32 = 16;

    /// Creates the checkpoint that has the whole state of its group.
    fn whole(group: u32) -> Self {
        Saved((group << 1).to_le_bytes())
    }

    /// Creates a lightweight checkpoint, if its group and number fit.
    fn light(group: u32, number: u32) -> Option<Self> {
        let fits = group >> Saved::GROUP == 0 && number >> Saved::NUMBER == 0;
        fits.then(|| Saved(((group << Saved::NUMBER | number) << 1 | 1).to_le_bytes()))
    }

    fn group(self) -> u32 {
        self.word() >> if self.is_whole() { 1 } else { 1 + Saved::NUMBER }
    }

    /// Returns the number; `None` for the checkpoint that has the whole state.
    fn number(self) -> Option<u32> {
        (!self.is_whole()).then(|| (self.word() >> 1) & ((1 << Saved::NUMBER) - 1))
    }

    fn is_whole(self) -> bool {
        self.0[0] & 1 == 0
    }

    fn word(self) -> u32 {
        u32::from_le_bytes(self.0)
    }
}

impl Form for Lightweight {
    type Saved = Saved;
    const NOTES_LOCATIONS: bool = true;
    const IN_MARKUP: bool = true;

    fn new(portions: &Portions) -> Self {
        Lightweight { at: portions.bases, ..Lightweight::default() }
    }

    fn checkpoint<M: PortionMatcher>(
        &mut self,
        live: &mut Live<'_>,
        interrupt: &Interrupt<'_, M>,
    ) -> Option<(Saved, u64)> {
        self.forget_left(live);
        let from = (interrupt.before + 1).max(interrupt.at_hand);
        let levels = 0..live.frames().len();
        let passed = |live: &Live<'_>, level| location(live, level).filter(|location| location.offset >= from);
        let light = levels.clone().find_map(|level| match self.light(live, level, &passed(live, level)?) {
            None if self.at == Bases::First => self.first(live, level, &passed(live, level)?),
            light => light,
        });
        if light.is_none() && !std::mem::replace(&mut self.has_skipped, true) {
            return None;
        }
        self.has_skipped = false;
        light
            .or_else(|| levels.into_iter().find_map(|level| self.base(live, level, &passed(live, level)?)))
            .or_else(|| self.independent(live, interrupt))
    }

    fn part_len(&self, kept: &Saved) -> usize {
        if kept.is_whole() { self.group(kept).whole.part.len as usize } else { 0 }
    }

    fn part_matches<M: PortionMatcher>(&self, kept: &Saved, matcher: &M, bytes: &[u8]) -> bool {
        !kept.is_whole() || self.group(kept).whole.part.matches(matcher, bytes)
    }

    fn progress(&mut self, kept: &Saved, live: &Live<'_>) -> Progress {
        if self.followed == Some(kept.group())
            && let Some(progress) = self.progress_in_group(kept, live)
        {
            return progress;
        }
        let progress = progress::compare(&self.frames(kept), 0, live);
        let level = self.group(kept).level();
        let in_group =
            matches!(progress, Progress::Ahead(watch) if Some(watch.level) == level.map(|l| l + live.base().level()));
        self.followed = (in_group && !kept.is_whole()).then_some(kept.group());
        progress
    }

    fn has_state(&self, kept: &Saved, live: &Live<'_>) -> bool {
        let group = self.group(kept);
        group.whole.is_state_with(group.seen(kept.number()).as_slice(), live)
    }

    fn switched(&mut self, kept: &Saved, live: &mut Live<'_>) {
        self.forget_left(live);
        self.has_skipped = false;
        self.entered = (self.group(kept).kind != NumberKind::Single).then_some(kept.group());
        self.followed = self.entered;
        self.go_to(kept);
    }

    fn restore(&mut self, kept: &Saved, live: &mut Live<'_>) {
        self.forget_left(live);
        let (number, index) = (kept.number(), kept.group());
        let group = self.group(kept);
        if self.entered == Some(index) {
            set_number(live, group, number);
        } else if self.bases.contains(&index) {
            cut_to(live, group);
            set_number(live, group, number);
        } else {
            group.whole.restore(live);
            set_number(live, group, number);
        }
        self.go_to(kept);
        live.hooks().forget_locations();
        live.hooks().low = usize::MAX;
        (self.entered, self.followed, self.has_skipped) = (None, None, false);
    }

    fn begin(&mut self) {
        self.bases.clear();
        (self.entered, self.followed, self.has_skipped) = (None, None, false);
    }

    fn discard(&mut self, kept: Saved) {
        if let Some(group) = self.groups.get_mut(kept.group() as usize)
            && group.count > 1
        {
            group.count -= 1;
            return;
        }
        let mut released = vec![kept.group()];
        while let Some(index) = released.pop() {
            let Some(group) = self.groups.get_mut(index as usize) else { continue };
            group.count = group.count.saturating_sub(1);
            if group.count == 0 {
                released.append(&mut std::mem::take(group).bases);
                self.forget(index);
            }
        }
    }

    fn held(&self, _: &Saved) -> usize {
        0
    }

    fn bytes(&self) -> usize {
        let group = |group: &Group| {
            let own = group.whole.bytes() + size_of::<Group>() - size_of::<Snapshot>();
            own + 4 * group.bases.len() + size_of_val(group.places.as_slice())
        };
        self.groups.iter().map(group).sum::<usize>() + 4 * self.free.capacity()
    }
}

impl Lightweight {
    fn group(&self, kept: &Saved) -> &Group {
        &self.groups[kept.group() as usize]
    }

    /// Replaces the base checkpoints stack by that of a checkpoint: its group's stack, and the
    /// group itself if it can grow.
    fn go_to(&mut self, kept: &Saved) {
        let Lightweight { groups, bases, .. } = self;
        let group = &groups[kept.group() as usize];
        bases.clear();
        bases.extend_from_slice(&group.bases);
        bases.extend((group.kind != NumberKind::Single).then_some(kept.group()));
    }

    /// Removes groups whose routines have ended from the base checkpoints stack.
    fn forget_left(&mut self, live: &mut Live<'_>) {
        let low = std::mem::replace(&mut live.hooks().low, usize::MAX);
        let lowest = low.saturating_sub(live.base().level());
        let groups = &self.groups;
        self.bases.retain(|base| groups[*base as usize].level().is_some_and(|level| level < lowest));
        if let Some(group) = self.followed
            && groups[group as usize].level().is_none_or(|level| level >= lowest)
        {
            self.followed = None;
        }
    }

    /// Frees a group.
    fn forget(&mut self, group: u32) {
        self.free.push(group);
        self.bases.retain(|base| *base != group);
        let is_other = |other: &u32| *other != group;
        self.entered = self.entered.filter(is_other);
        self.followed = self.followed.filter(is_other);
    }

    /// Makes a lightweight checkpoint at a location, if a group can hold it.
    fn light(&mut self, live: &Live<'_>, level: usize, location: &Location) -> Option<(Saved, u64)> {
        let Lightweight { bases, groups, .. } = self;
        let kept = bases.iter().find_map(|&index| {
            let group = &mut groups[index as usize];
            let fits = group.level() == Some(level) && is_at(&group.whole.rare, location, live);
            if fits { Saved::light(index, group.number(location)?) } else { None }
        })?;
        self.groups[kept.group() as usize].count += 1;
        Some((kept, location.offset))
    }

    /// Makes a base checkpoint at a location.
    fn base(&mut self, live: &mut Live<'_>, level: usize, location: &Location) -> Option<(Saved, u64)> {
        let group = Group::at(live, level, location, NumberKind::from_location(location))?;
        Some((Saved::whole(self.add_base(group)), location.offset))
    }

    /// Makes a checkpoint at a location, in a new group whose base is at the routine's first
    /// location. Makes a base checkpoint at the location itself if both are the same or the group
    /// cannot be made.
    fn first(&mut self, live: &mut Live<'_>, level: usize, location: &Location) -> Option<(Saved, u64)> {
        let first = live.noted().first_location(live.base().level() + level);
        let light = first.filter(|first| first.offset < location.offset).and_then(|first| {
            let mut group = Group::at(live, level, &first, NumberKind::from_location(location))?;
            let kept = Saved::light(self.next_index(), group.number(location)?)?;
            Some((group, kept))
        });
        let Some((group, kept)) = light else { return self.base(live, level, location) };
        self.add_base(group);
        Some((kept, location.offset))
    }

    /// Adds a group that can grow. It replaces the group of the same level and kind. Otherwise,
    /// elements that make no progress (those that no schema names) could each add one.
    fn add_base(&mut self, group: Group) -> u32 {
        let (groups, level, kind) = (&self.groups, group.level(), group.kind);
        self.bases.retain(|base| groups[*base as usize].level() != level || groups[*base as usize].kind != kind);
        let index = self.add(group);
        self.bases.push(index);
        index
    }

    /// Makes a checkpoint in no group, where the routines stand.
    fn independent<M: PortionMatcher>(
        &mut self,
        live: &Live<'_>,
        interrupt: &Interrupt<'_, M>,
    ) -> Option<(Saved, u64)> {
        let whole = Snapshot::capture(live, Part::new(interrupt))?;
        Some((Saved::whole(self.add(Group { whole, ..Group::default() })), interrupt.position))
    }

    /// Adds a group with one checkpoint.
    fn add(&mut self, group: Group) -> u32 {
        self.bases.iter().for_each(|&base| self.groups[base as usize].count += 1);
        let group = Group { bases: self.bases.clone(), count: 1, ..group };
        let index = self.next_index();
        match self.free.pop() {
            Some(_) => self.groups[index as usize] = group,
            None => self.groups.push(group),
        }
        index
    }

    /// Returns the index of the next group to be added.
    fn next_index(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.groups.len() as u32)
    }

    fn frames(&self, kept: &Saved) -> Vec<Frame> {
        let group = self.group(kept);
        let mut frames = group.whole.stacks.frames.clone();
        if let Some(last) = frames.last_mut() {
            group.advance(last, kept.number());
        }
        frames
    }

    /// Compares the number alone; `None` if that is not sufficient.
    fn progress_in_group(&self, kept: &Saved, live: &Live<'_>) -> Option<Progress> {
        let group = self.group(kept);
        let (level, mut frame) = (group.level()?, *group.whole.stacks.frames.last()?);
        if live.noted().low <= live.base().level() + level {
            return None;
        }
        group.advance(&mut frame, kept.number());
        Some(progress::compare(&[frame], level, live))
    }
}

impl NumberKind {
    /// Returns the kind of group that a routine with this progress can have.
    fn from_location(location: &Location) -> Self {
        match location.before {
            Frame { is_repeated: true, field, .. } => NumberKind::Items(field),
            _ if location.seen.is_some() => NumberKind::Noted,
            _ => NumberKind::Fields,
        }
    }
}

/// Returns the number of occurrences of a repeated field that a routine has read.
fn counted(frame: &Frame, field: u32) -> u32 {
    if frame.is_repeated && frame.field == field { frame.count } else { 0 }
}

impl Group {
    /// Maximum number of places: those of 64 fields in one order. The search is linear.
    const MAX_PLACES: usize = 64;

    /// Creates a group with the state at a location.
    fn at(live: &Live<'_>, level: usize, location: &Location, kind: NumberKind) -> Option<Self> {
        Some(Group { whole: whole_at(live, level, location)?, kind, ..Group::default() })
    }

    /// Returns the level of its routine's frame; `None` without a routine.
    fn level(&self) -> Option<usize> {
        if self.kind == NumberKind::Single { None } else { self.whole.stacks.frames.len().checked_sub(1) }
    }

    /// Returns the number for the progress at a location: the distance from the base checkpoint, or
    /// the index of the place.
    fn number(&mut self, location: &Location) -> Option<u32> {
        let (base, before) = (*self.whole.stacks.frames.last()?, &location.before);
        let number = match self.kind {
            NumberKind::Items(field) if before.field == field && before.count > 0 && before.is_repeated => {
                before.count.checked_sub(counted(&base, field))?
            }
            NumberKind::Fields if before.count == 1 && !before.is_repeated => before.field.checked_sub(base.field)?,
            NumberKind::Noted if before.count == 1 && !before.is_repeated => {
                self.place(LoggedProgress { field: before.field, seen: location.seen? })?
            }
            _ => return None,
        };
        (self.seen(Some(number)) == location.seen).then_some(number)
    }

    /// Returns the index of a place, which is added if it is new.
    fn place(&mut self, place: LoggedProgress) -> Option<u32> {
        let known = self.places.iter().position(|known| *known == place);
        if known.is_none() && self.places.len() < Group::MAX_PLACES {
            self.places.push(place);
        }
        let number = known.unwrap_or(self.places.len().saturating_sub(1));
        (self.places.get(number) == Some(&place)).then_some(number as u32)
    }

    /// Returns the bit set of fields seen at the checkpoint with this number, if the routine logs
    /// them.
    fn seen(&self, number: Option<u32>) -> Option<u64> {
        self.level()?;
        let Stacks { frames, seen, .. } = &self.whole.stacks;
        let (first, own) = (frames.first()?, frames.last().filter(|own| own.notes_fields)?);
        let base = *seen.get((own.log - first.log) as usize)?;
        Some(match (self.kind, number) {
            (NumberKind::Items(field), Some(_)) => base | 1 << field,
            (NumberKind::Noted, Some(number)) => self.places.get(number as usize)?.seen,
            _ => base,
        })
    }

    /// Advances the routine's frame from the base checkpoint to the progress with this number.
    fn advance(&self, frame: &mut Frame, number: Option<u32>) {
        match (self.kind, number) {
            (NumberKind::Items(field), Some(number)) => {
                (frame.field, frame.count, frame.is_repeated) = (field, counted(frame, field) + number, true);
            }
            (NumberKind::Fields, Some(number)) => {
                (frame.field, frame.count, frame.is_repeated) = (frame.field + number, 1, false);
            }
            (NumberKind::Noted, Some(number)) => {
                let field = self.places.get(number as usize).map_or(frame.field, |place| place.field);
                (frame.field, frame.count, frame.is_repeated) = (field, 1, false);
            }
            _ => {}
        }
    }
}

/// Returns true if XML trees had taken the same amount at a location.
fn is_at(rare: &Rare, location: &Location, live: &Live<'_>) -> bool {
    rare.trees == location.trees && rare.scope() == live.rare().scope()
}

/// Returns the last possible position for a checkpoint of the routine at a level: the current
/// position for the innermost routine, otherwise before the child that it reads.
fn location(live: &Live<'_>, level: usize) -> Option<Location> {
    let frame = live.frame(level).filter(|frame| frame.has_children && !frame.is_opaque)?;
    if level + 1 < live.frames().len() {
        return live.noted().location(live.base().level() + level);
    }
    let stands = frame.state == 0 && live.can_be_copied();
    let seen = live.fields_seen(level);
    stands.then_some(Location { offset: live.offset(), before: frame, seen, trees: live.trees() })
}

/// Returns the whole state at a location.
fn whole_at(live: &Live<'_>, level: usize, location: &Location) -> Option<Snapshot> {
    let frames: Vec<Frame> = (0..level).filter_map(|level| live.frame(level)).chain([location.before]).collect();
    let rare = Rare { partial: Default::default(), ..live.rare() };
    if frames.iter().any(|frame| frame.is_opaque || frame.mark != 0) || rare.trees != location.trees {
        return None;
    }
    let mut stacks = live.stacks_below(level + 1)?;
    if let Some(seen) = location.seen {
        *stacks.seen.last_mut()? = seen;
    }
    stacks.frames = frames;
    Some(Snapshot { stacks, rare, part: Part::default() })
}

/// Drops what lies above a group's frame.
fn cut_to(live: &mut Live<'_>, group: &Group) {
    if let Some(level) = group.level() {
        let own = &group.whole.stacks.frames[level..];
        live.cut_to(level, own, &group.whole.rare);
    }
}

/// Sets the innermost frame to the progress of a checkpoint.
fn set_number(live: &mut Live<'_>, group: &Group, number: Option<u32>) {
    let own = group.whole.stacks.frames.last();
    if let (Some(last), Some(own), true) = (live.innermost(), own, group.kind != NumberKind::Single) {
        (last.field, last.count, last.is_repeated, last.state) = (own.field, own.count, own.is_repeated, own.state);
        group.advance(last, number);
        if let Some(seen) = group.seen(number) {
            live.set_fields_seen(seen);
        }
    }
    live.settle();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_says_its_group_and_number() {
        for group in [0, 1, 77, (1 << Saved::GROUP) - 1] {
            let whole = Saved::whole(group);
            assert_eq!((whole.group(), whole.number()), (group, None));
            for number in [0, 1, 1000, (1 << Saved::NUMBER) - 1] {
                let light = Saved::light(group, number).expect("it fits");
                assert_eq!((light.group(), light.number()), (group, Some(number)));
            }
            assert!(Saved::light(group, 1 << Saved::NUMBER).is_none());
        }
        assert!(Saved::light(1 << Saved::GROUP, 0).is_none());
        assert_eq!(Saved::whole(u32::MAX >> 1).group(), u32::MAX >> 1);
    }
}
