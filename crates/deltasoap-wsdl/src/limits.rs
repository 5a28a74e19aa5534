//! Every bound on what an import may take, in one place, each with a name and a default.
//!
//! Descriptions come from strangers, and a few lines of them can ask for very much: groups that
//! hold groups twice grow exponentially, imports name further imports. What exceeds a bound is
//! refused with an error that names it.

use std::time::Duration;

/// Bounds on one import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Documents loaded, the first included. Default 1000.
    pub documents: usize,
    /// Bytes of one document as received, uncompressed. Default 64 MiB.
    pub document_bytes: usize,
    /// Bytes of all documents. Default 256 MiB.
    pub bytes: usize,
    /// Open elements at one time. Default 100.
    pub depth: usize,
    /// Elements in all documents; those of a schema that is included in several namespaces count
    /// again for each. Default 1,000,000: some 450 MB.
    pub components: usize,
    /// Bytes of one namespace name: each component holds its own. Default 1 KiB.
    pub namespace: usize,
    /// Particles and attributes in all types once groups are expanded and base types taken in; also
    /// the members of all unions once those of the unions among them are taken in. Default
    /// 1,000,000.
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
