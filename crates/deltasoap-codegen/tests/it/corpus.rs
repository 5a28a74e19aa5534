//! A whole corpus of WSDLs: the code generated for each of them must compile.
//!
//! `DELTASOAP_WSDL_CORPUS=DIR cargo test -p deltasoap-codegen --test it corpus -- --ignored
//! --nocapture`. The output goes to `target/codegen-corpus`, several WSDLs per crate;
//! `DELTASOAP_CODEGEN_ONLY=TEXT` selects those whose path contains the text,
//! `DELTASOAP_CODEGEN_LONGEST=N` only the longest outputs, which take most of the time.
//!
//! Of 1,465 WSDLs from the test suites and fixtures of other toolkits, 1,239 are imported, and code
//! is generated for all of these: 880 different outputs, of up to 91,000 lines, which all compile.
//! Of the 226 others, 180 lack documents that the collection does not contain, and the rest are no
//! WSDL 1.1, not well-formed, or use undeclared prefixes.

use crate::support::compile::{compile, files, folder, put, target};
use deltasoap_codegen::Builder;
use deltasoap_wsdl::Importer;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::path::Path;

/// Maximum number of lines per crate.
const LINES: usize = 20_000;

/// The generated outputs, shortest first, each with its WSDLs: many are equal.
type Outputs = Vec<(String, Vec<String>)>;

#[test]
#[ignore = "needs a directory of descriptions, and time"]
fn what_is_generated_for_a_corpus_compiles() {
    let folder = folder("DELTASOAP_WSDL_CORPUS", "../../testdata/wsdl");
    let (outputs, refused) = generate(&folder);
    let target = target("codegen-corpus");
    let crates = write(&target, &outputs);
    let files = |outputs: &[(String, Vec<String>)]| outputs.iter().map(|(_, files)| files.len()).sum::<usize>();
    println!("{} generated, {} of them different; {refused} refused", files(&outputs), outputs.len());
    let (mut failed, mut done) = (0, 0);
    for (number, end) in crates.iter().enumerate() {
        for module in check(&target, number) {
            let of = &outputs[index(&module)].1;
            failed += of.len();
            println!("FAILED\t{module}\t{}", of.join(" "));
        }
        done = *end;
        println!("c{number}: {} checked, {done} of them different; {failed} do not compile", files(&outputs[..done]));
    }
    assert!(failed == 0 && refused == 0 && done == outputs.len());
}

/// Generates code for everything that can be imported; returns the outputs and the number of
/// refusals.
fn generate(folder: &Path) -> (Outputs, usize) {
    let only = env::var("DELTASOAP_CODEGEN_ONLY").unwrap_or_default();
    let (mut outputs, mut refused) = (BTreeMap::<String, Vec<String>>::new(), 0);
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
    let mut outputs: Outputs = outputs.into_iter().collect();
    outputs.sort_by_key(|(code, _)| code.len());
    let longest = env::var("DELTASOAP_CODEGEN_LONGEST").ok().and_then(|number| number.parse().ok());
    outputs.drain(..outputs.len() - longest.unwrap_or(outputs.len()).min(outputs.len()));
    (outputs, refused)
}

/// Writes crates of several modules each; returns, for each crate, the number of modules up to its
/// end.
fn write(target: &Path, outputs: &Outputs) -> Vec<usize> {
    let (mut crates, mut lines, mut modules) = (Vec::new(), 0, String::new());
    for (number, (code, _)) in outputs.iter().enumerate() {
        let file = target.join(format!("m{number}.rs"));
        put(&file, code);
        let _ = writeln!(modules, "#[path = {:?}]\nmod m{number};", file.display().to_string());
        lines += code.lines().count();
        if lines > LINES || number + 1 == outputs.len() {
            put(&target.join(format!("c{}.rs", crates.len())), &modules);
            modules.clear();
            crates.push(number + 1);
            lines = 0;
        }
    }
    crates
}

/// Returns the modules of a crate that have errors.
fn check(target: &Path, number: usize) -> BTreeSet<String> {
    let output = compile(&target.join(format!("c{number}.rs")), &["--crate-type", "lib", "--emit", "metadata"]);
    let text = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = text.lines().filter(|line| line.contains(": error")).collect();
    errors.iter().take(20).for_each(|line| println!("{line}"));
    let failed: BTreeSet<String> = errors.into_iter().filter_map(module).collect();
    assert!(output.status.success() || !failed.is_empty(), "c{number}: {text}");
    failed
}

/// Returns the module that a message is about.
fn module(line: &str) -> Option<String> {
    let file = line.split(".rs:").next()?;
    Some(file.rsplit('/').next()?.to_owned())
}

fn index(module: &str) -> usize {
    module.trim_start_matches('m').parse().expect("a module's number")
}
