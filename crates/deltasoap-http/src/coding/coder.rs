//! The coders of the content codings, each behind the same steps.

use super::choice::Way;
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

/// Compresses a stream.
pub(crate) enum Encoder {
    Gzip(Box<Compress>),
    #[cfg(feature = "zstd")]
    Zstd(CCtx<'static>),
}

impl Encoder {
    /// For a stream of a length, if that is known.
    ///
    /// # Errors
    /// When memory or settings are refused.
    #[cfg_attr(not(feature = "zstd"), allow(unused_variables, clippy::unnecessary_wraps, reason = "of zstd"))]
    pub(crate) fn new(way: Way, length: Option<u64>) -> Result<Self, Failed> {
        match way.coding {
            ContentCoding::Gzip => {
                Ok(Encoder::Gzip(Box::new(Compress::new_gzip(Compression::new(way.level), GZIP_WINDOW))))
            }
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd => {
                let mut context = CCtx::try_create().ok_or(Failed)?;
                let level = i32::try_from(way.level).map_err(|_| Failed)?;
                for parameter in [CParameter::CompressionLevel(level), CParameter::ChecksumFlag(true)] {
                    context.set_parameter(parameter).map_err(|_| Failed)?;
                }
                // Short messages take little memory then.
                context.set_pledged_src_size(length).map_err(|_| Failed)?;
                Ok(Encoder::Zstd(context))
            }
        }
    }

    /// Compresses as much as there is room for, with no more input than this at the end. Returns how much of the input was taken, and whether the stream
    /// has ended.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut Vec<u8>, is_last: bool) -> Result<(usize, bool), Failed> {
        match self {
            Encoder::Gzip(compress) => {
                let before = compress.total_in();
                let flush = if is_last { FlushCompress::Finish } else { FlushCompress::None };
                let status = compress.compress_vec(input, output, flush).map_err(|_| Failed)?;
                Ok(((compress.total_in() - before) as usize, status == Status::StreamEnd))
            }
            #[cfg(feature = "zstd")]
            Encoder::Zstd(context) => {
                let written = output.len();
                let (mut input, mut output) = (InBuffer::around(input), OutBuffer::around_pos(output, written));
                let end = if is_last { ZSTD_EndDirective::ZSTD_e_end } else { ZSTD_EndDirective::ZSTD_e_continue };
                let left = context.compress_stream2(&mut output, &mut input, end).map_err(|_| Failed)?;
                Ok((input.pos(), is_last && left == 0))
            }
        }
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

/// Nothing can be compressed.
#[derive(Debug)]
pub(crate) struct Failed;

/// Decompresses one member of a stream, or one frame.
pub(crate) enum Decoder {
    Gzip(Decompress),
    #[cfg(feature = "zstd")]
    Zstd(DCtx<'static>),
}

impl Decoder {
    pub(crate) fn new(coding: ContentCoding) -> Self {
        match coding {
            ContentCoding::Gzip => Decoder::Gzip(Decompress::new_gzip(GZIP_WINDOW)),
            #[cfg(feature = "zstd")]
            ContentCoding::Zstd => {
                let mut context = DCtx::create();
                // Also the library's own limit is no larger than its default of 128 MiB, should it refuse this one.
                let _ = context.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW));
                Decoder::Zstd(context)
            }
        }
    }

    /// Begins another member with its first byte. Bytes that cannot begin one are not reported as a damaged one.
    pub(crate) fn begin(&mut self, first: u8) -> Result<(), CodingError> {
        match self {
            // RFC 1952, 2.3.1.
            Decoder::Gzip(decompress) if first == 0x1f => *decompress = Decompress::new_gzip(GZIP_WINDOW),
            // Frames, and those to skip (RFC 8878, 3.1).
            #[cfg(feature = "zstd")]
            Decoder::Zstd(context) if matches!(first, 0x28 | 0x50..=0x5f) => {
                context.reset(ResetDirective::SessionOnly).map_err(|_| CodingError::Corrupt)?;
            }
            _ => return Err(CodingError::Trailing),
        }
        Ok(())
    }

    /// Decompresses as much as there is room for. Returns how much of the input was taken, and whether the member has ended.
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
