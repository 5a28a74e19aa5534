//! Real messages of devices: TR-069, with the types of the Broadband Forum's schema, and ONVIF.

use crate::cwmp::cwmp_1_0::{Inform, InformResponse, SetParameterAttributes};
use crate::device::schema::SetDateTimeType;
use crate::device::wsdl::GetSystemDateAndTimeResponse;
use crate::{message, round_trip};
use deltasoap::schema::Use;
use std::path::Path;

fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sequences/tr069-inform");
    std::fs::read(folder.join(name)).expect("a sample")
}

#[test]
fn informs_of_many_devices() {
    for (device, serial, parameters) in [
        ("company-iad001.xml", "S99998888", 8),
        ("motorola-vap2404.xml", "M91342SA1JJ0", 11),
        ("sagemcom-router.xml", "LK14183DP340340", 8),
        ("zyxel-p2601.xml", "EC43F69AF408", 8),
        ("zyxel-p2601-no-more-requests.xml", "EC43F69AF408", 8),
        ("zyxel-vmg8924.xml", "S140Y24025829", 8),
        ("zyxel-vmg8924-indented.xml", "S140Y24025829", 8),
    ] {
        let inform: Inform = round_trip(&sample(device), Use::Encoded);
        let found = (inform.device_id.serial_number.as_str(), inform.parameter_list.0.len());
        assert_eq!(found, (serial, parameters), "{device}");
        assert!(!inform.event.0.is_empty() && inform.parameter_list.0.iter().all(|it| !it.name.is_empty()), "{device}");
    }
}

#[test]
fn answers_of_a_management_server() {
    let response: InformResponse = round_trip(&sample("inform-response-no-more-requests.xml"), Use::Encoded);
    assert_eq!(response.max_envelopes, 1);
    let path = "Fullrate+cwmp_ex/test/parser/set_parameter_attributes_test.exs.000.xml";
    let set: SetParameterAttributes = round_trip(&message(path), Use::Encoded);
    assert!(!set.parameter_list.0.is_empty());
}

#[test]
fn the_time_of_a_camera() {
    let response: GetSystemDateAndTimeResponse =
        round_trip(&message("agsh+onvif/__tests__/utils.test.ts.000.xml"), Use::Literal);
    let time = response.system_date_and_time;
    assert_eq!((time.date_time_type, time.daylight_savings), (SetDateTimeType::Manual, true));
    let utc = time.utc_date_time.expect("the time");
    assert_eq!((utc.time.hour, utc.time.minute, utc.date.year), (19, 14, 2014));
}
