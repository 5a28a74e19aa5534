//! Measures real messages against real WSDLs: each is read by its operation, written, and read
//! again.
//!
//! `DELTASOAP_WSDL_CORPUS=DIR DELTASOAP_MESSAGE_CORPUS=DIR cargo test --release -p deltasoap-wsdl
//! --test it messages -- --ignored --nocapture`. The folder of a message must have a WSDL at the
//! same path below the other directory.

use crate::support;
use deltasoap_core::decode::value_from_slice;
use deltasoap_core::schema::{ComplexElement, Compositor, Element, ElementRef, Field, Schema};
use deltasoap_core::soap::Version;
use deltasoap_core::{Child, Node, QName};
use deltasoap_test_support::files;
use deltasoap_wsdl::Importer;
use deltasoap_wsdl::lower::Lowered;
use std::path::{Path, PathBuf};

#[test]
#[ignore = "needs directories of descriptions and messages"]
fn messages_are_read_by_their_descriptions() {
    let folder = |name| PathBuf::from(std::env::var_os(name).unwrap_or_else(|| panic!("{name} names a directory")));
    let (descriptions, messages) = (folder("DELTASOAP_WSDL_CORPUS"), folder("DELTASOAP_MESSAGE_CORPUS"));
    let (mut good, mut bad) = (0, 0);
    for (message, description) in pairs(&messages, &descriptions) {
        let root = description.strip_prefix(&descriptions).expect("below").components().next().expect("a source");
        let importer = Importer::new().offline().root(descriptions.join(root));
        let Ok(import) = importer.file(&description) else { continue };
        match check(&import.lower(), &std::fs::read(&message).expect("a message")) {
            None => {}
            Some(Ok(())) => good += 1,
            Some(Err(error)) => {
                bad += 1;
                println!("{}\t{error}", message.strip_prefix(&messages).expect("below").display());
            }
        }
    }
    println!("{good} read, {bad} not");
}

/// Returns messages with the WSDLs in the same folder of the other corpus.
fn pairs(messages: &Path, descriptions: &Path) -> Vec<(PathBuf, PathBuf)> {
    let (mut found, mut ahead) = (Vec::new(), vec![messages.to_owned()]);
    while let Some(next) = ahead.pop() {
        let below = next.strip_prefix(messages).expect("below").to_owned();
        let beside = files::entries(&descriptions.join(below)).into_iter().find(|path| has_extension(path, "wsdl"));
        for path in files::entries(&next) {
            match &beside {
                _ if path.is_dir() => ahead.push(path),
                Some(description) if has_extension(&path, "xml") => found.push((path, description.clone())),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    found
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|it| it == extension)
}

/// Returns `None` for messages of no operation: faults, empty bodies, and names that the WSDL does
/// not define.
fn check(lowered: &Lowered, message: &[u8]) -> Option<Result<(), String>> {
    let tree = Node::parse(message).ok()?;
    let version = Version::from_namespace(&tree.name.namespace)?;
    let body = tree.element(version.namespace(), "Body")?.children.iter().find_map(|child| match child {
        Child::Element(node) => Some(node.name.clone()),
        Child::Text(_) => None,
    })?;
    let methods = lowered.operations.iter().filter_map(|operation| operation.method.as_ref().ok());
    let bodies = methods.flat_map(|method| {
        let element = &method.element;
        [Some((&element.request_name, element.request)), element.response_name.as_ref().zip(element.response)]
    });
    let (_, content) = bodies.flatten().find(|(name, _)| **name == body)?;
    Some(round_trip(lowered, version, &body, content, message))
}

/// Reads an envelope with this body, writes it, and reads it again.
fn round_trip(
    lowered: &Lowered,
    version: Version,
    body: &QName,
    content: ElementRef,
    message: &[u8],
) -> Result<(), String> {
    let mut schema = Schema::clone(&lowered.schema);
    let complex = |fields: Vec<Field>| {
        let (name, attributes) = (QName::default(), Vec::new().into());
        let fields = fields.into();
        Element::Complex(ComplexElement {
            name,
            compositor: Compositor::Sequence,
            fields,
            attributes,
            text: None,
            open: true,
            any_attribute: false,
            choices: Default::default(),
        })
    };
    let field = |name: QName, element, min| Field { name, element, min, max: Some(1), nillable: false, inline: false };
    let soap = |local: &'static str| QName::new(version.namespace(), local);
    let holder = schema.add(complex(vec![field(body.clone(), content, 1)]));
    let any = schema.add(Element::Any);
    let envelope = schema.add(complex(vec![field(soap("Header"), any, 0), field(soap("Body"), holder, 1)]));
    let view = schema.view(envelope);
    let read = |bytes: &[u8]| value_from_slice(bytes, &soap("Envelope"), view).map_err(|error| error.to_string());
    let value = read(message)?;
    let written = support::write(&soap("Envelope"), &value, view);
    let again = read(written.as_bytes())?;
    assert_eq!(support::without_bindings(again), support::without_bindings(value), "read otherwise once written");
    Ok(())
}
