//! Recorded messages, read by the types generated for their WSDLs, written, and read again.
//!
//! `DELTASOAP_WSDL_CORPUS=DIR DELTASOAP_MESSAGE_CORPUS=DIR cargo test -p deltasoap-codegen --test
//! it messages -- --ignored --nocapture`; without the variables it uses `testdata`. A message is
//! read by the WSDLs in its own directory that have its body's element, else by those in its
//! repository, else by any. Messages that do not conform to their WSDLs are listed in
//! `known_failures.txt`, each with the reason. The generated program stays in
//! `target/codegen-messages`.

use crate::support::compile::{compile, files, folder, put, target};
use deltasoap_codegen::Builder;
use deltasoap_wsdl::{Import, Importer};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use syn::parse::ParseBuffer;
use syn::{Item, LitStr, Meta};

/// The namespace and the local name of an element.
type Name = (String, String);

/// A WSDL, and the body elements of its messages.
struct Description {
    path: String,
    import: Import,
    /// Elements, and the operations that use them.
    elements: BTreeMap<Name, BTreeSet<String>>,
}

/// A message, and the WSDLs that have its element.
struct Message {
    path: PathBuf,
    element: Name,
    descriptions: Vec<usize>,
}

#[test]
#[ignore = "compiles a large program"]
fn recorded_messages_round_trip() {
    let descriptions = descriptions(&folder("DELTASOAP_WSDL_CORPUS", "../../testdata/wsdl"));
    let messages = messages(&folder("DELTASOAP_MESSAGE_CORPUS", "../../testdata/messages"), &descriptions);
    let program = Program::of(&descriptions, &messages);
    let file = target("codegen-messages").join("main.rs");
    put(&file, &program.text);
    let built = compile(&file, &["--crate-type", "bin"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let (mut good, mut known, mut wrong) = (0, 0, 0);
    for message in &messages {
        match (program.run(&file.with_extension(""), message), known_failure(&message.path)) {
            (Ok(()), None) => good += 1,
            (Err(_), Some(_)) => known += 1,
            // Perhaps by a WSDL outside of its own directory.
            (Ok(()), Some(why)) => {
                good += 1;
                println!("GOOD AFTER ALL\t{}\t{why}", message.path.display());
            }
            (Err(why), None) => {
                wrong += 1;
                println!("FAILED\t{}\t{}", message.path.display(), why.join("\t"));
            }
        }
    }
    println!(
        "{} messages with a description: {good} round trips, {known} known failures, {wrong} others",
        messages.len()
    );
    assert_eq!(good + known, messages.len());
}

/// Returns the known reason why a message is not read.
fn known_failure(message: &Path) -> Option<&'static str> {
    let lines = include_str!("../known_failures.txt").lines().filter_map(|line| line.split_once('\t'));
    lines.filter(|(name, _)| message.ends_with(name)).map(|(_, why)| why).next()
}

fn descriptions(folder: &Path) -> Vec<Description> {
    let read = |path: String| {
        let importer = Importer::new().offline().root(folder.join(path.split('/').next().unwrap_or_default()));
        let import = importer.file(&folder.join(&path)).ok()?;
        let elements = elements(&import);
        Some(Description { path, import, elements })
    };
    files(folder, &["wsdl", "xsd"]).into_iter().filter_map(read).collect()
}

/// Returns the elements of bodies; without operations, all global elements.
fn elements(import: &Import) -> BTreeMap<Name, BTreeSet<String>> {
    let mut elements = BTreeMap::<Name, BTreeSet<String>>::new();
    for operation in &import.lower().operations {
        let Ok(method) = &operation.method else { continue };
        for element in [Some(&method.element.request_name), method.element.response_name.as_ref()].into_iter().flatten()
        {
            let key = (element.namespace.to_string(), element.local.to_string());
            elements.entry(key).or_default().insert(operation.name.to_string());
        }
    }
    if import.definitions().bindings.is_empty() {
        for (_, element) in import.schemas().elements().filter(|(_, element)| element.is_global) {
            elements.insert((element.name.namespace.to_string(), element.name.local.to_string()), BTreeSet::new());
        }
    }
    elements
}

/// Returns the messages whose element is in a WSDL.
fn messages(folder: &Path, descriptions: &[Description]) -> Vec<Message> {
    let mut known = HashMap::<&Name, Vec<usize>>::new();
    for (index, description) in descriptions.iter().enumerate() {
        description.elements.keys().for_each(|name| known.entry(name).or_default().push(index));
    }
    let mut messages = Vec::new();
    for path in files(folder, &["xml"]) {
        let Some(element) = std::fs::read_to_string(folder.join(&path)).ok().and_then(|text| body(&text)) else {
            continue;
        };
        let near = known.get(&element).map(|all| nearest(&path, all, descriptions)).unwrap_or_default();
        if !near.is_empty() {
            messages.push(Message { path: folder.join(&path), element, descriptions: near });
        }
    }
    messages
}

/// Returns the element in the body of an envelope; `None` for faults.
fn body(text: &str) -> Option<Name> {
    let document = roxmltree::Document::parse(text).ok()?;
    let body = document.root_element().children().find(|node| node.tag_name().name() == "Body")?;
    let name = body.children().find(roxmltree::Node::is_element)?.tag_name();
    (name.name() != "Fault").then(|| (name.namespace().unwrap_or_default().to_owned(), name.name().to_owned()))
}

/// Returns the WSDLs in the message's own directory; else those in its repository, else any, else
/// schemas.
fn nearest(message: &str, all: &[usize], descriptions: &[Description]) -> Vec<usize> {
    let directory = |path: &str| path.rsplit_once('/').map(|(front, _)| front.to_owned());
    let repository = |path: &str| path.split('/').next().map(str::to_owned);
    let that = |is_near: &dyn Fn(&str) -> bool| -> Vec<usize> {
        all.iter().copied().filter(|&index| is_near(&descriptions[index].path)).collect()
    };
    let same_directory = that(&|path| directory(path) == directory(message));
    let same_repository = that(&|path| path.ends_with(".wsdl") && repository(path) == repository(message));
    let wsdl = that(&|path| path.ends_with(".wsdl"));
    let found = [same_directory, same_repository, wsdl, all.to_vec()].into_iter().find(|found| !found.is_empty());
    found.unwrap_or_default().into_iter().take(4).collect()
}

/// A program that reads and writes messages.
struct Program {
    text: String,
    /// The number of the type for each WSDL and element.
    types: HashMap<(usize, Name), usize>,
}

impl Program {
    fn of(descriptions: &[Description], messages: &[Message]) -> Self {
        let mut wanted = BTreeMap::<usize, BTreeSet<&Name>>::new();
        for message in messages {
            message
                .descriptions
                .iter()
                .for_each(|&index| _ = wanted.entry(index).or_default().insert(&message.element));
        }
        let mut program = Program { text: include_str!("support/round_trip.rs").to_owned(), types: HashMap::new() };
        let mut table = String::new();
        for (index, names) in wanted {
            let description = &descriptions[index];
            let operations: BTreeSet<&String> = names.iter().flat_map(|name| &description.elements[*name]).collect();
            let builder = Builder::new(&description.path).operations(operations);
            let code = builder.generate_for(&description.import).expect("generated").code;
            let paths = types(&code);
            for name in names {
                let Some(path) = paths.get(name) else { continue };
                let _ = writeln!(table, "    round_trip::<m{index}{path}>,");
                program.types.insert((index, name.clone()), program.types.len());
            }
            let _ = writeln!(program.text, "mod m{index} {{\n{code}\n}}");
        }
        let _ = writeln!(program.text, "const TYPES: &[fn(&[u8]) -> Result<(), String>] = &[\n{table}];");
        program
    }

    /// Returns `Ok` if the types of one WSDL read the message; otherwise the error of each WSDL.
    fn run(&self, program: &Path, message: &Message) -> Result<(), Vec<String>> {
        let mut why = Vec::new();
        for &index in &message.descriptions {
            let Some(number) = self.types.get(&(index, message.element.clone())) else {
                why.push(format!("no type for {:?}", message.element));
                continue;
            };
            let output = Command::new(program).arg(number.to_string()).arg(&message.path).output().expect("it runs");
            if output.status.success() {
                return Ok(());
            }
            why.push(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned());
        }
        Err(why)
    }
}

/// Returns the paths of all types that have an element, as `::module::Type`.
fn types(code: &str) -> HashMap<Name, String> {
    let mut types = HashMap::new();
    let mut ahead = vec![(String::new(), syn::parse_file(code).expect("Rust").items)];
    while let Some((path, items)) = ahead.pop() {
        for item in items {
            match item {
                Item::Mod(module) => {
                    let inner = module.content.map(|(_, items)| items).unwrap_or_default();
                    ahead.push((format!("{path}::{}", module.ident), inner));
                }
                Item::Struct(item) => types.extend(element(&item.attrs, &item.ident, &path)),
                Item::Enum(item) => types.extend(element(&item.attrs, &item.ident, &path)),
                _ => {}
            }
        }
    }
    types
}

/// Returns the element that `#[soap(...)]` gives a type.
fn element(attributes: &[syn::Attribute], ident: &syn::Ident, path: &str) -> Option<(Name, String)> {
    let (mut namespace, mut name, mut element, mut is_message) = (String::new(), ident.to_string(), None, false);
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("soap")) {
        let Meta::List(list) = &attribute.meta else { continue };
        list.parse_nested_meta(|meta| {
            is_message |= meta.path.is_ident("message");
            if meta.path.is_ident("response") {
                return meta.value()?.parse::<syn::Type>().map(drop);
            }
            let Ok(value) = meta.value().and_then(ParseBuffer::parse::<LitStr>) else { return Ok(()) };
            match meta.path.get_ident().map(ToString::to_string).as_deref() {
                Some("namespace") => namespace = value.value(),
                Some("name") => name = value.value(),
                Some("element") => element = Some(value.value()),
                _ => {}
            }
            Ok(())
        })
        .expect("attributes of ours");
    }
    let local = element.or(is_message.then_some(name))?;
    Some(((namespace, local), format!("{path}::{ident}")))
}
