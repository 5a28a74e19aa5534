//! A tracked list compared with a naive one: a `Vec`, and its content when it was last written.

use super::{Tracked, TrackedVec};
use crate::Typed;
use crate::content::Shortcuts;
use crate::encode::Encoder;
use crate::encode::differential::Stamp;
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Debug, Clone)]
enum Step {
    Write,
    Set(usize, i32),
    GetMut(usize),
    Range(usize, usize),
    Push(i32),
    Pop,
    Truncate(usize),
    Resize(usize),
    Extend(usize),
    Insert(usize, i32),
    Remove(usize),
    SwapRemove(usize),
    Swap(usize, usize),
    Retain(i32),
    Sort,
    IterMut,
    Edit,
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    let place = 0..140usize;
    let item = -3..3;
    prop_oneof![
        6 => Just(Step::Write),
        4 => (place.clone(), item.clone()).prop_map(|(place, item)| Step::Set(place, item)),
        2 => place.clone().prop_map(Step::GetMut),
        2 => (place.clone(), place.clone()).prop_map(|(start, end)| Step::Range(start.min(end), start.max(end))),
        2 => item.clone().prop_map(Step::Push),
        1 => Just(Step::Pop),
        1 => place.clone().prop_map(Step::Truncate),
        1 => place.clone().prop_map(Step::Resize),
        1 => place.clone().prop_map(Step::Extend),
        1 => (place.clone(), item.clone()).prop_map(|(place, item)| Step::Insert(place, item)),
        1 => place.clone().prop_map(Step::Remove),
        1 => place.clone().prop_map(Step::SwapRemove),
        1 => (place.clone(), place).prop_map(|(a, b)| Step::Swap(a, b)),
        1 => item.prop_map(Step::Retain),
        1 => Just(Step::Sort),
        1 => Just(Step::IterMut),
        1 => Just(Step::Edit),
        1 => Just(Step::Clear),
    ]
}

/// Applies a step to both. Steps out of bounds are skipped, as both would panic.
fn apply(step: &Step, list: &mut TrackedVec<i32>, naive: &mut Vec<i32>) {
    let len = naive.len();
    match *step {
        Step::Set(place, item) if place < len => {
            list.set(place, item);
            naive[place] = item;
        }
        Step::GetMut(place) => {
            assert_eq!(list.get_mut(place).map(|item| *item += 1), naive.get_mut(place).map(|item| *item += 1));
        }
        Step::Range(start, end) if end <= len => {
            list.range_mut(start..end).reverse();
            naive[start..end].reverse();
        }
        Step::Push(item) => {
            list.push(item);
            naive.push(item);
        }
        Step::Pop => assert_eq!(list.pop(), naive.pop()),
        Step::Truncate(to) => {
            list.truncate(to);
            naive.truncate(to);
        }
        Step::Resize(to) => {
            list.resize(to, 7);
            naive.resize(to, 7);
        }
        Step::Extend(by) => {
            list.extend(0..by as i32);
            naive.extend(0..by as i32);
        }
        Step::Insert(place, item) if place <= len => {
            list.insert(place, item);
            naive.insert(place, item);
        }
        Step::Remove(place) if place < len => assert_eq!(list.remove(place), naive.remove(place)),
        Step::SwapRemove(place) if place < len => assert_eq!(list.swap_remove(place), naive.swap_remove(place)),
        Step::Swap(a, b) if a < len && b < len => {
            list.swap(a, b);
            naive.swap(a, b);
        }
        Step::Retain(unwanted) => {
            list.retain(|item| *item != unwanted);
            naive.retain(|item| *item != unwanted);
        }
        Step::Sort => {
            list.sort_unstable();
            naive.sort_unstable();
        }
        Step::IterMut => {
            list.iter_mut().for_each(|item| *item ^= 1);
            naive.iter_mut().for_each(|item| *item ^= 1);
        }
        Step::Edit => {
            list.edit(|items| items.rotate_left(len / 2));
            naive.rotate_left(len / 2);
        }
        Step::Clear => {
            list.clear();
            naive.clear();
        }
        _ => {}
    }
}

/// A template's knowledge of a list: its state and items when it was last written.
type Known = Option<(Stamp, Vec<i32>)>;

/// Asserts that the list's notes lead a template that holds `known` to the current list.
fn check(list: &TrackedVec<i32>, known: &Known) -> Result<(), TestCaseError> {
    let Some((stamp, items)) = known else { return Ok(()) };
    let changes = list.changes();
    if changes.stamp == *stamp {
        prop_assert_eq!(&list.items, items);
    } else if changes.stamp.follows(*stamp) {
        let is_marked = |place: usize| changes.dirty.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1);
        for (place, item) in list.iter().enumerate() {
            prop_assert!(is_marked(place) || items.get(place) == Some(item), "item {} is not marked", place);
        }
        prop_assert!((list.len()..changes.dirty.len() * 64).all(|place| !is_marked(place)), "a mark beyond the end");
    } else {
        prop_assert!(changes.stamp.identity != stamp.identity, "only an edit may lose what is known");
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_differs_is_marked(steps in prop::collection::vec(step(), 0..60)) {
        let mut naive: Vec<i32> = (0..70).collect();
        let mut list = TrackedVec::from(naive.clone());
        let mut known: Known = None;
        for step in steps {
            apply(&step, &mut list, &mut naive);
            prop_assert_eq!(&list.items, &naive);
            check(&list, &known)?;
            if matches!(step, Step::Write) {
                list.seal();
                known = Some((list.changes().stamp, naive.clone()));
            }
        }
    }
}

/// Returns the items noted since the list was written.
fn marked(list: &TrackedVec<i32>) -> Vec<usize> {
    let words = list.changes().dirty;
    (0..words.len() * 64).filter(|place| words[place / 64] >> (place % 64) & 1 == 1).collect()
}

fn written(len: i32) -> TrackedVec<i32> {
    let list = TrackedVec::from_iter(0..len);
    list.seal();
    list
}

#[test]
fn no_more_is_marked_than_was_touched() {
    let mut list = written(200);
    list[3] = 4;
    list[70..72].fill(0);
    list[198..].fill(0);
    list[..=1].fill(0);
    assert_eq!(list.get_mut(500), None);
    assert_eq!(list.get_mut(190..500), None);
    assert_eq!(marked(&list), [0, 1, 3, 70, 71, 198, 199]);
    let mut list = written(5);
    list.push(1);
    list.swap(1, 3);
    assert_eq!(list.last_mut().copied(), Some(1));
    assert_eq!(marked(&list), [1, 3, 5]);
    let mut list = written(5);
    list.remove(2);
    assert_eq!(marked(&list), [2, 3]);
    let mut list = written(5);
    list.insert(4, 9);
    assert_eq!(marked(&list), [4, 5]);
    let mut list = written(5);
    assert_eq!(list.swap_remove(1), 1);
    assert_eq!(marked(&list), [1]);
}

#[test]
fn what_changes_nothing_notes_nothing() {
    let mut list = written(3);
    let stamp = list.changes().stamp;
    list.truncate(9);
    list.reserve(10);
    list.extend([]);
    list.resize(3, 0);
    list.retain(|_| true);
    assert_eq!(list.get_mut(3), None);
    assert_eq!((list.iter().sum::<i32>(), list[1], list.first()), (3, 1, Some(&0)));
    assert_eq!(list.changes().stamp, stamp);
    list.pop();
    assert!(list.changes().stamp.follows(stamp));
}

#[test]
fn an_index_beyond_the_end_panics_and_notes_nothing() {
    let mut list = written(3);
    let stamp = list.changes().stamp;
    assert!(catch_unwind(AssertUnwindSafe(|| list[3] = 1)).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| list[2..4].fill(1))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| list.set(usize::MAX, 1))).is_err());
    assert_eq!(list.changes().stamp, stamp);
}

/// If foreign code panics halfway, the list has noted all that happened.
#[test]
fn panics_leave_what_happened_noted() {
    let mut list = written(3);
    let items = (0..5).map(|n| if n == 3 { panic!("no more") } else { n });
    assert!(catch_unwind(AssertUnwindSafe(|| list.extend(items))).is_err());
    assert_eq!((list.len(), marked(&list)), (6, vec![3, 4, 5]));
    let mut list = written(4);
    let wants = |item: &i32| if *item == 2 { panic!("undecided") } else { *item != 0 };
    assert!(catch_unwind(AssertUnwindSafe(|| list.retain(wants))).is_err());
    assert_eq!(marked(&list), [0, 1, 2, 3]);
}

#[test]
fn clones_are_other_values() {
    let list = written(3);
    assert_ne!(list.clone().changes().stamp.identity, list.changes().stamp.identity);
    assert_eq!(list.clone(), list);
    let value = Tracked::new(1);
    assert_ne!(value.clone().stamp(), value.stamp());
    assert_eq!(value.clone(), value);
}

fn write<T: Typed>(value: &T) {
    value.encode(&mut Encoder::new(), T::view());
}

#[test]
fn a_value_notes_that_it_was_touched() {
    let mut value = Tracked::new(1.5);
    let first = value.stamp().expect("a tracked value");
    value.set(2.5);
    assert_eq!(value.stamp(), Some(first), "not written yet");
    write(&value);
    assert_eq!((value.get(), *value + 1.0, value.stamp()), (&2.5, 3.5, Some(first)));
    *value += 1.0;
    value.set(0.0);
    let second = value.stamp().expect("a tracked value");
    assert!(second.follows(first));
    write(&value);
    write(&value);
    assert_eq!(value.stamp(), Some(second));
    value.set(0.0);
    assert!(value.stamp().is_some_and(|third| third.follows(second)), "equal values count as changes");
}

#[test]
fn swapped_values_take_their_state_along() {
    let (mut a, mut b) = (Tracked::new(1), Tracked::new(2));
    let stamps = (a.stamp(), b.stamp());
    std::mem::swap(&mut a, &mut b);
    assert_eq!((b.stamp(), a.stamp()), stamps);
}

/// Tracked values can be sent and shared among threads if their content can.
#[test]
fn threads() {
    fn check<T: Send + Sync>() {}
    check::<Tracked<String>>();
    check::<TrackedVec<String>>();
}
