//! White space between tags.

use crate::markup::Document;
use deltasoap_test_support::Chance;

/// The formatting of a stream's messages.
pub struct Style {
    line: &'static str,
    /// Spaces for each level; `None` for no white space.
    indent: Option<usize>,
    is_ragged: bool,
    /// Inserted before the white space between tags, inside the root element. Usually empty.
    odd: &'static str,
}

impl Style {
    /// Usually leaves white space unchanged; otherwise puts every tag on its own line.
    pub fn any(chance: &mut Chance) -> Self {
        let indent = if chance.one_in(2) { Some(*chance.pick(&[0, 1, 2, 4, 8, 20])) } else { None };
        let line = chance.word(&["\n", "\n", "\r\n", " ", "\t"]);
        let odd = if chance.one_in(8) { chance.word(&["&#32;", "&#xA;", "<!---->", "<![CDATA[ ]]>"]) } else { "" };
        Style { line, indent, is_ragged: chance.one_in(4), odd }
    }

    /// Formats a message with white space between its tags; leaves stay unchanged.
    pub fn apply(&self, text: &str, chance: &mut Chance) -> String {
        let Some(indent) = self.indent else { return text.to_owned() };
        let (mut out, mut level, mut rest) = (String::with_capacity(text.len() * 2), 0usize, text);
        while let Some(close) = rest.find('>') {
            let tag = &rest[..=close];
            let tag = &tag[tag.rfind('<').unwrap_or(0)..];
            out.push_str(&rest[..=close]);
            rest = &rest[close + 1..];
            level = match () {
                () if tag.starts_with("</") => level.saturating_sub(1),
                () if tag.ends_with("/>") || tag.starts_with("<?") || tag.starts_with("<!") => level,
                () => level + 1,
            };
            let is_empty = rest.starts_with("</") && !tag.starts_with("</") && !tag.ends_with("/>");
            if rest.starts_with('<') && !is_empty {
                let depth = if rest.starts_with("</") { level.saturating_sub(1) } else { level };
                let more = if self.is_ragged { chance.below(4) } else { 0 };
                out.push_str(if level > 0 { self.odd } else { "" });
                out.push_str(self.line);
                out.push_str(&" ".repeat(depth * indent + more));
            }
        }
        out.push_str(rest);
        out
    }
}

/// Adds or removes white space in one place.
pub fn change(document: &mut Document, chance: &mut Chance) {
    let gaps: Vec<_> = document.0.match_indices('>').map(|(at, _)| at + 1).collect();
    let Some(&at) = chance.choose(&gaps) else { return };
    let len = document.0[at..].bytes().take_while(u8::is_ascii_whitespace).count();
    if !document.0[at + len..].starts_with('<') {
        return;
    }
    match chance.below(4) {
        0 => document.0.replace_range(at..at + len, ""),
        1 => document.0.insert_str(at, &" ".repeat(chance.between(1, 30))),
        2 => document.0.insert(at, '\n'),
        _ => document.0.replace_range(at..at + len, &"\n".repeat(chance.between(1, 3))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_gets_a_line_but_leaves_stay() {
        let style = Style { line: "\n", indent: Some(1), is_ragged: false, odd: "" };
        let text = style.apply("<a><b><c>1</c><d></d><e/></b></a>", &mut Chance::new(0, 0));
        assert_eq!(text, "<a>\n <b>\n  <c>1</c>\n  <d></d>\n  <e/>\n </b>\n</a>");
        let text = Style { odd: "&#32;", ..style }.apply("<?xml?><a><b>1</b></a>", &mut Chance::new(0, 0));
        assert_eq!(text, "<?xml?>\n<a>&#32;\n <b>1</b>&#32;\n</a>");
    }
}
