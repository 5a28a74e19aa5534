//! Definitions: services, bindings, port types and messages.

use super::stored::{stored_enum, stored_struct};
use crate::wsdl::{
    AddressingPolicy, Binding, BoundHeader, BoundMessage, BoundOperation, Definitions, Message, Operation, Parameter,
    Part, PartContent, Policy, Port, PortType, SecurityAssertions, Service,
};
use deltasoap_core::schema::{Style, Use};
use deltasoap_core::soap::Version;
use deltasoap_core::soap::addressing::Addressing;

stored_struct! {
    Definitions { messages, port_types, bindings, services }
    Message { name, parts, is_missing, place }
    Part { name, content, place }
    PortType { name, operations, documentation, place }
    Operation { name, request, response, is_solicited, faults, documentation, place }
    Parameter { name, message, action, documentation }
    Binding { name, port_type, version, transport, operations, policy, documentation, place }
    Policy { mtom, addressing, others, required, security }
    SecurityAssertions { required, exchange, request, response }
    AddressingPolicy { version, is_required }
    BoundOperation { operation, action, style, request, response, faults, policy, place }
    BoundMessage { encoding, namespace, parts, headers, has_attachments }
    BoundHeader { message, part, encoding, namespace, faults }
    Service { name, ports, documentation }
    Port { name, binding, address, documentation }
}

stored_enum! {
    PartContent { 0 = Element(name, id), 1 = Type(id) }
    Style { 0 = Document, 1 = Rpc }
    Use { 0 = Literal, 1 = Encoded }
    Version { 0 = Soap11, 1 = Soap12 }
    Addressing { 0 = V10, 1 = V2004 }
}
