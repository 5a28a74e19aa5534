//! What the schema does not allow here, and is accepted all the same; see [`Tolerance`].

use super::select::{is_field, is_wildcard};
use super::{LOOSE, Routine, SKIPPING};
use crate::decode::tolerance::has_empty_value;
use crate::decode::{DeviationKind, Step, Tolerance};
use crate::schema::Compositor;

impl Routine<'_, '_, '_> {
    /// How fields may follow each other, as far as it is asked for.
    #[inline]
    pub(super) fn order(&mut self) -> Compositor {
        if self.is_loose() { Compositor::All } else { self.complex.compositor }
    }

    fn is_loose(&mut self) -> bool {
        self.frame().state & LOOSE != 0
    }

    /// True if the fields that were seen are noted: where the schema needs it, and where a sequence may turn out to be in another order.
    #[inline]
    pub(super) fn notes_fields(&self) -> bool {
        self.complex.notes_fields()
            || (self.cursor.tolerance() == Tolerance::AnyOrder && self.complex.compositor == Compositor::Sequence)
    }

    /// At a start tag that the schema does not allow here. Gives the field that it opens all the same; `None` if the element is
    /// skipped.
    ///
    /// # Errors
    /// When it is not accepted.
    #[cold]
    pub(super) fn tolerate(&mut self, selected: Step<Option<usize>>) -> Step<Option<usize>> {
        if let Some((index, kind)) = self.select_loosely() {
            self.loosen()?;
            self.set_seen(index);
            self.cursor.report_element(kind, self.complex);
            return Ok(Some(index));
        }
        if selected.is_ok() && (self.complex.open || self.names_the_result()) {
            self.set_state(SKIPPING);
            return Ok(None);
        }
        let is_unknown = self.find(0).is_none();
        if selected.is_ok() && is_unknown && self.cursor.tolerance() >= Tolerance::Unknown {
            self.cursor.report_element(DeviationKind::UnknownElement, self.complex);
            self.set_state(SKIPPING);
            return Ok(None);
        }
        selected?;
        let from = self.next_in_sequence();
        Err(self.unexpected(from))
    }

    /// At the end of an element that lacks something: true if that is accepted.
    #[cold]
    pub(super) fn tolerates_lack(&mut self) -> Step<bool> {
        let can_lack = self.cursor.tolerance() == Tolerance::AnyOrder
            && self.complex.compositor != Compositor::Choice
            && !self.is_in_group()
            && self.lacks_branch().is_none();
        if !can_lack {
            return Ok(false);
        }
        let (complex, view) = (self.complex, self.view);
        let lacking: Vec<usize> = (0..complex.fields.len()).filter(|&index| self.lacks(index)).collect();
        if !lacking.iter().all(|&index| has_empty_value(view.follow(complex.fields[index].element))) {
            return Ok(false);
        }
        self.loosen()?;
        lacking.iter().for_each(|&index| self.cursor.report_missing(complex, index));
        Ok(true)
    }

    /// True if a required field has not come, or not often enough as far as the order tells.
    fn lacks(&mut self, index: usize) -> bool {
        let min = self.complex.fields[index].min;
        let is_current = self.current() == index && self.order() == Compositor::Sequence;
        min > 0 && (!self.is_seen(index) || is_current && self.frame().count < min)
    }

    /// Reads the fields in any order from here on. The message is compared with no other then, but as a whole.
    fn loosen(&mut self) -> Step {
        if self.is_loose() {
            return Ok(());
        }
        self.cursor.leave_differential()?;
        let frame = self.frame();
        frame.state |= LOOSE;
        frame.shape = Default::default();
        Ok(())
    }

    /// The field that the element just opened is in spite of its place or its namespace.
    fn select_loosely(&mut self) -> Option<(usize, DeviationKind)> {
        let can_be_loose = self.cursor.tolerance() == Tolerance::AnyOrder
            && self.complex.compositor != Compositor::Choice
            && !self.is_in_group()
            && !self.complex.has_groups(self.view);
        if !can_be_loose {
            return None;
        }
        let (fields, view) = (&self.complex.fields[..], self.view);
        let is_named = |routine: &Self, index: usize| is_field(routine.cursor, view, &fields[index]);
        if (0..fields.len()).any(|index| is_named(self, index)) {
            let mut free = (0..fields.len()).filter(|&index| is_named(self, index)).collect::<Vec<_>>().into_iter();
            return free.find(|&index| self.is_free(index)).map(|index| (index, DeviationKind::Order));
        }
        let mut wildcards = (0..fields.len()).filter(|&index| is_wildcard(view, &fields[index])).peekable();
        if wildcards.peek().is_some() {
            return wildcards.find(|&index| self.is_free(index)).map(|index| (index, DeviationKind::Order));
        }
        let (names, name) = (self.cursor.names(), self.cursor.name());
        let mut alike = (0..fields.len()).filter(|&index| fields[index].name.local == names.local(name));
        let (only, other) = (alike.next()?, alike.next());
        (other.is_none() && self.is_free(only)).then_some((only, DeviationKind::Namespace))
    }

    /// True if a field can take one more occurrence.
    fn is_free(&mut self, index: usize) -> bool {
        self.complex.fields[index].is_repeated() || !self.is_seen(index)
    }
}
