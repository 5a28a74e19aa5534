//! What is measured, and with which toolkits: the definitions in `bench/definitions/`, compiled in.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::send::SendKind;
use crate::stream::Kind;
use crate::workload::{PeerDefinition, Values, Workload};

/// All definitions.
pub struct Definitions {
    /// The workloads, in the order of reports.
    pub workloads: Vec<Workload>,
    /// Streams to decode, in which each message resembles its predecessor.
    pub streams: Vec<StreamWorkload>,
    /// Messages to send, each similar to its predecessor.
    pub sends: Vec<SendWorkload>,
    /// The toolkits besides deltasoap.
    pub peers: Vec<PeerDefinition>,
}

/// A stream of similar messages to be decoded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamWorkload {
    /// The name in all reports.
    pub name: String,
    /// The kind of messages.
    pub stream: Kind,
    /// A one-line description.
    pub description: String,
}

/// Messages to send.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendWorkload {
    /// The name in all reports.
    pub name: String,
    /// The change between two messages.
    pub send: SendKind,
    /// The values of the messages: one stream for each.
    pub values: Vec<Values>,
    /// A one-line description.
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
        let streams = parse::<StreamFile>("similar.toml", include_str!("../../definitions/similar.toml"))?.workload;
        let sends = parse::<SendFile>("send.toml", include_str!("../../definitions/send.toml"))?.workload;
        let engines = parse::<EngineFile>("engines.toml", include_str!("../../definitions/engines.toml"))?;
        Ok(Definitions { workloads, streams, sends, peers: engines.engine })
    }

    /// Returns the definitions with these names, in this order; all if there are none.
    ///
    /// # Errors
    /// When a name is unknown.
    pub fn select(&self, names: &[String]) -> Result<Selection<'_>> {
        if let Some(unknown) = names.iter().find(|name| !self.names().any(|known| known == *name)) {
            let known: Vec<_> = self.names().collect();
            bail!("no workload is named {unknown:?}; there are {}", known.join(", "));
        }
        Ok(Selection {
            workloads: pick(&self.workloads, names, |workload| &workload.name),
            streams: pick(&self.streams, names, |stream| &stream.name),
            sends: pick(&self.sends, names, |send| &send.name),
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let workloads = self.workloads.iter().map(|workload| &*workload.name);
        let streams = self.streams.iter().map(|stream| &*stream.name);
        workloads.chain(streams).chain(self.sends.iter().map(|send| &*send.name))
    }
}

/// Some of the definitions.
#[derive(Debug)]
pub struct Selection<'d> {
    /// See [`Definitions::workloads`].
    pub workloads: Vec<&'d Workload>,
    /// See [`Definitions::streams`].
    pub streams: Vec<&'d StreamWorkload>,
    /// See [`Definitions::sends`].
    pub sends: Vec<&'d SendWorkload>,
}

fn pick<'d, T>(all: &'d [T], names: &[String], name: impl Fn(&T) -> &str) -> Vec<&'d T> {
    if names.is_empty() {
        return all.iter().collect();
    }
    names.iter().filter_map(|wanted| all.iter().find(|one| name(one) == wanted)).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadFile {
    workload: Vec<Workload>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamFile {
    workload: Vec<StreamWorkload>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SendFile {
    workload: Vec<SendWorkload>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineFile {
    engine: Vec<PeerDefinition>,
}

fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T> {
    toml::from_str(text).with_context(|| format!("bench/definitions/{name} is malformed"))
}

/// Returns `.peers` in the repository that this program was built in.
pub fn peers_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.peers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Action;
    use std::collections::HashSet;

    fn definitions() -> Definitions {
        Definitions::load().unwrap()
    }

    #[test]
    fn names_are_distinct_and_say_what_is_done() {
        let definitions = definitions();
        let names: HashSet<_> = definitions.names().collect();
        assert_eq!(names.len(), definitions.workloads.len() + definitions.streams.len() + definitions.sends.len());
        assert!(definitions.sends.iter().all(|send| send.name.starts_with("send-")));
        assert!(definitions.streams.iter().all(|stream| stream.name.starts_with("decode-similar-")));
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
    fn a_peer_has_a_program_or_a_reason_why_not() {
        for peer in definitions().peers {
            assert_eq!(peer.program.is_empty(), peer.missing.is_some(), "{}", peer.name);
            assert_eq!(peer.build.is_empty(), peer.missing.is_some(), "{}", peer.name);
        }
    }

    #[test]
    fn selects_by_name_in_the_order_asked_for() {
        let definitions = definitions();
        let names = ["floor-copy", "decode-similar-hard", "send-shift", "decode-ints"].map(str::to_owned);
        let Selection { workloads, streams, sends } = definitions.select(&names).unwrap();
        assert_eq!(sends.iter().map(|send| &*send.name).collect::<Vec<_>>(), ["send-shift"]);
        assert_eq!(workloads.iter().map(|workload| &*workload.name).collect::<Vec<_>>(), ["floor-copy", "decode-ints"]);
        assert_eq!(streams.iter().map(|stream| &*stream.name).collect::<Vec<_>>(), ["decode-similar-hard"]);
        let all = definitions.select(&[]).unwrap();
        assert_eq!((all.workloads.len(), all.streams.len()), (definitions.workloads.len(), definitions.streams.len()));
        assert_eq!(all.sends.len(), definitions.sends.len());
        let error = definitions.select(&["decode-int".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("decode-ints"), "{error}");
    }
}
