//! The entry point: options for the input, the output and the generated code.

use crate::plan::Selection;
use crate::render::Options;
use crate::{Error, Python, boxing, defaults, number_records, open, plan, python, render, sharing};
use deltasoap_wsdl::fetch::Location;
use deltasoap_wsdl::wsdl::Binding;
use deltasoap_wsdl::{Definitions, Import, Importer};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Generates Rust for a WSDL.
#[derive(Debug, Clone)]
pub struct Builder {
    source: String,
    importer: Importer,
    out_dir: Option<PathBuf>,
    file_name: Option<String>,
    is_file: bool,
    operations: Vec<String>,
    types: Vec<String>,
    options: Options,
    embeds_wsdl: bool,
    unknown_enum_values: bool,
    python: Option<Python>,
}

impl Builder {
    /// Creates a generator for the WSDL in a file, a directory or a zip archive, or at a URL; see
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
            options: Options { client: true, server: true, serde: false },
            embeds_wsdl: true,
            unknown_enum_values: false,
            python: None,
        }
    }

    /// Sets the importer, with its own limits, file access and network access.
    #[must_use]
    pub fn importer(mut self, importer: Importer) -> Self {
        self.importer = importer;
        self
    }

    /// Sets the output directory. Default: `OUT_DIR`, which Cargo sets for build scripts.
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Sets the name of the output file. Default: the name of the WSDL, with the extension `rs`,
    /// `py` or `pyi`.
    #[must_use]
    pub fn file_name(mut self, name: impl Into<String>) -> Self {
        self.file_name = Some(name.into());
        self
    }

    /// Makes the output a file of a source tree, as for `mod weather;`: the file allows the lints
    /// that its names violate. Without this, the enclosing module controls lints. Both kinds of
    /// output work with `include!`.
    #[must_use]
    pub fn module_file(mut self) -> Self {
        self.is_file = true;
        self
    }

    /// Generates only these operations, with the types that they need. A name is `Operation`,
    /// `Port.Operation` or `Service.Port.Operation`; for overloaded operations, `Operation:Input`
    /// selects the one whose input has that name. Default, and without names: all.
    #[must_use]
    pub fn operations(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.operations.extend(names.into_iter().map(Into::into));
        self
    }

    /// Generates these types and elements, with the types that they need: in addition to the named
    /// [`operations`](Self::operations), or alone if there are none. A name is `Name` or
    /// `{namespace}Name`. Useful for types that messages contain as `xsd:anyType`.
    #[must_use]
    pub fn types(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.types.extend(names.into_iter().map(Into::into));
        self
    }

    /// Enables or disables clients. Default: true.
    #[must_use]
    pub fn build_client(mut self, enable: bool) -> Self {
        self.options.client = enable;
        self
    }

    /// Enables or disables servers; without them the code only needs the feature `client`.
    /// Default: true.
    #[must_use]
    pub fn build_server(mut self, enable: bool) -> Self {
        self.options.server = enable;
        self
    }

    /// Sets whether generated servers contain the WSDL and the documents that it imports, and serve
    /// them under `?wsdl`. Documents of an archive or from the network are not embedded. Default:
    /// true.
    #[must_use]
    pub fn embed_wsdl(mut self, enable: bool) -> Self {
        self.embeds_wsdl = enable;
        self
    }

    /// Sets whether enumerations have a variant `Unknown` for values that the WSDL does not list:
    /// it holds the text, which is read and written unchanged. A service that adds a value in a
    /// later version then breaks no client. Enumerations without the variant refuse other values,
    /// and are `Copy`. Those that are members of unions never have it. Default: false.
    #[must_use]
    pub fn unknown_enum_values(mut self, enable: bool) -> Self {
        self.unknown_enum_values = enable;
        self
    }

    /// Sets whether types implement serde's `Serialize` and `Deserialize`. The package that
    /// compiles the code depends on `serde` with the feature `derive`, and enables the feature
    /// `serde` of `deltasoap`. Default: false.
    ///
    /// Keys are the names in the WSDL: `item`, and `@id` for an attribute, `$` for the text of an
    /// element with attributes. A choice is a map of one entry, under the name of its field.
    /// Optional and repeated elements that are absent are left out, which only formats that
    /// describe themselves allow, such as JSON. The JSON of `deltasoap-dynamic` is nearer to XML.
    #[must_use]
    pub fn serde(mut self, enable: bool) -> Self {
        self.options.serde = enable;
        self
    }

    /// Generates a module for the Python package `deltasoap` instead of Rust.
    ///
    /// It has a class for each complex type, which inherits the class of the type's base; values
    /// have the names that zeep gives them. Names that are no identifiers, or keywords, are changed
    /// (`class_`), and the class keeps the XML name. Enumerations are classes of texts or integers.
    /// A client for each port type, and one for asyncio, has a method for each operation, with the
    /// values of the request as arguments; it returns what zeep returns, and raises an exception
    /// for each declared fault.
    ///
    /// [`operations`](Self::operations), [`types`](Self::types) and
    /// [`build_client`](Self::build_client) apply to Python too, the other options for generated
    /// code do not.
    #[must_use]
    pub fn python(mut self, style: Python) -> Self {
        self.python = Some(style);
        self
    }

    /// Generates the code.
    ///
    /// # Errors
    /// Returns an error if the WSDL cannot be imported, or if it lacks one of the named
    /// [`operations`](Self::operations) or [`types`](Self::types).
    pub fn generate(&self) -> Result<Generated, Error> {
        self.generate_for(&self.importer.import(&self.source)?)
    }

    /// Generates the code for an existing import. The code is checked to be valid Rust.
    ///
    /// # Errors
    /// Returns an error if the import lacks one of the named [`operations`](Self::operations) or
    /// [`types`](Self::types).
    pub fn generate_for(&self, import: &Import) -> Result<Generated, Error> {
        let mut model = plan::plan(import, self.selected(import)?);
        if let Some(style) = self.python {
            let code = python::module(&model, import, (style, self.options.client), &self.source);
            return Ok(Generated { code, files: files(import), omitted: model.omitted().collect() });
        }
        sharing::share(&mut model);
        boxing::break_cycles(&mut model);
        number_records::find(&mut model);
        defaults::find(&mut model);
        if self.unknown_enum_values {
            open::enumerations(&mut model);
        }
        model.find_responses();
        let wsdl = if self.embeds_wsdl { import.files().unwrap_or_default() } else { Vec::new() };
        let code = render::text(render::tokens(&model, self.options, &wsdl), self.is_file)?;
        Ok(Generated { code, files: files(import), omitted: model.omitted().collect() })
    }

    /// Returns the named operations and types; `None` for all.
    fn selected(&self, import: &Import) -> Result<Option<Selection>, Error> {
        let mut operations = HashSet::new();
        for name in &self.operations {
            let found = import.definitions().bound_operations(name);
            if found.is_empty() {
                return Err(Error::NoOperation {
                    name: name.clone(),
                    known: operations_like(name, import.definitions()),
                });
            }
            operations.extend(found);
        }
        let mut selection = Selection { operations, types: Vec::new(), elements: Vec::new() };
        self.types.iter().try_for_each(|name| selection.add(import.schemas(), name))?;
        Ok(Some(selection).filter(|_| !(self.operations.is_empty() && self.types.is_empty())))
    }

    /// Generates the code, writes the file, and tells Cargo which files to watch. For build
    /// scripts. Operations that are left out are reported as Cargo warnings, each with the reason.
    ///
    /// # Errors
    /// Same as [`generate`](Self::generate), and if the file cannot be written.
    pub fn build(&self) -> Result<(), Error> {
        let generated = self.generate()?;
        for file in &generated.files {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        for omitted in &generated.omitted {
            // Names in the WSDL must not be able to add lines for Cargo.
            println!("cargo::warning={}", format!("{}: left out: {omitted}", self.output_name()).escape_debug());
        }
        let folder = self.out_dir.clone().or_else(|| std::env::var_os("OUT_DIR").map(PathBuf::from));
        let path = folder.ok_or(Error::NoOutDir)?.join(self.output_name());
        std::fs::write(&path, generated.code).map_err(|error| Error::Write(path, error))
    }

    fn output_name(&self) -> String {
        let stem = || Path::new(&self.source).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let extension = match self.python {
            None => "rs",
            Some(Python::Stub) => "pyi",
            Some(Python::Dataclasses | Python::Pydantic) => "py",
        };
        let by_default = || format!("{}.{extension}", stem().unwrap_or_else(|| "service".to_owned()));
        self.file_name.clone().unwrap_or_else(by_default)
    }
}

/// Returns the files of an import.
fn files(import: &Import) -> Vec<PathBuf> {
    let files = import.documents().filter_map(|document| match document {
        Location::File(path) => Some(path.clone()),
        _ => None,
    });
    files.collect()
}

/// Returns the names of all bound operations, the most similar to a name first.
fn operations_like(name: &str, definitions: &Definitions) -> Vec<String> {
    let of_binding = |binding: &Binding| {
        let declared = &definitions.port_types[binding.port_type].operations;
        binding.operations.iter().map(|bound| declared[bound.operation].name.to_string()).collect::<Vec<_>>()
    };
    let mut names: Vec<_> = definitions.bindings.iter().flat_map(of_binding).collect();
    names.sort_unstable();
    names.dedup();
    // Without the port.
    let wanted = name.rsplit(['.', '/']).next().unwrap_or(name).to_lowercase();
    names.sort_by_cached_key(|name| strsim::damerau_levenshtein(&wanted, &name.to_lowercase()));
    names
}

/// The result of a [`Builder`].
#[derive(Debug, Clone)]
pub struct Generated {
    /// The Rust or Python code.
    pub code: String,
    /// The files that it was generated from.
    pub files: Vec<PathBuf>,
    /// Operations that were left out, each with the reason.
    pub omitted: Vec<String>,
}
