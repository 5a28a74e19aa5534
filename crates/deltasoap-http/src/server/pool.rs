//! Decoders that wait for the next request.
//!
//! A decoder that has read a message knows the names and tags that senders use, and has allocated
//! its memory. Nothing else of the message remains in it: [`Decoder::reset`] forgets all values,
//! including tags with attributes and comments, and all positions.

use deltasoap_core::DecodeOptions;
use deltasoap_core::decode::Decoder;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of waiting decoders. More are only needed while more requests are read at one
/// time.
const IDLE: usize = 64;

/// Decoders with the same options.
#[derive(Debug)]
pub(crate) struct Pool {
    options: DecodeOptions,
    #[expect(clippy::vec_box, reason = "a decoder is some kilobytes, and is passed on several times a request")]
    idle: Mutex<Vec<Box<Decoder>>>,
}

impl Pool {
    pub(crate) fn new(options: DecodeOptions) -> Arc<Self> {
        Arc::new(Pool { options, idle: Mutex::default() })
    }

    /// Returns a decoder that is ready for a message.
    pub(crate) fn take(self: &Arc<Self>) -> Pooled {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Pooled { decoder: Some(idle.unwrap_or_else(|| Box::new(Decoder::new(self.options)))), pool: Arc::clone(self) }
    }

    fn put_back(&self, mut decoder: Box<Decoder>) {
        decoder.reset();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.push(decoder);
        }
    }
}

/// A decoder that is returned to its pool.
#[derive(Debug)]
pub(crate) struct Pooled {
    /// Present until it is dropped.
    decoder: Option<Box<Decoder>>,
    pool: Arc<Pool>,
}

impl Deref for Pooled {
    type Target = Decoder;

    fn deref(&self) -> &Decoder {
        match &self.decoder {
            Some(decoder) => decoder,
            None => unreachable!("a decoder is there until it is dropped"),
        }
    }
}

impl DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut Decoder {
        match &mut self.decoder {
            Some(decoder) => decoder,
            None => unreachable!("a decoder is there until it is dropped"),
        }
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        if let Some(decoder) = self.decoder.take()
            && !std::thread::panicking()
        {
            self.pool.put_back(decoder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoders_come_back_up_to_a_bound() {
        let pool = Pool::new(DecodeOptions::default());
        let taken: Vec<Pooled> = (0..IDLE + 10).map(|_| pool.take()).collect();
        assert_eq!(pool.idle.lock().expect("not poisoned").len(), 0);
        drop(taken);
        assert_eq!(pool.idle.lock().expect("not poisoned").len(), IDLE);
        let _one = pool.take();
        assert_eq!(pool.idle.lock().expect("not poisoned").len(), IDLE - 1);
    }
}
