//! Many WSDLs, and the compiler for the code generated for them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns a directory named by an environment variable, or a default directory.
pub fn folder(variable: &str, otherwise: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(otherwise), PathBuf::from)
}

/// Returns the directory for temporary output.
pub fn target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(name)
}

/// Returns the files below a folder with one of these extensions, as sorted relative paths.
pub fn files(folder: &Path, extensions: &[&str]) -> Vec<String> {
    let (mut found, mut ahead) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = ahead.pop() {
        for entry in next.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                ahead.push(entry);
            } else if entry.extension().is_some_and(|extension| extensions.iter().any(|it| extension == *it)) {
                let below = entry.strip_prefix(folder).expect("a path below the folder");
                found.push(below.to_string_lossy().into_owned());
            }
        }
    }
    found.sort_unstable();
    found
}

/// Writes a file, and creates the folders above it.
pub fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

/// Compiles a crate of one file, which may use the runtime. The compiler is called as Cargo called
/// it for this test.
pub fn compile(file: &Path, arguments: &[&str]) -> Output {
    let dependencies = env::current_exe().expect("a path").parent().expect("a folder").to_owned();
    Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()))
        .arg(file)
        .args(["--edition", "2024", "--cap-lints", "allow", "--error-format", "short", "--out-dir"])
        .arg(file.parent().expect("a folder"))
        .args(arguments)
        .args(["-L", &format!("dependency={}", dependencies.display())])
        .args(["--extern", &format!("deltasoap={}", runtime(&dependencies).display())])
        .output()
        .expect("rustc runs")
}

/// Returns the library that was built last.
fn runtime(dependencies: &Path) -> PathBuf {
    let entries = dependencies.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path());
    let is_runtime = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libdeltasoap-") && name.ends_with(".rlib")
    };
    let built = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
    entries.filter(is_runtime).max_by_key(built).expect("the runtime is built")
}
