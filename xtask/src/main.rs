//! `cargo xtask`: what a developer or CI does besides building and testing.
//!
//! Each task installs what it needs into `.peers/` in the repository root (which git ignores),
//! prints what it does, and is fast if there is nothing left to do. Each task is a module;
//! [`shell`] starts programs.

#![forbid(unsafe_code)]

mod archives;
mod attacks;
mod bench;
mod browser;
mod check;
mod compile_times;
mod composites;
mod cpp;
mod debian;
mod deny;
mod dist;
mod endurance;
mod engines;
mod fleet;
mod fuzz;
mod gateway_figures;
mod go;
mod gsoap;
mod guide;
mod interop;
mod java;
mod membrane;
mod memory;
mod mono;
mod msrv;
mod node;
mod packages;
mod peer;
mod peers;
mod python;
mod python_package;
mod reproduce;
mod rust;
mod schema;
mod security;
mod self_test;
mod semver;
mod shell;
mod soak;
mod stamp;
mod summary;
mod tool;
mod values;
mod xml;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tasks of the deltasoap project")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check formatting, lints, tests and documentation: the fast part of what `.ci/run` checks
    Check,
    /// Compile the Rust that is generated for WSDLs, and print the cost
    CompileTimes(compile_times::Arguments),
    /// Build the toolkits that the benchmark suite compares with
    Peers(peers::Arguments),
    /// Run the benchmark suite over all toolkits, into a record with a report
    Bench(bench::Arguments),
    /// Reproduce the five papers: every table, figure and claim, into a record with a report
    Reproduce(reproduce::Arguments),
    /// Run the clients of other toolkits against our server, and our client against their servers
    Interop(interop::Arguments),
    /// Visit the landing page, and pages that commands write, with a headless browser
    Browser(browser::Arguments),
    /// Validate samples of WSDLs with libxml2 and with xmlschema
    Samples(schema::Samples),
    /// Measure what `deltasoap gateway` costs, beside a gateway in JavaScript
    GatewayFigures(gateway_figures::Arguments),
    /// Drive `deltasoap mcp` with Python's client and the MCP Inspector
    Mcp,
    /// Read captures with `deltasoap archive` from a server of S3
    ObjectStore,
    /// Validate the OpenAPI documents of WSDLs with openapi-spec-validator and Redocly CLI
    Openapi(schema::OpenApi),
    /// Compare `deltasoap validate` with the W3C XML Schema test suite
    Xsts(schema::Xsts),
    /// Package the command with completions, manual pages and licences
    Dist,
    /// Check the links of all documents, and build the user guide with mdBook
    Guide(guide::Arguments),
    /// Check that everything published compiles with the oldest Rust that is promised
    Msrv,
    /// Compare the API of all libraries with that of the last release
    Semver,
    /// Make the packages that are published, and check what is in them
    Packages,
    /// Check licences, sources and known vulnerabilities of all dependencies, by deny.toml
    Deny,
    /// Run the attacks that are too large for the tests, and print the results
    Attacks(attacks::Arguments),
    /// Build the fuzz targets and run them for a while
    Fuzz(fuzz::Arguments),
    /// Run the tests of the byte kernels under AddressSanitizer and memcheck
    Memory,
    /// Decode and encode random streams of messages in every way, and compare with naive twins
    Soak(soak::Arguments),
    /// Load a server or a gateway for minutes or hours while other clients misbehave
    Endurance(endurance::Arguments),
    /// Have a fleet of devices call three servers behind HAProxy and Envoy, of which some end
    Fleet(fleet::Arguments),
    /// Compare the XML reader with expat and libxml2, and canonical forms with libxml2
    Xml(xml::Arguments),
    /// Compare WS-Security with zeep, xmlsec and signxml, or measure it beside zeep and WSS4J
    Security(security::Arguments),
    /// Run the Python package on Ray, Dask and Spark, from its wheel
    Engines(engines::Arguments),
    /// Run the SQL of the guide over the tables of an archive, or measure beside xml2arrow
    Archives(archives::Arguments),
    /// Build the Python package, install it into an environment of its own, and test it
    Python(python_package::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Check => check::run(),
        Task::CompileTimes(arguments) => compile_times::run(&arguments),
        Task::Peers(arguments) => peers::run(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Reproduce(arguments) => reproduce::run(&arguments),
        Task::Interop(arguments) => interop::run(&arguments),
        Task::Browser(arguments) => browser::run(&arguments),
        Task::Samples(arguments) => schema::samples(&arguments),
        Task::GatewayFigures(arguments) => gateway_figures::run(&arguments),
        Task::Mcp => schema::mcp(),
        Task::ObjectStore => schema::object_store(),
        Task::Openapi(arguments) => schema::openapi(&arguments),
        Task::Xsts(arguments) => schema::xsts(&arguments),
        Task::Dist => dist::run(),
        Task::Guide(arguments) => guide::run(&arguments),
        Task::Msrv => msrv::run(),
        Task::Semver => semver::run(),
        Task::Packages => packages::run(),
        Task::Deny => deny::run(),
        Task::Attacks(arguments) => attacks::run(&arguments),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Memory => memory::run(),
        Task::Soak(arguments) => soak::run(&arguments),
        Task::Endurance(arguments) => endurance::run(&arguments),
        Task::Fleet(arguments) => fleet::run(&arguments),
        Task::Xml(arguments) => xml::run(&arguments),
        Task::Security(arguments) => security::run(&arguments),
        Task::Engines(arguments) => engines::run(&arguments),
        Task::Archives(arguments) => archives::run(&arguments),
        Task::Python(arguments) => python_package::run(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
