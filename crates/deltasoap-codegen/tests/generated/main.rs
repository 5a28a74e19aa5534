//! The golden files compile, read real messages and write them again, and their clients and servers
//! work together.

mod archives;
mod bare_bodies;
mod default_values;
mod devices;
mod encoded_types;
mod enumerations;
mod graphs;
mod groups_of_elements;
mod packed_numbers;
mod secured_services;

use deltasoap::client::{CallError, Failure};
use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{Buffer, DecodeOptions, DeviationKind, Tolerance};
use deltasoap::schema::Use;
use deltasoap::soap::{Envelope, EnvelopeReader, Reply, ReplyReceiver, TypedFault, decode_request};
use deltasoap::{Binary, Client, Context, Error, Fault, Lease, Message};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::path::Path;

macro_rules! goldens {
    ($($name:ident),* $(,)?) => {$(
        #[allow(clippy::all, dead_code, missing_docs, rustdoc::all)]
        mod $name {
            include!(concat!("../goldens/", stringify!($name), ".rs"));
        }
    )*};
}

goldens!(
    archive, bare, choices, codes, cwmp, defaults, device, encoded, events, faults, graph, groups, hostile, interop,
    metadata, nested, packed, plans, recursive, secured, vsphere, xop
);

fn message(path: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/messages");
    std::fs::read(folder.join(path)).expect("a message")
}

/// Servers of vSphere 6.5 and 8 send more than an older WSDL declares: clients read it all the
/// same, and report the extra elements.
#[test]
fn newer_servers_are_read_by_an_older_description() {
    use vsphere::RetrieveServiceContentResponse;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sequences/vsphere-content");
    for (file, version, unknown, newest) in
        [("0000", "6.5.0", 10, "overheadMemoryManager"), ("0001", "8.0.3", 14, "patchLevel")]
    {
        let message = std::fs::read(folder.join(format!("{file}.response.xml"))).expect("a message");
        let read = |tolerance| {
            let mut decoder = Decoder::new(DecodeOptions { tolerance, ..DecodeOptions::default() });
            let mut reader = EnvelopeReader::new(ReplyReceiver::<RetrieveServiceContentResponse>::default());
            decoder.decode(&mut reader, &message)?;
            Ok::<_, Error>((reader.into_parts().1.into_reply()?, decoder.deviations().to_vec()))
        };
        let (reply, deviations) = read(Tolerance::Unknown).expect("a good response");
        let Reply::Response(response) = reply else { panic!("{reply:?}") };
        assert_eq!(response.returnval.about.version, version);
        assert!(response.returnval.session_manager.is_some() && response.returnval.storage_resource_manager.is_some());
        assert!(deviations.iter().all(|it| it.kind == DeviationKind::UnknownElement), "{deviations:?}");
        assert!(deviations.iter().any(|it| it.name.ends_with(newest)), "{deviations:?}");
        assert_eq!(deviations.len(), unknown, "{deviations:?}");
        let error = read(Tolerance::Strict).expect_err("a server of another version").to_string();
        assert!(error.contains("unexpected element"), "{error}");
    }
}

/// Reads a message, writes it, and reads the result; and the same as JSON.
#[track_caller]
fn round_trip<T: Message + Debug + PartialEq + Serialize + DeserializeOwned>(message: &[u8], encoding: Use) -> T {
    let (_, value) = decode_request::<T>(message).expect("a good message");
    let written = Envelope::new(&value).encoding(encoding).write(Buffer::new()).expect("written");
    let (_, again) = decode_request::<T>(written.as_slice()).expect("good once written");
    assert_eq!(again, value);
    match serde_json::to_string(&value) {
        Ok(json) => assert_eq!(serde_json::from_str::<T>(&json).expect("read"), value, "{json}"),
        Err(error) => assert!(error.to_string().contains("serde has no references"), "{error}"),
    }
    value
}

fn body(content: &str) -> Vec<u8> {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:i='http://www.w3.org/2001/XMLSchema-instance'>\
         <s:Body>{content}</s:Body></s:Envelope>"
    )
    .into_bytes()
}

#[test]
fn a_recorded_response_in_several_namespaces() {
    let path = "vpulim+node-soap/test/request-response-samples/\
                IndienenBericht__should_work_with_deeply_nested_XML_messages/response.xml";
    let response: nested::berichtuitwisseling_v3::IndienenBerichtResponse = round_trip(&message(path), Use::Literal);
    assert_eq!(response.indienen_bericht_result.conversatie_id, "12345");
    assert_eq!(response.indienen_bericht_result.traceer_id, "56789");
}

#[test]
fn a_recorded_response_in_soap_encoding() {
    let response: interop::soapinterop_org::EchoStringResponse2 =
        round_trip(&message("axis14-echo-capture/0000.response.xml"), Use::Encoded);
    assert_eq!(response.r#return, Some("abccdefg".to_owned()));
}

#[test]
fn a_recorded_message_with_a_part() {
    let path =
        "apache+cxf/rt/bindings/soap/src/test/resources/org/apache/cxf/binding/soap/attachments/primarySoapPart.xml";
    let xop::TestXop(xop) = round_trip(&message(path), Use::Literal);
    assert_eq!(xop.name, "hello world");
    assert!(matches!(&xop.attachinfo, Binary::Part(uri) if uri.as_str() == "cid:http://cxf.apache.org/my.wav"));
}

/// The keys are those of the WSDL, and what is absent is left out.
#[test]
fn json_has_the_names_of_the_description() {
    let records = "<m:records i:type='m:CustomObject'><m:fullName>Account</m:fullName><m:enableFeeds>true</m:enableFeeds>\
        </m:records><m:records><m:fullName>plain</m:fullName></m:records>";
    let response: metadata::ReadMetadataResponse = round_trip(&metadata_of(records), Use::Literal);
    let expected = serde_json::json!({
        "result": {
            "records": [
                { "CustomObject": { "fullName": "Account", "enableFeeds": true } },
                { "Metadata": { "fullName": "plain" } },
            ],
        },
    });
    assert_eq!(serde_json::to_value(&response).expect("written"), expected);
}

fn metadata_of(records: &str) -> Vec<u8> {
    body(&format!(
        "<m:readMetadataResponse xmlns:m='http://soap.sforce.com/2006/04/metadata'><m:result>{records}</m:result>\
         </m:readMetadataResponse>"
    ))
}

#[test]
fn derived_types() {
    use metadata::AnyMetadata;
    let records = "<m:records i:type='m:CustomObject'><m:fullName>Account</m:fullName><m:enableFeeds>true</m:enableFeeds>\
        </m:records><m:records><m:fullName>plain</m:fullName></m:records>";
    let response: metadata::ReadMetadataResponse = round_trip(&metadata_of(records), Use::Literal);
    match &response.result.records[..] {
        [AnyMetadata::CustomObject(object), AnyMetadata::Metadata(plain)] => {
            assert_eq!((object.full_name.as_deref(), object.enable_feeds), (Some("Account"), Some(true)));
            assert_eq!(plain.full_name.as_deref(), Some("plain"));
        }
        other => panic!("{other:?}"),
    }
    let records = "<m:records i:type='m:Flow'><m:fullName>new</m:fullName></m:records>";
    let (_, response) = decode_request::<metadata::ReadMetadataResponse>(&metadata_of(records)).expect("good");
    assert!(matches!(&response.result.records[..], [AnyMetadata::Other(flow)] if flow.elements().count() == 1));
}

/// Knows one ticker.
struct Tickers;

impl faults::server::FaultService for Tickers {
    async fn get_quote(
        &self,
        _: Context,
        request: Lease<faults::unqualified::GetQuote>,
    ) -> Result<faults::unqualified::GetQuoteResponse, faults::GetQuoteFault> {
        match &request.ticker_symbol {
            Some(symbol) if symbol == "XXX" => {
                Ok(faults::unqualified::GetQuoteResponse { get_quote_result: Some(55.25) })
            }
            Some(symbol) => {
                let detail = faults::unqualified::TickerSymbol(symbol.clone());
                Err(faults::GetQuoteFault::InvalidTickerFaultMessage(TypedFault::sender("unknown", detail)))
            }
            _ => Err(Fault::sender("no ticker").into()),
        }
    }

    async fn throw_fault(
        &self,
        _: Context,
        request: Lease<faults::unqualified::ThrowFault>,
    ) -> Result<faults::unqualified::ThrowFaultResponse, faults::ThrowFaultFault> {
        let (a, b, c) = (request.a, request.b.clone(), request.c);
        let detail =
            faults::faults::AnyDerivedFault::DerivedFault2(Box::new(faults::faults::DerivedFault2 { a, b, c }));
        let detail = faults::unqualified::TheFault(detail);
        Err(faults::ThrowFaultFault::ThrowFaultFault(TypedFault::receiver("thrown", detail)))
    }

    async fn throw_extension_fault(
        &self,
        _: Context,
        _: Lease<faults::unqualified::ThrowExtensionFault>,
    ) -> Result<faults::unqualified::ThrowExtensionFaultResponse, faults::ThrowExtensionFaultFault> {
        Err(Fault::receiver("not today").into())
    }
}

#[tokio::test]
async fn clients_and_servers_of_a_description_understand_each_other() -> Result<(), Box<dyn std::error::Error>> {
    use faults::unqualified::{GetQuote, ThrowExtensionFault, ThrowFault};
    let service = faults::server::FaultServiceServer::new(Tickers);
    let client = faults::client::FaultServiceClient::with_client(Client::with_service("http://localhost/", service)?);
    let quote = |symbol: &str| GetQuote { ticker_symbol: Some(symbol.to_owned()) };

    let response = client.get_quote(&quote("XXX")).await?;
    assert_eq!(response.get_quote_result, Some(55.25));

    let unknown = client.get_quote(&quote("YYY")).await;
    let Err(Failure::Fault(fault)) = unknown else { panic!("{unknown:?}") };
    assert!(matches!(*fault, faults::GetQuoteFault::InvalidTickerFaultMessage(fault) if fault.detail.0 == "YYY"));

    let none = client.get_quote(&GetQuote { ticker_symbol: None }).await;
    assert!(matches!(none, Err(Failure::Fault(fault)) if matches!(*fault, faults::GetQuoteFault::Other(_))));

    let thrown = client.throw_fault(&ThrowFault { a: Some(1), b: None, c: Some(0.5) });
    let thrown = thrown.await;
    let Err(Failure::Fault(fault)) = thrown else { panic!("{thrown:?}") };
    let faults::ThrowFaultFault::ThrowFaultFault(fault) = *fault else { panic!("{fault:?}") };
    let faults::faults::AnyDerivedFault::DerivedFault2(detail) = fault.detail.0 else { panic!("{fault:?}") };
    assert_eq!((detail.a, detail.b, detail.c), (Some(1), None, Some(0.5)));

    let refused = client.throw_extension_fault(&ThrowExtensionFault { description: None }).await;
    assert!(matches!(refused, Err(Failure::Fault(fault)) if fault.to_string().contains("not today")));
    Ok(())
}

#[tokio::test]
async fn what_is_no_fault_is_told_apart() -> Result<(), Box<dyn std::error::Error>> {
    let client = faults::client::FaultServiceClient::new("http://127.0.0.1:1/")?;
    let failed = client.get_quote(&faults::unqualified::GetQuote { ticker_symbol: None }).await;
    assert!(matches!(failed, Err(Failure::Call(CallError::Http(_)))));
    Ok(())
}

/// Actions and addresses in a WSDL cannot add lines to the request.
#[tokio::test]
async fn a_description_adds_no_headers() -> Result<(), Box<dyn std::error::Error>> {
    assert!(hostile::client::GenClient::new(hostile::client::GenClient::<Client>::ADDRESS).is_err());
    let client = hostile::client::GenClient::new("http://127.0.0.1:1/")?;
    let request = hostile::VecType { option: hostile::OptionType { result: None } };
    let refused = client.new2(&request).await;
    assert!(matches!(refused, Err(CallError::Action(_))), "{refused:?}");
    Ok(())
}
