//! Options of differential serialization: chunks, widths, memory.

/// The space reserved for a value in a template (*Differential Serialization*, section 3.2,
/// "stuffing"). Unused space is white space after the end tag, only between elements. Texts, and
/// types without a widest value, get no more than they need.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Width {
    /// The space that the value needs: messages are byte for byte the same as if written in full.
    #[default]
    Exact,
    /// The space that this part (clamped to 0..=1) of the values of an array needed when it was
    /// first written, based on at most 512 of its items. A field that has become wider stays so,
    /// also in the variants below.
    Learned(f32),
    /// A number of bytes of text, or the space of the type's widest value if that is less.
    Fixed(u16),
    /// The space of the type's widest value.
    Maximal,
}

/// Minimum bytes of a chunk.
const MIN_CHUNK: usize = 256;
/// Maximum bytes of a chunk: positions in it are 32 bits, and the last item or text may exceed its
/// end.
const MAX_CHUNK: usize = 1 << 30;

/// Options for writing messages that resemble the previous one (*Differential Serialization*,
/// section 3.2).
///
/// ```
/// use deltasoap::Soap;
/// use deltasoap::engine::{MatchKind, Template, Templating, Width};
/// use deltasoap::soap::Envelope;
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
///     let first = template.encode(&Envelope::new(&report))?.kind();
///     report.level[7] = 0.125;
///     let second = template.encode(&Envelope::new(&report))?.kind();
///     Ok::<_, deltasoap::Error>((first, second))
/// };
/// // A longer text moves what follows, unless there is room for it.
/// assert_eq!(kinds(Width::Exact)?, (MatchKind::FirstTime, MatchKind::PartialStructural));
/// assert_eq!(kinds(Width::Fixed(8))?, (MatchKind::FirstTime, MatchKind::PerfectStructural));
/// # Ok::<(), deltasoap::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Templating {
    /// Maximum number of templates that a set of [`Templates`](crate::Templates) keeps for an
    /// operation. With 0 every message is written in full. Default: 4.
    pub templates: usize,
    /// Bytes of a new chunk, clamped to 256 bytes to 1 GiB. An item or a text that exceeds its end
    /// makes it longer. Default: 32 KiB.
    pub chunk: usize,
    /// A chunk that grows beyond this many bytes is split into [`chunk`](Self::chunk)-byte chunks.
    /// Smaller values are clamped to `chunk`, larger ones to 1 GiB. Default: 64 KiB.
    pub split: usize,
    /// Bytes reserved at the end of an array's new chunk, so that it need not be moved when it
    /// grows; at most [`chunk`](Self::chunk). Default: 2 KiB.
    pub reserve: usize,
    /// The space reserved for values. Default: [`Width::Exact`].
    pub width: Width,
    /// True if messages are written in full when templates are slower. Applies only to
    /// [`Templates`](crate::Templates); a single [`Template`](crate::Template) is always used.
    /// Default: true.
    pub adaptive: bool,
    /// Maximum bytes of one template, including its tables. A message that needs more is sent, but
    /// not kept. Default: 256 MiB.
    pub bytes: usize,
}

impl Default for Templating {
    /// Four templates per operation, chunks of 32 KiB, exact widths, 256 MiB per template.
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

    /// Returns true if no templates are kept.
    pub fn is_off(&self) -> bool {
        self.templates == 0
    }

    /// Returns the options with each field clamped to its range.
    pub(super) fn in_range(self) -> Templating {
        let chunk = self.chunk.clamp(MIN_CHUNK, MAX_CHUNK);
        Templating { chunk, split: self.split.clamp(chunk, MAX_CHUNK), reserve: self.reserve.min(chunk), ..self }
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
