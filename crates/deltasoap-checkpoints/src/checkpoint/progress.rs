//! Progressive matching: finds whether the routines are before a checkpoint, at it, or after it.
//!
//! The frames of a checkpoint are a path, like those of the routines. Level by level they are
//! equal, until one of them has gone further than the other. A routine's progress is a field, its
//! occurrences, and whether one of them is open. If the checkpoint is further on, the routine of
//! that level is watched. If it is not, the checkpoint can no longer be met and is *stale*.

use deltasoap_core::decode::Frame;
use deltasoap_core::decode::differential::policy::{Live, Watch};

/// The position of the routines relative to a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Before it. They may meet it when the watch is due.
    Ahead(Watch),
    /// At it: the frames are equal.
    Here,
    /// After it, or in a part of the value that is not the old one.
    Passed,
}

/// Returns a watch for the progress of a saved frame.
fn watch_at(level: usize, frame: &Frame) -> Watch {
    Watch { level, field: frame.field, count: frame.count, is_inside: frame.state != BETWEEN }
}

/// The state of a routine between two children, and of a leaf before its text.
const BETWEEN: u8 = 0;

/// Compares the frames of a checkpoint. The first `known` frames are known to be equal; only the
/// frames above them are given.
pub(super) fn compare(above: &[Frame], known: usize, live: &Live<'_>) -> Progress {
    let count = known + above.len();
    for level in known..=count {
        match (above.get(level - known), live.frame(level)) {
            (None, None) => return here(above.last(), count, live),
            (None, Some(_)) => return Progress::Passed,
            (Some(_), None) => return into(level.checked_sub(known + 1).map(|parent| &above[parent]), level, live),
            (Some(saved), Some(frame)) if is_equal(saved, &frame) => {}
            (Some(saved), Some(frame)) if rank(&frame) < rank(saved) && level < live.over() => {
                return Progress::Ahead(watch_at(live.base().level() + level, saved));
            }
            _ => return Progress::Passed,
        }
    }
    Progress::Passed
}

/// Handles equal frames: all but a leaf's must be over the old value.
fn here(last: Option<&Frame>, count: usize, live: &Live<'_>) -> Progress {
    let is_leaf = last.is_some_and(|frame| frame.mark != 0);
    if count <= live.over() + usize::from(is_leaf) { Progress::Here } else { Progress::Passed }
}

/// Handles equal frames where the checkpoint continues in a routine, at `level`, that was not
/// entered yet.
fn into(parent: Option<&Frame>, level: usize, live: &Live<'_>) -> Progress {
    let below = live.base().level() + level;
    match parent {
        _ if level > live.over() => Progress::Passed,
        Some(parent) => Progress::Ahead(watch_at(below - 1, parent)),
        None if level == 0 => {
            Progress::Ahead(Watch { level: below.saturating_sub(1), field: 0, count: 0, is_inside: true })
        }
        None => Progress::Passed,
    }
}

fn rank(frame: &Frame) -> (u32, u32, bool) {
    (frame.field, frame.count, frame.state == BETWEEN)
}

/// Compares two frames. Between two children, it does not matter where the last one was stored.
fn is_equal(saved: &Frame, frame: &Frame) -> bool {
    let place = if frame.state == BETWEEN { saved.place } else { frame.place };
    *saved == Frame { place, ..*frame }
}
