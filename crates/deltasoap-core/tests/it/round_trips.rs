//! The laws of reading and writing, for random schemas, values, notations and damage.

use crate::generate;
use crate::laws::{self, Sources};
use deltasoap_core::decode::{Decoder, ElementRoot};
use deltasoap_core::{DecodeOptions, Value};
use deltasoap_streams::prng::SplitMix64;
use deltasoap_test_support::Entropy;
use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_assert_eq, proptest};
use roxmltree::Node;

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

/// Returns the texts of a document's leaves, as another parser finds them.
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

/// The random values above, and those of the fuzz targets, which are generated in the same way,
/// contain lists of every form.
#[test]
fn random_messages_have_columns_and_tables() {
    let mut random = SplitMix64::new(20);
    let mut bytes = |count: usize| (0..count).map(|_| random.next_u64() as u8).collect::<Vec<u8>>();
    let mut forms = Forms::default();
    for _ in 0..400 {
        let (schema, root) = generate::schema(&mut Entropy(&bytes(60)));
        let view = schema.view(root);
        let document = generate::encoded(&generate::value(&mut Entropy(&bytes(300)), view), view);
        let mut root = ElementRoot::<Value>::new(view);
        Decoder::new(DecodeOptions::default()).decode(&mut root, document.as_bytes()).expect("a valid document");
        forms.count(&root.value);
    }
    assert!(forms.lists > 50 && forms.columns > 50 && forms.tables > 20, "{forms:?}");
}

#[derive(Debug, Default)]
struct Forms {
    lists: usize,
    columns: usize,
    tables: usize,
}

impl Forms {
    fn count(&mut self, value: &Value) {
        match value {
            Value::List(items) => {
                self.lists += 1;
                items.iter().for_each(|item| self.count(item));
            }
            Value::Record(record) => record.fields.iter().for_each(|field| self.count(field)),
            Value::Typed(typed) => self.count(&typed.value),
            Value::Column(_) => self.columns += 1,
            Value::Table(_) => self.tables += 1,
            _ => {}
        }
    }
}
