//! The documents of a WSDL, to be served again: those from the network are kept while the WSDL is
//! imported, files are read anew.

use deltasoap_http::{SoapService, SoapServiceBuilder};
use deltasoap_wsdl::Import;
use deltasoap_wsdl::fetch::{Fetch, FetchError, Fetched, Request, text};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use url::Url;

/// Documents by their URLs, in the order of the requests for them: the WSDL comes first.
#[derive(Debug, Clone, Default)]
pub struct Documents(Arc<Mutex<Vec<(Url, String)>>>);

/// Fetches documents, and keeps those that are text.
#[derive(Debug)]
pub struct Keeping<F> {
    inner: F,
    documents: Documents,
}

impl Documents {
    /// Returns a client whose documents are kept here.
    pub fn kept_by<F>(&self, inner: F) -> Keeping<F> {
        Keeping { inner, documents: self.clone() }
    }

    fn all(&self) -> Vec<(Url, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Creates a service that serves the WSDL from this URL with its imports; `None` if the WSDL
    /// did not come from there.
    pub fn described(&self, source: &str) -> Option<SoapServiceBuilder> {
        let all = self.all();
        let ((main, text), others) = all.split_first()?;
        if *main != Url::parse(source).ok()? {
            return None;
        }
        let folder = all.iter().fold(main.join(".").ok()?, |folder, (url, _)| common(folder, url));
        let own = main.as_str().strip_prefix(folder.as_str()).unwrap_or_default();
        let own = own.split('?').next().unwrap_or_default();
        let described = SoapService::builder().wsdl_named(own, text);
        let named = others.iter().map(|(url, text)| (name(&folder, url, &all), text));
        Some(named.fold(described, |builder, (name, text)| builder.wsdl_document(name, text)))
    }
}

/// Returns the innermost folder that contains a folder and a document of the same host; the folder
/// itself for a document of another host.
fn common(folder: Url, url: &Url) -> Url {
    if folder.origin() != url.origin() {
        return folder;
    }
    let mut around = folder;
    while !url.path().starts_with(around.path()) {
        match around.join("..") {
            Ok(parent) if parent != around => around = parent,
            _ => break,
        }
    }
    around
}

/// Returns the name by which documents refer to a URL: relative to a folder that contains all of
/// them, unless one of them contains the full URL.
fn name(folder: &Url, url: &Url, all: &[(Url, String)]) -> String {
    let is_named_whole = all.iter().any(|(_, text)| text.contains(url.as_str()));
    let relative = url.as_str().strip_prefix(folder.as_str());
    relative.filter(|_| !is_named_whole).unwrap_or(url.as_str()).to_owned()
}

/// Creates a service that serves the WSDL of a file with the files that it imports, wherever they
/// are; `None` if that is not possible.
pub fn builder_from_files(main: &Path, import: &Import) -> Option<SoapServiceBuilder> {
    let mut files = import.files(main)?.into_iter();
    let (name, text) = files.next()?;
    let described = SoapService::builder().wsdl_named(name, text);
    Some(files.fold(described, |builder, (name, text)| builder.wsdl_document(name, text)))
}

impl<F: Fetch> Fetch for Keeping<F> {
    fn fetch(&self, request: &Request<'_>) -> Result<Fetched, FetchError> {
        let fetched = self.inner.fetch(request)?;
        if let Some(text) = text(&fetched.bytes) {
            let mut documents = self.documents.0.lock().unwrap_or_else(PoisonError::into_inner);
            documents.push((request.url.clone(), text));
        }
        Ok(fetched)
    }
}
