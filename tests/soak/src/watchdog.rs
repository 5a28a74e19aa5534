//! Panics, endless loops and stack overflows: panics become findings, the others end the run and
//! leave the sequence's number.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Time limit of a sequence: about a thousand times what most take.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Keeps the messages of panics that are [`guarded`] instead of printing them; prints those of the
/// tool itself. Affects the whole process.
pub fn capture_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| match IS_GUARDED.get() {
        false => print(info),
        true => LAST.with_borrow_mut(|last| *last = info.to_string()),
    }));
}

/// Runs code that may panic.
///
/// # Errors
/// Returns the panic's message if it panics.
pub fn guarded<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    let is_within = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(body)).map_err(|_| LAST.with_borrow(Clone::clone));
    IS_GUARDED.set(is_within);
    result
}

/// Ensures that sequences end.
pub struct Watchdog {
    current: Arc<AtomicU64>,
    /// The number of the current sequence, in case the process dies.
    running: Option<File>,
}

impl Watchdog {
    /// Starts a thread that ends the process if one sequence of the seed takes too long. The file
    /// `running` in the folder names the current sequence.
    pub fn start(seed: u64, folder: &Path) -> Self {
        let current = Arc::new(AtomicU64::new(0));
        let watched = Arc::clone(&current);
        std::thread::spawn(move || {
            let (mut last, mut since) = (0, Instant::now());
            loop {
                std::thread::sleep(Duration::from_secs(1));
                let now = watched.load(Ordering::Relaxed);
                if now != last {
                    (last, since) = (now, Instant::now());
                } else if since.elapsed() > TIMEOUT {
                    eprintln!("no end: --seed {seed} --sequence {}", now.wrapping_sub(1));
                    std::process::exit(2);
                }
            }
        });
        let running = std::fs::create_dir_all(folder).and_then(|()| File::create(folder.join("running"))).ok();
        Watchdog { current, running }
    }

    /// Call at the beginning of a sequence, and at each step within it.
    pub fn tick(&mut self, sequence: u64) {
        self.current.store(sequence.wrapping_add(1), Ordering::Relaxed);
        if let Some(file) = &mut self.running {
            let _ = file.rewind().and_then(|()| writeln!(file, "{sequence}"));
        }
    }
}
