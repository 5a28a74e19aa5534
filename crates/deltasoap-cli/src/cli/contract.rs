//! Arguments of the commands that read a WSDL.

use super::Takeover;
use super::values::{self, ParseWith};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use deltasoap::engine::Tolerance;
use deltasoap::soap::Version;
use deltasoap_dynamic::Validation;
use deltasoap_http::Proxy;
use http::{HeaderName, HeaderValue};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The WSDL, and how it is loaded.
#[derive(Debug, Args)]
pub struct Description {
    /// The WSDL: a URL, a file, a directory, a zip archive, or `-` for standard input; or a file
    /// that `compile` wrote
    #[arg(value_name = "WSDL", value_parser = NonEmptyStringValueParser::new())]
    pub wsdl: String,
    #[command(flatten)]
    pub loading: Loading,
}

/// What importing a WSDL may load, and with which credentials.
#[derive(Debug, Default, Args)]
pub struct Loading {
    /// Load no imported document from the network
    #[arg(long, requires = "wsdl")]
    pub offline: bool,
    /// Read files below this directory only; default: the repository of the WSDL (the nearest
    /// directory above it with .git or the like), or else the highest directory that is not shared
    /// (the home directory and /tmp are shared)
    #[arg(long, value_name = "DIR", requires = "wsdl")]
    pub root: Option<PathBuf>,
    /// Go to private addresses (loopback, local networks) that a document or a redirect names; the
    /// WSDL's own URL is always allowed, and so is a service that a local WSDL names
    #[arg(long, requires = "wsdl")]
    pub allow_private: bool,
    /// Read this file wherever a document or the command line names the URL; the last `=`
    /// separates the two. May be given more than once
    #[arg(long = "map", value_name = "URL=FILE", requires = "wsdl", value_parser = ParseWith(values::mapping))]
    pub maps: Vec<(String, PathBuf)>,
    /// Replace URLs and namespaces by files as this XML catalog (OASIS) says; may be given more
    /// than once
    #[arg(long = "catalog", value_name = "FILE", requires = "wsdl")]
    pub catalogs: Vec<PathBuf>,
    #[command(flatten)]
    pub access: Access,
}

/// Credentials, headers, trust and proxy for the host of the WSDL and for the called service.
#[derive(Debug, Default, Args)]
pub struct Access {
    /// Add an HTTP header, also to requests for the WSDL; may be given more than once
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", requires = "wsdl", value_parser = ParseWith(values::header))]
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Name and password for Basic authentication; without a password, DELTASOAP_PASSWORD from the
    /// environment is used
    #[arg(short, long, value_name = "NAME[:PASSWORD]", requires = "wsdl")]
    pub user: Option<String>,
    /// Use Digest instead of Basic authentication
    #[arg(long, requires = "user")]
    pub digest: bool,
    /// Trust the certificates in this file (PEM) besides the system's: of authorities, or of
    /// servers themselves
    #[arg(long, value_name = "FILE", requires = "wsdl")]
    pub cacert: Option<PathBuf>,
    /// Send this client certificate (PEM), with --key
    #[arg(long, value_name = "FILE", requires = "wsdl")]
    pub cert: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Send requests through this proxy: http://[NAME:PASSWORD@]HOST:PORT or socks5://..., except
    /// to the hosts in no_proxy; default: the environment's http_proxy, https_proxy and all_proxy
    #[arg(long, value_name = "URL", requires = "wsdl", value_parser = ParseWith(values::proxy))]
    pub proxy: Option<Proxy>,
    /// Accept any certificate of the WSDL's host and the service: anyone on the path can read and
    /// change what is sent
    #[arg(short = 'k', long, requires = "wsdl", conflicts_with = "cacert")]
    pub insecure: bool,
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    pub description: Description,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Describe {
    #[command(flatten)]
    pub description: Description,
    /// An operation, an element or a type: `Name`, `Port.Operation`, `Operation:Input` for one that
    /// is overloaded, `{namespace}Name`
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Template {
    #[command(flatten)]
    pub description: Description,
    /// The operation: `Operation`, `Port.Operation` or `Service.Port.Operation`; if several have
    /// one name (overloaded), `Operation:Input` is the one whose input has that name
    #[arg(value_name = "OPERATION")]
    pub operation: String,
    /// Print a response instead
    #[arg(long)]
    pub response: bool,
    /// Print the message in XML instead
    #[arg(long)]
    pub xml: bool,
}

#[derive(Debug, Args)]
pub struct Call {
    #[command(flatten)]
    pub description: Description,
    /// The operation: `Operation`, `Port.Operation` or `Service.Port.Operation`; if several have
    /// one name (overloaded), `Operation:Input` is the one whose input has that name
    #[arg(value_name = "OPERATION")]
    pub operation: String,
    /// The request: JSON, @FILE, or - for standard input
    #[arg(short, long, value_name = "JSON|@FILE|-", default_value = "{}", allow_hyphen_values = true)]
    pub data: String,
    /// Add a SOAP header block: an element of the WSDL with the JSON of its content, or XML; @FILE
    /// reads either from a file; may be given more than once
    #[arg(long = "header-block", value_name = "NAME=JSON|NAME=@FILE|XML", value_parser = ParseWith(values::header_block))]
    pub blocks: Vec<String>,
    /// Use a port with this version of SOAP
    #[arg(long, value_enum, value_name = "VERSION")]
    pub soap: Option<SoapVersion>,
    /// Send to this URL instead of the port's
    #[arg(long, value_name = "URL", value_parser = ParseWith(values::endpoint))]
    pub endpoint: Option<String>,
    /// Accept this header block in the response where it must be understood (mustUnderstand):
    /// {namespace}Name, the name of an element of the WSDL, or `all`; may be given more than once.
    /// Header blocks that the WSDL declares for the operation are always accepted
    #[arg(long = "understand", value_name = "NAME", value_parser = ParseWith(values::block_name))]
    pub understood: Vec<String>,
    /// Copy values that occur several times in the request (`$ref`) instead of writing references
    #[arg(long)]
    pub copies: bool,
    /// Send binary values of 4 KiB or more as parts of their own (MTOM), or not; default: as the
    /// policies of the WSDL require
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    pub mtom: Option<Switch>,
    /// Send the header blocks of WS-Addressing, or not; `2004` sends those of the version of August
    /// 2004. Default: as the policies of the WSDL require
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    pub wsa: Option<AddressingSwitch>,
    #[command(flatten)]
    pub security: Security,
    /// Accept this much beyond the schema in the answer
    #[arg(long, value_enum, default_value_t = ToleranceName::Unknown, value_name = "LEVEL")]
    pub tolerance: ToleranceName,
    /// Validate the request before it is sent, and the answer: facets, fixed values, keys and
    /// header blocks, but not the parts of the answer's package. Default: refuse to send an invalid
    /// request, and do not validate the answer. With --stream, the answer is never validated
    #[arg(long, value_enum, value_name = "WHAT")]
    pub validation: Option<ValidationName>,
    /// Give up after this many seconds, while the WSDL is loaded and again while the service is
    /// called
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// Keep the service's cookies in this file and send those already in it: the calls then belong
    /// to one session. The format is that of curl's cookie files
    #[arg(long, value_name = "FILE")]
    pub session: Option<PathBuf>,
    /// Show the messages and HTTP headers on standard error, without the values of headers that may
    /// hold secrets, and without passwords
    #[arg(short, long)]
    pub verbose: bool,
    /// Show these values too
    #[arg(long, requires = "verbose")]
    pub secrets: bool,
    /// Print an object with the response and its header blocks, or with the fault
    #[arg(long)]
    pub json: bool,
    /// Print the items of a list of the response as they arrive, each as JSON on its own line, in
    /// memory that does not grow with the list; LIST is its path, such as `result/item`, and may be
    /// omitted if there is only one list
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, conflicts_with = "json")]
    pub stream: Option<Option<String>>,
}

/// What WS-Security adds to requests without keys.
#[derive(Debug, Args)]
pub struct UserToken {
    /// Name and password for a WS-Security user name token; without a password, DELTASOAP_PASSWORD
    /// from the environment is used
    #[arg(long, value_name = "NAME[:PASSWORD]")]
    pub wsse_user: Option<String>,
    /// Send a digest of the password in place of its text, as ONVIF devices require it
    #[arg(long, requires = "wsse_user")]
    pub wsse_digest: bool,
    /// Add a timestamp: the request is valid for five minutes. Signed requests have one anyway
    #[arg(long)]
    pub wsse_timestamp: bool,
}

/// WS-Security.
#[derive(Debug, Args)]
pub struct Security {
    #[command(flatten)]
    pub token: UserToken,
    /// Sign the request with this private key (PEM), whose certificate is that of --cert
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub sign: Option<PathBuf>,
    /// Require that the answer is signed, with one of the certificates in this file (PEM) or one
    /// that an authority in it has issued
    #[arg(long, value_name = "FILE")]
    pub wsse_trust: Option<PathBuf>,
    /// Encrypt the body for the owner of this certificate (PEM), and decrypt the answer with --sign
    #[arg(long, value_name = "FILE")]
    pub encrypt_for: Option<PathBuf>,
    /// Send SHA-256 and AES-GCM where a policy of the WSDL has SHA-1 and AES-CBC
    #[arg(long)]
    pub modern_algorithms: bool,
    /// Do not secure the request as the policies of the WSDL require, but only as other options say
    #[arg(long)]
    pub ignore_policy: bool,
}

/// Enables or disables a feature that a WSDL may request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// The use of WS-Addressing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AddressingSwitch {
    /// In the version that the WSDL names, else 1.0
    On,
    /// In the version of August 2004
    #[value(name = "2004")]
    V2004,
    Off,
}

/// What is accepted beyond the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToleranceName {
    /// Nothing
    Strict,
    /// Elements that the schema does not name; they are skipped
    Unknown,
    /// Beyond that, elements in any order, in another namespace or none, and missing required
    /// elements where an empty value is obvious
    AnyOrder,
}

impl From<ToleranceName> for Tolerance {
    fn from(name: ToleranceName) -> Self {
        match name {
            ToleranceName::Strict => Tolerance::Strict,
            ToleranceName::Unknown => Tolerance::Unknown,
            ToleranceName::AnyOrder => Tolerance::AnyOrder,
        }
    }
}

/// What happens to messages that can be decoded but do not conform to the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ValidationName {
    /// Do not validate
    Off,
    /// Warn of what is invalid
    Report,
    /// Refuse invalid messages
    Refuse,
}

impl From<ValidationName> for Validation {
    fn from(name: ValidationName) -> Self {
        match name {
            ValidationName::Off => Validation::Off,
            ValidationName::Report => Validation::Report,
            ValidationName::Refuse => Validation::Refuse,
        }
    }
}

/// Versions of SOAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SoapVersion {
    /// SOAP 1.1
    #[value(name = "1.1")]
    Soap11,
    /// SOAP 1.2
    #[value(name = "1.2")]
    Soap12,
}

impl From<SoapVersion> for Version {
    fn from(version: SoapVersion) -> Self {
        match version {
            SoapVersion::Soap11 => Version::Soap11,
            SoapVersion::Soap12 => Version::Soap12,
        }
    }
}

#[cfg(feature = "mcp")]
#[derive(Debug, Args)]
pub struct Mcp {
    #[command(flatten)]
    pub description: Description,
    /// Let the model call this operation; may be given more than once
    #[arg(long, value_name = "OPERATION")]
    pub allow: Vec<String>,
    /// Let the model call no operations but those of --allow
    #[arg(long, conflicts_with = "allow_all")]
    pub only: bool,
    /// Let the model call every operation
    #[arg(long)]
    pub allow_all: bool,
    /// Serve streamable HTTP at /mcp on this address; port 0 takes a free one. Default: standard
    /// input and output
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Send to this URL instead of the ports'
    #[arg(long, value_name = "URL", value_parser = ParseWith(values::endpoint))]
    pub endpoint: Option<String>,
    /// Accept this much beyond the schema in responses
    #[arg(long, value_enum, default_value_t = ToleranceName::Unknown, value_name = "LEVEL")]
    pub tolerance: ToleranceName,
    /// Give up a call after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
    /// Bytes of an answer for the model; longer ones are cut
    #[arg(long, value_name = "BYTES", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1000..))]
    pub max_answer: u32,
}

#[derive(Debug, Args)]
pub struct Mock {
    #[command(flatten)]
    pub description: Description,
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub takeover: Takeover,
    /// Answer with the messages of this directory: envelopes in .xml files, or Operation.json,
    /// Operation-2.json, Operation-fault.xml. Elements and attributes that the schema does not name
    /// are not sent
    #[arg(long, value_name = "DIR")]
    pub replies: Option<PathBuf>,
    /// Copy values that occur several times in an answer instead of writing references
    #[arg(long)]
    pub copies: bool,
    /// Accept this much beyond the schema in requests; in the files of --replies, at least unknown
    /// elements
    #[arg(long, value_enum, default_value_t = ToleranceName::Strict, value_name = "LEVEL")]
    pub tolerance: ToleranceName,
    /// Validate requests: facets, fixed values, keys and header blocks, but not the parts of a
    /// package; default: refuse invalid requests, or report them if the tolerance is not strict
    #[arg(long, value_enum, value_name = "WHAT")]
    pub validation: Option<ValidationName>,
}

#[cfg(feature = "gateway")]
#[derive(Debug, Args)]
pub struct Gateway {
    /// The WSDL: a URL, a file, a directory, a zip archive, or `-` for standard input; or a file
    /// that `compile` wrote. With --config, the WSDL of its only service
    #[arg(value_name = "WSDL", required_unless_present_any = ["config", "schema"], value_parser = NonEmptyStringValueParser::new())]
    pub wsdl: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
    /// Address and port to listen on; port 0 takes a free one. Default: that of the configuration,
    /// or 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    #[command(flatten)]
    pub takeover: Takeover,
    /// The configuration: services, paths, credentials, limits (TOML); it is read again on SIGHUP
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Send to this URL instead of the port's
    #[arg(long, value_name = "URL", requires = "wsdl", value_parser = ParseWith(values::endpoint))]
    pub endpoint: Option<String>,
    /// Only check the configuration with its WSDLs, and say what is wrong with it
    #[arg(long)]
    pub check: bool,
    /// Only print the OpenAPI document of the service
    #[arg(long, requires = "wsdl", conflicts_with = "check")]
    pub openapi: bool,
    /// Only print the JSON schema of the configuration
    #[arg(long, conflicts_with_all = ["wsdl", "config", "check", "openapi"])]
    pub schema: bool,
    /// Reverse the direction: serve SOAP, and call the JSON service at this URL, whose paths are
    /// those of a gateway
    #[arg(long, value_name = "URL", requires = "wsdl", conflicts_with_all = ["endpoint", "openapi"], value_parser = ParseWith(values::endpoint))]
    pub reverse: Option<String>,
    /// Seconds in which /ready tells load balancers that the server is about to stop
    #[arg(long, default_value_t = 0, value_name = "SECONDS")]
    pub drain: u64,
}

#[derive(Debug, Args)]
pub struct Validate {
    #[command(flatten)]
    pub description: Description,
    /// Messages: XML, HTTP requests or responses, and packages of parts (MIME, MTOM, DIME) with
    /// their Content-Type line or, for MIME, from the first boundary on; any of them may be
    /// gzipped; - is standard input
    #[arg(value_name = "MESSAGE", required = true)]
    pub messages: Vec<PathBuf>,
    /// Verify the messages' WS-Security too, as of the time at which each was created. The
    /// certificates of the signers, or of the authorities that issued these, are in this file
    /// (PEM). Passwords are not checked
    #[arg(long, value_name = "FILE")]
    pub verify: Option<PathBuf>,
    /// Print a line of JSON for each finding
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Diff {
    /// The old WSDL: a URL, a file, a directory, a zip archive, or a file that `compile` wrote
    #[arg(id = "wsdl", value_name = "OLD", value_parser = NonEmptyStringValueParser::new())]
    pub old: String,
    /// The new WSDL
    #[arg(value_name = "NEW", value_parser = NonEmptyStringValueParser::new())]
    pub new: String,
    #[command(flatten)]
    pub loading: Loading,
    /// Print Markdown: a table, and the messages to unfold
    #[arg(long)]
    pub markdown: bool,
    /// Print JSON: every change with its verdicts and messages
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Write the messages to this directory, as `1-clients-valid-for-old.xml`
    #[arg(long, value_name = "DIR")]
    pub witnesses: Option<PathBuf>,
    /// Exit with code 1 on these changes
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = FailOn::Breaking)]
    pub fail_on: FailOn,
    /// Exit with code 1 only because of changes for these
    #[arg(long = "for", value_enum, value_name = "WHOM", default_value_t = Party::All)]
    pub party: Party,
}

/// The changes that are failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Changes that break something
    Breaking,
    /// Also changes for which this is unknown
    Unknown,
    /// All changes
    Any,
    /// None
    Never,
}

/// Whom a change may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Party {
    /// Clients made from the old WSDL, which call a service of the new one
    Clients,
    /// Servers made from the old WSDL, which clients of the new one call
    Servers,
    /// Both
    All,
}

#[derive(Debug, Args)]
pub struct Compile {
    #[command(flatten)]
    pub description: Description,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct Generate {
    #[command(flatten)]
    pub description: Description,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Generate only this operation and what it needs; may be given more than once. `Operation`,
    /// `Port.Operation` or `Service.Port.Operation`; if several have one name (overloaded),
    /// `Operation:Input` is the one whose input has that name
    #[arg(long = "operation", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub operations: Vec<String>,
    /// Generate this type or element and what it needs, in addition to the operations named, or
    /// alone; may be given more than once: `Name` or `{namespace}Name`. For content of
    /// xsd:anyType
    #[arg(long = "type", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub types: Vec<String>,
    /// Generate no clients
    #[arg(long)]
    pub no_client: bool,
    /// Generate no servers: the code then needs only the feature `client` of deltasoap
    #[arg(long, conflicts_with = "python")]
    pub no_server: bool,
    /// Give enumerations a variant for values that the WSDL does not list, which are errors
    /// otherwise
    #[arg(long, conflicts_with = "python")]
    pub unknown_enum_values: bool,
    /// Derive serde's Serialize and Deserialize for the types
    #[arg(long, conflicts_with = "python")]
    pub serde: bool,
    /// Generate a module for the Python package `deltasoap`: dataclasses, enumerations, and clients
    /// with and without asyncio, whose methods have the types of the WSDL
    #[arg(long)]
    pub python: bool,
    /// Generate models of pydantic 2 instead of dataclasses
    #[arg(long, requires = "python")]
    pub pydantic: bool,
    /// Generate a stub (`.pyi`): for editors and type checkers, of programs that use
    /// `client.service` and type factories, which are made at run time
    #[arg(long, requires = "python", conflicts_with = "pydantic")]
    pub stub: bool,
}

#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Write a page for each command to this directory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
