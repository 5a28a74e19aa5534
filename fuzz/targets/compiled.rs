//! Any bytes as a compiled WSDL, under a correct header: it is refused, or it can be described,
//! sampled, and compiled again to a file that loads.

#![no_main]

use deltasoap_dynamic::{Contract, Operation};
use deltasoap_wsdl::fetch::Location;
use deltasoap_wsdl::{Import, Importer, Limits};
use libfuzzer_sys::fuzz_target;

/// Size of the header before the content: magic, version, checksum, length.
const HEADER: usize = 24;
/// Maximum number of components that are described.
const COMPONENTS: usize = 50;

fuzz_target!(|input: &[u8]| {
    if input.len() < HEADER {
        return;
    }
    if let Ok(import) = import(framed(input)) {
        let again = import.compile();
        assert!(self::import(again).is_ok(), "read, written, and refused");
        ask(&Contract::from(import));
    }
});

/// Returns the input with its header replaced by one that matches its content.
fn framed(input: &[u8]) -> Vec<u8> {
    let content = &input[HEADER..];
    let mut file = b"\x89DSWSDL\n".to_vec();
    file.extend_from_slice(&1u32.to_le_bytes());
    file.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    file.extend_from_slice(&(content.len() as u64).to_le_bytes());
    file.extend_from_slice(content);
    file
}

fn import(file: Vec<u8>) -> Result<Import, deltasoap_wsdl::Error> {
    let limits = Limits { bytes: 1 << 20, components: 50_000, ..Limits::default() };
    Importer::new().offline().limits(limits).bytes(Location::Text("a file".to_owned()), file)
}

/// Uses a contract as the commands do.
fn ask(contract: &Contract) {
    let names = contract.description().schemas().types().filter_map(|(_, it)| it.name.as_ref());
    for name in names.take(COMPONENTS) {
        contract.describe(&name.to_string()).iter().for_each(|part| _ = part.to_text());
    }
    for operation in contract.operations().iter().take(COMPONENTS) {
        let _ = operation.describe().to_text();
        sample(contract, operation);
    }
    let message = b"<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><a/></e:Body></e:Envelope>";
    let _ = contract.validate(message);
}

fn sample(contract: &Contract, operation: &Operation) {
    if let Some(((name, content), sample)) = operation.request().zip(operation.request_sample()) {
        let json = contract.to_json(name, content, &sample);
        let _ = json.map(|json| contract.from_json(name, content, &json));
    }
}
