//! The entry point: an importer with its settings, and the import that it returns.

use crate::document::Document;
use crate::fetch::{self, Catalog, Fetch, FetchError, Fetched, Location, Offline, Store, text, tree_of};
use crate::load::{self, Loader, Sources};
use crate::{
    Definitions, Error, ErrorKind, Limits, Lowered, Note, NoteKind, Place, Position, Schemas, compiled, lower,
    normalize, resolve, wsdl,
};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use url::Url;

/// Imports WSDLs and schemas.
///
/// ```
/// use deltasoap_wsdl::Importer;
///
/// let import = Importer::new().text("<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'/>")?;
/// assert!(import.notes().is_empty());
/// # Ok::<(), deltasoap_wsdl::Error>(())
/// ```
#[derive(Clone)]
pub struct Importer {
    limits: Limits,
    root: Option<PathBuf>,
    trusts_tree: bool,
    allows_private: bool,
    is_strict: bool,
    catalog: Catalog,
    fetch: Arc<dyn Fetch + Send + Sync>,
    is_offline: bool,
}

impl std::fmt::Debug for Importer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Importer { limits, root, trusts_tree, allows_private, is_strict, .. } = self;
        f.debug_struct("Importer")
            .field("limits", limits)
            .field("root", root)
            .field("trusts_tree", trusts_tree)
            .field("allows_private", allows_private)
            .field("is_strict", is_strict)
            .finish_non_exhaustive()
    }
}

impl Default for Importer {
    fn default() -> Self {
        Self::new()
    }
}

impl Importer {
    /// Creates an importer that fetches documents from the network if the feature `http` is
    /// enabled, and reads files below the folder of the first one.
    pub fn new() -> Self {
        #[cfg(feature = "http")]
        let fetch = Arc::new(crate::fetch::WebClient::default());
        #[cfg(not(feature = "http"))]
        let fetch = Arc::new(Offline);
        Importer {
            limits: Limits::default(),
            root: None,
            trusts_tree: false,
            allows_private: false,
            is_strict: false,
            catalog: Catalog::default(),
            fetch,
            is_offline: false,
        }
    }

    /// Sets the limits on an import.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Importer { limits, ..self }
    }

    /// Sets the folder that all files must be below, whatever names them. The default is the folder
    /// of the first file, or the imported directory.
    #[must_use]
    pub fn root(self, root: impl Into<PathBuf>) -> Self {
        Importer { root: Some(root.into()), ..self }
    }

    /// Allows files anywhere in the tree of the first one, so that `wsdl/shop.wsdl` may import
    /// `../xsd/types.xsd`. Meant for WSDLs that the user of a program names, not for WSDLs that
    /// others send.
    ///
    /// The tree is the first file's repository: the nearest folder above it with `.git`, `.hg`,
    /// `.svn`, `.bzr` or `.jj`. Without a repository it is the highest folder that is below the
    /// home directory, below the directory for temporary files, or two levels below the file
    /// system's root. Links do not lead out of the tree. [`root`](Self::root) takes precedence.
    #[must_use]
    pub fn trust_tree(self) -> Self {
        Importer { trusts_tree: true, ..self }
    }

    /// Disables the network.
    #[must_use]
    pub fn offline(self) -> Self {
        Importer { is_offline: true, ..self }
    }

    /// Fetches documents from the network with `fetch`.
    #[must_use]
    pub fn fetch_with(self, fetch: impl Fetch + Send + Sync + 'static) -> Self {
        Importer { fetch: Arc::new(fetch), ..self }
    }

    /// Lets documents and redirects name private addresses: loopback and local networks. Otherwise
    /// only the caller may name them, and documents from a private address may name others on the
    /// same host and port. A host name counts as the addresses that it resolves to.
    #[must_use]
    pub fn allow_private(self) -> Self {
        Importer { allows_private: true, ..self }
    }

    /// Reads a file wherever a document or the caller names this URL. The file is trusted like the
    /// first one; references in it are relative to it.
    ///
    /// # Errors
    /// Returns an error if the file does not exist.
    pub fn map(mut self, url: impl Into<String>, file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        let real = file.canonicalize().map_err(|error| unavailable(file, &error))?;
        self.catalog.map(url.into(), &real);
        Ok(self)
    }

    /// Replaces URLs and namespaces with files according to an XML catalog (OASIS XML Catalogs
    /// 1.1). The folders that the catalog names are trusted. Earlier catalogs and
    /// [`map`](Self::map) take precedence.
    ///
    /// # Errors
    /// Returns an error if the catalog cannot be read or leads to too many others. If a catalog
    /// that it names cannot be read, it is skipped with a [note](Import::notes).
    pub fn catalog(mut self, path: impl AsRef<Path>) -> Result<Self, Error> {
        self.catalog.read(path.as_ref(), &self.limits)?;
        Ok(self)
    }

    /// Turns references to undefined components, and definitions that differ between documents,
    /// into errors. Otherwise the import goes on without them and adds [notes](Import::notes).
    #[must_use]
    pub fn strict(self) -> Self {
        Importer { is_strict: true, ..self }
    }

    /// Imports a WSDL or a schema from a URL (`http`, `https`, `file`), a file, a directory or a
    /// zip archive, or a file written by [`Import::compile`].
    ///
    /// # Errors
    /// Returns an error if a document is unavailable or invalid.
    pub fn import(&self, source: &str) -> Result<Import, Error> {
        match Url::parse(source) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => self.url(url),
            Ok(url) if url.scheme() == "file" => match url.to_file_path() {
                Ok(path) => self.path(&path),
                Err(()) => Err(missing(source, "not the path of a file")),
            },
            Ok(url) if source.contains("://") => {
                Err(missing(fetch::shown(source), &format!("{} is none of http, https and file", url.scheme())))
            }
            Err(error) if source.starts_with("http://") || source.starts_with("https://") => {
                Err(missing(fetch::shown(source), &format!("the URL is malformed: {error}")))
            }
            _ => self.path(Path::new(source)),
        }
    }

    /// Imports a file, a directory or a zip archive.
    ///
    /// # Errors
    /// Same as [`import`](Self::import).
    pub fn path(&self, path: &Path) -> Result<Import, Error> {
        match path {
            path if path.is_dir() => self.directory(path),
            path if path.extension().is_some_and(|it| it.eq_ignore_ascii_case("zip")) => self.archive_file(path),
            path if path.is_file() || !path.exists() => self.file(path),
            // Pipes have no folder of their own.
            pipe => self.reader(std::fs::File::open(pipe).map_err(|error| unavailable(pipe, &error))?),
        }
    }

    /// Imports a document from a stream, such as standard input. References in it are relative to
    /// the working directory.
    ///
    /// # Errors
    /// Same as [`import`](Self::import), and if the stream cannot be read.
    pub fn reader(&self, reader: impl Read) -> Result<Import, Error> {
        const NAME: &str = "(stream)";
        let folder = std::env::current_dir().map_err(|error| missing(NAME, &error.to_string()))?;
        let bytes = read_whole(reader, NAME, ("document_bytes", self.limits.document_bytes))?;
        let mut store = self.store(Some(&folder))?;
        self.document(&mut store, Location::File(folder.join(NAME)), Fetched::text(bytes))
    }

    /// Imports a file.
    ///
    /// # Errors
    /// Same as [`import`](Self::import).
    pub fn file(&self, path: &Path) -> Result<Import, Error> {
        let real = path.canonicalize().map_err(|error| unavailable(path, &error))?;
        let folder = real.parent().unwrap_or(Path::new("/"));
        let mut store = self.store(Some(folder))?;
        let location = Location::File(real);
        let fetched = load::read(&mut store, &location)?;
        self.document(&mut store, location, fetched)
    }

    /// Imports all `.wsdl` files directly in a directory together; all `.xsd` files if there are
    /// none.
    ///
    /// # Errors
    /// Same as [`import`](Self::import).
    pub fn directory(&self, path: &Path) -> Result<Import, Error> {
        let real = path.canonicalize().map_err(|error| unavailable(path, &error))?;
        let mut files = files_in(&real, "wsdl").map_err(|error| unavailable(path, &error))?;
        if files.is_empty() {
            files = files_in(&real, "xsd").map_err(|error| unavailable(path, &error))?;
        }
        if files.is_empty() {
            return Err(missing(path.display(), "there is no .wsdl or .xsd file in it"));
        }
        let mut store = self.store(Some(&real))?;
        let mut loader = Loader::new(&mut store);
        files.into_iter().try_for_each(|file| loader.root(Location::File(file)))?;
        self.conclude(loader)
    }

    /// Imports a document from the network.
    ///
    /// # Errors
    /// Same as [`import`](Self::import).
    pub fn url(&self, mut url: Url) -> Result<Import, Error> {
        url.set_fragment(None);
        let mut store = self.store(None)?;
        let location = self.catalog.find(url.as_str()).unwrap_or(Location::Web(url));
        let fetched = load::read(&mut store, &location)?;
        self.document(&mut store, location, fetched)
    }

    /// Imports a document given as text. Relative references in it are not resolved.
    ///
    /// # Errors
    /// Returns an error if the document, or one that it imports, is invalid or unavailable.
    pub fn text(&self, text: &str) -> Result<Import, Error> {
        self.bytes(Location::Text("the given text".to_owned()), text.as_bytes().to_vec())
    }

    /// Imports a document given as bytes, as if it were at `location`.
    ///
    /// # Errors
    /// Returns an error if the document, or one that it imports, is invalid or unavailable.
    pub fn bytes(&self, location: Location, bytes: Vec<u8>) -> Result<Import, Error> {
        let mut store = self.store(None)?;
        self.document(&mut store, location, Fetched::text(bytes))
    }

    /// Imports all `.wsdl` entries of a zip archive together; all `.xsd` entries if there are none.
    ///
    /// # Errors
    /// Returns an error if the archive or a document in it is invalid.
    #[cfg(feature = "archive")]
    pub fn archive(&self, bytes: Vec<u8>) -> Result<Import, Error> {
        let archive = zip::ZipArchive::new(std::io::Cursor::new(bytes));
        let archive = archive.map_err(|error| missing("the archive", &error.to_string()))?;
        let names = |ending: &str| {
            // Some archivers write backslashes although the format does not allow them.
            let names = archive.file_names().filter_map(|name| Some(name.ok()?.replace('\\', "/")));
            let is_one = |name: &String| {
                let file = name.rsplit('/').next().unwrap_or_default();
                name.to_ascii_lowercase().ends_with(ending) && !is_apple_double(file)
            };
            let mut names: Vec<String> = names.filter(is_one).collect();
            names.sort_unstable();
            names
        };
        let entries = Some(names(".wsdl")).filter(|names| !names.is_empty()).unwrap_or_else(|| names(".xsd"));
        if entries.is_empty() {
            return Err(missing("the archive", "there is no .wsdl or .xsd entry in it"));
        }
        let mut store = self.store(None)?;
        store.archive = Some(archive);
        let mut loader = Loader::new(&mut store);
        entries.into_iter().try_for_each(|entry| loader.root(Location::Entry(entry)))?;
        self.conclude(loader)
    }

    #[cfg(feature = "archive")]
    fn archive_file(&self, path: &Path) -> Result<Import, Error> {
        let file = std::fs::File::open(path).map_err(|error| unavailable(path, &error))?;
        self.archive(read_whole(file, path.display(), ("bytes", self.limits.bytes))?)
    }

    #[cfg(not(feature = "archive"))]
    fn archive_file(&self, path: &Path) -> Result<Import, Error> {
        Err(missing(path.display(), "built without the feature `archive`"))
    }

    /// Imports one document with everything that it imports, or a compiled import, which is
    /// complete.
    fn document(&self, store: &mut Store<'_>, location: Location, fetched: Fetched) -> Result<Import, Error> {
        if compiled::is_compiled(&fetched.bytes) {
            return self.compiled(&location, &fetched.bytes);
        }
        let mut loader = Loader::new(store);
        loader.root_fetched(location, fetched)?;
        self.conclude(loader)
    }

    fn compiled(&self, location: &Location, bytes: &[u8]) -> Result<Import, Error> {
        let position = || Some(Position { document: location.to_string(), line: 0, column: 0 });
        let parts = compiled::read(bytes, &self.limits);
        let parts = parts.map_err(|fault| Error::new(ErrorKind::Compiled(fault), position()))?;
        let compiled::CompiledContent { documents, schemas, definitions, notes, lowered } = parts;
        match notes.iter().find(|note| self.is_strict && note.kind == NoteKind::Missing) {
            Some(note) => Err(Error::new(ErrorKind::Invalid(note.text.clone()), Some(note.position.clone()))),
            None => {
                let (limits, lowered) = (self.limits, Some(lowered));
                Ok(Import { schemas, definitions, notes, limits, documents, base: None, lowered })
            }
        }
    }

    fn conclude(&self, loader: Loader<'_, '_>) -> Result<Import, Error> {
        let base = loader.base();
        let mut import = Import::of(Sources { is_strict: self.is_strict, ..loader.finish()? }, base)?;
        import.notes.extend_from_slice(self.catalog.notes());
        Ok(import)
    }

    fn store(&self, folder: Option<&Path>) -> Result<Store<'_>, Error> {
        let root = match &self.root {
            Some(root) => Some(root.canonicalize().map_err(|error| unavailable(root, &error))?),
            None if self.trusts_tree => folder.map(tree_of),
            None => folder.map(Path::to_owned),
        };
        Ok(Store {
            fetch: if self.is_offline { &Offline } else { &*self.fetch },
            base: self.root.as_ref().and(root.clone()).or_else(|| folder.map(Path::to_owned)),
            roots: root.into_iter().chain(self.mapped_folders()).collect(),
            catalog: &self.catalog,
            #[cfg(feature = "archive")]
            archive: None,
            allows_private: self.allows_private,
            limits: self.limits,
            bytes: 0,
        })
    }

    /// Returns the folders of the files that replace URLs and namespaces.
    fn mapped_folders(&self) -> Vec<PathBuf> {
        let (named, others) = self.catalog.folders();
        let named = named.into_iter().map(|folder| if self.trusts_tree { tree_of(&folder) } else { folder });
        named.chain(others).collect()
    }
}

/// Returns the files of a directory that have an extension, sorted.
fn files_in(folder: &Path, extension: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let is_other = path.file_name().is_some_and(|name| is_apple_double(&name.to_string_lossy()));
        if path.extension().is_some_and(|it| it.eq_ignore_ascii_case(extension)) && !is_other {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Returns true for the files in which macOS stores attributes of others (AppleDouble).
fn is_apple_double(file: &str) -> bool {
    file.starts_with("._")
}

/// Reads all bytes of a document, up to a limit.
fn read_whole(
    reader: impl Read,
    document: impl ToString,
    (name, most): (&'static str, usize),
) -> Result<Vec<u8>, Error> {
    fetch::bounded(reader, most).map_err(|error| match error {
        FetchError::TooLarge(..) => {
            let position = Position { document: document.to_string(), line: 0, column: 0 };
            Error::new(ErrorKind::Limit { name, limit: most as u64 }, Some(position))
        }
        error => missing(document, &error.to_string()),
    })
}

fn unavailable(path: &Path, error: &std::io::Error) -> Error {
    missing(path.display(), &error.to_string())
}

fn missing(document: impl ToString, why: &str) -> Error {
    let position = Position { document: document.to_string(), line: 0, column: 0 };
    Error::new(ErrorKind::Fetch(FetchError::Unavailable(why.to_owned())), Some(position))
}

/// Returns the innermost folder that contains a folder and a file.
fn around<'a>(mut folder: &'a Path, file: &Path) -> &'a Path {
    while let (false, Some(parent)) = (file.starts_with(folder), folder.parent()) {
        folder = parent;
    }
    folder
}

/// Returns a file's path within a folder, with `/` as separator.
fn relative(folder: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(folder).ok()?.components().map(Component::as_os_str);
    Some(parts.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/"))
}

/// An imported WSDL or schema.
pub struct Import {
    pub(crate) schemas: Schemas,
    pub(crate) definitions: Definitions,
    pub(crate) notes: Vec<Note>,
    limits: Limits,
    pub(crate) documents: Vec<Document>,
    /// The folder that paths in compiled files are relative to.
    base: Option<PathBuf>,
    /// The engine's schema, if the import came with one.
    lowered: Option<Lowered>,
}

impl std::fmt::Debug for Import {
    /// Prints only the documents and notes: the rest can be megabytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let documents: Vec<&Location> = self.documents().collect();
        f.debug_struct("Import").field("documents", &documents).field("notes", &self.notes).finish_non_exhaustive()
    }
}

impl Import {
    fn of(mut sources: Sources, base: Option<PathBuf>) -> Result<Self, Error> {
        let mut schemas = resolve::resolve(&mut sources)?;
        normalize::normalize(&mut sources, &mut schemas)?;
        let definitions = wsdl::read(&mut sources, &schemas)?;
        let notes = std::mem::take(&mut sources.notes).into_iter();
        let notes = notes.map(|(kind, text, place)| Note { kind, text, position: sources.position(place) }).collect();
        let Sources { limits, documents, .. } = sources;
        Ok(Import { schemas, definitions, notes, limits, documents, base, lowered: None })
    }

    /// Returns types, elements, and everything else that schemas define.
    pub fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    /// Returns services, bindings, and everything else that WSDLs define.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Returns the engine's schema, with all operations.
    pub fn lower(&self) -> Lowered {
        self.lowered.clone().unwrap_or_else(|| lower::lower(self))
    }

    /// Like [`lower`](Self::lower), without a copy: moves the schema out of an import that came
    /// from a compiled file.
    pub fn take_lowered(&mut self) -> Lowered {
        self.lowered.take().unwrap_or_else(|| lower::lower(self))
    }

    /// Encodes the import as a file that an [`Importer`] accepts in place of its documents and
    /// loads several times faster. The file has everything needed to describe, call, mock, validate
    /// and generate. It leaves out the schemas' groups, and what a complex type adds to its base
    /// type ([`Schemas::content`] has the complete content).
    ///
    /// The file holds the locations of the documents: files relative to the folder of the first one
    /// or to [`Importer::root`], URLs without a password. So its content does not depend on where
    /// the documents are. Only the format version that wrote it can read it.
    pub fn compile(&self) -> Vec<u8> {
        let base = self.base.as_deref();
        match &self.lowered {
            Some(lowered) => compiled::write(self, base, lowered),
            None => compiled::write(self, base, &lower::lower(self)),
        }
    }

    /// Returns the limits of the import.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns what the import skipped or read more leniently than the standards do.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the locations of all documents that were read, including built-in ones.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = &Location> {
        self.documents.iter().map(|document| &document.location)
    }

    /// Returns the names and texts of the documents, to be served again: the WSDL first, then those
    /// that it imports. Names are paths relative to the innermost folder that contains all of them,
    /// with `/`, as the documents refer to each other. The files are read again.
    ///
    /// Returns `None` if the WSDL did not come from a file, or a file cannot be read or is not
    /// text.
    pub fn files(&self) -> Option<Vec<(String, String)>> {
        let Location::File(main) = self.documents().next()? else { return None };
        let files: Vec<&PathBuf> = self
            .documents()
            .filter_map(|location| match location {
                Location::File(path) => Some(path),
                _ => None,
            })
            .collect();
        let folder = files.iter().fold(main.parent()?, |folder, file| around(folder, file));
        files.iter().map(|path| Some((relative(folder, path)?, text(&std::fs::read(path).ok()?)?))).collect()
    }

    /// Returns document, line and column of a place.
    ///
    /// # Panics
    /// Panics if the place belongs to another import.
    pub fn position(&self, place: Place) -> Position {
        self.documents[place.document as usize].position(place.offset)
    }
}
