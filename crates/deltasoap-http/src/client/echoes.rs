//! Detects whether answers repeat values of their requests.
//!
//! Looking for sent values costs next to nothing, but it holds the request's template until the
//! answer arrives: a request of the same kind that is written meanwhile copies what it changes. So
//! this is done only as long as values are found.

/// Number of answers without a match before some are read without looking for matches.
const TRIES: u32 = 4;
/// Initial number of skipped answers, and the number of times that it doubles.
const PAUSE: u32 = 8;
const DOUBLED: u32 = 7;
/// Minimum number of leaves that must be found in an answer.
const FEW: u64 = 64;

/// Results of the last answers to requests of one kind.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    /// Number of consecutive answers without a match.
    failures: u32,
    /// Number of following answers that are read without looking for matches.
    pause: u32,
}

impl Echoes {
    /// Returns true if matches are looked for in the answer to a request.
    pub(super) fn are_expected(&mut self) -> bool {
        let is_pause = self.pause > 0;
        self.pause = self.pause.saturating_sub(1);
        !is_pause
    }

    /// Records the number of leaves found.
    pub(super) fn note(&mut self, leaves: u64) {
        self.failures = if leaves < FEW { self.failures.saturating_add(1) } else { 0 };
        if let Some(doubled) = self.failures.checked_sub(TRIES) {
            self.pause = PAUSE << doubled.min(DOUBLED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of searched answers out of `answers`.
    fn looks(echoes: &mut Echoes, answers: usize, leaves: u64) -> usize {
        let looked = |_: &usize| {
            let looks = echoes.are_expected();
            if looks {
                echoes.note(leaves);
            }
            looks
        };
        (0..answers).filter(looked).count()
    }

    #[test]
    fn echoes_are_looked_for_as_long_as_there_are_some() {
        let mut echoes = Echoes::default();
        assert_eq!(looks(&mut echoes, 1000, 100), 1000);
        assert_eq!(looks(&mut echoes, 4, 0), 4);
        assert_eq!(looks(&mut echoes, 8, 0), 0);
        assert!(looks(&mut echoes, 100_000, 0) < 120);
        assert!(looks(&mut echoes, 2000, 100) > 900, "they come back");
    }
}
