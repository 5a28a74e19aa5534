//! The documents of the W3C XML Conformance Test Suite, from its archive.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use zip::ZipArchive;

/// Returns every XML file of the suite with its path: its documents, its catalogs and some external
/// entities, which are useful too.
pub fn documents() -> Result<Vec<(String, Vec<u8>)>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/conformance/xmlts20130923.zip");
    let file = File::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut archive = ZipArchive::new(file)?;
    let mut documents = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index)?;
        let name = file.name()?.into_owned();
        if name.ends_with(".xml") {
            let mut document = Vec::new();
            file.read_to_end(&mut document)?;
            documents.push((name, document));
        }
    }
    documents.sort_unstable();
    Ok(documents)
}
