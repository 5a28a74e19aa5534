//! Lists of flat items: [runs](run), or element by element for short lists.

use super::tracked::UNTRACKED;
use crate::QName;
use crate::encode::Encoder;
use crate::encode::differential::run::{self, Form, Items, Work, Writing};
use crate::encode::differential::tape::{Chunk, Entry, Kind};
use crate::encode::differential::{Changes, Stamp, Width};
use crate::encode::flat::{Item, NotedLeaf, encode_each, encode_item, note_leaves, shape_of};
use crate::schema::{Field, View};
use crate::template::Shape;
use std::sync::Arc;

/// Lists with fewer flat items than the bytes of a chunk, divided by this, are written element by
/// element.
const RUN: usize = 128;

impl Encoder {
    /// Writes a list of flat items that share their markup.
    pub(in crate::encode) fn run<T: Item>(
        &mut self,
        items: &[T],
        changes: Option<Changes<'_>>,
        field: &Field,
        view: View<'_>,
    ) {
        self.open_end();
        let is_run = !self.is_in_new() && self.stands_at_run(&field.name);
        if !is_run && items.len() < self.template().options.chunk / RUN {
            if self.is_in_new() {
                encode_each(items, self, field, view);
            } else {
                self.follow_each(items, field, view);
            }
            return;
        }
        let Some((shape, leaves)) = self.learn(items, field, view) else {
            return encode_each(items, self, field, view);
        };
        if is_run {
            self.follow_run(items, changes, shape, &leaves, view);
        } else {
            self.begin_new();
            let number = self.template().number(&field.name);
            self.new_run(number, items, changes, shape, &leaves, view);
        }
    }

    fn stands_at_run(&mut self, name: &QName) -> bool {
        let next = self.peek();
        next.is_some_and(|entry| entry.kind == Kind::Run && self.template().names.is(entry.name, name))
    }

    /// Learns the markup of the first item by writing it plainly outside the message.
    fn learn<T: Item>(&mut self, items: &[T], field: &Field, view: View<'_>) -> Option<(Shape, Vec<NotedLeaf>)> {
        let mut against = self.against.take();
        let mut beside = against.as_mut().map(|against| std::mem::take(&mut against.tag)).unwrap_or_default();
        beside.clear();
        let outer = std::mem::replace(&mut self.out, beside);
        let leaves = note_leaves(self, |encoder| encode_item(&items[0], encoder, field, view));
        let shape = shape_of(self.out.as_slice(), 0, &leaves, T::flat_leaves(view));
        let beside = std::mem::replace(&mut self.out, outer);
        self.against = against;
        self.template().tag = beside;
        Some((shape?, leaves))
    }

    fn new_run<T: Item>(
        &mut self,
        name: u16,
        items: &[T],
        changes: Option<Changes<'_>>,
        shape: Shape,
        leaves: &[NotedLeaf],
        view: View<'_>,
    ) {
        let pos = self.out.len();
        let against = self.template();
        against.entries.push(Entry::new(Kind::Run, pos, name, 0));
        against.values.extend(stamp_values(changes));
        self.close();
        let chunks = self.write_run(Items { items, dirty: None, view }, shape, leaves);
        self.template().done.extend(chunks);
    }

    fn write_run<T: Item>(&mut self, items: Items<'_, T>, shape: Shape, leaves: &[NotedLeaf]) -> Vec<Arc<Chunk>> {
        let against = self.template();
        let mut form = Form::new(shape, leaves, &against.options);
        run::learn(items.items, &mut form, &against.options, items.view);
        let (form, replaced) = (Arc::new(form), &mut against.has_failed);
        let mut writing = Writing { options: &against.options, stats: &mut against.stats, replaced };
        let chunks = match &against.pool {
            Some(pool) => writing.write_beside(pool, items, &form),
            None => writing.write(items, &form),
        };
        against.note_run(&chunks);
        chunks
    }

    fn follow_run<T: Item>(
        &mut self,
        items: &[T],
        changes: Option<Changes<'_>>,
        shape: Shape,
        leaves: &[NotedLeaf],
        view: View<'_>,
    ) {
        let value = self.current().value;
        let values = [self.current().tape().values[value], self.current().tape().values[value + 1]];
        let now = stamp_values(changes);
        if values != now
            && let Some(tape) = self.own_tape()
        {
            tape.values[value..value + 2].copy_from_slice(&now);
        }
        self.current().step();
        self.finish_current();
        let old = self.template().take_run();
        let chunks = if values == now && changes.is_some() {
            old
        } else {
            let before = Stamp { identity: values[0], epoch: values[1] };
            let dirty = changes.filter(|changes| changes.stamp.follows(before)).map(|changes| changes.dirty);
            self.update_run(old, Items { items, dirty, view }, shape, leaves)
        };
        self.template().done.extend(chunks);
        self.template().load();
    }

    fn update_run<T: Item>(
        &mut self,
        old: Vec<Arc<Chunk>>,
        items: Items<'_, T>,
        shape: Shape,
        leaves: &[NotedLeaf],
    ) -> Vec<Arc<Chunk>> {
        let form = old.first().and_then(|chunk| chunk.run()).map(|run| Arc::clone(&run.form));
        let Some(form) = form.filter(|form| form.is_of(&shape, leaves)) else {
            self.note_elements(1);
            return self.write_run(items, shape, leaves);
        };
        let against = self.template();
        let (mut kind, before) = (*against.kind_mut(), against.stats);
        let mut work = Work {
            options: &against.options,
            stats: &mut against.stats,
            frames: &mut against.frames,
            text: &mut against.text,
            spare: &mut against.spare,
            kind: &mut kind,
            replaced: &mut against.has_failed,
        };
        let chunks = run::update(old, &form, items, &mut work);
        against.note(kind);
        // With stuffing, the width of a field depends on values that were there before. Other
        // templates should get the width of their own values.
        if against.stats != before && against.options.width == Width::Exact {
            against.note_run(&chunks);
        }
        chunks
    }
}

/// Returns the state of a list for the entry of its run.
fn stamp_values(changes: Option<Changes<'_>>) -> [u64; 2] {
    changes.map_or(UNTRACKED, |changes| changes.stamp.values())
}
