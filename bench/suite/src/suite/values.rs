//! Values of the suite's operations.

use deltasoap_streams::checksum;

/// Maximum number of items that the service creates, to limit its memory.
pub const MAX_ITEMS: usize = 1_000_000;

/// Number of characters of a received string.
const WIDTH: usize = 100;
/// Padding of the strings.
const DOTS: &str = match std::str::from_utf8(&[b'.'; WIDTH]) {
    Ok(dots) => dots,
    Err(_) => unreachable!(),
};

/// Returns "Message #i" and dots. Padding by `format!` writes them one by one, which takes longer
/// than encoding the string.
pub fn wide(i: i32) -> String {
    let mut text = String::with_capacity(WIDTH);
    text += "Message #";
    text += &i.to_string();
    text += &DOTS[text.len()..];
    text
}

/// Returns a number as in a response.
pub fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Returns the checksum of a number.
pub fn number_sum(count: usize) -> String {
    checksum::ints(&[number(count)])
}
