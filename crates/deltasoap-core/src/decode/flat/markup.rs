//! The markup of a flat item, with the white space that may stand in it.
//!
//! Senders put white space between tags: to indent, or because a value was written over a longer
//! one and the rest of its field was filled up. In the second case there is a different amount
//! after each value:
//!
//! ```text
//! <item>1.5</item>      <item>-1.25e-300</item> <item>7</item>          learned: </item><item>
//! ```
//!
//! A [`Gap`] is compared in three ways, the cheapest first: exactly as it was learned; with white
//! space after its first tag, which is that of the value; tag by tag, with white space between any
//! two.
//!
//! This is sound, because such white space means nothing to the general routines either
//! ([`Cursor::next_tag`]): it changes no state that decides how the next tag is read, and counts
//! against no limit except that of the message. The exceptions are skipped elements, where text
//! does count, and comments, after which the meaning of a `>` is unknown: such markup must match
//! exactly as it was learned.
//!
//! An item begins at its `<` and ends before that of the next one: the white space after it belongs
//! to it. So an item that is written over another in the same field begins where the old one began,
//! and so do the items after it.
//!
//! [`Cursor::next_tag`]: super::Cursor::next_tag

use crate::template::Segment;
use deltasoap_xml::scan::skip_white;

/// The markup before, between and after the leaves of an item.
#[derive(Debug, Clone)]
pub(crate) struct Markup {
    /// Before the first leaf.
    pub(in crate::decode) open: Gap,
    /// Between leaves; one fewer than there are leaves.
    pub(in crate::decode) between: Vec<Gap>,
    /// After the last leaf.
    close: Gap,
    /// From the last leaf of an item to the first of the next.
    turn: Gap,
    /// Minimum number of `>` in an item: bytes that contain as many are either a complete item or
    /// do not have this markup.
    ends: usize,
}

/// The content after an item's last leaf and its end tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::decode) struct Next {
    /// Position where the item ends.
    pub(in crate::decode) start: usize,
    /// Start of the text of the next item's first leaf, if another item follows.
    pub(in crate::decode) text: Option<usize>,
}

impl Markup {
    /// Creates the markup of an item that fills `bytes[start..end]`, including the white space
    /// before it, with leaves at `leaves` in `bytes`. Returns `None` without leaves, and if
    /// anything but such white space stands before its start tag: a comment, a section, or a
    /// character reference to white space. If `is_literal`, no other white space may stand in it.
    pub(in crate::decode) fn new(
        bytes: &[u8],
        (start, end): (usize, usize),
        leaves: &[(usize, usize)],
        is_literal: bool,
    ) -> Option<Self> {
        let (first, last) = (leaves.first()?, leaves.last()?);
        let begin = skip_white(bytes, start);
        if bytes.get(begin) != Some(&b'<') || matches!(bytes.get(begin + 1), Some(b'!' | b'?')) {
            return None;
        }
        let gap = |from, to| if is_literal { Gap::literal(&bytes[from..to]) } else { Gap::new(&bytes[from..to]) };
        let (open, close) = (gap(begin, first.0), gap(last.1, end));
        let text: usize = leaves.iter().map(|leaf| ends(&bytes[leaf.0..leaf.1])).sum();
        Some(Markup {
            ends: ends(&bytes[begin..end]) - text,
            between: leaves.windows(2).map(|pair| gap(pair[0].1, pair[1].0)).collect(),
            turn: Gap::joined(&close, white_between(bytes, (start, begin), end), &open),
            open,
            close,
        })
    }

    /// Returns true if an item that fills `bytes[start..end]`, including the white space before it,
    /// is written exactly like the one that was learned.
    pub(in crate::decode) fn is_of(
        &self,
        bytes: &[u8],
        (start, end): (usize, usize),
        leaves: &[(usize, usize)],
    ) -> bool {
        let (Some(first), Some(last)) = (leaves.first(), leaves.last()) else { return false };
        let mut between = self.between.iter().zip(leaves.windows(2));
        self.open.exact_end(bytes, skip_white(bytes, start)) == Some(first.0)
            && between.all(|(gap, pair)| gap.exact_end(bytes, pair[0].1) == Some(pair[1].0))
            && self.close.exact_end(bytes, last.1) == Some(end)
    }

    /// Returns true if the markup consists of tags that contain only names: no attributes, except
    /// those that decide the type.
    pub(in crate::decode) fn says_nothing(&self, decides_type: impl Fn(&str) -> bool) -> bool {
        let mut gaps = [&self.open, &self.close].into_iter().chain(&self.between);
        gaps.all(|gap| are_names(gap.whole.as_slice(), &decides_type).unwrap_or(false))
    }

    /// Returns what follows the end of an item's last leaf; `None` if it is not the item's end.
    #[inline(always)]
    pub(in crate::decode) fn next(&self, bytes: &[u8], at: usize) -> Option<Next> {
        if self.turn.whole.matches(&bytes[at..]) {
            let text = at + self.turn.whole.len();
            return Some(Next { start: text - self.open.whole.len(), text: Some(text) });
        }
        self.next_with_white(bytes, at)
    }

    #[inline(never)]
    fn next_with_white(&self, bytes: &[u8], at: usize) -> Option<Next> {
        if let Some(text) = self.turn.end_after_white(bytes, at) {
            return Some(Next { start: text - self.open.bare, text: Some(text) });
        }
        let start = skip_white(bytes, self.close.end(bytes, at)?);
        Some(Next { start, text: self.open.end(bytes, start) })
    }

    /// Returns the minimum number of bytes before an item's first leaf.
    pub(in crate::decode) fn indent(&self) -> usize {
        self.open.bare
    }

    /// Returns true if `bytes` begin with an item but do not contain its end.
    pub(in crate::decode) fn is_cut(&self, bytes: &[u8]) -> bool {
        self.open.begins(bytes) && ends(bytes) < self.ends
    }

    /// Like [`is_cut`](Self::is_cut), for items whose text may contain `>`.
    pub(in crate::decode) fn lacks_end(&self, bytes: &[u8]) -> bool {
        let has_end = |tag: &Segment| memchr::memmem::find(bytes, tag.as_slice()).is_some();
        self.open.begins(bytes) && !self.close.tags.last().is_some_and(has_end)
    }
}

/// Returns true if markup contains no comments or the like, and no attributes except those that
/// decide the type; `None` if that cannot be determined.
fn are_names(markup: &[u8], decides_type: &impl Fn(&str) -> bool) -> Option<bool> {
    if markup.iter().any(|byte| matches!(byte, b'!' | b'?')) {
        return Some(false);
    }
    let mut rest = markup;
    while let Some(equals) = memchr::memchr(b'=', rest) {
        let name = rest[..equals].trim_ascii_end().rsplit(u8::is_ascii_whitespace).next()?;
        if !decides_type(str::from_utf8(name).ok()?) {
            return Some(false);
        }
        let (quote, value) = rest[equals + 1..].trim_ascii_start().split_first()?;
        rest = &value[memchr::memchr(*quote, value)? + 1..];
    }
    Some(true)
}

/// A sequence of tags.
#[derive(Debug, Clone)]
pub(crate) struct Gap {
    /// The tags as they were learned, with white space.
    whole: Segment,
    /// The first tag.
    first: Segment,
    /// The other tags, without white space.
    rest: Segment,
    /// All tags. Markup that is not a sequence of tags and white space is a single one.
    tags: Vec<Segment>,
    /// Number of bytes without white space.
    bare: usize,
}

impl Gap {
    fn new(markup: &[u8]) -> Self {
        match tags(markup) {
            Some(tags) => Gap::from_tags(markup, tags.into_iter().map(Segment::new).collect()),
            None => Gap::literal(markup),
        }
    }

    /// Creates markup that must match exactly.
    fn literal(markup: &[u8]) -> Self {
        Gap::from_tags(markup, vec![Segment::new(markup)])
    }

    /// Joins two gaps with white space between them.
    fn joined(one: &Gap, white: &[u8], other: &Gap) -> Self {
        let whole = [one.whole.as_slice(), white, other.whole.as_slice()].concat();
        Gap::from_tags(&whole, one.tags.iter().chain(&other.tags).cloned().collect())
    }

    fn from_tags(whole: &[u8], tags: Vec<Segment>) -> Self {
        let texts: Vec<&[u8]> = tags.iter().map(Segment::as_slice).collect();
        let (first, rest) = texts.split_at(1.min(texts.len()));
        let (first, rest) = (Segment::new(&first.concat()), Segment::new(&rest.concat()));
        Gap { whole: Segment::new(whole), bare: first.len() + rest.len(), first, rest, tags }
    }

    /// Returns the end of the gap that begins at `at`; `None` if something else stands there.
    #[inline(always)]
    pub(in crate::decode) fn end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        self.exact_end(bytes, at).or_else(|| self.end_with_white(bytes, at))
    }

    /// Like [`end`](Self::end), for a gap exactly as it was learned.
    #[inline(always)]
    pub(in crate::decode) fn exact_end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        self.whole.matches(&bytes[at..]).then(|| at + self.whole.len())
    }

    /// Like [`end`](Self::end), for a gap with other white space: kept out of the loop over items,
    /// which it would slow down.
    #[inline(never)]
    pub(in crate::decode) fn end_with_white(&self, bytes: &[u8], at: usize) -> Option<usize> {
        self.end_after_white(bytes, at).or_else(|| self.end_by_tags(bytes, at))
    }

    /// Returns the end of the gap if all white space in it is after its first tag.
    #[inline(always)]
    fn end_after_white(&self, bytes: &[u8], at: usize) -> Option<usize> {
        if !self.first.matches(&bytes[at..]) {
            return None;
        }
        let rest = skip_white(bytes, at + self.first.len());
        self.rest.matches(&bytes[rest..]).then(|| rest + self.rest.len())
    }

    /// Returns the end of the gap, with white space allowed between any two of its tags.
    fn end_by_tags(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let mut end = at;
        for tag in &self.tags {
            let start = if end == at { at } else { skip_white(bytes, end) };
            end = tag.matches(&bytes[start..]).then(|| start + tag.len())?;
        }
        Some(end)
    }

    /// Returns true if `bytes` begin with the gap, or the gap begins with `bytes`.
    fn begins(&self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        for tag in &self.tags {
            if !tag.matches(rest) {
                return tag.as_slice().starts_with(rest);
            }
            rest = &rest[tag.len()..];
            rest = &rest[skip_white(rest, 0)..];
        }
        true
    }
}

/// Returns the white space that is expected between two items: the white space after the first one,
/// if an item follows, else the white space before it.
fn white_between(bytes: &[u8], before: (usize, usize), end: usize) -> &[u8] {
    let next = skip_white(bytes, end);
    match bytes.get(next..next + 2) {
        Some([b'<', second]) if *second != b'/' => &bytes[end..next],
        _ => &bytes[before.0..before.1],
    }
}

/// Returns the tags in markup that contains only tags and white space.
fn tags(markup: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut tags, mut at) = (Vec::new(), 0);
    while at < markup.len() {
        let end = at + tag_len(&markup[at..])?;
        tags.push(&markup[at..end]);
        at = skip_white(markup, end);
    }
    Some(tags)
}

/// Returns the length of the start or end tag that begins `markup`.
fn tag_len(markup: &[u8]) -> Option<usize> {
    if !matches!(markup, [b'<', second, ..] if !matches!(second, b'!' | b'?')) {
        return None;
    }
    let mut quote = None;
    for (at, &byte) in markup.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

fn ends(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'>', bytes).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the markup of the single item `text`, whose leaves are the texts `1`.
    fn markup(text: &str) -> Markup {
        let leaves: Vec<_> = text.match_indices('1').map(|(at, _)| (at, at + 1)).collect();
        Markup::new(text.as_bytes(), (0, text.len()), &leaves, false).unwrap()
    }

    fn turned(markup: &Markup, text: &str) -> Option<(usize, usize)> {
        let next = markup.next(text.as_bytes(), 0)?;
        Some((next.start, next.text?))
    }

    fn closed(markup: &Markup, text: &str) -> Option<usize> {
        let next = markup.next(text.as_bytes(), 0)?;
        next.text.is_none().then_some(next.start)
    }

    #[test]
    fn only_names_say_nothing() {
        let decides_type = |name: &str| name == "i:type";
        for (markup, expected) in [
            ("<a><b>", Some(true)),
            ("</b><c i:type='xs:int'>", Some(true)),
            ("<c\ti:type = \"a='b'\" ><d i:type=''>", Some(true)),
            ("<c i:type='xs:int' id='x'>", Some(false)),
            ("<c type='xs:int'>", Some(false)),
            ("<c xmlns:i='urn:i' i:type='x'>", Some(false)),
            ("<a><!-- i:type='x' --><b>", Some(false)),
            ("<a><?x i:type='x'?><b>", Some(false)),
            ("<c i:type='xs:int", None),
            ("<c i:type=", None),
        ] {
            assert_eq!(are_names(markup.as_bytes(), &decides_type), expected, "{markup}");
        }
    }

    #[test]
    fn white_space_between_items_may_change() {
        for learned in ["<i>1</i>", "\n  <i>1</i>"] {
            let markup = markup(learned);
            for white in ["", " ", "\n  ", "\r\n\t", "                                        "] {
                let (text, start) = (format!("</i>{white}<i>2"), 4 + white.len());
                assert_eq!(turned(&markup, &text), Some((start, start + 3)), "{learned} {text:?}");
                assert_eq!(closed(&markup, &format!("</i>{white}</r>")), Some(start));
            }
            assert_eq!((turned(&markup, "</i> x<i>"), turned(&markup, "</i> <i >")), (None, None));
        }
    }

    /// If another item follows, the white space before it is expected after every item; else that
    /// before the first.
    #[test]
    fn white_space_between_items_is_expected_as_it_was_found() {
        let cases = [
            (" <i>1</i>\n  <i>2", "</i>\n  <i>"),
            (" <i>1</i><i>2", "</i><i>"),
            (" <i>1</i>\n</r>", "</i> <i>"),
            (" <i>1</i>\n ", "</i> <i>"),
            (" <i>1</i>", "</i> <i>"),
        ];
        for (text, expected) in cases {
            let markup = Markup::new(text.as_bytes(), (0, 9), &[(4, 5)], false).unwrap();
            assert_eq!(std::str::from_utf8(markup.turn.whole.as_slice()), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn white_space_between_the_tags_of_an_item_may_change() {
        for learned in ["<i><a>1</a><b>1</b></i>", "<i> <a>1</a>\n<b>1</b>\t</i>"] {
            let markup = markup(learned);
            assert_eq!(markup.open.end(b"<i>  <a>", 0), Some(8));
            assert_eq!(markup.open.end(b"<i><a>", 0), Some(6));
            assert_eq!(markup.between[0].end(b"</a>\r\n<b>", 0), Some(9));
            assert_eq!(turned(&markup, "</b> </i>  <i>   <a>"), Some((11, 20)));
            assert_eq!(turned(&markup, "</b></i><i><a>"), Some((8, 14)));
            assert_eq!(turned(&markup, "</b></i><i><b>"), None);
        }
    }

    #[test]
    fn other_markup_stands_as_it_was_learned() {
        let markup = markup("<i><!-- > --><a>1</a></i>");
        assert_eq!(markup.open.end(b"<i><!-- > --><a>", 0), Some(16));
        assert_eq!(markup.open.end(b"<i> <!-- > --><a>", 0), None);
        assert_eq!(turned(&markup, "</a> </i> <i><!-- > --><a>"), Some((10, 26)));
        let leaves = [(3, 4)];
        let literal = Markup::new(b"<i>1</i><o/></j>", (0, 16), &leaves, true).unwrap();
        assert_eq!(closed(&literal, "</i><o/></j> <"), Some(13));
        assert_eq!(closed(&literal, "</i> <o/></j> <"), None);
    }

    #[test]
    fn a_tag_ends_after_its_attributes() {
        assert_eq!(tags(b"</b> <a x='>' y=\"'>\"><c/>"), Some(vec![&b"</b>"[..], b"<a x='>' y=\"'>\">", b"<c/>"]));
        assert_eq!((tags(b"<a>x<b>"), tags(b"<a"), tags(b"<?a?>")), (None, None, None));
    }

    #[test]
    fn an_item_is_cut_before_its_last_tag() {
        let markup = markup("<i><a>1</a> <b>1</b></i>");
        let text = "<i>  <a>22</a><b>3</b>  </i>";
        for end in 0..text.len() {
            assert!(markup.is_cut(&text.as_bytes()[..end]) && markup.lacks_end(&text.as_bytes()[..end]), "{end}");
        }
        assert!(!markup.is_cut(text.as_bytes()) && !markup.lacks_end(text.as_bytes()));
        assert!(!markup.is_cut(b"<i> <b") && !markup.lacks_end(b"<j"));
    }

    /// Like [`Gap::end`], implemented by the definition.
    fn slow_end(tags: &[&str], text: &str) -> Option<usize> {
        let mut rest = text;
        for (index, tag) in tags.iter().enumerate() {
            let white = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
            rest = if index > 0 { rest.trim_start_matches(white) } else { rest };
            rest = rest.strip_prefix(tag)?;
        }
        Some(text.len() - rest.len())
    }

    proptest! {
        #[test]
        fn gaps_end_where_their_tags_do(
            tags in prop::collection::vec(prop::sample::select(vec!["</a>", "<b>", "<c x='1'>", "</longer-than-others>"]), 1..5),
            learned in prop::collection::vec("[ \t\r\n]{0,3}", 5),
            found in prop::collection::vec("[ \t\r\n]{0,3}| {0,40}", 5),
            tail in "[ <a]{0,40}",
            damage in prop::option::of(0..100_usize),
        ) {
            let spaced = |white: &[String]| {
                let text: String = tags.iter().zip(white).map(|(tag, white)| format!("{white}{tag}")).collect();
                text[white[0].len()..].to_owned()
            };
            let gap = Gap::new(spaced(&learned).as_bytes());
            let mut text = spaced(&found) + &tail;
            if let Some(at) = damage {
                text.remove(at % text.len());
            }
            prop_assert_eq!(gap.end(text.as_bytes(), 0), slow_end(&tags, &text));
            prop_assert!(slow_end(&tags, &text).is_none() || gap.begins(text.as_bytes()));
        }
    }
}
