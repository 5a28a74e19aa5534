//! Strongly connected components of a graph: Tarjan's algorithm without recursion, because types
//! can be nested as deeply as a WSDL is long.

/// Returns the number of each node's component. `graph` lists the successors of each node.
pub(crate) fn strongly_connected_components(graph: &[Vec<usize>]) -> Vec<u32> {
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
            search.from(start, graph);
        }
    }
    search.part
}

/// Returns true for each node that leads back to itself.
pub(crate) fn cyclic(graph: &[Vec<usize>]) -> Vec<bool> {
    let part = strongly_connected_components(graph);
    let mut sizes = vec![0_usize; graph.len()];
    part.iter().for_each(|&part| sizes[part as usize] += 1);
    let is_cyclic = |(node, leads): (usize, &Vec<usize>)| sizes[part[node] as usize] > 1 || leads.contains(&node);
    graph.iter().enumerate().map(is_cyclic).collect()
}

const UNSEEN: u32 = u32::MAX;

struct Search {
    /// Order in which each node was seen.
    order: Vec<u32>,
    /// The earliest open node that each node leads to.
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

    /// Closes a component if `at` is its first node.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_leads_back() {
        let graph = [vec![1], vec![2], vec![1, 3], vec![3], vec![0]];
        let part = strongly_connected_components(&graph);
        assert_eq!(part[1], part[2]);
        assert!([0, 3, 4].iter().all(|&alone| part.iter().filter(|&&it| it == part[alone]).count() == 1));
        assert_eq!(cyclic(&graph), [false, true, true, true, false]);
    }
}
