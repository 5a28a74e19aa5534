//! Messages of typed values, read as a whole.

use super::{BodyParts, EnvelopeReader, Fault, Head, Receiver};
use crate::content::Message;
use crate::decode::{Cursor, Step, decode_once};
use crate::schema::QName;
use crate::{Content, Error, ErrorKind, Memory, Node, Typed};

/// Receives requests of one type.
#[derive(Debug)]
pub struct RequestReceiver<T> {
    memory: Box<Memory<T>>,
    /// The parts of a body without a wrapper element.
    parts: Option<BodyParts<T>>,
}

impl<T: Message> Default for RequestReceiver<T> {
    fn default() -> Self {
        Self::new(Box::default())
    }
}

impl<T> RequestReceiver<T> {
    /// Creates a receiver for the next request of a stream.
    pub fn new(memory: Box<Memory<T>>) -> Self {
        RequestReceiver { memory, parts: None }
    }

    /// Returns the request; vacant until it is read.
    pub fn value(&self) -> &T {
        self.memory.value()
    }

    /// Returns the request, with the state that the next request of the stream is compared with.
    pub fn into_memory(self) -> Box<Memory<T>> {
        self.memory
    }
}

impl<T: Message> Receiver for RequestReceiver<T> {
    fn open_body(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        open_entry(&mut self.parts, namespace, local)
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        expect_nothing::<T>()
    }

    fn takes_several(&self) -> bool {
        T::HAS_PARTS
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        decode_entry(&mut self.memory, &mut self.parts, cursor)
    }

    fn close_body(&mut self) -> Result<(), ErrorKind> {
        close_parts(&mut self.memory, self.parts.take())
    }
}

/// Handles the start tag of an element of the body.
fn open_entry<T: Message>(parts: &mut Option<BodyParts<T>>, namespace: &str, local: &str) -> Result<(), ErrorKind> {
    if T::HAS_PARTS {
        return parts.get_or_insert_with(|| BodyParts::new(T::view())).open(T::view(), namespace, local);
    }
    if T::ELEMENT.is(namespace, local) {
        return Ok(());
    }
    let found = QName::owned(namespace, local).to_string();
    let expected = if T::ELEMENT.local.is_empty() { "an empty Body".to_owned() } else { format!("<{}>", T::ELEMENT) };
    Err(ErrorKind::UnexpectedElement { found, expected })
}

fn decode_entry<T: Message>(memory: &mut Memory<T>, parts: &mut Option<BodyParts<T>>, cursor: &mut Cursor<'_>) -> Step {
    match parts {
        Some(parts) => parts.decode(cursor, T::view()),
        None => memory.decode(cursor, T::view()),
    }
}

/// Finishes the parts, if any. They replace the memory, since parts are not compared with an
/// earlier message.
fn close_parts<T: Message>(memory: &mut Memory<T>, parts: Option<BodyParts<T>>) -> Result<(), ErrorKind> {
    if let Some(parts) = parts {
        parts.check(T::view())?;
        *memory = Memory::new(parts.into_value());
    }
    Ok(())
}

fn expect_nothing<T: Message>() -> Result<(), ErrorKind> {
    match T::ELEMENT.local.is_empty() {
        true if T::HAS_PARTS => BodyParts::<T>::new(T::view()).check(T::view()),
        true => Ok(()),
        false => Err(ErrorKind::Envelope("the Body is empty")),
    }
}

/// Reads a request of a known type.
///
/// # Errors
/// The first error in document order.
pub fn decode_request<T: Message>(message: &[u8]) -> Result<(Head, T), Error> {
    let mut reader = EnvelopeReader::new(RequestReceiver::<T>::default());
    decode_once(&mut reader, message)?;
    let (head, receiver) = reader.into_parts();
    Ok((head, receiver.into_memory().into_value()))
}

/// A server's reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply<T> {
    /// The response.
    Response(T),
    /// A fault.
    Fault(Box<Fault>),
}

/// Receives a response of one type, or a fault.
#[derive(Debug)]
pub struct ReplyReceiver<T> {
    memory: Box<Memory<T>>,
    /// The parts of a body without a wrapper element.
    parts: Option<BodyParts<T>>,
    fault: Option<Node>,
    /// Blocks that the header of a fault message reports as not understood.
    not_understood: Vec<QName>,
}

impl<T: Message> Default for ReplyReceiver<T> {
    fn default() -> Self {
        Self::new(Box::default())
    }
}

impl<T: Message> ReplyReceiver<T> {
    /// Creates a receiver for the next response of a stream.
    pub fn new(memory: Box<Memory<T>>) -> Self {
        ReplyReceiver { memory, parts: None, fault: None, not_understood: Vec::new() }
    }

    /// Returns the received response or fault.
    ///
    /// # Errors
    /// Returns an error if a fault was received that has no code.
    pub fn into_reply(mut self) -> Result<Reply<T>, Error> {
        Ok(match self.take_fault()? {
            Some(fault) => Reply::Fault(Box::new(fault)),
            None => Reply::Response(self.memory.into_value()),
        })
    }

    /// Takes the fault, if one was received.
    ///
    /// # Errors
    /// Returns an error if the fault has no code.
    pub fn take_fault(&mut self) -> Result<Option<Fault>, Error> {
        let Some(node) = self.fault.take() else { return Ok(None) };
        let not_understood = std::mem::take(&mut self.not_understood);
        let mut fault = Fault::from_node(&node)?;
        fault.not_understood = not_understood;
        Ok(Some(fault))
    }

    /// Returns the response, unless it was a fault, with the state that the next response of the
    /// stream is compared with.
    pub fn into_memory(self) -> Box<Memory<T>> {
        self.memory
    }
}

impl<T: Message> Receiver for ReplyReceiver<T> {
    fn open_body(&mut self, head: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        if namespace == head.version().namespace() && local == "Fault" {
            self.fault = Some(Node::default());
            self.not_understood = Fault::not_understood_in(&head.headers);
            return Ok(());
        }
        open_entry(&mut self.parts, namespace, local)
    }

    fn empty_body(&mut self, _: &Head) -> Result<(), ErrorKind> {
        expect_nothing::<T>()
    }

    fn takes_several(&self) -> bool {
        T::HAS_PARTS && self.fault.is_none()
    }

    /// Opens another part. Not called after a fault, which is the only element of its body.
    fn open_another(&mut self, _: &Head, namespace: &str, local: &str) -> Result<(), ErrorKind> {
        open_entry(&mut self.parts, namespace, local)
    }

    fn decode_body(&mut self, cursor: &mut Cursor<'_>) -> Step {
        match &mut self.fault {
            Some(node) => node.decode(cursor, Node::view()),
            None => decode_entry(&mut self.memory, &mut self.parts, cursor),
        }
    }

    fn close_body(&mut self) -> Result<(), ErrorKind> {
        close_parts(&mut self.memory, self.parts.take())
    }
}

/// Reads a reply: a response or a fault.
///
/// # Errors
/// The first error in document order.
pub fn decode_reply<T: Message>(message: &[u8]) -> Result<(Head, Reply<T>), Error> {
    let mut reader = EnvelopeReader::new(ReplyReceiver::<T>::default());
    decode_once(&mut reader, message)?;
    let (head, receiver) = reader.into_parts();
    Ok((head, receiver.into_reply()?))
}
