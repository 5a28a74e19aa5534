//! Types that hold themselves: where they need a box, and where they must be able to end.
//!
//! Fields that hold one value each are the edges of a graph. Within a strongly connected part of it a field is boxed, so that
//! the type has a size, and optional, so that a value without it can be made: the engine reads into one.

use crate::model::{Item, ItemId, ItemKind, Member, Model, Occurs, Role, TypeUse};

/// Boxes what has to be.
pub(crate) fn break_cycles(model: &mut Model) {
    let parts = connected_parts(model);
    for index in 0..model.items.len() {
        let part = parts[index];
        let is_within = |member: &Member, parts: &[u32]| inner(member).is_some_and(|to| parts[to.index()] == part);
        match &mut model.items[index].kind {
            ItemKind::Struct(of) => {
                of.members.iter_mut().filter(|member| is_within(member, &parts)).for_each(make_optional);
            }
            ItemKind::Choice(variants) => {
                variants.iter_mut().filter(|it| is_within(it, &parts)).for_each(|it| it.is_boxed = true);
            }
            _ => {}
        }
    }
}

fn make_optional(member: &mut Member) {
    // The variants of a choice are boxed already.
    member.is_boxed = member.role != Role::Inline;
    if member.occurs == Occurs::Once && !member.is_nillable {
        member.occurs = Occurs::AtMostOnce;
    }
}

/// The item that a member holds one value of, on the spot.
fn inner(member: &Member) -> Option<ItemId> {
    match (&member.content, member.occurs) {
        (TypeUse::Item(id), Occurs::Once | Occurs::AtMostOnce) => Some(*id),
        _ => None,
    }
}

fn edges(item: &Item) -> impl Iterator<Item = ItemId> {
    let members: &[Member] = match &item.kind {
        ItemKind::Struct(of) => &of.members,
        ItemKind::Choice(variants) => variants,
        _ => &[],
    };
    members.iter().filter_map(inner)
}

/// For each item the number of its strongly connected part; those alone that do not hold themselves have one that no edge leads to
/// from within. Tarjan's algorithm, without recursion: types are as deep as descriptions are long.
fn connected_parts(model: &Model) -> Vec<u32> {
    let graph: Vec<Vec<usize>> =
        model.items.iter().map(|item| edges(item).map(|to| model.resolve(to).index()).collect()).collect();
    let mut search = Search {
        order: vec![UNSEEN; graph.len()],
        low: vec![0; graph.len()],
        part: vec![UNSEEN; graph.len()],
        open: Vec::new(),
        next: 0,
        parts: 0,
    };
    for start in 0..graph.len() {
        if search.order[start] == UNSEEN {
            search.from(start, &graph);
        }
    }
    search.part
}

const UNSEEN: u32 = u32::MAX;

struct Search {
    /// When each was seen.
    order: Vec<u32>,
    /// The first seen of the open ones that each leads to.
    low: Vec<u32>,
    part: Vec<u32>,
    open: Vec<usize>,
    next: u32,
    parts: u32,
}

impl Search {
    fn from(&mut self, start: usize, graph: &[Vec<usize>]) {
        let mut path = vec![(start, 0)];
        self.enter(start);
        while let Some((at, edge)) = path.pop() {
            match graph[at].get(edge) {
                Some(&to) => {
                    path.push((at, edge + 1));
                    if self.order[to] == UNSEEN {
                        self.enter(to);
                        path.push((to, 0));
                    } else if self.part[to] == UNSEEN {
                        self.low[at] = self.low[at].min(self.order[to]);
                    }
                }
                None => {
                    self.leave(at);
                    if let Some(&(before, _)) = path.last() {
                        self.low[before] = self.low[before].min(self.low[at]);
                    }
                }
            }
        }
    }

    fn enter(&mut self, at: usize) {
        (self.order[at], self.low[at]) = (self.next, self.next);
        self.next += 1;
        self.open.push(at);
    }

    /// Closes a part if all that is open behind its first one was seen.
    fn leave(&mut self, at: usize) {
        if self.low[at] != self.order[at] {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.part[member] = self.parts;
            if member == at {
                break;
            }
        }
        self.parts += 1;
    }
}
