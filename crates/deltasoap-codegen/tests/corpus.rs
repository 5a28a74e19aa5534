//! A whole corpus of descriptions: what is generated for each of them must compile.
//!
//! `DELTASOAP_WSDL_CORPUS=DIR cargo test -p deltasoap-codegen --test corpus -- --ignored --nocapture`. The output goes to
//! `target/codegen-corpus`, several descriptions a crate; `DELTASOAP_CODEGEN_ONLY=TEXT` takes those whose path has the text in it.

mod support;

use deltasoap_codegen::Builder;
use deltasoap_wsdl::Importer;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::path::Path;
use support::compile::{compile, files, folder, put, target};

/// Lines of a crate.
const LINES: usize = 60_000;

/// Descriptions by what is generated for them: many are alike.
type Outputs = BTreeMap<String, Vec<String>>;

#[test]
#[ignore = "needs a directory of descriptions, and time"]
fn what_is_generated_for_a_corpus_compiles() {
    let folder = folder("DELTASOAP_WSDL_CORPUS", "../../testdata/wsdl");
    let (outputs, refused) = generate(&folder);
    let target = target("codegen-corpus");
    let crates = write(&target, &outputs);
    let failed: BTreeSet<String> = (0..crates).flat_map(|number| check(&target, number)).collect();
    let outputs: Vec<(&String, &Vec<String>)> = outputs.iter().collect();
    let failed_files: usize = failed.iter().map(|module| outputs[index(module)].1.len()).sum();
    for module in &failed {
        println!("FAILED\t{module}\t{}", outputs[index(module)].1.join(" "));
    }
    let files: usize = outputs.iter().map(|(_, files)| files.len()).sum();
    println!(
        "{files} generated, {} of them different; {refused} refused; {failed_files} do not compile",
        outputs.len()
    );
    assert!(failed.is_empty() && refused == 0);
}

/// Generates for all that can be imported; gives what was made, and the number of refusals.
fn generate(folder: &Path) -> (Outputs, usize) {
    let only = env::var("DELTASOAP_CODEGEN_ONLY").unwrap_or_default();
    let (mut outputs, mut refused) = (Outputs::new(), 0);
    for path in files(folder, &["wsdl"]).into_iter().filter(|path| path.contains(&only)) {
        let source = path.split('/').next().unwrap_or_default();
        let importer = Importer::new().offline().root(folder.join(source));
        let Ok(import) = importer.file(&folder.join(&path)) else { continue };
        match Builder::new(&path).module_file().generate_for(&import) {
            Ok(generated) => outputs.entry(generated.code).or_default().push(path),
            Err(error) => {
                refused += 1;
                println!("REFUSED\t{path}\t{error}");
            }
        }
    }
    (outputs, refused)
}

/// Writes crates of some modules each; gives their number.
fn write(target: &Path, outputs: &Outputs) -> usize {
    let (mut crates, mut lines, mut modules) = (0, 0, String::new());
    for (number, code) in outputs.keys().enumerate() {
        let file = target.join(format!("m{number}.rs"));
        put(&file, code);
        let _ = writeln!(modules, "#[path = {:?}]\nmod m{number};", file.display().to_string());
        lines += code.lines().count();
        if lines > LINES || number + 1 == outputs.len() {
            put(&target.join(format!("c{crates}.rs")), &modules);
            modules.clear();
            (crates, lines) = (crates + 1, 0);
        }
    }
    crates
}

/// The modules of a crate that have errors.
fn check(target: &Path, number: usize) -> BTreeSet<String> {
    let output = compile(&target.join(format!("c{number}.rs")), &["--crate-type", "lib", "--emit", "metadata"]);
    let text = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = text.lines().filter(|line| line.contains(": error")).collect();
    errors.iter().take(20).for_each(|line| println!("{line}"));
    let failed: BTreeSet<String> = errors.into_iter().filter_map(module).collect();
    assert!(output.status.success() || !failed.is_empty(), "c{number}: {text}");
    println!("c{number}: {} modules fail", failed.len());
    failed
}

/// The module that a message is about.
fn module(line: &str) -> Option<String> {
    let file = line.split(".rs:").next()?;
    Some(file.rsplit('/').next()?.to_owned())
}

fn index(module: &str) -> usize {
    module.trim_start_matches('m').parse().expect("a module's number")
}
