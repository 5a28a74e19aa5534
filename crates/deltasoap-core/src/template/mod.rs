//! A message and the positions of its leaves: the knowledge about markup that decode and encode
//! share.
//!
//! The decoder's memory of markup and the encoder's saved markup are the same structure, read in
//! opposite directions. Currently that is the [`Shape`] of a flat item; the leaf table and the
//! images of whole messages belong here.

mod shape;

pub(crate) use deltasoap_xml::segment::{COMPARED, Segment, is_same};
pub(crate) use shape::Shape;
