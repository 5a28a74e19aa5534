//! Values that refer to each other: shared values, and cycles.

use crate::{Case, Kind};
use deltasoap::types::Shared;
use deltasoap::{Nillable, Soap};

/// An edge to a node, or none, which toolkits encode in different ways.
pub type Edge = Option<Nillable<Shared<Node>>>;

/// Two references into a graph, possibly to the same node.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Graph {
    pub first: Shared<Node>,
    pub second: Edge,
}

/// A node with at most two edges to others.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(compact, namespace = "urn:types")]
#[allow(missing_docs)]
pub struct Node {
    pub name: String,
    pub left: Edge,
    pub right: Edge,
}

impl Kind for Graph {
    const NAME: &'static str = "Graph";
    const FEATURE: &'static str = "references";
    const CASES: &'static [Case<Self>] = &[
        ("a tree", || graph(node("a", Some(leaf("b")), Some(node("c", Some(leaf("d")), None))), None)),
        ("equal values that are not shared", || graph(leaf("a"), Some(leaf("a")))),
        ("a shared value", shared),
        ("a diamond", diamond),
        ("a cycle", || graph(Shared::cyclic(|me| node_of("a", Some(me), None)), None)),
        ("a longer cycle", || {
            graph(Shared::cyclic(|me| node_of("a", Some(node("b", Some(me), Some(leaf("c")))), None)), None)
        }),
    ];

    /// Compares values and sharing.
    fn is_same(&self, other: &Self) -> bool {
        Walk::of(self) == Walk::of(other)
    }
}

fn shared() -> Graph {
    let node = leaf("a");
    graph(node.clone(), Some(node))
}

fn diamond() -> Graph {
    let bottom = leaf("d");
    graph(node("a", Some(node("b", Some(bottom.clone()), None)), Some(node("c", None, Some(bottom)))), None)
}

fn graph(first: Shared<Node>, second: Option<Shared<Node>>) -> Graph {
    Graph { first, second: second.map(Nillable::Value) }
}

fn leaf(name: &str) -> Shared<Node> {
    node(name, None, None)
}

fn node(name: &str, left: Option<Shared<Node>>, right: Option<Shared<Node>>) -> Shared<Node> {
    Shared::new(node_of(name, left, right))
}

fn node_of(name: &str, left: Option<Shared<Node>>, right: Option<Shared<Node>>) -> Node {
    Node { name: name.to_owned(), left: left.map(Nillable::Value), right: right.map(Nillable::Value) }
}

/// A traversal of a graph, as text: a node that was visited before is identified by its number.
#[derive(Default)]
struct Walk {
    met: Vec<Shared<Node>>,
    text: String,
}

/// Maximum number of nodes of a traversal: the cases have fewer, so a larger graph is none of them.
const MAX_NODES: usize = 100;

impl Walk {
    fn of(graph: &Graph) -> String {
        let mut walk = Walk::default();
        walk.visit(Some(&graph.first));
        walk.follow(&graph.second);
        walk.text
    }

    fn follow(&mut self, edge: &Edge) {
        self.visit(edge.as_ref().and_then(|edge| match edge {
            Nillable::Nil => None,
            Nillable::Value(node) => Some(node),
        }));
    }

    fn visit(&mut self, shared: Option<&Shared<Node>>) {
        let held = shared.and_then(|shared| Some((shared, shared.get()?)));
        match held {
            None => self.text.push('-'),
            Some((shared, node)) => match self.met.iter().position(|met| Shared::ptr_eq(met, shared)) {
                Some(at) => self.text += &format!("#{at}"),
                None if self.met.len() < MAX_NODES => self.enter(shared, &node),
                None => self.text.push('…'),
            },
        }
    }

    fn enter(&mut self, shared: &Shared<Node>, node: &Node) {
        self.met.push(shared.clone());
        self.text += &format!("{:?}(", node.name);
        self.follow(&node.left);
        self.follow(&node.right);
        self.text.push(')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_counts() {
        let two = Graph::case("equal values that are not shared").expect("a case");
        assert_eq!(Walk::of(&two), r#""a"(--)"a"(--)"#);
        assert_eq!(Walk::of(&shared()), r#""a"(--)#0"#);
        assert!(!two.is_same(&shared()));
        assert_eq!(Walk::of(&diamond()), r#""a"("b"("d"(--)-)"c"(-#2))-"#);
    }

    #[test]
    fn cycles_end() {
        let ring = Graph::case("a cycle").expect("a case");
        assert_eq!(Walk::of(&ring), r#""a"(#0-)-"#);
    }
}
