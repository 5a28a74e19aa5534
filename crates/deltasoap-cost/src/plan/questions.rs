//! Answers for a system to the questions that Imre et al. open with (section 1).

use super::{BinaryCost, HTTP, Load, Outcome, System, outcome};
use crate::CostError;
use serde::Serialize;

/// The effect of a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The change.
    pub question: &'static str,
    /// The expected performance after the change; `None` if it cannot be calculated.
    pub outcome: Option<Outcome>,
    /// The reason for a missing outcome: usually that the system cannot serve the load.
    pub reason: Option<String>,
    /// Response time divided by that of the unchanged system.
    pub response_ratio: Option<f64>,
    /// Throughput divided by that of the unchanged system.
    pub throughput_ratio: Option<f64>,
}

/// Answers all questions; the last one only if the cost of a binary format is known.
pub fn answers(system: &System, load: Load, binary: Option<&BinaryCost>) -> Vec<Answer> {
    let [xml, service, after_response] = [system.xml, system.service, system.after_response].map(|time| time / 2.0);
    let faster = System { xml, service, after_response, ..system.clone() };
    let broader = System { bandwidth: system.bandwidth * 1.5, ..system.clone() };
    let mut changes = vec![
        ("a processor of twice the speed", faster, load),
        ("1.5 times the bandwidth", broader, load),
        (more_question(load), system.clone(), more(load)),
    ];
    changes.extend(binary.map(|binary| ("a binary format instead of XML", with_binary(system, binary), load)));
    let now = outcome(system, load).ok();
    changes.into_iter().map(|(question, system, load)| answer(question, &system, load, now.as_ref())).collect()
}

fn answer(question: &'static str, system: &System, load: Load, now: Option<&Outcome>) -> Answer {
    let (then, reason) = match outcome(system, load) {
        Ok(then) => (Some(then), None),
        Err(CostError::Saturated { .. }) => (None, Some("saturated".to_owned())),
        Err(error) => (None, Some(error.to_string())),
    };
    let both = now.zip(then.as_ref());
    Answer {
        question,
        reason,
        response_ratio: both.map(|(now, then)| then.response / now.response),
        throughput_ratio: both.map(|(now, then)| then.throughput / now.throughput),
        outcome: then,
    }
}

fn more_question(load: Load) -> &'static str {
    match load {
        Load::Closed { .. } => "30 % more clients",
        Load::Open { .. } => "30 % more requests",
    }
}

fn more(load: Load) -> Load {
    match load {
        Load::Closed { clients, think } => Load::Closed { clients: (f64::from(clients) * 1.3).round() as u32, think },
        Load::Open { rate } => Load::Open { rate: rate * 1.3 },
    }
}

fn with_binary(system: &System, binary: &BinaryCost) -> System {
    System {
        xml: binary.server,
        client: (system.client - binary.xml_client + binary.client).max(binary.client),
        request_bytes: (binary.request_bytes + HTTP) as f64,
        response_bytes: (binary.response_bytes + HTTP) as f64,
        ..system.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> System {
        System {
            xml: 0.008,
            service: 0.002,
            cores: 1,
            request_bytes: 1e4,
            response_bytes: 1e5,
            bandwidth: 1e9,
            client: 0.001,
            max_concurrency: None,
            after_response: 0.0,
        }
    }

    #[test]
    fn every_question_has_an_answer() {
        let binary =
            BinaryCost { server: 0.0001, client: 0.0001, xml_client: 0.001, request_bytes: 100, response_bytes: 1000 };
        for load in [Load::Closed { clients: 20, think: 1.0 }, Load::Open { rate: 50.0 }] {
            let answers = answers(&system(), load, Some(&binary));
            assert_eq!(answers.len(), 4);
            let ratio = |at: usize| answers[at].response_ratio.expect("answered");
            assert!(ratio(0) < 0.7 && ratio(1) < 1.0 && ratio(2) > 1.0 && ratio(3) < ratio(0), "{answers:?}");
        }
    }

    #[test]
    fn too_much_has_no_answer() {
        let answers = answers(&system(), Load::Open { rate: 90.0 }, None);
        assert!(answers[0].outcome.is_some() && answers[2].outcome.is_none(), "{answers:?}");
        assert_eq!((answers[0].reason.as_deref(), answers[2].reason.as_deref()), (None, Some("saturated")));
    }

    #[test]
    fn more_than_is_solved_is_not_saturated() {
        let answers = self::answers(&system(), Load::Closed { clients: 90_000, think: 1000.0 }, None);
        assert!(answers[2].reason.as_deref().is_some_and(|reason| reason.contains("at most 100000")), "{answers:?}");
    }
}
