//! Ports and operations: which ones belong together, and what changed in them as a whole.

use super::messages::{Shape, shape, written};
use super::{
    Comparison, MessageKind, Operations, Outcome, Place, Sender, Side, Verdict, Witness, both, sender, verdict,
    verdicts, wording,
};
use crate::sample::Sampler;
use crate::{Contract, Operation};
use deltasoap_core::Node;
use deltasoap_core::soap::{PolicyDocuments, Version};

/// The operations of a port, or of a binding without a port.
type Port = Vec<Operation>;

impl Comparison<'_> {
    /// Compares all ports.
    pub(super) fn ports(&mut self) {
        let [old, new] = self.contracts.map(ports);
        let Pairing { pairs, removed, added } = pairing(&old, &new);
        for (one, other) in pairs {
            self.port(&old[one], &new[other]);
        }
        for (ports, numbers, side) in [(&old, removed, Side::Old), (&new, added, Side::New)] {
            numbers.into_iter().for_each(|number| self.lone_port(&ports[number], side));
        }
    }

    fn port(&mut self, old: &Port, new: &Port) {
        let ([first, ..], [other, ..]) = (&old[..], &new[..]) else { return };
        self.port_itself([first, other]);
        let mut left: Vec<&Operation> = new.iter().collect();
        let mut take =
            |is_it: &dyn Fn(&Operation) -> bool| left.iter().position(|it| is_it(it)).map(|found| left.remove(found));
        let by_name: Vec<_> =
            old.iter().map(|it| (it, take(&|other| other.distinct_name() == it.distinct_name()))).collect();
        for (operation, found) in by_name {
            let request = shape(operation, &MessageKind::Request);
            let is_alike = |other: &Operation| is_same_request(request.as_ref(), other);
            match found.or_else(|| take(&is_alike)) {
                Some(other) => self.operation([operation, other]),
                None => self.lone(operation, Side::Old),
            }
        }
        left.into_iter().for_each(|operation| self.lone(operation, Side::New));
    }

    /// Compares what all operations of a port have in common.
    fn port_itself(&mut self, operations: Operations<'_>) {
        let place = Place { operation: operations[0].port_name(), message: None, path: String::new() };
        let [old, new] = operations.map(Operation::version);
        if old != new {
            let outcomes = both(operations, self.contracts, &MessageKind::Request).map(|it| Some(it.prove_whole()));
            let what = format!("SOAP {} → {}", number(old), number(new));
            self.whole(place.clone(), what, || verdicts(Sender::Client, outcomes));
        }
        let unknown = |reason: &str| [Verdict::Unknown(reason.to_owned()), Verdict::Unknown(reason.to_owned())];
        let [old, new] = operations.map(|it| it.address().unwrap_or_default());
        if old != new {
            let what = format!("address {} → {}", named(old), named(new));
            self.whole(place.clone(), what, || unknown("the WSDL does not tell whether both addresses are served"));
        }
        let [old, new] = operations.map(|it| &*it.binding().transport);
        if old != new {
            let what = format!("transport {} → {}", named(old), named(new));
            self.whole(place, what, || unknown("transports are not compared"));
        }
    }

    /// Records a port that only one contract has.
    fn lone_port(&mut self, port: &Port, side: Side) {
        let Some(first) = port.first() else { return };
        let place = Place { operation: first.port_name(), message: None, path: String::new() };
        let what = format!("port {}", gone(side));
        let outcome = self.request_outcome(first, side);
        self.whole(place, what, || one_sided(side, outcome));
    }

    /// Records an operation that only one contract has.
    fn lone(&mut self, operation: &Operation, side: Side) {
        let place = self.place(operation, None);
        let outcome = self.request_outcome(operation, side);
        self.whole(place, format!("operation {}", gone(side)), || one_sided(side, outcome));
    }

    /// Proves that the other contract refuses the requests of an operation.
    fn request_outcome(&self, operation: &Operation, side: Side) -> Outcome {
        let sup = self.contracts[match side {
            Side::Old => 1,
            Side::New => 0,
        }];
        let exchange = super::Exchange { sub: operation, sup, kind: &MessageKind::Request, side };
        Some(exchange.prove_whole())
    }

    fn operation(&mut self, operations: Operations<'_>) {
        self.action(operations);
        self.policies(operations);
        self.messages(operations);
    }

    /// Compares `SOAPAction` (SOAP 1.1, 6.1.1; WSDL 1.1, 3.4). A service may dispatch by it, and an
    /// empty one contradicts nothing.
    fn action(&mut self, operations: Operations<'_>) {
        let [old, new] = operations.map(|it| &*it.bound().action);
        if old == new {
            return;
        }
        let outcomes = match old.is_empty() || new.is_empty() {
            true => [Err(NO_ACTION.to_owned()), Err(NO_ACTION.to_owned())],
            false => [with_action(operations[0], Side::Old, new), with_action(operations[1], Side::New, old)],
        };
        let what = format!("SOAPAction {old:?} → {new:?}");
        let place = self.place(operations[0], None);
        self.whole(place, what, || outcomes.map(|outcome| verdict(Some(outcome))));
    }

    /// Compares what policies require.
    fn policies(&mut self, operations: Operations<'_>) {
        let [old, new] = operations;
        let requirements = |it: &Operation| -> Vec<String> {
            let mut all: Vec<String> = it.unmet_policies().into_iter().map(ToOwned::to_owned).collect();
            all.extend(it.policies().required.split(", ").filter(|it| !it.is_empty()).map(ToOwned::to_owned));
            all.sort();
            all.dedup();
            all
        };
        let is_same = requirements(old) == requirements(new)
            && old.addressing() == new.addressing()
            && old.binding().policy.mtom == new.binding().policy.mtom
            && are_equivalent(&old.policies(), &new.policies());
        if is_same {
            return;
        }
        let place = self.place(old, None);
        let reason = "what policies require is not compared";
        self.whole(place, "policies", || [Verdict::Unknown(reason.into()), Verdict::Unknown(reason.into())]);
    }

    /// Records a message that only one of two operations has.
    pub(super) fn lost(&mut self, operations: Operations<'_>, kind: &MessageKind, side: Side) {
        let unknown = |reason: &str| Verdict::Unknown(reason.to_owned());
        let place = self.place(operations[0], Some(kind));
        let place = Place { path: header_name(kind), ..place };
        match kind {
            MessageKind::Request | MessageKind::Response => {
                let number = usize::from(side == Side::New);
                let outcome = both(operations, self.contracts, kind)[number].prove_whole();
                // One of the two waits for it in vain, or does not expect it.
                self.whole(place, gone(side), || [verdict(Some(outcome.clone())), verdict(Some(outcome))]);
            }
            MessageKind::Fault(_) => {
                let reason = "a service may send faults that its WSDL does not declare";
                self.whole(place, gone(side), || match side {
                    Side::Old => [Verdict::Safe, unknown(reason)],
                    Side::New => [unknown(reason), Verdict::Safe],
                });
            }
            MessageKind::RequestHeader(_) | MessageKind::ResponseHeader(_) => {
                let reason = "the WSDL does not tell whether the receiver needs the header block";
                // Whoever receives the message may need a block that is no longer sent.
                let is_for_servers = (sender(operations[0], kind) == Sender::Client) == (side == Side::Old);
                self.whole(place, gone(side), || match is_for_servers {
                    true => [Verdict::Safe, unknown(reason)],
                    false => [unknown(reason), Verdict::Safe],
                });
            }
        }
    }
}

const NO_ACTION: &str = "services differ in whether they need an action";

/// Returns a request with its action, which the other WSDL declares differently.
fn with_action(operation: &Operation, side: Side, other: &str) -> Result<Witness, String> {
    let mut sampler = Sampler::least(&operation.contract().types);
    let message = written(operation, &MessageKind::Request, &mut sampler, None);
    let message = message.and_then(|message| String::from_utf8(message).ok());
    let message = message.ok_or_else(|| "no request could be built".to_owned())?;
    let own = &operation.bound().action;
    let head = match operation.version() {
        Version::Soap11 => format!("Content-Type: text/xml; charset=utf-8\r\nSOAPAction: \"{own}\"\r\n"),
        Version::Soap12 => format!("Content-Type: application/soap+xml; charset=utf-8; action=\"{own}\"\r\n"),
    };
    let (host, path) = target(operation.address().unwrap_or_default());
    let length = message.len();
    let message = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n{head}Content-Length: {length}\r\n\r\n{message}");
    Ok(Witness { message, valid_for: side, refusal: format!("SOAPAction {own:?} instead of {other:?}") })
}

/// Splits a URL into host and path.
fn target(address: &str) -> (&str, &str) {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    match rest.find('/') {
        Some(at) => (&rest[..at], &rest[at..]),
        None => (if rest.is_empty() { "localhost" } else { rest }, "/"),
    }
}

fn are_equivalent(old: &PolicyDocuments, new: &PolicyDocuments) -> bool {
    let is_same = |one: &str, other: &str| {
        one == other
            || match (Node::parse(one.as_bytes()), Node::parse(other.as_bytes())) {
                (Ok(one), Ok(other)) => one.is_equivalent(&other),
                _ => false,
            }
    };
    is_same(&old.request, &new.request) && is_same(&old.response, &new.response)
}

fn header_name(kind: &MessageKind) -> String {
    match kind {
        MessageKind::RequestHeader(name) | MessageKind::ResponseHeader(name) => name.local.to_string(),
        _ => String::new(),
    }
}

/// Returns the verdicts if only one contract has something that clients use.
fn one_sided(side: Side, outcome: Outcome) -> [Verdict; 2] {
    match side {
        Side::Old => [verdict(outcome), Verdict::Safe],
        Side::New => [Verdict::Safe, verdict(outcome)],
    }
}

/// Returns what changed around the elements of a message, and whether this replaces all that they
/// hold.
pub(super) fn frame_change(old: &Shape, new: &Shape) -> Option<(String, bool)> {
    let style = |shape: &Shape| if shape.wrapper.is_some() { "rpc" } else { "document" };
    let encoding = |shape: &Shape| if shape.is_encoded { "encoded" } else { "literal" };
    match (&old.wrapper, &new.wrapper) {
        _ if (style(old), encoding(old)) != (style(new), encoding(new)) => {
            let [old, new] = [old, new].map(|shape| format!("{}/{}", style(shape), encoding(shape)));
            Some((format!("{old} → {new}"), true))
        }
        (Some(old), Some(new)) if old != new => Some((wording::renamed(old, new), false)),
        (None, None) => match (&old.roots[..], &new.roots[..]) {
            ([(old, _)], [(new, _)]) if old != new => Some((wording::renamed(old, new), true)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the parts that were added, removed or moved.
pub(super) fn part_changes(old: &Shape, new: &Shape) -> Vec<String> {
    let names = |shape: &Shape| shape.roots.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let (old_names, new_names) = (names(old), names(new));
    let removed = old_names.iter().filter(|name| !new_names.contains(name));
    let added = new_names.iter().filter(|name| !old_names.contains(name));
    let mut changes: Vec<_> = removed.map(|name| format!("part {} removed", name.local)).collect();
    changes.extend(added.map(|name| format!("part {} added", name.local)));
    if changes.is_empty() && old_names != new_names {
        changes.push("order of the parts".to_owned());
    }
    changes
}

fn is_same_request(request: Option<&Shape>, other: &Operation) -> bool {
    let Some(other) = shape(other, &MessageKind::Request) else { return false };
    let name = |shape: &Shape| match (&shape.wrapper, &shape.roots[..]) {
        (Some(name), _) | (None, [(name, _)]) => Some(name.clone()),
        _ => None,
    };
    request.and_then(name).is_some_and(|own| name(&other) == Some(own))
}

/// Returns the ports of a contract.
fn ports(contract: &Contract) -> Vec<Port> {
    let operations = contract.operations();
    let is_same = |one: &Operation, other: &Operation| {
        one.port_name() == other.port_name() && std::ptr::eq(one.binding(), other.binding())
    };
    operations.chunk_by(is_same).map(<[Operation]>::to_vec).collect()
}

/// Ports that belong together, and those that only one contract has.
#[derive(Debug, Default, PartialEq, Eq)]
struct Pairing {
    pairs: Vec<(usize, usize)>,
    removed: Vec<usize>,
    added: Vec<usize>,
}

/// Pairs ports: by name and version, then by name, then by what messages show of them, which is
/// address and version, then by version alone.
fn pairing(old: &[Port], new: &[Port]) -> Pairing {
    type IsPair = fn(&Operation, &Operation) -> bool;
    let rules: [(IsPair, bool); 4] = [
        (|one, other| one.port_name() == other.port_name() && one.version() == other.version(), false),
        (|one, other| one.port_name() == other.port_name(), false),
        (|one, other| one.address() == other.address() && one.version() == other.version(), true),
        (|one, other| one.version() == other.version(), false),
    ];
    let mut pairing = Pairing::default();
    let mut taken = [vec![false; old.len()], vec![false; new.len()]];
    for (is_pair, may_share) in rules {
        for (one, port) in old.iter().enumerate() {
            let fits = |other: &usize| is_pair(&port[0], &new[*other][0]);
            let free = |other: &usize| !taken[1][*other];
            let found = (0..new.len()).find(|other| free(other) && fits(other));
            let found = found.or_else(|| (0..new.len()).find(|other| may_share && fits(other)));
            if let Some(other) = found.filter(|_| !taken[0][one]) {
                (taken[0][one], taken[1][other]) = (true, true);
                pairing.pairs.push((one, other));
            }
        }
        for (other, port) in new.iter().enumerate().filter(|_| may_share) {
            let found = (0..old.len()).find(|one| is_pair(&old[*one][0], &port[0]));
            if let Some(one) = found.filter(|_| !taken[1][other]) {
                taken[1][other] = true;
                pairing.pairs.push((one, other));
            }
        }
    }
    pairing.pairs.sort_unstable();
    let left = |taken: &[bool]| (0..taken.len()).filter(|number| !taken[*number]).collect();
    (pairing.removed, pairing.added) = (left(&taken[0]), left(&taken[1]));
    pairing
}

fn gone(side: Side) -> &'static str {
    match side {
        Side::Old => "removed",
        Side::New => "added",
    }
}

fn named(address: &str) -> &str {
    if address.is_empty() { "none" } else { address }
}

fn number(version: Version) -> &'static str {
    match version {
        Version::Soap11 => "1.1",
        Version::Soap12 => "1.2",
    }
}
