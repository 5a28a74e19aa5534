//! Our server of the values that toolkits exchange: the services of `testdata/wsdl/types.wsdl` and
//! `testdata/wsdl/encoded.wsdl`, in Rust, and those whose WSDLs are made from code.
//!
//! The values, their checks and messages are in `deltasoap-cases`; this module serves them.

use crate::{Failure, addressed, coded, secured};
use axum::Router;
use deltasoap::schema::{Style, Use};
use deltasoap::server::{BuildError, Operation, Reply, SoapServiceBuilder};
use deltasoap::soap::{HeaderBlock, TypedFault};
use deltasoap::transport::Compression;
use deltasoap::{Context, Fault, Lease, Message, Server, Soap, SoapArray, SoapService};
use deltasoap_cases::{Calls, EncodedCalls, Exchange, Fields, Kind, LiteralCalls, Visitor, encoded, literal, problem};
use std::future::ready;
use std::path::Path;

/// The WSDL of the literal service.
const TYPES: &str = include_str!("../../../../testdata/wsdl/types.wsdl");
/// The WSDL of the encoded service.
const ENCODED: &str = include_str!("../../../../testdata/wsdl/encoded.wsdl");

/// Serves all on a free port, which is printed, until the process is killed. Large responses are
/// gzipped. The keys for WS-Security are made in a folder.
pub async fn serve(keys: &Path) -> Result<(), Failure> {
    let server = Server::bind("127.0.0.1:0").await?;
    let builder = || SoapService::builder().compression(Compression::from_bytes(1000));
    let router = Router::new().route_service("/types", types(builder())?);
    let router = router.route_service("/encoded", encodings(builder())?);
    let router = router.route_service("/orders", coded::orders(builder())?);
    let router = router.route_service("/sums", coded::sums(builder())?);
    let router = router.route_service("/addressed", addressed::service(builder())?);
    let router = secured::routes(router, builder, &secured::Keys::make(keys)?)?;
    println!("listening on http://{}/types", server.local_addr()?);
    server.serve(router.into_service()).await?;
    Ok(())
}

fn types(builder: SoapServiceBuilder) -> Result<SoapService, BuildError> {
    let mut operations = Operations::new(Style::Document);
    literal(&mut operations);
    let cases = std::mem::take(&mut operations.cases);
    operations.add(Operation::new(move |_: Lease<ListCases>| ready(Ok::<_, Fault>(Cases { case: cases.clone() }))));
    operations.add_calls::<LiteralCalls>();
    operations.build(builder.name("Types").wsdl(TYPES))
}

fn encodings(builder: SoapServiceBuilder) -> Result<SoapService, BuildError> {
    let mut operations = Operations::new(Style::Rpc);
    encoded(&mut operations);
    let cases = SoapArray(std::mem::take(&mut operations.cases));
    let list = move |_: Lease<ListEncodedCases>| ready(Ok::<_, Fault>(EncodedCases { cases: cases.clone() }));
    operations.add(Operation::new(list));
    operations.add_calls::<EncodedCalls>();
    operations.build(builder.name("Encoded").wsdl(ENCODED).encoding(Use::Encoded))
}

/// Collects the operations of all kinds.
struct Operations {
    style: Style,
    all: Vec<Operation>,
    cases: Vec<Case>,
}

impl Operations {
    fn new(style: Style) -> Self {
        Operations { style, all: Vec::new(), cases: Vec::new() }
    }

    fn add(&mut self, operation: Operation) {
        self.all.push(operation.style(self.style));
    }

    fn add_calls<C: Calls>(&mut self) {
        self.add(Operation::new(trace::<C>).understands(C::Trace::ELEMENT));
        self.add(Operation::new(fail::<C>));
    }

    fn build(self, builder: SoapServiceBuilder) -> Result<SoapService, BuildError> {
        self.all.into_iter().fold(builder, SoapServiceBuilder::add_operation).build()
    }
}

impl Visitor for Operations {
    fn visit<E: Exchange>(&mut self) {
        self.cases.extend(E::Kind::CASES.iter().map(|(name, _)| Case::new::<E::Kind>(name)));
        self.add(Operation::new(|sample: Lease<E::Sample>| {
            ready(E::Kind::case(E::name(&sample)).map(E::SampleResponse::from).ok_or_else(unknown_case))
        }));
        self.add(Operation::new(|check: Lease<E::Check>| {
            let (name, value) = E::claim(&check);
            let checked = E::Kind::case(name).map(|expected| E::CheckResponse::from(problem(&expected, value)));
            ready(checked.ok_or_else(unknown_case))
        }));
        self.add(Operation::new(|echo: Lease<E::Echo>| {
            ready(Ok::<_, Fault>(E::EchoResponse::from(E::value(&echo).clone())))
        }));
    }
}

fn unknown_case() -> Fault {
    Fault::sender("no such case")
}

/// The features to test.
#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:types")]
struct Case {
    feature: String,
    kind: String,
    name: String,
}

impl Case {
    fn new<K: Kind>(name: &str) -> Self {
        Case { feature: K::FEATURE.to_owned(), kind: K::NAME.to_owned(), name: name.to_owned() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:types", element = "cases")]
struct ListCases {}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:types", element = "casesResponse")]
struct Cases {
    case: Vec<Case>,
}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:encoded", element = "cases")]
struct ListEncodedCases {}

#[derive(Debug, Clone, PartialEq, Eq, Soap)]
#[soap(namespace = "urn:encoded", element = "casesResponse")]
struct EncodedCases {
    cases: SoapArray<Case>,
}

async fn trace<C: Calls>(context: Context, _: Lease<C::TraceRequest>) -> Result<Reply<C::TraceResponse>, Fault> {
    let answer = Reply::new(C::TraceResponse::default());
    let Some(trace) = context.header::<C::Trace>() else { return Ok(answer) };
    let (id, hops): Fields = trace.map_err(|error| Fault::sender(error.to_string()))?.into();
    let trace = C::Trace::from((id, hops.saturating_add(1)));
    let block = HeaderBlock::from_message(&trace).map_err(|error| Fault::receiver(error.to_string()))?;
    Ok(answer.with_header(block))
}

async fn fail<C: Calls>(request: Lease<C::Fail>) -> Result<C::FailResponse, TypedFault<C::Failure>> {
    let code: &str = (*request).as_ref();
    let limit = i32::try_from(code.chars().count()).unwrap_or(i32::MAX);
    Err(TypedFault::receiver("this operation always fails", C::Failure::from((code.to_owned(), limit))))
}
