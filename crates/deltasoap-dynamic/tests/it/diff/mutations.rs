//! Random changes of random services, each with whom it has to break.

use super::model::{
    Attribute, Compositor, Element, Kind, Operation as Described, PLAIN, Service, Site, Text, Type, Writing,
};
use super::{contract, proved};
use deltasoap_core::soap::Envelope;
use deltasoap_dynamic::diff::{Change, Verdict};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_test_support::Chance;
use std::collections::BTreeMap;

/// Whether messages of the old service are refused by the new one, and the other way round.
type Refused = (bool, bool);

/// The new one allows more.
const WIDER: Refused = (false, true);
/// The new one allows less.
const NARROWER: Refused = (true, false);
/// Each allows something else.
const OTHER: Refused = (true, true);

/// A change that was made.
struct Mutation {
    name: &'static str,
    breaks_clients: bool,
    breaks_servers: bool,
}

impl Mutation {
    /// A change in messages of clients, of servers, or of both.
    fn of(name: &'static str, (forward, backward): Refused, [of_clients, of_servers]: [bool; 2]) -> Self {
        Mutation {
            name,
            breaks_clients: of_clients && forward || of_servers && backward,
            breaks_servers: of_clients && backward || of_servers && forward,
        }
    }
}

/// Number of services that are changed.
const SERVICES: u64 = 400;

#[test]
fn every_change_breaks_whom_it_has_to_break_and_nobody_else() {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for seed in 0..SERVICES {
        let mut chance = Chance::seeded(seed);
        let old = Service::random(&mut chance);
        let mut new = old.clone();
        let Some(mutation) = mutate(&mut new, &mut chance) else { continue };
        *counts.entry(mutation.name).or_default() += 1;
        let (old_text, new_text) = (old.wsdl(&PLAIN), new.wsdl(&PLAIN));
        let (old, new) = (contract(&old_text), contract(&new_text));
        let diff = old.diff(&new);
        let about = format!("seed {seed}, {}\n{old_text}\n{new_text}\n{diff:#?}", mutation.name);
        let breaks = |of: fn(&Change) -> &Verdict| diff.changes.iter().any(|it| of(it).is_breaking());
        assert_eq!(breaks(|it| &it.clients), mutation.breaks_clients, "clients: {about}");
        assert_eq!(breaks(|it| &it.servers), mutation.breaks_servers, "servers: {about}");
        let is_known = diff.changes.iter().all(|it| !it.clients.is_unknown() && !it.servers.is_unknown());
        assert!(is_known && !diff.is_cut, "{about}");
        proved(&diff, &old, &new, &about);
    }
    let (total, kinds) = (counts.values().sum::<usize>(), counts.len());
    assert!(total >= 200 && kinds >= 30, "{total} changes of {kinds} kinds: {counts:?}");
}

#[test]
fn what_messages_do_not_show_is_no_change() {
    for seed in 0..60 {
        let mut chance = Chance::seeded(seed);
        let service = Service::random(&mut chance);
        let plain = contract(&service.wsdl(&PLAIN));
        let others = [
            PLAIN,
            Writing { xsd_prefix: "xsd", own_prefix: "own", ..PLAIN },
            Writing { suffix: "New", ..PLAIN },
            Writing { has_documentation: true, ..PLAIN },
            Writing { is_reversed: true, ..PLAIN },
            Writing { has_unused: true, ..PLAIN },
        ];
        for writing in others {
            let text = service.wsdl(&writing);
            let diff = plain.diff(&contract(&text));
            assert!(diff.changes.is_empty(), "seed {seed}: {writing:?}\n{text}\n{diff:#?}");
        }
    }
}

/// Random messages are another judge: none that the other WSDL refuses may be called safe.
#[test]
fn no_message_contradicts_a_safe_verdict() {
    let mut refused = 0;
    for seed in 0..120 {
        let mut chance = Chance::seeded(1_000 + seed);
        let service = Service::random(&mut chance);
        let mut changed = service.clone();
        for _ in 0..chance.between(1, 4) {
            mutate(&mut changed, &mut chance);
        }
        let (old_text, new_text) = (service.wsdl(&PLAIN), changed.wsdl(&PLAIN));
        let (old, new) = (contract(&old_text), contract(&new_text));
        let diff = old.diff(&new);
        let about = format!("seed {seed}\n{old_text}\n{new_text}\n{diff:#?}");
        proved(&diff, &old, &new, &about);
        let is_safe = |of: fn(&Change) -> &Verdict| diff.changes.iter().all(|change| *of(change) == Verdict::Safe);
        let [clients, servers] = [is_safe(|it| &it.clients), is_safe(|it| &it.servers)];
        for (from, to, safe) in [(&old, &new, [clients, servers]), (&new, &old, [servers, clients])] {
            for (message, is_request) in messages(from, to, seed) {
                let is_refused = from.validate(&message).is_empty() && !to.validate(&message).is_empty();
                refused += usize::from(is_refused);
                let shown = String::from_utf8_lossy(&message);
                assert!(!is_refused || !safe[usize::from(!is_request)], "{shown}\n{about}");
            }
        }
    }
    assert!(refused > 100, "only {refused} messages were refused");
}

/// Returns random messages of a contract, each with whether it is a request. Nobody waits for the
/// responses of operations that the other contract does not have.
fn messages(contract: &Contract, other: &Contract, seed: u64) -> Vec<(Vec<u8>, bool)> {
    let mut all = Vec::new();
    for operation in contract.operations() {
        for number in 0..6 {
            let seed = seed * 6 + number;
            all.extend(written(&operation, true, seed).map(|message| (message, true)));
            let response = written(&operation, false, seed).filter(|_| other.operation(operation.name()).is_ok());
            all.extend(response.map(|message| (message, false)));
        }
    }
    all
}

fn written(operation: &Operation, is_request: bool, seed: u64) -> Option<Vec<u8>> {
    let (body, value) = match is_request {
        true => (operation.request(), operation.random_request(seed)),
        false => (operation.response(), operation.random_response(seed)),
    };
    let ((name, content), value) = (body?, value?);
    Envelope::element(name, &value, operation.view(content)).version(operation.version()).to_vec().ok()
}

/// Changes a service; `None` if the chosen change is not possible there.
fn mutate(service: &mut Service, chance: &mut Chance) -> Option<Mutation> {
    match chance.below(10) {
        0 => of_service(service, chance),
        1..=3 => of_text(service, chance),
        4 => of_attributes(service, chance),
        _ => of_elements(service, chance),
    }
}

fn of_service(service: &mut Service, chance: &mut Chance) -> Option<Mutation> {
    let both = |name, breaks_clients, breaks_servers| Some(Mutation { name, breaks_clients, breaks_servers });
    let number = chance.below(service.operations.len());
    match chance.below(7) {
        0 => {
            let operation = service.operations[number].clone();
            service.operations.push(Described { name: fresh(chance), ..operation });
            both("operation added", false, true)
        }
        1 if service.operations.len() > 1 => {
            service.operations.remove(number);
            both("operation removed", true, false)
        }
        2 => {
            service.operations[number].action += ":new";
            both("action", true, true)
        }
        3 => {
            service.namespace += ":2";
            both("namespace", true, true)
        }
        4 => {
            service.is_version_12 = !service.is_version_12;
            both("version", true, true)
        }
        5 if service.operations[number].response.is_some() => {
            service.operations[number].response = None;
            both("response removed", true, true)
        }
        6 => {
            service.operations[number].name += "New";
            both("operation renamed", true, true)
        }
        _ => None,
    }
}

/// Returns a name that nothing else has.
fn fresh(chance: &mut Chance) -> String {
    format!("new{}", chance.bits())
}

/// Chooses a type that messages contain.
fn choose(service: &Service, chance: &mut Chance) -> Option<(Site, [bool; 2])> {
    let sites: Vec<_> = service.sites().into_iter().filter(|(_, senders)| senders.contains(&true)).collect();
    chance.choose(&sites).cloned()
}

fn of_elements(service: &mut Service, chance: &mut Chance) -> Option<Mutation> {
    let (site, senders) = choose(service, chance)?;
    let it = service.type_at(&site);
    let number = chance.below(it.elements.len().max(1));
    let (name, refused) = of_type(it, number, chance)?;
    Some(Mutation::of(name, refused, senders))
}

fn of_type(it: &mut Type, number: usize, chance: &mut Chance) -> Option<(&'static str, Refused)> {
    let within = it.compositor;
    let name = fresh(chance);
    let new = |min| Element {
        name: name.clone(),
        min,
        max: Some(1),
        is_nillable: false,
        fixed: None,
        kind: Kind::Text(Text::plain("string")),
    };
    let count = it.elements.len();
    let element = it.elements.get_mut(number)?;
    match chance.below(15) {
        0 if within != Compositor::Choice => {
            it.elements.insert(number, new(0));
            Some(("optional element added", WIDER))
        }
        1 if within != Compositor::Choice => {
            it.elements.insert(number, new(1));
            Some(("required element added", OTHER))
        }
        2 if within == Compositor::Choice => {
            it.elements.push(new(1));
            Some(("branch added", WIDER))
        }
        3 if within == Compositor::Choice && count > 1 => {
            it.elements.remove(number);
            Some(("branch removed", NARROWER))
        }
        4 if within != Compositor::Choice => {
            let element = it.elements.remove(number);
            Some(if element.min == 0 {
                ("optional element removed", NARROWER)
            } else {
                ("required element removed", OTHER)
            })
        }
        5 => {
            element.name = name;
            Some(("element renamed", OTHER))
        }
        6 if element.min == 0 => {
            element.min = 1;
            Some(("element required", NARROWER))
        }
        7 if element.min == 1 && within != Compositor::Choice => {
            element.min = 0;
            Some(("element optional", WIDER))
        }
        8 if within != Compositor::All && element.max.is_some() => {
            let more = [element.max.map(|max| max + 1), Some(7), None];
            element.max = *chance.pick(&more);
            Some(("more occurrences", WIDER))
        }
        9 if element.max != Some(1) => {
            element.max = Some(if element.max.is_none() { 4 } else { 2 });
            Some(("fewer occurrences", NARROWER))
        }
        10 => {
            element.is_nillable = !element.is_nillable;
            Some(if element.is_nillable { ("nillable", WIDER) } else { ("not nillable", NARROWER) })
        }
        11 if within == Compositor::Sequence && number + 1 < count => {
            it.elements.swap(number, number + 1);
            Some(("order", OTHER))
        }
        12 if within == Compositor::Sequence => {
            it.has_any = !it.has_any;
            Some(if it.has_any { ("wildcard added", WIDER) } else { ("wildcard removed", NARROWER) })
        }
        13 => {
            it.is_mixed = !it.is_mixed;
            Some(if it.is_mixed { ("mixed", WIDER) } else { ("not mixed", NARROWER) })
        }
        14 if within == Compositor::All && count > 1 => {
            it.compositor = Compositor::Sequence;
            Some(("all to sequence", NARROWER))
        }
        _ => None,
    }
}

fn of_attributes(service: &mut Service, chance: &mut Chance) -> Option<Mutation> {
    let (site, senders) = choose(service, chance)?;
    let attributes = &mut service.type_at(&site).attributes;
    let number = chance.below(attributes.len().max(1));
    let is_required = chance.one_in(2);
    let name = fresh(chance);
    let new = Attribute { name: name.clone(), is_required, text: Text::plain("string") };
    let (name, refused) = match (chance.below(5), attributes.get_mut(number)) {
        (0, _) => {
            attributes.push(new);
            if is_required { ("required attribute added", OTHER) } else { ("optional attribute added", WIDER) }
        }
        (1, Some(_)) => {
            let removed = attributes.remove(number);
            if removed.is_required {
                ("required attribute removed", OTHER)
            } else {
                ("optional attribute removed", NARROWER)
            }
        }
        (2, Some(attribute)) => {
            attribute.is_required = !attribute.is_required;
            if attribute.is_required { ("attribute required", NARROWER) } else { ("attribute optional", WIDER) }
        }
        (3, Some(attribute)) => changed(&mut attribute.text, chance)?,
        (4, Some(attribute)) => {
            attribute.name = name;
            ("attribute renamed", OTHER)
        }
        _ => return None,
    };
    Some(Mutation::of(name, refused, senders))
}

fn of_text(service: &mut Service, chance: &mut Chance) -> Option<Mutation> {
    let (site, senders) = choose(service, chance)?;
    let it = service.type_at(&site);
    let is_text = |element: &&mut Element| matches!(element.kind, Kind::Text(_)) && element.fixed.is_none();
    let mut elements: Vec<_> = it.elements.iter_mut().filter(is_text).collect();
    let number = chance.below(elements.len().max(1));
    let element = elements.get_mut(number)?;
    let Kind::Text(text) = &mut element.kind else { return None };
    if chance.one_in(8) && text.base == "string" && text.facets.is_empty() && !element.is_nillable {
        element.fixed = Some("only".to_owned());
        return Some(Mutation::of("fixed value", NARROWER, senders));
    }
    let (name, refused) = changed(text, chance)?;
    Some(Mutation::of(name, refused, senders))
}

/// Changes a simple type.
fn changed(text: &mut Text, chance: &mut Chance) -> Option<(&'static str, Refused)> {
    let facet = text.facets.first().map_or("", |(name, _)| name);
    let options: Vec<(&'static str, Refused, Text)> = match (text.base, facet) {
        ("string", "") => vec![
            ("length limited", NARROWER, Text::with("string", &[("maxLength", "7")])),
            ("least length", NARROWER, Text::with("string", &[("minLength", "1")])),
            ("values listed", NARROWER, Text::with("string", &[("enumeration", "A"), ("enumeration", "B")])),
            ("pattern added", NARROWER, Text::with("string", &[("pattern", "[a-z]+")])),
            ("string to int", NARROWER, Text::plain("int")),
        ],
        ("string", "maxLength") => vec![
            ("shorter", NARROWER, Text::with("string", &[("maxLength", "9")])),
            ("longer", WIDER, Text::with("string", &[("maxLength", "11")])),
            ("length unlimited", WIDER, Text::plain("string")),
            ("exact length", NARROWER, Text::with("string", &[("length", "10")])),
        ],
        ("string", "enumeration") => vec![
            ("value removed", NARROWER, Text::with("string", &[("enumeration", "A"), ("enumeration", "C")])),
            (
                "value replaced",
                OTHER,
                Text::with("string", &[("enumeration", "A"), ("enumeration", "B"), ("enumeration", "D")]),
            ),
            ("values free", WIDER, Text::plain("string")),
            (
                "value added",
                WIDER,
                Text::with(
                    "string",
                    &[("enumeration", "A"), ("enumeration", "B"), ("enumeration", "C"), ("enumeration", "D")],
                ),
            ),
        ],
        ("string", "pattern") => vec![
            ("pattern removed", WIDER, Text::plain("string")),
            ("pattern changed", OTHER, Text::with("string", &[("pattern", "[A-Z]{4}")])),
        ],
        ("int", "") => vec![
            ("int to long", WIDER, Text::plain("long")),
            ("int to string", WIDER, Text::plain("string")),
            ("int to short", NARROWER, Text::plain("short")),
            ("int to unsigned", OTHER, Text::plain("unsignedInt")),
            ("int to date", OTHER, Text::plain("date")),
            ("least value", NARROWER, Text::with("int", &[("minInclusive", "0")])),
        ],
        ("int", "minInclusive") => vec![
            ("less", NARROWER, Text::with("int", &[("minInclusive", "1"), ("maxInclusive", "99")])),
            ("more", WIDER, Text::with("int", &[("minInclusive", "0"), ("maxInclusive", "100")])),
            ("same bounds, exclusive", NARROWER, Text::with("int", &[("minInclusive", "1"), ("maxExclusive", "100")])),
            ("shifted", OTHER, Text::with("int", &[("minInclusive", "2"), ("maxInclusive", "101")])),
            ("unlimited", WIDER, Text::with("int", &[("minInclusive", "1")])),
        ],
        ("decimal", _) => vec![
            ("fewer digits", NARROWER, Text::with("decimal", &[("fractionDigits", "1")])),
            ("more digits", WIDER, Text::with("decimal", &[("fractionDigits", "3")])),
            ("digits limited", NARROWER, Text::with("decimal", &[("fractionDigits", "2"), ("totalDigits", "8")])),
        ],
        ("boolean", _) => {
            vec![("boolean to string", WIDER, Text::plain("string")), ("boolean to int", OTHER, Text::plain("int"))]
        }
        ("date", _) => vec![("date to time", OTHER, Text::plain("dateTime"))],
        ("double", _) => vec![
            ("double to int", NARROWER, Text::plain("int")),
            ("double to decimal", NARROWER, Text::plain("decimal")),
        ],
        ("long", _) => {
            vec![("long to int", NARROWER, Text::plain("int")), ("long to integer", WIDER, Text::plain("integer"))]
        }
        _ => Vec::new(),
    };
    let (name, refused, new) = chance.choose(&options)?.clone();
    *text = new;
    Some((name, refused))
}
