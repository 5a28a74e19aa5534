//! Decides which folder is trusted along with a file that the user names.
//!
//! WSDLs are kept in trees: `wsdl/shop.wsdl` imports `../xsd/types.xsd`. A user who names the first
//! file means the tree, but not all files of the machine. The tree is the file's repository.
//! Without a repository it is the highest folder that still serves one purpose: the home directory,
//! the directory for temporary files and top-level directories serve many, and are never trusted.

use std::path::{Component, Path, PathBuf};

/// Entries that mark the top folder of a repository.
const MARKS: [&str; 5] = [".git", ".hg", ".svn", ".bzr", ".jj"];

/// Returns the tree that a folder belongs to: the folder itself or one above it. The path must be
/// canonical.
pub(crate) fn tree_of(folder: &Path) -> PathBuf {
    let canonical = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let shared = [std::env::home_dir().map(canonical), Some(canonical(std::env::temp_dir()))];
    Shared(shared.into_iter().flatten().filter(|path| path.is_absolute()).collect()).tree_of(folder)
}

/// Returns the deepest folder that contains both paths.
pub(super) fn nearest_around(one: &Path, other: &Path) -> PathBuf {
    let both = one.components().zip(other.components()).take_while(|(one, other)| one == other);
    both.map(|(component, _)| component).collect()
}

/// Folders that contain trees of many purposes. None of these, and no folder above them, is a tree
/// itself.
struct Shared(Vec<PathBuf>);

impl Shared {
    fn tree_of(&self, folder: &Path) -> PathBuf {
        let own: Vec<&Path> = folder.ancestors().take_while(|path| !self.holds_trees(path)).collect();
        let is_repository = |path: &&&Path| MARKS.iter().any(|mark| path.join(mark).exists());
        let highest = || own.iter().rev().find(|path| !is_top_level(path));
        own.iter().find(is_repository).or_else(highest).map_or_else(|| folder.to_owned(), |path| path.to_path_buf())
    }

    fn holds_trees(&self, path: &Path) -> bool {
        path.parent().is_none() || self.0.iter().any(|shared| shared.starts_with(path))
    }
}

/// Returns true for directories such as `/srv`. In containers, a repository can be there; otherwise
/// they contain many trees.
fn is_top_level(path: &Path) -> bool {
    path.components().filter(|component| matches!(component, Component::Normal(_))).count() < 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(folder: &str) -> PathBuf {
        Shared(vec!["/home/ada".into(), "/tmp".into()]).tree_of(Path::new(folder))
    }

    #[test]
    fn without_a_repository_the_tree_is_below_what_many_share() {
        for (folder, wanted) in [
            ("/home/ada/shop/wsdl/v1", "/home/ada/shop"),
            ("/home/ada/shop", "/home/ada/shop"),
            ("/tmp/unpacked/wsdl", "/tmp/unpacked"),
            ("/srv/shop/wsdl", "/srv/shop"),
            ("/home/bob/shop/wsdl", "/home/bob"),
        ] {
            assert_eq!(tree(folder), Path::new(wanted), "{folder}");
        }
    }

    #[test]
    fn what_many_share_is_trusted_alone_if_the_file_is_right_there() {
        for folder in ["/home/ada", "/tmp", "/srv", "/"] {
            assert_eq!(tree(folder), Path::new(folder));
        }
    }

    #[test]
    fn the_nearest_repository_is_the_tree() {
        let top = tempfile("trees");
        let folder = top.join("outer/inner/wsdl/v1");
        std::fs::create_dir_all(&folder).expect("folders");
        std::fs::create_dir_all(top.join("outer/.git")).expect("a folder");
        assert_eq!(tree_of(&folder), top.join("outer"));
        // Worktrees and submodules have a file of that name.
        std::fs::write(top.join("outer/inner/.git"), "gitdir: elsewhere").expect("a file");
        assert_eq!(tree_of(&folder), top.join("outer/inner"));
        std::fs::remove_dir_all(top).expect("removed");
    }

    fn tempfile(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("deltasoap-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        path.canonicalize().expect("a path")
    }

    #[test]
    fn the_nearest_folder_around_two_paths() {
        assert_eq!(nearest_around(Path::new("/a/b/c.xsd"), Path::new("/a/d/e")), Path::new("/a"));
        assert_eq!(nearest_around(Path::new("/a/b"), Path::new("/c")), Path::new("/"));
    }
}
