//! Real WSDLs of many toolkits: each imports, with the counts in the index.
//!
//! `DELTASOAP_BLESS=1` rewrites the index from the results: review the difference before you keep
//! it.

use deltasoap_wsdl::{Import, Importer, NoteKind};
use std::path::{Path, PathBuf};

const HEAD: &str = "path\tservices\tports\toperations\tcallable\ttypes\telements\tmissing\tdocuments";

#[test]
fn real_descriptions_import_to_what_the_index_says() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wsdl");
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).expect("the index");
    let found = index.lines().skip(1).map(|line| counts(&folder, line.split('\t').next().unwrap_or_default()));
    let found = std::iter::once(HEAD.to_owned()).chain(found).map(|line| line + "\n").collect::<String>();
    if std::env::var_os("DELTASOAP_BLESS").is_some() {
        return std::fs::write(folder.join("INDEX.tsv"), &found).expect("the index is written");
    }
    for (found, wanted) in found.lines().zip(index.lines()) {
        assert_eq!(found, wanted);
    }
}

/// Returns a line of the index.
fn counts(folder: &Path, path: &str) -> String {
    let source = path.split('/').next().unwrap_or_default();
    let importer = Importer::new().offline().root(folder.join(source));
    let import = importer.file(&folder.join(path)).unwrap_or_else(|error| panic!("{error}"));
    let counts = numbers(&import).map(|number| number.to_string());
    format!("{path}\t{}", counts.join("\t"))
}

fn numbers(import: &Import) -> [usize; 8] {
    let (definitions, schemas, lowered) = (import.definitions(), import.schemas(), import.lower());
    let callable = lowered.operations.iter().filter(|operation| operation.method.is_ok());
    let missing = import.notes().iter().filter(|note| note.kind == NoteKind::Missing);
    [
        definitions.services.len(),
        definitions.services.iter().map(|service| service.ports.len()).sum(),
        lowered.operations.len(),
        callable.count(),
        schemas.types().filter(|(_, it)| it.name.is_some() && it.place.is_some()).count(),
        schemas.elements().filter(|(_, it)| it.is_global).count(),
        missing.count(),
        import.documents().len(),
    ]
}
