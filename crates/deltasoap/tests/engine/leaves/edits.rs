//! Edits of documents as text: differences between a stream's messages, and damage.

use deltasoap_test_support::Entropy;

/// Number of documents in a stream.
const DOCUMENTS: usize = 6;

/// Returns a stream that begins with a document. Each of the others is the one before, edited;
/// occasionally one is damaged, or the first is repeated.
pub fn documents(first: &str, entropy: &mut Entropy<'_>) -> Vec<Vec<u8>> {
    let first = match INDENTATIONS[entropy.below(INDENTATIONS.len())] {
        Some((line, level)) => indented(first, line, level),
        None => first.to_owned(),
    };
    let mut document = Document(first.clone());
    if entropy.below(16) == 15 {
        document.grow(entropy);
    }
    (0..DOCUMENTS)
        .map(|index| {
            if index > 0 {
                (0..entropy.below(5)).for_each(|_| document.edit(entropy));
            }
            match entropy.below(16) {
                14 => damaged(document.0.as_bytes(), entropy),
                15 => std::mem::replace(&mut document, Document(first.clone())).0.into_bytes(),
                _ => document.0.clone().into_bytes(),
            }
        })
        .collect()
}

/// Line breaks, and the indentation of each level.
const INDENTATIONS: [Option<(&str, &str)>; 6] =
    [None, Some(("\n", "  ")), Some(("\n", "")), Some(("\r\n", "\t")), Some(("\n", "                    ")), None];

/// Returns a single-line document with each element on its own line.
fn indented(document: &str, line: &str, level: &str) -> String {
    let (mut text, mut depth, mut is_behind_start) = (String::new(), 0_usize, false);
    for piece in document.split_inclusive('>') {
        let (before, tag) = piece.split_at(piece.find('<').unwrap_or(piece.len()));
        let is_end = tag.starts_with("</");
        depth -= usize::from(is_end);
        if before.is_empty() && !text.is_empty() && !(is_end && is_behind_start) {
            text.push_str(line);
            text.push_str(&level.repeat(depth));
        }
        text.push_str(piece);
        is_behind_start = !is_end && !tag.ends_with("/>");
        depth += usize::from(is_behind_start);
    }
    text
}

/// Returns the end of a chunk: within white space, or at its start or end; in the gap before the
/// end tag with this number, if there is one. Returns the whole length of a document without white
/// space.
pub fn cut_in_gap(document: &[u8], number: Option<usize>, entropy: &mut Entropy<'_>) -> usize {
    let is_white = |index: usize| document.get(index).is_some_and(u8::is_ascii_whitespace);
    let mut places: Vec<usize> = (1..document.len()).filter(|&at| is_white(at - 1) || is_white(at)).collect();
    let ends: Vec<usize> = places.iter().copied().filter(|&at| document[at..].starts_with(b"</")).collect();
    if let Some(end) = number.and_then(|number| ends.get(number % ends.len().max(1))) {
        let len = document[..*end].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        places = (end - len..=*end).collect();
    }
    let at = entropy.below(256) * 256 + entropy.below(256);
    places.get(at % places.len().max(1)).copied().unwrap_or(usize::MAX)
}

/// Returns a document with one byte inserted, removed or replaced, or truncated.
fn damaged(document: &[u8], entropy: &mut Entropy<'_>) -> Vec<u8> {
    let mut bytes = document.to_vec();
    let at = (entropy.below(256) * 256 + entropy.below(256)) % bytes.len();
    match entropy.below(4) {
        0 => bytes.truncate(at),
        1 => drop(bytes.remove(at)),
        2 => bytes[at] = b"<>/ x1&"[entropy.below(7)],
        _ => bytes.insert(at, b"<>/ x1&"[entropy.below(7)]),
    }
    bytes
}

/// Well-formed text.
pub struct Document(pub String);

/// The positions of an element within a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    pub start: usize,
    /// End of its start tag.
    pub content: usize,
    /// Start of its end tag; the element's end if it is an empty-element tag.
    pub tag: usize,
    pub end: usize,
    pub name_end: usize,
}

/// Content between two elements, allowed or not.
const BETWEEN: [&str; 7] =
    [" ", "\n  ", "<!-- note -->", "<!--<x>1</x>-->", "<other/>", "<other>1<x>2</x></other>", "<?pi x?>"];
const ATTRIBUTES: [&str; 13] = [
    " id='7'",
    " version='22'",
    " xmlns:z='urn:z'",
    " ",
    " xsi:nil='true'",
    " href='cid:9'",
    " href='#7'",
    " e:position='[0]'",
    " e:position='[1]'",
    " e:position='[3]'",
    " e:position='[5]'",
    " e:offset='[1]'",
    " e:offset='[3]'",
];
const TEXTS: [&str; 8] = ["0", "12", "-3456", "<![CDATA[5]]>", "&#54;", "7<!-- 8 -->9", "", "Zm9v Zg=="];

impl Document {
    /// Makes one edit of some kind somewhere.
    pub fn edit(&mut self, entropy: &mut Entropy<'_>) {
        let elements = self.elements();
        let kind = entropy.below(16);
        // The last children of elements are chosen as often as all others.
        let is_last = |element: &Element| self.0[element.end..].trim_start().starts_with("</");
        let last: Vec<Element> = elements.iter().copied().filter(is_last).collect();
        let of = if entropy.below(2) == 1 { &last } else { &elements };
        let Some(element) = chosen(of, entropy) else { return };
        match kind {
            0..=2 => self.set_text(element, entropy),
            3 => self.replace(element, ""),
            4 | 5 => self.repeat(element, entropy),
            6 => self.exchange(element, &elements, entropy),
            7 => self.imitate(element, &elements, entropy),
            8 => self.0.insert_str(element.start, BETWEEN[entropy.below(BETWEEN.len())]),
            9 => self.0.insert_str(element.tag, BETWEEN[entropy.below(BETWEEN.len())]),
            10 => self.0.insert_str(element.name_end, ATTRIBUTES[entropy.below(ATTRIBUTES.len())]),
            11 => self.strip(element),
            12 if entropy.below(2) == 1 => self.refer(element),
            12 => self.set_empty(element),
            13 => self.resize(element, entropy),
            14 => self.loosen(element),
            _ => self.insert_many(element, entropy),
        }
    }

    /// Makes lists long, so that a message consists of several parts.
    fn grow(&mut self, entropy: &mut Entropy<'_>) {
        for _ in 0..=entropy.below(3) {
            let Some(element) = chosen(&self.elements(), entropy) else { return };
            let text = self.text(element).to_owned();
            let items: String = (0..30_000 / text.len()).map(|n| text.replace('1', &n.to_string())).collect();
            self.0.insert_str(element.start, &items);
        }
    }

    /// Returns all elements except the outermost, in the order of their end tags.
    pub fn elements(&self) -> Vec<Element> {
        let (mut open, mut elements, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(found) = self.0[at..].find('<') {
            let start = at + found;
            let rest = &self.0[start..];
            if let Some(len) = opaque_len(rest) {
                at = start + len;
                continue;
            }
            at = start + rest.find('>').map_or(rest.len(), |end| end + 1);
            let tag = &self.0[start..at];
            if tag.starts_with("</") {
                let Some(begun) = open.pop() else { continue };
                elements.push(Element { tag: start, end: at, ..begun });
                continue;
            }
            let name_end = start + tag.find(|c: char| c.is_whitespace() || "/>".contains(c)).unwrap_or(tag.len());
            let begun = Element { start, content: at, tag: at, end: at, name_end };
            if tag.ends_with("/>") { elements.push(begun) } else { open.push(begun) }
        }
        elements.pop();
        elements
    }

    pub fn name(&self, element: Element) -> &str {
        &self.0[element.start + 1..element.name_end]
    }

    pub fn text(&self, element: Element) -> &str {
        &self.0[element.start..element.end]
    }

    fn replace(&mut self, element: Element, text: &str) {
        self.0.replace_range(element.start..element.end, text);
    }

    fn set_text(&mut self, element: Element, entropy: &mut Entropy<'_>) {
        if !self.0[element.content..element.tag].contains("</") {
            self.0.replace_range(element.content..element.tag, TEXTS[entropy.below(TEXTS.len())]);
        }
    }

    /// Inserts copies of an element, unchanged or with a number changed.
    fn repeat(&mut self, element: Element, entropy: &mut Entropy<'_>) {
        let text = self.text(element).to_owned();
        for _ in 0..=entropy.below(3) {
            let other = text.replace(['1', '2', '3'], ["1", "3", "77"][entropy.below(3)]);
            self.0.insert_str(element.start, if text.contains("arrayType") { &text } else { &other });
        }
    }

    /// Swaps an element with another one of the same name elsewhere.
    fn exchange(&mut self, one: Element, elements: &[Element], entropy: &mut Entropy<'_>) {
        let Some(other) = chosen(&self.like(one, elements), entropy) else { return };
        let (first, last) = if one.start < other.start { (one, other) } else { (other, one) };
        if first.end <= last.start {
            let (a, b) = (self.text(first).to_owned(), self.text(last).to_owned());
            self.replace(last, &a);
            self.replace(first, &b);
        }
    }

    /// Replaces an element with a copy of another one of the same name.
    fn imitate(&mut self, one: Element, elements: &[Element], entropy: &mut Entropy<'_>) {
        if let Some(other) = chosen(&self.like(one, elements), entropy) {
            let text = self.text(other).to_owned();
            self.replace(one, &text);
        }
    }

    fn like(&self, one: Element, elements: &[Element]) -> Vec<Element> {
        let name = self.name(one);
        elements.iter().copied().filter(|&other| other != one && self.name(other) == name).collect()
    }

    /// Removes the attributes of an element.
    fn strip(&mut self, element: Element) {
        let close = if element.content == element.end && element.tag == element.end { 2 } else { 1 };
        if element.content - close >= element.name_end {
            self.0.replace_range(element.name_end..element.content - close, "");
        }
    }

    /// Replaces two tags with an empty-element tag, or vice versa.
    fn set_empty(&mut self, element: Element) {
        let Element { start, content, tag, end, name_end } = element;
        let head = &self.0[start..content];
        let other = match head.strip_suffix("/>") {
            Some(head) => format!("{head}></{}>", &self.0[start + 1..name_end]),
            None if content == tag => format!("{}/>", &head[..head.len() - 1]),
            None => return,
        };
        self.0.replace_range(start..end, &other);
    }

    /// Replaces an element with a reference to another one.
    fn refer(&mut self, element: Element) {
        let name = &self.0[element.start + 1..element.name_end];
        self.replace(element, &format!("<{name} href='#7'/>"));
    }

    /// Changes the size of an array.
    fn resize(&mut self, element: Element, entropy: &mut Entropy<'_>) {
        let head = &self.0[element.start..element.content];
        let size = ["1", "2", "10", "", "345"][entropy.below(5)];
        match head.rfind('[').zip(head.rfind(']')) {
            Some((from, to)) => self.0.replace_range(element.start + from + 1..element.start + to, size),
            None => self.0.insert_str(element.name_end, " e:arrayType='xsd:int[4]'"),
        }
    }

    /// Inserts white space into the end tag.
    fn loosen(&mut self, element: Element) {
        self.0.insert(element.end - if element.tag == element.end { 2 } else { 1 }, ' ');
    }

    /// Inserts a dozen copies, each with a different number.
    fn insert_many(&mut self, element: Element, entropy: &mut Entropy<'_>) {
        let (text, first) = (self.text(element).to_owned(), entropy.below(50));
        if text.len() < 80 && self.0.len() < 4000 {
            let items: String = (0..12).map(|n| text.replace('1', &(first + n).to_string())).collect();
            self.0.insert_str(element.start, &items);
        }
    }
}

fn chosen(elements: &[Element], entropy: &mut Entropy<'_>) -> Option<Element> {
    let at = match elements.len() {
        0 => return None,
        1..=256 => entropy.below(256),
        _ => entropy.below(256) * 256 + entropy.below(256),
    };
    elements.get(at % elements.len()).copied()
}

/// Returns the length of a comment, CDATA section or processing instruction that begins here.
fn opaque_len(rest: &str) -> Option<usize> {
    let ends = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
    let (_, end) = ends.into_iter().find(|(start, _)| rest.starts_with(start))?;
    Some(rest.find(end).map_or(rest.len(), |at| at + end.len()))
}
