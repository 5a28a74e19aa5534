//! Unions and lists that contain themselves: such a type has no values.

use crate::document::Place;
use crate::load::Sources;
use crate::xsd::{Schemas, Type, TypeDefinition, TypeId, Variety};
use crate::{Error, ErrorKind};

/// Refuses simple types that contain themselves, and unions with too many nested members.
///
/// Types derived from themselves are refused earlier. Chains of types can be long, so this does not
/// recurse.
pub(super) fn refuse(sources: &Sources, schemas: &Schemas) -> Result<(), Error> {
    let members = members(schemas).map_err(|cycle| {
        let (text, place) = message(schemas, &cycle);
        sources.invalid(text, place)
    })?;
    let limit = sources.limits.particles;
    if members > limit {
        let place = Place { document: 0, offset: 0 };
        return Err(sources.error(ErrorKind::Limit { name: "particles", limit: limit as u64 }, place));
    }
    Ok(())
}

/// Returns the number of members of all unions, with the members of nested unions included.
///
/// # Errors
/// Returns the types of the cycle if a simple type contains itself.
pub(crate) fn members(schemas: &Schemas) -> Result<usize, Vec<TypeId>> {
    let mut search = Search { schemas, states: vec![State::New; schemas.types.len()], open: Vec::new() };
    for (id, _) in schemas.types() {
        search.from(id).map_or(Ok(()), Err)?;
    }
    let unions = search.states.iter().zip(&schemas.types).filter(|(_, it)| is_union(it));
    Ok(unions.fold(0_usize, |sum, (state, _)| sum.saturating_add(state.members())))
}

#[derive(Clone, Copy)]
enum State {
    New,
    Open,
    /// Done: the number of non-union types in the type.
    Done(usize),
}

impl State {
    fn members(self) -> usize {
        match self {
            State::Done(members) => members,
            State::New | State::Open => 0,
        }
    }
}

struct Search<'s> {
    schemas: &'s Schemas,
    states: Vec<State>,
    /// Stack of nested types, each with the number of its inner types that are done.
    open: Vec<(TypeId, usize)>,
}

impl Search<'_> {
    /// Returns the types of a cycle that a type leads to.
    fn from(&mut self, id: TypeId) -> Option<Vec<TypeId>> {
        self.enter(id)?;
        while let Some((id, done)) = self.open.last_mut() {
            match within(self.schemas, *id).get(*done).copied() {
                Some(next) => {
                    *done += 1;
                    if self.enter(next).is_none() {
                        let first = self.open.iter().position(|(open, _)| *open == next).unwrap_or_default();
                        return Some(self.open[first..].iter().map(|(id, _)| *id).collect());
                    }
                }
                None => self.leave(),
            }
        }
        None
    }

    /// Pushes a type if it is new; returns `None` if it is on the stack.
    fn enter(&mut self, id: TypeId) -> Option<()> {
        match self.states[id.index()] {
            State::Open => return None,
            State::Done(_) => {}
            State::New => {
                self.states[id.index()] = State::Open;
                self.open.push((id, 0));
            }
        }
        Some(())
    }

    fn leave(&mut self) {
        let Some((id, _)) = self.open.pop() else { return };
        let within = within(self.schemas, id).iter();
        let members = within.fold(0_usize, |sum, id| sum.saturating_add(self.states[id.index()].members()));
        self.states[id.index()] = State::Done(members.max(1));
    }
}

/// Returns the types that a simple type is made from.
fn within(schemas: &Schemas, id: TypeId) -> &[TypeId] {
    match &schemas[id].definition {
        TypeDefinition::Simple(simple) => match &simple.variety {
            Variety::Restriction(one) | Variety::List(one) => std::slice::from_ref(one),
            Variety::Union(members) => members,
            Variety::Any | Variety::Builtin(_) => &[],
        },
        TypeDefinition::Complex(_) => &[],
    }
}

fn is_union(it: &Type) -> bool {
    match &it.definition {
        TypeDefinition::Simple(simple) => matches!(simple.variety, Variety::Union(_)),
        TypeDefinition::Complex(_) => false,
    }
}

/// Returns the error message and place for a cycle: a named type if there is one, preferably a
/// union.
fn message(schemas: &Schemas, cycle: &[TypeId]) -> (String, Place) {
    let best = cycle.iter().min_by_key(|id| (schemas[**id].name.is_none(), !is_union(&schemas[**id])));
    let id = best.copied().unwrap_or(TypeId::ANY_SIMPLE);
    let noun = if is_union(&schemas[id]) { "union" } else { "type" };
    let place = schemas[id].place.unwrap_or(Place { document: 0, offset: 0 });
    match &schemas[id].name {
        Some(name) => (format!("{noun} {name} contains itself"), place),
        None => (format!("a {noun} without a name contains itself"), place),
    }
}
