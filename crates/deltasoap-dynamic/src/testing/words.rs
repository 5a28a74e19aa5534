//! Sequences of children at the edges of a content model: each particle as often as it may occur
//! and once more or less, each branch of each choice, and elements in the wrong order.

use super::kinds::{Aspect, Breach, Kind};
use crate::contract::Types;
use deltasoap_wsdl::xsd::{ElementId, Particle, Term, Wildcard};

/// Maximum number of occurrences that show a maximum, or that there is none.
const MANY: u32 = 100;
/// Maximum number of particles of one content model that are varied.
const MAX_PARTICLES: usize = 2_000;
/// Maximum number of members of a substitution group that are tried.
const MAX_MEMBERS: usize = 20;
/// Maximum number of children.
const MAX_CHILDREN: usize = 1_000;

/// A child by its declaration.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Element(ElementId),
    Any(Wildcard),
}

/// A sequence of children, and what it shows.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) kind: Kind,
    pub(super) parts: Vec<Part>,
    pub(super) what: String,
}

/// What a particle is forced to.
#[derive(Debug, Clone, Copy)]
enum Force {
    /// This many occurrences.
    Count(u32),
    /// This branch of the choice, once.
    Branch(usize),
    /// This member of the substitution group, once.
    Member(ElementId),
}

/// Returns sequences of children at the edges of a model, allowed ones and others. Whether a message
/// with them is valid is for the validator to say.
pub(super) fn words(types: &Types, model: &Particle) -> Vec<Word> {
    let mut paths = Vec::new();
    add_particles(model, &mut Vec::new(), &mut paths);
    let mut found = Vec::new();
    for (path, particle) in paths {
        let name = label(types, &particle.term);
        for (kind, force, what) in forces(types, particle, &name) {
            let mut parts = Vec::new();
            expand(types, model, &mut Vec::new(), Some((&path, force)), &mut parts);
            if parts.len() <= MAX_CHILDREN {
                found.push(Word { kind, parts, what });
            }
        }
    }
    found.extend(swapped(types, model));
    found
}

/// Returns the shortest sequence that a model allows with an element of this declaration.
pub(super) fn with(types: &Types, model: &Particle, element: ElementId) -> Option<Vec<Part>> {
    let mut paths = Vec::new();
    add_particles(model, &mut Vec::new(), &mut paths);
    let (path, _) = paths.into_iter().find(|(_, it)| matches!(it.term, Term::Element(id) if id == element))?;
    let mut parts = Vec::new();
    expand(types, model, &mut Vec::new(), Some((&path, Force::Count(1))), &mut parts);
    Some(parts)
}

/// Adds all particles with their paths.
fn add_particles<'t>(particle: &'t Particle, path: &mut Vec<usize>, into: &mut Vec<(Vec<usize>, &'t Particle)>) {
    if particle.max == Some(0) || into.len() >= MAX_PARTICLES {
        return;
    }
    into.push((path.clone(), particle));
    if let Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) = &particle.term {
        for (index, part) in parts.iter().enumerate() {
            path.push(index);
            add_particles(part, path, into);
            path.pop();
        }
    }
}

/// Returns what a particle is varied to.
fn forces(types: &Types, particle: &Particle, name: &str) -> Vec<(Kind, Force, String)> {
    let mut found = Vec::new();
    let Particle { min, max, term } = particle;
    let is_group = matches!(term, Term::Sequence(_) | Term::Choice(_) | Term::All(_));
    let aspect = if matches!(term, Term::Any(_)) { Aspect::Wildcard } else { Aspect::Occurrence };
    let many = max.unwrap_or(u32::MAX).min((*min).max(MANY));
    let mut counts = vec![*min, (*min).max(1), (*min).max(2), many];
    counts.retain(|&count| count >= *min && max.is_none_or(|max| count <= max) && count <= MANY);
    counts.sort_unstable();
    counts.dedup();
    // A group that occurs exactly once shows nothing.
    if !is_group || counts.len() > 1 {
        found.extend(counts.into_iter().map(|count| (Kind::Valid(aspect), Force::Count(count), times(name, count))));
    }
    if let Some(fewer) = min.checked_sub(1).filter(|_| *min <= MANY) {
        found.push((Kind::Invalid(Breach::Missing), Force::Count(fewer), times(name, fewer)));
    }
    if let Some(more) = max.filter(|&max| max < MANY).map(|max| max + 1) {
        found.push((Kind::Invalid(Breach::Extra), Force::Count(more), times(name, more)));
    }
    match term {
        Term::Choice(parts) => {
            for (branch, part) in parts.iter().enumerate().filter(|(_, part)| part.max != Some(0)) {
                let what = format!("the branch {}", label(types, &part.term));
                found.push((Kind::Valid(Aspect::Choice), Force::Branch(branch), what));
            }
        }
        Term::Element(id) => {
            let members = types.members(*id).filter(|member| member != id).take(MAX_MEMBERS);
            for member in members {
                let other = &types.import.schemas()[member].name.local;
                let what = format!("<{other}> in the place of <{name}>");
                found.push((Kind::Valid(Aspect::Choice), Force::Member(member), what));
            }
        }
        _ => {}
    }
    found
}

fn times(name: &str, count: u32) -> String {
    match count {
        0 => format!("no {name}"),
        1 => format!("one {name}"),
        count => format!("{count} times {name}"),
    }
}

/// Returns words for a term.
fn label(types: &Types, term: &Term) -> String {
    match term {
        Term::Element(id) => format!("<{}>", types.import.schemas()[*id].name.local),
        Term::Any(_) => "any element".to_owned(),
        Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => {
            let first = parts.iter().find(|part| part.max != Some(0)).map(|part| label(types, &part.term));
            match (first, parts.len()) {
                (Some(first), 1) => first,
                (Some(first), _) => format!("group of {first}"),
                (None, _) => "empty group".to_owned(),
            }
        }
        Term::Group(_) => "group".to_owned(),
    }
}

/// Writes the occurrences of a particle: as few as are allowed, except where the target is.
fn expand(
    types: &Types,
    particle: &Particle,
    path: &mut Vec<usize>,
    target: Option<(&[usize], Force)>,
    out: &mut Vec<Part>,
) {
    let ahead = target.filter(|(target, _)| target.starts_with(path));
    let force = ahead.filter(|(target, _)| target.len() == path.len()).map(|(_, force)| force);
    let count = match force {
        Some(Force::Count(count)) => count,
        _ if ahead.is_some() => particle.min.max(1),
        _ => particle.min,
    };
    for occurrence in 0..count {
        if out.len() > MAX_CHILDREN {
            return;
        }
        // Only the first occurrence leads to the target.
        let target = target.filter(|_| occurrence == 0 || force.is_some());
        match (&particle.term, force) {
            (_, Some(Force::Member(member))) if occurrence == 0 => out.push(Part::Element(member)),
            (Term::Element(id), _) => out.push(Part::Element(types.members(*id).next().unwrap_or(*id))),
            (Term::Any(wildcard), _) => out.push(Part::Any(wildcard.clone())),
            (Term::Sequence(parts) | Term::All(parts), _) => {
                for (index, part) in parts.iter().enumerate() {
                    path.push(index);
                    expand(types, part, path, target, out);
                    path.pop();
                }
            }
            (Term::Choice(parts), force) => {
                let within = target.and_then(|(target, _)| target.get(path.len()).copied().filter(|_| ahead.is_some()));
                let chosen = match force {
                    Some(Force::Branch(branch)) if occurrence == 0 => Some(branch),
                    _ => within,
                };
                // A branch that is asked for occurs, even if it may be absent.
                let is_asked = chosen.is_some();
                let finite = types.finite();
                let first = || parts.iter().position(|part| part.max != Some(0) && finite.allows(&part.term));
                let Some(branch) = chosen.or_else(first) else { continue };
                path.push(branch);
                let part = &parts[branch];
                let is_target = target.is_some_and(|(target, _)| target.starts_with(path));
                if is_asked && part.min == 0 && !is_target {
                    let here = path.clone();
                    expand(types, part, path, Some((&here, Force::Count(1))), out);
                } else {
                    expand(types, part, path, target.filter(|_| is_target), out);
                }
                path.pop();
            }
            (Term::Group(_), _) => {}
        }
    }
}

/// Returns sequences in which two neighbours have changed places.
fn swapped(types: &Types, model: &Particle) -> Vec<Word> {
    let mut parts = Vec::new();
    let Term::Sequence(inner) = &model.term else { return Vec::new() };
    for (index, part) in inner.iter().enumerate().filter(|(_, part)| matches!(part.term, Term::Element(_))) {
        if part.max != Some(0) {
            let here = [index];
            expand(types, part, &mut vec![index], Some((&here, Force::Count(part.min.max(1)))), &mut parts);
        }
    }
    let name = |part: &Part| match part {
        Part::Element(id) => Some(&types.import.schemas()[*id].name),
        Part::Any(_) => None,
    };
    let pairs = (1..parts.len()).filter(|&at| name(&parts[at - 1]) != name(&parts[at]));
    pairs
        .map(|at| {
            let mut parts = parts.clone();
            let names = [at - 1, at].map(|at| name(&parts[at]).map(|name| name.local.to_string()).unwrap_or_default());
            parts.swap(at - 1, at);
            let what = format!("<{}> before <{}>", names[1], names[0]);
            Word { kind: Kind::Invalid(Breach::Order), parts, what }
        })
        .collect()
}
