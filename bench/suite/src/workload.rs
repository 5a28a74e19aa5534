//! What can be measured: the definitions in `bench/definitions/`, compiled in.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// All definitions.
pub struct Definitions {
    /// What is done, in the order of reports.
    pub workloads: Vec<Workload>,
    /// The toolkits besides deltasoap.
    pub peers: Vec<PeerDefinition>,
}

/// Something to be done with a message of any size.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The name, the same in every report and in the peer protocol.
    pub name: String,
    /// What is timed.
    pub action: Action,
    /// The body element of the message.
    pub operation: String,
    /// What is in the message.
    pub values: Values,
    /// How many times as fast as gSOAP deltasoap is meant to be at 100,000 elements.
    pub goal: Option<f64>,
    /// One line for people.
    pub description: String,
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Bytes to values.
    Decode,
    /// Values to bytes.
    Encode,
    /// The message is compared with an equal one.
    Compare,
    /// The message is copied.
    Copy,
}

/// What a message carries: one of the arrays of [`deltasoap_streams::arrays`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// `xsd:int`
    Ints,
    /// `xsd:double`, few digits
    Easy,
    /// `xsd:double`, up to 17 digits
    Hard,
    /// `xsd:string`
    Strings,
    /// Mesh interface objects
    Structs,
    /// `xsd:base64Binary`
    Base64,
}

/// Another toolkit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerDefinition {
    /// The name in reports.
    pub name: String,
    /// Its program, below the folder of built peers.
    pub program: String,
    /// The command that builds it.
    pub build: String,
    /// One line for people.
    pub description: String,
}

impl Definitions {
    /// Reads the definitions.
    ///
    /// # Errors
    /// When one of the files is malformed.
    pub fn load() -> Result<Self> {
        let files = [
            ("decode.toml", include_str!("../../definitions/decode.toml")),
            ("encode.toml", include_str!("../../definitions/encode.toml")),
            ("floors.toml", include_str!("../../definitions/floors.toml")),
        ];
        let mut workloads = Vec::new();
        for (name, text) in files {
            workloads.append(&mut parse::<WorkloadFile>(name, text)?.workload);
        }
        let engines = parse::<EngineFile>("engines.toml", include_str!("../../definitions/engines.toml"))?;
        Ok(Definitions { workloads, peers: engines.engine })
    }

    /// The workloads with these names; all for none.
    ///
    /// # Errors
    /// When there is no workload of one of the names.
    pub fn select(&self, names: &[String]) -> Result<Vec<&Workload>> {
        if names.is_empty() {
            return Ok(self.workloads.iter().collect());
        }
        names.iter().map(|name| self.find(name)).collect()
    }

    fn find(&self, name: &str) -> Result<&Workload> {
        let Some(workload) = self.workloads.iter().find(|workload| workload.name == name) else {
            let known: Vec<_> = self.workloads.iter().map(|workload| &*workload.name).collect();
            bail!("no workload is named {name:?}; there are {}", known.join(", "));
        };
        Ok(workload)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadFile {
    workload: Vec<Workload>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineFile {
    engine: Vec<PeerDefinition>,
}

fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T> {
    toml::from_str(text).with_context(|| format!("bench/definitions/{name} is malformed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn definitions() -> Definitions {
        Definitions::load().unwrap()
    }

    #[test]
    fn names_are_distinct_and_say_what_is_done() {
        let definitions = definitions();
        let names: HashSet<_> = definitions.workloads.iter().map(|workload| &workload.name).collect();
        assert_eq!(names.len(), definitions.workloads.len());
        for workload in &definitions.workloads {
            let action = workload.name.split('-').next().unwrap();
            let expected = match workload.action {
                Action::Decode => "decode",
                Action::Encode => "encode",
                Action::Compare | Action::Copy => "floor",
            };
            assert_eq!(action, expected, "{}", workload.name);
        }
    }

    #[test]
    fn selects_by_name_in_the_order_asked_for() {
        let definitions = definitions();
        let names = ["floor-copy".to_owned(), "decode-ints".to_owned()];
        let selected: Vec<_> = definitions.select(&names).unwrap().iter().map(|workload| &*workload.name).collect();
        assert_eq!(selected, ["floor-copy", "decode-ints"]);
        assert_eq!(definitions.select(&[]).unwrap().len(), definitions.workloads.len());
        let error = definitions.select(&["decode-int".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("decode-ints"), "{error}");
    }
}
