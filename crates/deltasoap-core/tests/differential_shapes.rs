//! Shapes of messages that are hard on leaf checkpoints, one by one.

#[path = "support/edits.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod edits;
#[path = "support/generate.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod generate;
#[path = "support/laws.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod laws;
#[path = "support/streams.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod streams;

use deltasoap_core::schema::View;
use deltasoap_core::{Content, DecodeOptions, Differential, DifferentialStats, Limits, SoapArray, Typed};
use std::fmt::Debug;
use streams::Stream;

const EXACT: Differential = Differential { checkpoints: deltasoap_core::Checkpoints::Leaf, ..Differential::OFF };

/// Reads a stream of documents in chunks of several sizes, and by the policies of the papers; gives what leaf checkpoints
/// did with whole documents.
fn read<T: Content + Debug>(view: View<'_>, documents: &[impl AsRef<[u8]>], limits: Limits) -> DifferentialStats {
    for differential in streams::all(24) {
        run::<T>(view, documents, DecodeOptions { limits, differential }, usize::MAX);
    }
    let options = DecodeOptions { limits, differential: EXACT };
    for chunk in [1, 5, 17, 100] {
        run::<T>(view, documents, options, chunk);
    }
    run::<T>(view, documents, options, usize::MAX)
}

fn run<T: Content + Debug>(
    view: View<'_>,
    documents: &[impl AsRef<[u8]>],
    options: DecodeOptions,
    chunk: usize,
) -> DifferentialStats {
    let mut stream = Stream::<T>::new(view, options);
    for document in documents {
        let _ = stream.next(document.as_ref(), chunk);
    }
    stream.stats()
}

fn typed<T: Typed + Debug>(documents: &[impl AsRef<[u8]>]) -> DifferentialStats {
    read::<T>(T::view(), documents, Limits::default())
}

fn array(items: &[&str]) -> String {
    format!("<r>{}</r>", items.concat())
}

fn items(values: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    values.into_iter().map(|value| format!("<item>{value}</item>")).collect()
}

#[test]
fn the_end_of_flat_items_is_where_the_next_element_begins() {
    let documents = [
        array(&[&items([10, 10, 179, 0, 0, 0])]),
        array(&[&items([10, 10, 179, 0, 0, 0])]),
        "<r><item>10</item><!-- a comment --><item>10</item>\r\n\t<item>20</item><item>17<!-- < -->9</item>\r\n\t\
         <item>0</item>\r\n\t<item>0</item> <item\n>110</item></r> "
            .to_owned(),
        array(&[&items([10, 20, 179, 0, 0, 110])]),
        array(&[&items([10, 20, 179, 0, 0, 110])]),
    ];
    let stats = typed::<SoapArray<i32>>(&documents);
    assert!(stats.compared == 4 && stats.to_fast > 3, "{stats:?}");
}

#[test]
fn arrays_in_an_array_get_items_in_front() {
    let part = |values: &[i32]| {
        let head = "xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' e:arrayType";
        format!("<item {head}='int[{}]'>{}</item>", values.len(), items(values))
    };
    let whole = |parts: &[&[i32]]| array(&[&parts.iter().map(|values| part(values)).collect::<String>()]);
    let documents = [
        whole(&[&[0], &[0, 0], &[1], &[]]),
        whole(&[&[0], &[0, 0], &[1], &[]]),
        whole(&[&[0, 0], &[0], &[0, 0], &[1]]),
        whole(&[&[0, 0], &[0], &[0, 0], &[1]]),
        whole(&[&[0, 0], &[5], &[0, 0], &[2]]),
        whole(&[&[5], &[0, 0], &[2], &[0, 0], &[0, 1], &[0, 2]]),
    ];
    let stats = typed::<SoapArray<SoapArray<i32>>>(&documents);
    assert!(stats.compared == 5 && stats.shifted > 0, "{stats:?}");
}
