//! Minimal cases of bugs that the random streams have found.

use super::shapes::{Arrays, Open, Points, Wide};
use super::stream::{LEAF, read_by_all, read_cut, read_pair, read_within};
use deltasoap::engine::{Checkpoints, Differential, Limits};
use deltasoap_checkpoints::{Portions, State};

fn root(content: &str) -> String {
    format!("<r kind='first' xmlns:u='urn:u'>{content}</r>")
}

fn points(values: impl IntoIterator<Item = u32>) -> String {
    values.into_iter().map(|x| format!("<p><x>{x}</x></p>")).collect()
}

#[test]
fn a_message_that_differs_after_its_limit_is_too_long() {
    let tail = "<q><x>1</x><y>2</y><z>3</z></q><last>9</last>";
    let (short, long) = (root(&(points(0..5) + tail)), root(&(points(0..30) + tail)));
    // The limit lies within bytes that the previous message had at an earlier position.
    for message in (long.len() - tail.len() - 10..long.len()).map(|limit| limit as u64) {
        read_within::<Points>(&[&short, &short, &long, &short, &long], Limits { message, ..Limits::default() });
    }
}

#[test]
fn a_fault_before_the_limit_comes_first() {
    let flat = "<item><a>1</a><b>x</b></item><item><a>2</a><b>y</b></item><item><a>3</a><b>z</b></item>";
    let document = |flat: &str, fault: &str, filling: usize| {
        let more = "<more><item>1</item></more>".repeat(filling);
        root(&format!("<flat>{flat}</flat><deep><item><x>1</x></item>{fault}<item><x>2</x></item></deep>{more}"))
    };
    // An item that the decoder waits for, since it may continue as the others do.
    let (good, bad) = (document(flat, "", 0), document(&flat.replace("z</b>", "z</b >"), "<item><c/></item>", 20));
    for message in good.len() as u64..good.len() as u64 + 60 {
        read_within::<Arrays>(&[&good, &good, &bad], Limits { message, ..Limits::default() });
    }
}

#[test]
fn a_message_that_is_read_again_has_its_attributes() {
    let trees = |text: &str| root(&format!("<a>1</a><tree b='c'>{text}</tree><tree xmlns:z='urn:z'>{text}</tree>"));
    let limits = |inherited_bindings| Limits { inherited_bindings, ..Limits::default() };
    for most in 0..12 {
        read_within::<Open>(&[&trees("one"), &trees("two"), &trees("three"), &trees("two")], limits(most));
    }
}

#[test]
fn trees_that_no_longer_share_their_bindings_count_each() {
    let tree = "<tree><t/></tree>";
    let other = "<tree xmlns:z='urn:z'/>";
    let first = root(&tree.repeat(4));
    let second = root(&[tree, other, tree, other, tree, other, tree].concat());
    for inherited_bindings in 0..16 {
        let limits = Limits { inherited_bindings, ..Limits::default() };
        read_within::<Open>(&[&first, &second, &first, &second, &second], limits);
    }
}

#[test]
fn nodes_of_trees_are_counted_whatever_is_skipped() {
    let tree = |nodes: usize| format!("<tree>{}</tree>", "<t a='1'/>".repeat(nodes));
    let document = |all: &[usize]| root(&all.iter().map(|&nodes| tree(nodes)).collect::<String>());
    let documents = [&[2, 2, 2][..], &[2, 2, 2], &[2, 3, 2], &[2, 3, 2, 1], &[0, 3, 2, 1], &[1, 2]].map(document);
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    for tree_nodes in 0..24 {
        read_within::<Open>(&documents, Limits { tree_nodes, ..Limits::default() });
    }
}

#[test]
fn large_items_are_not_moved_again_and_again() {
    let items = |is_there: fn(usize) -> bool| {
        root(&(0..4000).filter(|&n| is_there(n)).map(|n| format!("<w><a>{n}</a></w>")).collect::<String>())
    };
    let shifted = |is_there| read_pair::<Wide>([&items(|_| true), &items(is_there)], LEAF).shifted;
    assert_eq!(shifted(|n| n != 100), 1);
    // Otherwise there would be five hundred moves of a megabyte each.
    assert!(shifted(|n| n % 8 != 1) < 5);
}

#[test]
fn elements_that_are_passed_over_take_linear_memory() {
    let papers = State::ALL.map(|state| Portions { state, size: 4, ..Portions::default() }.into());
    for checkpoints in papers.into_iter().chain([Checkpoints::Leaf]) {
        let differential = Differential { checkpoints, ..Differential::OFF };
        let bytes = |elements: usize| {
            let document = root(&"<unknown>1</unknown>".repeat(elements));
            read_pair::<Open>([&document, &document], differential).memory
        };
        let (few, many) = (bytes(500), bytes(2000));
        assert!(many < 8 * few, "{differential:?}: {few} and {many} bytes");
    }
}

/// If a chunk ended in the white space after a list's last item, the run of items ended there too.
/// The following content was then looked for too early by the same number of bytes, in the last
/// item itself.
#[test]
fn chunks_end_in_the_white_space_after_the_last_item() {
    const END: &str = "</more></r>";
    let document = |last: u32, line: &str| {
        let items = [101, 102, 103, last].map(|x| format!("<item>{x}</item>{line}")).concat();
        root(&format!("<more>{line}{items}</more>"))
    };
    for line in ["\n", "\n  ", "\n                              "] {
        let documents = [104, 105, 106, 7, 8].map(|last| document(last, line));
        let cuts = || [0, 1, line.len() / 2, line.len()].into_iter();
        for (one, two) in cuts().flat_map(|one| cuts().map(move |two| (one, two))) {
            let stream = documents.iter().zip([one, two].into_iter().cycle());
            let stream: Vec<_> = stream.map(|(text, rest)| (text.as_str(), text.len() - END.len() - rest)).collect();
            read_cut::<Arrays>(&stream);
        }
    }
}

/// Returns an array of ints whose items have explicit positions, or follow the item before.
fn sparse(attributes: &str, items: &[(Option<usize>, i32)]) -> String {
    let item = |&(place, value): &(Option<usize>, i32)| {
        let place = place.map(|place| format!(" e:position='[{place}]'")).unwrap_or_default();
        format!("<item{place}>{value}</item>")
    };
    format!("<more e:arrayType='xsd:int[9]'{attributes}>{}</more>", items.iter().map(item).collect::<String>())
}

#[test]
fn sparse_arrays_hold_nothing_of_the_message_before() {
    let document = |content: &str| {
        let (soap, xsd) = ("http://schemas.xmlsoap.org/soap/encoding/", "http://www.w3.org/2001/XMLSchema");
        format!("<r xmlns:e='{soap}' xmlns:xsd='{xsd}' kind='1'>{content}</r>")
    };
    let more =
        |array: String| document(&(sparse("", &[(None, 7), (None, 8)]) + &array + "<more><item>1</item></more>"));
    let full = more(sparse("", &[(None, 1), (None, 2), (None, 3), (None, 4)]));
    for items in [
        &[(None, 1), (Some(3), 9)][..],
        &[(None, 1), (Some(6), 9), (None, 10)],
        &[(None, 1), (Some(3), 9), (Some(1), 7)],
        &[(None, 1), (Some(3), 9), (Some(1), 7), (None, 8), (None, 9)],
        &[(None, 1), (Some(2), 9), (Some(2), 7)],
        &[(None, 1), (Some(0), 9)],
        &[(Some(0), 1), (Some(1), 2), (Some(2), 3)],
        &[(Some(2), 1)],
    ] {
        let sparse = more(sparse("", items));
        read_by_all::<Arrays>(&[&full, &sparse, &full, &full, &sparse, &sparse]);
    }
    let begins_later = more(sparse(" e:offset='[2]'", &[(None, 1), (Some(4), 9)]));
    read_by_all::<Arrays>(&[&full, &begins_later, &full]);
    let structs = |items: &str| {
        document(&format!("<flat>{items}</flat><deep>{}</deep>", items.replace("a>", "x>").replace("b>", "y>")))
    };
    let item = |place: &str, b: &str| format!("<item{place}><a>1</a><b>{b}</b></item>");
    let one = structs(&(item("", "2") + &item("", "3") + &item("", "4")));
    let other = structs(&(item("", "2") + &item(" e:position='[2]'", "5")));
    read_by_all::<Arrays>(&[&one, &other, &one, &one, &other]);
    let rows = |row: &str| {
        document(&format!("<rows><item><item>5</item><item>6</item><item>7</item></item><item>{row}</item></rows>"))
    };
    let (one, other) = (rows("<item>1</item><item>2</item>"), rows("<item>1</item><item e:position='[2]'>2</item>"));
    read_by_all::<Arrays>(&[&one, &other, &one, &one, &other]);
}

#[test]
fn a_message_that_is_read_again_has_its_ids() {
    let items = |first: &str, second: &str| {
        let other = "<item><a>3</a><b>z</b></item>".repeat(3);
        format!("<flat><item{first}><a>1</a><b>x</b></item><item><a{second}>2</a><b>y</b></item>{other}</flat>")
    };
    let plain = root(&items("", ""));
    let refers = root(&items(" id='r'", " href='#r'"));
    let shared = root(&items(" id='r'", " href='#r'").replace("2</a>", "</a>"));
    let resolved = root(&items("", " href='#r'").replace("2</a>", "</a>").replace("<b>x", "<b id='r'>4"));
    // Whatever follows the message: an existing element is found.
    for behind in ["", "\0", "<", "</x>"] {
        let [refers, shared, resolved] = [&refers, &shared, &resolved].map(|document| format!("{document}{behind}"));
        for other in [&refers, &shared, &resolved] {
            read_by_all::<Arrays>(&[&plain, &plain, other, &plain, other, other]);
        }
    }
}

/// The size of an array is not compared. If its text had a different length, the start tag was
/// looked for too early or too late by the difference, once the following content differed.
#[test]
fn arrays_whose_sizes_differ_in_length_are_read_again_from_their_start() {
    let array = |size: &str, content: &str, rest: &str| {
        let soap = "http://schemas.xmlsoap.org/soap/encoding/";
        root(&format!("<more xmlns:e='{soap}' e:arrayType='d[{size}]'>{content}</more>{rest}"))
    };
    let (item, empty) = ("<item>1</item>", "<more/>");
    let sizes = ["", "0", "12345", "7"];
    let contents = [("", ""), (" ", ""), ("<!-- -->", ""), (item, ""), ("", " "), ("", empty), (item, empty)];
    let documents: Vec<_> =
        sizes.iter().flat_map(|size| contents.map(|(content, rest)| array(size, content, rest))).collect();
    for (one, other) in documents.iter().flat_map(|one| documents.iter().map(move |other| (one, other))) {
        read_within::<Arrays>(&[one, other, one], Limits::default());
    }
}

/// Room for inserted items is removed where a chunk ends; the run may then be read to its end, and
/// its list continues after it.
#[test]
fn items_inserted_at_the_end_of_a_run_may_be_cut() {
    let items = |numbers: &mut dyn Iterator<Item = u32>| -> String {
        numbers.map(|n| format!("<item><a>{n}</a><b>x</b></item>")).collect()
    };
    let document = |first: &mut dyn Iterator<Item = u32>| {
        root(&format!("<flat>{}<!-- -->{}</flat>", items(first), items(&mut (100..110))))
    };
    let old = document(&mut (10..50));
    let new = document(&mut (10..42).chain(60..64).chain(42..50));
    for cut in 1..new.len() {
        read_cut::<Arrays>(&[(&old, usize::MAX), (&new, cut), (&old, cut)]);
    }
}
