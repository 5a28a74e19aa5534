//! Graphs in every style are read back unchanged; without sharing, they equal a naive expansion.

use crate::graph::{Edges, Graph, Put, graphs, styles, weak, write};
use crate::support::{decode, decode_next};
use deltasoap::engine::decode::{DecodeOptions, Decoder};
use deltasoap::engine::{Checkpoints, Differential};
use deltasoap::types::Shared;
use deltasoap::{Soap, SoapArray};
use deltasoap_checkpoints::{Portions, State};
use deltasoap_test_support::utf16;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

/// A vertex without sharing.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:g")]
struct Plain {
    name: String,
    value: i32,
    next: Option<Box<Plain>>,
    others: Option<SoapArray<Plain>>,
}

#[derive(Debug, PartialEq, Soap)]
#[soap(message, element = "put", namespace = "urn:g")]
struct PutPlain {
    first: Plain,
}

/// Returns the value of a vertex if each place has its own copy.
fn expanded(graph: &Graph, vertex: usize) -> Plain {
    let Edges { value, next, others } = &graph.0[vertex];
    let copy = |&other: &usize| expanded(graph, other);
    Plain {
        name: format!("n{vertex}"),
        value: *value,
        next: next.as_ref().map(|next| Box::new(copy(next))),
        others: others.as_ref().map(|others| others.iter().map(copy).collect()),
    }
}

/// Checkpoints of the papers.
fn by(state: State) -> Checkpoints {
    Portions { state, size: 64, ..Portions::default() }.into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 100 } else { 4000 }))]

    #[test]
    fn graphs_keep_their_shape(graph in graphs(9), style in styles(), chunk in 1..400_usize) {
        let message = write(&graph, &style);
        let put = decode::<Put>(message.as_bytes(), chunk);
        prop_assert!(put.is_ok(), "{put:?}\n{message}");
        let put = put.expect("read");
        prop_assert_eq!(Graph::of(&put.first), graph.canonical(), "{}", message);
        let vertices = weak(&put.first);
        drop(put);
        prop_assert!(vertices.iter().all(|vertex| vertex.get().is_none()), "never freed: {}", message);
        let put = decode::<Put>(&utf16(&message, false), chunk).expect("UTF-16");
        prop_assert_eq!(Graph::of(&put.first), graph.canonical(), "{}", message);
    }

    #[test]
    fn copies_are_what_a_naive_expansion_gives(graph in graphs(7), style in styles(), chunk in 1..400_usize) {
        let graph = graph.without_cycles();
        let message = write(&graph, &style);
        let put = decode::<PutPlain>(message.as_bytes(), chunk);
        prop_assert!(put.is_ok(), "{put:?}\n{message}");
        prop_assert_eq!(put.expect("read").first, expanded(&graph, 0), "{}", message);
    }

    #[test]
    fn messages_with_references_and_without_take_turns(
        messages in proptest::collection::vec((graphs(5), styles(), 1..400_usize), 1..6),
        checkpoints in prop_oneof![Just(Checkpoints::Leaf), Just(by(State::Full)), Just(by(State::Lightweight))],
    ) {
        let differential = Differential { checkpoints, adaptive: false };
        let mut decoder = Decoder::new(DecodeOptions { differential, ..DecodeOptions::default() });
        let mut memory = Box::default();
        for (graph, style, chunk) in messages {
            let graph = graph.without_cycles();
            let message = write(&graph, &style);
            // Some are repeated.
            for _ in 0..1 + chunk % 3 {
                let next =
                    decode_next::<PutPlain>(&mut decoder, message.as_bytes(), chunk * 4, memory).expect("a good message");
                prop_assert_eq!(&next.value().first, &expanded(&graph, 0), "{}", message);
                memory = Box::new(next);
            }
        }
    }

    #[test]
    fn errors_do_not_depend_on_chunks(graph in graphs(5), style in styles(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut message = write(&graph, &style).into_bytes();
        let at = at.index(message.len());
        message[at] = byte;
        let whole = decode::<Put>(&message, usize::MAX).map(|put| Graph::of(&put.first));
        for chunk in [1, 7, 100] {
            prop_assert_eq!(&decode::<Put>(&message, chunk).map(|put| Graph::of(&put.first)), &whole);
        }
    }
}

#[test]
fn cycles_do_not_leak() {
    let ring = Graph(vec![Edges { next: Some(1), ..Edges::default() }, Edges { next: Some(0), ..Edges::default() }]);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..20 {
        let style = styles().new_tree(&mut runner).expect("a style").current();
        let put = decode::<Put>(write(&ring, &style).as_bytes(), usize::MAX).expect("a ring");
        let next = put.first.get().expect("there").next.clone().expect("an edge");
        let back = next.get().expect("there").next.clone().expect("an edge");
        assert!(Shared::ptr_eq(&back, &put.first));
        drop((put, next));
        assert!(back.get().is_none(), "gone with the message");
    }
}

#[test]
fn graphs_of_one_shape_are_equal() {
    let ring = |values: &[i32]| {
        let len = values.len();
        let edges = |(at, &value): (usize, &i32)| Edges { value, next: Some((at + 1) % len), others: None };
        Graph(values.iter().enumerate().map(edges).collect())
    };
    let read = |graph: &Graph| {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let style = styles().new_tree(&mut runner).expect("a style").current();
        let message = write(graph, &style).replace("n1<", "n0<").replace("n2<", "n0<").replace("n3<", "n0<");
        decode::<Put>(message.as_bytes(), usize::MAX).expect("a ring").first
    };
    assert_eq!(read(&ring(&[1, 2])), read(&ring(&[1, 2, 1, 2])));
    assert_ne!(read(&ring(&[1, 2])), read(&ring(&[1, 2, 1])));
    assert!(format!("{:?}", read(&ring(&[1, 2]))).contains("shown before"));
}
