//! Messages through a single chunk: their items come one by one, and no message is ever held whole.

use std::hint::black_box;
use std::net::SocketAddr;

use anyhow::Result;
use deltasoap::engine::Buffer;
use deltasoap::soap::Envelope;
use deltasoap::stream::Overlay;

use super::Case;
use super::script::Script;
use super::shape::{Shape, check_message};
use crate::allocator;
use crate::engine::{Session, timed};
use crate::socket::{Link, Receiver};

/// Writes the messages of a case through a single chunk.
pub struct Overlaid<S: Shape> {
    script: Script<S>,
    items: Vec<S::Item>,
    /// Size of the chunk in bytes.
    size: usize,
    /// The chunk's memory, reused for each message.
    chunk: Buffer,
    /// The connection for messages, if they are sent.
    link: Option<Link>,
    /// Size of the last message.
    bytes: usize,
}

impl<S: Shape> Overlaid<S> {
    /// Creates a lane for a case.
    ///
    /// # Errors
    /// When there is no server at the address.
    pub fn new(case: &Case, script: Script<S>, server: Option<SocketAddr>) -> Result<Self> {
        let link = server.map(Link::connect).transpose()?;
        Ok(Overlaid { items: script.first.clone(), script, size: case.chunk, chunk: Buffer::new(), link, bytes: 0 })
    }

    fn prepare(&mut self) {
        self.script.next().for_each(|(place, item)| self.items[place] = item.clone());
    }

    /// The timed work.
    fn work(&mut self) -> Result<()> {
        match self.link.take() {
            None => self.write(|chunk| {
                black_box(chunk);
                Ok(())
            }),
            Some(mut link) => {
                link.begin_chunks()?;
                self.write(|chunk| Ok(link.send_chunk(chunk)?))?;
                link.end_chunks()?;
                self.link = Some(link);
                Ok(())
            }
        }
    }

    /// Writes a message, and passes each chunk to `give`.
    fn write(&mut self, mut give: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let items = self.items.iter().map(S::sent);
        let body = S::Streamed::default();
        let mut overlay = Overlay::new(&Envelope::new(&body), items, self.size)?;
        self.bytes = 0;
        while overlay.write_chunk(&mut self.chunk)? {
            self.bytes += self.chunk.len();
            give(self.chunk.as_slice())?;
        }
        Ok(())
    }

    fn check_message(&self, message: &[u8]) -> Result<()> {
        check_message::<S>(message, self.script.current(), !self.items.is_empty())
    }

    /// Sends a message to a server that keeps it, and checks it there.
    fn check_sent(&mut self) -> Result<()> {
        let receiver = Receiver::start()?;
        let usual = self.link.replace(Link::connect(receiver.address())?);
        self.work()?;
        self.link = usual;
        self.check_message(&receiver.message()?)
    }
}

impl<S: Shape> Session for Overlaid<S> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn run(&mut self, count: usize) -> Result<Vec<u64>> {
        let run_once = |_| {
            self.prepare();
            let (ns, result) = timed(|| self.work());
            result.map(|()| ns)
        };
        (0..count).map(run_once).collect()
    }

    fn check(&mut self) -> Result<()> {
        self.prepare();
        let mut message = Vec::new();
        self.write(|chunk| {
            message.extend_from_slice(chunk);
            Ok(())
        })?;
        self.check_message(&message)?;
        if self.link.is_some() { self.check_sent() } else { Ok(()) }
    }

    /// Measures a message through a new chunk, without the items.
    fn peak_bytes(&mut self) -> Result<u64> {
        self.chunk = Buffer::new();
        let give = |chunk: &[u8]| {
            black_box(chunk);
            Ok(())
        };
        let (result, peak) = allocator::peak_of(|| self.write(give));
        result.map(|()| peak)
    }
}
