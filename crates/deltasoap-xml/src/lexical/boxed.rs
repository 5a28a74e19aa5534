//! [`Lexical`] for boxes: a box has the text form of its value. Boxes keep large types from
//! enlarging the types that contain them.

use super::{Image, Lexical, LexicalError, Partial, WhiteSpace};
use crate::{Buffer, Escape};

impl<T: Lexical> Lexical for Box<T> {
    const XSD_NAME: &'static str = T::XSD_NAME;
    const WHITE_SPACE: WhiteSpace = T::WHITE_SPACE;
    const MAX_WIDTH: Option<usize> = T::MAX_WIDTH;
    const STREAMED: bool = T::STREAMED;
    const IMAGE: Image = T::IMAGE;

    fn vacant() -> Self {
        Box::new(T::vacant())
    }

    fn parse(text: &str) -> Result<Self, LexicalError> {
        T::parse(text).map(Box::new)
    }

    fn scan(bytes: &[u8]) -> Option<(Self, usize)> {
        T::scan(bytes).map(|(value, used)| (Box::new(value), used))
    }

    fn scan_into(&mut self, bytes: &[u8]) -> Option<usize> {
        T::scan_into(self, bytes)
    }

    fn format(&self, out: &mut Buffer, escape: Escape) {
        T::format(self, out, escape);
    }

    fn image(&self) -> [u8; 8] {
        T::image(self)
    }

    fn from_image(image: [u8; 8]) -> Option<Self> {
        T::from_image(image).map(Box::new)
    }

    fn write_over(&self, place: &mut [u8], scratch: &mut Buffer) -> bool {
        T::write_over(self, place, scratch)
    }

    fn is_text(&self, text: &[u8], scratch: &mut Buffer) -> bool {
        T::is_text(self, text, scratch)
    }

    fn clear(&mut self) {
        T::clear(self);
    }

    fn append(&mut self, piece: &str, partial: &mut Partial) -> Result<(), LexicalError> {
        T::append(self, piece, partial)
    }

    fn progress(&self) -> usize {
        T::progress(self)
    }

    fn keep(&mut self, progress: usize) {
        T::keep(self, progress);
    }

    fn finish(&mut self, partial: &mut Partial) -> Result<(), LexicalError> {
        T::finish(self, partial)
    }
}
