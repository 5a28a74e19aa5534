//! How far a long measurement is, how long the rest takes, and when it pauses.
//!
//! A measurement consists of steps, and a step of pieces. Each step is expected to take some time; the bar is as long as all of them
//! together, so that the time that is left is right where steps differ. Between pieces a measurement may pause: it is gone on with later.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::environment::load_now;
use crate::suite::StepNote;

/// A step that is going to be taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Leg {
    /// Its name.
    pub name: String,
    /// Pieces that are left.
    pub pieces: usize,
    /// Seconds that these are expected to take.
    pub seconds: f64,
}

/// The time is up; what is left can be done later.
#[derive(Debug)]
pub struct Paused;

impl Error for Paused {}

impl fmt::Display for Paused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time is up; the same command goes on from here")
    }
}

/// A measurement on its way.
#[derive(Debug)]
pub struct Course {
    bar: ProgressBar,
    until: Option<Instant>,
    leg: Option<(Leg, Start)>,
    /// Milliseconds of the steps that are over.
    done: u64,
}

/// How a step began.
#[derive(Debug)]
struct Start {
    at: Instant,
    load: f64,
}

impl Course {
    /// A measurement of so many seconds that pauses after a time.
    pub fn new(seconds: f64, most: Option<Duration>) -> Self {
        let bar = ProgressBar::new(millis(seconds));
        // The template is a constant that the tests cover.
        bar.set_style(ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar()));
        Course { bar, until: most.map(|most| Instant::now() + most), leg: None, done: 0 }
    }

    /// Begins a step.
    pub fn begin(&mut self, leg: &Leg) {
        self.bar.set_message(leg.name.clone());
        if self.bar.is_hidden() {
            eprintln!("{}: {} pieces, about {}", leg.name, leg.pieces, duration(leg.seconds));
        }
        self.leg = Some((leg.clone(), Start { at: Instant::now(), load: load_now() }));
    }

    /// Goes on to the next piece of the step.
    ///
    /// # Errors
    /// [`Paused`] when the time is up.
    pub fn piece(&self) -> Result<()> {
        match self.until {
            Some(until) if Instant::now() >= until => Err(Paused.into()),
            _ => Ok(()),
        }
    }

    /// A piece is done.
    pub fn done(&self) {
        let Some((leg, _)) = &self.leg else { return };
        self.bar.inc(millis(leg.seconds) / leg.pieces.max(1) as u64);
    }

    /// Ends a step; gives what a record says about it.
    pub fn end(&mut self) -> Option<StepNote> {
        let (leg, start) = self.leg.take()?;
        self.done += millis(leg.seconds);
        self.bar.set_position(self.done);
        Some(StepNote {
            step: leg.name,
            date: jiff::Zoned::now().date().to_string(),
            seconds: (start.at.elapsed().as_secs_f64() * 10.0).round() / 10.0,
            load_before: start.load,
            load_after: load_now(),
        })
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

const TEMPLATE: &str = "{msg:40!} {bar:30} {percent} %, {eta} left";

fn millis(seconds: f64) -> u64 {
    (seconds * 1e3) as u64
}

/// A time for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        it if it >= 5400.0 => format!("{:.1} h", seconds / 3600.0),
        it if it >= 90.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} s", seconds.ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_pauses_when_its_time_is_up() {
        let leg = Leg { name: "a step".to_owned(), pieces: 2, seconds: 4.0 };
        let mut course = Course::new(4.0, Some(Duration::from_secs(3600)));
        course.begin(&leg);
        course.piece().unwrap();
        course.done();
        let note = course.end().unwrap();
        assert!(note.step == "a step" && note.seconds < 60.0 && course.end().is_none());
        let late = Course::new(4.0, Some(Duration::ZERO));
        assert!(late.piece().unwrap_err().is::<Paused>());
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn times_have_a_unit_that_fits() {
        assert_eq!([0.2, 89.0, 600.0, 9000.0].map(duration), ["1 s", "89 s", "10 min", "2.5 h"]);
    }
}
