//! A message and the places of its leaves: what decode and encode both know about markup.
//!
//! The decoder's memory of markup and the encoder's saved markup are the same structure read in
//! opposite directions. Today that is the [`Shape`] of a flat item; the leaf table and the images
//! of whole messages have their place here.

mod shape;

pub(crate) use deltasoap_xml::segment::{COMPARED, Segment, is_same};
pub(crate) use shape::Shape;
