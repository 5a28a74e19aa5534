//! The laws of reading and writing, over random schemas, values, wordings and damage.

use crate::laws::{self, Sources};
use proptest::prelude::*;
use roxmltree::Node;

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

/// The texts of a document's leaves, as another parser finds them.
fn leaves(document: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(document).expect("well-formed");
    let leaves = document.descendants().filter(|node| node.is_element() && node.first_element_child().is_none());
    leaves.map(|leaf| leaf.children().filter(Node::is_text).filter_map(|node| node.text()).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_written_is_read(schema in bytes(60), value in bytes(300), wording in bytes(400), damage in bytes(20)) {
        let (encoded, reworded) = laws::check(Sources([&schema, &value, &wording, &damage]));
        prop_assert_eq!(leaves(&encoded), leaves(&reworded));
    }
}
