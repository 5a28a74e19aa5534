//! Calls every operation of `testdata/wsdl/bench.wsdl`, `types.wsdl` and `encoded.wsdl` with our
//! client, over SOAP 1.1 and SOAP 1.2, and checks each value. Also serves the latter two for other
//! toolkits' clients, and services whose WSDLs are made from code.
//!
//! Templates, hints and differential decoding are enabled, as by default, and one client serves all
//! tests of a version, so each call is encoded and decoded against the earlier ones. Prints one
//! JSON object per test; `tests/interop/README.md` documents it.

#![forbid(unsafe_code)]

mod addressed;
mod by_wsdl;
mod cases;
mod coded;
mod dynamic;
mod messages;
mod report;
mod secured;
mod server;
mod sessions;
mod structs;
mod values;
mod wire;

use clap::Parser;
use deltasoap::Client;
use deltasoap::client::{ClientBuildError, ClientBuilder};
use deltasoap::soap::Version;
use deltasoap_cases::{encoded, literal};
use dynamic::{Names, Pair};
use report::{Feature, Report};
use secured::{Keys, Means};
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

/// The error of a test in which the peer misbehaved.
type Failure = Box<dyn Error + Send + Sync>;

/// Calls every operation of the WSDLs of the interoperability tests.
#[derive(Debug, Parser)]
struct Arguments {
    /// URL of the service of testdata/wsdl/bench.wsdl, if the peer has it
    url: Option<String>,
    /// URL of the service of testdata/wsdl/types.wsdl
    #[arg(long, value_name = "URL")]
    types: Option<String>,
    /// URL of the service of testdata/wsdl/encoded.wsdl
    #[arg(long, value_name = "URL")]
    encoded: Option<String>,
    /// URL of our own server, whose value services are compared with the peer's by their WSDLs
    /// alone
    #[arg(long, value_name = "URL")]
    ours: Option<String>,
    /// URL for a single feature, such as `gzip=http://localhost:8080/gzip`
    #[arg(long = "at", value_name = "FEATURE=URL", value_parser = pair::<Feature>)]
    urls: Vec<(Feature, String)>,
    /// Test only this version of SOAP: 1.1 or 1.2
    #[arg(long, value_name = "VERSION", value_parser = ["1.1", "1.2"])]
    only: Option<String>,
    /// A feature, or a single test of one, that the service does not offer, and why
    #[arg(long = "lacks", value_name = "FEATURE[/TEST]=REASON", value_parser = pair::<String>)]
    lacks: Vec<(String, String)>,
    /// URLs of `/orders` and `/sums` of our own server, whose WSDLs are made from code
    #[arg(long, num_args = 2, value_names = ["ORDERS-URL", "SUMS-URL"])]
    coded: Vec<String>,
    /// URL of `/addressed` of our own server, which requires WS-Addressing
    #[arg(long, value_name = "URL")]
    addressed: Option<String>,
    /// URL below which the services are that require WS-Security, and the folder with the keys
    #[arg(long, num_args = 2, value_names = ["URL", "KEYS"])]
    secured: Vec<String>,
    /// Test only those of them that require it by the policies of a WSDL, or in code
    #[arg(long, value_enum)]
    secured_by: Option<Means>,
    /// URL of the TR-069 server; nothing else is tested then
    #[arg(long, value_name = "URL")]
    sessions: Option<String>,
    /// PEM file with the authority that issued the service's certificate
    #[arg(long, value_name = "FILE", required_unless_present = "serve_values")]
    ca: Option<PathBuf>,
    /// Serve testdata/wsdl/types.wsdl and encoded.wsdl instead, and the services of the other
    /// options; keys are made in this folder
    #[arg(long, value_name = "KEYS")]
    serve_values: Option<PathBuf>,
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
    /// The client of all tests that need no other settings.
    client: Client,
}

impl Endpoint {
    fn new(arguments: &Arguments, url: &str, version: Version) -> Result<Self, Failure> {
        let url = url.to_owned();
        let client = Client::builder(url.clone()).version(version).build()?;
        let urls = arguments.urls.iter().cloned().collect();
        Ok(Endpoint { version, url, urls, ca: arguments.ca.clone().unwrap_or_default(), client })
    }

    /// Returns a builder for a separate client for a feature.
    fn builder(&self, feature: Feature) -> ClientBuilder {
        Client::builder(self.urls.get(&feature).unwrap_or(&self.url).clone()).version(self.version)
    }

    fn client_for(&self, feature: Feature) -> Result<Client, ClientBuildError> {
        self.builder(feature).build()
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(keys) = &arguments.serve_values {
        let served = server::serve(keys).await;
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

/// The tests are boxed: together they exceed the stack.
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
    if let [orders, sums] = &arguments.coded[..] {
        Box::pin(by_wsdl::test(orders, sums, version, &report)).await?;
    }
    if let Some(url) = &arguments.addressed {
        Box::pin(addressed::test(url, version, &report)).await?;
    }
    if let [url, keys] = &arguments.secured[..] {
        let keys = Keys::open(Path::new(keys));
        Box::pin(secured::test(url, &keys, arguments.secured_by, version, &report)).await?;
    }
    if let Some(url) = &arguments.encoded {
        Box::pin(cases::in_encoding(url, version, &report)).await?;
        let names = Names::of(encoded);
        Box::pin(by_description(arguments, ("encoded", url), ("encoded", names), version, &report)).await?;
    }
    Ok(())
}

/// Tests the cases of a style by the WSDL alone, if our own server is available, which has the
/// service at the path.
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
