//! Arrays of flat structs: the shortcut gives the same result as the general routines, whatever the
//! items look like.

use crate::support::{decode_cut, encode};
use deltasoap::engine::Typed;
use deltasoap::engine::content::Shortcuts;
use deltasoap::{Soap, SoapArray};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq, Soap)]
struct Mesh {
    x: i32,
    y: i32,
    v: f64,
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(namespace = "urn:m", qualified)]
struct Sample {
    mesh: Mesh,
    label: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Soap)]
enum Kind {
    Raw,
    Smooth,
}

#[derive(Debug, PartialEq, Soap)]
struct Meshes {
    first: Option<i32>,
    m: Vec<Mesh>,
    last: Option<i32>,
}

#[derive(Debug, PartialEq, Soap)]
struct Both {
    array: SoapArray<Sample>,
    samples: Vec<Sample>,
}

#[derive(Soap)]
struct NotFlat {
    #[soap(default)]
    _x: i32,
}

#[derive(Soap)]
#[soap(all)]
struct NotOrdered {
    _x: i32,
}

#[derive(Soap)]
struct Sometimes {
    _x: Option<i32>,
}

fn mesh(n: i32) -> Mesh {
    Mesh { x: n, y: -n, v: f64::from(n) / 8.0 }
}

fn sample(n: i32) -> Sample {
    let kind = if n % 3 == 0 { Kind::Smooth } else { Kind::Raw };
    Sample { mesh: mesh(n), label: format!("n&{n}"), kind }
}

#[test]
fn which_types_are_flat() {
    assert_eq!(Mesh::flat_leaves(Mesh::view()), Some(3));
    assert_eq!(Sample::flat_leaves(Sample::view()), Some(5));
    assert_eq!(NotFlat::flat_leaves(NotFlat::view()), None);
    assert_eq!(NotOrdered::flat_leaves(NotOrdered::view()), None);
    assert_eq!(Sometimes::flat_leaves(Sometimes::view()), None);
    assert_eq!(Meshes::flat_leaves(Meshes::view()), None);
}

#[test]
fn items_are_written_and_read_by_the_shortcut() {
    let value = Meshes { first: None, m: (0..1000).map(mesh).collect(), last: Some(1) };
    let xml = encode(&value);
    assert!(xml.starts_with("<r><m><x>0</x><y>0</y><v>0</v></m><m><x>1</x><y>-1</y><v>0.125</v></m>"));
    let (read, stats) = decode_cut::<Meshes>(xml.as_bytes(), []).expect("valid");
    assert_eq!(read, value);
    assert_eq!(stats.flat_items, 999);
}

#[test]
fn nested_structs_strings_and_enumerations_are_flat_too() {
    let value = Both { array: (0..500).map(sample).collect(), samples: (0..500).map(sample).collect() };
    let xml = encode(&value);
    assert_eq!(decode_cut::<Both>(xml.as_bytes(), []).expect("valid").0, value);
    let plain = xml.replace("&amp;", "");
    let (read, stats) = decode_cut::<Both>(plain.as_bytes(), []).expect("valid");
    assert_eq!(read.samples[499].label, "n499");
    assert_eq!(stats.flat_items, 998);
}

/// Returns an item; about one in ten has different markup with the same meaning.
fn item(n: i32) -> String {
    let Mesh { x, y, v } = mesh(n);
    match n % 101 {
        10 => format!("<m><x>{x}</x><!-- c --><y>{y}</y><v>{v}</v></m>"),
        20 => format!("<m><x><![CDATA[{x}]]></x><y>{y}</y><v>{v}</v></m>"),
        30 => format!("<m>\n  <x>{x}</x>\n  <y>{y}</y>\n  <v>{v}</v>\n</m>\n"),
        40 => format!("<m><x>&#x20;{x}</x><y>{y}</y><v>{v}</v></m>"),
        50 => format!("<m ><x a='1'>{x}</x><y>{y}</y><v>{v}</v ></m>"),
        60 => format!("<m b=\"2\"><x>{x}</x><y>{y}</y><v>{v}</v></m>"),
        70 => format!("<m xmlns:q='urn:q'><x>{x}</x><y>{y}</y><v>{v}</v></m>"),
        80 => format!("<m><x> {x}\t</x><y>{y}</y><v>{v:e}</v></m>"),
        _ => format!("<m><x>{x}</x><y>{y}</y><v>{v}</v></m>"),
    }
}

fn items(count: i32) -> String {
    format!("<r><first>1</first>{}<last>2</last></r>", (0..count).map(item).collect::<String>())
}

fn meshes(count: i32) -> Meshes {
    Meshes { first: Some(1), m: (0..count).map(mesh).collect(), last: Some(2) }
}

#[test]
fn deviating_items_are_read_by_the_general_routines() {
    let (read, stats) = decode_cut::<Meshes>(items(1000).as_bytes(), []).expect("valid");
    assert_eq!(read, meshes(1000));
    assert!(stats.flat_items > 700, "{stats:?}");
}

#[test]
fn single_bytes_give_the_same() {
    let xml = items(1000);
    let (read, _) = decode_cut::<Meshes>(xml.as_bytes(), 0..xml.len()).expect("valid");
    assert_eq!(read, meshes(1000));
}

#[test]
fn every_cut_in_two_gives_the_same() {
    let (xml, expected) = (items(90), meshes(90));
    for cut in 0..xml.len() {
        let (read, _) = decode_cut::<Meshes>(xml.as_bytes(), [cut]).expect("valid");
        assert_eq!(read, expected, "cut at {cut}");
    }
}

const SAMPLE: &str =
    "<p:samples><p:mesh><x>1</x><y>2</y><v>3</v></p:mesh><p:label>l</p:label><p:kind>Raw</p:kind></p:samples>";

/// Items under changing prefixes: the names mean the same, the markup differs.
#[test]
fn other_prefixes() {
    let item = |n: usize| match n % 7 {
        3 => SAMPLE.replace("p:", "q:").replace("q:samples", "samples"),
        _ => SAMPLE.replace("p:samples", "samples"),
    };
    let xml = format!("<r xmlns:p='urn:m' xmlns:q='urn:m'><array/>{}</r>", (0..200).map(item).collect::<String>());
    let (read, stats) = decode_cut::<Both>(xml.as_bytes(), []).expect("valid");
    assert_eq!(read.samples.len(), 200);
    assert!(read.samples.iter().all(|sample| sample == &read.samples[0]));
    assert!(stats.flat_items > 100, "{stats:?}");
    assert_eq!(decode_cut::<Both>(xml.as_bytes(), 0..xml.len()).expect("valid").0, read);
}

/// Inserts text into a document, which makes most documents invalid.
fn damage(xml: &str, at: usize, with: &str) -> String {
    let at = at % xml.len();
    format!("{}{with}{}", &xml[..at], &xml[at..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cuts_give_the_same(mut cuts in prop::collection::vec(0..items(300).len(), 0..20)) {
        cuts.sort_unstable();
        let read = decode_cut::<Meshes>(items(300).as_bytes(), cuts).map(|(value, _)| value);
        prop_assert_eq!(read, Ok(meshes(300)));
    }

    #[test]
    fn any_cuts_give_the_same_fault(
        mut cuts in prop::collection::vec(0..items(60).len(), 0..12),
        at in any::<usize>(),
        with in prop::sample::select(vec!["<", ">", "&", "x", " ", "</m>", "<m>", "<!--", "]]>", "9"]),
    ) {
        cuts.sort_unstable();
        let xml = damage(&items(60), at, with);
        let whole = decode_cut::<Meshes>(xml.as_bytes(), []).map(|(value, _)| value);
        let cut = decode_cut::<Meshes>(xml.as_bytes(), cuts).map(|(value, _)| value);
        prop_assert_eq!(whole, cut);
    }
}
