//! Python modules: those of some WSDLs are kept in `tests/goldens/python`, so that changes are
//! visible; `UPDATE=1` rewrites them. `python/tests/test_generated.py` imports and checks them.

use crate::support::{GOLDENS, compile, operations, wsdl};
use deltasoap_codegen::{Builder, Python};
use deltasoap_wsdl::Importer;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// WSDLs whose modules are kept, of those whose Rust is kept and of our own.
const MODULES: &[&str] = &[
    "archive",
    "choices",
    "codes",
    "cwmp",
    "device",
    "encoded",
    "faults",
    "groups",
    "hostile",
    "metadata",
    "packed",
    "plans",
    "recursive",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/python")
}

fn builder(path: &Path, style: Python) -> Builder {
    Builder::new(path).importer(Importer::new().offline().root(wsdl("../.."))).python(style)
}

/// Returns the names of the files and their content.
fn modules() -> Vec<(String, String)> {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/shop.wsdl");
    let styles =
        [("shop.py", Python::Dataclasses), ("shop_pydantic.py", Python::Pydantic), ("shop_stub.pyi", Python::Stub)];
    let shops = styles.map(|(name, style)| (name.to_owned(), builder(&shop, style)));
    let others = GOLDENS.iter().filter(|(name, _)| MODULES.contains(name)).map(|(name, description)| {
        let builder = builder(&wsdl(description), Python::Dataclasses);
        (format!("{name}.py"), builder.operations(operations(name).iter().copied()))
    });
    let code = |(name, builder): (String, Builder)| (name, builder.generate().expect("generated").code);
    shops.into_iter().chain(others).map(code).collect()
}

#[test]
fn what_is_generated_is_what_it_was() {
    let is_update = std::env::var_os("UPDATE").is_some();
    let mut changed = Vec::new();
    let modules = modules();
    for (name, code) in &modules {
        let golden = folder().join(name);
        if is_update {
            std::fs::create_dir_all(folder()).and_then(|()| std::fs::write(&golden, code)).expect("a file");
        } else if std::fs::read_to_string(&golden).expect("a golden file") != *code {
            changed.push(name);
        }
    }
    assert!(changed.is_empty(), "generated otherwise than before (UPDATE=1 accepts it): {changed:?}");
    let kept =
        std::fs::read_dir(folder()).expect("a folder").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let kept: HashSet<String> = kept.filter(|name| name.contains(".py")).collect();
    assert_eq!(kept, modules.into_iter().map(|(name, _)| name).collect());
}

/// `DELTASOAP_WSDL_CORPUS=DIR cargo test -p deltasoap-codegen --test it python -- --ignored
/// --nocapture`. The output goes to `target/python-corpus`; Python compiles it.
#[test]
#[ignore = "needs a directory of descriptions, Python, and time"]
fn modules_of_a_corpus_compile() {
    let folder = compile::folder("DELTASOAP_WSDL_CORPUS", "../../testdata/wsdl");
    let target = compile::target("python-corpus");
    let (mut count, mut refused) = (0, 0);
    for path in compile::files(&folder, &["wsdl"]) {
        let source = path.split('/').next().unwrap_or_default();
        let importer = Importer::new().offline().root(folder.join(source));
        let Ok(import) = importer.file(&folder.join(&path)) else { continue };
        println!("m{count}\t{path}");
        for (style, ending) in
            [(Python::Dataclasses, ".py"), (Python::Pydantic, "_pydantic.py"), (Python::Stub, "_stub.pyi")]
        {
            match Builder::new(&path).python(style).generate_for(&import) {
                Ok(generated) => {
                    compile::put(&target.join(format!("m{count}{ending}")), &generated.code);
                    count += usize::from(style == Python::Stub);
                }
                Err(error) => {
                    refused += 1;
                    println!("REFUSED\t{path}\t{error}");
                }
            }
        }
    }
    println!("{count} WSDLs generated; {refused} refused");
    let compiled = Command::new("python3").args(["-m", "compileall", "-q"]).arg(&target).status().expect("Python");
    assert!(compiled.success() && refused == 0 && count > 0);
}
