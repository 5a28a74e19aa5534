//! Every case of `deltasoap-cases`, sent to a server that echoes it: `testdata/wsdl/types.wsdl` and
//! `testdata/wsdl/encoded.wsdl`.

use crate::Failure;
use crate::report::{Report, ensure, same};
use crate::wire::header_of;
use deltasoap::client::{CallError, CallOptions};
use deltasoap::schema::Use;
use deltasoap::soap::{HeaderBlock, TypedFault, Version};
use deltasoap::{Client, Message};
use deltasoap_cases::{
    Calls, EncodedCalls, Exchange, Fields, Kind, LiteralCalls, Texts, Visitor, encoded, literal, problem,
};
use http::header::CONTENT_TYPE;
use std::pin::Pin;

/// One of the two services.
struct Peer {
    client: Client,
    /// Prefix of its features.
    style: &'static str,
    encoding: Use,
    /// True if its answers are in UTF-16: then only strings are tested.
    is_utf_16: bool,
}

/// Tests the service of `types.wsdl`.
pub async fn literally(url: &str, version: Version, report: &Report) -> Result<(), Failure> {
    let peer = Peer::new(url, version, "literal", Use::Literal)?;
    let mut tests = Tests { peer: &peer, all: Vec::new() };
    literal(&mut tests);
    tests.run(report).await;
    peer.calls::<LiteralCalls>(report).await;
    Ok(())
}

/// Tests a service of `types.wsdl` that answers in UTF-16.
pub async fn in_utf_16(url: &str, version: Version, report: &Report) -> Result<(), Failure> {
    let peer = Peer { is_utf_16: true, ..Peer::new(url, version, "literal", Use::Literal)? };
    let mut tests = Tests { peer: &peer, all: Vec::new() };
    literal(&mut tests);
    tests.run(report).await;
    Ok(())
}

/// Tests the service of `encoded.wsdl`.
pub async fn in_encoding(url: &str, version: Version, report: &Report) -> Result<(), Failure> {
    let peer = Peer::new(url, version, "encoded", Use::Encoded)?;
    let mut tests = Tests { peer: &peer, all: Vec::new() };
    encoded(&mut tests);
    tests.run(report).await;
    peer.calls::<EncodedCalls>(report).await;
    Ok(())
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Failure>> + 'a>>;

/// Collects a test for each case.
struct Tests<'a> {
    peer: &'a Peer,
    all: Vec<(&'static str, &'static str, Running<'a>)>,
}

impl Visitor for Tests<'_> {
    fn visit<E: Exchange>(&mut self) {
        let feature = match (self.peer.is_utf_16, E::Kind::NAME) {
            (false, _) => E::Kind::FEATURE,
            (true, Texts::NAME) => "utf-16",
            (true, _) => return,
        };
        for (name, make) in E::Kind::CASES {
            self.all.push((feature, name, Box::pin(self.peer.echo::<E>(*make))));
        }
        if feature == "references" {
            self.all.push((feature, "a shared value as copies", Box::pin(self.peer.copy::<E>())));
        }
    }
}

impl Tests<'_> {
    async fn run(self, report: &Report) {
        for (feature, name, running) in self.all {
            report.test(self.peer.feature(feature).as_str(), name, running).await;
        }
    }
}

impl Peer {
    fn new(url: &str, version: Version, style: &'static str, encoding: Use) -> Result<Self, Failure> {
        let client = Client::builder(url.to_owned()).version(version).encoding(encoding).build()?;
        Ok(Peer { client, style, encoding, is_utf_16: false })
    }

    fn feature(&self, name: &str) -> String {
        format!("{} {name}", self.style)
    }

    /// Returns the settings of a call: some peers dispatch by the action.
    fn options<T: Message>(&self) -> CallOptions {
        let namespace = if self.encoding == Use::Encoded { "urn:encoded" } else { "urn:types" };
        CallOptions::new().action(format!("{namespace}#{}", T::ELEMENT.local)).encoding(self.encoding)
    }

    async fn echo<E: Exchange>(&self, make: fn() -> E::Kind) -> Result<(), Failure> {
        let value = make();
        let request = E::Echo::from(value.clone());
        let response = self.client.call_as_with::<E::EchoResponse>(&request, self.options::<E::Echo>()).await?;
        let media_type = header_of(&response, CONTENT_TYPE).to_ascii_lowercase();
        ensure(media_type.contains("utf-16") == self.is_utf_16, &format!("the answer is in {media_type}"))?;
        let problem = problem(&value, E::echoed(&response.body));
        ensure(problem.is_empty(), &problem)
    }

    /// A shared value without references becomes two equal values.
    async fn copy<E: Exchange>(&self) -> Result<(), Failure> {
        let case = |name| E::Kind::case(name).ok_or("no such case");
        let request = E::Echo::from(case("a shared value")?);
        let options = self.options::<E::Echo>().references(false);
        let response = self.client.call_as_with::<E::EchoResponse>(&request, options).await?;
        let problem = problem(&case("equal values that are not shared")?, E::echoed(&response.body));
        ensure(problem.is_empty(), &problem)
    }

    async fn calls<C: Calls>(&self, report: &Report) {
        let feature = self.feature("headers");
        report.test(feature.as_str(), "a header block", self.trace::<C>(Some(("abc <1>".to_owned(), 41)))).await;
        report.test(feature.as_str(), "no header block", self.trace::<C>(None)).await;
        let feature = self.feature("faults");
        for code in ["quota", "<a & b> 漢字"] {
            report.test(feature.as_str(), &format!("a typed fault, code {code:?}"), self.fail::<C>(code)).await;
        }
    }

    async fn trace<C: Calls>(&self, sent: Option<Fields>) -> Result<(), Failure> {
        let mut options = self.options::<C::TraceRequest>().understands(C::Trace::ELEMENT);
        if let Some(fields) = &sent {
            options = options.header(HeaderBlock::from_message(&C::Trace::from(fields.clone()))?);
        }
        let response = self.client.call_as_with::<C::TraceResponse>(&C::TraceRequest::default(), options).await?;
        let blocks = response.head.headers.iter();
        let received = blocks.filter_map(HeaderBlock::to_typed::<C::Trace>).collect::<Result<Vec<_>, _>>()?;
        let received: Vec<Fields> = received.into_iter().map(Into::into).collect();
        let expected: Vec<Fields> = sent.into_iter().map(|(id, hops)| (id, hops + 1)).collect();
        same(&received, &expected, "header blocks")
    }

    async fn fail<C: Calls>(&self, code: &str) -> Result<(), Failure> {
        let request = C::Fail::from(code.to_owned());
        let fault = match self.client.call_as_with::<C::FailResponse>(&request, self.options::<C::Fail>()).await {
            Err(CallError::Fault(fault)) => fault,
            Err(error) => return Err(error.into()),
            Ok(_) => return Err("expected a fault, got a response".into()),
        };
        let typed = TypedFault::<C::Failure>::from_fault(&fault).ok_or("there is no Failure in the detail")??;
        let limit = i32::try_from(code.chars().count())?;
        same(&typed.detail.into(), &(code.to_owned(), limit), "detail")
    }
}
