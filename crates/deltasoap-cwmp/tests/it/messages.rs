//! Recorded messages of all kinds, decoded to the types and encoded again.

use deltasoap::engine::decode::Decoder;
use deltasoap::engine::{DecodeOptions, Tolerance};
use deltasoap::soap::{Envelope, EnvelopeReader, RequestReceiver};
use deltasoap::types::Node;
use deltasoap::{Fault, Message};
use deltasoap_cwmp::Version;
use deltasoap_cwmp::types::*;
use std::fs;
use std::path::Path;

/// Messages that deviate from annex A, and therefore fail to decode or do not round-trip: invalid
/// cases of the tests that they come from, and operations and results in elements of their own
/// instead of with `xsi:type`.
const INVALID: [(&str, &str); 13] = [
    ("autonomous-du-state-change-complete-0", "missing element <StartTime>"),
    ("change-du-state-0", "Other("),
    ("change-du-state-1", "Other("),
    ("change-du-state-2", "Other("),
    ("delete-object-response-2", "value \"2\""),
    ("download-1", "not a valid unsignedInt"),
    ("download-response-1", "value \"2\""),
    ("download-response-2", "missing element <StartTime>"),
    ("download-response-3", "not a valid dateTime"),
    ("du-state-change-complete-0", "missing element <StartTime>"),
    ("upload-response-1", "value \"2\""),
    ("upload-response-2", "missing element <StartTime>"),
    ("upload-response-3", "not a valid dateTime"),
];

/// Decodes a message of a type, as the server does.
fn read<T: Message>(message: &[u8]) -> Result<T, String> {
    let options = DecodeOptions { tolerance: Tolerance::AnyOrder, ..DecodeOptions::default() };
    let mut reader = EnvelopeReader::new(RequestReceiver::<T>::default());
    let mut decoder = Decoder::new(options);
    let decoded = decoder.push(&mut reader, message).and_then(|()| decoder.finish(&mut reader));
    decoded.map_err(|error| error.to_string())?;
    Ok(reader.receiver.into_memory().into_value())
}

/// Decodes a message, encodes it in its version, and decodes it again.
fn through<T: Message + PartialEq + std::fmt::Debug>(version: Version, message: &str) -> Result<(), String> {
    let declared = |text: &str| text.replace(version.namespace(), &T::ELEMENT.namespace).into_bytes();
    let value: T = read(&declared(message))?;
    let written = Envelope::new(&value).namespace(version.namespace()).to_vec();
    let written = String::from_utf8(written.map_err(|error| error.to_string())?).expect("UTF-8");
    let again = read::<T>(&declared(&written))?;
    if again == value { Ok(()) } else { Err(format!("{again:?} in place of {value:?}")) }
}

fn check(version: Version, body: &Node, message: &str) -> Result<(), String> {
    macro_rules! by_name {
        ($($type:ty),* $(,)?) => {{
            $(if body.name.local == <$type as Message>::ELEMENT.local {
                return through::<$type>(version, message);
            } else if body.name.local == <<$type as Rpc>::Response as Message>::ELEMENT.local {
                return through::<<$type as Rpc>::Response>(version, message);
            })*
            Err(format!("no type for {}", body.name))
        }};
    }
    by_name!(
        GetRpcMethods,
        SetParameterValues,
        GetParameterValues,
        GetParameterNames,
        SetParameterAttributes,
        GetParameterAttributes,
        AddObject,
        DeleteObject,
        Download,
        Reboot,
        FactoryReset,
        ScheduleInform,
        Upload,
        ScheduleDownload,
        CancelTransfer,
        GetQueuedTransfers,
        GetAllQueuedTransfers,
        SetVouchers,
        GetOptions,
        ChangeDuState,
        Inform,
        Kicked,
        TransferComplete,
        AutonomousTransferComplete,
        RequestDownload,
        DuStateChangeComplete,
        AutonomousDuStateChangeComplete,
    )
}

#[test]
fn recorded_messages_come_through() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sequences/tr069-rpcs");
    let (mut read, mut failed) = (0, Vec::new());
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "xml") {
            continue;
        }
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let message = fs::read_to_string(&path).expect("a file");
        let envelope = Node::parse(message.as_bytes()).expect("a document");
        let body = envelope.elements().find(|child| child.name.local == "Body").expect("a body");
        let body = body.elements().next().expect("an element");
        if body.name.local == "Fault" {
            let fault = Fault::from_node(body).expect("a fault");
            assert!(deltasoap_cwmp::CwmpFault::from_soap(&fault).is_some(), "{name}");
            continue;
        }
        let version = Version::from_namespace(&body.name.namespace).expect("a version");
        match check(version, body, &message) {
            Ok(()) => read += 1,
            Err(error) => failed.push((name, error)),
        }
    }
    failed.sort();
    let known = |(name, error): &(String, String)| {
        let is_it = |invalid: &str| name.trim_end_matches(".xml").trim_end_matches("-generated") == invalid;
        INVALID.iter().any(|(invalid, why)| is_it(invalid) && error.contains(why))
    };
    let unknown: Vec<_> = failed.iter().filter(|failure| !known(failure)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(read > 100, "{read}");
}
