//! What a lane decodes messages to: their type, or a dynamic value described by a WSDL.

use anyhow::Result;
use deltasoap::Error;
use deltasoap::engine::decode::{Cursor, Decoder, Step};
use deltasoap::engine::{Content, DecodeOptions, Differential, ErrorKind, Memory};
use deltasoap::soap::{EnvelopeReader, Head, Receiver, RequestReceiver};
use deltasoap::types::Value;

use super::Sent;
use crate::payload::Same;

/// What messages are decoded to, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// See [`Typed`].
    Typed,
    /// See [`Dynamic`].
    Dynamic,
}

impl Target {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Target::Typed => "typed",
            Target::Dynamic => "dynamic",
        }
    }
}

/// What messages of a type are decoded to.
pub trait DecodeTarget<T>: 'static {
    /// The result of reading a message.
    type Value: Content;
    /// Accepts a message's body.
    type Receiver: Receiver;

    /// Returns a memory without a message.
    fn memory() -> Box<Memory<Self::Value>>;

    /// Returns a receiver that compares a body with the content of the memory.
    fn receiver(memory: Box<Memory<Self::Value>>) -> Self::Receiver;

    /// Returns the memory, for the next message.
    fn into_memory(receiver: Self::Receiver) -> Box<Memory<Self::Value>>;

    /// Returns true if `value` is the value of the message.
    ///
    /// # Errors
    /// When the message cannot be read at all.
    fn is_same(value: &Self::Value, message: &Sent<T>) -> Result<bool>;
}

/// Reads messages as their type.
#[derive(Debug)]
pub struct Typed;

impl<T: Same> DecodeTarget<T> for Typed {
    type Value = T;
    type Receiver = RequestReceiver<T>;

    fn memory() -> Box<Memory<T>> {
        Box::default()
    }

    fn receiver(memory: Box<Memory<T>>) -> RequestReceiver<T> {
        RequestReceiver::new(memory)
    }

    fn into_memory(receiver: RequestReceiver<T>) -> Box<Memory<T>> {
        receiver.into_memory()
    }

    fn is_same(value: &T, message: &Sent<T>) -> Result<bool> {
        Ok(value.is_same(&message.value))
    }
}

/// Reads messages as a dynamic value.
#[derive(Debug)]
pub struct Dynamic;

impl<T: Same> DecodeTarget<T> for Dynamic {
    type Value = Value;
    type Receiver = DynamicReceiver<T>;

    fn memory() -> Box<Memory<Value>> {
        Box::new(Memory::new(Value::Absent))
    }

    fn receiver(memory: Box<Memory<Value>>) -> DynamicReceiver<T> {
        DynamicReceiver { memory, described: std::marker::PhantomData }
    }

    fn into_memory(receiver: DynamicReceiver<T>) -> Box<Memory<Value>> {
        receiver.memory
    }

    /// Compares with the result of the general routines in regular mode.
    fn is_same(value: &Value, message: &Sent<T>) -> Result<bool> {
        let options = DecodeOptions { differential: Differential::OFF, ..DecodeOptions::default() };
        let mut decoder = Decoder::without_shortcuts(options);
        Ok(*value == *read::<T>(&mut decoder, message)?.value())
    }
}

fn read<T: Same>(decoder: &mut Decoder, message: &Sent<T>) -> Result<Box<Memory<Value>>, Error> {
    let mut reader =
        EnvelopeReader::new(<Dynamic as DecodeTarget<T>>::receiver(<Dynamic as DecodeTarget<T>>::memory()));
    decoder.decode_bytes(&mut reader, message.bytes.clone())?;
    Ok(reader.into_parts().1.memory)
}

/// Accepts the body of a message of a type as a dynamic value.
#[derive(Debug)]
pub struct DynamicReceiver<T> {
    memory: Box<Memory<Value>>,
    described: std::marker::PhantomData<fn() -> T>,
}

impl<T: Same> Receiver for DynamicReceiver<T> {
    fn open_body(&mut self, _: &Head, _: &str, _: &str) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        self.memory.decode(cursor, T::view())
    }
}
