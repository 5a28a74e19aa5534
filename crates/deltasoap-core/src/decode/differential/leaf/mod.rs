//! Leaf checkpoints: every leaf is a place where reading can go on, at the cost of its position.

mod begin;
mod image;
mod merge;
mod recorder;
mod session;
mod shift;
mod size;
mod table;
mod template;

pub(crate) use begin::Begin;
pub(crate) use image::{Chunk, Image};
pub(crate) use session::{Advance, Descent, Patched, Session, StartTag};
pub(crate) use table::{Run, Touched};
pub(crate) use template::Template;
