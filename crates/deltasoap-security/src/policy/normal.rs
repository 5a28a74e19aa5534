//! The normal form of policies (WS-Policy 1.5, section 4): alternatives of assertions.

use super::PolicyError;
use deltasoap_core::Node;

/// Maximum number of alternatives of a policy.
const MAX_ALTERNATIVES: usize = 64;

/// Returns the alternatives of a policy, each with its assertions about security. An empty document
/// has none.
///
/// # Errors
/// Returns an error if the document is not well-formed, or has more than [`MAX_ALTERNATIVES`].
pub(super) fn alternatives(document: &str) -> Result<Vec<Vec<Node>>, PolicyError> {
    if document.is_empty() {
        return Ok(Vec::new());
    }
    let policy = Node::parse(document.as_bytes()).map_err(|error| PolicyError::Malformed(error.to_string()))?;
    let alternatives = of(&policy)?;
    if alternatives.is_empty() {
        return Err(PolicyError::Malformed("it has no alternatives, so nothing satisfies it".to_owned()));
    }
    Ok(alternatives.into_iter().map(|assertions| assertions.into_iter().cloned().collect()).collect())
}

/// Returns the assertions of the policy inside an assertion. Of several alternatives, the first one
/// is meant.
pub(super) fn nested(assertion: &Node) -> impl Iterator<Item = &Node> {
    let policies = assertion.elements().filter(|child| &*child.name.local == "Policy");
    policies.flat_map(|policy| of(policy).unwrap_or_default().into_iter().next().unwrap_or_default())
}

/// Returns true for names of WS-SecurityPolicy 1.1 to 1.3.
pub(super) fn is_of_security(node: &Node) -> bool {
    let namespace = &*node.name.namespace;
    namespace == "http://schemas.xmlsoap.org/ws/2005/07/securitypolicy"
        || namespace.starts_with("http://docs.oasis-open.org/ws-sx/ws-securitypolicy/")
}

/// Recursion is safe: the depth of a tree is limited when it is read.
fn of(node: &Node) -> Result<Vec<Vec<&Node>>, PolicyError> {
    let is_operator = !is_of_security(node);
    let alternatives = match &*node.name.local {
        "ExactlyOne" if is_operator => {
            let mut all = Vec::new();
            for child in node.elements() {
                all.extend(of(child)?);
            }
            all
        }
        "Policy" | "All" if is_operator => {
            let mut all = vec![Vec::new()];
            for child in node.elements() {
                all = product(&all, &of(child)?)?;
            }
            all
        }
        _ if is_optional(node) => vec![vec![node], Vec::new()],
        _ => vec![vec![node]],
    };
    if alternatives.len() > MAX_ALTERNATIVES {
        return Err(too_many());
    }
    Ok(alternatives)
}

fn product<'n>(left: &[Vec<&'n Node>], right: &[Vec<&'n Node>]) -> Result<Vec<Vec<&'n Node>>, PolicyError> {
    if left.len() * right.len() > MAX_ALTERNATIVES {
        return Err(too_many());
    }
    Ok(left.iter().flat_map(|one| right.iter().map(move |other| [&one[..], other].concat())).collect())
}

fn is_optional(node: &Node) -> bool {
    let is_true = |value: &str| matches!(value.trim(), "true" | "1");
    node.attributes.iter().any(|(name, value)| {
        matches!(&*name.local, "Optional" | "Ignorable") && !name.namespace.is_empty() && is_true(value)
    })
}

fn too_many() -> PolicyError {
    PolicyError::Malformed(format!("it has more than {MAX_ALTERNATIVES} alternatives"))
}
