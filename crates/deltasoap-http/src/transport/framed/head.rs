//! Heads of requests and responses, as bytes.

use super::{FIELDS, FramesError, HEAD};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::uri::PathAndQuery;
use http::{StatusCode, Uri};

/// The head before a body.
#[derive(Debug)]
pub(super) struct Head<T> {
    /// The target of a request, or the status of a response.
    pub(super) start: T,
    pub(super) fields: HeaderMap,
}

/// The start of a head.
pub(super) trait Start: Sized {
    fn write(&self, head: &mut BytesMut) -> Result<(), FramesError>;

    fn read(head: &mut Bytes) -> Result<Self, FramesError>;
}

impl Start for Uri {
    fn write(&self, head: &mut BytesMut) -> Result<(), FramesError> {
        let target = self.path_and_query().map_or("/", PathAndQuery::as_str);
        head.put_u16(u16::try_from(target.len()).map_err(|_| FramesError::Head)?);
        head.put_slice(target.as_bytes());
        Ok(())
    }

    fn read(head: &mut Bytes) -> Result<Self, FramesError> {
        let target = head.try_get_u16().map_err(|_| FramesError::Head)?;
        let target = PathAndQuery::from_maybe_shared(take(head, target.into())?);
        Ok(Uri::from(target.map_err(|_| FramesError::Head)?))
    }
}

impl Start for StatusCode {
    fn write(&self, head: &mut BytesMut) -> Result<(), FramesError> {
        head.put_u16(self.as_u16());
        Ok(())
    }

    fn read(head: &mut Bytes) -> Result<Self, FramesError> {
        let status = head.try_get_u16().map_err(|_| FramesError::Head)?;
        StatusCode::from_u16(status).map_err(|_| FramesError::Head)
    }
}

impl<T: Start> Head<T> {
    /// Encodes the head, with the length of a body if it is known.
    ///
    /// # Errors
    /// Returns an error if it is too long.
    pub(super) fn write(&self, length: Option<u64>) -> Result<BytesMut, FramesError> {
        let mut head = BytesMut::with_capacity(256);
        self.start.write(&mut head)?;
        let length = length.map(|length| (CONTENT_LENGTH, HeaderValue::from(length)));
        let own = self.fields.iter().filter(|(name, _)| !is_of_the_connection(name));
        for (name, value) in own.chain(length.iter().map(|(name, value)| (name, value))) {
            head.put_u8(u8::try_from(name.as_str().len()).map_err(|_| FramesError::Head)?);
            head.put_slice(name.as_str().as_bytes());
            head.put_u16(u16::try_from(value.len()).map_err(|_| FramesError::Head)?);
            head.put_slice(value.as_bytes());
        }
        if head.len() > HEAD as usize { Err(FramesError::Head) } else { Ok(head) }
    }

    /// Parses a head. Also returns the length of the body after it, if the head contains it.
    ///
    /// # Errors
    /// Returns an error if it is malformed.
    pub(super) fn read(mut head: Bytes) -> Result<(Self, Option<u64>), FramesError> {
        let start = T::read(&mut head)?;
        let mut fields = HeaderMap::new();
        while head.has_remaining() {
            if fields.len() == FIELDS {
                return Err(FramesError::Head);
            }
            let name = head.try_get_u8().map_err(|_| FramesError::Head)?;
            let name = HeaderName::from_lowercase(&take(&mut head, name.into())?).map_err(|_| FramesError::Head)?;
            let value = head.try_get_u16().map_err(|_| FramesError::Head)?;
            let value = HeaderValue::from_maybe_shared(take(&mut head, value.into())?);
            fields.append(name, value.map_err(|_| FramesError::Head)?);
        }
        let length = length(&fields)?;
        Ok((Head { start, fields }, length))
    }
}

/// Takes `len` bytes.
fn take(head: &mut Bytes, len: usize) -> Result<Bytes, FramesError> {
    if len > head.remaining() { Err(FramesError::Head) } else { Ok(head.split_to(len)) }
}

/// Returns the only length in a head.
fn length(fields: &HeaderMap) -> Result<Option<u64>, FramesError> {
    let mut lengths = fields.get_all(CONTENT_LENGTH).iter();
    let Some(length) = lengths.next() else { return Ok(None) };
    let length = length.to_str().ok().and_then(|length| length.parse().ok()).ok_or(FramesError::Head)?;
    if lengths.next().is_some() { Err(FramesError::Head) } else { Ok(Some(length)) }
}

/// Returns true for fields about HTTP's connection, and for fields that are written anew.
fn is_of_the_connection(name: &HeaderName) -> bool {
    [CONNECTION, CONTENT_LENGTH, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE].contains(name)
}
