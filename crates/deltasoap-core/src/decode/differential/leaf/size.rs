//! The size of a SOAP array, which is ignored in comparisons: otherwise every array that grows
//! would be reread.
//!
//! It is a claim by the sender, in the start tag as `arrayType="xsd:int[7]"` (SOAP 1.1, section
//! 5.4.2) or `arraySize="7"` (SOAP 1.2 part 2, 3.1.6), and no routine uses its value.

use deltasoap_xml::scan::first_mismatch;

/// Compares two start tags that may differ in the digits of an array's size. `old` may continue
/// after its tag. Returns the length of the tag in `old` if they are equal otherwise.
pub(super) fn equals_except_size(old: &[u8], new: &[u8]) -> Option<usize> {
    let shared = old.len().min(new.len());
    let differing = first_mismatch(&old[..shared], &new[..shared]);
    let start = new[..differing].iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    let (old_end, new_end) = (after_digits(old, start), after_digits(new, start));
    let ends = (old.get(old_end)?, new.get(new_end)?);
    let rest = &new[new_end..];
    let is_same = ends.0 == ends.1 && old[old_end..].starts_with(rest);
    (is_same && is_size(&new[..start], *ends.1)).then_some(old_end + rest.len())
}

fn after_digits(bytes: &[u8], start: usize) -> usize {
    start + bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns true if the bytes before digits, and the byte after them, make them an array's size.
fn is_size(before: &[u8], after: u8) -> bool {
    match before.split_last() {
        Some((b'[', before)) if after == b']' => {
            let quote = before.iter().rposition(|byte| matches!(byte, b'"' | b'\''));
            quote.is_some_and(|quote| is_named(&before[..quote], b":arrayType"))
        }
        Some((quote @ (b'"' | b'\''), before)) if *quote == after => is_named(before, b":arraySize"),
        _ => false,
    }
}

/// Returns true if `before` ends with an attribute's name and an equals sign, and the name ends
/// with `end` and declares no prefix.
fn is_named(before: &[u8], end: &[u8]) -> bool {
    let Some(name) = before.strip_suffix(b"=") else { return false };
    let start = name.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
    name[start..].ends_with(end) && !name[start..].starts_with(b"xmlns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_size_may_differ() {
        let is_same = |old: &str, new: &str| equals_except_size(format!("{old}<item>").as_bytes(), new.as_bytes());
        for (old, new) in [
            ("<a e:arrayType='x:int[9]'>", "<a e:arrayType='x:int[10]'>"),
            ("<a e:arrayType=\"x:int[10]\" b='c'>", "<a e:arrayType=\"x:int[9]\" b='c'>"),
            ("<a e:arrayType='x:int[]'>", "<a e:arrayType='x:int[1]'>"),
            ("<a e:arraySize='12'>", "<a e:arraySize='13'>"),
            ("<a n='[1]' e:arrayType='x:int[][2]'>", "<a n='[1]' e:arrayType='x:int[][3]'>"),
        ] {
            assert_eq!(is_same(old, new), Some(old.len()), "{old} {new}");
        }
        for (old, new) in [
            ("<a e:arrayType='x:int[9]'>", "<a e:arrayType='y:int[9]'>"),
            ("<a e:arrayType='x:int[9]'>", "<a e:arrayType='x:int[9,1]'>"),
            ("<a e:arrayType='x:int[9]' b='1'>", "<a e:arrayType='x:int[8]' b='2'>"),
            ("<a xmlns:arrayType='u[1]'>", "<a xmlns:arrayType='u[2]'>"),
            ("<a xsi:nil='1'>", "<a xsi:nil='0'>"),
            ("<a b='[1]'>", "<a b='[2]'>"),
            ("<a e:arraySize='12'>", "<a e:arraySize=\"13\">"),
        ] {
            assert_eq!(is_same(old, new), None, "{old} {new}");
        }
    }
}
