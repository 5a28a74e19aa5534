//! The way in: what is generated from where to where.

use crate::plan::Selection;
use crate::render::Sides;
use crate::{Error, boxing, listed, plan, render, sharing};
use deltasoap_wsdl::fetch::Location;
use deltasoap_wsdl::{Import, Importer};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Generates Rust for a description.
#[derive(Debug, Clone)]
pub struct Builder {
    source: String,
    importer: Importer,
    out_dir: Option<PathBuf>,
    file_name: Option<String>,
    is_file: bool,
    operations: Vec<String>,
    types: Vec<String>,
    sides: Sides,
}

impl Builder {
    /// A generator for the description in a file, a directory or a zip archive, or at a URL; see
    /// [`Importer::import`]. A file may import others of its repository ([`Importer::trust_tree`]).
    pub fn new(source: impl AsRef<Path>) -> Self {
        Builder {
            source: source.as_ref().to_string_lossy().into_owned(),
            importer: Importer::new().trust_tree(),
            out_dir: None,
            file_name: None,
            is_file: false,
            operations: Vec::new(),
            types: Vec::new(),
            sides: Sides { client: true, server: true },
        }
    }

    /// Imports with rules of one's own: limits, where files may be, whether the network is used.
    #[must_use]
    pub fn importer(mut self, importer: Importer) -> Self {
        self.importer = importer;
        self
    }

    /// The directory that is written to. Default: `OUT_DIR`, which Cargo gives to build scripts.
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// The name of the file that is written. Default: that of the description, with the extension
    /// `rs`.
    #[must_use]
    pub fn file_name(mut self, name: impl Into<String>) -> Self {
        self.file_name = Some(name.into());
        self
    }

    /// Makes the output a file of a source tree, as for `mod weather;`: lints that its names break
    /// are allowed in it. Without, lints are a matter of the module around it. Either can be
    /// included by `include!`.
    #[must_use]
    pub fn module_file(mut self) -> Self {
        self.is_file = true;
        self
    }

    /// Generates these operations alone, with the types that they need, by their names:
    /// `Operation`, `Port.Operation` or `Service.Port.Operation`; of several with one name
    /// (overloaded), `Operation:Input` is the one whose input has that name. Default, and without
    /// names: all.
    #[must_use]
    pub fn operations(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.operations.extend(names.into_iter().map(Into::into));
        self
    }

    /// Generates these types and elements, with the types that they need, beside the
    /// [`operations`](Self::operations) that are named, or alone if there are none: `Name`, or
    /// `{namespace}Name`. For what messages hold as `xsd:anyType`.
    #[must_use]
    pub fn types(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.types.extend(names.into_iter().map(Into::into));
        self
    }

    /// Whether clients are generated. Default: true.
    #[must_use]
    pub fn build_client(mut self, enable: bool) -> Self {
        self.sides.client = enable;
        self
    }

    /// Whether server traits are generated; without them the code needs no feature but `client`.
    /// Default: true.
    #[must_use]
    pub fn build_server(mut self, enable: bool) -> Self {
        self.sides.server = enable;
        self
    }

    /// Generates.
    ///
    /// # Errors
    /// When the description cannot be imported, or has none of the [`operations`](Self::operations)
    /// or [`types`](Self::types) that were named.
    pub fn generate(&self) -> Result<Generated, Error> {
        self.generate_for(&self.importer.import(&self.source)?)
    }

    /// Generates for what was imported before.
    ///
    /// # Errors
    /// When it has none of the [`operations`](Self::operations) or [`types`](Self::types) that were
    /// named. What is made is checked to be Rust.
    pub fn generate_for(&self, import: &Import) -> Result<Generated, Error> {
        let mut model = plan::plan(import, self.selected(import)?);
        sharing::share(&mut model);
        boxing::break_cycles(&mut model);
        listed::find(&mut model);
        let code = render::text(render::tokens(&model, self.sides), self.is_file)?;
        let files = import.documents().filter_map(|document| match document {
            Location::File(path) => Some(path.clone()),
            _ => None,
        });
        Ok(Generated { code, files: files.collect(), omitted: model.omitted().collect() })
    }

    /// What was named; `None` for all.
    fn selected(&self, import: &Import) -> Result<Option<Selection>, Error> {
        let mut operations = HashSet::new();
        for name in &self.operations {
            let found = import.definitions().bound_operations(name);
            if found.is_empty() {
                return Err(Error::NoOperation(name.clone()));
            }
            operations.extend(found);
        }
        let mut selection = Selection { operations, types: Vec::new(), elements: Vec::new() };
        self.types.iter().try_for_each(|name| selection.add(import.schemas(), name))?;
        Ok(Some(selection).filter(|_| !(self.operations.is_empty() && self.types.is_empty())))
    }

    /// Generates, writes the file, and tells Cargo which files to watch. For build scripts.
    /// Operations that are left out are warnings of Cargo's, each with the reason.
    ///
    /// # Errors
    /// As [`generate`](Self::generate), and when the file cannot be written.
    pub fn build(&self) -> Result<(), Error> {
        let generated = self.generate()?;
        for file in &generated.files {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        for omitted in &generated.omitted {
            // Names of the description must not pass for another of Cargo's lines.
            println!("cargo::warning={}", format!("{}: left out: {omitted}", self.output_name()).escape_debug());
        }
        let folder = self.out_dir.clone().or_else(|| std::env::var_os("OUT_DIR").map(PathBuf::from));
        let path = folder.ok_or(Error::NoOutDir)?.join(self.output_name());
        std::fs::write(&path, generated.code).map_err(|error| Error::Write(path, error))
    }

    fn output_name(&self) -> String {
        let stem = || Path::new(&self.source).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let by_default = || format!("{}.rs", stem().unwrap_or_else(|| "service".to_owned()));
        self.file_name.clone().unwrap_or_else(by_default)
    }
}

/// What was generated.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The Rust code.
    pub code: String,
    /// The files that it was made from.
    pub files: Vec<PathBuf>,
    /// Operations that are not in it, each with the reason.
    pub omitted: Vec<String>,
}
