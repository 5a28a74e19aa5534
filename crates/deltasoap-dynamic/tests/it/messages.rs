//! Real messages with real WSDL, as JSON and back.
//!
//! `DELTASOAP_WSDL_CORPUS=DIR DELTASOAP_MESSAGE_CORPUS=DIR cargo test -p deltasoap-dynamic --test
//! it messages -- --ignored --nocapture`. The folder of a message must have a WSDL at the same path
//! below the other directory.

use crate::support;
use deltasoap_core::decode::{DecodeOptions, Decoder, ElementRoot, value_from_slice};
use deltasoap_core::encode::Encoder;
use deltasoap_core::soap::Version;
use deltasoap_core::{Bindings, Node, Tolerance, Value};
use deltasoap_dynamic::Contract;
use deltasoap_test_support::files;
use deltasoap_wsdl::Importer;
use std::path::{Path, PathBuf};

#[test]
#[ignore = "needs directories of descriptions and messages"]
fn json_keeps_all_of_real_messages() {
    let folder = |name| PathBuf::from(std::env::var_os(name).unwrap_or_else(|| panic!("{name} names a directory")));
    let (descriptions, messages) = (folder("DELTASOAP_WSDL_CORPUS"), folder("DELTASOAP_MESSAGE_CORPUS"));
    let (mut good, mut wrong) = (0, Vec::new());
    let mut ahead = vec![messages.clone()];
    while let Some(next) = ahead.pop() {
        let below = next.strip_prefix(&messages).expect("below").to_owned();
        let contract = contract(&descriptions, &below);
        for path in files::entries(&next) {
            match (&contract, std::fs::read(&path)) {
                _ if path.is_dir() => ahead.push(path),
                (Some(contract), Ok(message)) => match check(contract, &message) {
                    Some(Ok(())) => good += 1,
                    Some(Err(error)) => wrong.push(format!("{}: {error}", path.display())),
                    None => {}
                },
                _ => {}
            }
        }
    }
    println!("{good} kept, {} not", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the contract of the first WSDL of a folder.
fn contract(descriptions: &Path, below: &Path) -> Option<Contract> {
    let is_wsdl = |path: &PathBuf| path.extension().is_some_and(|it| it == "wsdl");
    let description = files::entries(&descriptions.join(below)).into_iter().find(is_wsdl)?;
    let root = descriptions.join(below.components().next()?);
    Some(Contract::from(Importer::new().offline().root(root).file(&description).ok()?))
}

/// Returns `None` for files that are not messages of an operation, and for invalid ones.
fn check(contract: &Contract, message: &[u8]) -> Option<Result<(), String>> {
    let envelope = Node::parse(message).ok()?;
    let version = Version::from_namespace(&envelope.name.namespace)?;
    let body = envelope.element(version.namespace(), "Body")?;
    let entry = body.elements().next()?;
    let around = [&envelope, body, entry].into_iter().flat_map(|node| node.bindings.iter().cloned());
    let mut bindings: Vec<(String, String)> = Vec::new();
    for (prefix, namespace) in around {
        bindings.retain(|(other, _)| *other != prefix);
        bindings.push((prefix, namespace));
    }
    let entry = Node { bindings: Bindings::from(bindings), ..entry.clone() };
    let operations = contract.operations();
    let mut bodies = operations.iter().flat_map(|it| [it.request(), it.response()]).flatten();
    let (name, content) = bodies.find(|(name, _)| **name == entry.name)?;
    let mut encoder = Encoder::new();
    entry.write(&mut encoder);
    let value = value_from_slice(encoder.finish().ok()?.as_slice(), name, contract.view(content)).ok()?;
    let json = contract.to_json(name, content, &value).map_err(|error| error.to_string());
    Some(json.and_then(|json| {
        let again = contract.from_json(name, content, &json).map_err(|error| format!("{error}\n{json:#}"))?;
        if support::is_same(&again, &value) { Ok(()) } else { Err(format!("not the same\n{json:#}")) }
    }))
}

/// `##other` does not accept an unknown element of the type's own namespace, nor a repeated field.
#[test]
fn wildcards_take_no_elements_of_other_namespaces_than_theirs() {
    let contract = support::schema(
        "<xs:element name='e'><xs:complexType><xs:sequence><xs:element name='a' type='xs:int'/><xs:element name='b' type='xs:int'/>\
         <xs:any namespace='##other' minOccurs='0' maxOccurs='unbounded'/></xs:sequence></xs:complexType></xs:element>",
    );
    let codec = support::Codec::of_element(&contract, "e");
    let read = |tolerance, content: &str| {
        let document = format!("<e xmlns='urn:t'>{content}</e>");
        let mut root = ElementRoot::<Value>::new(codec.view());
        let mut decoder = Decoder::new(DecodeOptions { tolerance, ..DecodeOptions::default() });
        decoder.decode(&mut root, document.as_bytes()).map(|()| root.value)
    };
    let known = read(Tolerance::Strict, "<a>1</a><b>2</b><x xmlns='urn:x'/>").expect("valid");
    let unknown = "<a>1</a><s>0</s><b>2</b><x xmlns='urn:x'/>";
    assert!(read(Tolerance::Strict, unknown).is_err());
    for tolerance in [Tolerance::Unknown, Tolerance::AnyOrder] {
        assert_eq!(read(tolerance, unknown).as_ref(), Ok(&known));
        assert!(read(tolerance, "<a>1</a><b>2</b><a>3</a>").is_err());
    }
    assert!(read(Tolerance::Strict, "<a>1</a><b>2</b><a>3</a>").is_err());
}
