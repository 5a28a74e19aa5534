//! Complex elements: fields in sequence, in any order, or one of several.

use super::cursor::Tag;
use super::flat::Run;
use super::{Cursor, Step, Stop, nil_attribute, other_attribute, skip_element};
use crate::ErrorKind;
use crate::schema::{Attribute, ComplexElement, Compositor, Field, View};
use deltasoap_xml::lexical::LexicalError;

/// A value with fields, as the routine for complex elements sees it. Implemented by the derive macro and by dynamic
/// records.
pub trait DecodeFields {
    /// Makes room for the next occurrence of a field whose start tag was just read.
    fn open(&mut self, field: usize, view: View<'_>);

    /// Reads the content of the occurrence last opened.
    ///
    /// # Errors
    /// See [`Content::decode`](crate::Content::decode).
    fn decode_field(&mut self, field: usize, cursor: &mut Cursor<'_>, view: View<'_>) -> Step;

    /// Reads as many flat items of a repeated field as the window holds.
    fn run(&mut self, field: usize, cursor: &mut Cursor<'_>, decl: &Field, view: View<'_>) -> Run {
        let _ = (field, cursor, decl, view);
        Run::Items(0)
    }

    /// Leaves of one occurrence of a repeated field, if flat.
    fn item_leaves(&self, field: usize, view: View<'_>) -> Option<usize> {
        let _ = (field, view);
        None
    }

    /// Takes an attribute's value.
    ///
    /// # Errors
    /// When the text is not of the attribute's type.
    fn attribute(&mut self, index: usize, text: &str) -> Result<(), LexicalError> {
        let _ = (index, text);
        Ok(())
    }
}

/// Between two fields.
const BETWEEN: u8 = 0;
/// Inside a field, whose own routine has a frame above.
const INSIDE: u8 = 1;
/// Inside an element that the schema does not name.
const SKIPPING: u8 = 2;
/// Inside the one field of a choice that has no element of its own.
const INLINE: u8 = 3;

/// Reads the fields of an element, up to and with its end tag.
///
/// # Errors
/// When a field is missing, unexpected, out of order or at fault itself.
pub fn decode<T: DecodeFields>(target: &mut T, cursor: &mut Cursor<'_>, view: View<'_>) -> Step {
    let Some(complex) = view.complex() else { unreachable!("a complex routine with another schema class") };
    let (me, fresh) = cursor.enter();
    if fresh && cursor.take_inline() {
        open_inline(target, cursor, complex, view, me)?;
    } else if fresh {
        read_attributes(target, cursor, complex)?;
        reserve_seen(cursor, complex);
    }
    loop {
        match cursor.frame(me).state {
            INSIDE => close_field(target, cursor, complex, view, me)?,
            SKIPPING => {
                skip_element(cursor)?;
                cursor.frame(me).state = BETWEEN;
            }
            INLINE => {
                let field = cursor.frame(me).field as usize;
                target.decode_field(field, cursor, view.follow(complex.fields[field].element))?;
                cursor.leave(me);
                return Ok(());
            }
            _ => {}
        }
        run_flat(target, cursor, complex, view, me)?;
        let before = cursor.item_start();
        match cursor.next_tag()? {
            Tag::Start => open_field(target, cursor, complex, view, me, before)?,
            Tag::End | Tag::Done => {
                check_complete(cursor, complex, me)?;
                cursor.leave(me);
                return Ok(());
            }
        }
    }
}

/// The place of a child element's name among the fields.
fn find(cursor: &Cursor<'_>, view: View<'_>, fields: &[Field], from: usize) -> Option<usize> {
    (from..fields.len()).find(|&index| is_field(cursor, view, &fields[index]))
}

/// True if the element just opened is this field, or one of its choices if it is inline.
fn is_field(cursor: &Cursor<'_>, view: View<'_>, field: &Field) -> bool {
    if field.inline {
        let group = view.follow(field.element);
        return group.complex().is_some_and(|choice| find(cursor, group, &choice.fields, 0).is_some());
    }
    cursor.names().is(cursor.name(), &field.name.namespace, &field.name.local)
}

fn open_inline<T: DecodeFields>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
    me: usize,
) -> Step {
    let Some(index) = find(cursor, view, &complex.fields, 0) else { return Err(unexpected(cursor, complex, 0)) };
    open_occurrence(target, cursor, complex, view, me, index);
    cursor.frame(me).state = INLINE;
    Ok(())
}

fn open_occurrence<T: DecodeFields>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
    me: usize,
    index: usize,
) {
    let field = &complex.fields[index];
    target.open(index, view.follow(field.element));
    if field.inline {
        cursor.set_inline();
    }
    let frame = cursor.frame(me);
    frame.count = if frame.field == index as u32 { frame.count.saturating_add(1) } else { 1 };
    frame.field = index as u32;
    frame.is_repeated = field.is_repeated();
    frame.state = INSIDE;
}

fn open_field<T: DecodeFields>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
    me: usize,
    before: Option<usize>,
) -> Step {
    let found = match complex.compositor {
        Compositor::Sequence => select_in_sequence(cursor, complex, view, me)?,
        Compositor::All => select_in_any_order(cursor, complex, view, me)?,
        Compositor::Choice => select_choice(cursor, complex, view, me)?,
    };
    let Some(index) = found else {
        if !complex.open {
            let from = next_in_sequence(cursor, complex, me);
            return Err(unexpected(cursor, complex, from));
        }
        cursor.frame(me).state = SKIPPING;
        return Ok(());
    };
    open_occurrence(target, cursor, complex, view, me, index);
    let field = &complex.fields[index];
    if field.is_repeated() && target.item_leaves(index, view.follow(field.element)).is_some() {
        cursor.learn_from(before);
    }
    Ok(())
}

fn close_field<T: DecodeFields>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
    me: usize,
) -> Step {
    let index = cursor.frame(me).field as usize;
    let field = &complex.fields[index];
    let content = view.follow(field.element);
    target.decode_field(index, cursor, content)?;
    cursor.frame(me).state = BETWEEN;
    if field.is_repeated()
        && let Some(leaves) = target.item_leaves(index, content)
    {
        cursor.learn_item(std::ptr::from_ref(field).addr(), leaves);
    }
    Ok(())
}

/// Takes the shortcut for flat items where their markup is known.
fn run_flat<T: DecodeFields>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
    me: usize,
) -> Step {
    let index = cursor.frame(me).field as usize;
    let Some(field) = complex.fields.get(index) else { return Ok(()) };
    if cursor.frame(me).count == 0 || field.max.is_some() {
        return Ok(());
    }
    let (items, short) = match target.run(index, cursor, field, view.follow(field.element)) {
        Run::Items(items) => (items, false),
        Run::Short(items) => (items, true),
    };
    cursor.frame(me).count = cursor.frame(me).count.saturating_add(items);
    if short { Err(Stop::Pending) } else { Ok(()) }
}

/// The next field in order that has the name; those passed over must be optional or satisfied.
fn select_in_sequence(
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
    me: usize,
) -> Step<Option<usize>> {
    let (current, count) = (cursor.frame(me).field as usize, cursor.frame(me).count);
    let fields = &complex.fields;
    let from = next_in_sequence(cursor, complex, me);
    let Some(index) = find(cursor, view, fields, from) else { return Ok(None) };
    if let Some(missing) = first_missing(fields, current, count, index) {
        let expected = missing.name.to_string();
        return Err(cursor.error_at_tag(ErrorKind::UnexpectedElement {
            found: cursor.found_name(),
            expected: format!("<{expected}>"),
        }));
    }
    Ok(Some(index))
}

/// The first field that may come next in a sequence: the current one, unless it cannot occur again.
fn next_in_sequence(cursor: &mut Cursor<'_>, complex: &ComplexElement, me: usize) -> usize {
    let (current, count) = (cursor.frame(me).field as usize, cursor.frame(me).count);
    let is_full = complex.fields.get(current).is_some_and(|field| field.max.is_some_and(|max| count >= max));
    current + usize::from(is_full)
}

/// The first field in `current..until` that has not occurred often enough.
fn first_missing(fields: &[Field], current: usize, count: u32, until: usize) -> Option<&Field> {
    (current..until.min(fields.len()))
        .map(|index| (&fields[index], if index == current { count } else { 0 }))
        .find(|(field, count)| *count < field.min)
        .map(|(field, _)| field)
}

/// The field with the name, wherever it stands; a repeated one may come back.
fn select_in_any_order(
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
    view: View<'_>,
    me: usize,
) -> Step<Option<usize>> {
    let current = cursor.frame(me).field as usize;
    let found = find(cursor, view, &complex.fields, current).or_else(|| find(cursor, view, &complex.fields, 0));
    let Some(index) = found else { return Ok(None) };
    if set_seen(cursor, me, index) && !complex.fields[index].is_repeated() {
        let found = cursor.found_name();
        let expected = "each field once".to_owned();
        return Err(cursor.error_at_tag(ErrorKind::UnexpectedElement { found, expected }));
    }
    Ok(Some(index))
}

/// The field with the name, if no other was chosen before.
fn select_choice(cursor: &mut Cursor<'_>, complex: &ComplexElement, view: View<'_>, me: usize) -> Step<Option<usize>> {
    let (chosen, count) = (cursor.frame(me).field as usize, cursor.frame(me).count);
    let Some(index) = find(cursor, view, &complex.fields, 0) else { return Ok(None) };
    let again = count > 0 && (index != chosen || complex.fields[index].max.is_some_and(|max| count >= max));
    if again {
        let expected = format!("only one of {}", field_list(&complex.fields));
        let found = cursor.found_name();
        return Err(cursor.error_at_tag(ErrorKind::UnexpectedElement { found, expected }));
    }
    Ok(Some(index))
}

fn reserve_seen(cursor: &mut Cursor<'_>, complex: &ComplexElement) {
    if complex.compositor == Compositor::All {
        let seen = &mut cursor.state().seen;
        let words = complex.fields.len().div_ceil(64);
        seen.resize(seen.len() + words, 0);
    }
}

/// Marks a field as seen; true if it was already.
fn set_seen(cursor: &mut Cursor<'_>, me: usize, index: usize) -> bool {
    let word = cursor.frame(me).log as usize + index / 64;
    let seen = &mut cursor.state().seen[word];
    let bit = 1 << (index % 64);
    let before = *seen & bit != 0;
    *seen |= bit;
    before
}

fn check_complete(cursor: &mut Cursor<'_>, complex: &ComplexElement, me: usize) -> Step {
    let (current, count, log) = {
        let frame = cursor.frame(me);
        (frame.field as usize, frame.count, frame.log as usize)
    };
    let fields = &complex.fields;
    let missing = match complex.compositor {
        Compositor::Sequence => first_missing(fields, current, count, fields.len()),
        Compositor::Choice if count == 0 && !fields.is_empty() && fields.iter().all(|field| field.min > 0) => {
            let expected = format!("one of {}", field_list(fields));
            return Err(cursor.error_at_end(ErrorKind::MissingElement { expected }));
        }
        Compositor::Choice => None,
        Compositor::All => {
            let seen = &cursor.state().seen;
            let is_seen = |index: usize| seen[log + index / 64] & (1 << (index % 64)) != 0;
            fields.iter().enumerate().find(|(index, field)| field.min > 0 && !is_seen(*index)).map(|(_, field)| field)
        }
    };
    match missing {
        None => Ok(()),
        Some(field) => Err(cursor.error_at_end(ErrorKind::MissingElement { expected: field.name.to_string() })),
    }
}

#[cold]
fn unexpected(cursor: &Cursor<'_>, complex: &ComplexElement, from: usize) -> super::Stop {
    let fields = match complex.compositor {
        Compositor::Sequence => &complex.fields[from.min(complex.fields.len())..],
        _ => &complex.fields[..],
    };
    cursor.error_at_tag(ErrorKind::UnexpectedElement { found: cursor.found_name(), expected: field_list(fields) })
}

/// Fields for an error message: the first few.
fn field_list(fields: &[Field]) -> String {
    const SHOWN: usize = 5;
    let mut list: Vec<String> = fields.iter().take(SHOWN).map(|field| format!("<{}>", field.name)).collect();
    if fields.len() > SHOWN {
        list.push(format!("{} more", fields.len() - SHOWN));
    }
    if list.is_empty() { "the end of the element".to_owned() } else { list.join(" or ") }
}

/// Reads the attributes of the element just opened.
pub(crate) fn read_attributes<T: DecodeFields>(
    target: &mut T,
    cursor: &mut Cursor<'_>,
    complex: &ComplexElement,
) -> Step {
    nil_attribute(cursor)?.reject(cursor)?;
    for index in 0..cursor.reader().attribute_count() {
        let (name, text) = cursor.reader().attribute(index);
        let names = cursor.names();
        let known = complex.attributes.iter().position(|a| names.is(name, &a.name.namespace, &a.name.local));
        if let Some(known) = known {
            let result = target.attribute(known, text);
            result.map_err(|error| cursor.error_at_tag(ErrorKind::Lexical(error)))?;
        } else {
            other_attribute(cursor, index)?;
        }
    }
    require_attributes(cursor, &complex.attributes)
}

fn require_attributes(cursor: &Cursor<'_>, attributes: &[Attribute]) -> Step {
    let (reader, names) = (cursor.reader(), cursor.names());
    let is_there = |attribute: &Attribute| {
        (0..reader.attribute_count())
            .any(|index| names.is(reader.attribute(index).0, &attribute.name.namespace, &attribute.name.local))
    };
    match attributes.iter().find(|attribute| attribute.required && !is_there(attribute)) {
        None => Ok(()),
        Some(missing) => Err(cursor.error_at_tag(ErrorKind::MissingAttribute { expected: missing.name.to_string() })),
    }
}
