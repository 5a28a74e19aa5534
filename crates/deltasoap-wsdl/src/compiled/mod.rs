//! Compiled imports: files with an import and its schema, which load much faster than the original
//! documents.
//!
//! ```text
//! magic      8 bytes    \x89 D S W S D L \n
//! version    4 bytes    little-endian, as the numbers below
//! checksum   4 bytes    CRC-32 of the content
//! length     8 bytes    bytes of the content
//! content               texts, counts of components, documents, schemas, definitions, notes, the engine's schema
//! ```
//!
//! Each text is stored once and has a number; components refer to each other by number, just as in
//! memory. So reading is one pass without lookups by name. The content does not depend on where the
//! file was made (`paths`): the same documents give the same bytes.
//!
//! The checksum detects accidental changes. It makes nothing in a file trusted: every reference is
//! checked against the number of components (`reader`), everything else that users of the model
//! rely on is checked at the end (`check`), and texts and items count against the importer's
//! [`Limits`]. A file of another version is refused; it has to be made again.
//!
//! The format is our own, because whatever a model's users rely on must be checked in any case,
//! which is most of the work. Serializers that read in place would need `unsafe`, or another model
//! for reading. Those based on `serde` do not share texts (a namespace is in every name), follow
//! whatever depth a file claims, and would put derives on the schema classes.

mod check;
mod definitions;
mod lowered;
mod paths;
mod reader;
mod schemas;
mod stored;
mod writer;

use crate::document::Document;
use crate::fetch::Location;
use crate::{Definitions, Import, Limits, Lowered, Note, Schemas};
use paths::RelativePaths;
use reader::{Counts, Reader};
use std::fmt;
use std::path::Path;
use stored::{Stored, stored_enum, stored_struct};
use writer::Writer;

/// First bytes of compiled WSDLs. No document begins with them: they are not text.
const MAGIC: [u8; 8] = *b"\x89DSWSDL\n";
/// Version of the format that is written, and the only one that is read.
const VERSION: u32 = 18;
/// Number of bytes before the content.
const HEADER: usize = 24;

/// Error of a compiled WSDL that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The file has another version.
    Version(u32),
    /// The file is too short.
    Truncated,
    /// The checksum does not match the content.
    Checksum,
    /// The content is invalid.
    Content(&'static str),
    /// A limit of [`Limits`] is exceeded.
    Limit(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Version(version) => {
                write!(f, "the compiled WSDL has version {version}, but this library reads version {VERSION}")?;
                f.write_str(": compile the WSDL again")
            }
            Fault::Truncated => f.write_str("the compiled WSDL is incomplete"),
            Fault::Checksum => f.write_str("the compiled WSDL does not match its checksum"),
            Fault::Content(what) => write!(f, "the compiled WSDL is invalid: {what}"),
            Fault::Limit(name) => write!(f, "the compiled WSDL exceeds the limit `{name}`"),
        }
    }
}

/// The content of a file.
#[derive(Debug)]
pub(crate) struct CompiledContent {
    pub(crate) documents: Vec<Document>,
    pub(crate) schemas: Schemas,
    pub(crate) definitions: Definitions,
    pub(crate) notes: Vec<Note>,
    pub(crate) lowered: Lowered,
}

/// Returns true if bytes begin like a compiled WSDL.
pub(crate) fn is_compiled(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Encodes an import; places are relative to `root`.
pub(crate) fn write(import: &Import, root: Option<&Path>, lowered: &Lowered) -> Vec<u8> {
    let Import { documents, schemas, definitions, notes, .. } = import;
    let (paths, mut writer) = (RelativePaths::below(root), Writer::default());
    counts(documents, schemas, lowered).write(&mut writer);
    documents.iter().for_each(|document| write_document(document, &paths, &mut writer));
    schemas.write(&mut writer);
    definitions.write(&mut writer);
    notes.iter().map(|note| paths.note(note)).collect::<Vec<_>>().write(&mut writer);
    lowered.write(&mut writer);
    framed(&writer.finish())
}

/// Writes the location and line offsets of a document; its elements are components now.
fn write_document(document: &Document, paths: &RelativePaths, to: &mut Writer) {
    paths.location(&document.location).write(to);
    let lines = document.line_starts();
    lines.len().write(to);
    let before = std::iter::once(0).chain(lines.iter().copied());
    lines.iter().zip(before).for_each(|(start, before)| (start - before).write(to));
}

fn read_document(from: &mut Reader<'_>) -> Result<Document, Fault> {
    let location = Location::read(from)?;
    let count = from.count()?;
    let mut start = 0u32;
    let lines = from.items(count, |from| {
        start = start.checked_add(u32::read(from)?).ok_or(Fault::Content("a line offset is too large"))?;
        Ok(start)
    })?;
    Ok(Document::with_lines(location, lines))
}

/// Returns the content with its header.
fn framed(content: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEADER + content.len());
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    file.extend_from_slice(&(content.len() as u64).to_le_bytes());
    file.extend_from_slice(content);
    file
}

/// Reads a file that begins with the magic.
pub(crate) fn read(file: &[u8], limits: &Limits) -> Result<CompiledContent, Fault> {
    let mut reader = Reader::new(content(file)?, limits)?;
    reader.counts = Counts::read(&mut reader)?;
    let documents = reader.counts.documents;
    let parts = CompiledContent {
        documents: reader.table(documents, read_document)?,
        schemas: Schemas::read(&mut reader)?,
        definitions: Definitions::read(&mut reader)?,
        notes: Vec::read(&mut reader)?,
        lowered: Lowered::read(&mut reader)?,
    };
    if !reader.is_at_end() {
        return Err(Fault::Content("there is data after its end"));
    }
    check::check(&parts, limits)?;
    Ok(parts)
}

/// Returns the content, if header and checksum are valid.
fn content(file: &[u8]) -> Result<&[u8], Fault> {
    let (header, content) = file.split_at_checked(HEADER).ok_or(Fault::Truncated)?;
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if number(8) != VERSION {
        return Err(Fault::Version(number(8)));
    }
    if content.len() as u64 != u64::from(number(16)) | u64::from(number(20)) << 32 {
        return Err(Fault::Truncated);
    }
    if crc32fast::hash(content) != number(12) {
        return Err(Fault::Checksum);
    }
    Ok(content)
}

fn counts(documents: &[Document], schemas: &Schemas, lowered: &Lowered) -> Counts {
    Counts {
        documents: documents.len() as u32,
        types: schemas.types.len() as u32,
        elements: schemas.elements.len() as u32,
        attributes: schemas.attributes.len() as u32,
        described: lowered.schema.elements().len() as u32,
    }
}

stored_struct! {
    Counts { documents, types, elements, attributes, described }
    Note { kind, text, position }
    crate::Position { document, line, column }
}

stored_enum! {
    crate::NoteKind { 0 = Missing, 1 = Skipped, 2 = Tolerated, 3 = Unloaded, 4 = Invalid }
    Location { 0 = File(path), 1 = Web(url), 2 = Entry(name), 3 = Text(name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Importer};
    use proptest::prelude::*;

    #[test]
    fn unions_of_unions_are_bounded() {
        let union = |n: usize| {
            format!("<xs:simpleType name='u{}'><xs:union memberTypes='t:u{n} t:u{n}'/></xs:simpleType>", n + 1)
        };
        let text = format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'>\
             <xs:simpleType name='u0'><xs:restriction base='xs:int'/></xs:simpleType>{}</xs:schema>",
            (0..8).map(union).collect::<String>()
        );
        let file = Importer::new().offline().text(&text).expect("a schema").compile();
        assert!(read(&file, &Limits { particles: 510, ..Limits::default() }).is_ok());
        let few = Limits { particles: 509, ..Limits::default() };
        assert_eq!(read(&file, &few).err(), Some(Fault::Content("there are too many union members")));
    }

    fn compiled() -> Vec<u8> {
        let text = include_str!("../../../../testdata/wsdl/bench.wsdl");
        Importer::new().offline().text(text).expect("a description").compile()
    }

    fn fault(bytes: Vec<u8>) -> Option<Fault> {
        let location = Location::Text("a file".to_owned());
        match Importer::new().offline().bytes(location, bytes) {
            Ok(_) => None,
            Err(error) => match error.kind() {
                ErrorKind::Compiled(fault) => Some(*fault),
                kind => panic!("{kind:?}"),
            },
        }
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        let whole = compiled();
        assert_eq!(fault(whole.clone()), None);
        for length in (MAGIC.len()..whole.len()).step_by(101).chain([HEADER, whole.len() - 1]) {
            assert_eq!(fault(whole[..length].to_vec()), Some(Fault::Truncated), "{length}");
        }
        let longer = [&whole[..], b"x"].concat();
        assert_eq!(fault(longer), Some(Fault::Truncated));
    }

    #[test]
    fn other_versions_and_damage_are_refused() {
        let mut newer = compiled();
        newer[8] = VERSION as u8 + 1;
        assert_eq!(fault(newer), Some(Fault::Version(VERSION + 1)));
        let mut damaged = compiled();
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        assert_eq!(fault(damaged), Some(Fault::Checksum));
    }

    #[test]
    fn a_text_is_not_given_out_without_end() {
        let limits = Limits { bytes: 1000, ..Limits::default() };
        let file = compiled();
        assert_eq!(read(&file, &limits).err(), Some(Fault::Limit("bytes")));
        let limits = Limits { components: 10, ..Limits::default() };
        assert_eq!(read(&file, &limits).err(), Some(Fault::Limit("components")));
    }

    proptest! {
        /// Content with changed bytes and a valid checksum gives an error or an import, but never a
        /// panic.
        #[test]
        fn changed_content_is_read_or_refused(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let mut content = compiled().split_off(HEADER);
            for (index, byte) in changes {
                let at = index.index(content.len());
                content[at] = byte;
            }
            if let Ok(parts) = read(&framed(&content), &Limits::default()) {
                prop_assert!(!parts.documents.is_empty());
            }
        }

        #[test]
        fn numbers_come_back(number in any::<u64>()) {
            let mut writer = Writer::default();
            number.write(&mut writer);
            let bytes = writer.finish();
            let mut reader = Reader::new(&bytes, &Limits::default()).expect("no texts");
            prop_assert_eq!(u64::read(&mut reader), Ok(number));
            prop_assert!(reader.is_at_end());
        }
    }
}
