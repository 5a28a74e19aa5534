//! The requests of a load, by kind: what the generator sends, and how it checks.

use super::check::Checker;
use super::request::Request;
use deltasoap_load::{Answer, Failed, Shares, Traffic, Turn};

/// The requests of an operation, or recorded messages with the same element.
#[derive(Debug)]
pub struct Kind {
    pub name: String,
    pub requests: Vec<Request>,
}

/// The order of requests.
#[derive(Debug)]
pub enum Order {
    /// Kinds at random by their weights, and the requests of each in turn.
    Drawn(Shares),
    /// As recorded: the kind and the place in it of each request, again and again.
    Recorded(Vec<(usize, usize)>),
}

/// The traffic of the command.
#[derive(Debug)]
pub struct Prepared {
    pub kinds: Vec<Kind>,
    pub order: Order,
    pub checker: Checker,
    pub seed: u64,
}

impl Prepared {
    fn at(&self, turn: Turn) -> &Request {
        let requests = &self.kinds[turn.kind].requests;
        let place = match &self.order {
            Order::Drawn(_) => index(turn.number, requests.len()),
            Order::Recorded(order) => order[index(turn.number, order.len())].1,
        };
        &requests[place]
    }
}

fn index(number: u64, len: usize) -> usize {
    // The remainder is less than the length.
    (number % len as u64) as usize
}

impl Traffic for Prepared {
    fn kinds(&self) -> usize {
        self.kinds.len()
    }

    fn kind(&self, number: u64) -> usize {
        match &self.order {
            Order::Drawn(shares) => shares.draw(number),
            Order::Recorded(order) => order[index(number, order.len())].0,
        }
    }

    fn request<'a>(&'a self, turn: Turn, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        self.at(turn).bytes(turn.number, self.seed, buffer)
    }

    fn check(&self, turn: Turn, answer: &Answer<'_>) -> Result<(), Failed> {
        self.checker.check(turn.kind, answer)
    }
}
