//! Metadata of operations in a WSDL that the service's own code may not contain: their
//! documentation and actions.
//!
//! An operation of the WSDL belongs to the service's operation that takes its body element: the
//! element of the message's first part, or, in rpc style, one named after the operation in the
//! namespace of the binding.

use super::document::{BINDINGS, WSDL};
use deltasoap_core::QName;
use deltasoap_core::soap::addressing::{Addressing, default_action, default_fault_action};
use deltasoap_xml::{Attribute, Node, Owned};
use std::collections::HashMap;

/// Metadata of a service and its operations, collected from all documents of a WSDL.
#[derive(Debug, Default)]
pub(crate) struct ServiceMetadata {
    /// The documentation of the service.
    pub(crate) documentation: String,
    /// That of the document that is being read.
    target_namespace: String,
    /// Messages by local name, with the element of the first part that has one.
    elements: HashMap<String, QName>,
    /// Operations by local name.
    operations: HashMap<String, WsdlOperation>,
}

/// An operation of the WSDL, collected from several elements.
#[derive(Debug, Default)]
struct WsdlOperation {
    documentation: String,
    /// The target namespace and the name of its port type.
    port_type: (String, String),
    input: WsdlMessage,
    output: Option<WsdlMessage>,
    faults: Vec<WsdlMessage>,
    /// The actions of its bindings.
    actions: Vec<String>,
    /// The namespace of its body in rpc style.
    namespace: String,
}

/// An input, an output or a fault of an operation.
#[derive(Debug, Default)]
struct WsdlMessage {
    /// Its name, which may be empty.
    name: String,
    /// The local name of its message.
    message: String,
    /// Its action in WS-Addressing; `None` for the default one.
    action: Option<String>,
}

/// Metadata of one operation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OperationMetadata {
    /// Its documentation; empty for none.
    pub(crate) documentation: String,
    /// Its action; empty if there is none, or if its bindings have several.
    pub(crate) action: String,
    /// The actions of its messages in WS-Addressing.
    pub(crate) addressing: Actions,
}

/// The actions of an operation's messages in WS-Addressing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Actions {
    /// That of the request; empty if it is not known.
    pub(crate) request: String,
    /// That of the response; `None` if it is not known.
    pub(crate) response: Option<String>,
    /// Those of faults, by the element in their detail.
    pub(crate) faults: Vec<(QName, String)>,
}

impl ServiceMetadata {
    /// Returns the metadata of the operation that takes a body element.
    pub(crate) fn find(&self, element: &QName) -> OperationMetadata {
        let takes_element =
            |(name, operation): &(&String, &WsdlOperation)| match self.elements.get(&operation.input.message) {
                Some(input) => input == element,
                None => **name == *element.local && operation.namespace == element.namespace,
            };
        let Some((name, operation)) = self.operations.iter().find(takes_element) else {
            return OperationMetadata::default();
        };
        let action = operation.actions.first();
        let action = action.filter(|first| operation.actions.iter().all(|action| action == *first));
        let action = action.cloned().unwrap_or_default();
        let addressing = self.actions(name, operation, &action);
        OperationMetadata { documentation: operation.documentation.clone(), action, addressing }
    }

    /// Returns the actions of an operation's messages: those in the WSDL, for the request also that
    /// of HTTP, else the default ones (WS-Addressing 1.0 Metadata, 4.4).
    fn actions(&self, name: &str, operation: &WsdlOperation, action: &str) -> Actions {
        let (namespace, port_type) = &operation.port_type;
        let default = |message: &WsdlMessage, suffix: &str| match &*message.name {
            "" => default_action(namespace, port_type, &format!("{name}{suffix}")),
            own => default_action(namespace, port_type, own),
        };
        let input = &operation.input;
        let of_input = || match action {
            // The name of a one-way message defaults to that of its operation (WSDL 1.1, 2.4.5).
            "" => default(input, if operation.output.is_some() { "Request" } else { "" }),
            action => action.to_owned(),
        };
        let of_output = |output: &WsdlMessage| output.action.clone().unwrap_or_else(|| default(output, "Response"));
        let of_fault = |fault: &WsdlMessage| {
            let action = fault.action.clone();
            let action = action.unwrap_or_else(|| default_fault_action(namespace, port_type, name, &fault.name));
            Some((self.elements.get(&fault.message)?.clone(), action))
        };
        Actions {
            request: input.action.clone().unwrap_or_else(of_input),
            response: operation.output.as_ref().map(of_output),
            faults: operation.faults.iter().filter_map(of_fault).collect(),
        }
    }

    /// Adds the metadata of a document.
    pub(super) fn read(&mut self, nodes: &[Node]) {
        let mut walk = Walk::default();
        for node in nodes {
            match node {
                Node::Start { name, attributes, declarations, .. } => {
                    walk.open(name, attributes, declarations);
                    self.note(&walk, attributes);
                }
                Node::Text(text) => self.note_text(&walk, text),
                Node::End => walk.close(),
            }
        }
    }

    fn note(&mut self, walk: &Walk<'_>, attributes: &[Attribute]) {
        let path: Vec<&str> = walk.path.iter().map(|open| open.local).collect();
        match path[..] {
            ["definitions", "message", "part"] => {
                let element = attribute(attributes, "element").and_then(|text| walk.resolve(text));
                if let (Some(element), Some(message)) = (element, walk.name_at(1)) {
                    self.elements.entry(message.to_owned()).or_insert(element);
                }
            }
            ["definitions"] => {
                self.target_namespace = attribute(attributes, "targetNamespace").unwrap_or_default().to_owned();
            }
            ["definitions", "portType", "operation", kind @ ("input" | "output" | "fault")] => {
                let message = WsdlMessage::from_attributes(attributes);
                let port_type = (self.target_namespace.clone(), walk.name_at(1).unwrap_or_default().to_owned());
                let operation = self.current(walk);
                operation.port_type = port_type;
                match kind {
                    "input" => operation.input = message,
                    "output" => operation.output = Some(message),
                    _ => operation.faults.push(message),
                }
            }
            ["definitions", "binding", "operation", "soap:operation"] => {
                let action = attribute(attributes, "soapAction").filter(|action| !action.is_empty());
                self.current(walk).actions.extend(action.map(str::to_owned));
            }
            ["definitions", "binding", "operation", "input", "soap:body"] => {
                if let Some(namespace) = attribute(attributes, "namespace") {
                    self.current(walk).namespace = namespace.to_owned();
                }
            }
            _ => {}
        }
    }

    fn note_text(&mut self, walk: &Walk<'_>, text: &str) {
        let path: Vec<&str> = walk.path.iter().map(|open| open.local).collect();
        match path[..] {
            ["definitions", "portType", "operation", "documentation"] => {
                note_first(&mut self.current(walk).documentation, text);
            }
            ["definitions", "service", "documentation"] => note_first(&mut self.documentation, text),
            _ => {}
        }
    }

    /// Returns the current operation of the walk.
    fn current(&mut self, walk: &Walk<'_>) -> &mut WsdlOperation {
        self.operations.entry(walk.name_at(2).unwrap_or_default().to_owned()).or_default()
    }
}

impl WsdlMessage {
    fn from_attributes(attributes: &[Attribute]) -> Self {
        let addressing = attributes.iter().find(|it| it.name.local == "Action" && is_addressing(&it.name.namespace));
        let action = addressing.map(|it| it.value.trim()).filter(|action| !action.is_empty());
        WsdlMessage {
            name: attribute(attributes, "name").unwrap_or_default().to_owned(),
            message: attribute(attributes, "message").map_or("", local).to_owned(),
            action: action.map(str::to_owned),
        }
    }
}

/// Returns true for the namespace of WS-Addressing in WSDL, or one of its drafts.
fn is_addressing(namespace: &str) -> bool {
    let is_draft = namespace.starts_with("http://www.w3.org/") && namespace.ends_with("/addressing/wsdl");
    namespace == "http://www.w3.org/2007/05/addressing/metadata"
        || is_draft
        || Addressing::from_namespace(namespace).is_some()
}

/// Stores text on one line, unless there is text already.
fn note_first(place: &mut String, text: &str) {
    if place.is_empty() {
        *place = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

fn attribute<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a str> {
    let found = attributes.iter().find(|found| found.name.namespace.is_empty() && found.name.local == name);
    found.map(|found| found.value.as_str())
}

/// Returns the local part of a name with a prefix.
fn local(name: &str) -> &str {
    name.trim().rsplit_once(':').map_or(name.trim(), |(_, local)| local)
}

/// The open elements.
#[derive(Default)]
struct Walk<'n> {
    path: Vec<Open<'n>>,
}

struct Open<'n> {
    /// Its local name, prefixed with `soap:` for those of a SOAP binding; empty for irrelevant
    /// elements.
    local: &'n str,
    /// Its attribute `name`.
    name: Option<&'n str>,
    declarations: &'n [(String, String)],
}

impl<'n> Walk<'n> {
    fn open(&mut self, name: &'n Owned, attributes: &'n [Attribute], declarations: &'n [(String, String)]) {
        let local = match (name.namespace.as_str(), name.local.as_str()) {
            (WSDL, local) => local,
            (namespace, "operation") if BINDINGS.contains(&namespace) => "soap:operation",
            (namespace, "body") if BINDINGS.contains(&namespace) => "soap:body",
            _ => "",
        };
        self.path.push(Open { local, name: attribute(attributes, "name"), declarations });
    }

    fn close(&mut self) {
        self.path.pop();
    }

    fn name_at(&self, depth: usize) -> Option<&'n str> {
        self.path.get(depth)?.name
    }

    /// Resolves a QName with a prefix.
    fn resolve(&self, text: &str) -> Option<QName> {
        let (prefix, local) = text.trim().split_once(':').unwrap_or(("", text.trim()));
        let mut bindings = self.path.iter().rev().flat_map(|open| open.declarations.iter().rev());
        let namespace = bindings.find(|(bound, _)| bound == prefix).map(|(_, namespace)| namespace.as_str());
        let namespace = if prefix.is_empty() { namespace.unwrap_or("") } else { namespace? };
        Some(QName::owned(namespace, local))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltasoap_xml::{Instructions, Limits, nodes};

    const TEXT: &str = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:t" targetNamespace="urn:t"
        xmlns:a="http://www.w3.org/2007/05/addressing/metadata"
        xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:s2="http://schemas.xmlsoap.org/wsdl/soap12/">
        <message name="AskIn"><part name="p" element="e:Ask" xmlns:e="urn:e"/></message>
        <message name="Fault"><part name="p" element="e:Fault" xmlns:e="urn:e"/></message>
        <message name="RpcIn"><part name="p" type="t:x"/></message>
        <portType name="P">
          <operation name="ask"><documentation>Asks
             a question.</documentation><input message="t:AskIn"/><output message="t:None" name="Told"/>
             <fault name="F" message="t:Fault"/><fault name="G" message="t:AskIn" a:Action="urn:g"/></operation>
          <operation name="rpc"><documentation>By rpc</documentation><input message="t:RpcIn"/></operation>
        </portType>
        <binding name="B" type="t:P">
          <operation name="ask"><s:operation soapAction="urn:ask"/></operation>
          <operation name="rpc"><s:operation soapAction="urn:rpc"/><input><s:body namespace="urn:r"/></input></operation>
        </binding>
        <binding name="B2" type="t:P">
          <operation name="ask"><s2:operation soapAction="urn:ask"/></operation>
          <operation name="rpc"><s2:operation soapAction="urn:rpc2"/></operation>
        </binding>
        <service name="S"><documentation>Answers.</documentation></service></definitions>"#;

    #[test]
    fn metadata_belongs_to_body_elements() {
        let mut metadata = ServiceMetadata::default();
        metadata.read(&nodes(TEXT.as_bytes(), Limits::default(), Instructions::Skip).expect("well-formed"));
        let operation = |documentation: &str, action: &str| OperationMetadata {
            documentation: documentation.to_owned(),
            action: action.to_owned(),
            addressing: Actions::default(),
        };
        let find = |namespace, local| OperationMetadata {
            addressing: Actions::default(),
            ..metadata.find(&QName::new(namespace, local))
        };
        assert_eq!(find("urn:e", "Ask"), operation("Asks a question.", "urn:ask"));
        assert_eq!(find("urn:r", "rpc"), operation("By rpc", ""), "bindings give several actions");
        assert_eq!(metadata.find(&QName::new("urn:t", "Ask")), OperationMetadata::default());
        assert_eq!(metadata.find(&QName::new("urn:e", "ask")), OperationMetadata::default());
        assert_eq!(metadata.documentation, "Answers.");
        let addressing = |namespace, local| metadata.find(&QName::new(namespace, local)).addressing;
        let faults = [("Fault", "urn:t:P:ask:Fault:F"), ("Ask", "urn:g")];
        let faults = faults.map(|(local, action)| (QName::new("urn:e", local), action.to_owned()));
        let asking = Actions {
            request: "urn:ask".to_owned(),
            response: Some("urn:t:P:Told".to_owned()),
            faults: faults.to_vec(),
        };
        assert_eq!(addressing("urn:e", "Ask"), asking);
        let one_way = Actions { request: "urn:t:P:rpc".to_owned(), ..Actions::default() };
        assert_eq!(addressing("urn:r", "rpc"), one_way);
    }
}
