//! Plans for archives: how long captures take to become tables, on how many cores, and how large the
//! tables are.
//!
//! An archive is a pipeline without waiting, so its time is a sum: that of each message, and that of
//! each part of the tables. Both come from samples of the captures, which are written twice: in few
//! parts, and in many. The difference is the cost of parts. A volume is then the samples many times,
//! except that it has fewer parts for its size. If its messages are larger or smaller than those of
//! the samples, the time is between two bounds: that all cost is per message, and that all is per
//! byte.

use super::{above_zero, at_least};
use crate::CostError;
use serde::Serialize;

/// Bytes of messages in a part of the tables, as `archive` writes them by default.
pub const PART_BYTES: f64 = 256.0 * 1024.0 * 1024.0;
/// Number of messages in a part at most.
pub const PART_MESSAGES: f64 = 1e6;

/// What a run over samples took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ArchiveRun {
    /// Number of messages.
    pub messages: f64,
    /// Number of those that could not be decoded.
    pub errors: f64,
    /// Bytes of these messages, uncompressed.
    pub bytes: f64,
    /// Number of parts of the tables.
    pub parts: f64,
    /// Processor time in seconds.
    pub seconds: f64,
    /// Bytes of the tables.
    pub output: f64,
    /// Memory that the run took at most, in bytes.
    pub memory: f64,
}

/// What is to be archived, and on what.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ArchiveVolume {
    /// Number of messages.
    pub messages: f64,
    /// Bytes of the messages, uncompressed.
    pub bytes: f64,
    /// Number of machines.
    pub nodes: u32,
    /// Number of cores of each machine.
    pub cores: u32,
}

/// The plan of an archive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArchivePlan {
    /// What is to be archived, and on what.
    pub volume: ArchiveVolume,
    /// Processor time in hours: the least and the most.
    pub core_hours: [f64; 2],
    /// Hours until the last part is written, if every core has the same share: the least and the
    /// most.
    pub hours: [f64; 2],
    /// Bytes of the tables: the least and the most.
    pub output: [f64; 2],
    /// Memory of each machine in bytes: a process for each core.
    pub memory: f64,
    /// Bytes of messages that a core takes in a second, as in the samples.
    pub bytes_per_second: f64,
}

/// Plans an archive by two runs over the same samples, of few and of many parts.
///
/// # Errors
/// If a number is not positive, or both runs had the same number of parts.
pub fn archive_plan(few: &ArchiveRun, many: &ArchiveRun, volume: ArchiveVolume) -> Result<ArchivePlan, CostError> {
    let given = [
        ("the number of messages", volume.messages),
        ("the number of bytes", volume.bytes),
        ("the number of nodes", f64::from(volume.nodes)),
        ("the number of cores", f64::from(volume.cores)),
        ("the number of messages of the samples", few.messages),
        ("the number of bytes of the samples", few.bytes),
        ("the number of parts of the samples", few.parts),
        ("the time for the samples", few.seconds),
        ("the bytes of the samples' tables", few.output),
        ("the time for the samples in many parts", many.seconds),
        ("the bytes of the samples' tables in many parts", many.output),
    ];
    for (name, found) in given {
        at_least(name, found, 0.0)?;
        above_zero(name, found)?;
    }
    if many.parts <= few.parts {
        return Err(CostError::Parameter { name: "the second number of parts", expected: "larger", found: many.parts });
    }
    let more = many.parts - few.parts;
    let workers = f64::from(volume.nodes) * f64::from(volume.cores);
    let parts = (volume.bytes / PART_BYTES).max(volume.messages / PART_MESSAGES).max(workers).ceil();
    let scaled = |few_cost: f64, many_cost: f64| {
        // More parts never cost less; what is measured may.
        let part = ((many_cost - few_cost) / more).max(0.0).min(few_cost / few.parts);
        let samples = few_cost - part * few.parts;
        let by = |ratio: f64| samples * ratio + part * parts;
        let (by_messages, by_bytes) = (by(volume.messages / few.messages), by(volume.bytes / few.bytes));
        [by_messages.min(by_bytes), by_messages.max(by_bytes)]
    };
    let core_hours = scaled(few.seconds, many.seconds).map(|seconds| seconds / 3600.0);
    Ok(ArchivePlan {
        volume,
        core_hours,
        hours: core_hours.map(|hours| hours / workers),
        output: scaled(few.output, many.output),
        memory: few.memory.max(many.memory) * f64::from(volume.cores),
        bytes_per_second: few.bytes / few.seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(parts: f64, seconds: f64, output: f64) -> ArchiveRun {
        ArchiveRun { messages: 1000.0, errors: 0.0, bytes: 1e6, parts, seconds, output, memory: 1e8 }
    }

    #[test]
    fn a_volume_is_the_samples_many_times_and_its_parts() {
        // A part costs 1 s and 100 bytes, the messages 8 s and 800 bytes.
        let (few, many) = (run(2.0, 10.0, 1000.0), run(10.0, 18.0, 1800.0));
        let volume = ArchiveVolume { messages: 1e6, bytes: 1e9, nodes: 2, cores: 5 };
        let plan = archive_plan(&few, &many, volume).expect("a plan");
        // One for each worker.
        let parts = 10.0;
        assert_eq!(plan.core_hours, [(8000.0 + parts) / 3600.0; 2]);
        assert_eq!(plan.hours, plan.core_hours.map(|hours| hours / 10.0));
        assert_eq!(plan.output, [800_000.0 + 100.0 * parts; 2]);
        assert_eq!((plan.memory, plan.bytes_per_second), (5e8, 1e5));
    }

    #[test]
    fn messages_of_another_size_have_bounds() {
        let (few, many) = (run(1.0, 10.0, 1000.0), run(2.0, 10.0, 1000.0));
        let volume = ArchiveVolume { messages: 1e6, bytes: 2e9, nodes: 1, cores: 1 };
        let plan = archive_plan(&few, &many, volume).expect("a plan");
        assert_eq!(plan.output, [1e6, 2e6]);
        assert_eq!(plan.core_hours[1], 2.0 * plan.core_hours[0]);
    }

    #[test]
    fn meaningless_numbers_are_refused() {
        let (few, many) = (run(1.0, 10.0, 1000.0), run(2.0, 10.0, 1000.0));
        let volume = ArchiveVolume { messages: 1e6, bytes: 2e9, nodes: 1, cores: 1 };
        assert!(archive_plan(&few, &few, volume).is_err());
        assert!(archive_plan(&ArchiveRun { output: f64::NAN, ..few }, &many, volume).is_err());
        assert!(archive_plan(&few, &ArchiveRun { seconds: f64::INFINITY, ..many }, volume).is_err());
        assert!(archive_plan(&few, &many, ArchiveVolume { nodes: 0, ..volume }).is_err());
        assert!(archive_plan(&few, &many, ArchiveVolume { messages: f64::NAN, ..volume }).is_err());
        assert!(archive_plan(&ArchiveRun { seconds: 0.0, ..few }, &many, volume).is_err());
    }
}
