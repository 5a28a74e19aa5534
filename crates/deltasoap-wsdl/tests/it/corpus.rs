//! Measures a whole corpus of WSDLs: imports each file that an index names, or every `.wsdl` file,
//! like the command line tool.
//!
//! `DELTASOAP_WSDL_CORPUS=DIR cargo test --release -p deltasoap-wsdl --test it corpus -- --ignored
//! --nocapture`. The index is `INDEX.tsv` in the directory: a path, two ignored columns, and `ok`
//! if all imports of the file are there.

use deltasoap_test_support::files;
use deltasoap_wsdl::{Error, ErrorKind, Import, Importer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum share of complete files that may be refused, in percent.
const REFUSED: usize = 1;

#[test]
#[ignore = "needs a directory of descriptions"]
fn complete_descriptions_are_imported() {
    let folder =
        PathBuf::from(std::env::var_os("DELTASOAP_WSDL_CORPUS").expect("DELTASOAP_WSDL_CORPUS names a directory"));
    let files = listed(&folder);
    let (mut complete, mut refused) = (0, 0);
    let (mut times, mut reasons) = (Vec::new(), BTreeMap::new());
    for (path, is_complete) in files {
        let (result, time) = import(&folder, &path);
        times.push((time, path.clone()));
        let verdict = match (&result, is_complete) {
            (Ok(_), _) => "ok",
            (Err(_), true) => "REFUSED",
            (Err(_), false) => "incomplete",
        };
        complete += usize::from(is_complete);
        refused += usize::from(verdict == "REFUSED");
        match result {
            Ok(import) => report(&path, &import),
            Err(error) => {
                *reasons.entry((verdict, reason(&error))).or_insert(0) += 1;
                println!("{verdict}\t{path}\t{}", error.to_string().replace(&*folder.to_string_lossy(), ""));
            }
        }
    }
    times.sort_unstable();
    times.iter().rev().take(10).for_each(|(time, path)| println!("time\t{time:?}\t{path}"));
    reasons.iter().for_each(|((verdict, reason), count)| println!("{count}\t{verdict}\t{reason}"));
    println!("{refused} of {complete} refused");
    assert!(refused * 100 <= complete * REFUSED);
}

/// Returns the kind of an error, for counting.
fn reason(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Xml(_) => "not well-formed, or with a document type".to_owned(),
        ErrorKind::Fetch(_) => "a document that is not there".to_owned(),
        ErrorKind::OtherDocument { .. } => "neither a WSDL 1.1 document nor a schema".to_owned(),
        ErrorKind::Undefined { what, .. } => format!("a {what} that is not defined"),
        ErrorKind::Duplicate { what, .. } => format!("a {what} that is defined twice"),
        kind => kind.to_string(),
    }
}

fn report(path: &str, import: &Import) {
    let definitions = import.definitions();
    let operations: usize = definitions.bindings.iter().map(|binding| binding.operations.len()).sum();
    println!(
        "ok\t{path}\t{} services\t{operations} operations\t{} types",
        definitions.services.len(),
        import.schemas().types().len()
    );
    for note in import.notes() {
        println!("note\t{path}\t{note}");
    }
}

/// Returns paths below the folder, each with true if all its imports are there.
fn listed(folder: &Path) -> Vec<(String, bool)> {
    let Ok(index) = std::fs::read_to_string(folder.join("INDEX.tsv")) else { return all(folder) };
    let lines = index.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    lines.map(|columns| (columns[0].to_owned(), columns.get(3) == Some(&"ok"))).collect()
}

fn all(folder: &Path) -> Vec<(String, bool)> {
    files::below(folder, &["wsdl"]).iter().map(|path| (files::relative(path, folder), true)).collect()
}

/// Imports a file like the command line tool.
fn import(folder: &Path, path: &str) -> (Result<Import, Error>, Duration) {
    let importer = Importer::new().offline().trust_tree();
    let start = Instant::now();
    let result = importer.file(&folder.join(path));
    (result, start.elapsed())
}
