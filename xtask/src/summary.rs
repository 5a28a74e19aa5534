//! The final line of a task that tests something.

use std::process::ExitCode;

/// Prints `N passed, N failed`. Running no test is a failure too.
pub fn close(outcomes: &[bool]) -> ExitCode {
    let passed = outcomes.iter().filter(|&&passed| passed).count();
    println!("{passed} passed, {} failed", outcomes.len() - passed);
    ExitCode::from(u8::from(outcomes.is_empty() || passed < outcomes.len()))
}
