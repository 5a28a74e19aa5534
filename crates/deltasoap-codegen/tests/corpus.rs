//! A whole corpus of descriptions: what is generated for each of them must compile.
//!
//! `DELTASOAP_WSDL_CORPUS=DIR cargo test -p deltasoap-codegen --test corpus -- --ignored --nocapture`. The output goes to
//! `target/codegen-corpus`, several descriptions a crate; `DELTASOAP_CODEGEN_ONLY=TEXT` takes those whose path has the text in it.

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

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// The modules of a crate that have errors. The compiler is called as Cargo called it for this test.
fn check(target: &Path, number: usize) -> BTreeSet<String> {
    let dependencies = env::current_exe().expect("a path").parent().expect("a folder").to_owned();
    let output = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()))
        .arg(target.join(format!("c{number}.rs")))
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--cap-lints", "allow"])
        .args(["--error-format", "short", "--out-dir"])
        .arg(target)
        .args(["-L", &format!("dependency={}", dependencies.display())])
        .args(["--extern", &format!("deltasoap={}", runtime(&dependencies).display())])
        .output()
        .expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = text.lines().filter(|line| line.contains(": error")).collect();
    errors.iter().take(20).for_each(|line| println!("{line}"));
    let failed: BTreeSet<String> = errors.into_iter().filter_map(module).collect();
    assert!(output.status.success() || !failed.is_empty(), "c{number}: {text}");
    println!("c{number}: {} modules fail", failed.len());
    failed
}

/// The library that was built last.
fn runtime(dependencies: &Path) -> PathBuf {
    let entries = dependencies.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path());
    let is_runtime = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libdeltasoap-") && name.ends_with(".rlib")
    };
    let built = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
    entries.filter(is_runtime).max_by_key(built).expect("the runtime is built")
}

/// The module that a message is about.
fn module(line: &str) -> Option<String> {
    let file = line.split(".rs:").next()?;
    Some(file.rsplit('/').next()?.to_owned())
}

fn index(module: &str) -> usize {
    module.trim_start_matches('m').parse().expect("a module's number")
}
