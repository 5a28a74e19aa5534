//! SOAP arrays: items told by position (SOAP 1.1 section 5.4.2; SOAP 1.2 part 2, section 3.1.6).
//!
//! The size in `arrayType` is only a claim of the sender's. Nothing is allocated from it and nothing is refused for
//! it: the items themselves are the array.

use super::cursor::Tag;
use super::cursor::{PATCH, SEEK};
use super::differential::leaf::Descent;
use super::flat::{self, Patch, Run};
use super::{Cursor, Step, Stop, nil_attribute, other_attribute};
use crate::content::{APPENDED, Content};
use crate::schema::View;
use crate::types::occurs;
use crate::{ErrorKind, ns};

const BETWEEN: u8 = 0;
const INSIDE: u8 = 1;

/// Reads the items of a SOAP array, up to and with the array's end tag.
///
/// # Errors
/// When the array's type is malformed, or an item is at fault.
pub fn decode<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    let Some(array) = view.array() else { unreachable!("an array routine with another schema class") };
    let item_view = view.follow(array.item);
    let key = std::ptr::from_ref(array).addr();
    let leaves = T::flat_leaves(item_view);
    let (me, fresh) = cursor.enter();
    if fresh && !cursor.is_seeking() {
        read_attributes(cursor)?;
        cursor.begin_children(me);
        if !cursor.go_over(me) {
            items.clear();
        }
    } else if fresh {
        descend(cursor, me, leaves.is_some())?;
    }
    loop {
        if cursor.frame(me).state == SEEK {
            descend(cursor, me, leaves.is_some())?;
        }
        if cursor.frame(me).state == PATCH {
            patch(items, cursor, item_view, me)?;
        }
        if cursor.frame(me).state == INSIDE {
            let place = cursor.frame(me).place as usize;
            let Some(item) = items.get_mut(place) else { unreachable!("inside an item that was not opened") };
            item.decode(cursor, item_view)?;
            cursor.frame(me).state = BETWEEN;
            cursor.note_close();
            if let Some(leaves) = leaves {
                cursor.learn_item(key, leaves);
            }
        }
        if leaves.is_some() && !cursor.can_resync(me) {
            let (count, short) = match flat::run(items, cursor, key, item_view) {
                Run::Items(count) => (count, false),
                Run::Short(count) => (count, true),
            };
            cursor.frame(me).count = cursor.frame(me).count.saturating_add(count);
            if short {
                return Err(Stop::Pending);
            }
        }
        cursor.pause_at_watch(me)?;
        let before = cursor.item_start().filter(|_| leaves.is_some());
        match cursor.next_tag()? {
            Tag::Start => open_item(items, cursor, item_view, me, before)?,
            Tag::End | Tag::Done => {
                if cursor.is_over(me) {
                    items.truncate(cursor.frame(me).count as usize);
                    cursor.state().session.leave();
                }
                cursor.leave(me);
                return Ok(());
            }
        }
    }
}

/// On the way to where regular mode goes on in the array of the message before.
fn descend(cursor: &mut Cursor<'_>, me: usize, is_flat: bool) -> Step {
    let step = cursor.descend(me)?;
    let frame = cursor.frame(me);
    frame.is_repeated = true;
    match step {
        Descent::Into { count, .. } => (frame.count, frame.place, frame.state) = (count, count - 1, INSIDE),
        Descent::Here { count, patch, .. } => {
            (frame.count, frame.state) = (count, if patch { PATCH } else { BETWEEN });
            if is_flat {
                cursor.state().session.charge_flat();
            }
        }
    }
    Ok(())
}

/// Reads flat items again that differ from those of the message before.
fn patch<T: Content>(items: &mut Vec<T>, cursor: &mut Cursor<'_>, view: View<'_>, me: usize) -> Step {
    match flat::patch(items, cursor, view) {
        Patch::Fast => Err(Stop::Switch),
        Patch::Short => Err(Stop::Pending),
        Patch::Other { count, .. } => {
            let frame = cursor.frame(me);
            (frame.count, frame.state) = (count, BETWEEN);
            Ok(())
        }
    }
}

fn open_item<T: Content>(
    items: &mut Vec<T>,
    cursor: &mut Cursor<'_>,
    view: View<'_>,
    me: usize,
    before: Option<usize>,
) -> Step {
    if attribute(cursor, "position").is_some() {
        return Err(cursor.error_at_tag(ErrorKind::ArrayType("an item with a position".to_owned())));
    }
    let count = cursor.frame(me).count.saturating_add(1);
    if cursor.is_over(me)
        && let Some((_, shift)) = cursor.state().session.take_shift()
    {
        let moved = occurs::splice_items(items, shift.place, shift.removed, shift.inserted, view);
        cursor.state().session.charge_moved(moved);
    }
    if cursor.is_over(me) && cursor.resync(me, 0, count, view.array().is_some()) {
        return Err(Stop::Switch);
    }
    cursor.note_open(0, count);
    cursor.note_location(me);
    let place = if cursor.is_over(me) { cursor.frame(me).count as usize } else { APPENDED };
    let place = occurs::open_item(items, place, view);
    let frame = cursor.frame(me);
    frame.place = place as u32;
    frame.count = count;
    frame.is_repeated = true;
    frame.state = INSIDE;
    if before.is_some() {
        cursor.learn_from(before);
    }
    Ok(())
}

fn read_attributes(cursor: &mut Cursor<'_>) -> Step {
    nil_attribute(cursor)?.reject(cursor)?;
    (0..cursor.reader().attribute_count()).try_for_each(|index| other_attribute(cursor, index))?;
    if let Some(text) = attribute(cursor, "arrayType") {
        check_array_type(cursor, text)?;
    }
    if let Some(text) = attribute(cursor, "arraySize")
        && !matches!(text.trim_ascii().trim_start_matches('*').trim_ascii(), size if is_size(size))
    {
        return Err(cursor.error_at_tag(ErrorKind::ArrayType(text.to_owned())));
    }
    if let Some(text) = attribute(cursor, "offset") {
        return Err(cursor.error_at_tag(ErrorKind::ArrayType(format!("offset {text}"))));
    }
    Ok(())
}

/// The value of an attribute of the encoding namespaces on the element just opened.
fn attribute<'a>(cursor: &'a Cursor<'_>, local: &str) -> Option<&'a str> {
    let (reader, names) = (cursor.reader(), cursor.names());
    (0..reader.attribute_count()).map(|index| reader.attribute(index)).find_map(|(name, text)| {
        let is_encoding = names.is(name, ns::SOAP11_ENCODING, local) || names.is(name, ns::SOAP12_ENCODING, local);
        is_encoding.then_some(text)
    })
}

/// The sizes must be of one dimension. The type in front of them is not looked at: the schema tells the items' type, and
/// senders are careless with it.
fn check_array_type(cursor: &Cursor<'_>, text: &str) -> Step {
    let malformed = || cursor.error_at_tag(ErrorKind::ArrayType(text.to_owned()));
    let (_, sizes) = split_array_type(text).ok_or_else(malformed)?;
    let limit = cursor.limits().dimensions;
    if sizes.bytes().filter(|byte| matches!(byte, b'[' | b',')).count() > limit {
        return Err(cursor.beyond("dimensions", limit));
    }
    if is_linear(sizes) { Ok(()) } else { Err(malformed()) }
}

/// The name and the sizes of `prefix:type[n]`.
fn split_array_type(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_ascii();
    let (name, sizes) = text.split_at(text.find('[')?);
    let name = name.trim_ascii();
    (!name.is_empty()).then_some((name, sizes))
}

/// True for `[n]` and `[]`, with inner ranks as in `[][n]`.
fn is_linear(sizes: &str) -> bool {
    let is_rank = |rank: &str| rank.strip_prefix('[').and_then(|rank| rank.strip_suffix(']')).is_some_and(is_size);
    sizes.split_inclusive(']').all(is_rank)
}

/// True for one size, or none.
fn is_size(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_array_types() {
        let is_good = |text| split_array_type(text).is_some_and(|(_, sizes)| is_linear(sizes));
        for good in ["xsd:int[3]", " xsd:int[3] ", "xsd:int[]", "int[2]", "a:b[][7]"] {
            assert!(is_good(good), "{good}");
        }
        for bad in ["", "xsd:int", "xsd:int[2,3]", "xsd:int[3", "xsd:int[x]", "[3]", "xsd:int[3]x"] {
            assert!(!is_good(bad), "{bad}");
        }
    }
}
