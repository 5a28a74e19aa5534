//! Where figures were measured: processor, compiler, date.

use std::fmt;
use std::fs;
use std::thread;

/// What a report says about the machine.
#[derive(Debug)]
pub struct Environment {
    processor: String,
    cores: usize,
    /// The core that everything ran on, if it could be chosen.
    core: Option<usize>,
    date: jiff::civil::Date,
}

impl Environment {
    /// Looks around, and ties this process, and those that it starts from now on, to one core.
    pub fn prepare() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Environment {
            processor: processor(&cpuinfo).unwrap_or("unknown processor").to_owned(),
            // In this order: afterwards there seems to be one core.
            cores: thread::available_parallelism().map_or(1, usize::from),
            core: pin_to_core(),
            date: jiff::Zoned::now().date(),
        }
    }
}

/// To the last core, which is the least busy one where interrupts go to the first. `None` where the system does not
/// allow it.
fn pin_to_core() -> Option<usize> {
    let core = core_affinity::get_core_ids()?.into_iter().last()?;
    core_affinity::set_for_current(core).then_some(core.id)
}

/// The model in the text of `/proc/cpuinfo`.
fn processor(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, model)| model.trim())
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        write!(f, "deltasoap {version}, {}, {}, {} cores", env!("BENCH_RUSTC"), self.processor, self.cores)?;
        match self.core {
            Some(core) => write!(f, " (pinned to core {core})")?,
            None => f.write_str(" (not pinned to a core)")?,
        }
        write!(f, ", {}", self.date)
    }
}

#[cfg(test)]
mod tests {
    use super::processor;

    #[test]
    fn finds_the_model() {
        assert_eq!(processor("processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\n"), Some("Some CPU @ 3 GHz"));
        assert_eq!(processor(""), None);
    }
}
