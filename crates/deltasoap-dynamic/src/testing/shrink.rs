//! Smaller requests: the same request without what is not needed for the failure.

use super::answer::without_texts;
use super::cases::refusals;
use super::draft::{Draft, at, at_mut};
use super::edits::UNKNOWN;
use super::form::Form;
use super::kinds::Kind;
use super::spots::{Spot, spots, text_type};
use crate::sample::candidates;
use crate::{Finding, Operation};
use deltasoap_core::{Child, Node};

/// Depth of the types that simple values are looked for in.
const MAX_DEPTH: usize = 4;
/// Maximum number of smaller requests of one request.
const MAX_CANDIDATES: usize = 500;

/// A change that makes a request smaller.
#[derive(Debug, Clone)]
enum Cut {
    /// Removes children, by the path of their parent and their indices.
    Children(Vec<usize>, Vec<usize>),
    /// Removes an attribute.
    Attribute(Vec<usize>, usize),
    /// Replaces the text of an element.
    Text(Vec<usize>, String),
    /// Replaces the text of an attribute.
    Value(Vec<usize>, usize, String),
    /// Writes the message in the plain form.
    Plain,
}

/// Returns smaller requests of the same kind, those with the least left first. Each is as valid, or
/// as invalid in the same places, as the request itself.
pub(super) fn smaller<'a>(operation: &'a Operation, kind: Kind, draft: &'a Draft) -> impl Iterator<Item = Draft> + 'a {
    let own = places(operation, kind, draft);
    cuts(operation, draft).into_iter().take(MAX_CANDIDATES).filter_map(move |cut| {
        let smaller = cut.apply(draft)?;
        (own.is_some() && places(operation, kind, &smaller) == own).then_some(smaller)
    })
}

/// Returns where a request is invalid; `None` if it is not of its kind. What is wrong with the
/// message as a whole is ignored: the rest has to be valid then.
fn places(operation: &Operation, kind: Kind, draft: &Draft) -> Option<Vec<String>> {
    use super::kinds::Breach::{Malformed, MustUnderstand, OtherVersion, Version};
    match kind {
        Kind::Invalid(Malformed) => {
            let whole = Draft { damage: None, ..draft.clone() };
            operation.contract().validate(&whole.write()).is_empty().then(Vec::new)
        }
        Kind::Invalid(Version | OtherVersion) => {
            let mut whole = draft.clone();
            whole.rename(operation.version().namespace());
            operation.contract().validate(&whole.write()).is_empty().then(Vec::new)
        }
        Kind::Invalid(MustUnderstand) if !has_unknown_block(draft) => None,
        Kind::Invalid(MustUnderstand) | Kind::Valid(_) => refusals(operation, kind, &draft.write()).map(|_| Vec::new()),
        Kind::Invalid(_) => {
            let found = operation.contract().validate(&draft.write());
            // What is wrong stays the same: nothing else may be wrong, too.
            // An empty text is another matter than a wrong one.
            let place = |it: &Finding| {
                let is_empty = it.message.contains("\"\"");
                format!("{} {} {is_empty}", without_indices(&it.path), without_texts(&it.message))
            };
            let mut places: Vec<String> = found.iter().map(place).collect();
            places.sort();
            (!places.is_empty()).then_some(places)
        }
    }
}

fn has_unknown_block(draft: &Draft) -> bool {
    let header = draft.envelope.element(&draft.envelope.name.namespace, "Header");
    let mut blocks = header.into_iter().flat_map(Node::elements);
    blocks.any(|block| {
        *block.name.namespace == *UNKNOWN && block.attributes.iter().any(|(name, _)| &*name.local == "mustUnderstand")
    })
}

fn without_indices(path: &str) -> String {
    path.split('/').map(|step| step.split('[').next().unwrap_or_default()).collect::<Vec<_>>().join("/")
}

/// Returns the changes that may make a request smaller.
fn cuts(operation: &Operation, draft: &Draft) -> Vec<Cut> {
    let mut all = Vec::new();
    if draft.form != Form::Plain {
        all.push(Cut::Plain);
    }
    let mut elements = Vec::new();
    add_elements(&draft.envelope, &mut Vec::new(), &mut elements);
    // Outer elements first: what is removed with them need not be removed itself.
    elements.sort_by_key(Vec::len);
    for path in &elements {
        let Some(node) = at(&draft.envelope, path) else { continue };
        all.extend(removals(node, path));
    }
    let known = spots(operation, draft);
    for path in elements.iter().rev() {
        let Some(node) = at(&draft.envelope, path) else { continue };
        all.extend(texts(operation, node, path, known.iter().find(|spot| spot.path == *path)));
    }
    all
}

/// Adds the paths of all elements below the body and the header.
fn add_elements(node: &Node, path: &mut Vec<usize>, into: &mut Vec<Vec<usize>>) {
    into.push(path.clone());
    for (index, child) in node.children.iter().enumerate() {
        if let Child::Element(child) = child {
            path.push(index);
            add_elements(child, path, into);
            path.pop();
        }
    }
}

/// Returns the removals of children and attributes: all, halves, then each.
fn removals(node: &Node, path: &[usize]) -> Vec<Cut> {
    let mut cuts = Vec::new();
    // The body and the header stay, except for an empty header.
    let fixed = usize::from(path.is_empty()) * node.children.len();
    let indices: Vec<usize> = (0..node.children.len() - fixed).collect();
    let mut size = indices.len();
    while size > 1 {
        size = size.div_ceil(2);
        cuts.extend(indices.chunks(size).map(|chunk| Cut::Children(path.to_vec(), chunk.to_vec())));
    }
    if indices.len() == 1 {
        cuts.push(Cut::Children(path.to_vec(), indices));
    }
    cuts.extend((0..node.attributes.len()).map(|index| Cut::Attribute(path.to_vec(), index)));
    if path.is_empty() {
        let is_empty = |child: &Child| matches!(child, Child::Element(it) if &*it.name.local == "Header" && it.children.is_empty());
        let empty = node.children.iter().position(is_empty);
        cuts.extend(empty.map(|index| Cut::Children(Vec::new(), vec![index])));
    }
    cuts
}

/// Returns simpler texts of an element and of its attributes.
fn texts(operation: &Operation, node: &Node, path: &[usize], spot: Option<&Spot>) -> Vec<Cut> {
    let types = &operation.contract().types;
    let schemas = types.import.schemas();
    let text = node.text();
    let has_elements = node.elements().next().is_some();
    let mut cuts = Vec::new();
    if !has_elements && !text.is_empty() {
        let simple = spot.and_then(|spot| text_type(types, spot.actual));
        let usual = simple.and_then(|id| candidates(schemas, id, MAX_DEPTH).into_iter().next());
        let usual = usual.filter(|usual| usual.len() < text.len());
        cuts.extend(shorter(&text).into_iter().chain(usual).map(|text| Cut::Text(path.to_vec(), text)));
    }
    for (index, (_, value)) in node.attributes.iter().enumerate() {
        cuts.extend(shorter(value).into_iter().map(|text| Cut::Value(path.to_vec(), index, text)));
    }
    cuts
}

/// Returns shorter texts: nothing, halves, and all but one character; and a simple one.
fn shorter(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let (half, len) = (chars.len() / 2, chars.len());
    let of = |chars: &[char]| chars.iter().collect::<String>();
    let mut found = Vec::new();
    for shorter in [String::new(), of(&chars[..half]), of(&chars[half..]), of(&chars[..len.min(1)])] {
        if shorter.len() < text.len() && !found.contains(&shorter) {
            found.push(shorter);
        }
    }
    // Quarter steps and single characters bring the length to its exact bound.
    for cut in [len / 4, len / 10, len / 100, 1] {
        let shorter = [of(&chars[..len.saturating_sub(cut)]), of(&chars[cut.min(len)..])];
        for shorter in shorter.into_iter().filter(|shorter| shorter.len() < text.len()) {
            if !found.contains(&shorter) {
                found.push(shorter);
            }
        }
    }
    // What characters there are may not matter.
    let simple = "x".repeat(len);
    if simple != text && !found.contains(&simple) {
        found.push(simple);
    }
    found
}

impl Cut {
    fn apply(&self, draft: &Draft) -> Option<Draft> {
        let mut draft = draft.clone();
        match self {
            Cut::Plain => draft.form = Form::Plain,
            Cut::Children(path, indices) => {
                let node = at_mut(&mut draft.envelope, path)?;
                let children = std::mem::take(&mut node.children).into_iter().enumerate();
                node.children =
                    children.filter(|(index, _)| !indices.contains(index)).map(|(_, child)| child).collect();
            }
            Cut::Attribute(path, index) => {
                let node = at_mut(&mut draft.envelope, path)?;
                node.attributes.remove(*index);
            }
            Cut::Text(path, text) => {
                let node = at_mut(&mut draft.envelope, path)?;
                node.children = if text.is_empty() { Vec::new() } else { vec![Child::Text(text.as_str().into())] };
            }
            Cut::Value(path, index, text) => {
                at_mut(&mut draft.envelope, path)?.attributes[*index].1 = text.as_str().into();
            }
        }
        Some(draft)
    }
}
