//! Choices between groups of fields, at least one of which has several elements.
//!
//! A choice of single elements is a [`ComplexElement`] of its own. If a branch is a sequence, its
//! elements have no element around them, so only what follows shows where the branch ends. They are
//! fields of the element that contains the choice, all optional, and a [`Choice`] specifies which
//! of them exclude each other and what a branch requires. `decode/complex/select.rs` checks this at
//! each tag and at the end, by the log of fields seen. Code that does not support choices sees such
//! fields as optional. In JSON a branch is the properties of its elements; in Rust it is a variant
//! with a struct, whose fields the containing type joins with its own at compile time
//! ([`Group`](crate::Group)). An optional sequence with an element that appears again after it is a
//! choice of one branch: an element that comes without the first one of the sequence is the one
//! after it.

use super::{ComplexElement, Compositor, Field, List, QName, View};
use std::borrow::Cow;
use std::ops::Range;

/// A choice between consecutive groups of fields (XSD 1.0 part 1, 3.8).
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The first field of the first branch, counted from the start of the fields, or of the branch
    /// that contains this choice.
    pub first: u32,
    /// The branches, one after the other.
    pub branches: List<Branch>,
    /// True if all branches may be absent.
    pub is_optional: bool,
}

/// A group of fields in a [`Choice`]. Indices count from the start of the branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// Number of fields.
    pub fields: u32,
    /// The fields that are required once the branch is chosen.
    pub required: List<Required>,
    /// Choices within the branch.
    pub choices: List<Choice>,
}

/// A required field of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Required {
    /// The field, counted from the start of the branch.
    pub field: u32,
    /// The minimum number of occurrences (`minOccurs`).
    pub min: u32,
}

/// An error in the fields of a choice. Field indices count from the start of the element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoiceFault {
    /// Fields of several branches are present. Holds the first field of each branch.
    Several(Vec<usize>),
    /// No branch is present. Holds the first field of each branch.
    Nothing(Vec<usize>),
    /// A field of the chosen branch occurs too rarely.
    TooFew {
        /// The field.
        field: usize,
        /// The minimum number of occurrences.
        min: u32,
    },
}

impl Choice {
    /// Returns the same choice for an element that has other fields before it.
    #[must_use]
    pub const fn at(&self, offset: usize) -> Choice {
        Choice { first: self.first + offset as u32, branches: borrowed(&self.branches), is_optional: self.is_optional }
    }

    /// Returns the same choice, but optional.
    #[must_use]
    pub const fn optional(&self) -> Choice {
        Choice { first: self.first, branches: borrowed(&self.branches), is_optional: true }
    }

    /// Returns the fields of each branch.
    fn ranges(&self, base: usize) -> impl Iterator<Item = (Range<usize>, &Branch)> + Clone {
        let mut end = base + self.first as usize;
        self.branches.iter().map(move |branch| {
            let start = end;
            end += branch.fields as usize;
            (start..end, branch)
        })
    }

    fn firsts(&self, base: usize) -> Vec<usize> {
        self.ranges(base).filter(|(fields, _)| !fields.is_empty()).map(|(fields, _)| fields.start).collect()
    }

    /// Returns the error after all fields were read. `count` returns the number of occurrences of a
    /// field.
    fn fault(&self, base: usize, count: &impl Fn(usize) -> u32) -> Option<ChoiceFault> {
        let mut chosen = self.ranges(base).filter(|(fields, _)| has_any(fields, count));
        match (chosen.next(), chosen.next()) {
            (None, _) if self.is_optional => None,
            (None, _) => Some(ChoiceFault::Nothing(self.firsts(base))),
            (Some(_), Some(_)) => Some(ChoiceFault::Several(self.firsts(base))),
            (Some((fields, branch)), None) => branch.fault(fields, usize::MAX, count),
        }
    }

    /// Returns the reason why a field cannot come next, after the fields present.
    fn bars(&self, base: usize, field: usize, count: &impl Fn(usize) -> u32) -> Option<ChoiceFault> {
        let mut branches = self.ranges(base);
        let (own, branch) = branches.clone().find(|(fields, _)| fields.contains(&field))?;
        if branches.any(|(fields, _)| fields != own && has_any(&fields, count)) {
            return Some(ChoiceFault::Several(self.firsts(base)));
        }
        branch.fault(own, field, count)
    }
}

impl Branch {
    /// Returns what the branch lacks before a field, which is the reason why that field cannot come
    /// next.
    fn fault(&self, fields: Range<usize>, until: usize, count: &impl Fn(usize) -> u32) -> Option<ChoiceFault> {
        let required = self.required.iter().map(|it| (fields.start + it.field as usize, it.min));
        let mut lacking = required.filter(|&(field, min)| field < until && count(field) < min);
        let lacking = lacking.next().map(|(field, min)| ChoiceFault::TooFew { field, min });
        lacking.or_else(|| faults_before(&self.choices, fields.start, until, count))
    }
}

/// Returns the error in choices before a field, which is the reason why that field cannot come
/// next.
fn faults_before(choices: &[Choice], base: usize, until: usize, count: &impl Fn(usize) -> u32) -> Option<ChoiceFault> {
    choices.iter().find_map(|choice| {
        let start = base + choice.first as usize;
        let end = choice.ranges(base).last().map_or(start, |(fields, _)| fields.end);
        if until >= end { choice.fault(base, count) } else { choice.bars(base, until, count) }
    })
}

fn has_any(fields: &Range<usize>, count: &impl Fn(usize) -> u32) -> bool {
    fields.clone().any(|field| count(field) > 0)
}

impl ComplexElement {
    /// Returns the error in the element's choices if each field occurs as often as `count` returns.
    pub fn choice_fault(&self, count: impl Fn(usize) -> u32) -> Option<ChoiceFault> {
        faults_before(&self.choices, 0, usize::MAX, &count)
    }

    /// Returns the reason why a field cannot follow the fields present. Only for elements whose
    /// fields are ordered.
    pub(crate) fn bars(&self, field: usize, count: impl Fn(usize) -> u32) -> Option<ChoiceFault> {
        faults_before(&self.choices, 0, field, &count)
    }

    /// Returns true if the content that may follow depends on which fields were read, not only on
    /// the last one: if fields come in any order, and in choices between groups.
    pub(crate) fn notes_fields(&self) -> bool {
        self.compositor == Compositor::All || !self.choices.is_empty()
    }

    /// Returns true if some fields are groups ([`Field::inline`]). The elements read so far
    /// determine which element of a group may come next.
    pub(crate) fn has_groups(&self, view: View<'_>) -> bool {
        self.fields.iter().any(|field| {
            field.inline && {
                let content = view.follow(field.element);
                content.complex().is_some_and(|it| it.compositor != Compositor::Choice || it.has_groups(content))
            }
        })
    }

    /// Returns true if reading cannot resume in the middle of the element: the fields read so far
    /// determine what may follow, and the previous message does not provide them. Such an element
    /// is not compared, but read as a whole.
    pub(crate) fn is_read_whole(&self, view: View<'_>) -> bool {
        (self.notes_fields() && !self.is_plain_all()) || self.has_groups(view)
    }

    /// Returns true if the fields come in any order, each at most once, and a word has a bit for
    /// each.
    pub(crate) fn is_plain_all(&self) -> bool {
        let is_plain = |field: &Field| !field.is_repeated() && !field.inline;
        self.compositor == Compositor::All
            && self.choices.is_empty()
            && self.fields.len() <= u64::BITS as usize
            && self.fields.iter().all(is_plain)
    }

    /// Returns the required fields among the first 64, as one bit each.
    pub(crate) fn required(&self) -> u64 {
        let fields = self.fields.iter().take(u64::BITS as usize).enumerate();
        fields.filter(|(_, field)| field.min > 0).map(|(index, _)| 1 << index).sum()
    }

    /// Returns true if the fields are exactly the branches of one choice.
    pub fn is_choice_of_groups(&self) -> bool {
        let count = |choice: &Choice| choice.branches.iter().map(|branch| branch.fields as usize).sum::<usize>();
        matches!(&self.choices[..], [choice] if choice.first == 0 && count(choice) == self.fields.len())
    }

    /// Returns the minimum number of occurrences of each field if one branch of each choice is
    /// taken; `None` for fields of other branches. `pick` gets the fields of each branch, and
    /// returns the index of the branch to take.
    pub fn taken(&self, mut pick: impl FnMut(&[Range<usize>]) -> usize) -> Vec<Option<u32>> {
        let mut least: Vec<_> = self.fields.iter().map(|field| Some(field.min)).collect();
        let mut ahead: Vec<(usize, &Choice)> = self.choices.iter().map(|choice| (0, choice)).collect();
        while let Some((base, choice)) = ahead.pop() {
            let branches: Vec<_> = choice.ranges(base).collect();
            let ranges: Vec<_> = branches.iter().map(|(fields, _)| fields.clone()).collect();
            let chosen = if ranges.is_empty() { 0 } else { pick(&ranges) };
            for (index, (fields, branch)) in branches.into_iter().enumerate() {
                if index != chosen {
                    least.iter_mut().take(fields.end).skip(fields.start).for_each(|it| *it = None);
                    continue;
                }
                // At least one field must show which branch was chosen.
                let is_evident = choice.is_optional || !branch.required.is_empty();
                let first = if is_evident { None } else { fields.clone().next() };
                let required = branch.required.iter().map(|it| (fields.start + it.field as usize, it.min));
                let all_required = required.chain(first.map(|first| (first, 1)));
                for (field, needed) in all_required.filter(|&(field, _)| field < self.fields.len()) {
                    least[field] = least[field].map(|min| min.max(needed));
                }
                ahead.extend(branch.choices.iter().map(|choice| (fields.start, choice)));
            }
        }
        least
    }

    /// Returns true if choices refer only to existing fields, to each at most once.
    pub fn has_sound_choices(&self) -> bool {
        are_sound(&self.choices, self.fields.len())
    }
}

fn are_sound(choices: &[Choice], count: usize) -> bool {
    let mut free = 0;
    choices.iter().all(|choice| {
        let mut end = choice.first as usize;
        let is_after = end >= free;
        let is_sound = |branch: &Branch| {
            end = end.saturating_add(branch.fields as usize);
            let has = |it: &Required| it.field < branch.fields;
            end <= count && branch.required.iter().all(has) && are_sound(&branch.choices, branch.fields as usize)
        };
        let is_sound = is_after && choice.branches.iter().all(is_sound);
        free = end;
        is_sound
    })
}

/// Concatenates the fields of several groups, for `static` schemas. `N` is the number of fields.
///
/// # Panics
/// Panics if the number of fields differs from `N`, and for names that are not borrowed.
pub const fn join<const N: usize>(groups: &[&[Field]], are_optional: bool) -> [Field; N] {
    let mut all = [const { NO_FIELD }; N];
    let (mut group, mut next) = (0, 0);
    while group < groups.len() {
        let mut index = 0;
        while index < groups[group].len() {
            let field = copied(&groups[group][index], are_optional);
            std::mem::forget(std::mem::replace(&mut all[next], field));
            (index, next) = (index + 1, next + 1);
        }
        group += 1;
    }
    assert!(next == N, "another number of fields");
    all
}

/// Returns the number of required fields.
pub const fn count_required(fields: &[Field]) -> usize {
    let (mut index, mut count) = (0, 0);
    while index < fields.len() {
        count += (fields[index].min > 0) as usize;
        index += 1;
    }
    count
}

/// Returns the required fields; `N` is their number.
pub const fn required<const N: usize>(fields: &[Field]) -> [Required; N] {
    let mut all = [Required { field: 0, min: 0 }; N];
    let (mut index, mut next) = (0, 0);
    while index < fields.len() {
        if fields[index].min > 0 {
            all[next] = Required { field: index as u32, min: fields[index].min };
            next += 1;
        }
        index += 1;
    }
    all
}

const NO_FIELD: Field = Field {
    name: QName::new("", ""),
    element: super::ElementRef::Index(0),
    min: 0,
    max: Some(1),
    nillable: false,
    inline: false,
};

const fn copied(field: &Field, is_optional: bool) -> Field {
    let (Some(namespace), Some(local)) = (field.name.namespace.as_static(), field.name.local.as_static()) else {
        panic!("a name that is not static")
    };
    let min = if is_optional { 0 } else { field.min };
    let Field { element, max, nillable, inline, .. } = *field;
    Field { name: QName::new(namespace, local), element, min, max, nillable, inline }
}

const fn borrowed(branches: &List<Branch>) -> List<Branch> {
    match branches {
        Cow::Borrowed(branches) => Cow::Borrowed(branches),
        Cow::Owned(_) => panic!("a choice that is not static"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(fields: u32, required: &[u32]) -> Branch {
        let required = required.iter().map(|&field| Required { field, min: 1 }).collect::<Vec<_>>();
        Branch { fields, required: required.into(), choices: List::default() }
    }

    fn lacks(field: usize) -> Option<ChoiceFault> {
        Some(ChoiceFault::TooFew { field, min: 1 })
    }

    /// (a, b?) | c | (d, (e | (f, g))?)
    fn element() -> ComplexElement {
        let inner = Choice { first: 1, branches: vec![branch(1, &[0]), branch(2, &[0, 1])].into(), is_optional: true };
        let last = Branch { choices: vec![inner].into(), ..branch(4, &[0]) };
        let branches = vec![branch(2, &[0]), branch(1, &[0]), last].into();
        ComplexElement {
            name: QName::new("", "t"),
            compositor: Compositor::Sequence,
            fields: vec![NO_FIELD; 7].into(),
            attributes: List::default(),
            text: None,
            open: false,
            any_attribute: false,
            choices: vec![Choice { first: 0, branches, is_optional: false }].into(),
        }
    }

    #[test]
    fn one_branch_and_all_of_it() {
        use ChoiceFault::{Nothing, Several};
        let element = element();
        assert!(element.has_sound_choices());
        let fault = |there: &[usize]| element.choice_fault(|field| u32::from(there.contains(&field)));
        for there in [&[0][..], &[0, 1], &[2], &[3], &[3, 4], &[3, 5, 6]] {
            assert_eq!(fault(there), None, "{there:?}");
        }
        assert_eq!(fault(&[]), Some(Nothing(vec![0, 2, 3])));
        assert_eq!(fault(&[1]), lacks(0));
        assert_eq!(fault(&[0, 2]), Some(Several(vec![0, 2, 3])));
        assert_eq!(fault(&[3, 5]), lacks(6));
        assert_eq!(fault(&[3, 4, 5, 6]), Some(Several(vec![4, 5])));
        let bars = |field, there: &[usize]| element.bars(field, |field| u32::from(there.contains(&field)));
        assert_eq!((bars(0, &[]), bars(2, &[]), bars(5, &[3])), (None, None, None));
        assert_eq!(bars(1, &[]), lacks(0));
        assert_eq!(bars(2, &[0]), Some(Several(vec![0, 2, 3])));
        assert_eq!(bars(6, &[3]), lacks(5));
        assert_eq!(bars(5, &[3, 4]), Some(Several(vec![4, 5])));
    }

    /// (a, b{2,3}) | c{2}, then d
    #[test]
    fn fields_of_a_branch_that_occur_too_rarely() {
        let several =
            |fields, field| Branch { required: vec![Required { field, min: 2 }].into(), ..branch(fields, &[]) };
        let choice = Choice { first: 0, branches: vec![several(2, 1), several(1, 0)].into(), is_optional: false };
        let element = ComplexElement { choices: vec![choice].into(), ..element() };
        let lacks = |field| Some(ChoiceFault::TooFew { field, min: 2 });
        let fault = |counts: [u32; 3]| element.choice_fault(|field| counts.get(field).copied().unwrap_or(0));
        assert_eq!((fault([1, 2, 0]), fault([1, 3, 0]), fault([0, 0, 2])), (None, None, None));
        assert_eq!((fault([1, 0, 0]), fault([1, 1, 0]), fault([0, 0, 1])), (lacks(1), lacks(1), lacks(2)));
        let bars = |field, counts: [u32; 3]| element.bars(field, |field| counts.get(field).copied().unwrap_or(0));
        // A field after a choice may come when the choice is complete.
        assert_eq!((bars(3, [1, 1, 0]), bars(3, [0, 0, 1]), bars(3, [0, 0, 2])), (lacks(1), lacks(2), None));
        assert_eq!(bars(1, [1, 1, 0]), None);
        assert_eq!(element.taken(|branches| branches.len() - 1)[..3], [None, None, Some(2)]);
    }

    #[test]
    fn one_branch_of_each_choice_is_taken() {
        let element = element();
        let (one, any) = (Some(1), Some(0));
        assert_eq!(element.taken(|_| 0), [one, any, None, None, None, None, None]);
        assert_eq!(element.taken(|branches| branches.len() - 1), [None, None, None, one, None, one, one]);
    }

    #[test]
    fn choices_of_fields_that_are_not_there() {
        let unsound = |first, branch: Branch| {
            let branches = vec![branch].into();
            let choices = vec![Choice { first, branches, is_optional: false }].into();
            ComplexElement { choices, ..element() }
        };
        assert!(unsound(5, branch(2, &[1])).has_sound_choices());
        for wrong in [unsound(6, branch(2, &[])), unsound(0, branch(2, &[2])), unsound(u32::MAX, branch(u32::MAX, &[]))]
        {
            assert!(!wrong.has_sound_choices());
        }
    }
}
