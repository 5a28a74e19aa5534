//! How often a field occurs: exactly once, at most once, any number of times.

use crate::content::{APPENDED, Content, Occurs, Typed, compact};
use crate::content::{ListShortcuts, Shortcuts};
use crate::decode::flat::{self, Patch, Run};
use crate::decode::items::{decode_one, open_item, splice_items, still_there};
use crate::decode::{Cursor, FlatSource, Step};
use crate::encode::differential::Stamp;
use crate::encode::flat::encode_items;
use crate::encode::{Encoder, FlatSink};
use crate::schema::{Element, ElementRef, Field, QName, View};

/// Exactly once.
impl<T: Typed> Occurs for T {
    const MIN: u32 = 1;
    const MAX: Option<u32> = Some(1);
    const NILLABLE: bool = <T as Typed>::NILLABLE;
    const REFERENCE: ElementRef = <T as Typed>::REFERENCE;
    const CHOICE: bool = <T as Typed>::CHOICE;

    fn vacant(view: View<'_>) -> Self {
        <T as Content>::vacant(view)
    }

    #[inline]
    fn open(&mut self, place: usize, view: View<'_>) -> usize {
        if place != APPENDED && !<T as Content>::REPLACES {
            *self = <T as Content>::vacant(view);
        }
        0
    }

    fn keep(&mut self, count: usize, view: View<'_>) {
        if count == 0 {
            *self = <T as Content>::vacant(view);
        }
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        decode_one(self, cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        encode_one(self, encoder, field, view);
    }
}

impl<T: Typed> ListShortcuts for T {
    fn item_leaves(_: View<'_>) -> Option<usize> {
        None
    }

    #[inline]
    fn flat_leaves(view: View<'_>) -> Option<usize> {
        <T as Shortcuts>::flat_leaves(view)
    }

    #[inline]
    fn is_flat(&self, view: View<'_>) -> bool {
        <T as Shortcuts>::is_flat(self, view)
    }

    #[inline(always)]
    fn scan_flat<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        <T as Shortcuts>::scan_flat(self, scan, view)
    }

    #[inline(always)]
    fn write_flat<S: FlatSink>(&self, sink: &mut S, view: View<'_>) {
        <T as Shortcuts>::write_flat(self, sink, view);
    }

    #[inline(always)]
    fn scan_leaf<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        <T as Shortcuts>::scan_flat(self, scan, view)
    }
}

/// The result of [`patch`](ListShortcuts::patch) for a list without a specialized loop.
const NOT_PATCHED: Patch = Patch::Other { field: 0, count: 0 };

fn encode_one<T: Content>(value: &T, encoder: &mut Encoder, field: &Field, view: View<'_>) {
    if field.inline {
        value.encode_inline(encoder, view);
        return;
    }
    encoder.start(&field.name);
    value.encode(encoder, view);
    encoder.end();
}

/// At most once. An element with `xsi:nil` is an error here, unless the field is
/// [nillable](Field::nillable): then it is the same as an absent one. `Option<Nillable<T>>`
/// distinguishes absent from nil.
impl<T: Typed> Occurs for Option<T> {
    const MIN: u32 = 0;
    const MAX: Option<u32> = Some(1);
    const NILLABLE: bool = <T as Typed>::NILLABLE;
    const REFERENCE: ElementRef = <T as Typed>::REFERENCE;
    const CHOICE: bool = <T as Typed>::CHOICE;

    fn vacant(_: View<'_>) -> Self {
        None
    }

    #[inline]
    fn absent() -> Self {
        None
    }

    #[inline]
    fn open(&mut self, _: usize, view: View<'_>) -> usize {
        if !<T as Content>::REPLACES {
            *self = None;
        }
        filled(self, view);
        0
    }

    fn keep(&mut self, count: usize, _: View<'_>) {
        if count == 0 {
            drop(self.take());
        }
    }

    fn is_absent(&self) -> Option<bool> {
        if Self::NIL_IS_ABSENT { Some(self.is_none()) } else { None }
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        decode_one(filled(self, view), cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        if let Some(value) = self {
            encode_one(value, encoder, field, view);
        }
    }
}

impl<T: Typed> ListShortcuts for Option<T> {
    fn item_leaves(_: View<'_>) -> Option<usize> {
        None
    }

    #[inline(always)]
    fn scan_leaf<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        filled(self, view).scan_flat(scan, view)
    }
}

/// Returns the value, creating it if absent.
#[inline]
fn filled<'v, T: Content>(value: &'v mut Option<T>, view: View<'_>) -> &'v mut T {
    if value.is_none() {
        // The old value is `None`, so nothing is leaked. `forget` generates less code per type than
        // a drop.
        std::mem::forget(value.replace(T::vacant(view)));
    }
    let Some(value) = value else { unreachable!("a value that was just made") };
    value
}

/// Any number of times.
impl<T: Typed> Occurs for Vec<T> {
    const MIN: u32 = 0;
    const MAX: Option<u32> = None;
    const NILLABLE: bool = <T as Typed>::NILLABLE;
    const REFERENCE: ElementRef = <T as Typed>::REFERENCE;
    const CHOICE: bool = <T as Typed>::CHOICE;

    fn vacant(_: View<'_>) -> Self {
        Vec::new()
    }

    #[inline]
    fn absent() -> Self {
        Vec::new()
    }

    fn open(&mut self, place: usize, view: View<'_>) -> usize {
        if T::COMPACT && T::REPLACES { compact::open_item(self, place, view) } else { open_item(self, place, view) }
    }

    fn splice(&mut self, place: usize, removed: usize, inserted: usize, view: View<'_>) -> usize {
        if T::COMPACT {
            return compact::splice_items(self, place, removed, inserted, view) * size_of::<T>();
        }
        splice_items(self, place, removed, inserted, view)
    }

    fn keep(&mut self, count: usize, _: View<'_>) {
        self.truncate(count);
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        if T::COMPACT { compact::decode_item(self, cursor, view) } else { decode_item(self, cursor, view) }
    }

    fn encode(&self, encoder: &mut Encoder, field: &Field, view: View<'_>) {
        if T::COMPACT {
            compact::encode_items(self, encoder, field, view);
        } else {
            encode_list(self, encoder, field, view);
        }
    }
}

impl<T: Typed> ListShortcuts for Vec<T> {
    fn run(&mut self, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run {
        if T::COMPACT { Run::Items(0) } else { run(self, cursor, field, view) }
    }

    fn patch(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Patch {
        if T::COMPACT { NOT_PATCHED } else { flat::patch(self, cursor, view) }
    }

    /// `None` if an empty item stands for a default: its text does not determine the value.
    fn item_leaves(view: View<'_>) -> Option<usize> {
        if T::COMPACT { None } else { item_leaves::<T>(view) }
    }

    #[inline(always)]
    fn scan_leaf<S: FlatSource>(&mut self, scan: &mut S, view: View<'_>) -> Option<()> {
        if T::COMPACT { None } else { scan_item(self, scan, view) }
    }
}

fn decode_item<T: Content>(items: &mut [T], cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    let place = still_there(cursor.place(), items.len());
    let Some(item) = items.get_mut(place) else { unreachable!("an occurrence that was not opened") };
    decode_one(item, cursor, view)
}

fn encode_list<T: Content>(items: &[T], encoder: &mut Encoder, field: &Field, view: View<'_>) {
    if field.inline {
        items.iter().for_each(|item| item.encode_inline(encoder, view));
    } else {
        encode_items(items, encoder, field, view);
    }
}

fn item_leaves<T: Content>(view: View<'_>) -> Option<usize> {
    T::flat_leaves(view).filter(|_| view.element.default_text().is_none())
}

fn run<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, field: &Field, view: View<'_>) -> Run {
    if item_leaves::<T>(view).is_none() {
        return Run::Items(0);
    }
    flat::run(items, cursor, std::ptr::from_ref(field).addr(), view)
}

#[inline(always)]
fn scan_item<T: Content, S: FlatSource>(items: &mut Vec<T>, scan: &mut S, view: View<'_>) -> Option<()> {
    let mut item = T::vacant(view);
    item.scan_flat(scan, view)?;
    items.push(item);
    Some(())
}

/// The content of the box, for recursive types.
impl<T: Content> Content for Box<T> {
    const REPLACES: bool = T::REPLACES;

    fn vacant(view: View<'_>) -> Self {
        Box::new(T::vacant(view))
    }

    fn decode(&mut self, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
        T::decode(self, cursor, view)
    }

    fn encode(&self, encoder: &mut Encoder, view: View<'_>) {
        T::encode(self, encoder, view);
    }

    fn encode_inline(&self, encoder: &mut Encoder, view: View<'_>) {
        T::encode_inline(self, encoder, view);
    }
}

impl<T: Content> Shortcuts for Box<T> {
    const COMPACT: bool = true;

    fn stamp(&self) -> Option<Stamp> {
        T::stamp(self)
    }
}

impl<T: Typed> Typed for Box<T> {
    const TYPE_NAME: QName = T::TYPE_NAME;
    const ITEM_NAME: &'static str = T::ITEM_NAME;
    const NILLABLE: bool = T::NILLABLE;
    const CHOICE: bool = T::CHOICE;

    fn element() -> &'static Element {
        T::element()
    }
}
