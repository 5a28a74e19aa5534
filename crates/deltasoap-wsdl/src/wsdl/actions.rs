//! The actions of messages in WS-Addressing (WS-Addressing 1.0 Metadata, 4.4).

use super::{Binding, BoundOperation, Definitions, Parameter};
use deltasoap_core::soap::addressing::{default_action, default_fault_action};

/// The actions of an operation's messages in WS-Addressing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actions {
    /// The action of the first message.
    pub request: String,
    /// The action of the response; `None` if there is no response.
    pub response: Option<String>,
    /// The names of the faults with their actions.
    pub faults: Vec<(String, String)>,
}

impl Definitions {
    /// Returns the actions of an operation: those in the WSDL (`wsam:Action`, `wsaw:Action`), else
    /// the `soapAction` of the first message, else the default ones, which consist of names.
    pub fn actions(&self, binding: &Binding, bound: &BoundOperation) -> Actions {
        let port_type = &self.port_types[binding.port_type];
        let operation = &port_type.operations[bound.operation];
        let (namespace, name) = (&*port_type.name.namespace, &*port_type.name.local);
        let explicit = |it: &Parameter| it.action.as_deref().map(str::to_owned);
        let action = |it: &Parameter| explicit(it).unwrap_or_else(|| default_action(namespace, name, &it.name));
        let of_request = |it: &Parameter| match (explicit(it), &*bound.action) {
            (Some(action), _) => action,
            (None, "") => default_action(namespace, name, &it.name),
            (None, soap_action) => soap_action.to_owned(),
        };
        let fault = |it: &Parameter| {
            let action = explicit(it);
            action.unwrap_or_else(|| default_fault_action(namespace, name, &operation.name, &it.name))
        };
        Actions {
            request: operation.request.as_ref().map(of_request).unwrap_or_default(),
            response: operation.response.as_ref().map(action),
            faults: operation.faults.iter().map(|it| (it.name.to_string(), fault(it))).collect(),
        }
    }
}
