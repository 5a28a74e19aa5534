//! A whole corpus of descriptions: what is generated for each of them must compile.
//!
//! `DELTASOAP_WSDL_CORPUS=DIR cargo test -p deltasoap-codegen --test corpus -- --ignored --nocapture`. The output goes to
//! `target/codegen-corpus`, a workspace of its own with several descriptions a crate; `DELTASOAP_CODEGEN_ONLY=TEXT` takes
//! those whose path has the text in it.

use deltasoap_codegen::Builder;
use deltasoap_wsdl::Importer;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Lines of a crate.
const LINES: usize = 60_000;

/// Descriptions by what is generated for them: many are alike.
type Outputs = BTreeMap<String, Vec<String>>;

#[test]
#[ignore = "needs a directory of descriptions, and time"]
fn what_is_generated_for_a_corpus_compiles() {
    let folder = PathBuf::from(env::var_os("DELTASOAP_WSDL_CORPUS").expect("DELTASOAP_WSDL_CORPUS names a directory"));
    let (outputs, refused) = generate(&folder);
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/codegen-corpus");
    let crates = write(&target, &outputs);
    let failed: BTreeSet<String> = (0..crates).flat_map(|number| check(&target, number)).collect();
    let outputs: Vec<(&String, &Vec<String>)> = outputs.iter().collect();
    let failed_files: usize = failed.iter().map(|module| outputs[index(module)].1.len()).sum();
    for module in &failed {
        println!("FAILED\t{module}\t{}", outputs[index(module)].1.join(" "));
    }
    let files: usize = outputs.iter().map(|(_, files)| files.len()).sum();
    println!("{files} generated, {} of them different; {refused} refused; {failed_files} do not compile", outputs.len());
    assert!(failed.is_empty() && refused == 0);
}

/// Generates for all that can be imported; gives what was made, and the number of refusals.
fn generate(folder: &Path) -> (Outputs, usize) {
    let only = env::var("DELTASOAP_CODEGEN_ONLY").unwrap_or_default();
    let (mut outputs, mut refused) = (Outputs::new(), 0);
    for path in descriptions(folder).into_iter().filter(|path| path.contains(&only)) {
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

fn descriptions(folder: &Path) -> Vec<String> {
    let (mut found, mut ahead) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = ahead.pop() {
        for entry in next.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                ahead.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "wsdl") {
                let below = entry.strip_prefix(folder).expect("a path below the folder");
                found.push(below.to_string_lossy().into_owned());
            }
        }
    }
    found.sort_unstable();
    found
}

/// Writes crates of some modules each; gives their number.
fn write(target: &Path, outputs: &Outputs) -> usize {
    let _ = fs::remove_dir_all(target.join("crates"));
    let (mut crates, mut lines, mut modules) = (0, 0, String::new());
    let mut close = |modules: &mut String| {
        if !modules.is_empty() {
            let folder = target.join(format!("crates/c{crates}"));
            put(&folder.join("Cargo.toml"), &manifest(crates));
            put(&folder.join("src/lib.rs"), modules);
            modules.clear();
            crates += 1;
        }
        crates
    };
    for (number, code) in outputs.keys().enumerate() {
        if lines > LINES {
            close(&mut modules);
            lines = 0;
        }
        lines += code.lines().count();
        let file = target.join(format!("modules/m{number}.rs"));
        put(&file, code);
        let _ = writeln!(modules, "#[path = {:?}]\nmod m{number};", file.display().to_string());
    }
    let crates = close(&mut modules);
    put(&target.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n");
    crates
}

fn manifest(number: usize) -> String {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deltasoap");
    format!(
        "[package]\nname = \"c{number}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lints.rust]\nwarnings = \"allow\"\n\n\
         [dependencies]\ndeltasoap = {{ path = {:?} }}\n",
        runtime.display().to_string()
    )
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).expect("a file");
    }
}

/// The modules of a crate that have errors.
fn check(target: &Path, number: usize) -> BTreeSet<String> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(target).args(["check", "-q", "--message-format", "short", "-p", &format!("c{number}")]);
    let output = command.env("CARGO_TARGET_DIR", target.join("target")).output().expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let errors = text.lines().filter(|line| line.contains(": error"));
    let failed: BTreeSet<String> = errors.filter_map(module).collect();
    for line in text.lines().filter(|line| line.contains("error")).take(20) {
        println!("c{number}: {line}");
    }
    assert!(output.status.success() || !failed.is_empty(), "c{number}: {text}");
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
