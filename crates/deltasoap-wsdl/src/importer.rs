//! The way in: an importer with its rules, and what an import gives.

use crate::document::Document;
use crate::fetch::{self, Catalog, Fetch, FetchError, Fetched, Location, Offline, Store, tree_of};
use crate::load::{self, Loader, Sources};
use crate::{
    Definitions, Error, ErrorKind, Limits, Lowered, Note, NoteKind, Place, Position, Schemas, compiled, lower,
    normalize, resolve, wsdl,
};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use url::Url;

/// Imports descriptions.
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
    /// An importer that gets documents from the network, if the feature `http` is there, and reads
    /// files below the folder of the first one.
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
        }
    }

    /// Bounds on an import.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Importer { limits, ..self }
    }

    /// The folder that files must be below, whatever names them. By default that of the first file,
    /// or the directory imported.
    #[must_use]
    pub fn root(self, root: impl Into<PathBuf>) -> Self {
        Importer { root: Some(root.into()), ..self }
    }

    /// Lets files be anywhere in the tree of the first one, so that `wsdl/shop.wsdl` may import
    /// `../xsd/types.xsd`. Meant for descriptions that the user of a program names himself, not for
    /// those that others send.
    ///
    /// The tree is the first file's repository: the nearest folder above it with `.git`, `.hg`,
    /// `.svn`, `.bzr` or `.jj`. Without one it is the highest folder that is below the home
    /// directory, below that for temporary files, or two levels below the file system's root. Links
    /// do not lead out of it. [`root`](Self::root) takes precedence.
    #[must_use]
    pub fn trust_tree(self) -> Self {
        Importer { trusts_tree: true, ..self }
    }

    /// Never uses the network.
    #[must_use]
    pub fn offline(self) -> Self {
        self.fetch_with(Offline)
    }

    /// Gets documents from the network by other means.
    #[must_use]
    pub fn fetch_with(self, fetch: impl Fetch + Send + Sync + 'static) -> Self {
        Importer { fetch: Arc::new(fetch), ..self }
    }

    /// Lets documents, and redirects, name private addresses: loopback, local networks. Else only
    /// the caller may, and documents that come from one on the same host and port. A host's name
    /// counts as what it resolves to.
    #[must_use]
    pub fn allow_private(self) -> Self {
        Importer { allows_private: true, ..self }
    }

    /// Reads a file wherever a document, or the caller, names this URL. The file is trusted as the
    /// first one is; what it names itself is relative to it.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn map(mut self, url: impl Into<String>, file: impl AsRef<Path>) -> Result<Self, Error> {
        let file = file.as_ref();
        let real = file.canonicalize().map_err(|error| unavailable(file, &error))?;
        self.catalog.map(url.into(), &real);
        Ok(self)
    }

    /// Reads files in the place of URLs and namespaces as an XML catalog says (OASIS XML Catalogs
    /// 1.1). The folders that it names are trusted. Earlier catalogs, and [`map`](Self::map), come
    /// first.
    ///
    /// # Errors
    /// When it cannot be read, or leads to too many others. One that it names and that cannot be
    /// read is passed over, with a [note](Import::notes).
    pub fn catalog(mut self, path: impl AsRef<Path>) -> Result<Self, Error> {
        self.catalog.read(path.as_ref(), &self.limits)?;
        Ok(self)
    }

    /// Makes errors of references to what no document defines, and of definitions that differ
    /// between documents. Else the import goes on without, and says so in its
    /// [notes](Import::notes).
    #[must_use]
    pub fn strict(self) -> Self {
        Importer { is_strict: true, ..self }
    }

    /// Imports a WSDL or a schema from a URL (`http`, `https`, `file`), a file, a directory or a
    /// zip archive; also a file that [`Import::compile`] made.
    ///
    /// # Errors
    /// When it cannot be had, or is at fault.
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
    /// As [`import`](Self::import).
    pub fn path(&self, path: &Path) -> Result<Import, Error> {
        match path {
            path if path.is_dir() => self.directory(path),
            path if path.extension().is_some_and(|it| it.eq_ignore_ascii_case("zip")) => self.archive_file(path),
            path if path.is_file() || !path.exists() => self.file(path),
            // Pipes have no place of their own.
            pipe => self.reader(std::fs::File::open(pipe).map_err(|error| unavailable(pipe, &error))?),
        }
    }

    /// Imports a document from a stream, such as standard input. What it names is relative to the
    /// working directory.
    ///
    /// # Errors
    /// As [`import`](Self::import), and when the stream cannot be read.
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
    /// As [`import`](Self::import).
    pub fn file(&self, path: &Path) -> Result<Import, Error> {
        let real = path.canonicalize().map_err(|error| unavailable(path, &error))?;
        let folder = real.parent().unwrap_or(Path::new("/"));
        let mut store = self.store(Some(folder))?;
        let location = Location::File(real);
        let fetched = load::read(&mut store, &location)?;
        self.document(&mut store, location, fetched)
    }

    /// Imports every `.wsdl` file right in a directory, together; every `.xsd` if there is none.
    ///
    /// # Errors
    /// As [`import`](Self::import).
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
    /// As [`import`](Self::import).
    pub fn url(&self, mut url: Url) -> Result<Import, Error> {
        url.set_fragment(None);
        let mut store = self.store(None)?;
        let location = self.catalog.find(url.as_str()).unwrap_or(Location::Web(url));
        let fetched = load::read(&mut store, &location)?;
        self.document(&mut store, location, fetched)
    }

    /// Imports a document that is at hand. Relative references in it go nowhere.
    ///
    /// # Errors
    /// When the document, or one that it imports, is at fault.
    pub fn text(&self, text: &str) -> Result<Import, Error> {
        self.bytes(Location::Text("the given text".to_owned()), text.as_bytes().to_vec())
    }

    /// Imports a document whose bytes are at hand, as if it were found at a location.
    ///
    /// # Errors
    /// When the document, or one that it imports, is at fault.
    pub fn bytes(&self, location: Location, bytes: Vec<u8>) -> Result<Import, Error> {
        let mut store = self.store(None)?;
        self.document(&mut store, location, Fetched::text(bytes))
    }

    /// Imports every `.wsdl` entry of a zip archive, together; every `.xsd` if there is none.
    ///
    /// # Errors
    /// When the archive or a document in it is at fault.
    #[cfg(feature = "archive")]
    pub fn archive(&self, bytes: Vec<u8>) -> Result<Import, Error> {
        let archive = zip::ZipArchive::new(std::io::Cursor::new(bytes));
        let archive = archive.map_err(|error| missing("the archive", &error.to_string()))?;
        let names = |ending: &str| {
            // Some archivers write backslashes, in spite of the format.
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

    /// One document with all that it imports, or a compiled import, which is whole.
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
        let compiled::Parts { documents, schemas, definitions, notes, lowered } = parts;
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
            fetch: &*self.fetch,
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

    /// Where files are that stand for what others name.
    fn mapped_folders(&self) -> Vec<PathBuf> {
        let (named, others) = self.catalog.folders();
        let named = named.into_iter().map(|folder| if self.trusts_tree { tree_of(&folder) } else { folder });
        named.chain(others).collect()
    }
}

/// The files of a directory with an extension, sorted.
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

/// True for the files that macOS puts beside others for their attributes (AppleDouble).
fn is_apple_double(file: &str) -> bool {
    file.starts_with("._")
}

/// All bytes of a document, within a limit.
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

/// What a description says.
pub struct Import {
    pub(crate) schemas: Schemas,
    pub(crate) definitions: Definitions,
    pub(crate) notes: Vec<Note>,
    limits: Limits,
    pub(crate) documents: Vec<Document>,
    /// The folder that compiled files name others from.
    base: Option<PathBuf>,
    /// The engine's schema, where it came with the import.
    lowered: Option<Lowered>,
}

impl std::fmt::Debug for Import {
    /// Names the documents only: there may be megabytes of the rest.
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

    /// Types, elements, and all else that schemas define.
    pub fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    /// Services, bindings, and all else that descriptions define.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The schema that the engine reads, with all operations.
    pub fn lower(&self) -> Lowered {
        self.lowered.clone().unwrap_or_else(|| lower::lower(self))
    }

    /// As [`lower`](Self::lower), without a copy: an import from a compiled file has its schema
    /// already, and gives it away.
    pub fn take_lowered(&mut self) -> Lowered {
        self.lowered.take().unwrap_or_else(|| lower::lower(self))
    }

    /// The import as a file that an [`Importer`] takes in the place of its documents, and reads
    /// several times faster. All is in it that is needed to describe, call, mock, validate and
    /// generate. Left out are the schemas' groups, and what a complex type gives beyond its base
    /// ([`Schemas::content`] has it all).
    ///
    /// The file holds the locations of the documents: files relative to the folder of the first
    /// one, or to [`Importer::root`], URLs without a password. So it is the same wherever the
    /// documents are. Only the version of this library's format that wrote it reads it.
    pub fn compile(&self) -> Vec<u8> {
        let base = self.base.as_deref();
        match &self.lowered {
            Some(lowered) => compiled::write(self, base, lowered),
            None => compiled::write(self, base, &lower::lower(self)),
        }
    }

    /// The limits that it was imported within.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What was passed over, or read more generously than the standards do.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The locations of all documents that were read, built-in ones included.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = &Location> {
        self.documents.iter().map(|document| &document.location)
    }

    /// Where something is, for people.
    ///
    /// # Panics
    /// When the place is one of another import.
    pub fn position(&self, place: Place) -> Position {
        self.documents[place.document as usize].position(place.offset)
    }
}
