//! Selects the field that a tag opens, and checks that all required fields occurred.

use super::{DecodeFields, Routine};
use crate::ErrorKind;
use crate::decode::differential::leaf::AnyOrder;
use crate::decode::{Cursor, Step, Stop, Tolerance};
use crate::ns;
use crate::schema::{ChoiceFault, ComplexElement, Compositor, Element, Field, View};

impl<'s> Routine<'_, '_, 's> {
    /// Returns the field of the element just opened; `None` if no field can stand here.
    ///
    /// # Errors
    /// When it is a field that can only stand elsewhere.
    pub(super) fn select(&mut self) -> Step<Option<usize>> {
        match self.order() {
            Compositor::Sequence => self.select_in_sequence(),
            Compositor::All => self.select_in_any_order(),
            Compositor::Choice => self.select_choice(),
        }
    }

    /// Returns the first field, from index `from` on, that takes the element just opened.
    pub(super) fn find(&self, from: usize) -> Option<usize> {
        find(self.cursor, self.view, &self.complex.fields, from)
    }

    /// Returns the next field in order with this name; the fields passed over must be optional or
    /// satisfied.
    fn select_in_sequence(&mut self) -> Step<Option<usize>> {
        let (current, count) = (self.current(), self.frame().count);
        let from = self.next_in_sequence();
        let index = match self.find_unbarred(from) {
            (Some(index), _) => index,
            (None, Some(fault)) => return Err(self.expected(self.expected_by(&fault))),
            (None, None) => return Ok(None),
        };
        if self.is_of_a_field_before(index) {
            return Ok(None);
        }
        match first_missing(&self.complex.fields, current, count, index) {
            None => {
                self.note_seen(index);
                Ok(Some(index))
            }
            Some(missing) => Err(self.expected(format!("<{}>", missing.name))),
        }
    }

    /// Returns true if a wildcard was selected for an element that an earlier field names, and that
    /// field is accepted in any order.
    fn is_of_a_field_before(&self, index: usize) -> bool {
        let fields = &self.complex.fields;
        self.cursor.tolerance() == Tolerance::AnyOrder
            && is_wildcard(self.cursor, self.view, &fields[index])
            && fields[..index].iter().any(|field| is_field(self.cursor, self.view, field))
    }

    /// In a group: returns the next field in order with this name; `None` if the group is complete
    /// without it.
    ///
    /// # Errors
    /// When the group is not complete.
    pub(super) fn select_in_group(&mut self) -> Step<Option<usize>> {
        let (current, count) = (self.current(), self.frame().count);
        let from = self.next_in_sequence();
        let found = self.find_unbarred(from).0;
        let next = found.filter(|&index| first_missing(&self.complex.fields, current, count, index).is_none());
        if let Some(index) = next {
            self.note_seen(index);
            return Ok(next);
        }
        self.describe_missing().map_or(Ok(None), |what| Err(self.expected(what)))
    }

    /// Like [`find`](Self::find), but without fields that choices exclude: branches may begin or
    /// continue with elements of the same name. If only excluded fields match, returns what
    /// excludes the first of them.
    fn find_unbarred(&mut self, from: usize) -> (Option<usize>, Option<ChoiceFault>) {
        if self.complex.choices.is_empty() {
            return (self.find(from), None);
        }
        let (fields, mut barred) = (&self.complex.fields, None);
        for index in from..2 * fields.len() {
            // First fields that name the element, then those that take any.
            let takes_it = match fields.get(index) {
                Some(field) => is_field(self.cursor, self.view, field),
                None => {
                    index - fields.len() >= from && is_wildcard(self.cursor, self.view, &fields[index - fields.len()])
                }
            };
            let index = index % fields.len();
            if takes_it {
                let Some(fault) = self.complex.bars(index, self.counts()) else { return (Some(index), None) };
                barred.get_or_insert(fault);
            }
        }
        (None, barred)
    }

    /// Returns what a choice requires, for error messages.
    #[cold]
    fn expected_by(&self, fault: &ChoiceFault) -> String {
        let fields = &self.complex.fields;
        let list = |firsts: &[usize]| field_list(firsts.iter().map(|&first| &fields[first]));
        match fault {
            ChoiceFault::Several(firsts) => format!("only one of {}", list(firsts)),
            ChoiceFault::Nothing(firsts) => format!("one of {}", list(firsts)),
            ChoiceFault::TooFew { field, .. } => format!("<{}>", fields[*field].name),
        }
    }

    /// Returns the first field that may come next in a sequence: the current one, unless it cannot
    /// occur again.
    pub(super) fn next_in_sequence(&mut self) -> usize {
        let (current, count) = (self.current(), self.frame().count);
        let is_full = |field: &Field| field.max.is_some_and(|max| count >= max);
        current + usize::from(self.complex.fields.get(current).is_some_and(is_full))
    }

    /// Returns the field with this name, at any position; a repeated one may come back.
    fn select_in_any_order(&mut self) -> Step<Option<usize>> {
        let current = self.current();
        let fields = &self.complex.fields;
        let named = |from: usize| (from..fields.len()).find(|&index| is_field(self.cursor, self.view, &fields[index]));
        let wildcard =
            |from: usize| (from..fields.len()).find(|&index| is_wildcard(self.cursor, self.view, &fields[index]));
        let found = named(current).or_else(|| named(0)).or_else(|| wildcard(current)).or_else(|| wildcard(0));
        let Some(index) = found else { return Ok(None) };
        if self.set_seen(index) && !self.complex.fields[index].is_repeated() {
            // In a sequence that is read in any order, an open type skips the same elements as it
            // would in order.
            if self.complex.open && self.is_loose() {
                return Ok(None);
            }
            let once = match self.named() {
                Some(_) => format!("<{}> only once", self.cursor.found_name()),
                None if !is_field(self.cursor, self.view, &self.complex.fields[index]) => {
                    "at most one other element".to_owned()
                }
                None => "each field only once".to_owned(),
            };
            return Err(self.expected(once));
        }
        Ok(Some(index))
    }

    /// Returns the field with this name, if no other was chosen before.
    fn select_choice(&mut self) -> Step<Option<usize>> {
        let (chosen, count) = (self.current(), self.frame().count);
        let Some(index) = self.find(0) else { return Ok(None) };
        let is_full = self.complex.fields[index].max.is_some_and(|max| count >= max);
        if count > 0 && (index != chosen || is_full) {
            let most = self.complex.fields[index].max.filter(|&max| index == chosen && max > 1);
            return Err(self.expected(match most.zip(self.named()) {
                Some((most, _)) => format!("<{}> at most {most} times", self.cursor.found_name()),
                None => format!("only one of {}", field_list(self.complex.fields.iter())),
            }));
        }
        Ok(Some(index))
    }

    /// Makes room to record the fields that were seen, if their order does not imply it.
    pub(super) fn reserve_seen(&mut self) {
        if self.notes {
            let seen = &mut self.cursor.state().stack.seen;
            let words = self.complex.fields.len().div_ceil(64);
            seen.resize(seen.len() + words, 0);
            self.frame().notes_fields = true;
        }
    }

    fn note_seen(&mut self, index: usize) {
        if self.notes {
            self.set_seen(index);
        }
    }

    /// Records a field as seen. Returns true if it was already.
    pub(super) fn set_seen(&mut self, index: usize) -> bool {
        let word = self.frame().log as usize + index / 64;
        let seen = &mut self.cursor.state().stack.seen[word];
        let bit = 1 << (index % 64);
        let before = *seen & bit != 0;
        *seen |= bit;
        // Another list may have grown in between.
        if before && index != self.current() {
            self.cursor.state().comes_back = true;
        }
        before
    }

    /// On the way to where regular mode continues, in an element whose fields come in any order:
    /// records the fields that were passed.
    pub(super) fn restore_seen(&mut self) {
        let log = self.frame().log as usize;
        if self.cursor.state().stack.seen.len() == log {
            self.reserve_seen();
        }
        // Where the order is that of the schema, the passed fields are not needed: a message that
        // is read in any order is not compared.
        if !self.complex.notes_fields() {
            return;
        }
        debug_assert!(self.complex.is_plain_all(), "routines descend into no other elements that note their fields");
        let passed = self.cursor.fields_passed();
        if let Some(word) = self.cursor.state().stack.seen.get_mut(log) {
            *word = passed;
        }
    }

    /// Like [`resync`](Self::resync), for fields in any order: those that no longer occur are cut
    /// off.
    pub(super) fn resync_in_any_order<T: DecodeFields + ?Sized>(
        &mut self,
        target: &mut T,
        index: usize,
        is_array: bool,
    ) -> bool {
        let log = self.frame().log as usize;
        let seen = self.cursor.state().stack.seen[log];
        let fields = AnyOrder { seen, required: self.complex.required() };
        let Some(mut gone) = self.cursor.resync_in_any_order(self.me, index as u32, fields, is_array) else {
            return false;
        };
        while gone != 0 {
            self.keep(target, gone.trailing_zeros() as usize, 0);
            gone &= gone - 1;
        }
        true
    }

    /// Over an old value, at the end of an element whose fields come in any order: cuts off the
    /// fields that did not occur.
    pub(super) fn keep_seen<T: DecodeFields + ?Sized>(&mut self, target: &mut T, next: usize) {
        if next < self.complex.fields.len() {
            return;
        }
        for field in 0..self.complex.fields.len() {
            if !self.is_seen(field) {
                target.keep(field, 0, self.view.follow(self.complex.fields[field].element));
            }
        }
    }

    pub(super) fn is_seen(&mut self, index: usize) -> bool {
        let log = self.frame().log as usize;
        self.cursor.state().stack.seen[log + index / 64] & (1 << (index % 64)) != 0
    }

    /// Returns a function that counts the occurrences of a field in a sequence. Fields that were
    /// passed had occurred often enough.
    fn counts(&mut self) -> impl Fn(usize) -> u32 {
        let (current, count, log) = (self.current(), self.frame().count, self.frame().log as usize);
        let seen = &self.cursor.state().stack.seen;
        move |index| match seen[log + index / 64] & (1 << (index % 64)) {
            _ if index == current => count,
            0 => 0,
            _ => u32::MAX,
        }
    }

    /// Checks at the end tag that all fields have occurred often enough. Returns the missing ones
    /// that are tolerated.
    ///
    /// # Errors
    /// When a field has not occurred often enough.
    pub(super) fn check_complete(&mut self) -> Step<Option<Vec<usize>>> {
        let Some(what) = self.describe_missing() else { return Ok(None) };
        if let Some(lacking) = self.tolerate_missing()? {
            return Ok(Some(lacking));
        }
        let name = what.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).filter(|name| !name.contains('<'));
        let index = name.and_then(|name| self.complex.fields.iter().position(|field| field.name.to_string() == name));
        Err(self.missing(name.unwrap_or(&what).to_owned(), index))
    }

    /// Returns what is missing if nothing more comes.
    fn describe_missing(&mut self) -> Option<String> {
        let (current, count) = (self.current(), self.frame().count);
        let fields = &self.complex.fields;
        let missing = match self.order() {
            Compositor::Sequence => first_missing(fields, current, count, fields.len()),
            Compositor::All => self.first_unseen(),
            Compositor::Choice => return self.missing_in_choice(current, count),
        };
        missing.map(|field| format!("<{}>", field.name)).or_else(|| self.missing_branch())
    }

    /// Returns what is missing in choices between groups: each needs one complete group.
    pub(super) fn missing_branch(&mut self) -> Option<String> {
        if self.complex.choices.is_empty() {
            return None;
        }
        let fault = self.complex.choice_fault(self.counts())?;
        Some(self.expected_by(&fault))
    }

    /// Returns what is missing in a choice: the chosen field must occur often enough. A choice
    /// whose fields are all required must have one of them.
    fn missing_in_choice(&self, chosen: usize, count: u32) -> Option<String> {
        let fields = &self.complex.fields;
        if count > 0 {
            return fields.get(chosen).filter(|field| count < field.min).map(|field| format!("<{}>", field.name));
        }
        let is_made = fields.is_empty() || fields.iter().any(|field| field.min == 0);
        (!is_made).then(|| format!("one of {}", field_list(fields.iter())))
    }

    /// Returns the first required field that was not seen.
    fn first_unseen(&mut self) -> Option<&'s Field> {
        let fields = &self.complex.fields;
        (0..fields.len()).find(|&index| fields[index].min > 0 && !self.is_seen(index)).map(|index| &fields[index])
    }

    /// Returns true if the element just opened only names the result among the parts of a response,
    /// as some toolkits write it in SOAP 1.2 (part 2, section 4.2.1). The schema provides that too.
    #[cold]
    pub(super) fn names_the_result(&self) -> bool {
        self.cursor.names().is(self.cursor.name(), ns::SOAP12_RPC, "result")
    }

    /// Creates the error for an element that is none of the fields that may come next.
    #[cold]
    pub(super) fn unexpected(&mut self, from: usize) -> Stop {
        let fields = &self.complex.fields;
        let from = if self.complex.compositor == Compositor::Sequence { from.min(fields.len()) } else { 0 };
        let list = field_list(&fields[from..]);
        let surplus = self.surplus();
        let found = self.cursor.found_name();
        self.expected(match surplus {
            None => list,
            Some(1) => format!("{list}, and <{found}> only once"),
            Some(most) => format!("{list}, and <{found}> at most {most} times"),
        })
    }

    /// Returns the maximum number of occurrences of the field with the name of the element just
    /// opened, if it is known to have occurred that often.
    fn surplus(&mut self) -> Option<u32> {
        let (current, count) = (self.current(), self.frame().count);
        let index = self.named()?;
        let field = &self.complex.fields[index];
        let most = field.max?;
        // In a sequence without choices, a required field has occurred once a later one has.
        let is_ordered = self.order() == Compositor::Sequence && self.complex.choices.is_empty();
        let has_come = || is_ordered && index < current && field.min > 0;
        let is_full = match index == current {
            true => count >= most,
            false => most == 1 && (has_come() || (self.notes && self.is_seen(index))),
        };
        is_full.then_some(most)
    }

    /// Returns the only field that takes the element just opened, if it has its name.
    fn named(&self) -> Option<usize> {
        let fields = &self.complex.fields;
        let takes =
            |field: &Field| is_field(self.cursor, self.view, field) || is_wildcard(self.cursor, self.view, field);
        let mut taking = (0..fields.len()).filter(|&index| takes(&fields[index]));
        let index = taking.next().filter(|&index| !fields[index].inline)?;
        taking.next().is_none().then_some(index)
    }

    /// Creates the error for an element other than expected.
    #[cold]
    pub(super) fn expected(&self, expected: String) -> Stop {
        self.cursor.error_at_tag(ErrorKind::UnexpectedElement { found: self.cursor.found_name(), expected })
    }

    /// Creates the error for missing content in the element just closed; the field, if it is one.
    #[cold]
    pub(super) fn missing(&mut self, expected: String, field: Option<usize>) -> Stop {
        let skipped = self.skipped_for(field);
        self.cursor.error_at_end(ErrorKind::MissingElement { expected, skipped })
    }
}

/// Returns the first field, from index `from` on, that names the element just opened, else the
/// first that takes any element.
fn find(cursor: &Cursor<'_>, view: View<'_>, fields: &[Field], from: usize) -> Option<usize> {
    let named = (from..fields.len()).find(|&index| is_field(cursor, view, &fields[index]));
    named.or_else(|| (from..fields.len()).find(|&index| is_wildcard(cursor, view, &fields[index])))
}

/// Returns true if this field names the element just opened, or one of its choices does if it is
/// inline.
pub(super) fn is_field(cursor: &Cursor<'_>, view: View<'_>, field: &Field) -> bool {
    if field.inline {
        let group = view.follow(field.element);
        let is_named = |choice: &ComplexElement| choice.fields.iter().any(|field| is_field(cursor, group, field));
        return group.complex().is_some_and(is_named);
    }
    cursor.names().is(cursor.name(), &field.name.namespace, &field.name.local)
}

/// Returns true if the field is a wildcard that takes the element just opened, or a choice with
/// such a field.
pub(super) fn is_wildcard(cursor: &Cursor<'_>, view: View<'_>, field: &Field) -> bool {
    if !field.inline {
        return false;
    }
    let group = view.follow(field.element);
    match group.element {
        Element::Any => field.takes(cursor.names().namespace(cursor.name())),
        Element::Complex(choice) => choice.fields.iter().any(|field| is_wildcard(cursor, group, field)),
        _ => false,
    }
}

/// Returns the first field in `current..until` that has not occurred often enough.
fn first_missing(fields: &[Field], current: usize, count: u32, until: usize) -> Option<&Field> {
    (current..until.min(fields.len()))
        .map(|index| (&fields[index], if index == current { count } else { 0 }))
        .find(|(field, count)| *count < field.min)
        .map(|(field, _)| field)
}

/// Lists the first few fields for an error message.
fn field_list<'f>(fields: impl IntoIterator<Item = &'f Field, IntoIter: ExactSizeIterator>) -> String {
    const SHOWN: usize = 5;
    let fields = fields.into_iter();
    let count = fields.len();
    let shown =
        |field: &Field| if field.inline { format!("<{}>", field.name.local) } else { format!("<{}>", field.name) };
    let mut list: Vec<String> = fields.take(SHOWN).map(shown).collect();
    if count > SHOWN {
        list.push(format!("{} more", count - SHOWN));
    }
    if list.is_empty() { "the end of the element".to_owned() } else { list.join(" or ") }
}
