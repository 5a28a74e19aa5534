//! Many WSDLs, and the compiler for the code generated for them.

use deltasoap_test_support::files;
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
    files::below(folder, extensions).iter().map(|path| files::relative(path, folder)).collect()
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
