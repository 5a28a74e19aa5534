//! The types match the Broadband Forum's schemas: the same fields in the same order, with the same
//! occurrence and types.

use deltasoap::engine::Typed;
use deltasoap::schema::{
    ArrayElement, ComplexElement, Compositor, Element, Field, OpenElement, QName, SimpleElement, View,
};
use deltasoap_cwmp::types::*;
use deltasoap_wsdl::{Importer, Schemas};
use std::collections::BTreeSet;
use std::path::PathBuf;

const NAMESPACE: &str = "urn:dslforum-org:cwmp-1-2";

/// Intended differences: a value is text with the name of its type; a union is the member type that
/// devices use; arrays of strings have that item type, as annex A writes them; results never have
/// the derived type that the schema has for autonomous ones. The session handles a fault's detail.
const KNOWN: [&str; 16] = [
    "AutonomousDUStateChangeComplete/Results/Fault/FaultCode: UnsignedInt and not a union",
    "AutonomousDUStateChangeComplete/Results/OperationPerformed: String and not a union",
    "AutonomousTransferComplete/FaultStruct/FaultCode: UnsignedInt and not a union",
    "ChangeDUState/Operations/cwmp:InstallOpStruct/URL: String and not AnyUri",
    "ChangeDUState/Operations/cwmp:UpdateOpStruct/URL: String and not AnyUri",
    "DUStateChangeComplete/Results: a struct and not one of several types",
    "GetParameterAttributes/ParameterNames[]: xsd:string and not xsd:anyType",
    "GetParameterAttributesResponse/ParameterList[]/AccessList[]: xsd:string and not cwmp:AccessListValueType",
    "GetParameterValues/ParameterNames[]: xsd:string and not xsd:anyType",
    "GetParameterValuesResponse/ParameterList[]/Value: String and not one of several types",
    "GetRPCMethodsResponse/MethodList[]: xsd:string and not xsd:anyType",
    "Inform/ParameterList[]/Value: String and not one of several types",
    "SetParameterAttributes/ParameterList[]/AccessList[]: xsd:string and not cwmp:AccessListValueType",
    "SetParameterValues/ParameterList[]/Value: String and not one of several types",
    "TransferComplete/FaultStruct/FaultCode: UnsignedInt and not a union",
    "Fault is missing",
];

macro_rules! messages {
    ($($type:ty),* $(,)?) => {
        [$((<$type as deltasoap::Message>::ELEMENT.local.to_string(), <$type as Typed>::view())),*]
    };
}

/// Returns all messages, by their elements.
fn messages() -> Vec<(String, View<'static>)> {
    messages![
        AddObject,
        AddObjectResponse,
        AutonomousDuStateChangeComplete,
        AutonomousDuStateChangeCompleteResponse,
        AutonomousTransferComplete,
        AutonomousTransferCompleteResponse,
        CancelTransfer,
        CancelTransferResponse,
        ChangeDuState,
        ChangeDuStateResponse,
        DeleteObject,
        DeleteObjectResponse,
        Download,
        DownloadResponse,
        DuStateChangeComplete,
        DuStateChangeCompleteResponse,
        FactoryReset,
        FactoryResetResponse,
        GetAllQueuedTransfers,
        GetAllQueuedTransfersResponse,
        GetOptions,
        GetOptionsResponse,
        GetParameterAttributes,
        GetParameterAttributesResponse,
        GetParameterNames,
        GetParameterNamesResponse,
        GetParameterValues,
        GetParameterValuesResponse,
        GetQueuedTransfers,
        GetQueuedTransfersResponse,
        GetRpcMethods,
        GetRpcMethodsResponse,
        Inform,
        InformResponse,
        Kicked,
        KickedResponse,
        Reboot,
        RebootResponse,
        RequestDownload,
        RequestDownloadResponse,
        ScheduleDownload,
        ScheduleDownloadResponse,
        ScheduleInform,
        ScheduleInformResponse,
        SetParameterAttributes,
        SetParameterAttributesResponse,
        SetParameterValues,
        SetParameterValuesResponse,
        SetVouchers,
        SetVouchersResponse,
        TransferComplete,
        TransferCompleteResponse,
        Upload,
        UploadResponse,
    ]
    .into()
}

#[test]
fn messages_are_those_of_the_schemas() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wsdl/BroadbandForum+cwmp-data-models");
    let mut importer = Importer::new().offline();
    for name in ["cwmp-1-2.xsd", "cwmp-1-3.xsd"] {
        importer =
            importer.map(format!("http://www.broadband-forum.org/cwmp/{name}"), folder.join(name)).expect("a file");
    }
    let import = importer.file(&folder.join("cwmp-1-4.xsd")).expect("a schema");
    let (schemas, lowered) = (import.schemas(), import.lower());
    let mut faults = Vec::new();
    let ours = messages();
    for (name, view) in &ours {
        let Some(id) = schemas.element_named(&QName::owned(NAMESPACE, name.as_str())) else {
            faults.push(format!("{name}: no such element"));
            continue;
        };
        let theirs = lowered.schema.view(lowered.element(id).expect("content"));
        compare(name, *view, theirs, &mut faults);
    }
    faults.extend(missing(schemas, &ours));
    assert_eq!(faults, KNOWN);
}

/// Returns the elements of messages that have no type.
fn missing(schemas: &Schemas, ours: &[(String, View<'static>)]) -> Vec<String> {
    const OTHERS: [&str; 6] =
        ["ID", "HoldRequests", "NoMoreRequests", "SessionTimeout", "SupportedCWMPVersions", "UseCWMPVersion"];
    let names = schemas.elements().map(|(_, it)| &it.name).filter(|name| name.namespace == *NAMESPACE);
    let is_missing =
        |name: &&QName| !OTHERS.contains(&&*name.local) && !ours.iter().any(|(known, _)| name.local == **known);
    names.filter(is_missing).map(|name| format!("{} is missing", name.local)).collect()
}

fn compare(path: &str, ours: View<'_>, theirs: View<'_>, faults: &mut Vec<String>) {
    match (ours.element, theirs.element) {
        (Element::Complex(one), Element::Complex(other)) => compare_fields(path, (ours, one), (theirs, other), faults),
        (Element::Array(one), Element::Array(other)) => compare_arrays(path, (ours, one), (theirs, other), faults),
        (Element::Simple(one), Element::Simple(other)) if one.base == other.base => {}
        // The values of our enumerations are strings.
        (Element::Simple(one), Element::Simple(other)) if !one.enumeration.is_empty() => {
            let texts = |of: &SimpleElement| of.enumeration.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
            if texts(one) != texts(other) {
                faults.push(format!("{path}: {:?} and not {:?}", one.enumeration, other.enumeration));
            }
        }
        (Element::Open(one), Element::Open(other)) => compare_types(path, (ours, one), (theirs, other), faults),
        (one, other) => faults.push(format!("{path}: {} and not {}", kind(one), kind(other))),
    }
}

fn compare_types(
    path: &str,
    (ours, one): (View<'_>, &OpenElement),
    (theirs, other): (View<'_>, &OpenElement),
    faults: &mut Vec<String>,
) {
    let names = |of: &OpenElement| of.types.iter().map(|(name, _)| short(name)).collect::<Vec<_>>();
    if names(one) != names(other) {
        return faults.push(format!("{path}: {:?} and not {:?}", names(one), names(other)));
    }
    for ((name, own), (_, their)) in one.types.iter().zip(&*other.types) {
        compare(&format!("{path}/{}", short(name)), ours.follow(*own), theirs.follow(*their), faults);
    }
}

fn compare_fields(
    path: &str,
    (ours, one): (View<'_>, &ComplexElement),
    (theirs, other): (View<'_>, &ComplexElement),
    faults: &mut Vec<String>,
) {
    let names = |of: &ComplexElement| of.fields.iter().map(|it| it.name.to_string()).collect::<Vec<_>>();
    if names(one) != names(other) || one.compositor == Compositor::Choice {
        return faults.push(format!("{path}: {:?} and not {:?}", names(one), names(other)));
    }
    for (own, their) in one.fields.iter().zip(&*other.fields) {
        let path = format!("{path}/{}", own.name.local);
        let bounds = |of: &Field| (of.min, of.max);
        if bounds(own) != bounds(their) {
            faults.push(format!("{path}: {:?} and not {:?}", bounds(own), bounds(their)));
        }
        compare(&path, ours.follow(own.element), theirs.follow(their.element), faults);
    }
}

fn compare_arrays(
    path: &str,
    (ours, one): (View<'_>, &ArrayElement),
    (theirs, other): (View<'_>, &ArrayElement),
    faults: &mut Vec<String>,
) {
    for (own, their) in [(&one.item_name, &other.item_name), (&one.item_type, &other.item_type)] {
        if own != their {
            faults.push(format!("{path}[]: {} and not {}", short(own), short(their)));
        }
    }
    compare(&format!("{path}[]"), ours.follow(one.item), theirs.follow(other.item), faults);
}

fn short(name: &QName) -> String {
    format!("{}:{}", if name.namespace == *NAMESPACE { "cwmp" } else { "xsd" }, name.local)
}

fn kind(element: &Element) -> String {
    match element {
        Element::Simple(simple) => format!("{:?}", simple.base),
        Element::Union(_) => "a union".to_owned(),
        Element::Open(_) => "one of several types".to_owned(),
        Element::Complex(_) => "a struct".to_owned(),
        _ => "something else".to_owned(),
    }
}
