//! The coders of the content codings, with a common interface.

use super::adaptive::Codec;
use super::error::CodingError;
use super::options::ContentCoding;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::fmt;
#[cfg(feature = "zstd")]
use zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, zstd_sys::ZSTD_EndDirective,
    zstd_sys::ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge,
};

/// The window of gzip (RFC 1951), as a power of two.
const GZIP_WINDOW: u8 = 15;
/// The largest window of zstd as a content coding (RFC 9659), as a power of two.
#[cfg(feature = "zstd")]
const ZSTD_WINDOW: u32 = 23;
/// The window of a message in zstd whose length is not known, as a power of two. An encoder needs a
/// multiple of it, and is held as long as the message is being sent. From level `LARGE_TABLES` on,
/// its tables are made for far larger windows, unless they are bounded too.
#[cfg(feature = "zstd")]
const UNKNOWN_WINDOW: u32 = 18;
#[cfg(feature = "zstd")]
const LARGE_TABLES: u32 = 7;

/// Compresses a stream.
pub(crate) enum Encoder {
    Gzip(Box<Compress>),
    #[cfg(feature = "zstd")]
    Zstd(CCtx<'static>),
}

/// The event that follows the input of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// More input.
    Input,
    /// A pause: all input so far must be decodable from what is written.
    Pause,
    End,
}

impl Encoder {
    /// Creates an encoder for a stream with this length, if known.
    ///
    /// # Errors
    /// Returns an error if the allocation fails, or the settings are rejected.
    #[cfg_attr(not(feature = "zstd"), allow(unused_variables, clippy::unnecessary_wraps, reason = "of zstd"))]
    pub(crate) fn new(codec: Codec, length: Option<u64>) -> Result<Self, Failed> {
        match codec.coding {
            ContentCoding::Gzip => {
                Ok(Encoder::Gzip(Box::new(Compress::new_gzip(Compression::new(codec.level), GZIP_WINDOW))))
            }
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd => {
                let mut context = CCtx::try_create().ok_or(Failed)?;
                let level = i32::try_from(codec.level).map_err(|_| Failed)?;
                for parameter in [CParameter::CompressionLevel(level), CParameter::ChecksumFlag(true)] {
                    context.set_parameter(parameter).map_err(|_| Failed)?;
                }
                let window = UNKNOWN_WINDOW;
                let bounds =
                    [CParameter::WindowLog(window), CParameter::HashLog(window + 1), CParameter::ChainLog(window)];
                let bounds = match length {
                    // With a known length, short messages take little memory.
                    Some(_) => &[],
                    None if codec.level < LARGE_TABLES => &bounds[..1],
                    None => &bounds[..],
                };
                for parameter in bounds {
                    context.set_parameter(*parameter).map_err(|_| Failed)?;
                }
                context.set_pledged_src_size(length).map_err(|_| Failed)?;
                Ok(Encoder::Zstd(context))
            }
        }
    }

    /// Compresses as much as there is room for. Returns the number of input bytes taken, and
    /// whether the following pause or end was written. Steps with a pause are repeated without
    /// input until it was.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut Vec<u8>, next: Next) -> Result<(usize, bool), Failed> {
        match self {
            Encoder::Gzip(compress) => {
                let before = compress.total_in();
                let flush = match next {
                    Next::Input => FlushCompress::None,
                    Next::Pause => FlushCompress::Sync,
                    Next::End => FlushCompress::Finish,
                };
                let status = compress.compress_vec(input, output, flush).map_err(|_| Failed)?;
                let is_written = match next {
                    Next::Input => false,
                    Next::Pause => output.len() < output.capacity(),
                    Next::End => status == Status::StreamEnd,
                };
                Ok(((compress.total_in() - before) as usize, is_written))
            }
            #[cfg(feature = "zstd")]
            Encoder::Zstd(context) => {
                let written = output.len();
                let (mut input, mut output) = (InBuffer::around(input), OutBuffer::around_pos(output, written));
                let end = match next {
                    Next::Input => ZSTD_EndDirective::ZSTD_e_continue,
                    Next::Pause => ZSTD_EndDirective::ZSTD_e_flush,
                    Next::End => ZSTD_EndDirective::ZSTD_e_end,
                };
                let left = context.compress_stream2(&mut output, &mut input, end).map_err(|_| Failed)?;
                Ok((input.pos(), next != Next::Input && left == 0))
            }
        }
    }

    /// Returns a block without content, which may follow a pause any number of times. For deflate
    /// it is stored (RFC 1951, 3.2.4), and then begins at a whole byte; for zstd it is raw (RFC
    /// 8878, 3.1.1.2).
    pub(crate) fn empty_block(&self) -> &'static [u8] {
        match self {
            Encoder::Gzip(_) => &[0, 0, 0, 0xff, 0xff],
            #[cfg(feature = "zstd")]
            Encoder::Zstd(_) => &[0, 0, 0],
        }
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

/// The error when nothing can be compressed.
#[derive(Debug)]
pub(crate) struct Failed;

/// Decompresses one member of a stream, or one frame.
pub(crate) enum Decoder {
    Gzip(Decompress),
    #[cfg(feature = "zstd")]
    Zstd(DCtx<'static>),
}

impl Decoder {
    /// Creates a decoder; `None` if the allocation fails.
    pub(crate) fn new(coding: ContentCoding) -> Option<Self> {
        Some(match coding {
            ContentCoding::Gzip => Decoder::Gzip(Decompress::new_gzip(GZIP_WINDOW)),
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd => {
                let mut context = DCtx::try_create()?;
                // If the library rejects this limit, its own default applies: 128 MiB.
                let _ = context.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW));
                Decoder::Zstd(context)
            }
        })
    }

    /// Begins another member with its first byte. Bytes that cannot begin a member are not reported
    /// as a corrupt one.
    pub(crate) fn begin(&mut self, first: u8) -> Result<(), CodingError> {
        match self {
            // RFC 1952, 2.3.1.
            Decoder::Gzip(decompress) if first == 0x1f => *decompress = Decompress::new_gzip(GZIP_WINDOW),
            // Zstandard frames and skippable frames (RFC 8878, 3.1).
            #[cfg(feature = "zstd")]
            Decoder::Zstd(context) if matches!(first, 0x28 | 0x50..=0x5f) => {
                context.reset(ResetDirective::SessionOnly).map_err(|_| CodingError::Corrupt)?;
            }
            _ => return Err(CodingError::Trailing),
        }
        Ok(())
    }

    /// Decompresses as much as there is room for. Returns the number of input bytes taken, and
    /// whether the member has ended.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(usize, bool), CodingError> {
        match self {
            Decoder::Gzip(decompress) => {
                let before = decompress.total_in();
                let status = decompress.decompress_vec(input, output, FlushDecompress::None);
                let is_ended = status.map_err(|_| CodingError::Corrupt)? == Status::StreamEnd;
                Ok(((decompress.total_in() - before) as usize, is_ended))
            }
            #[cfg(feature = "zstd")]
            Decoder::Zstd(context) => {
                let (mut input, mut output) = (InBuffer::around(input), OutBuffer::around(output));
                match context.decompress_stream(&mut output, &mut input) {
                    Ok(left) => Ok((input.pos(), left == 0)),
                    Err(code) if zstd_safe::is_error_kind(code, ZSTD_error_frameParameter_windowTooLarge) => {
                        Err(CodingError::Limit { name: "window", limit: 1 << ZSTD_WINDOW })
                    }
                    Err(_) => Err(CodingError::Corrupt),
                }
            }
        }
    }
}

#[cfg(all(test, feature = "zstd"))]
mod tests {
    use super::*;

    /// Returns the memory of a zstd encoder for a message of 4 MiB, whose length it knows or not.
    fn memory(level: u32, length: Option<u64>) -> usize {
        let mut encoder = Encoder::new(Codec { coding: ContentCoding::Zstd, level }, length).expect("memory");
        let mut output = Vec::with_capacity(5 << 20);
        encoder.step(&vec![b'x'; 4 << 20], &mut output, Next::Pause).expect("no error");
        let Encoder::Zstd(context) = encoder else { panic!("{encoder:?}") };
        context.sizeof()
    }

    #[test]
    fn a_message_of_unknown_length_takes_little_memory() {
        for level in 1..=19 {
            let most = if level <= 3 { 2 << 20 } else { 5 << 20 };
            let unknown = memory(level, None);
            assert!(unknown < most, "level {level}: {unknown} bytes");
        }
        assert!(memory(3, Some(4 << 20)) > memory(3, None));
        assert!(memory_of_short() < 1 << 20);
    }

    fn memory_of_short() -> usize {
        let mut encoder = Encoder::new(Codec { coding: ContentCoding::Zstd, level: 3 }, Some(10_000)).expect("memory");
        encoder.step(&[b'x'; 10_000], &mut Vec::with_capacity(20_000), Next::End).expect("no error");
        let Encoder::Zstd(context) = encoder else { panic!("{encoder:?}") };
        context.sizeof()
    }
}
