//! Files of the repository.

use std::path::{Path, PathBuf};

/// Returns the path of a file or folder of the repository.
pub fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the entries of a folder, sorted; none if it cannot be read.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort_unstable();
    entries
}

/// Returns the files in a folder and below it, sorted.
pub fn all_below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut ahead) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = ahead.pop() {
        for path in entries(&next) {
            let list = if path.is_dir() { &mut ahead } else { &mut found };
            list.push(path);
        }
    }
    found.sort_unstable();
    found
}

/// Returns the files below a folder that have one of these extensions, sorted.
pub fn below(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = all_below(folder);
    files.retain(|path| path.extension().is_some_and(|it| extensions.iter().any(|extension| it == *extension)));
    files
}

/// Returns a path relative to a folder that contains it.
pub fn relative(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).expect("a path below the folder").to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_at_any_depth_by_their_extension() {
        let folder = in_repository("tests/support");
        let sources = below(&folder, &["rs"]);
        assert!(sources.iter().any(|path| relative(path, &folder) == "src/files.rs") && sources.is_sorted());
        assert!(below(&folder, &["md"]).is_empty() && all_below(&folder).len() > sources.len());
        assert!(entries(&folder).contains(&folder.join("src")) && entries(Path::new("/nowhere")).is_empty());
    }
}
