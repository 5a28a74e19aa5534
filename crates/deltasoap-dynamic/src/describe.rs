//! Readable descriptions of contracts: operations, elements and types with occurrence, facets and
//! documentation.
//!
//! A description is first built as a [`Component`], which is then printed as text with columns, or
//! as JSON.

mod parts;
mod text;

use crate::{Contract, LookupError, Operation};
use deltasoap_core::QName;
use deltasoap_core::schema::{Style, Use};
use deltasoap_core::soap::Version;
use deltasoap_wsdl::wsdl::PartContent;
use deltasoap_wsdl::xsd::{ElementId, TypeId};
pub(crate) use parts::Describer;
use serde_json::{Map, Value as Json, json};

/// A component of a description.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Component {
    /// Its kind: `operation`, `element`, `attribute`, `type`, `choice`, `request` and so on.
    pub kind: &'static str,
    /// Its name, without a namespace; empty for groups.
    pub name: String,
    /// Its namespace, if it is a standalone component.
    pub namespace: String,
    /// The name of its type; empty if it has none.
    pub type_name: String,
    /// Its minimum and maximum occurrence; `None` if that does not apply.
    pub occurs: Option<(u32, Option<u32>)>,
    /// Facets and other facts, in a few words each.
    pub facts: Vec<String>,
    /// Its documentation in the WSDL.
    pub documentation: String,
    /// Its parts.
    pub parts: Vec<Component>,
}

impl Component {
    /// Returns the part as lines of text, each with a line end.
    pub fn to_text(&self) -> String {
        text::print(self)
    }

    /// Returns the part as JSON, without empty values.
    pub fn to_json(&self) -> Json {
        let mut object = Map::new();
        let texts = [
            ("kind", self.kind),
            ("name", &*self.name),
            ("namespace", &*self.namespace),
            ("type", &*self.type_name),
            ("documentation", &*self.documentation),
        ];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        object.extend(texts.map(|(key, text)| (key.to_owned(), json!(text))));
        if let Some((min, max)) = self.occurs {
            object.insert("min".to_owned(), json!(min));
            object.insert("max".to_owned(), max.map_or(json!("unbounded"), |max| json!(max)));
        }
        if !self.facts.is_empty() {
            object.insert("facts".to_owned(), json!(self.facts));
        }
        if !self.parts.is_empty() {
            object.insert("parts".to_owned(), self.parts.iter().map(Component::to_json).collect());
        }
        Json::Object(object)
    }
}

impl Contract {
    /// Describes the operations, elements and types with a name, with or without a namespace
    /// (`{urn:x}Name`). Returns several parts if several have the name, and none if nothing has it.
    pub fn describe(&self, name: &str) -> Vec<Component> {
        let operations = match self.operation(name) {
            Ok(operation) => vec![operation],
            Err(LookupError::Ambiguous { names, .. }) => {
                names.iter().filter_map(|name| self.operation(name).ok()).collect()
            }
            Err(_) => Vec::new(),
        };
        let mut parts: Vec<Component> = operations.iter().map(Operation::describe).collect();
        let describer = Describer::new(&self.types);
        let schemas = self.types.import.schemas();
        let has_name = |other: &QName| *other.local == *name || other.to_string() == name;
        let elements = schemas.elements().filter(|(_, it)| it.is_global && has_name(&it.name));
        parts.extend(elements.map(|(id, _)| describer.global(id)));
        let types = schemas.types().filter(|(_, it)| it.place.is_some() && it.name.as_ref().is_some_and(has_name));
        parts.extend(types.map(|(id, _)| describer.global_type(id)));
        parts
    }

    /// Returns at most ten names that [`describe`](Self::describe) knows and that resemble this
    /// one.
    pub fn similar_names(&self, name: &str) -> Vec<String> {
        const MAX_NAMES: usize = 10;
        let schemas = self.types.import.schemas();
        let lowercase = name.to_lowercase();
        let operations = self.operations().into_iter().map(|it| it.distinct_name());
        let elements = schemas.elements().filter(|(_, it)| it.is_global).map(|(_, it)| it.name.local.to_string());
        let types = schemas.types().filter(|(_, it)| it.place.is_some());
        let types = types.filter_map(|(_, it)| Some(it.name.as_ref()?.local.to_string()));
        let all = operations.chain(elements).chain(types);
        let mut names: Vec<_> = all.filter(|it| it.to_lowercase().contains(&lowercase)).collect();
        names.sort_by_key(|name| (name.len(), name.clone()));
        names.dedup();
        names.truncate(MAX_NAMES);
        names
    }
}

impl Operation {
    /// Describes the operation with its messages.
    pub fn describe(&self) -> Component {
        let bound = self.bound();
        let style = if bound.style == Style::Rpc { "rpc" } else { "document" };
        let is_encoded = bound.request.as_ref().is_some_and(|input| input.encoding == Use::Encoded);
        let mut facts = vec![
            if self.version() == Version::Soap12 { "SOAP 1.2" } else { "SOAP 1.1" }.to_owned(),
            format!("{style}/{}", if is_encoded { "encoded" } else { "literal" }),
        ];
        if let Some(policy) = self.addressing() {
            facts.push(if policy.is_required { "requires WS-Addressing" } else { "supports WS-Addressing" }.to_owned());
        }
        let policies = self.policies();
        if !policies.required.is_empty() {
            facts.push(format!("requires {}", policies.required));
        }
        if !bound.action.is_empty() {
            facts.push(format!("action {}", bound.action));
        }
        facts.extend(self.address().map(|address| format!("at {address}")));
        if self.is_one_way() {
            facts.push("one-way".to_owned());
        }
        facts.extend(self.method().err().map(|error| error.to_string()));
        Component {
            kind: "operation",
            name: self.full_name(),
            facts,
            documentation: self.documentation().map(parts::one_line).unwrap_or_default(),
            parts: self.messages(),
            ..Component::default()
        }
    }

    fn messages(&self) -> Vec<Component> {
        let declared = self.declaration();
        let bound = self.bound();
        let mut all = Vec::new();
        for (kind, parameter, how) in
            [("request", &declared.request, &bound.request), ("response", &declared.response, &bound.response)]
        {
            let Some(index) = parameter.as_ref().map(|it| it.message) else { continue };
            let is_in_body = |part: &str| how.as_ref().is_none_or(|how| how.is_in_body(index, part));
            all.push(self.message(kind, index, is_in_body));
        }
        let headers = [("request header", &bound.request), ("response header", &bound.response)];
        for (kind, headers) in
            headers.into_iter().flat_map(|(kind, how)| how.iter().map(move |how| (kind, &how.headers)))
        {
            for header in headers {
                all.push(self.message(kind, header.message, |part| *part == *header.part));
                let of_faults = header.faults.iter();
                all.extend(
                    of_faults.map(|(message, name)| self.message("header of a fault", *message, |it| *it == **name)),
                );
            }
        }
        all.extend(declared.faults.iter().map(|it| self.message("fault", it.message, |_| true)));
        all
    }

    /// Describes a message, or those of its parts for which `is_there` returns true.
    fn message(&self, kind: &'static str, message: usize, is_there: impl Fn(&str) -> bool) -> Component {
        let contract = self.contract();
        let describer = Describer::new(&contract.types);
        let message = &contract.description().definitions().messages[message];
        let parts = message.parts.iter().filter(|part| is_there(&part.name)).map(|part| match &part.content {
            PartContent::Element(_, Some(id)) => describer.global(*id),
            PartContent::Element(name, None) => undeclared(name),
            PartContent::Type(id) => describer.parameter(&part.name, *id),
        });
        Component { kind, name: message.name.local.to_string(), parts: parts.collect(), ..Component::default() }
    }
}

fn undeclared(name: &QName) -> Component {
    let facts = vec!["not declared: any content".to_owned()];
    Component {
        kind: "element",
        name: name.local.to_string(),
        namespace: name.namespace.to_string(),
        facts,
        ..Component::default()
    }
}

/// For callers that identify elements and types by number.
impl Contract {
    /// Describes a global element.
    pub fn describe_element(&self, id: ElementId) -> Component {
        Describer::new(&self.types).global(id)
    }

    /// Describes a type.
    pub fn describe_type(&self, id: TypeId) -> Component {
        Describer::new(&self.types).global_type(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Describes an operation whose message has two parts, one of which is a header block.
    fn described(body: &str) -> Component {
        let text = format!(
            "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' \
             xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'><types>\
             <xs:schema targetNamespace='urn:t'><xs:element name='Op' type='xs:int'/><xs:element name='Token' type='xs:string'/>\
             </xs:schema></types><message name='I'><part name='token' element='t:Token'/><part name='body' element='t:Op'/>\
             </message><message name='F'><part name='expired' type='xs:date'/></message><portType name='P'><operation name='Op'><input message='t:I'/></operation></portType>\
             <binding name='B' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='Op'>\
             <soap:operation soapAction=''/><input><soap:header message='t:I' part='token' use='literal'>\
             <soap:headerfault message='t:F' part='expired' use='literal'/></soap:header>{body}</input>\
             </operation></binding></definitions>"
        );
        Contract::from_text(&text).expect("a description").operation("Op").expect("an operation").describe()
    }

    #[test]
    fn header_blocks_are_no_part_of_the_body() {
        for body in ["<soap:body use='literal'/>", "<soap:body use='literal' parts='body'/>"] {
            let parts = described(body).parts;
            let names = |part: &Component| part.parts.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
            let shown: Vec<_> = parts.iter().map(|part| (part.kind, names(part))).collect();
            let expected = [("request", "Op"), ("request header", "Token"), ("header of a fault", "expired")];
            assert_eq!(shown, expected.map(|(kind, name)| (kind, vec![name.to_owned()])), "{body}");
        }
    }
}
