//! The samples, split into fixed and changing parts.
//!
//! A sample is processed as text, not as XML: the pieces between the changing parts are kept
//! unchanged, so that a stream has the white space and the prefixes of the device's own toolkit.
//! Rendering the unchanged contents gives the original sample, byte for byte. The tests check this
//! for every sample, so splitting needs no error: if a marker is missing, nothing is cut off.

use std::fmt::Write as _;

/// Number of samples that streams derive from.
pub const SAMPLES: usize = 8;

/// A real `Inform` that streams derive from.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Name of the file in `testdata/sequences/tr069-inform` without `.xml`.
    pub name: &'static str,
    /// The message, byte for byte.
    pub xml: &'static str,
}

/// The samples, in the order in which devices use them.
#[must_use]
pub fn samples() -> [Sample; SAMPLES] {
    macro_rules! sample {
        ($name:literal) => {
            Sample { name: $name, xml: include_str!(concat!("../../data/sequences/tr069-inform/", $name, ".xml")) }
        };
    }
    [
        sample!("zyxel-p2601"),
        sample!("sagemcom-router"),
        sample!("motorola-vap2404"),
        sample!("zyxel-vmg8924"),
        sample!("cytco-serials"),
        sample!("company-iad001"),
        sample!("zyxel-p2601-generated"),
        sample!("zyxel-p2601-no-more-requests"),
    ]
}

/// The changing parts of an `Inform`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inform {
    /// Content of `cwmp:ID`; `None` if the message has no Header.
    pub id: Option<String>,
    pub serial: String,
    pub events: Vec<Event>,
    pub time: String,
    pub retry: String,
    pub parameters: Vec<Parameter>,
}

/// An `EventStruct`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub code: String,
    pub key: String,
}

/// A `ParameterValueStruct`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub name: String,
    /// Value of xsi:type, such as `xsd:string`.
    pub kind: String,
    pub value: String,
}

/// The fixed parts: the pieces of the sample around its changing contents, in order.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    before_id: &'static str,
    before_serial: &'static str,
    events: ArrayLayout<3>,
    before_time: &'static str,
    before_retry: &'static str,
    parameters: ArrayLayout<4>,
    after: &'static str,
}

/// The pieces around a SOAP array: up to its number of items, from there to the items, and the
/// pieces around an item's contents.
#[derive(Clone, Debug)]
struct ArrayLayout<const PIECES: usize> {
    before_count: &'static str,
    /// Minimum number of digits of that number: the sample's, if it begins with 0.
    count_width: usize,
    before_items: &'static str,
    item: [&'static str; PIECES],
}

impl Layout {
    /// Splits a sample into fixed and changing parts.
    pub(super) fn cut(sample: &Sample) -> (Self, Inform) {
        let mut rest = Cutter { rest: sample.xml };
        let (before_id, id) = rest.optional_id();
        let (before_serial, serial) = rest.content("<SerialNumber>");
        let (events, event_items) = rest.array("EventStruct", ["<EventCode>", "<CommandKey>"]);
        let (before_time, time) = rest.content("<CurrentTime>");
        let (before_retry, retry) = rest.content("<RetryCount>");
        let (parameters, parameter_items) = rest.array("ParameterValueStruct", ["<Name>", "xsi:type=\"", ">"]);
        let after = rest.rest;
        let layout = Self { before_id, before_serial, events, before_time, before_retry, parameters, after };
        let events = event_items.map(|[code, key]| Event { code, key }).collect();
        let parameters = parameter_items.map(|[name, kind, value]| Parameter { name, kind, value }).collect();
        let inform = Inform { id, serial: serial.into(), events, time: time.into(), retry: retry.into(), parameters };
        (layout, inform)
    }

    /// Renders the message with these contents, which must not contain `<` or `&`.
    pub(super) fn render(&self, inform: &Inform) -> String {
        let mut out = String::with_capacity(4096);
        out.push_str(self.before_id);
        out.push_str(inform.id.as_deref().unwrap_or_default());
        out.push_str(self.before_serial);
        out.push_str(&inform.serial);
        self.events.render(&mut out, inform.events.iter().map(|event| [&*event.code, &*event.key]));
        out.push_str(self.before_time);
        out.push_str(&inform.time);
        out.push_str(self.before_retry);
        out.push_str(&inform.retry);
        let parameters = inform.parameters.iter();
        self.parameters.render(&mut out, parameters.map(|it| [&*it.name, &*it.kind, &*it.value]));
        out.push_str(self.after);
        out
    }
}

impl<const PIECES: usize> ArrayLayout<PIECES> {
    fn render<'a, const CONTENTS: usize>(
        &self,
        out: &mut String,
        items: impl ExactSizeIterator<Item = [&'a str; CONTENTS]>,
    ) {
        out.push_str(self.before_count);
        let _ = write!(out, "{:0width$}", items.len(), width = self.count_width);
        out.push_str(self.before_items);
        for item in items {
            for (piece, content) in self.item.iter().zip(item.into_iter().chain([""])) {
                out.push_str(piece);
                out.push_str(content);
            }
        }
    }
}

/// The rest of a sample that is being split.
struct Cutter {
    rest: &'static str,
}

impl Cutter {
    /// Takes the text through `marker`.
    fn through(&mut self, marker: &str) -> &'static str {
        let end = self.rest.find(marker).map_or(0, |at| at + marker.len());
        self.take(end)
    }

    /// Takes the text up to `marker`, which stays.
    fn up_to(&mut self, marker: &str) -> &'static str {
        let end = self.rest.find(marker).unwrap_or(0);
        self.take(end)
    }

    fn take(&mut self, end: usize) -> &'static str {
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Takes the text through `start`, and the content from there to the next tag.
    fn content(&mut self, start: &str) -> (&'static str, &'static str) {
        (self.through(start), self.up_to("<"))
    }

    fn optional_id(&mut self) -> (&'static str, Option<String>) {
        if !self.rest.contains("<cwmp:ID") {
            return ("", None);
        }
        let end = self.rest.find("<cwmp:ID").and_then(|at| Some(at + self.rest.get(at..)?.find('>')? + 1));
        let before = self.take(end.unwrap_or(0));
        (before, Some(self.up_to("<").into()))
    }

    /// Takes a SOAP array: its layout, after that of its first item, and the contents of its items.
    /// `marks` end with the character before a content; the content ends at a tag or a quote.
    fn array<const CONTENTS: usize, const PIECES: usize>(
        &mut self,
        item_name: &str,
        marks: [&str; CONTENTS],
    ) -> (ArrayLayout<PIECES>, impl Iterator<Item = [String; CONTENTS]> + use<CONTENTS, PIECES>) {
        let before_count = self.through(&format!("{item_name}["));
        let count = self.up_to("]");
        let before_items = self.through(">");
        let (last, mut item, mut contents) = (format!("</{item_name}>"), [""; PIECES], Vec::new());
        while self.next_is(&format!("<{item_name}>")) {
            let mut content = [const { String::new() }; CONTENTS];
            for (index, mark) in marks.iter().enumerate() {
                item[index] = self.through(mark);
                content[index] = self.up_to(if mark.ends_with('"') { "\"" } else { "<" }).into();
            }
            item[CONTENTS] = self.through(&last);
            contents.push(content);
        }
        let count_width = if count.starts_with('0') { count.len() } else { 1 };
        (ArrayLayout { before_count, count_width, before_items, item }, contents.into_iter())
    }

    fn next_is(&self, tag: &str) -> bool {
        self.rest.trim_start().starts_with(tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_contents_give_the_sample_back() {
        for sample in samples() {
            let (layout, inform) = Layout::cut(&sample);
            assert_eq!(layout.render(&inform), sample.xml, "{}", sample.name);
        }
    }

    #[test]
    fn contents_are_found() {
        for sample in samples() {
            let (_, inform) = Layout::cut(&sample);
            assert_eq!(inform.events.len(), 1, "{}", sample.name);
            assert!(inform.events[0].code.ends_with(['C', 'T']), "{}", inform.events[0].code);
            assert!(inform.parameters.len() >= 8, "{}", sample.name);
            assert!(inform.parameters.iter().all(|parameter| parameter.kind == "xsd:string"));
            assert_eq!(inform.id.is_some(), sample.xml.contains("Header"), "{}", sample.name);
            assert!(inform.serial.len() >= 9 && inform.time.starts_with("20"));
        }
    }

    #[test]
    fn a_count_keeps_its_leading_zeros() {
        let vmg = samples().into_iter().find(|sample| sample.name == "zyxel-vmg8924").unwrap();
        let (layout, mut inform) = Layout::cut(&vmg);
        inform.parameters.pop();
        assert!(layout.render(&inform).contains("ParameterValueStruct[0007]"));
    }
}
