//! The documents of a WSDL from the network, kept while it is imported, to be served again.

use deltasoap_http::{ServiceBuilder, SoapService};
use deltasoap_wsdl::fetch::{Fetch, FetchError, Fetched, Request};
use std::sync::{Arc, Mutex, PoisonError};
use url::Url;

/// Documents by their URLs, in the order in which they were asked for: the WSDL comes first.
#[derive(Debug, Clone, Default)]
pub struct Documents(Arc<Mutex<Vec<(Url, String)>>>);

/// Gets documents, and keeps those that are text in UTF-8.
#[derive(Debug)]
pub struct Keeping<F> {
    inner: F,
    documents: Documents,
}

impl Documents {
    /// A client whose documents are kept here.
    pub fn kept_by<F>(&self, inner: F) -> Keeping<F> {
        Keeping { inner, documents: self.clone() }
    }

    fn all(&self) -> Vec<(Url, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A service that gives the WSDL from this URL with what it imports; `None` if it did not come from there.
    pub fn described(&self, source: &str) -> Option<ServiceBuilder> {
        let all = self.all();
        let ((main, text), others) = all.split_first()?;
        if *main != Url::parse(source).ok()? {
            return None;
        }
        let named = others.iter().map(|(url, text)| (name(main, url, &all), text));
        let described = SoapService::builder().wsdl(text);
        Some(named.fold(described, |builder, (name, text)| builder.wsdl_document(name, text)))
    }
}

/// What documents call a URL: relative to that of the WSDL, unless one of them has all of it.
fn name(main: &Url, url: &Url, all: &[(Url, String)]) -> String {
    let is_named_whole = all.iter().any(|(_, text)| text.contains(url.as_str()));
    let folder = main.join(".").ok();
    let relative = folder.as_ref().and_then(|folder| url.as_str().strip_prefix(folder.as_str()));
    relative.filter(|_| !is_named_whole).unwrap_or(url.as_str()).to_owned()
}

impl<F: Fetch> Fetch for Keeping<F> {
    fn fetch(&self, request: &Request<'_>) -> Result<Fetched, FetchError> {
        let fetched = self.inner.fetch(request)?;
        if let Ok(text) = String::from_utf8(fetched.bytes.clone()) {
            let mut documents = self.documents.0.lock().unwrap_or_else(PoisonError::into_inner);
            documents.push((request.url.clone(), text));
        }
        Ok(fetched)
    }
}
