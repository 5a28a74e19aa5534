//! The code generated for some WSDLs is kept in `tests/goldens`, so that changes are visible.
//! `UPDATE=1` rewrites it.

use crate::support::{GOLDENS, operations, with_options, wsdl};
use deltasoap_codegen::Builder;
use deltasoap_wsdl::Importer;
use std::path::Path;

#[test]
fn what_is_generated_is_what_it_was() {
    let is_update = std::env::var_os("UPDATE").is_some();
    let mut changed = Vec::new();
    for (name, description) in GOLDENS {
        let importer = Importer::new().offline().root(wsdl("../.."));
        let builder = Builder::new(wsdl(description)).importer(importer).operations(operations(name).iter().copied());
        // One golden with a WSDL in it is enough.
        let builder = with_options(name, builder.embed_wsdl(*name == "interop"));
        let code = builder.generate().expect("generated").code;
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/goldens/{name}.rs"));
        if is_update {
            std::fs::write(&golden, code).expect("a file");
        } else if std::fs::read_to_string(&golden).expect("a golden file") != code {
            changed.push(*name);
        }
    }
    assert!(changed.is_empty(), "generated otherwise than before (UPDATE=1 accepts it): {changed:?}");
}
