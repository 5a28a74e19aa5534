//! Whether answers repeat what was asked.
//!
//! To look for what was sent costs next to nothing, but as long as an answer is awaited, the request's template is held: a
//! request of the same kind that is written meanwhile copies what it changes. So it is done as long as something is found.

/// Answers in which nothing was found before some are read without a look at what was sent.
const TRIES: u32 = 4;
/// How many those are at first, and how often their number doubles.
const PAUSE: u32 = 8;
const DOUBLED: u32 = 7;
/// Leaves that must be found in an answer.
const FEW: u64 = 64;

/// What was found in the last answers to requests of one kind.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    /// Answers in a row in which nothing was found.
    failures: u32,
    /// Answers to come that are read without a look.
    pause: u32,
}

impl Echoes {
    /// True if the answer to a request is worth a look.
    pub(super) fn are_expected(&mut self) -> bool {
        let is_pause = self.pause > 0;
        self.pause = self.pause.saturating_sub(1);
        !is_pause
    }

    /// Notes how many leaves were found.
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

    /// How many of so many answers are looked at.
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
