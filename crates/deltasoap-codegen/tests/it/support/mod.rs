//! WSDLs of `testdata/wsdl`, and our own.

#![allow(dead_code, reason = "each test takes what it needs")]

pub mod compile;

use deltasoap_codegen::Builder;
use std::path::{Path, PathBuf};

/// WSDLs whose output is kept.
pub const GOLDENS: &[(&str, &str)] = &[
    ("archive", "../../crates/deltasoap-codegen/tests/data/archive.wsdl"),
    ("bare", "../../crates/deltasoap-codegen/tests/data/bare.wsdl"),
    ("choices", "apache+axis-axis1-java/integration/src/test/wsdl/choice/ChoiceService.wsdl"),
    ("cwmp", "BroadbandForum+cwmp-data-models/cwmp-1-0.xsd"),
    ("codes", "../../crates/deltasoap-codegen/tests/data/codes.wsdl"),
    ("device", "FalkTannhaeuser+python-onvif-zeep/wsdl/devicemgmt.wsdl"),
    ("defaults", "../../crates/deltasoap-codegen/tests/data/defaults.wsdl"),
    ("encoded", "../../crates/deltasoap-codegen/tests/data/encoded.wsdl"),
    ("events", "FalkTannhaeuser+python-onvif-zeep/wsdl/events.wsdl"),
    ("faults", "apache+axis-axis1-java/integration/src/test/wsdl/faults/FaultService.wsdl"),
    ("hostile", "../../crates/deltasoap-codegen/tests/data/hostile.wsdl"),
    ("graph", "../../crates/deltasoap-codegen/tests/data/graph.wsdl"),
    ("groups", "../../crates/deltasoap-codegen/tests/data/groups.wsdl"),
    ("interop", "apache+axis-axis1-java/interop-mock/src/main/resources/wsdl/soap12-add-test.wsdl"),
    (
        "metadata",
        "loopbackio+strong-soap/test/request-response-samples/readMetadata__should_respect_xsi_type_attribute/soap.wsdl",
    ),
    (
        "nested",
        "vpulim+node-soap/test/request-response-samples/IndienenBericht__should_work_with_deeply_nested_XML_messages/soap.wsdl",
    ),
    ("packed", "../../crates/deltasoap-codegen/tests/data/packed.wsdl"),
    ("plans", "apache+axis-axis1-java/integration/src/test/wsdl/extension/extension.wsdl"),
    ("recursive", "loopbackio+strong-soap/test/wsdl/recursive.wsdl"),
    ("secured", "../../crates/deltasoap-codegen/tests/data/secured.wsdl"),
    ("vsphere", "vsphere-content.wsdl"),
    ("xop", "apache+cxf/testutils/src/main/resources/wsdl/mtom_xop.wsdl"),
];

/// Returns the selected operations of large WSDLs.
pub fn operations(name: &str) -> &'static [&'static str] {
    match name {
        "device" => &["GetSystemDateAndTime", "SetHostname"],
        _ => &[],
    }
}

/// Goldens whose types have no serde traits.
const WITHOUT_SERDE: &[&str] = &["bare", "defaults", "events", "faults", "hostile", "plans", "recursive", "vsphere"];

/// Sets the options of a golden.
pub fn with_options(name: &str, builder: Builder) -> Builder {
    builder.unknown_enum_values(name == "codes").serde(!WITHOUT_SERDE.contains(&name))
}

/// Returns the path of a file in `testdata/wsdl`.
pub fn wsdl(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wsdl").join(path)
}
