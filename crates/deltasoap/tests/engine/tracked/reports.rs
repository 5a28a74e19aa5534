//! A type with all kinds of tracked values, and all operations on them.

use crate::sender::{Flight, Sender};
use deltasoap::engine::{EncodeStats, Templating, Typed};
use deltasoap::schema::{QName, Use};
use deltasoap::soap::{HeaderBlock, Version};
use deltasoap::types::{Node, Tracked, TrackedArray, TrackedVec};
use deltasoap::{Message, Soap, SoapArray};
use deltasoap_streams::prng::SplitMix64;

#[derive(Debug, Clone, PartialEq, Soap)]
pub struct Mesh {
    x: i32,
    v: f64,
    name: String,
}

/// The type as sent.
pub mod sent {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Soap)]
    pub struct Inner {
        #[soap(attribute)]
        pub id: Option<i32>,
        pub label: String,
        pub levels: TrackedVec<f64>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:t", element = "report")]
    pub struct Report {
        pub station: String,
        pub count: Tracked<i32>,
        pub inner: Tracked<Inner>,
        pub maybe: Option<Tracked<Inner>>,
        pub many: Vec<Tracked<Inner>>,
        pub levels: TrackedVec<f64>,
        pub words: TrackedVec<String>,
        pub meshes: TrackedVec<Mesh>,
        pub plain: Vec<f64>,
        pub each: TrackedVec<Tracked<Inner>>,
        pub array: TrackedArray<Mesh>,
        pub last: Tracked<String>,
    }
}

/// The type as read.
pub mod read {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Soap)]
    pub struct Inner {
        #[soap(attribute)]
        pub id: Option<i32>,
        pub label: String,
        pub levels: Vec<f64>,
    }

    #[derive(Debug, Clone, PartialEq, Soap)]
    #[soap(namespace = "urn:t", element = "report")]
    pub struct Report {
        pub station: String,
        pub count: i32,
        pub inner: Inner,
        pub maybe: Option<Inner>,
        pub many: Vec<Inner>,
        pub levels: Vec<f64>,
        pub words: Vec<String>,
        pub meshes: Vec<Mesh>,
        pub plain: Vec<f64>,
        pub each: Vec<Inner>,
        pub array: SoapArray<Mesh>,
        pub last: String,
    }
}

use sent::{Inner, Report};

pub fn report() -> Tracked<Report> {
    let levels = |count: i32| (0..count).map(|n| f64::from(n) / 4.0);
    Tracked::new(Report {
        station: "station".to_owned(),
        count: Tracked::new(1),
        inner: inner(2),
        maybe: Some(inner(3)),
        many: (0..5).map(inner).collect(),
        levels: levels(400).collect(),
        words: (0..300).map(|n| "word ".repeat(n % 5)).collect(),
        meshes: (0..300).map(mesh).collect(),
        plain: levels(300).collect(),
        each: (0..20).map(inner).collect(),
        array: (0..300).map(mesh).collect(),
        last: Tracked::new("last".to_owned()),
    })
}

pub fn inner(n: i32) -> Tracked<Inner> {
    let id = (n % 2 == 0).then_some(n);
    Tracked::new(Inner { id, label: format!("label {n}"), levels: (0..n).map(f64::from).collect() })
}

fn mesh(n: i32) -> Mesh {
    Mesh { x: n, v: f64::from(n) / 8.0, name: format!("<{n}>") }
}

pub type Random = SplitMix64;

const UPDATES: [fn(&mut Report, &mut Random); 20] = [
    |_, _| {},
    |all, random| all.station = text(random),
    |all, random| *all.count = number(random),
    |all, random| *all.last = text(random),
    |all, random| all.inner.label = text(random),
    |all, random| all.inner.id = random.one_in(2).then(|| number(random)),
    |all, random| change(&mut all.inner.levels, random, double),
    |all, random| all.maybe = random.one_in(2).then(|| inner(number(random).rem_euclid(9))),
    |all, random| one_of(&mut all.many, random, |inner, random| inner.label = text(random)),
    |all, random| one_of(&mut all.many, random, |inner, random| change(&mut inner.levels, random, double)),
    |all, random| all.many = (0..number(random).rem_euclid(9)).map(inner).collect(),
    |all, random| change(&mut all.levels, random, double),
    |all, random| change(&mut all.words, random, text),
    |all, random| change(&mut all.meshes, random, |random| mesh(number(random))),
    |all, random| change(&mut all.array, random, |random| mesh(number(random))),
    |all, random| one_of(&mut all.plain, random, |item, random| *item = double(random)),
    |all, random| change(&mut all.each, random, |random| inner(number(random).rem_euclid(9))),
    |all, random| {
        let at = place(random, all.each.len());
        if let Some(inner) = all.each.get_mut(at) {
            change(&mut inner.levels, random, double);
        }
    },
    |all, random| {
        let at = place(random, all.meshes.len());
        if let Some(mesh) = all.meshes.get_mut(at) {
            mesh.v = double(random);
        }
    },
    |all, _| *all = report().into_inner(),
];

fn place(random: &mut Random, len: usize) -> usize {
    random.below(len as u32) as usize
}

fn number(random: &mut Random) -> i32 {
    (random.next_u64() >> (32 + random.below(32))) as i32
}

fn double(random: &mut Random) -> f64 {
    f64::from(number(random)) / [1.0, 8.0, 3.0][place(random, 3)]
}

fn text(random: &mut Random) -> String {
    "some & text <".chars().cycle().take(place(random, 30) * place(random, 3)).collect()
}

fn one_of<T>(items: &mut [T], random: &mut Random, change: fn(&mut T, &mut Random)) {
    let at = place(random, items.len());
    if let Some(item) = items.get_mut(at) {
        change(item, random);
    }
}

/// Applies any operation to a list.
fn change<T: Clone>(list: &mut TrackedVec<T>, random: &mut Random, other: fn(&mut Random) -> T) {
    let (len, at) = (list.len(), place(random, list.len()));
    match random.below(16) {
        _ if len == 0 => list.extend((0..place(random, 400)).map(|_| other(random))),
        0 => list.insert(at, other(random)),
        1 => drop(list.remove(at)),
        2 => drop(list.swap_remove(at)),
        3 => list.truncate(at),
        4 => list.push(other(random)),
        5 => drop(list.pop()),
        6 => list.swap(at, len / 2),
        7 => list.iter_mut().for_each(|item| *item = other(random)),
        8 => list.range_mut(at..).iter_mut().step_by(3).for_each(|item| *item = other(random)),
        9 => list.extend((0..place(random, 100)).map(|_| other(random))),
        10 => list.retain(|_| !random.one_in(10)),
        11 => list.clear(),
        12 => list.edit(|items| items.rotate_left(at)),
        _ => (0..=random.below(5)).for_each(|_| list.set(place(random, len), other(random))),
    }
}

pub type Reports = Sender<'static, Tracked<Report>, read::Report>;

pub fn sender(options: Templating) -> Reports {
    let mut sender = Reports::to(Report::view(), options);
    sender.style.name = Report::ELEMENT;
    sender
}

/// Sends two values to three places, in any order; occasionally a value is replaced with a copy of
/// the other. `prepare` is called for each sender before it sends anything.
pub fn send_to_several_places(
    options: Templating,
    random: &mut Random,
    messages: usize,
    prepare: fn(&mut Reports),
) -> EncodeStats {
    let mut senders: [Reports; 3] = std::array::from_fn(|_| sender(options));
    senders.iter_mut().for_each(prepare);
    let mut values = [report(), report()];
    for _ in 0..messages {
        let chosen = place(random, 2);
        for _ in 0..random.below(3) {
            let update = UPDATES[place(random, UPDATES.len())];
            update(&mut values[chosen], random);
        }
        if random.one_in(20) {
            values[chosen] = values[1 - chosen].clone();
        }
        let sender = &mut senders[place(random, 3)];
        send(sender, &values[chosen], random);
    }
    senders.iter_mut().for_each(Sender::land);
    senders.iter().fold(EncodeStats::default(), |mut all, sender| {
        all += sender.stats();
        all
    })
}

fn send(sender: &mut Reports, value: &Tracked<Report>, random: &mut Random) {
    sender.full_first = random.one_in(4);
    if random.one_in(10) {
        sender.style.encoding = [Use::Literal, Use::Encoded][place(random, 2)];
        sender.style.version = [Version::Soap11, Version::Soap12][place(random, 2)];
    }
    let block = || HeaderBlock { node: Node::with_text(QName::new("urn:h", "h"), "text") };
    sender.style.headers = if random.one_in(10) { vec![block()] } else { Vec::new() };
    let flight = [Flight::Landed, Flight::Held, Flight::Frames][place(random, 3)];
    sender.send_in(value, flight).expect("writable");
    if random.one_in(8) {
        sender.land();
    }
}
