//! Compiled descriptions beside the documents that they are from: whatever is asked of a contract, the answers are the same.
//!
//! `DELTASOAP_WSDL_CORPUS=DIR cargo test --release -p deltasoap-dynamic --test compiled -- --ignored --nocapture` does so for any
//! directory.

use deltasoap_core::Buffer;
use deltasoap_core::schema::ElementRef;
use deltasoap_core::soap::encode_element;
use deltasoap_core::{QName, Value};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_wsdl::fetch::Location;
use deltasoap_wsdl::{Import, Importer};
use std::path::{Path, PathBuf};

#[test]
fn compiled_descriptions_say_what_their_documents_say() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wsdl");
    assert!(compare_all(&folder) > 50);
}

#[test]
#[ignore = "needs a directory of descriptions"]
fn compiled_descriptions_of_a_corpus_say_what_their_documents_say() {
    let folder = std::env::var_os("DELTASOAP_WSDL_CORPUS").expect("DELTASOAP_WSDL_CORPUS names a directory");
    println!("{} compared", compare_all(Path::new(&folder)));
}

/// Compares all that can be imported; gives their number.
fn compare_all(folder: &Path) -> usize {
    let mut count = 0;
    for path in descriptions(folder) {
        let source = path.strip_prefix(folder).expect("below").components().next().expect("a source");
        let root = Some(folder.join(source)).filter(|root| root.is_dir()).unwrap_or_else(|| folder.to_owned());
        let importer = Importer::new().offline().root(&root);
        if let Ok(import) = importer.file(&path) {
            compare(import, &path, &root);
            count += 1;
        }
    }
    count
}

fn descriptions(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut ahead) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = ahead.pop() {
        for path in next.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()) {
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => ahead.push(path),
                Some("wsdl" | "xsd") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    found
}

fn compare(import: Import, path: &Path, root: &Path) {
    let file = import.compile();
    let location = Location::Text("a compiled file".to_owned());
    let compiled = Importer::new().offline().bytes(location, file.clone());
    let compiled = compiled.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(compiled.compile() == file, "{}: compiled again, it is another file", path.display());
    let (one, other) = (Contract::from(import), Contract::from(compiled));
    assert_eq!(one.lowered().schema, other.lowered().schema, "{}", path.display());
    // Compiled, files are named by their way from the root.
    let root = format!("{}/", root.canonicalize().expect("a directory").display());
    let below_root = |texts: Vec<String>| texts.iter().map(|text| text.replace(&root, "")).collect::<Vec<_>>();
    assert_eq!(below_root(notes(&one)), notes(&other), "{}", path.display());
    assert_eq!(below_root(components(&one)), components(&other), "{}", path.display());
    let (of_one, of_other) = (one.operations(), other.operations());
    assert_eq!(of_one.len(), of_other.len(), "{}", path.display());
    for (one, other) in of_one.iter().zip(&of_other) {
        assert_eq!(said(one), said(other), "{}: {}", path.display(), one.full_name());
    }
}

fn notes(contract: &Contract) -> Vec<String> {
    let import = contract.description();
    let documents = import.documents().map(ToString::to_string);
    let notes = import.notes().iter().map(ToString::to_string);
    documents.chain(notes).chain(contract.lowered().notes.iter().cloned()).collect()
}

/// What is said of all types and elements, and where they are.
fn components(contract: &Contract) -> Vec<String> {
    let import = contract.description();
    let mut said = Vec::new();
    for (_, it) in import.schemas().types() {
        let name = it.name.as_ref().map(ToString::to_string).unwrap_or_default();
        let place = it.place.map(|place| import.position(place).to_string()).unwrap_or_default();
        said.push(format!("{name} {place}"));
        said.extend(it.name.iter().flat_map(|_| contract.describe(&name)).map(|part| part.to_text()));
    }
    for (id, it) in import.schemas().elements() {
        let place = import.position(it.place);
        said.push(format!(
            "{it:?} {place} {:?} {:?}",
            import.schemas().substitutes(id),
            contract.lowered().element(id)
        ));
    }
    said
}

/// What is said of an operation: its port, its description, samples of its messages in XML and JSON, and what is found in them.
fn said(operation: &Operation) -> Vec<String> {
    let mut said = vec![
        format!(
            "{} {:?} {:?} {:?}",
            operation.full_name(),
            operation.version(),
            operation.address(),
            operation.bound()
        ),
        format!("{:?}", operation.method().map_err(|error| error.to_string())),
        operation.describe().to_text(),
    ];
    let messages =
        [(operation.request(), operation.request_sample()), (operation.response(), operation.response_sample())];
    for ((name, content), sample) in messages.into_iter().filter_map(|(body, sample)| body.zip(sample)) {
        let json = operation.contract().to_json(name, content, &sample);
        said.push(format!("{json:?}"));
        said.extend(message(operation, name, content, &sample));
    }
    said
}

fn message(operation: &Operation, name: &QName, content: ElementRef, sample: &Value) -> Vec<String> {
    let Ok(method) = operation.method() else { return Vec::new() };
    let body = (sample, operation.view(content));
    let encoded = encode_element(operation.version(), method.element.encoding, &[], name, body, Buffer::new());
    let Ok(encoded) = encoded else { return Vec::new() };
    let mut said: Vec<String> =
        operation.contract().validate(encoded.as_slice()).iter().map(ToString::to_string).collect();
    said.push(String::from_utf8_lossy(encoded.as_slice()).into_owned());
    said
}

/// Files with some bytes changed, under a checksum that is right.
mod changed {
    use super::*;
    use proptest::prelude::*;

    /// Bytes of magic and version, of the checksum, and of the length.
    const HEADER: usize = 24;

    fn file() -> Vec<u8> {
        let text = include_str!("data/shop.wsdl");
        Importer::new().offline().text(text).expect("a description").compile()
    }

    fn with_checksum(mut file: Vec<u8>) -> Vec<u8> {
        let checksum = crc32fast::hash(&file[HEADER..]);
        file[12..16].copy_from_slice(&checksum.to_le_bytes());
        file
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// What is taken can be asked all that a contract can be asked.
        #[test]
        fn files_are_refused_or_can_be_used(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..3)) {
            let mut file = file();
            for (index, byte) in changes {
                let at = HEADER + index.index(file.len() - HEADER);
                file[at] = byte;
            }
            let location = Location::Text("a changed file".to_owned());
            if let Ok(import) = Importer::new().offline().bytes(location, with_checksum(file)) {
                let contract = Contract::from(import);
                let said = components(&contract).len() + contract.operations().iter().map(|it| said(it).len()).sum::<usize>();
                prop_assert!(said > 0);
            }
        }
    }
}
