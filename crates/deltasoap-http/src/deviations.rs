//! Log lines of accepted deviations.

use deltasoap_core::{Deviation, DeviationKind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Logs the deviations of a client's answers or a service's requests.
#[derive(Debug, Default)]
pub(crate) struct DeviationLog {
    has_warned: AtomicBool,
}

impl DeviationLog {
    /// Logs each deviation at level `debug`. The first element that was skipped although a field
    /// has its local name is a warning: mostly a namespace is wrong, and values are lost.
    pub(crate) fn log(&self, deviations: &[Deviation]) {
        for deviation in deviations {
            if deviation.kind == DeviationKind::Namesake && !self.has_warned.swap(true, Relaxed) {
                tracing::warn!(
                    %deviation,
                    "an element was skipped because its namespace is not that of the type: declare the elements of the \
                     type as qualified, as unqualified, or in another namespace"
                );
            } else {
                tracing::debug!(%deviation, "the message deviates from its schema");
            }
        }
    }
}
