//! Any bytes as a WSDL: it imports within small limits or is refused, with the same result twice.
//! The lowered types can be followed to every element, and every empty value of them can be
//! encoded.

#![no_main]

use deltasoap_core::encode::Encoder;
use deltasoap_core::schema::{Element, View};
use deltasoap_core::{Content, QName, Value};
use deltasoap_wsdl::fetch::{Fetch, FetchError, Fetched, Location, Request};
use deltasoap_wsdl::{Import, Importer, Limits};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// Maximum number of elements that are checked.
const ELEMENTS: usize = 2000;

fuzz_target!(|input: &[u8]| {
    let import = import(input);
    let again = self::import(input);
    match (&import, &again) {
        (Ok(import), Ok(again)) => assert_eq!(import.notes(), again.notes()),
        (Err(error), Err(again)) => assert_eq!(error, again),
        _ => panic!("imported once and refused once"),
    }
    if let Ok(import) = import {
        follow(&import);
    }
});

/// The document answers for every URL, so that imports are followed.
fn import(input: &[u8]) -> Result<Import, deltasoap_wsdl::Error> {
    let limits = Limits { documents: 4, bytes: 1 << 20, particles: 20_000, components: 50_000, ..Limits::default() };
    let importer = Importer::new().limits(limits).fetch_with(Everywhere(input.into()));
    let url = url::Url::parse("http://h/a").expect("a URL");
    importer.bytes(Location::Web(url), input.to_vec())
}

struct Everywhere(Arc<[u8]>);

impl Fetch for Everywhere {
    fn fetch(&self, request: &Request<'_>) -> Result<Fetched, FetchError> {
        assert!(matches!(request.url.scheme(), "http" | "https"));
        Ok(Fetched { bytes: self.0.to_vec(), ..Fetched::default() })
    }
}

fn follow(import: &Import) {
    let lowered = import.lower();
    let globals = import.schemas().elements().filter_map(|(id, _)| lowered.element(id));
    let methods = lowered.operations.iter().filter_map(|operation| operation.method.as_ref().ok());
    let bodies = methods.flat_map(|method| [Some(method.element.request), method.element.response]).flatten();
    let mut ahead: Vec<View<'_>> = globals.chain(bodies).map(|reference| lowered.schema.view(reference)).collect();
    let mut seen = std::collections::HashSet::new();
    while let Some(view) = ahead.pop() {
        if seen.len() < ELEMENTS && seen.insert(std::ptr::from_ref(view.element).addr()) {
            write(view);
            match view.element {
                Element::Complex(complex) => {
                    ahead.extend(complex.fields.iter().map(|field| view.follow(field.element)))
                }
                Element::Array(array) => ahead.push(view.follow(array.item)),
                _ => {}
            }
        }
    }
}

fn write(view: View<'_>) {
    let mut encoder = Encoder::new();
    encoder.start(&QName::new("", "r"));
    Value::vacant(view).encode(&mut encoder, view);
    encoder.end();
    let _ = encoder.finish();
}
