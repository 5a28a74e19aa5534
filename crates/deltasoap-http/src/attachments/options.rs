//! Settings and bounds for packages.

/// Selects when binary values ([`Binary`](deltasoap_core::Binary)) are sent as separate parts
/// (MTOM).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mtom {
    /// Never: they are written as text.
    Off,
    /// For a client: if a value is at least as long as the threshold. For a service: likewise, if
    /// the request came in MTOM.
    #[default]
    Auto,
    /// If a value is at least as long as the threshold. Messages without such values are packages
    /// too.
    On,
}

/// Options for reading and writing messages with parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttachmentOptions {
    /// Selects when binary values are written as parts. Default: [`Mtom::Auto`] for services,
    /// [`Mtom::Off`] for clients, since a client does not know whether the server can read it.
    /// Messages are read in all forms, regardless of this.
    pub mtom: Mtom,
    /// Minimum size in bytes of a value that becomes a part. Default 4096: below that, a part's
    /// headers and the cost of splitting exceed the cost of text.
    pub threshold: usize,
    /// True to send attached parts in DIME; otherwise MIME. A service answers DIME with DIME in
    /// any case. DIME does not support MTOM. Default: false.
    pub dime: bool,
    /// Bounds on received packages.
    pub limits: AttachmentLimits,
}

impl AttachmentOptions {
    /// Returns the defaults of clients.
    pub const fn client() -> Self {
        AttachmentOptions { mtom: Mtom::Off, threshold: 4096, dime: false, limits: AttachmentLimits::DEFAULT }
    }

    /// Returns the defaults of services.
    pub const fn server() -> Self {
        AttachmentOptions { mtom: Mtom::Auto, ..Self::client() }
    }
}

/// Bounds on one package. A package that exceeds one is refused with an error that names it. The
/// message itself is bounded by [`Limits`](deltasoap_core::Limits) like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttachmentLimits {
    /// Number of parts, including the root. Default 1000.
    pub parts: usize,
    /// Bytes of the headers of one part, of the text before the first boundary, and of a boundary's
    /// line; in DIME, of a record's options, ID and type. Default 16 KiB. A part may have 100
    /// headers, regardless of this.
    pub headers: usize,
    /// Bytes of one part, decoded. Default 1 GiB.
    pub part: u64,
    /// Bytes of the package as received. Default 4 GiB.
    pub total: u64,
    /// Bytes of a part that is requested in one piece
    /// ([`Attachment::bytes`](crate::Attachment::bytes)). Default 64 MiB.
    pub whole: usize,
    /// Bytes of all parts that are kept in memory because they came before they were requested; the
    /// rest is kept in temporary files. Default 1 MiB.
    pub memory: usize,
    /// Bytes of all parts in temporary files, including those that were taken since. Default 256
    /// MiB.
    pub spilled: u64,
}

impl AttachmentLimits {
    const DEFAULT: AttachmentLimits = AttachmentLimits {
        parts: 1000,
        headers: 16 << 10,
        part: 1 << 30,
        total: 4 << 30,
        whole: 64 << 20,
        memory: 1 << 20,
        spilled: 256 << 20,
    };
}

impl Default for AttachmentLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
