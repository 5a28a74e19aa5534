//! Prediction: from an operation of a WSDL to the cost of its messages (Imre et al., 3.4).
//!
//! A message is built from the operation's schema, with the requested numbers of items and
//! characters, and values of typical width. Its features are counted, and the model gives their
//! cost. Its size is not estimated but measured on the written message.

mod change;
mod endless;
mod fill;

pub use fill::{OpenPart, SizeKind, Sizes};

use crate::CostError;
use crate::calibration::{Activity, Mode};
use crate::fit::model::{ActivityModel, Estimate, Model};
use crate::measure::is_compared;
use crate::usage::{Changes, Usage, compared_parts, parts};
use crate::workload::Body;
use change::next_value;
use deltasoap_core::schema::{ElementRef, QName, Use};
use deltasoap_core::{Buffer, Value};
use deltasoap_dynamic::Operation;
use endless::endless;
use fill::Filler;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The cost of an operation's messages.
#[derive(Debug, Clone, Serialize)]
pub struct Prediction {
    /// The operation's full name.
    pub operation: String,
    /// The request, and the response if there is one.
    pub messages: Vec<MessageCost>,
}

/// The direction of an operation's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From client to server.
    Request,
    /// From server to client.
    Response,
}

/// The cost of one message.
#[derive(Debug, Clone, Serialize)]
pub struct MessageCost {
    /// The direction of the message.
    pub direction: Direction,
    /// Name of the body's element.
    pub element: String,
    /// Size on the wire in bytes, without HTTP.
    pub bytes: usize,
    /// Number of leaves: values of simple types.
    pub leaves: u64,
    /// Nanoseconds to serialize the message to memory.
    pub serialize: Estimate,
    /// Nanoseconds to serialize the message to a socket, over loopback, as in the paper (section
    /// 3); `None` if not measured.
    pub send: Option<Estimate>,
    /// Nanoseconds to deserialize the message.
    pub deserialize: Estimate,
    /// The parts, in document order. The first, with an empty path, is the message around them; in
    /// differential mode it includes the comparison of the message's bytes.
    pub parts: Vec<PartCost>,
    /// Parts of open size, and the sizes used.
    pub open: Vec<OpenPart>,
}

/// The cost of a part of a message.
#[derive(Debug, Clone, Serialize)]
pub struct PartCost {
    /// Element names from the body's element on, separated by `/`; `@` precedes attributes.
    pub path: String,
    /// Nanoseconds to serialize the part.
    pub serialize: f64,
    /// Nanoseconds to deserialize the part.
    pub deserialize: f64,
    /// The part's share of both costs of the message, from 0 to 1.
    pub share: f64,
}

/// A message, with everything needed to write it.
#[derive(Debug)]
pub struct Sample {
    /// The operation, which has the schema.
    pub operation: Operation,
    /// The direction of the message.
    pub direction: Direction,
    /// Parts of open size.
    pub open: Vec<OpenPart>,
    name: QName,
    content: ElementRef,
    value: Value,
    /// The value of the next message, which differs as `changes` says; the same value if that is
    /// empty.
    next: Value,
    changes: BTreeMap<String, Changes>,
    encoding: Use,
}

impl Sample {
    /// Returns the message's body.
    pub fn body(&self) -> Body<'_> {
        self.body_in_turn(0)
    }

    /// Returns the body of the message and of the next one, alternating by `turn`.
    pub fn body_in_turn(&self, turn: usize) -> Body<'_> {
        let (view, version) = (self.operation.view(self.content), self.operation.version());
        let value = if turn.is_multiple_of(2) { &self.value } else { &self.next };
        Body { name: &self.name, view, value, encoding: self.encoding, version }
    }

    /// Returns true if the next message has other values.
    pub fn is_changing(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Returns the name of the body's element.
    pub fn element(&self) -> &QName {
        &self.name
    }

    /// Returns the content of the body's element.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns `count` values of the same size, the first of them this one. In the others each leaf
    /// has another value, if its type has one.
    pub(crate) fn variants(&self, count: usize) -> Vec<Value> {
        let all = Sizes { changed: BTreeMap::from([(String::new(), 1.0)]), ..Sizes::default() };
        let view = self.operation.view(self.content);
        let other = |number| next_value(&self.value, view, &all, number).0;
        std::iter::once(self.value.clone()).chain((1..count as u64).map(other)).collect()
    }

    /// Encodes the message in full.
    ///
    /// # Errors
    /// When the message cannot be written.
    pub fn encode(&self) -> Result<Buffer, CostError> {
        let failed = |error: deltasoap_core::Error| CostError::Engine {
            what: self.operation.full_name(),
            reason: error.to_string(),
        };
        self.body().encode(Buffer::new()).map_err(failed)
    }
}

/// Creates the messages of an operation with the given sizes.
///
/// # Errors
/// When the operation cannot be used, neither message has the path of a size, or a type has no end.
pub fn samples(operation: &Operation, sizes: &Sizes) -> Result<Vec<Sample>, CostError> {
    let method = operation.method().map_err(|error| CostError::Operation(error.to_string()))?;
    let encoding = method.element.encoding;
    let mut samples = Vec::new();
    let request = operation.request().map(|body| (Direction::Request, body));
    let response = operation.response().map(|body| (Direction::Response, body));
    for (direction, (name, content)) in request.into_iter().chain(response) {
        let view = operation.view(content);
        if let Some(path) = endless(view) {
            return Err(CostError::Endless { path });
        }
        let value = match direction {
            Direction::Request => operation.request_sample(),
            Direction::Response => operation.response_sample(),
        };
        let mut value =
            value.ok_or_else(|| CostError::Operation(format!("{} has no sample", operation.full_name())))?;
        let mut filler = Filler::new(sizes);
        filler.fill(&mut value, view)?;
        let open = filler.open;
        let (next, changes) = next_value(&value, view, sizes, 1);
        let (operation, name) = (operation.clone(), name.clone());
        samples.push(Sample { operation, direction, open, name, content, value, next, changes, encoding });
    }
    check_paths(&samples, sizes)?;
    Ok(samples)
}

/// Checks that a message contains each path with a given size, as a part of that kind.
fn check_paths(samples: &[Sample], sizes: &Sizes) -> Result<(), CostError> {
    let open = || samples.iter().flat_map(|sample| &sample.open);
    let known =
        |kind: SizeKind| open().filter(|part| part.kind == kind).map(|part| part.path.clone()).collect::<BTreeSet<_>>();
    let all: BTreeSet<String> =
        samples.iter().flat_map(|it| parts(&it.body())).map(|it| it.0).filter(|it| !it.is_empty()).collect();
    for (given, known) in [(&sizes.lengths, known(SizeKind::Length)), (&sizes.texts, known(SizeKind::Text))] {
        if let Some(path) = given.keys().find(|path| !known.contains(*path)) {
            return Err(CostError::UnknownPath { path: path.clone(), known: known.into_iter().collect() });
        }
    }
    match sizes.changed.keys().find(|path| !path.is_empty() && !all.contains(*path)) {
        Some(path) => Err(CostError::UnknownPath { path: path.clone(), known: all.into_iter().collect() }),
        None => Ok(()),
    }
}

/// Predicts the cost of an operation's messages.
///
/// # Errors
/// As [`samples`], and when the calibration has no series for a feature of a message.
pub fn predict(model: &Model, operation: &Operation, sizes: &Sizes) -> Result<Prediction, CostError> {
    let samples = samples(operation, sizes)?;
    let messages = samples.iter().map(|sample| message_cost(model, sample)).collect::<Result<_, _>>()?;
    Ok(Prediction { operation: operation.full_name(), messages })
}

/// Predicts the cost of one message.
///
/// # Errors
/// As [`predict`].
pub fn message_cost(model: &Model, sample: &Sample) -> Result<MessageCost, CostError> {
    let bytes = sample.encode()?.len();
    let [write, read] =
        [Activity::Serialize, Activity::Deserialize].map(|activity| Work::new(model.mode, activity, sample));
    let (write, read) = (write?, read?);
    Ok(MessageCost {
        direction: sample.direction,
        element: sample.name.to_string(),
        bytes,
        leaves: Usage::from_body(&sample.body()).leaves() as u64,
        serialize: write.estimate(model)?,
        send: if_measured(Work::new(model.mode, Activity::Send, sample)?.estimate(model))?,
        deserialize: read.estimate(model)?,
        parts: part_costs(model, &write, &read)?,
        open: sample.open.clone(),
    })
}

/// Returns `None` if the toolkit does not support the activity, or not in that mode.
pub(crate) fn if_measured<T>(found: Result<T, CostError>) -> Result<Option<T>, CostError> {
    match found {
        Err(CostError::NotMeasured(_)) => Ok(None),
        found => found.map(Some),
    }
}

/// An activity with a message.
#[derive(Debug)]
pub struct Work {
    /// The activity.
    pub activity: Activity,
    /// The mode. In differential mode, messages that are not compared are read or written in
    /// regular mode.
    pub mode: Mode,
    /// The features of the message's parts that matter in that mode.
    parts: Vec<(String, Usage)>,
}

impl Work {
    /// Creates the work of an activity in a mode.
    ///
    /// # Errors
    /// When the message cannot be written.
    pub fn new(mode: Mode, activity: Activity, sample: &Sample) -> Result<Self, CostError> {
        let is_in_full = mode == Mode::Regular || !is_compared(sample, activity);
        let parts = parts(&sample.body());
        if is_in_full {
            return Ok(Work { activity, mode: Mode::Regular, parts });
        }
        let changes = |path: &str, _: &Usage| sample.changes.get(path).cloned().unwrap_or_default();
        let parts = compared_parts(&parts, sample.encode()?.len(), changes);
        Ok(Work { activity, mode, parts })
    }

    /// Returns the features of the whole message.
    pub fn usage(&self) -> Usage {
        let mut all = Usage::default();
        self.parts.iter().for_each(|(_, part)| all.merge(part));
        all
    }

    /// Estimates the cost.
    ///
    /// # Errors
    /// When the calibration has no series for a feature of the message.
    pub fn estimate(&self, model: &Model) -> Result<Estimate, CostError> {
        self.fitted(model)?.features.estimate(&self.usage())
    }

    /// Returns the model of this activity.
    ///
    /// # Errors
    /// When the activity was not measured.
    pub fn fitted<'m>(&self, model: &'m Model) -> Result<&'m ActivityModel, CostError> {
        model.in_mode(self.activity, self.mode)
    }
}

/// Returns the cost of each part on both sides, which have the same parts.
fn part_costs(model: &Model, write: &Work, read: &Work) -> Result<Vec<PartCost>, CostError> {
    let (serialize, deserialize) = (&write.fitted(model)?.features, &read.fitted(model)?.features);
    let cost = |((path, written), (_, read)): (&(String, Usage), &(String, Usage))| {
        let (serialize, deserialize) = (serialize.estimate(written)?.cost, deserialize.estimate(read)?.cost);
        Ok(PartCost { path: path.clone(), serialize, deserialize, share: 0.0 })
    };
    let mut costs: Vec<PartCost> = write.parts.iter().zip(&read.parts).map(cost).collect::<Result<_, CostError>>()?;
    let total: f64 = costs.iter().map(|part| part.serialize + part.deserialize).sum();
    costs.iter_mut().for_each(|part| part.share = (part.serialize + part.deserialize) / total);
    Ok(costs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::Feature;
    use deltasoap_dynamic::Contract;

    const SHOP: &str = include_str!("../../../deltasoap-dynamic/tests/data/shop.wsdl");

    fn order() -> Operation {
        Contract::from_text(SHOP).expect("a contract").operation("Order").expect("an operation")
    }

    fn request(sizes: &Sizes) -> Sample {
        samples(&order(), sizes).expect("samples").remove(0)
    }

    #[test]
    fn messages_are_as_large_as_asked_for() {
        let mut sizes = Sizes::default();
        sizes.lengths.insert("item".into(), 25);
        sizes.texts.insert("customer".into(), 300);
        let sample = request(&sizes);
        let text = String::from_utf8(sample.encode().expect("written").into_vec()).expect("text");
        assert_eq!(text.matches(":item").count(), 2 * 25, "start and end tags: {text}");
        let customer = parts(&sample.body()).into_iter().find(|it| it.0 == "customer").expect("a part").1;
        assert_eq!(customer.count(Feature::Character), 300.0);
        assert!(sample.open.iter().any(|part| part.path == "item" && !part.is_assumed && part.size == 25));
        assert!(sample.open.iter().any(|part| part.path == "item/remark" && part.is_assumed));
    }

    /// Covers item types with derived types, and abstract declared types.
    #[test]
    fn content_whose_type_a_message_chooses_is_counted() {
        let note = "<xs:complexType name=\"Note\"";
        let special = r#"<xs:complexType name="Special"><xs:complexContent><xs:extension base="tns:Item"/></xs:complexContent></xs:complexType>"#;
        let wsdl = SHOP.replace(note, &format!("{special}{note}"));
        let order = Contract::from_text(&wsdl).expect("a contract").operation("Order").expect("an operation");
        let (closed, open) =
            (request(&Sizes::default()), samples(&order, &Sizes::default()).expect("samples").remove(0));
        let [closed, open] = [closed, open].map(|sample| (parts(&sample.body()), sample.encode().expect("written")));
        let paths = |parts: &[(String, Usage)]| parts.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
        assert_eq!((paths(&open.0), open.1.len()), (paths(&closed.0), closed.1.len()));
        assert!(paths(&open.0).iter().any(|path| path == "item/code"), "{:?}", paths(&open.0));
        let typed: f64 = open.0.iter().map(|it| it.1.count(Feature::Typed)).sum();
        let text = String::from_utf8(open.1.into_vec()).expect("text");
        assert_eq!(text.matches(":type=").count() as f64, typed, "{text}");
    }

    #[test]
    fn variants_are_of_the_same_size() {
        let sample = request(&Sizes::default());
        let all = sample.variants(5);
        assert_eq!((all.len(), &all[0]), (5, sample.value()));
        for (at, value) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| other != value), "no two are alike");
            assert_eq!(Usage::from_body(&Body { value, ..sample.body() }), Usage::from_body(&sample.body()));
        }
    }

    #[test]
    fn unknown_paths_are_refused() {
        let error = |sizes: Sizes| samples(&order(), &sizes).expect_err("refused").to_string();
        let mut sizes = Sizes::default();
        sizes.lengths.insert("itm".into(), 3);
        assert!(error(sizes).starts_with("no message has itm; there are "));
        let mut sizes = Sizes::default();
        sizes.texts.insert("item".into(), 3);
        assert!(error(sizes).contains("customer"));
        let mut sizes = Sizes::default();
        sizes.changed.insert("nothing".into(), 0.5);
        assert!(error(sizes).starts_with("no message has nothing"));
    }

    #[test]
    fn a_message_has_a_bound() {
        let mut sizes = Sizes::default();
        sizes.lengths.insert("item".into(), 1 << 30);
        assert!(matches!(samples(&order(), &sizes), Err(CostError::TooLarge { what: "values", .. })));
        let mut sizes = Sizes::default();
        sizes.texts.insert("customer".into(), 1 << 40);
        assert!(matches!(samples(&order(), &sizes), Err(CostError::TooLarge { what: "characters", .. })));
    }

    #[test]
    fn a_type_that_requires_itself_is_refused() {
        let wsdl = SHOP.replace(
            "<xs:element name=\"category\" type=\"tns:Category\" minOccurs=\"0\" maxOccurs=\"unbounded\"/>",
            "<xs:element name=\"category\" type=\"tns:Category\"/>",
        );
        assert_ne!(wsdl, SHOP);
        let contract = Contract::from_text(&wsdl).expect("a contract");
        let results: Vec<_> = contract.operations().iter().map(|it| samples(it, &Sizes::default()).err()).collect();
        let endless = results.iter().flatten().filter(|error| matches!(error, CostError::Endless { .. })).count();
        assert!(endless > 0, "{results:?}");
    }

    #[test]
    fn every_operation_has_messages_that_are_read_again() {
        for operation in Contract::from_text(SHOP).expect("a contract").operations() {
            for sample in samples(&operation, &Sizes::default()).expect("samples") {
                assert!(sample.encode().expect("written").len() > 100);
                assert!(Usage::from_body(&sample.body()).count(Feature::Message) == 1.0);
            }
        }
    }
}
