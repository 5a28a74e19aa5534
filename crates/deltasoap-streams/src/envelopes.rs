//! Single messages of many toolkits: for tests that need variety, not a stream.
//!
//! The files of `testdata/messages` with the columns of its `INDEX.tsv`. The `README.md` there
//! explains the columns, and lists the sources and licences of the files.

use include_dir::{Dir, include_dir};

static MESSAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/data/messages");

/// A message and its entry in the index.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    /// Path below `testdata/messages`: `OWNER+REPOSITORY/` and the path there.
    pub path: &'static str,
    /// SOAP version by the envelope's namespace: `1.1` or `1.2`.
    pub soap: &'static str,
    /// Toolkit or service that the message belongs to.
    pub source: &'static str,
    /// `request`, `response` or `fault`.
    pub kind: &'static str,
    /// Local name of the first body entry; `-` for an empty body.
    pub body: &'static str,
    /// Notable features for a parser, separated by commas; `-` for none.
    pub features: &'static str,
    /// The message, byte for byte.
    pub content: &'static [u8],
}

impl Envelope {
    /// Returns true if `feature` is among the features.
    #[must_use]
    pub fn has(&self, feature: &str) -> bool {
        self.features.split(',').any(|named| named == feature)
    }
}

/// Returns all messages, in the order of their paths.
pub fn envelopes() -> impl Iterator<Item = Envelope> {
    let index = MESSAGES.get_file("INDEX.tsv").and_then(|file| file.contents_utf8());
    index.unwrap_or_default().lines().skip(1).filter_map(envelope)
}

fn envelope(line: &'static str) -> Option<Envelope> {
    let mut columns = line.split('\t');
    let path = columns.next()?;
    let _bytes = columns.next()?;
    Some(Envelope {
        path,
        soap: columns.next()?,
        source: columns.next()?,
        kind: columns.next()?,
        body: columns.next()?,
        features: columns.next()?,
        content: MESSAGES.get_file(path)?.contents(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use roxmltree::Document;

    #[test]
    fn every_line_of_the_index_has_its_message() {
        assert_eq!(envelopes().count(), 182);
    }

    #[test]
    fn every_message_is_a_well_formed_envelope_of_its_version() {
        for envelope in envelopes() {
            let text = std::str::from_utf8(envelope.content).unwrap();
            let document = Document::parse(text).unwrap_or_else(|error| panic!("{}: {error}", envelope.path));
            let namespace = match envelope.soap {
                "1.1" => "http://schemas.xmlsoap.org/soap/envelope/",
                _ => "http://www.w3.org/2003/05/soap-envelope",
            };
            assert!(document.root_element().has_tag_name((namespace, "Envelope")), "{}", envelope.path);
        }
    }

    #[test]
    fn faults_and_only_faults_have_a_fault_in_the_body() {
        for envelope in envelopes() {
            assert_eq!(envelope.kind == "fault", envelope.body == "Fault", "{}", envelope.path);
        }
    }

    #[test]
    fn features_are_found_by_their_whole_name() {
        assert!(envelopes().any(|envelope| envelope.has("nil")));
        assert!(!envelopes().any(|envelope| envelope.has("ni")));
    }
}
