//! Passes the compiler's version and flags to reports.

use std::process::Command;

fn main() {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).arg("--version").output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo:rustc-env=BENCH_RUSTC={}", version.as_deref().unwrap_or("rustc unknown").trim());
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    println!("cargo:rustc-env=BENCH_PROFILE={}, opt-level {}", of("PROFILE"), of("OPT_LEVEL"));
    println!("cargo:rerun-if-changed=build.rs");
}
