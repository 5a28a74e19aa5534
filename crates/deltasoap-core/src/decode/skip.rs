//! Skipping unneeded elements: they are checked for well-formedness, but not kept.

use super::{Cursor, Step};
use deltasoap_xml::Event;

/// Skips an element whose start tag was just read, up to and including its end tag.
///
/// # Errors
/// When it is not well-formed.
pub fn skip_element(cursor: &mut Cursor<'_>) -> Step {
    let (me, fresh) = cursor.enter();
    cursor.learn_skipped();
    if fresh {
        cursor.note_if_id()?;
    }
    let outside = cursor.frame(me).depth as usize - 1;
    loop {
        match cursor.event()? {
            Event::Start => cursor.note_if_id()?,
            Event::End if cursor.reader().depth() == outside => {
                cursor.leave(me);
                return Ok(());
            }
            _ => {}
        }
    }
}
