//! Trouble on purpose: delays, faults, closed connections, truncated and slow answers.
//!
//! Each rule counts the requests that it applies to, and draws a number from its seed, its kind and
//! that count. So the same requests have the same trouble in each run.

use schemars::JsonSchema;
use serde::Deserialize;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A rule of trouble, which may be for one operation only: `VALUE` or `OPERATION:VALUE`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String", bound(deserialize = "T: FromStr<Err = String>"))]
#[schemars(with = "String", bound = "")]
pub struct Rule<T> {
    /// The operation; `None` for all.
    pub operation: Option<String>,
    /// What happens.
    pub value: T,
}

impl<T: FromStr<Err = String>> FromStr for Rule<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (operation, value) = match text.rsplit_once(':') {
            Some((operation, value)) if !operation.is_empty() => (Some(operation.to_owned()), value),
            Some(_) => return Err(format!("{text:?} has no operation before the colon")),
            None => (None, text),
        };
        Ok(Rule { operation, value: value.trim().parse()? })
    }
}

impl<T: FromStr<Err = String>> TryFrom<String> for Rule<T> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// A delay: `MS` or `MS..MS`, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// The shortest.
    pub least: u64,
    /// The longest.
    pub most: u64,
}

impl FromStr for Latency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let number = text.trim().parse::<u64>().ok().filter(|number| *number <= MOST_LATENCY);
            number.ok_or_else(|| format!("{text:?} is no number of milliseconds up to {MOST_LATENCY}"))
        };
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        let (least, most) = (number(least)?, number(most)?);
        if least > most {
            return Err(format!("{text:?} begins with the longer time"));
        }
        Ok(Latency { least, most })
    }
}

/// The longest delay, an hour.
const MOST_LATENCY: u64 = 3_600_000;

/// How often something happens: `0.1` or `10%`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate(f64);

impl Eq for Rate {}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
        let rate = number.trim().parse::<f64>().map(|number| number / unit).ok();
        let rate = rate.filter(|rate| (0.0..=1.0).contains(rate));
        rate.map(Rate).ok_or_else(|| format!("{text:?} is no rate from 0 to 1, or from 0% to 100%"))
    }
}

/// A speed in bytes a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speed(u64);

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let speed = text.parse::<u64>().ok().filter(|speed| *speed > 0);
        speed.map(Speed).ok_or_else(|| format!("{text:?} is no number of bytes a second"))
    }
}

/// Trouble on purpose. Each rule is `VALUE` or `OPERATION:VALUE`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct TroubleConfig {
    /// The seed of chance; the same seed makes the same trouble. Default 0.
    pub seed: u64,
    /// Delays before a request is passed on, in milliseconds: `100` or `100..500`.
    pub latency: Vec<Rule<Latency>>,
    /// The rate of requests that are answered with a SOAP fault: `0.1` or `10%`.
    pub fault_rate: Vec<Rule<Rate>>,
    /// The rate of requests whose connection is closed without an answer.
    pub drop_rate: Vec<Rule<Rate>>,
    /// The rate of answers that are truncated.
    pub cut_rate: Vec<Rule<Rate>>,
    /// The speed of answers in bytes a second.
    pub slow: Vec<Rule<Speed>>,
}

impl TroubleConfig {
    /// Returns the operations that have rules.
    pub(crate) fn operations(&self) -> impl Iterator<Item = &str> {
        fn of<T>(rules: &[Rule<T>]) -> impl Iterator<Item = &str> {
            rules.iter().filter_map(|rule| rule.operation.as_deref())
        }
        let rates = [&self.fault_rate, &self.drop_rate, &self.cut_rate].into_iter().flat_map(|rules| of(rules));
        of(&self.latency).chain(rates).chain(of(&self.slow))
    }
}

/// What happens to one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) latency: Duration,
    pub(crate) fault: bool,
    pub(crate) hang_up: bool,
    pub(crate) cut: bool,
    pub(crate) speed: Option<u64>,
}

/// The rules, with their counts.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    seed: u64,
    latency: Vec<Counted<Latency>>,
    faults: Vec<Counted<Rate>>,
    drops: Vec<Counted<Rate>>,
    cuts: Vec<Counted<Rate>>,
    speeds: Vec<Counted<Speed>>,
}

#[derive(Debug)]
struct Counted<T> {
    rule: Rule<T>,
    /// Number of requests that it applied to.
    count: AtomicU64,
}

impl Trouble {
    pub(crate) fn new(config: &TroubleConfig) -> Self {
        Trouble {
            seed: config.seed,
            latency: counted(&config.latency),
            faults: counted(&config.fault_rate),
            drops: counted(&config.drop_rate),
            cuts: counted(&config.cut_rate),
            speeds: counted(&config.slow),
        }
    }

    /// Returns true if there is none.
    pub(crate) fn is_none(&self) -> bool {
        let Trouble { latency, faults, drops, cuts, speeds, .. } = self;
        latency.is_empty() && faults.is_empty() && drops.is_empty() && cuts.is_empty() && speeds.is_empty()
    }

    /// Returns true if a rule is for one operation.
    pub(crate) fn needs_operation(&self) -> bool {
        fn any<T>(rules: &[Counted<T>]) -> bool {
            rules.iter().any(|counted| counted.rule.operation.is_some())
        }
        any(&self.latency) || any(&self.faults) || any(&self.drops) || any(&self.cuts) || any(&self.speeds)
    }

    /// Decides what happens to a request.
    pub(crate) fn plan(&self, operation: Option<&str>) -> Plan {
        let happens = |rules: &[Counted<Rate>], kind: u64| {
            next(rules, operation).is_some_and(|(Rate(rate), rule, count)| share(self.seed, kind, rule, count) < rate)
        };
        let latency = next(&self.latency, operation).map(|(Latency { least, most }, rule, count)| {
            let span = (most - least) as f64;
            Duration::from_millis(least + (share(self.seed, 1, rule, count) * span).round() as u64)
        });
        Plan {
            latency: latency.unwrap_or_default(),
            fault: happens(&self.faults, 2),
            hang_up: happens(&self.drops, 3),
            cut: happens(&self.cuts, 4),
            speed: next(&self.speeds, operation).map(|(Speed(speed), ..)| speed),
        }
    }
}

fn counted<T: Clone>(rules: &[Rule<T>]) -> Vec<Counted<T>> {
    rules.iter().map(|rule| Counted { rule: rule.clone(), count: AtomicU64::new(0) }).collect()
}

/// Returns the value of the rule for an operation, its number, and how often it applied before. A
/// rule for the operation comes before one for all.
fn next<T: Copy>(rules: &[Counted<T>], operation: Option<&str>) -> Option<(T, u64, u64)> {
    let own = || rules.iter().position(|counted| operation.is_some() && counted.rule.operation.as_deref() == operation);
    let index = own().or_else(|| rules.iter().position(|counted| counted.rule.operation.is_none()))?;
    let count = rules[index].count.fetch_add(1, Relaxed);
    Some((rules[index].rule.value, index as u64, count))
}

/// Returns a number from 0 to 1, which depends on nothing else (SplitMix64).
fn share(seed: u64, kind: u64, rule: u64, count: u64) -> f64 {
    let mixed = |mut bits: u64| {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    let state = [kind, rule, count].iter().fold(mixed(seed.wrapping_add(GOLDEN)), |state, number| {
        mixed(state.wrapping_add(number.wrapping_add(1).wrapping_mul(GOLDEN)))
    });
    (state >> 11) as f64 / (1u64 << 53) as f64
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    fn config(seed: u64) -> TroubleConfig {
        let rule = |text: &str| text.parse().expect("a rule");
        TroubleConfig {
            seed,
            latency: vec!["100..500".parse().expect("a rule"), "Ping:7".parse().expect("a rule")],
            fault_rate: vec![rule("25%"), rule("Ping:0")],
            ..TroubleConfig::default()
        }
    }

    #[test]
    fn runs_repeat() {
        let run = |seed| {
            let trouble = Trouble::new(&config(seed));
            (0..400).map(|_| trouble.plan(Some("Order"))).collect::<Vec<_>>()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        let faults = run(7).iter().filter(|plan| plan.fault).count();
        assert!((60..140).contains(&faults), "{faults} of 400 at 25 %");
        assert!(run(7).iter().all(|plan| (100..=500).contains(&plan.latency.as_millis())));
    }

    #[test]
    fn rules_of_an_operation_come_first() {
        let trouble = Trouble::new(&config(7));
        for _ in 0..50 {
            assert_eq!(trouble.plan(Some("Ping")), Plan { latency: Duration::from_millis(7), ..Plan::default() });
        }
        assert!(trouble.needs_operation() && !trouble.is_none());
    }

    #[test]
    fn rules_that_mean_nothing_are_refused() {
        for text in ["x", "-1", "500..100", "Ping:", ":5", "99999999"] {
            assert!(text.parse::<Rule<Latency>>().is_err(), "{text}");
        }
        for text in ["2", "101%", "-0.1", "NaN", ""] {
            assert!(text.parse::<Rule<Rate>>().is_err(), "{text}");
        }
        assert!("0".parse::<Rule<Speed>>().is_err());
        assert_eq!("{urn:a}b:5".parse::<Rule<Speed>>().map(|rule| rule.operation), Ok(Some("{urn:a}b".to_owned())));
    }
}
