//! Accepts content that the schema does not allow; see [`Tolerance`].

use super::select::{is_field, is_wildcard};
use super::{LOOSE, NAMESAKES, Routine, SKIPPING};
use crate::decode::{DeviationKind, Step, Stop, Tolerance};
use crate::schema::{Compositor, Field, QName, View};
use deltasoap_xml::NameId;

impl Routine<'_, '_, '_> {
    /// Returns the order that is enforced on the fields.
    #[inline]
    pub(super) fn order(&mut self) -> Compositor {
        if self.is_loose() { Compositor::All } else { self.complex.compositor }
    }

    pub(super) fn is_loose(&mut self) -> bool {
        self.frame().state & LOOSE != 0
    }

    /// Handles a start tag that the schema does not allow here. Returns the field that it opens
    /// nevertheless; `None` if the element is skipped.
    ///
    /// # Errors
    /// When it is not accepted.
    #[cold]
    pub(super) fn tolerate(&mut self, selected: Step<Option<usize>>) -> Step<Option<usize>> {
        if selected.is_ok() && self.names_the_result() {
            self.set_state(SKIPPING);
            return Ok(None);
        }
        // If a field could have taken it, skipping would lose data.
        let is_surplus = self.is_alike_a_field();
        if let Some((candidates, kind)) = self.select_loosely() {
            // Only afterwards are the fields seen known: a message that is compared has passed some
            // unseen.
            self.loosen()?;
            if let Some(index) = candidates.into_iter().find(|&index| self.is_free(index)) {
                self.set_seen(index);
                self.cursor.report_element(kind, self.complex);
                return Ok(Some(index));
            }
            if kind == DeviationKind::Namespace && !self.complex.open {
                return Err(self.surplus_elsewhere());
            }
        }
        if selected.is_ok() && self.complex.open {
            self.set_state(SKIPPING);
            return Ok(None);
        }
        let is_unknown = !is_surplus && self.find(0).is_none();
        if selected.is_ok() && is_unknown && self.cursor.tolerance() >= Tolerance::Unknown {
            let kind = self.kind_of_unknown()?;
            self.cursor.report_element(kind, self.complex);
            self.set_state(SKIPPING);
            return Ok(None);
        }
        selected?;
        let from = self.next_in_sequence();
        Err(self.unexpected(from))
    }

    /// Returns the kind of the unknown element just opened. If it may be the reason why a required
    /// field will be missing, it is noted for that error.
    ///
    /// # Errors
    /// See [`leave_differential`](crate::decode::Cursor::leave_differential): a message that is
    /// compared could pass the element unseen, and the error would not name it.
    fn kind_of_unknown(&mut self) -> Step<DeviationKind> {
        let Some(index) = self.namesake().filter(|&index| self.may_still_occur(index)) else {
            return Ok(DeviationKind::UnknownElement);
        };
        let complex = self.complex;
        let is_needed =
            complex.fields[index].min > 0 || complex.compositor == Compositor::Choice || !complex.choices.is_empty();
        if is_needed {
            self.cursor.leave_differential()?;
            self.note_namesake();
        }
        Ok(DeviationKind::Namesake)
    }

    /// Returns the field with the local name of the element just opened.
    fn namesake(&self) -> Option<usize> {
        let local = self.cursor.names().local(self.cursor.name());
        self.complex.fields.iter().position(|field| has_local_name(self.view, field, local))
    }

    /// Returns true if a field may still occur, as far as the order shows.
    fn may_still_occur(&mut self, index: usize) -> bool {
        let (current, count) = (self.current(), self.frame().count);
        let min = self.complex.fields[index].min;
        match self.order() {
            Compositor::All => !self.is_seen(index),
            Compositor::Choice => count == 0,
            // An optional field before the current one may have been passed over.
            Compositor::Sequence if index < current => min == 0,
            Compositor::Sequence => index > current || count < min.max(1),
        }
    }

    fn note_namesake(&mut self) {
        let (me, name) = (self.me, self.cursor.name());
        if self.frame().state & NAMESAKES == 0 {
            self.cursor.state().tolerated.forget_namesakes(me);
            self.frame().state |= NAMESAKES;
        }
        self.cursor.state().tolerated.add_namesake(me, name);
    }

    /// Returns the element that was skipped although it has the local name of the missing field, or
    /// of any field if one of several is missing.
    pub(super) fn skipped_for(&mut self, missing: Option<usize>) -> Option<String> {
        if self.frame().state & NAMESAKES == 0 {
            return None;
        }
        let (fields, view) = (&self.complex.fields, self.view);
        let names = self.cursor.names();
        let is_it = |name: &NameId| match missing {
            Some(index) => has_local_name(view, &fields[index], names.local(*name)),
            None => true,
        };
        let skipped = self.cursor.namesakes(self.me).find(is_it)?;
        Some(QName::owned(names.namespace(skipped), names.local(skipped)).to_string())
    }

    /// Creates the error for an element that has already occurred, apart from its namespace.
    fn surplus_elsewhere(&self) -> Stop {
        let local = self.cursor.names().local(self.cursor.name());
        self.expected(format!("<{local}> only once, in any namespace"))
    }

    /// Handles the end of an incomplete element. Returns the missing fields, if that is accepted.
    #[cold]
    pub(super) fn tolerate_missing(&mut self) -> Step<Option<Vec<usize>>> {
        let may_be_incomplete = self.cursor.tolerance() == Tolerance::AnyOrder
            && self.complex.compositor != Compositor::Choice
            && !self.is_in_group()
            && self.missing_branch().is_none();
        if !may_be_incomplete {
            return Ok(None);
        }
        let (complex, view) = (self.complex, self.view);
        let short = self.too_few();
        self.loosen()?;
        let lacking: Vec<usize> =
            (0..complex.fields.len()).filter(|&index| complex.fields[index].min > 0 && !self.is_seen(index)).collect();
        let mut can_be_empty =
            |field: &Field| field.nillable || self.cursor.has_empty_value(view.follow(field.element));
        if let Some(&index) = lacking.iter().find(|&&index| !can_be_empty(&complex.fields[index])) {
            return Err(self.missing(complex.fields[index].name.to_string(), Some(index)));
        }
        lacking.iter().copied().chain(short).for_each(|index| self.cursor.report_missing(complex, index));
        Ok(Some(lacking))
    }

    /// Returns the last field, if it has occurred but not often enough, as far as the order shows.
    fn too_few(&mut self) -> Option<usize> {
        let (current, count) = (self.current(), self.frame().count);
        let field = self.complex.fields.get(current).filter(|_| self.order() == Compositor::Sequence);
        field.filter(|field| (1..field.min).contains(&count)).map(|_| current)
    }

    /// Reads the fields in any order from here on. The message is then compared only as a whole.
    fn loosen(&mut self) -> Step {
        if self.is_loose() {
            return Ok(());
        }
        self.cursor.leave_differential()?;
        // Markup in another order does not identify the field of each leaf.
        self.cursor.stop_learning();
        let frame = self.frame();
        frame.state |= LOOSE;
        frame.shape = Default::default();
        Ok(())
    }

    /// Returns the fields that the element just opened can be in spite of its position or its
    /// namespace.
    fn select_loosely(&mut self) -> Option<(Vec<usize>, DeviationKind)> {
        let can_be_loose = self.cursor.tolerance() == Tolerance::AnyOrder
            && self.complex.compositor != Compositor::Choice
            && !self.is_in_group()
            && !self.complex.has_groups(self.view);
        if !can_be_loose {
            return None;
        }
        let (fields, view) = (&self.complex.fields[..], self.view);
        let those = |is_one: &dyn Fn(usize) -> bool| (0..fields.len()).filter(|&index| is_one(index)).collect();
        let named: Vec<usize> = those(&|index| is_field(self.cursor, view, &fields[index]));
        if !named.is_empty() {
            return Some((named, DeviationKind::Order));
        }
        let wildcards: Vec<usize> = those(&|index| is_wildcard(self.cursor, view, &fields[index]));
        if !wildcards.is_empty() {
            return Some((wildcards, DeviationKind::Order));
        }
        let local = self.cursor.names().local(self.cursor.name());
        let alike: Vec<usize> = those(&|index| fields[index].name.local == local);
        (alike.len() == 1).then_some((alike, DeviationKind::Namespace))
    }

    /// Returns true if elements of other namespaces are accepted, and a field has the same local
    /// name as the element just opened.
    fn is_alike_a_field(&self) -> bool {
        let local = self.cursor.names().local(self.cursor.name());
        self.cursor.tolerance() == Tolerance::AnyOrder
            && self.complex.fields.iter().any(|field| !field.inline && field.name.local == local)
    }

    /// Returns true if a field can take one more occurrence.
    fn is_free(&mut self, index: usize) -> bool {
        self.complex.fields[index].is_repeated() || !self.is_seen(index)
    }
}

/// Returns true if the element of a field, or of one of its choices, has this local name.
fn has_local_name(view: View<'_>, field: &Field, local: &str) -> bool {
    if !field.inline {
        return field.name.local == local;
    }
    let group = view.follow(field.element);
    group.complex().is_some_and(|choice| choice.fields.iter().any(|field| has_local_name(group, field, local)))
}
