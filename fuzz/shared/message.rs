//! The types that messages are decoded to, and limits that a fuzzer can reach.

use deltasoap::engine::Limits;
use deltasoap::engine::decode::take_finished;
use deltasoap::lexical::{Base64, BigEndian, DateTime, Decimal, Hex};
use deltasoap::types::{AnySimple, Empty, Packed};
use deltasoap::{Nillable, Soap, SoapArray};
use std::any::Any;

#[derive(Debug, Clone, PartialEq, Soap)]
pub struct Flat {
    x: i32,
    y: f64,
    s: String,
}

#[derive(Debug, Clone, PartialEq, Soap)]
pub struct Text {
    #[soap(attribute)]
    href: Option<String>,
    #[soap(text)]
    value: Decimal,
}

#[derive(Debug, Clone, PartialEq, Soap)]
pub enum Choice {
    One(i32),
    Two(Text),
    Many(Flat),
}

#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(all)]
pub struct AnyOrder {
    a: Option<i32>,
    b: bool,
    c: Vec<Flat>,
}

#[derive(Debug, Clone, PartialEq, Soap)]
pub struct Message {
    #[soap(attribute)]
    id: Option<u64>,
    i: Vec<i32>,
    d: Vec<f64>,
    f: Vec<Flat>,
    n: Vec<Nillable<String>>,
    o: Option<Nillable<Flat>>,
    any: Vec<AnySimple>,
    ints: Option<SoapArray<i32>>,
    flats: Option<SoapArray<Flat>>,
    texts: Vec<Text>,
    #[soap(inline)]
    choice: Option<Choice>,
    order: Option<AnyOrder>,
    base64: Option<Base64>,
    hex: Option<Hex>,
    doubles: Option<Packed<f64>>,
    shorts: Option<Packed<i16, BigEndian>>,
    time: Option<DateTime>,
    e: Option<Empty>,
    inner: Option<Box<Message>>,
    z: Vec<String>,
}

/// Items that were taken out of the lists of a message.
#[derive(Default)]
pub struct Lists {
    i: Vec<i32>,
    d: Vec<f64>,
    f: Vec<Flat>,
    n: Vec<Nillable<String>>,
    any: Vec<AnySimple>,
    ints: Vec<i32>,
    flats: Vec<Flat>,
    texts: Vec<Text>,
    c: Vec<Flat>,
    z: Vec<String>,
}

impl Lists {
    /// Takes the finished items out of each list.
    pub fn take(&mut self, message: &mut Message) {
        self.each(message, |taken, list| taken.take(list));
    }

    /// Puts all items back.
    pub fn put_back(&mut self, message: &mut Message) {
        self.each(message, |taken, list| taken.put_back(list));
    }

    fn each(&mut self, message: &mut Message, with: impl Fn(&mut dyn Takes, &mut dyn Any)) {
        with(&mut self.i, &mut message.i);
        with(&mut self.d, &mut message.d);
        with(&mut self.f, &mut message.f);
        with(&mut self.n, &mut message.n);
        with(&mut self.any, &mut message.any);
        with(&mut self.texts, &mut message.texts);
        with(&mut self.z, &mut message.z);
        if let Some(ints) = &mut message.ints {
            with(&mut self.ints, &mut ints.0);
        }
        if let Some(flats) = &mut message.flats {
            with(&mut self.flats, &mut flats.0);
        }
        if let Some(order) = &mut message.order {
            with(&mut self.c, &mut order.c);
        }
    }
}

/// The items of one list, which has the same type.
trait Takes {
    fn take(&mut self, list: &mut dyn Any);

    fn put_back(&mut self, list: &mut dyn Any);
}

impl<T: 'static> Takes for Vec<T> {
    fn take(&mut self, list: &mut dyn Any) {
        let list: &mut Vec<T> = list.downcast_mut().expect("a list of the same type");
        self.append(&mut take_finished(list));
    }

    fn put_back(&mut self, list: &mut dyn Any) {
        let list: &mut Vec<T> = list.downcast_mut().expect("a list of the same type");
        self.append(list);
        *list = std::mem::take(self);
    }
}

/// A recursive type, with lists in choices, and with unknown elements.
#[derive(Debug, Clone, PartialEq, Soap)]
#[soap(open)]
pub struct Tree {
    #[soap(attribute)]
    id: Option<i32>,
    #[soap(inline)]
    parts: Vec<Part>,
    i: Vec<i32>,
    more: Option<Box<Tree>>,
    #[soap(inline)]
    last: Option<Choice>,
    s: Option<String>,
}

/// The content of a [`Tree`].
#[derive(Debug, Clone, PartialEq, Soap)]
pub enum Part {
    #[soap(name = "f")]
    Flat(Flat),
    #[soap(name = "n")]
    Ints(SoapArray<i32>),
    #[soap(name = "t")]
    Tree(Box<Tree>),
    #[soap(name = "v")]
    Texts(Inner),
}

/// Lists in a choice.
#[derive(Debug, Clone, PartialEq, Soap)]
pub struct Inner {
    a: Vec<AnySimple>,
    b: Vec<Nillable<Flat>>,
    t: Vec<Text>,
}

/// Returns the default limits, or limits one of which is small enough to be reached.
pub fn limits(which: u8, size: usize) -> Limits {
    let default = Limits::default();
    match which % 8 {
        0 => Limits { depth: size % 8, ..default },
        1 => Limits { attributes: size % 8, ..default },
        2 => Limits { attribute_value: size, ..default },
        3 => Limits { name: size % 16, ..default },
        4 => Limits { text: size % 32, ..default },
        5 => Limits { markup: size, ..default },
        6 => Limits { message: size as u64 * 4, ..default },
        _ => default,
    }
}
