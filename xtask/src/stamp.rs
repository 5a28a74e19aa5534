//! Decides whether a peer has to be built again.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::shell;

/// Runs `build`, which creates `product`, unless that has been done for the same files and the same
/// text.
pub fn build_if_stale(product: &Path, files: &[PathBuf], text: &str, build: impl FnOnce() -> Result<()>) -> Result<()> {
    let (stamp, content) = (product.with_extension("stamp"), of(files, text)?);
    if !(product.exists() && shell::is_stamped(&stamp, &content)) {
        build()?;
        fs::write(stamp, content).context("cannot write the stamp")?;
    }
    Ok(())
}

fn of(files: &[PathBuf], text: &str) -> Result<String> {
    let mut hash = DefaultHasher::new();
    text.hash(&mut hash);
    for file in files {
        fs::read(file).with_context(|| format!("cannot read {}", file.display()))?.hash(&mut hash);
    }
    Ok(format!("{:016x}\n", hash.finish()))
}

/// Returns the files in a folder, sorted.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}
