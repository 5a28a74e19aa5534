//! All limits on the resources of an import, each with a name and a default.
//!
//! WSDLs come from strangers, and a few lines can require a lot: groups that hold groups twice grow
//! exponentially, and imports lead to further imports. An import that exceeds a limit fails with an
//! error that names the limit.

use std::time::Duration;

/// Limits on one import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Number of documents, including the first. Default 1000.
    pub documents: usize,
    /// Size of one document in bytes as received, uncompressed. Default 64 MiB.
    pub document_bytes: usize,
    /// Size of all documents in bytes. Default 256 MiB.
    pub bytes: usize,
    /// Nesting depth of elements. Default 100.
    pub depth: usize,
    /// Number of elements in all documents. The elements of a schema that is included in several
    /// namespaces count once for each. Default 1,000,000: about 450 MB.
    pub components: usize,
    /// Length of a namespace name in bytes: each component holds its own copy. Default 1 KiB.
    pub namespace: usize,
    /// Number of particles and attributes in all types, with groups expanded and the content of
    /// base types included. Also the number of members in all unions, with the members of nested
    /// unions included. Default 1,000,000.
    pub particles: usize,
    /// Time for one document from the network. Default 30 seconds.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            documents: 1000,
            document_bytes: 64 << 20,
            bytes: 256 << 20,
            depth: 100,
            components: 1_000_000,
            namespace: 1 << 10,
            particles: 1_000_000,
            timeout: Duration::from_secs(30),
        }
    }
}
