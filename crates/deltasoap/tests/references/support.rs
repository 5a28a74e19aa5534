//! Reads messages in chunks.

use deltasoap::engine::Memory;
use deltasoap::engine::decode::{DecodeOptions, Decoder};
use deltasoap::soap::{EnvelopeReader, RequestReceiver};
use deltasoap::{Error, Message};
use deltasoap_test_support::latin_1;

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

/// Encodes a message in ISO-8859-1, with a declaration.
pub fn latin1(message: &str) -> Vec<u8> {
    [b"<?xml version='1.0' encoding='ISO-8859-1'?>", &latin_1(message)[..]].concat()
}

/// Returns a SOAP 1.1 message in SOAP encoding.
pub fn envelope(body: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' \
         xmlns:xsd='http://www.w3.org/2001/XMLSchema' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
         s:encodingStyle='http://schemas.xmlsoap.org/soap/encoding/'><s:Body>{body}</s:Body></s:Envelope>"
    )
}
