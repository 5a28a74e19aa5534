//! One operation of a contract.

use super::{Contract, LookupError};
use crate::client::Parts;
use crate::json::{JsonWriter, Marked, ROOT, RequestList, TextError};
use crate::{JsonError, Request};
use deltasoap_core::schema::{ElementRef, View};
use deltasoap_core::soap::{PolicyDocuments, Version};
use deltasoap_core::{ListPath, ListPathError, Node, QName, Value};
use deltasoap_wsdl::lower::{LoweredOperation, Method};
use deltasoap_wsdl::wsdl::{self, Actions, AddressingPolicy, Binding, BoundHeader};
use serde_json::Value as Json;

/// An operation at a port.
#[derive(Debug, Clone)]
pub struct Operation {
    contract: Contract,
    /// Index among the lowered operations.
    index: usize,
    /// Service and port, if there is one.
    port: Option<(usize, usize)>,
}

impl Operation {
    pub(super) fn new(contract: &Contract, index: usize, port: Option<(usize, usize)>) -> Self {
        Operation { contract: contract.clone(), index, port }
    }

    fn lowered(&self) -> &LoweredOperation {
        &self.contract.types.lowered.operations[self.index]
    }

    /// Returns the contract that it belongs to.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.lowered().name
    }

    /// Returns its name if no other operation of its port type has it; otherwise the name followed
    /// by that of its input: `Operation:Input`.
    pub fn distinct_name(&self) -> String {
        match self.contract.types.overload(self.declared()) {
            Some(overload) => format!("{}:{overload}", self.name()),
            None => self.name().to_owned(),
        }
    }

    /// Returns `Service.Port.Operation`, or `Binding.Operation` without a port. The operation
    /// appears with its [distinct name](Self::distinct_name).
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.port_name(), self.distinct_name())
    }

    /// Returns `Service.Port`, or the binding's name without a port.
    pub fn port_name(&self) -> String {
        match (self.service(), self.port()) {
            (Some(service), Some(port)) => format!("{}.{}", service.name.local, port.name),
            _ => self.binding().name.local.to_string(),
        }
    }

    /// Returns the service that its port belongs to.
    pub fn service(&self) -> Option<&wsdl::Service> {
        Some(&self.contract.description().definitions().services[self.port?.0])
    }

    /// Returns its port.
    pub fn port(&self) -> Option<&wsdl::Port> {
        Some(&self.service()?.ports[self.port?.1])
    }

    /// Returns its binding.
    pub fn binding(&self) -> &Binding {
        &self.contract.description().definitions().bindings[self.lowered().binding]
    }

    /// Returns its binding operation.
    pub fn bound(&self) -> &wsdl::BoundOperation {
        &self.binding().operations[self.lowered().operation]
    }

    /// Returns its declaration in the port type.
    pub fn declaration(&self) -> &wsdl::Operation {
        let definitions = self.contract.description().definitions();
        &definitions.port_types[self.binding().port_type].operations[self.bound().operation]
    }

    /// Returns the indices of its port type and of the operation in it.
    pub(crate) fn declared(&self) -> (usize, usize) {
        (self.binding().port_type, self.bound().operation)
    }

    /// Returns the version of SOAP.
    pub fn version(&self) -> Version {
        self.binding().version
    }

    /// Returns the port's URL; `None` if the WSDL has none.
    pub fn address(&self) -> Option<&str> {
        self.port().map(|port| &*port.address).filter(|address| !address.is_empty())
    }

    /// Returns its documentation in the WSDL.
    pub fn documentation(&self) -> Option<&str> {
        self.declaration().documentation.as_deref()
    }

    /// Returns its messages.
    ///
    /// # Errors
    /// If they cannot be read and written.
    pub fn method(&self) -> Result<&Method, LookupError> {
        let unsupported = |reason: &String| LookupError::Unsupported { name: self.full_name(), reason: reason.clone() };
        self.lowered().method.as_ref().map_err(unsupported)
    }

    /// Returns the names of policy assertions for caller and server that are not supported here,
    /// except those of [`policies`](Self::policies).
    pub fn unmet_policies(&self) -> Vec<&str> {
        let all = self.binding().policy.required.iter().chain(&self.bound().policy.required);
        let mut unmet: Vec<&str> = Vec::new();
        for name in all.map(|name| &**name) {
            if !unmet.contains(&name) {
                unmet.push(name);
            }
        }
        unmet
    }

    /// Returns what the policies of the operation and its binding say about security. A
    /// [client](crate::DynamicClient) that does not meet them is not built.
    pub fn policies(&self) -> PolicyDocuments {
        self.bound().policy.security.documents(&self.binding().policy.security)
    }

    /// Returns what the policies of the operation and its binding say about WS-Addressing; `None`
    /// if they do not mention it.
    pub fn addressing(&self) -> Option<AddressingPolicy> {
        let policies = [self.binding().policy.addressing, self.bound().policy.addressing];
        let mut mentioned = policies.into_iter().flatten();
        let first = mentioned.next()?;
        Some(AddressingPolicy { is_required: first.is_required || mentioned.any(|other| other.is_required), ..first })
    }

    /// Returns the actions of its messages in WS-Addressing.
    pub fn addressing_actions(&self) -> Actions {
        self.contract.description().definitions().actions(self.binding(), self.bound())
    }

    /// Returns true if there is no response.
    pub fn is_one_way(&self) -> bool {
        self.declaration().response.is_none()
    }

    /// Returns the name and content of the request's body element; `None` if its messages cannot be
    /// read and written.
    pub fn request(&self) -> Option<(&QName, ElementRef)> {
        let element = &self.method().ok()?.element;
        Some((&element.request_name, element.request))
    }

    /// Returns the name and content of the response's body element; `None` also for one-way
    /// operations.
    pub fn response(&self) -> Option<(&QName, ElementRef)> {
        let element = &self.method().ok()?.element;
        element.response_name.as_ref().zip(element.response)
    }

    /// Returns the view of some content of its messages.
    pub fn view(&self, content: ElementRef) -> View<'_> {
        self.contract.view(content)
    }

    /// Creates a request from JSON.
    ///
    /// # Errors
    /// If the JSON does not match the operation's request. The error gives the position, and what
    /// was expected.
    pub fn request_from_json(&self, json: &Json) -> Result<Value, JsonError> {
        let (name, content) = self.request().ok_or_else(|| self.unusable())?;
        self.contract.from_json(name, content, json)
    }

    /// Creates a request from the text of its JSON.
    ///
    /// # Errors
    /// As for [`Contract::from_json_text`].
    pub fn request_from_text(&self, text: &str) -> Result<Value, TextError> {
        let (name, content) = self.request().ok_or_else(|| TextError::Json(self.unusable()))?;
        self.contract.from_json_text(name, content, text)
    }

    /// Returns a list of the operation's requests whose items come one by one, for
    /// [`Call::send_overlaid`](crate::Call::send_overlaid). `path` is the [path](ListPath) of the
    /// list; it may be omitted if there is only one.
    ///
    /// # Errors
    /// If there is no such list, or there are several.
    pub fn request_list(&self, path: Option<&str>) -> Result<RequestList, ListPathError> {
        RequestList::new(self, path)
    }

    /// Converts a request to JSON.
    ///
    /// # Errors
    /// If the value is not a request of this operation.
    pub fn request_to_json(&self, value: &Value) -> Result<Json, JsonError> {
        self.request_with_parts(value, &Parts::default())
    }

    /// Converts a request to JSON, with the bytes of the parts that it refers to.
    ///
    /// # Errors
    /// As for [`request_to_json`](Self::request_to_json).
    pub fn request_with_parts(&self, value: &Value, parts: &Parts) -> Result<Json, JsonError> {
        let (name, content) = self.request().ok_or_else(|| self.unusable())?;
        JsonWriter::new(&self.contract, value).with_parts(parts).content(value, content, name, &ROOT)
    }

    /// Creates a response from JSON.
    ///
    /// # Errors
    /// If the JSON does not match the operation's response.
    pub fn response_from_json(&self, json: &Json) -> Result<Value, JsonError> {
        let (name, content) = self.response().ok_or_else(|| self.unusable())?;
        self.contract.from_json(name, content, json)
    }

    /// Converts a response to JSON.
    ///
    /// # Errors
    /// If the value is not a response of this operation.
    pub fn response_to_json(&self, value: &Value) -> Result<Json, JsonError> {
        self.response_with_parts(value, &Parts::default())
    }

    /// Converts a response to JSON, with the parts that came with it.
    pub(crate) fn response_with_parts(&self, value: &Value, parts: &Parts) -> Result<Json, JsonError> {
        let (name, content) = self.response().ok_or_else(|| self.unusable())?;
        JsonWriter::new(&self.contract, value).with_parts(parts).content(value, content, name, &ROOT)
    }

    /// Converts a response to the text of its JSON.
    pub(crate) fn response_to_text(&self, value: &Value, parts: &Parts) -> Result<String, JsonError> {
        let (name, content) = self.response().ok_or_else(|| self.unusable())?;
        let marked = Marked::default();
        let writer = JsonWriter::new(&self.contract, value).with_parts(parts).with_marks(&marked);
        Ok(marked.to_text(&writer.content(value, content, name, &ROOT)?))
    }

    /// Converts items of a list in the operation's messages to JSON, each by itself: a value that
    /// several items share is written with each.
    ///
    /// # Errors
    /// If an item does not belong to the list at this path.
    pub fn items_to_json(&self, list: &ListPath, items: &[Value]) -> Result<Vec<Json>, JsonError> {
        let mut writer = JsonWriter::new(&self.contract, &Value::Absent);
        let mut all = Vec::with_capacity(items.len());
        for item in items {
            writer = writer.of_another(item);
            all.push(writer.item(item, list.item(), &ROOT.index(all.len()))?);
        }
        Ok(all)
    }

    /// Returns the names of the header blocks that the WSDL declares for requests.
    pub fn request_headers(&self) -> impl Iterator<Item = &QName> {
        let method = self.method().ok();
        method.into_iter().flat_map(|method| &method.request_headers).map(|field| &field.name)
    }

    /// Creates a header block of a request from the JSON of its content: one that the WSDL declares
    /// for the operation, or otherwise an element that the contract declares.
    ///
    /// # Errors
    /// If it is neither, or the JSON does not match its declaration.
    pub fn header_from_json(&self, name: &QName, json: &Json) -> Result<Node, JsonError> {
        let messages = &self.contract.description().definitions().messages;
        let is_known = |it: &&BoundHeader| messages[it.message].parts.iter().any(|part| part.name == it.part);
        let bound = self.bound().request.iter().flat_map(|how| &how.headers).filter(is_known);
        let fields = self.method().map_or(&[][..], |method| &method.request_headers);
        match fields.iter().zip(bound).find(|(field, _)| field.name == *name) {
            Some((field, how)) => self.contract.node_from_json(name, field.element, how.encoding, json),
            None => self.contract.element_from_json(name, json),
        }
    }

    /// Converts a header block of a response to JSON, as [`Contract::element_to_json`]; also a
    /// block that is declared by its type.
    pub fn header_to_json(&self, node: &Node) -> Json {
        let headers = self.method().map_or(&[][..], |method| &method.response_headers);
        match headers.iter().find(|field| field.name == node.name) {
            Some(field) => self.contract.node_to_json(node, Some(field.element)),
            None => self.contract.element_to_json(node),
        }
    }

    /// Starts to build a request.
    pub fn build(&self) -> Request<'_> {
        Request::new(self)
    }

    #[cold]
    fn unusable(&self) -> JsonError {
        JsonError::new(&crate::json::ROOT, "an operation with such a message", self.full_name())
    }
}
