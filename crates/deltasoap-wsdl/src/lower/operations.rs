//! Operations and the content of their messages.

use super::{Lowering, Work};
use crate::wsdl::{Binding, BoundHeader, BoundMessage, BoundOperation, Message, Part, PartContent};
use crate::xsd::TypeId;
use deltasoap_core::QName;
use deltasoap_core::schema::{ComplexElement, Compositor, Element, ElementRef, Field, MethodElement, Style, Use};

/// An operation of a SOAP binding.
#[derive(Debug, Clone)]
pub struct LoweredOperation {
    /// Its name.
    pub name: Box<str>,
    /// Index of the binding in [`Definitions::bindings`](crate::Definitions::bindings).
    pub binding: usize,
    /// Index among the binding's operations.
    pub operation: usize,
    /// Its messages, or the reason why they cannot be read and written.
    pub method: Result<Method, String>,
}

/// The messages of an operation.
#[derive(Debug, Clone)]
pub struct Method {
    /// Bodies, faults and action.
    pub element: MethodElement,
    /// Header blocks of the request; all are optional.
    pub request_headers: Vec<Field>,
    /// Header blocks of the response; all are optional.
    pub response_headers: Vec<Field>,
}

/// A body's element: name and content. Without a name, the fields of the content are directly in
/// the body.
type Body = (QName, ElementRef);

impl Lowering<'_> {
    pub(super) fn operations(&mut self) -> Vec<LoweredOperation> {
        let mut operations = Vec::new();
        for (index, binding) in self.definitions.bindings.iter().enumerate() {
            for (number, bound) in binding.operations.iter().enumerate() {
                let name = self.declared(binding, bound).name.clone();
                let method = self.method(binding, bound);
                operations.push(LoweredOperation { name, binding: index, operation: number, method });
            }
        }
        operations
    }

    fn declared(&self, binding: &Binding, bound: &BoundOperation) -> &crate::wsdl::Operation {
        &self.definitions.port_types[binding.port_type].operations[bound.operation]
    }

    fn method(&mut self, binding: &Binding, bound: &BoundOperation) -> Result<Method, String> {
        let declared = self.declared(binding, bound).clone();
        let Some(request) = declared.request.as_ref() else { return Err("it has no messages".to_owned()) };
        let (request_name, request) = self.body(&declared.name, bound, request.message, bound.request.as_ref())?;
        let response_element = format!("{}Response", declared.name);
        let response = match &declared.response {
            Some(output) => Some(self.body(&response_element, bound, output.message, bound.response.as_ref())?),
            None => None,
        };
        let (response_name, response) = response.unzip();
        let headers = |how: Option<&BoundMessage>| how.map_or(0, |how| how.headers.len());
        let of_faults: usize =
            declared.faults.iter().map(|fault| self.definitions.messages[fault.message].parts.len()).sum();
        self.reserve_parts(of_faults + headers(bound.request.as_ref()) + headers(bound.response.as_ref()))?;
        let request_headers = self.headers(bound.request.as_ref());
        let element = MethodElement {
            request_name,
            request,
            response_name,
            response,
            faults: self.faults(&declared, bound).into(),
            headers: request_headers.iter().map(|field| field.name.clone()).collect(),
            action: String::from(&*bound.action).into(),
            style: bound.style,
            encoding: bound.request.as_ref().map_or(Use::Literal, |input| input.encoding),
        };
        Ok(Method { element, request_headers, response_headers: self.headers(bound.response.as_ref()) })
    }

    /// Limits the number of parts. Messages are lowered for each operation that uses them, so a few
    /// lines can require a lot.
    fn reserve_parts(&mut self, count: usize) -> Result<(), String> {
        match self.remaining_parts.checked_sub(count + 1) {
            Some(left) => {
                self.remaining_parts = left;
                Ok(())
            }
            None => Err("the limit `particles` is exceeded by the messages of all operations".to_owned()),
        }
    }

    /// Returns the element in a body.
    fn body(
        &mut self,
        name: &str,
        bound: &BoundOperation,
        message: usize,
        how: Option<&BoundMessage>,
    ) -> Result<Body, String> {
        let definitions = self.definitions;
        if definitions.messages[message].is_missing {
            return Err(format!("message {} is not defined", definitions.messages[message].name));
        }
        self.reserve_parts(definitions.messages[message].parts.len())?;
        let parts = body_parts(&definitions.messages[message], message, how);
        let encoding = how.map_or(Use::Literal, |how| how.encoding);
        match bound.style {
            Style::Rpc => {
                let namespace = how.map_or("", |how| &how.namespace);
                let name = QName::owned(namespace, name);
                let content = self.wrapper(&name, &parts, encoding);
                Ok((name, content))
            }
            Style::Document => self.document_body(&definitions.messages[message].name, &parts, encoding),
        }
    }

    fn document_body(&mut self, message: &QName, parts: &[&Part], encoding: Use) -> Result<Body, String> {
        match parts {
            [Part { content: PartContent::Element(name, None), .. }] if name.local.contains(':') => {
                Err(format!("message {message}: the prefix in {} is not declared", name.local))
            }
            [Part { content: PartContent::Element(name, id), .. }] => {
                let content = match id {
                    Some(id) => self.element(*id, encoding),
                    None => self.content(TypeId::ANY, encoding),
                };
                Ok((name.clone(), content))
            }
            [Part { name, content: PartContent::Type(id), .. }] => {
                self.notes.typed_part(message);
                Ok((QName::owned(&*message.namespace, &**name), self.content(*id, encoding)))
            }
            // None or several: they are directly in the body.
            _ => Ok((QName::default(), self.bare_body(message, parts, encoding))),
        }
    }

    /// Creates the content for elements that are directly in a body.
    fn bare_body(&mut self, message: &QName, parts: &[&Part], encoding: Use) -> ElementRef {
        let fields = parts.iter().map(|part| {
            let mut field = self.part(part, encoding);
            if let PartContent::Type(_) = part.content {
                self.notes.typed_part(message);
                field.name = QName::owned(&*message.namespace, &*part.name);
            }
            field
        });
        let fields = fields.collect();
        self.record_of(&QName::default(), fields, encoding)
    }

    /// Creates the wrapper element around the parts of an RPC message.
    fn wrapper(&mut self, name: &QName, parts: &[&Part], encoding: Use) -> ElementRef {
        let fields = parts.iter().map(|part| self.part(part, encoding)).collect();
        self.record_of(name, fields, encoding)
    }

    fn record_of(&mut self, name: &QName, fields: Vec<Field>, encoding: Use) -> ElementRef {
        let compositor = if encoding == Use::Encoded { Compositor::All } else { Compositor::Sequence };
        let wrapper = ComplexElement {
            name: name.clone(),
            compositor,
            fields: fields.into(),
            attributes: Vec::new().into(),
            text: None,
            open: false,
            any_attribute: false,
            choices: Default::default(),
        };
        self.refer(Work::Done(Element::Complex(wrapper)))
    }

    /// Returns a part as a field. Parts of RPC messages have no namespace (WSDL 1.1, 3.5).
    fn part(&mut self, part: &Part, encoding: Use) -> Field {
        let (name, element) = match &part.content {
            PartContent::Element(name, Some(id)) => (name.clone(), self.element(*id, encoding)),
            PartContent::Element(name, None) => (name.clone(), self.content(TypeId::ANY, encoding)),
            PartContent::Type(type_id) => (QName::owned("", &*part.name), self.content(*type_id, encoding)),
        };
        let is_encoded = encoding == Use::Encoded;
        Field { name, element, min: u32::from(!is_encoded), max: Some(1), nillable: is_encoded, inline: false }
    }

    fn faults(&mut self, declared: &crate::wsdl::Operation, bound: &BoundOperation) -> Vec<Field> {
        let mut fields = Vec::new();
        for fault in &declared.faults {
            let how = bound.faults.iter().find(|(name, _)| *name == fault.name);
            let encoding = how.map_or(Use::Literal, |(_, encoding)| *encoding);
            let definitions = self.definitions;
            for part in &definitions.messages[fault.message].parts {
                fields.push(Field { min: 0, ..self.part(part, encoding) });
            }
        }
        fields
    }

    fn headers(&mut self, how: Option<&BoundMessage>) -> Vec<Field> {
        let headers = how.map_or(&[][..], |how| &how.headers);
        headers.iter().filter_map(|header| self.header(header)).collect()
    }

    fn header(&mut self, header: &BoundHeader) -> Option<Field> {
        let definitions = self.definitions;
        let part = definitions.messages[header.message].parts.iter().find(|part| part.name == header.part)?;
        let mut field = Field { min: 0, ..self.part(part, header.encoding) };
        if let PartContent::Type(_) = part.content {
            // Header blocks have a namespace (SOAP 1.1, 4.2).
            field.name = QName::owned(&*header.namespace, &*part.name);
        }
        Some(field)
    }
}

/// Returns the parts of a message that are in the body. `index` is the message's index in the
/// definitions.
pub fn body_parts<'m>(message: &'m Message, index: usize, how: Option<&BoundMessage>) -> Vec<&'m Part> {
    message.parts.iter().filter(|part| how.is_none_or(|how| how.is_in_body(index, &part.name))).collect()
}
