//! SOAP arrays: items told by position (SOAP 1.1 section 5.4.2; SOAP 1.2 part 2, section 3.1.6).
//!
//! The size in `arrayType` is only a claim of the sender's. Nothing is allocated from it and nothing is refused for
//! it: the items themselves are the array.

use super::cursor::Tag;
use super::flat::{self, Run};
use super::{Cursor, Step, Stop, nil_attribute, other_attribute};
use crate::content::Content;
use crate::schema::View;
use crate::{ErrorKind, ns};

const BETWEEN: u8 = 0;
const INSIDE: u8 = 1;

/// Most dimensions that an `arrayType` may name.
const DIMENSIONS: usize = 16;

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
    if fresh {
        read_attributes(cursor)?;
        items.clear();
    }
    loop {
        if cursor.frame(me).state == INSIDE {
            let Some(item) = items.last_mut() else { unreachable!("inside an item that was not opened") };
            item.decode(cursor, item_view)?;
            cursor.frame(me).state = BETWEEN;
            if let Some(leaves) = leaves {
                cursor.learn_item(key, leaves);
            }
        }
        if leaves.is_some() {
            let (count, short) = match flat::run(items, cursor, key, item_view) {
                Run::Items(count) => (count, false),
                Run::Short(count) => (count, true),
            };
            cursor.frame(me).count = cursor.frame(me).count.saturating_add(count);
            if short {
                return Err(Stop::Pending);
            }
        }
        let before = cursor.item_start().filter(|_| leaves.is_some());
        match cursor.next_tag()? {
            Tag::Start => open_item(items, cursor, item_view, me, before)?,
            Tag::End | Tag::Done => {
                cursor.leave(me);
                return Ok(());
            }
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
    items.push(T::vacant(view));
    let frame = cursor.frame(me);
    frame.count = frame.count.saturating_add(1);
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
    if let Some(text) = attribute(cursor, "arrayType")
        && !is_linear_array_type(text)
    {
        return Err(cursor.error_at_tag(ErrorKind::ArrayType(text.to_owned())));
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

/// True for `prefix:type[n]` and `prefix:type[]`, with inner ranks as in `prefix:type[][n]`.
fn is_linear_array_type(text: &str) -> bool {
    let text = text.trim_ascii();
    let Some(open) = text.find('[') else { return false };
    let (name, ranks) = text.split_at(open);
    let ranks: Vec<&str> = ranks.split_inclusive(']').take(DIMENSIONS + 1).collect();
    let is_rank = |rank: &str| rank.strip_prefix('[').and_then(|rank| rank.strip_suffix(']')).is_some_and(is_size);
    !name.trim_ascii().is_empty() && ranks.len() <= DIMENSIONS && ranks.iter().all(|rank| is_rank(rank))
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
        for good in ["xsd:int[3]", " xsd:int[3] ", "xsd:int[]", "int[2]", "a:b[][7]"] {
            assert!(is_linear_array_type(good), "{good}");
        }
        for bad in ["", "xsd:int", "xsd:int[2,3]", "xsd:int[3", "xsd:int[x]", "[3]", "xsd:int[3]x"] {
            assert!(!is_linear_array_type(bad), "{bad}");
        }
        assert!(!is_linear_array_type(&format!("x{}", "[]".repeat(1 << 16))));
    }
}
