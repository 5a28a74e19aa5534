//! The normal form of policies (WS-Policy 1.5, section 4): alternatives of assertions.
//!
//! The alternatives of a policy inside an assertion are multiplied out too: afterwards, a policy
//! inside an assertion is a list.

use super::PolicyError;
use deltasoap_core::{Child, Node};

/// Maximum number of alternatives of a policy.
const MAX_ALTERNATIVES: usize = 64;

/// The namespaces of WS-Policy.
const POLICY: [&str; 4] = [
    "http://www.w3.org/ns/ws-policy",
    "http://www.w3.org/2006/07/ws-policy",
    "http://schemas.xmlsoap.org/ws/2004/09/policy",
    "http://schemas.xmlsoap.org/ws/2002/12/policy",
];

/// Returns the alternatives of a policy, each with its assertions. An empty document has none.
///
/// # Errors
/// Returns an error if the document is not well-formed, or has no alternatives or more than
/// [`MAX_ALTERNATIVES`].
pub(super) fn alternatives(document: &str) -> Result<Vec<Vec<Node>>, PolicyError> {
    if document.is_empty() {
        return Ok(Vec::new());
    }
    let policy = Node::parse(document.as_bytes()).map_err(|error| PolicyError::Malformed(error.to_string()))?;
    let alternatives = of(&policy)?;
    if alternatives.is_empty() {
        return Err(PolicyError::Malformed("it has no alternatives, so nothing satisfies it".to_owned()));
    }
    Ok(alternatives)
}

/// Returns true for the element that holds the policy inside an assertion.
pub(super) fn is_policy(node: &Node) -> bool {
    is_of_policy(&node.name.namespace) && &*node.name.local == "Policy"
}

fn is_of_policy(namespace: &str) -> bool {
    POLICY.contains(&namespace)
}

/// Recursion is safe: the depth of a tree is limited when it is read.
fn of(node: &Node) -> Result<Vec<Vec<Node>>, PolicyError> {
    let alternatives = match &*node.name.local {
        "ExactlyOne" if is_of_policy(&node.name.namespace) => {
            let mut all = Vec::new();
            for child in node.elements() {
                all.extend(of(child)?);
            }
            all
        }
        "Policy" | "All" if is_of_policy(&node.name.namespace) => {
            let mut all = vec![Vec::new()];
            for child in node.elements() {
                all = product(&all, &of(child)?)?;
            }
            all
        }
        _ => {
            let mut all: Vec<_> = forms(node)?.into_iter().map(|form| vec![form]).collect();
            if is_optional(node) {
                all.push(Vec::new());
            }
            all
        }
    };
    at_most(alternatives.len())?;
    Ok(alternatives)
}

/// Returns the forms of an assertion: one for each alternative of the policies inside it, which
/// become lists of assertions.
fn forms(assertion: &Node) -> Result<Vec<Node>, PolicyError> {
    let Node { name, attributes, bindings, .. } = assertion;
    let (name, attributes, bindings) = (name.clone(), attributes.clone(), bindings.clone());
    let mut forms = vec![Node { name, attributes, bindings, children: Vec::new() }];
    for child in assertion.elements() {
        let alternatives = match is_policy(child) {
            true => of(child)?.into_iter().map(|assertions| listed(child, assertions)).collect(),
            false => vec![child.clone()],
        };
        at_most(forms.len() * alternatives.len())?;
        let with = |form: &Node, child: &Node| {
            let mut form = form.clone();
            form.children.push(Child::Element(child.clone()));
            form
        };
        forms = forms.iter().flat_map(|form| alternatives.iter().map(move |child| with(form, child))).collect();
    }
    Ok(forms)
}

fn listed(policy: &Node, assertions: Vec<Node>) -> Node {
    Node {
        name: policy.name.clone(),
        children: assertions.into_iter().map(Child::Element).collect(),
        ..Node::default()
    }
}

fn product(left: &[Vec<Node>], right: &[Vec<Node>]) -> Result<Vec<Vec<Node>>, PolicyError> {
    at_most(left.len() * right.len())?;
    Ok(left.iter().flat_map(|one| right.iter().map(move |other| [&one[..], other].concat())).collect())
}

fn at_most(alternatives: usize) -> Result<(), PolicyError> {
    if alternatives > MAX_ALTERNATIVES {
        return Err(PolicyError::Malformed(format!("it has more than {MAX_ALTERNATIVES} alternatives")));
    }
    Ok(())
}

fn is_optional(node: &Node) -> bool {
    node.attributes.iter().any(|(name, value)| {
        &*name.local == "Optional" && is_of_policy(&name.namespace) && matches!(value.trim(), "true" | "1")
    })
}
