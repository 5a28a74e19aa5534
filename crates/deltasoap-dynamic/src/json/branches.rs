//! Names that several branches of a choice share.
//!
//! Properties are named for all branches at once, so that an element that occurs again in a second
//! branch has a long name there. Someone who writes JSON by hand sees only one branch, and names
//! its elements as if there were no other. Both forms are read: if an object does not match the
//! layout, each choice of branches is tried with the names that its elements have by themselves.

use super::JsonError;
use super::keys::{Layout, Slot, short};
use super::path::Path;
use super::reader::listed;
use deltasoap_core::schema::{ChoiceFault, ComplexElement, Compositor, Field, View};
use serde_json::{Map, Value as Json};
use std::collections::HashSet;

/// Maximum number of choices of branches that are tried.
const MAX_CHOICES: usize = 256;

/// Returns the layout for the branches that an object has, if it differs from the usual one; its
/// names are those of the object.
///
/// # Errors
/// If the object matches several choices of branches.
pub(super) fn by_branches(
    object: &Map<String, Json>,
    complex: &ComplexElement,
    layout: &Layout,
    view: View<'_>,
    path: &Path<'_>,
) -> Result<Option<Layout>, JsonError> {
    if complex.choices.is_empty() || is_complete(object, complex, layout) {
        return Ok(None);
    }
    let has_several = matches!(fault(object, complex, layout), Some(ChoiceFault::Several(_)));
    let mut own = Vec::new();
    layout.slots.iter().for_each(|slot| slot.properties(&mut own));
    own.retain(|property| object.contains_key(*property));
    let mut forms: Vec<Form> = Vec::new();
    for taken in choices(object, complex, layout) {
        let form = Form::of(object, layout, layout.of_some(complex, view, |field| taken[field]));
        let has_all = own.iter().all(|property| form.found.iter().any(|(name, _)| name == property));
        if has_all && forms.iter().all(|other| other.found != form.found) {
            forms.push(form);
        }
    }
    let are_complete = forms.iter().any(|form| is_complete(object, complex, &form.layout));
    match are_complete {
        true => forms.retain(|form| is_complete(object, complex, &form.layout)),
        // The error about a missing property then refers to the intended branch.
        false if has_several => {}
        false => return Ok(None),
    }
    match forms.len() {
        0 | 1 => Ok(forms.pop().map(|form| form.layout)),
        _ if are_complete => {
            let expected: Vec<_> = forms.iter().map(Form::properties).collect();
            let expected = format!("the properties {}", expected.join(", or else "));
            Err(JsonError::new(path, expected, format!("{}, which match each of these", listed(&own))))
        }
        _ => Ok(None),
    }
}

/// One way to read an object.
struct Form {
    layout: Layout,
    /// For each property of the object, the property that the usual layout has for its field.
    found: Vec<(String, String)>,
}

impl Form {
    /// Creates the form for a layout of some of the fields. A field may also have its usual name.
    fn of(object: &Map<String, Json>, usual: &Layout, mut layout: Layout) -> Self {
        let mut short = Vec::new();
        layout.slots.iter().for_each(|slot| slot.properties(&mut short));
        let short: HashSet<String> = short.into_iter().map(ToOwned::to_owned).collect();
        let mut found = Vec::new();
        for (slot, usual) in layout.slots.iter_mut().zip(&usual.slots) {
            let all = properties(usual);
            let is_usual = all.iter().any(|name| object.contains_key(*name) && !short.contains(*name));
            if is_usual && !matches!(slot, Slot::Nowhere) && !is_there(object, slot) {
                *slot = usual.clone();
            }
            let pairs = properties(slot).into_iter().zip(all).filter(|(name, _)| object.contains_key(*name));
            found.extend(pairs.map(|(name, usual)| (name.to_owned(), usual.to_owned())));
        }
        Form { layout, found }
    }

    /// Returns the usual names of its properties, which differ from those of any other form.
    fn properties(&self) -> String {
        listed(&self.found.iter().map(|(_, usual)| &**usual).collect::<Vec<_>>())
    }
}

/// Returns the choices of branches that an object may have made: for each, which fields are
/// present.
fn choices(object: &Map<String, Json>, complex: &ComplexElement, layout: &Layout) -> Vec<Vec<bool>> {
    let may_be = |field: usize| {
        let slot = layout.slots.get(field);
        slot.is_some_and(|slot| {
            properties(slot).iter().any(|it| [it, short(it)].iter().any(|it| object.contains_key(*it)))
        })
    };
    let mut all = Vec::new();
    // The option that each choice takes, and the number of its options.
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    loop {
        let mut next = 0;
        let taken = complex.taken(|branches| {
            let mut options: Vec<_> = (0..branches.len()).filter(|&it| branches[it].clone().any(may_be)).collect();
            // The last option is none of them.
            options.push(branches.len());
            if next == chosen.len() {
                chosen.push((0, options.len()));
            }
            next += 1;
            options[chosen[next - 1].0]
        });
        all.push(taken.iter().map(Option::is_some).collect());
        while chosen.last().is_some_and(|(option, options)| option + 1 == *options) {
            chosen.pop();
        }
        match chosen.last_mut() {
            Some((option, _)) if all.len() < MAX_CHOICES => *option += 1,
            Some(_) => return Vec::new(),
            None => return all,
        }
    }
}

fn properties(slot: &Slot) -> Vec<&str> {
    let mut properties = Vec::new();
    slot.properties(&mut properties);
    properties
}

fn is_there(object: &Map<String, Json>, slot: &Slot) -> bool {
    properties(slot).iter().any(|name| object.contains_key(*name))
}

/// Returns true if an object has what a layout requires, and nothing that excludes it.
fn is_complete(object: &Map<String, Json>, complex: &ComplexElement, layout: &Layout) -> bool {
    let is_choice = complex.compositor == Compositor::Choice;
    let mut fields = complex.fields.iter().zip(&layout.slots);
    fault(object, complex, layout).is_none()
        && fields.all(|(field, slot)| is_choice || field.min == 0 || is_there(object, slot))
}

fn fault(object: &Map<String, Json>, complex: &ComplexElement, layout: &Layout) -> Option<ChoiceFault> {
    complex.choice_fault(|index| match (complex.fields.get(index), layout.slots.get(index)) {
        (Some(field), Some(slot)) => count(object, field, slot),
        _ => 0,
    })
}

/// Returns the number of occurrences of a field.
fn count(object: &Map<String, Json>, field: &Field, slot: &Slot) -> u32 {
    match slot {
        Slot::Property(key) | Slot::Choices(key, _) => match object.get(key) {
            Some(Json::Array(items)) if field.is_repeated() => u32::try_from(items.len()).unwrap_or(u32::MAX),
            json => json.is_some().into(),
        },
        slot => is_there(object, slot).into(),
    }
}
