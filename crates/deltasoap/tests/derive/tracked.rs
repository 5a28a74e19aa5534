//! Tracked values look like the values that they wrap, in every place, and their messages are
//! written as those of plain types.

use crate::support::{decode, decode_cut, encode};
use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{DecodeOptions, Memory, Template, Templating, Typed};
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, EnvelopeReader, RequestReceiver};
use deltasoap::types::{Tracked, TrackedArray, TrackedVec};
use deltasoap::{Message, Nillable, Soap, SoapArray};
use proptest::prelude::*;
use std::fmt::Debug;

#[derive(Debug, Clone, PartialEq, Soap)]
pub struct Mesh {
    x: i32,
    v: f64,
}

#[derive(Debug, Clone, PartialEq, Soap)]
pub enum Unit {
    Volt(f64),
    Name(String),
}

mod plain {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Soap)]
    pub struct Inner {
        pub label: String,
        pub level: Vec<f64>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:t", element = "report")]
    pub struct Report {
        pub station: String,
        pub count: i32,
        pub note: String,
        pub inner: Inner,
        pub maybe: Option<Inner>,
        pub many: Vec<Inner>,
        pub level: Vec<f64>,
        pub mesh: Vec<Mesh>,
        #[soap(inline)]
        pub unit: Unit,
        #[soap(inline)]
        pub units: Vec<Unit>,
        pub nil: Nillable<Mesh>,
        pub array: SoapArray<Mesh>,
    }
}

mod noting {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Soap)]
    pub struct Inner {
        pub label: String,
        pub level: TrackedVec<f64>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:t", element = "report")]
    pub struct Report {
        pub station: String,
        pub count: Tracked<i32>,
        pub note: Tracked<String>,
        pub inner: Tracked<Inner>,
        pub maybe: Option<Tracked<Inner>>,
        pub many: Vec<Tracked<Inner>>,
        pub level: TrackedVec<f64>,
        pub mesh: TrackedVec<Tracked<Mesh>>,
        #[soap(inline)]
        pub unit: Tracked<Unit>,
        #[soap(inline)]
        pub units: TrackedVec<Unit>,
        pub nil: Nillable<Tracked<Mesh>>,
        pub array: TrackedArray<Mesh>,
    }
}

impl From<plain::Inner> for Tracked<noting::Inner> {
    fn from(plain: plain::Inner) -> Self {
        Tracked::new(noting::Inner { label: plain.label, level: plain.level.into() })
    }
}

impl From<plain::Report> for Tracked<noting::Report> {
    fn from(plain: plain::Report) -> Self {
        Tracked::new(noting::Report {
            station: plain.station,
            count: plain.count.into(),
            note: plain.note.into(),
            inner: plain.inner.into(),
            maybe: plain.maybe.map(Into::into),
            many: plain.many.into_iter().map(Into::into).collect(),
            level: plain.level.into(),
            mesh: plain.mesh.into_iter().map(Tracked::new).collect(),
            unit: plain.unit.into(),
            units: plain.units.into(),
            nil: match plain.nil {
                Nillable::Nil => Nillable::Nil,
                Nillable::Value(mesh) => Nillable::Value(mesh.into()),
            },
            array: plain.array.0.into(),
        })
    }
}

/// Generates few items, or enough that a template keeps them as a run.
fn list<T: Debug + Clone>(item: impl Strategy<Value = T> + Clone) -> impl Strategy<Value = Vec<T>> {
    prop_oneof![prop::collection::vec(item.clone(), 0..5), prop::collection::vec(item, 256..300)]
}

fn mesh() -> impl Strategy<Value = Mesh> + Clone {
    (0..3, 0..3).prop_map(|(x, v)| Mesh { x, v: f64::from(v) / 2.0 })
}

fn meshes() -> impl Strategy<Value = Vec<Mesh>> {
    list(mesh())
}

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![(0..3).prop_map(|n| Unit::Volt(f64::from(n))), "[a-c&]{0,2}".prop_map(Unit::Name)]
}

fn levels() -> impl Strategy<Value = Vec<f64>> {
    list(prop::sample::select(vec![0.0, 0.1, -12.5, f64::INFINITY]))
}

fn inner() -> impl Strategy<Value = plain::Inner> {
    ("[a-c<]{0,3}", levels()).prop_map(|(label, level)| plain::Inner { label, level })
}

fn report() -> impl Strategy<Value = plain::Report> {
    let texts = ("[a-z]{0,3}", 0..1000, "[a-z>]{0,3}");
    let inners = (inner(), prop::option::of(inner()), prop::collection::vec(inner(), 0..3));
    let lists = (levels(), meshes(), unit(), prop::collection::vec(unit(), 0..3), prop::option::of(mesh()), meshes());
    (texts, inners, lists).prop_map(|((station, count, note), (inner, maybe, many), lists)| {
        let (level, mesh, unit, units, nil, array) = lists;
        let nil = nil.map_or(Nillable::Nil, Nillable::Value);
        plain::Report {
            station,
            count,
            note,
            inner,
            maybe,
            many,
            level,
            mesh,
            unit,
            units,
            nil,
            array: SoapArray(array),
        }
    })
}

/// Changes from one report to the next: one bit for each plain field, and for each change of a
/// list.
type Change = (u16, plain::Report);

/// Returns the next report: few fields change, and mostly single items of lists.
fn behind(before: &plain::Report, (bits, other): &Change) -> plain::Report {
    let mut after = before.clone();
    let is = |bit: u16| bits >> bit & 1 == 1;
    if is(0) {
        after.station.clone_from(&other.station);
    }
    if is(1) {
        (after.count, after.unit) = (other.count, other.unit.clone());
    }
    if is(2) && is(3) {
        (after.maybe, after.many) = (other.maybe.clone(), other.many.clone());
        (after.nil, after.units) = (other.nil.clone(), other.units.clone());
    }
    if is(4) {
        after.inner.label.clone_from(&other.inner.label);
    }
    blend(&mut after.level, &other.level, is(5), is(6) && is(7));
    blend(&mut after.inner.level, &other.inner.level, is(8), is(9) && is(10));
    blend(&mut after.mesh, &other.mesh, is(11), is(12) && is(13));
    blend(&mut after.array.0, &other.array, is(14), is(15));
    after
}

/// Copies one item in five, and the length.
fn blend<T: Clone>(list: &mut Vec<T>, other: &[T], items: bool, length: bool) {
    if items {
        let some = list.iter_mut().zip(other).step_by(5);
        some.for_each(|(item, other)| item.clone_from(other));
    }
    if length {
        list.truncate(other.len());
        list.extend_from_slice(&other[list.len()..]);
    }
}

fn message<T: Message>(value: &T, encoding: Use) -> Vec<u8> {
    Envelope::new(value).encoding(encoding).to_vec().expect("plain text")
}

/// Changes the report to `target` in small steps, touching only what differs.
fn go_to(report: &mut Tracked<noting::Report>, target: &plain::Report) {
    if report.station != target.station {
        report.station.clone_from(&target.station);
    }
    if *report.count != target.count {
        report.count.set(target.count);
    }
    if *report.note != target.note {
        report.note.push_str(" more");
        report.note.set(target.note.clone());
    }
    if report.level != target.level {
        go_to_list(&mut report.level, &target.level);
    }
    if report.inner.level != target.inner.level {
        go_to_list(&mut report.inner.level, &target.inner.level);
    }
    if report.inner.label != target.inner.label {
        report.inner.label.clone_from(&target.inner.label);
    }
    let next: Tracked<noting::Report> = target.clone().into();
    let next = next.into_inner();
    if report.maybe != next.maybe {
        report.maybe = next.maybe;
    }
    if report.many != next.many {
        report.many = next.many;
    }
    if report.mesh != next.mesh {
        go_to_meshes(&mut report.mesh, &target.mesh);
    }
    if report.unit != next.unit {
        report.unit = next.unit;
    }
    if report.units != next.units {
        report.units = next.units;
    }
    if report.nil != next.nil {
        report.nil = next.nil;
    }
    if report.array != next.array {
        go_to_list(&mut report.array, &target.array);
    }
}

fn go_to_list<T: Clone + PartialEq>(list: &mut TrackedVec<T>, target: &[T]) {
    list.truncate(target.len());
    for place in 0..list.len() {
        if list[place] != target[place] {
            list[place] = target[place].clone();
        }
    }
    list.extend(target[list.len()..].to_vec());
}

/// Changes items in place: the list and the item both record it.
fn go_to_meshes(list: &mut TrackedVec<Tracked<Mesh>>, target: &[Mesh]) {
    list.truncate(target.len());
    for place in 0..list.len() {
        if list[place].x != target[place].x {
            list[place].x = target[place].x;
        }
        if list[place].v != target[place].v {
            list[place].v = target[place].v;
        }
    }
    list.extend(target[list.len()..].iter().cloned().map(Tracked::new));
}

#[test]
fn they_have_the_schema_of_what_they_stand_for() {
    assert_eq!(<Tracked<noting::Report>>::ELEMENT, plain::Report::ELEMENT);
    assert_eq!(<Tracked<Mesh>>::TYPE_NAME, Mesh::TYPE_NAME);
    assert!(std::ptr::eq(<Tracked<Mesh>>::element(), Mesh::element()));
    assert_eq!(<TrackedArray<Mesh>>::TYPE_NAME, <SoapArray<Mesh>>::TYPE_NAME);
}

#[test]
fn missing_and_surplus_elements_are_refused_as_ever() {
    #[derive(Debug, PartialEq, Soap)]
    struct One {
        level: Tracked<f64>,
        levels: TrackedVec<f64>,
    }
    let one = |level: f64, levels: &[f64]| One { level: level.into(), levels: levels.to_vec().into() };
    assert_eq!(decode::<One>("<r><level>1</level></r>").expect("a list may be empty"), one(1.0, &[]));
    assert!(decode::<One>("<r></r>").is_err());
    assert!(decode::<One>("<r><level>1</level><level>1</level></r>").is_err());
    let xml = "<r><level>1</level><levels>1</levels><levels>2</levels></r>";
    assert_eq!(decode::<One>(xml).expect("a valid document"), one(1.0, &[1.0, 2.0]));
}

/// A stream of messages, each read over the value of the one before.
struct Incoming {
    decoder: Decoder,
    memory: Box<Memory<Tracked<noting::Report>>>,
}

impl Incoming {
    fn read(&mut self, message: &[u8]) -> &Tracked<noting::Report> {
        let mut reader = EnvelopeReader::new(RequestReceiver::new(std::mem::take(&mut self.memory)));
        self.decoder.decode(&mut reader, message).expect("a valid message");
        self.memory = reader.into_parts().1.into_memory();
        self.memory.value()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_and_read_as_plain_types_are(report in report()) {
        let tracked: Tracked<noting::Report> = report.clone().into();
        let xml = encode(&report);
        prop_assert_eq!(&encode(&tracked), &xml);
        prop_assert_eq!(&encode(tracked.get()), &xml);
        prop_assert_eq!(message(&tracked, Use::Encoded), message(&report, Use::Encoded));
        prop_assert_eq!(decode::<Tracked<noting::Report>>(&xml).expect("a valid document"), tracked);
    }

    #[test]
    fn a_template_follows(
        first in report(),
        changes in prop::collection::vec(((any::<u16>(), report()), 0..4u8), 1..6),
        encoding in prop::sample::select(vec![Use::Literal, Use::Encoded]),
    ) {
        let mut template = Template::new(Templating::default());
        let mut other = Template::new(Templating::default());
        let mut tracked: Tracked<noting::Report> = first.clone().into();
        let mut target = first;
        for (change, place) in changes {
            for _ in 0..2 {
                let template = if place == 0 { &mut other } else { &mut template };
                let sent = template.encode(&Envelope::new(&tracked).encoding(encoding)).expect("plain text");
                prop_assert_eq!(sent.to_vec(), message(&target, encoding));
            }
            target = behind(&target, &change);
            go_to(&mut tracked, &target);
        }
    }

    /// Content that is read over an old value counts as changed.
    #[test]
    fn a_template_follows_what_is_read(
        first in report(),
        changes in prop::collection::vec((any::<u16>(), report()), 1..6),
    ) {
        let mut incoming = Incoming { decoder: Decoder::new(DecodeOptions::default()), memory: Box::default() };
        let mut template = Template::new(Templating::default());
        let mut report = first;
        for change in changes {
            let message = message(&report, Use::Literal);
            let read = incoming.read(&message);
            let sent = template.encode(&Envelope::new(read)).expect("plain text");
            prop_assert_eq!(sent.to_vec(), message);
            report = behind(&report, &change);
        }
    }

    #[test]
    fn read_in_pieces(report in report(), mut cuts in prop::collection::vec(0..400usize, 0..8)) {
        let xml = encode(&report);
        cuts.retain(|cut| *cut < xml.len());
        cuts.sort_unstable();
        let (read, _) = decode_cut::<noting::Report>(xml.as_bytes(), cuts).expect("a valid document");
        let tracked: Tracked<noting::Report> = report.into();
        prop_assert_eq!(&read, tracked.get());
    }
}
