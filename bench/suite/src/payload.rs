//! What the benchmarks ask of a message type, and checks of a toolkit's work.

use anyhow::{Context, Result, ensure};
use deltasoap::engine::DecodeOptions;
use deltasoap::engine::decode::Decoder;
use deltasoap::schema::Use;
use deltasoap::soap::{EnvelopeReader, RequestReceiver};
use deltasoap::{Error, Message};

/// A message type whose values can be compared.
pub trait Same: Message + 'static {
    /// Returns true if both hold the same values, bit for bit.
    fn is_same(&self, other: &Self) -> bool;
}

/// A message type of the workloads.
pub trait Payload: Same {
    /// The encoding of the message.
    const ENCODING: Use = Use::Literal;

    /// Returns the message as written by the naive writer.
    fn naive(&self) -> String;

    /// Returns the checksum of the values.
    fn checksum(&self) -> String;
}

/// Values and a message with them.
#[derive(Debug)]
pub struct Sample<T> {
    /// The values.
    pub values: T,
    /// The message.
    pub message: Vec<u8>,
    /// Number of elements, or of bytes.
    pub n: usize,
}

impl<T: Payload> Sample<T> {
    /// Creates a sample with the naive writer's message.
    pub fn new(values: T, n: usize) -> Self {
        let message = values.naive().into_bytes();
        Sample { values, message, n }
    }

    /// Checks that `found` are the values.
    ///
    /// # Errors
    /// When they are not.
    pub fn check_values(&self, found: &T) -> Result<()> {
        let (found_sum, sum) = (found.checksum(), self.values.checksum());
        ensure!(found.is_same(&self.values) && found_sum == sum, "wrong values: checksum {found_sum}, not {sum}");
        Ok(())
    }

    /// Checks that `message` is the naive writer's, byte for byte. (Arrays without elements are not
    /// checked, since an element without children has two spellings. In SOAP encoding there are
    /// several ways to write values.)
    ///
    /// # Errors
    /// When it is not.
    pub fn check_bytes(&self, message: &[u8]) -> Result<()> {
        let is_one_of_many = self.n == 0 || T::ENCODING == Use::Encoded;
        ensure!(is_one_of_many || message == self.message, "the message differs from the naive writer's");
        Ok(())
    }

    /// Checks that `message` carries the values.
    ///
    /// # Errors
    /// When it does not, or cannot be decoded.
    pub fn check_message(&self, message: &[u8]) -> Result<()> {
        self.check_values(&decode_alone(message).context("the written message is invalid")?)
    }
}

/// An operation on samples of any type.
pub trait Visitor {
    /// The result.
    type Output;

    /// Visits a sample.
    fn visit<T: Payload>(self, sample: Sample<T>) -> Self::Output;
}

/// Reads a message as a server does: one decoder for all messages, a new value for each. `chunk` is
/// the size of the chunks that it is fed in; `None` for the whole message at once.
///
/// # Errors
/// When the message is invalid.
pub fn decode<T: Message>(decoder: &mut Decoder, message: &[u8], chunk: Option<usize>) -> Result<T, Error> {
    let mut reader = EnvelopeReader::new(RequestReceiver::<T>::default());
    match chunk {
        None => decoder.decode(&mut reader, message)?,
        Some(size) => {
            decoder.reset();
            message.chunks(size).try_for_each(|piece| decoder.push(&mut reader, piece))?;
            decoder.finish(&mut reader)?;
        }
    }
    let (_, receiver) = reader.into_parts();
    Ok(receiver.into_memory().into_value())
}

/// Reads a message with a new decoder.
///
/// # Errors
/// When the message is invalid.
pub fn decode_alone<T: Message>(message: &[u8]) -> Result<T, Error> {
    decode(&mut Decoder::new(DecodeOptions::default()), message, None)
}
