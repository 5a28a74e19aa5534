//! The conditions of `--fail-if`, such as `p99>50ms`, `errors>1%` and `rate<100`.

use anyhow::{Result, bail};
use deltasoap_load::Tally;
use std::time::Duration;

/// A condition under which a load has failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    figure: Figure,
    comparison: Comparison,
    /// Milliseconds, a number, or a share.
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    /// A quantile of the latencies in milliseconds.
    Quantile(f64),
    Mean,
    Max,
    Errors,
    ErrorShare,
    Rate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

const COMPARISONS: [(&str, Comparison); 4] =
    [(">=", Comparison::AtLeast), ("<=", Comparison::AtMost), (">", Comparison::Above), ("<", Comparison::Below)];

impl Condition {
    /// Parses a condition.
    pub fn parse(text: &str) -> Result<Self> {
        let parts =
            COMPARISONS.iter().find_map(|(sign, it)| text.split_once(sign).map(|(left, right)| (left, *it, right)));
        let Some((figure, comparison, limit)) = parts else {
            bail!("--fail-if {text}: expected a comparison, such as p99>50ms, errors>1% or rate<100");
        };
        let (figure, limit) = (figure.trim(), limit.trim());
        let (figure, limit) = match figure {
            "mean" => (Figure::Mean, milliseconds(limit)),
            "max" => (Figure::Max, milliseconds(limit)),
            "rate" => (Figure::Rate, number(limit)),
            "errors" => match limit.strip_suffix('%') {
                Some(percent) => (Figure::ErrorShare, number(percent).map(|percent| percent / 100.0)),
                None => (Figure::Errors, number(limit)),
            },
            _ => match figure.strip_prefix('p').and_then(number).filter(|percent| *percent <= 100.0) {
                Some(percent) => (Figure::Quantile(percent / 100.0), milliseconds(limit)),
                None => bail!("--fail-if {text}: {figure:?} is none of p50, p99.9 and so on, mean, max, errors, rate"),
            },
        };
        let Some(limit) = limit else {
            bail!(
                "--fail-if {text}: expected a time (50ms, 1.5s), for errors a number or a percentage, for rate a number"
            );
        };
        Ok(Condition { text: text.to_owned(), figure, comparison, limit })
    }

    /// Returns what the condition says of a load if it holds. Without an answer, latencies are
    /// endless.
    pub fn holds(&self, total: &Tally, time: Duration) -> Option<String> {
        let (answered, failed) = (total.answered() as f64, total.failed() as f64);
        let ms = |us: f64| if answered > 0.0 { us / 1e3 } else { f64::INFINITY };
        let found = match self.figure {
            Figure::Quantile(share) => ms(total.quantile_us(share)),
            Figure::Mean => ms(total.mean_us()),
            Figure::Max => ms(total.max_us()),
            Figure::Errors => failed,
            Figure::ErrorShare => failed / (answered + failed).max(1.0),
            Figure::Rate => answered / time.as_secs_f64().max(f64::MIN_POSITIVE),
        };
        let holds = match self.comparison {
            Comparison::Above => found > self.limit,
            Comparison::AtLeast => found >= self.limit,
            Comparison::Below => found < self.limit,
            Comparison::AtMost => found <= self.limit,
        };
        holds.then(|| format!("{}: {}", self.text, self.shown(found)))
    }

    fn shown(&self, found: f64) -> String {
        match self.figure {
            _ if found.is_infinite() => "there is no answer".to_owned(),
            Figure::Quantile(_) | Figure::Mean | Figure::Max => format!("it is {found:.3} ms"),
            Figure::Errors => format!("there are {found}"),
            Figure::ErrorShare => format!("there are {:.2}%", found * 100.0),
            Figure::Rate => format!("it is {found:.1}"),
        }
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

fn milliseconds(text: &str) -> Option<f64> {
    let units = [("ms", 1.0), ("us", 1e-3), ("µs", 1e-3), ("s", 1e3)];
    units.into_iter().find_map(|(unit, factor)| Some(number(text.strip_suffix(unit)?)? * factor))
}

/// Parses all conditions.
pub fn conditions(texts: &[String]) -> Result<Vec<Condition>> {
    texts.iter().map(|text| Condition::parse(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_load::Failure;

    fn holds(text: &str) -> bool {
        let mut tally = Tally::default();
        (1..=98).for_each(|ms| tally.note(Ok(Duration::from_millis(ms))));
        (0..2).for_each(|_| tally.note(Err(Failure::Timeout.into())));
        Condition::parse(text).expect("a condition").holds(&tally, Duration::from_secs(2)).is_some()
    }

    #[test]
    fn conditions_are_compared_with_what_happened() {
        for text in
            ["p50>48ms", "p99.9>0.09s", "max>=98000us", "mean<50ms", "errors>1%", "errors>=2", "rate<50", "rate <= 49"]
        {
            assert!(holds(text), "{text}");
        }
        for text in ["p50>50ms", "p100>98.5ms", "max>1s", "mean>50ms", "errors>2%", "errors>2", "rate<49", "p99<98ms"] {
            assert!(!holds(text), "{text}");
        }
        let nothing = Condition::parse("p99>1s").expect("a condition");
        assert!(nothing.holds(&Tally::default(), Duration::ZERO).is_some_and(|why| why.contains("no answer")));
    }

    #[test]
    fn other_conditions_are_refused() {
        for text in [
            "",
            "p99",
            "p99>",
            "p99>50",
            "p101>1ms",
            "p>1ms",
            "q99>1ms",
            "errors>x%",
            "rate<-1",
            "mean>NaNms",
            "99p>1ms",
        ] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }
}
