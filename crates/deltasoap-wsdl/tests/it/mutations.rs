//! Random changes of a WSDL that covers many features: the result imports and lowers, or is refused
//! with a place.

use deltasoap_wsdl::{Importer, Limits};
use proptest::prelude::*;

const WITH_IMPORT: &str = include_str!("../../../../fuzz/seeds/wsdl/everything.wsdl");

/// Returns the WSDL without its import, which cannot be resolved here.
fn whole() -> String {
    WITH_IMPORT.replace("<import namespace=\"urn:t\" location=\"b\"/>", "")
}

/// Splits a WSDL into tags, names and values, which are moved as a whole.
fn pieces(text: &str) -> Vec<&str> {
    text.split_inclusive(['"', '>', ' ']).collect()
}

#[derive(Debug, Clone)]
enum Edit {
    Remove(usize),
    Double(usize),
    Replace(usize, usize),
    Cut(usize),
    Byte(usize, u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<usize>().prop_map(Edit::Remove),
        any::<usize>().prop_map(Edit::Double),
        (any::<usize>(), any::<usize>()).prop_map(|(to, from)| Edit::Replace(to, from)),
        any::<usize>().prop_map(Edit::Cut),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte(at, byte)),
    ]
}

fn apply(text: String, edit: &Edit) -> String {
    let mut parts = pieces(&text);
    let count = parts.len().max(1);
    match *edit {
        _ if parts.is_empty() => {}
        Edit::Remove(at) => drop(parts.remove(at % count)),
        Edit::Double(at) => parts.insert(at % count, parts[at % count]),
        Edit::Replace(to, from) => parts[to % count] = parts[from % count],
        Edit::Cut(at) => parts.truncate(at % count),
        Edit::Byte(at, byte) => {
            let mut bytes = text.clone().into_bytes();
            let at = at % bytes.len();
            bytes[at] = byte;
            return String::from_utf8_lossy(&bytes).into_owned();
        }
    }
    parts.concat()
}

#[test]
fn the_description_itself_imports() {
    let import = Importer::new().offline().text(&whole());
    let import = import.expect("a good description");
    assert_eq!(import.lower().operations.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_descriptions_import_or_are_refused(edits in prop::collection::vec(edit(), 1..6)) {
        let text = edits.iter().fold(whole(), apply);
        let limits = Limits { particles: 20_000, ..Limits::default() };
        match Importer::new().offline().limits(limits).text(&text) {
            Ok(import) => drop(import.lower()),
            Err(error) => prop_assert!(error.position().is_some(), "{error}"),
        }
    }
}
