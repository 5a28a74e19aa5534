//! Passing over an element that nobody asked for: checked for well-formedness, kept nowhere.

use super::{Cursor, Step};
use deltasoap_xml::Event;

/// Reads an element whose start tag was just read, up to and with its end tag.
///
/// # Errors
/// When it is not well-formed.
pub fn skip_element(cursor: &mut Cursor<'_>) -> Step {
    let (me, _) = cursor.enter();
    cursor.learn_skipped();
    let outside = cursor.frame(me).depth as usize - 1;
    loop {
        if let Event::End = cursor.event()?
            && cursor.reader().depth() == outside
        {
            cursor.leave(me);
            return Ok(());
        }
    }
}
