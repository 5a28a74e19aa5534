//! Random graphs, their values, and a naive writer for them, which shares no code with the encoder.

use deltasoap::soap::Version;
use deltasoap::types::Shared;
use deltasoap::{Soap, SoapArray};
use proptest::prelude::*;
use std::collections::HashMap;

/// A vertex of a graph in a message: all edges to it share it.
#[derive(Debug, PartialEq, Soap)]
#[soap(namespace = "urn:g")]
pub struct Vertex {
    pub name: String,
    pub value: i32,
    pub next: Option<Shared<Vertex>>,
    pub others: Option<SoapArray<Shared<Vertex>>>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "put", namespace = "urn:g")]
pub struct Put {
    pub first: Shared<Vertex>,
    pub second: Option<Shared<Vertex>>,
}

/// A graph: the vertices that each vertex points to, by number. The first is the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph(pub Vec<Edges>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edges {
    pub value: i32,
    pub next: Option<usize>,
    pub others: Option<Vec<usize>>,
}

/// Generates any graph of up to `most` vertices.
pub fn graphs(most: usize) -> impl Strategy<Value = Graph> {
    (1..=most).prop_flat_map(|len| {
        let others = proptest::option::of(proptest::collection::vec(0..len, 0..4));
        let edges = (any::<i32>(), proptest::option::of(0..len), others);
        let edges = edges.prop_map(|(value, next, others)| Edges { value, next, others });
        proptest::collection::vec(edges, len).prop_map(Graph)
    })
}

impl Graph {
    /// Removes cycles: edges to earlier vertices are left out.
    pub fn without_cycles(mut self) -> Self {
        for (from, edges) in self.0.iter_mut().enumerate() {
            edges.next = edges.next.filter(|&to| to > from);
            edges.others.iter_mut().for_each(|others| others.retain(|&to| to > from));
        }
        self
    }

    /// Returns the reachable vertices, numbered in the order of their first visit.
    pub fn canonical(&self) -> Graph {
        let mut numbers = HashMap::new();
        let mut found = Vec::new();
        self.visit(0, &mut numbers, &mut found);
        Graph(found)
    }

    fn visit(&self, at: usize, numbers: &mut HashMap<usize, usize>, found: &mut Vec<Edges>) -> usize {
        if let Some(&number) = numbers.get(&at) {
            return number;
        }
        let number = found.len();
        numbers.insert(at, number);
        let edges = &self.0[at];
        found.push(Edges { value: edges.value, ..Edges::default() });
        let next = edges.next.map(|to| self.visit(to, numbers, found));
        let visit_all = |others: &Vec<usize>| others.iter().map(|&to| self.visit(to, numbers, found)).collect();
        let others = edges.others.as_ref().map(visit_all);
        found[number] = Edges { next, others, ..found[number].clone() };
        number
    }

    /// Returns the graph of a value.
    pub fn of(root: &Shared<Vertex>) -> Graph {
        let (mut known, mut found) = (Vec::new(), Vec::new());
        of(root, &mut known, &mut found);
        Graph(found)
    }
}

/// Returns weak handles to all vertices.
pub fn weak(root: &Shared<Vertex>) -> Vec<Shared<Vertex>> {
    let mut known = Vec::new();
    of(root, &mut known, &mut Vec::new());
    known.iter().map(Shared::weak).collect()
}

fn of(vertex: &Shared<Vertex>, known: &mut Vec<Shared<Vertex>>, found: &mut Vec<Edges>) -> usize {
    if let Some(number) = known.iter().position(|other| Shared::ptr_eq(other, vertex)) {
        return number;
    }
    let number = known.len();
    known.push(vertex.clone());
    let held = vertex.get().expect("a value that is there");
    found.push(Edges { value: held.value, ..Edges::default() });
    let next = held.next.as_ref().map(|to| of(to, known, found));
    let others = held.others.as_ref().map(|others| others.iter().map(|to| of(to, known, found)).collect());
    found[number] = Edges { next, others, ..found[number].clone() };
    number
}

/// The style of a written message.
#[derive(Debug, Clone)]
pub struct Style {
    pub version: Version,
    /// By vertex: true if it is written at its first reference, false if it is an independent
    /// element.
    pub inline: Vec<bool>,
    /// The order of independent elements.
    pub order: Vec<usize>,
    /// Number of independent elements before the operation.
    pub ahead: usize,
    /// Number of intermediate references on the way to an element.
    pub hops: usize,
}

/// Generates any style.
pub fn styles() -> impl Strategy<Value = Style> {
    let version = prop_oneof![Just(Version::Soap11), Just(Version::Soap12)];
    let order = Just((0..16).collect::<Vec<usize>>()).prop_shuffle();
    (version, proptest::collection::vec(any::<bool>(), 16), order, 0..3_usize, 0..3_usize)
        .prop_map(|(version, inline, order, ahead, hops)| Style { version, inline, order, ahead, hops })
}

/// Returns a message that holds a graph.
pub fn write(graph: &Graph, style: &Style) -> String {
    let mut writer =
        Writer { graph, style, is_met: vec![false; graph.0.len()], alone: Vec::new(), hops: String::new() };
    let mut first = String::new();
    writer.refer("first", 0, &mut first);
    let mut elements = HashMap::new();
    while let Some(vertex) = writer.alone.pop() {
        let mut element = String::new();
        writer.content("multiRef", vertex, &format!(" {}", writer.root()), &mut element);
        elements.insert(vertex, element);
    }
    let mut sorted: Vec<_> = elements.into_iter().collect();
    sorted.sort_by_key(|(vertex, _)| style.order.iter().position(|it| it == vertex));
    let elements: Vec<_> = sorted.into_iter().map(|(_, element)| element).collect();
    let (ahead, behind) = elements.split_at(style.ahead.min(elements.len()));
    let (ahead, behind, soap) = (ahead.concat(), behind.concat(), writer.soap());
    format!(
        "<s:Envelope xmlns:s='{soap}' xmlns:e='{}' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>\n\
         <s:Body>{ahead}<g:put xmlns:g='urn:g' s:encodingStyle='{0}'>{first}</g:put>{behind}{}</s:Body></s:Envelope>",
        writer.encoding(),
        writer.hops,
    )
}

struct Writer<'g> {
    graph: &'g Graph,
    style: &'g Style,
    is_met: Vec<bool>,
    alone: Vec<usize>,
    hops: String,
}

impl Writer<'_> {
    fn soap(&self) -> &'static str {
        match self.style.version {
            Version::Soap11 => "http://schemas.xmlsoap.org/soap/envelope/",
            Version::Soap12 => "http://www.w3.org/2003/05/soap-envelope",
        }
    }

    fn encoding(&self) -> &'static str {
        match self.style.version {
            Version::Soap11 => "http://schemas.xmlsoap.org/soap/encoding/",
            Version::Soap12 => "http://www.w3.org/2003/05/soap-encoding",
        }
    }

    fn root(&self) -> &'static str {
        "e:root='0'"
    }

    fn id(&self, id: &str) -> String {
        match self.style.version {
            Version::Soap11 => format!("id='{id}'"),
            Version::Soap12 => format!("e:id='{id}'"),
        }
    }

    fn reference(&self, id: &str) -> String {
        match self.style.version {
            Version::Soap11 => format!("href='#{id}'"),
            Version::Soap12 => format!("e:ref='{id}'"),
        }
    }

    fn refer(&mut self, name: &str, vertex: usize, out: &mut String) {
        let is_first = !std::mem::replace(&mut self.is_met[vertex], true);
        if is_first && self.style.inline[vertex % 16] {
            return self.content(name, vertex, "", out);
        }
        if is_first {
            self.alone.push(vertex);
        }
        let id = self.hop(format!("v{vertex}"));
        out.push_str(&format!("<{name} {}/>", self.reference(&id)));
    }

    /// Writes references to references.
    fn hop(&mut self, to: String) -> String {
        let mut id = to;
        for hop in 0..self.style.hops {
            let own = format!("hop{}-{hop}", self.hops.len());
            let element = format!("<hop {} {} {}/>", self.root(), self.id(&own), self.reference(&id));
            self.hops.push_str(&element);
            id = own;
        }
        id
    }

    fn content(&mut self, name: &str, vertex: usize, attributes: &str, out: &mut String) {
        let Edges { value, next, others } = self.graph.0[vertex].clone();
        let id = self.id(&format!("v{vertex}"));
        out.push_str(&format!(
            "<{name} {id}{attributes} xmlns:z='urn:{vertex}'><name>n{vertex}</name><value>{value}</value>"
        ));
        if let Some(next) = next {
            self.refer("next", next, out);
        }
        if let Some(others) = others {
            out.push_str("<others>");
            others.iter().for_each(|&other| self.refer("item", other, out));
            out.push_str("</others>");
        }
        out.push_str(&format!("</{name}>"));
    }
}
