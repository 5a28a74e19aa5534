//! Calls every operation of `testdata/wsdl/bench.wsdl`, `types.wsdl` and `encoded.wsdl` with our
//! client, over SOAP 1.1 and SOAP 1.2, and checks each value. Serves the latter two for the clients
//! of others.
//!
//! Templates, hints and differential decoding are on, as by default, and one client serves all
//! tests of a version: so each call is written and read against the ones before it. Prints one JSON
//! object a test; `tests/interop/README.md` says what is in it.

#![forbid(unsafe_code)]

mod cases;
mod dynamic;
mod messages;
mod report;
mod server;
mod sessions;
mod structs;
mod values;
mod wire;

use clap::Parser;
use deltasoap::http::{Client, ClientBuilder, InvalidUrl};
use deltasoap::soap::Version;
use deltasoap_cases::{encoded, literal};
use dynamic::{Names, Pair};
use report::{Feature, Report};
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

/// What a test ends with where the peer did not do as it should.
type Failure = Box<dyn Error + Send + Sync>;

/// Calls every operation of the descriptions of the interoperability tests.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where the service of testdata/wsdl/bench.wsdl is, if the peer has it
    url: Option<String>,
    /// Where the service of testdata/wsdl/types.wsdl is
    #[arg(long, value_name = "URL")]
    types: Option<String>,
    /// Where the service of testdata/wsdl/encoded.wsdl is
    #[arg(long, value_name = "URL")]
    encoded: Option<String>,
    /// Where our own server is, whose services of values the others are compared with by their
    /// descriptions alone
    #[arg(long, value_name = "URL")]
    ours: Option<String>,
    /// Where it is for one feature alone, such as `gzip=http://localhost:8080/gzip`
    #[arg(long = "at", value_name = "FEATURE=URL", value_parser = pair::<Feature>)]
    urls: Vec<(Feature, String)>,
    /// This version of SOAP alone: 1.1 or 1.2
    #[arg(long, value_name = "VERSION", value_parser = ["1.1", "1.2"])]
    only: Option<String>,
    /// What the service does not offer, and why: a feature, or a single test of one
    #[arg(long = "lacks", value_name = "FEATURE[/TEST]=REASON", value_parser = pair::<String>)]
    lacks: Vec<(String, String)>,
    /// Where the server of TR-069 is; nothing else is tested then
    #[arg(long, value_name = "URL")]
    sessions: Option<String>,
    /// PEM file with the authority that the service's certificate is from
    #[arg(long, value_name = "FILE", required_unless_present = "serve_values")]
    ca: Option<PathBuf>,
    /// Serves testdata/wsdl/types.wsdl and encoded.wsdl instead
    #[arg(long)]
    serve_values: bool,
}

fn pair<T: FromStr<Err: Display>>(text: &str) -> Result<(T, String), String> {
    let (name, rest) = text.split_once('=').ok_or("expected NAME=TEXT")?;
    Ok((name.parse().map_err(|error: T::Err| error.to_string())?, rest.to_owned()))
}

/// The service in one version of SOAP.
struct Endpoint {
    version: Version,
    url: String,
    urls: HashMap<Feature, String>,
    ca: PathBuf,
    /// The client of all tests that need no other.
    client: Client,
}

impl Endpoint {
    fn new(arguments: &Arguments, url: &str, version: Version) -> Result<Self, Failure> {
        let url = url.to_owned();
        let client = Client::builder(url.clone()).version(version).build()?;
        let urls = arguments.urls.iter().cloned().collect();
        Ok(Endpoint { version, url, urls, ca: arguments.ca.clone().unwrap_or_default(), client })
    }

    /// A client of its own for a feature, with the settings still to be made.
    fn builder(&self, feature: Feature) -> ClientBuilder {
        Client::builder(self.urls.get(&feature).unwrap_or(&self.url).clone()).version(self.version)
    }

    fn client_for(&self, feature: Feature) -> Result<Client, InvalidUrl> {
        self.builder(feature).build()
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.serve_values {
        let served = server::serve().await;
        served.unwrap_or_else(|error| eprintln!("{error}"));
        return ExitCode::FAILURE;
    }
    if let Some(url) = &arguments.sessions {
        sessions::test(url).await;
        return ExitCode::SUCCESS;
    }
    let versions = match arguments.only.as_deref() {
        Some("1.1") => &[Version::Soap11][..],
        Some(_) => &[Version::Soap12],
        None => &[Version::Soap11, Version::Soap12],
    };
    for &version in versions {
        if let Err(error) = test(&arguments, version).await {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The parts are boxed: together they are more than a stack has room for.
async fn test(arguments: &Arguments, version: Version) -> Result<(), Failure> {
    let report = Report::new(version, arguments.lacks.iter().cloned().collect());
    if let Some(url) = &arguments.url {
        let endpoint = Endpoint::new(arguments, url, version)?;
        Box::pin(values::test(&endpoint, &report)).await;
        Box::pin(structs::test(&endpoint, &report)).await;
        Box::pin(wire::test(&endpoint, &report)).await;
    }
    if let Some(url) = &arguments.types {
        Box::pin(cases::literally(url, version, &report)).await?;
        let names = Names::of(literal);
        Box::pin(by_description(arguments, ("types", url), ("literal", names), version, &report)).await?;
        if let Some((_, url)) = arguments.urls.iter().find(|(feature, _)| *feature == Feature::Utf16) {
            Box::pin(cases::in_utf_16(url, version, &report)).await?;
        }
    }
    if let Some(url) = &arguments.encoded {
        Box::pin(cases::in_encoding(url, version, &report)).await?;
        let names = Names::of(encoded);
        Box::pin(by_description(arguments, ("encoded", url), ("encoded", names), version, &report)).await?;
    }
    Ok(())
}

/// The cases of a style once more, if our own server is there too: it has the service at the path.
async fn by_description(
    arguments: &Arguments,
    (path, url): (&str, &str),
    (style, names): (&str, Names),
    version: Version,
    report: &Report,
) -> Result<(), Failure> {
    if let Some(ours) = &arguments.ours {
        Pair::new(&format!("{ours}/{path}"), url, version).await?.test(style, names, report).await;
    }
    Ok(())
}
