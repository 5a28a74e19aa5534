//! How differential serialization works: chunks, widths, how much is kept.

/// How much room a value gets in a template (*Differential Serialization*, section 3.2,
/// "stuffing"). What is not used is white space after the end tag, between elements only. Texts,
/// and types without a widest value, get no more than they need.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Width {
    /// What the value needs: messages are the same, byte for byte, as if they were written in full.
    #[default]
    Exact,
    /// What this part (0 to 1, others count as the nearest) of the values of an array needed when
    /// it was first written, looked at in 512 of its items at most. A field that has become wider
    /// stays so, here as in the variants below.
    Learned(f32),
    /// A number of bytes of text, or what the type's widest value needs where that is less.
    Given(u16),
    /// What the type's widest value needs.
    Maximal,
}

/// Least bytes of a chunk.
const SMALLEST: usize = 256;
/// Most bytes of a chunk: places in it are 32 bits, and the last item or text may pass its end.
const LARGEST: usize = 1 << 30;

/// How messages that resemble the one before are written (*Differential Serialization*, section
/// 3.2).
///
/// ```
/// use deltasoap::schema::Use;
/// use deltasoap::soap::Version;
/// use deltasoap::{MatchKind, Soap, Template, Templating, Width};
///
/// #[derive(Soap)]
/// #[soap(namespace = "urn:lab", message)]
/// struct Report {
///     level: Vec<f64>,
/// }
///
/// let kinds = |width| {
///     let mut template = Template::new(Templating { width, ..Templating::default() });
///     let mut report = Report { level: vec![0.5; 1000] };
///     let first = template.encode(Version::Soap11, Use::Literal, &[], &report)?.kind();
///     report.level[7] = 0.125;
///     let second = template.encode(Version::Soap11, Use::Literal, &[], &report)?.kind();
///     Ok::<_, deltasoap::Error>((first, second))
/// };
/// // A longer text moves what follows, unless there is room for it.
/// assert_eq!(kinds(Width::Exact)?, (MatchKind::FirstTime, MatchKind::PartialStructural));
/// assert_eq!(kinds(Width::Given(8))?, (MatchKind::FirstTime, MatchKind::PerfectStructural));
/// # Ok::<(), deltasoap::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Templating {
    /// Most templates kept for an operation by a set of [`Templates`](crate::Templates); with 0
    /// every message is written in full. Default: 4.
    pub templates: usize,
    /// Bytes of a chunk as it is made; from 256 to 1 GiB, others count as the nearest. An item or a
    /// text that passes its end makes it longer. Default: 32 KiB.
    pub chunk: usize,
    /// A chunk that grows beyond this many bytes is split into such of [`chunk`](Self::chunk)
    /// bytes; less than that counts as that, and more than 1 GiB as 1 GiB. Default: 64 KiB.
    pub split: usize,
    /// Bytes of memory left free at the end of an array's chunk as it is made, so that it need not
    /// be moved when it grows; at most [`chunk`](Self::chunk). Default: 2 KiB.
    pub reserve: usize,
    /// Room that values get. Default: [`Width::Exact`].
    pub width: Width,
    /// Whether messages are written in full where templates are slower
    /// ([`Templates`](crate::Templates) alone, a single [`Template`](crate::Template) is always
    /// used). Default: yes.
    pub adaptive: bool,
    /// Most bytes that one template may take, its tables included; a message that needs more is
    /// sent and not kept. Default: 256 MiB.
    pub bytes: usize,
}

impl Default for Templating {
    /// Four templates an operation, chunks of 32 KiB, exact widths, 256 MiB a template.
    fn default() -> Self {
        Templating {
            templates: 4,
            chunk: 32 << 10,
            split: 64 << 10,
            reserve: 2 << 10,
            width: Width::Exact,
            adaptive: true,
            bytes: 256 << 20,
        }
    }
}

impl Templating {
    /// Every message is written in full.
    pub const OFF: Templating = Templating {
        templates: 0,
        chunk: 32 << 10,
        split: 64 << 10,
        reserve: 0,
        width: Width::Exact,
        adaptive: false,
        bytes: 0,
    };

    /// Returns true if nothing is kept.
    pub fn is_off(&self) -> bool {
        self.templates == 0
    }

    /// Returns the options within the ranges of their fields: what is beyond counts as the nearest
    /// that is not.
    pub(super) fn in_range(self) -> Templating {
        let chunk = self.chunk.clamp(SMALLEST, LARGEST);
        Templating { chunk, split: self.split.clamp(chunk, LARGEST), reserve: self.reserve.min(chunk), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_sizes_count_as_the_nearest_that_are_not() {
        let of = |chunk, split, reserve| {
            let options = Templating { chunk, split, reserve, ..Templating::default() }.in_range();
            (options.chunk, options.split, options.reserve)
        };
        assert_eq!(of(0, 0, 0), (256, 256, 0));
        assert_eq!(of(1024, 300, 4096), (1024, 1024, 1024));
        assert_eq!(of(usize::MAX, usize::MAX, usize::MAX), (1 << 30, 1 << 30, 1 << 30));
        assert_eq!(Templating::default().in_range(), Templating::default());
    }
}
