//! Smaller trials with the same failure: delta debugging on messages, cuts, options and bytes.

use crate::markup::Document;
use crate::trial::Trial;

/// Maximum number of trials: a limit on the work that depends only on the trial.
const MAX_TRIALS: usize = 30_000;

/// Returns the smallest trial found that still fails.
pub fn shrink(trial: Trial, fails: impl FnMut(&Trial) -> bool) -> Trial {
    let mut search = Search { best: trial, fails, left: MAX_TRIALS };
    loop {
        let before = search.best.clone();
        search.drop_ways();
        search.drop_messages();
        search.simplify();
        search.drop_cuts();
        search.drop_elements();
        search.drop_bytes();
        if search.best == before || search.left == 0 {
            return search.best;
        }
    }
}

struct Search<F> {
    best: Trial,
    fails: F,
    left: usize,
}

impl<F: FnMut(&Trial) -> bool> Search<F> {
    /// Makes a trial the best one if it fails as well.
    fn try_it(&mut self, trial: Trial) -> bool {
        if self.left == 0 || trial == self.best {
            return false;
        }
        self.left -= 1;
        let is_better = (self.fails)(&trial);
        if is_better {
            self.best = trial;
        }
        is_better
    }

    fn drop_ways(&mut self) {
        for index in (0..self.best.ways.len()).rev() {
            let mut trial = self.best.clone();
            trial.ways.remove(index);
            self.try_it(trial);
        }
    }

    fn drop_messages(&mut self) {
        let mut size = self.best.messages.len() / 2;
        while size > 0 {
            let mut at = self.best.messages.len().saturating_sub(size);
            loop {
                let mut trial = self.best.clone();
                let end = (at + size).min(trial.messages.len());
                trial.messages.drain(at.min(end)..end);
                trial.cuts.drain(at.min(end)..end);
                trial.broken_off.drain(at.min(end)..end);
                self.try_it(trial);
                if at == 0 {
                    break;
                }
                at = at.saturating_sub(size);
            }
            size /= 2;
        }
    }

    /// Simplifies and removes options.
    fn simplify(&mut self) {
        let trial = Trial { lowered: None, ..self.best.clone() };
        self.try_it(trial);
        let trial = Trial { is_shared: false, ..self.best.clone() };
        self.try_it(trial);
        let trial = Trial { tolerance: 0, ..self.best.clone() };
        self.try_it(trial);
        for message in 0..self.best.broken_off.len() {
            let mut trial = self.best.clone();
            trial.broken_off[message] = false;
            self.try_it(trial);
        }
        for index in 0..self.best.ways.len() {
            for way in self.best.ways[index].simpler() {
                // A simplification that was already made must not be undone.
                if self.best.ways[index].simpler().contains(&way) {
                    let mut trial = self.best.clone();
                    trial.ways[index] = way;
                    self.try_it(trial);
                }
            }
        }
    }

    fn drop_cuts(&mut self) {
        for message in 0..self.best.cuts.len() {
            let mut trial = self.best.clone();
            trial.cuts[message].clear();
            if self.try_it(trial) {
                continue;
            }
            let mut size = self.best.cuts[message].len();
            while size > 0 {
                let mut at = 0;
                while at < self.best.cuts[message].len() {
                    let mut trial = self.best.clone();
                    let end = (at + size).min(trial.cuts[message].len());
                    trial.cuts[message].drain(at..end);
                    at += if self.try_it(trial) { 0 } else { size };
                }
                size /= 2;
            }
        }
    }

    /// Removes the same element, by its number, from all messages, then from single ones.
    fn drop_elements(&mut self) {
        let most = self.best.messages.iter().map(|it| elements(it).len()).max().unwrap_or(0);
        for index in (0..most).rev() {
            let mut trial = self.best.clone();
            (0..trial.messages.len()).for_each(|message| drop_element(&mut trial, message, index));
            self.try_it(trial);
        }
        for message in 0..self.best.messages.len() {
            for index in (0..elements(&self.best.messages[message]).len()).rev() {
                let mut trial = self.best.clone();
                drop_element(&mut trial, message, index);
                self.try_it(trial);
            }
        }
    }

    fn drop_bytes(&mut self) {
        for message in 0..self.best.messages.len() {
            let mut size = self.best.messages[message].len() / 2;
            while size > 0 {
                let mut at = 0;
                while at < self.best.messages[message].len() && self.left > 0 {
                    let mut trial = self.best.clone();
                    let end = (at + size).min(trial.messages[message].len());
                    cut_out(&mut trial, message, at, end);
                    at += if self.try_it(trial) { 0 } else { size };
                }
                size /= 2;
            }
        }
    }
}

fn elements(message: &[u8]) -> Vec<(usize, usize)> {
    let Ok(text) = std::str::from_utf8(message) else { return Vec::new() };
    Document(text.to_owned()).elements().iter().map(|it| (it.start, it.end)).collect()
}

fn drop_element(trial: &mut Trial, message: usize, index: usize) {
    if let Some(&(from, to)) = elements(&trial.messages[message]).get(index) {
        cut_out(trial, message, from, to);
    }
}

/// Removes bytes from a message; the cuts in the rest stay at the same bytes.
fn cut_out(trial: &mut Trial, message: usize, from: usize, to: usize) {
    trial.messages[message].drain(from..to);
    let cuts = &mut trial.cuts[message];
    cuts.iter_mut().filter(|cut| **cut > from).for_each(|cut| *cut = from.max(cut.saturating_sub(to - from)));
    cuts.dedup();
    let len = trial.messages[message].len();
    cuts.retain(|&cut| cut > 0 && cut < len);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder_options::DecoderOptions;
    use deltasoap::engine::Differential;

    #[test]
    fn what_does_not_matter_goes() {
        let text = b"<r><a>1</a><b>22</b><c>3</c></r>".to_vec();
        let way = DecoderOptions::from(Differential::default());
        let trial = Trial {
            messages: vec![text; 5],
            cuts: vec![vec![2, 9, 14, 20]; 5],
            broken_off: vec![false, true, false, false, true],
            ways: vec![way.clone(), DecoderOptions::from(Differential::OFF)],
            lowered: None,
            is_shared: true,
            tolerance: 1,
        };
        // Fails if a message is cut within the text 22, whatever the rest.
        let fails = |trial: &Trial| {
            let at = |text: &[u8]| text.windows(2).position(|it| it == b"22");
            let is_cut = |(text, cuts): (&Vec<u8>, &Vec<usize>)| at(text).is_some_and(|at| cuts.contains(&(at + 1)));
            trial.ways.contains(&way) && trial.messages.iter().zip(&trial.cuts).any(is_cut)
        };
        let mut wide = trial.clone();
        wide.cuts[3].insert(3, 15);
        let small = shrink(wide, fails);
        assert_eq!((small.messages, small.cuts), (vec![b"22".to_vec()], vec![vec![1]]));
        assert_eq!((small.ways.len(), small.is_shared, small.broken_off), (1, false, vec![false]));
    }
}
