//! Files that parts are read from, piece by piece.

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::fs::File;
use tokio::io::{AsyncRead, ReadBuf};

/// Bytes read from a file at one time.
const PIECE: usize = 256 << 10;

/// A stream of the next bytes of a file, up to a number; fewer if the file ends before.
#[derive(Debug)]
pub(super) struct FileStream {
    file: File,
    left: u64,
    piece: BytesMut,
}

impl FileStream {
    pub(super) fn new(mut file: File, len: u64) -> Self {
        file.set_max_buf_size(PIECE);
        FileStream { file, left: len, piece: BytesMut::new() }
    }
}

impl Stream for FileStream {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let FileStream { file, left, piece } = &mut *self;
        if *left == 0 {
            return Poll::Ready(None);
        }
        piece.resize(PIECE.min(usize::try_from(*left).unwrap_or(PIECE)), 0);
        let mut buffer = ReadBuf::new(piece);
        ready!(Pin::new(file).poll_read(context, &mut buffer))?;
        let len = buffer.filled().len();
        *left -= len as u64;
        Poll::Ready((len > 0).then(|| Ok(piece.split_to(len).freeze())))
    }
}
