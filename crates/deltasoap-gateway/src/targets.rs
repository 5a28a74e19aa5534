//! What can be called: the operations of a service by their names, and the routes that lead to
//! them.

use crate::config::{ConfigError, RouteConfig, ServiceConfig};
use crate::openapi::Schemas;
use crate::parameters::{self, Parameter, RequestSchema};
use deltasoap_core::{ListPathError, QName};
use deltasoap_dynamic::{Contract, Operation};
use deltasoap_http::DescribedList;
use http::{HeaderName, Method};
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// What the names of HTTP headers with the content of a SOAP header block begin with.
pub(crate) const BLOCK: &str = "soap-header-";

/// An operation that can be called.
#[derive(Debug)]
pub(crate) struct Target {
    /// The shortest name that is enough to find it.
    pub(crate) name: String,
    pub(crate) operation: Operation,
    /// The HTTP headers that hold header blocks, and the names of these.
    pub(crate) headers: Vec<(HeaderName, QName)>,
    /// The path of the list in the response, if there is exactly one.
    pub(crate) list: Option<String>,
    /// The paths of the lists in the request.
    pub(crate) items: Vec<String>,
    pub(crate) is_idempotent: bool,
}

/// A path of one's own.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) template: String,
    /// The index of the operation among the targets.
    pub(crate) target: usize,
    pub(crate) parameters: Vec<Parameter>,
    /// True if requests have a body.
    pub(crate) has_body: bool,
    /// The place of the body in the request.
    pub(crate) body: Option<String>,
    /// The path of the list that the body is, if it is one.
    pub(crate) list: Option<String>,
    pub(crate) body_schema: Option<Json>,
    pub(crate) fixed: Vec<(String, Json)>,
}

/// Returns the operations of a contract, each with the shortest name that finds it. Operations that
/// several ports have are there once.
pub(crate) fn targets(contract: &Contract, config: &ServiceConfig, place: &str) -> Result<Vec<Target>, ConfigError> {
    let mut all = Vec::new();
    let mut known = HashSet::new();
    for operation in contract.operations() {
        let named = match &config.port {
            Some(port) => is_at(&operation, port).then(|| (operation.distinct_name(), operation)),
            None => short_name(contract, &operation),
        };
        let Some((name, operation)) = named else { continue };
        if known.insert(name.clone()) && operation.method().is_ok() {
            all.push(Target::new(name, operation));
        }
    }
    if let (Some(port), true) = (&config.port, known.is_empty()) {
        let ports: BTreeSet<_> = contract.operations().iter().map(Operation::port_name).collect();
        let ports = Vec::from_iter(ports).join(", ");
        return Err(ConfigError::invalid(format!("{place}.port"), format!("no port {port}; the WSDL has {ports}")));
    }
    for (index, name) in config.idempotent.iter().enumerate() {
        let place = format!("{place}.idempotent[{index}]");
        let index = position(&all, contract, name).map_err(|reason| ConfigError::invalid(place, reason))?;
        all[index].is_idempotent = true;
    }
    Ok(all)
}

/// Returns true for an operation of a port, which is `Port` or `Service.Port`.
fn is_at(operation: &Operation, port: &str) -> bool {
    operation.port_name() == port || operation.port().is_some_and(|own| *own.name == *port)
}

/// Returns the shortest name that finds an operation, and what it finds: the operation, or the same
/// one of an earlier port.
fn short_name(contract: &Contract, operation: &Operation) -> Option<(String, Operation)> {
    let own = operation.distinct_name();
    let port = operation.port().map(|port| format!("{}.{own}", port.name));
    let mut names = std::iter::once(own).chain(port).chain([operation.full_name()]);
    names.find_map(|name| contract.operation(&name).ok().map(|operation| (name, operation)))
}

/// Returns the index of the target that an operation of any port is.
pub(crate) fn index_of(targets: &[Target], contract: &Contract, operation: &Operation) -> Option<usize> {
    let (name, _) = short_name(contract, operation)?;
    targets.iter().position(|target| target.name == name)
}

/// Returns the index of the target that a name finds.
fn position(targets: &[Target], contract: &Contract, name: &str) -> Result<usize, String> {
    let operation = contract.operation(name).map_err(|error| error.to_string())?;
    let full = operation.full_name();
    let is_same = |target: &Target| target.name == name || target.operation.full_name() == full;
    targets.iter().position(is_same).ok_or_else(|| format!("{name} cannot be called"))
}

impl Target {
    fn new(name: String, operation: Operation) -> Self {
        let headers = operation.request_headers().filter_map(|block| {
            let header = HeaderName::try_from(format!("{BLOCK}{}", block.local)).ok()?;
            Some((header, block.clone()))
        });
        let headers = headers.collect();
        let (list, items) = (only_list(&operation), request_lists(&operation));
        Target { name, operation, headers, list, items, is_idempotent: false }
    }
}

/// Returns the path of the response's list, if there is exactly one.
fn only_list(operation: &Operation) -> Option<String> {
    let (name, content) = operation.response()?;
    let schema = Arc::clone(&operation.contract().lowered().schema);
    let list = (!name.local.is_empty()).then(|| DescribedList::new(schema, content, None).ok()).flatten()?;
    Some(list.path().to_string())
}

/// Returns the paths of the request's lists, up to some number.
fn request_lists(operation: &Operation) -> Vec<String> {
    match operation.request_list(None) {
        Ok(list) => vec![list.path().to_string()],
        Err(ListPathError::Several(paths)) => paths,
        Err(_) => Vec::new(),
    }
}

/// Returns the routes of a service.
pub(crate) fn routes(
    contract: &Contract,
    config: &ServiceConfig,
    place: &str,
    targets: &[Target],
    schemas: &Schemas,
) -> Result<Vec<Route>, ConfigError> {
    let mut all = Vec::new();
    for (index, route) in config.routes.iter().enumerate() {
        let place = format!("{place}.route[{index}]");
        let found = position(targets, contract, &route.operation);
        let at_port = config.port.as_ref().map(|port| format!(" at the port {port}")).unwrap_or_default();
        let wrong = |reason: String| ConfigError::invalid(format!("{place}.operation"), reason + &at_port);
        let target = found.map_err(wrong)?;
        let mut compiled = compiled(route, target, &place, schemas)?;
        let is_list = |path: &String| targets[target].operation.request_list(Some(path)).is_ok();
        compiled.list = compiled.body.clone().filter(is_list);
        all.push(compiled);
    }
    Ok(all)
}

fn compiled(route: &RouteConfig, target: usize, place: &str, schemas: &Schemas) -> Result<Route, ConfigError> {
    let request = RequestSchema { schema: &schemas.messages[target].request, definitions: &schemas.definitions };
    let has_body = route.method.has_body();
    if !route.path.starts_with('/') || route.path.contains("{*") {
        let reason = "expected a path such as /orders/{number}";
        return Err(ConfigError::invalid(format!("{place}.path"), reason));
    }
    let parameters = parameters::of_route(&route.path, has_body, &route.parameters, request);
    let parameters = parameters.map_err(|reason| ConfigError::invalid(format!("{place}.path"), reason))?;
    let body_schema = match (&route.body, has_body) {
        (Some(_), false) => {
            return Err(ConfigError::invalid(format!("{place}.body"), "requests of this method have no body"));
        }
        (Some(body), true) => {
            let missing =
                || ConfigError::invalid(format!("{place}.body"), format!("the request has no property {body}"));
            Some(request.at(body).ok_or_else(missing)?.0.clone())
        }
        (None, true) => Some(request.schema.clone()),
        (None, false) => None,
    };
    let mut fixed = Vec::new();
    for (target, value) in &route.fixed {
        let place = format!("{place}.fixed.{target}");
        if request.at(target).is_none() {
            return Err(ConfigError::invalid(place, "the request has no such property"));
        }
        let json = serde_json::to_value(value).map_err(|error| ConfigError::invalid(place, error))?;
        fixed.push((target.clone(), json));
    }
    let (template, _) = parameters::split(&route.path);
    Ok(Route {
        method: route.method.into(),
        template: template.to_owned(),
        target,
        parameters,
        has_body,
        body: route.body.clone(),
        list: None,
        body_schema,
        fixed,
    })
}
