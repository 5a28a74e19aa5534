//! Large WSDLs: time and memory of their import, and time to load the compiled result.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use deltasoap_report::statistics::median;
use deltasoap_wsdl::fetch::Location;
use deltasoap_wsdl::{Import, Importer, Lowered};

use super::super::goal::Goal;
use super::super::{Effort, Task};
use crate::allocator;
use crate::engine::timed;

/// Minimum size of a large WSDL in bytes.
const LARGE: u64 = 1_000_000;
/// Number of WSDLs to measure if none is large: the largest ones.
const MIN_WSDLS: usize = 2;
/// Target milliseconds of an import, and of loading the compiled result.
const IMPORT: f64 = 200.0;
const LOAD: f64 = 10.0;
/// Target megabytes of an import.
const MEMORY: f64 = 100.0;

/// Returns the goals on each WSDL.
pub fn tasks(effort: Effort, folder: &Path) -> Vec<Task> {
    let tasks = largest(folder).into_iter().flat_map(|description| {
        let name = description.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        type Measure = fn(&Description, Effort) -> Result<Goal>;
        let measures: [(&str, Measure); 3] = [("import", import), ("memory of import", peak), ("compiled", load)];
        measures.map(|(what, measure)| {
            let description = description.clone();
            Task { name: format!("wsdl {what}, {name}"), measure: Box::new(move || measure(&description, effort)) }
        })
    });
    tasks.collect()
}

#[derive(Clone)]
struct Description {
    path: PathBuf,
    /// Folder that contains its imports.
    root: PathBuf,
}

impl Description {
    fn import(&self) -> Result<Import> {
        Ok(Importer::new().offline().root(&self.root).file(&self.path)?)
    }

    fn size(&self) -> f64 {
        self.path.metadata().map_or(0.0, |it| it.len() as f64 / 1e6)
    }
}

fn import(description: &Description, effort: Effort) -> Result<Goal> {
    let found = description.import()?;
    let (types, elements) = (found.schemas().types().len(), found.schemas().elements().len());
    ensure!(types > 100 && elements > 10, "hardly anything was imported");
    let median: f64 = median_ms(effort, || description.import())?.iter().sum();
    let detail = format!("{:.1} MB; {types} types, {elements} elements, median", description.size());
    Ok(Goal::at_most(IMPORT, "ms", median, detail))
}

fn peak(description: &Description, _: Effort) -> Result<Goal> {
    let (result, peak) = allocator::peak_of(|| description.import());
    let found = result?;
    let detail = format!("{:.1} MB in {} documents", description.size(), found.documents().len());
    Ok(Goal::at_most(MEMORY, "MB", peak as f64 / 1e6, detail))
}

fn load(description: &Description, effort: Effort) -> Result<Goal> {
    let import = description.import()?;
    let (file, lowered) = (import.compile(), import.lower());
    drop(import);
    let (import, loaded) = loaded(file.clone())?;
    ensure!(loaded.schema == lowered.schema && import.compile() == file, "what is loaded is something else");
    let [loading, releasing] = median_ms(effort, || self::loaded(file.clone()))?;
    let megabytes = file.len() as f64 / 1e6;
    let detail = format!("a file of {megabytes:.2} MB, all of it read; released again in {releasing:.1} ms; medians");
    Ok(Goal::at_most(LOAD, "ms", loading, detail))
}

fn loaded(file: Vec<u8>) -> Result<(Import, Lowered)> {
    let mut import = Importer::new().offline().bytes(Location::Text("compiled".to_owned()), file)?;
    let lowered = import.take_lowered();
    Ok((import, lowered))
}

/// Returns the median times in milliseconds of `work` and of dropping its result. The first run,
/// with cold caches, does not count.
fn median_ms<R>(effort: Effort, mut work: impl FnMut() -> Result<R>) -> Result<[f64; 2]> {
    work()?;
    let runs = effort.sample_size.runs.max(5);
    let run = |_| {
        let (making, made) = timed(|| work().map(black_box));
        let made = made?;
        Ok((making, timed(|| drop(made)).0))
    };
    let (making, releasing) = (0..runs).map(run).collect::<Result<(Vec<_>, Vec<_>)>>()?;
    Ok([making, releasing].map(|times| median(times.into_iter().map(|ns| ns as f64 / 1e6))))
}

/// Returns the large WSDLs below a folder, largest first, one per size, without those with missing
/// imports.
fn largest(folder: &Path) -> Vec<Description> {
    let mut all = descriptions(folder);
    all.sort_unstable_by(|one, other| other.cmp(one));
    all.dedup_by_key(|(size, _)| *size);
    let large = all.iter().filter(|(size, _)| *size > LARGE).count();
    let largest = all.into_iter().take(large.max(MIN_WSDLS));
    let largest = largest.map(|(_, path)| Description { root: root(folder, &path), path });
    largest.filter(|description| description.import().is_ok()).collect()
}

fn descriptions(folder: &Path) -> Vec<(u64, PathBuf)> {
    let (mut found, mut ahead) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = ahead.pop() {
        for path in next.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()) {
            match path.metadata() {
                Ok(metadata) if metadata.is_dir() => ahead.push(path),
                Ok(metadata) if path.extension().is_some_and(|it| it == "wsdl") => found.push((metadata.len(), path)),
                _ => {}
            }
        }
    }
    found
}

/// Returns the first folder on the path to a WSDL: its source.
fn root(folder: &Path, path: &Path) -> PathBuf {
    let source = path.strip_prefix(folder).ok().and_then(|below| below.components().next());
    source.map(|source| folder.join(source)).filter(|root| root.is_dir()).unwrap_or_else(|| folder.to_owned())
}
