//! Tests `deltasoap-bench figures` on arrays that are far too small.

use std::process::Command;

fn run(arguments: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltasoap-bench"));
    let output = command.args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Goals on sending: content match, structural match, shifting, stuffing, first message,
/// overlaying, comparison with gSOAP.
const SENDS: usize = 3 + 3 * 4 + 2 + 8 + 2 + 2 + 1 + 2;
/// Goals on real traffic: four messages in four ways, two of them alone, two peers, fifteen
/// streams, lists of numbers.
const REAL: usize = 4 * 4 + 2 + 2 + 15 + 1;
/// Goals on arrays of ten items: four kinds, compared with two peers.
const ARRAYS: usize = 4 * 2;
/// Goals on streams without similar messages: written and read in two ways each, two sizes, two
/// phases.
const FRESH: usize = 2 * 2 * 2 * 2;
/// Goals on templates and long arrays: exact fields in two ways, two other fields, small values,
/// uniform doubles, a million items.
const TEMPLATES: usize = 3 * 2 + 4 * 2 + 3 + 1 + 1;
/// Goals on connections: three loads, both cores, memory of idle ones.
const CONNECTIONS: usize = 3 + 2 + 1;
/// Goals on the wire: round trip, processor time compared with two peers, a large part, two mixed
/// loads.
const WIRE: usize = 1 + 2 * 2 + 2 + 2;
/// Goals on WSDLs: three for each of two, decoding of four shapes, recorded responses.
const WSDL: usize = 2 * 3 + 4 + 1;
/// Goals on packed numbers compared with text: written, read, and whole calls; and on scheduling by
/// operation.
const PACKED: usize = 3 + 1;
/// Goals on compression at two rates; and the gain of overlapping.
const BANDWIDTH: usize = 2 + 1;

#[test]
fn every_goal_is_judged() {
    let text = run("figures --quick --size 20 --pairs 2 --json --peers nowhere");
    let goals: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked = ARRAYS + FRESH + TEMPLATES + CONNECTIONS + PACKED + BANDWIDTH;
    assert_eq!(goals.len(), 1 + 4 * 9 + 3 + 2 + 2 + 1 + 7 + REAL + asked + SENDS + WIRE + WSDL);
    for goal in &goals {
        let name = goal["name"].as_str().unwrap();
        let open = [
            "full checkpoint",
            "instructions",
            "used buffer",
            "gSOAP",
            "gsoap",
            "pugixml",
            "processor time",
            "small requests",
            "overlap",
        ];
        // Servers can be loaded only if our program is built.
        let is_open =
            open.iter().chain(&["real: load", "references as Axis", "idle connection"]).any(|part| name.contains(part));
        assert!(is_open || goal["reached"].is_boolean(), "{goal}");
        assert!(goal["goal"].is_string() && goal["detail"].is_string());
        let has_interval = ["real: all changed", "real: template", "real: uniform", "new buffer, an item"];
        if has_interval.iter().any(|part| name.contains(part)) {
            let end = |place: usize| goal["interval"][place].as_f64().unwrap();
            let measured = goal["measured"].as_f64().unwrap();
            assert!(end(0) <= measured && measured <= end(1), "{goal}");
        }
    }
}

#[test]
fn goals_are_chosen_by_their_names() {
    let table = run("figures --quick --size 20 --only inserted");
    assert!(table.contains("| one element inserted or removed |") && table.contains("of 1 goals"), "{table}");
}

#[test]
fn a_stream_is_decoded_for_a_profiler() {
    assert_eq!(run("once --workload decode-similar-structs --size 10 --messages 3 --checkpoints off"), "");
}
