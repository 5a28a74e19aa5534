//! Recorded vSphere `Fetch` calls: a client that polls properties of virtual machines and hosts.
//!
//! The requests share one skeleton and differ in two or three strings; the responses have from 376
//! bytes to 967 KB in 43 skeletons, with `xsi:type` everywhere. Source and licence:
//! `testdata/sequences/vsphere-fetch/README.md`; types: [`shapes`](crate::shapes).

use include_dir::{Dir, include_dir};

/// Number of pairs in [`fetch_pairs`].
pub const FETCH_PAIRS: usize = 292;

static FETCH: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/data/sequences/vsphere-fetch");

/// Returns all calls as (request, response), in recorded order, as the bytes of the HTTP bodies.
pub fn fetch_pairs() -> impl Iterator<Item = (&'static [u8], &'static [u8])> {
    (0..FETCH_PAIRS).filter_map(|index| Some((body(index, "request")?, body(index, "response")?)))
}

/// Returns the response with a tree of resource pools: 183 KB, and only its root has attributes.
pub fn resource() -> &'static [u8] {
    body(92, "response").unwrap_or_default()
}

/// Returns the response with a list of alarms: 68 KB, items with attributes of their own.
pub fn alarms() -> &'static [u8] {
    body(26, "response").unwrap_or_default()
}

/// Returns the response with the status of an entity: 434 bytes, most of them envelope.
pub fn status() -> &'static [u8] {
    body(18, "response").unwrap_or_default()
}

fn body(index: usize, kind: &str) -> Option<&'static [u8]> {
    let file = FETCH.get_file(format!("{index:04}.{kind}.xml"))?;
    Some(file.contents())
}

#[cfg(test)]
mod tests {
    use super::*;
    use roxmltree::Document;

    #[test]
    fn all_pairs_are_there_in_their_sizes() {
        let (requests, responses): (Vec<_>, Vec<_>) = fetch_pairs().unzip();
        assert_eq!(requests.len(), FETCH_PAIRS);
        assert_eq!(requests.concat().len(), 134_673);
        assert_eq!(responses.concat().len(), 1_894_194);
    }

    #[test]
    fn every_pair_is_a_fetch_and_its_response() {
        for (request, response) in fetch_pairs() {
            assert_eq!(body_entry(request), "Fetch");
            assert_eq!(body_entry(response), "FetchResponse");
        }
    }

    #[test]
    fn responses_are_of_their_types() {
        for (response, of) in
            [(resource(), "HostSystemResourceInfo"), (alarms(), "ArrayOfAlarmState"), (status(), "ManagedEntityStatus")]
        {
            let text = std::str::from_utf8(response).unwrap();
            assert!(text.contains(&format!("<returnval xsi:type=\"{of}\">")), "{of}");
        }
    }

    fn body_entry(message: &[u8]) -> String {
        let document = Document::parse(std::str::from_utf8(message).unwrap()).unwrap();
        let body = document.root_element().last_element_child().unwrap();
        body.first_element_child().unwrap().tag_name().name().to_owned()
    }
}
