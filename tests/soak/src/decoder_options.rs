//! Options for decoding a stream: every policy with every matcher, and the defaults.

use deltasoap::engine::{Checkpoints, Differential, Limits};
use deltasoap_checkpoints::{Bases, Matcher, Portions, State};
use deltasoap_test_support::Chance;
use serde::{Deserialize, Serialize};

/// All policies, with their names in saved findings and in reports.
pub const POLICIES: [(&str, Option<State>); 5] = [
    ("full", Some(State::Full)),
    ("differential", Some(State::Differential)),
    ("lightweight", Some(State::Lightweight)),
    (LEAF, None),
    ("off", None),
];
const LEAF: &str = "leaf";
const MATCHERS: [(&str, Matcher); 5] = [
    ("compare", Matcher::Compare),
    ("xor", Matcher::Xor),
    ("adler32", Matcher::Adler32),
    ("crc32", Matcher::Crc32),
    ("keyed", Matcher::Keyed),
];
const PORTIONS: [u32; 12] = [1, 4, 16, 32, 48, 64, 100, 150, 512, 1000, 4096, 100_000];

/// The options of differential decoding, in a form that can be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecoderOptions {
    pub checkpoints: String,
    pub matcher: String,
    pub portion: u32,
    pub probe: bool,
    pub tune: bool,
    pub adaptive: bool,
    /// Create base checkpoints at the first opportunity.
    #[serde(default)]
    pub first: bool,
    /// Another decoder that alternates with this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<Partner>,
}

/// A second decoder, with its own options, that decodes some of the messages with the same memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partner {
    pub way: Box<DecoderOptions>,
    /// Selects messages of each eight, by one bit each.
    pub turns: u8,
}

impl From<Differential> for DecoderOptions {
    fn from(from: Differential) -> Self {
        let portions = Portions::from_checkpoints(from.checkpoints);
        let named = match portions {
            Some(portions) => named(&POLICIES, Some(portions.state)),
            None if from.checkpoints == Checkpoints::Leaf => LEAF.to_owned(),
            None => "off".to_owned(),
        };
        let Portions { matcher, size, probe, tune, bases, .. } = portions.unwrap_or_default();
        DecoderOptions {
            checkpoints: named,
            matcher: self::named(&MATCHERS, matcher),
            portion: size,
            probe,
            tune,
            adaptive: from.adaptive,
            first: bases == Bases::First,
            partner: None,
        }
    }
}

impl DecoderOptions {
    /// Returns the engine's options.
    pub fn differential(&self) -> Differential {
        let matcher = value(&MATCHERS, &self.matcher);
        let (size, probe, tune, audit) = (self.portion, self.probe, self.tune, self.is_weak());
        let bases = if self.first { Bases::First } else { Bases::Interrupts };
        let checkpoints = match value(&POLICIES, &self.checkpoints) {
            Some(state) => Portions { state, matcher, size, probe, tune, bases, audit }.into(),
            None if self.checkpoints == LEAF => Checkpoints::Leaf,
            None => Checkpoints::Off,
        };
        Differential { checkpoints, adaptive: self.adaptive }
    }

    /// Returns true for matchers whose checksums can be equal for different bytes that are chosen
    /// for it: then the bytes are kept and compared too (`Portions::audit`).
    pub fn is_weak(&self) -> bool {
        !matches!(self.matcher.as_str(), "compare" | "keyed")
    }

    /// Returns the options of the decoder for the message with a number, and whether it is the
    /// partner.
    pub fn for_message(&self, message: usize) -> (&DecoderOptions, bool) {
        match &self.partner {
            Some(partner) if partner.turns & (1 << (message % 8)) != 0 => (&partner.way, true),
            _ => (self, false),
        }
    }

    /// Returns the index of the policy in [`POLICIES`].
    pub fn policy(&self) -> usize {
        POLICIES.iter().position(|(name, _)| *name == self.checkpoints).unwrap_or(0)
    }

    /// Returns variants of these options, each simplified in one respect.
    pub fn simpler(&self) -> Vec<DecoderOptions> {
        let mut all = vec![
            DecoderOptions { adaptive: false, ..self.clone() },
            DecoderOptions { tune: false, ..self.clone() },
            DecoderOptions { probe: false, ..self.clone() },
            DecoderOptions { first: false, ..self.clone() },
            DecoderOptions { matcher: "compare".to_owned(), ..self.clone() },
            DecoderOptions { checkpoints: "full".to_owned(), ..self.clone() },
            DecoderOptions { partner: None, ..self.clone() },
        ];
        all.extend([512, 64, 16, 1].map(|portion| DecoderOptions { portion, ..self.clone() }));
        all.retain(|way| way != self && (self.checkpoints != "leaf" || way.portion == self.portion));
        all.retain(|way| way.checkpoints == self.checkpoints || self.checkpoints != "leaf");
        all
    }
}

fn named<T: PartialEq + Copy>(all: &[(&'static str, T)], value: T) -> String {
    all.iter().find(|(_, known)| *known == value).map_or_else(String::new, |(name, _)| (*name).to_owned())
}

fn value<T: Copy + Default>(all: &[(&str, T)], name: &str) -> T {
    all.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).unwrap_or_default()
}

/// Returns several options for decoding one stream: the defaults, leaf checkpoints for every
/// message, and random ones.
pub fn several(chance: &mut Chance) -> Vec<DecoderOptions> {
    let leaf = Differential { checkpoints: Checkpoints::Leaf, ..Differential::OFF };
    let mut ways = vec![DecoderOptions::from(Differential::default()), DecoderOptions::from(leaf)];
    for _ in 0..chance.between(2, 5) {
        let way = any(chance);
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    if chance.one_in(4) {
        let first = if chance.one_in(2) { ways[0].clone() } else { any(chance) };
        let (way, turns) = (Box::new(any(chance)), chance.below(256) as u8);
        ways.push(DecoderOptions { partner: Some(Partner { way, turns }), ..first });
    }
    ways
}

fn any(chance: &mut Chance) -> DecoderOptions {
    let checkpoints = match chance.below(16) {
        15 => 4,
        14 => 3,
        at => at % 3,
    };
    DecoderOptions {
        checkpoints: POLICIES[checkpoints].0.to_owned(),
        matcher: chance.pick(&MATCHERS).0.to_owned(),
        portion: *chance.pick(&PORTIONS),
        probe: chance.one_in(3),
        tune: chance.one_in(3),
        adaptive: chance.one_in(3),
        first: chance.one_in(3),
        partner: None,
    }
}

/// A limit that is lower than the default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoweredLimit {
    pub name: String,
    pub value: u64,
}

impl LoweredLimit {
    /// Usually returns the defaults, otherwise a limit that messages reach.
    pub fn any(chance: &mut Chance) -> Option<LoweredLimit> {
        const NAMES: [&str; 8] =
            ["depth", "text", "message", "markup", "inherited_bindings", "tree_nodes", "attributes", "omitted_items"];
        if !chance.one_in(8) {
            return None;
        }
        let name = *chance.pick(&NAMES);
        let value = match name {
            "depth" => chance.between(3, 9),
            "attributes" => chance.between(0, 6),
            "inherited_bindings" | "omitted_items" => chance.between(0, 12),
            "text" | "tree_nodes" => chance.between(4, 40),
            "markup" => chance.between(24, 400),
            _ => chance.between(300, 4000),
        };
        Some(LoweredLimit { name: name.to_owned(), value: value as u64 })
    }

    /// Returns the default limits with this one lowered.
    pub fn limits(lowered: Option<&LoweredLimit>) -> Limits {
        let mut limits = Limits::default();
        let Some(LoweredLimit { name, value }) = lowered else { return limits };
        let size = usize::try_from(*value).unwrap_or(usize::MAX);
        match name.as_str() {
            "depth" => limits.depth = size,
            "text" => limits.text = size,
            "message" => limits.message = *value,
            "markup" => limits.markup = size,
            "inherited_bindings" => limits.inherited_bindings = size,
            "tree_nodes" => limits.tree_nodes = size,
            "attributes" => limits.attributes = size,
            _ => limits.omitted_items = size,
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_survive_being_saved() {
        let mut chance = Chance::new(1, 1);
        for way in (0..50).flat_map(|_| several(&mut chance)) {
            let text = serde_json::to_string(&way).unwrap();
            let read: DecoderOptions = serde_json::from_str(&text).unwrap();
            assert_eq!(read, way);
            assert_eq!(DecoderOptions::from(read.differential()).differential(), way.differential());
        }
    }

    #[test]
    fn every_policy_and_matcher_comes_up() {
        let mut chance = Chance::new(1, 2);
        let all: Vec<_> = (0..300).flat_map(|_| several(&mut chance)).collect();
        for (policy, _) in POLICIES {
            for (matcher, _) in MATCHERS.iter().filter(|_| policy != "off" && policy != "leaf") {
                assert!(
                    all.iter().any(|way| way.checkpoints == policy && way.matcher == *matcher),
                    "{policy} {matcher}"
                );
            }
            assert!(all.iter().any(|way| way.checkpoints == policy), "{policy}");
        }
    }
}
