//! Reads messages in chunks.

use deltasoap::decode::{DecodeOptions, Decoder};
use deltasoap::soap::{EnvelopeReader, RequestReceiver};
use deltasoap::{Error, Memory, Message};

/// Reads a request in chunks of `chunk` bytes.
pub fn decode<T: Message>(message: &[u8], chunk: usize) -> Result<T, Error> {
    let mut decoder = Decoder::new(DecodeOptions::default());
    decode_next(&mut decoder, message, chunk, Box::default()).map(Memory::into_value)
}

/// Reads the next request of a stream.
pub fn decode_next<T: Message>(
    decoder: &mut Decoder,
    message: &[u8],
    chunk: usize,
    memory: Box<Memory<T>>,
) -> Result<Memory<T>, Error> {
    decoder.reset();
    let mut reader = EnvelopeReader::new(RequestReceiver::new(memory));
    message.chunks(chunk.max(1)).try_for_each(|chunk| decoder.push(&mut reader, chunk))?;
    decoder.finish(&mut reader)?;
    Ok(*reader.into_parts().1.into_memory())
}

/// Encodes a message in UTF-16, with a byte order mark.
pub fn utf16(message: &str) -> Vec<u8> {
    let units = std::iter::once(0xFEFF).chain(message.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

/// Encodes a message in ISO-8859-1, with question marks for characters that it lacks.
pub fn latin1(message: &str) -> Vec<u8> {
    let bytes = message.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'));
    b"<?xml version='1.0' encoding='ISO-8859-1'?>".iter().copied().chain(bytes).collect()
}

/// Returns a SOAP 1.1 message in SOAP encoding.
pub fn envelope(body: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' \
         xmlns:xsd='http://www.w3.org/2001/XMLSchema' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
         s:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'><s:Body>{body}</s:Body></s:Envelope>"
    )
}
