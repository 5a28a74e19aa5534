//! Complex elements with simple content: attributes, and text of a simple type (XSD 1.0 part 1,
//! 3.4.1).

use super::complex::{DecodeFields, read_attributes};
use super::{Cursor, Step};
use crate::schema::View;

/// Reads an element's attributes and its text, up to and including its end tag. The text is read as
/// field 0.
///
/// # Errors
/// When an attribute is missing, or when an attribute or the text is invalid.
pub fn decode<T: DecodeFields + ?Sized>(target: &mut T, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    let Some((complex, text)) = view.complex().and_then(|complex| Some((complex, complex.text?))) else {
        unreachable!("a routine for simple content with another schema class")
    };
    let (me, fresh) = cursor.enter();
    if fresh {
        if cursor.go_over(me) {
            target.vacate_attributes();
        } else if cursor.is_within_old(me) && !cursor.is_seeking() {
            target.vacate(view);
        }
        read_attributes(target, cursor, complex, view)?;
        cursor.set_attributes_read();
    }
    target.decode_field(0, cursor, view.follow(text))?;
    cursor.leave(me);
    Ok(())
}
